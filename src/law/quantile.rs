//! Quantiles of an error under an exact law, without storing or sorting the law.

use rayon::prelude::*;

use super::{Law, walk_block};
use crate::field::Field;
use crate::simplex::Blocks;

/// P[error <= t] >= q − SLACK is enough: a quantile must not depend on the last bits of a sum.
const SLACK: f64 = 1e-12;
/// Values nearer than this, relative to each other, are one value.
const SAME: f64 = 1e-11;
/// So many values are sorted at once.
const SORTABLE: u64 = 1 << 16;
/// The number of bins into which a range of values is divided otherwise.
const BINS: u64 = 4096;
/// Bins are summed up in so many parts, whatever the number of threads.
const PARTS: usize = 64;

/// The smallest t with P[error <= t] >= q, for each q; `None` if the law is too large to be walked.
///
/// For positive numbers the order of values is the order of their bit patterns, so a range of
/// values is a range of integers. It is divided into bins, the bin that contains the quantile
/// becomes the range, and so on, until the range holds few enough values to sort or is so narrow
/// that they count as one.
#[must_use]
pub fn quantiles(law: &dyn Law, field: &dyn Field, levels: &[f64]) -> Option<Vec<f64>> {
    let blocks = law.blocks()?;
    let search = Search { law, blocks, field };
    Some(levels.iter().map(|&q| search.quantile(q)).collect())
}

struct Search<'a> {
    law: &'a dyn Law,
    blocks: &'a Blocks,
    field: &'a dyn Field,
}

/// A half-open range of bit patterns, with the number of values in it.
#[derive(Clone, Copy)]
struct Range {
    low: u64,
    high: u64,
    values: u64,
}

#[derive(Clone, Copy, Default)]
struct Bin {
    values: u64,
    mass: f64,
    largest: f64,
}

impl Range {
    /// Far below the smallest error above 0, and above any error.
    const FROM: f64 = 1e-30;
    const TO: f64 = 1e30;

    fn width(self) -> u64 {
        (self.high - self.low).div_ceil(BINS)
    }

    fn is_one_value(self) -> bool {
        let (low, high) = (f64::from_bits(self.low), f64::from_bits(self.high));
        high - low <= SAME * low
    }
}

impl Search<'_> {
    fn quantile(&self, q: f64) -> f64 {
        let target = (q - SLACK) * self.law.normaliser();
        let values = self.blocks.outputs();
        let mut range = Range { low: 0, high: Range::TO.to_bits(), values };
        let mut below = 0.0;
        let mut largest = 0.0;
        // The first division is on a logarithmic scale and leaves 0 in a bin of its own.
        if values > SORTABLE {
            range.low = Range::FROM.to_bits();
            below = self.collect(|value| value < Range::FROM).iter().map(|v| v.1).sum();
            if below >= target {
                return 0.0;
            }
        }
        while range.values > SORTABLE && !range.is_one_value() {
            let bins = self.bins(range);
            let Some((index, before)) = crossing(&bins, below, target) else { return 1.0 };
            (below, largest) = (before, bins[index].largest);
            let low = range.low + index as u64 * range.width();
            let high = (low + range.width()).min(range.high);
            range = Range { low, high, values: bins[index].values };
        }
        if range.values > SORTABLE {
            return largest;
        }
        let inside = |value: f64| (range.low..range.high).contains(&value.to_bits());
        let mut found = self.collect(inside);
        if (range.low..range.high).contains(&1_f64.to_bits()) {
            found.push((1.0, self.law.plateau()));
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        for &(value, mass) in &found {
            below += mass;
            if below >= target {
                return value;
            }
        }
        found.last().map_or(largest, |last| last.0)
    }

    /// All (value, mass) with `wanted(value)`, in the order of the walk.
    fn collect(&self, wanted: impl Fn(f64) -> bool + Sync) -> Vec<(f64, f64)> {
        let lists: Vec<Vec<(f64, f64)>> = (0..self.blocks.len())
            .into_par_iter()
            .map(|block| {
                let mut list = Vec::new();
                walk_block(self.law, self.blocks, block, self.field, |values, masses| {
                    let pairs = values.iter().copied().zip(masses.iter().copied());
                    list.extend(pairs.filter(|&(value, _)| wanted(value)));
                });
                list
            })
            .collect();
        lists.concat()
    }

    fn bins(&self, range: Range) -> Vec<Bin> {
        let width = range.width();
        let part = self.blocks.len().div_ceil(PARTS);
        let parts: Vec<Vec<Bin>> = (0..self.blocks.len().div_ceil(part))
            .into_par_iter()
            .map(|p| {
                let mut bins = vec![Bin::default(); BINS as usize];
                for block in p * part..((p + 1) * part).min(self.blocks.len()) {
                    walk_block(self.law, self.blocks, block, self.field, |values, masses| {
                        for (&value, &mass) in values.iter().zip(masses) {
                            let bits = value.to_bits();
                            if (range.low..range.high).contains(&bits) {
                                bins[((bits - range.low) / width) as usize].add(1, mass, value);
                            }
                        }
                    });
                }
                bins
            })
            .collect();
        let mut bins = vec![Bin::default(); BINS as usize];
        for part in parts {
            for (sum, bin) in bins.iter_mut().zip(part) {
                sum.add(bin.values, bin.mass, bin.largest);
            }
        }
        let one = 1_f64.to_bits();
        if (range.low..range.high).contains(&one) && self.law.plateau() > 0.0 {
            bins[((one - range.low) / width) as usize].add(1, self.law.plateau(), 1.0);
        }
        bins
    }
}

impl Bin {
    fn add(&mut self, values: u64, mass: f64, largest: f64) {
        self.values += values;
        self.mass += mass;
        self.largest = self.largest.max(largest);
    }
}

/// The first bin at whose end the running mass reaches the target, and the mass before it; if
/// rounding keeps it from being reached, the last bin that holds anything.
fn crossing(bins: &[Bin], mut below: f64, target: f64) -> Option<(usize, f64)> {
    let mut last = None;
    for (index, bin) in bins.iter().enumerate().filter(|(_, bin)| bin.values > 0) {
        last = Some((index, below));
        below += bin.mass;
        if below >= target {
            break;
        }
    }
    last
}
