//! A mechanism as a matrix.

use super::program::Program;
use crate::numeric::{exp_accurate, sum::sum};
use crate::posterior::model::{Counts, neighbours};
use crate::posterior::simplex::rank;

/// The probability of every output at every data set, in logarithms: many are too small for a
/// double.
#[derive(Clone, Debug, PartialEq)]
pub struct OptimalMechanism {
    /// The data sets x.
    pub inputs: Vec<Counts>,
    pub outputs: Vec<Counts>,
    /// ln P(r|x): one row for each data set, −∞ for outputs that are never released.
    pub ln_probabilities: Vec<Vec<f64>>,
}

impl OptimalMechanism {
    /// From one value for each orbit of pairs.
    pub(super) fn unfold(program: Program, values: &[f64]) -> Self {
        let (rows, columns) = (program.inputs.len(), program.outputs.len());
        let row = |x| (0..columns).map(|r| values[program.unknown(x, r)]).collect();
        let ln_probabilities = (0..rows).map(row).collect();
        Self { inputs: program.inputs, outputs: program.outputs, ln_probabilities }
    }

    /// P(r|x), by the indices of x and r.
    pub fn probability(&self, input: usize, output: usize) -> f64 {
        exp_accurate(self.ln_probabilities[input][output])
    }

    /// δ at ε: the largest Σ_r max(0, P(r|x) − e^ε P(r|x')) over all adjacent data sets.
    pub fn delta(&self, epsilon: f64) -> f64 {
        self.largest(|row, other| {
            let pairs = row.iter().zip(other).filter(|(a, b)| **a > **b + epsilon);
            sum(pairs.map(|(a, b)| exp_accurate(*a) - exp_accurate(epsilon + b)))
        })
    }

    /// The privacy loss: the largest |ln P(r|x) − ln P(r|x')| over all adjacent data sets and
    /// outputs. Without δ it exceeds ε by rounding at most; with δ it can be infinite.
    pub fn loss(&self) -> f64 {
        self.largest(|row, other| {
            let released = row.iter().zip(other).filter(|(a, b)| a != b);
            released.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        })
    }

    /// The largest measure of the rows of two adjacent data sets.
    fn largest(&self, measure: impl Fn(&[f64], &[f64]) -> f64) -> f64 {
        let rows = self.inputs.iter().zip(&self.ln_probabilities);
        let pairs = rows.flat_map(|(x, row)| neighbours(x).map(move |neighbour| (row, neighbour)));
        pairs
            .map(|(row, neighbour)| measure(row, &self.ln_probabilities[rank(&neighbour)]))
            .fold(0.0, f64::max)
    }
}
