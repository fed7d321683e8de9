//! The mean of the shares of several groups, and that of several others: which one is larger, and by how much.
//!
//! Given the true counts, the shares of different groups are independent Beta laws. So the transform E[e^(itD)] of
//! D = Σ_A p_g/|A| − r Σ_B p_g/|B| is a sum of products of transforms of the rows of mixtures. Only the groups'
//! totals depend on each other: they sum to n. The sum over all totals is a convolution, group by group.
//!
//! ```text
//! P[D <= x] = 1/2 − Σ_j Im[φ(t_j) e^(−i t_j x)] / (π (j + 1/2)),   t_j = (j + 1/2) 2π/R
//! ```
//!
//! This is exact but for the mass of D at a distance above R from x, and for the terms that are left out.

use std::f64::consts::{PI, TAU};

use super::beta_mixture::{BetaMixture, Interval};
use super::comparison::{ROW, asinh, normal_quantile};
use super::weights::Weights;
use engine::numeric::beta::Place;
use engine::numeric::{Sum, exp_accurate, ln};
use engine::parallel;

/// Terms are left out when all of the last fifth of the transforms are smaller than this. Their sum is then about
/// ten times smaller, if transforms fall like a power, and a thousand times, if like those of a normal law.
const SMALL: f64 = 1e-9;

/// The same where transforms fall only like a power, because all shares may be near 0 or 1: a more precise series
/// would take too long. Probabilities are then right to about 1e-6, and quantiles to so much of a standard deviation.
const ROUGH: f64 = 1e-5;

const ROUGHLY: f64 = 1e-5;
const PRECISELY: f64 = 1e-8;

/// The transform of a normal law is far below `SMALL` at so many times the inverse of its standard deviation.
const FALLEN: f64 = 7.2;

/// A node costs as much as this many products: a sine and a cosine.
const NODE: f64 = 10.0;

/// A limit on the terms of a series.
const MOST_TERMS: usize = 20_000;

/// About as many series are computed for a comparison.
const SERIES: f64 = 16.0;

/// No probability is nearer to 0 or 1: it would not be told from it.
const CERTAIN: f64 = 1e-12;

/// Quantiles of smaller probabilities on either side would not be precise.
const LEAST: f64 = 1e-8;

/// A limit on the steps to a quantile, which takes about four.
const MOST_STEPS: usize = 80;

/// Logarithms of ratios are smaller.
const LARGEST_LOG_RATIO: f64 = 600.0;

/// A complex number: its real and its imaginary part.
type Complex = (f64, f64);

/// A group: its share as a mixture, with a row for every total.
pub struct Group {
    mixture: BetaMixture,
    totals: Vec<u64>,
    /// The logits between which nearly all of the mass lies, and these as shares.
    logits: (f64, f64),
    ends: (f64, f64),
    nodes: Nodes,
}

/// The mass of every row of a group at many shares.
#[derive(Default)]
struct Nodes {
    shares: Vec<f64>,
    /// Those of all rows at the first share, then at the second, and so on.
    masses: Vec<f64>,
    /// Transforms are right up to this frequency.
    reach: f64,
}

/// How the counts of the groups depend on each other.
pub enum Together {
    /// The total of the first chain and that of the second one sum to n.
    Chains([Chain; 2], u64),
}

/// A sum of counts: some to begin with, and then the totals of one group after the other.
pub struct Chain {
    pub start: Weights,
    pub links: Vec<Link>,
}

/// One group of a chain.
pub struct Link {
    /// The weights of its total on their own.
    pub own: Weights,
    /// The first and the last sum, this total included, that matters.
    pub window: (u64, u64),
}

/// Two means of shares, and their dependence.
pub struct Averages {
    groups: Vec<Group>,
    /// So many groups are of the first mean.
    firsts: usize,
    together: Together,
    /// The mean and the variance of both, as if groups did not depend on each other.
    moments: [(f64, f64); 2],
    /// Products that may still be computed, and those of a series that is not `ROUGH`.
    left: f64,
    fair: f64,
    /// `SMALL` or `ROUGH`.
    small: f64,
    /// The law of the first mean less the second.
    difference: Series,
}

/// The transform of a law at t = (j + 1/2) · step.
struct Series {
    step: f64,
    terms: Vec<Complex>,
}

impl Group {
    pub fn new(mixture: BetaMixture, totals: Vec<u64>) -> Self {
        let logits = mixture.logit_ends();
        let ends = (Place::at_logit(logits.0).x, Place::at_logit(logits.1).x);
        Self { mixture, totals, logits, ends, nodes: Nodes::default() }
    }

    fn rows(&self) -> f64 {
        self.mixture.rows().len() as f64
    }

    /// The first node, the step between nodes and their number, if transforms are to be right up to `reach`. The
    /// trapezoidal rule runs over w, the logit being 2 sinh w. The share p changes by 2p(1 − p) cosh w there, the
    /// more the nearer w is to 0.
    fn grid(&self, reach: f64) -> (f64, f64, usize) {
        let (low, high) = self.logits;
        let (start, end) = (asinh(0.5 * low), asinh(0.5 * high));
        let nearest = 0.0_f64.max(low).min(high);
        let Place { x, rest, .. } = Place::at_logit(nearest);
        let slope = x * rest * (4.0 + nearest * nearest).sqrt();
        let step = TAU / (slope * reach + (8.0 / self.mixture.narrowest()).max(40.0));
        (start, step, ((end - start) / step).ceil() as usize + 1)
    }

    /// The products of new nodes.
    fn cost(&self, reach: f64) -> f64 {
        let rows = self.mixture.rows().iter().map(|row| row.len() as f64 + ROW);
        self.grid(reach).2 as f64 * rows.sum::<f64>()
    }

    fn refine(&mut self, reach: f64) {
        let (start, step, nodes) = self.grid(reach);
        let node = |place: usize| {
            let w = start + step * place as f64;
            let (e, inverse) = (exp_accurate(w), exp_accurate(-w));
            let at = Place::at_logit(e - inverse);
            let dv = step * (e + inverse);
            let rows = self.mixture.at_rows(at);
            (at.x, rows.iter().map(|row| row.density * dv).collect::<Vec<f64>>())
        };
        let (shares, masses): (Vec<f64>, Vec<Vec<f64>>) =
            parallel::map_range(0..nodes, node).into_iter().unzip();
        self.nodes = Nodes { shares, masses: masses.concat(), reach };
    }

    /// E[e^(isp)] of every row, times its probability.
    fn transforms(&self, s: f64) -> Vec<Complex> {
        let rows = self.mixture.rows().len();
        let (mut real, mut imaginary) = (vec![0.0; rows], vec![0.0; rows]);
        for (share, masses) in self.nodes.shares.iter().zip(self.nodes.masses.chunks_exact(rows)) {
            let (sin, cos) = libm::sincos(s * share);
            for ((real, imaginary), mass) in real.iter_mut().zip(&mut imaginary).zip(masses) {
                *real += mass * cos;
                *imaginary += mass * sin;
            }
        }
        real.into_iter().zip(imaginary).collect()
    }
}

impl Chain {
    /// The products of one transform.
    fn work(&self, groups: &[Group]) -> f64 {
        let mut length = self.start.values.len() as f64;
        let mut work = 0.0;
        for (link, group) in self.links.iter().zip(groups) {
            let longer = (link.window.1 - link.window.0) as f64 + 1.0;
            work += 2.0 * group.rows() * length.min(longer);
            length = longer;
        }
        work
    }

    /// For every sum of counts, from the first one on, its weight times the transform of the groups.
    fn transform(&self, groups: &[Group], transforms: &[Vec<Complex>]) -> (u64, Vec<Complex>) {
        let mut first = self.start.first;
        let mut real = self.start.values.clone();
        let mut imaginary = vec![0.0; real.len()];
        for ((link, group), rows) in self.links.iter().zip(groups).zip(transforms) {
            let (low, high) = link.window;
            let length = (high - low) as usize + 1;
            let (mut next_real, mut next_imaginary) = (vec![0.0; length], vec![0.0; length]);
            let rows = group.totals.iter().zip(rows).zip(group.mixture.rows());
            for ((total, transform), row) in rows {
                // The sums up to here, `skipped` of them, that lead below the window.
                let skipped = low.saturating_sub(first + total) as usize;
                let ahead = (first + total).saturating_sub(low) as usize;
                if skipped >= real.len() || ahead >= length {
                    continue;
                }
                let factor = link.own.get(*total) / row.total();
                let (a, b) = (transform.0 * factor, transform.1 * factor);
                let next = next_real[ahead..].iter_mut().zip(&mut next_imaginary[ahead..]);
                let before = real[skipped..].iter().zip(&imaginary[skipped..]);
                for ((x, y), (u, v)) in next.zip(before) {
                    *x += a * u - b * v;
                    *y += a * v + b * u;
                }
            }
            (first, real, imaginary) = (low, next_real, next_imaginary);
        }
        (first, real.into_iter().zip(imaginary).collect())
    }
}

impl Together {
    fn work(&self, groups: &[Group], firsts: usize) -> f64 {
        match self {
            Self::Chains([a, b], _) => a.work(&groups[..firsts]) + b.work(&groups[firsts..]),
        }
    }

    /// The transform of the sum over all groups, up to a factor.
    fn transform(&self, groups: &[Group], firsts: usize, transforms: &[Vec<Complex>]) -> Complex {
        let (mut real, mut imaginary) = (Sum::default(), Sum::default());
        match self {
            Self::Chains([a, b], n) => {
                let (first, sums) = a.transform(&groups[..firsts], &transforms[..firsts]);
                let (start, others) = b.transform(&groups[firsts..], &transforms[firsts..]);
                for (total, a) in (first..).zip(&sums) {
                    let place = n.checked_sub(total).and_then(|left| left.checked_sub(start));
                    if let Some(b) = place.and_then(|place| others.get(place as usize)) {
                        real.add(a.0 * b.0 - a.1 * b.1);
                        imaginary.add(a.0 * b.1 + a.1 * b.0);
                    }
                }
            }
        }
        (real.value(), imaginary.value())
    }
}

impl Series {
    /// P[D <= x].
    fn below(&self, x: f64) -> f64 {
        let term = |(j, (a, b)): (usize, &Complex)| {
            let half = j as f64 + 0.5;
            let (sin, cos) = libm::sincos(half * self.step * x);
            (b * cos - a * sin) / (PI * half)
        };
        let sum = self.terms.iter().enumerate().map(term).collect::<Sum>().value();
        (0.5 - sum).clamp(CERTAIN, 1.0 - CERTAIN)
    }
}

impl Averages {
    /// Compares the mean of the shares of the `firsts` to that of the other groups, unless that takes more
    /// `products`.
    pub fn new(
        groups: Vec<Group>,
        firsts: usize,
        together: Together,
        products: f64,
    ) -> Result<Self, String> {
        let moments = [&groups[..firsts], &groups[firsts..]].map(|groups| {
            let (mean, variance) = (groups.iter().map(|group| group.mixture.moments()))
                .fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
            let many = groups.len() as f64;
            (mean / many, variance / (many * many))
        });
        let difference = Series { step: 1.0, terms: Vec::new() };
        let (left, fair) = (products, products / (4.0 * SERIES));
        let mut found =
            Self { groups, firsts, together, moments, left, fair, small: SMALL, difference };
        let ends = found.ends(1.0);
        if ends.0 >= ends.1 {
            return Err(
                "its shares are so close to 0 or 1 that they are the same numbers".to_owned()
            );
        }
        let terms = found.expected_terms(1.0, ends.1 - ends.0);
        let mut work = SERIES * terms as f64 * found.together.work(&found.groups, firsts);
        for (place, group) in found.groups.iter().enumerate() {
            let reach = found.weight(place, 1.0).abs() * TAU / (ends.1 - ends.0) * terms as f64;
            let nodes = group.grid(reach).2 as f64 * (2.0 * group.rows() + NODE);
            work += group.cost(reach) + SERIES * terms as f64 * nodes;
        }
        if work > products {
            return Err(format!("it would take {work:.0e} products (at most {products:.0e})"));
        }
        found.difference = found.series(1.0, ends)?;
        Ok(found)
    }

    /// P\[the first mean is larger\].
    pub fn probability_greater(&self) -> f64 {
        1.0 - self.difference.below(0.0)
    }

    /// The mean of the first less the second.
    pub fn mean_difference(&self) -> f64 {
        self.moments[0].0 - self.moments[1].0
    }

    /// P[the first less the second is at most x].
    #[cfg(test)]
    pub fn difference_below(&self, x: f64) -> f64 {
        self.difference.below(x)
    }

    /// P[the first over the second is at most e^x].
    pub fn log_ratio_below(&mut self, x: f64) -> Result<f64, String> {
        Ok(self.series(exp_accurate(x), (0.0, 0.0))?.below(0.0))
    }

    /// The number x with P[first − second <= x] = p.
    pub fn difference_quantile(&self, p: f64) -> Result<f64, String> {
        let [a, b] = self.moments;
        let (mean, spread) = (a.0 - b.0, (a.1 + b.1).sqrt());
        let tolerance = self.tolerance();
        solve(p, self.ends(1.0), (mean, spread), tolerance, |x| Ok(self.difference.below(x)))
    }

    /// The number x with P[first / second <= x] = p.
    pub fn ratio_quantile(&mut self, p: f64) -> Result<f64, String> {
        let [a, b] = self.moments;
        let (mean, spread) = (ln(a.0 / b.0), (a.1 / (a.0 * a.0) + b.1 / (b.0 * b.0)).sqrt());
        let ends = (-LARGEST_LOG_RATIO, LARGEST_LOG_RATIO);
        let tolerance = self.tolerance();
        let log = solve(p, ends, (mean, spread), tolerance, |x| self.log_ratio_below(x))?;
        Ok(exp_accurate(log))
    }

    /// The equal-tailed interval of the difference.
    pub fn difference(&self, level: f64) -> Result<Interval, String> {
        let left_out = 0.5 * (1.0 - level);
        let low = self.difference_quantile(left_out)?;
        Ok(Interval { low, high: self.difference_quantile(1.0 - left_out)? })
    }

    /// The equal-tailed interval of the ratio.
    pub fn ratio(&mut self, level: f64) -> Result<Interval, String> {
        let left_out = 0.5 * (1.0 - level);
        let low = self.ratio_quantile(left_out)?;
        Ok(Interval { low, high: self.ratio_quantile(1.0 - left_out)? })
    }

    /// How precise a quantile is, in standard deviations.
    fn tolerance(&self) -> f64 {
        if self.small == ROUGH { ROUGHLY } else { PRECISELY }
    }

    /// What the share of a group is multiplied by.
    fn weight(&self, group: usize, ratio: f64) -> f64 {
        match group < self.firsts {
            true => 1.0 / self.firsts as f64,
            false => -ratio / (self.groups.len() - self.firsts) as f64,
        }
    }

    /// Nearly all of the mass of D lies between these.
    fn ends(&self, ratio: f64) -> (f64, f64) {
        let (mut low, mut high) = (0.0, 0.0);
        for (place, group) in self.groups.iter().enumerate() {
            let weight = self.weight(place, ratio);
            let (a, b) = (weight * group.ends.0, weight * group.ends.1);
            low += a.min(b);
            high += a.max(b);
        }
        (low, high)
    }

    /// About how many terms are needed.
    fn expected_terms(&self, ratio: f64, range: f64) -> usize {
        let [a, b] = self.moments;
        let spread = (a.1 + ratio * ratio * b.1).sqrt();
        (FALLEN * range / (TAU * spread)).ceil().clamp(8.0, MOST_TERMS as f64) as usize
    }

    /// The series that gives P[D <= x] for x between `low` and `high`.
    fn series(&mut self, ratio: f64, (low, high): (f64, f64)) -> Result<Series, String> {
        let ends = self.ends(ratio);
        let range = (ends.1 - low).max(high - ends.0);
        let step = TAU / range;
        let weights: Vec<f64> =
            (0..self.groups.len()).map(|group| self.weight(group, ratio)).collect();
        let mut terms: Vec<Complex> = Vec::new();
        let mut end = self.expected_terms(ratio, range);
        let left = self.left;
        loop {
            let most = step * end as f64;
            for (place, weight) in weights.iter().enumerate() {
                if self.groups[place].nodes.reach < weight.abs() * most {
                    // Others are needed next, for more terms or another ratio.
                    let reach = 1.5 * weight.abs() * most;
                    self.spend(self.groups[place].cost(reach))?;
                    self.groups[place].refine(reach);
                }
            }
            let nodes = (self.groups.iter())
                .map(|group| group.nodes.shares.len() as f64 * (2.0 * group.rows() + NODE));
            let work = nodes.sum::<f64>() + self.together.work(&self.groups, self.firsts);
            self.spend((end - terms.len()) as f64 * work)?;
            let transform = |t: f64| {
                let groups = self.groups.iter().zip(&weights);
                let all: Vec<Vec<Complex>> =
                    groups.map(|(group, weight)| group.transforms(weight * t)).collect();
                self.together.transform(&self.groups, self.firsts, &all)
            };
            let whole = transform(0.0).0;
            let found = parallel::map_range(terms.len()..end, |j| {
                let (a, b) = transform(step * (j as f64 + 0.5));
                (a / whole, b / whole)
            });
            terms.extend(found);
            let last = &terms[terms.len() - terms.len() / 5 - 1..];
            if left - self.left > self.fair {
                self.small = ROUGH;
            }
            if last.iter().all(|(a, b)| a.abs() + b.abs() < self.small) {
                return Ok(Series { step, terms });
            }
            if end >= MOST_TERMS {
                return Err(SLOW.to_owned());
            }
            end = (end + (end / 4).max(8)).min(MOST_TERMS);
        }
    }

    fn spend(&mut self, work: f64) -> Result<(), String> {
        self.left -= work;
        match self.left < 0.0 {
            true => Err(SLOW.to_owned()),
            false => Ok(()),
        }
    }
}

/// Why there are more terms than of a law that is about normal.
const SLOW: &str =
    "the shares of all groups may be so close to 0 or 1 that its integrals converge too slowly";

/// Solves P[X <= x] = p, `below` being P[X <= x], between two ends: by the secant rule for the logit of the
/// probability, which is about linear.
fn solve(
    p: f64,
    (mut low, mut high): (f64, f64),
    (mean, spread): (f64, f64),
    tolerance: f64,
    mut below: impl FnMut(f64) -> Result<f64, String>,
) -> Result<f64, String> {
    if p.min(1.0 - p) < LEAST {
        return Err(format!("its intervals are not precise at levels above 1 − {}", 2.0 * LEAST));
    }
    let logit = |p: f64| ln(p / (1.0 - p));
    let mut x = (mean + normal_quantile(p) * spread).clamp(low, high);
    let mut last: Option<(f64, f64)> = None;
    for _ in 0..MOST_STEPS {
        let found = below(x)?;
        let off = logit(found) - logit(p);
        if off >= 0.0 {
            high = x
        } else {
            low = x
        }
        // Near the median, the logit of a normal law rises by about 1.6 within a standard deviation.
        let slope = last.map_or(1.6 / spread, |last| (off - last.1) / (x - last.0));
        let next = x - off / slope;
        if (next - x).abs() <= tolerance * spread {
            return Ok(next);
        }
        last = Some((x, off));
        // NaN and whatever leaves the bracket.
        x = if next > low && next < high { next } else { low.midpoint(high) };
    }
    Ok(x)
}
