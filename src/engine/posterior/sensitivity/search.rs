//! The largest change of score over data sets, by branch and bound on cells.

use std::fmt::Debug;
use std::sync::Arc;

use super::{different_pairs, key};
use crate::posterior::model::Posterior;
use crate::posterior::simplex::Window;

/// How far one record changes a score.
pub trait Moves: Debug + Send + Sync {
    /// The largest change of the score of any candidate when a record leaves category i, which
    /// keeps p records, for category j, which had q. Of a category only its prior parameter matters.
    fn change(&self, i: (usize, u64), j: (usize, u64)) -> f64;

    /// A number that no change exceeds, for p and q in windows (ends included). It need not be
    /// sharp, but must close in on the change as the windows do.
    fn at_most(&self, i: (usize, Window), j: (usize, Window)) -> f64;

    /// The largest score of any data of this size, or an upper bound on it.
    fn diameter(&self) -> f64;
}

/// A value counts as better only if it exceeds the best by this factor: less is a rounding error.
const ROUNDING: f64 = 1.0 + 1e-14;

/// The search around one data set.
#[derive(Clone, Debug)]
pub(super) struct ChangeSearch {
    /// Prior parameters and counts.
    categories: Vec<(f64, u64)>,
    counts: Vec<u64>,
    n: u64,
    moves: Arc<dyn Moves>,
}

/// The records that stay in i and those that were in j before the move.
#[derive(Clone, Copy)]
struct Cell {
    p: Window,
    q: Window,
}

impl ChangeSearch {
    pub fn new(posterior: &Posterior, moves: Arc<dyn Moves>) -> Self {
        let (categories, counts) = (posterior.categories(), posterior.counts().to_vec());
        Self { categories, counts, n: posterior.n(), moves }
    }

    /// The largest change at the data itself.
    pub fn local(&self) -> f64 {
        let x = &self.counts;
        let moves = self.pairs().filter(|&(i, _)| x[i] >= 1);
        moves.map(|(i, j)| self.moves.change((i, x[i] - 1), (j, x[j]))).fold(0.0, f64::max)
    }

    /// The largest score, or an upper bound on it.
    pub fn diameter(&self) -> f64 {
        self.moves.diameter()
    }

    /// The pairs that differ in their prior parameters or counts.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        different_pairs(self.categories.iter().copied().map(key))
    }

    /// The maximum of `discount`(LS(x'), d(x, x')) over all data sets x'; `discount` does not fall
    /// in the first argument nor rise in the second.
    ///
    /// Only the two categories of the move matter, so a data set is a pair (p, q), and its distance
    /// is the smallest from x to any data set with this pair: see [`Self::distance`]. A cell of pairs
    /// whose bound does not exceed the best value found is dropped; any other is cut in two. Nothing
    /// is assumed about the shape of LS.
    pub fn smooth(&self, discount: impl Fn(f64, u64) -> f64) -> f64 {
        let Some(last) = self.n.checked_sub(1) else { return 0.0 };
        let mut best = self.pairs().map(|pair| self.start(pair, &discount)).fold(0.0, f64::max);
        for pair in self.pairs() {
            let mut cells = vec![Cell { p: (0, last), q: (0, last) }];
            while let Some(Cell { p, q }) = cells.pop() {
                let Some(Cell { p, q }) = self.feasible(p, q) else { continue };
                let bound = self.moves.at_most((pair.0, p), (pair.1, q));
                if discount(bound, self.distance(pair, p, q)) <= best * ROUNDING {
                    continue;
                }
                if p.0 == p.1 && q.0 == q.1 {
                    let change = self.moves.change((pair.0, p.0), (pair.1, q.0));
                    best = best.max(discount(change, self.distance(pair, p, q)));
                } else if p.1 - p.0 >= q.1 - q.0 {
                    let middle = p.0 + (p.1 - p.0) / 2;
                    cells.push(Cell { p: (middle + 1, p.1), q });
                    cells.push(Cell { p: (p.0, middle), q });
                } else {
                    let middle = q.0 + (q.1 - q.0) / 2;
                    cells.push(Cell { p, q: (middle + 1, q.1) });
                    cells.push(Cell { p, q: (q.0, middle) });
                }
            }
        }
        best
    }

    /// The data itself: a good first guess.
    fn start(&self, (i, j): (usize, usize), discount: &impl Fn(f64, u64) -> f64) -> f64 {
        let p = self.counts[i].checked_sub(1);
        p.map_or(0.0, |p| discount(self.moves.change((i, p), (j, self.counts[j])), 0))
    }

    /// The part of a cell that data sets reach: p + q <= n − 1, and p + q = n − 1 if there is no
    /// third category.
    fn feasible(&self, p: Window, q: Window) -> Option<Cell> {
        let last = self.n - 1;
        let p = (p.0, p.1.min(last.checked_sub(q.0)?));
        let q = (q.0, q.1.min(last.checked_sub(p.0)?));
        if self.counts.len() > 2 {
            return (p.0 <= p.1 && q.0 <= q.1).then_some(Cell { p, q });
        }
        let p = (p.0.max(last - q.1), p.1);
        let q = (q.0.max(last.checked_sub(p.1)?), q.1);
        (p.0 <= p.1 && q.0 <= q.1).then_some(Cell { p, q })
    }

    /// The smallest number of records that lead from x to a data set of the cell: it has p + 1 in i
    /// and q in j, and the other categories give or take the rest.
    fn distance(&self, (i, j): (usize, usize), p: Window, q: Window) -> u64 {
        let gap = |x: u64, window: Window| (window.0.saturating_sub(x), x.saturating_sub(window.1));
        let first = gap(self.counts[i], (p.0 + 1, p.1 + 1));
        let second = gap(self.counts[j], q);
        (first.0 + second.0).max(first.1 + second.1)
    }
}
