//! Mean, spread and quantiles of an error under an exact law, without storing the law.

use rayon::prelude::*;

use super::{Law, walk_block};
use crate::field::Field;
use crate::numeric::Sum;
use crate::simplex::Blocks;

/// Exact numbers about the error of one mechanism.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exact {
    /// The law of the error; `None` where it is too large to be walked, or where the error is so
    /// steep that the mean depends on what is not walked.
    pub error: Option<Summary>,
    /// The probability of releasing the true posterior.
    pub p_exact: f64,
}

impl Exact {
    /// The error of `law`, measured by `field`.
    #[must_use]
    pub fn new(law: &dyn Law, field: &dyn Field) -> Self {
        let honest = |error: Summary| {
            let mean = visible_mean(law, field, error.mean)?;
            let std = if mean == f64::INFINITY { mean } else { error.std };
            Some(Summary { mean, std, ..error })
        };
        Self { error: summarise(law, field).and_then(honest), p_exact: law.p_exact() }
    }
}

/// The mean that was found by walking a law, if what was not walked cannot change it.
fn visible_mean(law: &dyn Law, field: &dyn Field, mean: f64) -> Option<f64> {
    let extreme = field.extreme();
    if extreme == f64::INFINITY {
        // Every candidate may be released, if only with a tiny probability.
        return Some(extreme);
    }
    let hidden = if extreme > 1.0 { law.left_out() * extreme } else { 0.0 };
    (hidden <= HIDDEN * mean).then_some(mean)
}

/// A law in four numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The mean.
    pub mean: f64,
    /// The standard deviation.
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
/// So many values are kept and sorted.
const SORTABLE: u64 = 1 << 16;
/// The number of bins into which a range of more values is divided.
const BINS: u64 = 4096;
/// A pass is summed up in so many parts, whatever the number of threads.
const PARTS: usize = 64;

/// Summarises `field` under `law`, or `None` if the law is too large to be walked.
///
/// A law of few outputs is listed and sorted. A larger one is passed over several times: for the
/// mean, for the variance around it (so that it keeps its digits), and, in the same passes, for
/// histograms that close in on the quantiles.
///
/// For numbers that are not negative the order of values is the order of their bit patterns, so a
/// range of values is a range of integers. It is divided into bins, the bin that holds the
/// quantile becomes the range, and so on, until the range holds few enough values to sort, or is so
/// narrow that they count as one.
fn summarise(law: &dyn Law, field: &dyn Field) -> Option<Summary> {
    let blocks = law.blocks()?;
    let survey = Survey { law, blocks, field, total: law.normaliser() };
    let search = |q: f64| Search::new((q - SLACK) * survey.total, blocks.outputs());
    let mut searches = [search(0.5), search(0.9)];
    let infinite = survey.infinite();
    for search in &mut searches {
        // The infinite values are the last ones.
        if infinite > survey.total - search.target {
            search.found = Some(f64::INFINITY);
        }
    }
    let mean = survey.pass(|value| value, &mut searches);
    let variance = survey.pass(|value| (value - mean) * (value - mean), &mut searches);
    while searches.iter().any(|search| search.found.is_none()) {
        survey.pass(|_| 0.0, &mut searches);
    }
    let [median, q90] = searches.map(|search| search.found.unwrap_or(0.0));
    let std = if mean == f64::INFINITY { mean } else { variance.sqrt() };
    Some(Summary { mean, std, median, q90 })
}

/// The mean of `field` under `law` alone, in one pass; `None` as in [`Exact::error`].
#[must_use]
pub fn mean(law: &dyn Law, field: &dyn Field) -> Option<f64> {
    let blocks = law.blocks()?;
    let survey = Survey { law, blocks, field, total: law.normaliser() };
    visible_mean(law, field, survey.pass(|value| value, &mut []))
}

struct Survey<'a> {
    law: &'a dyn Law,
    blocks: &'a Blocks,
    field: &'a dyn Field,
    total: f64,
}

/// The search for one quantile: what is known after each pass.
#[derive(Clone, Debug)]
struct Search {
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

/// What a pass finds out about a range.
#[derive(Clone)]
enum Content {
    /// Every value with its mass.
    Listed(Vec<(f64, f64)>),
    /// How many values, their mass and the largest of them, for each bin.
    Binned(Vec<(u64, f64, f64)>),
}

impl Survey<'_> {
    /// The mass of infinite values.
    fn infinite(&self) -> f64 {
        if self.field.extreme() < f64::INFINITY {
            return 0.0;
        }
        self.pass(|value| f64::from(value == f64::INFINITY), &mut []) * self.total
    }

    /// Passes over the law once: returns E[f(error)] and takes every search a step further.
    fn pass(&self, f: impl Fn(f64) -> f64 + Sync, searches: &mut [Search]) -> f64 {
        let mut ranges: Vec<Range> = Vec::new();
        for search in searches.iter().filter(|search| search.found.is_none()) {
            if !ranges.contains(&search.range) {
                ranges.push(search.range);
            }
        }
        let part = self.blocks.len().div_ceil(PARTS).max(1);
        let parts: Vec<(f64, Vec<Content>)> = (0..self.blocks.len().div_ceil(part))
            .into_par_iter()
            .map(|p| self.part(p * part..((p + 1) * part).min(self.blocks.len()), &f, &ranges))
            .collect();
        let mut sum = Sum::default();
        let mut contents: Vec<Content> = ranges.iter().map(Range::empty).collect();
        for (part_sum, part) in parts {
            sum.add(part_sum);
            for (content, more) in contents.iter_mut().zip(part) {
                content.join(more);
            }
        }
        let plateau = self.law.plateau();
        if plateau > 0.0 {
            sum.add(plateau * f(1.0));
            for (range, content) in ranges.iter().zip(&mut contents) {
                content.add(range, 1.0, plateau);
            }
        }
        for search in searches.iter_mut().filter(|search| search.found.is_none()) {
            let place = ranges.iter().position(|range| *range == search.range);
            if let Some(content) = place.map(|place| &contents[place]) {
                search.narrow(content);
            }
        }
        sum.value() / self.total
    }

    fn part(
        &self,
        blocks: std::ops::Range<usize>,
        f: &(impl Fn(f64) -> f64 + Sync),
        ranges: &[Range],
    ) -> (f64, Vec<Content>) {
        let mut sum = Sum::default();
        let mut contents: Vec<Content> = ranges.iter().map(Range::empty).collect();
        for block in blocks {
            walk_block(self.law, self.blocks, block, self.field, |values, masses| {
                // What has no mass does not count, even if its value is infinite.
                let term = |(&v, &m): (&f64, &f64)| if m > 0.0 { f(v) * m } else { 0.0 };
                sum.add(values.iter().zip(masses).map(term).sum());
                for (range, content) in ranges.iter().zip(&mut contents) {
                    for (&value, &mass) in values.iter().zip(masses) {
                        content.add(range, value, mass);
                    }
                }
            });
        }
        (sum.value(), contents)
    }
}

impl Range {
    fn width(&self) -> u64 {
        (self.high - self.low).div_ceil(BINS)
    }

    fn is_sortable(&self) -> bool {
        self.values <= SORTABLE
    }

    fn is_one_value(&self) -> bool {
        let (low, high) = (f64::from_bits(self.low), f64::from_bits(self.high));
        self.high - self.low <= 1 || high - low <= SAME * low
    }

    fn empty(&self) -> Content {
        if self.is_sortable() {
            Content::Listed(Vec::new())
        } else {
            Content::Binned(vec![(0, 0.0, 0.0); BINS as usize])
        }
    }
}

impl Content {
    #[inline]
    fn add(&mut self, range: &Range, value: f64, mass: f64) {
        let bits = value.to_bits();
        if bits < range.low || bits >= range.high {
            return;
        }
        match self {
            Self::Listed(list) => list.push((value, mass)),
            Self::Binned(bins) => {
                let bin = &mut bins[((bits - range.low) / range.width()) as usize];
                *bin = (bin.0 + 1, bin.1 + mass, bin.2.max(value));
            }
        }
    }

    fn join(&mut self, more: Self) {
        match (self, more) {
            (Self::Listed(list), Self::Listed(more)) => list.extend(more),
            (Self::Binned(bins), Self::Binned(more)) => {
                for (bin, more) in bins.iter_mut().zip(more) {
                    *bin = (bin.0 + more.0, bin.1 + more.1, bin.2.max(more.2));
                }
            }
            _ => unreachable!("contents of one range are of one kind"),
        }
    }
}

impl Search {
    fn new(target: f64, values: u64) -> Self {
        let range = Range { low: 0, high: f64::INFINITY.to_bits(), values };
        Self { target, below: 0.0, range, found: None }
    }

    fn narrow(&mut self, content: &Content) {
        match content {
            Content::Listed(list) => self.found = Some(self.crossing(list)),
            Content::Binned(bins) => self.choose(bins),
        }
    }

    /// The first value at which the running mass reaches the target; the last if rounding keeps it
    /// from being reached.
    fn crossing(&self, list: &[(f64, f64)]) -> f64 {
        let mut sorted = list.to_vec();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut running = self.below;
        let crossing = sorted.iter().find(|(_, mass)| {
            running += mass;
            running >= self.target
        });
        crossing.or(sorted.last()).map_or(0.0, |(value, _)| *value)
    }

    /// Makes the bin in which the running mass reaches the target the new range.
    fn choose(&mut self, bins: &[(u64, f64, f64)]) {
        let width = self.range.width();
        let mut chosen = None;
        for (index, bin) in bins.iter().enumerate().filter(|(_, bin)| bin.0 > 0) {
            if let Some((_, before)) = chosen.replace((index, bin)) {
                self.below += before.1;
            }
            if self.below + bin.1 >= self.target {
                break;
            }
        }
        let Some((index, &(values, _, largest))) = chosen else {
            self.found = Some(0.0);
            return;
        };
        let low = self.range.low + index as u64 * width;
        self.range = Range { low, high: low + width, values };
        if !self.range.is_sortable() && self.range.is_one_value() {
            self.found = Some(largest);
        }
    }
}
