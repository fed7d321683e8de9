//! The exact privacy loss of a mechanism, by exhaustive computation.
//!
//! Two data sets of n records are adjacent if one record changes its category. The privacy loss of
//! a mechanism is the largest |ln P_x(r) − ln P_x'(r)| over adjacent x, x' and outputs r; the
//! guarantees that the documents prove are bounds on it. δ at ε is the largest
//! Σ_r max(0, P_x(r) − e^ε P_x'(r)).
//!
//! Ratios are differences of logarithms, never quotients of masses: rates can be thousands, and most
//! masses underflow.

mod pairs;
mod trade_off;

use std::collections::BTreeSet;

pub use pairs::Scope;
pub use trade_off::{TradeOff, trade_off};

use crate::mechanism::Mechanism;
use crate::mechanism::law::pair::{Comparisons, Pair, PairComparison, deltas};
use crate::mechanism::law::{Law, Outputs, PairSize, tabled};
use crate::parallel;
use crate::posterior::model::{Counts, approximate_compositions};
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;
use pairs::Alike;

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
    pub output: Counts,
    /// How many pairs of adjacent data sets were covered.
    pub pairs: u64,
}

/// The largest δ at one ε, and where it is.
#[derive(Clone, Debug, PartialEq)]
pub struct DeltaAt {
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

/// Refuses a mechanism that cannot be audited, as far as that is known without any work.
pub fn check(variant: &Mechanism, setting: &Setting) -> Result<(), Refusal> {
    let law = variant.outline(setting)?;
    if variant.options.remap {
        return Ok(());
    }
    let stated = "use fewer records or two categories; its δ before clamping is at most the one stated, \
                  for every number of records";
    refuse(law.as_ref(), setting).map_err(|refusal| match variant.kind.uses_delta {
        true => Refusal::new(refusal.cause, stated),
        false => refusal,
    })
}

/// Refuses a law with too many outputs, if they are compared one by one.
fn refuse(law: &dyn Law, setting: &Setting) -> Result<(), Refusal> {
    let (n, k) = (setting.n, setting.k());
    let tabled = law.pair_size(&setting.anywhere(), setting.distance).is_none();
    let refused = tabled.then(|| tabled::refusal(Outputs::new(law.outputs(), n, k)));
    refused.flatten().map_or(Ok(()), Err)
}

/// Audits `law` over `scope`: the loss, and δ at every one of `epsilons`.
///
/// Every pair is covered. Without records the loss is 0. Of several pairs with the same loss the first
/// is named.
pub fn examine(
    law: &dyn Law,
    setting: &Setting,
    scope: &Scope,
    epsilons: &[f64],
) -> Result<Findings, Refusal> {
    let audit = Audit::new(law, setting, scope)?;
    let part = parallel::part(COMPARED);
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
    drop(part);
    let [loss, bound, rounding, others @ ..] = &found[..] else {
        // There are no records, and nothing is lost.
        let none = || vec![0; setting.k()];
        let delta = |&epsilon: &f64| DeltaAt { epsilon, delta: 0.0, from: none(), to: none() };
        let deltas = epsilons.iter().map(delta).collect();
        let [from, to, output] = [none(), none(), none()];
        let loss = Loss { loss: 0.0, bound: 0.0, from, to, output, pairs: 0 };
        return Ok(Findings { loss, deltas, rounding: 0.0 });
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

/// The privacy loss alone; see [`examine`].
pub fn loss(law: &dyn Law, setting: &Setting, scope: &Scope) -> Result<Loss, Refusal> {
    Ok(examine(law, setting, scope, &[])?.loss)
}

/// δ of `law` at `epsilon` over `scope`; see [`examine`]. The pair with the largest δ need not be
/// the pair with the largest loss.
pub fn delta_at(
    law: &dyn Law,
    setting: &Setting,
    scope: &Scope,
    epsilon: f64,
) -> Result<DeltaAt, Refusal> {
    let mut found = examine(law, setting, scope, &[epsilon])?;
    Ok(found.deltas.swap_remove(0))
}

/// The two data sets of a pair, x first if `forward`.
fn directed(pair: &Pair, forward: bool) -> (Counts, Counts) {
    let (x, neighbour) = (pair.x.clone(), pair.neighbour.clone());
    if forward { (x, neighbour) } else { (neighbour, x) }
}

/// One law and the pairs at which it is examined.
struct Audit<'a> {
    law: &'a dyn Law,
    setting: &'a Setting,
    n: u64,
    k: usize,
    pairs: Vec<Pair>,
}

/// The law at the data sets of some pairs.
struct Compared<'a> {
    data: Vec<&'a Counts>,
    comparisons: Box<dyn Comparisons + 'a>,
}

impl Compared<'_> {
    /// Compares the law at the two data sets of a pair.
    fn between<'a>(&'a self, pair: &'a Pair) -> Box<dyn PairComparison + 'a> {
        let index = |x: &Counts| self.data.binary_search(&x).expect("a data set of the pairs");
        self.comparisons.between(pair, [index(&pair.x), index(&pair.neighbour)])
    }
}

/// The part of the work in which all pairs are compared, and of this the part in which data sets are made ready.
const COMPARED: f64 = 0.9;
const PREPARED: f64 = 0.2;

/// The part of the work in which one pair is named, where there are few pairs.
const NAMED: f64 = 0.25;

/// Listing a pair takes as long as walking so many outputs.
const LISTING: f64 = 30.0;

/// The most outputs whose probabilities are kept at a time (by every thread).
const KEPT: f64 = 8e6;

/// A data set in a list takes as much memory as so many outputs.
const LISTED: f64 = 10.0;

/// The least number of chunks into which pairs are divided, for threads to share.
const CHUNKS: usize = 16;

impl<'a> Audit<'a> {
    fn new(law: &'a dyn Law, setting: &'a Setting, scope: &Scope) -> Result<Self, Refusal> {
        let k = setting.k();
        let n = match scope {
            Scope::One(x) | Scope::Pair(x, _) => x.iter().sum(),
            _ => setting.n,
        };
        refuse(law, setting)?;
        let groups = law.exchangeable(&setting.prior);
        let alike = match law.noisy_counts(k) {
            Some(noisy) => Alike::Changed(noisy),
            None if groups.iter().any(|group| group.len() == k) => Alike::Permuted,
            None => Alike::Same,
        };
        // Of data sets that are nearly balanced: there candidates near the data are many.
        let balanced = (0..k as u64).map(|i| (n + i) / k as u64).collect();
        let pair = PairSize::of(law, &setting.at(balanced), setting.distance);
        let listed = match alike {
            _ if *scope != Scope::All => 0.0,
            // About three are looked at for one that is listed.
            Alike::Changed(_) => 3.0 * LISTING,
            _ => LISTING,
        };
        let listing = parallel::part(listed / (listed + pair.compared + pair.prepared));
        let mut pairs = scope.pairs(n, k, alike);
        if law.is_uniform() {
            pairs.truncate(1);
        }
        drop(listing);
        Ok(Self { law, setting, n, k, pairs })
    }

    /// For each of several measures the first pair at which it is largest; empty without pairs.
    /// Pairs share data sets, so that every data set is prepared once; or once in a chunk of pairs, as
    /// large as memory allows.
    fn largest(
        &self,
        measures: impl Fn(&dyn PairComparison) -> Vec<f64> + Sync,
    ) -> Result<Vec<Best<'_>>, Refusal> {
        let all = match self.all_are_kept() {
            true => {
                let _part = parallel::part(PREPARED);
                Some(self.at(&self.pairs)?)
            }
            false => None,
        };
        let chunks: Vec<&[Pair]> = self.pairs.chunks(self.chunk_length()).collect();
        let best = parallel::map(&chunks, |chunk| match &all {
            Some(compared) => Ok(largest_of(chunk, compared, &measures)),
            None => Ok(largest_of(chunk, &self.at(chunk)?, &measures)),
        });
        let best: Vec<_> = best.into_iter().collect::<Result<_, Refusal>>()?;
        Ok(best.into_iter().reduce(first_largest).unwrap_or_default())
    }

    /// The law at all data sets of these pairs.
    fn at<'p>(&'p self, pairs: &'p [Pair]) -> Result<Compared<'p>, Refusal> {
        let data: BTreeSet<&Counts> =
            pairs.iter().flat_map(|pair| [&pair.x, &pair.neighbour]).collect();
        let data: Vec<&Counts> = data.into_iter().collect();
        let comparisons = self.law.comparisons(self.setting, &data)?;
        Ok(Compared { data, comparisons })
    }

    /// `measure` of the law at the two data sets of a pair.
    fn compared<T>(
        &self,
        pair: &Pair,
        measure: impl Fn(&dyn PairComparison) -> T,
    ) -> Result<T, Refusal> {
        let _part = parallel::part(NAMED);
        let compared = self.at(std::slice::from_ref(pair))?;
        Ok(measure(compared.between(pair).as_ref()))
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
        let outputs = Outputs::new(self.law.outputs(), self.n, self.k).approximate_len();
        data_sets * (outputs + LISTED) <= KEPT
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
    compared: &Compared,
    measures: impl Fn(&dyn PairComparison) -> Vec<f64>,
) -> Vec<Best<'p>> {
    let measured = parallel::steps(0..pairs.len()).map(|index| {
        let pair = &pairs[index];
        measures(compared.between(pair).as_ref())
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
