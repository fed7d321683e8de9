//! Mechanisms ranked by their exact errors, and the least ε at which one is accurate enough.

use crate::analysis::predictive_error;
use crate::analysis::tuning::TuningCache;
use crate::base::diagnostic::Refusal;
use crate::mechanism::Variant;
use crate::mechanism::law::Distribution;
use crate::posterior::metric::Metric;
use crate::posterior::privacy::Epsilon;
use crate::posterior::setting::Setting;

/// What is known of the data when mechanisms are ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// Their number only: they follow the prior predictive distribution.
    PriorPredictive,
    /// Everything: they are the data of the setting.
    Given,
}

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
}

/// The exact error of `variant`; `None` as for [`predictive_error::over_all_data`].
pub fn accuracy(
    variant: &Variant,
    setting: &Setting,
    data: Data,
    tuning: &TuningCache,
) -> Result<Option<Accuracy>, Refusal> {
    let variant = &tuning.tune(variant, setting)?.variant;
    let metric = Metric::from_distance(setting.distance);
    let (mean, law) = match data {
        Data::PriorPredictive => {
            let errors = predictive_error::over_all_data(variant, setting, metric)?;
            (errors.map(|errors| errors.mean), predictive_error::distribution(variant, setting)?)
        }
        Data::Given => (
            predictive_error::mean_at(variant, setting, metric)?,
            predictive_error::distribution_at(variant, setting)?,
        ),
    };
    Ok(mean.zip(law.as_ref()).map(|(mean, law)| Accuracy::new(mean, law)))
}

/// The least ε from which on the mean error is at most the wanted one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LeastEpsilon {
    /// This ε, rounded up to four digits, and the accuracy there.
    At(Epsilon, Accuracy),
    /// [`SMALLEST`] is more than enough.
    Any,
    /// [`LARGEST`] is not enough.
    None,
}

/// The smallest ε that is tried.
pub const SMALLEST: f64 = 1e-4;
/// The largest ε that is tried.
pub const LARGEST: f64 = 1e4;

/// Finds the least ε from which on the mean error of `variant` is at most `error`.
///
/// The search divides [`LARGEST`] by four as long as the error is small enough, and then bisects the
/// logarithm of ε. It comes from above because errors need not fall as ε grows: at a small ε an output
/// hardly depends on the data, and may be near one data set by chance.
pub fn least_epsilon(
    variant: &Variant,
    setting: &Setting,
    data: Data,
    error: f64,
    tuning: &TuningCache,
) -> Result<LeastEpsilon, Refusal> {
    let at = |epsilon: f64| -> Result<Option<(Epsilon, Accuracy)>, Refusal> {
        let epsilon = Epsilon::new(epsilon)?;
        let found = accuracy(variant, &Setting { epsilon, ..setting.clone() }, data, tuning)?;
        Ok(found.filter(|found| found.mean <= error).map(|found| (epsilon, found)))
    };
    let mut high = LARGEST;
    if at(high)?.is_none() {
        return Ok(LeastEpsilon::None);
    }
    let mut low = 0.25 * high;
    while at(low)?.is_some() {
        if low <= SMALLEST {
            return Ok(LeastEpsilon::Any);
        }
        (low, high) = ((0.25 * low).max(SMALLEST), low);
    }
    while high > low * (1.0 + 1e-5) {
        let middle = (low * high).sqrt();
        if at(middle)?.is_some() { high = middle } else { low = middle }
    }
    let mut rounded = round_up(low);
    loop {
        if let Some((epsilon, found)) = at(rounded)? {
            return Ok(LeastEpsilon::At(epsilon, found));
        }
        rounded = round_up(rounded * (1.0 + 2e-4));
    }
}

/// The next number of four digits, at least `value`.
fn round_up(value: f64) -> f64 {
    let digits = 3 - libm::floor(libm::log10(value)) as i32;
    let unit = libm::pow(10.0, f64::from(digits.abs()));
    if digits >= 0 { (value * unit).ceil() / unit } else { (value / unit).ceil() * unit }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_digits_upwards() {
        for (value, rounded) in [(0.123_41, 0.1235), (12_345.0, 12_350.0), (1.0, 1.0), (5e-5, 5e-5)]
        {
            assert_eq!(round_up(value), rounded);
        }
    }
}
