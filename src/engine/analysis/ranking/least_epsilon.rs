//! The least ε from which on a mechanism is accurate enough.

use super::Data;
use crate::mechanism::Mechanism;
use crate::numeric::{ln, typed_around};
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
pub const TRIED: f64 = 10.0;

/// About the ε at which a mean error is `error`: noise of 1/ε records moves a posterior of n records, whose
/// spread is of the order of its root, by that much. Only costs are predicted by it.
pub fn likely_epsilon(setting: &Setting, error: f64) -> Epsilon {
    let records = setting.n as f64 + setting.prior.total();
    let epsilon = (setting.k() as f64 - 1.0).max(1.0).sqrt() / (error * records.sqrt());
    Epsilon::new(epsilon.clamp(SMALLEST, LARGEST)).unwrap_or(setting.epsilon)
}

/// Why no least ε is looked for: a search finds it only if the error falls as ε grows.
///
/// The error of an exponential mechanism does: its derivative in the rate is a negative variance. Noise moves
/// a count the less the larger ε is. A remapping does the best on average over the data sets that the prior
/// expects; at one of them it may be right by chance, the more so the smaller ε is, and every time that the
/// map changes, its error there jumps up or down.
pub fn refusal(variant: &Mechanism, data: &Data) -> Option<Refusal> {
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

/// Finds the least ε of four digits, from [`SMALLEST`] to [`LARGEST`], from which on the mean error is at most
/// `wanted`. It is right if the error does not rise with ε. The search begins at the `likely` one; the ε that is
/// returned was tried, and the one below it, too.
pub fn least_epsilon(
    wanted: f64,
    likely: f64,
    mean_error: impl Fn(f64) -> Result<f64, Stopped>,
) -> Result<LeastEpsilon, Stopped> {
    // By how much it is too large; at most 0 if ε is enough.
    let excess = |epsilon: f64| Ok::<f64, Stopped>(ln(mean_error(epsilon)? / wanted));
    let mut high = (LARGEST, excess(LARGEST)?);
    if high.1 > 0.0 {
        return Ok(LeastEpsilon::None);
    }
    let mut tried = likely;
    let mut low = loop {
        let epsilon = typed_around(tried, DIGITS).0;
        let here = (epsilon, excess(epsilon)?);
        if here.1 > 0.0 {
            break here;
        }
        if epsilon <= SMALLEST {
            return Ok(LeastEpsilon::Any);
        }
        (tried, high) = ((0.25 * epsilon).max(SMALLEST), here);
    };
    // The secant of the logarithms. If one end moves twice, the other counts half (the Illinois method). As long as
    // the ends are far apart, a step by a factor.
    let mut last_moved = None;
    loop {
        let (above, below) = (next(low.0), typed_around(high.0 * (1.0 - 1e-6), DIGITS).0);
        if above >= high.0 {
            return Ok(LeastEpsilon::At(high.0));
        }
        let part = low.1 / (low.1 - high.1);
        let guess = match part.is_finite() && part > 0.0 {
            _ if high.0 > 16.0 * low.0 => 4.0 * low.0,
            true => low.0 * libm::pow(high.0 / low.0, part),
            false => (low.0 * high.0).sqrt(),
        };
        let epsilon = typed_around(guess, DIGITS).1.clamp(above, below);
        let excess = excess(epsilon)?;
        let is_low = excess > 0.0;
        let (moved, stays) = if is_low { (&mut low, &mut high) } else { (&mut high, &mut low) };
        *moved = (epsilon, excess);
        if last_moved.replace(is_low) == Some(is_low) {
            stays.1 *= 0.5;
        }
    }
}

/// The number of digits after which a larger ε follows.
const DIGITS: usize = 4;

fn next(epsilon: f64) -> f64 {
    typed_around(epsilon, DIGITS).1
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// Steep and flat errors, with a jump, and with ends at which they are 0 or infinite.
    #[test]
    fn the_least_is_found_in_few_steps() {
        let errors: [fn(f64) -> f64; 4] = [
            |ratio| ratio.recip(),
            |ratio| libm::exp(1.0 - ratio),
            |ratio| if ratio > 1.0 { 0.9 } else { f64::INFINITY },
            |ratio| (2.0 - ratio).max(0.0).powi(9),
        ];
        for (index, error) in errors.iter().enumerate() {
            for least in [0.000_234_5, 0.123_45, 1.0, 77.7, 5432.1] {
                for likely in [0.5 * least, least, 40.0 * least] {
                    let tried = Cell::new(0);
                    let mean_error = |epsilon: f64| {
                        tried.set(tried.get() + 1);
                        Ok(0.3 * error(epsilon / least))
                    };
                    let found = least_epsilon(0.3, likely.clamp(SMALLEST, LARGEST), mean_error);
                    let (equal, above) = typed_around(least, DIGITS);
                    let expected = if error(equal / least) <= 1.0 { equal } else { above };
                    assert_eq!(found, Ok(LeastEpsilon::At(expected)), "{index} {least} {likely}");
                    assert!(tried.get() <= 24, "{index} {least} {likely}: {}", tried.get());
                }
            }
        }
    }

    #[test]
    fn the_search_ends_at_its_limits() {
        let from = |least: f64| least_epsilon(1.0, 0.1, |epsilon| Ok(least / epsilon));
        assert_eq!(from(0.1 * SMALLEST), Ok(LeastEpsilon::Any));
        assert_eq!(from(2.0 * LARGEST), Ok(LeastEpsilon::None));
        let costly = |epsilon: f64| if epsilon < 1.0 { Err(Stopped::TooCostly) } else { Ok(0.5) };
        assert_eq!(least_epsilon(1.0, 0.1, costly), Err(Stopped::TooCostly));
    }
}
