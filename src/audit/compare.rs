//! One mechanism at two adjacent data sets.

use super::hamming::{Hamming, HammingPair};
use super::noisy::{Noisy, NoisyPair};
use super::pairs::Pair;
use super::scored::{Scored, ScoredPair};
use crate::law::Recipe;
use crate::mechanism::{Refusal, Variant};
use crate::model::Counts;
use crate::setting::Setting;

/// What can be said about a pair of adjacent data sets x, x'.
pub trait Comparison {
    /// max over outputs of |ln P_x − ln P_x'|.
    fn loss(&self) -> f64;

    /// Σ max(0, P_x − e^ε P_x') over all outputs, and the same with x and x' exchanged.
    fn deltas(&self, epsilon: f64) -> [f64; 2];

    /// An output that attains the loss.
    fn witness(&self) -> Witness;
}

/// An output that attains a loss.
pub struct Witness {
    pub output: Counts,
    /// Whether the output is the likelier one at x.
    pub forward: bool,
}

/// What a mechanism does at one data set, prepared for comparisons.
pub enum Release {
    Scored(Scored),
    Noisy(Noisy),
    Hamming(Hamming),
}

impl Release {
    /// The mechanism at the posterior of `setting`.
    pub fn new(variant: &Variant, setting: &Setting) -> Result<Self, Refusal> {
        Ok(match variant.recipe(setting)? {
            Recipe::Exponential { rate } => Self::Scored(Scored::new(setting, rate)),
            Recipe::Noise { noise, scale, restored } => {
                Self::Noisy(Noisy { noise, scale, restored })
            }
            Recipe::Hamming { rate } => Self::Hamming(Hamming::new(&setting.posterior, rate)),
        })
    }
}

/// Compares a mechanism at the two data sets of a pair.
pub fn compare<'a>(
    pair: &'a Pair,
    at_x: &'a Release,
    at_moved: &'a Release,
) -> Box<dyn Comparison + 'a> {
    match (at_x, at_moved) {
        (Release::Scored(at_x), Release::Scored(at_moved)) => {
            Box::new(ScoredPair { at_x, at_moved })
        }
        (Release::Noisy(noisy), Release::Noisy(_)) => Box::new(NoisyPair::new(noisy, pair)),
        (Release::Hamming(at_x), Release::Hamming(at_moved)) => {
            Box::new(HammingPair { pair, at_x, at_moved })
        }
        _ => unreachable!("a mechanism has laws of one kind"),
    }
}
