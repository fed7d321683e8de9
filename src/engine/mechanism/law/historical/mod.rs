//! The noise of the programs behind some printed figures. No document describes it, and nothing is
//! proved about it.

use std::sync::Arc;

use super::noise::{steps_within, window};
use super::pair::Comparisons;
use super::{Factors, Law, LawAt, OutputLaw, OutputSet, Outputs, Product};
use crate::numeric::{Table, exp_accurate, expm1, ln};
use crate::posterior::error_field::Field;
use crate::posterior::model::{Counts, Posterior};
use crate::posterior::setting::Setting;
use crate::posterior::simplex::{Region, Shape, Window};
use crate::refusal::Refusal;
use crate::rng::{Stream, standard_exponential, uniform};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HistoricalNoise {
    /// The scale of the Laplace noise.
    pub scale: f64,
    /// Whether counts only grow: x_i + round(|Lap(scale)|) for every i. Otherwise x_i + round(Lap(scale)) for
    /// every i but the first; the first count restores the total, and if one is negative, all are drawn again.
    pub grows: bool,
}

impl HistoricalNoise {
    /// The outputs that carry all but a negligible part of the probability.
    fn region(self, posterior: &Posterior) -> Region {
        let (n, counts) = (posterior.n(), posterior.counts());
        let steps = steps_within(self.scale, counts.len());
        if self.grows {
            let windows = counts.iter().map(|&x| (x, x.saturating_add(steps))).collect();
            return Region::diamond(Shape::Free, counts.to_vec(), windows, steps);
        }
        let mut windows: Vec<Window> = counts.iter().map(|&x| window(x, n, steps)).collect();
        windows[0] = (0, n);
        Region::new(n, Shape::Simplex, windows)
    }

    /// P[round(Lap) = t] for a step of |t|, or P[round(|Lap|) = t].
    fn probability(self, steps: u64) -> f64 {
        let half = 0.5 / self.scale;
        // P[|η| < 1/2], and P[|η| in t ± 1/2] = 2 sinh(half) e^(−2 t half).
        let both_sides = match steps {
            0 => -expm1(-half),
            t => -expm1(-2.0 * half) * exp_accurate(-(2.0 * t as f64 - 1.0) * half),
        };
        if self.grows || steps == 0 { both_sides } else { 0.5 * both_sides }
    }

    /// The factor of coordinate `i` at every value of its window. The first count that restores the total has
    /// no noise of its own.
    fn factor(self, i: usize, x: u64, (low, high): Window) -> Table {
        let is_noisy = self.grows || i > 0;
        let of = |v: u64| if is_noisy { self.probability(v.abs_diff(x)) } else { 1.0 };
        Table::new(low, (low..=high).map(of).collect())
    }

    /// Draws once; false if a count is negative.
    fn try_draw(self, counts: &[u64], rng: &mut Stream, out: &mut [u64]) -> bool {
        let mut fits = true;
        for (v, &x) in out.iter_mut().zip(counts).skip(usize::from(!self.grows)) {
            let down = !self.grows && uniform(rng) < 0.5;
            let steps = (self.scale * standard_exponential(rng) + 0.5).floor() as u64;
            let moved = if down { x.checked_sub(steps) } else { x.checked_add(steps) };
            fits &= moved.is_some();
            *v = moved.unwrap_or(0);
        }
        if !self.grows
            && let Some((first, others)) = out.split_first_mut()
        {
            let n: u64 = counts.iter().sum();
            let rest = others.iter().try_fold(n, |rest, &v| rest.checked_sub(v));
            fits &= rest.is_some();
            *first = rest.unwrap_or(0);
        }
        fits
    }
}

impl Law for HistoricalNoise {
    fn outputs(&self) -> OutputSet {
        if self.grows { OutputSet::Open } else { OutputSet::Simplex }
    }

    fn at(&self, posterior: &Posterior) -> Result<Box<dyn LawAt + '_>, Refusal> {
        Ok(Box::new(HistoricalAt { noise: *self, posterior: posterior.clone() }))
    }

    fn widened(&self, factor: f64) -> Result<Arc<dyn Law>, Refusal> {
        Ok(Arc::new(Self { scale: self.scale * factor, ..*self }))
    }

    fn comparisons<'a>(
        &'a self,
        _: &'a Setting,
        _: &[&Counts],
    ) -> Result<Box<dyn Comparisons + 'a>, Refusal> {
        Err(Refusal::new(
            "it is a historical curiosity, which only shows how a figure was made",
            "use it in experiments of kind accuracy or theory",
        ))
    }
}

struct HistoricalAt {
    noise: HistoricalNoise,
    posterior: Posterior,
}

impl HistoricalAt {
    fn product(&self) -> Product<'_> {
        let (noise, counts) = (self.noise, self.posterior.counts());
        let tables = move |windows: &[Window]| {
            let windows = windows.iter().enumerate();
            windows.map(|(i, &window)| noise.factor(i, counts[i], window)).collect()
        };
        let factors = Factors {
            region: noise.region(&self.posterior),
            alike: if noise.grows { counts.len() } else { 0 },
            tables: Box::new(tables),
            normaliser: 1.0,
            p_exact: counts.iter().map(|_| noise.probability(0)).product(),
            draw: Box::new(move |rng, out| while !noise.try_draw(counts, rng, out) {}),
        };
        // Less than 1 where draws are repeated.
        Product::new(&self.posterior, factors).normalised(counts)
    }
}

impl LawAt for HistoricalAt {
    fn region(&self) -> Option<Region> {
        Some(self.noise.region(&self.posterior))
    }

    fn ln_probabilities(&self, outputs: Outputs, _: &dyn Field) -> Vec<f64> {
        let law = self.product();
        outputs.list().iter().map(|output| ln(law.probability(output))).collect()
    }

    fn output_law(&self) -> Box<dyn OutputLaw + '_> {
        Box::new(self.product())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::law::{Batch, probability};
    use crate::posterior::model::Prior;
    use crate::rng::stream;

    fn posterior(counts: &[u64]) -> Posterior {
        Posterior::new(Prior::new(vec![1.0; counts.len()]).unwrap(), counts.to_vec())
    }

    #[test]
    fn rounded_noise_is_half_a_step_wider_than_its_cells() {
        let noise = HistoricalNoise { scale: 4.0, grows: false };
        let at = HistoricalAt { noise, posterior: posterior(&[60, 41]) };
        let law = at.product();
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
            let at = |noise| HistoricalAt { noise, posterior: x.clone() };
            let (drawn, stated) = (at(drawn), at(stated));
            let (law, other) = (drawn.product(), stated.product());
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
        for grows in [false, true] {
            let noise = |scale| HistoricalNoise { scale, grows };
            let same = off(noise(2.5), noise(2.5));
            assert!(same.abs() < 5.3, "{same}");
            let other = off(noise(2.5), noise(2.8));
            assert!(other > 8.0, "{other}");
        }
    }
}
