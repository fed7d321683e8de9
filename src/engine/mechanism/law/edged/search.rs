//! The search for g(0) and g(1). Nothing rests on it but the accuracy: the loss is computed afterwards.

use super::normalisers::DataSets;
use super::{QUICK_WORK, partitions};
use crate::numeric::{exp_accurate, expm1, first_after, ln};

/// The most data sets times records with which the search is done.
pub const WORK: f64 = 2e4;

/// The first and the last step, in logarithms.
const STEPS: (f64, f64) = (0.5, 1e-6);

/// How often the rate is corrected.
const ROUNDS: usize = 3;

/// Directions of the steps.
const DIRECTIONS: u32 = 16;

/// The edges with which the normalisers are nearest to each other, for n records or as many as can be tried.
pub fn edges(k: usize, n: u64, epsilon: f64) -> (f64, f64) {
    let mut records = n.min(QUICK_WORK as u64);
    // Half as many, and so on, and then as many more as possible.
    let affordable = |records: u64| partitions(records, k) * (records as f64 + 1.0) <= WORK;
    if !affordable(records) {
        records = first_after(1, records, |records| !affordable(records)) - 1;
    }
    let data_sets = DataSets::new(k, records);
    let mut rate = epsilon;
    let mut best = [0.0; 2];
    for round in 0..ROUNDS {
        let measure = |[zero, one]: [f64; 2]| {
            data_sets.shift(rate, exp_accurate(zero), exp_accurate(one)).shift
        };
        if round == 0 {
            // For two categories g(0) = 1/(1 − a) makes all normalisers equal.
            let exact = -ln(-expm1(-epsilon));
            let starts = [0.0, 0.25, 0.5, 0.75, 1.0, 1.25].map(|part| [part * exact, 0.0]);
            best = starts
                .into_iter()
                .min_by(|a, b| measure(*a).total_cmp(&measure(*b)))
                .unwrap_or(best);
        }
        best = improved(best, measure);
        // At most half of ε is lost to the normalisers, if the search is any good.
        rate = (epsilon - measure(best)).max(0.5 * epsilon);
    }
    (exp_accurate(best[0]), exp_accurate(best[1]))
}

/// Steps in all directions, as long as one of them is an improvement; then shorter ones.
fn improved(start: [f64; 2], measure: impl Fn([f64; 2]) -> f64) -> [f64; 2] {
    let (mut best, mut least) = (start, measure(start));
    let mut step = STEPS.0;
    while step > STEPS.1 {
        let before = least;
        for direction in 0..DIRECTIONS {
            let angle = std::f64::consts::TAU * f64::from(direction) / f64::from(DIRECTIONS);
            let next = [best[0] + step * libm::cos(angle), best[1] + step * libm::sin(angle)];
            let found = measure(next);
            if found < least {
                (best, least) = (next, found);
            }
        }
        if least >= before {
            step *= 0.5;
        }
    }
    best
}
