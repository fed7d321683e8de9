//! The linear program over the columns found so far, by the simplex method.
//!
//! Minimise Σ cost(c) λ(c) with Σ λ(c) p_c = 1 at every orbit of data sets, λ >= 0. The inverse of the
//! basis is kept as a full matrix: there are as many basic columns as orbits, and nearly no zeros.

use crate::parallel::{self, checkpoint};
use rayon::prelude::*;

/// A column, or an artificial one that the first basis may need.
pub struct Column {
    /// The mean of p over every orbit of data sets.
    pub fold: Vec<f64>,
    /// Σ_x w(x) error(x, r) p(x).
    pub cost: f64,
    /// p is e^(−ε f).
    pub f: Vec<i16>,
    /// The orbit of its output.
    pub output: usize,
    /// The negative of a column, so that the first basis is feasible. It must not be in the last one.
    pub artificial: bool,
    pub is_basic: bool,
}

impl Column {
    /// What it costs beyond its worth.
    pub fn reduced_cost(&self, prices: &[f64]) -> f64 {
        self.cost - dot(prices, &self.fold)
    }
}

/// The program and its basis.
#[derive(Default)]
pub struct Master {
    pub columns: Vec<Column>,
    basis: Vec<usize>,
    /// Columns that were worth most when all were last looked at.
    candidates: Vec<usize>,
    /// The inverse of the basic columns, row by row.
    inverse: Vec<Vec<f64>>,
    /// λ of the basic columns.
    pub values: Vec<f64>,
    /// The price of every orbit.
    pub prices: Vec<f64>,
    /// How far the row sums were from one before λ was refined.
    residual: f64,
    /// Pivots since the inverse was made.
    since: usize,
}

/// A column enters if it is worth this much more than its cost, as a part of its cost.
const WORTHWHILE: f64 = 1e-12;
/// A pivot smaller than this is not used.
const SMALLEST_PIVOT: f64 = 1e-9;
/// λ below zero by at most this is taken for zero.
const TOLERANCE: f64 = 1e-11;
/// Columns that are looked at before each pivot; all others only if none of these is worth it.
const CANDIDATES: usize = 30;
/// Pivots after which the inverse is made anew.
const PIVOTS_PER_INVERSE: usize = 300;
/// An inverse that is wrong by more than this is made anew.
const RESIDUAL: f64 = 1e-7;
/// Fewer rows than this are not worth several threads.
const PARALLEL: usize = 256;

impl Master {
    /// The program with these columns as its basis; `None` if they are dependent. A column whose λ would be
    /// negative is replaced by its negative, at the cost `dear`.
    pub fn new(mut columns: Vec<Column>, dear: f64) -> Option<Self> {
        let rows = columns.len();
        columns.iter_mut().for_each(|column| column.is_basic = true);
        let mut master = Self { basis: (0..rows).collect(), columns, ..Self::default() };
        master.invert()?;
        for row in 0..rows {
            if master.values[row] < 0.0 {
                let column = &mut master.columns[master.basis[row]];
                column.is_basic = false;
                let negative = Column {
                    fold: column.fold.iter().map(|value| -value).collect(),
                    cost: dear,
                    f: Vec::new(),
                    output: column.output,
                    artificial: true,
                    is_basic: true,
                };
                master.basis[row] = master.columns.len();
                master.columns.push(negative);
                master.inverse[row].iter_mut().for_each(|value| *value *= -1.0);
            }
        }
        master.evaluate();
        Some(master)
    }

    /// Basic columns and their λ.
    pub fn basic(&self) -> impl Iterator<Item = (&Column, f64)> {
        self.basis.iter().map(|&index| &self.columns[index]).zip(self.values.iter().copied())
    }

    /// The value of the program.
    pub fn objective(&self) -> f64 {
        self.basic().map(|(column, value)| column.cost * value).sum()
    }

    /// Forgets columns that are not basic and cost more than they are worth by the part `slack`.
    pub fn forget(&mut self, slack: f64) {
        let (mut kept, mut new_place) = (0, Vec::with_capacity(self.columns.len()));
        self.columns.retain(|column| {
            new_place.push(kept);
            let keep = column.is_basic || column.reduced_cost(&self.prices) <= slack * column.cost;
            kept += usize::from(keep);
            keep
        });
        self.basis.iter_mut().for_each(|index| *index = new_place[*index]);
        self.candidates.clear();
    }

    /// Pivots until no column is worth more than its cost, at most `most` times.
    pub fn solve(&mut self, most: usize) -> Option<()> {
        for _ in 0..most {
            checkpoint();
            if self.since >= PIVOTS_PER_INVERSE {
                self.invert()?;
            }
            let Some(entering) = self.entering() else { break };
            if self.pivot(entering) {
                self.since += 1;
            } else if self.since > 0 {
                // The inverse may be too old.
                self.invert()?;
            } else {
                break;
            }
        }
        // Refined, an inverse that is a little old is still good.
        self.evaluate();
        if self.since > 0 && self.residual > RESIDUAL {
            self.invert()?;
        }
        Some(())
    }

    /// A column that is worth more than its cost: of the candidates the best one, as a part of its cost.
    /// If no candidate is worth it, there are new ones from all columns.
    fn entering(&mut self) -> Option<usize> {
        let gain = |index: usize| {
            let column = &self.columns[index];
            if column.is_basic || column.artificial {
                return 0.0;
            }
            -column.reduced_cost(&self.prices) / column.cost
        };
        let best = |candidates: &[usize]| {
            let gains = candidates.iter().map(|&index| (index, gain(index)));
            let best = gains.max_by(|a, b| a.1.total_cmp(&b.1))?;
            (best.1 > WORTHWHILE).then_some(best.0)
        };
        if let Some(index) = best(&self.candidates) {
            return Some(index);
        }
        let all = self.columns.len();
        let mut gains = map_range(all, self.basis.len(), |index| (index, gain(index)));
        gains.retain(|found| found.1 > WORTHWHILE);
        gains.sort_by(|a, b| b.1.total_cmp(&a.1));
        gains.truncate(CANDIDATES);
        self.candidates = gains.into_iter().map(|found| found.0).collect();
        self.candidates.first().copied()
    }

    /// Takes a column into the basis. False if the pivot would be too small.
    fn pivot(&mut self, entering: usize) -> bool {
        let rows = self.basis.len();
        let column = &self.columns[entering];
        let change = map_range(rows, rows, |row| dot(&self.inverse[row], &column.fold));
        // First the largest step that keeps all λ above the tolerance, then the largest pivot among
        // those that end it.
        let limit =
            |row: usize, tolerance: f64| (self.values[row].max(0.0) + tolerance) / change[row];
        let candidates = || (0..rows).filter(|&row| change[row] > SMALLEST_PIVOT);
        let longest = candidates().map(|row| limit(row, TOLERANCE)).fold(f64::INFINITY, f64::min);
        let leaving = candidates()
            .filter(|&row| limit(row, 0.0) <= longest)
            .max_by(|&a, &b| change[a].total_cmp(&change[b]));
        let Some(leaving) = leaving else { return false };
        let step = limit(leaving, 0.0);
        let excess = column.reduced_cost(&self.prices) / change[leaving];

        let pivot = change[leaving];
        let pivot_row = self.inverse[leaving].clone();
        for_each_row(&mut self.inverse, |row, values| {
            if row == leaving {
                values.iter_mut().for_each(|value| *value /= pivot);
            } else if change[row] != 0.0 {
                let factor = change[row] / pivot;
                values.iter_mut().zip(&pivot_row).for_each(|(value, p)| *value -= factor * p);
            }
        });
        self.prices.iter_mut().zip(&pivot_row).for_each(|(price, p)| *price += excess * p);
        self.values.iter_mut().zip(&change).for_each(|(value, change)| *value -= step * change);
        self.values[leaving] = step;
        self.columns[self.basis[leaving]].is_basic = false;
        self.columns[entering].is_basic = true;
        self.basis[leaving] = entering;
        true
    }

    /// Makes the inverse of the basis anew, by Gauss and Jordan; `None` if there is none.
    fn invert(&mut self) -> Option<()> {
        let rows = self.basis.len();
        self.inverse = Vec::new();
        let mut matrix = vec![vec![0.0; rows]; rows];
        for (index, &column) in self.basis.iter().enumerate() {
            for (row, value) in matrix.iter_mut().zip(&self.columns[column].fold) {
                row[index] = *value;
            }
        }
        self.inverse = invert(matrix)?;
        self.since = 0;
        self.evaluate();
        Some(())
    }

    /// λ and prices from the inverse, refined once.
    fn evaluate(&mut self) {
        let rows = self.basis.len();
        let by_row = |weights: &[f64]| -> Vec<f64> {
            self.inverse.iter().map(|row| dot(row, weights)).collect()
        };
        let by_column = |weights: &[f64]| {
            let mut sums = vec![0.0; rows];
            for (row, weight) in self.inverse.iter().zip(weights) {
                sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += weight * value);
            }
            sums
        };
        let mut values = by_row(&vec![1.0; rows]);
        let mut missing = vec![1.0; rows];
        for (&index, value) in self.basis.iter().zip(&values) {
            let fold = &self.columns[index].fold;
            missing.iter_mut().zip(fold).for_each(|(missing, p)| *missing -= value * p);
        }
        let residual = missing.iter().map(|missing| missing.abs()).fold(0.0, f64::max);
        values.iter_mut().zip(by_row(&missing)).for_each(|(value, change)| *value += change);

        let costs: Vec<f64> = self.basis.iter().map(|&index| self.columns[index].cost).collect();
        let mut prices = by_column(&costs);
        let worth = |&index: &usize| dot(&prices, &self.columns[index].fold);
        let missing: Vec<f64> =
            self.basis.iter().map(worth).zip(&costs).map(|(worth, cost)| cost - worth).collect();
        prices.iter_mut().zip(by_column(&missing)).for_each(|(price, change)| *price += change);
        (self.values, self.prices, self.residual) = (values, prices, residual);
    }
}

/// The inverse of a matrix in its own place, by Gauss and Jordan with the largest pivot of each column;
/// `None` if there is none.
fn invert(mut matrix: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let mut swaps = Vec::with_capacity(matrix.len());
    for column in 0..matrix.len() {
        let size = |row: &usize| matrix[*row][column].abs();
        let pivot = (column..matrix.len()).max_by(|a, b| size(a).total_cmp(&size(b)))?;
        if size(&pivot).is_nan() || size(&pivot) <= f64::MIN_POSITIVE {
            return None;
        }
        matrix.swap(pivot, column);
        swaps.push(pivot);
        let pivot_row = &mut matrix[column];
        let scale = 1.0 / std::mem::replace(&mut pivot_row[column], 1.0);
        pivot_row.iter_mut().for_each(|value| *value *= scale);
        let pivot_row = pivot_row.clone();
        for_each_row(&mut matrix, |row, values| {
            let factor = values[column];
            if row != column && factor != 0.0 {
                values[column] = 0.0;
                values.iter_mut().zip(&pivot_row).for_each(|(value, p)| *value -= factor * p);
            }
        });
    }
    for (column, pivot) in swaps.into_iter().enumerate().rev() {
        matrix.iter_mut().for_each(|row| row.swap(column, pivot));
    }
    Some(matrix)
}

/// Changes every row, on several threads if there are many.
fn for_each_row(matrix: &mut [Vec<f64>], change: impl Fn(usize, &mut [f64]) + Sync) {
    let change = |(row, values): (usize, &mut Vec<f64>)| change(row, values);
    match matrix.len() >= PARALLEL {
        true => matrix.par_iter_mut().enumerate().for_each(change),
        false => matrix.iter_mut().enumerate().for_each(change),
    }
}

/// What `one` makes of every number below `end`, on several threads if there are many rows.
fn map_range<T: Send>(end: usize, rows: usize, one: impl Fn(usize) -> T + Sync) -> Vec<T> {
    if rows >= PARALLEL { parallel::map_range(0..end, one) } else { (0..end).map(one).collect() }
}

/// Σ a b, in eight partial sums.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; 8];
    let (a_blocks, b_blocks) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f64 = a_blocks.remainder().iter().zip(b_blocks.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a_blocks.zip(b_blocks) {
        for lane in 0..8 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum::<f64>() + rest
}
