//! The log affinity of one category, D(a, d) = lnΓ(a + d/2) − ½ lnΓ(a) − ½ lnΓ(a + d).
//!
//! BC is the Bhattacharyya coefficient (the affinity) of two posteriors. D(a, d) is what a category
//! contributes to ln BC when its count moves by d. It is never positive, and unimodal with its maximum
//! D(a, 0) = 0.
//!
//! lnΓ(10⁶) is about 1.3 · 10⁷, and D is of order 10⁻⁷ there: subtracting log-gammas leaves three
//! digits. The chains below add terms of one sign instead, with compensated sums: 10⁻¹⁵ relative at
//! any distance.
//!
//! A category is given as prior parameter α and count x, not as a = α + x: a tiny α would be lost
//! in the sum, and comes back when the count falls to 0.

use super::gamma::ln_phi;
use super::{Sum, Table, lgamma, log1p};

/// D(α+x, d) for d = 0, 1, 2, …:
///
/// ```text
/// D(a, 1)   = ln φ(a)
/// D(a, d+2) = D(a, d) − ½ log1p[ (a(d+1) + d(1+¾d)) / (a+d/2)² ]
/// ```
fn up(alpha: f64, x: u64) -> impl Iterator<Item = f64> {
    let a = alpha + x as f64;
    chains(Some(ln_phi(a)), move |d| {
        let d = d as f64;
        let middle = a + 0.5 * d;
        (a * (d + 1.0) + d * (1.0 + 0.75 * d)) / (middle * middle)
    })
}

/// D(α+x, −m) for m = 0, 1, …, x:
///
/// ```text
/// D(a, −1)   = ln φ(a − 1)
/// D(a, −m−2) = D(a, −m) − ½ log1p[ (c(m+1) + (1+m/2)²) / (c(c+1)) ],   c = a−m−2
/// ```
fn down(alpha: f64, x: u64) -> impl Iterator<Item = f64> {
    let odd = x.checked_sub(1).map(|below| ln_phi(alpha + below as f64));
    let ratio = move |m: u64| {
        // The last two values are not followed by any.
        let Some(after) = x.checked_sub(m + 2) else { return 0.0 };
        let (c, m) = (alpha + after as f64, m as f64);
        let half = 1.0 + 0.5 * m;
        (c * (m + 1.0) + half * half) / (c * (c + 1.0))
    };
    chains(odd, ratio).take(usize::try_from(x).map_or(usize::MAX, |x| x.saturating_add(1)))
}

/// Two chains in turn, of even and odd distances; the first begins at 0. Each value is the one before it in its
/// chain, less ½ log1p of the ratio there.
fn chains(odd: Option<f64>, ratio: impl Fn(u64) -> f64) -> impl Iterator<Item = f64> {
    let mut chains = [Sum::default(), Sum::from_iter(odd)];
    (0..).map(move |d| {
        let chain = &mut chains[(d % 2) as usize];
        let value = chain.value();
        chain.add(-0.5 * log1p(ratio(d)));
        value
    })
}

/// The table v ↦ D(α + x, v − x), out to where D falls below `floor`, but at least over `reach`
/// (inclusive) and never beyond `[0, last]`.
pub fn log_affinity_table(alpha: f64, x: u64, reach: (u64, u64), last: u64, floor: f64) -> Table {
    let mut values: Vec<f64> =
        above(floor, x.saturating_sub(reach.0), downwards(alpha, x)).collect();
    let first = x + 1 - values.len() as u64;
    values.reverse();
    let steps = (last.max(x) - x) as usize;
    let up = upwards(alpha, x).take(steps + 1);
    values.extend(above(floor, reach.1.saturating_sub(x), up).skip(1));
    Table::new(first, values)
}

/// The values down to the floor, and at least so many after the first.
fn above(floor: f64, needed: u64, values: impl Iterator<Item = f64>) -> impl Iterator<Item = f64> {
    let near = move |&(i, value): &(usize, f64)| value >= floor || i as u64 <= needed;
    values.enumerate().take_while(near).map(|(_, value)| value)
}

/// Up to this distance a value is summed step by step; beyond, it is computed in one go. Tables and
/// single values follow the same rule, so that no value depends on how far a table goes.
const FEW_STEPS: u64 = 4096;

/// D(α+x, d) for d = 0, 1, 2, …
fn upwards(alpha: f64, x: u64) -> impl Iterator<Item = f64> {
    let far = (FEW_STEPS + 1..).map(move |d| jump(alpha, x, x + d));
    up(alpha, x).take(FEW_STEPS as usize + 1).chain(far)
}

/// D(α+x, −m) for m = 0, 1, …, x.
fn downwards(alpha: f64, x: u64) -> impl Iterator<Item = f64> {
    let far = (FEW_STEPS + 1..=x).map(move |m| jump(alpha, x, x - m));
    down(alpha, x).take(FEW_STEPS as usize + 1).chain(far)
}

/// D(α + x, v − x) for one v.
pub fn log_affinity(alpha: f64, x: u64, v: u64) -> f64 {
    let steps = x.abs_diff(v);
    if steps > FEW_STEPS {
        return jump(alpha, x, v);
    }
    let steps = steps as usize;
    let found = if v >= x { up(alpha, x).nth(steps) } else { down(alpha, x).nth(steps) };
    found.unwrap_or(f64::NEG_INFINITY)
}

/// D(α + x, v − x) in one go.
fn jump(alpha: f64, x: u64, v: u64) -> f64 {
    let (a, b) = (alpha + x as f64, alpha + v as f64);
    if a.min(b) >= 30.0 { stirling(a, b) } else { far_from_zero(a, b) }
}

/// D between two large parameters by Stirling's series. With m = (a+b)/2 and t = (b−a)/2m the
/// logarithms of m cancel, and what is left has one sign:
///
/// ```text
/// D = −½ { m [(1+t) log1p(t) + (1−t) log1p(−t)] − ½ log1p(−t²) }  +  s(m) − ½ s(a) − ½ s(b),
/// s(z) = 1/12z − 1/360z³ + 1/1260z⁵ − …
/// ```
fn stirling(a: f64, b: f64) -> f64 {
    let m = 0.5 * (a + b);
    let t = 0.5 * (b - a) / m;
    let entropy = if t.abs() < 0.1 {
        // Σ t^(2i) / (i (2i−1)): eight terms reach the last bit.
        let s = t * t;
        (1..=8).rev().fold(0.0, |sum, i| s * (1.0 / f64::from(i * (2 * i - 1)) + sum))
    } else {
        (1.0 + t) * log1p(t) + (1.0 - t) * log1p(-t)
    };
    let s = |z: f64| {
        let w = 1.0 / (z * z);
        (1.0 / 12.0 + w * (-1.0 / 360.0 + w * (1.0 / 1260.0 + w * (-1.0 / 1680.0)))) / z
    };
    -0.5 * (m * entropy - 0.5 * log1p(-t * t)) + (s(m) - 0.5 * s(a) - 0.5 * s(b))
}

/// D far out with one small parameter. It is in the thousands there, so that plain log-gammas keep
/// twelve digits.
fn far_from_zero(a: f64, b: f64) -> f64 {
    lgamma(0.5 * (a + b)) - 0.5 * lgamma(a) - 0.5 * lgamma(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(ours: f64, theirs: f64, relative: f64) {
        assert!((ours - theirs).abs() <= relative * theirs.abs(), "{ours:e} is not {theirs:e}");
    }

    #[test]
    fn downward_steps_mirror_upward_ones() {
        for (alpha, x, v) in [(0.3, 40, 33), (1.0, 1000, 0), (7.25, 12, 1), (1e-12, 1, 0)] {
            assert_close(log_affinity(alpha, x, v), log_affinity(alpha, v, x), 1e-14);
        }
    }

    #[test]
    fn long_jumps_agree_with_small_steps() {
        for (alpha, x, v) in [
            (0.3, 0, 20_000),
            (2.5, 9_000, 3),
            (1.0, 1_000_000, 1_030_000),
            (0.7, 2_000_000, 1_000_000),
            (50.5, 10, 300_000),
        ] {
            let steps = u64::abs_diff(x, v) as usize;
            let step_by_step =
                if v >= x { up(alpha, x).nth(steps) } else { down(alpha, x).nth(steps) };
            assert_close(log_affinity(alpha, x, v), step_by_step.unwrap(), 2e-15);
        }
    }

    #[test]
    fn tables_agree_with_single_values_and_stop_at_the_floor() {
        let table = log_affinity_table(1.5, 1_000_000, (999_990, 1_000_010), 2_000_000, -40.0);
        assert!(table.first() > 900_000 && table.end() < 1_100_000);
        for v in (table.first()..table.end()).step_by(61) {
            assert_eq!(table.get(v), Some(log_affinity(1.5, 1_000_000, v)), "{v}");
        }
        assert!(table.get(table.first()).unwrap() > -40.1);
        assert_eq!(table.get(table.end()), None);
    }

    #[test]
    fn reach_extends_a_table_past_the_floor() {
        let table = log_affinity_table(1.0, 100, (0, 100_000), 100_000, -1.0);
        assert_eq!((table.first(), table.end()), (0, 100_001));
    }
}
