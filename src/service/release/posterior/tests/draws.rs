//! Draws, against exact laws of single shares and pairs of them.

use super::brute::{method, seen};
use crate::release::posterior::draws;
use crate::release::posterior::{
    CountsLaw, Inferred, Published, PublishedNoise, RecordsPrior, Total,
};
use engine::posterior::model::Prior;

const NUMBER: usize = 100_000;

/// A standard normal number is larger in 6 of 10 million cases.
const ERRORS: f64 = 5.0;

fn all(laws: &[CountsLaw], number: usize) -> Vec<Vec<f64>> {
    draws(laws, number, 7).flatten().collect()
}

/// A law with wide noise, one with tiny parameters and one whose n is unknown.
fn laws() -> [CountsLaw; 3] {
    let wide = method("lattice", &[1.0, 0.5, 2.0, 1.0], 300, "0.05");
    let tiny = method("geometric", &[0.001, 0.001, 0.002, 5.0], 6, "0.5");
    let noise = PublishedNoise::parse("discrete-laplace(epsilon=0.7)", false, false).unwrap();
    let published = Published { noise: &noise, values: &[1.0, 0.0, -1.0, 4.0] };
    let total = Total::Unknown(RecordsPrior::Flat(None));
    let unknown = Inferred::new(&Prior::new(vec![1.0; 4]).unwrap(), total, &[published]);
    [
        CountsLaw::given(&[seen(&wide, &[120, 30, 0, 150])]).unwrap(),
        CountsLaw::given(&[seen(&tiny, &[0, 3, 0, 3])]).unwrap(),
        unknown.unwrap().law,
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
