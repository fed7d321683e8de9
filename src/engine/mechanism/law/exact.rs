//! Mean, spread and quantiles of an error under an exact law, without storing the law.

use serde::{Deserialize, Serialize};

use super::survey::{Depth, Survey, Surveyed, for_parts, survey};
use super::{BenchField, OutputLaw};
use crate::numeric::{kernel, scale};
use crate::posterior::error_field::Field;
use crate::posterior::simplex::BLOCK;

/// Exact numbers about the error of one mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorSummary {
    /// A summary of the error; `None` if the law has too many outputs to be walked, or if the error
    /// grows so fast that the mean depends on outputs that are not walked.
    pub error: Option<Summary>,
    /// The probability of releasing the true posterior.
    pub p_exact: f64,
}

impl ErrorSummary {
    /// The error of `law`, measured by `field`.
    pub fn new(law: &dyn OutputLaw, field: BenchField) -> Self {
        let summary = law.known(field).and_then(|known| known.summary).or_else(|| {
            let single = Surveyed::single(law, field.field)?;
            summarise(&single, &[law.normaliser()]).1.pop()
        });
        let honest = |error: Summary| {
            let mean = visible_mean(law, field.field, error.mean)?;
            let std = if mean == f64::INFINITY { mean } else { error.std };
            Some(Summary { mean, std, ..error })
        };
        Self { error: summary.and_then(honest), p_exact: law.p_exact() }
    }
}

/// What was found out about an error when its law was made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    pub mean: f64,
    /// Mean, standard deviation and quantiles, if they were asked for.
    pub summary: Option<Summary>,
}

/// The mean that was found by walking a law, if what was not walked cannot change it.
fn visible_mean(law: &dyn OutputLaw, field: &dyn Field, mean: f64) -> Option<f64> {
    let extreme = field.extreme();
    if extreme == f64::INFINITY {
        // Every candidate may be released, if only with a tiny probability.
        return Some(extreme);
    }
    let hidden = if extreme > 1.0 { law.left_out() * extreme } else { 0.0 };
    (hidden <= HIDDEN * mean).then_some(mean)
}

/// A law in four numbers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    pub mean: f64,
    pub std: f64,
    /// The smallest t with P[error <= t] >= 0.5.
    pub median: f64,
    /// The smallest t with P[error <= t] >= 0.9.
    pub q90: f64,
}

/// P[error <= t] >= q − SLACK is enough: a quantile must not depend on the last bits of a sum.
pub(super) const SLACK: f64 = 1e-12;
/// Values nearer than this, relative to each other, are one value.
pub(super) const SAME: f64 = 1e-11;
/// What may be missing of a mean, relative to it.
const HIDDEN: f64 = 1e-9;
/// At most this many values are kept and sorted.
const SORTABLE: u64 = 1 << 16;
/// A law of at most this many outputs is listed at once.
const FEW: u64 = 1 << 12;
/// The number of bins into which a range of more values is divided.
const DIVISIONS: u64 = 4096;
/// The quantiles that are looked for.
const QUANTILES: [f64; 2] = [0.5, 0.9];

/// The mean of `field` under `law` alone, in one pass; `None` as in [`ErrorSummary::error`].
pub fn mean(law: &dyn OutputLaw, field: BenchField) -> Option<f64> {
    let mean = match law.known(field) {
        Some(known) => known.mean,
        None => {
            let single = Surveyed::single(law, field.field)?;
            survey(&single, Depth::Means).laws[0].mean(law.normaliser())
        }
    };
    visible_mean(law, field.field, mean)
}

/// Summarises an error under every law of `surveyed`, and returns the first pass as well. The masses
/// of the laws sum to `totals`; if this is empty, to the sums that the first pass finds.
///
/// The first pass finds means, spreads and a histogram. The bins that hold the quantiles are then
/// divided further until they hold few enough values to sort, or are so narrow that these count as
/// one; usually one more pass is enough. For numbers that are not negative the order of values is
/// the order of their bit patterns, so a range of values is a range of integers.
pub fn summarise(surveyed: &Surveyed, totals: &[f64]) -> (Survey, Vec<Summary>) {
    let outputs = surveyed.walked.blocks.outputs();
    let depth = if outputs > FEW { Depth::Shapes } else { Depth::Spreads };
    let found = survey(surveyed, depth);
    let total =
        |law: usize| totals.get(law).copied().unwrap_or_else(|| found.laws[law].mass.value());
    let mut searches: Vec<QuantileSearch> = (0..found.laws.len())
        .flat_map(|law| QUANTILES.map(|q| (law, (q - SLACK) * total(law))))
        .map(|(law, target)| QuantileSearch::new(law, target, outputs))
        .collect();
    if depth == Depth::Shapes {
        for search in &mut searches {
            search.begin(&found);
        }
    }
    while searches.iter().any(|search| search.found.is_none()) {
        narrow(surveyed, &mut searches);
    }
    let summary = |(law, quantiles): (usize, &[QuantileSearch])| {
        let (tally, total) = (&found.laws[law], total(law));
        let mean = tally.mean(total);
        let std = if mean == f64::INFINITY { mean } else { (tally.squares / total).sqrt() };
        let at = |i: usize| quantiles[i].found.unwrap_or(0.0);
        Summary { mean, std, median: at(0), q90: at(1) }
    };
    let summaries = searches.chunks_exact(QUANTILES.len()).enumerate().map(summary).collect();
    (found, summaries)
}

/// The search for one quantile: what is known after each pass.
#[derive(Clone, Debug)]
struct QuantileSearch {
    law: usize,
    /// The mass to be reached.
    target: f64,
    /// The mass of all values before the range.
    below: f64,
    range: Range,
    found: Option<f64>,
}

/// A half-open range of bit patterns, and how many values lie in it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Range {
    low: u64,
    high: u64,
    values: u64,
}

/// What a pass finds out about a range: every value with its mass, if they are few enough to sort; else, for
/// each bin, how many values, their mass and the largest of them.
struct Content {
    list: Vec<(f64, f64)>,
    bins: Vec<(u64, f64, f64)>,
}

/// Passes over the values in the ranges of all searches, and takes each a step further.
fn narrow(surveyed: &Surveyed, searches: &mut [QuantileSearch]) {
    let mut open: Vec<&mut QuantileSearch> =
        searches.iter_mut().filter(|search| search.found.is_none()).collect();
    let empty = |open: &[&mut QuantileSearch]| -> Vec<Content> {
        open.iter().map(|search| search.range.empty()).collect()
    };
    let parts = for_parts(&surveyed.walked.blocks, |blocks| {
        let mut contents = empty(&open);
        let mut values = [0.0; BLOCK];
        let mut places = Vec::new();
        for block in blocks {
            surveyed.walked.walk(block, |row| {
                let values = &mut values[..row.len];
                surveyed.field.row(row, values);
                for (search, content) in open.iter().zip(&mut contents) {
                    let Range { low, high, .. } = search.range;
                    places.clear();
                    kernel::find(values, (low, high), &mut places);
                    for &place in &places {
                        let value = values[place];
                        let mass = surveyed.mass(search.law, &row.only(place), value);
                        content.add(&search.range, value, mass);
                    }
                }
            });
        }
        contents
    });
    let mut contents = empty(&open);
    for part in parts {
        for (content, more) in contents.iter_mut().zip(part) {
            content.join(more);
        }
    }
    for (search, mut content) in open.iter_mut().zip(contents) {
        let plateau = surveyed.laws[search.law].plateau;
        if plateau > 0.0 {
            content.add(&search.range, 1.0, plateau);
        }
        search.narrow(content);
    }
}

impl Range {
    fn width(&self) -> u64 {
        (self.high - self.low).div_ceil(DIVISIONS)
    }

    fn is_sortable(&self) -> bool {
        self.values <= SORTABLE
    }

    fn is_one_value(&self) -> bool {
        let (low, high) = (f64::from_bits(self.low), f64::from_bits(self.high));
        self.high - self.low <= 1 || high - low <= SAME * low
    }

    fn empty(&self) -> Content {
        let bins = if self.is_sortable() { 0 } else { DIVISIONS as usize };
        Content { list: Vec::new(), bins: vec![(0, 0.0, 0.0); bins] }
    }
}

impl Content {
    #[inline]
    fn add(&mut self, range: &Range, value: f64, mass: f64) {
        let bits = value.to_bits();
        if bits < range.low || bits >= range.high {
            return;
        }
        if self.bins.is_empty() {
            self.list.push((value, mass));
            return;
        }
        let bin = &mut self.bins[((bits - range.low) / range.width()) as usize];
        *bin = (bin.0 + 1, bin.1 + mass, bin.2.max(value));
    }

    fn join(&mut self, more: Self) {
        self.list.extend(more.list);
        for (bin, more) in self.bins.iter_mut().zip(more.bins) {
            *bin = (bin.0 + more.0, bin.1 + more.1, bin.2.max(more.2));
        }
    }
}

impl QuantileSearch {
    fn new(law: usize, target: f64, values: u64) -> Self {
        let range = Range { low: 0, high: f64::INFINITY.to_bits() + 1, values };
        Self { law, target, below: 0.0, range, found: None }
    }

    /// Sets the range to the bin of the first pass in which the running mass reaches the target.
    fn begin(&mut self, found: &Survey) {
        let index = self.reached(found.laws[self.law].bins.iter().copied()).unwrap_or(0);
        let (low, high) = scale::patterns(index);
        // The plateau may be in it as well.
        let values = found.outputs[index] + 1;
        self.enter(Range { low, high, values }, f64::from_bits(high - 1));
    }

    fn narrow(&mut self, mut content: Content) {
        if content.bins.is_empty() {
            content.list.sort_by(|a, b| a.0.total_cmp(&b.0));
            let index = self.reached(content.list.iter().map(|(_, mass)| *mass));
            self.found = Some(index.map_or(0.0, |index| content.list[index].0));
        } else if let Some(index) = self.reached(content.bins.iter().map(|(_, mass, _)| *mass)) {
            let (values, _, largest) = content.bins[index];
            let width = self.range.width();
            let low = self.range.low + index as u64 * width;
            self.enter(Range { low, high: low + width, values }, largest);
        } else {
            self.found = Some(0.0);
        }
    }

    /// Where the running mass reaches the target; the last place with any mass if rounding keeps it from being
    /// reached.
    fn reached(&mut self, masses: impl Iterator<Item = f64>) -> Option<usize> {
        let mut reached = None;
        for (index, mass) in masses.enumerate().filter(|(_, mass)| *mass > 0.0) {
            if let Some((_, before)) = reached.replace((index, mass)) {
                self.below += before;
            }
            if self.below + mass >= self.target {
                break;
            }
        }
        reached.map(|(index, _)| index)
    }

    /// Searches in a part of the range from now on. Ends if there are too many values to sort, but all of them count
    /// as one.
    fn enter(&mut self, range: Range, largest: f64) {
        self.range = range;
        if !self.range.is_sortable() && self.range.is_one_value() {
            self.found = Some(largest);
        }
    }
}
