//! Privacy parameters and the guarantees stated for a mechanism.

use std::fmt;

use crate::base::diagnostic::Refusal;

/// ε > 0, of reasonable size.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Epsilon(f64);

/// 0 < δ < 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Delta(f64);

/// γ >= 0, the slope of a γ-smooth sensitivity (icml §5.3).
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Gamma(f64);

macro_rules! checked_number {
    ($type:ident, $name:literal, $valid:expr, $range:literal, $example:literal) => {
        impl $type {
            /// Checks the range.
            pub fn new(value: f64) -> Result<Self, Refusal> {
                let valid: fn(f64) -> bool = $valid;
                if value.is_finite() && valid(value) {
                    return Ok(Self(value));
                }
                let cause = format!("{} is {value:?}, but it must lie {}", $name, $range);
                Err(Refusal::new(cause, concat!("use for example ", $example)))
            }

            /// The number.
            pub fn get(self) -> f64 {
                self.0
            }
        }
    };
}

// Beyond 1e-100 and 1e100 doubles overflow on the way.
checked_number!(
    Epsilon,
    "epsilon",
    |value| (1e-100..=1e100).contains(&value),
    "between 1e-100 and 1e100",
    "1.0"
);
checked_number!(
    Delta,
    "delta",
    |value| value > 0.0 && value < 1.0,
    "strictly between 0 and 1",
    "1e-8"
);
checked_number!(Gamma, "gamma", |value| (0.0..=1e100).contains(&value), "between 0 and 1e100", "1");

/// What is known about a mechanism's privacy: what the documents prove, or what was computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Guarantee {
    /// Pure differential privacy with this ε.
    Pure(f64),
    /// The same, by exhaustive computation over all data sets and outputs.
    Computed(f64),
    /// (ε, δ), claimed by a proof that is incomplete.
    Claimed(f64, f64),
    /// None: a benchmark.
    None,
}

impl Guarantee {
    /// Whether it is pure privacy (proved or computed) with at most this ε; a guarantee that was
    /// found by a search may miss it by its last digits.
    pub fn is_within(self, epsilon: f64) -> bool {
        match self {
            Self::Pure(own) | Self::Computed(own) => own <= epsilon * (1.0 + 1e-9),
            Self::Claimed(..) | Self::None => false,
        }
    }

    /// Whether anything is stated at all.
    pub fn is_private(self) -> bool {
        self != Self::None
    }
}

/// A number without a needless ".0" or a hundred zeros.
pub fn compact(value: &f64) -> String {
    format!("{value:?}").trim_end_matches(".0").to_owned()
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Pure(epsilon) => write!(f, "{}-private", compact(epsilon)),
            Self::Computed(epsilon) => write!(f, "{}-private, computed", compact(epsilon)),
            Self::Claimed(epsilon, delta) => {
                write!(f, "({}, {}) claimed", compact(epsilon), compact(delta))
            }
            Self::None => f.write_str("not private"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_checked() {
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Epsilon::new(bad).is_err());
        }
        for bad in [0.0, 1.0, -0.1, f64::NAN] {
            assert!(Delta::new(bad).is_err());
        }
        assert!(Gamma::new(0.0).is_ok() && Gamma::new(-1e-9).is_err());
    }
}
