//! Shares of cells, among all records and within groups.

use super::brute::{average, beta_below, beta_density, method, parameters, seen, tables};
use crate::release::Method;
use crate::release::posterior::{BetaMixture, CountsLaw};
use engine::posterior::model::{Counts, Prior};

fn assert_close(ours: f64, theirs: f64, within: f64, what: &str) {
    assert!((ours - theirs).abs() <= within, "{what}: {ours} instead of {theirs}");
}

/// Mean, distribution function, density and quantiles of a share.
fn check(
    share: &BetaMixture,
    tables: &[(Counts, f64)],
    alpha: &[f64],
    (cells, group): (&[usize], &[usize]),
) {
    let what = format!("{cells:?} within {group:?}");
    let of = |x: &[u64]| parameters(alpha, x, cells, group);
    let mean = average(tables, |x| of(x).0 / (of(x).0 + of(x).1));
    assert_close(share.mean(), mean, 1e-13, &format!("{what}, mean"));
    for x in [0.003, 0.2, 0.37, 0.5, 0.66, 0.98] {
        let below = average(tables, |counts| beta_below(of(counts), x));
        assert_close(share.below(x), below, 1e-12, &format!("{what}, below {x}"));
        let density = average(tables, |counts| beta_density(of(counts), x));
        assert_close(share.density(x), density, 1e-11 * (1.0 + density), &format!("{what} at {x}"));
    }
    for p in [0.001, 0.025, 0.5, 0.8, 0.995] {
        let x = share.quantile(p);
        assert!(share.below(x) >= p && share.below(x.next_down()) < p, "{what}, quantile {p}");
    }
}

const ALL: [usize; 4] = [0, 1, 2, 3];

/// Every kind of share in a table of two rows and two columns.
fn check_table(law: &CountsLaw, tables: &[(Counts, f64)], alpha: &[f64]) {
    let shares: [&[usize]; 6] = [&[0], &[2], &[0, 1], &[3, 1], &[0, 2], &[1, 2, 3]];
    for cells in shares {
        check(&law.share(cells), tables, alpha, (cells, &ALL));
    }
    let within: [(&[usize], &[usize]); 5] =
        [(&[1], &[0, 1]), (&[3], &[2, 3]), (&[0], &[2, 0]), (&[3], &[1, 3]), (&[1, 2], &[0, 1, 2])];
    for (cells, group) in within {
        check(&law.within(cells, group), tables, alpha, (cells, group));
    }
}

/// Mechanism, prior, ε, n and released counts.
type Case = (&'static str, &'static [f64], &'static str, u64, [u64; 4]);

#[test]
fn small_tables() {
    let cases: [Case; 5] = [
        ("tight", &[1.0, 1.0, 1.0, 1.0], "1", 12, [5, 2, 1, 4]),
        ("tight", &[0.01, 2.5, 1.0, 0.3], "0.5", 9, [0, 5, 4, 0]),
        ("lattice", &[0.5, 1.5, 20.0, 1.0], "0.7", 10, [0, 9, 0, 3]),
        ("geometric", &[1.0, 2.0, 0.5, 3.0], "1", 11, [2, 0, 7, 2]),
        ("geometric-all", &[1.0, 4.0, 1.0, 0.2], "2", 8, [8, 0, 3, 1]),
    ];
    for (id, alpha, epsilon, n, released) in cases {
        let method = method(id, alpha, n, epsilon);
        let law = CountsLaw::given(&[seen(&method, &released)]).unwrap();
        check_table(&law, &tables(&[(&method, &released)]), alpha);
    }
}

#[test]
fn two_arms_two_outcomes_a_hundred_records() {
    let (alpha, released) = ([1.0; 4], [31, 17, 24, 28]);
    let method = method("lattice", &alpha, 100, "1");
    let law = CountsLaw::given(&[seen(&method, &released)]).unwrap();
    let tables = tables(&[(&method, &released)]);
    assert_eq!(tables.len(), 176_851);
    for (cells, group) in [(&[1][..], &ALL[..]), (&[1, 3], &ALL), (&[1], &[0, 1]), (&[3], &[2, 3])]
    {
        let of = |x: &[u64]| parameters(&alpha, x, cells, group);
        let share = law.within(cells, group);
        let mean = average(&tables, |x| of(x).0 / (of(x).0 + of(x).1));
        assert_close(share.mean(), mean, 1e-13, "mean");
        for x in [0.25, 0.41] {
            let below = average(&tables, |counts| beta_below(of(counts), x));
            assert_close(share.below(x), below, 1e-12, &format!("{cells:?} {group:?} {x}"));
        }
    }
}

#[test]
fn two_releases_of_the_same_data() {
    let alpha = [1.0, 0.5, 2.0, 1.0];
    let methods = [
        method("tight", &alpha, 12, "1"),
        method("geometric", &alpha, 12, "0.5"),
        method("lattice", &alpha, 12, "0.8"),
    ];
    let released = [[5, 2, 1, 4], [3, 4, 0, 5], [6, 1, 0, 4]];
    let pairs: Vec<(&Method, &[u64])> =
        methods.iter().zip(&released).map(|(method, r)| (method, r.as_slice())).collect();
    for some in [&pairs[..2], &pairs[1..], &pairs[..]] {
        let all: Vec<_> = some.iter().map(|(method, released)| seen(method, released)).collect();
        check_table(&CountsLaw::given(&all).unwrap(), &tables(some), &alpha);
    }
}

#[test]
fn naive_means_as_released() {
    let alpha = [1.0, 2.0, 0.5, 1.0];
    let prior = Prior::new(alpha.to_vec()).unwrap();
    let counts = [30, 4, 0, 26];
    let law = CountsLaw::exactly(&prior, &counts);
    check_table(&law, &[(counts.to_vec(), 1.0)], &alpha);
}

#[test]
fn large_data_and_many_cells() {
    let million = method("geometric", &[1.0; 3], 1_000_000, "0.4");
    let law = CountsLaw::given(&[seen(&million, &[250_000, 250_000, 500_000])]).unwrap();
    let mean = law.share(&[0]).mean();
    assert!((mean - 0.25).abs() < 1e-5, "{mean}");
    // Twenty cells, 2000 records. The means of all cells sum to 1, and so do those of a margin.
    let method = method("lattice", &[1.0; 20], 2000, "1");
    let released: Vec<u64> = (0..20).map(|i| 81 + 2 * i).collect();
    let law = CountsLaw::given(&[seen(&method, &released)]).unwrap();
    let means: f64 = (0..20).map(|i| law.share(&[i]).mean()).sum();
    assert_close(means, 1.0, 1e-13, "sum of means");
    let evens: Vec<usize> = (0..10).map(|i| 2 * i).collect();
    let sum: f64 = evens.iter().map(|&i| law.share(&[i]).mean()).sum();
    assert_close(law.share(&evens).mean(), sum, 1e-13, "mean of a margin");
    let interval = law.within(&[4], &[4, 5]).interval(0.95);
    assert!(interval.low > 0.38 && interval.high < 0.62, "{interval:?}");
}
