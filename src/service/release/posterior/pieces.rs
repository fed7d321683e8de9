//! Weights of whole numbers that are too many for a table.

use super::weights::LogWeights;
use engine::numeric::{Sum, exp_accurate, expm1, ln, log1p};
use engine::posterior::simplex::Window;
use engine::rng::{Stream, draw_index, uniform};

/// Weights up to a factor: between knots, which are neighbours in the list, the logarithm is linear.
#[derive(Clone, Debug)]
pub(super) struct Pieces {
    knots: Vec<(u64, f64)>,
}

/// In the middle between two knots the logarithm is off by at most this. Draws have larger errors.
const BEND: f64 = 1e-4;

/// There are at least as many pieces, so that no bend is overlooked.
const PIECES: u64 = 64;

impl Pieces {
    /// The weights of a window whose logarithm is `ln_f`, smooth but at the `corners`.
    pub fn new(
        (low, high): Window,
        corners: impl Iterator<Item = u64>,
        ln_f: impl Fn(u64) -> Result<f64, String>,
    ) -> Result<Self, String> {
        let length = u128::from(high - low);
        let evenly =
            (0..=PIECES).map(|part| low + (length * u128::from(part) / u128::from(PIECES)) as u64);
        let mut ends: Vec<u64> =
            evenly.chain(corners.map(|corner| corner.clamp(low, high))).collect();
        ends.sort_unstable();
        ends.dedup();
        let at = |x: u64| Ok::<_, String>((x, ln_f(x)?));
        let mut open = ends.into_iter().rev().map(at).collect::<Result<Vec<_>, _>>()?;
        let mut knots = Vec::new();
        // The last of those that are open is the next end: halfway to it there may have to be a knot.
        while let Some(start) = open.pop() {
            knots.push(start);
            while let Some(&end) = open.last() {
                let middle = start.0.midpoint(end.0);
                let found = ln_f(middle)?;
                let part = (middle - start.0) as f64 / (end.0 - start.0) as f64;
                let bend = found - start.1 - part * (end.1 - start.1);
                if middle == start.0 || bend.abs() <= BEND {
                    break;
                }
                open.push((middle, found));
            }
        }
        Ok(Self { knots })
    }

    /// Every number is a knot.
    pub fn table(LogWeights { first, logs }: LogWeights) -> Self {
        Self { knots: (first..).zip(logs).collect() }
    }

    /// The smallest number and the largest.
    pub fn window(&self) -> Window {
        (self.knots[0].0, self.knots[self.knots.len() - 1].0)
    }

    /// Weights are put in the order of these numbers.
    pub fn key(&self) -> Vec<u64> {
        self.knots.iter().flat_map(|(x, log)| [*x, log.to_bits()]).collect()
    }

    /// The weight of every x times x.
    pub fn times_number(&self) -> Self {
        let (low, high) = self.window();
        let ln_f = |x: u64| Ok(self.ln(x) + ln(x as f64));
        let corners = self.knots.iter().map(|knot| knot.0.max(1));
        let found = Self::new((low.max(1), high.max(1)), corners, ln_f);
        found.expect("nothing is refused")
    }

    /// The logarithm of the weight of x.
    pub fn ln(&self, x: u64) -> f64 {
        let place = self.knots.partition_point(|knot| knot.0 <= x);
        let Some(start) = place.checked_sub(1).map(|place| self.knots[place]) else {
            return f64::NEG_INFINITY;
        };
        match self.knots.get(place) {
            _ if start.0 == x => start.1,
            Some(end) => {
                start.1 + (end.1 - start.1) * ((x - start.0) as f64 / (end.0 - start.0) as f64)
            }
            None => f64::NEG_INFINITY,
        }
    }

    /// The largest logarithm of a weight times e^(−tilt x), over all x from `least` on.
    pub fn ln_largest(&self, tilt: f64, least: u64) -> f64 {
        let ends = self.knots.iter().filter(|knot| knot.0 >= least).copied();
        let ends = ends.chain([(least, self.ln(least))]);
        ends.map(|(x, log)| log - tilt * x as f64).fold(f64::NEG_INFINITY, f64::max)
    }

    /// The weight of every x times e^(−tilt x).
    pub fn tilted(&self, tilt: f64) -> Tilted {
        let starts = self.knots.iter();
        let ends = self.knots.iter().skip(1).map(Some).chain([None]);
        let piece = |(start, end): (&(u64, f64), Option<&(u64, f64)>)| {
            let length = end.map_or(1, |end| end.0 - start.0);
            let slope = match end {
                Some(end) if length > 1 => (end.1 - start.1) / length as f64 - tilt,
                _ => 0.0,
            };
            Piece { start: start.0, length: length as f64, slope }
        };
        let pieces: Vec<Piece> = starts.zip(ends).map(piece).collect();
        let first = self.knots[0].0;
        let logs: Vec<f64> = (pieces.iter().zip(&self.knots))
            .map(|(piece, (x, log))| log - tilt * (x - first) as f64 + piece.ln_weight())
            .collect();
        let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut sum = Sum::default();
        let up_to = |log: f64| {
            sum.add(exp_accurate(log - largest));
            sum.value()
        };
        let below: Vec<f64> = logs.into_iter().map(up_to).collect();
        Tilted { ln_sum: largest + ln(sum.value()) - tilt * first as f64, pieces, below }
    }
}

/// Weights that can be drawn from.
pub(super) struct Tilted {
    pieces: Vec<Piece>,
    /// The running sums of their weights, relative to the largest.
    below: Vec<f64>,
    /// The logarithm of the sum of all weights.
    pub ln_sum: f64,
}

/// The weights e^(slope j) of the numbers start + j, j < length.
struct Piece {
    start: u64,
    length: f64,
    slope: f64,
}

impl Tilted {
    pub fn draw(&self, rng: &mut Stream) -> u64 {
        self.pieces[draw_index(&self.below, rng)].draw(rng)
    }

    pub fn mean(&self) -> f64 {
        let mut before = 0.0;
        let part = |(piece, below): (&Piece, &f64)| {
            let weight = below - before;
            before = *below;
            weight * (piece.start as f64 + piece.mean())
        };
        let sum: f64 = self.pieces.iter().zip(&self.below).map(part).sum();
        sum / self.below[self.below.len() - 1]
    }
}

impl Piece {
    /// The logarithm of the sum of its weights.
    fn ln_weight(&self) -> f64 {
        let Self { length, slope, .. } = *self;
        let falling = -slope.abs();
        match falling == 0.0 || length == 1.0 {
            true => ln(length),
            false => slope.max(0.0) * (length - 1.0) + ln(expm1(falling * length) / expm1(falling)),
        }
    }

    /// The mean of j.
    fn mean(&self) -> f64 {
        let Self { length, slope, .. } = *self;
        let falling = -slope.abs();
        let mean = match falling * length > -1e-5 {
            true => 0.5 * (length - 1.0),
            false => 1.0 / expm1(-falling) - length / expm1(-falling * length),
        };
        if slope > 0.0 { length - 1.0 - mean } else { mean }
    }

    fn draw(&self, rng: &mut Stream) -> u64 {
        let Self { start, length, slope } = *self;
        if length == 1.0 {
            return start;
        }
        let (falling, place) = (-slope.abs(), uniform(rng));
        let steps = match falling == 0.0 {
            true => place * length,
            false => log1p(place * expm1(falling * length)) / falling,
        };
        let steps = steps.floor().clamp(0.0, length - 1.0) as u64;
        if slope > 0.0 { start + (length as u64 - 1 - steps) } else { start + steps }
    }
}
