//! LSZhang: Laplace noise on every count (bounds Algorithm 1 as read by Theorem 4.5).

use super::{Choice, Mechanism, Options, noisy, pure};
use crate::mechanism::law::{Noise, Recipe};
use crate::posterior::privacy::Guarantee;
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

/// x̃_i = ⌊x_i + Lap(2/ε)⌋₀ⁿ for every i, independently; the total is not restored.
///
/// A moved record changes two counts by one: ℓ1 sensitivity 2. (The pseudo-code says scale 2k/ε on
/// k−1 coordinates; Theorem 4.5 uses 2/ε on both. `scale_factor` chooses.)
pub struct LsZhang;

impl Mechanism for LsZhang {
    fn id(&self) -> &'static str {
        "lszhang"
    }

    fn title(&self) -> &'static str {
        "LSZhang"
    }

    fn draws(&self) -> &'static str {
        "all counts plus Lap(2/ε), rounded down, clamped; total left open"
    }

    fn choices(&self) -> &'static [Choice] {
        &[Choice::ScaleFactor]
    }

    fn guarantee(&self, setting: &Setting, options: &Options) -> Guarantee {
        pure(setting, 2.0, options.scale_factor)
    }

    fn recipe(&self, setting: &Setting, options: &Options) -> Result<Recipe, Refusal> {
        Ok(noisy(setting, options, Noise::Laplace, 2.0, false))
    }
}
