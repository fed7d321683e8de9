//! The names that an expression of a user's own mechanism may use.

use crate::expression::{Names, Symbol};
use crate::posterior::privacy;
use crate::refusal::Refusal;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Name {
    /// The distance between the posteriors of the data and of the candidate.
    H,
    /// Half of `l1`: between data sets of one size the number of moved records.
    D,
    /// Σ |r_i − x_i|.
    L1,
    /// (Σ (r_i − x_i)²)^½.
    L2,
    T,
    N,
    /// The number of categories.
    K,
    Epsilon,
    Delta,
    Gamma,
    /// LS(x).
    Local,
    /// GS.
    Global,
    /// S_γ(x).
    Smooth,
    /// S_β(x).
    SmoothBeta,
    /// The count of one category.
    X(usize),
    /// The candidate's count of one category.
    R(usize),
    /// The prior's parameter of one category.
    Alpha(usize),
}

/// The names that stand for one number.
const SINGLE: [(&str, Name); 14] = [
    ("H", Name::H),
    ("d", Name::D),
    ("l1", Name::L1),
    ("l2", Name::L2),
    ("t", Name::T),
    ("n", Name::N),
    ("k", Name::K),
    ("epsilon", Name::Epsilon),
    ("delta", Name::Delta),
    ("gamma", Name::Gamma),
    ("LS", Name::Local),
    ("GS", Name::Global),
    ("S", Name::Smooth),
    ("S_beta", Name::SmoothBeta),
];

/// The name of one category, by its place.
type OfCategory = fn(usize) -> Name;

/// The names that have one number for every category, counted from 1.
const INDEXED: [(&str, OfCategory); 3] = [("x", Name::X), ("r", Name::R), ("alpha", Name::Alpha)];

impl Name {
    /// The name that is written so.
    pub fn find(text: &str) -> Option<Self> {
        if let Some((_, name)) = SINGLE.iter().find(|(single, _)| *single == text) {
            return Some(*name);
        }
        INDEXED.iter().find_map(|(prefix, name)| {
            let digits = text.strip_prefix(prefix)?;
            let plain = !digits.starts_with('0') && digits.chars().all(|c| c.is_ascii_digit());
            let number: usize = digits.parse().ok().filter(|_| plain)?;
            (number <= MOST_INDEXED).then(|| name(number - 1))
        })
    }

    /// The category that it belongs to.
    pub fn category(self) -> Option<usize> {
        match self {
            Self::X(i) | Self::R(i) | Self::Alpha(i) => Some(i),
            _ => None,
        }
    }

    /// Whether its number differs between candidates.
    pub fn differs_between_candidates(self) -> bool {
        matches!(self, Self::H | Self::D | Self::L1 | Self::L2 | Self::R(_))
    }
}

/// The largest index of a category that is read as one.
const MOST_INDEXED: usize = 1_000_000;

/// What an expression describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The logarithm of the weight of a candidate.
    Weights,
    /// The logarithm of the weight of noise.
    Noise,
}

impl Purpose {
    /// What an expression describes if nothing else tells: noise if it uses `t`, else weights of candidates.
    pub fn of(log_weight: &str) -> Self {
        let mut words = log_weight.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        if words.any(|word| word == "t") { Self::Noise } else { Self::Weights }
    }
}

/// A number that a definition gives a name to.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    pub name: String,
    pub value: f64,
}

/// A number with at most six digits, if these tell it.
pub fn compact(value: f64) -> String {
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    let near = (rounded - value).abs() <= 1e-9 * value.abs();
    privacy::compact(if near { &rounded } else { &value })
}

/// The names of one definition.
pub struct Vocabulary<'a> {
    pub purpose: Purpose,
    pub parameters: &'a [Parameter],
}

impl Vocabulary<'_> {
    /// What is wrong with an expression. A name that has a meaning, but not here, gets the reason.
    pub fn explained(&self, text: &str, fault: Refusal) -> Refusal {
        let name = fault.span.clone().and_then(|span| text.get(span)).unwrap_or_default();
        if Name::find(name).is_none_or(|known| self.has_meaning(known)) {
            return fault;
        }
        let (cause, remedy) = match self.purpose {
            Purpose::Weights => (
                format!("`{name}` is noise, and weights of candidates know none"),
                "use d, l1, l2, or differences such as r1 - x1".to_owned(),
            ),
            Purpose::Noise => (
                format!("noise cannot depend on `{name}`: its law must be the same at all data"),
                format!("use only {}, or leave out `t`", self.known().join(", ")),
            ),
        };
        Refusal { cause, remedy, ..fault }
    }

    fn has_meaning(&self, name: Name) -> bool {
        use Name::*;
        match self.purpose {
            Purpose::Weights => name != T,
            // It must be the same at all data.
            Purpose::Noise => matches!(name, T | N | K | Epsilon | Delta | Gamma | Global),
        }
    }
}

impl Names for Vocabulary<'_> {
    type Variable = Name;

    fn find(&self, name: &str) -> Option<Symbol<Name>> {
        if let Some(known) = Name::find(name) {
            return self.has_meaning(known).then_some(Symbol::Variable(known));
        }
        let parameter = self.parameters.iter().find(|parameter| parameter.name == name);
        parameter.map(|parameter| Symbol::Constant(parameter.value))
    }

    fn known(&self) -> Vec<String> {
        let single = SINGLE.iter().filter(|(_, name)| self.has_meaning(*name));
        let indexed = INDEXED.iter().filter(|(_, name)| self.has_meaning(name(0)));
        let indexed = indexed.flat_map(|(prefix, _)| [format!("{prefix}1"), format!("{prefix}2")]);
        let own = self.parameters.iter().map(|parameter| parameter.name.clone());
        single.map(|(text, _)| (*text).to_owned()).chain(indexed).chain(own).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart() {
        let mut seen = std::collections::BTreeSet::new();
        let indexed = ["x1", "r1", "alpha1", "x2", "r2", "alpha2", "x17", "alpha1000"];
        for text in SINGLE.iter().map(|(text, _)| *text).chain(indexed) {
            assert!(seen.insert(Name::find(text).unwrap()), "{text}");
        }
        for text in ["x", "x0", "x01", "x1000001", "r-1", "alpha", "h", "L1", "xx1", "x1.5"] {
            assert_eq!(Name::find(text), None, "{text}");
        }
    }

    #[test]
    fn noise_knows_nothing_of_the_data() {
        let names = Vocabulary { purpose: Purpose::Noise, parameters: &[] }.known();
        assert_eq!(names.join(" "), "t n k epsilon delta gamma GS");
    }

    #[test]
    fn an_expression_with_t_is_noise() {
        for noise in ["-epsilon*abs(t)/2", "-t^2", "-H*t", "min(t, 1", "whatever + t"] {
            assert_eq!(Purpose::of(noise), Purpose::Noise, "{noise}");
        }
        for weights in ["", "-epsilon*H", "sqrt(2)", "-delta", "-tt", "-t1", "sqrt(-"] {
            assert_eq!(Purpose::of(weights), Purpose::Weights, "{weights}");
        }
    }
}
