//! Geometric noise on the sum-zero lattice, cut off (not in the documents).

use super::{Choice, Mechanism, Options, approximate, needed_delta};
use crate::mechanism::law::Recipe;
use crate::mechanism::law::approximate::least_truncated;
use crate::posterior::privacy::Guarantee;
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

/// y = x + z, z whole numbers that sum to 0 with weight e^(−ε Σ|z_i| / 2) and |z_i| at most a radius, clamped
/// to [0, n]. With two categories z is two-sided geometric noise on the first count, cut off. The radius is
/// the least one whose exact δ at ε, before clamping, is at most δ; so it is (ε, δ)-private for every n.
pub struct GeometricTruncated;

impl Mechanism for GeometricTruncated {
    fn id(&self) -> &'static str {
        "geometric-truncated"
    }

    fn title(&self) -> &'static str {
        "Geometric (truncated)"
    }

    fn draws(&self) -> &'static str {
        "all counts plus whole noise z of sum 0 and weight exp(−ε |z|/2), cut off, clamped; needs δ"
    }

    fn choices(&self) -> &'static [Choice] {
        &[]
    }

    fn uses_delta(&self) -> bool {
        true
    }

    fn guarantee(&self, setting: &Setting, _: &Options) -> Guarantee {
        approximate(setting)
    }

    fn recipe(&self, setting: &Setting, _: &Options) -> Result<Recipe, Refusal> {
        let delta = needed_delta(setting, self.id())?;
        let noise = least_truncated(setting.posterior.k(), setting.epsilon.get(), delta.get())?;
        Ok(Recipe::Lattice { noise })
    }
}
