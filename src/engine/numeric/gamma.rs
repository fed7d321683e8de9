//! Differences of gamma functions that keep their digits: sums of terms of one sign.

use super::{Sum, ln, log1p};

/// Where the asymptotic series below are exact to the last bit.
const SERIES_FROM: f64 = 30.0;

/// Applies `series` where its argument is large, and otherwise climbs there by a recurrence:
/// f(a) = f(a + 1) + step(a).
fn climb(mut a: f64, step: impl Fn(f64) -> f64, series: impl Fn(f64) -> f64) -> f64 {
    let mut sum = Sum::default();
    while a < SERIES_FROM {
        sum.add(step(a));
        a += 1.0;
    }
    sum.add(series(a));
    sum.value()
}

/// ln φ(a), φ(a) = Γ(a + ½) / sqrt(Γ(a) Γ(a + 1)): the Bhattacharyya factor of one category that
/// gains one record. Negative, increasing and concave in a.
///
/// ```text
/// ln φ(a) = ln φ(a+1) − ½ log1p(1 / 4a(a+1))
/// ln φ(a) = −1/8a + 1/192a³ − 1/640a⁵ + 17/14336a⁷ − 31/18432a⁹ + …      (a large)
/// ```
pub fn ln_phi(a: f64) -> f64 {
    climb(
        a,
        |a| -0.5 * log1p(0.25 / (a * (a + 1.0))),
        |a| {
            let s = 1.0 / (a * a);
            let tail = s
                * (1.0 / 192.0
                    + s * (-1.0 / 640.0 + s * (17.0 / 14_336.0 + s * (-31.0 / 18_432.0))));
            (-0.125 + tail) / a
        },
    )
}

/// λ(a) = ln a − ψ(a), ψ the digamma function. Positive and decreasing.
///
/// ```text
/// λ(a) = λ(a+1) + 1/a − log1p(1/a)
/// λ(a) = 1/2a + 1/12a² − 1/120a⁴ + 1/252a⁶ − 1/240a⁸ + 1/132a¹⁰ …             (a large)
/// ```
pub fn digamma_gap(a: f64) -> f64 {
    climb(
        a,
        |a| excess_over_log1p(1.0 / a),
        |a| {
            let s = 1.0 / (a * a);
            let tail = s
                * (1.0 / 12.0
                    + s * (-1.0 / 120.0
                        + s * (1.0 / 252.0 + s * (-1.0 / 240.0 + s * (1.0 / 132.0)))));
            0.5 / a + tail
        },
    )
}

/// ψ(a+1) − ln a = 1/a − λ(a), where the poles of both cancel. Positive and decreasing.
pub fn digamma_excess(a: f64) -> f64 {
    // λ(a) = λ(a+1) + 1/a − ln(1 + 1/a).
    if a < 1.0 { ln((a + 1.0) / a) - digamma_gap(a + 1.0) } else { 1.0 / a - digamma_gap(a) }
}

/// x − ln(1 + x) for x > −1. Where the difference cancels it is x²/2 − x³/3 + …: eighteen terms reach the last bit.
pub(super) fn excess_over_log1p(x: f64) -> f64 {
    if x.abs() > 0.1 {
        return x - log1p(x);
    }
    (2..20).rev().fold(0.0, |tail, i| 1.0 / f64::from(i) - x * tail) * x * x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phi_of_a_half_and_of_one_have_closed_forms() {
        // φ(½) = Γ(1)/sqrt(Γ(½)Γ(3/2)) = sqrt(2/π), φ(1) = Γ(3/2)/sqrt(Γ(1)Γ(2)) = sqrt(π)/2
        let half = 0.5 * ln(2.0 / std::f64::consts::PI);
        let one = 0.5 * ln(std::f64::consts::FRAC_PI_4);
        assert!((ln_phi(0.5) / half - 1.0).abs() < 1e-15);
        assert!((ln_phi(1.0) / one - 1.0).abs() < 1e-15);
    }
}
