//! Geometric: LSHist without the rounding (not in the documents).

use super::{Choice, Mechanism, Options, noisy, pure, restored_sensitivity};
use crate::mechanism::law::{Noise, Recipe};
use crate::posterior::privacy::Guarantee;
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

/// As LSHist with the two-sided geometric law P[η = t] ∝ e^(−ε|t|/s) in place of floor(Laplace):
/// whole numbers from the start, nothing lost to the floor.
pub struct Geometric;

impl Mechanism for Geometric {
    fn id(&self) -> &'static str {
        "geometric"
    }

    fn title(&self) -> &'static str {
        "Geometric"
    }

    fn draws(&self) -> &'static str {
        "first k−1 counts plus two-sided geometric noise, clamped; the last restores the total"
    }

    fn choices(&self) -> &'static [Choice] {
        &[Choice::ScaleFactor]
    }

    fn guarantee(&self, setting: &Setting, options: &Options) -> Guarantee {
        pure(setting, restored_sensitivity(setting), options.scale_factor)
    }

    fn recipe(&self, setting: &Setting, options: &Options) -> Result<Recipe, Refusal> {
        Ok(noisy(setting, options, Noise::Geometric, restored_sensitivity(setting), true))
    }
}
