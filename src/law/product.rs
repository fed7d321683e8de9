//! Laws whose mass is a product over the coordinates: noise on counts, and the Hamming mechanism.

use rand::Rng;

use super::hamming::Convolutions;
use super::noise::{steps_within, window};
use super::{LARGEST_EXACT, Law, Noise, hamming};
use crate::field::Field;
use crate::model::Posterior;
use crate::numeric::gamma::Table;
use crate::simplex::{Blocks, Region, Row, Shape, Tail, Window};

/// P(v) ∝ Π_i p_i(v_i).
pub struct Product {
    counts: Vec<u64>,
    region: Region,
    blocks: Option<Blocks>,
    /// p_i; absent for a coordinate that is determined by the others.
    factors: Vec<Table>,
    normaliser: f64,
    sampler: Sampler,
}

enum Sampler {
    Noise { noise: Noise, scale: f64, restored: bool },
    Hamming(Convolutions),
}

/// The outputs of a noisy release that carry all but a negligible part of the probability, as
/// windows of the coordinates and a bound on the steps in all. A restored last coordinate takes
/// what the others leave.
fn noise_reach(posterior: &Posterior, scale: f64, restored: bool) -> (Vec<Window>, u64) {
    let n = posterior.n();
    let steps = steps_within(scale, posterior.k() - usize::from(restored));
    let mut windows: Vec<Window> =
        posterior.counts().iter().map(|&x| window(x, n, steps)).collect();
    if restored && let Some((last, others)) = windows.split_last_mut() {
        let (low, high) = others.iter().fold((0, 0), |(l, h), w| (l + w.0, h + w.1));
        *last = (n.saturating_sub(high), n.saturating_sub(low));
    }
    (windows, steps)
}

/// The region of a noisy release.
pub fn noise_region(posterior: &Posterior, scale: f64, restored: bool) -> Region {
    let (windows, steps) = noise_reach(posterior, scale, restored);
    let shape = if restored { Shape::Restored } else { Shape::Free };
    Region::diamond(shape, posterior.counts().to_vec(), windows, steps)
}

impl Product {
    /// Noise of one law and scale on every count, or on all but the last.
    #[must_use]
    pub fn noise(posterior: &Posterior, noise: Noise, scale: f64, restored: bool) -> Self {
        let n = posterior.n();
        let region = noise_region(posterior, scale, restored);
        let noisy = posterior.k() - usize::from(restored);
        let marginal = |(&x, &window): (&u64, &Window)| noise.marginal(scale, x, n, window);
        let factors = posterior.counts().iter().zip(region.windows()).take(noisy).map(marginal);
        let sampler = Sampler::Noise { noise, scale, restored };
        let factors = factors.collect();
        Self::new(posterior, region, factors, 1.0, sampler)
    }

    /// The Hamming mechanism of the given rate.
    #[must_use]
    pub fn hamming(posterior: &Posterior, rate: f64) -> Self {
        let region = hamming::region(posterior, rate);
        let factors = hamming::factors(posterior, rate, region.windows());
        let convolutions = Convolutions::new(posterior, rate, region.windows());
        let normaliser = convolutions.normaliser();
        Self::new(posterior, region, factors, normaliser, Sampler::Hamming(convolutions))
    }

    fn new(
        posterior: &Posterior,
        region: Region,
        factors: Vec<Table>,
        normaliser: f64,
        sampler: Sampler,
    ) -> Self {
        let blocks = (region.size_bound() <= LARGEST_EXACT).then(|| region.blocks());
        let counts = posterior.counts().to_vec();
        Self { counts, region, blocks, factors, normaliser, sampler }
    }

    fn factor(&self, i: usize, v: u64) -> f64 {
        self.factors[i].get(v).unwrap_or(0.0)
    }
}

impl Law for Product {
    fn region(&self) -> &Region {
        &self.region
    }

    fn blocks(&self) -> Option<&Blocks> {
        self.blocks.as_ref()
    }

    fn row(&self, row: &Row, field: &dyn Field, values: &mut [f64], masses: &mut [f64]) {
        field.row(row, values);
        let place = row.head.len();
        let head: f64 = row.head.iter().enumerate().map(|(i, &v)| self.factor(i, v)).product();
        match self.factors[place].slice(row.start, row.len) {
            Some(running) => masses.iter_mut().zip(running).for_each(|(m, p)| *m = head * p),
            None => masses.fill(0.0),
        }
        if let (Tail::Complement(rest), Some(last)) = (row.tail, self.factors.get(place + 1)) {
            for (mass, v) in masses.iter_mut().zip(row.start..) {
                *mass *= last.get(rest - v).unwrap_or(0.0);
            }
        }
    }

    fn normaliser(&self) -> f64 {
        self.normaliser
    }

    fn p_exact(&self) -> f64 {
        let at_counts = self.factors.iter().zip(&self.counts);
        at_counts.map(|(factor, &x)| factor.get(x).unwrap_or(0.0)).product::<f64>()
            / self.normaliser
    }

    fn draw(&self, rng: &mut dyn Rng, out: &mut [u64]) {
        match &self.sampler {
            Sampler::Hamming(convolutions) => convolutions.draw(rng, out),
            &Sampler::Noise { noise, scale, restored } => {
                let n: u64 = self.counts.iter().sum();
                for (v, &x) in out.iter_mut().zip(&self.counts).take(self.factors.len()) {
                    *v = noise.draw(scale, x, n, rng);
                }
                if restored && let Some((last, others)) = out.split_last_mut() {
                    *last = n.saturating_sub(others.iter().sum());
                }
            }
        }
    }
}
