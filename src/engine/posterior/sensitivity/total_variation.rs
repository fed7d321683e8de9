//! Total variation after one move, in closed form.

use super::Moves;
use crate::numeric::{exp_accurate, lgamma, ln, stirling};
use crate::posterior::simplex::Window;

/// Total variation is a metric, so the largest change is the move itself. Only the share of i among
/// i and j changes, from Beta(A+1, B) to Beta(A, B+1) with A = α_i + p and B = α_j + q; the densities
/// cross once, at A/(A+B), and there the difference of the distribution functions is
///
/// ```text
/// TV = A^A B^B / (A+B)^(A+B) · Γ(A+B+1) / Γ(A+1) Γ(B+1) = e^(ω(A+B) − ω(A) − ω(B))
/// ω(z) = lnΓ(z+1) − z ln z + z
/// ```
///
/// ω' = ψ(z+1) − ln z falls, so TV falls as A or B grows.
#[derive(Clone, Debug)]
pub struct TotalVariationMoves {
    alpha: Vec<f64>,
}

impl TotalVariationMoves {
    /// Moves under the prior Dir(α).
    pub fn new(alpha: &[f64]) -> Self {
        Self { alpha: alpha.to_vec() }
    }
}

impl Moves for TotalVariationMoves {
    fn change(&self, (i, p): (usize, u64), (j, q): (usize, u64)) -> f64 {
        let (a, b) = (self.alpha[i] + p as f64, self.alpha[j] + q as f64);
        exp_accurate((omega(a + b) - omega(a) - omega(b)).min(0.0))
    }

    fn at_most(&self, (i, p): (usize, Window), (j, q): (usize, Window)) -> f64 {
        self.change((i, p.0), (j, q.0))
    }

    fn diameter(&self) -> f64 {
        1.0
    }
}

/// lnΓ(z+1) − z ln z + z.
fn omega(z: f64) -> f64 {
    if z < stirling::FROM {
        return lgamma(1.0 + z) - z * ln(z) + z;
    }
    let half_ln_two_pi = 0.918_938_533_204_672_8;
    half_ln_two_pi + 0.5 * ln(z) + stirling::tail(z)
}
