//! Beta laws whose parameters have the same sum, mixed.

use engine::numeric::beta::{Place, beta_split, ln_logit_density};
use engine::numeric::{Sum, exp_accurate, ln};

/// Steps of a distribution function that are smaller than this are left out.
const TINY: f64 = 1e-20;

/// Σ_m w(m) Beta(α + m, β + t − m), m = first, first + 1, …: the law of a share of t records, if the
/// count m is uncertain. The weights need not sum to 1.
#[derive(Clone, Debug)]
pub struct BetaRow {
    /// The parameters of the first law.
    a: f64,
    b: f64,
    weights: Vec<f64>,
    /// The sum of the weights up to each.
    cumulative: Vec<f64>,
    /// 1/a and 1/b of every law: divisions take long.
    inverses: Vec<(f64, f64)>,
}

/// The distribution function and the density of the logit, at some place.
#[derive(Clone, Copy, Debug, Default)]
pub struct At {
    pub below: f64,
    pub density: f64,
}

impl BetaRow {
    /// The first law is Beta(a, b).
    pub fn new(a: f64, b: f64, weights: Vec<f64>) -> Self {
        let mut sum = Sum::default();
        let add = |weight: &f64| {
            sum.add(*weight);
            sum.value()
        };
        let cumulative = weights.iter().map(add).collect();
        let inverse = |m: usize| (1.0 / (a + m as f64), 1.0 / (b - m as f64));
        let inverses = (0..weights.len()).map(inverse).collect();
        Self { a, b, weights, cumulative, inverses }
    }

    /// The sum of the weights.
    pub fn total(&self) -> f64 {
        self.cumulative.last().copied().unwrap_or(0.0)
    }

    /// The number of laws.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    fn parameters(&self, place: usize) -> (f64, f64) {
        (self.a + place as f64, self.b - place as f64)
    }

    /// The mean, times the sum of the weights.
    pub fn mean(&self) -> f64 {
        let term = |(place, weight): (usize, &f64)| weight * self.parameters(place).0;
        let sum: Sum = self.weights.iter().enumerate().map(term).collect();
        sum.value() / (self.a + self.b)
    }

    /// The mean of the square, times the sum of the weights.
    pub fn mean_square(&self) -> f64 {
        let term = |(place, weight): (usize, &f64)| {
            let a = self.parameters(place).0;
            weight * a * (a + 1.0)
        };
        let (sum, total): (Sum, f64) =
            (self.weights.iter().enumerate().map(term).collect(), self.a + self.b);
        sum.value() / (total * (total + 1.0))
    }

    /// The smallest first and the smallest second parameter.
    pub fn least_parameters(&self) -> (f64, f64) {
        (self.a, self.parameters(self.len() - 1).1)
    }

    /// The standard deviation of the narrowest law, for 2 asinh(z/2) instead of the logit z.
    pub fn narrowest(&self) -> f64 {
        let width = |place: usize| {
            let (a, b) = self.parameters(place);
            let centre = ln(a / b);
            (1.0 / a + 1.0 / b).sqrt() / (4.0 + centre * centre).sqrt()
        };
        (0..self.len()).map(width).fold(f64::INFINITY, f64::min)
    }

    /// The distribution function and the density of the logit.
    ///
    /// Let I_m be the distribution function of the m-th law. The differences s_m = I_m − I_(m+1) are
    /// positive, and the ratio of two successive ones is rational. So Σ w_m I_m = W_last I_last +
    /// Σ W_m s_m with the cumulative weights W. The largest step is computed, and the others follow from
    /// it in both directions.
    pub fn at(&self, place: Place) -> At {
        let last = self.len() - 1;
        if last == 0 {
            let (a, b) = (self.a, self.b);
            let density = exp_accurate(ln_logit_density(a, b, place));
            let below = if density < TINY * a.min(b) {
                f64::from(u8::from(place.x > a / (a + b)))
            } else {
                beta_split(a, b, place).0
            };
            return At { below: self.weights[0] * below, density: self.weights[0] * density };
        }
        // Let g_m be the density of the logit. Then s_m = g_m / (a_m (1 − x)) = g_(m+1) / (b_(m+1) x).
        let middle = (self.a + self.b) * place.x - self.a;
        let middle = middle.round().clamp(0.0, last as f64) as usize;
        let (a, b) = self.parameters(middle);
        let start = exp_accurate(ln_logit_density(a, b, place));
        let (mut below, mut density) = (0.0, self.weights[middle] * start);
        let (up, down) = (place.x / place.rest, place.rest / place.x);
        let (over_x, over_rest) = (1.0 / place.x, 1.0 / place.rest);
        let (mut g, mut ended) = (start, false);
        for m in middle..last {
            let quotient = g * self.inverses[m].0;
            let step = quotient * over_rest;
            g = quotient * (up * (self.b - (m + 1) as f64));
            below += self.cumulative[m] * step;
            density += self.weights[m + 1] * g;
            if step < TINY {
                ended = true;
                break;
            }
        }
        let mut g = start;
        for m in (0..middle).rev() {
            let quotient = g * self.inverses[m + 1].1;
            let step = quotient * over_x;
            g = quotient * (down * (self.a + m as f64));
            below += self.cumulative[m] * step;
            density += self.weights[m] * g;
            if step < TINY {
                break;
            }
        }
        // If the steps have come to an end before the last law, its distribution function is 0.
        if !ended {
            let (a, b) = self.parameters(last);
            below += self.total() * beta_split(a, b, place).0;
        }
        At { below, density }
    }
}
