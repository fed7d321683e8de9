//! Sums of numbers that are given by their logarithms.

use super::{Sum, exp_accurate, ln};

/// ln Σ e^v.
pub fn ln_sum(logs: impl IntoIterator<Item = f64, IntoIter: Clone>) -> f64 {
    let logs = logs.into_iter();
    let largest = logs.clone().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return largest;
    }
    largest + ln(logs.map(|log| exp_accurate(log - largest)).collect::<Sum>().value())
}

/// e^v, all divided by the largest.
pub fn relative(logs: impl IntoIterator<Item = f64, IntoIter: Clone>) -> Vec<f64> {
    let logs = logs.into_iter();
    let largest = logs.clone().fold(f64::NEG_INFINITY, f64::max);
    logs.map(|log| exp_accurate(log - largest)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_beyond_doubles() {
        assert_eq!(ln_sum([-2000.0, -2000.0]), -2000.0 + ln(2.0));
        assert_eq!(ln_sum([3000.0, f64::NEG_INFINITY]), 3000.0);
        assert_eq!(ln_sum([f64::NEG_INFINITY]), f64::NEG_INFINITY);
        assert_eq!(ln_sum([]), f64::NEG_INFINITY);
        assert_eq!(relative([-2000.0, f64::NEG_INFINITY, -2000.0]), [1.0, 0.0, 1.0]);
    }
}
