//! Noise on all counts that sums to 0 (not in the documents). The noise y − x is the same at all data, so
//! what holds for it holds for every n.

use std::sync::Arc;

use super::{Kind, delta_is_missing, pure};
use crate::mechanism::law::Law;
use crate::mechanism::law::lattice::approximate::{least_gaussian, least_truncated};
use crate::mechanism::law::lattice::{Lattice, LatticeNoise};
use crate::posterior::privacy::{Delta, Guarantee};
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

/// y = x + z, z whole numbers that sum to 0 with weight e^(−ε Σ|z_i| / 2), clamped to [0, n]. The noise is
/// the same at all data, so the triangle inequality makes it ε-private for every k and n. Clamping loses no
/// information: below 0 every step has the same weight, wherever x is. The total is left open.
pub static LATTICE: Kind = Kind {
    id: "lattice",
    title: "Lattice",
    draws: "all counts plus whole noise z of sum 0 and weight exp(−ε |z|/2), clamped; total left open",
    colour: Some(0x83_2DFB),
    guarantee: |setting, _| pure(setting, 1.0, None),
    law: |_, setting, _| {
        Ok(Arc::new(Lattice { noise: LatticeNoise::geometric(setting.epsilon.get()) }))
    },
    ..Kind::USUAL
};

/// As `lattice`, with |z_i| at most a radius. With two categories z is two-sided geometric noise on the
/// first count, cut off. The radius is the least one whose exact δ at ε, before clamping, is at most δ; so
/// it is (ε, δ)-private for every n.
pub static GEOMETRIC_TRUNCATED: Kind = Kind {
    id: "geometric-truncated",
    title: "Geometric (truncated)",
    draws: "all counts plus whole noise z of sum 0 and weight exp(−ε |z|/2), cut off, clamped; needs δ",
    colour: Some(0x63_6C36),
    uses_delta: true,
    guarantee: |setting, _| approximate(setting),
    law: |_, setting, _| least(setting, GEOMETRIC_TRUNCATED.id, least_truncated),
    ..Kind::USUAL
};

/// y = x + z, z whole numbers that sum to 0 with weight e^(−|z|²/2σ²), clamped to [0, n]. With two
/// categories z is a discrete Gaussian on the first count. σ is the least one whose exact δ at ε, before
/// clamping, is at most δ; so it is (ε, δ)-private for every n.
pub static GAUSSIAN: Kind = Kind {
    id: "gaussian",
    title: "Gaussian",
    draws: "all counts plus whole noise z of sum 0 and weight exp(−|z|² / (2 σ²)), clamped; needs δ",
    colour: Some(0x00_90C6),
    uses_delta: true,
    guarantee: |setting, _| approximate(setting),
    law: |_, setting, _| least(setting, GAUSSIAN.id, least_gaussian),
    ..Kind::USUAL
};

/// (ε, δ)-privacy at the setting's own values; none without δ.
fn approximate(setting: &Setting) -> Guarantee {
    let stated = |delta: Delta| Guarantee::Approximate(setting.epsilon.get(), delta.get());
    setting.delta.map_or(Guarantee::None, stated)
}

/// The least noise of a kind that is (ε, δ)-private.
fn least(
    setting: &Setting,
    id: &str,
    noise: fn(usize, f64, f64) -> Result<LatticeNoise, Refusal>,
) -> Result<Arc<dyn Law>, Refusal> {
    let delta = setting.delta.ok_or_else(|| delta_is_missing(id))?;
    let noise = noise(setting.k(), setting.epsilon.get(), delta.get())?;
    Ok(Arc::new(Lattice { noise }))
}
