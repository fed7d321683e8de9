//! The self-test: every sampler is compared with its exact law, exact numbers are compared with
//! independent reference values, and the machine is checked.
//!
//! The power of the test is part of its result. For every mechanism the probability is computed with
//! which a sampler whose scale is wrong by 5 % is rejected; such samplers are built and tried, and must
//! be rejected.
//!
//! To test another sampler, describe it as a [`Subject`] and add the [`Trial`] that [`Subject::check`]
//! returns to those of [`run_samplers`].

mod document;
pub mod golden;
mod likelihood;
pub mod machine;
pub mod samplers;

pub use document::Document;
pub use likelihood::{Subject, Trial};
pub use samplers::WRONG;

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use engine::parallel;
use engine::refusal::Refusal;
use lab::experiment::Experiment;
use samplers::SamplerCase;

/// The probability that any correct sampler is rejected is at most this.
pub const FALSE_ALARMS: f64 = 1e-6;
/// The largest number of trials.
pub const MOST_TRIALS: usize = 1000;
/// The level of every trial.
pub const LEVEL: f64 = FALSE_ALARMS / MOST_TRIALS as f64;

/// Which samplers are tried in which settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Every mechanism, in settings of all kinds.
    All,
    /// Every mechanism, in settings in which a wrong scale is detected best.
    Powered,
}

/// What a self-test consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    pub scope: Scope,
    /// The number of draws from every sampler.
    pub draws: u64,
    /// The seed of all draws.
    pub seed: u64,
    /// With how many threads the machine is checked.
    pub threads: usize,
}

/// Everything that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    pub extent: Extent,
    /// Trials of the samplers: none should be rejected.
    pub trials: Vec<Trial>,
    /// Trials of samplers that are wrong on purpose: all should be rejected.
    pub wrong: Vec<WrongTrial>,
    /// Reference values.
    pub golden: Vec<golden::Comparison>,
    pub machine: Vec<machine::Check>,
}

/// A trial of a sampler that is wrong on purpose.
#[derive(Clone, Debug, PartialEq)]
pub struct WrongTrial {
    /// The name of the sampler that was made wrong.
    pub of: String,
    pub trial: Trial,
}

/// The trials of one sampler.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line<'a> {
    pub sampler: &'a str,
    pub settings: usize,
    /// The number of draws, in all settings.
    pub draws: u64,
    /// The smallest tail probability of χ².
    pub p: f64,
    /// The smallest bound times [`MOST_TRIALS`]; the sampler is rejected if this is below
    /// [`FALSE_ALARMS`].
    pub adjusted: f64,
    /// The smallest bound, over the settings, on P[a scale wrong by 5 % is not rejected].
    pub miss: f64,
    /// The number of settings in which the power is at least [`ENOUGH`].
    pub powered: usize,
}

impl Line<'_> {
    /// The power in the setting where it is greatest.
    pub fn power(&self) -> f64 {
        1.0 - self.miss
    }
}

/// The power that every sampler should reach in some setting.
pub const ENOUGH: f64 = 0.999;

/// Carries a self-test out; after every trial `advance` is called with its share of all trials.
pub fn run(extent: &Extent, advance: impl Fn(f64) + Sync) -> Report {
    let mut report = run_samplers(extent, advance);
    report.golden = golden::compare_all();
    report.machine = machine::check_all(extent.seed, extent.threads);
    report
}

/// The part of a self-test that draws.
pub fn run_samplers(extent: &Extent, advance: impl Fn(f64) + Sync) -> Report {
    let cases = samplers::cases(extent.scope);
    let tuned = samplers::tuned_releases(&cases);
    try_all(extent, &cases, &tuned, 0.0, advance)
}

/// The same for the mechanisms of an experiment, in its own settings. Wrong samplers are built only where
/// they would be detected.
pub fn run_experiment(
    extent: &Extent,
    experiment: &Experiment,
    advance: impl Fn(f64) + Sync,
) -> Result<Report, Refusal> {
    let cases = samplers::cases_of(experiment)?;
    Ok(try_all(extent, &cases, &[], ENOUGH, advance))
}

/// Tries all these samplers, and builds wrong ones of those in `cases` where the power is at least
/// `least_power`.
fn try_all(
    extent: &Extent,
    cases: &[SamplerCase],
    tuned: &[SamplerCase],
    least_power: f64,
    advance: impl Fn(f64) + Sync,
) -> Report {
    let samplers: BTreeSet<&str> = cases.iter().map(SamplerCase::sampler).collect();
    let share = 1.0 / (cases.len() + 2 * samplers.len() + tuned.len()) as f64;
    let try_out = |case: &SamplerCase, off: f64| {
        let trial = case.try_out(off, extent.draws, extent.seed);
        advance(share);
        trial
    };
    let try_right = |case: &SamplerCase| try_out(case, 1.0).expect("a mechanism that can be used");
    let mut trials: Vec<Trial> = parallel::map(cases, try_right);
    let powered = most_powerful(&trials).filter(|&place| trials[place].power() >= least_power);
    let powered: Vec<&SamplerCase> = powered.map(|place| &cases[place]).collect();
    let wrong = powered.par_iter().flat_map_iter(|case| {
        let directions = [(WRONG, "too large"), (1.0 / WRONG, "too small")];
        directions.into_iter().filter_map(|(off, word)| {
            let trial = try_out(case, off).ok()?;
            let sampler = format!("{} with a scale 5 % {word}", case.sampler());
            Some(WrongTrial { of: case.sampler().to_owned(), trial: Trial { sampler, ..trial } })
        })
    });
    let wrong = wrong.collect();
    // None of the tuned ones is wrong on purpose: another ε would tune them in another way.
    trials.extend(parallel::map(tuned, try_right));
    Report { extent: *extent, trials, wrong, golden: Vec::new(), machine: Vec::new() }
}

/// For every sampler the place of the trial with the greatest power.
fn most_powerful(trials: &[Trial]) -> impl Iterator<Item = usize> {
    let mut best: BTreeMap<&str, usize> = BTreeMap::new();
    for (place, trial) in trials.iter().enumerate() {
        let best = best.entry(&trial.sampler).or_insert(place);
        if trial.miss < trials[*best].miss {
            *best = place;
        }
    }
    best.into_values()
}

impl Report {
    /// A line for every sampler, in the order of the trials.
    pub fn lines(&self) -> Vec<Line<'_>> {
        let mut lines: Vec<Line> = Vec::new();
        for trial in &self.trials {
            let adjusted = (trial.bound * MOST_TRIALS as f64).min(1.0);
            let place = lines.iter().position(|line| line.sampler == trial.sampler);
            let own = Line {
                sampler: &trial.sampler,
                settings: 1,
                draws: trial.draws,
                p: trial.p,
                adjusted,
                miss: trial.miss,
                powered: usize::from(trial.power() >= ENOUGH),
            };
            match place.map(|place| &mut lines[place]) {
                None => lines.push(own),
                Some(line) => {
                    *line = Line {
                        sampler: line.sampler,
                        settings: line.settings + 1,
                        draws: line.draws + own.draws,
                        p: line.p.min(own.p),
                        adjusted: line.adjusted.min(own.adjusted),
                        miss: line.miss.min(own.miss),
                        powered: line.powered + own.powered,
                    };
                }
            }
        }
        lines
    }

    /// A bound on the probability that the self-test of a correct build fails: by false alarms, or
    /// because wrong samplers pass by chance.
    pub fn false_alarms(&self) -> f64 {
        let misses: f64 = self.wrong.iter().map(|wrong| wrong.trial.miss).sum();
        FALSE_ALARMS.max(LEVEL * self.trials.len() as f64 + misses)
    }

    /// The largest miss of all lines: the least power is 1 minus this.
    pub fn greatest_miss(&self) -> f64 {
        self.lines().iter().map(|line| line.miss).fold(0.0, f64::max)
    }

    /// How many things were tested.
    pub fn tests(&self) -> usize {
        let values: usize = self.golden.iter().map(|group| group.values).sum();
        self.trials.len() + self.wrong.len() + values + self.machine.len()
    }

    /// Everything that is not as it should be.
    pub fn failures(&self) -> Vec<String> {
        let rejected = self.trials.iter().filter(|trial| trial.is_rejected()).map(|trial| {
            format!("{} does not follow its exact law at {}", describe(trial), trial.setting)
        });
        let unseen = self
            .wrong
            .iter()
            .map(|wrong| &wrong.trial)
            .filter(|trial| !trial.is_rejected())
            .map(|trial| format!("{} was not rejected at {}", describe(trial), trial.setting));
        let off = self.golden.iter().filter(|group| !group.passes()).map(|group| {
            let (deviation, place) = &group.worst;
            format!(
                "{}: off by {deviation:.1e}, allowed {:.1e}, at {place}",
                group.name, group.tolerance
            )
        });
        let machine = self.machine.iter().filter(|check| !check.passes);
        let machine = machine.map(|check| format!("not {}: {}", check.name, check.seen));
        rejected.chain(unseen).chain(off).chain(machine).collect()
    }
}

/// A sampler and its statistic.
fn describe(trial: &Trial) -> String {
    let Trial { sampler, statistic, degrees, bound, outside, draws, .. } = trial;
    match outside {
        0 => format!(
            "{sampler} (2t = {statistic:.1} with {degrees} degrees of freedom, p <= {bound:.1e})"
        ),
        _ => format!("{sampler} ({outside} of {draws} draws are outputs that cannot occur)"),
    }
}
