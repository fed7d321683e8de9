//! How many outputs are walked at one setting, without walking them.

use crate::analysis::ranking::Data;
use crate::mechanism::law::{Outputs, ROWS, Recipe, total_length};
use crate::posterior::distance::near;
use crate::posterior::metric::Metric;
use crate::posterior::model::{Posterior, approximate_compositions};
use crate::posterior::setting::Setting;
use crate::posterior::simplex::{Region, Size, count, measure};

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

/// The outputs that carry all but a negligible part of the probability at one data set, or at any.
pub fn likely_outputs(recipe: Recipe, posterior: &Posterior, data: Data) -> f64 {
    let possible = Outputs::of(recipe, posterior.n(), posterior.k()).possible(recipe);
    match data {
        Data::PriorPredictive => possible,
        Data::Given => {
            let region = recipe.region(posterior);
            region.map_or(possible, |region| count(&region, ROWS).min(possible))
        }
    }
}
