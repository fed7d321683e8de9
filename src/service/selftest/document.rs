//! A self-test as a JSON document.

use schemars::JsonSchema;
use serde::Serialize;

use super::{FALSE_ALARMS, LEVEL, Report, Trial, WRONG};

/// What a self-test found.
#[derive(Serialize, JsonSchema)]
pub struct Document<'a> {
    passes: bool,
    seed: u64,
    /// The probability that a right build fails, about and at most.
    false_alarms: f64,
    /// The level of every test.
    level: f64,
    /// How wrong a scale is that should be noticed, relative.
    wrong_by: f64,
    /// The least power of all samplers, each in the setting where its power is greatest.
    least_power: f64,
    /// Every sampler in every one of its settings.
    trials: Vec<TrialDocument<'a>>,
    failures: Vec<String>,
}

/// One sampler in one setting.
#[derive(Serialize, JsonSchema)]
struct TrialDocument<'a> {
    #[serde(flatten)]
    trial: &'a Trial,
    rejected: bool,
}

impl<'a> From<&'a Report> for Document<'a> {
    fn from(report: &'a Report) -> Self {
        let failures = report.failures();
        let trial = |trial: &'a Trial| TrialDocument { trial, rejected: trial.is_rejected() };
        Self {
            passes: failures.is_empty(),
            seed: report.seed,
            false_alarms: FALSE_ALARMS,
            level: LEVEL,
            wrong_by: WRONG - 1.0,
            least_power: report.least_power(),
            trials: report.trials.iter().map(trial).collect(),
            failures,
        }
    }
}
