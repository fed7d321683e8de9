//! Candidates weighed by the number of moved records, at two adjacent data sets.
//!
//! From x to x' = x − e_i + e_j the distance to an output grows by one (where r_i >= x_i and
//! r_j <= x_j, as for r = x), falls by one (as for r = x'), or stays. So a ratio of probabilities
//! takes three values: e^rate Z'/Z, e^(−rate) Z'/Z and Z'/Z.

use super::super::pair::{Class, Comparisons, Pair, PairComparison, Witness};
use crate::numeric::{exp_accurate, ln};
use crate::parallel;
use crate::posterior::model::{Counts, Posterior};
use crate::posterior::setting::Setting;

pub struct HammingData<'a> {
    rate: f64,
    nearer: Nearer<'a>,
    data: Vec<HammingAt>,
}

/// Σ w(r) e^(−rate · d(x, r)) over the candidates with r_i >= x_i and r_j <= x_j.
type Nearer<'a> = Box<dyn Fn(&Posterior, (usize, usize)) -> f64 + Sync + 'a>;

pub struct HammingAt {
    pub posterior: Posterior,
    /// Σ w(r) e^(−rate · d(x, r)).
    pub normaliser: f64,
    /// An upper bound on the relative error of the normaliser.
    pub error: f64,
}

impl<'a> HammingData<'a> {
    /// With the sum over the outputs nearer to a data set than to a neighbour, and what `at` finds at a data
    /// set.
    pub fn new(
        rate: f64,
        nearer: impl Fn(&Posterior, (usize, usize)) -> f64 + Sync + 'a,
        setting: &Setting,
        data: &[&Counts],
        at: impl Fn(Posterior) -> HammingAt + Sync,
    ) -> Self {
        let data = parallel::map(data, |x| at(setting.at((*x).clone())));
        Self { rate, nearer: Box::new(nearer), data }
    }
}

impl Comparisons for HammingData<'_> {
    fn between<'a>(&'a self, pair: &'a Pair, at: [usize; 2]) -> Box<dyn PairComparison + 'a> {
        let [at_x, at_neighbour] = at.map(|index| &self.data[index]);
        Box::new(HammingPair { pair, law: self, at_x, at_neighbour })
    }
}

struct HammingPair<'a> {
    pair: &'a Pair,
    law: &'a HammingData<'a>,
    at_x: &'a HammingAt,
    at_neighbour: &'a HammingAt,
}

impl HammingPair<'_> {
    /// ln Z_x' − ln Z_x.
    fn shift(&self) -> f64 {
        ln(self.at_neighbour.normaliser) - ln(self.at_x.normaliser)
    }
}

impl PairComparison for HammingPair<'_> {
    /// r = x has the ratio e^rate Z'/Z, r = x' the ratio e^(−rate) Z'/Z.
    fn loss(&self) -> f64 {
        self.law.rate + self.shift().abs()
    }

    fn rounding(&self) -> f64 {
        self.at_x.error + self.at_neighbour.error + 1e-15 * self.law.rate
    }

    fn classes(&self) -> Vec<Class> {
        let &Pair { leaves: i, enters: j, .. } = self.pair;
        let rate = self.law.rate;
        let step = exp_accurate(-rate);
        // The sums of the weights at x over the outputs nearer to x, and at x' over those nearer to x'.
        let nearer = |at: &HammingAt, gain| (self.law.nearer)(&at.posterior, gain);
        let (nearer_x, nearer_neighbour) =
            (nearer(self.at_x, (i, j)), nearer(self.at_neighbour, (j, i)));
        let (near, far) =
            (nearer_x / self.at_x.normaliser, nearer_neighbour / self.at_neighbour.normaliser);
        let crossed = (
            step * nearer_neighbour / self.at_x.normaliser,
            step * nearer_x / self.at_neighbour.normaliser,
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
        let output = if forward { &self.pair.x } else { &self.pair.neighbour };
        Witness { output: output.clone(), forward }
    }
}
