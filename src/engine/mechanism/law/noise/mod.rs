//! Independent noise on the counts, rounded down and clamped to [0, n].

mod coins;
pub mod pair;

use std::sync::Arc;

use super::coins::{ExactDraws, Ratio, not_exact};
use super::{Comparisons, Factors, Law, LawAt, OutputLaw, OutputSet, Outputs, PairSize, Product};
use crate::analysis::true_counts::CountNoise;
use crate::numeric::{Table, exp_accurate, expm1, ln, log1p};
use crate::posterior::amount::Amount;
use crate::posterior::distance::Distance;
use crate::posterior::error_field::Field;
use crate::posterior::model::{Counts, Posterior};
use crate::posterior::setting::Setting;
use crate::posterior::simplex::{Region, Window};
use crate::refusal::Refusal;
use crate::rng::{Stream, uniform};
use coins::NoisyCounts;
use pair::NoiseData;

/// Noise of one law and scale on every count, or on all but the last, which restores the total.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseOnCounts {
    pub noise: Noise,
    /// Its scale b: the law falls by 1/e in b steps.
    pub scale: f64,
    /// [`OutputSet::Restored`] or [`OutputSet::Open`].
    pub outputs: OutputSet,
}

impl Law for NoiseOnCounts {
    fn outputs(&self) -> OutputSet {
        self.outputs
    }

    fn at(&self, posterior: &Posterior) -> Result<Box<dyn LawAt + '_>, Refusal> {
        let (Self { noise, scale, outputs }, n) = (*self, posterior.n());
        let steps = steps_within(scale, outputs.noisy(posterior.k()));
        Ok(Box::new(NoiseAt {
            posterior: posterior.clone(),
            outputs,
            steps: (steps, steps),
            probability: Box::new(move |x, v| noise.probability(scale, x, n, v)),
            ln_probability: Box::new(move |x, v| noise.ln_probability(scale, x, n, v)),
            draw: Box::new(move |x, rng| noise.draw(scale, x, n, rng)),
        }))
    }

    fn widened(&self, factor: f64) -> Result<Arc<dyn Law>, Refusal> {
        Ok(Arc::new(Self { scale: self.scale * factor, ..*self }))
    }

    fn noisy_counts(&self, k: usize) -> Option<usize> {
        Some(self.outputs.noisy(k))
    }

    fn pair_size(&self, _: &Posterior, _: &dyn Distance) -> Option<PairSize> {
        Some(PairSize::CLOSED)
    }

    fn comparisons<'a>(
        &'a self,
        setting: &'a Setting,
        _: &[&Counts],
    ) -> Result<Box<dyn Comparisons + 'a>, Refusal> {
        let (n, noisy) = (setting.n, self.outputs.noisy(setting.k()));
        Ok(Box::new(NoiseData::falling(self.noise, self.scale, n, noisy)))
    }

    fn exact_draws(&self, _: usize, epsilon: Amount) -> Result<Box<dyn ExactDraws>, Refusal> {
        if self.noise == Noise::Laplace {
            return Err(Refusal::new(
                "geometric noise of the same ε tells more than rounded Laplace noise",
                "use geometric",
            ));
        }
        // The scale is a whole number of 1/ε.
        let factor = self.scale * epsilon.to_f64();
        let divisor = factor.round();
        let is_whole = divisor >= 1.0 && (factor - divisor).abs() < 1e-9 * divisor;
        let rate = if is_whole { Ratio::of(epsilon, divisor as u64) } else { None };
        let rate = rate.ok_or_else(not_exact)?;
        Ok(Box::new(NoisyCounts { rate, outputs: self.outputs }))
    }

    fn count_noise(&self, k: usize) -> Option<CountNoise> {
        Some(CountNoise { noise: self.noise, scale: self.scale, noisy: self.outputs.noisy(k) })
    }
}

type DrawOne<'a> = Box<dyn Fn(u64, &mut Stream) -> u64 + Send + Sync + 'a>;

/// The law of independent noise at one data set: every noisy count, x in the data, becomes v.
pub struct NoiseAt<'a> {
    pub posterior: Posterior,
    pub outputs: OutputSet,
    /// All but a negligible part of the noise on a count, and of that on all of them, has no more steps than these.
    pub steps: (u64, u64),
    /// P\[v\], by x and v.
    pub probability: Box<dyn Fn(u64, u64) -> f64 + Send + Sync + 'a>,
    /// ln P\[v\], also where the probability is too small for a double.
    pub ln_probability: Box<dyn Fn(u64, u64) -> f64 + Send + Sync + 'a>,
    /// Draws v, by x.
    pub draw: DrawOne<'a>,
}

impl NoiseAt<'_> {
    /// The outputs within the steps. A restored last coordinate takes what the others leave.
    fn likely(&self) -> Region {
        let (x, n) = (self.posterior.counts(), self.posterior.n());
        let mut windows: Vec<Window> = x.iter().map(|&x| window(x, n, self.steps.0)).collect();
        if self.outputs == OutputSet::Restored
            && let Some((last, others)) = windows.split_last_mut()
        {
            let (low, high) = others.iter().fold((0, 0), |(l, h), w| (l + w.0, h + w.1));
            *last = (n.saturating_sub(high), n.saturating_sub(low));
        }
        Region::diamond(self.outputs.shape(), x.to_vec(), windows, self.steps.1)
    }

    fn noisy(&self) -> &[u64] {
        &self.posterior.counts()[..self.outputs.noisy(self.posterior.k())]
    }
}

impl LawAt for NoiseAt<'_> {
    fn region(&self) -> Option<Region> {
        Some(self.likely())
    }

    fn ln_probabilities(&self, outputs: Outputs, _: &dyn Field) -> Vec<f64> {
        let values = 0..=self.posterior.n();
        let marginal = |&x: &u64| values.clone().map(|v| (self.ln_probability)(x, v)).collect();
        let marginals: Vec<Vec<f64>> = self.noisy().iter().map(marginal).collect();
        let ln_p = |output: &Counts| -> f64 {
            output.iter().zip(&marginals).map(|(&v, marginal)| marginal[v as usize]).sum()
        };
        outputs.list().iter().map(ln_p).collect()
    }

    fn output_law(&self) -> Box<dyn OutputLaw + '_> {
        let noisy = self.noisy();
        let table = |(&x, &(low, high)): (&u64, &Window)| {
            Table::new(low, (low..=high).map(|v| (self.probability)(x, v)).collect())
        };
        let factors = Factors {
            region: self.likely(),
            alike: noisy.len(),
            tables: Box::new(move |windows| noisy.iter().zip(windows).map(table).collect()),
            normaliser: 1.0,
            p_exact: noisy.iter().map(|&x| (self.probability)(x, x)).product(),
            draw: Box::new(move |rng, out| {
                out.iter_mut().zip(noisy).for_each(|(v, &x)| *v = (self.draw)(x, rng));
                self.outputs.complete(self.posterior.n(), out);
            }),
        };
        Box::new(Product::new(&self.posterior, factors))
    }
}

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
    /// P[⌊x + η⌋₀ⁿ = v].
    ///
    /// It is one product; a difference of two distribution functions would cancel to 0 in the tail and make a
    /// false infinite privacy loss. v = 0 takes all the mass below it, v = n all above.
    pub fn probability(self, scale: f64, x: u64, n: u64, v: u64) -> f64 {
        if n == 0 {
            return 1.0;
        }
        let rate = 1.0 / scale;
        let (steps, excess) = self.decay(rate, x, n, v);
        let within = if v == 0 || v == n { 1.0 } else { -expm1(-rate) };
        let mass = (1.0 + excess) * exp_accurate(-(steps as f64) * rate) * within;
        match self {
            Self::Laplace => 0.5 * mass,
            Self::Geometric => mass / (1.0 + exp_accurate(-rate)),
        }
    }

    /// ln P[⌊x + η⌋₀ⁿ = v], also where the probability is too small for a double.
    pub fn ln_probability(self, scale: f64, x: u64, n: u64, v: u64) -> f64 {
        if n == 0 {
            return 0.0;
        }
        let rate = 1.0 / scale;
        let (steps, excess) = self.decay(rate, x, n, v);
        let front = match self {
            Self::Laplace => -std::f64::consts::LN_2,
            Self::Geometric => -log1p(exp_accurate(-rate)),
        };
        // At 0 and n all the mass beyond is added up.
        let within = if v == 0 || v == n { 0.0 } else { ln(-expm1(-rate)) };
        front + within + log1p(excess) - steps as f64 * rate
    }

    /// ln P[⌊x + η⌋₀ⁿ = v] − ln P[⌊y + η⌋₀ⁿ = v], also where a probability is too small for a double.
    pub fn ln_ratio(self, scale: f64, (x, y): (u64, u64), n: u64, v: u64) -> f64 {
        let rate = 1.0 / scale;
        let ((near, at_x), (far, at_y)) = (self.decay(rate, x, n, v), self.decay(rate, y, n, v));
        (far as f64 - near as f64) * rate + (log1p(at_x) - log1p(at_y))
    }

    /// P[⌊x + η⌋₀ⁿ = v] as e^(−steps · rate) · (1 + excess), up to a factor that does not depend on x.
    fn decay(self, rate: f64, x: u64, n: u64, v: u64) -> (u64, f64) {
        match (self, v) {
            _ if n == 0 => (0, 0.0),
            // 1 − ½ e^(−rate) against ½ elsewhere.
            (Self::Laplace, 0) if x == 0 => (0, -expm1(-rate)),
            (Self::Laplace, _) if v < x => (x - v - 1, 0.0),
            _ => (x.abs_diff(v), 0.0),
        }
    }

    /// Draws ⌊x + η⌋₀ⁿ.
    #[inline]
    pub fn draw(self, scale: f64, x: u64, n: u64, rng: &mut Stream) -> u64 {
        let exponential = |u: f64| scale * -ln(1.0 - u);
        let noise = match self {
            Self::Laplace => {
                let negative = uniform(rng) < 0.5;
                let magnitude = exponential(uniform(rng));
                if negative { -magnitude } else { magnitude }
            }
            // The floor of an exponential number is geometric; the difference of two such is
            // two-sided geometric.
            Self::Geometric => {
                exponential(uniform(rng)).floor() - exponential(uniform(rng)).floor()
            }
        };
        (x as f64 + noise).floor().clamp(0.0, n as f64) as u64
    }
}
