//! A mechanism at two adjacent data sets, output by output. Most often it is remapped, and its outputs
//! are candidates.

use super::pair_comparison::{Class, PairComparison, Witness};
use crate::mechanism::law::{Outputs, Recipe, Remap, ln_probabilities};
use crate::posterior::error_field::Reach;
use crate::posterior::model::Counts;
use crate::posterior::setting::Setting;
use crate::posterior::simplex::list_compositions;

/// ln P of every output at one data set, in order.
pub struct Tabled {
    /// The outputs, if they are not candidates.
    outputs: Option<Outputs>,
    n: u64,
    k: usize,
    /// An upper bound on the rounding error of a logarithm.
    rounding: f64,
    logs: Vec<f64>,
}

impl Tabled {
    /// The outputs of `recipe`, or the candidates by which `remap` replaces them.
    pub fn new(setting: &Setting, recipe: Recipe, remap: Option<&Remap>) -> Self {
        let posterior = &setting.posterior;
        let score = setting.distance.field(posterior, &Reach::ball(posterior));
        let outputs = Outputs::of(recipe, posterior.n(), posterior.k());
        let logs = ln_probabilities(recipe, posterior, score.as_ref(), outputs);
        let (relative, absolute) = setting.distance.accuracy();
        let finite = logs.iter().filter(|log| log.is_finite());
        let largest = finite.fold(0.0, |largest: f64, log| largest.max(-log));
        let rate = recipe.rate().unwrap_or(0.0);
        let rounding = 2.0 * (relative * largest + absolute * rate) + 3e-13 + 2e-15 * largest;
        let logs = remap.map_or(logs.clone(), |remap| remap.fold(&logs));
        Self {
            outputs: remap.is_none().then_some(outputs),
            n: posterior.n(),
            k: posterior.k(),
            rounding,
            logs,
        }
    }
}

/// Two adjacent data sets.
pub struct TabledPair<'a> {
    pub at_x: &'a Tabled,
    pub at_moved: &'a Tabled,
}

impl TabledPair<'_> {
    /// The places of the outputs that are possible at one of the two data sets, with their ratios. A ratio
    /// is infinite if the output is not possible at the other.
    fn ratios(&self) -> impl Iterator<Item = (usize, f64)> {
        let logs = self.at_x.logs.iter().zip(&self.at_moved.logs).enumerate();
        let possible = logs.filter(|(_, (x, moved))| x.max(**moved) > f64::NEG_INFINITY);
        possible.map(|(r, (x, moved))| (r, x - moved))
    }

    fn largest(&self) -> Option<(usize, f64)> {
        self.ratios().reduce(|best, next| if next.1.abs() > best.1.abs() { next } else { best })
    }

    fn candidate(&self, place: usize) -> Counts {
        let candidates = || list_compositions(self.at_x.n, self.at_x.k);
        self.at_x.outputs.map_or_else(candidates, |outputs| outputs.list()).swap_remove(place)
    }
}

impl PairComparison for TabledPair<'_> {
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
