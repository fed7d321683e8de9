//! How much work an experiment is, before it starts.

use crate::law::{Outputs, Recipe, is_walked};
use crate::mechanism::Variant;
use crate::metric::Metric;
use crate::model::{Posterior, approximate_compositions};
use crate::numeric::{LN_NEGLIGIBLE, lgamma};
use crate::setting::Setting;
use crate::simplex::{BLOCK, Region, Shape, Window};
use crate::tuning::remapping;

/// Nanoseconds for one output and one error, in all passes together, on one thread: measured on
/// candidates of an exponential mechanism, on outputs of restored and of open total.
const NS_PER_CANDIDATE: f64 = 60.0;
const NS_PER_RESTORED: f64 = 25.0;
const NS_PER_OPEN: f64 = 35.0;
/// Nanoseconds for one output of the block that a draw walks again.
const NS_PER_RESCAN: f64 = 6.0;
/// Nanoseconds for one entry of a table.
const NS_PER_ENTRY: f64 = 15.0;
/// Nanoseconds for one run beside that, with its row of a table.
const NS_PER_RUN: f64 = 2_000.0;

/// Nanoseconds and bytes for one output of a law that is listed value by value and sorted.
const NS_PER_LISTED: f64 = 150.0;
const BYTES_PER_LISTED: f64 = 60.0;

/// What part of all passes one pass for the mean is, and what is kept of it: rows of tables.
const PART_OF_ONE_PASS: f64 = 0.3;
const BYTES_PER_MEAN: f64 = 150.0;

/// The longest that is started without `--force`.
pub const LONGEST: f64 = 24.0 * 3600.0;

/// A prediction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Candidates or outputs that are walked, at most.
    pub outputs: f64,
    /// Bytes of memory.
    pub bytes: f64,
    /// Seconds of one thread.
    pub cpu_seconds: f64,
}

impl Work {
    /// Adds more work.
    pub fn add(&mut self, other: Self) {
        self.outputs += other.outputs;
        self.bytes += other.bytes;
        self.cpu_seconds += other.cpu_seconds;
    }
}

/// One setting's prediction, by mechanism.
#[derive(Clone, Debug)]
pub struct SettingWork {
    /// |R|.
    pub candidates: f64,
    /// For each mechanism.
    pub cells: Vec<Work>,
    /// For each mechanism, whether its law is too large to be computed exactly.
    pub sampled_only: Vec<bool>,
}

/// Predicts `runs` releases of every recipe at one setting, with errors in the setting's distance
/// and in `metrics`.
#[must_use]
pub fn predict(
    setting: &Setting,
    recipes: &[Recipe],
    metrics: &[Metric],
    runs: u64,
) -> SettingWork {
    let posterior = &setting.posterior;
    let (n, k) = (posterior.n() as f64, posterior.k() as f64);
    let efforts = metrics.iter().map(Metric::effort);
    let errors = efforts.fold(setting.distance.effort(), |sum, effort| sum + effort);
    let candidates = approximate_compositions(posterior.n(), posterior.k());
    // The error that is flat last decides how many candidates are walked.
    let plateaus = metrics.iter().map(|metric| metric.plateau(posterior));
    let plateaus: Option<Vec<f64>> =
        plateaus.chain([setting.distance.plateau(posterior)]).collect();
    let power = plateaus.map(|plateaus| plateaus.into_iter().fold(f64::INFINITY, f64::min));
    let ball = power.map(|power| ball_windows(posterior, power));
    let walked = ball.as_ref().map_or(candidates, |ball| box_size(posterior, ball, candidates));
    // Three tables for each category and error, if any candidate is weighed, or tables all the way
    // to n.
    let weighs = recipes.iter().any(Recipe::needs_ball);
    let tabulated = ball.map_or(k * n, |ball| if weighs { total_length(&ball) } else { 0.0 });
    let shared = 24.0 * errors * tabulated / recipes.len().max(1) as f64;
    let runs = runs as f64;
    let mut work = SettingWork { candidates, cells: Vec::new(), sampled_only: Vec::new() };
    for &recipe in recipes {
        let region = recipe.region(posterior);
        let outputs = region.as_ref().map_or(walked, Region::size_bound);
        let sampled_only = region.as_ref().is_some_and(|region| !is_walked(region));
        let outputs = if sampled_only { 0.0 } else { outputs };
        let windows = region.as_ref().map_or(0.0, |region| total_length(region.windows()));
        let (ns, rescan, entries) = match recipe {
            Recipe::Exponential { .. } => (NS_PER_CANDIDATE, outputs.min(BLOCK as f64), 0.0),
            // Marginals, and the distance's tables over the same windows and their totals.
            Recipe::Noise { .. } if sampled_only => (0.0, 0.0, 0.0),
            Recipe::Noise { restored: false, .. } => {
                (NS_PER_OPEN, 0.0, (2.0 + 3.0 * errors) * windows)
            }
            Recipe::Noise { .. } => (NS_PER_RESTORED, 0.0, (2.0 + 3.0 * errors) * windows),
            // The same, and k convolutions with their working space.
            Recipe::Hamming { .. } => {
                (NS_PER_RESTORED, 0.0, (2.0 + 3.0 * errors + 4.0 * k) * windows)
            }
        };
        work.sampled_only.push(sampled_only);
        work.cells.push(Work {
            outputs,
            // Borders, sizes and running sums of the blocks; then released counts, errors, and the
            // rows of a table made from them.
            bytes: shared
                + 8.0 * entries
                + outputs / BLOCK as f64 * (8.0 * k + 12.0)
                + runs * (16.0 * k + 40.0 * errors + 40.0),
            cpu_seconds: 1e-9
                * (outputs * ns * errors
                    + NS_PER_ENTRY * (entries + shared / 8.0)
                    + runs * (NS_PER_RUN + NS_PER_RESCAN * rescan)),
        });
    }
    work
}

/// Predicts the law of one error of every recipe, listed value by value; an error that has at most
/// `distinct` values is joined on the way.
#[must_use]
pub fn predict_laws(setting: &Setting, recipes: &[Recipe], distinct: f64) -> SettingWork {
    let mut work = predict(setting, recipes, &[], 0);
    for cell in &mut work.cells {
        cell.cpu_seconds += 1e-9 * NS_PER_LISTED * cell.outputs;
        cell.bytes += BYTES_PER_LISTED * cell.outputs.min(distinct);
    }
    work
}

/// Predicts the mean error of every recipe: one pass, and nothing kept.
#[must_use]
pub fn predict_means(setting: &Setting, recipes: &[Recipe]) -> SettingWork {
    let mut work = predict(setting, recipes, &[], 0);
    for cell in &mut work.cells {
        cell.cpu_seconds *= PART_OF_ONE_PASS;
        cell.bytes = BYTES_PER_MEAN;
    }
    work
}

/// Predicts the change of score at every candidate.
#[must_use]
pub fn predict_changes(setting: &Setting) -> SettingWork {
    let (n, k) = (setting.posterior.n(), setting.posterior.k());
    let candidates = approximate_compositions(n, k);
    let outputs = candidates * (1 + k * (k - 1)) as f64;
    let bytes = 300.0 * candidates;
    let work = Work { outputs, bytes, cpu_seconds: 1e-9 * NS_PER_LISTED * outputs };
    SettingWork { candidates, cells: vec![work], sampled_only: Vec::new() }
}

/// The same work so many times over.
#[must_use]
pub fn repeated(mut work: SettingWork, times: f64) -> SettingWork {
    for cell in &mut work.cells {
        cell.cpu_seconds *= times;
        cell.outputs *= times;
    }
    work
}

/// Nanoseconds for one output of one adjacent pair.
const NS_PER_COMPARISON: f64 = 8.0;

/// Nanoseconds for one pair of data sets with noise on their counts, and for one entry of a
/// convolution.
const NS_PER_PAIR: f64 = 2_500.0;
const NS_PER_CONVOLVED: f64 = 20.0;

/// Predicts the exact privacy loss of every recipe: over all data sets of the setting's size, or
/// over a few of them.
#[must_use]
pub fn predict_audit(setting: &Setting, recipes: &[Recipe], everything: bool) -> SettingWork {
    let posterior = &setting.posterior;
    let candidates = approximate_compositions(posterior.n(), posterior.k());
    let (n, k) = (posterior.n() as f64, posterior.k() as f64);
    let data_sets = if everything { candidates } else { 8.0 * k };
    let compared = match setting.distance.plateau(posterior) {
        Some(power) => {
            let ball = ball_windows(posterior, power);
            box_size(posterior, &ball, candidates)
        }
        None => candidates,
    };
    let pairs = data_sets * 0.5 * k * (k - 1.0);
    let cell = |recipe: &Recipe| {
        let outputs = match recipe.needs_ball() {
            true => pairs * 2.0 * compared * setting.distance.effort(),
            false => pairs,
        };
        let ns = match recipe {
            Recipe::Exponential { .. } => NS_PER_COMPARISON * outputs,
            Recipe::Noise { .. } => NS_PER_PAIR * pairs,
            Recipe::Hamming { .. } => NS_PER_CONVOLVED * k * n * data_sets + NS_PER_PAIR * pairs,
        };
        // The list of data sets, and of pairs of them (of which a symmetric mechanism needs a part);
        // the tables of the data sets that are compared at one time.
        let (listed, paired) = (24.0 + 8.0 * k + 16.0, 2.0 * (24.0 + 8.0 * k + 16.0) + 16.0);
        let bytes = data_sets * listed + pairs * paired / symmetries(posterior, *recipe);
        let bytes = bytes + 64.0 * compared.min(1e6) + 1e5;
        Work { outputs, bytes, cpu_seconds: 1e-9 * ns }
    };
    let cells: Vec<Work> = recipes.iter().map(cell).collect();
    let sampled_only = vec![false; cells.len()];
    SettingWork { candidates, cells, sampled_only }
}

/// Of so many pairs an audit looks at one.
fn symmetries(posterior: &Posterior, recipe: Recipe) -> f64 {
    let alpha = posterior.prior().alpha();
    match recipe {
        Recipe::Exponential { .. } if alpha.iter().any(|a| *a != alpha[0]) => 1.0,
        Recipe::Noise { .. } => 1.0,
        _ => (1..=alpha.len()).map(|i| i as f64).product(),
    }
}

/// Predicts the mean error of every recipe over all data sets of the setting's size.
#[must_use]
pub fn predict_everywhere(setting: &Setting, recipes: &[Recipe]) -> SettingWork {
    let data_sets = approximate_compositions(setting.posterior.n(), setting.posterior.k());
    repeated(predict(setting, recipes, &[], 0), data_sets)
}

/// Audits of all data sets that a calibration needs.
const AUDITS: f64 = 5.0;
/// Nanoseconds for one term of a remapping.
const NS_PER_TERM: f64 = 0.5;

/// Predicts what makes one mechanism ready: its calibration, its remapping.
#[must_use]
pub fn predict_tuning(variant: &Variant, setting: &Setting) -> Work {
    let mut work = Work::default();
    let Ok(recipe) = variant.recipe(setting) else { return work };
    if variant.options.calibrated {
        let audit = repeated(predict_audit(setting, &[recipe], true), AUDITS);
        work.add(total([&audit]));
    }
    if variant.options.remap {
        let (n, k) = (setting.posterior.n(), setting.posterior.k());
        let (kept, outputs) = remapping::work(Outputs::of(recipe, n, k), setting);
        work.add(Work { outputs, bytes: 8.0 * kept, cpu_seconds: 1e-9 * NS_PER_TERM * outputs });
    }
    work
}

fn total_length(windows: &[Window]) -> f64 {
    windows.iter().map(|&(low, high)| (high - low) as f64 + 1.0).sum()
}

/// In each coordinate, the counts that alone do not put a candidate on the plateau. Found with
/// plain log-gammas: a few digits are enough here, and no table has to be made.
fn ball_windows(posterior: &Posterior, power: f64) -> Vec<Window> {
    let floor = LN_NEGLIGIBLE / power;
    let n = posterior.n();
    (0..posterior.k())
        .map(|i| {
            let (alpha, x) = (posterior.alpha(i), posterior.counts()[i]);
            let near = |v: u64| {
                let (a, b) = (alpha + x as f64, alpha + v as f64);
                lgamma(0.5 * (a + b)) - 0.5 * (lgamma(a) + lgamma(b)) >= floor
            };
            (furthest(x, |d| near(x - d)), furthest(n - x, |d| near(x + d)))
        })
        .zip(posterior.counts())
        .map(|((down, up), &x)| (x - down, x + up))
        .collect()
}

/// The largest d <= most with `near(d)`; `near` changes from true to false once.
pub fn furthest(most: u64, near: impl Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (0, most);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if near(middle) { low = middle } else { high = middle - 1 }
    }
    low
}

fn box_size(posterior: &Posterior, windows: &[Window], candidates: f64) -> f64 {
    Region::new(posterior.n(), Shape::Simplex, windows.to_vec()).size_bound().min(candidates)
}

/// The sum over all cells. Memory is that of everything kept until the end.
#[must_use]
pub fn total<'a>(work: impl IntoIterator<Item = &'a SettingWork>) -> Work {
    let mut sum = Work::default();
    work.into_iter().flat_map(|setting| &setting.cells).for_each(|&cell| sum.add(cell));
    sum
}

/// The bytes of memory that are free, if the system says so.
#[must_use]
pub fn available_memory() -> Option<f64> {
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = info.lines().find(|line| line.starts_with("MemAvailable:"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(1024.0 * kilobytes)
}

/// Why the work should not be started, in words with figures.
#[must_use]
pub fn objection(
    work: &Work,
    candidates: f64,
    threads: usize,
    memory: Option<f64>,
    longest: f64,
) -> Option<String> {
    let seconds = work.cpu_seconds / threads as f64;
    let too_long = seconds > longest;
    let longest = duration(longest);
    let too_large = memory.is_some_and(|memory| work.bytes > memory);
    (too_long || too_large).then(|| {
        let reason = match (too_long, too_large) {
            (true, true) => format!("more than {longest} and more memory than there is"),
            (true, false) => format!("more than {longest}"),
            _ => "more memory than there is".to_owned(),
        };
        let available =
            memory.map_or(String::new(), |memory| format!(" of {} available", bytes(memory)));
        format!(
            "this needs {reason}: {} candidates in its largest setting, {} outputs to walk in all, \
             about {}{available}, about {} on {threads} threads",
            number(candidates),
            number(work.outputs),
            bytes(work.bytes),
            duration(seconds),
        )
    })
}

/// 1234567 as "1.2 million".
#[must_use]
pub fn number(value: f64) -> String {
    match value {
        v if v < 1e4 => format!("{v:.0}"),
        v if v < 1e6 => format!("{:.0} thousand", v / 1e3),
        v if v < 1e8 => format!("{:.1} million", v / 1e6),
        v if v < 1e9 => format!("{:.0} million", v / 1e6),
        v if v < 1e12 => format!("{:.1} billion", v / 1e9),
        v => format!("{v:.1e}"),
    }
}

/// Bytes in a unit that fits.
#[must_use]
pub fn bytes(value: f64) -> String {
    match value {
        v if v < 1e6 => format!("{:.0} kB", (v / 1e3).ceil()),
        v if v < 1e9 => format!("{:.0} MB", v / 1e6),
        v if v < 1e12 => format!("{:.1} GB", v / 1e9),
        v => format!("{:.1e} TB", v / 1e12),
    }
}

/// Seconds in a unit that fits.
#[must_use]
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 0.1 => "less than 0.1 s".to_owned(),
        s if s < 100.0 => format!("{s:.1} s"),
        s if s < 6000.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{} hours", (s / 360.0).round() / 10.0),
        s if s < 1e9 => format!("{:.0} days", s / 86_400.0),
        s => format!("{:.1e} years", s / 31_557_600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_in_words() {
        assert_eq!(number(36_361_101.0), "36.4 million");
        assert_eq!(bytes(1.6e9), "1.6 GB");
        assert_eq!(duration(5_400.0), "90 min");
        assert_eq!(duration(0.01), "less than 0.1 s");
    }

    #[test]
    fn small_work_meets_no_objection_and_large_work_does() {
        let work = |outputs, bytes, cpu_seconds| Work { outputs, bytes, cpu_seconds };
        assert_eq!(objection(&work(1e6, 1e6, 10.0), 1e6, 2, Some(1e9), LONGEST), None);
        assert_eq!(objection(&work(1e6, 1e12, 10.0), 1e6, 2, None, LONGEST), None);
        let long = objection(&work(1e20, 1e8, 1e9), 1e20, 2, Some(1e9), LONGEST).unwrap();
        assert!(
            long.contains("more than 24 hours") && long.contains("16 years")
                || long.contains("days")
        );
        let large = objection(&work(1e6, 1e12, 10.0), 1e6, 2, Some(1e9), LONGEST).unwrap();
        assert!(large.contains("more memory than there is") && large.contains("1.0 GB available"));
    }
}
