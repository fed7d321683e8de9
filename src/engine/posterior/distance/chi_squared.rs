//! The χ² divergence in both directions: ∫ p²/p' − 1 = e^(D₂) − 1, D₂ the Rényi divergence of order 2.

use super::Distance;
use super::separable::{Link, separable};
use crate::numeric::jensen::{renyi_table, reverse_renyi_table};
use crate::posterior::error_field::{Field, Reach};
use crate::posterior::model::Posterior;
use crate::refusal::Refusal;

/// χ²(true posterior ‖ released), infinite where a released parameter is at least twice the true
/// one.
pub struct Forward;

/// χ²(released ‖ true posterior), infinite where a true parameter is at least twice the released one.
pub struct Reverse;

impl Distance for Forward {
    fn id(&self) -> &'static str {
        "chi2"
    }

    fn title(&self) -> &'static str {
        "χ² divergence, truth to release"
    }

    fn bound(&self) -> Option<f64> {
        None
    }

    fn field(&self, posterior: &Posterior, reach: &Reach) -> Box<dyn Field> {
        let table = |alpha, x, last| renyi_table(2.0, alpha, x, last);
        separable(posterior, reach, table, Link::Expm1)
    }

    fn power(&self, _: &Posterior) -> Option<f64> {
        None
    }

    fn refuses_scores(&self, _: &Posterior) -> Option<Refusal> {
        Some(no_score())
    }
}

impl Distance for Reverse {
    fn id(&self) -> &'static str {
        "chi2_reverse"
    }

    fn title(&self) -> &'static str {
        "χ² divergence, release to truth"
    }

    fn bound(&self) -> Option<f64> {
        None
    }

    fn field(&self, posterior: &Posterior, reach: &Reach) -> Box<dyn Field> {
        let table = |alpha, x, last| reverse_renyi_table(2.0, alpha, x, last);
        separable(posterior, reach, table, Link::Expm1)
    }

    fn power(&self, _: &Posterior) -> Option<f64> {
        None
    }

    fn refuses_scores(&self, _: &Posterior) -> Option<Refusal> {
        Some(no_score())
    }
}

fn no_score() -> Refusal {
    Refusal::new(
        "χ² cannot be a score: it is infinite between most posteriors, and where it is not, its \
         sensitivity grows exponentially",
        "use it as a metric; as distance use renyi:2, which is ln(1 + χ²), with a prior whose \
         parameters all exceed the number of records, or renyi:0.5",
    )
}
