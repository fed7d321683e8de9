//! Exponential mechanisms at two adjacent data sets.
//!
//! ln P_x(r) = −rate_x H(x, r) − ln Z_x is computed for every output r in the ball of x. Outside of
//! the ball H = 1, and ln P_x is one number. A pair therefore costs two balls. Outside of both the
//! ratio is a constant, which counts only if there is such an output.

use std::cmp::Ordering;

use super::line;
use super::pair_comparison::{Class, PairComparison, Witness};
use crate::numeric::exp::exp_nonpositive;
use crate::numeric::{Sum, exp_accurate, ln};
use crate::operations::{Operation, count};
use crate::posterior::error_field::Reach;
use crate::posterior::model::{Counts, approximate_compositions};
use crate::posterior::setting::Setting;
use crate::posterior::simplex::{BLOCK, Region};

/// The outputs of a ball as rows in lexicographic order: a head (all coordinates but the last two)
/// and an interval of the coordinate after it.
#[derive(Default)]
struct Rows {
    heads: Vec<Vec<u64>>,
    starts: Vec<u64>,
    /// For each row the position after its last output.
    ends: Vec<usize>,
}

impl Rows {
    /// Adds outputs that follow all others.
    fn push(&mut self, head: &[u64], start: u64, len: usize) {
        let end = self.ends.last().copied().unwrap_or(0) + len;
        match self.ends.last_mut() {
            Some(last) if self.heads.last().is_some_and(|h| h == head) => *last = end,
            _ => {
                self.heads.push(head.to_vec());
                self.starts.push(start);
                self.ends.push(end);
            }
        }
    }
}

/// An exponential mechanism at one data set.
pub struct Scored {
    n: u64,
    k: usize,
    /// An upper bound on the rounding error of ln P.
    rounding: f64,
    rows: Rows,
    /// ln P of the outputs in the ball.
    inside: Vec<f64>,
    /// ln P of every other output.
    outside: f64,
}

impl Scored {
    pub fn new(setting: &Setting, rate: f64) -> Self {
        let posterior = &setting.posterior;
        let (n, k) = (posterior.n(), posterior.k());
        let (rows, mut inside) = distances(setting);
        let plateau = approximate_compositions(n, k) - inside.len() as f64;
        // The largest mass is 1, at the data itself: masses that underflow do not count.
        let mut normaliser: Sum = inside.chunks(BLOCK).map(|block| mass(block, rate)).collect();
        normaliser.add(plateau * exp_accurate(-rate));
        let ln_normaliser = ln(normaliser.value());
        let largest = (setting.distance.bound())
            .unwrap_or_else(|| inside.iter().copied().fold(0.0, f64::max));
        let rounding = rounding(setting, rate, largest, ln_normaliser);
        for value in &mut inside {
            *value = -rate * *value - ln_normaliser;
        }
        Self { n, k, rounding, rows, inside, outside: -rate - ln_normaliser }
    }

    /// The values of one row, and the coordinate they start at.
    fn row(&self, row: usize) -> Option<Interval<'_>> {
        let head = self.rows.heads.get(row)?;
        let from = row.checked_sub(1).map_or(0, |before| self.rows.ends[before]);
        let values = &self.inside[from..self.rows.ends[row]];
        Some(Interval { head, start: self.rows.starts[row], values })
    }

    fn contains(&self, output: &[u64]) -> bool {
        let (head, running) = (&output[..self.k - 2], output[self.k - 2]);
        let row = self.rows.heads.binary_search_by(|h| h.as_slice().cmp(head));
        row.ok().and_then(|row| self.row(row)).is_some_and(|row| row.span().contains(&running))
    }
}

/// An upper bound on the rounding error of ln P = −rate H − ln Z. The error of each of the two terms is
/// at most the rate times the error of H.
fn rounding(setting: &Setting, rate: f64, largest: f64, ln_normaliser: f64) -> f64 {
    let (relative, absolute) = setting.distance.accuracy();
    2.0 * rate * (relative * largest + absolute)
        + ADDING
        + 1e-15 * (1.0 + rate + ln_normaliser.abs())
}

/// Distances of all outputs in the ball.
fn distances(setting: &Setting) -> (Rows, Vec<f64>) {
    let posterior = &setting.posterior;
    let mut rows = Rows::default();
    if posterior.k() == 2
        && let Some(power) = setting.distance.power(posterior)
    {
        let (start, values) = line::distances(posterior, power);
        rows.push(&[], start, values.len());
        return (rows, values);
    }
    let field = setting.distance.field(posterior, &Reach::ball(posterior));
    let region = field.ball().unwrap_or_else(|| Region::simplex(posterior.n(), posterior.k()));
    let blocks = region.blocks();
    let mut values = vec![0.0; blocks.outputs() as usize];
    let mut next = 0;
    for block in 0..blocks.len() {
        region.walk(&blocks, block, |row| {
            rows.push(row.head, row.start, row.len);
            field.row(row, &mut values[next..next + row.len]);
            next += row.len;
        });
    }
    (rows, values)
}

/// Σ e^(−rate · distance), in lanes that a processor can add at once.
fn mass(distances: &[f64], rate: f64) -> f64 {
    let mut lanes = [0.0; LANES];
    let (whole, rest) = distances.as_chunks::<LANES>();
    for chunk in whole {
        for (lane, distance) in lanes.iter_mut().zip(chunk) {
            *lane += exp_nonpositive(-rate * distance);
        }
    }
    for (lane, distance) in lanes.iter_mut().zip(rest) {
        *lane += exp_nonpositive(-rate * distance);
    }
    lanes.iter().sum()
}

const LANES: usize = 4;

/// The relative rounding error of a sum of [`BLOCK`] terms in lanes is at most this.
const ADDING: f64 = 1.2e-16 * (BLOCK / LANES) as f64;

/// A piece of a row.
#[derive(Clone, Copy)]
struct Interval<'a> {
    head: &'a [u64],
    start: u64,
    values: &'a [f64],
}

impl<'a> Interval<'a> {
    fn span(&self) -> std::ops::Range<u64> {
        self.start..self.start + self.values.len() as u64
    }

    /// The part whose coordinates lie in `span`.
    fn within(&self, span: std::ops::Range<u64>) -> Self {
        let own = self.span();
        let start = span.start.clamp(own.start, own.end);
        let end = span.end.clamp(start, own.end);
        let values = &self.values[(start - own.start) as usize..(end - own.start) as usize];
        Self { start, values, ..*self }
    }
}

/// Outputs of one row that lie in the ball of x, of x', or of both.
#[derive(Clone, Copy)]
struct Piece<'a> {
    head: &'a [u64],
    start: u64,
    values: Values<'a>,
}

/// ln P_x and ln P_x' of some outputs.
#[derive(Clone, Copy)]
enum Values<'a> {
    Both(&'a [f64], &'a [f64]),
    Left(&'a [f64], f64),
    Right(f64, &'a [f64]),
}

impl Values<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Both(values, _) | Self::Left(values, _) | Self::Right(_, values) => values.len(),
        }
    }

    fn at(&self, t: usize) -> (f64, f64) {
        match *self {
            Self::Both(left, right) => (left[t], right[t]),
            Self::Left(left, right) => (left[t], right),
            Self::Right(left, right) => (left, right[t]),
        }
    }
}

/// An exponential mechanism at two adjacent data sets.
pub struct ScoredPair<'a> {
    pub at_x: &'a Scored,
    pub at_moved: &'a Scored,
}

impl<'a> ScoredPair<'a> {
    /// Calls `visit` for every output in one of the balls, once, in lexicographic order of rows.
    /// Returns the number of outputs in neither.
    fn pieces(&self, mut visit: impl FnMut(Piece<'a>)) -> f64 {
        let mut seen = 0;
        let mut count = |piece: Piece<'a>| {
            let len = piece.values.len();
            if len > 0 {
                seen += len;
                visit(piece);
            }
        };
        let (mut left, mut right) = (0, 0);
        loop {
            let (a, b) = (self.at_x.row(left), self.at_moved.row(right));
            let order = match (&a, &b) {
                (Some(a), Some(b)) => a.head.cmp(b.head),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (None, None) => break,
            };
            let (a, b) = (a.filter(|_| order.is_le()), b.filter(|_| order.is_ge()));
            self.row_pieces(a, b, &mut count);
            left += usize::from(a.is_some());
            right += usize::from(b.is_some());
        }
        approximate_compositions(self.at_x.n, self.at_x.k) - seen as f64
    }

    /// The pieces of two rows with the same head (one of which may be missing).
    fn row_pieces(
        &self,
        a: Option<Interval<'a>>,
        b: Option<Interval<'a>>,
        visit: &mut impl FnMut(Piece<'a>),
    ) {
        let mut left = |part: Interval<'a>| {
            let values = Values::Left(part.values, self.at_moved.outside);
            visit(Piece { head: part.head, start: part.start, values });
        };
        let (Some(a), Some(b)) = (a, b) else {
            a.into_iter().for_each(&mut left);
            if let Some(b) = b {
                visit(self.right(b));
            }
            return;
        };
        left(a.within(0..b.start));
        left(a.within(b.span().end..u64::MAX));
        let (shared_a, shared_b) = (a.within(b.span()), b.within(a.span()));
        let values = Values::Both(shared_a.values, shared_b.values);
        visit(Piece { head: a.head, start: shared_a.start, values });
        visit(self.right(b.within(0..a.start)));
        visit(self.right(b.within(a.span().end..u64::MAX)));
    }

    fn right(&self, part: Interval<'a>) -> Piece<'a> {
        let values = Values::Right(self.at_x.outside, part.values);
        Piece { head: part.head, start: part.start, values }
    }

    /// ln P_x − ln P_x' outside of both balls.
    fn plateau(&self) -> f64 {
        self.at_x.outside - self.at_moved.outside
    }

    /// The first output in neither ball.
    fn far_output(&self) -> Option<Counts> {
        let region = Region::simplex(self.at_x.n, self.at_x.k);
        let blocks = region.blocks();
        let mut found = None;
        for block in 0..blocks.len() {
            region.walk(&blocks, block, |row| {
                let mut output = vec![0; self.at_x.k];
                for t in 0..row.len {
                    if found.is_some() {
                        return;
                    }
                    row.output(t, &mut output);
                    let near = self.at_x.contains(&output) || self.at_moved.contains(&output);
                    found = (!near).then(|| output.clone());
                }
            });
            if found.is_some() {
                break;
            }
        }
        found
    }
}

/// Whether a number of outputs is not zero: it is a difference of two large numbers, with rounding.
fn any(outputs: f64) -> bool {
    outputs >= 0.5
}

/// The smallest and the largest ratio so far, in lanes.
struct Extremes {
    low: [f64; LANES],
    high: [f64; LANES],
}

impl Extremes {
    fn new() -> Self {
        Self { low: [f64::INFINITY; LANES], high: [f64::NEG_INFINITY; LANES] }
    }

    #[inline(always)]
    fn add(&mut self, lane: usize, ratio: f64) {
        let (low, high) = (&mut self.low[lane], &mut self.high[lane]);
        *low = if ratio < *low { ratio } else { *low };
        *high = if ratio > *high { ratio } else { *high };
    }

    fn add_both(&mut self, left: &[f64], right: &[f64]) {
        let ((a, a_rest), (b, b_rest)) = (left.as_chunks::<LANES>(), right.as_chunks::<LANES>());
        for (a, b) in a.iter().zip(b) {
            for lane in 0..LANES {
                self.add(lane, a[lane] - b[lane]);
            }
        }
        a_rest.iter().zip(b_rest).for_each(|(a, b)| self.add(0, a - b));
    }

    fn add_values(&mut self, values: Values) {
        count(Operation::Compared, values.len());
        match values {
            Values::Both(left, right) => self.add_both(left, right),
            Values::Left(left, right) => left.iter().for_each(|left| self.add(0, left - right)),
            Values::Right(left, right) => right.iter().for_each(|right| self.add(0, left - right)),
        }
    }

    /// The largest absolute value.
    fn largest(&self) -> f64 {
        let low = self.low.iter().copied().fold(f64::INFINITY, f64::min);
        self.high.iter().copied().fold(-low, f64::max)
    }
}

impl PairComparison for ScoredPair<'_> {
    fn loss(&self) -> f64 {
        let mut extremes = Extremes::new();
        let far = self.pieces(|piece| extremes.add_values(piece.values));
        if any(far) {
            extremes.add(0, self.plateau());
        }
        extremes.largest()
    }

    fn rounding(&self) -> f64 {
        self.at_x.rounding + self.at_moved.rounding
    }

    fn classes(&self) -> Vec<Class> {
        let mut classes = Vec::new();
        let far = self.pieces(|piece| {
            classes.extend((0..piece.values.len()).map(|t| {
                let (left, right) = piece.values.at(t);
                Class::new(left, right, 1.0)
            }));
        });
        if any(far) {
            classes.push(Class::new(self.at_x.outside, self.at_moved.outside, far));
        }
        classes
    }

    fn witness(&self) -> Witness {
        let loss = self.loss();
        let mut found = None;
        self.pieces(|piece| {
            let ratio = |t: usize| {
                let (left, right) = piece.values.at(t);
                left - right
            };
            if found.is_none() {
                let t = (0..piece.values.len()).find(|&t| ratio(t).abs() == loss);
                found = t.map(|t| {
                    let (mut output, running) = (piece.head.to_vec(), piece.start + t as u64);
                    let used: u64 = piece.head.iter().sum();
                    output.extend([running, self.at_x.n - used - running]);
                    Witness { output, forward: ratio(t) >= 0.0 }
                });
            }
        });
        found.unwrap_or_else(|| {
            let output = self.far_output().expect("an output attains the loss");
            Witness { output, forward: self.plateau() >= 0.0 }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::pair_comparison::deltas;
    use super::*;

    /// Made-up numbers on the six outputs of two records in three categories.
    fn made_up(outputs: &[(u64, u64)], inside: &[f64], outside: f64) -> Scored {
        let mut rows = Rows::default();
        outputs.iter().for_each(|&(head, start)| rows.push(&[head], start, 1));
        Scored { n: 2, k: 3, rounding: 1e-15, rows, inside: inside.to_vec(), outside }
    }

    #[test]
    fn each_output_counts_once() {
        let at_x = made_up(&[(0, 0), (0, 1)], &[-1.0, -2.0], -12.0);
        let at_moved = made_up(&[(0, 1), (1, 0)], &[-2.0, -6.0], -4.0);
        let pair = ScoredPair { at_x: &at_x, at_moved: &at_moved };
        // Ratios 3, 0 and −6 in the balls, and −8 at the three outputs outside.
        assert_eq!(pair.loss(), 8.0);
        let Witness { output, forward } = pair.witness();
        assert_eq!((output, forward), (vec![0, 2, 0], false));
        let e = exp_accurate;
        let direct = [e(-1.0) - e(-4.0), (e(-6.0) - e(-12.0)) + 3.0 * (e(-4.0) - e(-12.0))];
        for (ours, direct) in deltas(&pair.classes(), 0.0).into_iter().zip(direct) {
            assert!((ours - direct).abs() < 1e-16, "{ours} {direct}");
        }
    }

    #[test]
    fn a_plateau_without_outputs_does_not_count() {
        let all = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0)];
        let at_x = made_up(&all, &[-1.0; 6], -100.0);
        let at_moved = made_up(&all, &[-1.5; 6], 0.0);
        let pair = ScoredPair { at_x: &at_x, at_moved: &at_moved };
        assert_eq!(pair.loss(), 0.5);
        assert_eq!(pair.witness().output, [0, 0, 2]);
        assert_eq!(deltas(&pair.classes(), 0.5), [0.0; 2]);
    }
}
