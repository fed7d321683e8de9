//! Noise on one count, rounded down and clamped to [0, n].

use super::exponential_steps::ExponentialSteps;
use crate::numeric::Table;
use crate::numeric::{exp_accurate, expm1, ln, log1p};
use crate::posterior::simplex::Window;
use crate::rng::{Stream, uniform};

/// The probability that may be left out of an exact law.
pub(super) const NEGLECTED: f64 = 1e-16;

/// The number of steps, summed over `coordinates`, beyond which less than `NEGLECTED` is left.
///
/// Σ |η_i| / b is a gamma variable: P[… > T] = e^(−T) Σ_{j < coordinates} T^j / j!. Rounding moves
/// each coordinate by one step at most.
pub fn steps_within(scale: f64, coordinates: usize) -> u64 {
    let tail = |t: f64| {
        let mut term = exp_accurate(-t);
        let mut sum = 0.0;
        for j in 1..=coordinates {
            sum += term;
            term *= t / j as f64;
        }
        sum
    };
    let half_units = (60..).find(|&t| tail(0.5 * f64::from(t)) < NEGLECTED).unwrap_or(2000);
    // A float too large for a u64 becomes its maximum.
    ((0.5 * f64::from(half_units) * scale).ceil() + coordinates as f64) as u64
}

/// The window of one coordinate within `steps` steps.
pub fn window(x: u64, n: u64, steps: u64) -> Window {
    (x.saturating_sub(steps), x.saturating_add(steps).min(n))
}

/// The law of the noise η.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// floor(x + η), η with density e^(−|t|/b) / 2b.
    Laplace,
    /// x + η, P[η = t] ∝ e^(−|t|/b) on the whole numbers (two-sided geometric).
    Geometric,
}

impl Noise {
    /// P[⌊x + η⌋₀ⁿ = v] for v in the window.
    ///
    /// Each probability is one product; a difference of two distribution functions would cancel to
    /// 0 in the tail and make a false infinite privacy loss. v = 0 takes all the mass below it,
    /// v = n all above.
    pub fn marginal(self, scale: f64, x: u64, n: u64, (low, high): Window) -> Table {
        let values = (low..=high).map(|v| self.probability(scale, x, n, v)).collect();
        Table::new(low, values)
    }

    /// P[⌊x + η⌋₀ⁿ = v].
    pub fn probability(self, scale: f64, x: u64, n: u64, v: u64) -> f64 {
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

    /// ln P[⌊x + η⌋₀ⁿ = v], also where the probability is too small for a double.
    pub fn ln_probability(self, scale: f64, x: u64, n: u64, v: u64) -> f64 {
        if n == 0 {
            return 0.0;
        }
        let rate = 1.0 / scale;
        let (steps, constant) = self.decay(rate, x, n, v);
        let front = match self {
            Self::Laplace => -std::f64::consts::LN_2,
            Self::Geometric => -log1p(exp_accurate(-rate)),
        };
        // At 0 and n all the mass beyond is added up.
        let within = if v == 0 || v == n { 0.0 } else { ln(-expm1(-rate)) };
        front + within + constant - steps as f64 * rate
    }

    /// ln P[⌊x + η⌋₀ⁿ = v] − ln P[⌊y + η⌋₀ⁿ = v], also where a probability is too small for a double.
    pub fn ln_ratio(self, scale: f64, (x, y): (u64, u64), n: u64, v: u64) -> f64 {
        let rate = 1.0 / scale;
        let ((near, at_x), (far, at_y)) = (self.decay(rate, x, n, v), self.decay(rate, y, n, v));
        (far as f64 - near as f64) * rate + (at_x - at_y)
    }

    /// P[⌊x + η⌋₀ⁿ = v] as e^(−steps · rate) · e^constant, up to a factor that does not depend on x.
    fn decay(self, rate: f64, x: u64, n: u64, v: u64) -> (u64, f64) {
        match (self, v) {
            _ if n == 0 => (0, 0.0),
            // 1 − ½ e^(−rate) against ½ elsewhere.
            (Self::Laplace, 0) if x == 0 => (0, log1p(-expm1(-rate))),
            (Self::Laplace, _) if v < x => (x - v - 1, 0.0),
            _ => (x.abs_diff(v), 0.0),
        }
    }

    /// Draws ⌊x + η⌋₀ⁿ; `steps` are those of the scale of η.
    #[inline]
    pub fn draw(self, steps: &ExponentialSteps, x: u64, n: u64, rng: &mut Stream) -> u64 {
        match self {
            Self::Laplace => {
                let negative = uniform(rng) < 0.5;
                let u = uniform(rng);
                match (steps.whole(u), negative) {
                    (Some(m), false) => x.saturating_add(m).min(n),
                    (Some(m), true) => x.saturating_sub(m + 1),
                    (None, _) => {
                        let magnitude = steps.exact(u);
                        let noise = if negative { -magnitude } else { magnitude };
                        (x as f64 + noise).floor().clamp(0.0, n as f64) as u64
                    }
                }
            }
            // The floor of an exponential number is geometric; the difference of two such is
            // two-sided geometric.
            Self::Geometric => {
                let (u, v) = (uniform(rng), uniform(rng));
                match (steps.whole(u), steps.whole(v)) {
                    (Some(up), Some(down)) => x.saturating_add(up).saturating_sub(down).min(n),
                    _ => {
                        let noise = steps.exact(u).floor() - steps.exact(v).floor();
                        (x as f64 + noise).floor().clamp(0.0, n as f64) as u64
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;

    #[test]
    fn marginals_sum_to_one() {
        for noise in [Noise::Laplace, Noise::Geometric] {
            for (scale, x, n) in
                [(1.0, 0, 0), (0.01, 3, 9), (2.0, 0, 7), (2.0, 7, 7), (30.0, 5, 400)]
            {
                let table = noise.marginal(scale, x, n, window(x, n, steps_within(scale, 1)));
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
    fn ratios_of_probabilities() {
        for noise in [Noise::Laplace, Noise::Geometric] {
            for (x, y, v) in (0..7 * 7 * 7).map(|i| (i % 7, i / 7 % 7, i / 49)) {
                let ln_p = |x| ln(noise.probability(2.5, x, 6, v));
                let ratio = noise.ln_ratio(2.5, (x, y), 6, v);
                assert!((ratio - (ln_p(x) - ln_p(y))).abs() < 1e-14, "{noise:?} {x} {y} {v}");
            }
            // Far beyond what a double can hold.
            assert_eq!(noise.ln_ratio(1.0, (0, 1), 100_000, 99_000), -1.0);
        }
    }

    #[test]
    fn a_table_of_steps_changes_no_draw() {
        for noise in [Noise::Laplace, Noise::Geometric] {
            for (scale, x, n) in [(1.0, 0, 9), (2.0, 5, 9), (3.0, 700, 731), (0.4, 3, 3)] {
                let table = ExponentialSteps::new(scale, n);
                // So many records have no table.
                let slow = ExponentialSteps::new(scale, u64::MAX);
                let mut rngs = [stream(1, "noise"), stream(1, "noise")];
                for _ in 0..20_000 {
                    let fast = noise.draw(&table, x, n, &mut rngs[0]);
                    assert_eq!(fast, noise.draw(&slow, x, n, &mut rngs[1]));
                }
            }
        }
    }

    #[test]
    fn windows_follow_the_scale_not_n() {
        assert_eq!(steps_within(1.0, 1), 38);
        assert_eq!(window(500_000, 1_000_000, 38), (499_962, 500_038));
        assert_eq!(window(5, 10, steps_within(1e300, 4)), (0, 10));
        assert!(steps_within(1.0, 4) > 45);
    }
}
