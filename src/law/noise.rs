//! Noise on one count, rounded down and clamped to [0, n].

use rand::Rng;

use crate::numeric::gamma::Table;
use crate::numeric::{exp_accurate, expm1};
use crate::rng::{standard_exponential, uniform};
use crate::simplex::Window;

/// −ln of the probability that is left out on either side of a window: 10⁻¹⁸.
const LN_TAIL: f64 = 41.446_531_673_892_82;

/// The law of the noise η.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// floor(x + η), η with density e^(−|t|/b) / 2b.
    Laplace,
    /// x + η, P[η = t] ∝ e^(−|t|/b) on the whole numbers (two-sided geometric).
    Geometric,
}

impl Noise {
    /// The window of ⌊x + η⌋₀ⁿ outside of which less than 10⁻¹⁸ is left on either side.
    #[must_use]
    pub fn window(scale: f64, x: u64, n: u64) -> Window {
        // A float too large for a u64 becomes its maximum.
        let half = (scale * LN_TAIL + 1.0).ceil() as u64;
        (x.saturating_sub(half), x.saturating_add(half).min(n))
    }

    /// P[⌊x + η⌋₀ⁿ = v] for v in the window.
    ///
    /// Each probability is one product; a difference of two distribution functions would cancel to
    /// 0 in the tail and make a false infinite privacy loss. v = 0 takes all the mass below it,
    /// v = n all above.
    #[must_use]
    pub fn marginal(self, scale: f64, x: u64, n: u64) -> Table {
        let (low, high) = Self::window(scale, x, n);
        let values = (low..=high).map(|v| self.probability(scale, x, n, v)).collect();
        Table::new(low, values)
    }

    fn probability(self, scale: f64, x: u64, n: u64, v: u64) -> f64 {
        let rate = 1.0 / scale;
        let decay = |steps: u64| exp_accurate(-(steps as f64) * rate);
        let step = -expm1(-rate);
        match (self, v) {
            _ if n == 0 => 1.0,
            (Self::Laplace, 0) if x == 0 => 1.0 - 0.5 * decay(1),
            (Self::Laplace, 0) => 0.5 * decay(x - 1),
            (Self::Laplace, _) if v == n => 0.5 * decay(n - x),
            (Self::Laplace, _) if v >= x => 0.5 * decay(v - x) * step,
            (Self::Laplace, _) => 0.5 * decay(x - v - 1) * step,
            (Self::Geometric, 0) => decay(x) / (1.0 + decay(1)),
            (Self::Geometric, _) if v == n => decay(n - x) / (1.0 + decay(1)),
            (Self::Geometric, _) => decay(x.abs_diff(v)) * step / (1.0 + decay(1)),
        }
    }

    /// Draws ⌊x + η⌋₀ⁿ.
    pub fn draw(self, scale: f64, x: u64, n: u64, rng: &mut dyn Rng) -> u64 {
        let noise = match self {
            Self::Laplace => {
                let negative = uniform(rng) < 0.5;
                let magnitude = scale * standard_exponential(rng);
                if negative { -magnitude } else { magnitude }
            }
            // The floor of an exponential number is geometric; the difference of two such is
            // two-sided geometric.
            Self::Geometric => {
                let mut geometric = || (scale * standard_exponential(rng)).floor();
                geometric() - geometric()
            }
        };
        (x as f64 + noise).floor().clamp(0.0, n as f64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marginals_sum_to_one() {
        for noise in [Noise::Laplace, Noise::Geometric] {
            for (scale, x, n) in
                [(1.0, 0, 0), (0.01, 3, 9), (2.0, 0, 7), (2.0, 7, 7), (30.0, 5, 400)]
            {
                let table = noise.marginal(scale, x, n);
                let total: f64 = (table.first()..table.end()).filter_map(|v| table.get(v)).sum();
                assert!((total - 1.0).abs() < 1e-14, "{noise:?} {scale} {x} {n}: {total}");
            }
        }
    }

    #[test]
    fn probabilities_of_table_one() {
        // icml Table 1, t = 0, 1, 2 (one side): LSDim has scale 2, LSHist scale 1. The digits in
        // print are cut off, not rounded.
        let printed = [
            (2.0, [0.196_734_670_14, 0.119_325_609_27, 0.072_374_640_51]),
            (1.0, [0.316_060_279_41, 0.116_272_078_96, 0.042_774_107_43]),
        ];
        for (scale, values) in printed {
            for (t, value) in (0..).zip(values) {
                let ours = Noise::Laplace.probability(scale, 300, 600, 300 + t);
                assert!((0.0..1e-11).contains(&(ours - value)), "{ours}");
            }
        }
    }

    #[test]
    fn windows_follow_the_scale_not_n() {
        assert_eq!(Noise::window(1.0, 500_000, 1_000_000), (499_957, 500_043));
        assert_eq!(Noise::window(1e300, 5, 10), (0, 10));
    }
}
