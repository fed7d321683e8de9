use super::*;
use crate::numeric::exp_accurate;
use crate::posterior::model::{Counts, hamming_distance, neighbours};
use crate::posterior::simplex::list_compositions;

/// Z(x) from the definition.
fn normaliser(found: &Edged, x: &[u64], all: &[Counts]) -> f64 {
    let edges = [found.zero, found.one];
    let factor = |&v: &u64| edges.get(v as usize).copied().unwrap_or(1.0);
    let weight = |r: &Counts| {
        let edges: f64 = r.iter().map(factor).product();
        edges * exp_accurate(-found.rate * hamming_distance(x, r))
    };
    all.iter().map(weight).sum()
}

/// The loss at all ordered pairs of adjacent data sets, from the definition.
fn loss(found: &Edged, k: usize, n: u64) -> f64 {
    let all = list_compositions(n, k);
    let ln_z = |x: &[u64]| libm::log(normaliser(found, x, &all));
    let mut largest: f64 = 0.0;
    for x in &all {
        for moved in neighbours(x) {
            largest = largest.max((ln_z(x) - ln_z(&moved)).abs());
        }
    }
    found.rate + largest
}

#[test]
fn the_loss_is_epsilon_by_brute_force() {
    for (k, n) in [(2, 1), (2, 9), (3, 2), (3, 9), (4, 5), (5, 4)] {
        for epsilon in [0.1, 0.5, 1.0, 3.0] {
            let found = Edged::find(k, n, epsilon).unwrap();
            let lost = loss(&found, k, n);
            let what = format!("{k} {n} {epsilon}: {lost} {found:?}");
            // Bounds on rounding errors are spent, too.
            assert!(lost <= epsilon * (1.0 + 1e-14), "{what}");
            assert!(lost > epsilon * (1.0 - 2e-8), "{what}");
            assert!(found.rate + found.shift <= epsilon, "{what}");
            assert!(found.rate > 0.9 * epsilon, "{what}");
        }
    }
}

#[test]
fn normalisers_are_sums_over_all_candidates() {
    for (k, n) in [(2, 7), (3, 11), (4, 8), (6, 5)] {
        let all = list_compositions(n, k);
        for (rate, zero, one) in [(0.3, 4.0, 0.7), (2.0, 1.2, 1.1), (0.9, 0.6, 0.9)] {
            let found = Edged { rate, zero, one, shift: 0.0 };
            let falling = all.iter().filter(|x| x.is_sorted_by(|a, b| a >= b));
            let direct: Vec<f64> = falling.map(|x| normaliser(&found, x, &all)).collect();
            let ours = DataSets::new(k, n).normalisers(rate, zero, one);
            assert_eq!(ours.len(), direct.len());
            for (ours, direct) in ours.iter().zip(&direct) {
                assert!((ours / direct - 1.0).abs() < 1e-13, "{k} {n} {rate}: {ours} {direct}");
            }
        }
    }
}

/// For two categories the edges 1/(1 − a) and 1 make all normalisers equal.
#[test]
fn two_categories_lose_nothing() {
    for epsilon in [0.2, 1.0, 4.0] {
        let found = Edged::find(2, 30, epsilon).unwrap();
        assert!(found.rate > epsilon * (1.0 - 1e-11), "{found:?}");
        assert!((found.zero * -expm1(-epsilon) - 1.0).abs() < 1e-9, "{found:?}");
        assert!((found.one - 1.0).abs() < 1e-9, "{found:?}");
    }
}

#[test]
fn few_records_stand_for_many() {
    let (k, epsilon) = (3, 1.5);
    let depth = depth(k, 1_000_000, epsilon).unwrap();
    let extent = Extent { k, records: k as u64 * depth + 1, depth: Some(depth) };
    let found = calibrated(extent, epsilon).unwrap();
    assert!(found.rate > 0.98 * epsilon, "{found:?}");
    let few = DataSets::new(k, extent.records).shift(found.rate, found.zero, found.one);
    // With more records the shift stays within its bound; the bound is not idle.
    let bound = extent.cut_off(found.rate, found.zero, found.one, few.smallest);
    assert!(bound > 0.0 && bound < 1e-5, "{bound}");
    for more in [1, 7, 40] {
        let many = DataSets::new(k, extent.records + more);
        let many = many.shift(found.rate, found.zero, found.one);
        assert!(many.shift <= found.shift, "{more}");
        assert!((many.shift - few.shift).abs() <= bound, "{more}");
    }
    // With a layer that is too thin, the bound says so.
    let thin = Extent { k, records: 7, depth: Some(2) };
    assert!(thin.cut_off(found.rate, found.zero, found.one, few.smallest) > 0.1);
    let [large, larger] = [1_000_000, u64::MAX >> 12].map(|n| Edged::find(k, n, epsilon).unwrap());
    assert_eq!(large, larger);
}

#[test]
fn what_cannot_be_computed_is_refused() {
    for (k, n, epsilon) in [(10, 1000, 1.0), (40, 200, 1.0), (3, 1 << 40, 1e-3), (2, 5, 1e-9)] {
        assert!(Edged::refusal(k, n, epsilon).is_some(), "{k} {n} {epsilon}");
        assert!(Edged::find(k, n, epsilon).is_err());
    }
    for (k, n, epsilon) in [(3, 0, 1.0), (3, 1, 1.0), (2, 1 << 40, 4000.0), (30, 6, 0.5)] {
        assert!(Edged::refusal(k, n, epsilon).is_none(), "{k} {n} {epsilon}");
        let found = Edged::find(k, n, epsilon).unwrap();
        assert!(found.rate > 0.9 * epsilon, "{found:?}");
    }
}

#[test]
fn partitions_are_counted() {
    assert_eq!(partitions(50, 10), 62_740.0);
    assert_eq!((partitions(0, 3), partitions(5, 9), partitions(12, 3)), (1.0, 7.0, 19.0));
    assert_eq!(partitions(u64::MAX, 2), f64::INFINITY);
    assert_eq!(DataSets::new(3, 12).normalisers(1.0, 1.0, 1.0).len(), 19);
}
