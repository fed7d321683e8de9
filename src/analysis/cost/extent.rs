//! How many outputs are walked at one setting, without walking them.

use crate::mechanism::law::{CandidateWeights, LatticeNoise, Recipe, is_walked};
use crate::posterior::distance::near;
use crate::posterior::metric::Metric;
use crate::posterior::model::{Posterior, approximate_compositions};
use crate::posterior::setting::Setting;
use crate::posterior::simplex::{Region, Size, Window, count, measure};

/// The number of rows of a region that are counted: enough for an accuracy of ten percent, and quick
/// even for thousands of settings.
const ROWS: f64 = 256.0;

/// What the exponential mechanisms of one setting walk; they share it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// |R|.
    pub candidates: f64,
    /// Candidates that are weighed one by one. Of candidates that differ by an exchange of equal
    /// categories one is weighed.
    pub walked: Size,
    /// The number of candidates that these stand for.
    pub near: f64,
    /// Entries of one table for every category.
    pub entries: f64,
}

impl Extent {
    /// For errors in the setting's distance and in `metrics`: the error with the widest ball decides.
    pub fn new(setting: &Setting, metrics: &[Metric]) -> Self {
        let posterior = &setting.posterior;
        let metrics = metrics.iter().map(|metric| metric.plateau(posterior));
        let plateaus: Option<Vec<f64>> =
            metrics.chain([setting.distance.plateau(posterior)]).collect();
        let power = plateaus.map(|plateaus| plateaus.into_iter().fold(f64::INFINITY, f64::min));
        Self::up_to(posterior, power)
    }

    fn up_to(posterior: &Posterior, power: Option<f64>) -> Self {
        let candidates = approximate_compositions(posterior.n(), posterior.k());
        let all = Region::simplex(posterior.n(), posterior.k());
        let ball = power.map(|power| near(posterior, power));
        let entries = total_length(ball.as_ref().unwrap_or(&all).windows());
        // A ball of more than half of them is not worth the trouble.
        let inside = ball.as_ref().map(|ball| count(ball, ROWS));
        let near = inside.filter(|inside| *inside <= 0.5 * candidates);
        let region = ball.filter(|_| near.is_some()).unwrap_or(all);
        let walked = measure(&region.folded(&posterior.categories()), ROWS);
        Self { candidates, walked, near: near.unwrap_or(candidates), entries }
    }
}

/// The outputs that a mechanism with a region of its own walks, and its table entries; `None` if
/// they are too many to be walked.
pub fn own_outputs(recipe: Recipe, posterior: &Posterior) -> Option<(Size, f64)> {
    let region: Region = recipe.region(posterior)?;
    let entries = total_length(region.windows());
    let restored = matches!(recipe, Recipe::Noise { restored: true, .. });
    let independent = &posterior.categories()[..posterior.k() - usize::from(restored)];
    is_walked(&region).then(|| (measure(&region.folded(independent), ROWS), entries))
}

/// The outputs that carry all but a negligible part of the probability, none of them of probability 0.
pub fn likely_outputs(recipe: Recipe, posterior: &Posterior) -> f64 {
    // Most vectors of the box around lattice noise do not sum to n.
    let recipe = match recipe {
        Recipe::Lattice { noise: LatticeNoise::Geometric { rate } } => {
            Recipe::Hamming { rate, weights: CandidateWeights::Flat }
        }
        recipe => recipe,
    };
    recipe.region(posterior).map_or(0.0, |region| count(&region, ROWS))
}

/// Entries of the convolutions behind the Hamming mechanism; two categories need none.
pub fn convolved(recipe: Recipe, posterior: &Posterior) -> f64 {
    let region = recipe.region(posterior).filter(|_| posterior.k() > 2);
    region.map_or(0.0, |region| total_length(region.windows()))
}

fn total_length(windows: &[Window]) -> f64 {
    windows.iter().map(|&(low, high)| (high - low) as f64 + 1.0).sum()
}
