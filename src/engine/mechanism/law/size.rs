//! How large a law is, counted without making it.

use super::{Law, Outputs, is_walked};
use crate::memo::Memo;
use crate::posterior::distance::{Distance, near_widths};
use crate::posterior::error_field::Reach;
use crate::posterior::model::{Posterior, approximate_compositions};
use crate::posterior::simplex::{BLOCK, Region, Window, measure};

/// Outputs that are walked, and bytes that are needed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Size {
    /// Outputs that are walked; and whatever takes as long as one of them.
    pub outputs: f64,
    /// A bound on the bytes that are needed at a time.
    pub bytes: f64,
}

impl Size {
    /// This, and then other work that can use the same memory.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        Self { outputs: self.outputs + next.outputs, bytes: self.bytes.max(next.bytes) }
    }

    /// This again and again.
    #[must_use]
    pub fn times(self, times: f64) -> Self {
        Self { outputs: self.outputs * times, ..self }
    }

    /// This, while so many bytes are in use besides.
    #[must_use]
    pub fn beside(self, bytes: f64) -> Self {
        Self { bytes: self.bytes + bytes, ..self }
    }
}

/// What it takes to compare the laws at adjacent data sets.
#[derive(Clone, Copy, Debug)]
pub struct PairSize {
    /// Outputs, or classes of them, of a pair, for its loss.
    pub compared: f64,
    /// The same for its δ at every ε.
    pub classes: f64,
    /// What is made ready for every data set.
    pub prepared: f64,
    /// Bytes of one data set.
    pub bytes: f64,
}

impl PairSize {
    /// The loss is known in closed form, and so are few classes.
    pub const CLOSED: Self =
        Self { compared: CLOSED, classes: PAIR / 10.0, prepared: 0.0, bytes: 0.0 };

    /// The comparison of a law at data like these.
    pub fn of(law: &dyn Law, posterior: &Posterior, distance: &dyn Distance) -> Self {
        let listed = || {
            let outputs = all_outputs(law, posterior.n(), posterior.k());
            let prepared = logarithms(law, posterior.n(), posterior.k());
            let (compared, bytes) = (PAIR + outputs, COMPARED * outputs);
            Self { compared, classes: outputs, prepared, bytes }
        };
        law.pair_size(posterior, distance).unwrap_or_else(listed)
    }

    /// The candidates near two data sets are compared.
    pub fn near(posterior: &Posterior, distance: &dyn Distance) -> Self {
        let near = near_data(posterior, distance).1;
        // All outputs of two categories are on one line.
        let each = if posterior.k() == 2 { 0.1 } else { 1.0 };
        let steps = each * near * distance.steps();
        let (compared, prepared) = (PAIR + steps, 2.0 * steps);
        Self { compared, classes: near, prepared, bytes: COMPARED * near }
    }
}

/// Making a law takes as long as walking so many outputs.
const MADE: f64 = 1_000.0;

/// Comparing any law at a pair of data sets takes as long as walking so many outputs, beside those that are compared.
const PAIR: f64 = 150.0;

/// Comparing a law whose loss is known in closed form takes as long as walking so many outputs.
const CLOSED: f64 = 300.0;

/// Finding the logarithm of a probability takes as long as walking so many outputs.
const LOGARITHM: f64 = 6.0;

/// Bytes of an entry of a table.
const ENTRY: f64 = 8.0;

/// Bytes of an output whose probabilities at two data sets are compared.
const COMPARED: f64 = 64.0;

/// The search for a quantile of one law needs at most so many bytes.
const SEARCHED: f64 = 3e6;

/// So many rows of a region are counted: that is enough for an accuracy of some percent.
const ROWS: f64 = 400.0;

/// If the tables around the data have more entries than this, they are not made to count their outputs.
const MOST_ENTRIES: f64 = 2e5;

/// A law at these data, with the error in this distance, if so much is done `each` time that an output
/// is walked. A law that is too large to be walked has no outputs.
pub fn of(law: &dyn Law, posterior: &Posterior, distance: &dyn Distance, each: f64) -> Size {
    let (entries, walked) = walked(law, posterior, distance);
    let kept = entries + law.table_entries(posterior);
    let blocks = (8.0 * posterior.k() as f64 + 32.0) * (walked / BLOCK as f64 + 1.0);
    let each = each - 1.0 + distance.steps();
    Size {
        outputs: MADE + each * walked + 3.0 * kept,
        bytes: 3.0 * ENTRY * kept + blocks + (2.0 * walked).min(SEARCHED),
    }
}

/// The logarithms of the probabilities of all outputs of a law at one data set.
pub fn logarithms(law: &dyn Law, n: u64, k: usize) -> f64 {
    LOGARITHM * all_outputs(law, n, k)
}

/// The region that is walked, if the law has one of its own.
fn region(law: &dyn Law, posterior: &Posterior) -> Option<Region> {
    // The rate of candidates near the data takes sensitivities, and is not needed.
    (!law.needs_ball()).then(|| law.at(posterior).ok()?.region()).flatten()
}

/// Whether a law is too large to be walked, so that it is sampled only.
pub fn is_sampled_only(law: &dyn Law, posterior: &Posterior) -> bool {
    region(law, posterior).is_some_and(|region| !is_walked(&region))
}

/// The entries of one table for every count, and the outputs that are walked.
pub fn walked(law: &dyn Law, posterior: &Posterior, distance: &dyn Distance) -> (f64, f64) {
    let Some(region) = region(law, posterior) else { return near_data(posterior, distance) };
    if !is_walked(&region) {
        return (0.0, 0.0);
    }
    let entries = total_length(region.windows());
    let alike = law.exchangeable(posterior.prior()).into_iter().flatten();
    let alike = alike.max().map_or(0, |last| last + 1);
    (entries, measure(&region.folded(&posterior.categories()[..alike]), ROWS))
}

/// The outputs whose probability is not negligible at these data; or is not 0 at all data.
pub fn likely_outputs(law: &dyn Law, posterior: &Posterior, anywhere: bool) -> f64 {
    let all = law.possible_outputs(posterior.n(), posterior.k());
    let region = region(law, posterior).filter(|_| !anywhere);
    region.map_or(all, |region| measure(&region, ROWS).min(all))
}

/// The number of all outputs of a law.
pub fn all_outputs(law: &dyn Law, n: u64, k: usize) -> f64 {
    Outputs::new(law.outputs(), n, k).approximate_len()
}

/// The name of the distance, the bits of the prior, and the counts.
type Asked = (String, Vec<u64>, Vec<u64>);

/// The candidates that exponential mechanisms weigh one by one, with the entries of their tables. Settings that
/// differ in ε share them.
fn near_data(posterior: &Posterior, distance: &dyn Distance) -> (f64, f64) {
    static KNOWN: Memo<Asked, (f64, f64)> = Memo::new(1 << 16);
    let alpha = posterior.prior().alpha().iter().map(|alpha| alpha.to_bits()).collect();
    let key = (distance.id().to_owned(), alpha, posterior.counts().to_vec());
    KNOWN.get(&key, || count_near(posterior, distance))
}

fn count_near(posterior: &Posterior, distance: &dyn Distance) -> (f64, f64) {
    let (n, k) = (posterior.n(), posterior.k());
    let all = Region::simplex(n, k);
    let folded = |region: Region| measure(&region.folded(&posterior.categories()), ROWS);
    let Some(power) = distance.plateau(posterior.prior(), n) else {
        return (total_length(all.windows()), folded(all));
    };
    let widths = near_widths(posterior, power);
    let entries: f64 = widths.iter().sum();
    if entries > MOST_ENTRIES {
        // The widest count is what the others leave.
        let widest = widths.iter().copied().fold(1.0, f64::max);
        let around = widths.iter().product::<f64>() / widest;
        return (entries, around.min(approximate_compositions(n, k)));
    }
    let ball = distance.field(posterior, &Reach::ball(posterior)).ball();
    // A ball of more than half of them is not worth the trouble.
    let half = 0.5 * approximate_compositions(n, k);
    match ball.filter(|ball| measure(ball, ROWS) <= half) {
        Some(ball) => (entries, folded(ball)),
        None => (total_length(all.windows()), folded(all)),
    }
}

/// The number of entries of one table for every window.
pub fn total_length(windows: &[Window]) -> f64 {
    windows.iter().map(|&(low, high)| (high - low) as f64 + 1.0).sum()
}
