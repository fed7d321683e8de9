//! Intervals of all cells at one level: the probability that all of them hold together.
//!
//! Let the first two cells have the share π together. Given π and the counts, the division of π among
//! them and that of 1 − π among the other two are independent Beta laws. An interval of both cells limits
//! their division to an interval, too. So the probability of intervals for all cells is one integral over
//! π. It is smooth but for the places where another end begins to count.

use engine::parallel;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::beta_mixture::{BetaMixture, Interval};
use super::beta_row::BetaRow;
use super::comparison::{Link, Linked};
use super::counts_law::CountsLaw;
use engine::numeric::beta::{Place, ln_logit_density};
use engine::numeric::{Sum, exp_accurate, gauss, ln};

/// The most products for the joint probability of four cells: they take some seconds.
const MOST_PRODUCTS: f64 = 1.5e9;

/// About as many nodes are computed until the level is found.
const NODES: f64 = 2500.0;

/// A row costs as much as this many terms.
const ROW: f64 = 60.0;

/// The error of the coarse rule for one piece of the integral. That of the fine rule is far smaller.
const PRECISE: f64 = 1e-10;

/// A limit on the halvings of a piece.
const MOST_HALVINGS: usize = 24;

/// A limit on the steps towards the level, of which about six are needed.
const MOST_STEPS: usize = 60;

/// Densities below this are left out.
const TINY: f64 = 1e-20;

/// An interval for every cell. Together they hold with a probability.
#[derive(Clone, Debug)]
pub struct Joint {
    /// All are equal-tailed, at the same level of their own.
    pub intervals: Vec<Interval>,
    /// The level of each interval.
    pub each: f64,
    /// The probability that all hold; if it is not exact, it is at least this.
    pub probability: f64,
    pub exact: bool,
}

impl CountsLaw {
    /// Intervals of all cells that hold together with probability `level`, exactly for up to four cells.
    /// For more, or where that takes long, with at least this probability: by the union bound.
    pub fn joint(&self, level: f64) -> Joint {
        let k = self.prior().k();
        let shares: Vec<BetaMixture> = parallel::map_range(0..k, |i| self.share(&[i]));
        let at =
            |each: f64| -> Vec<Interval> { parallel::map(&shares, |share| share.interval(each)) };
        let bound = 1.0 - (1.0 - level) / k as f64;
        if k == 2 {
            return Joint { intervals: at(level), each: level, probability: level, exact: true };
        }
        let at_least =
            || Joint { intervals: at(bound), each: bound, probability: level, exact: false };
        let Ok(divided) = Divided::new(self) else { return at_least() };
        match divided.level_of_each(level, bound, &at) {
            Some(each) => Joint { intervals: at(each), each, probability: level, exact: true },
            None => at_least(),
        }
    }

    /// The probability that the shares of all cells lie in their intervals; or why it is not computed.
    pub fn joint_probability(&self, intervals: &[Interval]) -> Result<f64, String> {
        match self.prior().k() {
            // One share tells the other.
            2 => {
                let (first, second) = (intervals[0], intervals[1]);
                let low = first.low.max(1.0 - second.high);
                let high = first.high.min(1.0 - second.low);
                let share = self.share(&[0]);
                Ok(if low < high { share.below(high) - share.below(low) } else { 0.0 })
            }
            _ => (Divided::new(self)?.probability(intervals))
                .ok_or_else(|| format!("it would take more than {MOST_PRODUCTS:.0e} products")),
        }
    }
}

/// The first two cells against the others.
struct Divided {
    /// The division of the first two cells.
    first: BetaMixture,
    /// The division of the last two cells, if there are four.
    second: Option<BetaMixture>,
    links: Vec<Link>,
    /// The sum of the parameters of all cells.
    total: f64,
    /// Gauss's rule with few and with many nodes.
    rules: [Vec<(f64, f64)>; 2],
    /// The number of nodes that may still be computed.
    left: AtomicUsize,
}

impl Divided {
    fn new(law: &CountsLaw) -> Result<Self, String> {
        let n = law.n().ok_or("the number of records is not known")?;
        let total = law.prior().total() + n as f64;
        let rules = [gauss::legendre(16), gauss::legendre(24)];
        let left = AtomicUsize::new(0);
        let mut divided = match law.prior().k() {
            3 => {
                let first = law.try_within(&[0], &[0, 1])?;
                let links = (0..first.rows().len()).map(|a| Link { a, b: 0, ratio: 1.0 }).collect();
                Self { first, second: None, links, total, rules, left }
            }
            4 => {
                let linked = law.linked((&[0], &[0, 1]), (&[2], &[2, 3]))?;
                let Linked { a, b, links } = linked.normalised();
                Self { first: a, second: Some(b), links, total, rules, left }
            }
            k => return Err(format!("it is computed for at most four categories, not for {k}")),
        };
        let rows = |mixture: &BetaMixture| -> f64 {
            2.0 * mixture.rows().iter().map(|row| row.len() as f64 + ROW).sum::<f64>()
        };
        let work = rows(&divided.first) + divided.second.as_ref().map_or(0.0, rows);
        let node = work + divided.links.len() as f64;
        divided.left = AtomicUsize::new((2.0 * MOST_PRODUCTS / node) as usize);
        let work = NODES * node;
        match work <= MOST_PRODUCTS {
            true => Ok(divided),
            false => {
                Err(format!("it would take {work:.0e} products (at most {MOST_PRODUCTS:.0e})"))
            }
        }
    }

    /// The level of every interval at which all hold together with probability `level`; `None` if that
    /// takes long. It is at most that of the union bound.
    fn level_of_each(
        &self,
        level: f64,
        bound: f64,
        at: &impl Fn(f64) -> Vec<Interval>,
    ) -> Option<f64> {
        // The joint probability is nearly a linear function of the level of each: regula falsi, where an
        // end that stays has its value halved.
        let (mut low, mut high) = (level, bound);
        let excess = |each: f64| Some(self.probability(&at(each))? - level);
        let (mut below, mut above) = (excess(low)?, excess(high)?);
        let mut each = high;
        for _ in 0..MOST_STEPS {
            each = (low * above - high * below) / (above - below);
            let found = excess(each)?;
            if found.abs() < 1e-10 || high - low < 1e-15 {
                break;
            }
            if found < 0.0 {
                (low, below, above) = (each, found, 0.5 * above);
            } else {
                (high, above, below) = (each, found, 0.5 * below);
            }
        }
        Some(each)
    }

    /// The probability that all intervals hold; `None` if that takes long.
    fn probability(&self, intervals: &[Interval]) -> Option<f64> {
        let (first, second) = intervals.split_at(2);
        // π lies between the sums of the ends on both sides.
        let sums = |pair: &[Interval]| match pair {
            [a, b] => vec![a.low + b.low, a.low + b.high, a.high + b.low, a.high + b.high],
            one => vec![one[0].low, one[0].high],
        };
        let (ours, theirs) = (sums(first), sums(second));
        let theirs: Vec<f64> = theirs.iter().rev().map(|sum| 1.0 - sum).collect();
        let low = ours[0].max(theirs[0]).max(f64::MIN_POSITIVE);
        let high = ours[ours.len() - 1].min(theirs[theirs.len() - 1]).min(1.0 - f64::EPSILON);
        if low >= high {
            return Some(0.0);
        }
        let mut breaks = vec![low, high];
        breaks.extend(ours.iter().chain(&theirs).filter(|&&sum| low < sum && sum < high));
        breaks.sort_unstable_by(f64::total_cmp);
        breaks.dedup();
        let logits: Vec<f64> = breaks.iter().map(|x| ln(x / (1.0 - x))).collect();
        let f = |z: f64| self.density(z, first, second);
        let pieces = logits.windows(2).map(|ends| self.integral(ends[0], ends[1], &f, 0));
        Some(
            pieces
                .collect::<Option<Vec<f64>>>()?
                .into_iter()
                .collect::<Sum>()
                .value()
                .clamp(0.0, 1.0),
        )
    }

    /// ∫ f, in halves if two rules disagree; `None` if that takes long.
    fn integral(
        &self,
        low: f64,
        high: f64,
        f: &(impl Fn(f64) -> f64 + Sync),
        depth: usize,
    ) -> Option<f64> {
        let nodes = self.rules.iter().map(Vec::len).sum::<usize>();
        let left = self.left.load(Ordering::Relaxed).checked_sub(nodes)?;
        self.left.store(left, Ordering::Relaxed);
        let [coarse, fine] = self.rules.each_ref().map(|rule| {
            let term = |(place, weight): &(f64, f64)| weight * f(low + (high - low) * place);
            let terms: Vec<f64> = parallel::map(rule, term);
            (high - low) * terms.into_iter().collect::<Sum>().value()
        });
        if (coarse - fine).abs() < PRECISE || depth == MOST_HALVINGS {
            return Some(fine);
        }
        let middle = low.midpoint(high);
        let lower = self.integral(low, middle, f, depth + 1)?;
        Some(lower + self.integral(middle, high, f, depth + 1)?)
    }

    /// The density of the logit z of π, times the probability that both divisions are as they should.
    fn density(&self, z: f64, first: &[Interval], second: &[Interval]) -> f64 {
        let place = Place::at_logit(z);
        let densities: Vec<f64> = self
            .first
            .rows()
            .iter()
            .map(|row| exp_accurate(ln_logit_density(row.size(), self.total - row.size(), place)))
            .collect();
        let ours = Limits::new(first, place.x);
        let theirs = self.second.as_ref().map(|_| Limits::new(second, place.rest));
        let used = |links: &dyn Fn(&Link) -> usize, rows: &[BetaRow], limits: &Limits| {
            let mut used = vec![false; rows.len()];
            let matters = |link: &&Link| densities[link.a] > TINY;
            self.links.iter().filter(matters).for_each(|link| used[links(link)] = true);
            let value = |(row, used): (&BetaRow, bool)| if used { limits.of(row) } else { 0.0 };
            rows.iter().zip(used).map(value).collect::<Vec<f64>>()
        };
        let ours = used(&|link| link.a, self.first.rows(), &ours);
        let theirs = self
            .second
            .as_ref()
            .zip(theirs)
            .map(|(second, limits)| used(&|link| link.b, second.rows(), &limits));
        let term = |link: &Link| {
            let theirs = theirs.as_ref().map_or(1.0, |theirs| theirs[link.b]);
            link.ratio * densities[link.a] * ours[link.a] * theirs
        };
        self.links.iter().map(term).collect::<Sum>().value()
    }
}

/// Between these places the first of two cells must have its part of both shares.
struct Limits {
    low: Place,
    high: Place,
}

impl Limits {
    /// The limits if both shares sum to `sum`.
    fn new(pair: &[Interval], sum: f64) -> Self {
        let [first, second] = [pair[0], pair[1]];
        let of = |share: f64| Place::at((share / sum).min(1.0));
        Self {
            low: match first.low + second.high >= sum {
                true => of(first.low),
                false => of(second.high).mirrored(),
            },
            high: match first.high + second.low <= sum {
                true => of(first.high),
                false => of(second.low).mirrored(),
            },
        }
    }

    fn of(&self, row: &BetaRow) -> f64 {
        row.between(self.low, self.high)
    }
}
