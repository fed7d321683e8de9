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

use std::collections::BTreeSet;
use std::sync::Arc;

pub(super) use affinity::AffinityMoves;
pub(super) use divergence::DivergenceMoves;
pub(super) use search::Moves;
pub(super) use total_variation::TotalVariationMoves;

use crate::named;
use crate::numeric::{exp_accurate, ln, log1p};
use crate::posterior::model::Posterior;

/// sqrt(1 − π/4), the bound on the global sensitivity used by icml and bounds; it holds when every
/// α_i >= 1.
pub const GLOBAL_BOUND: f64 = 0.463_251_375_176_104_24;

/// The sensitivities at one posterior. If the score may be infinite, so are they, and it cannot be used.
#[derive(Clone, Debug)]
pub struct Sensitivity {
    /// The pairs that differ in their prior parameters or counts.
    pairs: Vec<(usize, usize)>,
    counts: Vec<u64>,
    n: u64,
    /// How one record changes the score; `None` if it may be infinite.
    moves: Option<Arc<dyn Moves>>,
}

impl Sensitivity {
    /// The sensitivities of a score that one record changes as `moves` says; `None` if it may be infinite.
    pub(super) fn new(posterior: &Posterior, moves: Option<Arc<dyn Moves>>) -> Self {
        let keys: Vec<_> = posterior.categories().into_iter().map(key).collect();
        let (pairs, counts) = (different_pairs(&keys), posterior.counts().to_vec());
        Self { pairs, counts, n: posterior.n(), moves }
    }

    /// LS(x): the largest change of score when one record of x changes its category.
    pub fn local(&self) -> f64 {
        let (x, Some(moves)) = (&self.counts, &self.moves) else { return f64::INFINITY };
        let possible = self.pairs.iter().filter(|&&(i, _)| x[i] >= 1);
        possible.map(|&(i, j)| moves.change((i, x[i] - 1), (j, x[j]))).fold(0.0, f64::max)
    }

    /// GS: the largest LS over all data sets of n records.
    pub fn global(&self) -> f64 {
        self.largest(|h, _| h)
    }

    /// D, the largest score of data of this size; an upper bound on it if there are too many different
    /// categories to find it.
    pub fn diameter(&self) -> f64 {
        self.moves.as_ref().map_or(f64::INFINITY, |moves| moves.diameter())
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
        let discount = |h: f64, d: u64| if d == 0 { h } else { 1.0 / (1.0 / h + gamma * d as f64) };
        self.largest(discount)
    }

    /// S_β(x) = max over x' of LS(x') e^(−β d(x, x')) (notes §2, arxiv §4.2).
    pub fn beta_smooth(&self, beta: f64) -> f64 {
        self.largest(|h, d| h * exp_accurate(-beta * d as f64))
    }
}

/// Every ordered pair of different categories; of pairs whose categories have the same keys only the
/// first.
///
/// A maximum over these pairs is the maximum over all pairs, to the last digit: pairs with the same
/// keys have the same values and bounds.
fn different_pairs<K: Ord + Copy>(keys: &[K]) -> Vec<(usize, usize)> {
    let all = (0..keys.len()).flat_map(|i| (0..keys.len()).map(move |j| (i, j)));
    let mut seen = BTreeSet::new();
    all.filter(|&(i, j)| i != j && seen.insert((keys[i], keys[j]))).collect()
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
    use crate::posterior::distance::HELLINGER;
    use crate::posterior::model::Prior;

    fn at(prior: &[f64], counts: &[u64]) -> Sensitivity {
        let prior = Prior::new(prior.to_vec()).unwrap();
        HELLINGER.sensitivity(&Posterior::new(prior, counts.to_vec()))
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
    fn no_data_no_sensitivity() {
        let none = at(&[1.0, 2.0, 3.0], &[0, 0, 0]);
        let all = [none.local(), none.global(), none.gamma_smooth(1.0), none.beta_smooth(0.1)];
        assert_eq!(all, [0.0; 4]);
    }
}
