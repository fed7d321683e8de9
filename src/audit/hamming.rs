//! The Hamming mechanism at two adjacent data sets.
//!
//! From x to x' = x − e_i + e_j the distance to an output grows by one (where r_i >= x_i and
//! r_j <= x_j, as for x itself), falls by one (as for x'), or stays: a ratio of probabilities takes
//! three values, e^(±rate) Z'/Z and Z'/Z.

use super::compare::{Comparison, Witness};
use super::pairs::Pair;
use crate::law::hamming_normaliser;
use crate::model::Posterior;
use crate::numeric::{exp_accurate, expm1, ln};

/// The mechanism at one data set.
pub struct Hamming {
    posterior: Posterior,
    rate: f64,
    normaliser: f64,
}

impl Hamming {
    pub fn new(posterior: &Posterior, rate: f64) -> Self {
        let normaliser = hamming_normaliser(posterior, rate, None);
        Self { posterior: posterior.clone(), rate, normaliser }
    }
}

/// The mechanism at two adjacent data sets.
pub struct HammingPair<'a> {
    pub pair: &'a Pair,
    pub at_x: &'a Hamming,
    pub at_moved: &'a Hamming,
}

impl HammingPair<'_> {
    /// ln Z_x' − ln Z_x.
    fn shift(&self) -> f64 {
        ln(self.at_moved.normaliser) - ln(self.at_x.normaliser)
    }
}

impl Comparison for HammingPair<'_> {
    /// r = x has the ratio e^rate Z'/Z, r = x' the ratio e^(−rate) Z'/Z.
    fn loss(&self) -> f64 {
        self.at_x.rate + self.shift().abs()
    }

    fn deltas(&self, epsilon: f64) -> [f64; 2] {
        let &Pair { leaves: i, enters: j, .. } = self.pair;
        let rate = self.at_x.rate;
        // The sums over the outputs that are nearer to x, and to x', each with its own weights.
        let nearer_x = hamming_normaliser(&self.at_x.posterior, rate, Some((i, j)));
        let nearer_moved = hamming_normaliser(&self.at_moved.posterior, rate, Some((j, i)));
        let delta = |near: f64, far: f64, normaliser: f64, shift: f64| {
            let (near, far) = (near / normaliser, exp_accurate(-rate) * far / normaliser);
            let classes = [(rate, near), (0.0, (1.0 - near - far).max(0.0)), (-rate, far)];
            let lost = classes.into_iter().map(|(step, mass)| (step + shift, mass));
            let lost = lost.filter(|&(ratio, _)| ratio > epsilon);
            lost.map(|(ratio, mass)| mass * -expm1(epsilon - ratio)).sum()
        };
        [
            delta(nearer_x, nearer_moved, self.at_x.normaliser, self.shift()),
            delta(nearer_moved, nearer_x, self.at_moved.normaliser, -self.shift()),
        ]
    }

    fn witness(&self) -> Witness {
        let forward = self.shift() >= 0.0;
        let output = if forward { &self.pair.x } else { &self.pair.moved };
        Witness { output: output.clone(), forward }
    }
}
