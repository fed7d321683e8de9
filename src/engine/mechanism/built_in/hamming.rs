//! Candidates weighted by d(x, r), the number of records that differ between two histograms (not in the
//! documents).

use super::{BuiltIn, Choice, pure};
use crate::mechanism::law::tight::{Effort, Tight};
use crate::mechanism::law::{CandidateWeights, Recipe};
use crate::posterior::setting::Setting;

/// The number of categories and of records, and ε.
fn size(setting: &Setting) -> (usize, u64, f64) {
    (setting.posterior.k(), setting.posterior.n(), setting.epsilon.get())
}

const DIVISOR: f64 = 2.0;

/// r in R with weight e^(−(ε/2) d(x, r)); one record changes d by at most 1. This is the
/// inverse-sensitivity mechanism.
pub static HAMMING: BuiltIn = BuiltIn {
    id: "hamming",
    title: "Hamming",
    draws: "r in R with weight exp(−(ε/2) d(x, r)), where d is the number of changed records",
    colour: 0xDE_0369,
    choices: &[Choice::Divisor, Choice::Calibrated],
    guarantee: |setting, options| pure(setting, DIVISOR, options.divisor),
    recipe: |setting, options| {
        let rate = options.inner(setting) / options.divisor.unwrap_or(DIVISOR);
        Ok(Recipe::Hamming { rate, weights: CandidateWeights::Flat })
    },
    ..BuiltIn::USUAL
};

/// r in R with probability w(r) e^(−ε d(x, r)). The weights are those with which all probabilities sum to 1
/// at every x. So no normaliser depends on x, and the triangle inequality alone makes it ε-private, at twice
/// the rate of `hamming`. For two categories it is `geometric`.
///
/// At a small ε some weights are negative. They are set to 0, and the rate is lowered until the exact loss
/// is ε: so it is ε-private in either case.
pub static TIGHT: BuiltIn = BuiltIn {
    id: "tight",
    title: "Tight",
    draws: "r in R with probability w(r) exp(−ε d(x, r)), where w makes these sum to 1 at every x",
    colour: 0x76_0002,
    guarantee: |setting, _| pure(setting, 1.0, None),
    refusal: |setting| {
        let (k, n, epsilon) = size(setting);
        Effort::new(k, n, epsilon).refusal(k, n)
    },
    recipe: |setting, _| {
        let (k, n, epsilon) = size(setting);
        let rate = Tight::rate_for(k, n, epsilon)?;
        Ok(Recipe::Hamming { rate, weights: CandidateWeights::Tight })
    },
    ..BuiltIn::USUAL
};
