//! Joint intervals against brute force.

use std::collections::BTreeMap;

use statrs::function::beta::beta_reg;

use super::brute::{average, beta_density, integral, method, seen, tables};
use crate::release::posterior::{CountsLaw, Interval};
use engine::numeric::gauss;
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

fn check(id: &str, alpha: &[f64], n: u64, released: &[u64], level: f64) {
    let method = method(id, alpha, n, "1");
    let law = CountsLaw::given(&[seen(&method, released)]).unwrap();
    let joint = law.joint(level);
    assert!(joint.exact && joint.each > level);
    let tables = tables(&[(&method, released)]);
    let brute = average(&tables, |x| {
        let a: Vec<f64> = x.iter().zip(alpha).map(|(&x, alpha)| alpha + x as f64).collect();
        rectangle(&a, &joint.intervals, 1.0)
    });
    assert!((brute - level).abs() < 1e-9, "{id} {alpha:?}: {brute}");
    let ours = law.joint_probability(&joint.intervals).unwrap();
    assert!((ours - brute).abs() < 1e-10, "{id} {alpha:?}: {ours} {brute}");
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

/// All 176 851 tables, each with the integral over the share of the first two cells.
#[test]
fn two_arms_two_outcomes_a_hundred_records() {
    let released = [31, 17, 24, 28];
    let method = method("lattice", &[1.0; 4], 100, "1");
    let law = CountsLaw::given(&[seen(&method, &released)]).unwrap();
    let joint = law.joint(0.95);
    let ends: Vec<(f64, f64)> = joint.intervals.iter().map(|one| (one.low, one.high)).collect();
    let sums = |a: (f64, f64), b: (f64, f64)| [a.0 + b.0, a.0 + b.1, a.1 + b.0, a.1 + b.1];
    let mut breaks = sums(ends[0], ends[1]).to_vec();
    breaks.extend(sums(ends[2], ends[3]).map(|sum| 1.0 - sum));
    breaks.sort_by(f64::total_cmp);
    // Polynomials of degree 102: 60 nodes on every piece are exact.
    let rule = gauss::legendre(60);
    let nodes: Vec<(f64, f64)> = breaks
        .windows(2)
        .flat_map(|ends| {
            let width = ends[1] - ends[0];
            rule.iter().map(move |(place, weight)| (ends[0] + width * place, width * weight))
        })
        .collect();
    // For the counts of two cells the probability of their division, at every node.
    let divisions = |a: (f64, f64), b: (f64, f64), sum: &dyn Fn(f64) -> f64| {
        let pairs = (0..=100_u64).flat_map(|i| (0..=100 - i).map(move |j| (i, j)));
        let division = |(i, j): (u64, u64)| {
            let at = |(node, _): &(f64, f64)| {
                let sum = sum(*node);
                let low = (a.0 / sum).max(1.0 - b.1 / sum).clamp(0.0, 1.0);
                let high = (a.1 / sum).min(1.0 - b.0 / sum).clamp(0.0, 1.0);
                let below = |x: f64| beta_reg(i as f64 + 1.0, j as f64 + 1.0, x);
                if low < high { below(high) - below(low) } else { 0.0 }
            };
            ((i, j), nodes.iter().map(at).collect::<Vec<f64>>())
        };
        pairs.map(division).collect::<BTreeMap<_, _>>()
    };
    let first = divisions(ends[0], ends[1], &|node| node);
    let second = divisions(ends[2], ends[3], &|node| 1.0 - node);
    let density = |t: u64| -> Vec<f64> {
        let parameters = (t as f64 + 2.0, (100 - t) as f64 + 2.0);
        nodes.iter().map(|(node, weight)| weight * beta_density(parameters, *node)).collect()
    };
    let densities: Vec<Vec<f64>> = (0..=100).map(density).collect();
    let all = tables(&[(&method, &released)]);
    let brute = average(&all, |x| {
        let (first, second) = (&first[&(x[0], x[1])], &second[&(x[2], x[3])]);
        let density = &densities[(x[0] + x[1]) as usize];
        first.iter().zip(second).zip(density).map(|((a, b), c)| a * b * c).sum()
    });
    assert!((brute - 0.95).abs() < 1e-9, "{brute}");
    let ours = law.joint_probability(&joint.intervals).unwrap();
    assert!((ours - brute).abs() < 1e-10, "{ours} {brute}");
}

#[test]
fn two_cells_and_many() {
    let prior = Prior::new(vec![1.0, 2.0]).unwrap();
    let law = CountsLaw::exactly(&prior, &[3, 9]);
    let joint = law.joint(0.9);
    assert!(joint.exact && joint.each == 0.9);
    assert!((law.joint_probability(&joint.intervals).unwrap() - 0.9).abs() < 1e-12);
    let law = CountsLaw::exactly(&Prior::new(vec![1.0; 5]).unwrap(), &[3, 9, 1, 0, 4]);
    let joint = law.joint(0.9);
    assert!(!joint.exact && (joint.each - 0.98).abs() < 1e-15);
    assert!(law.joint_probability(&joint.intervals).is_err());
}

/// With a parameter of 0.01 the smallest ends are near 0, and the integral has steep pieces.
#[test]
fn the_level_is_found_with_tiny_priors() {
    let law = CountsLaw::exactly(&Prior::new(vec![0.01, 1.0, 0.02, 0.5]).unwrap(), &[0, 3, 0, 5]);
    let joint = law.joint(0.9);
    let ours = law.joint_probability(&joint.intervals).unwrap();
    assert!(joint.exact && (ours - 0.9).abs() < 1e-9, "{ours} {joint:?}");
}
