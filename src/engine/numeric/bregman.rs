//! Bregman divergences of lnΓ, the terms of the Kullback-Leibler divergence between Dirichlet
//! distributions, without cancellation: sums of terms of one sign, with λ(a) = ln a − ψ(a).

use super::gamma::{digamma_excess, digamma_gap};
use super::{Sum, Table, ln, log1p};

/// The table v ↦ lnΓ(α+v) − lnΓ(α+x) − (v−x) ψ(α+x), 0 <= v <= last: what one category adds to
/// KL(Dir(α+x) ‖ Dir(α+v)) at equal totals. With a = α + x,
///
/// ```text
/// upwards:   Σ_{j=0}^{d−1}  λ(a) + log1p(j/a)        downwards:  Σ_{j=1}^{m}  −ln((a−j)/a) − λ(a)
/// ```
pub fn bregman_table(alpha: f64, x: u64, last: u64) -> Table {
    let a = alpha + x as f64;
    let gap = digamma_gap(a);
    let down = |m: u64| {
        let moved = m as f64 + 1.0;
        // α + (x − m − 1), not a − m − 1: a tiny α must not be lost.
        let left = (alpha + (x - m - 1) as f64) / a;
        let logarithm = if left < 0.5 { ln(left) } else { log1p(-moved / a) };
        -logarithm - gap
    };
    outwards(x, last, |d| gap + log1p(d as f64 / a), down)
}

/// The table v ↦ lnΓ(α+x) − lnΓ(α+v) − (x−v) ψ(α+v): the same for KL(Dir(α+v) ‖ Dir(α+x)).
///
/// ```text
/// b = a + d upwards:  (1/b − λ(b)) + d/b              b = a − m − 1 downwards:  λ(b) + m/b
/// ```
pub fn reverse_bregman_table(alpha: f64, x: u64, last: u64) -> Table {
    let up = |d: u64| {
        let b = alpha + (x + d) as f64;
        digamma_excess(b) + d as f64 / b
    };
    let down = |m: u64| {
        let b = alpha + (x - m - 1) as f64;
        digamma_gap(b) + m as f64 / b
    };
    outwards(x, last, up, down)
}

/// Sums increments outwards from f(x) = 0: `up(d)` leads from x+d to x+d+1, `down(m)` from x−m to
/// x−m−1.
fn outwards(x: u64, last: u64, up: impl Fn(u64) -> f64, down: impl Fn(u64) -> f64) -> Table {
    let running = |count: u64, step: &dyn Fn(u64) -> f64| {
        let mut sum = Sum::default();
        let add = |i: u64| {
            sum.add(step(i));
            sum.value()
        };
        (0..count).map(add).collect::<Vec<_>>()
    };
    let mut values = running(x, &down);
    values.reverse();
    values.push(0.0);
    values.extend(running(last.max(x) - x, &up));
    Table::new(0, values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tiny_prior_survives_the_way_down() {
        // One record less than one: the forward term is −ln α − λ(1) with a = 1 + α, and
        // λ(1) = −ψ(1) = Euler's constant.
        let forward = bregman_table(1e-12, 1, 1).get(0).unwrap();
        assert!((forward / (-ln(1e-12) - 0.577_215_664_901_532_9) - 1.0).abs() < 1e-12);
        // The reverse term is λ(α) = ln α + 1/α + … .
        let reverse = reverse_bregman_table(1e-12, 1, 1).get(0).unwrap();
        assert!((reverse / digamma_gap(1e-12) - 1.0).abs() < 1e-15);
    }
}
