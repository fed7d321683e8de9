//! Intervals of all cells that hold together: each is equal-tailed, and all have the same level of their own. How
//! often they hold together is counted in draws.

use engine::numeric::{exp_accurate, ln};
use engine::parallel;

use super::beta_mixture::{BetaMixture, Interval};
use super::counts_law::CountsLaw;
use super::draws::{Drawn, in_blocks, shares};

/// Levels of each interval that are tried, from that of all to that of the union bound. Between two of them the
/// logarithm of the probability is nearly linear in that of the level.
const LEVELS: usize = 8;

/// A probability that is lower than asked by more standard errors is too low.
const ERRORS: f64 = 4.0;

/// An interval for every cell. Together they hold with a probability.
#[derive(Clone, Debug)]
pub struct Joint {
    /// All are equal-tailed, at the same level of their own.
    pub intervals: Vec<Interval>,
    /// The level of each interval.
    pub each: f64,
    /// The probability that all hold.
    pub probability: Drawn,
}

impl CountsLaw {
    /// Intervals of all cells that hold together with probability `level`.
    pub fn joint(&self, level: f64) -> Joint {
        let k = self.prior().k();
        let all: Vec<BetaMixture> = parallel::map_range(0..k, |cell| self.share(&[cell]));
        let at = |each: f64| parallel::map(&all, |share| share.interval(each));
        search(k, level, at, |grown| self.probabilities(grown))
    }

    /// The probability that the shares of all cells lie in their intervals, for intervals that grow.
    fn probabilities(&self, grown: &[Vec<Interval>]) -> Vec<Drawn> {
        let (sampler, column_of) = self.sampler("joint");
        let firsts = in_blocks(&sampler, column_of.len(), |columns| {
            let mut firsts = vec![0; grown.len() + 1];
            for row in 0..columns[0].len() {
                firsts[first_that_holds(shares(columns, row, &column_of), grown)] += 1;
            }
            firsts
        });
        probabilities(&firsts)
    }
}

/// Intervals of k cells that hold together with probability `level`: `at` gives all at a level of their own, and
/// `probabilities` says how likely they are to hold together, for intervals that grow.
pub(super) fn search(
    k: usize,
    level: f64,
    at: impl Fn(f64) -> Vec<Interval>,
    probabilities: impl Fn(&[Vec<Interval>]) -> Vec<Drawn>,
) -> Joint {
    if k == 2 {
        // Each share tells the other.
        let probability = Drawn { value: level, error: 0.0 };
        return Joint { intervals: at(level), each: level, probability };
    }
    let most = 1.0 - (1.0 - level) / k as f64;
    let part = |place: usize| place as f64 / (LEVELS - 1) as f64;
    let levels: Vec<f64> = (0..LEVELS).map(|place| level + part(place) * (most - level)).collect();
    let tried: Vec<Vec<Interval>> = levels.iter().map(|&each| at(each)).collect();
    let found = probabilities(&tried);
    // The last one has at least the level, but for the error of the draws.
    let last = LEVELS - 1;
    let high = found.iter().position(|one| one.value >= level).unwrap_or(last);
    let joint = |place: usize| Joint {
        intervals: tried[place].clone(),
        each: levels[place],
        probability: found[place],
    };
    if high == 0 || found[high].value <= level {
        return joint(high);
    }
    let low = high - 1;
    let slope = ln(levels[high] / levels[low]) / ln(found[high].value / found[low].value);
    let each = levels[low] * exp_accurate(slope * ln(level / found[low].value));
    let intervals = at(each);
    let probability = probabilities(std::slice::from_ref(&intervals))[0];
    // Where shares are mostly 0 or 1 as doubles, probabilities jump.
    match probability.value + ERRORS * probability.error < level {
        true => joint(high),
        false => Joint { intervals, each, probability },
    }
}

/// The place of the first intervals, of those that grow, that hold for the shares of all cells.
pub(super) fn first_that_holds(
    shares: impl IntoIterator<Item = f64>,
    grown: &[Vec<Interval>],
) -> usize {
    shares.into_iter().enumerate().fold(0, |first, (cell, share)| {
        let holds = |all: &Vec<Interval>| all[cell].low <= share && share <= all[cell].high;
        first + grown[first..].iter().take_while(|all| !holds(all)).count()
    })
}

/// The probabilities of intervals that grow, from the numbers of draws for which they are the first that hold.
pub(super) fn probabilities(firsts: &[Vec<usize>]) -> Vec<Drawn> {
    let draws: usize = firsts.iter().flatten().sum();
    let mut held = 0;
    let up_to = |place: usize| {
        held += firsts.iter().map(|one| one[place]).sum::<usize>();
        Drawn::probability(held, draws)
    };
    (0..firsts[0].len() - 1).map(up_to).collect()
}
