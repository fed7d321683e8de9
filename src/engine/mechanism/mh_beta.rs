//! MH with β-smooth sensitivity (notes §2.3, arxiv §4.2).

use super::{Choice, Mechanism, Options, Smooth, exponential};
use crate::mechanism::law::Recipe;
use crate::posterior::privacy::Guarantee;
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

/// r in R with weight exp(−ε H(BI(x), r) / (2 S_β(x))), β = ln(1 − ε / (2 ln(δ / (2 (n+1))))).
///
/// (ε, δ)-privacy is claimed (notes Lemma 2.3), but the proof is incomplete. `smooth = "local"` is a
/// historical curiosity.
pub struct MhBeta;

impl Mechanism for MhBeta {
    fn id(&self) -> &'static str {
        "mh-beta"
    }

    fn title(&self) -> &'static str {
        "MH (β-smooth)"
    }

    fn draws(&self) -> &'static str {
        "r in R with weight exp(−ε H / (2 S_β(x)))"
    }

    fn choices(&self) -> &'static [Choice] {
        &[Choice::Divisor, Choice::CandidatesInBeta, Choice::Smooth, Choice::Calibrated]
    }

    fn uses_delta(&self) -> bool {
        true
    }

    fn guarantee(&self, setting: &Setting, options: &Options) -> Guarantee {
        let factor = 2.0 / options.divisor.unwrap_or(2.0);
        match setting.delta {
            _ if options.is_historical() => Guarantee::None,
            Some(delta) => Guarantee::Claimed(setting.epsilon.get() * factor, delta.get()),
            None => Guarantee::None,
        }
    }

    fn recipe(&self, setting: &Setting, options: &Options) -> Result<Recipe, Refusal> {
        let candidates = options.candidates_in_beta.unwrap_or_default();
        let beta = setting.beta(candidates).ok_or_else(|| {
            Refusal::new("mh-beta needs a delta, and none is given", "give one, for example 1e-8")
        })?;
        let sensitivity = match options.smooth.unwrap_or_default() {
            Smooth::Beta => setting.sensitivity().beta_smooth(beta),
            Smooth::Local => setting.sensitivity().local(),
        };
        Ok(exponential(setting, options, options.divisor.unwrap_or(2.0), sensitivity))
    }
}
