//! The size of the linear program, predicted before it is made.

use super::ReleaseSet;
use crate::analysis::cost::Work;
use crate::posterior::model::approximate_compositions;
use crate::posterior::setting::Setting;

/// Nanoseconds and bytes, measured on programs of 20 to 50 thousand unknowns with k = 2, 3 and 4:
/// for each unknown, row and the width of the front that eliminates them, and for each constraint,
/// in every iteration.
const NS_PER_FILL: f64 = 12.0;
const NS_PER_CONSTRAINT: f64 = 1_000.0;
const BYTES_PER_FILL: f64 = 8.0;
const BYTES_PER_CONSTRAINT: f64 = 700.0;
/// Iterations of such programs, some of which take three times as many.
const ITERATIONS: f64 = 10.0;

/// A prediction of the program's size, good to a factor of two or so.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    /// Orbits of pairs (x, r).
    pub unknowns: f64,
    /// Constraints.
    pub constraints: f64,
    /// What solving it once takes.
    pub work: Work,
}

impl Size {
    /// The size of the program at the prior and number of records of `template`.
    pub fn new(template: &Setting, set: ReleaseSet) -> Self {
        Self::at(template, set, template.posterior.n())
    }

    /// The same with another number of records.
    pub fn at(template: &Setting, set: ReleaseSet, n: u64) -> Self {
        let prior = template.posterior.prior();
        let k = prior.k();
        let inputs = approximate_compositions(n, k);
        let outputs = match set {
            ReleaseSet::Same => inputs,
            ReleaseSet::Below => approximate_compositions(n, k + 1),
        };
        let factorial = |m: usize| (1..=m).map(|i| i as f64).product::<f64>();
        let order: f64 = prior.exchangeable().iter().map(|group| factorial(group.len())).product();
        let rows = (inputs / order).max(1.0);
        let unknowns = (inputs * outputs / order).max(outputs / order).max(1.0);
        let (kf, nf) = (k as f64, n as f64);
        let constraints = rows + unknowns * kf * (kf - 1.0) * nf / (nf + kf - 1.0).max(1.0);
        // Data sets are points of a simplex of k − 1 dimensions; fronts have one dimension less.
        let front = (0.4 * libm::pow(rows, (kf - 2.0) / (kf - 1.0))).max(1.0);
        let fill = unknowns * rows;
        let ns = ITERATIONS * (NS_PER_FILL * fill * front + NS_PER_CONSTRAINT * constraints);
        let bytes =
            BYTES_PER_FILL * fill + BYTES_PER_CONSTRAINT * constraints + 12.0 * inputs * outputs;
        Self {
            unknowns,
            constraints,
            work: Work {
                outputs: unknowns,
                passing: bytes,
                cpu_seconds: 1e-9 * ns,
                ..Work::default()
            },
        }
    }
}
