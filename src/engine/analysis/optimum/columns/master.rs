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
}

/// The program and its basis.
pub struct Master {
    /// All columns.
    pub columns: Vec<Column>,
    /// The basic columns.
    basis: Vec<usize>,
    is_basic: Vec<bool>,
    /// Columns that were worth most when all were last looked at.
    candidates: Vec<usize>,
    /// The inverse of the basic columns, row by row.
    inverse: Vec<f64>,
    /// λ of the basic columns.
    pub values: Vec<f64>,
    /// The price of every orbit.
    pub prices: Vec<f64>,
    /// How far the row sums were from one before λ was refined.
    residual: f64,
    /// Pivots so far.
    pub pivots: u32,
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
    pub fn new(columns: Vec<Column>, dear: f64) -> Option<Self> {
        let rows = columns.len();
        let mut master = Self {
            basis: (0..rows).collect(),
            is_basic: vec![true; rows],
            candidates: Vec::new(),
            inverse: Vec::new(),
            values: Vec::new(),
            prices: Vec::new(),
            columns,
            residual: 0.0,
            pivots: 0,
            since: 0,
        };
        master.invert()?;
        for row in 0..rows {
            if master.values[row] < 0.0 {
                let column = &master.columns[master.basis[row]];
                let negative = Column {
                    fold: column.fold.iter().map(|value| -value).collect(),
                    cost: dear,
                    f: Vec::new(),
                    output: column.output,
                    artificial: true,
                };
                master.is_basic[master.basis[row]] = false;
                master.basis[row] = master.columns.len();
                master.columns.push(negative);
                master.is_basic.push(true);
                master.inverse[row * rows..][..rows].iter_mut().for_each(|value| *value *= -1.0);
            }
        }
        master.evaluate();
        Some(master)
    }

    fn rows(&self) -> usize {
        self.basis.len()
    }

    /// Adds a column that is not basic.
    pub fn add(&mut self, column: Column) {
        self.columns.push(column);
        self.is_basic.push(false);
    }

    /// Basic columns and their λ.
    pub fn basic(&self) -> impl Iterator<Item = (&Column, f64)> {
        self.basis.iter().map(|&place| &self.columns[place]).zip(self.values.iter().copied())
    }

    /// The value of the program.
    pub fn objective(&self) -> f64 {
        self.basic().map(|(column, value)| column.cost * value).sum()
    }

    /// Forgets columns that are not basic and cost more than they are worth by the part `slack`.
    pub fn forget(&mut self, slack: f64) {
        let keep: Vec<bool> = (0..self.columns.len())
            .map(|place| {
                let column = &self.columns[place];
                self.is_basic[place] || self.reduced_cost(column) <= slack * column.cost
            })
            .collect();
        let mut new_place = vec![usize::MAX; keep.len()];
        let kept = (0..keep.len()).filter(|&place| keep[place]);
        kept.enumerate().for_each(|(new, old)| new_place[old] = new);
        let mut place = 0..;
        self.columns.retain(|_| place.next().is_some_and(|place: usize| keep[place]));
        let mut place = 0..;
        self.is_basic.retain(|_| place.next().is_some_and(|place: usize| keep[place]));
        self.basis.iter_mut().for_each(|place| *place = new_place[*place]);
        self.candidates.clear();
    }

    pub fn reduced_cost(&self, column: &Column) -> f64 {
        column.cost - dot(&self.prices, &column.fold)
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
                self.pivots += 1;
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
        let gain = |place: usize| {
            let column = &self.columns[place];
            if self.is_basic[place] || column.artificial {
                return 0.0;
            }
            -self.reduced_cost(column) / column.cost
        };
        let best = |candidates: &[usize]| {
            let gains = candidates.iter().map(|&place| (place, gain(place)));
            let best = gains.max_by(|a, b| a.1.total_cmp(&b.1))?;
            (best.1 > WORTHWHILE).then_some(best.0)
        };
        if let Some(place) = best(&self.candidates) {
            return Some(place);
        }
        let all = 0..self.columns.len();
        let mut gains: Vec<(usize, f64)> = match self.rows() >= PARALLEL {
            true => parallel::map_range(all, |place| (place, gain(place))),
            false => all.map(|place| (place, gain(place))).collect(),
        };
        gains.retain(|found| found.1 > WORTHWHILE);
        gains.sort_by(|a, b| b.1.total_cmp(&a.1));
        gains.truncate(CANDIDATES);
        self.candidates = gains.into_iter().map(|found| found.0).collect();
        self.candidates.first().copied()
    }

    /// Takes a column into the basis. False if the pivot would be too small.
    fn pivot(&mut self, entering: usize) -> bool {
        let rows = self.rows();
        let column = &self.columns[entering];
        let change: Vec<f64> = match rows >= PARALLEL {
            true => parallel::map_range(0..rows, |row| {
                dot(&self.inverse[row * rows..][..rows], &column.fold)
            }),
            false => self.inverse.chunks(rows).map(|row| dot(row, &column.fold)).collect(),
        };
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
        let excess = self.reduced_cost(column) / change[leaving];

        let pivot = change[leaving];
        let pivot_row: Vec<f64> = self.inverse[leaving * rows..][..rows].to_vec();
        let update = |(row, values): (usize, &mut [f64])| {
            if row == leaving {
                values.iter_mut().for_each(|value| *value /= pivot);
            } else if change[row] != 0.0 {
                let factor = change[row] / pivot;
                values.iter_mut().zip(&pivot_row).for_each(|(value, p)| *value -= factor * p);
            }
        };
        match rows >= PARALLEL {
            true => self.inverse.par_chunks_mut(rows).enumerate().for_each(update),
            false => self.inverse.chunks_mut(rows).enumerate().for_each(update),
        }
        self.prices.iter_mut().zip(&pivot_row).for_each(|(price, p)| *price += excess * p);
        self.values.iter_mut().zip(&change).for_each(|(value, change)| *value -= step * change);
        self.values[leaving] = step;
        self.is_basic[self.basis[leaving]] = false;
        self.is_basic[entering] = true;
        self.basis[leaving] = entering;
        true
    }

    /// Makes the inverse of the basis anew, by Gauss and Jordan; `None` if there is none.
    fn invert(&mut self) -> Option<()> {
        let rows = self.rows();
        self.inverse = Vec::new();
        let mut matrix = vec![0.0; rows * rows];
        for (place, &column) in self.basis.iter().enumerate() {
            for (row, value) in self.columns[column].fold.iter().enumerate() {
                matrix[row * rows + place] = *value;
            }
        }
        self.inverse = invert(matrix, rows)?;
        self.since = 0;
        self.evaluate();
        Some(())
    }

    /// λ and prices from the inverse, refined once.
    fn evaluate(&mut self) {
        let rows = self.rows();
        let by_row = |weights: &[f64]| -> Vec<f64> {
            self.inverse.chunks(rows).map(|row| dot(row, weights)).collect()
        };
        let by_column = |weights: &[f64]| {
            let mut sums = vec![0.0; rows];
            for (row, weight) in self.inverse.chunks(rows).zip(weights) {
                sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += weight * value);
            }
            sums
        };
        let mut values = by_row(&vec![1.0; rows]);
        let mut missing = vec![1.0; rows];
        for (&place, value) in self.basis.iter().zip(&values) {
            let fold = &self.columns[place].fold;
            missing.iter_mut().zip(fold).for_each(|(missing, p)| *missing -= value * p);
        }
        let residual = missing.iter().map(|missing| missing.abs()).fold(0.0, f64::max);
        values.iter_mut().zip(by_row(&missing)).for_each(|(value, change)| *value += change);

        let costs: Vec<f64> = self.basis.iter().map(|&place| self.columns[place].cost).collect();
        let mut prices = by_column(&costs);
        let worth = |&place: &usize| dot(&prices, &self.columns[place].fold);
        let missing: Vec<f64> =
            self.basis.iter().map(worth).zip(&costs).map(|(worth, cost)| cost - worth).collect();
        prices.iter_mut().zip(by_column(&missing)).for_each(|(price, change)| *price += change);
        (self.values, self.prices, self.residual) = (values, prices, residual);
    }
}

/// The inverse of a matrix in its own place, by Gauss and Jordan with the largest pivot of each column;
/// `None` if there is none.
fn invert(mut matrix: Vec<f64>, rows: usize) -> Option<Vec<f64>> {
    let mut swaps = Vec::with_capacity(rows);
    for column in 0..rows {
        let size = |row: &usize| matrix[row * rows + column].abs();
        let pivot = (column..rows).max_by(|a, b| size(a).total_cmp(&size(b)))?;
        if size(&pivot).is_nan() || size(&pivot) <= f64::MIN_POSITIVE {
            return None;
        }
        if pivot != column {
            let (above, below) = matrix.split_at_mut(pivot * rows);
            above[column * rows..][..rows].swap_with_slice(&mut below[..rows]);
        }
        swaps.push(pivot);
        let pivot_row = &mut matrix[column * rows..][..rows];
        let scale = 1.0 / pivot_row[column];
        pivot_row[column] = 1.0;
        pivot_row.iter_mut().for_each(|value| *value *= scale);
        let pivot_row = pivot_row.to_vec();
        let eliminate = |(row, values): (usize, &mut [f64])| {
            let factor = values[column];
            if row != column && factor != 0.0 {
                values[column] = 0.0;
                values.iter_mut().zip(&pivot_row).for_each(|(value, p)| *value -= factor * p);
            }
        };
        match rows >= PARALLEL {
            true => matrix.par_chunks_mut(rows).enumerate().for_each(eliminate),
            false => matrix.chunks_mut(rows).enumerate().for_each(eliminate),
        }
    }
    for (column, pivot) in swaps.into_iter().enumerate().rev() {
        if pivot != column {
            matrix.chunks_mut(rows).for_each(|row| row.swap(column, pivot));
        }
    }
    Some(matrix)
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
