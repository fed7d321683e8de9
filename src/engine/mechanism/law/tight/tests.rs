use super::*;
use crate::numeric::exp_accurate;
use crate::posterior::model::{Counts, hamming_distance};
use crate::posterior::simplex::list_compositions;

/// Every data set x with Σ w(r) e^(−rate · d(x, r)), term by term.
fn direct_sums(weights: &Tight, rate: f64) -> Vec<(Counts, f64)> {
    let all = list_compositions(weights.n, weights.k);
    let term =
        |x: &Counts, r: &Counts| weights.weight(r) * exp_accurate(-rate * hamming_distance(x, r));
    let sum = |x: &Counts| (x.clone(), all.iter().map(|r| term(x, r)).sum());
    all.iter().map(sum).collect()
}

#[test]
fn the_weights_solve_their_equations() {
    for (k, n, rate) in [(2, 1, 1.0), (3, 0, 1.0), (3, 12, 0.3), (4, 5, 0.7), (6, 3, 1.5)] {
        let found = Tight::find(k, n, rate).unwrap();
        for (x, sum) in direct_sums(&found, rate) {
            assert!((sum - 1.0).abs() < 1e-13, "{k} {n} {rate} {x:?}: {sum}");
        }
        assert!(found.residual < 1e-14, "{k} {n} {rate}: {}", found.residual);
    }
}

#[test]
fn the_layer_serves_every_larger_number_of_records() {
    for (k, rate) in [(3, 1.0), (3, 2.0), (4, 2.5)] {
        let depth = depth(k, rate);
        let n = k as u64 * depth + 9;
        let layered = Extent { records: n - 9, layer: Some(depth), rows: 0.0, kept: 0.0 };
        let table = Tight::new(k, n, rate, layered);
        assert_eq!(table.place, Place::Layer(depth));
        // The exact solution for as many records.
        let whole = Extent { records: n, layer: None, rows: 0.0, kept: 0.0 };
        let exact = Tight::new(k, n, rate, whole);
        for r in list_compositions(n, k) {
            let (ours, expected) = (table.weight(&r), exact.weight(&r));
            assert!((ours - expected).abs() < 3e-12, "{k} {rate} {r:?}: {ours} {expected}");
        }
        assert!(table.residual < 3e-11, "{k} {rate}: {}", table.residual);
        assert!(Tight::find(k, 1_000_000, rate).unwrap().residual < 4e-11);
    }
}

#[test]
fn clipped_weights_have_their_normalisers_and_a_rate() {
    for (k, n, epsilon) in [(3, 12, 0.1), (4, 8, 0.2), (5, 5, 0.4)] {
        let table = Tight::find(k, n, epsilon).unwrap();
        assert!(table.is_clipped(), "{k} {n} {epsilon}");
        let TightLaw { rate, weights: table } = Tight::law(k, n, epsilon).unwrap();
        assert!(rate < epsilon && rate > 0.95 * epsilon, "{k} {n}: {rate}");
        let mut largest: f64 = 0.0;
        for (x, direct) in direct_sums(&table, rate) {
            assert!((direct - table.normaliser(&x)).abs() < 1e-13);
            for neighbour in neighbours(&x) {
                largest = largest.max((ln(direct) - ln(table.normaliser(&neighbour))).abs());
            }
        }
        assert!(rate + largest <= epsilon && epsilon - rate - largest < 1e-11 * epsilon);
    }
    assert_eq!(Tight::law(3, 12, 1.0).unwrap().rate, 1.0);
    // At a small rate few records are soon done.
    for epsilon in [6e-4, 5e-4, 4e-4, 3e-4, 2e-4, 1e-4, 1e-6, 1e-7] {
        assert!(Extent::new(3, 3, epsilon).rows < 1e6 && furthest(3, epsilon, NEGLIGIBLE, 3) == 3);
        let TightLaw { rate, weights } = Tight::law(3, 3, epsilon).unwrap();
        assert!(rate < epsilon && epsilon - rate < 1e-6 * epsilon, "{epsilon}: {rate}");
        assert!(rate + weights.shift <= epsilon);
    }
}

/// Of more than four categories the matrix is factorised: conjugate gradients alone took ten thousands of steps.
#[test]
fn six_categories_take_a_moment() {
    for rate in [1.0, 0.3, 0.05] {
        let table = Tight::find(6, 14, rate).unwrap();
        assert!(table.is_clipped() || table.residual < 1e-14, "{rate}: {}", table.residual);
        assert!(Extent::new(6, 14, rate).rows < 1e8, "{rate}");
    }
    // No weight of the others is positive in double precision.
    let refused = Tight::find(6, 20, 1e-6).unwrap_err().cause;
    assert!(refused.contains("beyond double precision"), "{refused}");
}

#[test]
fn what_would_take_too_long_is_refused() {
    assert!(Tight::find(8, 500, 1.0).is_err());
    assert!(Tight::law(3, 5000, 0.02).is_err());
}
