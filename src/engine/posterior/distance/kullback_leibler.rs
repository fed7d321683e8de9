//! The Kullback-Leibler divergence in both directions, in closed form.
//!
//! KL(Dir(a) ‖ Dir(b)) = Σ_i [lnΓ(b_i) − lnΓ(a_i) − (b_i − a_i) ψ(a_i)] − the same of the totals.
//! Each bracket is the Bregman divergence of lnΓ and never negative; its table is made without
//! cancellation (see [`crate::numeric::bregman`]).

use std::sync::Arc;

use super::Distance;
use super::separable::{Link, separable};
use crate::numeric::bregman::{bregman_table, reverse_bregman_table};
use crate::posterior::error_field::{Field, Reach};
use crate::posterior::model::Posterior;
use crate::posterior::sensitivity::{Divergence, Sensitivity};

/// KL(true posterior ‖ released).
pub struct Forward;

/// KL(released ‖ true posterior).
pub struct Reverse;

impl Distance for Forward {
    fn id(&self) -> &'static str {
        "kl"
    }

    fn title(&self) -> &'static str {
        "KL divergence, truth to release"
    }

    fn bound(&self) -> Option<f64> {
        None
    }

    fn field(&self, posterior: &Posterior, reach: &Reach) -> Box<dyn Field> {
        separable(posterior, reach, bregman_table, Link::Plain)
    }

    fn power(&self, _: &Posterior) -> Option<f64> {
        None
    }

    fn sensitivity_effort(&self, n: u64) -> f64 {
        1.0 + 0.3 * (n as f64).sqrt()
    }

    fn sensitivity(&self, posterior: &Posterior) -> Sensitivity {
        let moves = Divergence::kl(posterior.prior(), posterior.n());
        Sensitivity::searched(posterior, Arc::new(moves))
    }
}

impl Distance for Reverse {
    fn id(&self) -> &'static str {
        "kl_reverse"
    }

    fn title(&self) -> &'static str {
        "KL divergence, release to truth"
    }

    fn bound(&self) -> Option<f64> {
        None
    }

    fn field(&self, posterior: &Posterior, reach: &Reach) -> Box<dyn Field> {
        separable(posterior, reach, reverse_bregman_table, Link::Plain)
    }

    fn power(&self, _: &Posterior) -> Option<f64> {
        None
    }

    fn sensitivity_effort(&self, n: u64) -> f64 {
        1.0 + 0.3 * (n as f64).sqrt()
    }

    fn sensitivity(&self, posterior: &Posterior) -> Sensitivity {
        let moves = Divergence::kl_reverse(posterior.prior(), posterior.n());
        Sensitivity::searched(posterior, Arc::new(moves))
    }
}
