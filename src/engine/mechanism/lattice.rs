//! Geometric noise on the sum-zero lattice (not in the documents).

use super::{Choice, Mechanism, Options, pure};
use crate::mechanism::law::{LatticeNoise, Recipe};
use crate::posterior::privacy::Guarantee;
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

/// y = x + z, z whole numbers that sum to 0 with weight e^(−ε Σ|z_i| / 2), clamped to [0, n]. The noise is
/// the same at all data, so the triangle inequality makes it ε-private for every k and n. Clamping loses no
/// information: below 0 every step has the same weight, wherever x is. The total is left open.
pub struct Lattice;

impl Mechanism for Lattice {
    fn id(&self) -> &'static str {
        "lattice"
    }

    fn title(&self) -> &'static str {
        "Lattice"
    }

    fn draws(&self) -> &'static str {
        "all counts plus whole noise z of sum 0 and weight exp(−ε |z|/2), clamped; total left open"
    }

    fn choices(&self) -> &'static [Choice] {
        &[]
    }

    fn guarantee(&self, setting: &Setting, _: &Options) -> Guarantee {
        pure(setting, 1.0, None)
    }

    fn recipe(&self, setting: &Setting, _: &Options) -> Result<Recipe, Refusal> {
        Ok(Recipe::Lattice { noise: LatticeNoise::Geometric { rate: setting.epsilon.get() } })
    }
}
