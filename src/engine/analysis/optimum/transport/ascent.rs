//! Better prices, where the flows of some outputs fall short.
//!
//! Near an output r all prices may be multiplied by the least ratio of cost and worth of a column of r, its
//! multiple. If it is below 1, the prices are too high for r. Every price is multiplied by a mean of the multiples
//! of the outputs around it, weighted by their columns. An output's weight grows as long as its multiple is below
//! 1 and shrinks while it is above: where prices are lowered for one output, others may be without a column in the
//! best mechanism. This is repeated. The bound does not rest on it: the flows for the last prices prove it.

use super::space::{DataSets, PIECE, Prices};
use crate::parallel;

/// In every sweep an output's weight is divided by its multiple to this power.
const PULL: f64 = 4.0;

/// In the last sweeps only multiples below 1 count, so that little is left that is not feasible.
pub const CLOSING: usize = 3;

/// A multiple and its inverse are at most this.
const LARGEST: f64 = 2.0;

/// A multiple that changes by less than this, relatively, is found.
const FOUND: f64 = 3e-3;

/// Searches for one multiple.
const SEARCHES: usize = 8;

/// Prices that have changed by less than this part are as before.
const SAME: f64 = 1e-5;

/// How often prices are improved before the last sweeps, if `nodes` are looked at each time.
pub fn sweeps(nodes: f64) -> usize {
    (3e7 / nodes).clamp(4.0, 24.0) as usize
}

/// What is known of every output, by orbit.
struct Output {
    /// Its multiple when it was last looked at.
    multiple: f64,
    weight: f64,
}

/// Prices that are nearly feasible, with a larger sum than those that flows for `y` allow.
pub fn improved(space: &DataSets, mut y: Vec<f64>) -> Vec<f64> {
    space.cap(&mut y);
    let radii = space.radii(&mut y);
    let sweeps = sweeps(radii.iter().map(|&radius| space.ball_size(radius)).sum());
    let mut prices = Prices::new(space, y);
    let mut outputs: Vec<Output> =
        radii.iter().map(|_| Output { multiple: 1.0, weight: 1.0 }).collect();
    // The prices at which outputs around them were last looked at.
    let mut seen = vec![0.0; radii.len()];
    for sweep in parallel::steps(0..sweeps + CLOSING) {
        let is_new = |(now, seen): (&f64, &f64)| (now - seen).abs() > SAME * seen.abs();
        let new: Vec<bool> = prices.y.iter().zip(&seen).map(is_new).collect();
        let renewed = new.iter().zip(&prices.y).zip(&mut seen).filter(|((new, _), _)| **new);
        renewed.for_each(|((_, now), seen)| *seen = *now);
        let mut means = vec![(0.0, 0.0); radii.len()];
        for piece in parallel::steps(0..radii.len().div_ceil(PIECE)) {
            let piece = piece * PIECE..radii.len().min((piece + 1) * PIECE);
            let found = parallel::map_range(piece.clone(), |output| {
                look_at(space, output, radii[output], &prices, &new, outputs[output].multiple)
            });
            for (output, (multiple, column)) in piece.zip(found) {
                let known = &mut outputs[output];
                known.multiple = multiple;
                let (weight, log) =
                    (known.weight * space.orbits.sizes[output], libm::log(multiple));
                known.weight *= libm::pow(multiple, -PULL);
                if sweep >= sweeps && multiple > 1.0 {
                    continue;
                }
                for (orbit, p) in column {
                    let mean = &mut means[orbit as usize];
                    *mean = (mean.0 + weight * p * log, mean.1 + weight * p);
                }
            }
        }
        let multiply = |(y, (sum, weight)): (f64, (f64, f64))| match y > 0.0 && weight > 0.0 {
            true => y * libm::exp(sum / weight),
            false => y,
        };
        let y = prices.y.into_iter().zip(means).map(multiply).collect();
        prices = Prices::new(space, y);
    }
    prices.y
}

/// An output's multiple, and its column. If no price around it is new, its multiple is as before.
fn look_at(
    space: &DataSets,
    output: usize,
    radius: u64,
    prices: &Prices,
    new: &[bool],
    before: f64,
) -> (f64, Vec<(u32, f64)>) {
    let mut column = space.cone(output, radius);
    let is_same = column.iter().all(|&(orbit, _)| !new[orbit as usize]);
    if is_same {
        return (before, column);
    }
    let near = space.around(output, radius);
    let mut multiple = before;
    for _ in 0..SEARCHES {
        let (search, ratio) = space.best_column(&near, output, prices, multiple);
        let change = ratio / multiple - 1.0;
        multiple = ratio.clamp(1.0 / LARGEST, LARGEST);
        column.iter_mut().zip(search.p).for_each(|(known, p)| known.1 = p);
        if change.abs() < FOUND {
            break;
        }
    }
    (multiple, column)
}
