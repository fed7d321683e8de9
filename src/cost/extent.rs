//! What is walked at one setting: counted, not walked.

use crate::distance::near;
use crate::law::{Recipe, is_walked};
use crate::metric::Metric;
use crate::model::{Posterior, approximate_compositions};
use crate::setting::Setting;
use crate::simplex::{Region, Window, count};

/// So many rows of a region are counted: enough for ten percent, and in no time even where there are
/// thousands of settings.
const ROWS: f64 = 256.0;

/// What the exponential mechanisms of one setting walk, all together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// |R|.
    pub candidates: f64,
    /// Candidates that are weighed one by one.
    pub walked: f64,
    /// Entries of one table for every category.
    pub entries: f64,
}

impl Extent {
    /// For errors in the setting's distance and in `metrics`. The error that is flat last decides.
    #[must_use]
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
        let Some(power) = power else {
            let entries = posterior.k() as f64 * (posterior.n() as f64 + 1.0);
            return Self { candidates, walked: candidates, entries };
        };
        let ball = near(posterior, power);
        let inside = count(&ball, ROWS);
        // A ball of more than half of them is not worth the trouble.
        let walked = if inside <= 0.5 * candidates { inside } else { candidates };
        Self { candidates, walked, entries: total_length(ball.windows()) }
    }
}

/// The outputs that a mechanism with a region of its own walks, and its table entries; `None` if
/// they are too many to be walked.
pub fn own_outputs(recipe: Recipe, posterior: &Posterior) -> Option<(f64, f64)> {
    let region: Region = recipe.region(posterior)?;
    is_walked(&region).then(|| (count(&region, ROWS), total_length(region.windows())))
}

/// Entries of the convolutions behind the Hamming mechanism; two categories need none.
pub fn convolved(recipe: Recipe, posterior: &Posterior) -> f64 {
    let region = recipe.region(posterior).filter(|_| posterior.k() > 2);
    region.map_or(0.0, |region| total_length(region.windows()))
}

fn total_length(windows: &[Window]) -> f64 {
    windows.iter().map(|&(low, high)| (high - low) as f64 + 1.0).sum()
}
