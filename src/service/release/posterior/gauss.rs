//! Gauss's rule for integrals.

/// The places in (0, 1) and the weights of Gauss's rule with m nodes, in ascending order: exact for
/// polynomials of degree 2m − 1.
pub fn legendre(m: usize) -> Vec<(f64, f64)> {
    let node = |i: usize| {
        // From the largest root of the Legendre polynomial down, by Newton's method.
        let mut x = libm::cos(std::f64::consts::PI * (i as f64 + 0.75) / (m as f64 + 0.5));
        let mut slope = 1.0;
        for _ in 0..100 {
            let (value, derivative) = polynomial(m, x);
            slope = derivative;
            let step = value / derivative;
            x -= step;
            if step.abs() < 1e-15 {
                break;
            }
        }
        (0.5 * (1.0 - x), 1.0 / ((1.0 - x * x) * slope * slope))
    };
    (0..m).map(node).collect()
}

/// The Legendre polynomial of degree m and its derivative.
fn polynomial(m: usize, x: f64) -> (f64, f64) {
    let (mut before, mut value) = (1.0, x);
    for i in 2..=m {
        let i = i as f64;
        (before, value) = (value, ((2.0 * i - 1.0) * x * value - (i - 1.0) * before) / i);
    }
    (value, m as f64 * (x * value - before) / (x * x - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polynomials_are_exact() {
        for m in [1, 2, 5, 24, 60] {
            let rule = legendre(m);
            assert!(rule.is_sorted_by(|a, b| a.0 < b.0));
            for degree in [0, 1, 2 * m as i32 - 1] {
                let ours: f64 = rule.iter().map(|(x, weight)| weight * x.powi(degree)).sum();
                let exact = 1.0 / f64::from(degree + 1);
                assert!((ours / exact - 1.0).abs() < 1e-13, "{m} {degree}: {ours} {exact}");
            }
        }
    }
}
