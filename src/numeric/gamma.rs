//! Differences of log-gamma functions, without the cancellation.
//!
//! lnΓ(10⁶) is about 1.3 · 10⁷, and the quantities of interest are of order 10⁻⁷: subtracting
//! log-gammas leaves three digits. Each function here is a sum of terms of one sign instead.

use super::{Sum, log1p};

/// Where the asymptotic series below are exact to the last bit.
const SERIES_FROM: f64 = 30.0;

/// Applies `series` where its argument is large, and otherwise climbs there by a recurrence:
/// f(a) = f(a + 1) + step(a).
fn climb(mut a: f64, step: impl Fn(f64) -> f64, series: impl Fn(f64) -> f64) -> f64 {
    let mut sum = Sum::default();
    while a < SERIES_FROM {
        sum.add(step(a));
        a += 1.0;
    }
    sum.add(series(a));
    sum.value()
}

/// ln φ(a), φ(a) = Γ(a + ½) / sqrt(Γ(a) Γ(a + 1)): the Bhattacharyya factor of one category that
/// gains one record. Negative, increasing and concave in a.
///
/// ```text
/// ln φ(a) = ln φ(a+1) − ½ log1p(1 / 4a(a+1))
/// ln φ(a) = −1/8a + 1/192a³ − 1/640a⁵ + 17/14336a⁷ − 31/18432a⁹ + …      (a large)
/// ```
#[must_use]
pub fn ln_phi(a: f64) -> f64 {
    climb(
        a,
        |a| -0.5 * log1p(0.25 / (a * (a + 1.0))),
        |a| {
            let s = 1.0 / (a * a);
            let tail = s
                * (1.0 / 192.0
                    + s * (-1.0 / 640.0 + s * (17.0 / 14_336.0 + s * (-31.0 / 18_432.0))));
            (-0.125 + tail) / a
        },
    )
}

/// λ(a) = ln a − ψ(a), ψ the digamma function. Positive and decreasing.
///
/// ```text
/// λ(a) = λ(a+1) + 1/a − log1p(1/a)
/// λ(a) = 1/2a + 1/12a² − 1/120a⁴ + 1/252a⁶ − 1/240a⁸ + 1/132a¹⁰ …             (a large)
/// ```
#[must_use]
pub fn digamma_gap(a: f64) -> f64 {
    climb(
        a,
        |a| excess_over_log1p(1.0 / a),
        |a| {
            let s = 1.0 / (a * a);
            let tail = s
                * (1.0 / 12.0
                    + s * (-1.0 / 120.0
                        + s * (1.0 / 252.0 + s * (-1.0 / 240.0 + s * (1.0 / 132.0)))));
            0.5 / a + tail
        },
    )
}

/// x − log1p(x) for x > 0; by its series where the difference cancels.
fn excess_over_log1p(x: f64) -> f64 {
    if x > 0.1 {
        return x - log1p(x);
    }
    // x²/2 − x³/3 + … : at x = 0.1 eighteen terms reach the last bit.
    (2..20).rev().fold(0.0, |tail, i| 1.0 / f64::from(i) - x * tail) * x * x
}

/// Values f(first), f(first + 1), … of a function of a whole number.
#[derive(Clone, Debug)]
pub struct Table {
    first: u64,
    values: Vec<f64>,
}

impl Table {
    /// The function tabulated from `first` on.
    #[must_use]
    pub fn new(first: u64, values: Vec<f64>) -> Self {
        Self { first, values }
    }

    /// The smallest tabulated argument.
    #[must_use]
    pub fn first(&self) -> u64 {
        self.first
    }

    /// One past the largest tabulated argument.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.first + self.values.len() as u64
    }

    /// f(v), if v is tabulated.
    #[must_use]
    pub fn get(&self, v: u64) -> Option<f64> {
        let index = v.checked_sub(self.first)?;
        self.values.get(usize::try_from(index).ok()?).copied()
    }

    /// f(start), …, f(start + len − 1), if all are tabulated.
    #[must_use]
    pub fn slice(&self, start: u64, len: usize) -> Option<&[f64]> {
        let from = usize::try_from(start.checked_sub(self.first)?).ok()?;
        self.values.get(from..from.checked_add(len)?)
    }

    /// The same arguments, other values.
    #[must_use]
    pub fn map(&self, f: impl Fn(f64) -> f64) -> Self {
        Self::new(self.first, self.values.iter().map(|&v| f(v)).collect())
    }
}

/// D(a, d) = lnΓ(a + d/2) − ½ lnΓ(a) − ½ lnΓ(a + d), the contribution of one category to
/// ln BC when its count moves by d. Never positive, unimodal with its maximum D(a, 0) = 0.
///
/// Made outwards from d = 0 in two chains (even and odd d) of terms of one sign, with compensated
/// sums: 10⁻¹⁵ relative at any distance.
///
/// ```text
/// D(a, 1)    = ln φ(a)                                D(a, −m) = D(a − m, m)
/// D(a, d+2)  = D(a, d)  − ½ log1p[ (a(d+1) + d(1+¾d)) / (a+d/2)² ]
/// D(a, −m−2) = D(a, −m) − ½ log1p[ (c(m+1) + (1+m/2)²) / (c(c+1)) ],   c = a−m−2
/// ```
struct HalfGapUp {
    a: f64,
    d: u64,
    chains: [Sum; 2],
}

impl HalfGapUp {
    fn new(a: f64) -> Self {
        let odd = Sum::from_iter([ln_phi(a)]);
        Self { a, d: 0, chains: [Sum::default(), odd] }
    }
}

impl Iterator for HalfGapUp {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        let (a, d) = (self.a, self.d as f64);
        let chain = &mut self.chains[(self.d % 2) as usize];
        let value = chain.value();
        let middle = a + 0.5 * d;
        let ratio = (a * (d + 1.0) + d * (1.0 + 0.75 * d)) / (middle * middle);
        chain.add(-0.5 * log1p(ratio));
        self.d += 1;
        Some(value)
    }
}

/// The same for d = 0, −1, −2, …; ends where a + d would not be positive.
struct HalfGapDown {
    a: f64,
    m: u64,
    chains: [Sum; 2],
}

impl HalfGapDown {
    fn new(a: f64) -> Self {
        let odd = if a > 1.0 { ln_phi(a - 1.0) } else { 0.0 };
        Self { a, m: 0, chains: [Sum::default(), Sum::from_iter([odd])] }
    }
}

impl Iterator for HalfGapDown {
    type Item = f64;

    fn next(&mut self) -> Option<f64> {
        let m = self.m as f64;
        if self.a - m <= 0.0 {
            return None;
        }
        let chain = &mut self.chains[(self.m % 2) as usize];
        let value = chain.value();
        let c = self.a - m - 2.0;
        if c > 0.0 {
            let half = 1.0 + 0.5 * m;
            chain.add(-0.5 * log1p((c * (m + 1.0) + half * half) / (c * (c + 1.0))));
        }
        self.m += 1;
        Some(value)
    }
}

/// The table v ↦ D(α + x, v − x), out to where D falls below `floor`, but at least over `reach`
/// (inclusive) and never beyond `[0, last]`.
#[must_use]
pub fn half_gap_table(alpha: f64, x: u64, reach: (u64, u64), last: u64, floor: f64) -> Table {
    let a = alpha + x as f64;
    let far = |i: usize, value: f64, needed: u64| value < floor && i as u64 > needed;
    let mut values = Vec::new();
    for (m, value) in HalfGapDown::new(a).enumerate().take(x as usize + 1) {
        if far(m, value, x.saturating_sub(reach.0)) {
            break;
        }
        values.push(value);
    }
    let first = x + 1 - values.len() as u64;
    values.reverse();
    let above = last.max(x) - x;
    for (d, value) in HalfGapUp::new(a).enumerate().take(above as usize + 1).skip(1) {
        if far(d, value, reach.1.saturating_sub(x)) {
            break;
        }
        values.push(value);
    }
    Table::new(first, values)
}

/// D(a, d) for one pair. Costs |d| steps; a + d must be positive.
#[must_use]
pub fn half_gap(a: f64, d: i64) -> f64 {
    let steps = d.unsigned_abs() as usize;
    let found = if d >= 0 { HalfGapUp::new(a).nth(steps) } else { HalfGapDown::new(a).nth(steps) };
    found.unwrap_or(f64::NEG_INFINITY)
}

/// The table v ↦ lnΓ(α+v) − lnΓ(α+x) − (v−x) ψ(α+x), 0 <= v <= last: what one category adds to
/// KL(Dir(α+x) ‖ Dir(α+v)) at equal totals. Terms of one sign:
///
/// ```text
/// upwards:   Σ_{j=0}^{d−1}  λ(a) + log1p(j/a)          downwards: Σ_{j=1}^{m}  −log1p(−j/a) − λ(a)
/// ```
#[must_use]
pub fn bregman_table(alpha: f64, x: u64, last: u64) -> Table {
    let a = alpha + x as f64;
    let gap = digamma_gap(a);
    outwards(x, last, |d| gap + log1p(d / a), |m| -log1p(-(m + 1.0) / a) - gap)
}

/// The table v ↦ lnΓ(α+x) − lnΓ(α+v) − (x−v) ψ(α+v): the same for KL(Dir(α+v) ‖ Dir(α+x)).
///
/// ```text
/// b = a + d upwards:  (1/b − λ(b)) + d/b                b = a − m − 1 downwards:  λ(b) + m/b
/// ```
#[must_use]
pub fn reverse_bregman_table(alpha: f64, x: u64, last: u64) -> Table {
    let a = alpha + x as f64;
    outwards(
        x,
        last,
        |d| {
            let b = a + d;
            (1.0 / b - digamma_gap(b)) + d / b
        },
        |m| {
            let b = a - m - 1.0;
            digamma_gap(b) + m / b
        },
    )
}

/// Sums increments outwards from f(x) = 0: `up(d)` leads from x+d to x+d+1, `down(m)` from x−m to
/// x−m−1.
fn outwards(x: u64, last: u64, up: impl Fn(f64) -> f64, down: impl Fn(f64) -> f64) -> Table {
    let running = |count: u64, step: &dyn Fn(f64) -> f64| {
        let mut sum = Sum::default();
        (0..count)
            .map(|i| {
                sum.add(step(i as f64));
                sum.value()
            })
            .collect::<Vec<_>>()
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
    use crate::numeric::ln;

    fn assert_close(ours: f64, theirs: f64, relative: f64) {
        assert!((ours - theirs).abs() <= relative * theirs.abs(), "{ours:e} is not {theirs:e}");
    }

    #[test]
    fn phi_of_a_half_and_of_one_have_closed_forms() {
        // φ(½) = Γ(1)/sqrt(Γ(½)Γ(3/2)) = sqrt(2/π), φ(1) = Γ(3/2)/sqrt(Γ(1)Γ(2)) = sqrt(π)/2
        assert_close(ln_phi(0.5), 0.5 * ln(2.0 / std::f64::consts::PI), 1e-15);
        assert_close(ln_phi(1.0), 0.5 * ln(std::f64::consts::PI / 4.0), 1e-15);
    }

    #[test]
    fn downward_steps_mirror_upward_ones() {
        for (alpha, x, m) in [(0.3, 40, 7), (1.0, 1000, 1000), (7.25, 12, 11)] {
            let down = half_gap(alpha + x as f64, -m);
            let up = half_gap(alpha + (x - m) as f64, m);
            assert_close(down, up, 1e-14);
        }
    }

    #[test]
    fn tables_agree_with_single_values_and_stop_at_the_floor() {
        let table = half_gap_table(1.5, 1_000_000, (999_990, 1_000_010), 2_000_000, -40.0);
        assert!(table.first() > 900_000 && table.end() < 1_100_000);
        for v in [table.first(), 999_999, 1_000_000, 1_000_003, table.end() - 1] {
            let direct = half_gap(1_000_001.5, v as i64 - 1_000_000);
            assert_eq!(table.get(v), Some(direct));
        }
        assert!(table.get(table.first()).unwrap() > -40.1);
        assert_eq!(table.get(table.end()), None);
    }

    #[test]
    fn reach_extends_a_table_past_the_floor() {
        let table = half_gap_table(1.0, 100, (0, 100_000), 100_000, -1.0);
        assert_eq!((table.first(), table.end()), (0, 100_001));
    }
}
