//! The χ² divergence in both directions: ∫ p²/p' − 1 = e^(D₂) − 1, D₂ the Rényi divergence of order 2.

use super::Distance;
use super::separable::{Link, separable};
use crate::numeric::Table;
use crate::numeric::jensen::{renyi_table, reverse_renyi_table};
use crate::posterior::error_field::{Field, Reach};
use crate::posterior::model::Posterior;
use crate::refusal::Refusal;

/// One direction.
pub struct ChiSquared {
    id: &'static str,
    title: &'static str,
    table: fn(f64, f64, u64, u64) -> Table,
}

/// χ²(true posterior ‖ released), infinite where a released parameter is at least twice the true
/// one.
pub static FORWARD: ChiSquared =
    ChiSquared { id: "chi2", title: "χ² divergence, truth to release", table: renyi_table };

/// χ²(released ‖ true posterior), infinite where a true parameter is at least twice the released one.
pub static REVERSE: ChiSquared = ChiSquared {
    id: "chi2_reverse",
    title: "χ² divergence, release to truth",
    table: reverse_renyi_table,
};

impl Distance for ChiSquared {
    fn id(&self) -> &'static str {
        self.id
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn bound(&self) -> Option<f64> {
        None
    }

    fn field(&self, posterior: &Posterior, reach: &Reach) -> Box<dyn Field> {
        let table = |alpha, x, last| (self.table)(2.0, alpha, x, last);
        separable(posterior, reach, table, Link::Expm1)
    }

    fn power(&self, _: &Posterior) -> Option<f64> {
        None
    }

    fn refuses_scores(&self, _: &Posterior) -> Option<Refusal> {
        Some(Refusal::new(
            "χ² cannot be a score: it is infinite between most posteriors, and where it is not, its \
             sensitivity grows exponentially",
            "use it as a metric; as distance use renyi:2, which is ln(1 + χ²), with a prior whose \
             parameters all exceed the number of records, or renyi:0.5",
        ))
    }
}
