//! The law of an error, value by value: P[H = c] and P[H <= c].

use rayon::prelude::*;

use super::exact::{SAME, SLACK};
use super::survey::for_parts;
use super::{BenchField, OutputLaw, walk_block};
use crate::numeric::Sum;
use crate::posterior::simplex::BLOCK;

/// A part of a mixture that is less likely than this is left out: a million of them do not move a
/// quantile.
const NEGLIGIBLE: f64 = 1e-20;

/// All outputs with one error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    /// The error c.
    pub value: f64,
    /// P[error = c].
    pub probability: f64,
    /// P[error <= c].
    pub cumulative: f64,
    pub outputs: f64,
}

/// The law of an error, from the smallest value to the largest.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    pub levels: Vec<Level>,
}

impl Distribution {
    /// The law of `field` under `law`, or `None` if that is too large to be walked.
    pub fn new(law: &dyn OutputLaw, field: BenchField) -> Option<Self> {
        let mut lumps = list(law, field)?;
        let (mass, outputs) = (law.plateau(), law.plateau_outputs());
        lumps.extend((mass > 0.0).then(|| Lump::new(1.0, mass, outputs)));
        Some(Self::of_lumps(lumps, law.normaliser()))
    }

    /// The law of an error whose law is one of `laws`, with these probabilities.
    pub fn mixture(laws: impl IntoIterator<Item = (f64, Self)>) -> Self {
        let mut lumps = Vec::new();
        for (weight, law) in laws {
            let levels = law.seen_with(weight).levels.into_iter();
            lumps.extend(levels.map(|l| Lump::new(l.value, weight * l.probability, l.outputs)));
        }
        Self::of_lumps(lumps, 1.0)
    }

    /// Every value with its mass, in the order of a list that does not depend on threads.
    pub fn of_masses(masses: Vec<(f64, f64)>) -> Self {
        let lumps = masses.into_iter().map(|(value, mass)| Lump::new(value, mass, 1.0));
        Self::of_lumps(lumps.collect(), 1.0)
    }

    /// The levels that count in a mixture in which the law has this weight.
    pub fn seen_with(mut self, weight: f64) -> Self {
        self.levels.retain(|level| weight * level.probability > NEGLIGIBLE);
        self.levels.shrink_to_fit();
        self
    }

    /// Joins lumps that are equal but for rounding; `total` is their mass.
    fn of_lumps(mut lumps: Vec<Lump>, total: f64) -> Self {
        // Stable, so that equal values keep the order of the walk whatever the threads.
        lumps.par_sort_by(|a, b| a.value.total_cmp(&b.value));
        let same = |group: f64, value: f64| {
            value == group || value < f64::INFINITY && value - group <= SAME * value
        };
        let groups = join(lumps, same);
        let mut running = Sum::default();
        let level = |Lump { value, mass, outputs }| {
            running.add(mass.value());
            let probability = mass.value() / total;
            let cumulative = (running.value() / total).min(1.0);
            Level { value, probability, cumulative, outputs }
        };
        Self { levels: groups.into_iter().map(level).collect() }
    }

    /// P[error <= t]; a value that differs from t by rounding only counts as t.
    pub fn at_most(&self, t: f64) -> f64 {
        self.before(|level| level.value <= t + SAME * t)
    }

    /// `P[error < t]`; a value that differs from t by rounding only counts as t.
    pub fn below(&self, t: f64) -> f64 {
        self.before(|level| level.value < t - SAME * t)
    }

    fn before(&self, is_before: impl Fn(&Level) -> bool) -> f64 {
        let index = self.levels.partition_point(is_before);
        index.checked_sub(1).map_or(0.0, |last| self.levels[last].cumulative)
    }

    /// Every value t with P[error >= t], summed up from the far end, so that small tails keep their
    /// digits.
    pub fn tail(&self) -> Vec<(f64, f64)> {
        let mut sum = Sum::default();
        let mut tail: Vec<(f64, f64)> = (self.levels.iter().rev())
            .map(|level| {
                sum.add(level.probability);
                (level.value, sum.value().min(1.0))
            })
            .collect();
        tail.reverse();
        tail
    }

    /// P[error = t]; a value that differs from t by rounding only counts as t.
    pub fn exactly(&self, t: f64) -> f64 {
        let near = |level: &&Level| (level.value - t).abs() <= SAME * t;
        self.levels.iter().find(near).map_or(0.0, |level| level.probability)
    }

    /// The smallest t with P[error <= t] >= q.
    pub fn quantile(&self, q: f64) -> f64 {
        let reached = self.levels.iter().find(|level| level.cumulative >= q - SLACK);
        reached.or(self.levels.last()).map_or(0.0, |level| level.value)
    }
}

/// Outputs that have one error.
#[derive(Clone, Copy)]
struct Lump {
    value: f64,
    mass: Sum,
    outputs: f64,
}

impl Lump {
    fn new(value: f64, mass: f64, outputs: f64) -> Self {
        Self { value, mass: Sum::from_iter([mass]), outputs }
    }
}

/// Joins sorted lumps whose values are `same` as the first of their group.
fn join(lumps: Vec<Lump>, same: impl Fn(f64, f64) -> bool) -> Vec<Lump> {
    let mut groups: Vec<Lump> = Vec::new();
    for lump in lumps {
        match groups.last_mut() {
            Some(group) if same(group.value, lump.value) => {
                group.mass.add(lump.mass.value());
                group.outputs += lump.outputs;
            }
            _ => groups.push(lump),
        }
    }
    groups
}

/// A list is joined when it has grown by more than this number of lumps.
const CROWDED: usize = 1 << 16;

/// The errors and masses of all outputs. Equal errors are joined as the list grows, which keeps
/// errors of few values (steps, ℓ1, symmetric posteriors) small.
fn list(law: &dyn OutputLaw, field: BenchField) -> Option<Vec<Lump>> {
    let walked = law.walked()?;
    let parts = for_parts(&walked.blocks, |part| {
        let (mut lumps, mut joined, mut values) = (Vec::new(), 0, [0.0; BLOCK]);
        for block in part {
            walk_block(law, walked, block, |row, masses| {
                field.row(row, &mut values[..row.len]);
                let outputs = values.iter().zip(masses);
                let lump = |(&value, &mass)| Lump::new(value, mass, row.weight);
                lumps.extend(outputs.map(lump));
            });
            if lumps.len() > 2 * joined + CROWDED {
                lumps = join_equal(lumps);
                joined = lumps.len();
            }
        }
        join_equal(lumps)
    });
    Some(parts.concat())
}

/// Joins lumps that have exactly the same value.
fn join_equal(mut lumps: Vec<Lump>) -> Vec<Lump> {
    lumps.sort_by(|a, b| a.value.total_cmp(&b.value));
    join(lumps, |group, value| group == value)
}
