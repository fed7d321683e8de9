//! Laws whose mass is a product over the coordinates: noise on counts, and the Hamming mechanism.

use super::hamming::Convolutions;
use super::noise::{NEGLECTED, steps_within, window};
use super::{Batch, LARGEST_EXACT, Law, Noise, hamming};
use crate::base::numeric::{Table, kernel};
use crate::base::rng::Stream;
use crate::posterior::model::Posterior;
use crate::posterior::simplex::{Blocks, Region, Row, Shape, Tail, Window};

/// P(v) ∝ Π_i p_i(v_i).
pub struct Product {
    counts: Vec<u64>,
    region: Region,
    /// `None` if there are too many outputs to walk; then there are no factors either.
    blocks: Option<Blocks>,
    /// p_i; absent for a coordinate that is determined by the others.
    factors: Vec<Table>,
    normaliser: f64,
    p_exact: f64,
    sampler: Sampler,
}

enum Sampler {
    Noise { noise: Noise, scale: f64, restored: bool },
    Hamming(Convolutions),
}

/// The outputs of a noisy release that carry all but a negligible part of the probability, as
/// windows of the coordinates and a bound on the sum of their steps. A restored last coordinate takes
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

/// Whether a law on this region is small enough to be walked.
pub fn is_walked(region: &Region) -> bool {
    // The outputs of the box around the region are counted at once; those of the region take longer.
    let side = |&(low, high): &(u64, u64)| (high - low) as f64 + 1.0;
    let around: f64 = region.windows().iter().map(side).product();
    around <= LARGEST_EXACT || region.size_bound() <= LARGEST_EXACT
}

impl Product {
    /// Noise of one law and scale on every count, or on all but the last.
    pub fn noise(posterior: &Posterior, noise: Noise, scale: f64, restored: bool) -> Self {
        let n = posterior.n();
        let noisy = &posterior.counts()[..posterior.k() - usize::from(restored)];
        let region = noise_region(posterior, scale, restored);
        let marginals = |region: &Region| {
            let windows = noisy.iter().zip(region.windows());
            windows.map(|(&x, &window)| noise.marginal(scale, x, n, window)).collect()
        };
        let p_exact = noisy.iter().map(|&x| noise.probability(scale, x, n, x)).product();
        let sampler = Sampler::Noise { noise, scale, restored };
        Self::new(posterior, noisy.len(), region, marginals, 1.0, p_exact, sampler)
    }

    /// The Hamming mechanism of the given rate.
    pub fn hamming(posterior: &Posterior, rate: f64) -> Self {
        let region = hamming::region(posterior, rate);
        let convolutions = Convolutions::new(posterior, rate, region.windows());
        let normaliser = convolutions.normaliser();
        let factors = |region: &Region| hamming::factors(posterior, rate, region.windows());
        let sampler = Sampler::Hamming(convolutions);
        Self::new(posterior, posterior.k(), region, factors, normaliser, 1.0 / normaliser, sampler)
    }

    /// The first `independent` coordinates are made independently, and all in the same way.
    fn new(
        posterior: &Posterior,
        independent: usize,
        region: Region,
        factors: impl Fn(&Region) -> Vec<Table>,
        normaliser: f64,
        p_exact: f64,
        sampler: Sampler,
    ) -> Self {
        let walked = is_walked(&region);
        // Of outputs that differ by exchanging equal categories only one is walked.
        let categories = posterior.categories();
        let region = region.folded(&categories[..independent]);
        let blocks = walked.then(|| region.blocks());
        let factors = if walked { factors(&region) } else { Vec::new() };
        let counts = posterior.counts().to_vec();
        Self { counts, region, blocks, factors, normaliser, p_exact, sampler }
    }

    fn factor(&self, i: usize, v: u64) -> f64 {
        self.factors[i].get(v).unwrap_or(0.0)
    }

    /// The masses of a row that the tables do not cover, one by one.
    fn few_masses(&self, row: &Row, head: f64, masses: &mut [f64]) {
        let place = row.head.len();
        for (mass, v) in masses.iter_mut().zip(row.start..) {
            *mass = head * self.factor(place, v);
            if let (Tail::Complement(rest), true) = (row.tail, place + 1 < self.factors.len()) {
                *mass *= self.factor(place + 1, rest - v);
            }
        }
    }
}

impl Law for Product {
    fn region(&self) -> &Region {
        &self.region
    }

    fn left_out(&self) -> f64 {
        NEGLECTED
    }

    fn blocks(&self) -> Option<&Blocks> {
        self.blocks.as_ref()
    }

    fn masses(&self, row: &Row, masses: &mut [f64]) {
        let place = row.head.len();
        let head = row.head.iter().enumerate().map(|(i, &v)| self.factor(i, v));
        let head = head.fold(row.weight, |product, factor| product * factor);
        let running = self.factors[place].slice(row.start, row.len);
        // The last coordinate has a factor in the Hamming mechanism only. Under noise that restores the
        // total it has none, since the others determine it.
        let last = match (row.tail, self.factors.get(place + 1)) {
            (Tail::Complement(rest), Some(last)) => {
                Some(last.slice((rest + 1).saturating_sub(row.start + row.len as u64), row.len))
            }
            _ => None,
        };
        match (running, last) {
            (Some(p), None) => kernel::products(head, p, None, masses),
            (Some(p), Some(Some(q))) => kernel::products(head, p, Some(q), masses),
            _ => self.few_masses(row, head, masses),
        }
    }

    fn normaliser(&self) -> f64 {
        self.normaliser
    }

    fn p_exact(&self) -> f64 {
        self.p_exact
    }

    fn draw(&self, k: usize, batches: &mut [Batch]) {
        for Batch { rng, released } in batches {
            for out in released.chunks_exact_mut(k) {
                self.sampler.draw(&self.counts, rng, out);
            }
        }
    }
}

impl Sampler {
    fn draw(&self, counts: &[u64], rng: &mut Stream, out: &mut [u64]) {
        match self {
            Self::Hamming(convolutions) => convolutions.draw(rng, out),
            &Self::Noise { noise, scale, restored } => {
                let n: u64 = counts.iter().sum();
                let noisy = counts.len() - usize::from(restored);
                for (v, &x) in out.iter_mut().zip(counts).take(noisy) {
                    *v = noise.draw(scale, x, n, rng);
                }
                if restored && let Some((last, others)) = out.split_last_mut() {
                    *last = n.saturating_sub(others.iter().sum());
                }
            }
        }
    }
}
