//! What the releases of a ledger have spent together, and whether that keeps the budget.

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::entry::{optional_text, text};
use super::{Amount, Entry};
use engine::analysis::composition::Composition;
use engine::posterior::privacy::Delta;
use system::console::short;

/// What all releases in a ledger may spend: the sum of their ε must not exceed `epsilon`, or, if there is
/// a δ, the exact composition must have at most this δ at `epsilon`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    pub epsilon: Amount,
    pub delta: Option<Delta>,
}

impl Budget {
    /// Whether every ledger that keeps this budget keeps the other one.
    pub(super) fn is_within(self, other: Self) -> bool {
        let delta = |budget: Self| budget.delta.map_or(0.0, Delta::get);
        self.epsilon <= other.epsilon && delta(self) <= delta(other)
    }
}

/// Which of both keeps the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// The sum of all ε, and nothing else was asked for or computed.
    BySum,
    /// The exact composition. The sum is larger than the budget.
    ByComposition,
    ByBoth,
}

impl Kept {
    /// What keeps it, as the end of a sentence.
    pub fn words(self) -> &'static str {
        match self {
            Self::BySum => "by the sum",
            Self::ByComposition => "by the exact composition, not by the sum",
            Self::ByBoth => "by the sum and by the exact composition",
        }
    }
}

/// The state of a ledger.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Ledger")]
pub struct Account {
    /// Releases entered so far.
    pub releases: usize,
    /// Whether ε is about one record more or less, because their number is private. Otherwise it is about one that
    /// is replaced. None if the first entry was cut short, so that nobody can read it.
    pub private_n: Option<bool>,
    /// Their ε together, a decimal number.
    // It is not said whether a file is the same as an earlier one: that would be an exact answer to a
    // question about its records.
    #[serde(rename = "spent", serialize_with = "text::serialize")]
    #[schemars(with = "String")]
    pub total: Amount,
    #[serde(serialize_with = "optional_text::serialize")]
    #[schemars(with = "Option<String>")]
    pub budget: Option<Amount>,
    /// The δ of the budget.
    #[serde(serialize_with = "number")]
    #[schemars(with = "Option<f64>")]
    pub delta: Option<Delta>,
    /// δ of the exact composition at the budget's ε.
    #[serde(rename = "composed_delta")]
    pub composed: Option<f64>,
    /// What keeps the budget.
    #[serde(serialize_with = "words")]
    #[schemars(with = "Option<&'static str>")]
    pub kept: Option<Kept>,
}

fn number<S: Serializer>(delta: &Option<Delta>, to: S) -> Result<S::Ok, S::Error> {
    delta.map(Delta::get).serialize(to)
}

fn words<S: Serializer>(kept: &Option<Kept>, to: S) -> Result<S::Ok, S::Error> {
    kept.map(Kept::words).serialize(to)
}

impl Account {
    /// The account of these entries.
    pub fn new<'a>(entries: impl IntoIterator<Item = &'a Entry>, budget: Option<Budget>) -> Self {
        let entries: Vec<&Entry> = entries.into_iter().collect();
        let total: Amount = entries.iter().map(|entry| entry.epsilon).sum();
        let delta = budget.and_then(|budget| budget.delta);
        let composed = budget
            .filter(|budget| budget.delta.is_some())
            .map(|budget| compose(entries.iter().copied()).delta(budget.epsilon));
        let by_composition = composed.zip(delta).map(|(composed, delta)| composed <= delta.get());
        let kept = budget.and_then(|budget| match (total <= budget.epsilon, by_composition) {
            (true, Some(true)) => Some(Kept::ByBoth),
            (true, _) => Some(Kept::BySum),
            (false, Some(true)) => Some(Kept::ByComposition),
            (false, _) => None,
        });
        Self {
            releases: entries.iter().map(|entry| entry.releases()).sum(),
            private_n: entries.first().map_or(Some(false), |first| first.private_n()),
            total,
            budget: budget.map(|budget| budget.epsilon),
            delta,
            composed,
            kept,
        }
    }

    /// Whether there is a budget, and it is exceeded.
    pub fn is_exceeded(&self) -> bool {
        self.budget.is_some() && self.kept.is_none()
    }

    /// What was spent, in a sentence.
    pub fn words(&self) -> String {
        let Self { releases, private_n, total, budget, delta, composed, kept } = self;
        let of = budget.map_or(String::new(), |budget| format!(" of {budget}"));
        let sum = if *releases == 1 { "" } else { ", their sum" };
        let mut words = format!("ε = {total}{of} spent {}{sum}", in_releases(*releases));
        if let (Some(budget), Some(delta), Some(composed)) = (budget, delta, composed) {
            words += &format!(
                "; by exact composition δ is {} at ε = {budget}, and {:?} is allowed",
                short(*composed),
                delta.get(),
            );
            words += &kept.map_or(String::new(), |kept| format!(": kept {}", kept.words()));
        }
        if *private_n == Some(true) {
            words += " (for one record more or less)";
        }
        words
    }
}

/// The exact composition of all releases of these entries.
pub fn compose<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Composition {
    let releases: Vec<_> = entries.into_iter().flat_map(Entry::profiles).collect();
    Composition::new(&releases)
}

/// "in one release", "in 5 releases".
pub fn in_releases(count: usize) -> String {
    if count == 1 { "in one release".to_owned() } else { format!("in {count} releases") }
}
