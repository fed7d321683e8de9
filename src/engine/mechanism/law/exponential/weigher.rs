//! How candidates are weighed: by their score, or by an expression of the user's.

use super::super::OutputSet;
use crate::numeric::{exp_accurate, kernel};
use crate::posterior::simplex::{Row, Tail};

/// The weights of the candidates at one data set.
pub trait Weigher: Send + Sync {
    /// The set of candidates, if each of them is walked. `None` if candidates far from the data all have the same
    /// weight: then those near the data are walked, and each stands for those that differ from it by exchanging
    /// equal categories.
    fn set(&self) -> Option<OutputSet>;

    fn uses_score(&self) -> bool {
        true
    }

    /// Writes the masses of a row whose scores are given.
    fn weigh(&self, row: &Row, scores: &[f64], masses: &mut [f64]);

    /// The mass of the one output of a row, given its score.
    fn mass(&self, row: &Row, score: f64) -> f64 {
        let mut mass = [0.0];
        self.weigh(row, &[score], &mut mass);
        mass[0]
    }

    /// The mass of a candidate by its score alone, where nothing else counts.
    fn by_score(&self, score: f64) -> f64 {
        self.mass(&Row { head: &[], start: 0, len: 1, tail: Tail::Free, weight: 1.0 }, score)
    }
}

/// The weights e^(−rate · score).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ByScore {
    /// The number before the score.
    pub rate: f64,
}

impl Weigher for ByScore {
    fn set(&self) -> Option<OutputSet> {
        None
    }

    fn weigh(&self, row: &Row, scores: &[f64], masses: &mut [f64]) {
        masses.copy_from_slice(scores);
        kernel::masses(self.rate, row.weight, masses);
    }

    fn by_score(&self, score: f64) -> f64 {
        exp_accurate(-self.rate * score)
    }
}
