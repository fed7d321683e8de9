//! How far one record changes a divergence: Kullback-Leibler in both directions, and Rényi.
//!
//! A divergence at equal totals is a sum over the categories. If a record leaves i, which keeps p,
//! for j, which had q, only two terms change; with A = α_i + p, B = α_j + q and b = α + c the
//! candidate's parameters, the difference u(x, r) − u(x', r) is f_i(b_i) − f_j(b_j) with
//!
//! ```text
//! KL(truth ‖ release):   1/A − λ(A) − (b−A)/A                             λ(a) = ln a − ψ(a)
//! KL(release ‖ truth):   ln A − ψ(b)
//! Rényi of order q:      q/(1−q) ln A − 1/(1−q) ρ(qA + (1−q)b)            ρ(m) = lnΓ(m+q) − lnΓ(m)
//! ```
//!
//! for i, and the same with B for j. Each falls in b (ψ increases and lnΓ is convex), so over all
//! candidates of n records the difference is largest where c_i = 0 and c_j = n, and smallest where
//! c_i = n and c_j = 0. The largest change is
//!
//! ```text
//! max( F_i(p) + G_j(q),  G_i(p) + F_j(q) ),       F = f at c = 0,   G = −f at c = n.
//! ```
//!
//! G falls as its count grows: for KL it is (n−1+α)/A − 1 + λ(A) or ψ(α+n) − ln A, and for Rényi
//! its slope has the sign of (1/A − ψ(m+q) + ψ(m)) times that of q − 1, where ψ(m+q) − ψ(m) lies on
//! the other side of 1/m than 1/A does (m >= A if q < 1, m <= A if q > 1). F need not be monotone,
//! but is a sum of a part that rises and a part that falls, which bounds it on a window.

use super::Moves;
use super::diameter::{self, Terms};
use crate::memo::Memo;
use crate::numeric::gamma::{digamma_excess, digamma_gap};
use crate::numeric::jensen::{KULLBACK_LEIBLER, renyi_table};
use crate::numeric::{ln, log1p, stirling};
use crate::posterior::model::Prior;
use crate::posterior::simplex::Window;

/// How far one record changes a divergence between posteriors of n records.
#[derive(Clone, Debug)]
pub struct DivergenceMoves {
    order: f64,
    /// Whether it is KL(release ‖ truth).
    reversed: bool,
    alpha: Vec<f64>,
    n: u64,
}

impl DivergenceMoves {
    /// The Kullback-Leibler divergence in one or the other direction, or Rényi's of another order from truth to
    /// release. That is finite for q < 1, and for q > 1 only if every α_i > (q − 1) n.
    pub fn new(order: f64, reversed: bool, prior: &Prior, n: u64) -> Self {
        Self { order, reversed, alpha: prior.alpha().to_vec(), n }
    }

    /// An upper bound on F for p from `low` to `high`, and F itself if these agree: the part of F that
    /// rises in p is taken at `high`, the part that falls at `low`.
    fn empty(&self, i: usize, low: u64, high: u64) -> f64 {
        let alpha = self.alpha[i];
        let (low_a, high_a) = (alpha + low as f64, alpha + high as f64);
        match (self.order, self.reversed) {
            // 1/A − λ(A) + p/A = 1 + (1−α)/A − λ(A).
            (KULLBACK_LEIBLER, false) => {
                let a = if alpha < 1.0 { low_a } else { high_a };
                // p/A and 1/A apart, and 1/A − λ(A) together where α is small.
                if low == high {
                    return low as f64 / a + digamma_excess(a);
                }
                1.0 + (1.0 - alpha) / a - digamma_gap(high_a)
            }
            (KULLBACK_LEIBLER, true) => ln(high_a) - digamma(alpha),
            (q, _) => {
                let (logs, gammas) = match q < 1.0 {
                    true => (high_a, low as f64),
                    false => (low_a, high as f64),
                };
                (q * ln(logs) - ratio(q, alpha + q * gammas)) / (1.0 - q)
            }
        }
    }

    /// G at one count.
    fn full(&self, j: usize, count: u64) -> f64 {
        let alpha = self.alpha[j];
        let a = alpha + count as f64;
        match (self.order, self.reversed) {
            (KULLBACK_LEIBLER, false) => (self.n - count) as f64 / a - digamma_excess(a),
            (KULLBACK_LEIBLER, true) => digamma(alpha + self.n as f64) - ln(a),
            (q, _) => {
                let m = alpha + (q * count as f64 + (1.0 - q) * self.n as f64);
                (ratio(q, m) - q * ln(a)) / (1.0 - q)
            }
        }
    }

    /// The terms of a category whose true count is 0 and released count v, and of one whose true
    /// count is v and released count 0.
    fn terms(&self, alpha: f64) -> Terms {
        let values = |reversed: bool| {
            let table = renyi_table(self.order, reversed, alpha, 0, self.n);
            (0..=self.n).filter_map(|v| table.get(v)).collect()
        };
        Terms { gained: values(self.reversed), lost: values(!self.reversed) }
    }

    /// An upper bound on the rounding error of a change between categories i and j, where logarithms
    /// nearly cancel if α is large. It is added to every change: a sensitivity that is too small would
    /// break privacy, one that is too large by this costs nothing.
    fn slack(&self, i: usize, j: usize) -> f64 {
        let size = |i: usize| {
            let alpha = self.alpha[i];
            let logs = 1.0 + ln(alpha).abs() + ln(alpha + self.n as f64).abs();
            match (self.order, self.reversed) {
                (KULLBACK_LEIBLER, false) => 0.0,
                (KULLBACK_LEIBLER, true) => logs + digamma(alpha).abs(),
                (q, _) => logs / (1.0 - q).abs(),
            }
        };
        ROUNDING * (size(i) + size(j))
    }
}

/// A few units in the last digit.
const ROUNDING: f64 = 2e-15;

impl Moves for DivergenceMoves {
    fn change(&self, (i, p): (usize, u64), (j, q): (usize, u64)) -> f64 {
        let one = self.empty(i, p, p) + self.full(j, q);
        one.max(self.full(i, p) + self.empty(j, q, q)) + self.slack(i, j)
    }

    fn at_most(&self, (i, p): (usize, Window), (j, q): (usize, Window)) -> f64 {
        let one = self.empty(i, p.0, p.1) + self.full(j, q.0);
        one.max(self.full(i, p.0) + self.empty(j, q.0, q.1)) + self.slack(i, j)
    }

    /// Every data set asks for the same number, and with three categories or more it takes long: it is
    /// kept.
    fn diameter(&self) -> f64 {
        static KNOWN: Memo<Asked, f64> = Memo::new(1024);
        let alpha = self.alpha.iter().map(|alpha| alpha.to_bits()).collect();
        KNOWN.get(&(self.order.to_bits(), self.reversed, alpha, self.n), || {
            let classes = diameter::classes(&self.alpha, |alpha| self.terms(alpha));
            // A diameter that rounding makes too small would break privacy.
            diameter::largest(&classes) * (1.0 + OUTWARD)
        })
    }
}

/// The bits of the order, the direction, the bits of the prior's parameters, and n.
type Asked = (u64, bool, Vec<u64>, u64);

/// More than the relative rounding error of a diameter.
const OUTWARD: f64 = 1e-13;

/// ψ(a).
fn digamma(a: f64) -> f64 {
    ln(a) - digamma_gap(a)
}

/// ρ(m) = lnΓ(m + q) − lnΓ(m): by Stirling's series, and below it by ρ(m) = ρ(m+1) − ln((m+q)/m).
fn ratio(q: f64, mut m: f64) -> f64 {
    let mut climbed = 0.0;
    while m < stirling::FROM {
        climbed += ln((m + q) / m);
        m += 1.0;
    }
    let bend = (m + q - 0.5) * log1p(q / m) - q;
    q * ln(m) + bend + (stirling::tail(m + q) - stirling::tail(m)) - climbed
}
