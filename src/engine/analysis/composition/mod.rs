//! The privacy of many releases together.
//!
//! δ(ε) of one release is the largest Σ_r max(0, P_x(r) − e^ε P_x'(r)) over all ordered pairs of adjacent
//! data sets x, x'. A [`Profile`] is an upper bound of it. There are two distributions whose δ(ε) is the
//! profile, a *dominating pair*. Dominating pairs compose: δ(ε) of many releases is at most that of the
//! product of their pairs, also if the data sets that an attacker compares, and what is released, depend
//! on earlier outputs (Zhu, Dong and Wang 2022). The mechanisms and their ε must be fixed beforehand.
//!
//! Of a dominating pair (P, Q) only the distribution of the privacy loss ln(P/Q) under P counts. Losses
//! add up, so a [`LossDistribution`] composes by convolution. Whatever is rounded makes δ larger, never
//! smaller.
//!
//! ```
//! use dpbi_engine::analysis::composition::{Composition, Profile};
//! use dpbi_engine::posterior::amount::Amount;
//!
//! let epsilon: Amount = "0.1".parse()?;
//! let releases = vec![(epsilon, Profile::pure(epsilon)); 100];
//! let together = Composition::new(&releases);
//! assert_eq!(together.sum, "10".parse()?);
//! // With δ = 10⁻⁶ the hundred releases are better than their sum says.
//! assert!(together.epsilon(1e-6) < "5".parse()?);
//! assert!(together.delta("5".parse()?) <= 1e-6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod distribution;
mod profile;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

pub use distribution::LossDistribution;
pub use profile::{Knot, Profile};

use crate::posterior::amount::Amount;

/// Many releases together.
#[derive(Clone, Debug)]
pub struct Composition {
    /// The sum of their ε: all of them together are private with it, without δ.
    pub sum: Amount,
    /// The distribution of the privacy loss.
    pub distribution: LossDistribution,
}

impl Composition {
    /// All these releases: each has an ε, without δ, and a profile.
    pub fn new<'a>(releases: impl IntoIterator<Item = &'a (Amount, Profile)>) -> Self {
        let mut sum = Amount::ZERO;
        // Equal profiles are composed by repeated squaring. The order of the releases does not matter.
        let mut counted: BTreeMap<Vec<(Amount, u64)>, (&Profile, u64)> = BTreeMap::new();
        for (epsilon, profile) in releases {
            sum = sum + *epsilon;
            counted.entry(profile.key()).or_insert((profile, 0)).1 += 1;
        }
        let counted: Vec<(&Profile, u64)> = counted.into_values().collect();
        Self { sum, distribution: LossDistribution::of_all(&counted) }
    }

    /// δ at this ε, an upper bound.
    pub fn delta(&self, epsilon: Amount) -> f64 {
        if epsilon >= self.sum { 0.0 } else { self.distribution.delta(epsilon) }
    }

    /// The least ε whose δ is at most `delta`, rounded up; at most the sum.
    pub fn epsilon(&self, delta: f64) -> Amount {
        let found = self.distribution.epsilon(delta);
        found.map_or(self.sum, |epsilon| epsilon.min(self.sum))
    }
}
