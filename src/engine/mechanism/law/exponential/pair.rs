//! Exponential mechanisms at two adjacent data sets.
//!
//! ln P_x(r) = −rate_x H(x, r) − ln Z_x is computed for every output r in the ball of x. Outside of
//! the ball H = 1, and ln P_x is one number. A pair therefore costs two balls. Outside of both the
//! ratio is a constant, which counts only if there is such an output.

use std::ops::Range;

use super::super::Walked;
use super::super::pair::{Class, PairComparison, Witness};
use super::line;
use crate::numeric::{Sum, exp_accurate, kernel, ln};
use crate::posterior::distance::Distance;
use crate::posterior::error_field::Reach;
use crate::posterior::model::{Counts, Posterior, approximate_compositions};
use crate::posterior::simplex::{BLOCK, Region};

/// Outputs of a ball that agree in all coordinates but the last two, as an interval of the coordinate after
/// these.
struct BallRow {
    head: Counts,
    start: u64,
    /// The places of their values among all.
    places: Range<usize>,
}

/// Adds outputs that follow all others, in lexicographic order.
fn push(rows: &mut Vec<BallRow>, head: &[u64], start: u64, len: usize) {
    let next = rows.last().map_or(0, |row| row.places.end);
    match rows.last_mut() {
        Some(last) if last.head == head => last.places.end += len,
        _ => rows.push(BallRow { head: head.to_vec(), start, places: next..next + len }),
    }
}

/// An exponential mechanism at one data set.
pub struct Scored {
    n: u64,
    k: usize,
    /// An upper bound on the rounding error of ln P.
    rounding: f64,
    rows: Vec<BallRow>,
    /// ln P of the outputs in the ball.
    inside: Vec<f64>,
    /// ln P of every other output.
    outside: f64,
}

impl Scored {
    pub fn new(posterior: &Posterior, distance: &dyn Distance, rate: f64) -> Self {
        let (n, k) = (posterior.n(), posterior.k());
        let (rows, mut inside) = distances(posterior, distance);
        let plateau = approximate_compositions(n, k) - inside.len() as f64;
        // The largest mass is 1, at the data itself: masses that underflow do not count.
        let mut normaliser: Sum = inside.chunks(BLOCK).map(|block| mass(block, rate)).collect();
        normaliser.add(plateau * exp_accurate(-rate));
        let ln_normaliser = ln(normaliser.value());
        let largest =
            (distance.bound()).unwrap_or_else(|| inside.iter().copied().fold(0.0, f64::max));
        let rounding = rounding(distance, rate, largest, ln_normaliser);
        for value in &mut inside {
            *value = -rate * *value - ln_normaliser;
        }
        Self { n, k, rounding, rows, inside, outside: -rate - ln_normaliser }
    }

    /// ln P of some outputs of a row, which are all in the ball, as `row` says, or all outside of it.
    fn part<'a>(
        &'a self,
        row: Option<&BallRow>,
        span: Range<u64>,
        outside: &'a mut Vec<f64>,
    ) -> &'a [f64] {
        let len = (span.end - span.start) as usize;
        match row.filter(|row| row.span().contains(&span.start)) {
            Some(row) => {
                let first = row.places.start + (span.start - row.start) as usize;
                &self.inside[first..first + len]
            }
            None => {
                outside.clear();
                outside.resize(len, self.outside);
                outside
            }
        }
    }

    fn contains(&self, output: &[u64]) -> bool {
        let (head, running) = (&output[..self.k - 2], output[self.k - 2]);
        let found = self.rows.binary_search_by(|row| row.head.as_slice().cmp(head));
        found.is_ok_and(|index| self.rows[index].span().contains(&running))
    }
}

impl BallRow {
    fn span(&self) -> Range<u64> {
        self.start..self.start + self.places.len() as u64
    }
}

/// An upper bound on the rounding error of ln P = −rate H − ln Z. The error of each of the two terms is
/// at most the rate times the error of H.
fn rounding(distance: &dyn Distance, rate: f64, largest: f64, ln_normaliser: f64) -> f64 {
    let (relative, absolute) = distance.accuracy();
    2.0 * rate * (relative * largest + absolute)
        + ADDING
        + 1e-15 * (1.0 + rate + ln_normaliser.abs())
}

/// Distances of all outputs in the ball.
fn distances(posterior: &Posterior, distance: &dyn Distance) -> (Vec<BallRow>, Vec<f64>) {
    let mut rows = Vec::new();
    if posterior.k() == 2
        && let Some(power) = distance.power(posterior.prior(), posterior.n())
    {
        let (start, values) = line::distances(posterior, power);
        push(&mut rows, &[], start, values.len());
        return (rows, values);
    }
    let field = distance.field(posterior, &Reach::ball(posterior));
    let region = field.ball().unwrap_or_else(|| Region::simplex(posterior.n(), posterior.k()));
    let walked = Walked::new(region);
    let mut values = vec![0.0; walked.blocks.outputs() as usize];
    let mut next = 0;
    for block in 0..walked.blocks.len() {
        walked.walk(block, |row| {
            push(&mut rows, row.head, row.start, row.len);
            field.row(row, &mut values[next..next + row.len]);
            next += row.len;
        });
    }
    (rows, values)
}

/// Σ e^(−rate · distance) over at most a block of candidates.
fn mass(distances: &[f64], rate: f64) -> f64 {
    let mut masses = [0.0; BLOCK];
    let masses = &mut masses[..distances.len()];
    masses.copy_from_slice(distances);
    kernel::masses(rate, 1.0, masses);
    kernel::moments(distances, masses).0
}

const LANES: usize = 4;

/// The relative rounding error of a sum of [`BLOCK`] terms in lanes is at most this.
const ADDING: f64 = 1.2e-16 * (BLOCK / LANES) as f64;

/// An exponential mechanism at two adjacent data sets.
pub struct ScoredPair<'a> {
    pub at_x: &'a Scored,
    pub at_neighbour: &'a Scored,
}

/// Consecutive outputs of one row that are in the same balls.
struct PairRow<'a> {
    head: &'a [u64],
    start: u64,
    /// ln P_x and ln P_x' of each.
    at_x: &'a [f64],
    at_neighbour: &'a [f64],
}

impl ScoredPair<'_> {
    /// Calls `visit` for the parts of every row with outputs in one of the balls, in lexicographic order. Returns
    /// the number of all other outputs.
    fn rows(&self, mut visit: impl FnMut(PairRow)) -> f64 {
        let (mut seen, mut next) = (0, [0, 0]);
        let (mut outside_x, mut outside_neighbour) = (Vec::new(), Vec::new());
        loop {
            let first = [self.at_x.rows.get(next[0]), self.at_neighbour.rows.get(next[1])];
            let Some(head) = first.into_iter().flatten().map(|row| &row.head).min() else { break };
            let rows = first.map(|row| row.filter(|row| row.head == *head));
            let spans = rows.into_iter().flatten().map(BallRow::span);
            let mut ends: Vec<u64> = spans.flat_map(|span| [span.start, span.end]).collect();
            ends.sort_unstable();
            for (start, end) in ends.iter().copied().zip(ends[1..].iter().copied()) {
                let logs = [
                    self.at_x.part(rows[0], start..end, &mut outside_x),
                    self.at_neighbour.part(rows[1], start..end, &mut outside_neighbour),
                ];
                visit(PairRow { head, start, at_x: logs[0], at_neighbour: logs[1] });
                seen += (end - start) as usize;
            }
            next = [0, 1].map(|side| next[side] + usize::from(rows[side].is_some()));
        }
        approximate_compositions(self.at_x.n, self.at_x.k) - seen as f64
    }

    /// ln P_x − ln P_x' outside of both balls.
    fn plateau(&self) -> f64 {
        self.at_x.outside - self.at_neighbour.outside
    }

    /// The first output in neither ball.
    fn far_output(&self) -> Option<Counts> {
        let all = Walked::new(Region::simplex(self.at_x.n, self.at_x.k));
        let mut found: Option<Counts> = None;
        for block in 0..all.blocks.len() {
            all.walk(block, |row| {
                let output = |t: usize| {
                    let mut output = vec![0; self.at_x.k];
                    row.output(t, &mut output);
                    output
                };
                let is_far = |r: &Counts| !self.at_x.contains(r) && !self.at_neighbour.contains(r);
                found = found.take().or_else(|| (0..row.len).map(output).find(is_far));
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

/// The largest |a − b|, in lanes that a processor can compare at once.
fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a.iter().zip(b) {
        for (lane, (a, b)) in lanes.iter_mut().zip(a.iter().zip(b)) {
            let difference = f64::abs(a - b);
            *lane = if difference > *lane { difference } else { *lane };
        }
    }
    let rest = a_rest.iter().zip(b_rest).map(|(a, b)| (a - b).abs());
    rest.chain(lanes).fold(0.0, f64::max)
}

impl PairComparison for ScoredPair<'_> {
    fn loss(&self) -> f64 {
        let mut largest: f64 = 0.0;
        let far =
            self.rows(|row| largest = largest.max(largest_difference(row.at_x, row.at_neighbour)));
        if any(far) { largest.max(self.plateau().abs()) } else { largest }
    }

    fn rounding(&self) -> f64 {
        self.at_x.rounding + self.at_neighbour.rounding
    }

    fn classes(&self) -> Vec<Class> {
        let mut classes = Vec::new();
        let far = self.rows(|row| {
            let logs = row.at_x.iter().zip(row.at_neighbour);
            classes.extend(logs.map(|(at_x, at_neighbour)| Class::new(*at_x, *at_neighbour, 1.0)));
        });
        if any(far) {
            classes.push(Class::new(self.at_x.outside, self.at_neighbour.outside, far));
        }
        classes
    }

    fn witness(&self) -> Witness {
        let loss = self.loss();
        let mut found = None;
        self.rows(|row| {
            let mut ratios =
                row.at_x.iter().zip(row.at_neighbour).map(|(x, neighbour)| x - neighbour);
            let attains = ratios.position(|ratio| ratio.abs() == loss);
            if let (None, Some(t)) = (&found, attains) {
                let (mut output, running) = (row.head.to_vec(), row.start + t as u64);
                let used: u64 = row.head.iter().sum();
                output.extend([running, self.at_x.n - used - running]);
                found = Some(Witness { output, forward: row.at_x[t] >= row.at_neighbour[t] });
            }
        });
        found.unwrap_or_else(|| {
            let output = self.far_output().expect("an output attains the loss");
            Witness { output, forward: self.plateau() >= 0.0 }
        })
    }
}
