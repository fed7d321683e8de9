//! The Hellinger distance (all five documents).

use std::borrow::Cow;

use super::Distance;
use super::affinity::Affinity;
use crate::numeric::log_affinity::{log_affinity, log_affinity_table};
use crate::numeric::{Table, kernel};
use crate::posterior::error_field::{Field, Reach};
use crate::posterior::model::Posterior;
use crate::posterior::simplex::{Region, Row, Tail};

/// H(Dir(a), Dir(b)) = sqrt(1 − BC), BC = B((a+b)/2) / sqrt(B(a) B(b)), B the multivariate beta
/// function.
///
/// Where the totals agree, ln BC = Σ_i D(a_i, b_i − a_i). Where they differ, D(A, B − A) of the
/// totals is subtracted and ln BC is clamped at 0.
pub struct Hellinger;

impl Distance for Hellinger {
    fn id(&self) -> &'static str {
        "hellinger"
    }

    fn title(&self) -> &'static str {
        "Hellinger distance"
    }

    fn field(&self, posterior: &Posterior, reach: &Reach) -> Box<dyn Field> {
        let window = reach.total();
        let last = window.1.max(posterior.n());
        let alpha = posterior.prior().total();
        Box::new(HellingerField {
            affinity: Affinity::new(posterior, 1.0, reach),
            total: log_affinity_table(alpha, posterior.n(), window, last, 0.0),
        })
    }

    fn accuracy(&self) -> (f64, f64) {
        (2e-15, 0.0)
    }

    fn power(&self, _: &Posterior) -> Option<f64> {
        Some(1.0)
    }
}

struct HellingerField {
    affinity: Affinity,
    /// t ↦ D(n + Σα, t − n).
    total: Table,
}

impl HellingerField {
    /// D(n + Σα, · − n) at totals `start`, …, `start + len − 1`.
    fn totals(&self, start: u64, len: usize) -> Cow<'_, [f64]> {
        self.total.slice(start, len).map(Cow::from).unwrap_or_else(|| {
            let posterior = self.affinity.posterior();
            let (alpha, n) = (posterior.prior().total(), posterior.n());
            (start..).take(len).map(|t| log_affinity(alpha, n, t)).collect()
        })
    }

    /// A row whose total is not n; `fixed` is the contribution of the coordinate after it.
    fn open_row(&self, row: &Row, fixed: f64, out: &mut [f64]) {
        let place = row.head.len();
        let used: u64 = row.head.iter().sum();
        let head: f64 = row.head.iter().enumerate().map(|(i, &v)| self.affinity.log(i, v)).sum();
        let logs = self.affinity.logs(place, row.start, row.len);
        let totals = self.totals(used + row.start, row.len);
        kernel::open_distances(head + fixed, &logs, &totals, out);
    }
}

impl Field for HellingerField {
    fn row(&self, row: &Row, out: &mut [f64]) {
        match row.tail {
            Tail::Complement(rest) => self.affinity.row(row.head, row.start, rest, out),
            Tail::Zero => self.open_row(row, self.affinity.log(row.head.len() + 1, 0), out),
            Tail::Free => self.open_row(row, 0.0, out),
        }
    }

    fn n(&self) -> u64 {
        self.affinity.posterior().n()
    }

    fn ball(&self) -> Option<Region> {
        self.affinity.ball()
    }
}
