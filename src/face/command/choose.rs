//! `dpbi choose`.

use std::cell::Cell;

use schemars::JsonSchema;
use serde::Serialize;

use super::{announce, threads, typed};
use crate::cli::Choose;
use crate::failure::Failure;
use engine::analysis::cost::{self, THOROUGH, Work};
use engine::analysis::ranking::{self, Accuracy, Data, LARGEST, LeastEpsilon, SAME, SMALLEST};
use engine::analysis::tuning::TuningCache;
use engine::mechanism::Variant;
use engine::posterior::privacy::{Epsilon, Guarantee};
use engine::posterior::setting::Setting;
use engine::refusal::Refusal;
use system::console::{Grid, bar, short, short_or_dash};
use system::diagnostic::Diagnostic;
use system::platform::available_memory;
use table::Number;

/// Mechanisms that are of use for comparisons with the documents only: they are ranked with --all, or when named.
const FOR_COMPARISON: [&str; 3] = ["lsdim", "mh-gamma", "mh-beta"];

/// Named mechanisms that take more seconds by the clock are left out.
const LONGEST_NAMED: f64 = 60.0;

/// So are those that take more than this share of the free memory.
const MEMORY: f64 = 0.8;

pub fn execute(args: &Choose) -> Result<(), Failure> {
    let threads = threads(&args.calculation.machine.threads)?;
    let setting = typed::setting(
        &args.model,
        typed::counts(&args.model, &args.data),
        args.epsilon.unwrap_or(1.0),
    )?;
    let data = if args.data.counts.is_some() { Data::Given } else { Data::PriorPredictive };
    let error = wanted_error(args)?;
    let all = typed::variants(&args.mechanisms, &setting, typed::every_variant(true))?;
    let impossible =
        typed::of_fewer_records(&args.mechanisms, &setting, typed::every_variant(true));
    let named = !args.mechanisms.is_empty();
    let usual = |variant: &Variant| {
        variant.is_private(&setting) && !FOR_COMPARISON.contains(&variant.mechanism.id())
    };
    let wanted = all.into_iter().filter(|variant| named || args.all || usual(variant));
    let is_offered =
        |variant: &Variant| error.is_none() || ranking::refusal(variant, data).is_none();
    let (offered, not_offered): (Vec<Variant>, Vec<Variant>) = wanted.partition(is_offered);
    if let Some(variant) = not_offered.first().filter(|_| named) {
        let refusal = ranking::refusal(variant, data).expect("it is not offered");
        return Err(typed::refused(variant, refusal).into());
    }
    let priced = offered.into_iter().map(|variant| {
        let work = work(&variant, &setting, data, error);
        (variant, work)
    });
    let priced: Vec<(Variant, Work)> = priced.collect();
    let mut quick = quick(&priced, named, threads).into_iter();
    let (cheap, costly): (Vec<_>, Vec<_>) = priced
        .into_iter()
        .partition(|_| quick.next() == Some(true) || args.calculation.machine.force);
    if cheap.is_empty() {
        return Err(too_large(&costly, &setting, data, error, threads).into());
    }
    let clock =
        announce(cheap.iter().map(|(_, work)| work.seconds(threads)).sum(), args.calculation.quiet);
    let names = |priced: Vec<(Variant, Work)>| priced.into_iter().map(|(variant, _)| variant);
    let variants: Vec<Variant> = names(cheap).collect();
    let patience = match (named, args.calculation.machine.force) {
        (_, true) => f64::INFINITY,
        (true, false) => threads as f64 * LONGEST_NAMED,
        (false, false) => THOROUGH.seconds,
    };
    let Ranked { rows, slow, refused } = rank(&variants, &setting, data, error, patience)?;
    if rows.is_empty() && slow.is_empty() {
        return Err(unusable().into());
    }
    if rows.is_empty() {
        let cause = "the search for ε would take long with each of these mechanisms";
        let help = "use fewer records, or another --error; --force searches all the same";
        return Err(Diagnostic::new(cause).help(help).into());
    }
    let slow = names(costly).chain(slow).collect();
    let impossible = impossible.into_iter().chain(refused).collect();
    let mut ranking =
        Ranking { setting: &setting, data, error, not_offered, slow, impossible, rows };
    ranking.sort();
    drop(clock);
    args.calculation.answer.give(
        || ranking.grid(&ranking.lines().0, IN_WORDS),
        || ranking.document(),
        || ranking.text(),
    )
}

fn wanted_error(args: &Choose) -> Result<Option<f64>, Diagnostic> {
    match args.error {
        Some(error) if !(error > 0.0 && error.is_finite()) => {
            let cause = format!("{error} is no error that can be reached");
            Err(typed::wrong("error", &cause).help("try --error 0.05"))
        }
        error => Ok(error),
    }
}

/// The predicted work of one mechanism: at the ε that is asked for, or at those that a search tries. A search
/// begins at the largest ε, also with a mechanism that cannot be used at the likely one.
fn work(variant: &Variant, setting: &Setting, data: Data, error: Option<f64>) -> Work {
    let at = |setting: &Setting| cost::predict_distribution(variant, setting, data);
    let Some(error) = error else { return at(setting).unwrap_or_default() };
    let tried = [Ok(ranking::likely_epsilon(setting, error)), Epsilon::new(LARGEST)];
    let settings =
        tried.into_iter().flatten().map(|epsilon| Setting { epsilon, ..setting.clone() });
    let here = settings.filter_map(|setting| at(&setting)).next().unwrap_or_default();
    Work { cpu_seconds: ranking::TRIED * here.cpu_seconds, ..here }
}

/// Whether work that somebody asked for is done.
fn is_quick(work: &Work, threads: usize) -> bool {
    work.bytes() < MEMORY * available_memory() && work.seconds(threads) <= LONGEST_NAMED
}

/// Which mechanisms are ranked unless all are forced to be.
fn quick(priced: &[(Variant, Work)], named: bool, threads: usize) -> Vec<bool> {
    if named {
        return priced.iter().map(|(_, work)| is_quick(work, threads)).collect();
    }
    let seconds = |work: &Work| work.cpu_seconds + work.serial_seconds;
    let quick = THOROUGH.quickest(priced.iter().map(|(_, work)| (false, Some(*work))), seconds);
    if quick.contains(&true) {
        return quick;
    }
    // An answer about a few is better than none: as many as would be ranked if somebody named them.
    let named = |work: &Work| is_quick(work, threads).then(|| work.seconds(threads));
    let pieces: Vec<_> = priced.iter().map(|(_, work)| (false, named(work))).collect();
    cost::quickest(&pieces, LONGEST_NAMED)
}

fn unusable() -> Diagnostic {
    Diagnostic::new("no mechanism can be used in this setting")
        .help("name one with --mechanism to see why, or use --all")
}

fn too_large(
    costly: &[(Variant, Work)],
    setting: &Setting,
    data: Data,
    error: Option<f64>,
    threads: usize,
) -> Diagnostic {
    let least = costly.iter().min_by(|a, b| a.1.cpu_seconds.total_cmp(&b.1.cpu_seconds));
    let Some((quickest, least)) = least else {
        return unusable();
    };
    let cause = format!(
        "no mechanism can be ranked within {} and {}: the quickest, {}, would take {} and {}",
        cost::duration(LONGEST_NAMED),
        cost::bytes(MEMORY * available_memory()),
        typed::shown(quickest),
        cost::duration(least.seconds(threads)),
        cost::bytes(least.bytes())
    );
    let is_possible = |n: u64| {
        let smaller = setting.at(typed::all_in_first(setting.posterior.k(), n));
        costly.iter().any(|(one, _)| is_quick(&work(one, &smaller, data, error), threads))
    };
    let n = cost::furthest(setting.posterior.n(), is_possible);
    let remedy = match data {
        Data::PriorPredictive => format!(
            "every data set of n records counts, and n = {n} would do; `dpbi release --dry-run --n N` \
             estimates errors from draws for any n; "
        ),
        Data::Given => format!("n = {n} would do; "),
    };
    Diagnostic::new(cause).help(format!("{remedy}--force starts it all the same"))
}

/// One mechanism.
struct RankedRow {
    variant: Variant,
    /// ε, as given or as found; none if no ε is enough.
    epsilon: Option<f64>,
    accuracy: Option<Accuracy>,
    remark: String,
}

/// The remark if an exact error is not known.
const UNKNOWN: &str = "its law is too large, or its error too steep";

/// What a ranking finds.
#[derive(Default)]
struct Ranked {
    rows: Vec<RankedRow>,
    /// Those that a search leaves out.
    slow: Vec<Variant>,
    /// Those that turned out to be impossible.
    refused: Vec<Variant>,
}

/// Ranks the mechanisms. A search goes on as long as the laws that it needs take at most so many processor seconds
/// more.
fn rank(
    variants: &[Variant],
    setting: &Setting,
    data: Data,
    error: Option<f64>,
    patience: f64,
) -> Result<Ranked, Diagnostic> {
    let tuning = TuningCache::default();
    let left = Cell::new(patience);
    let row = |variant: &Variant| -> Result<Option<RankedRow>, Refusal> {
        let variant = variant.clone();
        let Some(error) = error else {
            let accuracy = ranking::accuracy(&variant, setting, data, &tuning)?;
            let remark = match accuracy {
                None => UNKNOWN.to_owned(),
                Some(accuracy) if accuracy.mean == f64::INFINITY => "infinite".to_owned(),
                Some(_) => String::new(),
            };
            return Ok(Some(RankedRow {
                variant,
                epsilon: Some(setting.epsilon.get()),
                accuracy,
                remark,
            }));
        };
        let admits = |setting: &Setting| {
            let work = cost::predict_error(&variant, setting, data).unwrap_or_default();
            let rest = left.get() - work.cpu_seconds - work.serial_seconds;
            if rest >= 0.0 {
                left.set(rest);
            }
            rest >= 0.0
        };
        let found = ranking::least_epsilon(&variant, setting, data, error, &tuning, &admits)?;
        Ok(Some(match found {
            LeastEpsilon::TooCostly => return Ok(None),
            LeastEpsilon::At(epsilon, accuracy) => RankedRow {
                variant,
                epsilon: Some(epsilon.get()),
                accuracy: Some(accuracy),
                remark: String::new(),
            },
            LeastEpsilon::Any => RankedRow {
                variant,
                epsilon: Some(SMALLEST),
                accuracy: None,
                remark: "or less".to_owned(),
            },
            LeastEpsilon::None => RankedRow {
                variant,
                epsilon: None,
                accuracy: None,
                remark: "not reached".to_owned(),
            },
            LeastEpsilon::Unknown => {
                RankedRow { variant, epsilon: None, accuracy: None, remark: UNKNOWN.to_owned() }
            }
        }))
    };
    let mut ranked = Ranked::default();
    // One after the other: each needs much memory, and uses all threads.
    for variant in variants {
        match row(variant) {
            Ok(Some(row)) => ranked.rows.push(row),
            Ok(None) => ranked.slow.push(variant.clone()),
            // One that is impossible does not keep the others from being ranked, unless the user wrote it and can
            // mend it, or named no other.
            Err(refusal) if variant.mechanism.definition().is_some() || variants.len() == 1 => {
                return Err(typed::refused(variant, refusal));
            }
            Err(_) => ranked.refused.push(variant.clone()),
        }
    }
    Ok(ranked)
}

/// How long a bar can be.
const BAR: usize = 8;

/// The mark of a guarantee that was computed, not proved.
const COMPUTED: &str = "*";

/// The same in a table that stands alone.
const IN_WORDS: &str = ", computed";

/// Mechanisms, the best first.
#[derive(Serialize, JsonSchema)]
pub struct Document {
    /// The best one.
    choice: Option<String>,
    /// What is advised, in a sentence.
    advice: Option<String>,
    /// The error that was asked for.
    error: Option<f64>,
    mechanisms: Vec<RowDocument>,
    /// Remapped mechanisms, if an error at given data was asked for: it need not fall as ε grows.
    not_offered: Vec<String>,
    /// Mechanisms that would take long.
    left_out: Vec<String>,
}

/// A mechanism and its errors.
#[derive(Serialize, JsonSchema)]
struct RowDocument {
    id: String,
    /// The ε that was given, or the least one with which the mean error is small enough.
    epsilon: Option<f64>,
    guarantee: Option<String>,
    mean: Option<Number>,
    median: Option<Number>,
    q95: Option<Number>,
    /// Why there is no error, or no ε.
    remark: Option<String>,
}

struct Ranking<'a> {
    setting: &'a Setting,
    data: Data,
    error: Option<f64>,
    not_offered: Vec<Variant>,
    /// Those that take long.
    slow: Vec<Variant>,
    /// Those that cannot be used here.
    impossible: Vec<Variant>,
    rows: Vec<RankedRow>,
}

impl Ranking<'_> {
    /// What mechanisms are ranked by: ε if one was looked for, else the mean error.
    fn measure(&self, row: &RankedRow) -> f64 {
        let measure = match self.error {
            Some(_) => row.epsilon,
            None => row.accuracy.map(|accuracy| accuracy.mean),
        };
        measure.unwrap_or(f64::INFINITY)
    }

    fn sort(&mut self) {
        let mut rows = std::mem::take(&mut self.rows);
        let effort = |row: &RankedRow| {
            u8::from(row.variant.options.calibrated) + u8::from(row.variant.options.remap)
        };
        // First by effort, then (stably) by the measure, rounded so that equals are equal.
        rows.sort_by_key(effort);
        let rounded = |row: &RankedRow| {
            let measure = self.measure(row);
            if measure.is_finite() {
                (libm::log(measure.max(1e-300)) / SAME).round()
            } else {
                measure
            }
        };
        rows.sort_by(|a, b| rounded(a).total_cmp(&rounded(b)));
        self.rows = rows;
    }

    fn is_same(&self, a: &RankedRow, b: &RankedRow) -> bool {
        let (a, b) = (self.measure(a), self.measure(b));
        a.is_finite() && b.is_finite() && (a - b).abs() <= SAME * a.max(b)
    }

    /// The rows of every line that is shown, and the names of mechanisms that are not shown: those equal to the
    /// same mechanism with fewer options. Different mechanisms that are equal here share a line.
    fn lines(&self) -> (Vec<Vec<&RankedRow>>, Vec<String>) {
        let mut lines: Vec<Vec<&RankedRow>> = Vec::new();
        let mut idle = Vec::new();
        for row in &self.rows {
            let is_idle = |other: &&RankedRow| {
                other.variant.is_same_mechanism(&row.variant) && self.is_same(other, row)
            };
            if lines.iter().flatten().any(is_idle) {
                idle.push(typed::shown(&row.variant));
            } else if let Some(line) = lines.iter_mut().find(|line| self.is_equal(line[0], row)) {
                line.push(row);
            } else {
                lines.push(vec![row]);
            }
        }
        (lines, idle)
    }

    /// Whether nothing that is shown tells two mechanisms apart.
    fn is_equal(&self, a: &RankedRow, b: &RankedRow) -> bool {
        let accuracies = a.accuracy.zip(b.accuracy);
        accuracies.is_some_and(|(a, b)| a.is_same(&b))
            && a.epsilon == b.epsilon
            && self.remark(a, COMPUTED) == self.remark(b, COMPUTED)
    }

    /// The best of the mechanisms that are private at their ε.
    fn best(&self) -> Option<&RankedRow> {
        let private =
            |row: &&RankedRow| row.epsilon.is_some_and(|e| row.variant.is_private(&self.at(e)));
        self.rows.iter().filter(|row| self.measure(row).is_finite()).find(private)
    }

    /// Which to take, and why, with mechanisms named by `name`.
    fn advice(&self, name: fn(&Variant) -> String) -> Option<String> {
        let best = self.best()?;
        if let (Some(error), None) = (self.error, best.accuracy) {
            return Some(format!(
                "Any ε will do: with {} even ε = {SMALLEST} has a mean error of at most {error}.",
                name(&best.variant)
            ));
        }
        let id = name(&best.variant);
        let why = match self.error {
            Some(error) => format!("it keeps to a mean error of {error} from the least ε on"),
            None => "it has the least mean error of the private ones".to_owned(),
        };
        let others = || self.rows.iter().filter(|row| !std::ptr::eq(*row, best));
        let mut after = others().skip_while(|row| self.measure(row) < self.measure(best));
        let next = after.find(|row| !self.is_same(best, row));
        let ahead = match next.filter(|row| self.measure(row).is_finite()) {
            Some(next) => {
                let percent = 100.0 * (1.0 - self.measure(best) / self.measure(next));
                format!(", {} % less than {}", short(percent), name(&next.variant))
            }
            None if self.error.is_some() && others().any(|row| !self.is_same(best, row)) => {
                ", and no other does".to_owned()
            }
            None => String::new(),
        };
        let equals: Vec<String> =
            others().filter(|row| self.is_same(best, row)).map(|row| name(&row.variant)).collect();
        let equals = match &equals[..] {
            [] => String::new(),
            few if few.len() <= 3 => format!(" (equal to {})", typed::listed(few)),
            many => format!(" (equal to {} others)", many.len()),
        };
        let epsilon = best.epsilon.unwrap_or(self.setting.epsilon.get());
        let guarantee = self.guarantee(best, epsilon);
        let take =
            if self.all_are_known() { "Take" } else { "Of those that are ranked here, take" };
        Some(format!("{take} {id}{equals}: {why}{ahead}; it is {guarantee}."))
    }

    /// Whether every mechanism was ranked.
    fn all_are_known(&self) -> bool {
        let all =
            [&self.slow, &self.impossible, &self.not_offered].iter().all(|some| some.is_empty());
        all && self.rows.iter().all(|row| row.remark != UNKNOWN)
    }

    /// The setting with another ε.
    fn at(&self, epsilon: f64) -> Setting {
        let epsilon = Epsilon::new(epsilon).unwrap_or(self.setting.epsilon);
        Setting { epsilon, ..self.setting.clone() }
    }

    fn guarantee(&self, row: &RankedRow, epsilon: f64) -> String {
        row.variant.guarantee(&self.at(epsilon)).to_string()
    }

    fn document(&self) -> Document {
        let row = |row: &RankedRow| RowDocument {
            id: row.variant.label.clone(),
            epsilon: row.epsilon,
            guarantee: row.epsilon.map(|epsilon| self.guarantee(row, epsilon)),
            mean: row.accuracy.map(|accuracy| Number(accuracy.mean)),
            median: row.accuracy.map(|accuracy| Number(accuracy.median)),
            q95: row.accuracy.map(|accuracy| Number(accuracy.q95)),
            remark: (!row.remark.is_empty()).then(|| row.remark.clone()),
        };
        let label: fn(&Variant) -> String = |variant| variant.label.clone();
        Document {
            choice: self.best().map(|row| label(&row.variant)),
            advice: self.advice(label),
            error: self.error,
            mechanisms: self.rows.iter().map(row).collect(),
            not_offered: self.not_offered.iter().map(label).collect(),
            left_out: self.slow.iter().chain(&self.impossible).map(label).collect(),
        }
    }

    /// The guarantee, or why there is none.
    fn remark(&self, row: &RankedRow, computed: &str) -> String {
        let Some(epsilon) = row.epsilon.filter(|_| row.remark.is_empty()) else {
            return row.remark.clone();
        };
        match row.variant.guarantee(&self.at(epsilon)) {
            Guarantee::Computed(epsilon) => Guarantee::Pure(epsilon).to_string() + computed,
            proved => proved.to_string(),
        }
    }

    /// The cells of a row, with the bar after what mechanisms are ranked by. An ε that was given is
    /// the same in every row, and left out.
    fn arranged<S>(&self, [label, epsilon, bar, mean, median, q95, remark]: [S; 7]) -> Vec<S> {
        match self.error {
            Some(_) => vec![label, epsilon, bar, mean, median, q95, remark],
            None => vec![label, mean, bar, median, q95, remark],
        }
    }

    /// The mechanisms, best first. `computed` marks guarantees that were computed.
    fn grid(&self, lines: &[Vec<&RankedRow>], computed: &str) -> Grid {
        let measures =
            self.rows.iter().map(|row| self.measure(row)).filter(|value| value.is_finite());
        let largest = measures.fold(0.0, f64::max);
        let mut grid = Grid::new(1);
        grid.row(self.arranged(["mechanism", "ε", "", "mean", "median", "95 %", "guarantee"]));
        for line in lines {
            let row = line[0];
            let names: Vec<String> = line.iter().map(|row| typed::shown(&row.variant)).collect();
            let number = |value: fn(Accuracy) -> f64| short_or_dash(row.accuracy.map(value));
            let drawn = Some(self.measure(row)).filter(|value| value.is_finite());
            let drawn = drawn.map_or(String::new(), |value| bar(value, largest, BAR));
            grid.row(self.arranged([
                typed::listed(&names),
                row.epsilon.map_or("–".to_owned(), |epsilon| epsilon.to_string()),
                format!("{drawn:BAR$}"),
                number(|a| a.mean),
                number(|a| a.median),
                number(|a| a.q95),
                self.remark(row, computed),
            ]));
        }
        grid
    }

    fn text(&self) -> String {
        let posterior = &self.setting.posterior;
        let (lines, idle) = self.lines();
        let what = self.setting.distance.title();
        let over = match self.data {
            Data::PriorPredictive => {
                format!(
                    "averaged over data sets of {} records drawn from the prior predictive \
                     distribution",
                    posterior.n()
                )
            }
            Data::Given => format!("at the data ({} records)", posterior.n()),
        };
        let at = match self.error {
            Some(_) => String::new(),
            None => format!(" at ε = {}", self.setting.epsilon.get()),
        };
        let mut text =
            format!("  Exact error ({what}){at}, {over}\n{}", self.grid(&lines, COMPUTED).render());
        if lines.iter().any(|line| self.remark(line[0], COMPUTED).ends_with(COMPUTED)) {
            text += &format!(
                "  {COMPUTED} computed: over all pairs of data sets the loss is at most ε\n"
            );
        }
        let known = self.rows.iter().filter(|row| row.accuracy.is_some());
        text += &typed::remapped_by_descent(known.map(|row| &row.variant), self.setting);
        if !idle.is_empty() {
            text += &format!(
                "  Not shown, because the option changes nothing: {}\n",
                typed::listed(&idle)
            );
        }
        if !self.not_offered.is_empty() {
            text += "  Left out are remapped mechanisms: at given data their error need not fall as ε grows\n";
        }
        text += &typed::left_out(&self.slow, &self.impossible);
        text += &match self.advice(typed::shown) {
            Some(advice) => format!("\n  {advice}\n"),
            None if self.error.is_some() => match self.all_are_known() {
                true => format!("\n  No mechanism gets there with an ε of at most {LARGEST}.\n"),
                false => {
                    "\n  None of those that are ranked here is known to get there.\n".to_owned()
                }
            },
            None => "\n  None of these is both private and of finite mean error.\n".to_owned(),
        };
        if self.data == Data::Given {
            text += "  This choice looked at the data. A choice that must be private itself rests on --n.\n";
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where nothing is quick, the quickest are ranked as long as somebody would wait for them.
    #[test]
    fn an_answer_about_a_few_is_better_than_none() {
        let variant = || Variant::parse("geometric").unwrap();
        let priced = |seconds: &[f64]| -> Vec<(Variant, Work)> {
            let work = |&cpu_seconds: &f64| Work { cpu_seconds, ..Work::default() };
            seconds.iter().map(|seconds| (variant(), work(seconds))).collect()
        };
        let few = |seconds: &[f64]| quick(&priced(seconds), false, 1);
        assert_eq!(few(&[40.0, 15.0, 20.0, 70.0]), [false, true, true, false]);
        assert_eq!(few(&[1.0, 15.0]), [true, false]);
        assert_eq!(few(&[70.0]), [false]);
    }
}
