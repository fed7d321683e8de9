//! The exponential mechanism: P(r|x) ∝ e^(−rate(x) · score(x, r)) over the candidates r in R.

mod family;
mod line;
mod pair;
mod weigher;

use std::sync::Arc;

pub use family::Family;
pub use weigher::{ByScore, Weigher};

use super::pair::{Comparisons, Pair, PairComparison};
use super::{Law, LawAt, Outputs, PairSize};
use crate::numeric::ln_sum;
use crate::parallel;
use crate::posterior::distance::Distance;
use crate::posterior::error_field::Field;
use crate::posterior::model::{Counts, Posterior, Prior};
use crate::posterior::setting::Setting;
use crate::posterior::simplex::Region;
use crate::refusal::Refusal;
use pair::{Scored, ScoredPair};

/// The sensitivity by which ε is divided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sensitivity {
    /// A number that is the same at all data.
    Constant(f64),
    /// LS(x).
    Local,
    /// S_γ(x).
    GammaSmooth(f64),
    /// S_β(x).
    BetaSmooth(f64),
}

/// Weight e^(−ε · score / (divisor · sensitivity)).
#[derive(Clone)]
pub struct Exponential {
    pub distance: &'static dyn Distance,
    pub epsilon: f64,
    /// The number before the sensitivity.
    pub divisor: f64,
    pub sensitivity: Sensitivity,
}

impl Exponential {
    /// The number before the score. Where nothing can move (n = 0) there is one candidate, and any rate
    /// will do.
    fn rate(&self, posterior: &Posterior) -> f64 {
        let here = || self.distance.sensitivity(posterior);
        let sensitivity = match self.sensitivity {
            Sensitivity::Constant(constant) => constant,
            Sensitivity::Local => here().local(),
            Sensitivity::GammaSmooth(gamma) => here().gamma_smooth(gamma),
            Sensitivity::BetaSmooth(beta) => here().beta_smooth(beta),
        };
        let rate = self.epsilon / (self.divisor * sensitivity);
        if sensitivity > 0.0 { rate } else { 0.0 }
    }
}

impl Law for Exponential {
    fn at(&self, posterior: &Posterior) -> Result<Box<dyn LawAt + '_>, Refusal> {
        Ok(Box::new(ByScore { rate: self.rate(posterior) }))
    }

    fn widened(&self, factor: f64) -> Result<Arc<dyn Law>, Refusal> {
        Ok(Arc::new(Self { epsilon: self.epsilon / factor, ..self.clone() }))
    }

    fn uses_score(&self) -> bool {
        true
    }

    fn needs_ball(&self) -> bool {
        true
    }

    fn exchangeable(&self, prior: &Prior) -> Vec<Vec<usize>> {
        prior.exchangeable()
    }

    fn pair_size(&self, posterior: &Posterior, distance: &dyn Distance) -> Option<PairSize> {
        Some(PairSize::near(posterior, distance))
    }

    fn comparisons<'a>(
        &'a self,
        setting: &'a Setting,
        data: &[&Counts],
    ) -> Result<Box<dyn Comparisons + 'a>, Refusal> {
        Ok(scored(setting, data, |_, posterior| self.rate(posterior)))
    }
}

impl LawAt for ByScore {
    fn region(&self) -> Option<Region> {
        None
    }

    fn ln_probabilities(&self, outputs: Outputs, score: &dyn Field) -> Vec<f64> {
        normalised(outputs.list().iter().map(|r| -self.rate * score.at(r)).collect())
    }

    fn weigher(&self) -> Option<&dyn Weigher> {
        Some(self)
    }

    fn rate(&self) -> Option<f64> {
        Some(self.rate)
    }
}

/// Logarithms of probabilities, from those of weights.
pub fn normalised(mut weights: Vec<f64>) -> Vec<f64> {
    let ln_normaliser = ln_sum(weights.iter().copied());
    weights.iter_mut().for_each(|weight| *weight -= ln_normaliser);
    weights
}

/// The mechanism at several data sets, with the rate at each of them, by its index.
pub fn scored<'a>(
    setting: &Setting,
    data: &[&Counts],
    rate: impl Fn(usize, &Posterior) -> f64 + Sync,
) -> Box<dyn Comparisons + 'a> {
    Box::new(parallel::map_range(0..data.len(), |index| {
        let at_x = setting.at(data[index].clone());
        Scored::new(&at_x, setting.distance, rate(index, &at_x))
    }))
}

impl Comparisons for Vec<Scored> {
    fn between<'a>(&'a self, _: &'a Pair, at: [usize; 2]) -> Box<dyn PairComparison + 'a> {
        let [at_x, at_neighbour] = at.map(|index| &self[index]);
        Box::new(ScoredPair { at_x, at_neighbour })
    }
}
