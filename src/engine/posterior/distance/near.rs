//! The candidates nearer than distance 1.

use crate::numeric::log_affinity::log_affinity;
use crate::numeric::{LN_NEGLIGIBLE, first_where};
use crate::posterior::model::Posterior;

/// The largest d <= most with `near(d)`; `near` changes from true to false once.
pub fn furthest(most: u64, near: impl Fn(u64) -> bool) -> u64 {
    first_where(1, most.saturating_add(1), |d| !near(d)) - 1
}

/// How many counts of each category candidates can have that are nearer to `posterior` than distance 1, for a
/// distance whose [`plateau`](super::Distance::plateau) is `power`.
pub fn near_widths(posterior: &Posterior, power: f64) -> Vec<f64> {
    let (n, floor) = (posterior.n(), floor(power));
    let width = |(i, &x): (usize, &u64)| {
        let is_near = |v: u64| log_affinity(posterior.alpha(i), x, v) >= floor;
        (furthest(x, |m| is_near(x - m)) + furthest(n - x, |d| is_near(x + d))) as f64 + 1.0
    };
    posterior.counts().iter().enumerate().map(width).collect()
}

/// The log affinity at which the table of one category may end. One unit of slack: rounding must not
/// let the table end inside the ball.
pub(super) fn floor(power: f64) -> f64 {
    (LN_NEGLIGIBLE - 1.0) / power
}
