//! Draws of ⌊b E⌋, E a standard exponential number, mostly without its logarithm.
//!
//! E = −ln(1 − u) for a uniform number u, and ⌊b E⌋ = m where 1 − e^(−m/b) <= u < 1 − e^(−(m+1)/b). So a
//! table of these borders finds m. Near a border, and far out, the logarithm decides as it would
//! without the table: the table makes a draw faster and never another one.

use crate::numeric::{exp_accurate, ln};

/// The number of cells into which [0, 1) is cut to find the first border to look at.
const CELLS: usize = 256;
/// Beyond this scale the table takes longer than it saves.
const LARGEST_SCALE: f64 = 16.0;
/// Below this scale nearly every number is 0, and borders are too near to 1.
const SMALLEST_SCALE: f64 = 0.05;
/// How near to a border the logarithm decides, relative to 1 − u: b E is then 10⁻⁸ b from a whole
/// number. The rounding errors of b E and of sums with counts up to [`MOST_RECORDS`] are less than a
/// tenth of it.
const NEAR: f64 = 1e-8;
/// The most records for which x + b E is not rounded to a whole number within [`NEAR`].
const MOST_RECORDS: u64 = 100_000;
/// Borders are tabulated until so little is beyond them.
const BEYOND: f64 = 1e-4;

/// A standard exponential number times a scale.
#[derive(Clone, Debug)]
pub struct ExponentialSteps {
    scale: f64,
    /// For every cell the first m that may be meant; empty without a table.
    first: Vec<u16>,
    /// For every m the open interval of u in which ⌊b E⌋ = m for sure, and b E is no whole number.
    within: Vec<(f64, f64)>,
}

impl ExponentialSteps {
    /// For noise of scale b on counts of n records.
    pub fn new(scale: f64, n: u64) -> Self {
        let mut steps = Self { scale, first: Vec::new(), within: Vec::new() };
        if !(SMALLEST_SCALE..=LARGEST_SCALE).contains(&scale) || n > MOST_RECORDS {
            return steps;
        }
        let beyond = |m: u32| exp_accurate(-f64::from(m) / scale);
        let (mut m, mut left) = (0, 1.0);
        while left > BEYOND {
            m += 1;
            let next = beyond(m);
            steps.within.push((1.0 - left * (1.0 - NEAR), 1.0 - next * (1.0 + NEAR)));
            left = next;
        }
        let mut m = 0;
        for cell in 0..CELLS {
            let begin = cell as f64 / CELLS as f64;
            while m + 1 < steps.within.len() && steps.within[m].1 <= begin {
                m += 1;
            }
            steps.first.push(m as u16);
        }
        steps
    }

    /// ⌊b E⌋ for a uniform number u in [0, 1), if the table says what it is and b E is no whole number.
    #[inline]
    pub fn whole(&self, u: f64) -> Option<u64> {
        let mut m = usize::from(*self.first.get((u * CELLS as f64) as usize)?);
        loop {
            let (low, high) = *self.within.get(m)?;
            if u < high {
                return (u > low).then_some(m as u64);
            }
            m += 1;
        }
    }

    /// b E for a uniform number u in [0, 1).
    pub fn exact(&self, u: f64) -> f64 {
        self.scale * -ln(1.0 - u)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{stream, uniform};

    #[test]
    fn the_table_says_what_the_logarithm_says() {
        let mut rng = stream(5, "steps");
        for scale in [0.05, 0.3, 1.0, 2.0, 3.0, 7.7, 16.0] {
            let steps = ExponentialSteps::new(scale, 1000);
            let mut unknown = 0;
            let random = (0..100_000).map(|_| uniform(&mut rng));
            for u in random {
                match steps.whole(u) {
                    Some(m) => assert_eq!(m as f64, steps.exact(u).floor(), "{scale} {u}"),
                    None => unknown += 1,
                }
            }
            assert!(unknown < 50, "{scale}: {unknown} of 100000 draws need a logarithm");
            // Around every border.
            for m in 0..100 {
                let border = 1.0 - libm::exp(-f64::from(m) / scale);
                for off in [0.0, 1e-16, 1e-12, 1e-9, 1e-8, 1.1e-8, 3e-8, 1e-6] {
                    for u in [border - off, border + off].map(|u| u.clamp(0.0, 1.0 - 1e-15)) {
                        if let Some(m) = steps.whole(u) {
                            let exact = steps.exact(u);
                            assert_eq!(m as f64, exact.floor(), "{scale} {u}");
                            assert!((exact - exact.round()).abs() > 1e-10, "{scale} {u}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn no_table_where_it_is_not_worth_it() {
        for (scale, n) in [(0.01, 10), (100.0, 10), (1.0, 1_000_000_000)] {
            assert_eq!(ExponentialSteps::new(scale, n).whole(0.5), None);
        }
    }
}
