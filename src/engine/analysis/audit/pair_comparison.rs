//! What a law answers about two adjacent data sets.

use crate::numeric::Sum;
use crate::numeric::exp::{exp_nonpositive, one_minus_exp};
use crate::posterior::model::Counts;

/// What can be said about a pair of adjacent data sets x, x'.
pub trait PairComparison {
    /// max over outputs of |ln P_x − ln P_x'|.
    fn loss(&self) -> f64;

    /// An upper bound on the rounding error of the loss.
    fn rounding(&self) -> f64;

    /// All outputs, in classes of equal ratios. Several classes may have the same ratio.
    fn classes(&self) -> Vec<Class>;

    /// An output that attains the loss.
    fn witness(&self) -> Witness;
}

/// Outputs with the same ratio of probabilities.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Class {
    /// ln P_x − ln P_x'.
    pub ratio: f64,
    /// The sums of their probabilities at x and at x'.
    pub masses: [f64; 2],
}

impl Class {
    /// A number of `outputs`, each with these logarithms of its probabilities.
    pub fn new(at_x: f64, at_moved: f64, outputs: f64) -> Self {
        let masses = [at_x, at_moved].map(|ln_p| outputs * exp_nonpositive(ln_p.min(0.0)));
        Self { ratio: at_x - at_moved, masses }
    }
}

/// Σ max(0, P_x − e^ε P_x') over all outputs, and the same with x and x' exchanged. Each term is
/// P_x (1 − e^(ε − ratio)), so that no digits cancel.
pub fn deltas(classes: &[Class], epsilon: f64) -> [f64; 2] {
    let mut sums = [Sum::default(), Sum::default()];
    for Class { ratio, masses: [at_x, at_moved] } in classes {
        if *ratio > epsilon {
            sums[0].add(at_x * one_minus_exp(epsilon - ratio));
        }
        if -ratio > epsilon {
            sums[1].add(at_moved * one_minus_exp(epsilon + ratio));
        }
    }
    sums.map(|sum| sum.value())
}

/// An output that attains a loss.
pub struct Witness {
    pub output: Counts,
    /// Whether the output is likelier at x than at x'.
    pub forward: bool,
}
