//! The distance that the printed figures were drawn with.

use super::Distance;
use super::affinity::Affinity;
use crate::field::{Field, Reach};
use crate::model::{Posterior, Prior};
use crate::numeric::exp::one_minus_exp;
use crate::numeric::{lgamma, ln, log1p};
use crate::simplex::{Region, Row, Tail};

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
        let affinity = Affinity::new(posterior, power(posterior), reach);
        let ln_gammas = (0..posterior.k()).map(|i| lgamma(posterior.parameter(i))).sum();
        Box::new(PrintField { affinity, ln_gammas })
    }

    fn accuracy(&self) -> (f64, f64) {
        (2e-15, 0.0)
    }

    fn power(&self, posterior: &Posterior) -> Option<f64> {
        Some(power(posterior))
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
fn power(posterior: &Posterior) -> f64 {
    match posterior.n().checked_sub(1) {
        None => 1.0,
        // ln N = ln(1 + (n − 1 + Σα)), also where N is hardly above 1.
        Some(others) => 1.0 / log1p(others as f64 + posterior.prior().total()),
    }
}

struct PrintField {
    affinity: Affinity,
    /// Σ lnΓ(a_i).
    ln_gammas: f64,
}

impl PrintField {
    /// z at a total B other than A = n + Σα, with M = (A + B)/2:
    ///
    /// ```text
    /// z = ΣD_i / ln M + ½ Σ lnΓ(a_i) (1/ln M − 1/ln A) + ½ Σ lnΓ(b_i) (1/ln M − 1/ln B)
    /// ```
    ///
    /// where a difference of reciprocals is taken as a ratio of logarithms of quotients.
    fn z(&self, logs: f64, ln_gammas: f64, total: u64) -> f64 {
        let posterior = self.affinity.posterior();
        let a = posterior.total();
        let b = posterior.prior().total() + total as f64;
        let middle = 0.5 * (a + b);
        let ln_middle = ln(middle);
        let reciprocals = |end: f64| log1p((end - middle) / middle) / (ln_middle * ln(end));
        logs / ln_middle + 0.5 * (self.ln_gammas * reciprocals(a) + ln_gammas * reciprocals(b))
    }

    fn open_row(&self, row: &Row, out: &mut [f64]) {
        let posterior = self.affinity.posterior();
        let ln_gamma = |i: usize, v: u64| lgamma(posterior.alpha(i) + v as f64);
        let place = row.head.len();
        let fixed = row.head.iter().copied().enumerate();
        let fixed: Vec<_> =
            fixed.chain((row.tail == Tail::Zero).then_some((place + 1, 0))).collect();
        let logs: f64 = fixed.iter().map(|&(i, v)| self.affinity.log(i, v)).sum();
        let ln_gammas: f64 = fixed.iter().map(|&(i, v)| ln_gamma(i, v)).sum();
        let used: u64 = row.head.iter().sum();
        let running = self.affinity.logs(place, row.start, row.len);
        for ((h, v), log) in out.iter_mut().zip(row.start..).zip(running.iter()) {
            let z = self.z(logs + log, ln_gammas + ln_gamma(place, v), used + v);
            *h = one_minus_exp(z.min(0.0)).sqrt();
        }
    }
}

impl Field for PrintField {
    fn row(&self, row: &Row, out: &mut [f64]) {
        match row.tail {
            Tail::Complement(rest) => self.affinity.row(row.head, row.start, rest, out),
            Tail::Zero | Tail::Free => self.open_row(row, out),
        }
    }

    fn n(&self) -> u64 {
        self.affinity.posterior().n()
    }

    fn ball(&self) -> Option<Region> {
        self.affinity.ball()
    }
}
