//! Post-processing: a law whose outputs are replaced by candidates of R.

use std::sync::Arc;

use super::{Batch, Law, Outputs, Recipe};
use crate::base::numeric::{Sum, exp_accurate, ln};
use crate::posterior::model::Counts;
use crate::posterior::simplex::{Blocks, Region, Row, rank};

/// What is released in place of every output: a candidate of R.
///
/// Whatever the map, privacy is kept: it knows the output only, not the data.
#[derive(Clone, Debug, PartialEq)]
pub struct Remap {
    outputs: Outputs,
    /// For each output its candidate.
    to: Vec<Counts>,
}

impl Remap {
    /// The map that replaces the outputs, in their order, by `to`.
    ///
    /// # Panics
    /// If there are not as many candidates as outputs.
    pub fn new(outputs: Outputs, to: Vec<Counts>) -> Self {
        assert_eq!(outputs.len(), to.len(), "one candidate for every output");
        Self { outputs, to }
    }

    /// The outputs that are replaced.
    pub fn outputs(&self) -> Outputs {
        self.outputs
    }

    /// What is released in place of `output`.
    pub fn replace(&self, output: &[u64]) -> &[u64] {
        &self.to[self.outputs.index(output)]
    }

    /// ln P of every candidate, from ln P of every output; −∞ where nothing is mapped.
    pub fn fold(&self, ln_outputs: &[f64]) -> Vec<f64> {
        let candidates = self.outputs.candidates();
        let mut highest = vec![f64::NEG_INFINITY; candidates];
        let places: Vec<usize> = self.to.iter().map(|candidate| rank(candidate)).collect();
        for (&place, &value) in places.iter().zip(ln_outputs) {
            highest[place] = f64::max(highest[place], value);
        }
        let mut sums = vec![Sum::default(); candidates];
        for (&place, &value) in places.iter().zip(ln_outputs) {
            if value > f64::NEG_INFINITY {
                sums[place].add(exp_accurate(value - highest[place]));
            }
        }
        let folded = |(highest, sum): (f64, Sum)| match highest {
            f64::NEG_INFINITY => highest,
            _ => highest + ln(sum.value()),
        };
        highest.into_iter().zip(sums).map(folded).collect()
    }
}

/// A recipe, and what is done to its output.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// How an output is made.
    pub recipe: Recipe,
    /// What is released in its place, if it is not released itself.
    pub remap: Option<Arc<Remap>>,
}

impl From<Recipe> for Plan {
    fn from(recipe: Recipe) -> Self {
        Self { recipe, remap: None }
    }
}

impl From<&Plan> for Plan {
    fn from(plan: &Self) -> Self {
        plan.clone()
    }
}

/// A law whose outputs are replaced.
pub struct Remapped<'a> {
    inner: Box<dyn Law + 'a>,
    remap: Arc<Remap>,
    region: Region,
    blocks: Blocks,
    /// The probability of every candidate, in lexicographic order.
    masses: Vec<f64>,
    truth: usize,
}

impl<'a> Remapped<'a> {
    /// The law `inner`, whose outputs have the logarithms of probabilities `ln_outputs` at the data
    /// `x`.
    pub fn new(inner: Box<dyn Law + 'a>, remap: Arc<Remap>, ln_outputs: &[f64], x: &[u64]) -> Self {
        let masses = remap.fold(ln_outputs).into_iter().map(exp_accurate).collect();
        let region = Region::simplex(x.iter().sum(), x.len());
        let blocks = region.blocks();
        Self { inner, remap, region, blocks, masses, truth: rank(x) }
    }
}

impl Law for Remapped<'_> {
    fn region(&self) -> &Region {
        &self.region
    }

    fn blocks(&self) -> Option<&Blocks> {
        Some(&self.blocks)
    }

    fn masses(&self, row: &Row, masses: &mut [f64]) {
        let mut first = vec![0; row.head.len() + 2];
        row.output(0, &mut first);
        let first = rank(&first);
        masses.copy_from_slice(&self.masses[first..first + row.len]);
    }

    fn normaliser(&self) -> f64 {
        1.0
    }

    fn p_exact(&self) -> f64 {
        self.masses[self.truth]
    }

    fn draw(&self, k: usize, batches: &mut [Batch]) {
        self.inner.draw(k, batches);
        for out in batches.iter_mut().flat_map(|batch| batch.released.chunks_exact_mut(k)) {
            out.copy_from_slice(self.remap.replace(out));
        }
    }
}
