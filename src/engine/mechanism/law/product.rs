//! Laws whose mass is a product over the coordinates: noise on counts, and candidates weighed by the
//! number of moved records. The latter may have weights besides that are not a product.

use std::sync::{Arc, OnceLock};

use super::effort::Effort;
use super::exponential_steps::ExponentialSteps;
use super::hamming::Convolutions;
use super::lattice::{LatticeNoise, LatticeSampler};
use super::noise::{NEGLECTED, steps_within, window};
use super::tight::Tight;
use super::{Batch, CandidateWeights, HistoricalNoise, LARGEST_EXACT, Law, Noise, hamming};
use crate::mechanism::own::{NoiseSampler, OwnNoise};
use crate::numeric::{Table, exp_accurate, kernel};
use crate::posterior::model::Posterior;
use crate::posterior::simplex::{Blocks, Region, Row, Shape, Tail, Window};
use crate::rng::{Stream, uniform};

/// P(v) ∝ Π_i p_i(v_i).
pub struct Product {
    counts: Vec<u64>,
    region: Region,
    /// `None` if there are too many outputs to walk; then there are no factors either.
    blocks: Option<Blocks>,
    /// p_i; absent for a coordinate that is determined by the others.
    factors: Vec<Table>,
    /// Weights of the outputs beside the product, which are not a product themselves.
    tight: Option<Arc<Tight>>,
    normaliser: f64,
    p_exact: f64,
    sampler: Sampler,
}

enum Sampler {
    Noise { noise: Noise, steps: ExponentialSteps, restored: bool },
    Hamming(Convolutions),
    Tight { noise: LatticeNoise, sampler: OnceLock<LatticeSampler>, tight: Arc<Tight> },
    Own { noise: NoiseSampler, restored: bool },
    Historical(HistoricalNoise),
}

/// The outputs of a noisy release that carry all but a negligible part of the probability, as
/// windows of the coordinates and a bound on the sum of their steps. A restored last coordinate takes
/// what the others leave.
fn noise_reach(posterior: &Posterior, scale: f64, restored: bool) -> (Vec<Window>, u64) {
    let steps = steps_within(scale, posterior.k() - usize::from(restored));
    (windows(posterior, steps, restored), steps)
}

/// What each coordinate can be after so many steps.
fn windows(posterior: &Posterior, steps: u64, restored: bool) -> Vec<Window> {
    let n = posterior.n();
    let mut windows: Vec<Window> =
        posterior.counts().iter().map(|&x| window(x, n, steps)).collect();
    if restored && let Some((last, others)) = windows.split_last_mut() {
        let (low, high) = others.iter().fold((0, 0), |(l, h), w| (l + w.0, h + w.1));
        *last = (n.saturating_sub(high), n.saturating_sub(low));
    }
    windows
}

/// The region of a noisy release.
pub fn noise_region(posterior: &Posterior, scale: f64, restored: bool) -> Region {
    let (windows, steps) = noise_reach(posterior, scale, restored);
    let shape = if restored { Shape::Restored } else { Shape::Free };
    Region::diamond(shape, posterior.counts().to_vec(), windows, steps)
}

/// The region of a release with noise that the user wrote.
pub fn own_noise_region(posterior: &Posterior, noise: OwnNoise, restored: bool) -> Region {
    let noisy = (posterior.k() - usize::from(restored)) as u64;
    let shape = if restored { Shape::Restored } else { Shape::Free };
    let windows = windows(posterior, noise.reach(), restored);
    let steps = noise.reach().saturating_mul(noisy);
    Region::diamond(shape, posterior.counts().to_vec(), windows, steps)
}

/// What noise on the counts takes.
pub fn noise_effort(posterior: &Posterior, scale: f64, restored: bool) -> Effort {
    let independent = &posterior.categories()[..posterior.k() - usize::from(restored)];
    Effort::walk(noise_region(posterior, scale, restored), independent)
}

/// What noise that the user wrote takes: it has a table of all steps from a count to another.
pub fn own_noise_effort(posterior: &Posterior, noise: OwnNoise, restored: bool) -> Effort {
    let independent = &posterior.categories()[..posterior.k() - usize::from(restored)];
    let mut effort = Effort::walk(own_noise_region(posterior, noise, restored), independent);
    let steps = 2.0 * (posterior.n() as f64 + noise.reach() as f64) + 1.0;
    // The tails on both sides are added up as logarithms.
    effort.add(Effort { evaluated: 4.0 * steps, kept: 4.0 * steps, ..Effort::default() });
    effort
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
        let sampler = Sampler::Noise { noise, steps: ExponentialSteps::new(scale, n), restored };
        Self::new(posterior, noisy.len(), region, marginals, 1.0, p_exact, sampler)
    }

    /// Noise that the user wrote, on every count or on all but the last.
    pub fn own_noise(posterior: &Posterior, noise: OwnNoise, restored: bool) -> Self {
        let noisy = &posterior.counts()[..posterior.k() - usize::from(restored)];
        let region = own_noise_region(posterior, noise, restored);
        let table = noise.table();
        let marginals = |region: &Region| {
            let windows = noisy.iter().zip(region.windows());
            windows.map(|(&x, &window)| table.marginal(x, window)).collect()
        };
        let p_exact = noisy.iter().map(|&x| exp_accurate(table.ln_probability(x, x))).product();
        let sampler = Sampler::Own { noise: table.sampler(), restored };
        Self::new(posterior, noisy.len(), region, marginals, 1.0, p_exact, sampler)
    }

    /// Noise that only printed figures used.
    pub fn historical(posterior: &Posterior, noise: HistoricalNoise) -> Self {
        let counts = posterior.counts();
        let factors = |region: &Region| {
            let windows = region.windows().iter().enumerate();
            windows.map(|(i, &window)| noise.factor(i, counts[i], window)).collect()
        };
        let (alike, region) = (noise.alike(counts.len()), noise.region(posterior));
        let p_exact = counts.iter().map(|_| noise.probability(0)).product();
        let sampler = Sampler::Historical(noise);
        let mut law = Self::new(posterior, alike, region, factors, 1.0, p_exact, sampler);
        if law.blocks.is_some() {
            // Less than 1 where draws are repeated.
            law.normaliser = hamming::total_mass(&law);
            law.p_exact = law.probability(counts);
        }
        law
    }

    /// A candidate weighed by w(r) e^(−rate · d(x, r)).
    pub fn hamming(posterior: &Posterior, rate: f64, weights: CandidateWeights) -> Self {
        let region = hamming::region(posterior, rate);
        Self::hamming_within(posterior, rate, weights, region)
    }

    /// The same law, of which the outputs of `region` are walked.
    pub fn hamming_within(
        posterior: &Posterior,
        rate: f64,
        weights: CandidateWeights,
        region: Region,
    ) -> Self {
        let (k, x) = (posterior.k(), posterior.counts());
        let factors = |region: &Region| hamming::factors(posterior, rate, region.windows());
        if let Some(tight) = weights.tight(posterior, rate) {
            let normaliser = tight.normaliser(x);
            let p_exact = tight.weight(x) / normaliser;
            let noise = LatticeNoise::Geometric { rate };
            let sampler =
                Sampler::Tight { noise, sampler: OnceLock::new(), tight: Arc::clone(&tight) };
            let law = Self::new(posterior, k, region, factors, normaliser, p_exact, sampler);
            return Self { tight: Some(tight), ..law };
        }
        let convolutions = Convolutions::new(posterior, rate, region.windows());
        let normaliser = convolutions.normaliser();
        let sampler = Sampler::Hamming(convolutions);
        Self::new(posterior, k, region, factors, normaliser, 1.0 / normaliser, sampler)
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
        // Of outputs that differ by exchanging equal categories only one is walked. In a part of a law,
        // equal categories may have different windows.
        let windows = region.windows().iter().copied();
        let categories: Vec<_> = posterior.categories().into_iter().zip(windows).collect();
        let region = region.folded(&categories[..independent]);
        let blocks = walked.then(|| region.blocks());
        let factors = if walked { factors(&region) } else { Vec::new() };
        let counts = posterior.counts().to_vec();
        Self { counts, region, blocks, factors, tight: None, normaliser, p_exact, sampler }
    }

    fn factor(&self, i: usize, v: u64) -> f64 {
        self.factors[i].get(v).unwrap_or(0.0)
    }

    /// The probability of one output with a factor for every coordinate.
    pub fn probability(&self, output: &[u64]) -> f64 {
        let factors = output.iter().enumerate().map(|(i, &v)| self.factor(i, v));
        factors.product::<f64>() / self.normaliser
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
        // Under noise that restores the total the last coordinate has no factor, since the others
        // determine it.
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
        if let Some(tight) = &self.tight {
            tight.weigh(row, masses);
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
            Self::Tight { noise, sampler, tight } => {
                let sampler = sampler.get_or_init(|| LatticeSampler::new(*noise, counts.len()));
                draw_tight(sampler, tight, counts, rng, out);
            }
            Self::Noise { noise, steps, restored } => {
                let n: u64 = counts.iter().sum();
                draw_noisy(counts, *restored, out, |x| noise.draw(steps, x, n, rng));
            }
            Self::Own { noise, restored } => {
                draw_noisy(counts, *restored, out, |x| noise.draw(x, rng));
            }
            Self::Historical(noise) => while !noise.try_draw(counts, rng, out) {},
        }
    }
}

/// Draws every count, or all but the last, which restores the total.
#[inline]
fn draw_noisy(counts: &[u64], restored: bool, out: &mut [u64], mut noisy: impl FnMut(u64) -> u64) {
    let free = counts.len() - usize::from(restored);
    for (v, &x) in out.iter_mut().zip(counts).take(free) {
        *v = noisy(x);
    }
    if restored && let Some((last, others)) = out.split_last_mut() {
        let n: u64 = counts.iter().sum();
        *last = n.saturating_sub(others.iter().sum());
    }
}

/// Draws y = x + z with lattice noise z until y is a candidate and accepted with probability
/// w(y) / max w. The chance of a trial is Σ_y w(y) a^(d(x, y)) over a constant. If no weight was set to 0,
/// it is the same for all data, so that the number of trials tells nothing about them.
fn draw_tight(
    noise: &LatticeSampler,
    tight: &Tight,
    counts: &[u64],
    rng: &mut Stream,
    out: &mut [u64],
) {
    loop {
        noise.draw(rng, out);
        let inside = out.iter_mut().zip(counts).all(|(v, x)| {
            let moved = x.checked_add_signed(*v as i64);
            moved.map(|moved| *v = moved).is_some()
        });
        if inside && uniform(rng) * tight.largest() < tight.weight(out) {
            return;
        }
    }
}
