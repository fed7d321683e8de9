//! sqrt(1 − Π b_i): what the Hellinger distance and the print distance have in common.

use std::borrow::Cow;

use super::near;
use crate::numeric::exp::{exp_nonpositive, one_minus_exp};
use crate::numeric::log_affinity::{log_affinity, log_affinity_table};
use crate::numeric::{Table, kernel};
use crate::posterior::error_field::{Field, Reach};
use crate::posterior::model::Posterior;
use crate::posterior::simplex::{Region, Row, Tail};

/// A table that covers more than one part in this many of all counts is extended over all of them.
const MOST_OF_SIMPLEX: u64 = 4;

/// One category: the table of D, and of s·D in the two forms that need no further function.
struct Category {
    /// D(a_i, v − x_i).
    log: Table,
    /// b_i = e^(s D).
    keep: Table,
    /// u_i = 1 − e^(s D).
    loss: Table,
}

/// The factors e^(s D_i) of every category, s the power to which the Bhattacharyya coefficient is
/// raised (1 for Hellinger).
pub struct Affinity {
    /// The posterior that distances are measured from.
    pub posterior: Posterior,
    power: f64,
    categories: Vec<Category>,
    has_ball: bool,
}

impl Affinity {
    /// Tabulates each category over `reach`; for a ball, as far as its factor alone does not make
    /// the distance 1.
    pub fn new(posterior: &Posterior, power: f64, reach: &Reach) -> Self {
        let floor = if reach.ball { near::floor(power) } else { 0.0 };
        let categories = (0..posterior.k())
            .map(|i| {
                let (alpha, x) = (posterior.alpha(i), posterior.counts()[i]);
                let log = log_affinity_table(alpha, x, reach.windows[i], posterior.n(), floor);
                let keep = log.map(|d| exp_nonpositive(power * d));
                let loss = log.map(|d| one_minus_exp(power * d));
                // If the ball fills much of the simplex, all candidates may be walked instead: then
                // most of them should be found in tables.
                let length = log.end() - log.first();
                let all = (0, posterior.n());
                if reach.ball && MOST_OF_SIMPLEX * length > posterior.n() {
                    Category { keep: keep.padded(all, 0.0), loss: loss.padded(all, 1.0), log }
                } else {
                    Category { keep, loss, log }
                }
            })
            .collect();
        Self { posterior: posterior.clone(), power, categories, has_ball: reach.ball }
    }

    /// D(a_i, v − x_i), from the table or, far out, one by one.
    pub fn log(&self, i: usize, v: u64) -> f64 {
        self.categories[i]
            .log
            .get(v)
            .unwrap_or_else(|| log_affinity(self.posterior.alpha(i), self.posterior.counts()[i], v))
    }

    /// D(a_i, · − x_i) at `start`, …, `start + len − 1`, borrowed from the table if possible.
    pub fn logs(&self, i: usize, start: u64, len: usize) -> Cow<'_, [f64]> {
        let table = self.categories[i].log.slice(start, len).map(Cow::from);
        table.unwrap_or_else(|| (start..).take(len).map(|v| self.log(i, v)).collect())
    }

    /// The counts of a row before the running one and after it, if that is 0: those that all its outputs share.
    pub fn shared(row: &Row) -> impl Iterator<Item = (usize, u64)> {
        let after = (row.tail == Tail::Zero).then_some((row.head.len() + 1, 0));
        row.head.iter().copied().enumerate().chain(after)
    }

    /// The distances of one row of compositions of n: with b_i = e^(s D_i) and u_i = 1 − b_i,
    ///
    /// ```text
    /// H² = u_1 + b_1 (u_2 + b_2 (u_3 + …)),
    /// ```
    ///
    /// only positive terms and no transcendental function.
    pub fn row(&self, head: &[u64], start: u64, rest: u64, out: &mut [f64]) {
        let index = head.len();
        let (mut lost, mut kept) = (0.0, 1.0);
        for (i, &v) in head.iter().enumerate() {
            let (u, b) = self.factors(i, v);
            lost += kept * u;
            kept *= b;
        }
        let (running, last) = (&self.categories[index], &self.categories[index + 1]);
        let len = out.len();
        let last_start = rest + 1 - start - len as u64;
        let slices = (
            running.loss.slice(start, len),
            running.keep.slice(start, len),
            last.loss.slice(last_start, len),
        );
        if let (Some(u), Some(b), Some(w)) = slices {
            kernel::distances(lost, kept, u, b, w, out);
        } else {
            for (h, v) in out.iter_mut().zip(start..) {
                let ((u, b), (w, _)) = (self.factors(index, v), self.factors(index + 1, rest - v));
                *h = (lost + kept * (u + b * w)).min(1.0).sqrt();
            }
        }
    }

    /// u_i and b_i, from the tables or, far out, one by one.
    fn factors(&self, i: usize, v: u64) -> (f64, f64) {
        let category = &self.categories[i];
        match (category.loss.get(v), category.keep.get(v)) {
            (Some(u), Some(b)) => (u, b),
            // Beyond a ball's tables the factor is negligible, and rows there are frequent.
            _ if self.has_ball => (1.0, 0.0),
            _ => {
                let log = self.power * self.log(i, v);
                (one_minus_exp(log), exp_nonpositive(log))
            }
        }
    }

    /// The compositions that can be nearer than distance 1, if they are tabulated.
    pub fn ball(&self) -> Option<Region> {
        self.has_ball.then(|| {
            let tables = self.categories.iter().map(|c| c.log.map(|d| self.power * d)).collect();
            Region::ball(self.posterior.counts().to_vec(), tables)
        })
    }
}

/// sqrt(1 − BC^s) at equal totals.
pub struct AffinityField<F> {
    pub affinity: Affinity,
    /// Writes the distances of a row whose totals differ.
    pub open_row: F,
}

impl<F: Fn(&Affinity, &Row, &mut [f64]) + Send + Sync> Field for AffinityField<F> {
    fn row(&self, row: &Row, out: &mut [f64]) {
        match row.tail {
            Tail::Complement(rest) => self.affinity.row(row.head, row.start, rest, out),
            Tail::Zero | Tail::Free => (self.open_row)(&self.affinity, row, out),
        }
    }

    fn n(&self) -> u64 {
        self.affinity.posterior.n()
    }

    fn ball(&self) -> Option<Region> {
        self.affinity.ball()
    }
}
