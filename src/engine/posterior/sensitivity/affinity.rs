//! Sensitivities of the distances sqrt(1 − BC^s), in closed form or by branch and bound along paths.
//!
//! Moving a record from category i to j changes the posterior by h, h² = 1 − (φ(a_i − 1) φ(a_j))^s
//! (s = 1 for Hellinger; s = 1/ln N for the print distance). Both distances are metrics at equal
//! totals, so by the triangle inequality no candidate sees a larger change of score than the old
//! posterior itself (icml Lemma 5.4), and LS(x) is the largest h over all moves.

use super::{different_pairs, key};
use crate::numeric::expm1;
use crate::numeric::gamma::ln_phi;
use crate::posterior::model::Posterior;

/// The sensitivities of sqrt(1 − BC^power) at one posterior.
#[derive(Clone, Debug)]
pub(super) struct Affinity {
    alpha: Vec<f64>,
    counts: Vec<u64>,
    n: u64,
    power: f64,
}

impl Affinity {
    pub fn new(posterior: &Posterior, power: f64) -> Self {
        Self {
            alpha: posterior.prior().alpha().to_vec(),
            counts: posterior.counts().to_vec(),
            n: posterior.n(),
            power,
        }
    }

    /// h_ij(a, b) = sqrt(1 − (φ(α_i + a) φ(α_j + b))^s): a record leaves category i, which keeps a,
    /// for category j, which had b.
    fn step(&self, (i, a): (usize, u64), (j, b): (usize, u64)) -> f64 {
        let phi = |i: usize, m: u64| ln_phi(self.alpha[i] + m as f64);
        (-expm1(self.power * (phi(i, a) + phi(j, b)))).sqrt()
    }

    /// The pairs that differ in their prior parameters or counts.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        let categories = self.alpha.iter().copied().zip(self.counts.iter().copied());
        different_pairs(categories.map(key))
    }

    /// LS(x): the largest move of the posterior when one record of x changes its category.
    pub fn local(&self) -> f64 {
        let x = &self.counts;
        self.pairs()
            .filter(|&(i, _)| x[i] >= 1)
            .map(|(i, j)| self.step((i, x[i] - 1), (j, x[j])))
            .fold(0.0, f64::max)
    }

    /// GS: the largest LS over all data sets of n records.
    ///
    /// ln φ is increasing, so the fewer records the two categories hold the better: for k >= 3 the
    /// rest goes elsewhere and the two smallest α decide. For k = 2 the sum ln φ(α_1 + m) +
    /// ln φ(α_2 + n−1−m) is concave in m and smallest at an end.
    pub fn global(&self) -> f64 {
        if self.n == 0 {
            return 0.0;
        }
        if self.alpha.len() == 2 {
            let last = self.n - 1;
            return self.step((0, 0), (1, last)).max(self.step((0, last), (1, 0)));
        }
        let pairs = different_pairs(self.alpha.iter().map(|alpha| alpha.to_bits()));
        pairs.map(|(i, j)| self.step((i, 0), (j, 0))).fold(0.0, f64::max)
    }

    /// The maximum of `discount`(LS(x'), d(x, x')) over all data sets x'; `discount` increases in
    /// the first argument and decreases in the second.
    ///
    /// Only the two categories matter between which the record of x' moves, and the shortest way
    /// from x to such an x'. For k >= 3 the shortest way takes records out of i and j, first all from
    /// one of them, since ln φ is concave; for k = 2 every x' is on one line. Along each of these
    /// paths d grows by one a step, and h first falls, then rises, so that on any piece h is largest
    /// at an end: see [`maximum_on_path`]. This uses that ln φ is monotone and concave, and nothing
    /// else. In every case tried, the maximum was at a corner (u in {0, x_i−1}, v in {0, x_j}); that
    /// is not proved, and not used.
    pub fn smooth(&self, discount: impl Fn(f64, u64) -> f64) -> f64 {
        if self.n == 0 {
            return 0.0;
        }
        let x = &self.counts;
        let mut best = 0.0;
        if x.len() == 2 {
            let h = |m: u64| self.step((0, m), (1, self.n - 1 - m));
            // m records stay in the first category: to the left of x_1, and from x_1 on.
            maximum_on_path(x[0], |d| h(x[0] - 1 - d), &discount, &mut best);
            maximum_on_path(x[1], |d| h(x[0] + d), &discount, &mut best);
            return best;
        }
        for (i, j) in self.pairs() {
            match (x[i], x[j]) {
                // A third category has to give the record that moves: one step away.
                (0, 0) => best = best.max(discount(self.step((i, 0), (j, 0)), 1)),
                (0, _) => {}
                (xi, xj) => {
                    let from_i_first = |d: u64| {
                        let u = d.min(xi - 1);
                        self.step((i, xi - 1 - u), (j, xj - (d - u)))
                    };
                    let from_j_first = |d: u64| {
                        let v = d.min(xj);
                        self.step((i, xi - 1 - (d - v)), (j, xj - v))
                    };
                    maximum_on_path(xi + xj, from_i_first, &discount, &mut best);
                    maximum_on_path(xi + xj, from_j_first, &discount, &mut best);
                }
            }
        }
        best
    }
}

/// Raises `best` to the maximum of `discount`(h(d), d) over 0 <= d < `length`.
///
/// Branch and bound: on a piece [d, e], h is at most max(h(d), h(e)) and the distance at least d,
/// so a piece whose bound does not exceed the best value found (by more than rounding,
/// [`ROUNDING`]) is dropped, and the others are halved. Correct whatever the discount; in practice
/// a few dozen evaluations.
fn maximum_on_path(
    length: u64,
    h: impl Fn(u64) -> f64,
    discount: &impl Fn(f64, u64) -> f64,
    best: &mut f64,
) {
    let Some(end) = length.checked_sub(1) else { return };
    let (first, last) = (h(0), h(end));
    *best = best.max(discount(first, 0)).max(discount(last, end));
    let mut pieces = vec![((0, first), (end, last))];
    while let Some((left, right)) = pieces.pop() {
        if right.0 - left.0 < 2 || discount(left.1.max(right.1), left.0 + 1) <= *best * ROUNDING {
            continue;
        }
        let middle = left.0 + (right.0 - left.0) / 2;
        let value = h(middle);
        *best = best.max(discount(value, middle));
        pieces.push(((middle, value), right));
        pieces.push((left, (middle, value)));
    }
}

/// A value counts as larger only if it exceeds the other by this factor: the last digits of h are
/// rounding errors.
const ROUNDING: f64 = 1.0 + 1e-14;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branch_and_bound_finds_an_interior_maximum_too() {
        // A made-up convex h whose discounted value peaks inside, where no corner rule would look.
        let h = |d: u64| 0.1 + 0.5 / (1.0 + libm::exp(-(d as f64 - 40.0)));
        let discount = |h: f64, d: u64| h * libm::exp(-0.01 * d as f64);
        let brute = (0..1000).map(|d| discount(h(d), d)).fold(0.0, f64::max);
        let mut best = 0.0;
        maximum_on_path(1000, h, &discount, &mut best);
        assert_eq!(best, brute);
        assert!(best > discount(h(0), 0) && best > discount(h(999), 999));
    }
}
