//! Candidates weighted by d(x, r), the number of records that differ between two histograms (not in the
//! documents).

use std::sync::Arc;

use super::{Choice, Kind, pure};
use crate::mechanism::law::Size;
use crate::mechanism::law::hamming::Hamming;
use crate::mechanism::law::tight::{Extent, Tight};
use crate::posterior::setting::Setting;

/// The number of categories and of records, and ε.
fn size(setting: &Setting) -> (usize, u64, f64) {
    (setting.k(), setting.n, setting.epsilon.get())
}

const DIVISOR: f64 = 2.0;

/// r in R with weight e^(−(ε/2) d(x, r)); one record changes d by at most 1. This is the
/// inverse-sensitivity mechanism.
pub static HAMMING: Kind = Kind {
    id: "hamming",
    title: "Hamming",
    draws: "r in R with weight exp(−(ε/2) d(x, r)), where d is the number of changed records",
    colour: Some(0xDE_0369),
    choices: &[Choice::Divisor, Choice::Calibrated],
    guarantee: |setting, options| pure(setting, DIVISOR, options.divisor),
    law: |_, setting, options| {
        let rate = options.inner(setting) / options.divisor.unwrap_or(DIVISOR);
        Ok(Arc::new(Hamming { rate }))
    },
    ..Kind::USUAL
};

/// r in R with probability w(r) e^(−ε d(x, r)). The weights are those with which all probabilities sum to 1
/// at every x. So no normaliser depends on x, and the triangle inequality alone makes it ε-private, at twice
/// the rate of `hamming`. For two categories it is `geometric`.
///
/// At a small ε some weights are negative. They are set to 0, and the rate is lowered until the exact loss
/// is ε: so it is ε-private in either case.
pub static TIGHT: Kind = Kind {
    id: "tight",
    title: "Tight",
    draws: "r in R with probability w(r) exp(−ε d(x, r)), where w makes these sum to 1 at every x",
    colour: Some(0x76_0002),
    guarantee: |setting, _| pure(setting, 1.0, None),
    refusal: |setting| {
        let (k, n, epsilon) = size(setting);
        Extent::new(k, n, epsilon).refusal(k, n)
    },
    preparation: |setting| {
        let (k, n, epsilon) = size(setting);
        let extent = Extent::new(k, n, epsilon);
        Size { outputs: extent.rows, bytes: 60.0 * extent.kept }
    },
    outline: |_, setting, _| {
        let (k, n, epsilon) = size(setting);
        // Weights that were set to 0 leave normalisers behind, as those of `hamming`.
        Ok(match Tight::may_be_clipped(k, n, epsilon) {
            true => Arc::new(Hamming { rate: epsilon }),
            false => Arc::new(Tight::law(k, 0, epsilon)?),
        })
    },
    law: |_, setting, _| {
        let (k, n, epsilon) = size(setting);
        Ok(Arc::new(Tight::law(k, n, epsilon)?))
    },
    ..Kind::USUAL
};
