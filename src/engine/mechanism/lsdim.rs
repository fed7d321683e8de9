//! LSDim: Laplace noise calibrated to the dimension (icml Algorithm 1).

use super::{Choice, Mechanism, Options, noisy, pure};
use crate::mechanism::law::{Noise, Recipe};
use crate::posterior::privacy::Guarantee;
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

/// x̃_i = ⌊x_i + Lap(k/ε)⌋₀ⁿ for i < k; the last count is n minus their sum, clamped to [0, n].
pub struct LsDim;

impl Mechanism for LsDim {
    fn id(&self) -> &'static str {
        "lsdim"
    }

    fn title(&self) -> &'static str {
        "LSDim"
    }

    fn draws(&self) -> &'static str {
        "first k−1 counts plus Lap(k/ε), rounded down, clamped; the last restores the total"
    }

    fn choices(&self) -> &'static [Choice] {
        &[Choice::ScaleFactor]
    }

    fn guarantee(&self, setting: &Setting, options: &Options) -> Guarantee {
        pure(setting, setting.posterior.k() as f64, options.scale_factor)
    }

    fn recipe(&self, setting: &Setting, options: &Options) -> Result<Recipe, Refusal> {
        Ok(noisy(setting, options, Noise::Laplace, setting.posterior.k() as f64, true))
    }
}
