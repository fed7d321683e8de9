//! Logarithms of probabilities, output by output: they are right where probabilities underflow.

use super::{Historical, Outputs, Recipe, hamming_normaliser, lattice};
use crate::base::numeric::{Sum, exp_accurate, ln};
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
            // The largest weight is 1, at the data itself: what underflows does not count.
            let normaliser: Sum = weights.iter().map(|&weight| exp_accurate(weight)).collect();
            let ln_normaliser = ln(normaliser.value());
            weights.into_iter().map(|weight| weight - ln_normaliser).collect()
        }
        Recipe::Hamming { rate, weights } => {
            let ln_normaliser = ln(hamming_normaliser(posterior, rate, weights, None));
            let tight = weights.tight(posterior, rate);
            let weight = |r: &[u64]| match &tight {
                Some(tight) => tight.weight(r),
                None => r.iter().map(|&v| weights.factor(v)).product(),
            };
            let ln_p = |r: &Counts| -rate * hamming_distance(x, r) + ln(weight(r)) - ln_normaliser;
            list.iter().map(ln_p).collect()
        }
        Recipe::Lattice { noise } => lattice::ln_probabilities(noise, posterior, &list),
        Recipe::Historical { noise } => {
            let law = Historical::new(posterior, noise);
            list.iter().map(|output| ln(law.probability(output))).collect()
        }
        Recipe::Noise { noise, scale, restored } => {
            let free = x.len() - usize::from(restored);
            let marginal = |&x: &u64| -> Vec<f64> {
                (0..=n).map(|v| noise.ln_probability(scale, x, n, v)).collect()
            };
            let marginals: Vec<Vec<f64>> = x[..free].iter().map(marginal).collect();
            let ln_p = |output: &[u64]| -> f64 {
                output.iter().zip(&marginals).map(|(&v, marginal)| marginal[v as usize]).sum()
            };
            list.iter().map(|output| ln_p(output)).collect()
        }
    }
}
