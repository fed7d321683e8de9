//! The noise of the programs behind some printed figures. No document describes it, and nothing is
//! proved about it.

use super::effort::Effort;
use super::noise::{steps_within, window};
use crate::numeric::{Table, exp_accurate, expm1};
use crate::posterior::model::Posterior;
use crate::posterior::simplex::{Region, Shape, Window};
use crate::rng::{Stream, standard_exponential, uniform};

/// Noise that no document describes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HistoricalNoise {
    /// x_i + round(Lap(scale)) for every i but the first; the first count restores the total. Drawn
    /// again if a count is negative.
    Rounded {
        /// The scale of the Laplace noise.
        scale: f64,
    },
    /// x_i + round(|Lap(scale)|) for every i; the total grows.
    Absolute {
        /// The scale of the Laplace noise.
        scale: f64,
    },
}

impl HistoricalNoise {
    fn scale(self) -> f64 {
        match self {
            Self::Rounded { scale } | Self::Absolute { scale } => scale,
        }
    }

    /// The same noise with a scale `factor` times as large.
    pub fn widened(self, factor: f64) -> Self {
        match self {
            Self::Rounded { scale } => Self::Rounded { scale: scale * factor },
            Self::Absolute { scale } => Self::Absolute { scale: scale * factor },
        }
    }

    /// The outputs that carry all but a negligible part of the probability.
    pub fn region(self, posterior: &Posterior) -> Region {
        let (n, counts) = (posterior.n(), posterior.counts());
        let steps = steps_within(self.scale(), counts.len());
        match self {
            Self::Rounded { .. } => {
                let mut windows: Vec<Window> =
                    counts.iter().map(|&x| window(x, n, steps)).collect();
                windows[0] = (0, n);
                Region::new(n, Shape::Simplex, windows)
            }
            Self::Absolute { .. } => {
                let windows = counts.iter().map(|&x| (x, x.saturating_add(steps))).collect();
                Region::diamond(Shape::Free, counts.to_vec(), windows, steps)
            }
        }
    }

    /// P[round(Lap) = t] for a step of |t|, or P[round(|Lap|) = t].
    pub fn probability(self, steps: u64) -> f64 {
        let half = 0.5 / self.scale();
        // P[|η| < 1/2], and P[|η| in t ± 1/2] = 2 sinh(half) e^(−2 t half).
        let both_sides = match steps {
            0 => -expm1(-half),
            t => -expm1(-2.0 * half) * exp_accurate(-(2.0 * t as f64 - 1.0) * half),
        };
        match (self, steps) {
            (Self::Rounded { .. }, 1..) => 0.5 * both_sides,
            _ => both_sides,
        }
    }

    /// The factor of coordinate `i` at every value of its window.
    pub fn factor(self, i: usize, x: u64, (low, high): Window) -> Table {
        let of = |v: u64| match (self, i) {
            // The first count has no noise of its own.
            (Self::Rounded { .. }, 0) => 1.0,
            _ => self.probability(v.abs_diff(x)),
        };
        Table::new(low, (low..=high).map(of).collect())
    }

    /// How many of k counts, the first ones, are made in the same way.
    pub fn alike(self, k: usize) -> usize {
        match self {
            Self::Rounded { .. } => 0,
            Self::Absolute { .. } => k,
        }
    }

    /// A step of the noise: its size, and whether it goes down.
    fn step(self, rng: &mut Stream) -> (u64, bool) {
        let down = matches!(self, Self::Rounded { .. }) && uniform(rng) < 0.5;
        ((self.scale() * standard_exponential(rng) + 0.5).floor() as u64, down)
    }

    /// Draws once; false if a count is negative.
    pub fn try_draw(self, counts: &[u64], rng: &mut Stream, out: &mut [u64]) -> bool {
        let restored = matches!(self, Self::Rounded { .. });
        let mut fits = true;
        for (v, &x) in out.iter_mut().zip(counts).skip(usize::from(restored)) {
            let (steps, down) = self.step(rng);
            let moved = if down { x.checked_sub(steps) } else { x.checked_add(steps) };
            fits &= moved.is_some();
            *v = moved.unwrap_or(0);
        }
        if restored && let Some((first, others)) = out.split_first_mut() {
            let n: u64 = counts.iter().sum();
            let rest = others.iter().try_fold(n, |rest, &v| rest.checked_sub(v));
            fits &= rest.is_some();
            *first = rest.unwrap_or(0);
        }
        fits
    }
}

/// What the law takes: it is walked once more for its normaliser.
pub fn effort(posterior: &Posterior, noise: HistoricalNoise) -> Effort {
    let alike = &posterior.categories()[..noise.alike(posterior.k())];
    let mut effort = Effort::walk(noise.region(posterior), alike);
    effort.products += effort.walked.map_or(0.0, |walked| walked.outputs);
    effort
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::law::{Batch, Law, Product, probability};
    use crate::numeric::exp_accurate;
    use crate::posterior::model::Prior;
    use crate::rng::stream;

    fn posterior(counts: &[u64]) -> Posterior {
        Posterior::new(Prior::new(vec![1.0; counts.len()]).unwrap(), counts.to_vec())
    }

    #[test]
    fn rounded_noise_is_half_a_step_wider_than_its_cells() {
        let law =
            Product::historical(&posterior(&[60, 41]), HistoricalNoise::Rounded { scale: 4.0 });
        // P[round(Lap(4)) = 0] = 1 − e^(−1/8); repeated draws are rare here.
        assert!((law.normaliser() - 1.0).abs() < 2e-5 && law.normaliser() < 1.0);
        let stays = -expm1(-0.125);
        assert!((law.p_exact() * law.normaliser() - stays).abs() < 1e-15);
        let step = 0.5 * (exp_accurate(-0.125) - exp_accurate(-0.375));
        for output in [[59, 42], [61, 40]] {
            assert!((law.probability(&output) * law.normaliser() - step).abs() < 1e-15);
            assert!((law.probability(&output) - probability(&law, &output)).abs() < 1e-16);
        }
    }

    /// χ² of 40,000 draws over the cells with at least 20 expected ones, in standard deviations. The
    /// test fails by chance once in 10^7; a scale that is 12 % off gives more than 8.
    #[test]
    fn draws_follow_the_law() {
        let draws = 40_000;
        let off = |drawn: HistoricalNoise, stated: HistoricalNoise| {
            let x = posterior(&[9, 4, 6]);
            let (law, other) = (Product::historical(&x, drawn), Product::historical(&x, stated));
            let mut batches = [Batch::new(stream(1, "historical"), draws, 3)];
            law.draw(3, &mut batches);
            let mut seen = std::collections::BTreeMap::<&[u64], f64>::new();
            for out in batches[0].released.chunks_exact(3) {
                *seen.entry(out).or_default() += 1.0;
            }
            let (mut square, mut cells) = (0.0, 0.0);
            for (out, count) in &seen {
                let expected = other.probability(out) * draws as f64;
                if expected >= 20.0 {
                    square += (count - expected) * (count - expected) / expected;
                    cells += 1.0;
                }
            }
            (square - cells) / (2.0 * cells).sqrt()
        };
        for noise in [
            |scale| HistoricalNoise::Rounded { scale },
            |scale| HistoricalNoise::Absolute { scale },
        ] {
            let same = off(noise(2.5), noise(2.5));
            assert!(same.abs() < 5.3, "{same}");
            let other = off(noise(2.5), noise(2.8));
            assert!(other > 8.0, "{other}");
        }
    }
}
