//! How candidates are weighed: by their score, or by an expression of the user's.

use super::OutputSet;
use crate::mechanism::own::{OwnWeigher, OwnWeight};
use crate::numeric::exp::exp_nonpositive;
use crate::numeric::{exp_accurate, kernel};
use crate::posterior::error_field::Field;
use crate::posterior::model::Posterior;
use crate::posterior::simplex::{BLOCK, Row, Tail};

/// The weight of a candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Weighting {
    /// e^(−rate · score).
    Score {
        /// The number before the score.
        rate: f64,
    },
    /// What the user wrote.
    Own(OwnWeight),
}

/// Which candidates are walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Walk {
    /// Those near the data, if all others have the same weight; each stands for those that differ from it
    /// by exchanging equal categories.
    Near,
    /// Each of a set.
    All(OutputSet),
}

impl Weighting {
    /// The candidates that are walked.
    pub fn walk(&self) -> Walk {
        match self {
            Self::Own(weight) if !weight.is_by_score() => Walk::All(weight.set()),
            Self::Own(_) | Self::Score { .. } => Walk::Near,
        }
    }

    /// Whether the score decides about a weight.
    pub fn uses_score(&self) -> bool {
        match self {
            Self::Score { .. } => true,
            Self::Own(weight) => weight.uses_score(),
        }
    }

    /// The weights at one posterior.
    pub fn bind(&self, posterior: &Posterior) -> Weigher {
        match self {
            Self::Score { rate } => Weigher::Score { rate: *rate },
            Self::Own(weight) => {
                Weigher::Own { weigher: weight.bind(posterior), uses_score: self.uses_score() }
            }
        }
    }
}

/// The weights of the candidates at one posterior.
pub enum Weigher {
    /// e^(−rate · score).
    Score { rate: f64 },
    /// What the user wrote.
    Own { weigher: OwnWeigher, uses_score: bool },
}

impl Weigher {
    /// Writes the masses of a row whose scores are given; returns their sum and that of mass · score.
    pub fn weigh(&self, row: &Row, scores: &[f64], masses: &mut [f64]) -> (f64, f64) {
        match self {
            Self::Score { rate } => kernel::weigh(*rate, row.weight, scores, masses),
            Self::Own { weigher, .. } => {
                weigher.masses(row, scores, masses);
                kernel::moments(scores, masses)
            }
        }
    }

    /// Writes the masses of a row.
    pub fn masses(&self, row: &Row, score: &dyn Field, masses: &mut [f64]) {
        match self {
            Self::Score { rate } => {
                score.row(row, masses);
                kernel::masses(*rate, row.weight, masses);
            }
            Self::Own { weigher, uses_score } => {
                let mut scores = [0.0; BLOCK];
                let scores = &mut scores[..row.len];
                if *uses_score {
                    score.row(row, scores);
                }
                weigher.masses(row, scores, masses);
            }
        }
    }

    /// The mass of the one output of a row, given its score.
    pub fn mass(&self, row: &Row, score: f64) -> f64 {
        match self {
            Self::Score { rate } => row.weight * exp_nonpositive(-rate * score),
            Self::Own { weigher, .. } => {
                let mut mass = [0.0];
                weigher.masses(row, &[score], &mut mass);
                mass[0]
            }
        }
    }

    /// The mass of the true counts.
    pub fn at_truth(&self, counts: &[u64]) -> f64 {
        let place = counts.len() - 2;
        let rest = counts[place] + counts[place + 1];
        let (head, tail) = (&counts[..place], Tail::Complement(rest));
        self.mass(&Row { head, start: counts[place], len: 1, tail, weight: 1.0 }, 0.0)
    }

    /// The mass of a candidate by its score alone, where nothing else counts.
    pub fn by_score(&self, score: f64) -> f64 {
        match self {
            Self::Score { rate } => exp_accurate(-rate * score),
            Self::Own { weigher, .. } => weigher.mass_at(score),
        }
    }
}
