//! Candidates weighed by the number of moved records, at two adjacent data sets.
//!
//! From x to x' = x − e_i + e_j the distance to an output grows by one (where r_i >= x_i and
//! r_j <= x_j, as for r = x), falls by one (as for r = x'), or stays. So a ratio of probabilities
//! takes three values: e^rate Z'/Z, e^(−rate) Z'/Z and Z'/Z.

use super::pair_comparison::{Class, PairComparison, Witness};
use super::pairs::Pair;
use crate::mechanism::law::{CandidateWeights, hamming_normaliser};
use crate::numeric::{exp_accurate, ln};
use crate::posterior::model::Posterior;

/// The mechanism at one data set.
pub struct Hamming {
    posterior: Posterior,
    rate: f64,
    weights: CandidateWeights,
    normaliser: f64,
    /// An upper bound on the relative error of the normaliser.
    error: f64,
}

impl Hamming {
    pub fn new(posterior: &Posterior, rate: f64, weights: CandidateWeights) -> Self {
        let normaliser = hamming_normaliser(posterior, rate, weights, None);
        let error =
            weights.tight(posterior, rate).map_or(CONVOLVED, |tight| tight.normaliser_error());
        Self { posterior: posterior.clone(), rate, weights, normaliser, error }
    }
}

/// The relative error of a convolution is at most this.
const CONVOLVED: f64 = 1e-13;

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

impl PairComparison for HammingPair<'_> {
    /// r = x has the ratio e^rate Z'/Z, r = x' the ratio e^(−rate) Z'/Z.
    fn loss(&self) -> f64 {
        self.at_x.rate + self.shift().abs()
    }

    fn rounding(&self) -> f64 {
        self.at_x.error + self.at_moved.error + 1e-15 * self.at_x.rate
    }

    fn classes(&self) -> Vec<Class> {
        let &Pair { leaves: i, enters: j, .. } = self.pair;
        let rate = self.at_x.rate;
        let step = exp_accurate(-rate);
        // The sums of the weights at x over the outputs nearer to x, and at x' over those nearer to x'.
        let nearer =
            |at: &Hamming, gain| hamming_normaliser(&at.posterior, rate, at.weights, Some(gain));
        let (nearer_x, nearer_moved) = (nearer(self.at_x, (i, j)), nearer(self.at_moved, (j, i)));
        let (near, far) =
            (nearer_x / self.at_x.normaliser, nearer_moved / self.at_moved.normaliser);
        let crossed = (
            step * nearer_moved / self.at_x.normaliser,
            step * nearer_x / self.at_moved.normaliser,
        );
        let rest = |near: f64, far: f64| (1.0 - near - far).max(0.0);
        [
            (rate, [near, crossed.1]),
            (0.0, [rest(near, crossed.0), rest(far, crossed.1)]),
            (-rate, [crossed.0, far]),
        ]
        .map(|(step, masses)| Class { ratio: step + self.shift(), masses })
        .to_vec()
    }

    fn witness(&self) -> Witness {
        let forward = self.shift() >= 0.0;
        let output = if forward { &self.pair.x } else { &self.pair.moved };
        Witness { output: output.clone(), forward }
    }
}
