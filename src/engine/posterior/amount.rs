//! Exact decimal amounts of ε: ten releases of ε = 0.1 spend a budget of exactly 1.

use std::fmt;
use std::str::FromStr;

use crate::refusal::Refusal;

/// A decimal number of at least 0, in units of 10⁻¹⁸.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Amount(u128);

/// The number of digits after the decimal point.
const DIGITS: usize = 18;

/// One, in units.
const ONE: u128 = 10_u128.pow(DIGITS as u32);

/// The largest amount; a larger ε would protect nothing.
const LARGEST: u128 = 1_000_000 * ONE;

impl Amount {
    pub const ZERO: Self = Self(0);

    pub const fn whole(number: u32) -> Self {
        Self(number as u128 * ONE)
    }

    /// How many units there are in it.
    pub fn units(self) -> u128 {
        self.0
    }

    /// So many units; at most the largest amount.
    pub fn from_units(units: u128) -> Self {
        Self(units.min(LARGEST))
    }

    /// The numerator and denominator of a fraction, not reduced.
    pub fn fraction(self) -> (u128, u128) {
        (self.0, ONE)
    }

    pub fn to_f64(self) -> f64 {
        // Through text: both conversions are correctly rounded.
        self.to_string().parse().unwrap_or(f64::INFINITY)
    }

    /// A multiple of 10⁻⁹ that is not below `value`, and above it by at most two of these.
    pub fn ceiling(value: f64) -> Self {
        const STEPS: f64 = 1e9;
        if value.is_nan() || value <= 0.0 {
            return Self::ZERO;
        }
        // The product may have been rounded down.
        let steps = (value * STEPS * (1.0 + f64::EPSILON)).min(LARGEST as f64).ceil() as u128;
        Self::from_units(steps.saturating_mul(ONE / STEPS as u128))
    }

    /// The least amount of at most two significant digits that is not below `value`.
    pub fn round_up(value: f64) -> Self {
        if value.is_nan() || value <= 0.0 {
            return Self::ZERO;
        }
        let units = (value * ONE as f64).min(LARGEST as f64).ceil() as u128 + 1;
        let mut step = 1;
        while units / step >= 100 {
            step *= 10;
        }
        Self(units.div_ceil(step) * step)
    }
}

impl std::ops::Add for Amount {
    type Output = Self;

    /// The sum. One that is too large for 128 bits becomes the largest amount, beyond every budget.
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl std::iter::Sum for Amount {
    fn sum<I: Iterator<Item = Self>>(amounts: I) -> Self {
        amounts.fold(Self::ZERO, std::ops::Add::add)
    }
}

impl FromStr for Amount {
    type Err = Refusal;

    /// Reads `12`, `0.5`, `.5`, `1e-3` exactly, without conversion to a double.
    fn from_str(text: &str) -> Result<Self, Refusal> {
        let refused = |cause: &str| Refusal::new(cause, "use a decimal number, such as 0.5");
        let malformed = || refused("it is not a decimal number such as 0.5");
        let too_fine =
            || refused(&format!("it has more than {DIGITS} digits after the decimal point"));
        let out_of_range = || refused(&format!("it must lie between 0 and {}", LARGEST / ONE));
        let text = text.trim();
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => {
                (mantissa, exponent.parse::<i32>().map_err(|_| malformed())?)
            }
            None => (text, 0),
        };
        let mantissa = mantissa.strip_prefix('+').unwrap_or(mantissa);
        let (negative, mantissa) = match mantissa.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, mantissa),
        };
        let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{part}");
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(malformed());
        }
        let significant = digits.trim_start_matches('0').trim_end_matches('0');
        if significant.is_empty() {
            return Ok(Self::ZERO);
        }
        if negative {
            return Err(out_of_range());
        }
        // The number is `significant` times ten to this power.
        let zeros = digits.len() - digits.trim_end_matches('0').len();
        let power = i64::from(exponent) + zeros as i64 - part.len() as i64 + DIGITS as i64;
        let power = u32::try_from(power).map_err(|_| too_fine())?;
        let scale = 10_u128.checked_pow(power).ok_or_else(out_of_range)?;
        let value: u128 = significant.parse().map_err(|_| out_of_range())?;
        match value.checked_mul(scale) {
            Some(units) if units <= LARGEST => Ok(Self(units)),
            _ => Err(out_of_range()),
        }
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = format!("{:0width$}", self.0 % ONE, width = DIGITS);
        match part.trim_end_matches('0') {
            "" => write!(f, "{}", self.0 / ONE),
            part => write!(f, "{}.{part}", self.0 / ONE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(text: &str) -> Amount {
        text.parse().unwrap()
    }

    #[test]
    fn amounts_are_read_as_they_are_written() {
        let cause = |text: &str| text.parse::<Amount>().unwrap_err().cause;
        let texts = [
            ("1", "1"),
            ("0.1", "0.1"),
            (".5", "0.5"),
            ("2.", "2"),
            ("1e-3", "0.001"),
            ("12.50E1", "125"),
            ("1e6", "1000000"),
            ("0.000000000000000001", "0.000000000000000001"),
            ("10e-19", "0.000000000000000001"),
            ("0e-400", "0"),
            ("+3", "3"),
        ];
        for (text, shown) in texts {
            assert_eq!(amount(text).to_string(), shown, "{text}");
        }
        for text in ["", ".", "e3", "1e", "x", "1,5", "NaN", "inf", "1e-3x", "0x10", "1 2"] {
            assert!(cause(text).starts_with("it is not a decimal number"), "{text}");
        }
        assert!(cause("1e-19").starts_with("it has more than 18 digits"));
        for text in ["-1", "1000001", "1e300", "1e2147483647", "-0.1"] {
            assert_eq!(cause(text), "it must lie between 0 and 1000000", "{text}");
        }
    }

    #[test]
    fn sums_are_exact() {
        let tenths: Amount = std::iter::repeat_n(amount("0.1"), 10).sum();
        assert_eq!(tenths, amount("1"));
        assert!(amount("0.3") > amount("0.1") + amount("0.199999999999999999"));
        assert_eq!(amount("0.7").to_f64(), 0.7);
    }

    #[test]
    fn ceilings_are_not_below() {
        for (value, shown) in [(0.1, "0.1"), (1.0, "1"), (0.37412345678, "0.374123457"), (0.0, "0")]
        {
            let ceiling = Amount::ceiling(value);
            assert!(ceiling.to_f64() >= value && ceiling.to_f64() <= value + 2e-9, "{value}");
            assert!(ceiling.to_string().starts_with(&shown[..shown.len() - 1]), "{ceiling}");
        }
        assert_eq!(Amount::ceiling(f64::INFINITY), amount("1000000"));
    }

    #[test]
    fn prices_are_rounded_up() {
        for value in [1e-9, 3.217e-9, 0.999, 1e-17, 123.4, 2.5e-16] {
            let rounded = Amount::round_up(value).to_f64();
            assert!((value..=value * 1.1 + 1.1e-17).contains(&rounded), "{value} {rounded}");
        }
        assert_eq!(Amount::round_up(3.217e-9).to_string(), "0.0000000033");
        assert_eq!(Amount::round_up(0.0), Amount::ZERO);
        assert!(Amount::round_up(f64::INFINITY) >= amount("1000000"));
    }
}
