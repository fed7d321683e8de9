//! The exact engine against reference values that were computed independently of it.

use std::collections::BTreeMap;

use engine::analysis::audit::{self, Scope};
use engine::analysis::optimum::{Goal, solve};
use engine::analysis::predictive_error;
use engine::analysis::tuning;
use engine::mechanism::law::tight::Tight;
use engine::mechanism::law::{Exact, OutputSet};
use engine::mechanism::prepared::PreparedSetting;
use engine::mechanism::{self, Global, Options, Variant};
use engine::numeric::bregman::bregman_table;
use engine::numeric::gamma::{digamma_gap, ln_phi};
use engine::numeric::log_affinity::log_affinity;
use engine::numeric::overlap;
use engine::parallel;
use engine::posterior::distance::{self, Distance};
use engine::posterior::error_field::Reach;
use engine::posterior::metric::{self, Metric};
use engine::posterior::model::{Posterior, Prior};
use engine::posterior::privacy::{Delta, Epsilon, Gamma};
use engine::posterior::sensitivity::CandidatesInBeta;
use engine::posterior::setting::Setting;
use paper::printed_numbers;

/// The reason why reading the tables cannot fail.
const SOUND: &str = "the reference tables are sound";

macro_rules! tables {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../../tests/golden/", $name)))),*]
    };
}

/// The tables, as they are in `tests/golden`, where a README says how they were made.
static TABLES: &[(&str, &str)] = &tables![
    "calibration.csv",
    "distances.csv",
    "error.csv",
    "functions.csv",
    "hellinger.csv",
    "metrics.csv",
    "optimum.csv",
    "options.csv",
    "print.csv",
    "privacy.csv",
    "scores.csv",
    "sensitivity.csv",
    "tight.csv",
];

/// One row of a table: column name to cell.
pub struct GoldenRow(BTreeMap<String, String>);

impl GoldenRow {
    /// A cell.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn text(&self, column: &str) -> &str {
        self.0.get(column).unwrap_or_else(|| panic!("no column {column}"))
    }

    /// A cell that holds a number.
    ///
    /// # Panics
    /// If it holds something else.
    pub fn number(&self, column: &str) -> f64 {
        self.text(column).parse().unwrap_or_else(|_| panic!("{column} = {}", self.text(column)))
    }

    /// A cell that may be empty.
    ///
    /// # Panics
    /// If it is neither empty nor a number.
    fn optional(&self, column: &str) -> Option<f64> {
        (!self.text(column).is_empty()).then(|| self.number(column))
    }

    /// A cell that holds numbers.
    ///
    /// # Panics
    /// If it holds something else.
    pub fn vector<T: std::str::FromStr>(&self, column: &str) -> Vec<T> {
        let number = |text: &str| text.parse().ok();
        let vector: Option<Vec<T>> = self.text(column).split(';').map(number).collect();
        vector.unwrap_or_else(|| panic!("{column} = {}", self.text(column)))
    }

    /// The names of the columns.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The cells that are not results: the setting of the row.
    fn describe(&self) -> String {
        const GIVEN: &[&str] = &[
            "prior",
            "counts",
            "n",
            "candidate",
            "epsilon",
            "delta",
            "mechanism",
            "distance",
            "metric",
        ];
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
        Posterior::new(Prior::new(prior).expect(SOUND), counts)
    }

    fn setting(&self, distance: &'static dyn Distance) -> Setting {
        let delta = if self.0.contains_key("delta") { self.number("delta") } else { 1e-3 };
        Setting {
            posterior: self.posterior(),
            epsilon: Epsilon::new(self.number("epsilon")).expect(SOUND),
            delta: Delta::new(delta).ok(),
            gamma: Gamma::new(1.0).expect(SOUND),
            distance,
        }
    }

    fn variant(&self, options: Options) -> Variant {
        let mechanism = mechanism::find(self.text("mechanism")).expect(SOUND);
        Variant { options, ..Variant::plain(mechanism) }
    }

    fn distance(&self) -> &'static dyn Distance {
        distance::find(self.text("distance")).expect(SOUND)
    }
}

/// All rows of a table.
///
/// # Panics
/// If there is no such table.
pub fn rows(name: &str) -> Vec<GoldenRow> {
    let table = TABLES.iter().find(|table| table.0 == name);
    let (_, text) = table.unwrap_or_else(|| panic!("no table {name}"));
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let header = reader.headers().expect(SOUND).clone();
    let row = |record: csv::StringRecord| {
        let cells = header.iter().zip(&record);
        GoldenRow(cells.map(|(name, cell)| (name.to_owned(), cell.to_owned())).collect())
    };
    reader.records().map(|record| row(record.expect(SOUND))).collect()
}

/// The unit in which deviations are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The reference value.
    Relative,
    /// 1.
    Absolute,
    /// The reference value, or 1 if that is larger.
    Either,
}

/// Reference values that are compared at one tolerance.
pub struct Group {
    pub name: &'static str,
    /// How deviations are measured.
    pub measure: Measure,
    /// The largest deviation that is allowed.
    pub tolerance: f64,
    compare: fn(&mut Comparison),
}

/// Our values compared with those of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    pub name: &'static str,
    /// How deviations are measured.
    pub measure: Measure,
    /// The largest deviation that is allowed.
    pub tolerance: f64,
    pub values: usize,
    /// The largest deviation, and where it is.
    pub worst: (f64, String),
}

impl Comparison {
    /// Whether all values are right.
    pub fn passes(&self) -> bool {
        self.worst.0 <= self.tolerance
    }

    /// Compares one more value of ours with its reference; `what` names it.
    pub fn add(&mut self, ours: f64, theirs: f64, what: impl FnOnce() -> String) {
        let scale = match self.measure {
            Measure::Relative => theirs.abs(),
            Measure::Absolute => 1.0,
            Measure::Either => theirs.abs().max(1.0),
        };
        let deviation = match ours == theirs {
            true => 0.0,
            false => (ours - theirs).abs() / scale,
        };
        self.values += 1;
        // A value that is not a number has an infinite deviation.
        let deviation = if deviation.is_nan() { f64::INFINITY } else { deviation };
        if deviation > self.worst.0 {
            self.worst = (deviation, format!("{}: {ours:e} instead of {theirs:e}", what()));
        }
    }

    fn column(&mut self, row: &GoldenRow, column: &str, ours: f64) {
        self.add(ours, row.number(column), || format!("{}, {column}", row.describe()));
    }

    /// Mean, median, 0.9 quantile and the probability of the truth.
    fn law(&mut self, row: &GoldenRow, suffix: &str, ours: &Exact) {
        let error = ours.error.expect("laws of the reference tables are small");
        for (name, ours) in [("mean", error.mean), ("median", error.median), ("q90", error.q90)] {
            self.column(row, &format!("{name}{suffix}"), ours);
        }
        self.column(row, "p_exact", ours.p_exact);
    }

    fn sensitivities(&mut self, row: &GoldenRow, setting: &Setting) {
        let sensitivity = setting.sensitivity();
        let beta = setting.beta(CandidatesInBeta::NPlusOne).expect("a δ in every row");
        self.column(row, "local", sensitivity.local());
        self.column(row, "global", sensitivity.global());
        self.column(row, "gamma_smooth", sensitivity.gamma_smooth(1.0));
        self.column(row, "beta_smooth", sensitivity.beta_smooth(beta));
    }
}

use Measure::{Absolute, Either, Relative};

/// The groups. Each tolerance is the accuracy of the references and of our own numbers.
pub static GROUPS: &[Group] = &[
    group("functions", Relative, 4e-15, functions),
    group("Hellinger distances", Relative, 1e-12, hellinger),
    group("other distances", Relative, 2e-13, other_distances),
    group("other distances, other totals", Either, 1e-12, open_distances),
    group("total variation distances", Absolute, 0.1 * overlap::ACCURACY, total_variations),
    group("sensitivities", Relative, 1e-9, sensitivities),
    group("print sensitivities", Relative, 1e-13, print_sensitivities),
    group("errors", Relative, 1e-8, errors),
    group("print errors", Relative, 1e-12, print_errors),
    group("options", Relative, 1e-12, options),
    group("metrics", Relative, 1e-12, metrics),
    group("sensitivities of other scores", Relative, 1e-12, score_sensitivities),
    group("other scores", Relative, 1e-11, scores),
    group("privacy losses", Relative, 1e-9, losses),
    group("deltas", Absolute, 1e-11, deltas),
    group("calibrations", Relative, 1e-7, calibrations),
    group("optima", Absolute, 1e-6, optima),
    group("the tight mechanism", Absolute, 1e-9, tight),
];

const fn group(
    name: &'static str,
    measure: Measure,
    tolerance: f64,
    compare: fn(&mut Comparison),
) -> Group {
    Group { name, measure, tolerance, compare }
}

impl Group {
    /// Computes all values again.
    pub fn compare(&self) -> Comparison {
        let &Self { name, measure, tolerance, compare } = self;
        let worst = (0.0, String::new());
        let mut comparison = Comparison { name, measure, tolerance, values: 0, worst };
        compare(&mut comparison);
        comparison
    }
}

/// All groups, and the numbers that the documents print.
pub fn compare_all() -> Vec<Comparison> {
    let mut all = parallel::map(GROUPS, Group::compare);
    all.push(printed());
    all
}

/// Printed numbers; deviations are in units of what is allowed for each.
fn printed() -> Comparison {
    let group = group("numbers in print", Absolute, 1.0, |comparison| {
        for number in printed_numbers::all() {
            let theirs = number.value() / number.allowed;
            comparison.add(number.computed / number.allowed, theirs, || {
                format!("{}, {}, in units of the allowed deviation", number.place, number.what)
            });
        }
    });
    group.compare()
}

fn release(setting: &Setting, variant: &Variant) -> Exact {
    let recipe = variant.recipe(setting).expect(SOUND);
    let prepared = PreparedSetting::new(setting, &[recipe], &[]);
    Exact::new(prepared.law(recipe).as_ref(), prepared.distance())
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
        for column in row.columns().filter(|c| *c != "prior" && *c != "counts") {
            let parameter = |text: &str| text.parse().expect(SOUND);
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

fn print_distance() -> &'static dyn Distance {
    distance::find("print").expect("one of the distances")
}

fn print_sensitivities(comparison: &mut Comparison) {
    for row in rows("print.csv") {
        comparison.sensitivities(&row, &row.setting(print_distance()));
    }
}

fn print_errors(comparison: &mut Comparison) {
    for row in rows("print.csv") {
        let law = release(&row.setting(print_distance()), &row.variant(Options::default()));
        comparison.law(&row, "_print", &law);
    }
}

fn errors(comparison: &mut Comparison) {
    for row in rows("error.csv") {
        let law = release(&row.setting(distance::HELLINGER), &row.variant(Options::default()));
        comparison.law(&row, "_hellinger", &law);
    }
}

fn options(comparison: &mut Comparison) {
    for row in rows("options.csv") {
        let options = Options {
            gamma: row.optional("gamma").and_then(|gamma| Gamma::new(gamma).ok()),
            divisor: row.optional("divisor"),
            global: (row.text("global") == "bound").then_some(Global::Bound),
            scale_factor: row.optional("scale_factor"),
            candidates_in_beta: (row.text("candidates_in_beta") == "n")
                .then_some(CandidatesInBeta::N),
            ..Options::default()
        };
        let law = release(&row.setting(distance::HELLINGER), &row.variant(options));
        comparison.law(&row, "_hellinger", &law);
    }
}

fn metrics(comparison: &mut Comparison) {
    for row in rows("metrics.csv") {
        let setting = row.setting(distance::HELLINGER);
        let metric = metric::find(row.text("metric")).expect(SOUND);
        let recipe = row.variant(Options::default()).recipe(&setting).expect(SOUND);
        let prepared = PreparedSetting::new(&setting, &[recipe], &[metric]);
        let field = prepared.fields().nth(1).expect("the metric");
        let ours = Exact::new(prepared.law(recipe).as_ref(), field).error;
        comparison.column(&row, "mean", ours.map_or(f64::NAN, |error| error.mean));
    }
}

fn score_sensitivities(comparison: &mut Comparison) {
    for row in rows("scores.csv") {
        comparison.sensitivities(&row, &row.setting(row.distance()));
    }
}

fn scores(comparison: &mut Comparison) {
    for row in rows("scores.csv") {
        let setting = row.setting(row.distance());
        comparison.law(&row, "", &release(&setting, &row.variant(Options::default())));
    }
}

fn losses(comparison: &mut Comparison) {
    for row in rows("privacy.csv") {
        let setting = row.setting(distance::HELLINGER);
        let found = audit::loss(&row.variant(Options::default()), &setting, &Scope::All);
        comparison.column(&row, "loss", found.map_or(f64::NAN, |found| found.loss));
    }
}

/// Compared absolutely: if the loss is the ε asked about, the reference's δ is 0.
fn deltas(comparison: &mut Comparison) {
    for row in rows("privacy.csv") {
        let (setting, at) = (row.setting(distance::HELLINGER), row.number("at_epsilon"));
        let found = audit::delta_at(&row.variant(Options::default()), &setting, &Scope::All, at);
        comparison.column(&row, "delta_at", found.map_or(f64::NAN, |found| found.delta));
    }
}

fn calibrations(comparison: &mut Comparison) {
    for row in rows("calibration.csv") {
        let setting = row.setting(distance::HELLINGER);
        let options = Options { calibrated: true, ..Options::default() };
        let Ok(tuned) = tuning::tune(&row.variant(options), &setting) else {
            comparison.column(&row, "inner_epsilon", f64::NAN);
            continue;
        };
        let inner = tuned.certificate.map_or(f64::NAN, |found| found.inner_epsilon.get());
        comparison.column(&row, "inner_epsilon", inner);
        let metric = Metric::from_distance(setting.distance);
        let found = predictive_error::over_all_data(&tuned.variant, &setting, metric);
        let mean = found.ok().flatten().map_or(f64::NAN, |found| found.mean);
        comparison.column(&row, "mean_hellinger_predictive", mean);
    }
}

fn optima(comparison: &mut Comparison) {
    for row in rows("optimum.csv") {
        let setting = row.setting(distance::HELLINGER);
        for (goal, column) in [(Goal::Bayes, "bayes"), (Goal::Minimax, "minimax")] {
            let found = solve(&setting, goal, OutputSet::Simplex);
            comparison.column(&row, column, found.map_or(f64::NAN, |found| found.value));
        }
    }
}

/// Weight and error at the row's data, and mean errors over the prior's data, as they are and remapped.
fn tight(comparison: &mut Comparison) {
    let tight = Variant::plain(mechanism::find("tight").expect("a mechanism"));
    let options = Options { remap: true, ..Options::default() };
    let remapped = Variant { options, ..tight.clone() };
    // Rows of one setting follow one another, and so do their means.
    let mut known: Option<(String, [f64; 2])> = None;
    for row in rows("tight.csv") {
        let setting = row.setting(distance::HELLINGER);
        let law = release(&setting, &tight);
        comparison.column(&row, "p_exact", law.p_exact);
        comparison.column(&row, "mean", law.error.map_or(f64::NAN, |error| error.mean));
        let posterior = &setting.posterior;
        let weights = Tight::find(posterior.k(), posterior.n(), setting.epsilon.get());
        let least = weights.map_or(f64::NAN, |weights| weights.smallest());
        comparison.column(&row, "least_weight", least);
        let key = format!("{} {} {}", row.text("prior"), posterior.n(), row.text("epsilon"));
        let means = known.filter(|(name, _)| *name == key).map(|(_, means)| means);
        let means = means.unwrap_or_else(|| [&tight, &remapped].map(|v| mean_error(v, &setting)));
        comparison.column(&row, "bayes", means[0]);
        comparison.column(&row, "bayes_remapped", means[1]);
        known = Some((key, means));
    }
}

fn mean_error(variant: &Variant, setting: &Setting) -> f64 {
    let metric = Metric::from_distance(setting.distance);
    let tuned = tuning::tune(variant, setting).ok();
    let found = tuned.and_then(|tuned| {
        predictive_error::over_all_data(&tuned.variant, setting, metric).ok().flatten()
    });
    found.map_or(f64::NAN, |found| found.mean)
}
