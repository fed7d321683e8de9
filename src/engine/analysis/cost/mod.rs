//! Time and memory that an experiment will take, predicted before it starts: outputs are counted (see
//! [`Extent`]), and every kind of work has a rate that was measured (see [`rates`]).

mod audit;
#[cfg(test)]
mod counted;
mod extent;
mod limits;
pub mod rates;
mod words;

pub use crate::posterior::distance::furthest;
pub use audit::{
    predict_audit, predict_distribution, predict_error, predict_passes, predict_release,
    predict_remapped_audit, predict_tuning,
};
pub use extent::Extent;
pub use limits::{BRIEF, Limits, THOROUGH};
pub use words::{bytes, duration, number};

use crate::mechanism::law::{Effort, Recipe};
use crate::posterior::metric::Metric;
use crate::posterior::model::{Posterior, approximate_compositions};
use crate::posterior::sensitivity::different_categories;
use crate::posterior::setting::Setting;
use crate::posterior::simplex::{BLOCK, Size};

/// The longest work, in seconds, that is started without `--force`.
pub const LONGEST: f64 = 24.0 * 3600.0;

/// A prediction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Candidates or outputs that are walked.
    pub outputs: f64,
    /// Bytes of memory that are kept until the end.
    pub kept: f64,
    /// Bytes of memory that are needed on the way and then given back.
    pub passing: f64,
    /// Seconds of one thread that any number of threads can share.
    pub cpu_seconds: f64,
    /// Seconds during which one thread works alone.
    pub serial_seconds: f64,
    /// Bytes on disk.
    pub disk: f64,
}

impl Work {
    /// Adds work that is done before or after: either can use the memory that the other gives back.
    pub fn add(&mut self, other: Self) {
        let passing = self.passing.max(other.passing);
        self.add_beside(other);
        self.passing = passing;
    }

    /// Adds work that is done at the same time.
    fn add_beside(&mut self, other: Self) {
        self.outputs += other.outputs;
        self.kept += other.kept;
        self.passing += other.passing;
        self.cpu_seconds += other.cpu_seconds;
        self.serial_seconds += other.serial_seconds;
        self.disk += other.disk;
    }

    /// Bytes of memory.
    pub fn bytes(&self) -> f64 {
        self.kept + self.passing
    }

    /// Seconds on `threads` threads.
    pub fn seconds(&self, threads: usize) -> f64 {
        self.serial_seconds + self.cpu_seconds / threads as f64
    }
}

/// One setting's prediction, by mechanism.
#[derive(Clone, Debug, Default)]
pub struct SettingWork {
    /// |R|.
    pub candidates: f64,
    /// The work that all mechanisms share.
    pub common: Work,
    /// The work of each mechanism alone.
    pub cells: Vec<Work>,
    /// For each mechanism, whether its law is too large to be computed exactly.
    pub sampled_only: Vec<bool>,
}

impl SettingWork {
    /// A setting whose mechanisms are not known yet.
    fn new(setting: &Setting) -> Self {
        let candidates = approximate_compositions(setting.posterior.n(), setting.posterior.k());
        let serial_seconds = 1e-9 * rates::NS_PER_SETTING.max(sensitivities(setting));
        let common = Work { serial_seconds, kept: rates::BYTES_PER_SETTING, ..Work::default() };
        Self { candidates, common, cells: Vec::new(), sampled_only: Vec::new() }
    }

    /// All of this work, one mechanism after the other.
    pub fn sum(&self) -> Work {
        let mut cells = Work::default();
        self.cells.iter().for_each(|&cell| cells.add(cell));
        cells.add_beside(self.common);
        cells
    }
}

/// Nanoseconds of all sensitivities at a setting of many categories, for its row and for its
/// mechanisms. Each sensitivity takes every pair of categories that differ.
fn sensitivities(setting: &Setting) -> f64 {
    let different = different_categories(&setting.posterior);
    if different <= rates::FEW_CATEGORIES {
        return 0.0;
    }
    let pairs = different as f64 * different as f64;
    let effort = setting.distance.sensitivity_effort(setting.posterior.n());
    rates::SENSITIVITIES_PER_SETTING * rates::NS_PER_PAIR_OF_CATEGORIES * effort * pairs
}

/// The errors that are computed: their number, and the time they take in units of the Hellinger
/// distance.
#[derive(Clone, Copy)]
struct Errors {
    number: f64,
    effort: f64,
}

impl Errors {
    fn new(setting: &Setting, metrics: &[Metric]) -> Self {
        let efforts = metrics.iter().map(Metric::effort);
        let effort = efforts.fold(setting.distance.effort(), |sum, effort| sum + effort);
        Self { number: 1.0 + metrics.len() as f64, effort }
    }
}

/// Predicts `runs` releases of every recipe at one setting, with errors in the setting's distance
/// and in `metrics`. They are kept in memory if `keeps_runs`, because a figure shows them.
pub fn predict(
    setting: &Setting,
    recipes: &[Recipe],
    metrics: &[Metric],
    runs: u64,
    keeps_runs: bool,
) -> SettingWork {
    let mut work = walk(setting, recipes, metrics, 1.0);
    let errors = Errors::new(setting, metrics);
    let k = setting.posterior.k() as f64;
    let runs = runs as f64;
    for (recipe, cell) in recipes.iter().zip(&mut work.cells) {
        if runs > 0.0 {
            cell.add_beside(operations(&recipe.sampler_effort(setting.posterior.k())));
        }
        let rescanned =
            if recipe.needs_ball() { cell.outputs.min(runs * BLOCK as f64) } else { 0.0 };
        let draw = rates::NS_PER_DRAW + rates::NS_PER_LOOKUP * errors.number;
        let row =
            rates::NS_PER_ROW + rates::NS_PER_COORDINATE * k + rates::NS_PER_NUMBER * errors.number;
        let bytes = rates::BYTES_PER_ROW
            + rates::BYTES_PER_COORDINATE * k
            + rates::BYTES_PER_NUMBER * errors.number;
        cell.cpu_seconds += 1e-9 * (draw * runs + rates::NS_PER_RESCAN * rescanned);
        cell.serial_seconds += 1e-9 * row * runs;
        cell.disk += runs
            * (rates::DISK_PER_ROW
                + rates::DISK_PER_COORDINATE * k
                + rates::DISK_PER_NUMBER * errors.number);
        match keeps_runs {
            true => cell.kept += bytes * runs,
            false => cell.passing += bytes * runs,
        }
    }
    work
}

/// Mean, spread and quantiles of every recipe's error; or this part of the passes over the outputs.
fn walk(setting: &Setting, recipes: &[Recipe], metrics: &[Metric], part: f64) -> SettingWork {
    let posterior = &setting.posterior;
    let errors = Errors::new(setting, metrics);
    let weighing = recipes.iter().filter(|recipe| recipe.needs_ball()).count() as f64;
    let extent = (weighing > 0.0).then(|| Extent::new(setting, metrics));
    let mut work = SettingWork::new(setting);
    if let Some(extent) = &extent {
        work.common.add_beside(prepared(posterior, extent, errors, weighing));
    }
    for &recipe in recipes {
        let effort = recipe.effort(posterior);
        let sampled_only = effort.is_some_and(|effort| effort.walked.is_none());
        let mut cell = match (&extent, effort) {
            (_, Some(effort)) => made(posterior, &effort, errors, part),
            (Some(extent), None) => weighed(extent, errors, part),
            (None, None) => unreachable!("such mechanisms share an extent"),
        };
        cell.kept += rates::BYTES_PER_CELL * errors.number;
        cell.cpu_seconds += 1e-9 * rates::NS_PER_CELL;
        work.sampled_only.push(sampled_only);
        work.cells.push(cell);
    }
    work
}

/// What a number of exponential mechanisms, `sharing`, have in common: tables, candidates and errors.
fn prepared(posterior: &Posterior, extent: &Extent, errors: Errors, sharing: f64) -> Work {
    // Three tables for each category and error.
    let entries = 3.0 * errors.number * extent.entries;
    let block =
        8.0 * posterior.k() as f64 + rates::BYTES_PER_BLOCK + rates::BYTES_PER_SUM * sharing;
    let Size { outputs, rows } = extent.walked;
    let ns = rates::NS_PER_VALUE * errors.effort * outputs
        + rates::ns_per_walked_row(posterior.k()) * errors.number * rows
        + rates::NS_PER_ENTRY * entries;
    Work {
        passing: rates::BYTES_PER_ENTRY * entries
            + block * outputs / BLOCK as f64
            + search(outputs) * errors.number * sharing,
        cpu_seconds: 1e-9 * ns,
        ..Work::default()
    }
}

/// One exponential mechanism.
fn weighed(extent: &Extent, errors: Errors, part: f64) -> Work {
    let Size { outputs, .. } = extent.walked;
    Work {
        outputs,
        cpu_seconds: 1e-9 * part * rates::NS_PER_WEIGHT * errors.number * outputs,
        ..Work::default()
    }
}

/// A mechanism whose law is made by itself.
fn made(posterior: &Posterior, effort: &Effort, errors: Errors, part: f64) -> Work {
    let k = posterior.k() as f64;
    let Size { outputs, rows } = effort.walked.unwrap_or_default();
    let value = rates::NS_PER_RESTORED * errors.number
        + rates::NS_PER_VALUE * (errors.effort - errors.number);
    // Tables of every error, if the law is walked.
    let entries = match effort.walked {
        Some(_) => 3.0 * errors.number * effort.entries,
        None => 0.0,
    };
    let border = 8.0 * k + rates::BYTES_PER_BLOCK;
    let mut work = operations(effort);
    work.add_beside(Work {
        outputs,
        passing: rates::BYTES_PER_ENTRY * entries
            + outputs / BLOCK as f64 * border
            + search(outputs),
        cpu_seconds: 1e-9
            * (part * outputs * value
                + rates::ns_per_walked_row(posterior.k()) * errors.number * rows
                + rates::NS_PER_ENTRY * entries),
        ..Work::default()
    });
    work
}

/// What a law, or a sampler, takes before it is walked.
fn operations(effort: &Effort) -> Work {
    Work {
        passing: rates::BYTES_PER_ENTRY * effort.kept,
        cpu_seconds: 1e-9
            * (rates::NS_PER_ENTRY * effort.entries
                + rates::NS_PER_EVALUATED * effort.evaluated
                + rates::NS_PER_CONVOLVED * effort.convolved
                + rates::NS_PER_PRODUCT * effort.products),
        ..Work::default()
    }
}

/// Bytes of the search for quantiles.
fn search(outputs: f64) -> f64 {
    f64::min(rates::BYTES_PER_SEARCHED * outputs, rates::BYTES_PER_SEARCH)
}

/// Predicts the law of one error of every recipe, listed value by value. Equal values are joined on the
/// way; there are at most `distinct`.
pub fn predict_laws(setting: &Setting, recipes: &[Recipe], distinct: f64) -> SettingWork {
    let mut work = predict_means(setting, recipes);
    for cell in &mut work.cells {
        cell.cpu_seconds += 1e-9 * rates::NS_PER_LISTED * cell.outputs;
        cell.passing += rates::BYTES_PER_LISTED * cell.outputs.min(distinct);
    }
    work
}

/// Predicts the same, with a row of a table for every value.
pub fn predict_theory(setting: &Setting, recipes: &[Recipe]) -> SettingWork {
    let mut work = predict_laws(setting, recipes, f64::INFINITY);
    for cell in &mut work.cells {
        // Outputs that differ by an exchange of categories have the same distance, and count as one.
        cell.serial_seconds += 1e-9 * rates::NS_PER_LEVEL * cell.outputs;
        cell.kept += rates::BYTES_PER_LEVEL * cell.outputs;
    }
    work
}

/// The number of permutations of the categories that do not change the posterior. Most candidates that
/// are walked stand for this many at the same distance, if there are as many.
fn rearrangements(posterior: &Posterior) -> f64 {
    let categories = posterior.categories();
    let alike = |i: usize| (0..=i).filter(|&j| categories[j] == categories[i]).count() as f64;
    let all = approximate_compositions(posterior.n(), posterior.k());
    (0..posterior.k()).map(alike).product::<f64>().min(all)
}

/// Predicts the mean error of every recipe: fewer passes.
pub fn predict_means(setting: &Setting, recipes: &[Recipe]) -> SettingWork {
    walk(setting, recipes, &[], rates::PART_FOR_MEAN)
}

/// Predicts the change of score at every candidate.
pub fn predict_changes(setting: &Setting) -> SettingWork {
    let mut work = SettingWork::new(setting);
    let k = setting.posterior.k();
    let outputs = work.candidates * (1 + k * (k - 1)) as f64;
    work.common.add(Work {
        outputs,
        kept: rates::BYTES_PER_CHANGE * work.candidates,
        cpu_seconds: 1e-9 * rates::NS_PER_CHANGE * outputs,
        ..Work::default()
    });
    work
}

/// The same work, `times` times.
pub fn repeated(mut work: SettingWork, times: f64) -> SettingWork {
    for cell in work.cells.iter_mut().chain([&mut work.common]) {
        cell.cpu_seconds *= times;
        cell.outputs *= times;
    }
    work
}

/// Predicts the mean error of every recipe over all data sets of the setting's size.
pub fn predict_everywhere(setting: &Setting, recipes: &[Recipe]) -> SettingWork {
    let data_sets = approximate_compositions(setting.posterior.n(), setting.posterior.k());
    let mut work = predict_means(setting, recipes);
    // Every data set has tables of its own.
    let shared = std::mem::take(&mut work.common.cpu_seconds);
    let weighing = recipes.iter().filter(|recipe| recipe.needs_ball()).count() as f64;
    for (recipe, cell) in recipes.iter().zip(&mut work.cells) {
        cell.cpu_seconds += if recipe.needs_ball() { shared / weighing } else { 0.0 };
        // The given data set may be symmetric; few others are.
        let different = (data_sets / audit::symmetries(&setting.posterior, *recipe)).max(1.0)
            * rearrangements(&setting.posterior);
        cell.cpu_seconds *= different;
        cell.outputs *= different;
        cell.kept += rates::BYTES_PER_DATA_SET * data_sets;
    }
    work
}

/// What a process takes that does all this work. At a time, as many settings and mechanisms as there
/// are threads need memory that they give back.
pub fn total<'a>(work: impl IntoIterator<Item = &'a SettingWork>, threads: usize) -> Work {
    let mut sum =
        Work { kept: rates::START_BYTES, serial_seconds: rates::START_SECONDS, ..Work::default() };
    let (mut settings, mut cells) = (Vec::new(), Vec::new());
    for setting in work {
        sum.add(setting.sum());
        settings.push(setting.common.passing);
        cells.extend(setting.cells.iter().map(|cell| cell.passing));
    }
    sum.passing = largest(settings, threads) + largest(cells, threads);
    sum
}

/// The sum of the `count` largest values.
fn largest(mut values: Vec<f64>, count: usize) -> f64 {
    values.sort_by(|a, b| b.total_cmp(a));
    values.iter().take(count).sum()
}

/// Which of several pieces of work are done, if all together may take so many processor seconds: the
/// quickest. Every piece has its seconds, none if it is not done in any case; pieces that are marked come
/// after all others.
pub fn quickest(pieces: &[(bool, Option<f64>)], budget: f64) -> Vec<bool> {
    let seconds = |i: usize| pieces[i].1.unwrap_or(f64::INFINITY);
    let mut order: Vec<usize> = (0..pieces.len()).collect();
    order.sort_by(|&a, &b| pieces[a].0.cmp(&pieces[b].0).then(seconds(a).total_cmp(&seconds(b))));
    let (mut left, mut done) = (budget, vec![false; pieces.len()]);
    for i in order {
        done[i] = seconds(i) <= left;
        left -= if done[i] { seconds(i) } else { 0.0 };
    }
    done
}

/// Why the work should not be started, with numbers; `None` if nothing is against it.
pub fn objection(
    work: &Work,
    candidates: f64,
    threads: usize,
    memory: f64,
    longest: f64,
) -> Option<String> {
    let seconds = work.seconds(threads);
    let too_long = seconds > longest;
    let longest = duration(longest);
    let too_large = work.bytes() > memory;
    (too_long || too_large).then(|| {
        let reason = match (too_long, too_large) {
            (true, true) => format!("more than {longest} and more memory than there is"),
            (true, false) => format!("more than {longest}"),
            _ => "more memory than there is".to_owned(),
        };
        format!(
            "this needs {reason}: {} candidates in its largest setting, {} outputs to walk in all, \
             about {} of {} available, about {} on {threads} threads",
            number(candidates),
            number(work.outputs),
            bytes(work.bytes()),
            bytes(memory),
            duration(seconds),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::posterior::model::Prior;
    use crate::posterior::privacy::Epsilon;

    fn work(outputs: f64, kept: f64, cpu_seconds: f64) -> Work {
        Work { outputs, kept, cpu_seconds, ..Work::default() }
    }

    #[test]
    fn small_work_meets_no_objection_and_large_work_does() {
        assert_eq!(objection(&work(1e6, 1e6, 10.0), 1e6, 2, 1e9, LONGEST), None);
        let long = objection(&work(1e20, 1e8, 1e9), 1e20, 2, 1e9, LONGEST).unwrap();
        assert!(long.contains("more than 24 hours") && long.contains("5787 days"), "{long}");
        let large = objection(&work(1e6, 1e12, 10.0), 1e6, 2, 1e9, LONGEST).unwrap();
        assert!(large.contains("more memory than there is") && large.contains("1.0 GB available"));
    }

    #[test]
    fn sensitivities_of_many_categories_that_differ_take_long() {
        let seconds = |alpha: Vec<f64>| {
            let counts = vec![1; alpha.len()];
            let epsilon = Epsilon::new(1.0).unwrap();
            let setting = Setting::new(Prior::new(alpha).unwrap(), counts, epsilon);
            SettingWork::new(&setting).common.serial_seconds
        };
        assert_eq!(seconds(vec![1.0; 10_000]), seconds(vec![1.0; 2]));
        assert!(seconds((1..=10_000).map(f64::from).collect()) > 600.0);
    }

    #[test]
    fn memory_that_is_given_back_is_not_added_up() {
        let setting = |passing: f64| SettingWork {
            candidates: 1.0,
            common: Work { passing: 1e7, ..Work::default() },
            cells: vec![Work { passing, ..work(1.0, 1e3, 1.0) }, work(1.0, 1e3, 1.0)],
            sampled_only: vec![false; 2],
        };
        let settings = [setting(1e8), setting(3e8), setting(2e8)];
        let base = total([], 1);
        for (threads, passing) in [(1, 3.1e8), (2, 5.2e8), (8, 6.3e8)] {
            let sum = total(&settings, threads);
            assert_eq!(sum.bytes() - base.bytes(), passing + 6e3, "{threads} threads");
            assert_eq!(sum.cpu_seconds, 6.0);
        }
    }
}
