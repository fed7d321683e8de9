//! The rows of the tables. A row type names its file, and the columns are its fields.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use engine::analysis::optimum::Optimum;
use engine::analysis::predictive_error::PredictiveError;
use engine::analysis::tuning::Certificate;
use engine::posterior::model::vector;

use super::Row;

/// Names the file of a row type; `numbered` if its `setting` is set when a cell is put in its place,
/// `of_panel` if it names its panel.
macro_rules! row {
    ($row:ident, $file:literal $(, $placed:ident)?) => {
        impl Row for $row {
            const FILE: &'static str = $file;
            $(row!(@$placed);)?
        }
    };
    (@of_panel) => {
        fn panel(&self) -> Option<&str> {
            Some(&self.panel)
        }
    };
    (@numbered) => {
        fn renumber(&mut self, setting: usize) {
            self.setting = setting;
        }
    };
}

/// One row of `panels.csv`: which settings belong to which panel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PanelRow {
    /// The panel's name; empty if it is the only one.
    pub panel: String,
    pub kind: String,
    pub distance: String,
    pub title: String,
    pub first: usize,
    pub last: usize,
}
row!(PanelRow, "panels.csv");

/// One row of `settings.csv`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SettingRow {
    /// The setting's number, from 1.
    pub setting: usize,
    pub k: usize,
    pub n: u64,
    /// α.
    pub prior: String,
    /// x.
    pub counts: String,
    /// ε.
    pub epsilon: f64,
    /// δ.
    pub delta: Option<f64>,
    /// γ.
    pub gamma: f64,
    /// |R|.
    pub candidates: String,
    /// LS(x).
    pub local: f64,
    pub global: f64,
    /// S_γ(x).
    pub gamma_smooth: f64,
    /// S_β(x); empty without δ.
    pub beta_smooth: Option<f64>,
}
row!(SettingRow, "settings.csv");

/// One row of `summary.csv`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SummaryRow {
    pub setting: usize,
    /// The mechanism's label.
    pub mechanism: String,
    /// The error's name.
    pub metric: String,
    /// How many releases were sampled.
    pub runs: u64,
    /// Their mean error.
    pub mean: f64,
    /// Their standard deviation.
    pub std: f64,
    /// The smallest error.
    pub min: f64,
    /// The lower quartile (type 7).
    pub q1: f64,
    pub median: f64,
    /// The upper quartile.
    pub q3: f64,
    /// The largest error.
    pub max: f64,
    /// Where the lower whisker ends.
    pub whisker_low: f64,
    /// Where the upper whisker ends.
    pub whisker_high: f64,
    /// The lower end of the notch.
    pub notch_low: f64,
    /// The upper end of the notch.
    pub notch_high: f64,
    /// The exact mean, infinite if a possible output's error is; empty where the law is too large.
    pub exact_mean: Option<f64>,
    pub exact_median: Option<f64>,
    /// The exact 90 % quantile.
    pub exact_q90: Option<f64>,
    /// The probability of releasing the true posterior.
    pub p_exact: f64,
    /// (mean − exact mean) / its exact standard error; empty where that is 0 or infinite.
    pub z: Option<f64>,
}
row!(SummaryRow, "summary.csv", numbered);

/// One row of `theory.csv`: all outputs of one distance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TheoryRow {
    pub setting: usize,
    /// The mechanism's label.
    pub mechanism: String,
    /// c.
    pub distance: f64,
    /// P[H = c].
    pub probability: f64,
    /// P[H <= c].
    pub cumulative: f64,
    /// How many outputs have this distance.
    pub candidates: String,
}
row!(TheoryRow, "theory.csv", numbered);

/// One row of `calibration.csv`: why a calibrated mechanism is private.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CalibrationRow {
    pub setting: usize,
    /// The mechanism's label.
    pub mechanism: String,
    /// The loss that may not be exceeded: ε.
    pub target: f64,
    /// ε in the weight.
    pub inner_epsilon: f64,
    /// The exact loss over all data sets of this size.
    pub loss: f64,
    /// target − loss.
    pub margin: f64,
    /// Where the loss is attained: the data set,
    pub from: String,
    /// its neighbour,
    pub to: String,
    /// and the output.
    pub output: String,
    /// How many pairs of adjacent data sets were covered.
    pub pairs: u64,
}
row!(CalibrationRow, "calibration.csv", numbered);

impl CalibrationRow {
    /// The row of one mechanism at one setting.
    pub fn new(setting: usize, mechanism: &str, certificate: &Certificate) -> Self {
        let found = &certificate.found;
        Self {
            setting,
            mechanism: mechanism.to_owned(),
            target: certificate.target,
            inner_epsilon: certificate.inner_epsilon.get(),
            loss: found.loss,
            margin: certificate.margin(),
            from: vector(&found.from),
            to: vector(&found.to),
            output: vector(&found.output),
            pairs: found.pairs,
        }
    }
}

/// One row of `optimum.csv`: a mechanism beside the best possible one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OptimumRow {
    /// The setting's number; of its data only the number of records counts.
    pub setting: usize,
    /// The mechanism's label.
    pub mechanism: String,
    /// Its exact mean error over the prior's predictive law of the data.
    pub mean: f64,
    /// Its exact mean error at the data set where that is largest.
    pub worst: f64,
    /// The least mean error of any private mechanism; empty if it is not known to three digits.
    pub optimum: Option<f64>,
    /// A certified lower bound on it.
    pub lower: Option<f64>,
    /// A certified upper bound.
    pub upper: Option<f64>,
    /// mean / optimum; empty where the optimum is too small to be known to three digits.
    pub ratio: Option<f64>,
}
row!(OptimumRow, "optimum.csv", numbered);

impl OptimumRow {
    /// The row of a mechanism whose error is known, beside the optimum if there is one.
    pub fn new(
        setting: usize,
        label: &str,
        error: &PredictiveError,
        best: Option<&Optimum>,
    ) -> Self {
        Self {
            setting,
            mechanism: label.to_owned(),
            mean: error.mean,
            worst: error.worst,
            optimum: best.and_then(Optimum::known),
            lower: best.map(|best| best.lower),
            upper: best.map(|best| best.upper).filter(|upper| upper.is_finite()),
            ratio: best.and_then(|best| best.multiple(error.mean)),
        }
    }
}

/// One row of `optimal.csv`: the best possible mechanism.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OptimalRow {
    pub setting: usize,
    /// The data x.
    pub counts: String,
    /// The release r.
    pub released: String,
    /// P(r|x), where it is not 0.
    pub probability: f64,
}
row!(OptimalRow, "optimal.csv", numbered);

/// One row of `privacy.csv`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PrivacyRow {
    pub setting: usize,
    /// The mechanism's label.
    pub mechanism: String,
    /// Which data sets were compared.
    pub scope: String,
    /// ε of the setting.
    pub epsilon: f64,
    /// The largest |ln P_x(r) − ln P_x'(r)|.
    pub loss: f64,
    /// x.
    pub from: String,
    /// x'.
    pub to: String,
    /// r.
    pub output: String,
    /// The ε at which δ is given.
    pub at_epsilon: Option<f64>,
    /// δ at that ε.
    pub delta_at: Option<f64>,
}
row!(PrivacyRow, "privacy.csv", numbered);

/// One row of `curves.csv`: a point of a curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CurveRow {
    /// The panel's name.
    pub panel: String,
    /// The figure within the panel, where there are several.
    pub facet: String,
    /// The mechanism's label, where the curve is about one.
    pub mechanism: String,
    pub curve: String,
    pub x: f64,
    pub y: f64,
}
row!(CurveRow, "curves.csv", of_panel);

/// One row of `change.csv`: what one changed record does to the score of a candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChangeRow {
    pub setting: usize,
    pub candidate: String,
    /// The score H(x, r).
    pub distance: f64,
    /// The largest |H(x, r) − H(x', r)| over the neighbours x' of x.
    pub change: f64,
    /// The neighbour x' that attains it.
    pub neighbour: String,
}
row!(ChangeRow, "change.csv", numbered);

/// One row of `phase.csv`: which mechanism has the least exact mean error at one setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseRow {
    pub setting: usize,
    /// Who competes: `all`, or `without` those that the config leaves out of a second contest.
    pub contest: String,
    /// The label of the best mechanism; of equal ones the first.
    pub winner: String,
    pub mean: f64,
    /// The label of the second best.
    pub runner_up: String,
    pub runner_up_mean: f64,
    /// Second mean / best mean − 1: 0 if they are equal, empty beside a best of 0.
    pub margin: Option<f64>,
}
row!(PhaseRow, "phase.csv", numbered);

/// One row of `means.csv`: the exact mean error of one mechanism at one setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MeanRow {
    pub setting: usize,
    /// The mechanism's label.
    pub mechanism: String,
    pub mean: f64,
}
row!(MeanRow, "means.csv", numbered);

/// One row of `values.csv`: a number of a table in print beside our own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ValueRow {
    /// The panel's name.
    pub panel: String,
    /// The mechanism's label, where the number is about one.
    pub mechanism: String,
    pub quantity: String,
    /// At which t, n or ε.
    pub at: String,
    /// The number; empty where there is none.
    pub value: Option<f64>,
}
row!(ValueRow, "values.csv", of_panel);

/// One row of `readings.csv`: a value read off the printed figure beside our own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReadingRow {
    /// The panel's name.
    pub panel: String,
    pub mechanism: String,
    /// The abscissa or the group as printed.
    pub at: String,
    /// What was read: probability, mean, q1, …
    pub quantity: String,
    pub read: f64,
    pub error: f64,
    /// Our value.
    pub computed: f64,
    /// Reading minus computed value.
    pub deviation: f64,
    /// What may deviate without being remarkable; empty where probabilities decide.
    pub allowed: Option<f64>,
    /// The deviation in standard errors, where the reading is of a sample.
    pub z: Option<f64>,
    /// Whether the reading is explained by our value.
    pub within: bool,
    /// What is known about the reading.
    pub note: String,
}
row!(ReadingRow, "readings.csv", of_panel);

/// One row of `failures.csv`: a cell that could not be computed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailureRow {
    pub setting: usize,
    /// The mechanism's label; empty if the cell is about all of them.
    pub mechanism: String,
    /// The block of runs, from 1.
    pub block: u64,
    /// α.
    pub prior: String,
    /// x.
    pub counts: String,
    /// ε.
    pub epsilon: f64,
    /// δ.
    pub delta: Option<f64>,
    /// γ.
    pub gamma: f64,
    /// What went wrong.
    pub cause: String,
}
row!(FailureRow, "failures.csv");
