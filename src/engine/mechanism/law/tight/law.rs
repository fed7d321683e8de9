//! The law P(r|x) = w(r) e^(−rate · d(x, r)) / Z(x) with the tight weights w, which the law owns.

use std::sync::Arc;

use super::super::coins::{ExactDraws, Ratio, not_exact};
use super::super::hamming::pair::{HammingAt as Compared, HammingData};
use super::super::hamming::{HammingAt, region};
use super::super::lattice::LatticeSampler;
use super::super::noise::Noise;
use super::super::pair::Comparisons;
use super::super::product::total_mass;
use super::super::{Law, LawAt, PairSize, size};
use super::Tight;
use super::coins::Weighed;
use crate::analysis::true_counts::CountNoise;
use crate::posterior::amount::Amount;
use crate::posterior::distance::Distance;
use crate::posterior::model::{Counts, Posterior, Prior};
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;
use crate::rng::{Stream, uniform};

#[derive(Clone, Debug)]
pub struct TightLaw {
    /// The number before the distance.
    pub rate: f64,
    /// The weights, found for this rate.
    pub weights: Arc<Tight>,
}

impl Law for TightLaw {
    fn at(&self, posterior: &Posterior) -> Result<Box<dyn LawAt + '_>, Refusal> {
        Ok(Box::new(HammingAt::weighed(self, posterior)))
    }

    /// The weights are those of the other rate.
    fn widened(&self, factor: f64) -> Result<Arc<dyn Law>, Refusal> {
        let rate = self.rate / factor;
        let weights = Tight::find(self.weights.k, self.weights.n, rate)?;
        Ok(Arc::new(Self { rate, weights }))
    }

    fn exchangeable(&self, prior: &Prior) -> Vec<Vec<usize>> {
        vec![(0..prior.k()).collect()]
    }

    fn pair_size(&self, posterior: &Posterior, distance: &dyn Distance) -> Option<PairSize> {
        Some(PairSize { classes: size::walked(self, posterior, distance).1, ..PairSize::CLOSED })
    }

    fn comparisons<'a>(
        &'a self,
        setting: &'a Setting,
        data: &[&Counts],
    ) -> Result<Box<dyn Comparisons + 'a>, Refusal> {
        let nearer = move |x: &Posterior, gain| {
            let at = HammingAt::weighed(self, x);
            let part = at.product(region(x, self.rate, Some(gain)));
            total_mass(&part).expect("tight weights are refused long before 10^10 outputs")
        };
        let at = |posterior: Posterior| Compared {
            normaliser: self.weights.normaliser(posterior.counts()),
            error: self.weights.normaliser_error(),
            posterior,
        };
        Ok(Box::new(HammingData::new(self.rate, nearer, setting, data, at)))
    }

    fn exact_draws(&self, k: usize, epsilon: Amount) -> Result<Box<dyn ExactDraws>, Refusal> {
        if self.weights.is_clipped() {
            let n = self.weights.n;
            let cause = format!(
                "some weights of `tight` are negative at this ε, for {n} records in {k} categories"
            );
            return Err(Refusal::new(cause, "use lattice, or a larger ε"));
        }
        let rate = Ratio::of(epsilon, 2).ok_or_else(not_exact)?;
        Ok(Box::new(Weighed { rate, weights: Arc::clone(&self.weights) }))
    }

    fn candidate_weights(&self) -> Option<&TightLaw> {
        Some(self)
    }

    fn has_three_losses(&self) -> bool {
        !self.weights.is_clipped()
    }

    /// The weights of the candidates cancel, and so do normalisers that are 1.
    fn count_noise(&self, k: usize) -> Option<CountNoise> {
        let noise = CountNoise { noise: Noise::Geometric, scale: 2.0 / self.rate, noisy: k };
        (!self.weights.is_clipped()).then_some(noise)
    }
}

impl Tight {
    /// Draws y = x + z with lattice noise z until y is a candidate and accepted with probability
    /// w(y) / max w. The chance of a trial is Σ_y w(y) a^(d(x, y)) over a constant. If no weight was set to 0,
    /// it is the same for all data, so that the number of trials tells nothing about them.
    pub(in super::super) fn draw(
        &self,
        noise: &LatticeSampler,
        counts: &[u64],
        rng: &mut Stream,
        out: &mut [u64],
    ) {
        loop {
            noise.draw(rng, out);
            let inside = out.iter_mut().zip(counts).all(|(v, x)| {
                let moved = x.checked_add_signed(*v as i64);
                moved.map(|moved| *v = moved).is_some()
            });
            if inside && uniform(rng) * self.largest < self.weight(out) {
                return;
            }
        }
    }
}
