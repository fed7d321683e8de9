//! The Kullback-Leibler divergence in both directions, in closed form.
//!
//! KL(Dir(a) ‖ Dir(b)) = Σ_i [lnΓ(b_i) − lnΓ(a_i) − (b_i − a_i) ψ(a_i)] − the same of the totals.
//! Each bracket is the Bregman divergence of lnΓ and never negative; its table is made without
//! cancellation (see [`crate::numeric::bregman`]).

use crate::field::{Field, Reach};
use crate::model::Posterior;
use crate::numeric::Table;
use crate::numeric::bregman::{bregman_table, reverse_bregman_table};
use crate::simplex::{Row, Tail};

/// KL(true posterior ‖ released).
pub fn forward(posterior: &Posterior, reach: &Reach) -> Box<dyn Field> {
    divergence(posterior, reach, bregman_table)
}

/// KL(released ‖ true posterior).
pub fn reverse(posterior: &Posterior, reach: &Reach) -> Box<dyn Field> {
    divergence(posterior, reach, reverse_bregman_table)
}

fn divergence(
    posterior: &Posterior,
    reach: &Reach,
    table: fn(f64, u64, u64) -> Table,
) -> Box<dyn Field> {
    let n = posterior.n();
    // Any output may occur: each coordinate goes up to n, the total up to what `reach` allows.
    let furthest = reach.windows.iter().map(|window| window.1.max(n)).sum();
    Box::new(Divergence {
        categories: (0..posterior.k())
            .map(|i| table(posterior.alpha(i), posterior.counts()[i], n))
            .collect(),
        total: table(posterior.prior().total(), n, furthest),
        n,
    })
}

struct Divergence {
    categories: Vec<Table>,
    total: Table,
    n: u64,
}

impl Divergence {
    fn category(&self, i: usize, v: u64) -> f64 {
        self.categories[i].get(v).unwrap_or(f64::INFINITY)
    }
}

impl Field for Divergence {
    fn row(&self, row: &Row, out: &mut [f64]) {
        let place = row.head.len();
        let used: u64 = row.head.iter().sum();
        let head: f64 = row.head.iter().enumerate().map(|(i, &v)| self.category(i, v)).sum();
        for (value, v) in out.iter_mut().zip(row.start..) {
            let running = head + self.category(place, v);
            let open = |sum: f64| (sum - self.total.get(used + v).unwrap_or(0.0)).max(0.0);
            *value = match row.tail {
                Tail::Complement(rest) => running + self.category(place + 1, rest - v),
                Tail::Zero => open(running + self.category(place + 1, 0)),
                Tail::Free => open(running),
            };
        }
    }

    fn n(&self) -> u64 {
        self.n
    }
}
