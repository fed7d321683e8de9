//! EHDS: the exponential mechanism with γ-smooth sensitivity (icml Algorithm 5, bounds §2).

use super::{Choice, Mechanism, Options, exponential, private_divisor, pure};
use crate::mechanism::law::Recipe;
use crate::posterior::privacy::Guarantee;
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

/// r in R with weight exp(−ε H(BI(x), r) / (2 (1+γ) S_γ(x))), γ = 1 unless set.
///
/// A change of one record changes H by at most S_γ and 1/S_γ by at most γ, hence the factor 1+γ
/// (icml Theorems 5.1 and 5.2).
pub struct Ehds;

impl Mechanism for Ehds {
    fn id(&self) -> &'static str {
        "ehds"
    }

    fn title(&self) -> &'static str {
        "EHDS"
    }

    fn draws(&self) -> &'static str {
        "r in R with weight exp(−ε H / (2 (1+γ) S_γ(x)))"
    }

    fn choices(&self) -> &'static [Choice] {
        &[Choice::Gamma, Choice::Divisor, Choice::Calibrated]
    }

    fn guarantee(&self, setting: &Setting, options: &Options) -> Guarantee {
        pure(setting, private_divisor(options.gamma_or(setting.gamma)), options.divisor)
    }

    fn recipe(&self, setting: &Setting, options: &Options) -> Result<Recipe, Refusal> {
        let gamma = options.gamma_or(setting.gamma);
        let sensitivity = setting.sensitivity().gamma_smooth(gamma);
        let divisor = options.divisor.unwrap_or(private_divisor(gamma));
        Ok(exponential(setting, options, divisor, sensitivity))
    }
}
