//! Divergences that are a sum of one term for each category, minus the same term of the totals.

use crate::numeric::{Table, expm1};
use crate::posterior::error_field::{Field, Reach};
use crate::posterior::model::Posterior;
use crate::posterior::simplex::{Row, Tail};

/// The function that is applied to the sum.
#[derive(Clone, Copy)]
pub enum Link {
    /// The sum itself.
    Plain,
    /// e^sum − 1.
    Expm1,
}

impl Link {
    fn of(self, sum: f64) -> f64 {
        match self {
            Self::Plain => sum,
            Self::Expm1 => expm1(sum),
        }
    }
}

/// The error field v ↦ link(Σ_i table_i(v_i) − table(Σ v)), where `table`(α, x, last) tabulates a
/// term up to `last`. An infinite sum is an infinite divergence.
pub fn separable(
    posterior: &Posterior,
    reach: &Reach,
    table: impl Fn(f64, u64, u64) -> Table,
    link: Link,
) -> Box<dyn Field> {
    let n = posterior.n();
    // Any output may occur: each coordinate goes up to n, or to what `reach` allows.
    let last = |i: usize| reach.windows[i].1.max(n);
    let all = 0..posterior.k();
    Box::new(Separable {
        categories: (all.clone())
            .map(|i| table(posterior.alpha(i), posterior.counts()[i], last(i)))
            .collect(),
        total: table(posterior.prior().total(), n, all.map(last).sum()),
        n,
        link,
    })
}

struct Separable {
    categories: Vec<Table>,
    total: Table,
    n: u64,
    link: Link,
}

impl Separable {
    fn category(&self, i: usize, v: u64) -> f64 {
        self.categories[i].get(v).unwrap_or(f64::INFINITY)
    }

    /// A sum less the term of its total.
    fn open(&self, sum: f64, total: u64) -> f64 {
        let term = self.total.get(total).unwrap_or(0.0);
        if sum == f64::INFINITY { sum } else { (sum - term).max(0.0) }
    }
}

impl Field for Separable {
    fn row(&self, row: &Row, out: &mut [f64]) {
        let place = row.head.len();
        let used: u64 = row.head.iter().sum();
        let head: f64 = row.head.iter().enumerate().map(|(i, &v)| self.category(i, v)).sum();
        for (value, v) in out.iter_mut().zip(row.start..) {
            let running = head + self.category(place, v);
            *value = self.link.of(match row.tail {
                Tail::Complement(rest) => running + self.category(place + 1, rest - v),
                Tail::Zero => self.open(running + self.category(place + 1, 0), used + v),
                Tail::Free => self.open(running, used + v),
            });
        }
    }

    fn n(&self) -> u64 {
        self.n
    }

    /// If a category's term can be infinite, so can a candidate's error: that of the candidate with
    /// all records in this category, or with none. A finite sum grows like n at most.
    fn extreme(&self) -> f64 {
        let largest = |table: &Table| (0..=self.n).filter_map(|v| table.get(v)).fold(0.0, f64::max);
        let sum: f64 = self.categories.iter().map(largest).sum();
        match self.link {
            Link::Plain if sum < f64::INFINITY => 1.0,
            _ => self.link.of(sum),
        }
    }
}
