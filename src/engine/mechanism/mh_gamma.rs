//! MH with γ-smooth sensitivity (arxiv §5.2.4, Lemma 5.6).

use super::{Choice, Mechanism, Options, exponential, private_divisor, pure};
use crate::mechanism::law::Recipe;
use crate::posterior::privacy::Guarantee;
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

const DIVISOR: f64 = 2.0;

/// r in R with weight exp(−ε H(BI(x), r) / (2 S_γ(x))), γ = 1 unless set: EHDS without its factor
/// 1+γ, which the guarantee pays for.
pub struct MhGamma;

impl Mechanism for MhGamma {
    fn id(&self) -> &'static str {
        "mh-gamma"
    }

    fn title(&self) -> &'static str {
        "MH (γ-smooth)"
    }

    fn draws(&self) -> &'static str {
        "r in R with weight exp(−ε H / (2 S_γ(x)))"
    }

    fn choices(&self) -> &'static [Choice] {
        &[Choice::Gamma, Choice::Divisor, Choice::Calibrated]
    }

    fn guarantee(&self, setting: &Setting, options: &Options) -> Guarantee {
        let divisor = options.divisor.unwrap_or(DIVISOR);
        pure(setting, private_divisor(options.gamma_or(setting.gamma)), Some(divisor))
    }

    fn recipe(&self, setting: &Setting, options: &Options) -> Result<Recipe, Refusal> {
        let sensitivity = setting.sensitivity().gamma_smooth(options.gamma_or(setting.gamma));
        Ok(exponential(setting, options, options.divisor.unwrap_or(DIVISOR), sensitivity))
    }
}
