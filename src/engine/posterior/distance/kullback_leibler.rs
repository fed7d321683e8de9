//! The Kullback-Leibler divergence in both directions, in closed form.
//!
//! KL(Dir(a) ‖ Dir(b)) = Σ_i [lnΓ(b_i) − lnΓ(a_i) − (b_i − a_i) ψ(a_i)] − the same of the totals.
//! Each bracket is the Bregman divergence of lnΓ and never negative; its table is made without
//! cancellation (see [`crate::numeric::bregman`]).

use std::sync::Arc;

use super::Distance;
use super::separable::{Link, separable};
use crate::numeric::Table;
use crate::numeric::bregman::{bregman_table, reverse_bregman_table};
use crate::posterior::error_field::{Field, Reach};
use crate::posterior::model::{Posterior, Prior};
use crate::posterior::sensitivity::{Divergence, Sensitivity};

/// One direction.
pub struct KullbackLeibler {
    id: &'static str,
    title: &'static str,
    table: fn(f64, u64, u64) -> Table,
    moves: fn(&Prior, u64) -> Divergence,
}

/// KL(true posterior ‖ released).
pub static FORWARD: KullbackLeibler = KullbackLeibler {
    id: "kl",
    title: "KL divergence, truth to release",
    table: bregman_table,
    moves: Divergence::kl,
};

/// KL(released ‖ true posterior).
pub static REVERSE: KullbackLeibler = KullbackLeibler {
    id: "kl_reverse",
    title: "KL divergence, release to truth",
    table: reverse_bregman_table,
    moves: Divergence::kl_reverse,
};

impl Distance for KullbackLeibler {
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
        separable(posterior, reach, self.table, Link::Plain)
    }

    fn power(&self, _: &Posterior) -> Option<f64> {
        None
    }

    fn sensitivity_effort(&self, n: u64) -> f64 {
        1.0 + 0.3 * (n as f64).sqrt()
    }

    fn sensitivity(&self, posterior: &Posterior) -> Sensitivity {
        let moves = (self.moves)(posterior.prior(), posterior.n());
        Sensitivity::searched(posterior, Arc::new(moves))
    }
}
