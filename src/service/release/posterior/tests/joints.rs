//! Joint intervals against brute force.

use statrs::function::beta::beta_reg;

use super::brute::{average, beta_density, integral, method, seen, tables};
use crate::release::posterior::joint::Joint;
use crate::release::posterior::{CountsLaw, Drawn, Interval};
use engine::posterior::model::Prior;

/// P[all p_i in their intervals] of Dir(a) by integrals inside of integrals: over p_1, then over p_2
/// given p_1, and the rest by a distribution function.
fn rectangle(a: &[f64], intervals: &[Interval], left: f64) -> f64 {
    let (first, others) = (intervals[0], &intervals[1..]);
    let rest: f64 = a[1..].iter().sum();
    // Shares of what is left.
    let limits = |one: &Interval| ((one.low / left).min(1.0), (one.high / left).min(1.0));
    let (low, high) = limits(&first);
    if let [second] = others {
        let other = limits(second);
        let (low, high) = (low.max(1.0 - other.1), high.min(1.0 - other.0));
        return if low < high {
            beta_reg(a[0], rest, high) - beta_reg(a[0], rest, low)
        } else {
            0.0
        };
    }
    // Where another end begins to count, the integrand has a kink: every sum of ends of the others.
    let mut breaks = vec![low, high];
    let mut sums = vec![0.0];
    for one in others {
        sums = sums.iter().flat_map(|sum| [sum + one.low / left, sum + one.high / left]).collect();
    }
    breaks.extend(sums.iter().map(|sum| 1.0 - sum).filter(|x| low < *x && *x < high));
    breaks.sort_by(f64::total_cmp);
    let pieces = breaks.windows(2).filter(|ends| ends[0] < ends[1]).map(|ends| {
        integral(ends[0], ends[1], |x, _| {
            let x = ends[0] + x;
            beta_density((a[0], rest), x) * rectangle(&a[1..], others, left * (1.0 - x))
        })
    });
    pieces.sum()
}

/// A standard normal number is further away in 6 of 10 million cases.
const ERRORS: f64 = 5.0;

fn check(id: &str, alpha: &[f64], n: u64, released: &[u64], level: f64) {
    let method = method(id, alpha, n, "1");
    let joint = CountsLaw::given(&[seen(&method, released)]).unwrap().joint(level);
    let Drawn { value, error } = joint.probability;
    // The level was found with the same draws.
    assert!(joint.each > level && (value - level).abs() < error, "{id} {alpha:?}: {value}");
    let brute = average(&tables(&[(&method, released)]), |x| {
        let a: Vec<f64> = x.iter().zip(alpha).map(|(&x, alpha)| alpha + x as f64).collect();
        rectangle(&a, &joint.intervals, 1.0)
    });
    assert!((value - brute).abs() < ERRORS * error, "{id} {alpha:?}: {value} {brute}");
}

#[test]
fn three_cells() {
    check("lattice", &[1.0, 1.0, 1.0], 12, &[5, 2, 5], 0.95);
    check("geometric", &[0.3, 2.5, 1.0], 9, &[0, 5, 4], 0.9);
}

#[test]
fn four_cells() {
    check("lattice", &[1.0, 0.5, 2.0, 1.0], 2, &[1, 0, 2, 0], 0.9);
}

#[test]
fn of_two_cells_each_tells_the_other() {
    let law = CountsLaw::exactly(&Prior::new(vec![1.0, 2.0]).unwrap(), &[3, 9]);
    let joint = law.joint(0.9);
    assert_eq!((joint.each, joint.probability.value, joint.probability.error), (0.9, 0.9, 0.0));
}

/// With tiny parameters most shares are 0 or 1 as doubles, and probabilities jump.
#[test]
fn intervals_hold_at_least_with_the_level_where_shares_are_tiny() {
    let law = CountsLaw::exactly(&Prior::new(vec![0.01, 0.001, 0.02, 0.5]).unwrap(), &[0; 4]);
    let Joint { probability, each, .. } = law.joint(0.9);
    assert!(each > 0.9 && probability.value > 0.9 - 5.0 * probability.error, "{probability:?}");
}
