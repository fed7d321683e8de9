use super::*;
use crate::numeric::exp_accurate;
use crate::posterior::model::hamming_distance;
use crate::posterior::simplex::list_compositions;

/// The weights of all candidates by elimination in the full matrix.
fn dense(k: usize, n: u64, rate: f64) -> Vec<f64> {
    let all = list_compositions(n, k);
    let mut rows: Vec<Vec<f64>> = all
        .iter()
        .map(|x| {
            let entries = all.iter().map(|r| exp_accurate(-rate * hamming_distance(x, r)));
            entries.chain([1.0]).collect()
        })
        .collect();
    let size = all.len();
    for column in 0..size {
        let pivot = (column..size)
            .max_by(|&a, &b| rows[a][column].abs().total_cmp(&rows[b][column].abs()))
            .unwrap();
        rows.swap(column, pivot);
        let pivot = rows[column].clone();
        for (place, row) in rows.iter_mut().enumerate() {
            let factor = row[column] / pivot[column];
            if place != column && factor != 0.0 {
                row.iter_mut().zip(&pivot).skip(column).for_each(|(v, p)| *v -= factor * p);
            }
        }
    }
    (0..size).map(|i| rows[i][size] / rows[i][i]).collect()
}

#[test]
fn the_weights_are_those_of_a_dense_solution() {
    for (k, n, rate) in [
        (2, 1, 1.0),
        (2, 9, 0.3),
        (3, 0, 1.0),
        (3, 1, 0.5),
        (3, 2, 5.0),
        (3, 7, 2.0),
        (3, 12, 0.3),
        (4, 5, 0.7),
        (4, 6, 3.0),
        (5, 4, 1.0),
        (6, 3, 1.5),
    ] {
        let found = Tight::find(k, n, rate).unwrap();
        for (r, expected) in list_compositions(n, k).iter().zip(dense(k, n, rate)) {
            let ours = found.weight(r);
            assert!((ours - expected).abs() < 1e-12, "{k} {n} {rate} {r:?}: {ours} {expected}");
        }
        assert!(found.residual() < 1e-14, "{k} {n} {rate}: {}", found.residual());
    }
}

#[test]
fn two_categories_have_a_formula() {
    for (n, rate) in [(1, 0.2), (30, 1.0), (400, 0.05), (400, 4.0)] {
        let a = exp_accurate(-rate);
        let found = Tight::find(2, n, rate).unwrap();
        for v in 0..=n {
            let end = v == 0 || v == n;
            let expected = if end { 1.0 / (1.0 + a) } else { (1.0 - a) / (1.0 + a) };
            let ours = found.weight(&[v, n - v]);
            assert!((ours - expected).abs() < 1e-13, "{n} {rate} {v}: {ours} {expected}");
        }
    }
}

#[test]
fn the_layer_serves_every_larger_number_of_records() {
    for (k, rate) in [(3, 1.0), (3, 2.0), (4, 2.5)] {
        let depth = depth(k, rate);
        let n = k as u64 * depth + 9;
        let layered = Effort {
            records: n - 9,
            layer: Some(depth),
            rows: 0.0,
            solutions: 1.0,
            kept: 0.0,
            factor: 1.0,
        };
        let table = Tight::new(k, n, rate, layered);
        assert_eq!(table.place, Place::Layer(depth));
        // The exact solution for as many records.
        let effort =
            Effort { records: n, layer: None, rows: 0.0, solutions: 1.0, kept: 0.0, factor: 1.0 };
        let exact = Tight::new(k, n, rate, effort);
        for r in list_compositions(n, k) {
            let (ours, expected) = (table.weight(&r), exact.weight(&r));
            assert!((ours - expected).abs() < 3e-12, "{k} {rate} {r:?}: {ours} {expected}");
        }
        assert!(table.residual() < 3e-11, "{k} {rate}: {}", table.residual());
        assert!(Tight::find(k, 1_000_000, rate).unwrap().residual() < 4e-11);
    }
}

#[test]
fn clipped_weights_have_their_normalisers_and_a_rate() {
    for (k, n, epsilon) in [(3, 12, 0.1), (4, 8, 0.2), (5, 5, 0.4)] {
        let table = Tight::find(k, n, epsilon).unwrap();
        assert!(table.is_clipped(), "{k} {n} {epsilon}");
        let rate = Tight::rate_for(k, n, epsilon).unwrap();
        assert!(rate < epsilon && rate > 0.95 * epsilon, "{k} {n}: {rate}");
        let table = Tight::find(k, n, rate).unwrap();
        let all = list_compositions(n, k);
        let mut largest: f64 = 0.0;
        for x in &all {
            let terms =
                all.iter().map(|r| table.weight(r) * exp_accurate(-rate * hamming_distance(x, r)));
            let direct: f64 = terms.sum();
            assert!((direct - table.normaliser(x)).abs() < 1e-13);
            for moved in neighbours(x) {
                largest = largest.max((ln(direct) - ln(table.normaliser(&moved))).abs());
            }
        }
        assert!(rate + largest <= epsilon && epsilon - rate - largest < 1e-11 * epsilon);
    }
    assert_eq!(Tight::rate_for(3, 12, 1.0), Ok(1.0));
    // At a small rate few records are soon done.
    for epsilon in [6e-4, 5e-4, 4e-4, 3e-4, 2e-4, 1e-4, 1e-6, 1e-7] {
        assert!(Effort::new(3, 3, epsilon).rows < 1e6 && furthest(3, epsilon, NEGLIGIBLE, 3) == 3);
        let rate = Tight::rate_for(3, 3, epsilon).unwrap();
        assert!(rate < epsilon && epsilon - rate < 1e-6 * epsilon, "{epsilon}: {rate}");
        assert!(rate + Tight::find(3, 3, rate).unwrap().shift() <= epsilon);
    }
}

/// Of more than four categories the matrix is factorised: conjugate gradients alone took ten thousands of steps.
#[test]
fn six_categories_take_a_moment() {
    for rate in [1.0, 0.3, 0.05] {
        let table = Tight::find(6, 14, rate).unwrap();
        assert!(table.is_clipped() || table.residual() < 1e-14, "{rate}: {}", table.residual());
        assert!(Effort::new(6, 14, rate).rows < 1e8, "{rate}");
    }
    // No weight of the others is positive in double precision.
    let refused = Tight::find(6, 20, 1e-6).unwrap_err().cause;
    assert!(refused.contains("beyond double precision"), "{refused}");
}

#[test]
fn what_would_take_too_long_is_refused() {
    assert!(Tight::find(8, 500, 1.0).is_err());
    assert!(Tight::rate_for(3, 5000, 0.02).is_err());
}
