//! Draws, against exact laws of single shares and pairs of them.

use super::brute::{method, seen};
use crate::release::posterior::draws::enough;
use crate::release::posterior::{
    CountsLaw, Drawn, Inferred, Law, Means, Published, PublishedNoise, Within, draws,
};
use engine::posterior::model::Prior;

const NUMBER: usize = 100_000;

/// A standard normal number is larger in 6 of 10 million cases.
const ERRORS: f64 = 5.0;

fn all(laws: &[CountsLaw], number: usize) -> Vec<Vec<f64>> {
    let laws: Vec<Law> = laws.iter().cloned().map(Law::from).collect();
    draws(&laws, number, 7).flatten().collect()
}

/// A law with wide noise, one with tiny parameters and one whose n is unknown.
fn laws() -> [CountsLaw; 3] {
    let wide = method("lattice", &[1.0, 0.5, 2.0, 1.0], 300, "0.05");
    let tiny = method("geometric", &[0.001, 0.001, 0.002, 5.0], 6, "0.5");
    let noise = PublishedNoise::parse("discrete-laplace(epsilon=0.7)", false, false).unwrap();
    let published = Published { noise: &noise, values: &[1.0, 0.0, -1.0, 4.0] };
    let unknown = Inferred::new(&Prior::new(vec![1.0; 4]).unwrap(), None, &[published]);
    [
        CountsLaw::given(&[seen(&wide, &[120, 30, 0, 150])]).unwrap(),
        CountsLaw::given(&[seen(&tiny, &[0, 3, 0, 3])]).unwrap(),
        unknown.unwrap().law.exact().unwrap().clone(),
    ]
}

/// Seventy-five frequencies: a false alarm has a probability of 4e-5.
#[test]
fn shares_have_their_law() {
    for law in laws() {
        let draws = all(std::slice::from_ref(&law), NUMBER);
        let frequency = |happens: &dyn Fn(&[f64]) -> bool, p: f64, what: &str| {
            let found = draws.iter().filter(|draw| happens(draw)).count() as f64 / NUMBER as f64;
            let error = (p * (1.0 - p) / NUMBER as f64).sqrt();
            assert!((found - p).abs() <= ERRORS * error, "{what}: {found} instead of {p}");
        };
        for cell in 0..4 {
            let share = law.share(&[cell]);
            for p in [0.025, 0.25, 0.5, 0.75, 0.975] {
                let x = share.quantile(p);
                // Smaller shares are 0 as doubles.
                if x > 1e-300 {
                    let what = format!("cell {cell} at {x}");
                    frequency(&|draw| draw[cell] <= x, share.below(x), &what);
                }
            }
        }
        let pair = law.within(&[3], &[0, 3]);
        frequency(&|draw| draw[3] <= 0.9 * (draw[0] + draw[3]), pair.below(0.9), "a pair");
        let compared = law.compare((&[1], &[0, 1]), (&[3], &[2, 3]), f64::INFINITY).unwrap();
        let is_larger =
            |draw: &[f64]| draw[1] * (draw[2] + draw[3]) > draw[3] * (draw[0] + draw[1]);
        if law.prior().alpha()[0] > 0.1 {
            frequency(&is_larger, compared.probability_greater(), "two groups");
        }
        let sums = draws.iter().map(|draw| draw.iter().sum::<f64>());
        assert!(sums.into_iter().all(|sum| (sum - 1.0).abs() < 1e-12));
    }
}

#[test]
fn the_order_of_cells_and_the_number_of_draws_change_no_draw() {
    let (alpha, released) = ([1.0, 0.5, 2.0], [4, 0, 7]);
    let law = |order: [usize; 3]| {
        let method = method("geometric-all", &order.map(|cell| alpha[cell]), 12, "0.5");
        CountsLaw::given(&[seen(&method, &order.map(|cell| released[cell]))]).unwrap()
    };
    let (order, other) = ([0, 1, 2], [2, 0, 1]);
    let [ours, theirs] = [order, other].map(|order| all(&[law(order)], 50));
    for (a, b) in ours.iter().zip(&theirs) {
        assert_eq!(other.map(|cell| a[cell]), b[..]);
    }
    assert_eq!(ours[..20], all(&[law(order)], 20));
    // Independent laws follow each other, in any order.
    let fixed = CountsLaw::exactly(&Prior::new(vec![1.0; 2]).unwrap(), &[3, 9]);
    let [both, swapped] =
        [[law(order), fixed.clone()], [fixed, law(order)]].map(|two| all(&two, 50));
    for (a, b) in both.iter().zip(&swapped) {
        assert_eq!((&a[..3], &a[3..]), (&b[2..], &b[..2]));
    }
}

/// The groups, each of two cells, of which the second is counted.
fn groups(which: &[usize]) -> Vec<Within> {
    which.iter().map(|g| (vec![2 * g + 1], vec![2 * g, 2 * g + 1])).collect()
}

/// The mean of one share is that share. Thirteen numbers: a false alarm has a probability of 8e-6.
#[test]
fn the_mean_of_one_group_is_its_share() {
    for law in laws() {
        let means = law.compare_means([&groups(&[0]), &groups(&[1])], 0.9);
        let exact = law.compare((&[1], &[0, 1]), (&[3], &[2, 3]), f64::INFINITY).unwrap();
        let close = |found: f64, p: f64, what: &str| {
            let error = (p * (1.0 - p) / enough(4) as f64).sqrt();
            assert!((found - p).abs() <= ERRORS * error, "{what}: {found} instead of {p}");
        };
        let Means { larger, mean_difference, difference, ratio } = means;
        close(larger.value, exact.probability_greater(), "larger");
        assert!((mean_difference - exact.mean_difference()).abs() < 1e-13);
        if law.prior().alpha()[0] < 0.1 {
            // Its limits are 0 or 1 as doubles.
            continue;
        }
        for (limit, p) in difference.into_iter().zip([0.05, 0.95]) {
            close(exact.difference_below(limit.value), p, "difference");
        }
        for (limit, p) in ratio.into_iter().zip([0.05, 0.5, 0.95]) {
            let apart = (limit.value - exact.ratio_quantile(p)).abs();
            assert!(
                apart <= ERRORS * limit.error,
                "{limit:?} instead of {}",
                exact.ratio_quantile(p)
            );
        }
    }
}

/// Means of two shares each, from other draws of all cells.
#[test]
fn means_are_those_of_draws_of_all_cells() {
    let alpha = [1.0, 0.5, 2.0, 1.0, 0.7, 3.0, 1.0, 1.0, 0.2];
    let method = method("lattice", &alpha, 90, "0.2");
    let law = CountsLaw::given(&[seen(&method, &[10, 5, 20, 0, 4, 21, 9, 11, 10])]).unwrap();
    let (a, b) = (groups(&[2, 0]), groups(&[1, 3]));
    let means = law.compare_means([&a, &b], 0.9);
    let mean = |x: &[f64], groups: &[Within]| {
        groups.iter().map(|(one, both)| x[one[0]] / (x[both[0]] + x[both[1]])).sum::<f64>() / 2.0
    };
    let both = |x: Vec<f64>| (mean(&x, &a), mean(&x, &b));
    let drawn: Vec<(f64, f64)> =
        all(std::slice::from_ref(&law), NUMBER).into_iter().map(both).collect();
    let close = |happens: &dyn Fn(f64, f64) -> bool, p: f64, what: &str| {
        let found = drawn.iter().filter(|(a, b)| happens(*a, *b)).count() as f64 / NUMBER as f64;
        let variance = p * (1.0 - p) * (1.0 / NUMBER as f64 + 1.0 / enough(9) as f64);
        assert!((found - p).abs() < ERRORS * variance.sqrt(), "{what}: {found} instead of {p}");
    };
    close(&|a, b| a > b, means.larger.value, "larger");
    for (limit, p) in means.difference.into_iter().zip([0.05, 0.95]) {
        close(&|a, b| a - b <= limit.value, p, "difference");
    }
    for (limit, p) in means.ratio.into_iter().zip([0.05, 0.5, 0.95]) {
        close(&|a, b| a <= limit.value * b, p, "ratio");
    }
    // The other way round: the same draws.
    let swapped = law.compare_means([&b, &a], 0.9);
    let apart = swapped.difference[0].value + means.difference[1].value;
    assert!(apart.abs() < 1e-12, "{apart}");
    assert!((swapped.larger.value + means.larger.value - 1.0).abs() < 1e-12);
}

#[test]
fn numbers_are_rounded_to_the_digits_that_hold() {
    let rounded = |value: f64, error: f64| Drawn { value, error }.rounded();
    assert_eq!(rounded(0.123_456, 0.0012), 0.12);
    assert_eq!(rounded(0.123_456, 0.000_49), 0.123);
    assert_eq!(rounded(12_345.6, 30.0), 12_300.0);
    assert_eq!(rounded(0.5, 0.0), 0.5);
}
