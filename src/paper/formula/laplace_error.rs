//! bounds Theorems 4.1 to 4.4: the error of the Laplace mechanism in units of the local sensitivity.

use engine::mechanism::law::Distribution;
use engine::numeric::exp_accurate;

/// γ = e^(−ε), the probability of failure in bounds Theorem 4.2.
pub fn failure(epsilon: f64) -> f64 {
    exp_accurate(-epsilon)
}

/// ELap(x): the smallest attained t with P[H(x, LSHist(x)) <= t] >= 1 − γ, `error` being the law of
/// LSHist's error.
///
/// The document writes `P[H < t]`; the least such t is not attained, only approached from above, and
/// is the same number.
pub fn laplace_error(error: &Distribution, gamma: f64) -> f64 {
    error.quantile(1.0 - gamma)
}

/// Corollary 4.4.1: ELap(x) / LS(x) is at most this.
pub const RATIO_BOUND: f64 = 2.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::Lab;
    use crate::formula::steps;
    use engine::posterior::distance::HELLINGER;

    #[test]
    fn at_epsilon_one_one_step_is_enough() {
        // P[at most 0 steps] = 0.316 < 1 − 1/e <= P[at most 1 step] = 0.748 (downwards 0 < 1).
        let lab = Lab::new(HELLINGER);
        let setting = lab.setting(&[1.0, 1.0], &[50, 50], 1.0, None);
        let error = laplace_error(&lab.distribution(&setting, "lshist"), failure(1.0));
        let one_step = steps::radius(&setting, 1).unwrap();
        assert!((error / one_step - 1.0).abs() < 1e-11, "{error}");
    }
}
