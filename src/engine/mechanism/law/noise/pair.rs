//! Noise on counts at two adjacent data sets.
//!
//! Coordinates are independent. A ratio of probabilities depends only on those that changed: two, or
//! one if the other is restored. Along a coordinate whose counts are m and m + 1 the ratio takes five
//! values: at 0, between 0 and m, at m, between m and n, and at n. Sums over outputs are sums over
//! these five, whatever n and the scale.
//!
//! Noise on the lattice of two categories is noise on one count, which the other restores.

use super::super::lattice::LatticeNoise;
use super::super::lattice::approximate::ln_tail;
use super::super::pair::{Class, Comparisons, Pair, PairComparison, Witness};
use super::{Noise, OutputSet};
use crate::mechanism::own::NoiseTable;
use crate::numeric::{exp_accurate, expm1, ln};

/// Noise on counts, at all data.
pub struct NoiseData<'a> {
    /// The runs of a coordinate that has `from` records in x and `to` in x'.
    runs: Box<dyn Fn(u64, u64) -> Vec<Run> + Sync + 'a>,
    /// How many counts, the first ones, are noisy.
    noisy: usize,
    /// The relative rounding error of a loss is at most this.
    rounding: f64,
}

impl<'a> NoiseData<'a> {
    /// Under noise that falls by the same factor with every step.
    pub fn falling(noise: Noise, scale: f64, n: u64, noisy: usize) -> Self {
        let runs = move |from, to| falling_runs(noise, scale, n, from, to);
        Self { runs: Box::new(runs), noisy, rounding: 2e-15 }
    }

    /// Under noise that is known step by step. Every value of a coordinate is a run of its own.
    pub fn listed(table: &'a NoiseTable, n: u64, noisy: usize) -> Self {
        let runs = move |from, to| listed_runs(table, n, from, to);
        Self { runs: Box::new(runs), noisy, rounding: LISTED_ROUNDING }
    }

    /// Under Gaussian or truncated noise on the lattice of two categories. The runs go as far as it reaches.
    pub fn line(noise: LatticeNoise, n: u64) -> Self {
        let ln_total = ln(noise.total(2));
        let runs = move |from, to| line_runs(noise, ln_total, n, from, to);
        Self { runs: Box::new(runs), noisy: 1, rounding: LISTED_ROUNDING }
    }
}

/// The logarithms of noise that is known step by step are sums of many terms.
const LISTED_ROUNDING: f64 = 1e-13;

impl Comparisons for NoiseData<'_> {
    fn between<'a>(&'a self, pair: &'a Pair, _: [usize; 2]) -> Box<dyn PairComparison + 'a> {
        let changed = [pair.leaves, pair.enters].into_iter().filter(|&i| i < self.noisy);
        let of = |i: usize| (i, (self.runs)(pair.x[i], pair.neighbour[i]));
        Box::new(NoisyPair { pair, law: self, changed: changed.map(of).collect() })
    }
}

/// A run of values of one coordinate where the ratio is constant.
#[derive(Clone, Copy)]
struct Run {
    /// The value of the run that is nearest to the counts.
    value: u64,
    /// ln p_x − ln p_x'.
    ratio: f64,
    /// The probabilities of the run at x and at x'.
    masses: [f64; 2],
}

/// The runs of a coordinate under noise that is known step by step. Values that are possible neither at x
/// nor at x' are left out.
fn listed_runs(table: &NoiseTable, n: u64, from: u64, to: u64) -> Vec<Run> {
    let run = |value: u64| {
        let logs = [from, to].map(|x| table.ln_probability(x, value));
        let possible = logs[0].max(logs[1]) > f64::NEG_INFINITY;
        let (ratio, masses) = (logs[0] - logs[1], logs.map(exp_accurate));
        possible.then_some(Run { value, ratio, masses })
    };
    (0..=n).filter_map(run).collect()
}

/// The runs of a coordinate under noise with P\[z\] ∝ f(z)²: every value as far as the noise reaches, and
/// both ends. The ratio does not fall as the value grows, so that it is not larger further off.
fn line_runs(noise: LatticeNoise, ln_total: f64, n: u64, from: u64, to: u64) -> Vec<Run> {
    let (lower, upper) = (from.min(to), from.max(to));
    let run = |value: u64| {
        let logs = [from, to].map(|count| match value {
            0 => ln_tail(noise, count),
            value if value == n => ln_tail(noise, n - count),
            value => 2.0 * noise.ln_factor(value.abs_diff(count)),
        });
        let towards_upper = match value {
            value if value >= upper => noise.ln_step(value - upper),
            value => -noise.ln_step(lower - value),
        };
        let ratio = match value {
            value if value == 0 || value == n => logs[0] - logs[1],
            _ if from == upper => towards_upper,
            _ => -towards_upper,
        };
        let Class { masses, .. } = Class::new(logs[0] - ln_total, logs[1] - ln_total, 1.0);
        let is_possible = logs[0].max(logs[1]) > f64::NEG_INFINITY;
        is_possible.then_some(Run { value, ratio, masses })
    };
    let reach = match noise {
        // Where the noise is cut off the ratio is infinite, however unlikely that is.
        LatticeNoise::Geometric { radius, .. } => radius,
        LatticeNoise::Gaussian { .. } => noise.reach(2).0,
    };
    let near = lower.saturating_sub(reach).max(1)..=upper.saturating_add(reach).min(n - 1);
    [0, n].into_iter().chain(near).filter_map(run).collect()
}

/// The runs of a coordinate that has `from` records in x and `to` in x', under noise that falls by the same
/// factor with every step.
fn falling_runs(noise: Noise, scale: f64, n: u64, from: u64, to: u64) -> Vec<Run> {
    let rate = 1.0 / scale;
    // One of the two counts is m, the other m + 1.
    let m = from.min(to);
    let nearest_and_length = [
        (0, 1),
        (m.saturating_sub(1), m.saturating_sub(1)),
        (m, m.min(1)),
        (m + 1, n - 1 - m),
        (n, 1),
    ];
    let run = |(value, length): (u64, u64)| {
        let series = match length {
            1 => 1.0,
            _ => expm1(-rate * length as f64) / expm1(-rate),
        };
        Run {
            value,
            ratio: noise.ln_ratio(scale, (from, to), n, value),
            masses: [from, to].map(|x| noise.probability(scale, x, n, value) * series),
        }
    };
    nearest_and_length.into_iter().filter(|&(_, length)| length > 0).map(run).collect()
}

struct NoisyPair<'a> {
    pair: &'a Pair,
    law: &'a NoiseData<'a>,
    /// The noisy coordinates that changed, with their runs.
    changed: Vec<(usize, Vec<Run>)>,
}

impl NoisyPair<'_> {
    /// For every changed coordinate the run with the largest ratio P_x/P_x' if `forward`, else P_x'/P_x.
    fn largest(&self, forward: bool) -> impl Iterator<Item = (usize, Run)> {
        self.changed.iter().filter_map(move |(i, runs)| {
            let sign = if forward { 1.0 } else { -1.0 };
            let larger = |a: Run, b: Run| if sign * b.ratio > sign * a.ratio { b } else { a };
            Some((*i, runs.iter().copied().reduce(larger)?))
        })
    }

    fn largest_ratio(&self, forward: bool) -> f64 {
        self.largest(forward).map(|(_, run)| run.ratio).sum::<f64>().abs()
    }
}

impl PairComparison for NoisyPair<'_> {
    fn loss(&self) -> f64 {
        self.largest_ratio(true).max(self.largest_ratio(false))
    }

    /// The loss is a sum of a few products of whole numbers with the rate.
    fn rounding(&self) -> f64 {
        self.law.rounding * (1.0 + self.loss())
    }

    /// All combinations of runs.
    fn classes(&self) -> Vec<Class> {
        let mut classes = vec![Class { ratio: 0.0, masses: [1.0; 2] }];
        for (_, runs) in &self.changed {
            let joined = |class: &Class| {
                let (ratio, [at_x, at_neighbour]) = (class.ratio, class.masses);
                let joined = move |run: &Run| Class {
                    ratio: ratio + run.ratio,
                    masses: [at_x * run.masses[0], at_neighbour * run.masses[1]],
                };
                runs.iter().map(joined).collect::<Vec<_>>()
            };
            classes = classes.iter().flat_map(joined).collect();
        }
        classes
    }

    fn witness(&self) -> Witness {
        let forward = self.largest_ratio(true) >= self.largest_ratio(false);
        let mut output = self.pair.x.clone();
        self.largest(forward).for_each(|(i, run)| output[i] = run.value);
        if self.law.noisy < output.len() {
            OutputSet::Restored.complete(self.pair.x.iter().sum(), &mut output);
        }
        Witness { output, forward }
    }
}
