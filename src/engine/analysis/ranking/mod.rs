//! Mechanisms ranked by their exact errors, and the least ε at which one is accurate enough.

mod choice;
mod least_epsilon;

pub use choice::{Criterion, Plan, Ranking, Row, choose, is_usual, size_of};
pub use least_epsilon::{LARGEST, SMALLEST, refusal};
use least_epsilon::{LeastEpsilon, Stopped, TRIED, least_epsilon, likely_epsilon};

use crate::analysis::tuning::TuningCache;
use crate::analysis::{predictive_error, size};
use crate::mechanism::Mechanism;
use crate::mechanism::law::{self, Distribution, Law};
use crate::parallel;
use crate::posterior::model::Counts;
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

/// What is known of the data when mechanisms are ranked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Data {
    /// Their number only: they follow the prior predictive distribution.
    PriorPredictive,
    /// Everything.
    Given(Counts),
}

/// Relative differences in exact errors below this do not count: the simpler mechanism comes first.
const SAME: f64 = 1e-9;

/// The error of one mechanism.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accuracy {
    pub mean: f64,
    /// The smallest t with P[error <= t] >= 0.5.
    pub median: f64,
    /// The smallest t with P[error <= t] >= 0.95.
    pub q95: f64,
}

impl Accuracy {
    /// Whether another one is the same, up to rounding.
    pub fn is_same(&self, other: &Self) -> bool {
        let numbers = |one: &Self| [one.mean, one.median, one.q95];
        numbers(self).into_iter().zip(numbers(other)).all(|(a, b)| (a - b).abs() <= SAME * a.max(b))
    }
}

/// The exact mean error of a law; `None` as for [`predictive_error::over_all_data`].
pub fn mean_error(law: &dyn Law, setting: &Setting, data: &Data) -> Result<Option<f64>, Refusal> {
    match data {
        Data::PriorPredictive => {
            let errors = predictive_error::over_all_data(law, setting)?;
            Ok(errors.map(|errors| errors.mean))
        }
        Data::Given(x) => predictive_error::at_data(law, setting, x, law::mean),
    }
}

/// The mean takes this part of the time that the whole distribution takes.
const MEAN: f64 = 0.1;

/// The exact error of `variant`; `None` as for [`predictive_error::over_all_data`].
pub fn accuracy(
    variant: &Mechanism,
    setting: &Setting,
    data: &Data,
    tuning: &TuningCache,
) -> Result<Option<Accuracy>, Refusal> {
    let tuned = size::tuning(variant, setting, data).outputs;
    let all = size::distribution(variant, setting, data).map_or(tuned, |all| all.outputs);
    let part = parallel::part(tuned / all.max(1.0));
    let law = tuning.prepare(variant, setting)?.law;
    drop(part);
    let part = parallel::part((1.0 - tuned / all.max(1.0)) * MEAN);
    let mean = mean_error(law.as_ref(), setting, data)?;
    drop(part);
    let law = match data {
        Data::PriorPredictive => predictive_error::distribution(law.as_ref(), setting)?,
        Data::Given(x) => predictive_error::at_data(law.as_ref(), setting, x, Distribution::new)?,
    };
    let quantiles = law.map(|law| [0.5, 0.95].map(|part| law.quantile(part)));
    Ok(mean.zip(quantiles).map(|(mean, [median, q95])| Accuracy { mean, median, q95 }))
}
