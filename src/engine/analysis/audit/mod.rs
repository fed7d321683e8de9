//! The exact privacy loss of a mechanism, by exhaustive computation.
//!
//! Two data sets of n records are adjacent if one record changes its category. The privacy loss of
//! a mechanism is the largest |ln P_x(r) − ln P_x'(r)| over adjacent x, x' and outputs r; the
//! guarantees that the documents prove are bounds on it. δ at ε is the largest
//! Σ_r max(0, P_x(r) − e^ε P_x'(r)).
//!
//! A mechanism has another [`Recipe`] at every data set, since sensitivities depend on the data.
//! Ratios are differences of logarithms, never quotients of masses: rates can be thousands, and most
//! masses underflow.
//!
//! EHD is proved to lose at most ε = 1, and loses less:
//!
//! ```
//! use dpbi_engine::analysis::audit::{self, Scope};
//! use dpbi_engine::mechanism::{self, Variant};
//! use dpbi_engine::posterior::model::Prior;
//! use dpbi_engine::posterior::privacy::Epsilon;
//! use dpbi_engine::posterior::setting::Setting;
//!
//! let setting = Setting::new(Prior::new(vec![1.0, 1.0])?, vec![30, 0], Epsilon::new(1.0)?);
//! let ehd = Variant::plain(mechanism::find("ehd").ok_or("no such mechanism")?);
//! let found = audit::loss(&ehd, &setting, &Scope::All)?;
//! assert_eq!(found.pairs, 30);
//! assert!(found.loss < 1.0 && found.loss <= found.bound);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod compare;
mod hamming;
mod lattice;
mod line;
mod noisy;
mod pair_comparison;
mod pairs;
mod scored;
mod tabled;
mod trade_off;

use std::collections::{BTreeMap, BTreeSet};

pub use compare::check;
pub use pairs::Scope;
pub use trade_off::{TradeOff, trade_off};

use compare::{Release, compare};
use pair_comparison::{PairComparison, deltas};
use pairs::{Alike, Pair};

use crate::mechanism::Variant;
use crate::mechanism::law::{Outputs, Recipe};
use crate::parallel;
use crate::posterior::model::{Counts, Prior, approximate_compositions};
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

/// The largest privacy loss, and where it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Loss {
    /// ln P_from(output) − ln P_to(output), the largest of all.
    pub loss: f64,
    /// An upper bound on the true loss: rounding errors are allowed for.
    pub bound: f64,
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
    /// The data set with the larger probabilities.
    pub from: Counts,
    /// Its neighbour.
    pub to: Counts,
}

/// What an audit finds.
#[derive(Clone, Debug, PartialEq)]
pub struct Findings {
    /// The largest loss.
    pub loss: Loss,
    /// The largest δ at every ε that was asked for, each maximised on its own.
    pub deltas: Vec<DeltaAt>,
    /// An upper bound on the relative rounding errors of the probabilities behind every δ.
    pub rounding: f64,
}

/// Audits `variant` over `scope`: the loss, and δ at every one of `epsilons`. Prior, distance and
/// privacy parameters are those of `template`; of its data only the number of records counts.
///
/// Every pair is covered. Without records the loss is 0. Of several pairs with the same loss the first
/// is named.
pub fn examine(
    variant: &Variant,
    template: &Setting,
    scope: &Scope,
    epsilons: &[f64],
) -> Result<Findings, Refusal> {
    let audit = Audit::new(variant, template, scope)?;
    let found = audit.largest(|comparison| {
        let loss = comparison.loss();
        let mut measures = vec![loss, loss + comparison.rounding(), comparison.rounding()];
        if !epsilons.is_empty() {
            let classes = comparison.classes();
            measures.extend(
                epsilons.iter().map(|&e| deltas(&classes, e).into_iter().fold(0.0, f64::max)),
            );
        }
        measures
    })?;
    let [loss, bound, rounding, others @ ..] = &found[..] else {
        return Ok(Findings::nothing(template.posterior.counts(), epsilons));
    };
    let at = others.iter().zip(epsilons);
    Ok(Findings {
        loss: audit.name_loss(loss, bound.value, scope)?,
        deltas: at
            .map(|(best, &epsilon)| audit.name_delta(best, epsilon))
            .collect::<Result<_, _>>()?,
        rounding: rounding.value,
    })
}

impl Findings {
    /// The findings if there are no records.
    fn nothing(none: &[u64], epsilons: &[f64]) -> Self {
        let none = || none.to_vec();
        let delta = |&epsilon: &f64| DeltaAt { epsilon, delta: 0.0, from: none(), to: none() };
        Self {
            loss: Loss {
                loss: 0.0,
                bound: 0.0,
                from: none(),
                to: none(),
                output: none(),
                pairs: 0,
            },
            deltas: epsilons.iter().map(delta).collect(),
            rounding: 0.0,
        }
    }
}

/// The privacy loss alone; see [`examine`].
pub fn loss(variant: &Variant, template: &Setting, scope: &Scope) -> Result<Loss, Refusal> {
    Ok(examine(variant, template, scope, &[])?.loss)
}

/// δ of `variant` at `epsilon` over `scope`; see [`examine`]. The pair with the largest δ need not be
/// the pair with the largest loss.
pub fn delta_at(
    variant: &Variant,
    template: &Setting,
    scope: &Scope,
    epsilon: f64,
) -> Result<DeltaAt, Refusal> {
    let mut found = examine(variant, template, scope, &[epsilon])?;
    Ok(found.deltas.swap_remove(0))
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
    /// The number of outputs at each data set.
    outputs: f64,
    pairs: Vec<Pair>,
    /// The mechanism at any data set, if it does the same at all of them.
    everywhere: Option<Release>,
}

/// A mechanism at the data sets of some pairs.
enum Releases<'a> {
    /// It does the same at all of them.
    Everywhere(&'a Release),
    /// At every one of them.
    Each(BTreeMap<&'a Counts, Release>),
}

impl Releases<'_> {
    fn at(&self, counts: &Counts) -> &Release {
        match self {
            Self::Everywhere(release) => release,
            Self::Each(releases) => &releases[counts],
        }
    }

    /// Compares the mechanism at the two data sets of a pair.
    fn compare<'a>(&'a self, pair: &'a Pair) -> Box<dyn PairComparison + 'a> {
        compare(pair, self.at(&pair.x), self.at(&pair.moved))
    }
}

/// The most outputs whose probabilities are kept at a time (by every thread).
const KEPT: f64 = 8e6;

/// A data set in a list takes as much memory as so many outputs.
const LISTED: f64 = 10.0;

/// The least number of chunks into which pairs are divided, for threads to share.
const CHUNKS: usize = 16;

impl<'a> Audit<'a> {
    fn new(variant: &'a Variant, template: &'a Setting, scope: &Scope) -> Result<Self, Refusal> {
        let k = template.posterior.k();
        let n = match scope {
            Scope::One(x) | Scope::Pair(x, _) => x.iter().sum(),
            _ => template.posterior.n(),
        };
        let recipe = variant.recipe(template)?;
        let is_symmetric =
            variant.mechanism.is_symmetric() && is_symmetric(template.posterior.prior(), recipe);
        let alike = match recipe.noisy_counts(k) {
            // A remapping takes the first of equally good candidates, which breaks the symmetry.
            _ if variant.remap.is_some() => Alike::Same,
            Some(noisy) => Alike::Changed(noisy),
            None if is_symmetric => Alike::Permuted,
            None => Alike::Same,
        };
        let everywhere = match n == template.posterior.n() {
            true => Release::everywhere(variant, template)?,
            false => None,
        };
        let outputs = Outputs::of(recipe, n, k).approximate_len();
        let pairs = scope.pairs(n, k, alike);
        Ok(Self { variant, template, n, k, outputs, pairs, everywhere })
    }

    /// For each of several measures the first pair at which it is largest; empty without pairs.
    /// Pairs share data sets, so that every data set is prepared once; or once in a chunk of pairs, as
    /// large as memory allows.
    fn largest(
        &self,
        measures: impl Fn(&dyn PairComparison) -> Vec<f64> + Sync,
    ) -> Result<Vec<Best<'_>>, Refusal> {
        let all = match self.all_are_kept() {
            true => Some(self.releases(&self.pairs)?),
            false => None,
        };
        let chunks: Vec<&[Pair]> = self.pairs.chunks(self.chunk_length()).collect();
        let best = parallel::map(&chunks, |chunk| match &all {
            Some(releases) => Ok(largest_of(chunk, releases, &measures)),
            None => Ok(largest_of(chunk, &self.releases(chunk)?, &measures)),
        });
        let best: Vec<_> = best.into_iter().collect::<Result<_, Refusal>>()?;
        Ok(best.into_iter().reduce(first_largest).unwrap_or_default())
    }

    /// The mechanism at all data sets of these pairs. If its laws are of several kinds, as those of an
    /// expression may be, they are compared output by output.
    fn releases<'p>(&'p self, pairs: &'p [Pair]) -> Result<Releases<'p>, Refusal> {
        if let Some(release) = &self.everywhere {
            return Ok(Releases::Everywhere(release));
        }
        let data_sets: BTreeSet<&Counts> =
            pairs.iter().flat_map(|pair| [&pair.x, &pair.moved]).collect();
        let data_sets: Vec<&Counts> = data_sets.into_iter().collect();
        let release =
            |counts: &Counts| Release::new(self.variant, &self.template.at(counts.clone()));
        let prepared = parallel::map(&data_sets, |&counts| Ok((counts, release(counts)?)));
        let mut releases: BTreeMap<_, _> = prepared.into_iter().collect::<Result<_, Refusal>>()?;
        let mut all = releases.values();
        let first = all.next();
        if first.is_some_and(|first| all.any(|other| !first.is_like(other))) {
            for (&counts, release) in &mut releases {
                *release = Release::tabled(self.variant, &self.template.at(counts.clone()))?;
            }
        }
        Ok(Releases::Each(releases))
    }

    /// `measure` of the mechanism at the two data sets of a pair.
    fn compared<T>(
        &self,
        pair: &Pair,
        measure: impl Fn(&dyn PairComparison) -> T,
    ) -> Result<T, Refusal> {
        let releases = self.releases(std::slice::from_ref(pair))?;
        Ok(measure(releases.compare(pair).as_ref()))
    }

    fn name_loss(&self, best: &Best, bound: f64, scope: &Scope) -> Result<Loss, Refusal> {
        let witness = self.compared(best.pair, |comparison| comparison.witness())?;
        let (from, to) = directed(best.pair, witness.forward);
        let pairs = scope.size(self.n, self.k);
        Ok(Loss { loss: best.value, bound, from, to, output: witness.output, pairs })
    }

    fn name_delta(&self, best: &Best, epsilon: f64) -> Result<DeltaAt, Refusal> {
        let [forward, backward] =
            self.compared(best.pair, |comparison| deltas(&comparison.classes(), epsilon))?;
        let (from, to) = directed(best.pair, forward >= backward);
        Ok(DeltaAt { epsilon, delta: best.value, from, to })
    }

    /// Whether the probabilities at all data sets, and the list of these, fit into memory.
    fn all_are_kept(&self) -> bool {
        let data_sets = approximate_compositions(self.n, self.k);
        data_sets * (self.outputs + LISTED) <= KEPT
    }

    /// The number of pairs in a chunk: a data set has up to k (k−1) / 2.
    fn chunk_length(&self) -> usize {
        let data_sets = (KEPT / approximate_compositions(self.n, self.k)) as usize;
        let by_memory = data_sets * (self.k * (self.k - 1) / 2);
        by_memory.clamp(1, self.pairs.len().div_ceil(CHUNKS).max(1))
    }
}

/// For each of several measures the first of these pairs at which it is largest.
fn largest_of<'p>(
    pairs: &'p [Pair],
    releases: &Releases,
    measures: impl Fn(&dyn PairComparison) -> Vec<f64>,
) -> Vec<Best<'p>> {
    let measured = pairs.iter().map(|pair| {
        measures(releases.compare(pair).as_ref())
            .into_iter()
            .map(|value| Best { pair, value })
            .collect()
    });
    measured.reduce(first_largest).unwrap_or_default()
}

/// The pair at which a measure is largest so far.
struct Best<'p> {
    pair: &'p Pair,
    value: f64,
}

/// For each measure the larger of the two values; the first if they are equal.
fn first_largest<'p>(a: Vec<Best<'p>>, b: Vec<Best<'p>>) -> Vec<Best<'p>> {
    a.into_iter().zip(b).map(|(a, b)| if b.value > a.value { b } else { a }).collect()
}

/// Whether the mechanism treats all categories alike.
pub(super) fn is_symmetric(prior: &Prior, recipe: Recipe) -> bool {
    let alpha = prior.alpha();
    match recipe {
        Recipe::Exponential { .. } | Recipe::Weighed { .. } => alpha.iter().all(|&a| a == alpha[0]),
        Recipe::Noise { .. }
        | Recipe::Historical { .. }
        | Recipe::OwnNoise { .. }
        | Recipe::Table { .. } => false,
        Recipe::Hamming { .. } | Recipe::Lattice { .. } => true,
    }
}
