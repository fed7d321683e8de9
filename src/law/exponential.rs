//! The exponential mechanism on the candidate set R.

use rand::Rng;
use rayon::prelude::*;

use super::Law;
use crate::field::Field;
use crate::model::approximate_compositions;
use crate::numeric::exp::exp_nonpositive;
use crate::numeric::{Sum, exp_accurate};
use crate::rng::uniform;
use crate::simplex::{BLOCK, Blocks, Region, Row, uniform_composition};

/// The candidates of one posterior, prepared for any number of exponential mechanisms: those that
/// are walked, and how many lie on the plateau where the score is 1.
pub struct Candidates {
    region: Region,
    blocks: Blocks,
    plateau: f64,
}

impl Candidates {
    /// All candidates; or, if that saves at least half and all `fields` (the score and what will be
    /// averaged) have one, the largest of their balls. Balls around one posterior are nested, so
    /// that outside of the largest every field is 1.
    #[must_use]
    pub fn new(fields: &[&dyn Field], n: u64, k: usize) -> Self {
        let all = approximate_compositions(n, k);
        let balls: Option<Vec<Region>> = fields.iter().map(|field| field.ball()).collect();
        let largest = balls
            .into_iter()
            .flatten()
            .map(|region| (region.blocks(), region))
            .max_by_key(|(blocks, _)| blocks.outputs());
        if let Some((blocks, region)) = largest {
            let plateau = all - blocks.outputs() as f64;
            // Rejection from the whole simplex finds the plateau in at most two tries on average.
            if plateau >= 0.5 * all {
                return Self { region, blocks, plateau };
            }
        }
        let region = Region::simplex(n, k);
        let blocks = region.blocks();
        Self { region, blocks, plateau: 0.0 }
    }
}

/// P(r) ∝ e^(−rate · score(r)) over R.
pub struct Exponential<'a> {
    walked: &'a Candidates,
    drawn: Sampler<'a>,
}

impl<'a> Exponential<'a> {
    /// The law, to be averaged over the candidates `walked` and drawn from the candidates `drawn`.
    /// The two are the same set, divided into ball and plateau in different ways: what is averaged
    /// must not change what is drawn.
    #[must_use]
    pub fn new(
        walked: &'a Candidates,
        drawn: &'a Candidates,
        score: &'a dyn Field,
        rate: f64,
    ) -> Self {
        Self { walked, drawn: Sampler::new(drawn, score, rate) }
    }
}

/// Draws candidates by the sums of their blocks' masses.
struct Sampler<'a> {
    candidates: &'a Candidates,
    score: &'a dyn Field,
    rate: f64,
    /// Running sums of the blocks' masses.
    cumulative: Vec<f64>,
    plateau: f64,
}

impl<'a> Sampler<'a> {
    /// Sums the masses of every block. The largest mass is 1, at the data itself, so nothing
    /// overflows, and what underflows does not count.
    fn new(candidates: &'a Candidates, score: &'a dyn Field, rate: f64) -> Self {
        let blocks = &candidates.blocks;
        let sums: Vec<f64> = (0..blocks.len())
            .into_par_iter()
            .map(|block| {
                let mut masses = [0.0; BLOCK];
                let mut sum = 0.0;
                candidates.region.walk(blocks, block, |row| {
                    let masses = &mut masses[..row.len];
                    score.row(row, masses);
                    weigh(rate, masses);
                    sum += masses.iter().sum::<f64>();
                });
                sum
            })
            .collect();
        let mut running = Sum::default();
        let cumulative = sums
            .into_iter()
            .map(|sum| {
                running.add(sum);
                running.value()
            })
            .collect();
        let plateau = candidates.plateau * exp_accurate(-rate);
        Self { candidates, score, rate, cumulative, plateau }
    }

    /// The mass of all candidates off the plateau.
    fn walked(&self) -> f64 {
        self.cumulative.last().copied().unwrap_or(0.0)
    }

    fn normaliser(&self) -> f64 {
        self.walked() + self.plateau
    }

    fn draw(&self, rng: &mut dyn Rng, out: &mut [u64]) {
        let target = uniform(rng) * self.normaliser();
        if target >= self.walked() && self.plateau > 0.0 {
            loop {
                uniform_composition(self.score.n(), out, rng);
                if !self.candidates.region.contains(out) {
                    return;
                }
            }
        }
        let last = self.cumulative.len() - 1;
        let block = self.cumulative.partition_point(|&sum| sum <= target).min(last);
        let before = if block == 0 { 0.0 } else { self.cumulative[block - 1] };
        self.find(block, target - before, out);
    }

    /// The candidate of `block` at which the masses, summed up, pass `target`.
    fn find(&self, block: usize, target: f64, out: &mut [u64]) {
        let mut scores = [0.0; BLOCK];
        let mut left = target;
        let mut found = false;
        self.candidates.region.walk(&self.candidates.blocks, block, |row| {
            if found {
                return;
            }
            let masses = &mut scores[..row.len];
            self.score.row(row, masses);
            weigh(self.rate, masses);
            for (t, &mass) in masses.iter().enumerate() {
                // The last candidate with any mass stands in if rounding leaves a remainder.
                if mass > 0.0 {
                    row.output(t, out);
                }
                left -= mass;
                if left < 0.0 {
                    found = true;
                    return;
                }
            }
        });
    }
}

/// Turns scores into masses.
fn weigh(rate: f64, scores: &mut [f64]) {
    for score in scores {
        *score = exp_nonpositive(-rate * *score);
    }
}

impl Law for Exponential<'_> {
    fn region(&self) -> &Region {
        &self.walked.region
    }

    fn blocks(&self) -> Option<&Blocks> {
        Some(&self.walked.blocks)
    }

    fn row(&self, row: &Row, field: &dyn Field, values: &mut [f64], masses: &mut [f64]) {
        let Sampler { score, rate, .. } = self.drawn;
        score.row(row, masses);
        if std::ptr::addr_eq(score, field) {
            values.copy_from_slice(masses);
        } else {
            field.row(row, values);
        }
        weigh(rate, masses);
    }

    fn normaliser(&self) -> f64 {
        self.drawn.normaliser()
    }

    fn plateau(&self) -> f64 {
        self.walked.plateau * exp_accurate(-self.drawn.rate)
    }

    fn plateau_outputs(&self) -> f64 {
        self.walked.plateau
    }

    fn p_exact(&self) -> f64 {
        1.0 / self.normaliser()
    }

    fn draw(&self, rng: &mut dyn Rng, out: &mut [u64]) {
        self.drawn.draw(rng, out);
    }
}
