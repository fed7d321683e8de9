//! All outputs that a mechanism can make, numbered.

use crate::named;
#[cfg(test)]
use crate::named::Named;
use crate::posterior::model::{Counts, approximate_compositions};
use crate::posterior::simplex::{Region, Shape, count_compositions, rank};

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
        match self {
            Self::Below => Region::below(n, k),
            _ => Region::new(n, self.shape(), vec![(0, n); k]),
        }
    }

    /// The shape of regions of them.
    pub fn shape(self) -> Shape {
        match self {
            Self::Simplex | Self::Below => Shape::Simplex,
            Self::Restored => Shape::Restored,
            Self::Open => Shape::Free,
        }
    }

    /// Of k counts, how many, the first ones, are free.
    pub fn noisy(self, k: usize) -> usize {
        k - usize::from(self == Self::Restored)
    }

    /// Whether outputs may have any total, below or above n.
    pub fn leaves_total_open(self) -> bool {
        matches!(self, Self::Below | Self::Open)
    }

    /// Restores the total n in the last count, as far as it can, where that count is not free.
    pub fn complete(self, n: u64, output: &mut [u64]) {
        if self == Self::Restored
            && let Some((last, others)) = output.split_last_mut()
        {
            *last = n.saturating_sub(others.iter().sum());
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
    pub fn new(set: OutputSet, n: u64, k: usize) -> Self {
        Self { set, n, k }
    }

    /// The number of outputs; approximate if there are many.
    pub fn approximate_len(&self) -> f64 {
        match self.set {
            OutputSet::Simplex => approximate_compositions(self.n, self.k),
            OutputSet::Below => approximate_compositions(self.n, self.k + 1),
            OutputSet::Restored | OutputSet::Open => (self.n as f64 + 1.0).powi(self.free() as i32),
        }
    }

    /// The number of candidates of R.
    pub fn candidates(&self) -> usize {
        count_compositions(self.n, self.k)
    }

    /// How many coordinates are free.
    pub fn free(&self) -> usize {
        self.set.noisy(self.k)
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
        let listed = self.set.region(self.n, self.k).list().into_iter();
        listed.map(|(output, _)| output).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_numbered_in_order() {
        for &set in OutputSet::ALL {
            for (n, k) in [(0, 2), (1, 2), (6, 2), (4, 3), (3, 4)] {
                let outputs = Outputs::new(set, n, k);
                let list = outputs.list();
                assert!((outputs.approximate_len() - list.len() as f64).abs() < 1e-6);
                for (number, output) in list.iter().enumerate() {
                    assert_eq!(outputs.index(output), number, "{set:?} {output:?}");
                }
            }
        }
    }
}
