//! The Rényi divergence of any order, in closed form.
//!
//! D_q(p ‖ p') = 1/(q−1) ln ∫ p^q p'^(1−q), and between Dir(a) and Dir(b) the integral is
//! B(qa + (1−q)b) / (B(a)^q B(b)^(1−q)), infinite where some qa_i + (1−q)b_i <= 0. Every category
//! contributes the Jensen gap of lnΓ (see [`crate::numeric::jensen`]). The order ½ is −2 ln BC, and
//! q → 1 is the Kullback-Leibler divergence.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::Distance;
use super::separable::{Link, separable};
use crate::numeric::jensen::renyi_table;
use crate::posterior::error_field::{Field, Reach};
use crate::posterior::model::Posterior;
use crate::posterior::sensitivity::{Divergence, Sensitivity};
use crate::refusal::Refusal;

/// What a name begins with; the order follows.
pub const PREFIX: &str = "renyi:";

/// D_q(true posterior ‖ released).
pub struct Renyi {
    order: f64,
    id: &'static str,
    title: &'static str,
}

/// The divergence called `renyi:<order>`, made once.
pub fn named(order: &str) -> Result<&'static dyn Distance, Refusal> {
    static MADE: Mutex<BTreeMap<u64, &'static Renyi>> = Mutex::new(BTreeMap::new());
    let order = read(order)?;
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    // Names live as long as the program; there are as many as orders in the configs.
    let make = || -> &'static Renyi {
        Box::leak(Box::new(Renyi {
            order,
            id: format!("{PREFIX}{order}").leak(),
            title: format!("Rényi divergence of order {order}").leak(),
        }))
    };
    Ok(*made.entry(order.to_bits()).or_insert_with(make))
}

/// Orders outside this range, or nearer to 1 than this, lose too many digits.
const ORDERS: std::ops::RangeInclusive<f64> = 0.001..=1000.0;
const NEAREST_TO_ONE: f64 = 0.001;

fn read(text: &str) -> Result<f64, Refusal> {
    let refused = |cause: &str, remedy: &str| {
        Err(Refusal::new(format!("the order of `{PREFIX}{text}` {cause}"), remedy))
    };
    let Ok(order) = text.parse::<f64>() else {
        return refused("is not a number", "write for example renyi:0.5 or renyi:2");
    };
    if order == 1.0 {
        return refused("is 1, where it is the KL divergence", "use kl");
    }
    if !ORDERS.contains(&order) || (order - 1.0).abs() < NEAREST_TO_ONE {
        return refused(
            "is out of range",
            "an order lies between 0.001 and 1000, and at least 0.001 away from 1 (where it is kl)",
        );
    }
    Ok(order)
}

impl Distance for Renyi {
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
        let table = |alpha, x, last| renyi_table(self.order, alpha, x, last);
        separable(posterior, reach, table, Link::Plain)
    }

    fn power(&self, _: &Posterior) -> Option<f64> {
        None
    }

    fn sensitivity_effort(&self, n: u64) -> f64 {
        1.0 + 17.0 * (n as f64).sqrt()
    }

    fn sensitivity(&self, posterior: &Posterior) -> Sensitivity {
        if self.refuses_scores(posterior).is_some() {
            return Sensitivity::unlimited();
        }
        let moves = Divergence::renyi(self.order, posterior.prior(), posterior.n());
        Sensitivity::searched(posterior, Arc::new(moves))
    }

    fn refuses_scores(&self, posterior: &Posterior) -> Option<Refusal> {
        let smallest = posterior.prior().alpha().iter().copied().fold(f64::INFINITY, f64::min);
        let needed = (self.order - 1.0) * posterior.n() as f64;
        (smallest <= needed).then(|| {
            let cause = format!(
                "the Rényi divergence of order {} is infinite between some posteriors of {} \
                 records, unless every prior parameter exceeds {needed}, and one is {smallest}",
                self.order,
                posterior.n()
            );
            Refusal::new(cause, "use it as a metric only, or an order below 1 as distance")
        })
    }
}
