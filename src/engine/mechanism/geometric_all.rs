//! Geometric noise on every count (not in the documents).

use super::{Choice, Mechanism, Options, noisy, pure};
use crate::mechanism::law::{Noise, Recipe};
use crate::posterior::privacy::Guarantee;
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

/// Two-sided geometric noise of rate ε/2 on every one of the k counts, clamped to [0, n], total not
/// restored: the same ε as `geometric`, more information.
pub struct GeometricAll;

impl Mechanism for GeometricAll {
    fn id(&self) -> &'static str {
        "geometric-all"
    }

    fn title(&self) -> &'static str {
        "Geometric (all)"
    }

    fn draws(&self) -> &'static str {
        "all counts plus two-sided geometric noise of rate ε/2, clamped; total left open"
    }

    fn choices(&self) -> &'static [Choice] {
        &[Choice::ScaleFactor]
    }

    fn guarantee(&self, setting: &Setting, options: &Options) -> Guarantee {
        pure(setting, 2.0, options.scale_factor)
    }

    fn recipe(&self, setting: &Setting, options: &Options) -> Result<Recipe, Refusal> {
        if setting.posterior.k() == 2 {
            return Err(Refusal::new(
                "geometric-all is for three or more categories: with two, one count says everything",
                "use geometric",
            ));
        }
        Ok(noisy(setting, options, Noise::Geometric, 2.0, false))
    }
}
