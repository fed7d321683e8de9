//! Draws of the shares of all cells, for questions that have no short exact answer.
//!
//! First the true counts x are drawn from their law, cell by cell, given the records that are left for the cells to
//! come; then a gamma number of shape α + x for every cell. Divided by their sum, gamma numbers are shares. They are
//! drawn as logarithms: at a shape of 0.001 the number itself is mostly too small for a double, and of a fifth of
//! all pairs the ratio would be 0/0.
//!
//! Cells are drawn in the order of their laws, and each of them has random streams of its own in every block. So
//! the draws depend on the seed and on what is known, not on names, the order of cells, or threads.

use super::law::{Drawers, Law};
use super::weights::Weights;
use engine::numeric::{Sum, exp_accurate, ln_sum};
use engine::parallel;
use engine::rng::{ln_standard_gamma, stream, uniform};

/// The numbers of a block, one for every draw and cell: they take some 20 MB.
const BLOCK: usize = 1 << 21;

/// The numbers that are drawn for an answer: they take a second or two of one core.
pub(super) const NUMBERS: usize = 1 << 23;

/// The fewest draws for an answer, and the most.
pub(super) const FEWEST: usize = 1 << 17;
const MOST: usize = 1 << 21;

/// The seed of all answers. It is constant: nobody can try one after the other until an answer pleases.
pub(super) const SEED: u64 = 1;

/// `number` joint draws of the shares of all cells, block by block: each draw is a share for every cell. The `laws`
/// do not depend on each other, like those of groups of fixed sizes, and their cells follow each other. The first
/// draws do not depend on `number`.
pub fn draws(
    laws: &[Law],
    number: usize,
    seed: u64,
) -> impl Iterator<Item = Vec<Vec<f64>>> + use<> {
    let drawers = Drawers::new(laws);
    let cells = laws.iter().map(|law| law.prior().k()).sum();
    let blocks = blocks(cells, number).into_iter().enumerate();
    blocks.map(move |(place, rows)| drawers.shares(seed, place, rows))
}

/// What `answer` says of every block of as many draws as an answer needs, the block being the columns of
/// [`Sampler::block`]. `cells` are all cells of the table.
pub(super) fn in_blocks<T: Send>(
    sampler: &Sampler,
    cells: usize,
    answer: impl Fn(&[Vec<f64>]) -> T + Sync,
) -> Vec<T> {
    let rows = blocks(cells, enough(cells));
    parallel::map_range(0..rows.len(), |place| {
        let columns = sampler.block(SEED, place, rows[place]).into_iter();
        answer(&columns.map(|(_, logs)| logs).collect::<Vec<_>>())
    })
}

/// The number of draws for an answer about a table of so many cells.
pub(super) fn enough(cells: usize) -> usize {
    (NUMBERS / cells).clamp(FEWEST, MOST)
}

/// The draws of every block.
fn blocks(cells: usize, number: usize) -> Vec<usize> {
    let most = (BLOCK / cells).max(1);
    (0..number).step_by(most).map(|start| most.min(number - start)).collect()
}

/// The shares of one draw, from the columns of [`Sampler::block`]; every cell has its column.
pub(super) fn shares(columns: &[Vec<f64>], row: usize, column_of: &[usize]) -> Vec<f64> {
    let sum = ln_sum(columns.iter().map(|column| column[row]));
    column_of.iter().map(|&column| exp_accurate(columns[column][row] - sum)).collect()
}

/// What is known of one cell, or of several together: the prior's parameter, and the weights of its count.
#[derive(Clone, Debug)]
pub(super) struct Cell {
    pub alpha: f64,
    pub counts: Weights,
}

impl Cell {
    /// Cells are put in the order of these numbers.
    pub fn key(&self) -> Vec<u64> {
        let weights = self.counts.values.iter().map(|weight| weight.to_bits());
        [self.alpha.to_bits(), self.counts.first].into_iter().chain(weights).collect()
    }

    /// Several cells of n records as one.
    pub fn merged(mut cells: Vec<&Self>, n: u64) -> Self {
        cells.sort_by_cached_key(|cell| cell.key());
        let nothing = Self { alpha: 0.0, counts: Weights::certain(0) };
        cells.into_iter().fold(nothing, |sum, cell| Self {
            alpha: sum.alpha + cell.alpha,
            counts: sum.counts.plus(&cell.counts, n),
        })
    }
}

/// Draws cells one after the other.
pub(super) struct Sampler {
    n: u64,
    cells: Vec<Cell>,
    /// The weights of the sum of all counts after each cell.
    after: Vec<Weights>,
    name: String,
}

impl Sampler {
    /// The counts of the cells and that of all the `rest` sum to n. Samplers of different names do not depend on
    /// each other.
    pub fn new(n: u64, cells: Vec<Cell>, rest: Weights, name: &str) -> Self {
        let mut after = vec![rest];
        for cell in cells.iter().skip(1).rev() {
            after.push(after[after.len() - 1].plus(&cell.counts, n));
        }
        after.reverse();
        Self { n, cells, after, name: name.to_owned() }
    }

    /// Counts, and the logarithms of gamma numbers of these shapes; a column for every cell.
    pub fn block(&self, seed: u64, block: usize, rows: usize) -> Vec<(Vec<u64>, Vec<f64>)> {
        let mut left = vec![self.n; rows];
        let cells = self.cells.iter().zip(&self.after).enumerate();
        let column = |(place, (cell, after)): (usize, (&Cell, &Weights))| {
            let stream =
                |what| stream(seed, &format!("{}, block {block}, cell {place}, {what}", self.name));
            let mut uniforms = stream("counts");
            let places: Vec<f64> = (0..rows).map(|_| uniform(&mut uniforms)).collect();
            let counts = counts(&cell.counts, after, &left, &places);
            left.iter_mut().zip(&counts).for_each(|(left, count)| *left -= count);
            let mut gammas = stream("gammas");
            let gamma = |x: u64| ln_standard_gamma(cell.alpha + x as f64, &mut gammas);
            let logs = counts.iter().copied().map(gamma).collect();
            (counts, logs)
        };
        cells.map(column).collect()
    }
}

/// A count for every draw, by inversion: P[x] is proportional to the weight of x times that of the rest, which the
/// cells to come get. Draws with as many records left share their distribution function.
fn counts(cell: &Weights, after: &Weights, left: &[u64], places: &[f64]) -> Vec<u64> {
    let mut in_order: Vec<usize> = (0..left.len()).collect();
    in_order.sort_unstable_by_key(|&row| left[row]);
    let mut counts = vec![0; left.len()];
    for rows in in_order.chunk_by(|&a, &b| left[a] == left[b]) {
        let left = left[rows[0]];
        let low = cell.first.max(left.saturating_sub(after.last()));
        let mut sum = 0.0;
        let below: Vec<f64> = (low..=cell.last().min(left - after.first))
            .map(|x| {
                sum += cell.get(x) * after.get(left - x);
                sum
            })
            .collect();
        for &row in rows {
            let place = below.partition_point(|below| *below <= places[row] * sum);
            counts[row] = low + place as u64;
        }
    }
    counts
}

/// A number that was computed from draws, and its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drawn {
    pub value: f64,
    pub error: f64,
}

impl Drawn {
    /// The value, rounded to the digits that hold: the error is less than half a unit of the last one.
    pub fn rounded(&self) -> f64 {
        if !(self.error > 0.0 && self.error.is_finite()) {
            return self.value;
        }
        let digits = -libm::log10(2.0 * self.error).ceil();
        let scale = libm::pow(10.0, digits.abs());
        match digits >= 0.0 {
            true => (self.value * scale).round() / scale,
            false => (self.value / scale).round() * scale,
        }
    }

    /// The exponential of a number.
    pub(super) fn exp(self) -> Self {
        let value = exp_accurate(self.value);
        Self { value, error: value * self.error }
    }

    /// A probability, from how many draws it happened in. Half a draw of either kind is added: it is never certain.
    pub(super) fn probability(happened: usize, draws: usize) -> Self {
        let value = (happened as f64 + 0.5) / (draws as f64 + 1.0);
        Self { value, error: (value * (1.0 - value) / draws as f64).sqrt() }
    }

    /// The mean of the law of these numbers.
    pub(super) fn mean(numbers: &[f64]) -> Self {
        let count = numbers.len() as f64;
        let value = numbers.iter().copied().collect::<Sum>().value() / count;
        let squares = numbers.iter().map(|number| (number - value) * (number - value));
        Self { value, error: squares.collect::<Sum>().value().sqrt() / count }
    }

    /// The quantile of the law of these numbers, which are put in another order. Its error is half the distance
    /// between the quantiles a standard error below and above p.
    pub(super) fn quantile(numbers: &mut [f64], p: f64) -> Self {
        let last = (numbers.len() - 1) as f64;
        let error = (p * (1.0 - p) / numbers.len() as f64).sqrt();
        let [low, value, high] = [p - error, p, p + error].map(|p| {
            let place = (p * last).round().clamp(0.0, last) as usize;
            *numbers.select_nth_unstable_by(place, f64::total_cmp).1
        });
        Self { value, error: 0.5 * (high - low) }
    }
}
