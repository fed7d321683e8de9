//! Compensated summation.

/// A running sum that carries its own rounding error (Neumaier's variant of Kahan's algorithm).
///
/// The result is as good as if the sum had been made in twice the precision and rounded once,
/// whatever the number of terms.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum {
    high: f64,
    low: f64,
}

impl Sum {
    #[inline]
    pub fn add(&mut self, term: f64) {
        let high = self.high + term;
        self.low += if self.high.abs() >= term.abs() {
            (self.high - high) + term
        } else {
            (term - high) + self.high
        };
        self.high = high;
    }

    /// The sum of all terms added so far.
    #[inline]
    pub fn value(&self) -> f64 {
        // An infinite term has no rounding error to carry.
        if self.high.is_finite() { self.high + self.low } else { self.high }
    }

    /// The rounded sum, and what rounding lost.
    #[inline]
    pub fn parts(&self) -> (f64, f64) {
        (self.high, self.low)
    }
}

impl FromIterator<f64> for Sum {
    #[inline]
    fn from_iter<I: IntoIterator<Item = f64>>(terms: I) -> Self {
        let mut sum = Self::default();
        terms.into_iter().for_each(|term| sum.add(term));
        sum
    }
}

/// The compensated sum of `terms`.
#[inline]
pub fn sum(terms: impl IntoIterator<Item = f64>) -> f64 {
    Sum::from_iter(terms).value()
}

/// The compensated sums of the terms up to each.
pub fn running(terms: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut sum = Sum::default();
    let up_to = |term: f64| {
        sum.add(term);
        sum.value()
    };
    terms.into_iter().map(up_to).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_terms_are_not_lost_beside_large_ones() {
        assert_eq!(sum([1.0, 1e100, 1.0, -1e100]), 2.0);
    }

    #[test]
    fn an_infinite_term_makes_an_infinite_sum() {
        assert_eq!(sum([1.0, f64::INFINITY, 2.0, f64::INFINITY]), f64::INFINITY);
    }
}
