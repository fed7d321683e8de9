//! Shares and comparisons from draws, where their exact sums take long.

use super::beta_mixture::{BetaMixture, Interval};
use super::counts_law::Within;
use super::draws::{Drawn, FEWEST, NUMBERS, SEED};
use super::joint::{self, Joint};
use super::law::{Drawers, Law};
use super::means::Means;
use super::weights::Weights;
use engine::numeric::{exp_accurate, ln_sum};
use engine::parallel;
use std::ops::Range;

/// Joint draws of all cells of a table.
pub struct Sampled {
    /// The counts of every cell.
    counts: Vec<Vec<u64>>,
    /// The logarithms of gamma numbers of every cell. Shares within some cells are in proportion to them.
    columns: Vec<Vec<f64>>,
}

/// The fewest draws for a table of many cells.
const FEW: usize = 1 << 13;

/// How many times narrower than the law of a share its smoothing is, in variances.
const SMOOTH: f64 = 50.0;

/// The fewest steps from a share of 0 to 1 of a smoothed law, and the most.
const FEWEST_STEPS: f64 = 100.0;
const MOST_STEPS: f64 = 1e7;

/// They are made in so many blocks at most.
const MOST_BLOCKS: usize = 8;

/// A block has so many draws at least.
const FEWEST_OF_BLOCK: usize = 1 << 12;

impl Sampled {
    pub fn new(laws: &[Law]) -> Self {
        let cells: usize = laws.iter().map(|law| law.prior().k()).sum();
        Self::of(laws, (NUMBERS / (4 * cells)).clamp(FEW, 4 * FEWEST))
    }

    /// So many draws.
    pub(super) fn of(laws: &[Law], draws: usize) -> Self {
        let cells: usize = laws.iter().map(|law| law.prior().k()).sum();
        let drawers = Drawers::new(laws);
        let blocks = (draws / FEWEST_OF_BLOCK).clamp(1, MOST_BLOCKS);
        let blocks =
            parallel::map_range(0..blocks, |block| drawers.block(SEED, block, draws / blocks));
        let counts = |cell: usize| blocks.iter().flat_map(move |block| &block[cell].0).copied();
        let logs = |cell: usize| blocks.iter().flat_map(move |block| &block[cell].1).copied();
        Self {
            counts: (0..cells).map(|cell| counts(cell).collect()).collect(),
            columns: (0..cells).map(|cell| logs(cell).collect()).collect(),
        }
    }

    /// The number of draws.
    pub fn draws(&self) -> usize {
        self.columns[0].len()
    }

    /// The mean and the limits of the number of records.
    pub fn records(&self, level: f64) -> (Drawn, [Drawn; 2]) {
        let records = |row: usize| self.counts.iter().map(|column| column[row]).sum::<u64>() as f64;
        summary((0..self.draws()).map(records).collect(), level)
    }

    /// The mean and the limits of the share of some cells within a group.
    pub fn share(&self, cells: &[usize], group: &[usize], level: f64) -> (Drawn, [Drawn; 2]) {
        summary(self.shares(cells, group), level)
    }

    /// The law of the share of some cells within a group, smoothed: a mixture of Beta laws, each of the variance
    /// p (1 − p)/m, whose variance is larger than that of the share by one part in `SMOOTH`.
    pub fn smoothed(&self, cells: &[usize], group: &[usize]) -> BetaMixture {
        let shares = self.shares(cells, group);
        let Drawn { value: mean, error } = Drawn::mean(&shares);
        let variance = error * error * shares.len() as f64;
        let m = match variance > 0.0 {
            true => {
                (SMOOTH * mean * (1.0 - mean) / variance).clamp(FEWEST_STEPS, MOST_STEPS).round()
            }
            false => MOST_STEPS,
        };
        let mut values = vec![0.0; m as usize + 1];
        // As many steps as Beta laws: shares that are all alike have a level density.
        shares.iter().for_each(|share| values[(share * (m + 1.0)).min(m) as usize] += 1.0);
        BetaMixture::new((1.0, 1.0), &[(m as u64, Weights { first: 0, values })])
    }

    fn shares(&self, cells: &[usize], group: &[usize]) -> Vec<f64> {
        let (own, all) = (self.merged(cells), self.merged(group));
        own.iter().zip(&all).map(|(own, all)| exp_accurate(own - all)).collect()
    }

    /// Compares means of shares within groups.
    pub fn compare(&self, sides: [&[Within]; 2], level: f64) -> Means {
        let [first, second] = sides.map(|side| {
            let pair = |(cells, group): &Within| {
                let rest: Vec<usize> =
                    group.iter().copied().filter(|cell| !cells.contains(cell)).collect();
                [self.merged(cells), self.merged(&rest)]
            };
            side.iter().flat_map(pair).collect::<Vec<_>>()
        });
        Means::of_columns(&first, &second, level)
    }

    /// The column of some cells together.
    fn merged(&self, cells: &[usize]) -> Vec<f64> {
        let row = |row: usize| ln_sum(cells.iter().map(|&cell| self.columns[cell][row]));
        match cells {
            [cell] => self.columns[*cell].clone(),
            _ => (0..self.draws()).map(row).collect(),
        }
    }

    /// Intervals of the cells of one law that hold together with probability `level`.
    pub fn joint(&self, cells: Range<usize>, level: f64) -> Joint {
        let group: Vec<usize> = cells.collect();
        let columns: Vec<Vec<f64>> =
            group.iter().map(|&cell| self.shares(&[cell], &group)).collect();
        let mut in_order = columns.clone();
        in_order.iter_mut().for_each(|column| column.sort_unstable_by(f64::total_cmp));
        let at = |each: f64| {
            let low = 0.5 * (1.0 - each);
            let interval = |column: &Vec<f64>| {
                let [low, high] = [low, 1.0 - low].map(|p| column[place(column.len(), p)]);
                Interval { low, high }
            };
            in_order.iter().map(interval).collect()
        };
        let row = |row: usize| columns.iter().map(move |column| column[row]);
        joint::search(group.len(), level, at, |grown| {
            let mut firsts = vec![0; grown.len() + 1];
            (0..self.draws()).for_each(|one| firsts[joint::first_that_holds(row(one), grown)] += 1);
            joint::probabilities(&[firsts])
        })
    }
}

/// The place of a quantile among so many numbers in order.
fn place(length: usize, p: f64) -> usize {
    let last = (length - 1) as f64;
    (p * last).round().clamp(0.0, last) as usize
}

/// The mean and the limits of an interval.
fn summary(mut numbers: Vec<f64>, level: f64) -> (Drawn, [Drawn; 2]) {
    let low = 0.5 * (1.0 - level);
    let mean = Drawn::mean(&numbers);
    (mean, [low, 1.0 - low].map(|p| Drawn::quantile(&mut numbers, p)))
}
