//! Gaussian or truncated lattice noise on two categories, at two adjacent data sets.
//!
//! The count y of the category that loses a record has the noise z with P[z] ∝ f(z)², clamped to [0, n]; the
//! other count is n − y. The ratio of the probabilities does not fall as y grows: it is largest at one of
//! the ends, or where the noise is cut off.

use super::pair_comparison::{Class, PairComparison, Witness};
use super::pairs::Pair;
use crate::mechanism::law::LatticeNoise;
use crate::mechanism::law::approximate::ln_tail;
use crate::numeric::ln;
use crate::operations::{Operation, count};

/// The noise on both counts, the same at all data sets.
#[derive(Clone, Copy, Debug)]
pub struct LineNoise {
    noise: LatticeNoise,
    ln_total: f64,
}

impl LineNoise {
    pub fn new(noise: LatticeNoise) -> Self {
        Self { noise, ln_total: ln(noise.total(2)) }
    }
}

/// Two adjacent data sets.
pub struct ClampedLine<'a> {
    pair: &'a Pair,
    noise: LatticeNoise,
    n: u64,
    /// The larger of the two counts of the category that loses a record.
    count: u64,
    ln_total: f64,
    /// ln P, but for the total, of the outputs 0 and n: at x and at x'.
    ends: [[f64; 2]; 2],
}

/// Classes go as far as the noise does, but for this part of its probability.
const LN_LEFT_OUT: f64 = -92.0;

impl<'a> ClampedLine<'a> {
    pub fn new(pair: &'a Pair, LineNoise { noise, ln_total }: LineNoise) -> Self {
        let (n, count): (u64, u64) = (pair.x.iter().sum(), pair.x[pair.leaves]);
        let ends = [[count, count - 1], [n - count, n - count + 1]]
            .map(|beyond| beyond.map(|m| ln_tail(noise, m)));
        Self { pair, noise, n, count, ln_total, ends }
    }

    /// ln P at x and at x', and their difference, of the output y.
    fn logs(&self, y: u64) -> (f64, f64, f64) {
        let [at_x, at_moved] = match y {
            0 => self.ends[0],
            y if y == self.n => self.ends[1],
            y => [self.count, self.count - 1]
                .map(|count| 2.0 * self.noise.ln_factor(y.abs_diff(count))),
        };
        let ratio = match self.noise {
            _ if y == 0 || y == self.n => at_x - at_moved,
            _ if at_x == f64::NEG_INFINITY || at_moved == f64::NEG_INFINITY => at_x - at_moved,
            // Without rounding: one step more or less.
            LatticeNoise::Geometric { rate } | LatticeNoise::Truncated { rate, .. } => {
                if y >= self.count { rate } else { -rate }
            }
            LatticeNoise::Gaussian { sigma } => {
                (2.0 * (y as f64 - self.count as f64) + 1.0) / (sigma * sigma)
            }
        };
        (at_x - self.ln_total, at_moved - self.ln_total, ratio)
    }

    /// The output with the largest |ratio|, and its ratio.
    fn largest(&self) -> (u64, f64) {
        let mut places = vec![self.count, self.count - 1, self.n, 0];
        if let LatticeNoise::Truncated { radius, .. } = self.noise {
            let upper = self.count.saturating_add(radius).min(self.n);
            places.extend([upper, (self.count - 1).saturating_sub(radius)]);
        }
        let ratio = |y: u64| {
            let (at_x, at_moved, ratio) = self.logs(y);
            (at_x.max(at_moved) > f64::NEG_INFINITY).then_some((y, ratio))
        };
        let larger = |a: (u64, f64), b: (u64, f64)| if b.1.abs() > a.1.abs() { b } else { a };
        places.into_iter().filter_map(ratio).reduce(larger).unwrap_or((self.count, 0.0))
    }
}

/// How far the noise goes.
pub fn reach(noise: LatticeNoise) -> u64 {
    match noise {
        LatticeNoise::Truncated { rate, radius } => radius.min((-LN_LEFT_OUT / rate) as u64 + 1),
        LatticeNoise::Geometric { rate } => (-LN_LEFT_OUT / rate) as u64 + 1,
        LatticeNoise::Gaussian { sigma } => (sigma * (-LN_LEFT_OUT).sqrt()) as u64 + 1,
    }
}

impl PairComparison for ClampedLine<'_> {
    fn loss(&self) -> f64 {
        self.largest().1.abs()
    }

    fn rounding(&self) -> f64 {
        1e-13 * (1.0 + self.loss())
    }

    fn classes(&self) -> Vec<Class> {
        let reach = reach(self.noise);
        let low = (self.count - 1).saturating_sub(reach).max(1);
        let high = self.count.saturating_add(reach).min(self.n - 1);
        count(Operation::LineClass, (high + 3).saturating_sub(low) as usize);
        let class = |y: u64| {
            let (at_x, at_moved, ratio) = self.logs(y);
            let possible = at_x.max(at_moved) > f64::NEG_INFINITY;
            possible.then(|| Class { ratio, ..Class::new(at_x, at_moved, 1.0) })
        };
        [0, self.n].into_iter().chain(low..=high).filter_map(class).collect()
    }

    fn witness(&self) -> Witness {
        let (y, ratio) = self.largest();
        let mut output = vec![self.n - y; 2];
        output[self.pair.leaves] = y;
        Witness { output, forward: ratio >= 0.0 }
    }
}
