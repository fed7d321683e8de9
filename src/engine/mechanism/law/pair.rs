//! What a law answers about two adjacent data sets.

use crate::numeric::Sum;
use crate::numeric::exp::{exp_nonpositive, one_minus_exp};
use crate::posterior::model::Counts;

/// Two adjacent data sets: x, and x' = x − e_i + e_j.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    pub x: Counts,
    /// x'.
    pub neighbour: Counts,
    /// i: the category that the record leaves.
    pub leaves: usize,
    /// j: the category that it enters.
    pub enters: usize,
}

impl Pair {
    /// The pair, if category i has a record to give.
    pub fn new(x: &[u64], leaves: usize, enters: usize) -> Option<Self> {
        let mut neighbour = x.to_vec();
        neighbour[leaves] = neighbour[leaves].checked_sub(1)?;
        neighbour[enters] += 1;
        Some(Self { x: x.to_vec(), neighbour, leaves, enters })
    }

    /// The pair of two data sets, if they are adjacent.
    pub fn between(x: &[u64], neighbour: &[u64]) -> Option<Self> {
        let leaves = x.iter().zip(neighbour).position(|(a, b)| a > b)?;
        let enters = x.iter().zip(neighbour).position(|(a, b)| a < b)?;
        Self::new(x, leaves, enters).filter(|pair| pair.neighbour == neighbour)
    }
}

/// A law at several data sets, ready to be compared at any two of them.
pub trait Comparisons: Sync {
    /// The law at the two data sets of a pair, which stand at these indices of the list.
    fn between<'a>(&'a self, pair: &'a Pair, at: [usize; 2]) -> Box<dyn PairComparison + 'a>;
}

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
    pub fn new(at_x: f64, at_neighbour: f64, outputs: f64) -> Self {
        let masses = [at_x, at_neighbour].map(|ln_p| outputs * exp_nonpositive(ln_p.min(0.0)));
        Self { ratio: at_x - at_neighbour, masses }
    }
}

/// Σ max(0, P_x − e^ε P_x') over all outputs, and the same with x and x' exchanged. Each term is
/// P_x (1 − e^(ε − ratio)), so that no digits cancel.
pub fn deltas(classes: &[Class], epsilon: f64) -> [f64; 2] {
    let mut sums = [Sum::default(), Sum::default()];
    for Class { ratio, masses: [at_x, at_neighbour] } in classes {
        if *ratio > epsilon {
            sums[0].add(at_x * one_minus_exp(epsilon - ratio));
        }
        if -ratio > epsilon {
            sums[1].add(at_neighbour * one_minus_exp(epsilon + ratio));
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
