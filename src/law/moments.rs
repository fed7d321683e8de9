//! Mean and spread of an error under an exact law.

use rayon::prelude::*;

use super::{Law, walk_block};
use crate::field::Field;
use crate::numeric::Sum;
use crate::simplex::Blocks;

/// The exact mean and standard deviation of an error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moments {
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
    pub std: f64,
}

/// The moments of `field` under `law`, or `None` if the law is too large to be walked.
///
/// Two passes: the variance is summed around the mean, so that it keeps its digits where the error
/// hardly varies.
#[must_use]
pub fn moments(law: &dyn Law, field: &dyn Field) -> Option<Moments> {
    let blocks = law.blocks()?;
    let mean = expectation(law, blocks, field, |value| value);
    let variance = expectation(law, blocks, field, |value| (value - mean) * (value - mean));
    Some(Moments { mean, std: variance.sqrt() })
}

/// E[f(value)]: blocks in parallel, their sums added in order.
fn expectation(
    law: &dyn Law,
    blocks: &Blocks,
    field: &dyn Field,
    f: impl Fn(f64) -> f64 + Sync,
) -> f64 {
    let sums: Vec<f64> = (0..blocks.len())
        .into_par_iter()
        .map(|block| {
            let mut sum = 0.0;
            walk_block(law, blocks, block, field, |values, masses| {
                sum += values.iter().zip(masses).map(|(&v, m)| f(v) * m).sum::<f64>();
            });
            sum
        })
        .collect();
    let plateau = law.plateau() * f(1.0);
    let total = sums.into_iter().chain([plateau]).collect::<Sum>();
    total.value() / law.normaliser()
}
