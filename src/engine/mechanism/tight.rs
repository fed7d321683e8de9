//! The tight mechanism (not in the documents).

use super::{Choice, Mechanism, Options};
use crate::mechanism::law::tight::{Effort, Tight as TightWeights};
use crate::mechanism::law::{CandidateWeights, Recipe};
use crate::posterior::privacy::Guarantee;
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

/// r in R with probability w(r) e^(−ε d(x, r)), d the number of moved records. The weights are those with
/// which all probabilities sum to 1 at every x. So no normaliser depends on x, and the triangle inequality
/// alone makes it ε-private, at twice the rate of `hamming`. For two categories it is `geometric`.
///
/// At a small ε some weights are negative. They are set to 0, and the rate is lowered until the exact loss
/// is ε.
pub struct Tight;

impl Mechanism for Tight {
    fn id(&self) -> &'static str {
        "tight"
    }

    fn title(&self) -> &'static str {
        "Tight"
    }

    fn draws(&self) -> &'static str {
        "r in R with probability w(r) exp(−ε d(x, r)), where w makes these sum to 1 at every x"
    }

    fn choices(&self) -> &'static [Choice] {
        &[]
    }

    fn guarantee(&self, setting: &Setting, _: &Options) -> Guarantee {
        let epsilon = setting.epsilon.get();
        let (k, n) = (setting.posterior.k(), setting.posterior.n());
        // Whether weights are negative is known once they are found. Private it is in either case.
        match TightWeights::is_known_clipped(k, n, epsilon) {
            true => Guarantee::Computed(epsilon),
            false => Guarantee::Pure(epsilon),
        }
    }

    fn recipe(&self, setting: &Setting, _: &Options) -> Result<Recipe, Refusal> {
        Ok(Recipe::Hamming { rate: rate(setting)?, weights: CandidateWeights::Tight })
    }

    fn refusal(&self, setting: &Setting) -> Option<Refusal> {
        let (k, n) = (setting.posterior.k(), setting.posterior.n());
        Effort::new(k, n, setting.epsilon.get()).refusal(k, n)
    }
}

fn rate(setting: &Setting) -> Result<f64, Refusal> {
    let (k, n) = (setting.posterior.k(), setting.posterior.n());
    TightWeights::rate_for(k, n, setting.epsilon.get())
}
