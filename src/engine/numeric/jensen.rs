//! J(a, b) = q lnΓ(a) + (1−q) lnΓ(b) − lnΓ(qa + (1−q)b), the Jensen gap of lnΓ: what one category
//! contributes to −ln ∫ p^q p'^(1−q), the integral behind the Rényi divergence of order q.
//!
//! With m = qa + (1−q)b, s = (a−m)/m and t = (b−m)/m, for which qs + (1−q)t = 0, the large parts of
//! the log-gammas drop out. Small parameters climb to where Stirling's series holds, lnΓ(z) =
//! lnΓ(z+1) − ln z, and what is left is
//!
//! ```text
//! J = Σ_j <e(s_j), e(t_j)>  +  m <η(s), η(t)>  +  ½ <e(s), e(t)>  +  q S(a) + (1−q) S(b) − S(m)
//! <x, y> = qx + (1−q)y,   e(t) = t − ln(1+t),   η(t) = (1+t) ln(1+t) − t
//! ```
//!
//! For 0 < q < 1 every part is positive. For q > 1 the second weight is negative, and about
//! log10(2q) digits go.

use super::bregman::{bregman_table, reverse_bregman_table};
use super::gamma::excess_over_log1p;
use super::{Sum, Table, ln, log1p, stirling};

/// J(α + x, α + v) for the order q. For q > 1, −∞ where the integral is infinite: m <= 0.
pub fn jensen_gap(q: f64, alpha: f64, x: u64, v: u64) -> f64 {
    if x == v {
        return 0.0;
    }
    let (a, b) = (alpha + x as f64, alpha + v as f64);
    let rest = 1.0 - q;
    let m = alpha + (q * x as f64 + rest * v as f64);
    if m <= 0.0 {
        return f64::NEG_INFINITY;
    }
    let moved = if v > x { (v - x) as f64 } else { -((x - v) as f64) };
    let mean = |shift: f64, f: fn(f64, f64) -> f64| {
        let middle = m + shift;
        let first = f(-rest * moved / middle, (a + shift) / middle);
        let second = f(q * moved / middle, (b + shift) / middle);
        q * first + rest * second
    };
    let mut sum = Sum::default();
    let mut shift = 0.0;
    while a.min(b).min(m) + shift < stirling::FROM {
        sum.add(mean(shift, excess));
        shift += 1.0;
    }
    let tails = q * stirling::tail(a + shift) + rest * stirling::tail(b + shift)
        - stirling::tail(m + shift);
    sum.add((m + shift) * mean(shift, entropy));
    sum.add(0.5 * mean(shift, excess));
    sum.add(tails);
    sum.value()
}

/// The order of the Kullback-Leibler divergence, to which Rényi's tend.
pub const KULLBACK_LEIBLER: f64 = 1.0;

/// The table v ↦ J(α + x, α + v) / (1 − q), 0 <= v <= last: what one category adds to the Rényi
/// divergence of order q from Dir(α+x) to Dir(α+v) at equal totals; if it is reversed, from Dir(α+v)
/// to Dir(α+x). Never negative.
pub fn renyi_table(q: f64, reversed: bool, alpha: f64, x: u64, last: u64) -> Table {
    match (q, reversed) {
        (KULLBACK_LEIBLER, false) => return bregman_table(alpha, x, last),
        (KULLBACK_LEIBLER, true) => return reverse_bregman_table(alpha, x, last),
        _ => {}
    }
    let term = |v: u64| {
        let (from, to) = if reversed { (v, x) } else { (x, v) };
        let value = jensen_gap(q, alpha, from, to) / (1.0 - q);
        // `max` may return −0 for −0, and the sign is read later.
        if value > 0.0 { value } else { 0.0 }
    };
    Table::new(0, (0..=last.max(x)).map(term).collect())
}

/// t − ln r, r = 1 + t, where either keeps its digits.
fn excess(t: f64, r: f64) -> f64 {
    if t.abs() < 0.5 { excess_over_log1p(t) } else { t - ln(r) }
}

/// r ln r − t, r = 1 + t. Where the difference cancels, eighteen terms of its series reach the last bit.
fn entropy(t: f64, r: f64) -> f64 {
    if t.abs() < 0.1 {
        return (2..20).rev().fold(0.0, |tail, i| 1.0 / f64::from(i * (i - 1)) - t * tail) * t * t;
    }
    let ln_r = if t.abs() < 0.5 { log1p(t) } else { ln(r) };
    r * ln_r - t
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::log_affinity::log_affinity;

    #[test]
    fn the_order_of_one_half_is_the_bhattacharyya_coefficient() {
        for (alpha, x, v) in
            [(0.3, 40, 33), (1.0, 1000, 0), (1.0, 500_000, 500_001), (1e-12, 1, 0), (7.25, 3, 90)]
        {
            let (ours, theirs) = (jensen_gap(0.5, alpha, x, v), -log_affinity(alpha, x, v));
            assert!((ours / theirs - 1.0).abs() < 4e-15, "{alpha} {x} {v}: {ours} {theirs}");
        }
    }

    #[test]
    fn an_order_of_two_is_infinite_where_the_integral_is() {
        // ∫ p²/p' diverges where 2a <= b.
        assert_eq!(jensen_gap(2.0, 1.0, 1, 3), f64::NEG_INFINITY);
        assert!(jensen_gap(2.0, 1.0, 1, 2).is_finite());
    }
}
