//! The least ε from which on a mechanism is accurate enough.

use super::Data;
use crate::mechanism::Variant;
use crate::numeric::typed_around;
use crate::posterior::privacy::Epsilon;
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

/// The least ε from which on the mean error is at most the wanted one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LeastEpsilon {
    /// This ε, rounded up to four digits.
    At(f64),
    /// [`SMALLEST`] is more than enough.
    Any,
    /// [`LARGEST`] is not enough.
    None,
}

/// Why a search ended early.
#[derive(Clone, Debug, PartialEq)]
pub enum Stopped {
    /// An ε that had to be tried was not admitted: laws may be much larger at a small ε than at the one that is found.
    TooCostly,
    /// At an ε that had to be tried, the law is too large or the error too steep.
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
    let records = setting.n as f64 + setting.prior.total();
    let epsilon = (setting.k() as f64 - 1.0).max(1.0).sqrt() / (error * records.sqrt());
    Epsilon::new(epsilon.clamp(SMALLEST, LARGEST)).unwrap_or(setting.epsilon)
}

/// Why no least ε is looked for: a bisection finds it only if the error falls as ε grows.
///
/// The error of an exponential mechanism does: its derivative in the rate is a negative variance. Noise moves
/// a count the less the larger ε is. A remapping does the best on average over the data sets that the prior
/// expects; at one of them it may be right by chance, the more so the smaller ε is, and every time that the
/// map changes, its error there jumps up or down.
pub fn refusal(variant: &Variant, data: &Data) -> Option<Refusal> {
    (variant.options.remap && *data != Data::PriorPredictive).then(|| {
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

/// Finds the least ε, from [`SMALLEST`] to [`LARGEST`], from which on the mean error `is_enough`. It is right to its
/// four digits if the error does not rise with ε: the search divides by four from above and bisects. The ε that is
/// returned was tried in any case.
pub fn least_epsilon(
    is_enough: impl Fn(f64) -> Result<bool, Stopped>,
) -> Result<LeastEpsilon, Stopped> {
    if !is_enough(LARGEST)? {
        return Ok(LeastEpsilon::None);
    }
    let (mut low, mut high) = (0.25 * LARGEST, LARGEST);
    while is_enough(low)? {
        if low <= SMALLEST {
            return Ok(LeastEpsilon::Any);
        }
        (low, high) = ((0.25 * low).max(SMALLEST), low);
    }
    while high > low * (1.0 + RESOLUTION) {
        let middle = (low * high).sqrt();
        if is_enough(middle)? { high = middle } else { low = middle }
    }
    let mut rounded = typed_around(low, 4).1;
    while !is_enough(rounded)? {
        rounded = typed_around(rounded, 4).1;
    }
    Ok(LeastEpsilon::At(rounded))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_is_found_or_the_search_stops() {
        let from = |least: f64| least_epsilon(|epsilon| Ok(epsilon >= least));
        assert_eq!(from(0.123_42), Ok(LeastEpsilon::At(0.1235)));
        assert_eq!(from(0.1 * SMALLEST), Ok(LeastEpsilon::Any));
        assert_eq!(from(2.0 * LARGEST), Ok(LeastEpsilon::None));
        let costly =
            |epsilon: f64| if epsilon < 100.0 { Err(Stopped::TooCostly) } else { Ok(true) };
        assert_eq!(least_epsilon(costly), Err(Stopped::TooCostly));
    }
}
