//! The weights that make Σ_r w(r) a^(d(x, r)) equal to a target at every x: to 1 for the tight mechanism.
//!
//! The matrix a^(d(x, r)) is symmetric and positive definite, because it is a product of such matrices
//! over the coordinates. It is never stored: a product with it takes one pass (see [`super::kernel`]),
//! and the conjugate gradient method needs a few dozen of them. Several rounds, each with the true
//! residual, bring the residual down to rounding errors.
//!
//! On the whole lattice the matrix is a convolution. Its symbol is a quotient whose denominator is
//! Π |1 − a e^(i(θ_i − θ_j))|² over all pairs of categories. For few categories that denominator, a short
//! stencil, is the preconditioner. For more categories, where the steps would be ten thousands, it is the inverse of
//! the matrix up to rounding, if there are not too many orbits.

use std::collections::BTreeMap;

use super::kernel::{Decay, Rows, matrix};
use crate::numeric::{Sum, exp_accurate};
use crate::orbits::Orbits;
use crate::parallel::{self, checkpoint};

/// A residual of this size is a rounding error.
const ROUNDING: f64 = 4.0 * f64::EPSILON;

/// The most rounds of refinement.
const ROUNDS: usize = 12;

/// By how much one round reduces the residual.
const REDUCTION: f64 = 1e-9;

/// The most categories for which the stencil is the preconditioner: with more it is long.
pub const MOST_OF_STENCIL: usize = 4;

/// The most orbits for which the matrix is factorised: that takes a second or two.
pub const MOST_FACTORISED: usize = 1500;

/// The most steps of a round.
pub const STEPS: usize = 4000;

/// The same where the matrix is factorised: two or three are enough, if double precision is.
const FEW_STEPS: usize = 20;

/// The weight of every orbit, starting from a guess, for a `target` whose largest value is about 1. The
/// residual is at most `tolerance`, or as small as rounding allows.
pub fn solve(
    orbits: &Orbits,
    decay: &Decay,
    rate: f64,
    target: &[f64],
    guess: Vec<f64>,
    tolerance: f64,
) -> Vec<f64> {
    let preconditioner = Preconditioner::new(orbits, rate);
    let _nearing = parallel::nearing();
    let mut first = f64::NAN;
    let mut weights = guess;
    let mut best = (f64::INFINITY, weights.clone());
    for _ in 0..ROUNDS {
        let residual = residual(orbits, decay, target, &weights);
        let largest = largest(&residual);
        first = if first.is_nan() { largest } else { first };
        if largest >= 0.5 * best.0 {
            break;
        }
        best = (largest, weights.clone());
        if largest <= tolerance.max(ROUNDING) {
            break;
        }
        let enough = f64::max(REDUCTION * largest, 0.5 * tolerance);
        let told = |left: f64| {
            parallel::reached(parallel::fallen(first, left, tolerance.max(ROUNDING)));
        };
        let step = conjugate_gradients(orbits, decay, &preconditioner, &residual, enough, told);
        weights.iter_mut().zip(step).for_each(|(weight, step)| *weight += step);
    }
    best.1
}

/// The target less Σ_r w(r) a^(d(x, r)), at every orbit of x.
fn residual(orbits: &Orbits, decay: &Decay, target: &[f64], weights: &[f64]) -> Vec<f64> {
    let sums = Rows::new(orbits, decay, weights).sums();
    target.iter().zip(sums).map(|(target, sum)| target - sum).collect()
}

fn largest(values: &[f64]) -> f64 {
    // What is not a number counts as infinite.
    let size = |value: &f64| if value.is_nan() { f64::INFINITY } else { value.abs() };
    values.iter().map(size).fold(0.0, f64::max)
}

/// The solution for the right-hand side `target`, up to a residual of `enough`. `told` is told what is left.
fn conjugate_gradients(
    orbits: &Orbits,
    decay: &Decay,
    preconditioner: &Preconditioner,
    target: &[f64],
    enough: f64,
    told: impl Fn(f64),
) -> Vec<f64> {
    // A vector has one value for each orbit, which stands for all its members.
    let inner = |u: &[f64], v: &[f64]| -> f64 {
        let terms = u.iter().zip(v).zip(&orbits.sizes).map(|((u, v), size)| u * v * size);
        Sum::from_iter(terms).value()
    };
    let mut solution = vec![0.0; target.len()];
    let mut rest = target.to_vec();
    let mut smoothed = preconditioner.apply(&rest);
    let mut direction = smoothed.clone();
    let mut product = inner(&rest, &smoothed);
    for _ in 0..preconditioner.steps() {
        let left = largest(&rest);
        if left <= enough || left == f64::INFINITY {
            break;
        }
        told(left);
        let image = Rows::new(orbits, decay, &direction).sums();
        let length = product / inner(&direction, &image);
        for (value, step) in solution.iter_mut().zip(&direction) {
            *value += length * step;
        }
        for (value, step) in rest.iter_mut().zip(&image) {
            *value -= length * step;
        }
        smoothed = preconditioner.apply(&rest);
        let before = std::mem::replace(&mut product, inner(&rest, &smoothed));
        let share = product / before;
        for (step, value) in direction.iter_mut().zip(&smoothed) {
            *step = value + share * *step;
        }
    }
    solution
}

enum Preconditioner {
    /// The stencil of the denominator, cut off at the faces: a sparse matrix over the orbits.
    Stencil {
        /// For every orbit where its entries end, and these: other orbits with their coefficients.
        ends: Vec<usize>,
        entries: Vec<(u32, f64)>,
    },
    /// The inverse of the matrix.
    Factorised {
        /// The square roots of the sizes of orbits.
        roots: Vec<f64>,
        /// L with L Lᵀ = S A S⁻¹, where A is the matrix over the orbits, and S has the roots on its diagonal.
        factor: Vec<Vec<f64>>,
    },
}

impl Preconditioner {
    fn new(orbits: &Orbits, rate: f64) -> Self {
        let (mut ends, mut entries) = (Vec::new(), Vec::new());
        let k = orbits.places.k;
        if k > MOST_OF_STENCIL && orbits.len() <= MOST_FACTORISED {
            return Self::factorised(orbits, rate);
        }
        if k <= MOST_OF_STENCIL {
            let stencil = stencil(k, exp_accurate(-rate));
            let mut moved = vec![0; k];
            for orbit in 0..orbits.len() {
                let x = orbits.member(orbit);
                let mut row = BTreeMap::new();
                for (z, coefficient) in &stencil {
                    let inside = moved.iter_mut().zip(x).zip(z).all(|((moved, &x), &z)| {
                        x.checked_add_signed(z).map(|v| *moved = v).is_some()
                    });
                    if inside {
                        *row.entry(orbits.of[orbits.places.of(&moved)]).or_insert(0.0) +=
                            coefficient;
                    }
                }
                entries.extend(row);
                ends.push(entries.len());
            }
        }
        Self::Stencil { ends, entries }
    }

    /// The most steps of a round.
    fn steps(&self) -> usize {
        match self {
            Self::Stencil { .. } => STEPS,
            Self::Factorised { .. } => FEW_STEPS,
        }
    }

    /// Cholesky's factorisation. The diagonal is larger by what rounding may take from it: what is solved with it is
    /// only near the solution, and a few more steps are taken.
    fn factorised(orbits: &Orbits, rate: f64) -> Self {
        let roots: Vec<f64> = orbits.sizes.iter().map(|size| size.sqrt()).collect();
        let mut factor: Vec<Vec<f64>> = Vec::with_capacity(roots.len());
        for (i, mut row) in matrix(orbits, rate).into_iter().enumerate() {
            checkpoint();
            row.truncate(i + 1);
            row.iter_mut().zip(&roots).for_each(|(value, root)| *value *= roots[i] / root);
            row[i] *= 1.0 + f64::EPSILON * roots.len() as f64;
            for j in 0..=i {
                let (known, other) = (&row[..j], if j < i { &factor[j][..] } else { &row[..] });
                let value = row[j] - known.iter().zip(other).map(|(a, b)| a * b).sum::<f64>();
                row[j] = if j < i { value / other[j] } else { value.sqrt() };
            }
            factor.push(row);
        }
        Self::Factorised { roots, factor }
    }

    fn apply(&self, values: &[f64]) -> Vec<f64> {
        match self {
            Self::Stencil { ends, .. } if ends.is_empty() => values.to_vec(),
            Self::Stencil { ends, entries } => {
                let mut start = 0;
                let row = |&end: &usize| {
                    let entries = &entries[std::mem::replace(&mut start, end)..end];
                    entries.iter().map(|&(orbit, factor)| factor * values[orbit as usize]).sum()
                };
                ends.iter().map(row).collect()
            }
            Self::Factorised { roots, factor } => {
                let mut solution: Vec<f64> =
                    values.iter().zip(roots).map(|(v, root)| v * root).collect();
                for (i, row) in factor.iter().enumerate() {
                    let known = row[..i].iter().zip(&solution).map(|(a, b)| a * b).sum::<f64>();
                    solution[i] = (solution[i] - known) / row[i];
                }
                for (i, row) in factor.iter().enumerate().rev() {
                    solution[i] /= row[i];
                    let value = solution[i];
                    solution.iter_mut().zip(&row[..i]).for_each(|(left, a)| *left -= a * value);
                }
                solution.iter().zip(roots).map(|(value, root)| value / root).collect()
            }
        }
    }
}
/// The coefficients of Π (1 + a² − a T_ij − a T_ji) over all pairs of categories, where T_ij moves a record
/// from i to j.
fn stencil(k: usize, a: f64) -> Vec<(Vec<i64>, f64)> {
    let mut stencil = BTreeMap::from([(vec![0; k], 1.0)]);
    for (i, j) in (0..k).flat_map(|i| (i + 1..k).map(move |j| (i, j))) {
        let mut product = BTreeMap::new();
        for (z, coefficient) in &stencil {
            for (records, factor) in [(0, 1.0 + a * a), (1, -a), (-1, -a)] {
                let mut z: Vec<i64> = z.clone();
                z[i] -= records;
                z[j] += records;
                *product.entry(z).or_insert(0.0) += factor * coefficient;
            }
        }
        stencil = product;
    }
    stencil.into_iter().collect()
}
