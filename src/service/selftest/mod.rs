//! The self-test: every sampler is compared with its exact law by one test, whose level and power are part of
//! the result.
//!
//! To test another sampler, describe it as a [`Subject`].

mod document;
mod g_test;
pub mod samplers;

pub use document::Document;
pub use g_test::{Subject, Trial};
pub use samplers::WRONG;

use rand::TryRng;
use rand::rngs::SysRng;

use engine::parallel;
use engine::refusal::Refusal;
use lab::experiment::Experiment;
use samplers::SamplerCase;

/// The probability that any correct sampler is rejected is about this, at most.
pub const FALSE_ALARMS: f64 = 1e-6;
/// The largest number of trials.
pub const MOST_TRIALS: usize = 1000;
/// The level of every trial.
pub const LEVEL: f64 = FALSE_ALARMS / MOST_TRIALS as f64;

/// The power that every sampler should reach in some setting.
pub const ENOUGH: f64 = 0.999;

/// Everything that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The seed of all draws.
    pub seed: u64,
    /// Trials of the samplers: none should be rejected.
    pub trials: Vec<Trial>,
}

/// The trials of one sampler.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Line<'a> {
    pub sampler: &'a str,
    pub settings: usize,
    /// The number of draws, in all settings.
    pub draws: u64,
    pub p: f64,
    /// The power in the setting where it is greatest.
    pub power: f64,
    /// How many trials are rejected.
    pub rejected: usize,
}

/// A seed that nobody knows beforehand, short enough to be typed again.
pub fn new_seed() -> Result<u64, String> {
    SysRng.try_next_u32().map(u64::from).map_err(|error| error.to_string())
}

/// Draws `draws` times from every sampler in every one of its settings.
pub fn run(draws: u64, seed: u64) -> Report {
    let part = parallel::part(MADE);
    let cases = samplers::cases();
    drop(part);
    try_all(&cases, draws, seed)
}

/// The part of the time in which samplers are made ready.
const MADE: f64 = 0.1;

/// The same for the mechanisms of an experiment, in its own settings.
pub fn run_experiment(experiment: &Experiment, draws: u64, seed: u64) -> Result<Report, Refusal> {
    let part = parallel::part(MADE);
    let cases = samplers::cases_of(experiment)?;
    drop(part);
    Ok(try_all(&cases, draws, seed))
}

pub fn try_all(cases: &[SamplerCase], draws: u64, seed: u64) -> Report {
    let trials = parallel::map(cases, |case: &SamplerCase| {
        case.try_out(1.0, draws, seed).expect("a mechanism that can be used")
    });
    Report { seed, trials }
}

impl Report {
    /// A line for every sampler, in the order of the trials.
    pub fn lines(&self) -> Vec<Line<'_>> {
        let mut lines: Vec<Line> = Vec::new();
        for trial in &self.trials {
            let place = lines.iter().position(|line| line.sampler == trial.sampler);
            let place = place.unwrap_or_else(|| {
                let sampler = &trial.sampler;
                lines.push(Line { sampler, p: 1.0, ..Line::default() });
                lines.len() - 1
            });
            let line = &mut lines[place];
            line.settings += 1;
            line.draws += trial.draws;
            line.p = line.p.min(trial.p);
            line.power = line.power.max(trial.power);
            line.rejected += usize::from(trial.is_rejected());
        }
        lines
    }

    /// The least power of all samplers, each in the setting where its power is greatest.
    pub fn least_power(&self) -> f64 {
        self.lines().iter().map(|line| line.power).fold(1.0, f64::min)
    }

    /// Every sampler that does not follow its law, in words.
    pub fn failures(&self) -> Vec<String> {
        let rejected = self.trials.iter().filter(|trial| trial.is_rejected());
        rejected.map(describe).collect()
    }
}

fn describe(trial: &Trial) -> String {
    let Trial { sampler, setting, statistic, degrees, p, outside, draws, .. } = trial;
    let found = match outside {
        0 => format!("G = {statistic:.1} with {degrees} degrees of freedom, p = {p:.1e}"),
        _ => format!("{outside} of {draws} draws are outputs that cannot occur"),
    };
    format!("{sampler} ({found}) does not follow its exact law at {setting}")
}
