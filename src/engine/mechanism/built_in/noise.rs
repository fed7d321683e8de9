//! Independent noise on the counts.

use std::sync::Arc;

use super::{Choice, Kind, Options, pure};
use crate::mechanism::law::noise::{Noise, NoiseOnCounts};
use crate::mechanism::law::{Law, OutputSet};
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

/// Noise of scale factor/ε, where `factor` is the mechanism's own unless another was chosen.
fn noisy(
    setting: &Setting,
    options: &Options,
    noise: Noise,
    factor: f64,
    outputs: OutputSet,
) -> Arc<dyn Law> {
    let scale = options.scale_factor.unwrap_or(factor) / setting.epsilon.get();
    Arc::new(NoiseOnCounts { noise, scale, outputs })
}

const USUAL: Kind = Kind { choices: &[Choice::ScaleFactor], ..Kind::USUAL };

/// A moved record changes two counts by one.
const ALL_COUNTS: f64 = 2.0;

fn dimension(setting: &Setting) -> f64 {
    setting.k() as f64
}

/// The ℓ1 sensitivity of the first k−1 counts: a moved record changes one of them if k = 2,
/// possibly two otherwise (icml §5.2).
fn first_counts(setting: &Setting) -> f64 {
    if setting.k() == 2 { 1.0 } else { 2.0 }
}

/// x̃_i = ⌊x_i + Lap(2/ε)⌋₀ⁿ for every i, independently; the total is not restored (bounds Algorithm 1
/// as read by Theorem 4.5).
///
/// A moved record changes two counts by one: ℓ1 sensitivity 2. (The pseudo-code says scale 2k/ε on
/// k−1 coordinates; Theorem 4.5 uses 2/ε on both. `scale_factor` chooses.)
pub static LSZHANG: Kind = Kind {
    id: "lszhang",
    title: "LSZhang",
    draws: "all counts plus Lap(2/ε), rounded down, clamped; total left open",
    colour: Some(0x7D_7983),
    guarantee: |setting, options| pure(setting, ALL_COUNTS, options.scale_factor),
    law: |_, setting, options| {
        Ok(noisy(setting, options, Noise::Laplace, ALL_COUNTS, OutputSet::Open))
    },
    ..USUAL
};

/// x̃_i = ⌊x_i + Lap(k/ε)⌋₀ⁿ for i < k; the last count is n minus their sum, clamped to [0, n] (icml
/// Algorithm 1).
pub static LSDIM: Kind = Kind {
    id: "lsdim",
    title: "LSDim",
    draws: "first k−1 counts plus Lap(k/ε), rounded down, clamped; the last restores the total",
    colour: Some(0x40_B3FF),
    guarantee: |setting, options| pure(setting, dimension(setting), options.scale_factor),
    law: |_, setting, options| {
        Ok(noisy(setting, options, Noise::Laplace, dimension(setting), OutputSet::Restored))
    },
    ..USUAL
};

/// x̃_i = ⌊x_i + Lap(s/ε)⌋₀ⁿ for i < k, s = 1 for k = 2 and 2 otherwise; the last count is n minus
/// their sum, clamped to [0, n] (icml Algorithm 2).
pub static LSHIST: Kind = Kind {
    id: "lshist",
    title: "LSHist",
    draws: "first k−1 counts plus Lap(s/ε), s = 1 for k = 2, else 2, rounded down, clamped; the last restores the total",
    colour: Some(0x03_5296),
    guarantee: |setting, options| pure(setting, first_counts(setting), options.scale_factor),
    law: |_, setting, options| {
        Ok(noisy(setting, options, Noise::Laplace, first_counts(setting), OutputSet::Restored))
    },
    ..USUAL
};

/// As LSHist with the two-sided geometric law P[η = t] ∝ e^(−ε|t|/s) in place of floor(Laplace):
/// whole numbers from the start, nothing lost to the floor (not in the documents).
pub static GEOMETRIC: Kind = Kind {
    id: "geometric",
    title: "Geometric",
    draws: "first k−1 counts plus two-sided geometric noise, clamped; the last restores the total",
    colour: Some(0x07_C380),
    guarantee: |setting, options| pure(setting, first_counts(setting), options.scale_factor),
    law: |_, setting, options| {
        Ok(noisy(setting, options, Noise::Geometric, first_counts(setting), OutputSet::Restored))
    },
    ..USUAL
};

/// Two-sided geometric noise of rate ε/2 on every one of the k counts, clamped to [0, n], total not
/// restored: the same ε as `geometric`, more information (not in the documents).
pub static GEOMETRIC_ALL: Kind = Kind {
    id: "geometric-all",
    title: "Geometric (all)",
    draws: "all counts plus two-sided geometric noise of rate ε/2, clamped; total left open",
    colour: Some(0x00_563E),
    guarantee: |setting, options| pure(setting, ALL_COUNTS, options.scale_factor),
    law: |_, setting, options| {
        if setting.k() == 2 {
            return Err(Refusal::new(
                "geometric-all is for three or more categories: with two, one count says everything",
                "use geometric",
            ));
        }
        Ok(noisy(setting, options, Noise::Geometric, ALL_COUNTS, OutputSet::Open))
    },
    ..USUAL
};
