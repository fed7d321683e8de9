//! What it takes to make a law and to walk it, counted without making it.

use super::product::is_walked;
use super::{
    CandidateWeights, LatticeNoise, Recipe, hamming, historical, lattice, listed, product,
};
use crate::posterior::model::Posterior;
use crate::posterior::simplex::{Region, Size, Window, estimate};

/// The operations of a law at one posterior.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Effort {
    /// The outputs that are walked, and their rows; `None` if they are too many, and the law is only
    /// sampled.
    pub walked: Option<Size>,
    /// Entries of the tables of factors.
    pub entries: f64,
    /// Numbers that an expression of the user's is evaluated at.
    pub evaluated: f64,
    /// Entries of convolutions in linear time.
    pub convolved: f64,
    /// Products of all other convolutions.
    pub products: f64,
    /// Numbers that are kept at a time.
    pub kept: f64,
}

/// The number of rows of a region that are counted: enough for an accuracy of ten percent, and quick even
/// for thousands of settings.
pub const ROWS: f64 = 256.0;

impl Effort {
    /// The walk over a region, of which `folded` is what is walked, with a table entry for every value of
    /// every coordinate.
    pub fn walk<T: PartialEq>(region: Region, classes: &[T]) -> Self {
        let entries = total_length(region.windows());
        let walked = is_walked(&region).then(|| estimate(&region.folded(classes), ROWS));
        let entries = if walked.is_some() { entries } else { 0.0 };
        Self { walked, entries, kept: entries, ..Self::default() }
    }

    /// Adds operations that are done, and numbers that are kept, besides.
    pub(super) fn add(&mut self, other: Self) {
        self.entries += other.entries;
        self.evaluated += other.evaluated;
        self.convolved += other.convolved;
        self.products += other.products;
        self.kept += other.kept;
    }
}

/// The number of entries of one table for every window.
pub fn total_length(windows: &[Window]) -> f64 {
    lengths(windows).sum()
}

/// The number of values of every window.
pub fn lengths(windows: &[Window]) -> impl Iterator<Item = f64> {
    windows.iter().map(|&(low, high)| (high - low) as f64 + 1.0)
}

impl Recipe {
    /// What the law takes at one posterior; `None` if candidates are weighed by their score, which all such
    /// mechanisms share.
    pub fn effort(&self, posterior: &Posterior) -> Option<Effort> {
        match *self {
            Self::Exponential { .. } => None,
            Self::Weighed { weight } if weight.is_by_score() => None,
            Self::Weighed { weight } => Some(weight.effort(posterior)),
            Self::Noise { scale, restored, .. } => {
                Some(product::noise_effort(posterior, scale, restored))
            }
            Self::OwnNoise { noise, restored } => {
                Some(product::own_noise_effort(posterior, noise, restored))
            }
            Self::Hamming { rate, weights } => Some(hamming::effort(posterior, rate, weights)),
            Self::Lattice { noise } => Some(lattice::effort(posterior, noise)),
            Self::Historical { noise } => Some(historical::effort(posterior, noise)),
            Self::Table { table, .. } => Some(listed::effort(posterior, table)),
        }
    }

    /// What a sampler takes before its first draw, besides the law.
    pub fn sampler_effort(&self, k: usize) -> Effort {
        match *self {
            Self::Lattice { noise } => lattice::sampler_effort(noise, k),
            Self::Hamming { rate, weights: CandidateWeights::Tight } => {
                lattice::sampler_effort(LatticeNoise::Geometric { rate }, k)
            }
            Self::Exponential { .. }
            | Self::Weighed { .. }
            | Self::Noise { .. }
            | Self::OwnNoise { .. }
            | Self::Hamming { .. }
            | Self::Historical { .. }
            | Self::Table { .. } => Effort::default(),
        }
    }
}
