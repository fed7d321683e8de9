//! EHDL: the exponential mechanism with local sensitivity (icml Algorithm 4).

use super::{Choice, Mechanism, Options, exponential};
use crate::mechanism::law::Recipe;
use crate::posterior::privacy::Guarantee;
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

/// r in R with weight exp(−ε H(BI(x), r) / (2 LS(x))).
///
/// LS depends on the data, so this is not private: a benchmark for what smoothing costs.
pub struct Ehdl;

impl Mechanism for Ehdl {
    fn id(&self) -> &'static str {
        "ehdl"
    }

    fn title(&self) -> &'static str {
        "EHDL"
    }

    fn draws(&self) -> &'static str {
        "r in R with weight exp(−ε H / (2 LS(x)))"
    }

    fn choices(&self) -> &'static [Choice] {
        &[Choice::Divisor, Choice::Calibrated]
    }

    fn guarantee(&self, _: &Setting, _: &Options) -> Guarantee {
        Guarantee::None
    }

    fn recipe(&self, setting: &Setting, options: &Options) -> Result<Recipe, Refusal> {
        let sensitivity = setting.sensitivity().local();
        Ok(exponential(setting, options, options.divisor.unwrap_or(2.0), sensitivity))
    }
}
