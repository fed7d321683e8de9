//! The Hellinger distance (all five documents).

use std::borrow::Cow;

use super::Distance;
use super::affinity::{Affinity, AffinityField};
use crate::numeric::log_affinity::{log_affinity, log_affinity_table};
use crate::numeric::{Table, kernel};
use crate::posterior::error_field::{Field, Reach};
use crate::posterior::model::{Posterior, Prior};
use crate::posterior::simplex::Row;

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
        // t ↦ D(n + Σα, t − n).
        let total = log_affinity_table(alpha, posterior.n(), window, last, 0.0);
        let affinity = Affinity::new(posterior, 1.0, reach);
        let open_row = move |affinity: &Affinity, row: &Row, out: &mut [f64]| {
            open_row(affinity, &total, row, out);
        };
        Box::new(AffinityField { affinity, open_row })
    }

    fn accuracy(&self) -> (f64, f64) {
        (2e-15, 0.0)
    }

    fn power(&self, _: &Prior, _: u64) -> Option<f64> {
        Some(1.0)
    }
}

/// The distances of a row whose totals are not n, given the table of D at its totals.
fn open_row(affinity: &Affinity, total: &Table, row: &Row, out: &mut [f64]) {
    let shared: f64 = Affinity::shared(row).map(|(i, v)| affinity.log(i, v)).sum();
    let logs = affinity.logs(row.head.len(), row.start, row.len);
    let start = row.head.iter().sum::<u64>() + row.start;
    let totals = total.slice(start, row.len).map(Cow::from).unwrap_or_else(|| {
        let posterior = &affinity.posterior;
        let (alpha, n) = (posterior.prior().total(), posterior.n());
        (start..).take(row.len).map(|t| log_affinity(alpha, n, t)).collect()
    });
    kernel::open_distances(shared, &logs, &totals, out);
}
