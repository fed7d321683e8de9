//! Noise on the lattice of whole vectors that sum to 0: y = x + z, P\[z\] ∝ Π_i f(z_i), clamped to [0, n].
//!
//! The noise does not depend on the data, and y has the total n. Clamping changes the total: the released
//! counts may sum to more or less than n. An output v stands for all y with y_i = v_i where 0 < v_i < n,
//! y_i <= 0 where v_i = 0, and y_i >= n where v_i = n. What the clamped coordinates exceed their bounds by
//! sums to t = Σ v − n. So P(v) is a product over the coordinates that are not clamped, times a
//! convolution at t that depends only on which coordinates are clamped.

pub mod approximate;
mod coins;
mod sums;

use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};

use rand::Rng;
use sums::LatticeShares;
pub use sums::LatticeSums;

use super::coins::{ExactDraws, Ratio, not_exact};
use super::hamming::convolve;
use super::hamming::pair::{HammingAt, HammingData};
use super::noise::pair::NoiseData;
use super::noise::{NEGLECTED, Noise, steps_within, window};
use super::pair::Comparisons;
use super::{
    Batch, Law, LawAt, OutputLaw, OutputSet, Outputs, PairSize, Walked, is_walked, tabled,
};
use crate::analysis::true_counts::CountNoise;
use crate::numeric::sum::sum;
use crate::numeric::{Table, exp_accurate, ln, ln_sum};
use crate::parallel;
use crate::posterior::amount::Amount;
use crate::posterior::distance::Distance;
use crate::posterior::error_field::Field;
use crate::posterior::model::{Counts, Posterior, Prior, approximate_compositions};
use crate::posterior::setting::Setting;
use crate::posterior::simplex::{Region, Row, Shape, Tail, Window};
use crate::refusal::Refusal;
use crate::rng::{draw_index, uniform};

/// x + z, clamped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lattice {
    pub noise: LatticeNoise,
}

impl Law for Lattice {
    fn outputs(&self) -> OutputSet {
        OutputSet::Open
    }

    fn at(&self, posterior: &Posterior) -> Result<Box<dyn LawAt + '_>, Refusal> {
        Ok(Box::new(LatticeAt { noise: self.noise, posterior: posterior.clone() }))
    }

    fn widened(&self, factor: f64) -> Result<Arc<dyn Law>, Refusal> {
        let noise = match self.noise {
            LatticeNoise::Geometric { rate, radius } => {
                LatticeNoise::Geometric { rate: rate / factor, radius }
            }
            LatticeNoise::Gaussian { sigma } => LatticeNoise::Gaussian { sigma: sigma * factor },
        };
        Ok(Arc::new(Self { noise }))
    }

    fn exchangeable(&self, prior: &Prior) -> Vec<Vec<usize>> {
        vec![(0..prior.k()).collect()]
    }

    /// Noise of sum 0 leaves the total open only if it is clamped: outputs without 0 or n that do not have
    /// the total n are impossible.
    fn possible_outputs(&self, n: u64, k: usize) -> f64 {
        let all = Outputs::new(OutputSet::Open, n, k).approximate_len();
        let clamped = 2.0 * k as f64 * (n as f64 + 1.0).powi(k as i32 - 1);
        (clamped + approximate_compositions(n, k)).min(all)
    }

    /// The sums for all numbers, or all combinations, of coordinates that can be clamped.
    fn table_entries(&self, posterior: &Posterior) -> f64 {
        let (k, n) = (posterior.k(), posterior.n());
        if !is_walked(&self.noise.region(posterior)) {
            return 0.0;
        }
        let furthest = furthest_sum(self.noise, k, n) as f64;
        if self.noise.closed().is_some() {
            return (k as f64 + 1.0) * (k as f64 + 1.0) * (furthest + 1.0);
        }
        let reach = self.noise.reach(k).0;
        let within = |x: u64| [x, n - x].into_iter().filter(|&beyond| beyond <= reach).count();
        let ends = posterior.counts().iter().map(|&x| 1.0 + within(x) as f64);
        let length = k as f64 * (reach as f64 + 1.0);
        // Before the last coordinate there are a third of the tables, which may be longer. A combination that is
        // out of reach has no entries, but a place.
        ends.product::<f64>() * (length / 3.0 + length.min(2.0 * furthest + 1.0))
            + PLACE * libm::pow(3.0, k as f64)
    }

    fn pair_size(&self, posterior: &Posterior, _: &dyn Distance) -> Option<PairSize> {
        match self.noise.closed() {
            Some(_) => Some(PairSize::CLOSED),
            None if posterior.k() == 2 => {
                let classes = posterior.n().min(self.noise.reach(2).0) as f64;
                Some(PairSize { classes, ..PairSize::CLOSED })
            }
            None => None,
        }
    }

    fn comparisons<'a>(
        &'a self,
        setting: &'a Setting,
        data: &[&Counts],
    ) -> Result<Box<dyn Comparisons + 'a>, Refusal> {
        let (noise, k) = (self.noise, setting.k());
        if let Some(rate) = noise.closed() {
            // The noise has no normaliser that depends on the data. From x to a neighbour the ratio is e^rate,
            // 1 or e^(−rate), as for `hamming`; clamping does not join outputs of different ratios, because the
            // category that loses a record has one, and the other does not have all.
            //
            // P[z_1 >= 0 and z_2 <= 0]: with z_1 = p, z_2 = −q and b = e^(−rate / 2), the sum of b^(p + q) over
            // all p and q with the difference d is b^|d| / (1 − b²), as if both were one coordinate.
            let nearer = LatticeSums::new(rate).ratio(k);
            let at = |posterior| HammingAt { posterior, normaliser: 1.0, error: 0.0 };
            return Ok(Box::new(HammingData::new(rate, move |_, _| nearer, setting, data, at)));
        }
        if k == 2 {
            return Ok(Box::new(NoiseData::line(noise, setting.n)));
        }
        tabled::comparisons(self, setting, data)
    }

    fn exact_draws(&self, _: usize, epsilon: Amount) -> Result<Box<dyn ExactDraws>, Refusal> {
        if self.noise.closed().is_none() {
            return Err(Refusal::new(
                "it needs a δ, and a release is ε-private without one",
                "use lattice",
            ));
        }
        let rate = Ratio::of(epsilon, 2).ok_or_else(not_exact)?;
        Ok(Box::new(coins::Clamped { rate }))
    }

    fn has_three_losses(&self) -> bool {
        self.noise.closed().is_some()
    }

    fn is_uniform(&self) -> bool {
        self.noise.closed().is_some()
    }

    fn count_noise(&self, k: usize) -> Option<CountNoise> {
        let rate = self.noise.closed()?;
        Some(CountNoise { noise: Noise::Geometric, scale: 2.0 / rate, noisy: k })
    }
}

struct LatticeAt {
    noise: LatticeNoise,
    posterior: Posterior,
}

impl LawAt for LatticeAt {
    fn region(&self) -> Option<Region> {
        Some(self.noise.region(&self.posterior))
    }

    fn ln_probabilities(&self, outputs: Outputs, _: &dyn Field) -> Vec<f64> {
        ln_probabilities(self.noise, &self.posterior, &outputs.list())
    }

    fn output_law(&self) -> Box<dyn OutputLaw + '_> {
        Box::new(Clamping::new(&self.posterior, self.noise))
    }
}

/// The factor f of one coordinate of the noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LatticeNoise {
    /// e^(−rate |z| / 2) up to |z| = radius, and 0 beyond: a vector that moves d records has the weight
    /// e^(−rate · d).
    Geometric { rate: f64, radius: u64 },
    /// e^(−z² / 2σ²).
    Gaussian { sigma: f64 },
}

impl LatticeNoise {
    /// Geometric noise that is not cut off.
    pub fn geometric(rate: f64) -> Self {
        Self::Geometric { rate, radius: u64::MAX }
    }

    /// The rate of geometric noise that is not cut off: its sums are known in closed form, and it is private without
    /// a δ, as other noise is not.
    fn closed(self) -> Option<f64> {
        match self {
            Self::Geometric { rate, radius: u64::MAX } => Some(rate),
            _ => None,
        }
    }

    /// ln f(z).
    pub fn ln_factor(self, z: u64) -> f64 {
        match self {
            Self::Geometric { radius, .. } if z > radius => f64::NEG_INFINITY,
            Self::Geometric { rate, .. } => -0.5 * rate * z as f64,
            Self::Gaussian { sigma } => {
                let scaled = z as f64 / sigma;
                -0.5 * scaled * scaled
            }
        }
    }

    /// ln f(z)² − ln f(z + 1)², without the rounding of a difference.
    pub fn ln_step(self, z: u64) -> f64 {
        match self {
            Self::Geometric { radius, .. } if z >= radius => f64::INFINITY,
            Self::Geometric { rate, .. } => rate,
            Self::Gaussian { sigma } => (2.0 * z as f64 + 1.0) / (sigma * sigma),
        }
    }

    /// ln f of every z of a range.
    fn ln_factors(self, range: RangeInclusive<u64>) -> Vec<f64> {
        range.map(|z| self.ln_factor(z)).collect()
    }

    /// f of every z of a range.
    fn factors(self, range: RangeInclusive<u64>) -> Vec<f64> {
        range.map(|z| self.factor(z)).collect()
    }

    /// f(z); f(0) = 1.
    pub fn factor(self, z: u64) -> f64 {
        exp_accurate(self.ln_factor(z))
    }

    /// The largest |z_i| and the largest Σ |z_i| of all but a negligible part of the noise.
    pub fn reach(self, k: usize) -> (u64, u64) {
        match self {
            Self::Geometric { rate, radius } => {
                let steps = steps_within(2.0 / rate, k);
                (radius.min(steps), steps.min(radius.saturating_mul(k as u64)))
            }
            Self::Gaussian { sigma } => {
                // One coordinate has at most the variance σ², and there are k of them.
                let widest = sigma * (2.0 * (ln(4.0 * k as f64) - ln(NEGLECTED))).sqrt() + 1.0;
                (widest as u64, (widest as u64).saturating_mul(k as u64))
            }
        }
    }

    /// Σ Π_i f(z_i) over all z that sum to 0, for noise that needs a δ.
    pub fn total(self, k: usize) -> f64 {
        if let Self::Gaussian { sigma } = self
            && sigma >= SMOOTH
        {
            // By Poisson's formula: what is left out is less than e^(−π²σ²).
            let variance = 2.0 * std::f64::consts::PI * sigma * sigma;
            return libm::pow(variance, 0.5 * (k as f64 - 1.0)) / (k as f64).sqrt();
        }
        let reach = self.reach(k).0;
        let others = self.sums(k - 1, reach);
        let factors = self.factors(0..=reach);
        sum((-(reach as i64)..=reach as i64)
            .map(|z| factors[z.unsigned_abs() as usize] * others.get(-z)))
    }

    /// Σ Π f over all vectors of `coordinates` whole numbers with every sum; 1 at 0 if there are none.
    pub(super) fn sums(self, coordinates: usize, reach: u64) -> Signed {
        let none = Signed { first: 0, values: vec![1.0] };
        (0..coordinates).fold(none, |sums, _| self.with_one_more(&sums, reach))
    }

    /// The same sums with one coordinate more.
    pub(super) fn with_one_more(self, sums: &Signed, reach: u64) -> Signed {
        let steps = reach as i64;
        match self {
            Self::Geometric { rate, .. } => {
                // The places are moved so that none is negative.
                let table = Table::new(0, sums.values.clone());
                let next = convolve(&table, reach, (0, 2 * reach), 0.5 * rate);
                let values = next.slice(0, next.end() as usize).unwrap_or(&[]).to_vec();
                Signed { first: sums.first - steps, values }
            }
            Self::Gaussian { .. } => {
                let half = self.factors(0..=reach);
                let factor = |z: i64| half[z.unsigned_abs() as usize];
                let factors: Vec<f64> = (-steps..=steps).map(factor).collect();
                sums.convolved(&factors, -steps, i64::MAX)
            }
        }
    }

    /// The outputs that carry all but a negligible part of the probability. If no coordinate can be
    /// clamped, all of them have the total n.
    pub fn region(self, posterior: &Posterior) -> Region {
        let (x, n) = (posterior.counts(), posterior.n());
        let (reach, steps) = self.reach(posterior.k());
        let windows = x.iter().map(|&x| window(x, n, reach)).collect();
        let inside = x.iter().all(|&x| x > reach && n - x > reach);
        let shape = if inside { Shape::Simplex } else { Shape::Free };
        Region::diamond(shape, x.to_vec(), windows, steps)
    }
}

/// From this σ on, sums of Gaussian factors are integrals.
const SMOOTH: f64 = 4.0;

/// Numbers at consecutive places, which may be negative.
#[derive(Clone, Debug)]
pub(super) struct Signed {
    first: i64,
    values: Vec<f64>,
}

impl Signed {
    pub(super) fn get(&self, place: i64) -> f64 {
        let index = usize::try_from(place - self.first).ok();
        index.and_then(|index| self.values.get(index)).copied().unwrap_or(0.0)
    }

    /// The convolution with `values` at the places from `first` on, up to `furthest` on both sides of 0.
    fn convolved(&self, values: &[f64], first: i64, furthest: i64) -> Self {
        let start = self.first + first;
        let end = start + (self.values.len() + values.len()) as i64 - 1;
        let (low, high) = (start.max(-furthest), end.min(furthest.saturating_add(1)));
        let mut sums = vec![0.0; (high - low).max(0) as usize];
        for (place, a) in (start..).zip(&self.values) {
            let within = |end: i64| (end - place).clamp(0, values.len() as i64);
            let (from, to) = (within(low), within(high));
            let values = values[from as usize..to as usize].iter();
            for (sum, b) in sums.iter_mut().skip((place + from - low) as usize).zip(values) {
                *sum += a * b;
            }
        }
        Self { first: low, values: sums }
    }
}

/// What happens to a coordinate that becomes v at n > 0 records: it is clamped to 0, or to n, or not at all.
fn end_of(v: u64, n: u64) -> usize {
    match v {
        0 => ZERO,
        v if v == n => TOP,
        _ => INSIDE,
    }
}

const INSIDE: usize = 0;
const ZERO: usize = 1;
const TOP: usize = 2;

/// The law of x + z, clamped, with its tables.
struct Clamping {
    noise: LatticeNoise,
    counts: Vec<u64>,
    n: u64,
    /// `None` if there are too many outputs to walk; then there are no tables either.
    walked: Option<Walked>,
    /// f(v − x_i).
    factors: Vec<Table>,
    clamped: Clamped,
    total: f64,
    sampler: OnceLock<LatticeSampler>,
}

/// The sums over what clamped coordinates exceed their bounds by.
enum Clamped {
    /// Those of geometric noise, which depend on the numbers of clamped coordinates only: beyond a bound it falls by
    /// the same factor with every step, wherever x is.
    Closed(LatticeShares),
    /// Those of any other noise: for every combination of clamped coordinates (a number of k digits in base 3, see
    /// [`end_of`]) the convolution over t; none if it cannot occur.
    Combined(Vec<Option<Signed>>),
}

impl Clamping {
    /// The law at one posterior.
    pub fn new(posterior: &Posterior, noise: LatticeNoise) -> Self {
        let k = posterior.k();
        let region = noise.region(posterior).folded(&posterior.categories());
        let counts = posterior.counts().to_vec();
        let mut law = Self {
            noise,
            n: posterior.n(),
            walked: None,
            factors: Vec::new(),
            clamped: Clamped::Combined(Vec::new()),
            total: 1.0,
            sampler: OnceLock::new(),
            counts,
        };
        if is_walked(&region) {
            let windows = law.counts.iter().zip(region.windows());
            let half = noise.factors(0..=noise.reach(k).0.min(law.n));
            let factor = |(&x, &(low, high)): (&u64, &(u64, u64))| {
                Table::new(low, (low..=high).map(|v| half[v.abs_diff(x) as usize]).collect())
            };
            law.factors = windows.map(factor).collect();
            (law.clamped, law.total) = match noise.closed() {
                Some(rate) => {
                    let is_clamped = |&(low, high): &Window| low == 0 || high == law.n;
                    let any = region.windows().iter().any(is_clamped);
                    let furthest = if any { furthest_sum(noise, k, law.n) } else { 0 };
                    (Clamped::Closed(LatticeSums::new(rate).shares(k, furthest)), 1.0)
                }
                None => (Clamped::Combined(law.convolutions()), noise.total(k)),
            };
            law.walked = Some(Walked::new(region));
        }
        law
    }

    fn convolutions(&self) -> Vec<Option<Signed>> {
        let (reach, _) = self.noise.reach(self.counts.len());
        let mut tables = vec![Some(Signed { first: 0, values: vec![1.0] })];
        let last = self.counts.len() - 1;
        // The first coordinate is the highest digit, as when an output is read from the left.
        for (i, &x) in self.counts.iter().enumerate() {
            // In the end t is the sum of an output minus n.
            let furthest = if i == last { (last as u64 * self.n) as i64 } else { i64::MAX };
            let ends = |table: &Option<Signed>| {
                let clamped = |beyond: u64, end: usize| {
                    let table = table.as_ref().filter(|_| beyond <= reach)?;
                    let mut factors = self.noise.factors(beyond..=reach);
                    let mut first = 0;
                    if end == TOP {
                        factors.reverse();
                        first = 1 - factors.len() as i64;
                    }
                    Some(table.convolved(&factors, first, furthest))
                };
                [table.clone(), clamped(x, ZERO), clamped(self.n - x, TOP)]
            };
            tables = tables.iter().flat_map(ends).collect();
        }
        tables
    }

    /// The mass of one output.
    fn mass(&self, output: &[u64]) -> f64 {
        if self.n == 0 {
            return self.total;
        }
        let is_closed = matches!(self.clamped, Clamped::Closed(_));
        let (mut product, mut ends, mut combination, mut sum) = (1.0, [0; 3], 0, 0);
        for (i, &v) in output.iter().enumerate() {
            let end = end_of(v, self.n);
            if is_closed || end == INSIDE {
                product *= self.factors[i].get(v).unwrap_or(0.0);
            }
            ends[end] += 1;
            combination = 3 * combination + end;
            sum += v;
        }
        let beyond = sum as i64 - self.n as i64;
        product
            * match &self.clamped {
                Clamped::Closed(shares) => shares.get(ends[ZERO], ends[TOP], beyond),
                Clamped::Combined(tables) => {
                    tables[combination].as_ref().map_or(0.0, |table| table.get(beyond))
                }
            }
    }
}

impl OutputLaw for Clamping {
    fn walked(&self) -> Option<&Walked> {
        self.walked.as_ref()
    }

    fn masses(&self, row: &Row, masses: &mut [f64]) {
        let mut output = vec![0; self.counts.len()];
        let inside = row.head.iter().all(|&v| end_of(v, self.n) == INSIDE);
        let taken: u64 = row.head.iter().sum();
        if row.tail == Tail::Free && inside && self.n > 0 {
            // Unless the running coordinate is clamped, the total is n.
            masses.fill(0.0);
            let last = row.start + row.len as u64 - 1;
            let mut seen = None;
            for v in [Some(0), self.n.checked_sub(taken), Some(self.n)].into_iter().flatten() {
                if seen < Some(v) && (row.start..=last).contains(&v) {
                    let t = (v - row.start) as usize;
                    row.output(t, &mut output);
                    masses[t] = row.weight * self.mass(&output);
                    seen = Some(v);
                }
            }
            return;
        }
        for (t, mass) in masses.iter_mut().enumerate() {
            row.output(t, &mut output);
            *mass = row.weight * self.mass(&output);
        }
    }

    fn normaliser(&self) -> f64 {
        self.total
    }

    fn left_out(&self) -> f64 {
        NEGLECTED
    }

    fn p_exact(&self) -> f64 {
        if self.walked.is_some() {
            return self.mass(&self.counts) / self.total;
        }
        let k = self.counts.len();
        let count = |bound: u64| self.counts.iter().filter(|&&x| x == bound).count();
        match self.noise.closed().map(LatticeSums::new) {
            // No noise, or noise that is clamped to none.
            Some(sums) => exp_accurate(sums.ln_ways(count(0), count(self.n), 0) - sums.ln_whole(k)),
            None => 1.0 / self.noise.total(k),
        }
    }

    fn draw(&self, k: usize, batches: &mut [Batch]) {
        let sampler = self.sampler.get_or_init(|| LatticeSampler::new(self.noise, k));
        for Batch { rng, released } in batches {
            for out in released.chunks_exact_mut(k) {
                sampler.draw(rng, out);
                for (v, &x) in out.iter_mut().zip(&self.counts) {
                    *v = x.saturating_add_signed(*v as i64).min(self.n);
                }
            }
        }
    }
}

/// The furthest sum of an output from n.
fn furthest_sum(noise: LatticeNoise, k: usize, n: u64) -> u64 {
    noise.reach(k).1.min(n.saturating_mul(k as u64 - 1))
}

/// The place of a table takes as much memory as so many entries.
const PLACE: f64 = 4.0;

/// Draws of the noise alone.
pub struct LatticeSampler {
    noise: LatticeNoise,
    reach: i64,
    /// Σ f(z) over −reach <= z <= each place.
    running: Vec<f64>,
}

impl LatticeSampler {
    pub fn new(noise: LatticeNoise, k: usize) -> Self {
        let reach = noise.reach(k).0 as i64;
        let mut sum = 0.0;
        let half = noise.factors(0..=reach as u64);
        let running = (-reach..=reach).map(|z| {
            sum += half[z.unsigned_abs() as usize];
            sum
        });
        Self { noise, reach, running: running.collect() }
    }

    /// Draws z, as two's complement numbers. All coordinates but the last are drawn independently; the last
    /// makes the sum 0, and is accepted with probability f.
    pub fn draw(&self, rng: &mut impl Rng, out: &mut [u64]) {
        let Some((last, others)) = out.split_last_mut() else { return };
        loop {
            let mut sum = 0;
            for z in others.iter_mut() {
                let drawn = draw_index(&self.running, rng) as i64 - self.reach;
                sum += drawn;
                *z = drawn as u64;
            }
            if uniform(rng) < self.noise.factor(i64::unsigned_abs(sum)) {
                *last = (-sum) as u64;
                return;
            }
        }
    }
}

/// ln P of every one of `outputs`, also where the probability is too small for a double.
fn ln_probabilities(noise: LatticeNoise, posterior: &Posterior, outputs: &[Vec<u64>]) -> Vec<f64> {
    let (x, n, k) = (posterior.counts(), posterior.n(), posterior.k());
    if n == 0 {
        return vec![0.0; outputs.len()];
    }
    if let Some(rate) = noise.closed() {
        let sums = LatticeSums::new(rate);
        let ln_total = sums.ln_whole(k);
        // Beyond a bound f falls by the same factor with every step, wherever x is.
        let ln_p = |v: &Vec<u64>| {
            let [zeros, tops] = [0, n].map(|end| v.iter().filter(|&&v| v == end).count());
            let beyond = v.iter().sum::<u64>() as i64 - n as i64;
            let ways = sums.ln_ways(zeros, tops, beyond);
            let steps: u64 = v.iter().zip(x).map(|(v, x)| v.abs_diff(*x)).sum();
            ways - 0.5 * rate * steps as f64 - ln_total
        };
        return outputs.iter().map(ln_p).collect();
    }
    let ln_total = ln(noise.total(k));
    // What one coordinate exceeds its bound by may be balanced by another: the sums in between reach as far as the
    // noise does.
    let longest = k as u64 * n + noise.reach(k).0;
    let mut tables = vec![vec![f64::NEG_INFINITY; 2 * longest as usize + 1]];
    tables[0][longest as usize] = 0.0;
    for (i, &x) in x.iter().enumerate() {
        // Every count makes three tables of one.
        let _part = parallel::part(2.0 * libm::pow(3.0, i as f64 - k as f64));
        let split = |table: &Vec<f64>| {
            let tail = |beyond: u64| noise.ln_factors(beyond..=beyond + 2 * longest);
            let mut backwards: Vec<f64> = table.iter().rev().copied().collect();
            backwards = ln_convolved(&backwards, &tail(n - x));
            backwards.reverse();
            [table.clone(), ln_convolved(table, &tail(x)), backwards]
        };
        let all = parallel::steps(0..tables.len());
        tables = all.flat_map(|place| split(&tables[place])).collect();
    }
    let logs = noise.ln_factors(0..=n);
    let ln_p = |v: &Vec<u64>| {
        let (mut log, mut combination) = (0.0, 0);
        for (&v, &x) in v.iter().zip(x) {
            let end = end_of(v, n);
            if end == INSIDE {
                log += logs[v.abs_diff(x) as usize];
            }
            combination = 3 * combination + end;
        }
        let place = longest + v.iter().sum::<u64>() - n;
        log + tables[combination].get(place as usize).copied().unwrap_or(f64::NEG_INFINITY)
            - ln_total
    };
    outputs.iter().map(ln_p).collect()
}

/// ln Σ_u e^(f(t − u) + g(u)) at every place of f.
fn ln_convolved(f: &[f64], g: &[f64]) -> Vec<f64> {
    (0..f.len()).map(|t| ln_sum((0..=t).map(|u| f[t - u] + g[u]))).collect()
}

#[cfg(test)]
mod tests;
