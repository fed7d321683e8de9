//! The edged Hamming mechanism (not in the documents).

use super::{Choice, Mechanism, Options};
use crate::mechanism::law::edged::Edged;
use crate::mechanism::law::{CandidateWeights, Recipe};
use crate::posterior::privacy::Guarantee;
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

/// r in R with weight Π g(r_i) e^(−c d(x, r)), d the number of moved records. g is 1 but for g(0) and g(1),
/// which make up for the candidates that data near a face do not have. So the normalisers hardly depend on
/// x, and c is nearly ε, twice the rate of `hamming`. The loss c + max |ln Z(x) − ln Z(x')| is computed over
/// all adjacent data sets.
pub struct HammingEdged;

impl Mechanism for HammingEdged {
    fn id(&self) -> &'static str {
        "hamming-edged"
    }

    fn title(&self) -> &'static str {
        "Hamming, edged"
    }

    fn draws(&self) -> &'static str {
        "r in R with weight g(r_1) … g(r_k) exp(−c d(x, r)); g(0), g(1) and c are such that the loss is ε"
    }

    fn choices(&self) -> &'static [Choice] {
        &[]
    }

    fn guarantee(&self, setting: &Setting, _: &Options) -> Guarantee {
        Guarantee::Computed(setting.epsilon.get())
    }

    fn refusal(&self, setting: &Setting) -> Option<Refusal> {
        let (k, n) = (setting.posterior.k(), setting.posterior.n());
        Edged::refusal(k, n, setting.epsilon.get())
    }

    fn recipe(&self, setting: &Setting, _: &Options) -> Result<Recipe, Refusal> {
        let (k, n) = (setting.posterior.k(), setting.posterior.n());
        let Edged { rate, zero, one, .. } = Edged::find(k, n, setting.epsilon.get())?;
        Ok(Recipe::Hamming { rate, weights: CandidateWeights::Edged { zero, one } })
    }
}
