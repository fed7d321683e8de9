//! Total variation after one move, in closed form.

use super::Moves;
use crate::numeric::{exp_accurate, lgamma, ln, stirling};
use crate::posterior::model::Prior;

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
pub struct TotalVariationMoves(pub Prior);

impl Moves for TotalVariationMoves {
    fn change(&self, (i, p): (usize, u64), (j, q): (usize, u64)) -> f64 {
        let alpha = self.0.alpha();
        let (a, b) = (alpha[i] + p as f64, alpha[j] + q as f64);
        exp_accurate((omega(a + b) - omega(a) - omega(b)).min(0.0))
    }
}

/// lnΓ(z+1) − z ln z + z.
fn omega(z: f64) -> f64 {
    if z < stirling::FROM {
        return lgamma(1.0 + z) - z * ln(z) + z;
    }
    stirling::HALF_LN_TAU + 0.5 * ln(z) + stirling::tail(z)
}
