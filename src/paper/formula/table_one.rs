//! icml Table 1: the probability of the first three candidates on one side.

use engine::numeric::{exp_accurate, expm1, lgamma};

/// ½ (e^(−εt/Δ) − e^(−ε(t+1)/Δ)): the probability of exactly t >= 0 steps to one side, for
/// Laplace noise of scale Δ/ε that is rounded down (icml §6.1).
///
/// Δ = 2 for LSDim, 1 for LSHist. To the other side, t steps have the probability of t − 1 to this
/// one, because rounding down is not symmetric; the document does not say so.
pub fn one_sided(epsilon: f64, sensitivity: f64, t: u32) -> f64 {
    let rate = epsilon / sensitivity;
    -0.5 * exp_accurate(-rate * f64::from(t)) * expm1(-rate)
}

/// c(1) as the head of the table prints it:
///
/// ```text
/// 1 − Γ(α+½)/Γ(α) · Γ(β−½)/Γ(β)
/// ```
///
/// (α, β the posterior's parameters). The distance would be
/// sqrt(1 − Γ(α+½)/sqrt(Γ(α)Γ(α+1)) · Γ(β−½)/sqrt(Γ(β)Γ(β−1))): the print leaves out the root and
/// half of the normalisers. For α = β it is even negative, and the square root of it that stands
/// in the row of EHDS does not exist.
pub fn printed_c1(alpha: f64, beta: f64) -> f64 {
    let up = lgamma(alpha + 0.5) - lgamma(alpha);
    let down = lgamma(beta - 0.5) - lgamma(beta);
    -expm1(up + down)
}

/// c(2) as the head of the table prints it, a function of t that is meant at t = 2:
///
/// ```text
/// 1 − sqrt(1 − (t/2)/(α + t/2)) · sqrt(1 − (t/2)/β)
/// ```
///
/// The distance would be sqrt(1 − sqrt(1 − 1/(α+1)) · sqrt(1 − 1/(β−1))): the print leaves out the
/// root and has β for β − 1. (The row of EHDS has neither the root nor the "1 −".)
pub fn printed_c2(alpha: f64, beta: f64, t: f64) -> f64 {
    let half = 0.5 * t;
    1.0 - (1.0 - half / (alpha + half)).sqrt() * (1.0 - half / beta).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_as_printed() {
        let printed = [
            (2.0, [0.196_734_670_14, 0.119_325_609_27, 0.072_374_640_51]),
            (1.0, [0.316_060_279_41, 0.116_272_078_96, 0.042_774_107_43]),
        ];
        for (sensitivity, values) in printed {
            for (t, value) in (0..).zip(values) {
                let ours = one_sided(1.0, sensitivity, t);
                assert!((0.0..1e-11).contains(&(ours - value)), "the digits are cut off: {ours}");
            }
        }
    }

    #[test]
    fn closed_forms_at_a_posterior_of_301_and_301() {
        assert!((printed_c1(301.0, 301.0) + 0.000_832_292_5).abs() < 1e-9);
        assert!((printed_c2(301.0, 301.0, 2.0) - 0.003_316_758_7).abs() < 1e-9);
    }
}
