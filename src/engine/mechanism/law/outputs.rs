//! All outputs that a mechanism can make, numbered.

use super::{HistoricalNoise, Recipe};
use crate::named;
use crate::posterior::model::{Counts, approximate_compositions};
use crate::posterior::simplex::{Region, Shape, count_compositions, list_compositions, rank};

named! {
    /// Which outputs there are at data sets of n records.
    #[derive(Default, PartialOrd, Ord)]
    pub enum OutputSet {
        /// The candidates R: counts that sum to n.
        #[default]
        Simplex = "R",
        /// All counts but the last from 0 to n; the last restores the total n as far as it can.
        Restored = "restored",
        /// Counts that sum to n or less.
        Below = "below",
        /// Counts from 0 to n each.
        Open = "open",
    }
}

impl OutputSet {
    /// All of them, as they are walked.
    pub fn region(self, n: u64, k: usize) -> Region {
        let within = |shape| Region::new(n, shape, vec![(0, n); k]);
        match self {
            Self::Simplex => within(Shape::Simplex),
            Self::Restored => within(Shape::Restored),
            Self::Below => Region::below(n, k),
            Self::Open => within(Shape::Free),
        }
    }
}

impl Recipe {
    /// The outputs.
    pub fn output_set(&self) -> OutputSet {
        match self {
            Self::Exponential { .. } | Self::Hamming { .. } => OutputSet::Simplex,
            Self::Noise { restored: true, .. } | Self::OwnNoise { restored: true, .. } => {
                OutputSet::Restored
            }
            Self::Noise { .. } | Self::OwnNoise { .. } | Self::Lattice { .. } => OutputSet::Open,
            Self::Weighed { weight } => weight.set(),
            Self::Table { table, .. } => table.outputs(),
            Self::Historical { noise: HistoricalNoise::Rounded { .. } } => OutputSet::Simplex,
            Self::Historical { noise: HistoricalNoise::Absolute { .. } } => OutputSet::Open,
        }
    }
}

/// The outputs of a set, at data sets of n records in k categories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outputs {
    set: OutputSet,
    n: u64,
    k: usize,
}

impl Outputs {
    /// The outputs of `set`.
    pub fn new(set: OutputSet, n: u64, k: usize) -> Self {
        Self { set, n, k }
    }

    /// The outputs of `recipe`.
    pub fn of(recipe: Recipe, n: u64, k: usize) -> Self {
        Self::new(recipe.output_set(), n, k)
    }

    /// The number of outputs; approximate if there are many.
    pub fn approximate_len(&self) -> f64 {
        match self.set {
            OutputSet::Simplex => approximate_compositions(self.n, self.k),
            OutputSet::Below => approximate_compositions(self.n, self.k + 1),
            OutputSet::Restored | OutputSet::Open => (self.n as f64 + 1.0).powi(self.free() as i32),
        }
    }

    /// The number of outputs whose probability is not 0 at all data: noise of sum 0 leaves the total open
    /// only if it is clamped. Approximate if there are many.
    pub fn possible(&self, recipe: Recipe) -> f64 {
        let all = self.approximate_len();
        match recipe {
            Recipe::Lattice { .. } => {
                // Those without 0 or n that do not have the total n are impossible.
                let clamped = 2.0 * self.k as f64 * (self.n as f64 + 1.0).powi(self.k as i32 - 1);
                (clamped + approximate_compositions(self.n, self.k)).min(all)
            }
            Recipe::Exponential { .. }
            | Recipe::Weighed { .. }
            | Recipe::Noise { .. }
            | Recipe::OwnNoise { .. }
            | Recipe::Hamming { .. }
            | Recipe::Historical { .. }
            | Recipe::Table { .. } => all,
        }
    }

    /// The number of outputs.
    ///
    /// # Panics
    /// If they are too many to be numbered: who lists them has asked for the approximate number before.
    pub fn len(&self) -> usize {
        match self.set {
            OutputSet::Simplex => self.candidates(),
            OutputSet::Below => count_compositions(self.n, self.k + 1),
            OutputSet::Restored | OutputSet::Open => {
                let count = (self.n as usize + 1).checked_pow(self.free() as u32);
                count.expect("outputs are listed only if they are few")
            }
        }
    }

    /// Never: without records there is one output.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The number of candidates of R.
    pub fn candidates(&self) -> usize {
        count_compositions(self.n, self.k)
    }

    /// How many coordinates are free.
    fn free(&self) -> usize {
        self.k - usize::from(self.set == OutputSet::Restored)
    }

    /// The number of one output.
    pub fn index(&self, output: &[u64]) -> usize {
        match self.set {
            OutputSet::Simplex => rank(output),
            OutputSet::Below => {
                let left = self.n - output.iter().sum::<u64>();
                rank(&[output, &[left]].concat())
            }
            OutputSet::Restored | OutputSet::Open => {
                let base = self.n as usize + 1;
                output[..self.free()].iter().fold(0, |index, &v| index * base + v as usize)
            }
        }
    }

    /// Every output, in the order of their numbers.
    pub fn list(&self) -> Vec<Counts> {
        match self.set {
            OutputSet::Simplex => return list_compositions(self.n, self.k),
            OutputSet::Below => {
                let mut list = list_compositions(self.n, self.k + 1);
                list.iter_mut().for_each(|output| output.truncate(self.k));
                return list;
            }
            OutputSet::Restored | OutputSet::Open => {}
        }
        let base = self.n as usize + 1;
        let output = |index: usize| {
            let mut output = vec![0; self.k];
            let mut left = index;
            for v in output[..self.free()].iter_mut().rev() {
                *v = (left % base) as u64;
                left /= base;
            }
            if self.set == OutputSet::Restored {
                output[self.k - 1] = self.n.saturating_sub(output.iter().sum());
            }
            output
        };
        (0..self.len()).map(output).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::law::{CandidateWeights, Noise};

    #[test]
    fn outputs_are_numbered_in_order() {
        let noise = |restored| Recipe::Noise { noise: Noise::Laplace, scale: 1.0, restored };
        for recipe in [
            Recipe::Hamming { rate: 1.0, weights: CandidateWeights::Flat },
            noise(true),
            noise(false),
        ] {
            for (n, k) in [(0, 2), (1, 2), (6, 2), (4, 3), (3, 4)] {
                let outputs = Outputs::of(recipe, n, k);
                let list = outputs.list();
                assert_eq!(list.len(), outputs.len());
                assert!((outputs.approximate_len() - outputs.len() as f64).abs() < 1e-6);
                for (number, output) in list.iter().enumerate() {
                    assert_eq!(outputs.index(output), number, "{recipe:?} {output:?}");
                }
            }
        }
    }
}
