//! arxiv §6.1.1 and §6.2: bounds on the tail P[H >= c] of the exponential mechanism MH, and its
//! normaliser NL.
//!
//! The first 'bound' of §6.2 is the sum itself, which an exact law gives.

use engine::numeric::{exp_accurate, expm1};

/// The numbers of the mechanism that every bound uses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// |R|, the number of candidates.
    pub candidates: f64,
    pub epsilon: f64,
    /// S(x).
    pub sensitivity: f64,
    /// The number before the sensitivity. The mechanism and §6.1.1 have 2; §6.2 leaves it out, which
    /// is 1. That makes its bounds smaller by e^(εc/2S): they are bounds for another mechanism.
    pub divisor: f64,
}

impl Weights {
    /// |R| e^(−εc/dS): the bound of §6.1.1 with OPT = 0 and one optimal candidate, and the last of
    /// §6.2. Every candidate counts as if it were at distance c, and NL as if it were 1.
    pub fn without_normaliser(&self, c: f64) -> f64 {
        self.candidates * exp_accurate(-self.epsilon * c / (self.divisor * self.sensitivity))
    }

    /// |R| e^(−εc/dS) / NL: the second bound of §6.2.
    pub fn with_normaliser(&self, c: f64, normaliser: f64) -> f64 {
        self.without_normaliser(c) / normaliser
    }
}

/// The limit of the normaliser NL = Σ_r e^(−ε H(x, r)/dS(x)) as balanced data grow: coth(ε/2d), d the
/// divisor. This answers §6.2, which asks for a number N(n) in place of NL.
///
/// Let x = (n/2, n/2), any prior, and r be t steps from x. Each category changes ln BC by
/// D(a, ±t) = −t²/8a + O(t⁴/a³), a ≈ n/2, so that
///
/// ```text
/// H² = 1 − exp(−t²/2n + …),      H ≈ |t| / sqrt(2n) for |t| ≪ sqrt(n),      LS = H(t = 1) ≈ 1 / sqrt(2n).
/// ```
///
/// For large n the smooth sensitivities are the local one. S_γ: a data set d steps away has
/// 1/LS smaller by less than sqrt(2n) (1 − sqrt(1 − (2d/n)²)) + O(1), which is less than γd.
/// S_β: β ≈ ε / (2 ln(2(n+1)/δ)) falls only like 1/ln n, so that e^(−βd) outruns
/// LS(x')/LS(x) = (1 − (2d/n)²)^(−½). Hence H/S → |t| for every t. For |t| <= sqrt(n), H/LS >= ¾|t|,
/// and beyond it is of order sqrt(n), where n weights of e^(−const · sqrt(n)) vanish; so the limit
/// may be taken term by term:
///
/// ```text
/// NL → Σ_t e^(−ε|t|/d) = 1 + 2 / (e^(ε/d) − 1) = coth(ε/2d).
/// ```
///
/// The print distance divides ln BC by ln N, which cancels in H/S: it has the same limit. For
/// ε = 1, d = 2 the limit of P[H = 0] = 1/NL is tanh(¼) = 0.244918662…, the number that the printed
/// values 0.24491…, 0.244918… approach.
pub fn normaliser_limit(epsilon: f64, divisor: f64) -> f64 {
    1.0 + 2.0 / expm1(epsilon / divisor)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::{Lab, balanced};
    use engine::posterior::distance;

    #[test]
    fn normalisers_approach_their_limit() {
        // A far candidate weighs e^(−const · ε sqrt(n)), and there are n of them.
        for &distance in distance::DOCUMENTED {
            for (id, divisor) in [("mh-beta", 2.0), ("mh-gamma", 2.0), ("ehds", 4.0)] {
                for epsilon in [0.5, 1.0, 2.0] {
                    let lab = Lab::new(distance);
                    let gap = |n: u64| {
                        let setting =
                            lab.setting(&[1.0, 1.0], &balanced(n, 2), epsilon, Some(1e-8));
                        let normaliser = 1.0 / lab.exact(&setting, id).p_exact;
                        (normaliser / normaliser_limit(epsilon, divisor) - 1.0).abs()
                    };
                    let (near, far) = (gap(1_000_000), gap(100_000));
                    let case = format!("{} {id} {epsilon}: {far} {near}", distance.id());
                    assert!(near < 1e-4 && (near < far || far < 1e-6), "{case}");
                }
            }
        }
    }

    #[test]
    fn bounds_at_distance_zero_count_candidates() {
        let weights = Weights { candidates: 101.0, epsilon: 1.0, sensitivity: 0.1, divisor: 2.0 };
        assert_eq!(weights.without_normaliser(0.0), 101.0);
        assert_eq!(weights.with_normaliser(0.0, 4.0), 25.25);
        let half = weights.without_normaliser(0.2 * std::f64::consts::LN_2);
        assert!((half - 50.5).abs() < 1e-12);
    }
}
