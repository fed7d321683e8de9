//! Gaussian noise on the sum-zero lattice (not in the documents).

use super::{Choice, Mechanism, Options, approximate, needed_delta};
use crate::mechanism::law::Recipe;
use crate::mechanism::law::approximate::least_gaussian;
use crate::posterior::privacy::Guarantee;
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

/// y = x + z, z whole numbers that sum to 0 with weight e^(−|z|²/2σ²), clamped to [0, n]. With two
/// categories z is a discrete Gaussian on the first count. σ is the least one whose exact δ at ε, before
/// clamping, is at most δ; so it is (ε, δ)-private for every n.
pub struct Gaussian;

impl Mechanism for Gaussian {
    fn id(&self) -> &'static str {
        "gaussian"
    }

    fn title(&self) -> &'static str {
        "Gaussian"
    }

    fn draws(&self) -> &'static str {
        "all counts plus whole noise z of sum 0 and weight exp(−|z|² / (2 σ²)), clamped; needs δ"
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
        let noise = least_gaussian(setting.posterior.k(), setting.epsilon.get(), delta.get())?;
        Ok(Recipe::Lattice { noise })
    }
}
