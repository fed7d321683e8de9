//! The largest change of score over data sets, by branch and bound on cells.

use std::fmt::Debug;

use super::Sensitivity;
use crate::posterior::simplex::Window;

/// How far one record changes a score.
pub trait Moves: Debug + Send + Sync {
    /// The largest change of the score of any candidate when a record leaves category i, which
    /// keeps p records, for category j, which had q. Of a category only its prior parameter matters.
    fn change(&self, i: (usize, u64), j: (usize, u64)) -> f64;

    /// A number that no change exceeds, for p and q in windows (ends included). It need not be
    /// sharp, but must close in on the change as the windows do. Most changes fall as p or q grows.
    fn at_most(&self, (i, p): (usize, Window), (j, q): (usize, Window)) -> f64 {
        self.change((i, p.0), (j, q.0))
    }

    /// The largest score of any data of this size, or an upper bound on it.
    fn diameter(&self) -> f64 {
        1.0
    }
}

/// A value counts as better only if it exceeds the best by this factor: less is a rounding error.
const ROUNDING: f64 = 1.0 + 1e-14;

/// The records that stay in i and those that were in j before the move.
type Cell = (Window, Window);

impl Sensitivity {
    /// The maximum of `discount`(LS(x'), d(x, x')) over all data sets x'; `discount` does not fall
    /// in the first argument nor rise in the second.
    ///
    /// Only the two categories of the move matter, so a data set is a pair (p, q), and its distance
    /// is the smallest from x to any data set with this pair: see [`Self::distance`]. A cell of pairs
    /// whose bound does not exceed the best value found is dropped; any other is cut in two. Nothing
    /// is assumed about the shape of LS.
    pub(super) fn largest(&self, discount: impl Fn(f64, u64) -> f64) -> f64 {
        let Some(moves) = self.moves.as_deref() else { return f64::INFINITY };
        let Some(last) = self.n.checked_sub(1) else { return 0.0 };
        let mut best =
            self.pairs.iter().map(|&pair| self.start(moves, pair, &discount)).fold(0.0, f64::max);
        for &pair in &self.pairs {
            let mut cells = vec![((0, last), (0, last))];
            while let Some((p, q)) = cells.pop() {
                let Some((p, q)) = self.feasible(p, q) else { continue };
                let bound = moves.at_most((pair.0, p), (pair.1, q));
                if discount(bound, self.distance(pair, p, q)) <= best * ROUNDING {
                    continue;
                }
                if p.0 == p.1 && q.0 == q.1 {
                    let change = moves.change((pair.0, p.0), (pair.1, q.0));
                    best = best.max(discount(change, self.distance(pair, p, q)));
                } else if p.1 - p.0 >= q.1 - q.0 {
                    let middle = p.0 + (p.1 - p.0) / 2;
                    cells.push(((middle + 1, p.1), q));
                    cells.push(((p.0, middle), q));
                } else {
                    let middle = q.0 + (q.1 - q.0) / 2;
                    cells.push((p, (middle + 1, q.1)));
                    cells.push((p, (q.0, middle)));
                }
            }
        }
        best
    }

    /// The data itself, and what emptying one of the two categories or both leads to: good first guesses.
    fn start(
        &self,
        moves: &dyn Moves,
        (i, j): (usize, usize),
        discount: &impl Fn(f64, u64) -> f64,
    ) -> f64 {
        let (p, q) = (self.counts[i].saturating_sub(1), self.counts[j]);
        let value = |(p, q)| {
            let (p, q) = self.feasible((p, p), (q, q))?;
            let change = moves.change((i, p.0), (j, q.0));
            Some(discount(change, self.distance((i, j), p, q)))
        };
        [(0, 0), (0, q), (p, 0), (p, q)].into_iter().filter_map(value).fold(0.0, f64::max)
    }

    /// The part of a cell that data sets reach: p + q <= n − 1, and p + q = n − 1 if there is no
    /// third category.
    fn feasible(&self, p: Window, q: Window) -> Option<Cell> {
        let last = self.n - 1;
        let p = (p.0, p.1.min(last.checked_sub(q.0)?));
        let q = (q.0, q.1.min(last.checked_sub(p.0)?));
        if self.counts.len() > 2 {
            return (p.0 <= p.1 && q.0 <= q.1).then_some((p, q));
        }
        let p = (p.0.max(last - q.1), p.1);
        let q = (q.0.max(last.checked_sub(p.1)?), q.1);
        (p.0 <= p.1 && q.0 <= q.1).then_some((p, q))
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
