//! The exact engine against reference values computed independently of it (`tests/golden`).

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::common::{assert_close, root};
use engine::analysis::audit::Scope;
use engine::analysis::optimum::{Goal, Question, answer};
use engine::mechanism::law::tight::Tight;
use engine::mechanism::law::{Bench, ErrorSummary, OutputSet};
use engine::mechanism::{self, Global, Mechanism, Options};
use engine::numeric::bregman::bregman_table;
use engine::numeric::gamma::{digamma_gap, ln_phi};
use engine::numeric::log_affinity::log_affinity;
use engine::numeric::overlap;
use engine::posterior::distance::{self, Distance};
use engine::posterior::error_field::Reach;
use engine::posterior::metric;
use engine::posterior::model::{Posterior, Prior};
use engine::posterior::privacy::{Delta, Epsilon, Gamma};
use engine::posterior::sensitivity::CandidatesInBeta;
use engine::posterior::setting::{Setting, SettingWithData};
use engine::prepared::Prepared;
use paper::printed_numbers;

/// The columns that are not results.
const GIVEN: [&str; 9] =
    ["prior", "counts", "n", "candidate", "epsilon", "delta", "mechanism", "distance", "metric"];

/// One row of a table: column name to cell.
pub struct GoldenRow(BTreeMap<String, String>);

impl GoldenRow {
    /// A cell.
    pub fn text(&self, column: &str) -> &str {
        self.0.get(column).unwrap_or_else(|| panic!("no column {column}"))
    }

    /// A cell that holds a number.
    pub fn number(&self, column: &str) -> f64 {
        self.text(column).parse().unwrap_or_else(|_| panic!("{column} = {}", self.text(column)))
    }

    /// A cell that may be empty or missing.
    fn optional(&self, column: &str) -> Option<f64> {
        let text = self.0.get(column).filter(|text| !text.is_empty());
        text.map(|_| self.number(column))
    }

    /// A cell that holds numbers.
    pub fn vector<T: std::str::FromStr>(&self, column: &str) -> Vec<T> {
        let number = |text: &str| text.parse().ok();
        let vector: Option<Vec<T>> = self.text(column).split(';').map(number).collect();
        vector.unwrap_or_else(|| panic!("{column} = {}", self.text(column)))
    }

    /// The setting of the row.
    fn describe(&self) -> String {
        let given = GIVEN.iter().filter_map(|&name| Some(format!("{name} {}", self.0.get(name)?)));
        given.collect::<Vec<_>>().join(", ")
    }

    fn posterior(&self) -> Posterior {
        let prior: Vec<f64> = self.vector("prior");
        let counts = match self.0.contains_key("counts") {
            true => self.vector("counts"),
            // Where only their number matters, all records are in the first category.
            false => {
                let mut counts = vec![0; prior.len()];
                counts[0] = self.number("n") as u64;
                counts
            }
        };
        Posterior::new(Prior::new(prior).unwrap(), counts)
    }

    fn setting(&self) -> SettingWithData {
        let delta = if self.0.contains_key("delta") { self.number("delta") } else { 1e-3 };
        let posterior = self.posterior();
        let setting = Setting {
            prior: posterior.prior().clone(),
            n: posterior.n(),
            epsilon: Epsilon::new(self.number("epsilon")).unwrap(),
            delta: Delta::new(delta).ok(),
            gamma: Gamma::new(1.0).unwrap(),
            distance: self.distance(),
        };
        SettingWithData::new(setting, posterior.counts().to_vec())
    }

    fn variant(&self) -> Mechanism {
        let options = Options {
            gamma: self.optional("gamma").and_then(|gamma| Gamma::new(gamma).ok()),
            divisor: self.optional("divisor"),
            global: self.is("global", "bound").then_some(Global::Bound),
            scale_factor: self.optional("scale_factor"),
            candidates_in_beta: self.is("candidates_in_beta", "n").then_some(CandidatesInBeta::N),
            ..Options::default()
        };
        let mechanism = mechanism::find(self.text("mechanism")).unwrap();
        Mechanism { options, ..Mechanism::plain(mechanism) }
    }

    fn distance(&self) -> &'static dyn Distance {
        distance::find(self.0.get("distance").map_or("hellinger", String::as_str)).unwrap()
    }

    fn is(&self, column: &str, value: &str) -> bool {
        self.0.get(column).is_some_and(|text| text == value)
    }
}

/// All rows of a table in `tests/golden`, where a README says how they were made.
pub fn rows(name: &str) -> Vec<GoldenRow> {
    let mut reader = csv::Reader::from_path(root().join("tests/golden").join(name)).unwrap();
    let header = reader.headers().unwrap().clone();
    let row = |record: csv::StringRecord| {
        let cells = header.iter().zip(&record);
        GoldenRow(cells.map(|(name, cell)| (name.to_owned(), cell.to_owned())).collect())
    };
    reader.records().map(|record| row(record.unwrap())).collect()
}

/// The unit in which deviations are measured.
#[derive(Clone, Copy, Debug)]
enum Measure {
    /// The reference value.
    Relative,
    /// 1.
    Absolute,
    /// The reference value, or 1 if that is larger.
    Either,
}

/// Reference values that are compared at one tolerance.
struct Group {
    name: &'static str,
    /// How many values there are: none is lost on the way.
    values: usize,
    measure: Measure,
    /// The largest deviation that is allowed.
    tolerance: f64,
    compare: fn(&mut Comparison),
}

/// Our values compared with those of a group.
struct Comparison {
    measure: Measure,
    tolerance: f64,
    values: usize,
    /// Values that deviate by more.
    wrong: Vec<String>,
}

impl Comparison {
    fn new(group: &Group) -> Self {
        let &Group { measure, tolerance, .. } = group;
        Self { measure, tolerance, values: 0, wrong: Vec::new() }
    }

    /// Compares one more value of ours with its reference; `what` names it.
    fn add(&mut self, ours: f64, theirs: f64, what: impl FnOnce() -> String) {
        let scale = match self.measure {
            Measure::Relative => theirs.abs(),
            Measure::Absolute => 1.0,
            Measure::Either => theirs.abs().max(1.0),
        };
        self.values += 1;
        let is_right = ours == theirs || (ours - theirs).abs() / scale <= self.tolerance;
        if !is_right {
            self.wrong.push(format!("{}: {ours:e} instead of {theirs:e}", what()));
        }
    }

    fn column(&mut self, row: &GoldenRow, column: &str, ours: f64) {
        self.add(ours, row.number(column), || format!("{}, {column}", row.describe()));
    }

    /// Mean, median, 0.9 quantile and the probability of the truth.
    fn law(&mut self, row: &GoldenRow, suffix: &str, ours: &ErrorSummary) {
        let error = ours.error.unwrap();
        for (name, ours) in [("mean", error.mean), ("median", error.median), ("q90", error.q90)] {
            self.column(row, &format!("{name}{suffix}"), ours);
        }
        self.column(row, "p_exact", ours.p_exact);
    }

    fn sensitivities(&mut self, row: &GoldenRow, setting: &SettingWithData) {
        let sensitivity = setting.sensitivity();
        let beta = setting.beta(CandidatesInBeta::NPlusOne).unwrap();
        self.column(row, "local", sensitivity.local());
        self.column(row, "global", sensitivity.global());
        self.column(row, "gamma_smooth", sensitivity.gamma_smooth(1.0));
        self.column(row, "beta_smooth", sensitivity.beta_smooth(beta));
    }
}

use Measure::{Absolute, Either, Relative};

/// The groups. Each tolerance is the accuracy of the references and of our own numbers.
static GROUPS: &[Group] = &[
    group("functions", 186, Relative, 4e-15, functions),
    group("Hellinger distances", 270, Relative, 1e-12, hellinger),
    group("other distances", 126, Relative, 2e-13, other_distances),
    group("other distances, other totals", 153, Either, 1e-12, open_distances),
    group("total variation distances", 31, Absolute, 0.1 * overlap::ACCURACY, total_variations),
    group("sensitivities", 504, Relative, 1e-9, sensitivities),
    group("print sensitivities", 852, Relative, 1e-13, print_sensitivities),
    group("errors", 1140, Relative, 1e-8, errors),
    group("print errors", 852, Relative, 1e-12, print_errors),
    group("options", 500, Relative, 1e-12, options),
    group("metrics", 210, Relative, 1e-12, metrics),
    group("sensitivities of other scores", 660, Relative, 1e-12, score_sensitivities),
    group("other scores", 660, Relative, 1e-11, scores),
    group("privacy losses", 118, Relative, 1e-10, losses),
    group("deltas", 118, Absolute, 1e-11, deltas),
    group("calibrations", 100, Relative, 1e-7, calibrations),
    group("optima", 30, Absolute, 1e-6, optima),
    group("the tight mechanism", 450, Absolute, 1e-12, tight),
    group("synthetic records", 90, Absolute, 1e-12, synthetic),
    group("numbers in print, in units of what is allowed", 19, Absolute, 1.0, printed),
];

const fn group(
    name: &'static str,
    values: usize,
    measure: Measure,
    tolerance: f64,
    compare: fn(&mut Comparison),
) -> Group {
    Group { name, values, measure, tolerance, compare }
}

#[test]
fn every_reference_value_comes_out() {
    GROUPS.par_iter().for_each(|group| {
        let mut comparison = Comparison::new(group);
        (group.compare)(&mut comparison);
        assert!(comparison.wrong.is_empty(), "{}: {:#?}", group.name, comparison.wrong);
        assert_eq!(comparison.values, group.values, "{}", group.name);
    });
}

/// A tiny prior parameter is not lost beside the count. 60-digit arithmetic.
#[test]
fn tiny_priors_keep_their_digits() {
    let posterior = Posterior::new(Prior::new(vec![1e-12, 1.0]).unwrap(), vec![1, 5]);
    let field = distance::HELLINGER.field(&posterior, &Reach::ball(&posterior));
    assert_close(field.at(&[0, 6]), 0.999_999_132_024_005_8, 1e-15, "prior 1e-12");
    let local = distance::HELLINGER.sensitivity(&posterior).local();
    assert_close(local, 0.999_999_132_024_005_8, 1e-15, "prior 1e-12, local");
}

/// Numbers that the documents print, in units of the deviation that is allowed for each.
fn printed(comparison: &mut Comparison) {
    for number in printed_numbers::all() {
        let theirs = number.printed.parse::<f64>().unwrap() / number.allowed;
        comparison.add(number.computed / number.allowed, theirs, || {
            format!("{}, {}", number.place, number.what)
        });
    }
}

fn release(setting: &SettingWithData, variant: &Mechanism) -> ErrorSummary {
    let law = variant.law(setting).unwrap();
    let bench = Bench::new(setting.posterior(), setting.distance, [law.as_ref()], &[]).unwrap();
    ErrorSummary::new(bench.law(0).as_ref(), bench.distance())
}

fn functions(comparison: &mut Comparison) {
    for row in rows("functions.csv") {
        let (name, a) = (row.text("function"), row.number("a"));
        let d = || row.number("d") as i64;
        let bregman = |alpha, x, v| bregman_table(alpha, x, v).get(v).unwrap_or(f64::NAN);
        let ours = match name {
            "ln_phi" => ln_phi(a),
            "digamma_gap" => digamma_gap(a),
            "half_gap" => with_counts(a, d(), log_affinity),
            "bregman" => with_counts(a, d(), bregman),
            _ => f64::NAN,
        };
        let what = || format!("{name} a = {a} d = {}", row.text("d"));
        comparison.add(ours, row.number("value"), what);
    }
}

/// f(α, x, v) with α + x = a and v − x = d, x being as small as possible.
fn with_counts(a: f64, d: i64, f: impl Fn(f64, u64, u64) -> f64) -> f64 {
    let x = (-d).max(0) as u64;
    f(a - x as f64, x, (x as i64 + d) as u64)
}

fn hellinger(comparison: &mut Comparison) {
    for row in rows("hellinger.csv") {
        let posterior = row.posterior();
        // From tables, and computed directly.
        for ball in [true, false] {
            let reach = Reach { ball, ..Reach::ball(&posterior) };
            let field = distance::HELLINGER.field(&posterior, &reach);
            comparison.column(&row, "hellinger", field.at(&row.vector::<u64>("candidate")));
        }
    }
}

fn other_distances(comparison: &mut Comparison) {
    distances(comparison, |is_tv, is_open| !is_tv && !is_open);
}

fn open_distances(comparison: &mut Comparison) {
    distances(comparison, |is_tv, is_open| !is_tv && is_open);
}

fn total_variations(comparison: &mut Comparison) {
    distances(comparison, |is_tv, _| is_tv);
}

/// The distances of those rows for which `is_asked`: it is told whether the distance is total variation,
/// and whether the totals differ. If they do, the terms of the categories and of the total cancel.
fn distances(comparison: &mut Comparison, is_asked: impl Fn(bool, bool) -> bool) {
    for row in rows("distances.csv") {
        let (posterior, candidate) = (row.posterior(), row.vector::<u64>("candidate"));
        let is_open = candidate.iter().sum::<u64>() != posterior.n();
        if !is_asked(row.text("distance") == "tv", is_open) {
            continue;
        }
        let windows = candidate.iter().zip(posterior.counts());
        let windows = windows.map(|(&c, &x)| (c.min(x), c.max(x))).collect();
        let field = row.distance().field(&posterior, &Reach { windows, ball: false });
        comparison.column(&row, "value", field.at(&candidate));
    }
}

fn sensitivities(comparison: &mut Comparison) {
    for row in rows("sensitivity.csv") {
        let sensitivity = distance::HELLINGER.sensitivity(&row.posterior());
        for column in row.0.keys().filter(|column| !GIVEN.contains(&column.as_str())) {
            let parameter = |text: &str| text.parse().unwrap();
            let ours = match column.split_once('_') {
                Some(("gamma", gamma)) => sensitivity.gamma_smooth(parameter(gamma)),
                Some(("beta", beta)) => sensitivity.beta_smooth(parameter(beta)),
                _ if column == "local" => sensitivity.local(),
                _ => sensitivity.global(),
            };
            comparison.column(&row, column, ours);
        }
    }
}

fn in_print(row: &GoldenRow) -> SettingWithData {
    let setting = row.setting();
    let distance = distance::find("print").unwrap();
    SettingWithData::new(
        Setting { distance, ..Setting::clone(&setting) },
        setting.counts().to_vec(),
    )
}

fn print_sensitivities(comparison: &mut Comparison) {
    rows("print.csv").iter().for_each(|row| comparison.sensitivities(row, &in_print(row)));
}

fn print_errors(comparison: &mut Comparison) {
    laws(comparison, "print.csv", in_print, "_print");
}

fn errors(comparison: &mut Comparison) {
    laws(comparison, "error.csv", GoldenRow::setting, "_hellinger");
}

fn options(comparison: &mut Comparison) {
    laws(comparison, "options.csv", GoldenRow::setting, "_hellinger");
}

fn scores(comparison: &mut Comparison) {
    laws(comparison, "scores.csv", GoldenRow::setting, "");
}

fn laws(
    comparison: &mut Comparison,
    file: &str,
    at: fn(&GoldenRow) -> SettingWithData,
    suffix: &str,
) {
    for row in rows(file) {
        comparison.law(&row, suffix, &release(&at(&row), &row.variant()));
    }
}

fn metrics(comparison: &mut Comparison) {
    for row in rows("metrics.csv") {
        let setting = row.setting();
        let metric = metric::find(row.text("metric")).unwrap();
        let law = row.variant().law(&setting).unwrap();
        let bench =
            Bench::new(setting.posterior(), setting.distance, [law.as_ref()], &[metric]).unwrap();
        let field = bench.fields().nth(1).unwrap();
        let ours = ErrorSummary::new(bench.law(0).as_ref(), field).error;
        comparison.column(&row, "mean", ours.map_or(f64::NAN, |error| error.mean));
    }
}

fn score_sensitivities(comparison: &mut Comparison) {
    rows("scores.csv").iter().for_each(|row| comparison.sensitivities(row, &row.setting()));
}

fn losses(comparison: &mut Comparison) {
    for row in rows("privacy.csv") {
        let setting = row.setting();
        let found = row.variant().prepare(&setting).and_then(|one| one.loss(&Scope::All, &[]));
        comparison.column(&row, "loss", found.map_or(f64::NAN, |found| found.loss.loss));
    }
}

/// Compared absolutely: if the loss is the ε asked about, the reference's δ is 0.
fn deltas(comparison: &mut Comparison) {
    for row in rows("privacy.csv") {
        let (setting, at) = (row.setting(), row.number("at_epsilon"));
        let found = row.variant().prepare(&setting).and_then(|one| one.loss(&Scope::All, &[at]));
        comparison.column(&row, "delta_at", found.map_or(f64::NAN, |found| found.deltas[0].delta));
    }
}

fn calibrations(comparison: &mut Comparison) {
    for row in rows("calibration.csv") {
        let setting = row.setting();
        let options = Options { calibrated: true, ..Options::default() };
        let variant = Mechanism { options, ..row.variant() };
        let Ok(prepared) = variant.prepare(&setting) else {
            comparison.column(&row, "inner_epsilon", f64::NAN);
            continue;
        };
        let certificate = prepared.certificate.as_ref();
        let inner = certificate.map_or(f64::NAN, |found| found.inner_epsilon.get());
        comparison.column(&row, "inner_epsilon", inner);
        comparison.column(&row, "mean_hellinger_predictive", mean_error(&prepared));
    }
}

fn optima(comparison: &mut Comparison) {
    for row in rows("optimum.csv") {
        let setting = row.setting();
        for (goal, column) in [(Goal::Bayes, "bayes"), (Goal::Minimax, "minimax")] {
            let question = Question::pure(goal, OutputSet::Simplex);
            let found = answer(&setting, question, &|_| ());
            comparison.column(&row, column, found.map_or(f64::NAN, |found| found.value));
        }
    }
}

/// Weight and error at the row's data, and mean errors over the prior's data, as they are and remapped.
fn tight(comparison: &mut Comparison) {
    let tight = Mechanism::plain(mechanism::find("tight").unwrap());
    let options = Options { remap: true, ..Options::default() };
    let remapped = Mechanism { options, ..tight.clone() };
    // Rows of one setting follow one another, and so do their means.
    let mut known: Option<(String, [f64; 2])> = None;
    for row in rows("tight.csv") {
        let setting = row.setting();
        let law = release(&setting, &tight);
        comparison.column(&row, "p_exact", law.p_exact);
        comparison.column(&row, "mean", law.error.map_or(f64::NAN, |error| error.mean));
        let posterior = setting.posterior();
        let weights = Tight::find(posterior.k(), posterior.n(), setting.epsilon.get());
        let least = weights.map_or(f64::NAN, |weights| weights.smallest());
        comparison.column(&row, "least_weight", least);
        let key = format!("{} {} {}", row.text("prior"), posterior.n(), row.text("epsilon"));
        let means = known.filter(|(name, _)| *name == key).map(|(_, means)| means);
        let means = means.unwrap_or_else(|| {
            [&tight, &remapped].map(|variant| mean_error(&variant.prepare(&setting).unwrap()))
        });
        comparison.column(&row, "bayes", means[0]);
        comparison.column(&row, "bayes_remapped", means[1]);
        known = Some((key, means));
    }
}

fn synthetic(comparison: &mut Comparison) {
    for row in rows("rivals.csv") {
        let counts: Vec<u64> = row.vector("counts");
        let prior = Prior::new(row.vector("prior")).unwrap();
        let setting =
            Setting::new(prior, counts.iter().sum(), Epsilon::new(row.number("epsilon")).unwrap());
        let prepared = row.variant().prepare(&setting).unwrap();
        let here = prepared.at(&counts).unwrap().summary();
        comparison.column(&row, "p_exact", here.p_exact);
        comparison.column(&row, "mean_hellinger", here.error.map_or(f64::NAN, |error| error.mean));
        comparison.column(&row, "mean_hellinger_predictive", mean_error(&prepared));
        let found = prepared.loss(&Scope::All, &[0.5 * setting.epsilon.get()]).unwrap();
        comparison.column(&row, "loss", found.loss.loss);
        comparison.column(&row, "delta_at_half_epsilon", found.deltas[0].delta);
    }
}

fn mean_error(prepared: &Prepared) -> f64 {
    let found = prepared.error().ok().flatten();
    found.map_or(f64::NAN, |found| found.mean)
}
