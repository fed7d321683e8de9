//! Mixtures of Beta laws: means, distribution functions and credible intervals.

use schemars::JsonSchema;
use serde::Serialize;

use super::beta_row::{At, BetaRow};
use super::weights::Weights;
use engine::numeric::beta::Place;
use engine::numeric::{Sum, first_where, ln};

/// An equal-tailed interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

/// Weights smaller than this, relative to their sum, do not change its last bit.
const NEGLIGIBLE: f64 = 1e-18;

/// Σ_t Σ_m w(m, t) Beta(α + m, β + t − m): the posterior of the share of some cells within a group, if
/// their count m and the group's count t are uncertain.
#[derive(Clone, Debug)]
pub struct BetaMixture {
    /// One for every count of the group. Together their weights sum to 1.
    rows: Vec<BetaRow>,
}

impl BetaMixture {
    /// A single Beta(a, b).
    pub fn beta(a: f64, b: f64) -> Self {
        Self { rows: vec![BetaRow::new(a, b, vec![1.0])] }
    }

    /// The mixture with these weights of m for every t. They need not sum to 1. α and β belong to the
    /// cells and to the rest of the group.
    pub(super) fn new(parameters: (f64, f64), counts: &[(u64, Weights)]) -> Self {
        Self::with_places(parameters, counts, NEGLIGIBLE).0
    }

    /// As [`Self::new`]; and for every row that is not negligible its place among `counts`.
    pub(super) fn with_places(
        (alpha, beta): (f64, f64),
        counts: &[(u64, Weights)],
        negligible: f64,
    ) -> (Self, Vec<usize>) {
        let all = counts.iter().flat_map(|(_, weights)| &weights.values);
        let sum = all.copied().collect::<Sum>().value();
        let row = |(place, (t, weights)): (usize, &(u64, Weights))| {
            let counts = |weight: &f64| *weight > negligible * sum;
            let start = weights.values.iter().position(counts)?;
            let end = weights.values.iter().rposition(counts)?;
            let m = weights.first + start as u64;
            let values = weights.values[start..=end].iter().map(|weight| weight / sum).collect();
            Some((BetaRow::new(alpha + m as f64, beta + (t - m) as f64, values), place))
        };
        let (rows, places) = counts.iter().enumerate().filter_map(row).unzip();
        (Self { rows }, places)
    }

    pub(super) fn rows(&self) -> &[BetaRow] {
        &self.rows
    }

    /// Every row at a place.
    pub(super) fn at_rows(&self, place: Place) -> Vec<At> {
        self.rows.iter().map(|row| row.at(place)).collect()
    }

    pub(super) fn moments(&self) -> (f64, f64) {
        let mean = self.mean();
        let square = self.rows.iter().map(BetaRow::mean_square).collect::<Sum>().value();
        (mean, (square - mean * mean).max(0.0))
    }

    /// The standard deviation of the narrowest law that matters, for 2 asinh(z/2) instead of the logit z.
    pub(super) fn narrowest(&self) -> f64 {
        let rows = self.rows.iter().filter(|row| row.total() > NARROW);
        rows.map(BetaRow::narrowest).fold(f64::INFINITY, f64::min)
    }

    /// Logits with hardly any mass below the first and above the second one.
    pub(super) fn logit_ends(&self) -> (f64, f64) {
        let (a, b) = self.rows.iter().fold((1.0_f64, 1.0_f64), |least, row| {
            let row = row.least_parameters();
            (least.0.min(row.0), least.1.min(row.1))
        });
        // From the ends on the density of the logit decays at least like e^(−az) and e^(−bz).
        let end = |above: bool| {
            let is_beyond = |z: f64| {
                let At { below, density } = self.at(Place::at_logit(z));
                (below > 0.5) == above && density < NO_MASS * if above { b } else { a }
            };
            let (mut within, mut beyond) =
                if above { (-FARTHEST, FARTHEST) } else { (FARTHEST, -FARTHEST) };
            for _ in 0..HALVINGS {
                let middle = within.midpoint(beyond);
                if is_beyond(libm::sinh(middle)) { beyond = middle } else { within = middle }
            }
            libm::sinh(beyond)
        };
        (end(false), end(true))
    }

    pub fn mean(&self) -> f64 {
        self.rows.iter().map(BetaRow::mean).collect::<Sum>().value()
    }

    fn at(&self, place: Place) -> At {
        let (mut below, mut density) = (Sum::default(), Sum::default());
        for row in &self.rows {
            let at = row.at(place);
            below.add(at.below);
            density.add(at.density);
        }
        At { below: below.value().clamp(0.0, 1.0), density: density.value() }
    }

    /// P[θ <= x].
    pub fn below(&self, x: f64) -> f64 {
        if x <= 0.0 || x >= 1.0 {
            return if x <= 0.0 { 0.0 } else { 1.0 };
        }
        self.at(Place::at(x)).below
    }

    /// The density at x, 0 < x < 1.
    pub fn density(&self, x: f64) -> f64 {
        self.at(Place::at(x)).density / (x * (1.0 - x))
    }

    /// The smallest double x with P[θ <= x] >= p.
    pub fn quantile(&self, p: f64) -> f64 {
        let near = Place::at_logit(self.logit_near(p)).x.to_bits();
        // The bisection runs over the bits of x, so that small quantiles have as many correct digits as
        // large ones.
        let most = 1.0_f64.to_bits();
        let reaches = |bits: u64| self.below(f64::from_bits(bits)) >= p;
        let mut apart = 64;
        let (low, high) = loop {
            let (low, high) = (near.saturating_sub(apart), (near + apart).min(most));
            if (low == 0 || !reaches(low)) && (high == most || reaches(high)) {
                break (low, high);
            }
            apart = apart.saturating_mul(64).min(most);
        };
        // There is no double between 0 and the smallest positive one.
        match first_where(low + 1, high, reaches) {
            1 => 0.0,
            bits => f64::from_bits(bits),
        }
    }

    /// The logit of the quantile, to nearly all digits: by Newton's method for the logarithm of the
    /// smaller tail, which is about concave.
    fn logit_near(&self, p: f64) -> f64 {
        let mean = self.mean();
        let mut z = ln(mean / (1.0 - mean)).clamp(-LARGEST_LOGIT, LARGEST_LOGIT);
        let (mut least, mut most) = (-LARGEST_LOGIT, LARGEST_LOGIT);
        for _ in 0..MOST_STEPS {
            let At { below, density } = self.at(Place::at_logit(z));
            if below >= p {
                most = z
            } else {
                least = z
            }
            let step = if p <= 0.5 {
                ln(p / below) * below / density
            } else {
                ln((1.0 - below) / (1.0 - p)) * (1.0 - below) / density
            };
            let next = z + step;
            // The error after a step is about the square of the step.
            if step.abs() <= 1e-9 {
                return next;
            }
            // NaN and whatever leaves the bracket.
            z = if next > least && next < most { next } else { least.midpoint(most) };
        }
        z
    }

    /// The interval that leaves out (1 − level)/2 on either side.
    pub fn interval(&self, level: f64) -> Interval {
        let left_out = 0.5 * (1.0 - level);
        Interval { low: self.quantile(left_out), high: self.quantile(1.0 - left_out) }
    }
}

/// Beyond this logit no place is a double.
const LARGEST_LOGIT: f64 = 746.0;

/// Rows with less weight do not determine the step of an integral.
const NARROW: f64 = 1e-6;

/// The mass beyond the ends, about.
const NO_MASS: f64 = 1e-15;

/// Beyond sinh of this the logit has no mass, if no parameter is below 0.001.
const FARTHEST: f64 = 12.0;

/// The ends of the mass are found so precisely.
const HALVINGS: usize = 12;

/// A limit on the steps of Newton's method, which takes about ten.
const MOST_STEPS: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;
    use engine::numeric::beta::beta_split;

    /// Σ w(m) Beta(α + m, N − α − m), m = first, …
    fn mixture(alpha: f64, total: f64, first: u64, weights: &[f64]) -> BetaMixture {
        let last = first + weights.len() as u64 - 1;
        let parameters = (alpha, total - alpha - last as f64);
        let weights = Weights { first, values: weights.to_vec() };
        BetaMixture::new(parameters, &[(last, weights)])
    }

    #[test]
    fn a_single_law() {
        let uniform = mixture(1.0, 2.0, 0, &[1.0]);
        let interval = uniform.interval(0.9);
        assert!((interval.low - 0.05).abs() < 1e-12 && (interval.high - 0.95).abs() < 1e-12);
        // Beta(4, 8), computed with 50 digits: quantiles of 2.5 and 97.5 %.
        let interval = mixture(1.0, 12.0, 3, &[1.0]).interval(0.95);
        assert!((interval.low - 0.109_263_443_819_098_1).abs() < 1e-11, "{interval:?}");
        assert!((interval.high - 0.609_742_559_572_421_2).abs() < 1e-11, "{interval:?}");
    }

    #[test]
    fn a_mixture_is_the_sum_of_its_parts() {
        let weights = [0.1, 0.0, 0.25, 0.4, 0.25];
        let mixture = mixture(0.5, 20.0, 3, &weights);
        for x in [0.01, 0.2, 0.33, 0.6, 0.95] {
            let parts = weights.iter().enumerate().map(|(m, weight)| {
                let a = 3.5 + m as f64;
                weight * beta_split(a, 20.0 - a, Place::at(x)).0
            });
            assert!((mixture.below(x) - parts.sum::<f64>()).abs() < 1e-14, "{x}");
        }
        let mean: f64 = (0..5).map(|m| weights[m] * (3.5 + m as f64) / 20.0).sum();
        assert!((mixture.mean() - mean).abs() < 1e-15);
        let interval = mixture.interval(0.8);
        assert!((mixture.below(interval.high) - mixture.below(interval.low) - 0.8).abs() < 1e-11);
    }

    #[test]
    fn tiny_quantiles_keep_their_digits() {
        // P[θ <= x] of Beta(a, 1) is x^a.
        let interval = mixture(0.01, 1.01, 0, &[1.0]).interval(0.95);
        let expected = libm::pow(0.025, 100.0);
        assert!((interval.low / expected - 1.0).abs() < 1e-9, "{interval:?}");
    }
}
