//! Two groups against brute force.

use std::collections::BTreeMap;

use statrs::function::beta::beta_reg;
use statrs::function::beta::ln_beta;

use super::brute::{average, integral, method, parameters, seen, tables};
use crate::release::posterior::{Comparison, CountsLaw};
use engine::numeric::{Sum, exp_accurate, ln};
use engine::posterior::model::{Counts, Prior};

/// Products without end.
const MOST: f64 = f64::INFINITY;

type Part = (&'static [usize], &'static [usize]);

/// p_A and p_B, each with its own parameters.
type Parameters = ((f64, f64), (f64, f64));

fn assert_close(ours: f64, theirs: f64, within: f64, what: &str) {
    assert!((ours - theirs).abs() <= within, "{what}: {ours} instead of {theirs}");
}

/// The probability of every pair of laws.
fn laws(tables: &[(Counts, f64)], alpha: &[f64], (a, b): (Part, Part)) -> Vec<(Parameters, f64)> {
    let mut laws: BTreeMap<[u64; 4], (Parameters, f64)> = BTreeMap::new();
    for (x, weight) in tables {
        let of = |(cells, group): Part| parameters(alpha, x, cells, group);
        let (a, b) = (of(a), of(b));
        let key = [a.0, a.1, b.0, b.1].map(f64::to_bits);
        laws.entry(key).or_insert(((a, b), 0.0)).1 += weight;
    }
    laws.into_values().collect()
}

/// P[p_A − p_B <= x], −1 < x < 1.
fn difference_below(laws: &[(Parameters, f64)], x: f64) -> f64 {
    let one = |&((a, b), weight): &(Parameters, f64)| {
        // ∫ over p_B from max(0, −x) to 1; above 1 − x the first distribution function is 1.
        let density = |p: f64, rest: f64, (a, b): (f64, f64)| {
            exp_accurate((a - 1.0) * ln(p) + (b - 1.0) * ln(rest) - ln_beta(a, b))
        };
        let low = (-x).max(0.0);
        let high = 1.0_f64.min(1.0 - x);
        let inner = integral(low, high, |left, right| {
            let (p, rest) = (low + left, 1.0 - high + right);
            let first = if x < 0.0 { left } else { p + x };
            let below = match first > 0.5 {
                true if x >= 0.0 => 1.0 - beta_reg(a.1, a.0, right),
                _ => beta_reg(a.0, a.1, first),
            };
            density(p, rest, b) * below
        });
        weight * (inner + if x > 0.0 { 1.0 - beta_reg(b.0, b.1, high) } else { 0.0 })
    };
    laws.iter().map(one).collect::<Sum>().value()
}

/// P[p_A / p_B <= r].
fn ratio_below(laws: &[(Parameters, f64)], r: f64) -> f64 {
    let one = |&((a, b), weight): &(Parameters, f64)| {
        let high = 1.0_f64.min(1.0 / r);
        let inner = integral(0.0, high, |p, right| {
            let rest = 1.0 - high + right;
            let density =
                exp_accurate((b.0 - 1.0) * ln(p) + (b.1 - 1.0) * ln(rest) - ln_beta(b.0, b.1));
            let below = match r >= 1.0 && r * p > 0.5 {
                true => 1.0 - beta_reg(a.1, a.0, r * right),
                false => beta_reg(a.0, a.1, r * p),
            };
            density * below
        });
        weight * (inner + if r > 1.0 { 1.0 - beta_reg(b.0, b.1, high) } else { 0.0 })
    };
    laws.iter().map(one).collect::<Sum>().value()
}

fn check(comparison: &Comparison, laws: &[(Parameters, f64)], what: &str) {
    let greater = 1.0 - difference_below(laws, 0.0);
    assert_close(comparison.probability_greater(), greater, 1e-11, what);
    let mean = |(a, b): (f64, f64)| a / (a + b);
    let difference = laws.iter().map(|((a, b), weight)| weight * (mean(*a) - mean(*b)));
    assert_close(comparison.mean_difference(), difference.sum(), 1e-13, what);
    for p in [0.005, 0.025, 0.4, 0.5, 0.8, 0.975] {
        let x = comparison.difference_quantile(p);
        assert_close(difference_below(laws, x), p, 1e-11, &format!("{what}, difference {x}"));
        assert_close(comparison.difference_below(x), p, 1e-12, &format!("{what}, at {x}"));
        let r = comparison.ratio_quantile(p);
        assert_close(ratio_below(laws, r), p, 1e-11, &format!("{what}, ratio {r}"));
    }
}

/// Mechanism, prior, ε, n, released counts, and what is compared.
type Case = (&'static str, &'static [f64], &'static str, u64, &'static [u64], (Part, Part));

/// The rate of the second outcome in two groups.
const TWO: (Part, Part) = ((&[1], &[0, 1]), (&[3], &[2, 3]));

#[test]
fn small_tables() {
    let cases: [Case; 4] = [
        ("tight", &[1.0, 1.0, 1.0, 1.0], "1", 12, &[5, 2, 1, 4], TWO),
        ("lattice", &[0.3, 1.5, 20.0, 1.0], "0.7", 10, &[0, 9, 0, 3], TWO),
        ("geometric", &[1.0, 2.0, 0.5, 3.0], "1", 11, &[2, 0, 7, 2], TWO),
        // A fifth cell, outside of both groups.
        (
            "lattice",
            &[1.0, 0.4, 3.0, 0.7, 1.0],
            "1",
            7,
            &[3, 0, 1, 2, 1],
            ((&[0], &[0, 3]), (&[2], &[1, 2])),
        ),
    ];
    for (id, alpha, epsilon, n, released, parts) in cases {
        let method = method(id, alpha, n, epsilon);
        let law = CountsLaw::given(&[seen(&method, released)]).unwrap();
        let laws = laws(&tables(&[(&method, released)]), alpha, parts);
        check(&law.compare(parts.0, parts.1, MOST).unwrap(), &laws, id);
    }
}

#[test]
fn two_arms_two_outcomes_a_hundred_records() {
    let (alpha, released) = ([1.0; 4], [31, 17, 24, 28]);
    let method = method("lattice", &alpha, 100, "1");
    let law = CountsLaw::given(&[seen(&method, &released)]).unwrap();
    let tables = tables(&[(&method, &released)]);
    let comparison = law.compare(TWO.0, TWO.1, MOST).unwrap();
    // For whole numbers P[Beta(a, b) > Beta(c, d)] is a sum over i < a.
    let greater = average(&tables, |x| {
        let [b, d, c] = [0, 2, 3].map(|i| x[i] as f64 + 1.0);
        let mut term = exp_accurate(ln_beta(c, b + d) - ln_beta(c, d));
        let mut sum = 0.0;
        for i in 0..=x[1] {
            let i = i as f64;
            sum += term;
            term *= (c + i) * (b + i) / ((c + i + b + d) * (1.0 + i));
        }
        sum
    });
    assert_close(comparison.probability_greater(), greater, 1e-11, "greater");
}

#[test]
fn fixed_groups_are_independent() {
    let prior = Prior::new(vec![1.0, 2.0]).unwrap();
    let [a, b] = [[3, 7], [8, 4]].map(|counts| CountsLaw::exactly(&prior, &counts).share(&[0]));
    let laws = [(((4.0, 9.0), (9.0, 6.0)), 1.0)];
    check(&Comparison::independent(a, b, MOST).unwrap(), &laws, "independent");
}

#[test]
fn the_smallest_priors_and_the_same_law_twice() {
    // p_A = U^(1/a) and p_B = U^(1/b): ln p_A − ln p_B is a difference of two exponential numbers.
    let (a, b) = (0.01, 0.02);
    let share = |alpha: f64| {
        CountsLaw::exactly(&Prior::new(vec![alpha, 1.0]).unwrap(), &[0, 0]).share(&[0])
    };
    let comparison = Comparison::independent(share(a), share(b), MOST).unwrap();
    assert_close(comparison.probability_greater(), a / (a + b), 1e-11, "greater");
    // P[ln p_A − ln p_B > x] = a/(a + b) e^(−bx).
    for x in [3.0, 40.0, 150.0] {
        let above = a / (a + b) * exp_accurate(-b * x);
        let quantile = ln(comparison.ratio_quantile(1.0 - above));
        assert_close(quantile, x, 1e-8 * x, "ratio");
    }
    let twice = Comparison::independent(share(a), share(a), MOST).unwrap();
    assert_close(twice.probability_greater(), 0.5, 1e-12, "the same law twice");
    assert_close(twice.ratio_quantile(0.5), 1.0, 1e-10, "the same law twice");
}
