//! The least ε from which on a mechanism is accurate enough.

use super::{Accuracy, Data, accuracy, mean_error};
use crate::analysis::tuning::TuningCache;
use crate::mechanism::Variant;
use crate::posterior::privacy::Epsilon;
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

/// The least ε from which on the mean error is at most the wanted one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LeastEpsilon {
    /// This ε, rounded up to four digits, and the accuracy there.
    At(Epsilon, Accuracy),
    /// [`SMALLEST`] is more than enough.
    Any,
    /// [`LARGEST`] is not enough.
    None,
    /// Not found: an ε that had to be tried was not admitted.
    TooCostly,
    /// Not found: at an ε that had to be tried, the law is too large or the error too steep.
    Unknown,
}

/// Why a search ended early.
enum Stopped {
    TooCostly,
    Unknown,
    Refused(Refusal),
}

impl From<Refusal> for Stopped {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

/// The smallest ε that is tried.
pub const SMALLEST: f64 = 1e-4;
/// The largest ε that is tried.
pub const LARGEST: f64 = 1e4;
/// About how many values of ε a search tries.
pub const TRIED: f64 = 25.0;

/// The bisection ends when ε is known to one part in so many.
const RESOLUTION: f64 = 1e-6;

/// About the ε at which a mean error is `error`: noise of 1/ε records moves a posterior of n records, whose
/// spread is of the order of its root, by that much. Only costs are predicted by it.
pub fn likely_epsilon(setting: &Setting, error: f64) -> Epsilon {
    let posterior = &setting.posterior;
    let records = posterior.n() as f64 + posterior.prior().total();
    let epsilon = (posterior.k() as f64 - 1.0).max(1.0).sqrt() / (error * records.sqrt());
    Epsilon::new(epsilon.clamp(SMALLEST, LARGEST)).unwrap_or(setting.epsilon)
}

/// Why no least ε is looked for: a bisection finds it only if the error falls as ε grows.
///
/// The error of an exponential mechanism does: its derivative in the rate is a negative variance. Noise moves
/// a count the less the larger ε is. A remapping does the best on average over the data sets that the prior
/// expects; at one of them it may be right by chance, the more so the smaller ε is, and every time that the
/// map changes, its error there jumps up or down.
pub fn refusal(variant: &Variant, data: Data) -> Option<Refusal> {
    (variant.options.remap && data == Data::Given).then(|| {
        Refusal::new(
            format!(
                "no least ε is looked for `{}` at given data: the error of a remapped mechanism there need not \
                 fall as ε grows",
                variant.label
            ),
            "give the number of records instead of the data, or ε instead of the error, or leave +remap out",
        )
    })
}

/// Finds the least ε, from [`SMALLEST`] to [`LARGEST`], from which on the mean error of `variant` is
/// at most `error`. It is right to its four digits if the error does not rise with ε: the search divides by
/// four from above and bisects. The ε that is returned was tried in any case.
///
/// Every setting is tried only if `admits` allows it: laws may be much larger at a small ε than at the one
/// that is found.
pub fn least_epsilon(
    variant: &Variant,
    setting: &Setting,
    data: Data,
    error: f64,
    tuning: &TuningCache,
    admits: &dyn Fn(&Setting) -> bool,
) -> Result<LeastEpsilon, Refusal> {
    if let Some(refusal) = refusal(variant, data) {
        return Err(refusal);
    }
    match (Tries { variant, setting, data, error, tuning, admits }).search() {
        Ok(found) => Ok(found),
        Err(Stopped::TooCostly) => Ok(LeastEpsilon::TooCostly),
        Err(Stopped::Unknown) => Ok(LeastEpsilon::Unknown),
        Err(Stopped::Refused(refusal)) => Err(refusal),
    }
}

/// The search for one mechanism.
struct Tries<'a> {
    variant: &'a Variant,
    setting: &'a Setting,
    data: Data,
    error: f64,
    tuning: &'a TuningCache,
    admits: &'a dyn Fn(&Setting) -> bool,
}

impl Tries<'_> {
    fn at(&self, epsilon: f64) -> Result<Setting, Refusal> {
        Ok(Setting { epsilon: Epsilon::new(epsilon)?, ..self.setting.clone() })
    }

    fn is_enough(&self, epsilon: f64) -> Result<bool, Stopped> {
        let setting = self.at(epsilon)?;
        if !(self.admits)(&setting) {
            return Err(Stopped::TooCostly);
        }
        let variant = &self.tuning.tune(self.variant, &setting)?.variant;
        let mean = mean_error(variant, &setting, self.data)?;
        Ok(mean.ok_or(Stopped::Unknown)? <= self.error)
    }

    fn search(&self) -> Result<LeastEpsilon, Stopped> {
        if !self.is_enough(LARGEST)? {
            return Ok(LeastEpsilon::None);
        }
        let Some(too_small) = self.bisect()? else { return Ok(LeastEpsilon::Any) };
        let mut rounded = next_above(too_small);
        while !self.is_enough(rounded)? {
            rounded = next_above(rounded);
        }
        let setting = self.at(rounded)?;
        let there = accuracy(self.variant, &setting, self.data, self.tuning)?;
        // A mean was found, so the rest is found as well.
        Ok(there.map_or(LeastEpsilon::None, |there| LeastEpsilon::At(setting.epsilon, there)))
    }

    /// The largest ε that is too small; none if [`SMALLEST`] is enough.
    fn bisect(&self) -> Result<Option<f64>, Stopped> {
        let mut high = LARGEST;
        let mut low = 0.25 * high;
        while self.is_enough(low)? {
            if low <= SMALLEST {
                return Ok(None);
            }
            (low, high) = ((0.25 * low).max(SMALLEST), low);
        }
        while high > low * (1.0 + RESOLUTION) {
            let middle = (low * high).sqrt();
            if self.is_enough(middle)? { high = middle } else { low = middle }
        }
        Ok(Some(low))
    }
}

/// The next number of four digits above `value`, as it would be typed.
fn next_above(value: f64) -> f64 {
    let place = libm::floor(libm::log10(value)) as i32 - 3;
    let typed = |digits: f64| format!("{digits:.0}e{place}").parse().unwrap_or(value);
    let unit = libm::pow(10.0, f64::from(place));
    let mut digits = (value / unit).floor() - 1.0;
    let mut next: f64 = typed(digits);
    while next <= value {
        digits += 1.0;
        next = typed(digits);
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism;
    use crate::posterior::model::Prior;

    #[test]
    fn four_digits_upwards_and_none_is_skipped() {
        for (value, next) in
            [(0.123_41, 0.1235), (12_345.0, 12_350.0), (1.0, 1.001), (5e-5, 5.001e-5)]
        {
            assert_eq!(next_above(value), next);
        }
        let mut value = 0.9;
        for step in 1..=2000 {
            value = next_above(value);
            let expected =
                if step <= 1000 { 0.9 + 1e-4 * f64::from(step) } else { f64::from(step) * 1e-3 };
            assert!((value - expected).abs() < 1e-12, "{step}: {value} {expected}");
        }
    }

    #[test]
    fn a_search_tries_only_what_is_admitted() {
        let prior = Prior::new(vec![1.0, 1.0]).unwrap();
        let setting = Setting::new(prior, vec![5, 5], Epsilon::new(1.0).unwrap());
        let remapped = Variant::tuned(mechanism::find("geometric").unwrap(), false, true);
        let search = |data: Data, least: f64| {
            let admits = |tried: &Setting| tried.epsilon.get() >= least;
            least_epsilon(&remapped, &setting, data, 0.3, &TuningCache::default(), &admits)
        };
        assert!(matches!(search(Data::PriorPredictive, 0.0), Ok(LeastEpsilon::At(..))));
        assert_eq!(search(Data::PriorPredictive, 100.0), Ok(LeastEpsilon::TooCostly));
        let refusal = search(Data::Given, 0.0).unwrap_err();
        assert!(refusal.cause.contains("need not fall as ε grows"), "{refusal:?}");
    }
}
