//! The weights of the edged Hamming mechanism: P(r|x) = Π_i g(r_i) e^(−c d(x, r)) / Z(x), where g is 1 but for
//! g(0) and g(1).
//!
//! The privacy loss is c + max |ln Z(x) − ln Z(x')| over adjacent data sets x, x' of n records. It is computed
//! at all of them, up to the order of the categories. g(0) and g(1) are those with which c is largest, found
//! by a search; whatever the search finds, c is then lowered until the loss is at most ε.
//!
//! With many records a count of L or more acts like an infinite one. Let n > kL and x, x' be adjacent. The
//! records that they share are at least kL. So there are adjacent data sets x̂, x̂' of kL + 1 records with the same
//! min(·, L) at every count: those below L are kept, the others share the rest. Z(x) and Z(x̂) differ at most by
//! the weights of the moves z of some count by L − 1 or more: by 2 k B^k Σ_{z_1 <= 1−L} e^(−c d(z)) with
//! B = max(1, g(0), g(1)). This bound is added to the loss at kL + 1 records.

mod normalisers;
mod search;

use normalisers::DataSets;

use super::tight::{marginals, whole_lattice};
use crate::memo::Memo;
use crate::numeric::sum::sum;
use crate::numeric::{expm1, first_after};
use crate::refusal::Refusal;

/// The weights for one number of categories, number of records and ε.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edged {
    /// c.
    pub rate: f64,
    /// g(0).
    pub zero: f64,
    /// g(1).
    pub one: f64,
    /// An upper bound on |ln Z(x) − ln Z(x')| over adjacent data sets: c and this are at most ε.
    pub shift: f64,
}

/// The data sets that are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Extent {
    k: usize,
    /// The number of records, or fewer if there are many.
    records: u64,
    /// L, if there are fewer.
    depth: Option<u64>,
}

/// The most data sets (up to the order of the categories) times records: some seconds.
const MOST_WORK: f64 = 6e7;

/// Without a reason to do so, larger numbers of data sets are not looked at.
const QUICK_WORK: f64 = 3e6;

/// What the bound for many records may cost, relative to ε.
const CUT_OFF: f64 = 1e-6;

/// The smallest ε: below, the weights of the edges are too large for doubles.
const SMALLEST: f64 = 1e-6;

/// What the loss may leave unused of ε, relative to it.
const UNUSED: f64 = 1e-8;

/// The most values of c that are tried.
const ROUNDS: usize = 40;

/// The usual number of sums over all data sets until the edges are found, and until c is.
const SUMS_FOR_EDGES: f64 = 1300.0;
const SUMS_FOR_RATE: f64 = 10.0;

/// Weights that were found, by the data sets that were looked at and the bits of ε.
static KNOWN: Memo<(Extent, u64), Edged> = Memo::new(4096);

impl Edged {
    /// The weights for n records in k categories, computed once.
    pub fn find(k: usize, n: u64, epsilon: f64) -> Result<Self, Refusal> {
        let extent = Extent::new(k, n, epsilon).ok_or_else(|| too_many(k, n, epsilon))?;
        KNOWN.try_get(&(extent, epsilon.to_bits()), || {
            calibrated(extent, epsilon).ok_or_else(|| too_many(k, n, epsilon))
        })
    }

    /// What the search for the weights takes, in sums over data sets, up to the order of the categories, times
    /// records: many with few data sets for the edges, and then some with all of them for c.
    pub fn work(k: usize, n: u64, epsilon: f64) -> f64 {
        Extent::new(k, n, epsilon).map_or(0.0, |extent| {
            SUMS_FOR_EDGES * extent.work().min(search::WORK) + SUMS_FOR_RATE * extent.work()
        })
    }

    /// Why the weights are not computed, if that would take too long.
    pub fn refusal(k: usize, n: u64, epsilon: f64) -> Option<Refusal> {
        Extent::new(k, n, epsilon).is_none().then(|| too_many(k, n, epsilon))
    }
}

fn too_many(k: usize, n: u64, epsilon: f64) -> Refusal {
    Refusal::new(
        format!(
            "the loss of `hamming-edged` at ε = {epsilon:?} for {n} records in {k} categories is not \
             computed: there are too many data sets, or ε is below {SMALLEST:?}"
        ),
        "use fewer records or categories, a larger ε, or a mechanism that needs no weights (lattice)",
    )
}

impl Extent {
    /// All data sets of n records, or those that stand for them; `None` if they are too many.
    fn new(k: usize, n: u64, epsilon: f64) -> Option<Self> {
        if epsilon < SMALLEST {
            return None;
        }
        let all = Self { k, records: n, depth: None };
        if all.work() <= QUICK_WORK {
            return Some(all);
        }
        let fewer = depth(k, n, epsilon).map(|depth| Self {
            k,
            records: k as u64 * depth + 1,
            depth: Some(depth),
        });
        let best = fewer.filter(|fewer| fewer.records < n).unwrap_or(all);
        (best.work() <= MOST_WORK).then_some(best)
    }

    fn work(&self) -> f64 {
        partitions(self.records, self.k) * (self.records as f64 + 1.0)
    }

    /// What data sets with more records may add to the largest |ln Z(x) − ln Z(x')|.
    fn cut_off(&self, rate: f64, zero: f64, one: f64, smallest: f64) -> f64 {
        let Some(depth) = self.depth else { return 0.0 };
        let off = misplaced(self.k, depth, &marginals(self.k, rate), zero.max(one).max(1.0));
        if off < 0.5 * smallest { 2.0 * off / (smallest - off) } else { f64::INFINITY }
    }
}

/// 2 k B^k Σ_{z_1 <= 1−L} e^(−c d(z)), with the sums over z_1 = j given; what these leave out is negligible.
fn misplaced(k: usize, depth: u64, sums: &[f64], most: f64) -> f64 {
    let from = (depth as usize - 1).min(sums.len() - 1);
    let tail = sum(sums[from..].iter().rev().copied());
    2.0 * k as f64 * libm::pow(most, k as f64) * tail
}

/// A depth L at which the bound for many records costs little, if it is below n / k. What c and g will be
/// is guessed; the bound is computed with the true ones.
fn depth(k: usize, n: u64, epsilon: f64) -> Option<u64> {
    let rate = 0.9 * epsilon;
    // Deeper than the moves that are summed the bound is not known.
    let most = (n / k as u64).min((36.0 / rate) as u64 + 2);
    if most as f64 * k as f64 > 1e7 || k as f64 / rate > 1e6 {
        return None;
    }
    let sums = marginals(k, rate);
    let edge = 1.5 / -expm1(-rate);
    let allowed = CUT_OFF * epsilon * whole_lattice(k, epsilon);
    let suffices = |depth: u64| 2.0 * misplaced(k, depth, &sums, edge) <= allowed;
    if !suffices(most) || most < 2 {
        return None;
    }
    // The bound falls with the depth.
    Some(first_after(1, most, suffices))
}

/// The number of ways to write n as a sum of at most k whole numbers, without regard to their order.
/// Large numbers are approximate; far beyond what is of use, they are infinite.
fn partitions(n: u64, k: usize) -> f64 {
    let parts = k.min(usize::try_from(n).unwrap_or(usize::MAX));
    if n as f64 * parts as f64 > 1e7 {
        return f64::INFINITY;
    }
    let mut ways = vec![0.0; n as usize + 1];
    ways[0] = 1.0;
    for part in 1..=parts {
        for sum in part..=n as usize {
            ways[sum] += ways[sum - part];
        }
    }
    ways[n as usize]
}

/// The best edges, and the largest c with them.
fn calibrated(extent: Extent, epsilon: f64) -> Option<Edged> {
    let (zero, one) = search::edges(extent.k, extent.records, epsilon);
    let data_sets = DataSets::new(extent.k, extent.records);
    let at = |rate: f64| {
        let found = data_sets.shift(rate, zero, one);
        let shift = found.shift + extent.cut_off(rate, zero, one, found.smallest);
        Edged { rate, zero, one, shift }
    };
    let excess = |found: &Edged| found.rate + found.shift - epsilon;
    let mut high = at(epsilon);
    if excess(&high) <= 0.0 {
        return Some(high);
    }
    // The shift hardly depends on the rate. If it grows for smaller rates, the rate is lowered further.
    let mut step = high.shift.min(0.5 * epsilon);
    let mut low = at(epsilon - step);
    while excess(&low) > 0.0 || low.shift.is_nan() {
        step *= 1.25;
        if step >= 0.95 * epsilon || !high.shift.is_finite() {
            return None;
        }
        (low, high) = (at(epsilon - step), low);
    }
    for _ in 0..ROUNDS {
        let (left, over) = (-excess(&low), excess(&high));
        if left <= UNUSED * epsilon {
            break;
        }
        // As if the loss were linear in between, and a little less, so that both ends move.
        let part = (left - 0.4 * UNUSED * epsilon) / (left + over);
        let middle = at(low.rate + part * (high.rate - low.rate));
        if excess(&middle) <= 0.0 { low = middle } else { high = middle }
    }
    Some(low)
}

#[cfg(test)]
mod tests;
