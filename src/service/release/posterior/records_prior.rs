//! What is believed of an unknown number of records.

use std::fmt;
use std::str::FromStr;

/// The largest number of records.
pub const MOST_RECORDS: u64 = 1_000_000_000_000;

/// The law of the number of records before the release.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RecordsPrior {
    /// All numbers are equally likely, up to a bound if there is one.
    Flat(Option<u64>),
    /// Negative binomial with this mean; its shape is the sum of the prior's parameters, so that the counts of the
    /// cells are independent.
    NegativeBinomial(f64),
}

/// How a law is written.
pub const RECORDS_PRIORS: &str = "use flat, flat:MOST or negative-binomial:MEAN";

const FLAT: &str = "flat";
const NEGATIVE_BINOMIAL: &str = "negative-binomial";

impl Default for RecordsPrior {
    fn default() -> Self {
        Self::Flat(None)
    }
}

impl RecordsPrior {
    /// The number of records that is expected, if there is one.
    pub fn expected(&self) -> Option<u64> {
        match self {
            Self::Flat(_) => None,
            Self::NegativeBinomial(mean) => Some(mean.round() as u64),
        }
    }
}

impl fmt::Display for RecordsPrior {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flat(None) => f.write_str(FLAT),
            Self::Flat(Some(most)) => write!(f, "{FLAT}:{most}"),
            Self::NegativeBinomial(mean) => write!(f, "{NEGATIVE_BINOMIAL}:{mean}"),
        }
    }
}

impl FromStr for RecordsPrior {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = match text.split_once(':') {
            Some((name, value)) => (name.trim(), Some(value.trim())),
            None => (text.trim(), None),
        };
        match (name, value) {
            (FLAT, None) => Ok(Self::Flat(None)),
            (FLAT, Some(most)) => match most.parse::<u64>() {
                Ok(most) if (1..=MOST_RECORDS).contains(&most) => Ok(Self::Flat(Some(most))),
                _ => Err(format!("`{most}` is no number of records")),
            },
            (NEGATIVE_BINOMIAL, Some(mean)) => match mean.parse::<f64>() {
                Ok(mean) if mean > 0.0 && mean < 1e15 => Ok(Self::NegativeBinomial(mean)),
                _ => Err(format!("`{mean}` is no mean of the number of records")),
            },
            _ => Err(format!("`{text}` is no law of the number of records")),
        }
    }
}
