//! Laplace noise as the authors' program of 2018 drew it for notes Figures 2 to 4 (a) and early Figures
//! 2 and 3.

use super::{Choice, Mechanism, Options};
use crate::mechanism::law::{HistoricalNoise, Recipe};
use crate::posterior::privacy::Guarantee;
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

/// x̃_i = x_i + round(Lap(2/ε)) for every i but the first, which restores the total; drawn again if a
/// count is negative. (The program drew again if a posterior parameter was not positive. The two
/// differ with a probability below 1e-4 at the data of the figures.)
///
/// A historical curiosity: repeating a draw depends on the data, and nothing is proved about it.
pub struct LaplaceRounded;

impl Mechanism for LaplaceRounded {
    fn id(&self) -> &'static str {
        "laplace-rounded"
    }

    fn title(&self) -> &'static str {
        "Laplace (rounded)"
    }

    fn draws(&self) -> &'static str {
        "all counts but the first plus round(Lap(2/ε)), again if negative; first restores the total"
    }

    fn choices(&self) -> &'static [Choice] {
        &[Choice::ScaleFactor]
    }

    fn guarantee(&self, _: &Setting, _: &Options) -> Guarantee {
        Guarantee::None
    }

    fn recipe(&self, setting: &Setting, options: &Options) -> Result<Recipe, Refusal> {
        let scale = options.scale_factor.unwrap_or(2.0) / setting.epsilon.get();
        Ok(Recipe::Historical { noise: HistoricalNoise::Rounded { scale } })
    }
}
