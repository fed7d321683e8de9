//! How far one record can move a score: local, global and smooth sensitivities, without enumerating
//! candidates or data sets.
//!
//! LS(x) is the largest |u(x, r) − u(x', r)| over the neighbours x' of x and all candidates r. For a
//! metric it is attained at r = x. The divergences are not metrics; there the difference splits over
//! the two categories between which the record moves, and is largest where one of them holds all
//! records of r and the other none.

mod affinity;
mod diameter;
mod divergence;
mod search;
mod total_variation;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use affinity::Affinity;
pub(super) use divergence::Divergence;
use search::ChangeSearch;
pub(super) use search::Moves;
pub(super) use total_variation::TotalVariationMoves;

use crate::named;
use crate::numeric::{exp_accurate, ln, log1p};
use crate::posterior::model::Posterior;

/// sqrt(1 − π/4), the bound on the global sensitivity used by icml and bounds; it holds when every
/// α_i >= 1.
pub const GLOBAL_BOUND: f64 = 0.463_251_375_176_104_24;

/// The sensitivities at one posterior.
#[derive(Clone, Debug)]
pub struct Sensitivity(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Affinity(Affinity),
    Searched(ChangeSearch),
    Unlimited,
}

impl Sensitivity {
    /// The sensitivities of sqrt(1 − BC^power).
    pub fn new(posterior: &Posterior, power: f64) -> Self {
        Self(Kind::Affinity(Affinity::new(posterior, power)))
    }

    /// The sensitivities of a score that one record changes as `moves` says.
    pub(super) fn searched(posterior: &Posterior, moves: Arc<dyn Moves>) -> Self {
        Self(Kind::Searched(ChangeSearch::new(posterior, moves)))
    }

    /// The sensitivities of a score that may be infinite: they are infinite, too, and the score cannot
    /// be used.
    pub fn unlimited() -> Self {
        Self(Kind::Unlimited)
    }

    /// LS(x): the largest change of score when one record of x changes its category.
    pub fn local(&self) -> f64 {
        match &self.0 {
            Kind::Affinity(affinity) => affinity.local(),
            Kind::Searched(search) => search.local(),
            Kind::Unlimited => f64::INFINITY,
        }
    }

    /// GS: the largest LS over all data sets of n records.
    pub fn global(&self) -> f64 {
        match &self.0 {
            Kind::Affinity(affinity) => affinity.global(),
            Kind::Searched(search) => search.smooth(|h, _| h),
            Kind::Unlimited => f64::INFINITY,
        }
    }

    /// D, the largest score of data of this size; an upper bound on it if there are too many different
    /// categories to find it.
    pub fn diameter(&self) -> f64 {
        match &self.0 {
            Kind::Affinity(_) => 1.0,
            Kind::Searched(search) => search.diameter(),
            Kind::Unlimited => f64::INFINITY,
        }
    }

    /// S_γ(x) = max over x' of 1 / (1/LS(x') + γ d(x, x') / D) (icml §5.3, arxiv §5.2.4), where D is
    /// the largest score, [`Self::diameter`]: 1 in the documents.
    ///
    /// The proof of privacy needs a score of at most 1 (a change of one record changes 1/S by at
    /// most γ, and the score stands before it). Any other score is therefore divided by D, smoothed,
    /// and multiplied by D again.
    pub fn gamma_smooth(&self, gamma: f64) -> f64 {
        let gamma = gamma / self.diameter();
        // At the data itself h, and not 1 / (1/h), which may differ in its last digit.
        self.smooth(|h, d| if d == 0 { h } else { 1.0 / (1.0 / h + gamma * d as f64) })
    }

    /// S_β(x) = max over x' of LS(x') e^(−β d(x, x')) (notes §2, arxiv §4.2).
    pub fn beta_smooth(&self, beta: f64) -> f64 {
        self.smooth(|h, d| h * exp_accurate(-beta * d as f64))
    }

    fn smooth(&self, discount: impl Fn(f64, u64) -> f64) -> f64 {
        match &self.0 {
            Kind::Affinity(affinity) => affinity.smooth(discount),
            Kind::Searched(search) => search.smooth(discount),
            Kind::Unlimited => f64::INFINITY,
        }
    }
}

/// Every ordered pair of different categories; of pairs whose categories have the same keys only the
/// first.
///
/// A maximum over these pairs is the maximum over all pairs, to the last digit: pairs with the same
/// keys have the same values and bounds.
fn different_pairs<K: Ord>(keys: impl Iterator<Item = K>) -> impl Iterator<Item = (usize, usize)> {
    let mut seen: BTreeMap<K, (usize, u32)> = BTreeMap::new();
    // The first two categories of every key: the place, the place of the first, and which it is.
    let mut kept: Vec<(usize, usize, bool)> = Vec::new();
    for (i, key) in keys.enumerate() {
        let (first, times) = seen.entry(key).or_insert((i, 0));
        *times += 1;
        if *times <= 2 {
            kept.push((i, *first, *times == 1));
        }
    }
    let firsts: Vec<usize> = kept.iter().filter(|kept| kept.2).map(|kept| kept.0).collect();
    firsts.into_iter().flat_map(move |i| {
        let partners: Vec<usize> = (kept.iter())
            .filter(|&&(j, first, is_first)| j != i && is_first == (first != i))
            .map(|kept| kept.0)
            .collect();
        partners.into_iter().map(move |j| (i, j))
    })
}

/// A category's prior parameter and count, as a key.
fn key((alpha, count): (f64, u64)) -> (u64, u64) {
    (alpha.to_bits(), count)
}

/// How many categories differ from each other in prior parameter or count: a sensitivity looks at
/// every pair of them.
pub fn different_categories(posterior: &Posterior) -> usize {
    posterior.categories().into_iter().map(key).collect::<BTreeSet<_>>().len()
}

named! {
    /// How many candidates the logarithm in β counts (notes §2 says n + 1; the printed values of β
    /// used n).
    #[derive(Default)]
    pub enum CandidatesInBeta {
        /// n + 1, as in the text.
        #[default]
        NPlusOne = "n+1",
        /// n, as in print.
        N = "n",
    }
}

/// β = ln(1 − ε / (2 ln(δ / (2 (n+1))))) (notes §2.3).
pub fn beta(epsilon: f64, delta: f64, n: u64, candidates: CandidatesInBeta) -> f64 {
    let count = match candidates {
        CandidatesInBeta::NPlusOne => n as f64 + 1.0,
        CandidatesInBeta::N => (n as f64).max(1.0),
    };
    log1p(-epsilon / (2.0 * ln(delta / (2.0 * count))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::posterior::model::Prior;

    fn at(prior: &[f64], counts: &[u64]) -> Sensitivity {
        let prior = Prior::new(prior.to_vec()).unwrap();
        Sensitivity::new(&Posterior::new(prior, counts.to_vec()), 1.0)
    }

    #[test]
    fn the_bound_is_the_global_sensitivity_of_the_uniform_prior() {
        assert!((at(&[1.0; 3], &[5, 5, 5]).global() - GLOBAL_BOUND).abs() < 1e-15);
    }

    #[test]
    fn large_balanced_data() {
        let close = |ours: f64, theirs: f64| assert!((ours / theirs - 1.0).abs() < 1e-13, "{ours}");
        close(at(&[1.0, 1.0], &[500_000, 500_000]).local(), 7.071_063_392_455_109e-4);
        close(at(&[1.0, 1.0], &[5_000_000, 5_000_000]).local(), 2.236_067_837_745_563_3e-4);
    }

    #[test]
    fn beta_as_printed() {
        // notes, captions of Figure 3: ε = δ = 0.8, n = 100 and 120.
        let close = |n, printed: f64| {
            let beta = beta(0.8, 0.8, n, CandidatesInBeta::N);
            assert!((beta - printed).abs() < 5e-14, "{beta}");
        };
        close(100, 0.069_940_710_811_5);
        close(120, 0.067_779_110_017_3);
    }

    #[test]
    fn pairs_that_are_alike_are_looked_at_once() {
        let all = |k: usize| (0..k).flat_map(move |i| (0..k).map(move |j| (i, j)));
        for keys in ["", "a", "aa", "ab", "abab", "aaaa", "abcacb", "bbabca"] {
            let keys = keys.as_bytes();
            let mut seen = BTreeSet::new();
            let slowly = all(keys.len()).filter(|(i, j)| i != j);
            let slowly = slowly.filter(|&(i, j)| seen.insert((keys[i], keys[j])));
            let slowly: Vec<(usize, usize)> = slowly.collect();
            assert_eq!(different_pairs(keys.iter()).collect::<Vec<_>>(), slowly, "{keys:?}");
        }
    }

    #[test]
    fn no_data_no_sensitivity() {
        let none = at(&[1.0, 2.0, 3.0], &[0, 0, 0]);
        let all = [none.local(), none.global(), none.gamma_smooth(1.0), none.beta_smooth(0.1)];
        assert_eq!(all, [0.0; 4]);
    }
}
