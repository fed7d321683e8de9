//! A remapped mechanism at two adjacent data sets: candidate by candidate.

use super::compare::{Class, Comparison, Witness};
use crate::mechanism::law::{Recipe, Remap, ln_probabilities};
use crate::posterior::error_field::Reach;
use crate::posterior::model::Counts;
use crate::posterior::setting::Setting;
use crate::posterior::simplex::list_compositions;

/// ln P of every candidate at one data set, in lexicographic order.
pub struct Tabled {
    n: u64,
    k: usize,
    /// An upper bound on the rounding error of a logarithm.
    rounding: f64,
    logs: Vec<f64>,
}

impl Tabled {
    pub fn new(setting: &Setting, recipe: Recipe, remap: &Remap) -> Self {
        let posterior = &setting.posterior;
        let score = setting.distance.field(posterior, &Reach::ball(posterior));
        let logs = ln_probabilities(recipe, posterior, score.as_ref(), remap.outputs());
        let (relative, absolute) = setting.distance.accuracy();
        let largest = logs.iter().fold(0.0, |largest: f64, log| largest.max(-log));
        let rate = if let Recipe::Exponential { rate } = recipe { rate } else { 0.0 };
        let rounding = 2.0 * (relative * largest + absolute * rate) + 3e-13 + 2e-15 * largest;
        Self { n: posterior.n(), k: posterior.k(), rounding, logs: remap.fold(&logs) }
    }
}

/// Two adjacent data sets.
pub struct TabledPair<'a> {
    pub at_x: &'a Tabled,
    pub at_moved: &'a Tabled,
}

impl TabledPair<'_> {
    /// The places of the candidates that are ever released, with their ratios.
    fn ratios(&self) -> impl Iterator<Item = (usize, f64)> {
        let logs = self.at_x.logs.iter().zip(&self.at_moved.logs).enumerate();
        logs.filter(|(_, (x, _))| **x > f64::NEG_INFINITY).map(|(r, (x, moved))| (r, x - moved))
    }

    fn largest(&self) -> Option<(usize, f64)> {
        self.ratios().reduce(|best, next| if next.1.abs() > best.1.abs() { next } else { best })
    }

    fn candidate(&self, place: usize) -> Counts {
        list_compositions(self.at_x.n, self.at_x.k).swap_remove(place)
    }
}

impl Comparison for TabledPair<'_> {
    fn loss(&self) -> f64 {
        self.largest().map_or(0.0, |(_, ratio)| ratio.abs())
    }

    fn rounding(&self) -> f64 {
        self.at_x.rounding + self.at_moved.rounding
    }

    fn classes(&self) -> Vec<Class> {
        let class = |(r, _)| Class::new(self.at_x.logs[r], self.at_moved.logs[r], 1.0);
        self.ratios().map(class).collect()
    }

    fn witness(&self) -> Witness {
        let (place, ratio) = self.largest().unwrap_or_default();
        Witness { output: self.candidate(place), forward: ratio >= 0.0 }
    }
}
