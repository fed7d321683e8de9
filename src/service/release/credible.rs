//! Credible intervals of Beta laws and of mixtures of them.

use crate::base::numeric::beta::{beta_split, ln_beta_step};
use crate::base::numeric::{Sum, exp_accurate};

/// An equal-tailed interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// Σ_m w(m) Beta(α + m, N − α − m), m = first, first + 1, …: the posterior of one category's
/// probability if its count m is uncertain.
#[derive(Clone, Debug)]
pub struct BetaMixture {
    /// α.
    alpha: f64,
    /// N, the sum of both parameters.
    total: f64,
    first: u64,
    /// Weights, which sum to 1.
    weights: Vec<f64>,
}

impl BetaMixture {
    /// The mixture of counts from `first` on with these weights, which need not sum to 1.
    pub fn new(alpha: f64, total: f64, first: u64, weights: Vec<f64>) -> Self {
        let sum: Sum = weights.iter().copied().collect();
        let sum = sum.value();
        // Weights at both ends that do not change the last bit of the sum are left out.
        let counts = |weight: &f64| *weight > 1e-18 * sum;
        let start = weights.iter().position(counts).unwrap_or(0);
        let end = weights.iter().rposition(counts).map_or(0, |last| last + 1);
        let weights = weights[start..end].iter().map(|weight| weight / sum).collect();
        Self { alpha, total, first: first + start as u64, weights }
    }

    /// A single Beta(α + count, N − α − count).
    pub fn single(alpha: f64, total: f64, count: u64) -> Self {
        Self::new(alpha, total, count, vec![1.0])
    }

    fn parameters(&self, place: usize) -> (f64, f64) {
        let a = self.alpha + (self.first + place as u64) as f64;
        (a, self.total - a)
    }

    /// The mean.
    pub fn mean(&self) -> f64 {
        let term = |(place, weight): (usize, &f64)| weight * self.parameters(place).0 / self.total;
        self.weights.iter().enumerate().map(term).collect::<Sum>().value()
    }

    /// P[θ <= x].
    ///
    /// The distribution function of the largest count is computed. That of each smaller count is the
    /// one before plus a positive step.
    pub fn below(&self, x: f64) -> f64 {
        if x <= 0.0 || x >= 1.0 {
            return if x <= 0.0 { 0.0 } else { 1.0 };
        }
        let mut function = Sum::default();
        let mut sum = Sum::default();
        for (place, weight) in self.weights.iter().enumerate().rev() {
            let (a, b) = self.parameters(place);
            function.add(match place + 1 == self.weights.len() {
                true => beta_split(a, b, x).0,
                false => exp_accurate(ln_beta_step(a, b, x)),
            });
            sum.add(weight * function.value());
        }
        sum.value().clamp(0.0, 1.0)
    }

    /// The smallest double x with P[θ <= x] >= p. The bisection runs over the bits of x, so that small
    /// quantiles have as many correct digits as large ones.
    pub fn quantile(&self, p: f64) -> f64 {
        let (mut low, mut high) = (0_u64, 1.0_f64.to_bits());
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.below(f64::from_bits(middle)) >= p { high = middle } else { low = middle }
        }
        // There is no double between 0 and the smallest positive one.
        if high == 1 { 0.0 } else { f64::from_bits(high) }
    }

    /// The interval that leaves out (1 − level)/2 on either side.
    pub fn interval(&self, level: f64) -> Interval {
        let left_out = 0.5 * (1.0 - level);
        Interval { low: self.quantile(left_out), high: self.quantile(1.0 - left_out) }
    }

    /// The probability of an interval, its ends included.
    pub fn coverage(&self, interval: Interval) -> f64 {
        let before = match interval.low > 0.0 {
            true => self.below(interval.low.next_down()),
            false => 0.0,
        };
        // The probability below the smallest positive double belongs to 0.
        let up_to = self.below(interval.high.max(f64::from_bits(1)));
        (up_to - before).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_law() {
        let uniform = BetaMixture::single(1.0, 2.0, 0);
        let interval = uniform.interval(0.9);
        assert!((interval.low - 0.05).abs() < 1e-12 && (interval.high - 0.95).abs() < 1e-12);
        // Beta(4, 8), computed with 50 digits: quantiles of 2.5 and 97.5 %.
        let interval = BetaMixture::single(1.0, 12.0, 3).interval(0.95);
        assert!((interval.low - 0.109_263_443_819_098_1).abs() < 1e-11, "{interval:?}");
        assert!((interval.high - 0.609_742_559_572_421_2).abs() < 1e-11, "{interval:?}");
    }

    #[test]
    fn a_mixture_is_the_sum_of_its_parts() {
        let weights = [0.1, 0.0, 0.25, 0.4, 0.25];
        let mixture = BetaMixture::new(0.5, 20.0, 3, weights.to_vec());
        for x in [0.01, 0.2, 0.33, 0.6, 0.95] {
            let parts = weights.iter().enumerate().map(|(m, weight)| {
                let a = 3.5 + m as f64;
                weight * beta_split(a, 20.0 - a, x).0
            });
            assert!((mixture.below(x) - parts.sum::<f64>()).abs() < 1e-14, "{x}");
        }
        let mean: f64 = (0..5).map(|m| weights[m] * (3.5 + m as f64) / 20.0).sum();
        assert!((mixture.mean() - mean).abs() < 1e-15);
        let interval = mixture.interval(0.8);
        assert!((mixture.coverage(interval) - 0.8).abs() < 1e-11);
    }

    #[test]
    fn ends_belong_to_an_interval() {
        for count in [0, 1] {
            let nearly_certain = BetaMixture::single(1e-5, 1.0 + 2e-5, count);
            let coverage = nearly_certain.coverage(nearly_certain.interval(0.95));
            assert!((0.95..=1.0).contains(&coverage), "{count}: {coverage}");
        }
    }

    #[test]
    fn tiny_quantiles_keep_their_digits() {
        // P[θ <= x] of Beta(a, 1) is x^a.
        let interval = BetaMixture::single(0.01, 1.01, 0).interval(0.95);
        let expected = libm::pow(0.025, 100.0);
        assert!((interval.low / expected - 1.0).abs() < 1e-9, "{interval:?}");
    }
}
