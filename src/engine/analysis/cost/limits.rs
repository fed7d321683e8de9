//! How much work a ranking of mechanisms may take.

use super::{Work, quickest};

/// What a ranking may take. The work is predicted, not measured: so the choice is the same on every
/// machine.
pub struct Limits {
    /// The most processor seconds for all mechanisms.
    pub seconds: f64,
    /// The most processor seconds for one mechanism.
    pub longest: f64,
    /// The most bytes for one mechanism.
    pub largest: f64,
}

/// The limits where a ranking is what was asked for.
pub const THOROUGH: Limits = Limits { seconds: 6.0, longest: f64::INFINITY, largest: 4e8 };

/// The limits where it comes before something else.
pub const BRIEF: Limits = Limits { seconds: 2.5, longest: 0.7, largest: 3e8 };

impl Limits {
    /// Whether this is not too much for one mechanism.
    pub fn admit(&self, work: &Work) -> bool {
        work.cpu_seconds <= self.longest && work.bytes() <= self.largest
    }

    /// Which mechanisms are ranked: the quickest by `seconds`, as many as there is time for. Those that are
    /// marked come last, and those without work are not ranked.
    pub fn quickest(
        &self,
        works: impl Iterator<Item = (bool, Option<Work>)>,
        seconds: fn(&Work) -> f64,
    ) -> Vec<bool> {
        let admitted = |work: Option<Work>| work.filter(|work| self.admit(work));
        let pieces = works.map(|(last, work)| (last, admitted(work).as_ref().map(seconds)));
        quickest(&pieces.collect::<Vec<_>>(), self.seconds)
    }
}
