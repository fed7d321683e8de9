//! How far one record can move a posterior: local, global and smooth sensitivities, without
//! enumerating candidates or data sets.
//!
//! Moving a record from category i to j changes the posterior by h, h² = 1 − (φ(a_i − 1) φ(a_j))^s
//! (s = 1 for Hellinger; s = 1/ln N for the print distance). Both distances are metrics at equal
//! totals, so by the triangle inequality no candidate sees a larger change of score than the old
//! posterior itself (icml Lemma 5.4), and LS(x) is the largest h over all moves.

use crate::model::Posterior;
use crate::numeric::gamma::ln_phi;
use crate::numeric::{exp_accurate, expm1, ln, log1p};

/// sqrt(1 − π/4), the bound on the global sensitivity used by icml and bounds; it holds when every
/// α_i >= 1.
pub const GLOBAL_BOUND: f64 = 0.463_251_375_176_104_24;

/// The sensitivities at one posterior.
#[derive(Clone, Debug)]
pub struct Sensitivity {
    alpha: Vec<f64>,
    counts: Vec<u64>,
    n: u64,
    power: f64,
}

impl Sensitivity {
    /// The sensitivities of sqrt(1 − BC^power).
    #[must_use]
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

    fn ordered_pairs(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let k = self.alpha.len();
        (0..k).flat_map(move |i| (0..k).filter(move |&j| j != i).map(move |j| (i, j)))
    }

    /// LS(x): the largest move of the posterior when one record of x changes its category.
    #[must_use]
    pub fn local(&self) -> f64 {
        let x = &self.counts;
        self.ordered_pairs()
            .filter(|&(i, _)| x[i] >= 1)
            .map(|(i, j)| self.step((i, x[i] - 1), (j, x[j])))
            .fold(0.0, f64::max)
    }

    /// GS: the largest LS over all data sets of n records.
    ///
    /// ln φ is increasing, so the fewer records the two categories hold the better: for k >= 3 the
    /// rest goes elsewhere and the two smallest α decide. For k = 2 the sum ln φ(α_1 + m) +
    /// ln φ(α_2 + n−1−m) is concave in m and smallest at an end.
    #[must_use]
    pub fn global(&self) -> f64 {
        if self.n == 0 {
            return 0.0;
        }
        if self.alpha.len() == 2 {
            let last = self.n - 1;
            return self.step((0, 0), (1, last)).max(self.step((0, last), (1, 0)));
        }
        self.ordered_pairs().map(|(i, j)| self.step((i, 0), (j, 0))).fold(0.0, f64::max)
    }

    /// S_γ(x) = max over x' of 1 / (1/LS(x') + γ d(x, x')) (icml §5.3, arxiv §5.2.4).
    #[must_use]
    pub fn gamma_smooth(&self, gamma: f64) -> f64 {
        self.smooth(|h, d| 1.0 / (1.0 / h + gamma * d as f64))
    }

    /// S_β(x) = max over x' of LS(x') e^(−β d(x, x')) (notes §2, arxiv §4.2).
    #[must_use]
    pub fn beta_smooth(&self, beta: f64) -> f64 {
        self.smooth(|h, d| h * exp_accurate(-beta * d as f64))
    }

    /// The maximum of `discount`(LS(x'), d(x, x')) over all data sets x'; `discount` increases in
    /// the first argument and decreases in the second.
    ///
    /// It is enough to look at the two categories between which the record of x' moves, and at the
    /// cheapest way from x to such an x' (k >= 3: take records out of i and j, first all from one
    /// of them, since ln φ is concave; k = 2: every x' on the line). Each of these is a path along
    /// which d grows by one a step and h first falls, then rises, so that on any piece of it h is
    /// largest at an end: see [`maximum_on_path`]. This rests on monotonicity and concavity of
    /// ln φ only. That the maximum is at a corner (u in {0, x_i−1}, v in {0, x_j}) was true in
    /// every case tried but is not proved, and is not used.
    fn smooth(&self, discount: impl Fn(f64, u64) -> f64) -> f64 {
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
        for (i, j) in self.ordered_pairs() {
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

/// The last digits of h are rounding; a larger value within them is no larger value.
const ROUNDING: f64 = 1.0 + 1e-14;

/// How many candidates the logarithm in β counts (notes §2 says n + 1; the printed values of β
/// used n).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CandidatesInBeta {
    /// n + 1, as in the text.
    #[default]
    NPlusOne,
    /// n, as in print.
    N,
}

impl CandidatesInBeta {
    /// Every choice.
    pub const ALL: [Self; 2] = [Self::NPlusOne, Self::N];

    /// The name in a config.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NPlusOne => "n+1",
            Self::N => "n",
        }
    }
}

/// β = ln(1 − ε / (2 ln(δ / (2 (n+1))))) (notes §2.3).
#[must_use]
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
    use crate::model::Prior;

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
    fn no_data_no_sensitivity() {
        let none = at(&[1.0, 2.0, 3.0], &[0, 0, 0]);
        let all = [none.local(), none.global(), none.gamma_smooth(1.0), none.beta_smooth(0.1)];
        assert_eq!(all, [0.0; 4]);
    }
}
