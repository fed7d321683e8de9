//! Mechanisms ranked by their exact errors, and the least ε at which one is accurate enough.

mod least_epsilon;

pub use least_epsilon::{
    LARGEST, LeastEpsilon, SMALLEST, TRIED, least_epsilon, likely_epsilon, refusal,
};

use crate::analysis::predictive_error;
use crate::analysis::tuning::TuningCache;
use crate::mechanism::Variant;
use crate::mechanism::law::Distribution;
use crate::posterior::metric::Metric;
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

/// What is known of the data when mechanisms are ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// Their number only: they follow the prior predictive distribution.
    PriorPredictive,
    /// Everything: they are the data of the setting.
    Given,
}

/// Relative differences in exact errors below this do not count: the simpler mechanism comes first.
pub const SAME: f64 = 1e-9;

/// The error of one mechanism.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accuracy {
    /// The mean.
    pub mean: f64,
    /// The smallest t with P[error <= t] >= 0.5.
    pub median: f64,
    /// The smallest t with P[error <= t] >= 0.95.
    pub q95: f64,
}

impl Accuracy {
    fn new(mean: f64, law: &Distribution) -> Self {
        Self { mean, median: law.quantile(0.5), q95: law.quantile(0.95) }
    }

    /// Whether another one is the same, up to rounding.
    pub fn is_same(&self, other: &Self) -> bool {
        let numbers = |one: &Self| [one.mean, one.median, one.q95];
        numbers(self).into_iter().zip(numbers(other)).all(|(a, b)| (a - b).abs() <= SAME * a.max(b))
    }
}

/// The exact mean error of a tuned mechanism; `None` as for [`predictive_error::over_all_data`].
pub fn mean_error(
    variant: &Variant,
    setting: &Setting,
    data: Data,
) -> Result<Option<f64>, Refusal> {
    let metric = Metric::from_distance(setting.distance);
    match data {
        Data::PriorPredictive => {
            let errors = predictive_error::over_all_data(variant, setting, metric)?;
            Ok(errors.map(|errors| errors.mean))
        }
        Data::Given => predictive_error::mean_at(variant, setting, metric),
    }
}

/// The exact error of `variant`; `None` as for [`predictive_error::over_all_data`].
pub fn accuracy(
    variant: &Variant,
    setting: &Setting,
    data: Data,
    tuning: &TuningCache,
) -> Result<Option<Accuracy>, Refusal> {
    let variant = &tuning.tune(variant, setting)?.variant;
    let mean = mean_error(variant, setting, data)?;
    let law = match data {
        Data::PriorPredictive => predictive_error::distribution(variant, setting)?,
        Data::Given => predictive_error::distribution_at(variant, setting)?,
    };
    Ok(mean.zip(law.as_ref()).map(|(mean, law)| Accuracy::new(mean, law)))
}
