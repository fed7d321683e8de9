//! The same share in two groups: which one is larger, and by how much.
//!
//! Given the true counts, the shares of two groups are independent Beta laws. The counts of the groups
//! depend on each other. So the joint law is Σ r(i, j) A_i ⊗ B_j: A_i and B_j are the rows of both
//! mixtures, and r is the ratio of the joint weight to the product of both weights.
//!
//! ```text
//! P[p_B <= g(p_A)] = ∫ Σ r(i, j) a_i(v) B_j(g(v)) dv
//! ```
//!
//! The integral runs over a logit v in which the integrand is analytic and decays at both ends: the
//! trapezoidal rule converges exponentially.

use super::beta_mixture::{BetaMixture, Interval};
use engine::numeric::beta::Place;
use engine::numeric::{Sum, exp_accurate, ln, log1p};
use engine::parallel;

/// About as many integrals are computed for a comparison.
const INTEGRALS: f64 = 16.0;

/// A row costs as much as this many terms.
const ROW: f64 = 60.0;

/// Weights smaller than this, relative to their sum, are left out.
pub(super) const NEGLIGIBLE: f64 = 1e-16;

/// The probability of two rows together, relative to the product of both probabilities.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub a: usize,
    pub b: usize,
    pub ratio: f64,
}

/// The shares of two groups, and how their rows depend on each other.
pub(super) struct Linked {
    pub a: BetaMixture,
    pub b: BetaMixture,
    /// The ratios may have a common factor.
    pub links: Vec<Link>,
}

impl Linked {
    /// The links that matter, without a common factor.
    pub fn normalised(self) -> Self {
        let Self { a, b, mut links } = self;
        let mass = |link: &Link| link.ratio * a.rows()[link.a].total() * b.rows()[link.b].total();
        let sum = links.iter().map(mass).collect::<Sum>().value();
        links.retain(|link| mass(link) > NEGLIGIBLE * sum);
        links.iter_mut().for_each(|link| link.ratio /= sum);
        Self { a, b, links }
    }
}

/// The shares p_A and p_B of two groups, and their dependence.
#[derive(Clone, Debug)]
pub struct Comparison {
    a: Side,
    b: Side,
    links: Vec<Link>,
    /// The step of the trapezoidal rule.
    step: f64,
    greater: f64,
}

/// One of both shares, and the logits between which nearly all of its mass lies.
#[derive(Clone, Debug)]
struct Side {
    mixture: BetaMixture,
    low: f64,
    high: f64,
}

/// What is asked of the first share and the second: whether their difference, or the logarithm of their
/// ratio, is at least so much.
#[derive(Clone, Copy, Debug)]
enum Lead {
    Difference(f64),
    LogRatio(f64),
}

/// A probability, and by how much it falls with the lead.
struct Tail {
    probability: f64,
    slope: f64,
}

impl Comparison {
    /// Compares two shares that do not depend on each other, such as those of separate data, unless that takes
    /// more `products`.
    pub fn independent(a: BetaMixture, b: BetaMixture, products: f64) -> Result<Self, String> {
        let pairs = a.rows().len() as f64 * b.rows().len() as f64;
        if pairs > products {
            return Err(format!("it would take {pairs:.0e} products (at most {products:.0e})"));
        }
        let pairs = (0..a.rows().len()).flat_map(|i| (0..b.rows().len()).map(move |j| (i, j)));
        let links = pairs.map(|(a, b)| Link { a, b, ratio: 1.0 }).collect();
        Self::new(Linked { a, b, links }, products)
    }

    pub(super) fn new(linked: Linked, products: f64) -> Result<Self, String> {
        let Linked { a, b, links } = linked.normalised();
        let finest = finest(&a, &b);
        let (a, b) = (Side::new(a), Side::new(b));
        let mut found = Self { a, b, links, step: finest, greater: f64::NAN };
        let nodes = (found.a.high - found.a.low).max(found.b.high - found.b.low);
        let nodes = 2.0 * asinh(0.25 * nodes) / finest;
        let work = INTEGRALS * nodes * found.work();
        if work > products {
            return Err(format!("it would take {work:.0e} products (at most {products:.0e})"));
        }
        // The step is halved until that changes nothing any more.
        found.greater = found.tail(false, Lead::Difference(0.0)).probability;
        for _ in 0..MOST_HALVINGS {
            let before = (found.step, found.greater);
            found.step *= 0.5;
            found.greater = found.tail(false, Lead::Difference(0.0)).probability;
            if (found.greater - before.1).abs() < SAME {
                found.step = before.0;
                return Ok(found);
            }
        }
        Err("its integrals do not converge".to_owned())
    }

    /// The products of one node.
    fn work(&self) -> f64 {
        let rows = self.a.mixture.rows().iter().chain(self.b.mixture.rows());
        rows.map(|row| row.len() as f64 + ROW).sum::<f64>() + self.links.len() as f64
    }

    /// P\[p_A > p_B\].
    pub fn probability_greater(&self) -> f64 {
        self.greater
    }

    /// The mean of p_A − p_B.
    pub fn mean_difference(&self) -> f64 {
        self.a.mixture.mean() - self.b.mixture.mean()
    }

    /// The number x with P[p_A − p_B <= x] = p.
    pub fn difference_quantile(&self, p: f64) -> f64 {
        let (a, b) = (self.a.moments(), self.b.moments());
        let spread = (a.1 + b.1).sqrt();
        let guess = a.0 - b.0 + normal_quantile(p) * spread;
        self.quantile(p, Lead::Difference, guess.clamp(-0.9, 0.9), (spread, 1.0))
    }

    /// The number x with P[p_A / p_B <= x] = p.
    pub fn ratio_quantile(&self, p: f64) -> f64 {
        let (a, b) = (self.a.moments(), self.b.moments());
        let spread = (a.1 / (a.0 * a.0) + b.1 / (b.0 * b.0)).sqrt();
        let guess = ln(a.0 / b.0) + normal_quantile(p) * spread;
        exp_accurate(self.quantile(p, Lead::LogRatio, guess, (spread, LARGEST_LOG_RATIO)))
    }

    /// The equal-tailed interval of p_A − p_B.
    pub fn difference(&self, level: f64) -> Interval {
        let left_out = 0.5 * (1.0 - level);
        let [low, high] = [left_out, 1.0 - left_out].map(|p| self.difference_quantile(p));
        Interval { low, high }
    }

    /// The equal-tailed interval of p_A / p_B. (The mean of the ratio may be infinite.)
    pub fn ratio(&self, level: f64) -> Interval {
        let left_out = 0.5 * (1.0 - level);
        let [low, high] = [left_out, 1.0 - left_out].map(|p| self.ratio_quantile(p));
        Interval { low, high }
    }

    /// P[p_A − p_B <= x].
    pub fn difference_below(&self, x: f64) -> f64 {
        let tail = self.tail(x < 0.0, Lead::Difference(x.abs().min(1.0))).probability;
        if x < 0.0 { tail } else { 1.0 - tail }
    }

    /// Solves P[p_A − p_B <= x] = p, or the same with the logarithm of the ratio. Of both shares the
    /// one that leads is the first: the lead is the positive number at which a tail has the right
    /// probability. Newton's method for the logarithm of the tail, which is about concave.
    fn quantile(
        &self,
        p: f64,
        lead: fn(f64) -> Lead,
        guess: f64,
        (spread, most): (f64, f64),
    ) -> f64 {
        let swapped = p <= 1.0 - self.greater;
        let (target, sign) = if swapped { (p, -1.0) } else { (1.0 - p, 1.0) };
        let (mut low, mut high) = (0.0, most);
        let mut x = (sign * guess).clamp(0.0, 0.9 * most);
        for _ in 0..MOST_STEPS {
            let Tail { probability, slope } = self.tail(swapped, lead(x));
            if probability >= target {
                low = x
            } else {
                high = x
            }
            let next = x + ln(probability / target) * probability / slope;
            // The error after a step is about the square of the step.
            if (next - x).abs() <= 1e-8 * spread.min(1.0) {
                return sign * next.clamp(0.0, most);
            }
            // NaN and whatever leaves the bracket.
            x = if next >= low && next < high { next } else { low.midpoint(high) };
            if high - low <= 1e-15 * high {
                break;
            }
        }
        sign * x
    }

    /// The probability that the first share leads the second by so much.
    fn tail(&self, swapped: bool, lead: Lead) -> Tail {
        let (first, second) = if swapped { (&self.b, &self.a) } else { (&self.a, &self.b) };
        let Some((low, high)) = lead.range(first, second) else {
            return Tail { probability: 0.0, slope: 0.0 };
        };
        let (start, end) = (asinh(0.5 * low), asinh(0.5 * high));
        let nodes = ((end - start) / self.step).ceil().max(1.0) as usize;
        let node = |place: usize| {
            let w = start + self.step * place as f64;
            // v = 2 sinh w.
            let (e, inverse) = (exp_accurate(w), exp_accurate(-w));
            let at = lead.at(e - inverse);
            let firsts = first.mixture.at_rows(at.first);
            let seconds = second.mixture.at_rows(at.second);
            let (mut probability, mut slope) = (0.0, 0.0);
            for link in &self.links {
                let (i, j) = if swapped { (link.b, link.a) } else { (link.a, link.b) };
                let weighted = link.ratio * firsts[i].density;
                probability += weighted * seconds[j].below;
                slope += weighted * seconds[j].density;
            }
            let dv = self.step * (e + inverse);
            (probability * at.density * dv, slope * at.slope * dv)
        };
        let terms: Vec<(f64, f64)> = parallel::map_range(0..nodes + 1, node);
        let probability = terms.iter().map(|term| term.0).collect::<Sum>().value();
        let slope = terms.iter().map(|term| term.1).collect::<Sum>().value();
        Tail { probability: probability.clamp(0.0, 1.0), slope }
    }
}

/// Probabilities that differ by less are the same.
const SAME: f64 = 1e-13;

/// A limit on the halvings of the step. Usually one is made.
const MOST_HALVINGS: usize = 5;

/// A limit on the steps of Newton's method, which takes about five.
const MOST_STEPS: usize = 100;

/// The logarithm of a ratio of doubles.
const LARGEST_LOG_RATIO: f64 = 1490.0;

/// A node: where both shares are evaluated, and the factors of the two integrands there.
struct Node {
    first: Place,
    second: Place,
    density: f64,
    slope: f64,
}

impl Lead {
    /// The node at the logit `v` of L.
    ///
    /// For a difference D, L runs from 0 to 1 while the first share p runs from D to 1, and p − D from 0 to
    /// 1 − D. Then the density of v is that of the logit of p times L/p. For a ratio, L = p.
    fn at(self, v: f64) -> Node {
        let place = Place::at_logit(v);
        match self {
            Self::Difference(0.0) | Self::LogRatio(0.0) => {
                let slope = match self {
                    Self::Difference(_) => 1.0 / (place.x * place.rest),
                    Self::LogRatio(_) => 1.0 / place.rest,
                };
                Node { first: place, second: place, density: 1.0, slope }
            }
            Self::Difference(lead) => {
                let left = 1.0 - lead;
                let first = place.mirrored().times(left).mirrored();
                let second = place.times(left);
                let slope = 1.0 / (first.x * left * second.rest);
                Node { first, second, density: place.x / first.x, slope }
            }
            Self::LogRatio(lead) => {
                let second = place.times(exp_accurate(-lead));
                Node { first: place, second, density: 1.0, slope: 1.0 / second.rest }
            }
        }
    }

    /// The logits of L between which nearly all of the integral lies, if there are any.
    fn range(self, first: &Side, second: &Side) -> Option<(f64, f64)> {
        let place = Place::at_logit;
        let logit = |x: f64| ln(x / (1.0 - x));
        let (low, high) = match self {
            Self::Difference(lead) => {
                let left = 1.0 - lead;
                let (small, large) = (place(second.low).x, place(first.high).rest);
                if small >= left || large >= left {
                    return None;
                }
                // L = (p − D)/(1 − D) for the first share, and y/(1 − D) for the second.
                let near = (place(first.low).x - lead) / left;
                let low = if small > TINY { logit(small / left) } else { second.low - ln(left) };
                let low = if near > TINY { low.max(logit(near)) } else { low };
                let low = if lead == 0.0 { low.max(first.low) } else { low };
                (low, if large > TINY { -logit(large / left) } else { first.high + ln(left) })
            }
            Self::LogRatio(lead) => {
                let small = place(second.low).x * exp_accurate(lead);
                if second.low + lead > 0.0 && small >= 1.0 {
                    return None;
                }
                let low = if small > TINY { logit(small) } else { second.low + lead };
                (low.max(first.low), first.high)
            }
        };
        (low < high).then_some((low, high))
    }
}

/// Below this a number is its own odds.
const TINY: f64 = 1e-30;

impl Side {
    fn new(mixture: BetaMixture) -> Self {
        let (low, high) = mixture.logit_ends();
        Self { mixture, low, high }
    }

    fn moments(&self) -> (f64, f64) {
        self.mixture.moments()
    }
}

/// The step of the trapezoidal rule in w, v = 2 sinh w, from the standard deviations of the narrowest
/// laws. The integrand is about a normal density times a normal distribution function of v. The rule's
/// error is then e^(−2 (π σ/h)²) with 1/σ² = 1/σ_A² + 1/σ_B².
fn finest(a: &BetaMixture, b: &BetaMixture) -> f64 {
    let (a, b) = (a.narrowest(), b.narrowest());
    (0.75 / (1.0 / (a * a) + 1.0 / (b * b)).sqrt()).min(0.25)
}

/// The inverse of sinh.
fn asinh(x: f64) -> f64 {
    let size = log1p(x.abs() + x * x / (1.0 + (1.0 + x * x).sqrt()));
    if x < 0.0 { -size } else { size }
}

/// About the quantile of a standard normal number.
fn normal_quantile(p: f64) -> f64 {
    let tail = 2.0 * p.min(1.0 - p);
    let size = 0.8 * (-2.0 * ln(tail)).max(0.0).sqrt();
    if p < 0.5 { -size } else { size }
}
