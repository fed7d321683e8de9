//! A self-test as a JSON document.

use schemars::JsonSchema;
use serde::Serialize;

use super::golden::{Comparison, Measure};
use super::{LEVEL, Line, Report, Trial, WRONG, machine};
use table::Number;

/// What a self-test found.
#[derive(Serialize, JsonSchema)]
pub struct Document<'a> {
    passes: bool,
    seed: u64,
    /// How often every sampler was asked.
    draws: u64,
    threads: usize,
    tests: usize,
    /// The probability that a right build fails, at most.
    false_alarms: f64,
    /// The level of every test.
    level: f64,
    /// How wrong a scale is that should be detected, relative.
    wrong_by: f64,
    least_power: f64,
    greatest_miss: f64,
    samplers: Vec<Sampler<'a>>,
    trials: Vec<TrialDocument<'a>>,
    /// Samplers that are wrong on purpose.
    wrong: Vec<TrialDocument<'a>>,
    /// Comparisons with reference values.
    golden: Vec<Golden<'a>>,
    machine: &'a [machine::Check],
    failures: Vec<String>,
}

/// One sampler in all its settings.
#[derive(Serialize, JsonSchema)]
struct Sampler<'a> {
    sampler: &'a str,
    settings: usize,
    draws: u64,
    /// The smallest tail probability of χ².
    least_p: f64,
    /// A bound on the p-value for all trials together.
    adjusted: f64,
    power: f64,
    miss: f64,
    /// The number of settings in which the power suffices.
    powered: usize,
}

/// One sampler in one setting.
#[derive(Serialize, JsonSchema)]
struct TrialDocument<'a> {
    #[serde(flatten)]
    trial: &'a Trial,
    power: f64,
    rejected: bool,
}

/// A group of reference values.
#[derive(Serialize, JsonSchema)]
struct Golden<'a> {
    name: &'static str,
    values: usize,
    /// How deviations are measured.
    measure: &'static str,
    worst: Number,
    worst_at: &'a str,
    allowed: f64,
    passes: bool,
}

impl<'a> From<&'a Report> for Document<'a> {
    fn from(report: &'a Report) -> Self {
        let failures = report.failures();
        Self {
            passes: failures.is_empty(),
            seed: report.extent.seed,
            draws: report.extent.draws,
            threads: report.extent.threads,
            tests: report.tests(),
            false_alarms: report.false_alarms(),
            level: LEVEL,
            wrong_by: WRONG - 1.0,
            least_power: 1.0 - report.greatest_miss(),
            greatest_miss: report.greatest_miss(),
            samplers: report.lines().iter().map(Sampler::from).collect(),
            trials: report.trials.iter().map(TrialDocument::from).collect(),
            wrong: report.wrong.iter().map(|wrong| (&wrong.trial).into()).collect(),
            golden: report.golden.iter().map(Golden::from).collect(),
            machine: &report.machine,
            failures,
        }
    }
}

impl<'a> From<&Line<'a>> for Sampler<'a> {
    fn from(line: &Line<'a>) -> Self {
        Self {
            sampler: line.sampler,
            settings: line.settings,
            draws: line.draws,
            least_p: line.p,
            adjusted: line.adjusted,
            power: line.power(),
            miss: line.miss,
            powered: line.powered,
        }
    }
}

impl<'a> From<&'a Trial> for TrialDocument<'a> {
    fn from(trial: &'a Trial) -> Self {
        Self { trial, power: trial.power(), rejected: trial.is_rejected() }
    }
}

impl<'a> From<&'a Comparison> for Golden<'a> {
    fn from(group: &'a Comparison) -> Self {
        Self {
            name: group.name,
            values: group.values,
            measure: match group.measure {
                Measure::Relative => "relative",
                Measure::Absolute => "absolute",
                Measure::Either => "relative, absolute below 1",
            },
            worst: Number(group.worst.0),
            worst_at: &group.worst.1,
            allowed: group.tolerance,
            passes: group.passes(),
        }
    }
}
