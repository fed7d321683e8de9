//! Noise on the lattice of whole vectors that sum to 0: y = x + z, P[z] ∝ Π_i f(z_i), clamped to [0, n].
//!
//! The noise does not depend on the data, and y has the total n. Clamping changes the total: the released
//! counts may sum to more or less than n. An output v stands for all y with y_i = v_i where 0 < v_i < n,
//! y_i <= 0 where v_i = 0, and y_i >= n where v_i = n. What the clamped coordinates exceed their bounds by
//! sums to t = Σ v − n. So P(v) is a product over the coordinates that are not clamped, times a
//! convolution at t that depends only on which coordinates are clamped.

mod sums;

use std::ops::RangeInclusive;
use std::sync::OnceLock;

use rand::Rng;
pub(super) use sums::LatticeSums;

use super::effort::Effort;
use super::hamming::convolve;
use super::noise::{NEGLECTED, steps_within, window};
use super::product::is_walked;
use super::{Batch, Law};
use crate::numeric::sum::sum;
use crate::numeric::{Table, exp_accurate, ln, ln_sum};
use crate::operations::{Operation, count};
use crate::posterior::model::Posterior;
use crate::posterior::simplex::{Blocks, Region, Row, Shape, Tail};
use crate::rng::{draw_index, uniform};

/// The factor f of one coordinate of the noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LatticeNoise {
    /// e^(−rate |z| / 2): a vector that moves d records has the weight e^(−rate · d).
    Geometric {
        /// The rate.
        rate: f64,
    },
    /// The same up to |z| = radius, and 0 beyond.
    Truncated {
        /// The rate.
        rate: f64,
        /// The largest |z|.
        radius: u64,
    },
    /// e^(−z² / 2σ²).
    Gaussian {
        /// σ.
        sigma: f64,
    },
}

impl LatticeNoise {
    /// ln f(z).
    pub fn ln_factor(self, z: u64) -> f64 {
        match self {
            Self::Geometric { rate } => -0.5 * rate * z as f64,
            Self::Truncated { radius, .. } if z > radius => f64::NEG_INFINITY,
            Self::Truncated { rate, .. } => -0.5 * rate * z as f64,
            Self::Gaussian { sigma } => {
                let scaled = z as f64 / sigma;
                -0.5 * scaled * scaled
            }
        }
    }

    /// ln f(z)² − ln f(z + 1)², without the rounding of a difference.
    pub fn ln_step(self, z: u64) -> f64 {
        match self {
            Self::Truncated { radius, .. } if z >= radius => f64::INFINITY,
            Self::Truncated { rate, .. } | Self::Geometric { rate } => rate,
            Self::Gaussian { sigma } => (2.0 * z as f64 + 1.0) / (sigma * sigma),
        }
    }

    /// Whether it keeps (ε, δ)-differential privacy with some δ > 0, and none without.
    pub fn is_approximate(self) -> bool {
        match self {
            Self::Truncated { .. } | Self::Gaussian { .. } => true,
            Self::Geometric { .. } => false,
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
            Self::Geometric { rate } => {
                let steps = steps_within(2.0 / rate, k);
                (steps, steps)
            }
            Self::Truncated { rate, radius } => {
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

    /// Σ Π_i f(z_i) over all z that sum to 0.
    pub fn total(self, k: usize) -> f64 {
        if let Self::Geometric { rate } = self {
            return exp_accurate(LatticeSums::ln_whole(rate, k));
        }
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

    /// The same noise, wider by a factor.
    pub fn widened(self, factor: f64) -> Self {
        match self {
            Self::Geometric { rate } => Self::Geometric { rate: rate / factor },
            Self::Truncated { rate, radius } => Self::Truncated { rate: rate / factor, radius },
            Self::Gaussian { sigma } => Self::Gaussian { sigma: sigma * factor },
        }
    }

    /// P[z_1 >= 0 and z_2 <= 0] of geometric noise. With z_1 = p, z_2 = −q and b = e^(−rate / 2), the sum of
    /// b^(p + q) over all p and q with the difference d is b^|d| / (1 − b²): as if both were one coordinate.
    pub fn probability_of_signs(rate: f64, k: usize) -> f64 {
        LatticeSums::ratio(rate, k)
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
            Self::Geometric { rate } | Self::Truncated { rate, .. } => {
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
                sums.convolved(&factors, -steps)
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

/// Below this rate geometric noise is so wide that its sums are computed in closed form.
const WIDE: f64 = 0.004;

/// The most entries of tables for every combination of clamped coordinates. With more of them, sums of
/// geometric noise are computed in closed form.
const MOST_COMBINED: f64 = 4e6;

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

    /// The convolution with `values` at the places from `first` on.
    fn convolved(&self, values: &[f64], first: i64) -> Self {
        count(Operation::Product, self.values.len() * values.len());
        let mut sums = vec![0.0; self.values.len() + values.len() - 1];
        for (i, a) in self.values.iter().enumerate() {
            for (sum, b) in sums[i..].iter_mut().zip(values) {
                *sum += a * b;
            }
        }
        Self { first: self.first + first, values: sums }
    }

    /// The convolution with `values` at the places from 0 on, up to `furthest` on both sides of 0.
    fn convolved_within(&self, values: &[f64], furthest: i64) -> Self {
        let end = self.first + (self.values.len() + values.len()) as i64 - 1;
        let (low, high) = (self.first.max(-furthest), end.min(furthest.saturating_add(1)));
        let at = |place: i64| -> f64 {
            // Of this table, the places from place − values.len() + 1 to place.
            let above = (place - self.first + 1).clamp(0, self.values.len() as i64) as usize;
            let below = (place - self.first + 1 - values.len() as i64).max(0) as usize;
            let own = self.values[below.min(above)..above].iter().rev();
            let offset = (place - self.first + 1) as usize - above;
            count(Operation::Product, own.len());
            own.zip(&values[offset.min(values.len())..]).map(|(a, b)| a * b).sum()
        };
        Self { first: low, values: (low..high).map(at).collect() }
    }

    /// The convolution with start · ratio^u at the places u = 0, 1, … below `length`, in linear time.
    fn decayed(&self, start: f64, ratio: f64, length: usize) -> Self {
        let mut sums = vec![0.0; self.values.len() + length - 1];
        count(Operation::Product, RECURSION * sums.len());
        let mut run = 0.0;
        for (place, sum) in sums.iter_mut().enumerate() {
            run = run * ratio + self.values.get(place).map_or(0.0, |value| start * value);
            *sum = run;
        }
        Self { first: self.first, values: sums }
    }

    fn reversed(mut self) -> Self {
        self.values.reverse();
        let last = self.first + self.values.len() as i64 - 1;
        Self { first: -last, values: self.values }
    }
}

/// What happens to one coordinate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Inside = 0,
    Zero = 1,
    Top = 2,
}

/// The law of x + z, clamped.
pub struct Lattice {
    noise: LatticeNoise,
    counts: Vec<u64>,
    n: u64,
    region: Region,
    blocks: Option<Blocks>,
    /// f(v − x_i).
    factors: Vec<Table>,
    clamped: Clamped,
    total: f64,
    sampler: OnceLock<LatticeSampler>,
}

/// The sums over what clamped coordinates exceed their bounds by.
enum Clamped {
    /// For every combination of clamped coordinates (a number of k digits in base 3, see [`End`]) the
    /// convolution over t; none if it cannot occur.
    Combined(Vec<Option<Signed>>),
    /// Those of geometric noise, which depend on the numbers of clamped coordinates only.
    Closed(LatticeSums),
}

impl Lattice {
    /// The law at one posterior.
    pub fn new(posterior: &Posterior, noise: LatticeNoise) -> Self {
        let k = posterior.k();
        let region = noise.region(posterior);
        let walked = is_walked(&region);
        let region = region.folded(&posterior.categories());
        let counts = posterior.counts().to_vec();
        let mut law = Self {
            noise,
            n: posterior.n(),
            blocks: walked.then(|| region.blocks()),
            region,
            factors: Vec::new(),
            clamped: Clamped::Combined(Vec::new()),
            total: 1.0,
            sampler: OnceLock::new(),
            counts,
        };
        if walked {
            let windows = law.counts.iter().zip(law.region.windows());
            let half = noise.factors(0..=noise.reach(k).0.min(law.n));
            let factor = |(&x, &(low, high)): (&u64, &(u64, u64))| {
                Table::new(low, (low..=high).map(|v| half[v.abs_diff(x) as usize]).collect())
            };
            law.factors = windows.map(factor).collect();
        }
        match noise {
            LatticeNoise::Geometric { rate } if is_closed(noise, &law.counts) => {
                law.total = LatticeSums::whole(rate, k);
                if walked {
                    let furthest = furthest_sum(noise, k, law.n);
                    law.clamped = Clamped::Closed(LatticeSums::new(rate, k, 0, furthest));
                }
            }
            _ => {
                law.total = noise.total(k);
                if walked {
                    law.clamped = Clamped::Combined(law.convolutions());
                }
            }
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
            let furthest = if i == last { last as u64 * self.n } else { u64::MAX >> 1 };
            let ends = |table: &Option<Signed>| {
                let at = |beyond: u64, end: End| {
                    let table = table.as_ref().filter(|_| beyond <= reach)?;
                    let tail = |table: &Signed| self.tail(table, (beyond, reach), furthest as i64);
                    Some(match end {
                        End::Top => tail(&table.clone().reversed()).reversed(),
                        _ => tail(table),
                    })
                };
                [table.clone(), at(x, End::Zero), at(self.n - x, End::Top)]
            };
            tables = tables.iter().flat_map(ends).collect();
        }
        tables
    }

    /// The convolution with f(beyond + u), u = 0, 1, …, at the places up to `furthest` on both sides.
    fn tail(&self, table: &Signed, (beyond, reach): (u64, u64), furthest: i64) -> Signed {
        let length = (reach - beyond + 1) as usize;
        match self.noise {
            LatticeNoise::Geometric { rate } => {
                table.decayed(self.noise.factor(beyond), exp_accurate(-0.5 * rate), length)
            }
            noise => {
                let tail = noise.factors(beyond..=reach);
                table.convolved_within(&tail, furthest)
            }
        }
    }

    fn end(&self, v: u64) -> End {
        match v {
            0 => End::Zero,
            v if v == self.n => End::Top,
            _ => End::Inside,
        }
    }

    /// The mass of one output.
    fn mass(&self, output: &[u64]) -> f64 {
        if self.n == 0 {
            return self.total;
        }
        match &self.clamped {
            Clamped::Combined(tables) => self.combined_mass(tables, output),
            Clamped::Closed(sums) => self.closed_mass(sums, output),
        }
    }

    fn combined_mass(&self, tables: &[Option<Signed>], output: &[u64]) -> f64 {
        let (mut product, mut combination, mut sum) = (1.0, 0, 0);
        for (i, &v) in output.iter().enumerate() {
            let end = self.end(v);
            if end == End::Inside {
                product *= self.factors[i].get(v).unwrap_or(0.0);
            }
            combination = 3 * combination + end as usize;
            sum += v;
        }
        let beyond = sum as i64 - self.n as i64;
        product * tables[combination].as_ref().map_or(0.0, |table| table.get(beyond))
    }

    /// Beyond a bound geometric noise falls by the same factor with every step, wherever x is.
    fn closed_mass(&self, sums: &LatticeSums, output: &[u64]) -> f64 {
        let (mut product, mut ends, mut sum) = (1.0, [0; 3], 0);
        for (i, &v) in output.iter().enumerate() {
            product *= self.factors[i].get(v).unwrap_or(0.0);
            ends[self.end(v) as usize] += 1;
            sum += v;
        }
        let beyond = sum as i64 - self.n as i64;
        let [_, zeros, tops] = ends;
        product * sums.decay(beyond) * sums.share(output.len(), zeros, tops, beyond)
    }
}

impl Law for Lattice {
    fn region(&self) -> &Region {
        &self.region
    }

    fn blocks(&self) -> Option<&Blocks> {
        self.blocks.as_ref()
    }

    fn masses(&self, row: &Row, masses: &mut [f64]) {
        let mut output = vec![0; self.counts.len()];
        let inside = row.head.iter().all(|&v| self.end(v) == End::Inside);
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
        if self.blocks.is_some() {
            return self.mass(&self.counts) / self.total;
        }
        let k = self.counts.len();
        let count = |bound: u64| self.counts.iter().filter(|&&x| x == bound).count();
        match self.noise {
            // No noise, or noise that is clamped to none.
            LatticeNoise::Geometric { rate } if self.n > 0 => {
                let kept = LatticeSums::ln_ways(rate, count(0), count(self.n), 0);
                exp_accurate(kept - LatticeSums::ln_whole(rate, k))
            }
            noise => 1.0 / noise.total(k),
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

/// Whether sums are computed in closed form.
fn is_closed(noise: LatticeNoise, counts: &[u64]) -> bool {
    match noise {
        LatticeNoise::Geometric { rate } => {
            rate < WIDE || combined(noise, counts).kept > MOST_COMBINED
        }
        LatticeNoise::Truncated { .. } | LatticeNoise::Gaussian { .. } => false,
    }
}

/// The furthest sum of an output from n.
fn furthest_sum(noise: LatticeNoise, k: usize, n: u64) -> u64 {
    noise.reach(k).1.min(n.saturating_mul(k as u64 - 1))
}

/// A step of a recursion takes as long as so many products, none of which waits for the one before.
const RECURSION: usize = 3;

/// The place of a table takes as much memory as so many entries.
const PLACE: f64 = 4.0;

/// What the tables for all combinations of clamped coordinates take.
fn combined(noise: LatticeNoise, counts: &[u64]) -> Effort {
    let n: u64 = counts.iter().sum();
    let (reach, _) = noise.reach(counts.len());
    let furthest = 2.0 * (counts.len() as f64 - 1.0) * n as f64 + 1.0;
    // The number of tables, and of their entries.
    let (mut tables, mut kept, mut products) = (1.0_f64, 1.0_f64, 0.0);
    for (i, &x) in counts.iter().enumerate() {
        let tails =
            [x, n - x].map(|beyond| reach.checked_sub(beyond).map(|left| left as f64 + 1.0));
        let (mut more, mut longer) = (tables, kept);
        for tail in tails.into_iter().flatten() {
            let each = kept / tables;
            let places = match i + 1 == counts.len() {
                true => (each + tail).min(furthest),
                false => each + tail,
            };
            products += tables * places * each.min(tail);
            more += tables;
            longer += tables * places;
        }
        (tables, kept) = (more, longer);
    }
    // A combination that is out of reach has no entries, but a place.
    kept += PLACE * libm::pow(3.0, counts.len() as f64);
    match noise {
        LatticeNoise::Geometric { .. } => {
            Effort { products: RECURSION as f64 * kept, kept, ..Effort::default() }
        }
        LatticeNoise::Truncated { .. } | LatticeNoise::Gaussian { .. } => {
            Effort { products, kept, ..Effort::default() }
        }
    }
}

/// What the law takes.
pub fn effort(posterior: &Posterior, noise: LatticeNoise) -> Effort {
    let (k, n, counts) = (posterior.k(), posterior.n(), posterior.counts());
    let mut effort = Effort::walk(noise.region(posterior), &posterior.categories());
    let (reach, _) = noise.reach(k);
    let whole = match noise {
        // One sum, in closed form or over a circle.
        LatticeNoise::Geometric { rate } => {
            Effort { entries: 100.0 / rate.max(WIDE), ..Effort::default() }
        }
        LatticeNoise::Gaussian { sigma } if sigma >= SMOOTH => Effort::default(),
        LatticeNoise::Truncated { .. } => Effort {
            convolved: (k * k) as f64 * reach as f64,
            kept: (2 * k) as f64 * reach as f64,
            ..Effort::default()
        },
        LatticeNoise::Gaussian { .. } => {
            let side = 2.0 * reach as f64 + 1.0;
            let sums = (1..k).map(|before| (1.0 + (before as f64 - 1.0) * side) * side);
            Effort { products: sums.sum(), kept: k as f64 * side, ..Effort::default() }
        }
    };
    effort.add(whole);
    if effort.walked.is_some() {
        let entries = reach.min(n) as f64;
        effort.add(Effort { entries, kept: entries, ..Effort::default() });
        effort.add(match is_closed(noise, counts) {
            true => {
                let kept = LatticeSums::entries(k, furthest_sum(noise, k, n) as f64);
                Effort { products: kept, kept, ..Effort::default() }
            }
            false => combined(noise, counts),
        });
    }
    effort
}

/// What a sampler takes before its first draw.
pub fn sampler_effort(noise: LatticeNoise, k: usize) -> Effort {
    let entries = 3.0 * noise.reach(k).0 as f64;
    Effort { entries, kept: entries, ..Effort::default() }
}

/// Draws of the noise alone.
pub struct LatticeSampler {
    noise: LatticeNoise,
    reach: i64,
    /// Σ f(z) over −reach <= z <= each place.
    running: Vec<f64>,
}

impl LatticeSampler {
    pub fn new(noise: LatticeNoise, k: usize) -> Self {
        let (reach, _) = noise.reach(k);
        let reach = reach as i64;
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
pub fn ln_probabilities(
    noise: LatticeNoise,
    posterior: &Posterior,
    outputs: &[Vec<u64>],
) -> Vec<f64> {
    let (x, n, k) = (posterior.counts(), posterior.n(), posterior.k());
    if n == 0 {
        return vec![0.0; outputs.len()];
    }
    let ends = |v: u64| (v == 0, v == n);
    if let LatticeNoise::Geometric { rate } = noise {
        let ln_total = LatticeSums::ln_whole(rate, k);
        // Beyond a bound f falls by the same factor with every step, wherever x is.
        let mut known = std::collections::BTreeMap::new();
        let ln_p = |v: &Vec<u64>| {
            let zeros = v.iter().filter(|&&v| ends(v).0).count();
            let tops = v.iter().filter(|&&v| ends(v).1).count();
            let beyond = v.iter().sum::<u64>() as i64 - n as i64;
            let key = (zeros, tops, beyond);
            let ways = || LatticeSums::ln_ways(rate, zeros, tops, beyond);
            let ways = *known.entry(key).or_insert_with(ways);
            let steps: u64 = v.iter().zip(x).map(|(v, x)| v.abs_diff(*x)).sum();
            ways - 0.5 * rate * steps as f64 - ln_total
        };
        return outputs.iter().map(ln_p).collect();
    }
    let ln_total = ln(noise.total(k));
    let longest = longest_sum(noise, k, n);
    let mut tables = vec![vec![f64::NEG_INFINITY; 2 * longest as usize + 1]];
    tables[0][longest as usize] = 0.0;
    for &x in x {
        let split = |table: &Vec<f64>| {
            let tail = |beyond: u64| noise.ln_factors(beyond..=beyond + 2 * longest);
            let mut backwards: Vec<f64> = table.iter().rev().copied().collect();
            backwards = ln_convolved(&backwards, &tail(n - x));
            backwards.reverse();
            [table.clone(), ln_convolved(table, &tail(x)), backwards]
        };
        tables = tables.iter().flat_map(split).collect();
    }
    let logs = noise.ln_factors(0..=n);
    let ln_p = |v: &Vec<u64>| {
        let (mut log, mut combination) = (0.0, 0);
        for (&v, &x) in v.iter().zip(x) {
            let digit = match ends(v) {
                (true, _) => End::Zero,
                (_, true) => End::Top,
                _ => End::Inside,
            };
            if digit == End::Inside {
                log += logs[v.abs_diff(x) as usize];
            }
            combination = 3 * combination + digit as usize;
        }
        let place = longest + v.iter().sum::<u64>() - n;
        log + tables[combination].get(place as usize).copied().unwrap_or(f64::NEG_INFINITY)
            - ln_total
    };
    outputs.iter().map(ln_p).collect()
}

/// What one coordinate exceeds its bound by may be balanced by another: the sums in between reach as far as
/// the noise does.
fn longest_sum(noise: LatticeNoise, k: usize, n: u64) -> u64 {
    k as u64 * n + noise.reach(k).0
}

impl LatticeNoise {
    /// The number of terms of the sums behind the logarithms of all probabilities at one data set.
    pub fn log_terms(self, k: usize, n: u64) -> f64 {
        match self {
            Self::Geometric { .. } => 0.0,
            Self::Truncated { .. } | Self::Gaussian { .. } => {
                let places = 2.0 * longest_sum(self, k, n) as f64 + 1.0;
                // Of every table two more are made.
                let tables = 0.5 * (libm::pow(3.0, k as f64) - 1.0);
                tables * places * (places + 1.0)
            }
        }
    }

    /// About how many terms the sum of a tail has ([`super::approximate::ln_tail`]).
    pub fn tail_terms(self) -> f64 {
        match self {
            Self::Gaussian { sigma } => 6.0 * sigma,
            Self::Geometric { .. } | Self::Truncated { .. } => 0.0,
        }
    }
}

/// ln Σ_u e^(f(t − u) + g(u)) at every place of f.
fn ln_convolved(f: &[f64], g: &[f64]) -> Vec<f64> {
    count(Operation::LogTerm, f.len() * (f.len() + 1) / 2);
    (0..f.len()).map(|t| ln_sum((0..=t).map(|u| f[t - u] + g[u]))).collect()
}

#[cfg(test)]
mod tests;
