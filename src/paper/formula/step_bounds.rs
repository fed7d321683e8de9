//! bounds Theorem 4.5: `P[H < t]` for each mechanism, where k is the largest number of steps whose
//! distance is below t.
//!
//! The exact counterpart is P[H <= c(k)], c(k) as in [`super::steps::radius`].

use engine::numeric::exp_accurate;

/// 1 − ½ (e^(−kr) + e^(−(k+1)r)): the probability that Laplace noise of rate r, rounded down, makes
/// at most k steps. Rounding down makes k steps downwards of noise in [−k, 1−k), and k steps upwards
/// of noise in [k, k+1).
fn within(k: u32, rate: f64) -> f64 {
    let decay = |steps: f64| exp_accurate(-rate * steps);
    1.0 - 0.5 * (decay(f64::from(k)) + decay(f64::from(k) + 1.0))
}

/// `P[H < t]` of LSZhang by the theorem: (1 − ½(e^(−kε/2) + e^(−(k+1)ε/2)))².
pub fn lszhang(k: u32, epsilon: f64) -> f64 {
    let one = within(k, 0.5 * epsilon);
    one * one
}

/// The theorem's lower bound for LSZhang: (1 − e^(−kε/2))².
pub fn lszhang_lower(k: u32, epsilon: f64) -> f64 {
    let one = 1.0 - exp_accurate(-0.5 * epsilon * f64::from(k));
    one * one
}

/// `P[H < t]` of LSHist by the theorem: 1 − ½(e^(−kε) + e^(−(k+1)ε)).
pub fn lshist(k: u32, epsilon: f64) -> f64 {
    within(k, epsilon)
}

/// The theorem's lower bound for LSHist: 1 − e^(−kε).
pub fn lshist_lower(k: u32, epsilon: f64) -> f64 {
    1.0 - exp_accurate(-epsilon * f64::from(k))
}

/// The theorem's lower and upper bound for EHD: (2k e^(−ε) + 1)/n and (2k + 1)/(n e^(−ε)).
pub fn ehd(k: u32, epsilon: f64, n: u64) -> (f64, f64) {
    between(k, n, epsilon)
}

/// The theorem's lower and upper bound for EHDL: (2k e^(−ε/2LS) + 1)/n and
/// (2k + 1)/(n e^(−ε/2LS)).
pub fn ehdl(k: u32, epsilon: f64, n: u64, local: f64) -> (f64, f64) {
    between(k, n, epsilon / (2.0 * local))
}

/// (2k e^(−r) + 1)/n and (2k + 1)/(n e^(−r)): 2k + 1 candidates out of about n, whose weights lie
/// between e^(−r) and 1.
fn between(k: u32, n: u64, exponent: f64) -> (f64, f64) {
    let (steps, n) = (2.0 * f64::from(k), n as f64);
    ((steps * exp_accurate(-exponent) + 1.0) / n, (steps + 1.0) * exp_accurate(exponent) / n)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::Lab;
    use crate::formula::steps;
    use engine::posterior::distance;

    #[test]
    fn the_formula_of_lshist_is_its_law_away_from_the_ends() {
        for &distance in distance::DOCUMENTED {
            let lab = Lab::new(distance);
            for epsilon in [0.5, 2.0] {
                let setting = lab.setting(&[1.0, 1.0], &[100, 100], epsilon, None);
                let law = lab.distribution(&setting, "lshist");
                for k in [0, 1, 2, 5] {
                    let exact = law.at_most(steps::radius(&setting, k).unwrap());
                    assert!((lshist(k, epsilon) / exact - 1.0).abs() < 1e-12, "{epsilon} {k}");
                }
            }
        }
    }

    #[test]
    fn lower_bounds_are_lower() {
        for k in [1, 2, 5] {
            for epsilon in [0.1, 1.0, 5.0] {
                assert!(lszhang_lower(k, epsilon) < lszhang(k, epsilon));
                assert!(lshist_lower(k, epsilon) < lshist(k, epsilon));
                assert!(ehd(k, epsilon, 10).0 < ehd(k, epsilon, 10).1);
            }
        }
    }

    #[test]
    fn with_no_privacy_to_lose_all_bounds_count_candidates() {
        assert_eq!(ehd(2, 0.0, 10), (0.5, 0.5));
        assert_eq!(ehdl(2, 0.0, 10, 0.1), (0.5, 0.5));
        // ε = 2 LS ln 2 makes e^(−ε/2LS) one half.
        let (lower, upper) = ehdl(1, 0.2 * std::f64::consts::LN_2, 4, 0.1);
        assert!((lower - 0.5).abs() < 1e-15 && (upper - 1.5).abs() < 1e-15);
    }
}
