//! How private a mechanism really is, by exhaustive computation.
//!
//! Two data sets of n records are adjacent if one record changes its category. The privacy loss of
//! a mechanism is the largest |ln P_x(r) − ln P_x'(r)| over adjacent x, x' and outputs r; the
//! guarantees that the documents prove are bounds on it. δ at ε is the largest
//! Σ_r max(0, P_x(r) − e^ε P_x'(r)).
//!
//! A mechanism has its own [`Recipe`] at every data set, since sensitivities
//! depend on it. Ratios are differences of logarithms, never quotients of masses: rates can be
//! thousands, and most masses underflow.

mod compare;
mod hamming;
mod line;
mod noisy;
mod pairs;
mod scored;

use std::collections::BTreeMap;

use rayon::prelude::*;

pub use pairs::Scope;

use compare::{Comparison, Release, compare};
use pairs::Pair;

use crate::law::Recipe;
use crate::mechanism::{Refusal, Variant};
use crate::model::{Counts, Posterior, approximate_compositions};
use crate::setting::Setting;

/// The largest privacy loss, and where it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// ln P_from(output) − ln P_to(output), the largest of all.
    pub loss: f64,
    /// The data set where the output is likelier.
    pub from: Counts,
    /// Its neighbour.
    pub to: Counts,
    /// The output.
    pub output: Counts,
    /// How many pairs of adjacent data sets were covered.
    pub pairs: u64,
}

/// The largest δ at one ε, and where it is.
#[derive(Clone, Debug, PartialEq)]
pub struct DeltaAt {
    /// ε.
    pub epsilon: f64,
    /// Σ_r max(0, P_from(r) − e^ε P_to(r)), the largest of all.
    pub delta: f64,
    /// The data set whose probabilities are too large.
    pub from: Counts,
    /// Its neighbour.
    pub to: Counts,
}

/// The privacy loss of `variant` over `scope`, with the prior, distance and privacy parameters of
/// `template`; of its data only the number of records counts.
///
/// Without records there is nothing to lose. Of several pairs with the same loss the first is named.
pub fn loss(variant: &Variant, template: &Setting, scope: &Scope) -> Result<Loss, Refusal> {
    let audit = Audit::new(variant, template, scope)?;
    let found = audit.largest(|comparison| comparison.loss())?;
    let nothing = template.posterior.counts().to_vec();
    let Some((pair, loss)) = found else {
        let (from, to) = (nothing.clone(), nothing.clone());
        return Ok(Loss { loss: 0.0, from, to, output: nothing, pairs: 0 });
    };
    let (at_x, at_moved) = (audit.release(&pair.x)?, audit.release(&pair.moved)?);
    let witness = compare(pair, &at_x, &at_moved).witness();
    let (from, to) = directed(pair, witness.forward);
    let pairs = scope.size(audit.n, audit.k);
    Ok(Loss { loss, from, to, output: witness.output, pairs })
}

/// δ of `variant` at `epsilon` over `scope`; see [`loss`]. Where it is attained need not be where
/// the loss is.
pub fn delta_at(
    variant: &Variant,
    template: &Setting,
    scope: &Scope,
    epsilon: f64,
) -> Result<DeltaAt, Refusal> {
    let audit = Audit::new(variant, template, scope)?;
    let larger = |[forward, backward]: [f64; 2]| forward.max(backward);
    let found = audit.largest(|comparison| larger(comparison.deltas(epsilon)))?;
    let Some((pair, delta)) = found else {
        let nothing = template.posterior.counts().to_vec();
        return Ok(DeltaAt { epsilon, delta: 0.0, from: nothing.clone(), to: nothing });
    };
    let (at_x, at_moved) = (audit.release(&pair.x)?, audit.release(&pair.moved)?);
    let [forward, backward] = compare(pair, &at_x, &at_moved).deltas(epsilon);
    let (from, to) = directed(pair, forward >= backward);
    Ok(DeltaAt { epsilon, delta, from, to })
}

/// The two data sets of a pair, x first if `forward`.
fn directed(pair: &Pair, forward: bool) -> (Counts, Counts) {
    let (x, moved) = (pair.x.clone(), pair.moved.clone());
    if forward { (x, moved) } else { (moved, x) }
}

/// One mechanism and the pairs at which it is examined.
struct Audit<'a> {
    variant: &'a Variant,
    template: &'a Setting,
    n: u64,
    k: usize,
    pairs: Vec<Pair>,
}

/// The most outputs whose probabilities are kept at a time (by every thread).
const KEPT: f64 = 8e6;

/// Pairs are divided into so many chunks at least, for threads to share.
const CHUNKS: usize = 16;

impl<'a> Audit<'a> {
    fn new(variant: &'a Variant, template: &'a Setting, scope: &Scope) -> Result<Self, Refusal> {
        let k = template.posterior.k();
        let n = match scope {
            Scope::One(x) => x.iter().sum(),
            _ => template.posterior.n(),
        };
        let symmetric = is_symmetric(template, variant.recipe(template)?);
        Ok(Self { variant, template, n, k, pairs: scope.pairs(n, k, symmetric) })
    }

    /// The mechanism at one data set.
    fn release(&self, counts: &Counts) -> Result<Release, Refusal> {
        let prior = self.template.posterior.prior().clone();
        let posterior = Posterior::new(prior, counts.clone());
        Release::new(self.variant, &Setting { posterior, ..self.template.clone() })
    }

    /// The first pair at which `measure` is largest. Neighbours share data sets, so pairs are taken
    /// in chunks, as large as memory allows, whose data sets are prepared once.
    fn largest(
        &self,
        measure: impl Fn(&dyn Comparison) -> f64 + Sync,
    ) -> Result<Option<(&Pair, f64)>, Refusal> {
        let chunks = self.pairs.par_chunks(self.chunk_length());
        let best = chunks.map(|chunk| self.largest_of(chunk, &measure));
        let best: Vec<_> = best.collect::<Result<_, _>>()?;
        Ok(best.into_iter().flatten().reduce(first_largest))
    }

    fn largest_of<'p>(
        &self,
        chunk: &'p [Pair],
        measure: impl Fn(&dyn Comparison) -> f64,
    ) -> Result<Option<(&'p Pair, f64)>, Refusal> {
        let mut releases = BTreeMap::new();
        for counts in chunk.iter().flat_map(|pair| [&pair.x, &pair.moved]) {
            if !releases.contains_key(counts) {
                releases.insert(counts, self.release(counts)?);
            }
        }
        let measured = chunk.iter().map(|pair| {
            let comparison = compare(pair, &releases[&pair.x], &releases[&pair.moved]);
            (pair, measure(comparison.as_ref()))
        });
        Ok(measured.reduce(first_largest))
    }

    /// The number of pairs in a chunk: a data set has up to k (k−1) / 2.
    fn chunk_length(&self) -> usize {
        let data_sets = (KEPT / approximate_compositions(self.n, self.k)) as usize;
        let by_memory = data_sets * (self.k * (self.k - 1) / 2);
        by_memory.clamp(1, self.pairs.len().div_ceil(CHUNKS).max(1))
    }
}

fn first_largest<'p>(a: (&'p Pair, f64), b: (&'p Pair, f64)) -> (&'p Pair, f64) {
    if b.1 > a.1 { b } else { a }
}

/// Whether the mechanism treats all categories alike.
fn is_symmetric(template: &Setting, recipe: Recipe) -> bool {
    let alpha = template.posterior.prior().alpha();
    match recipe {
        Recipe::Exponential { .. } => alpha.iter().all(|&a| a == alpha[0]),
        Recipe::Noise { .. } => false,
        Recipe::Hamming { .. } => true,
    }
}
