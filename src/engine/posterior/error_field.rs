//! Error fields: a number for every possible output, such as its distance from the true posterior.
//!
//! Scores, errors and metrics share this interface, so that each can serve as any other: whatever
//! implements [`Field`] can be averaged, plotted, and (if it has sensitivities) used as a score.

use crate::posterior::model::Posterior;
use crate::posterior::simplex::{Region, Row, Tail, Window};

/// The outputs for which an error field should prepare tables, since it will be asked for them
/// often. All other outputs are computed one by one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach {
    /// For each coordinate a window, of outputs of any total.
    pub windows: Vec<Window>,
    /// Also all outputs of total n that are nearer than distance 1, in a [`Field::ball`].
    pub ball: bool,
}

impl Reach {
    /// All candidates nearer than distance 1.
    pub fn ball(posterior: &Posterior) -> Self {
        Self { windows: posterior.counts().iter().map(|&x| (x, x)).collect(), ball: true }
    }

    /// The window of the total.
    pub fn total(&self) -> Window {
        self.windows.iter().fold((0, 0), |(low, high), window| (low + window.0, high + window.1))
    }
}

/// An error field: a function of the released counts, for one fixed posterior.
pub trait Field: Send + Sync {
    /// Evaluates one row of outputs: `out[t]` belongs to the output whose running coordinate is
    /// `row.start + t`. `out` has the length of the row. No value is negative, nor −0: values are
    /// ordered by their bits.
    fn row(&self, row: &Row, out: &mut [f64]);

    /// The number of records of the data.
    fn n(&self) -> u64;

    /// The outputs of total n that are not on the plateau, where the error is 1 to the last bit. `None`
    /// if there is no plateau, or if the error field was not prepared for it.
    fn ball(&self) -> Option<Region> {
        None
    }

    /// An upper bound on the error of every output, for errors that grow so fast that the most
    /// improbable outputs may decide the mean; infinite if a candidate's error is infinite. 1 for all
    /// other errors.
    fn extreme(&self) -> f64 {
        1.0
    }

    fn at(&self, output: &[u64]) -> f64 {
        let row = match output {
            [head @ .., last] if output.iter().sum::<u64>() != self.n() => {
                Row { head, start: *last, len: 1, tail: Tail::Free, weight: 1.0 }
            }
            candidate => Row::of(candidate),
        };
        let mut value = [0.0];
        self.row(&row, &mut value);
        value[0]
    }
}
