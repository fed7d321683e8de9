//! Laplace noise as the authors' program of 2018 drew it for notes Figures 4 (b) to 7 (a).

use super::{Choice, Mechanism, Options};
use crate::mechanism::law::{HistoricalNoise, Recipe};
use crate::posterior::privacy::Guarantee;
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

/// x̃_i = x_i + round(|Lap(2/ε)|) for every i. Counts only grow, and the total is not restored.
///
/// A historical curiosity: noise that is never negative is not private.
pub struct LaplaceAbsolute;

impl Mechanism for LaplaceAbsolute {
    fn id(&self) -> &'static str {
        "laplace-absolute"
    }

    fn title(&self) -> &'static str {
        "Laplace (absolute)"
    }

    fn draws(&self) -> &'static str {
        "all counts plus round(|Lap(2/ε)|); the total grows"
    }

    fn choices(&self) -> &'static [Choice] {
        &[Choice::ScaleFactor]
    }

    fn guarantee(&self, _: &Setting, _: &Options) -> Guarantee {
        Guarantee::None
    }

    fn recipe(&self, setting: &Setting, options: &Options) -> Result<Recipe, Refusal> {
        let scale = options.scale_factor.unwrap_or(2.0) / setting.epsilon.get();
        Ok(Recipe::Historical { noise: HistoricalNoise::Absolute { scale } })
    }
}
