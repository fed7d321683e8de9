//! The mechanisms that come with dpbi: one value for each, in a file for each family.

mod exponential;
mod hamming;
mod historical;
mod lattice;
mod noise;
mod synthetic;

pub use historical::HISTORICAL;

use super::{Choice, Kind, Options};
use crate::posterior::privacy::Guarantee;
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

/// Every mechanism, in the order in which they are listed.
pub static ALL: &[&Kind] = &[
    &noise::LSZHANG,
    &noise::LSDIM,
    &noise::LSHIST,
    &exponential::EHD,
    &exponential::EHDL,
    &exponential::EHDS,
    &exponential::MH_GAMMA,
    &exponential::MH_BETA,
    &noise::GEOMETRIC,
    &noise::GEOMETRIC_ALL,
    &hamming::HAMMING,
    &lattice::LATTICE,
    &hamming::TIGHT,
    &lattice::GEOMETRIC_TRUNCATED,
    &lattice::GAUSSIAN,
    &synthetic::SYNTHETIC,
];

/// ε-privacy of a mechanism that needs the divisor (or noise factor) `needed`; one that was chosen
/// smaller or larger costs or saves ε in proportion.
fn pure(setting: &Setting, needed: f64, chosen: Option<f64>) -> Guarantee {
    Guarantee::Pure(setting.epsilon.get() * needed / chosen.unwrap_or(needed))
}

/// The mechanism called `id` cannot do without a δ.
fn delta_is_missing(id: &str) -> Refusal {
    Refusal::new(format!("{id} needs a delta, and none is given"), "give one, for example 1e-8")
}
