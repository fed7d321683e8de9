//! Logarithms of probabilities, output by output: they are right where probabilities underflow.

use super::{Outputs, Product, Recipe, hamming_normaliser, lattice};
use crate::numeric::{ln, ln_sum};
use crate::posterior::error_field::Field;
use crate::posterior::model::{Counts, Posterior, hamming_distance};

/// ln P of every one of `outputs` (those of the recipe) at one posterior, with candidates scored by
/// `score`.
pub fn ln_probabilities(
    recipe: Recipe,
    posterior: &Posterior,
    score: &dyn Field,
    outputs: Outputs,
) -> Vec<f64> {
    let (n, x, list) = (posterior.n(), posterior.counts(), outputs.list());
    match recipe {
        Recipe::Exponential { rate } => {
            let weights: Vec<f64> = list.iter().map(|r| -rate * score.at(r)).collect();
            normalised(weights)
        }
        Recipe::Weighed { weight } => normalised(weight.log_weights(posterior, &list, score)),
        Recipe::OwnNoise { noise, restored } => {
            let table = noise.table();
            of_marginals(posterior, restored, &list, |x, v| table.ln_probability(x, v))
        }
        Recipe::Table { table, power } => {
            let row = table.row(x, power);
            let ln_p = |output: &Counts| row.get(output).copied().unwrap_or(f64::NEG_INFINITY);
            list.iter().map(ln_p).collect()
        }
        Recipe::Hamming { rate, weights } => {
            let ln_normaliser = ln(hamming_normaliser(posterior, rate, weights, None));
            let tight = weights.tight(posterior, rate);
            let weight = |r: &[u64]| tight.as_ref().map_or(1.0, |tight| tight.weight(r));
            let ln_p = |r: &Counts| -rate * hamming_distance(x, r) + ln(weight(r)) - ln_normaliser;
            list.iter().map(ln_p).collect()
        }
        Recipe::Lattice { noise } => lattice::ln_probabilities(noise, posterior, &list),
        Recipe::Historical { noise } => {
            let law = Product::historical(posterior, noise);
            list.iter().map(|output| ln(law.probability(output))).collect()
        }
        Recipe::Noise { noise, scale, restored } => {
            of_marginals(posterior, restored, &list, |x, v| noise.ln_probability(scale, x, n, v))
        }
    }
}

/// Logarithms of probabilities, from those of weights.
fn normalised(mut weights: Vec<f64>) -> Vec<f64> {
    let ln_normaliser = ln_sum(weights.iter().copied());
    weights.iter_mut().for_each(|weight| *weight -= ln_normaliser);
    weights
}

/// ln P of outputs whose coordinates are independent, from ln P of v where x was counted.
fn of_marginals(
    posterior: &Posterior,
    restored: bool,
    list: &[Counts],
    ln_probability: impl Fn(u64, u64) -> f64,
) -> Vec<f64> {
    let (n, x) = (posterior.n(), posterior.counts());
    let free = x.len() - usize::from(restored);
    let marginal = |&x: &u64| -> Vec<f64> { (0..=n).map(|v| ln_probability(x, v)).collect() };
    let marginals: Vec<Vec<f64>> = x[..free].iter().map(marginal).collect();
    let ln_p = |output: &Counts| -> f64 {
        output.iter().zip(&marginals).map(|(&v, marginal)| marginal[v as usize]).sum()
    };
    list.iter().map(ln_p).collect()
}
