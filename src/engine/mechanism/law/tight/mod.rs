//! The weights of the tight mechanism: P(r|x) = w(r) a^(d(x, r)) with a = e^(−rate), where the weights
//! solve Σ_r w(r) a^(d(x, r)) = 1 for every data set x.
//!
//! The weights depend on the number of categories k, the number of records n and the rate, and not on
//! prior or data. In all cases computed they are constant far from the faces of the simplex, and differ from
//! that constant only in a layer along the faces. So for many records a table over min(r_i, M) is enough: it is
//! read off the exact solution for fewer records.
//!
//! The weights are multiples of 2⁻⁶⁰, so that a draw can compare them as whole numbers. What this and all
//! rounding costs is measured afterwards: [`Tight::residual`] bounds |Σ_r w(r) a^(d(x, r)) − 1| over all x.
//!
//! At a small rate some weights are negative. They are set to 0, and the probabilities are then divided
//! by Z(x) = Σ_r w(r) a^(d(x, r)), which is not 1 any more.

mod coins;
mod kernel;
mod law;
mod solve;

use std::sync::Arc;

use kernel::shell;
pub(crate) use kernel::{Decay, Rows, shell_size};
pub use law::TightLaw;
pub(crate) use solve::solve;

use super::lattice::LatticeSums;
use crate::memo::Memo;
use crate::numeric::{exp_accurate, expm1, ln, log1p};
use crate::orbits::Orbits;
use crate::parallel;
use crate::posterior::model::{approximate_compositions, neighbours};
use crate::posterior::simplex::{Row, Tail, rank};
use crate::refusal::Refusal;

/// The weights for one number of categories, number of records and rate.
#[derive(Debug)]
pub struct Tight {
    k: usize,
    n: u64,
    place: Place,
    values: Vec<f64>,
    /// Z(x) by the rank of x, if negative weights were set to 0.
    normalisers: Vec<f64>,
    /// The smallest before negative ones were set to 0.
    pub signed: f64,
    pub largest: f64,
    /// An upper bound on |Σ_r w(r) a^(d(x, r)) − 1| over all x.
    pub residual: f64,
    /// An upper bound on |ln Z(x) − ln Z(x')| over adjacent data sets, with Z as the weights make it and
    /// not as it should be. The privacy loss is at most the rate plus this.
    pub shift: f64,
}

/// Where the weight of a candidate stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// At its place in lexicographic order.
    Rank,
    /// At min(r_1, M), …, min(r_k, M), a number of k digits in base M + 1.
    Layer(u64),
}

/// Weights are multiples of one over this.
pub const UNITS: f64 = (1_u64 << 60) as f64;

/// The relative error of one computed term of a sum: the power, the running sums, and the product.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// The weights of the layer have converged to within this, times the constant.
const CONVERGED: f64 = 1e-12;

/// Sums over the candidates around a data set are followed until what they leave out is smaller than this.
const LEFT_OUT: f64 = 1e-11;

/// |ln Z| is at most 1.1 |Z − 1| near 1, and there are two of them.
const SHIFT: f64 = 2.2;

/// What candidates contribute that are too far away to change a sum in double precision.
const NEGLIGIBLE: f64 = 1e-18;

/// Shells smaller than this are left out.
const FAINT: f64 = 1e-22;

/// The most categories: with more, even few records have too many candidates.
const MOST_CATEGORIES: usize = 12;

/// Weights that take no more additions than this are solved for all records: they have no layer to leave
/// out.
const QUICK: f64 = 3e7;

/// The most additions: some minutes.
const MOST_WORK: f64 = 1.5e11;

/// The most weights in a table.
const MOST_WEIGHTS: f64 = 3e7;

/// How much is to be solved for the weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// The number of records for which the weights are solved: all, or those that the layer needs.
    pub records: u64,
    /// The depth M of the layer, if there is one.
    pub layer: Option<u64>,
    /// Rows that are added up for one solution.
    pub rows: f64,
    /// Weights that are kept.
    pub kept: f64,
}

impl Extent {
    pub fn new(k: usize, n: u64, rate: f64) -> Self {
        if k == 2 {
            return Self { records: 0, layer: Some(1), rows: 0.0, kept: 4.0 };
        }
        if k > MOST_CATEGORIES {
            return Self { records: n, layer: None, rows: f64::INFINITY, kept: f64::INFINITY };
        }
        let depth = depth(k, rate);
        let (steps, pass) = (|n: u64| steps(k, n, rate), |n: u64| passes(k, n, rate));
        let exact = steps(n) * pass(n);
        let records = (k as u64).saturating_mul(depth);
        if n <= records || exact <= QUICK {
            let kept = approximate_compositions(n, k);
            return Self { records: n, layer: None, rows: exact, kept };
        }
        let table = libm::pow(depth as f64 + 1.0, k as f64);
        let (mut rows, mut kept) = (steps(records) * pass(records), table);
        if table <= MOST_WEIGHTS {
            let checked = n.min(k as u64 * (depth + reach(k, rate, n)));
            kept = table.max(approximate_compositions(checked, k));
            rows += pass(checked);
        }
        Self { records, layer: Some(depth), rows, kept }
    }

    /// Why the weights are not computed, if that would take too long.
    pub fn refusal(&self, k: usize, n: u64) -> Option<Refusal> {
        if k > MOST_CATEGORIES {
            return Some(Refusal::new(
                format!("`tight` is for at most {MOST_CATEGORIES} categories, not for {k}"),
                "use lattice, or geometric",
            ));
        }
        (self.rows > MOST_WORK || self.kept > MOST_WEIGHTS).then(|| {
            let remedy =
                "use fewer records, a larger ε, or a mechanism that needs no weights (lattice)";
            let (rows, kept) = (self.rows, self.kept);
            let cause = format!(
                "the weights of `tight` for {n} records in {k} categories would take {rows:.0e} sums \
                 ({MOST_WORK:.0e} at most) and a table of {kept:.0e} numbers ({MOST_WEIGHTS:.0e} at \
                 most)"
            );
            Refusal::new(cause, remedy)
        })
    }
}

/// About how many orbits of data sets there are, if there are many records.
fn orbits(k: usize, n: u64) -> f64 {
    approximate_compositions(n, k) / (1..=k).map(|i| i as f64).product::<f64>() + 1.0
}

/// The same also for few records: the number of ways to write n as a sum of at most k parts.
fn few_orbits(k: usize, n: u64) -> f64 {
    let factorial: f64 = (1..k).map(|i| i as f64).product();
    let shifted = n as f64 + 0.25 * (k * (k + 1)) as f64;
    libm::pow(shifted, k as f64 - 1.0) / (k as f64 * factorial * factorial)
}

/// The number of rows that one product with the matrix adds up.
fn passes(k: usize, n: u64, rate: f64) -> f64 {
    let orbits = orbits(k, n);
    // The heads within a distance are a ball in k − 2 dimensions.
    let radius = 90.0 / rate;
    let ball = (1..=k - 2).map(|i| 2.0 * radius / i as f64).product::<f64>();
    orbits * approximate_compositions(n, k - 1).min(ball + 1.0)
}

/// The number of products with the matrix, roughly.
fn steps(k: usize, n: u64, rate: f64) -> f64 {
    if k > solve::MOST_OF_STENCIL && few_orbits(k, n) <= solve::MOST_FACTORISED as f64 {
        // As measured with six categories: rounding asks for more rounds at a small rate.
        return 20.0 + 0.03 / rate;
    }
    let preconditioned = if k <= solve::MOST_OF_STENCIL { 1.0 } else { 1.5 };
    // At a very small rate rounding ends the third round at the latest, as measured.
    (preconditioned * (20.0 + 10.0 * (k as f64 - 1.0) / rate)).min(3.0 * solve::STEPS as f64)
}

/// How deep the layer is: the weights were seen to converge like λ^m, which is not proved. For three categories
/// λ + 1/λ = ((1+a)²(1+a²) − 4a²) / 2a² fits. With more categories the layer is deeper, by about a quarter for
/// each, as far as that was tried. Nothing rests on it: the residual is computed.
fn depth(k: usize, rate: f64) -> u64 {
    let a = libm::exp(-rate);
    let half = ((1.0 + a) * (1.0 + a) * (1.0 + a * a) - 4.0 * a * a) / (4.0 * a * a);
    // ln λ = −arcosh(half), by half − 1, which does not cancel.
    let above = libm::expm1(rate);
    let excess = (half - 1.0).max(0.25 * above * above);
    let ln_lambda = -log1p(excess + (excess * (excess + 2.0)).sqrt());
    let deeper = 1.0 + (k as f64 - 3.0).max(0.0) / 4.0;
    ((deeper * ln(CONVERGED) / ln_lambda).ceil() as u64).clamp(2, 1 << 20)
}

/// How far from the layer its sums are followed; `most` if that is further. If a count exceeds the depth by j, then
/// a step further changes a sum by at most twice what the candidates at j and more steps contribute, and all steps
/// from there on by the sum of these.
fn reach(k: usize, rate: f64, most: u64) -> u64 {
    first_below(0.5 * LEFT_OUT, most, (k, rate), |_, sum_of_tails| sum_of_tails)
}

/// How many records a candidate is away from a data set if all candidates further away contribute less than
/// `least` to its sum; `most` if that is further.
pub(crate) fn furthest(k: usize, rate: f64, least: f64, most: u64) -> u64 {
    first_below(least, most, (k, rate), |tail, _| tail)
}

/// The first distance at which `what` is at most `least`, given the sum of all shells from there on, and the sum of
/// these sums from there on; `most` if that is further.
fn first_below(
    least: f64,
    most: u64,
    (k, rate): (usize, f64),
    what: impl Fn(f64, f64) -> f64,
) -> u64 {
    // All that comes before a shell that counts does so, too: at a small rate there would be very many.
    if shell(k, rate, most.max(1)) > least {
        return most;
    }
    // Shells rise as long as rate · d < k.
    let is_last = |&d: &u64| shell(k, rate, d) < FAINT && rate * d as f64 > k as f64;
    let last = (1..).find(is_last).unwrap_or(most);
    let (mut tail, mut sum_of_tails) = (0.0, 0.0);
    let counts = |&d: &u64| {
        tail += shell(k, rate, d);
        sum_of_tails += tail;
        what(tail, sum_of_tails) > least
    };
    // The data set itself always counts.
    most.min((1..=last).rev().find(counts).unwrap_or(0) + 1)
}

/// Solved weights, by k, n and the bits of the rate. Tables may be large: few are kept.
static KNOWN: Memo<(usize, u64, u64), Arc<Tight>> = Memo::new(8);

impl Tight {
    pub fn find(k: usize, n: u64, rate: f64) -> Result<Arc<Self>, Refusal> {
        KNOWN.try_get(&(k, n, rate.to_bits()), || {
            let extent = Extent::new(k, n, rate);
            if let Some(refusal) = extent.refusal(k, n) {
                return Err(refusal);
            }
            // Where some weights may be negative, others are looked for at a few more rates.
            let _part = parallel::part(if Self::may_be_clipped(k, n, rate) { 0.25 } else { 1.0 });
            let found = Self::new(k, n, rate, extent);
            if found.largest > 0.0 {
                return Ok(Arc::new(found));
            }
            let cause = format!(
                "the weights of `tight` for {n} records in {k} categories at rate {rate} are beyond double \
                 precision"
            );
            Err(Refusal::new(cause, "use a larger ε, fewer records, or lattice"))
        })
    }

    /// Whether the rate is so low that some weights may be negative: a rough bound, without solving for them.
    pub fn may_be_clipped(k: usize, n: u64, rate: f64) -> bool {
        k > 2 && rate < f64::max(0.11, 0.35 * libm::pow(3.0 / n as f64, 0.6))
    }

    fn new(k: usize, n: u64, rate: f64, extent: Extent) -> Self {
        if k == 2 {
            return Self::on_a_line(n, rate);
        }
        let orbits = Orbits::new(k, extent.records, &[(0..k).collect()]);
        let decay = Decay::new(rate, furthest(k, rate, NEGLIGIBLE, extent.records));
        let tolerance = if extent.layer.is_some() { 0.1 * CONVERGED } else { 0.0 };
        let guess = vec![exp_accurate(-LatticeSums::new(rate).ln_whole(k)); orbits.len()];
        let target = vec![1.0; orbits.len()];
        let weights = {
            let _part = parallel::part(0.85);
            solve::solve(&orbits, &decay, rate, &target, guess, tolerance)
        };
        let signed = weights.iter().copied().fold(f64::INFINITY, f64::min);
        let weights: Vec<f64> = weights.into_iter().map(rounded).collect();
        let negative = rounded(signed) <= 0.0;
        let mut tight = Self {
            k,
            n,
            place: Place::Rank,
            values: orbits.unfold(&weights),
            normalisers: Vec::new(),
            signed,
            largest: weights.iter().copied().fold(0.0, f64::max),
            residual: 0.0,
            shift: 0.0,
        };
        match extent.layer {
            None => tight.check(&orbits, &decay, negative),
            Some(depth) => {
                tight.values = tight.layer(depth, extent.records);
                tight.place = Place::Layer(depth);
                let records = n.min(k as u64 * (depth + reach(k, rate, n)));
                let decay = Decay::new(rate, furthest(k, rate, LEFT_OUT, records));
                tight.check(&Orbits::new(k, records, &[(0..k).collect()]), &decay, false);
                // Once for what a sum leaves out, once for larger counts.
                tight.residual += 2.0 * LEFT_OUT * tight.largest;
                tight.shift = SHIFT * tight.residual;
            }
        }
        tight
    }

    /// The weights for two categories: 1 / (1 + a) at both ends, (1 − a) / (1 + a) between them.
    fn on_a_line(n: u64, rate: f64) -> Self {
        let a = exp_accurate(-rate);
        let (end, inside) = (rounded(1.0 / (1.0 + a)), rounded(-expm1(-rate) / (1.0 + a)));
        // Without records there is one candidate, (0, 0).
        let values = vec![1.0, end, end, inside];
        // One record leaves nothing between the ends.
        let smallest = if n > 1 { inside.min(end) } else { end };
        Self {
            k: 2,
            n,
            place: Place::Layer(1),
            values,
            normalisers: Vec::new(),
            signed: smallest,
            largest: end,
            residual: ROUNDING,
            shift: SHIFT * ROUNDING,
        }
    }

    /// Bounds the residual, from all data sets of the records in `orbits`.
    fn check(&mut self, orbits: &Orbits, decay: &Decay, clipped: bool) {
        let weight = |orbit| self.weight(orbits.member(orbit));
        let weights: Vec<f64> = (0..orbits.len()).map(weight).collect();
        let sums = Rows::new(orbits, decay, &weights).sums();
        let off = sums.iter().map(|sum| (sum - 1.0).abs());
        self.residual = off.fold(0.0, f64::max) + ROUNDING;
        if clipped {
            self.shift = largest_shift(orbits, &sums) + 4.0 * ROUNDING;
            self.normalisers = orbits.unfold(&sums);
        } else {
            self.shift = SHIFT * self.residual;
        }
    }

    /// The weights over min(r_i, M), from the exact ones of `records` = k M records. If several counts
    /// are at least M, what the others leave is shared among them.
    fn layer(&self, depth: u64, records: u64) -> Vec<f64> {
        let base = depth as usize + 1;
        let entries = base.pow(self.k as u32);
        let mut pattern = vec![0; self.k];
        let weight = |index: usize| {
            let mut left = index;
            for count in pattern.iter_mut().rev() {
                *count = (left % base) as u64;
                left /= base;
            }
            // n > k M: at least one count is M or more.
            match pattern.contains(&depth) {
                true => self.values[rank(shared(&mut pattern, depth, records))],
                false => 0.0,
            }
        };
        (0..entries).map(weight).collect()
    }

    /// w(r).
    pub fn weight(&self, r: &[u64]) -> f64 {
        match self.place {
            Place::Rank => self.values[rank(r)],
            Place::Layer(depth) => {
                let digit = |index: usize, &count: &u64| {
                    index * (depth as usize + 1) + count.min(depth) as usize
                };
                self.values[r.iter().fold(0, digit)]
            }
        }
    }

    /// Multiplies the mass of every candidate of a row by its weight.
    pub fn weigh(&self, row: &Row, masses: &mut [f64]) {
        let Tail::Complement(rest) = row.tail else { return masses.fill(0.0) };
        match self.place {
            Place::Rank => {
                let mut first = row.head.to_vec();
                first.extend([row.start, rest - row.start]);
                let first = rank(&first);
                masses.iter_mut().zip(&self.values[first..]).for_each(|(mass, w)| *mass *= w);
            }
            Place::Layer(depth) => {
                let base = depth as usize + 1;
                let digit = |index: usize, &count: &u64| index * base + count.min(depth) as usize;
                let head = row.head.iter().fold(0, digit) * base;
                for (mass, v) in masses.iter_mut().zip(row.start..) {
                    let index = (head + v.min(depth) as usize) * base;
                    *mass *= self.values[index + (rest - v).min(depth) as usize];
                }
            }
        }
    }

    /// Z(x) = Σ_r w(r) a^(d(x, r)): 1, unless negative weights were set to 0.
    pub fn normaliser(&self, x: &[u64]) -> f64 {
        if self.normalisers.is_empty() { 1.0 } else { self.normalisers[rank(x)] }
    }

    /// An upper bound on the relative error of [`Self::normaliser`].
    pub fn normaliser_error(&self) -> f64 {
        if self.normalisers.is_empty() { 1.1 * self.residual } else { 2.0 * ROUNDING }
    }

    /// Whether negative weights were set to 0.
    pub fn is_clipped(&self) -> bool {
        self.k > 2 && self.smallest() <= 0.0
    }

    pub fn smallest(&self) -> f64 {
        rounded(self.signed)
    }

    /// Whether no weight is negative at this rate, whatever the number of records. With s the sum of a^d over the
    /// whole lattice, Σ_{r ≠ x} a^(d(x, r)) <= s − 1 <= 1 at every x, so that the solution of w = 1 − (Φ − 1) w
    /// is not negative.
    pub fn is_surely_positive(k: usize, rate: f64) -> bool {
        k == 2 || LatticeSums::new(rate).ln_whole(k) <= std::f64::consts::LN_2
    }

    /// The law with these weights that is `epsilon`-private: at the rate ε itself if no weight is negative.
    /// Otherwise at the rate c < ε with c + max |ln Z − ln Z'| = ε, which is computed over all adjacent data
    /// sets.
    pub fn law(k: usize, n: u64, epsilon: f64) -> Result<TightLaw, Refusal> {
        let found = Self::find(k, n, epsilon)?;
        if !found.is_clipped() {
            return Ok(TightLaw { rate: epsilon, weights: found });
        }
        if found.place != Place::Rank {
            return Err(Refusal::new(
                format!(
                    "some weights of `tight` are negative at ε = {epsilon}, and for {n} records in {k} \
                     categories the loss without them is not computed"
                ),
                "use a larger ε, fewer records, or lattice",
            ));
        }
        let (mut rate, mut weights) = (epsilon, found);
        for round in 0..2 * ROUNDS {
            // At a small ε the rounding of the shift is more than may be left unused: then every round leaves more.
            let unused = round.saturating_sub(ROUNDS) as f64 * ROUNDING;
            let loss = rate + weights.shift;
            let left = if round < ROUNDS { EXHAUSTED * epsilon } else { f64::INFINITY };
            if loss <= epsilon && epsilon - loss <= left {
                return Ok(TightLaw { rate, weights });
            }
            // The shift hardly depends on the rate.
            rate = (epsilon - weights.shift - unused) * (1.0 - 0.5 * EXHAUSTED);
            if rate <= 0.5 * epsilon {
                break;
            }
            weights = Self::find(k, n, rate)?;
        }
        if rate > 0.0 {
            let weights = Self::find(k, n, rate)?;
            if rate + weights.shift <= epsilon {
                return Ok(TightLaw { rate, weights });
            }
        }
        Err(Refusal::new(
            format!("no rate was found at which `tight` is {epsilon}-private for {n} records"),
            "use a larger ε, or lattice",
        ))
    }
}

/// The same counts as far as they are below `depth`. What they leave of `records` is shared among the others.
fn shared(counts: &mut [u64], depth: u64, records: u64) -> &[u64] {
    let mut places = counts.iter().filter(|&&count| count >= depth).count() as u64;
    let mut rest = records - counts.iter().filter(|&&count| count < depth).sum::<u64>();
    for count in counts.iter_mut().filter(|count| **count >= depth) {
        *count = rest / places;
        rest -= *count;
        places -= 1;
    }
    counts
}

/// The most rates that are tried when weights are clipped.
const ROUNDS: usize = 30;

/// What a clipped mechanism may leave unused of ε, relative to it.
const EXHAUSTED: f64 = 1e-12;

/// The nearest weight that can be compared as a whole number, and is not negative.
fn rounded(weight: f64) -> f64 {
    (weight * UNITS).round().max(0.0) / UNITS
}

/// The largest |ln Z(x) − ln Z(x')| over adjacent x, x', from Z at every orbit.
fn largest_shift(orbits: &Orbits, normalisers: &[f64]) -> f64 {
    let logs: Vec<f64> = normalisers.iter().map(|&z| ln(z)).collect();
    let mut largest: f64 = 0.0;
    for orbit in 0..orbits.len() {
        for neighbour in neighbours(orbits.member(orbit)) {
            let other = orbits.of[orbits.places.of(&neighbour)] as usize;
            largest = largest.max((logs[orbit] - logs[other]).abs());
        }
    }
    largest
}

#[cfg(test)]
mod tests;
