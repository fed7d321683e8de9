//! Privacy parameters and the guarantees stated for a mechanism.

use std::fmt;

use crate::refusal::Refusal;

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
    ($type:ident, $valid:expr, $range:literal, $example:literal) => {
        impl $type {
            pub fn new(value: f64) -> Result<Self, Refusal> {
                let valid: fn(f64) -> bool = $valid;
                if value.is_finite() && valid(value) {
                    return Ok(Self(value));
                }
                let name = stringify!($type).to_lowercase();
                let cause = format!("{name} is {value:?}, but it must lie {}", $range);
                Err(Refusal::new(cause, concat!("use for example ", $example)))
            }

            pub fn get(self) -> f64 {
                self.0
            }
        }
    };
}

// Beyond 1e-100 and 1e100 doubles overflow on the way.
checked_number!(
    Epsilon,
    |value| (1e-100..=1e100).contains(&value),
    "between 1e-100 and 1e100",
    "1.0"
);
checked_number!(Delta, |value| value > 0.0 && value < 1.0, "strictly between 0 and 1", "1e-8");
checked_number!(Gamma, |value| (0.0..=1e100).contains(&value), "between 0 and 1e100", "1");

impl Gamma {
    /// The γ where none is asked for.
    pub const USUAL: Self = Self(1.0);
}

/// What is known about a mechanism's privacy: what the documents prove, or what was computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Guarantee {
    /// Pure differential privacy with this ε.
    Pure(f64),
    /// The same, by exhaustive computation over all data sets and outputs.
    Computed(f64),
    /// (ε, δ), proved.
    Approximate(f64, f64),
    /// (ε, δ), claimed by a proof that is incomplete.
    Claimed(f64, f64),
    /// None: a benchmark.
    None,
    /// Nothing is known before it is computed: a mechanism of the user's own.
    Unstated,
}

impl Guarantee {
    /// Whether it is proved or computed privacy with at most this ε and at most this δ, if one is allowed. A
    /// guarantee that was found by a search may miss it by its last digits.
    pub fn is_within(self, epsilon: f64, delta: Option<Delta>) -> bool {
        match (self, delta) {
            (Self::Approximate(own, left), Some(delta)) => own <= epsilon && left <= delta.get(),
            (Self::Pure(own) | Self::Computed(own), _) => own <= epsilon * (1.0 + 1e-9),
            _ => false,
        }
    }

    /// Whether anything is stated at all.
    pub fn is_private(self) -> bool {
        !matches!(self, Self::None | Self::Unstated)
    }
}

/// A number without a needless ".0" or a hundred zeros.
pub fn compact(value: &f64) -> String {
    format!("{value:?}").trim_end_matches(".0").to_owned()
}

/// A product or quotient of typed numbers without its rounding error: the number of at most 15 digits
/// that is next, if it is no further than rounding can lead.
fn without_rounding(value: f64) -> f64 {
    let typed: f64 = format!("{value:.14e}").parse().unwrap_or(value);
    if (typed - value).abs() <= 4.0 * f64::EPSILON * value.abs() { typed } else { value }
}

impl fmt::Display for Guarantee {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let epsilon = |epsilon: &f64| compact(&without_rounding(*epsilon));
        match self {
            Self::Pure(own) => write!(f, "{}-private", epsilon(own)),
            Self::Computed(own) => write!(f, "{}-private, computed", epsilon(own)),
            Self::Approximate(own, delta) => {
                write!(f, "({}, {})-private", epsilon(own), compact(delta))
            }
            Self::Claimed(own, delta) => {
                write!(f, "({}, {}) claimed", epsilon(own), compact(delta))
            }
            Self::None => f.write_str("not private"),
            Self::Unstated => f.write_str("none stated"),
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

    #[test]
    fn guarantees_have_no_rounding_errors_and_keep_their_digits() {
        for (value, text) in [
            (0.1 * 3.0 / 3.0, "0.1-private"),
            (0.1 + 0.2, "0.3-private"),
            (0.7 * 2.0 * 1.1 / 2.2, "0.7-private"),
            (1.0 / 3.0, "0.3333333333333333-private"),
            (0.123_456_789_012_345_6, "0.1234567890123456-private"),
            (2.0, "2-private"),
            (1e-100, "1e-100-private"),
            (1e100, "1e100-private"),
        ] {
            assert_eq!(Guarantee::Pure(value).to_string(), text, "{value:?}");
        }
        for i in 1..2000 {
            // What is printed is the number, but for its last digits.
            let value = libm::exp(0.01 * f64::from(i) - 10.0);
            let text = Guarantee::Computed(value).to_string();
            let printed: f64 = text.trim_end_matches("-private, computed").parse().unwrap();
            assert!((printed / value - 1.0).abs() < 1e-15, "{value} {text}");
        }
    }

    #[test]
    fn a_delta_counts_only_where_one_is_allowed() {
        let stated = Guarantee::Approximate(1.0, 1e-6);
        assert_eq!(stated.to_string(), "(1, 1e-6)-private");
        let within = |epsilon, delta: f64| stated.is_within(epsilon, Delta::new(delta).ok());
        assert!(within(1.0, 1e-6) && !within(1.0, 1e-7) && !within(0.9, 1e-6));
        assert!(!stated.is_within(1.0, None));
        assert!(Guarantee::Pure(1.0).is_within(1.0, None));
        assert!(!Guarantee::Claimed(1.0, 1e-6).is_within(1.0, Delta::new(0.5).ok()));
    }
}
