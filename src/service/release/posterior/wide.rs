//! Draws of the true counts where noise is so wide that their law is not computed.
//!
//! The weight of the counts x is g(N) Π f_i(x_i), as in `published.rs`. Given a tilt u, counts with the weights
//! e^(−u x) f_i(x) are drawn independently of each other.
//!
//! If the number of records is not known, let A > 1 be the sum of the prior's parameters. Then
//!
//! ```text
//! g(N) = N! Γ(A) / Γ(A + N) = (A − 1) ∫ e^(−uN) (1 − e^(−u))^(A−2) e^(−u) du
//! ```
//!
//! so the law of the counts is a mixture of independent ones over u. If A <= 1, g is that of A + 1 times
//! (A + Σ x_i)/A: in each term of this sum one count at most gets the weight x f_i(x) instead.
//!
//! If N = n is known, all counts but one are drawn, and that one is what they leave. It is accepted by its weight,
//! relative to the largest. The one that is left may be the largest of all: then few are rejected where a prior
//! favours counts of 0.

use super::counts_law::FAINT;
use super::pieces::{Pieces, Tilted};
use super::weights::tilt;
use engine::numeric::{exp_accurate, expm1, ln, relative};
use engine::parallel;
use engine::posterior::model::Prior;
use engine::rng::{Stream, draw_index, ln_standard_gamma, stream, uniform};

/// The law of the true counts of all cells.
#[derive(Clone, Debug)]
pub struct WideLaw {
    prior: Prior,
    /// Why it is not computed.
    cause: String,
    /// The place of every one of `cells` in the table. Draws do not depend on it.
    places: Vec<usize>,
    cells: Vec<WideCell>,
    method: Method,
}

/// The prior's parameter of a cell, and the weights of its count.
#[derive(Clone, Debug)]
struct WideCell {
    alpha: f64,
    counts: Pieces,
}

#[derive(Clone, Debug)]
enum Method {
    /// There are at most so many records.
    Mixture {
        most: u64,
        components: Vec<Component>,
        times_number: Vec<Pieces>,
    },
    Rejection {
        n: u64,
        tilt: f64,
        left: Vec<Left>,
    },
}

/// Independent counts.
#[derive(Clone, Debug)]
struct Component {
    tilt: f64,
    /// The count whose weight is x f(x), if there is one.
    enlarged: Option<usize>,
    ln_weight: f64,
}

/// A count that is not drawn, but left by the others.
#[derive(Clone, Debug)]
struct Left {
    cell: usize,
    /// Whether no other count may be larger.
    is_largest: bool,
    /// The logarithm of its largest weight.
    ln_largest: f64,
    /// The logarithm of its largest weight, times the weights of all others.
    ln_bound: f64,
}

/// Draws that are made together.
const PART: usize = 1 << 12;

/// Components with less than e to this of the likeliest one are left out.
const UNLIKELY: f64 = -40.0;

/// At least one of so many proposals must be accepted.
const MOST_PROPOSALS: usize = 10_000;

/// Proposals that are made to see that.
const TRIED: usize = 50;

impl WideLaw {
    /// The law of the counts with these weights, of `n` records if that is known, and of at most `most`; `cause` says
    /// why it is not computed.
    pub(super) fn new(
        prior: &Prior,
        (n, most): (Option<u64>, u64),
        counts: Vec<Pieces>,
        cause: String,
    ) -> Result<Self, String> {
        let alphas = prior.alpha().iter();
        let cells = alphas.zip(counts).map(|(&alpha, counts)| WideCell { alpha, counts });
        let mut cells: Vec<(usize, WideCell)> = cells.enumerate().collect();
        cells.sort_by_cached_key(|(_, cell)| (cell.alpha.to_bits(), cell.counts.key()));
        let (places, cells): (Vec<usize>, Vec<WideCell>) = cells.into_iter().unzip();
        let method = match n {
            Some(n) => rejection(&cells, n),
            None => mixture(&cells, prior.total(), most),
        };
        let law = Self { prior: prior.clone(), cause, places, cells, method };
        law.is_drawn().then_some(law).ok_or_else(|| FAINT.to_owned())
    }

    pub fn prior(&self) -> &Prior {
        &self.prior
    }

    /// Why the law is not computed.
    pub fn cause(&self) -> &str {
        &self.cause
    }

    /// The number of records, if it is known.
    pub fn n(&self) -> Option<u64> {
        match self.method {
            Method::Mixture { .. } => None,
            Method::Rejection { n, .. } => Some(n),
        }
    }

    /// Laws are put in the order of these numbers.
    pub(super) fn key(&self) -> Vec<u64> {
        let cells = self.cells.iter();
        let cells = cells.flat_map(|cell| [vec![cell.alpha.to_bits()], cell.counts.key()].concat());
        self.n().into_iter().chain(cells).collect()
    }

    /// Whether proposals are accepted.
    fn is_drawn(&self) -> bool {
        let mut rng = stream(0, "tried");
        match &self.method {
            Method::Rejection { n, tilt, left } => {
                let mut proposals = Proposals::new(&self.cells, *n, *tilt, left);
                let tried = (0..TRIED * MOST_PROPOSALS).filter_map(|_| proposals.next(&mut rng));
                tried.take(TRIED).count() == TRIED
            }
            Method::Mixture { .. } => self.mixed(&mut rng)[0].len() > TRIED,
        }
    }

    /// The column of every cell of the table in [`Self::block`].
    pub(super) fn column_of(&self) -> Vec<usize> {
        let mut columns = vec![0; self.places.len()];
        self.places.iter().enumerate().for_each(|(column, &place)| columns[place] = column);
        columns
    }

    /// Counts, and the logarithms of gamma numbers of these shapes; a column for every cell, in an order that does not
    /// depend on the table's.
    pub(super) fn block(
        &self,
        (seed, name): (u64, &str),
        block: usize,
        rows: usize,
    ) -> Vec<(Vec<u64>, Vec<f64>)> {
        let parts = parallel::map_range(0..rows.div_ceil(PART), |part| {
            let stream =
                |what| stream(seed, &format!("{name}, block {block}, part {part}, {what}"));
            let counts = self.counts(&mut stream("counts"));
            let mut gammas = stream("gammas");
            let cells = self.cells.iter().zip(counts);
            cells
                .map(|(cell, counts)| {
                    let gamma = |x: &u64| ln_standard_gamma(cell.alpha + *x as f64, &mut gammas);
                    let logs = counts.iter().map(gamma).collect::<Vec<_>>();
                    (counts, logs)
                })
                .collect::<Vec<_>>()
        });
        let mut columns = vec![(Vec::new(), Vec::new()); self.cells.len()];
        for part in parts {
            for ((counts, logs), column) in part.into_iter().zip(&mut columns) {
                let left = rows - column.0.len();
                column.0.extend(counts.into_iter().take(left));
                column.1.extend(logs.into_iter().take(left));
            }
        }
        columns
    }

    /// The counts of one part, a column for every cell.
    fn counts(&self, rng: &mut Stream) -> Vec<Vec<u64>> {
        let mut columns = vec![vec![0; PART]; self.cells.len()];
        match &self.method {
            Method::Mixture { .. } => {
                columns = self.mixed(rng);
                while columns[0].len() < PART {
                    let more = self.mixed(rng);
                    columns.iter_mut().zip(more).for_each(|(column, more)| column.extend(more));
                }
                columns.iter_mut().for_each(|column| column.truncate(PART));
            }
            Method::Rejection { n, tilt, left } => {
                let mut proposals = Proposals::new(&self.cells, *n, *tilt, left);
                for row in 0..PART {
                    while proposals.next(rng).is_none() {}
                    let counts = columns.iter_mut().zip(&proposals.counts);
                    counts.for_each(|(column, count)| column[row] = *count);
                }
            }
        }
        columns
    }

    /// Counts of a mixture, with at most the largest number of records.
    fn mixed(&self, rng: &mut Stream) -> Vec<Vec<u64>> {
        let Method::Mixture { most, components, times_number } = &self.method else {
            return Vec::new();
        };
        let running = running(components.iter().map(|one| one.ln_weight));
        let chosen: Vec<usize> = (0..PART).map(|_| draw_index(&running, rng)).collect();
        let mut in_order: Vec<usize> = (0..PART).collect();
        in_order.sort_unstable_by_key(|&row| (chosen[row], row));
        let mut columns = vec![vec![0; PART]; self.cells.len()];
        for rows in in_order.chunk_by(|&a, &b| chosen[a] == chosen[b]) {
            let Component { tilt, enlarged, .. } = &components[chosen[rows[0]]];
            for (place, (cell, column)) in self.cells.iter().zip(&mut columns).enumerate() {
                let is_enlarged = *enlarged == Some(place);
                let counts = if is_enlarged { &times_number[place] } else { &cell.counts };
                let counts = counts.tilted(*tilt);
                rows.iter().for_each(|&row| column[row] = counts.draw(rng));
            }
        }
        let records = |row: &usize| columns.iter().map(|column| column[*row]).sum::<u64>();
        let kept: Vec<usize> = (0..PART).filter(|row| records(row) <= *most).collect();
        columns.iter().map(|column| kept.iter().map(|&row| column[row]).collect()).collect()
    }
}

/// The sums of weights with these logarithms up to each, up to a factor.
fn running(logs: impl Iterator<Item = f64> + Clone) -> Vec<f64> {
    let mut sum = 0.0;
    let up_to = |weight| {
        sum += weight;
        sum
    };
    relative(logs).into_iter().map(up_to).collect()
}

/// The trapezoidal rule for the integral over ln u: the integrand is analytic, and so its error is exponentially
/// small. All nodes below the first one have a weight of 1 instead of e^(−uN), and sum to a geometric series.
fn mixture(cells: &[WideCell], total: f64, most: u64) -> Method {
    let (shape, enlarges) = if total > 1.0 { (total, false) } else { (total + 1.0, true) };
    let step = 2.0 * std::f64::consts::PI / (60.0 * (shape + 10.0)).sqrt();
    let first = 1e-6 / (most as f64 + 1.0);
    let nodes = (ln(60.0 / first) / step).ceil() as usize;
    let times_number: Vec<Pieces> = match enlarges {
        true => cells.iter().map(|cell| cell.counts.times_number()).collect(),
        false => Vec::new(),
    };
    let at_node = |node: usize| {
        let (tilt, ln_weight) = match node.checked_sub(1) {
            None => {
                let ratio = -step * (shape - 1.0);
                (0.0, (shape - 1.0) * ln(first) + ratio - ln(-expm1(ratio)))
            }
            Some(place) => {
                let u = first * exp_accurate(step * place as f64);
                (u, (shape - 2.0) * ln(-expm1(-u)) - u + ln(u))
            }
        };
        let ln_sum = |counts: &Pieces| counts.tilted(tilt).ln_sum;
        let sums: Vec<f64> = cells.iter().map(|cell| ln_sum(&cell.counts)).collect();
        let ln_all = ln_weight + sums.iter().sum::<f64>();
        let plain = ln_all + if enlarges { ln(total) } else { 0.0 };
        let plain = Component { tilt, enlarged: None, ln_weight: plain };
        let enlarged = times_number.iter().zip(&sums).enumerate();
        let enlarged = enlarged.map(|(place, (counts, sum))| {
            let ln_weight = ln_all - sum + ln_sum(counts);
            Component { tilt, enlarged: Some(place), ln_weight }
        });
        [plain].into_iter().chain(enlarged).collect::<Vec<_>>()
    };
    let mut components = parallel::map_range(0..nodes + 1, at_node).concat();
    let largest = components.iter().map(|one| one.ln_weight).fold(f64::NEG_INFINITY, f64::max);
    components.iter_mut().for_each(|one| one.ln_weight -= largest);
    components.retain(|one| one.ln_weight > UNLIKELY);
    Method::Mixture { most, components, times_number }
}

fn rejection(cells: &[WideCell], n: u64) -> Method {
    // Here weights are e^(−tilt x) f(x).
    let mean = |tilt: f64| cells.iter().map(|cell| cell.counts.tilted(-tilt).mean()).sum();
    let tilt = -tilt(mean, n);
    let sums: Vec<f64> = cells.iter().map(|cell| cell.counts.tilted(tilt).ln_sum).collect();
    let all: f64 = sums.iter().sum();
    let left = |cell: usize, is_largest: bool| {
        let least = if is_largest { n.div_ceil(cells.len() as u64) } else { 0 };
        let ln_largest = cells[cell].counts.ln_largest(tilt, least);
        Left { cell, is_largest, ln_largest, ln_bound: all - sums[cell] + ln_largest }
    };
    let every = 0..cells.len();
    let bound =
        |left: &[Left]| left.iter().map(|one| exp_accurate(one.ln_bound - all)).sum::<f64>();
    let largest: Vec<Left> = every.clone().map(|cell| left(cell, true)).collect();
    let single = every.map(|cell| vec![left(cell, false)]);
    let left = single.fold(largest, |a, b| if bound(&b) < bound(&a) { b } else { a });
    Method::Rejection { n, tilt, left }
}

/// Proposed counts that sum to n.
struct Proposals<'a> {
    cells: &'a [WideCell],
    n: u64,
    tilt: f64,
    left: &'a [Left],
    /// Running sums.
    bounds: Vec<f64>,
    tilted: Vec<Tilted>,
    /// The last ones.
    counts: Vec<u64>,
}

impl<'a> Proposals<'a> {
    fn new(cells: &'a [WideCell], n: u64, tilt: f64, left: &'a [Left]) -> Self {
        let bounds = running(left.iter().map(|one| one.ln_bound));
        let tilted = cells.iter().map(|cell| cell.counts.tilted(tilt)).collect();
        Self { cells, n, tilt, left, bounds, tilted, counts: vec![0; cells.len()] }
    }

    /// Makes the next counts; `None` if they are rejected.
    fn next(&mut self, rng: &mut Stream) -> Option<()> {
        let Left { cell: left, is_largest, ln_largest, .. } =
            self.left[draw_index(&self.bounds, rng)];
        let mut rest = self.n;
        for (cell, counts) in self.tilted.iter().enumerate().filter(|(cell, _)| *cell != left) {
            self.counts[cell] = counts.draw(rng);
            rest = rest.checked_sub(self.counts[cell])?;
        }
        self.counts[left] = rest;
        // Of equal counts the first one is the largest.
        let is_larger =
            |(cell, count): (usize, &u64)| *count > rest || (*count == rest && cell < left);
        if is_largest && self.counts.iter().enumerate().any(is_larger) {
            return None;
        }
        let log = self.cells[left].counts.ln(rest) - self.tilt * rest as f64 - ln_largest;
        (uniform(rng) < exp_accurate(log)).then_some(())
    }
}
