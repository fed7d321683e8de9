//! LSHist: Laplace noise calibrated to the sensitivity of a histogram (icml Algorithm 2).

use super::{Choice, Mechanism, Options, noisy, pure, restored_sensitivity};
use crate::mechanism::law::{Noise, Recipe};
use crate::posterior::privacy::Guarantee;
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

/// x̃_i = ⌊x_i + Lap(s/ε)⌋₀ⁿ for i < k, s = 1 for k = 2 and 2 otherwise; the last count is n minus
/// their sum, clamped to [0, n].
pub struct LsHist;

impl Mechanism for LsHist {
    fn id(&self) -> &'static str {
        "lshist"
    }

    fn title(&self) -> &'static str {
        "LSHist"
    }

    fn draws(&self) -> &'static str {
        "first k−1 counts plus Lap(s/ε), s = 1 for k = 2, else 2, rounded down, clamped; the last restores the total"
    }

    fn choices(&self) -> &'static [Choice] {
        &[Choice::ScaleFactor]
    }

    fn guarantee(&self, setting: &Setting, options: &Options) -> Guarantee {
        pure(setting, restored_sensitivity(setting), options.scale_factor)
    }

    fn recipe(&self, setting: &Setting, options: &Options) -> Result<Recipe, Refusal> {
        Ok(noisy(setting, options, Noise::Laplace, restored_sensitivity(setting), true))
    }
}
