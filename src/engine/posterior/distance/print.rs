//! The distance that the printed figures were drawn with.

use super::Distance;
use super::affinity::{Affinity, AffinityField};
use crate::numeric::exp::one_minus_exp;
use crate::numeric::{Table, lgamma, ln, log1p};
use crate::posterior::error_field::{Field, Reach};
use crate::posterior::model::{Posterior, Prior};
use crate::posterior::simplex::{Row, Window};

/// H_print = sqrt(1 − e^z), z = g((a+b)/2) − ½ g(a) − ½ g(b), g(v) = Σ lnΓ(v_i) / ln Σ v_i:
/// the total's log-gamma is replaced by a division by its logarithm.
///
/// The figures of icml and arxiv agree with this and not with the distance that their text
/// defines. At equal totals N it is ln BC divided by ln N, and still a metric there (every power
/// of the Bhattacharyya kernel of a Dirichlet family is positive definite).
pub struct Print;

impl Distance for Print {
    fn id(&self) -> &'static str {
        "print"
    }

    fn title(&self) -> &'static str {
        "print distance"
    }

    fn field(&self, posterior: &Posterior, reach: &Reach) -> Box<dyn Field> {
        let affinity = Affinity::new(posterior, power(posterior.prior(), posterior.n()), reach);
        let ln_gammas = (0..posterior.k()).map(|i| lgamma(posterior.parameter(i))).sum();
        let (low, high) = reach.total();
        let tabulated = |(i, &(low, high)): (usize, &Window)| {
            let ln_gamma = |v: u64| lgamma(posterior.alpha(i) + v as f64);
            Table::new(low, (low..=high).map(ln_gamma).collect())
        };
        let open = OpenTotals {
            ln_gammas,
            categories: reach.windows.iter().enumerate().map(tabulated).collect(),
            first_total: low,
            totals: (low..=high).map(|total| Total::new(posterior, total)).collect(),
        };
        let open_row = move |affinity: &Affinity, row: &Row, out: &mut [f64]| {
            open.row(affinity, row, out);
        };
        Box::new(AffinityField { affinity, open_row })
    }

    fn accuracy(&self) -> (f64, f64) {
        (2e-15, 0.0)
    }

    fn power(&self, prior: &Prior, n: u64) -> Option<f64> {
        Some(power(prior, n))
    }

    fn refuses_open_totals(&self, prior: &Prior) -> Option<String> {
        (prior.total() <= 1.0).then(|| {
            format!(
                "the print distance divides by ln Σα, and this prior's parameters sum to {} <= 1",
                prior.total()
            )
        })
    }
}

/// 1 / ln N. Without records there is one candidate, at distance 0 whatever the power.
fn power(prior: &Prior, n: u64) -> f64 {
    match n.checked_sub(1) {
        None => 1.0,
        // ln N = ln(1 + (n − 1 + Σα)), also where N is hardly above 1.
        Some(others) => 1.0 / log1p(others as f64 + prior.total()),
    }
}

/// What is needed where totals differ.
struct OpenTotals {
    /// Σ lnΓ(a_i).
    ln_gammas: f64,
    /// v ↦ lnΓ(α_i + v).
    categories: Vec<Table>,
    /// What z needs of totals from the first on.
    first_total: u64,
    totals: Vec<Total>,
}

/// What z needs to know about a total B beside A = n + Σα, with M = (A + B)/2.
#[derive(Clone, Copy)]
struct Total {
    /// 1 / ln M.
    middle: f64,
    /// 1/ln M − 1/ln A and 1/ln M − 1/ln B, each as a ratio of logarithms of quotients.
    ends: [f64; 2],
}

impl Total {
    fn new(posterior: &Posterior, total: u64) -> Self {
        let a = posterior.total();
        let b = posterior.prior().total() + total as f64;
        let middle = 0.5 * (a + b);
        let ln_middle = ln(middle);
        let difference = |end: f64| log1p((end - middle) / middle) / (ln_middle * ln(end));
        Self { middle: 1.0 / ln_middle, ends: [a, b].map(difference) }
    }
}

impl OpenTotals {
    fn total(&self, posterior: &Posterior, total: u64) -> Total {
        let index =
            total.checked_sub(self.first_total).and_then(|index| usize::try_from(index).ok());
        let tabulated = index.and_then(|index| self.totals.get(index)).copied();
        tabulated.unwrap_or_else(|| Total::new(posterior, total))
    }

    fn ln_gamma(&self, posterior: &Posterior, i: usize, v: u64) -> f64 {
        self.categories[i].get(v).unwrap_or_else(|| lgamma(posterior.alpha(i) + v as f64))
    }

    /// Where the totals differ,
    ///
    /// ```text
    /// z = ΣD_i / ln M + ½ Σ lnΓ(a_i) (1/ln M − 1/ln A) + ½ Σ lnΓ(b_i) (1/ln M − 1/ln B).
    /// ```
    fn row(&self, affinity: &Affinity, row: &Row, out: &mut [f64]) {
        let (posterior, index) = (&affinity.posterior, row.head.len());
        let logs: f64 = Affinity::shared(row).map(|(i, v)| affinity.log(i, v)).sum();
        let ln_gamma = |(i, v)| self.ln_gamma(posterior, i, v);
        let ln_gammas: f64 = Affinity::shared(row).map(ln_gamma).sum();
        let used: u64 = row.head.iter().sum();
        let running = affinity.logs(index, row.start, row.len);
        for ((h, v), log) in out.iter_mut().zip(row.start..).zip(running.iter()) {
            let Total { middle, ends } = self.total(posterior, used + v);
            let released = ln_gammas + ln_gamma((index, v));
            let z = (logs + log) * middle + 0.5 * (self.ln_gammas * ends[0] + released * ends[1]);
            *h = one_minus_exp(z.min(0.0)).sqrt();
        }
    }
}
