//! Geometric noise on the lattice at two adjacent data sets.
//!
//! The noise does not depend on the data, and has no normaliser that does: as for `hamming`, the ratio is
//! e^rate, 1 or e^(−rate). It is e^rate for y_i >= x_i and y_j <= x_j, if a record moves from category i to
//! category j. Clamping does not join outputs of different ratios, because x_i >= 1 and x_j <= n − 1.

use super::pair_comparison::{Class, PairComparison, Witness};
use super::pairs::Pair;
use crate::mechanism::law::LatticeNoise;
use crate::numeric::exp_accurate;

/// Two adjacent data sets.
pub struct LatticePair<'a> {
    pub pair: &'a Pair,
    pub rate: f64,
}

impl PairComparison for LatticePair<'_> {
    fn loss(&self) -> f64 {
        self.rate
    }

    fn rounding(&self) -> f64 {
        f64::EPSILON * self.rate
    }

    fn classes(&self) -> Vec<Class> {
        let near = LatticeNoise::probability_of_signs(self.rate, self.pair.x.len());
        let far = exp_accurate(-self.rate) * near;
        let rest = (1.0 - near - far).max(0.0);
        [(self.rate, [near, far]), (0.0, [rest, rest]), (-self.rate, [far, near])]
            .map(|(ratio, masses)| Class { ratio, masses })
            .to_vec()
    }

    /// The data set itself is likelier where it is.
    fn witness(&self) -> Witness {
        Witness { output: self.pair.x.clone(), forward: true }
    }
}
