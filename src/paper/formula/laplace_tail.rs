//! notes §3.1: a bound on the ℓ1 error of the Laplace mechanism, for any number of categories.

use engine::numeric::{exp_accurate, ln};

/// m ln(m/γ) 2/ε: with probability at least 1 − γ the ℓ1 error of m noisy counts is below this.
///
/// (Its first appearance in the notes has |x| for the factor m; the derivation below it has m.)
pub fn radius(m: usize, epsilon: f64, gamma: f64) -> f64 {
    let m = m as f64;
    m * ln(m / gamma) * 2.0 / epsilon
}

/// The same, solved for γ: the bound on P[ℓ1 error >= t], γ(t) = m e^(−εt/2m), at most 1.
pub fn bound(m: usize, epsilon: f64, t: f64) -> f64 {
    let m = m as f64;
    (m * exp_accurate(-epsilon * t / (2.0 * m))).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bound_and_radius_are_inverse() {
        for m in [2, 3, 4] {
            for gamma in [0.9, 0.1, 1e-6] {
                assert!((bound(m, 0.7, radius(m, 0.7, gamma)) / gamma - 1.0).abs() < 1e-12);
            }
        }
        assert_eq!(bound(3, 1.0, 0.0), 1.0);
    }
}
