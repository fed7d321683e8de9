//! Whether dpbi does on this machine what it should: every sampler against its exact law, the exact
//! engine against independent values, and the machine itself.
//!
//! A test that cannot fail is worth nothing, so what this one can see is part of its result: the
//! probability that it rejects a sampler whose scale is wrong by 5 % is computed for every mechanism,
//! and such samplers are built, tried, and must be rejected.
//!
//! To have another sampler tested, describe it as a [`Subject`] and add the [`Trial`] that
//! [`Subject::check`] returns to those of [`run_samplers`].

pub mod golden;
mod likelihood;
pub mod machine;
pub mod samplers;

pub use likelihood::{Subject, Trial};
pub use samplers::WRONG;

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use samplers::Scene;

/// The probability that right samplers are rejected, one or more, is at most this.
pub const FALSE_ALARMS: f64 = 1e-6;
/// There are at most so many trials.
pub const MOST_TRIALS: usize = 1000;
/// The level of every trial.
pub const LEVEL: f64 = FALSE_ALARMS / MOST_TRIALS as f64;

/// How much is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Every mechanism wherever it behaves differently.
    All,
    /// Every mechanism where a wrong scale is seen best.
    Powered,
}

/// What a self-test consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// What is tried.
    pub scope: Scope,
    /// How often every sampler is asked.
    pub draws: u64,
    /// The seed of all draws.
    pub seed: u64,
    /// With how many threads the machine is checked.
    pub threads: usize,
}

/// Everything that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// What was done.
    pub extent: Extent,
    /// Samplers as they are: none should be rejected.
    pub trials: Vec<Trial>,
    /// Samplers that are wrong on purpose: all should be rejected.
    pub wrong: Vec<Trial>,
    /// Reference values.
    pub golden: Vec<golden::Comparison>,
    /// The machine.
    pub machine: Vec<machine::Check>,
}

/// The trials of one sampler.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line<'a> {
    /// Its name.
    pub sampler: &'a str,
    /// How many settings it was tried in.
    pub settings: usize,
    /// How often it was asked, in all.
    pub draws: u64,
    /// The least tail of χ².
    pub p: f64,
    /// The least bound, times the number of trials that there may be: what is below the rate of false
    /// alarms is rejected.
    pub adjusted: f64,
    /// What P[a scale wrong by 5 % is not rejected] does not exceed, where that is least.
    pub miss: f64,
    /// In how many settings the power is [`ENOUGH`] or more.
    pub powered: usize,
}

impl Line<'_> {
    /// The power where it is greatest.
    #[must_use]
    pub fn power(&self) -> f64 {
        1.0 - self.miss
    }
}

/// A power that is good enough.
pub const ENOUGH: f64 = 0.999;

/// Carries a self-test out; after every trial `advance` is called with its share of all trials.
#[must_use]
pub fn run(extent: &Extent, advance: impl Fn(f64) + Sync) -> Report {
    let mut report = run_samplers(extent, advance);
    report.golden = golden::compare_all();
    report.machine = machine::check_all(extent.seed, extent.threads);
    report
}

/// The part of a self-test that draws.
#[must_use]
pub fn run_samplers(extent: &Extent, advance: impl Fn(f64) + Sync) -> Report {
    let scenes = samplers::scenes(extent.scope);
    let tuned = samplers::tuned_releases(&scenes);
    let samplers: BTreeSet<&str> = scenes.iter().map(Scene::sampler).collect();
    let share = 1.0 / (scenes.len() + 2 * samplers.len() + tuned.len()) as f64;
    let try_out = |scene: &Scene, off: f64| {
        let trial = scene.try_out(off, extent.draws, extent.seed);
        advance(share);
        trial
    };
    let mut trials: Vec<Trial> = scenes.par_iter().map(|scene| try_out(scene, 1.0)).collect();
    let powered: Vec<&Scene> = most_powerful(&trials).map(|place| &scenes[place]).collect();
    let wrong = powered.par_iter().flat_map_iter(|scene| {
        let directions = [(WRONG, "too large"), (1.0 / WRONG, "too small")];
        directions.map(|(off, word)| {
            let trial = try_out(scene, off);
            Trial { sampler: format!("{} with a scale 5 % {word}", scene.sampler()), ..trial }
        })
    });
    let wrong = wrong.collect();
    // None of the tuned ones is wrong on purpose: another ε would tune them in another way.
    trials.par_extend(tuned.par_iter().map(|scene| try_out(scene, 1.0)));
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
    #[must_use]
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

    /// What the probability that a right build fails does not exceed: false alarms, and wrong samplers
    /// that pass by chance.
    #[must_use]
    pub fn false_alarms(&self) -> f64 {
        let misses: f64 = self.wrong.iter().map(|trial| trial.miss).sum();
        FALSE_ALARMS.max(LEVEL * self.trials.len() as f64 + misses)
    }

    /// The miss of the weakest line: the least power is 1 less this.
    #[must_use]
    pub fn greatest_miss(&self) -> f64 {
        self.lines().iter().map(|line| line.miss).fold(0.0, f64::max)
    }

    /// How many things were tested.
    #[must_use]
    pub fn tests(&self) -> usize {
        let values: usize = self.golden.iter().map(|group| group.values).sum();
        self.trials.len() + self.wrong.len() + values + self.machine.len()
    }

    /// Everything that is not as it should be.
    #[must_use]
    pub fn failures(&self) -> Vec<String> {
        let rejected = self.trials.iter().filter(|trial| trial.is_rejected()).map(|trial| {
            format!("{} does not follow its exact law at {}", describe(trial), trial.setting)
        });
        let unseen = self
            .wrong
            .iter()
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
        _ => format!("{sampler} ({outside} of {draws} draws are outputs that cannot be)"),
    }
}
