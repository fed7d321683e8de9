//! The likelihood ratio test of a sampler against its exact law, with proved bounds on both error rates.
//!
//! Outcomes are pooled into d + 1 cells of probabilities p_i. If o_i of N draws fall into cell i, the
//! statistic is
//!
//! ```text
//! t = N · KL(o/N ‖ p) = Σ o_i ln(o_i / (N p_i)),      2t → χ² with d degrees of freedom.
//! ```
//!
//! **False alarms.** At a level of 10⁻⁹ the tail of χ² is not a p-value: it is wrong by orders of
//! magnitude if a cell expects few draws. But E e^(st) <= (1 − s)^(−d) for 0 <= s < 1, whatever N and p
//! (R. Agrawal, "Finite-sample concentration of the multinomial in relative entropy", IEEE Trans.
//! Inf. Theory 66, 2020), so that
//!
//! ```text
//! P[t >= T] <= e^(d − T) (T/d)^d                      for T > d.
//! ```
//!
//! Rejection rests on this bound alone; the tail of χ² is shown for orientation.
//!
//! **Power.** If the draws follow q instead, then t >= Σ ln(q/p) over the draws, because no law is nearer
//! to o/N than o/N itself. This is a sum of N independent terms, and Chernoff's bound gives
//!
//! ```text
//! P[t < T] <= min over 0 <= s <= 1 of e^(sT) (Σ q_i^(1−s) p_i^s)^N.
//! ```

use schemars::JsonSchema;
use serde::Serialize;
use statrs::function::gamma::checked_gamma_ur;

use super::LEVEL;
use engine::numeric::{Sum, exp_accurate, ln};
use table::Number;

/// Outcomes are pooled, in order, into cells of at least this many expected draws.
const LEAST_EXPECTED: f64 = 20.0;
/// The most cells: more would cost power. If there are more, larger ones are made.
const MOST_CELLS: usize = 200;

/// A sampler under test: its name, and its exact law.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The name of the sampler; those of one name make one line of the report.
    pub sampler: String,
    pub setting: String,
    /// The exact probability of every outcome.
    pub law: Vec<f64>,
    /// The laws of wrong samplers, over the same outcomes: the test should distinguish them from the
    /// right one.
    pub wrong: Vec<Vec<f64>>,
}

/// The result of testing a sampler.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Trial {
    pub sampler: String,
    pub setting: String,
    pub draws: u64,
    /// The number of draws that the exact law excludes.
    pub outside: u64,
    /// The number of cells minus one.
    pub degrees: usize,
    /// 2t; infinite if a draw is excluded by the exact law.
    #[serde(serialize_with = "Number::write")]
    #[schemars(with = "Number")]
    pub statistic: f64,
    /// The tail of χ² beyond the statistic, for orientation.
    pub p: f64,
    /// A bound on P[a statistic at least as large] if the sampler is right.
    pub bound: f64,
    /// A bound on P[a wrong sampler is not rejected], for the wrong law that is hardest to detect; 1 if
    /// none was given.
    pub miss: f64,
}

impl Trial {
    /// Whether the sampler is rejected at the level [`LEVEL`]. A bound that is not a number rejects, too.
    pub fn is_rejected(&self) -> bool {
        self.bound.is_nan() || self.bound < LEVEL
    }

    /// A lower bound on the probability that a wrong sampler is rejected.
    pub fn power(&self) -> f64 {
        1.0 - self.miss
    }
}

impl Subject {
    /// Calls `draw` `draws` times for the place of an outcome in the law. A place beyond the law counts
    /// as an outcome that the law excludes.
    pub fn check(&self, draws: u64, mut draw: impl FnMut() -> usize) -> Trial {
        let mut counts = vec![0; self.law.len()];
        let mut outside = 0;
        for _ in 0..draws {
            match counts.get_mut(draw()) {
                Some(count) => *count += 1,
                None => outside += 1,
            }
        }
        self.judge(&counts, outside)
    }

    /// The result for draws in which every outcome occurred `counts` times, and excluded ones `outside`
    /// times.
    pub fn judge(&self, counts: &[u64], outside: u64) -> Trial {
        let draws = counts.iter().sum::<u64>() + outside;
        let cells = PooledLaw::new(&self.law, draws as f64);
        let t = if outside > 0 { f64::INFINITY } else { cells.statistic(counts) };
        let degrees = cells.degrees();
        let miss = |wrong: &Vec<f64>| cells.miss(wrong);
        Trial {
            sampler: self.sampler.clone(),
            setting: self.setting.clone(),
            draws,
            outside,
            degrees,
            statistic: 2.0 * t,
            p: tail(t, degrees),
            bound: bound(t, degrees),
            miss: self.wrong.iter().map(miss).reduce(f64::max).unwrap_or(1.0),
        }
    }
}

/// A law whose outcomes are pooled.
struct PooledLaw {
    /// The place after the last outcome of every cell.
    ends: Vec<usize>,
    probabilities: Vec<f64>,
    draws: f64,
}

impl PooledLaw {
    fn new(law: &[f64], draws: f64) -> Self {
        let mut enough = LEAST_EXPECTED / draws;
        loop {
            let cells = Self::pool(law, enough, draws);
            if cells.ends.len() <= MOST_CELLS {
                return cells;
            }
            enough *= 1.25;
        }
    }

    /// Cells of a probability of at least `enough`, in the order of the outcomes.
    fn pool(law: &[f64], enough: f64, draws: f64) -> Self {
        let total = Sum::from_iter(law.iter().copied()).value();
        let (mut ends, mut sums) = (Vec::new(), Vec::new());
        let mut sum = Sum::default();
        for (place, p) in law.iter().enumerate() {
            sum.add(p / total);
            if sum.value() >= enough {
                ends.push(place + 1);
                sums.push(std::mem::take(&mut sum));
            }
        }
        // The remaining outcomes join the last cell.
        match (ends.last_mut(), sums.last_mut()) {
            (Some(end), Some(last)) => {
                *end = law.len();
                last.add(sum.value());
            }
            _ => {
                ends.push(law.len());
                sums.push(sum);
            }
        }
        Self { ends, probabilities: sums.iter().map(Sum::value).collect(), draws }
    }

    fn degrees(&self) -> usize {
        self.ends.len() - 1
    }

    /// The values of outcomes, cell by cell.
    fn cells<'a, T>(&'a self, values: &'a [T]) -> impl Iterator<Item = &'a [T]> {
        let starts = std::iter::once(&0).chain(&self.ends);
        starts.zip(&self.ends).map(|(&start, &end)| &values[start..end])
    }

    /// t.
    fn statistic(&self, counts: &[u64]) -> f64 {
        let observed = self.cells(counts).map(|counts| counts.iter().sum::<u64>() as f64);
        // Each o ln(o/e) − o + e is at least 0, and the added terms −o + e sum to 0.
        let term = |(o, p): (f64, &f64)| {
            let e = self.draws * p;
            if o > 0.0 { o * ln(o / e) - (o - e) } else { e }
        };
        let terms: Sum = observed.zip(&self.probabilities).map(term).collect();
        terms.value().max(0.0)
    }

    /// The bound on P[t < T] under the law `wrong`, T being the threshold of rejection.
    fn miss(&self, wrong: &[f64]) -> f64 {
        let threshold = threshold(LEVEL, self.degrees());
        let total = Sum::from_iter(wrong.iter().copied()).value();
        let pooled = |cell: &[f64]| Sum::from_iter(cell.iter().copied()).value() / total;
        let q: Vec<f64> = self.cells(wrong).map(pooled).collect();
        // ln of the bound, a convex function of s.
        let exponent = |s: f64| {
            let term = |(&q, &p): (&f64, &f64)| match q > 0.0 {
                true => exp_accurate((1.0 - s) * ln(q) + s * ln(p)),
                false => 0.0,
            };
            let affinity: Sum = q.iter().zip(&self.probabilities).map(term).collect();
            s * threshold + self.draws * ln(affinity.value())
        };
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let (a, b) = (low + (high - low) / 3.0, high - (high - low) / 3.0);
            if exponent(a) <= exponent(b) {
                high = b;
            } else {
                low = a;
            }
        }
        exp_accurate(exponent(0.5 * (low + high)).min(0.0))
    }
}

/// The bound on P[t >= T].
fn bound(t: f64, degrees: usize) -> f64 {
    let d = degrees as f64;
    if t <= d {
        return 1.0;
    }
    if t == f64::INFINITY {
        return 0.0;
    }
    let growth = if degrees == 0 { 0.0 } else { d * ln(t / d) };
    exp_accurate(d - t + growth)
}

/// The T at which the bound is `level`.
fn threshold(level: f64, degrees: usize) -> f64 {
    let d = degrees as f64;
    let (mut low, mut high) = (d, d + 1.0);
    while bound(high, degrees) > level {
        high = d + 2.0 * (high - d);
    }
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        match bound(middle, degrees) > level {
            true => low = middle,
            false => high = middle,
        }
    }
    high
}

/// P[χ² with `degrees` degrees of freedom >= 2t].
fn tail(t: f64, degrees: usize) -> f64 {
    if t == f64::INFINITY {
        return 0.0;
    }
    // A statistic of 0 and a single cell have the tail 1.
    checked_gamma_ur(0.5 * degrees as f64, t).unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::numeric::lgamma;
    use engine::rng;

    fn subject(law: &[f64], wrong: &[f64]) -> Subject {
        let (sampler, setting) = ("die".to_owned(), "here".to_owned());
        Subject { sampler, setting, law: law.to_vec(), wrong: vec![wrong.to_vec()] }
    }

    /// A draw from a law by its running sums.
    fn draw(law: &[f64], rng: &mut rng::Stream) -> usize {
        let mut target = rng::uniform(rng);
        let is_passed = |p: &f64| {
            target -= p;
            target < 0.0
        };
        law.iter().position(is_passed).unwrap_or(law.len() - 1)
    }

    /// The theorem behind the bound, for two cells, by summing over all outcomes; more cells follow from
    /// two, one after another.
    #[test]
    fn the_moment_generating_function_is_that_of_a_gamma_variable_at_most() {
        for n in [1_u32, 2, 3, 7, 20, 100, 1000] {
            for p in [1e-6, 1e-3, 0.02, 0.1, 0.3, 0.5, 0.77] {
                let cells = PooledLaw {
                    ends: vec![1, 2],
                    probabilities: vec![p, 1.0 - p],
                    draws: n.into(),
                };
                let ln_choose = |o: u32| {
                    lgamma(f64::from(n) + 1.0)
                        - lgamma(f64::from(o) + 1.0)
                        - lgamma(f64::from(n - o) + 1.0)
                };
                for s in [0.1, 0.5, 0.9, 0.99] {
                    let term = |o: u32| {
                        let ln_p = ln_choose(o)
                            + f64::from(o) * ln(p)
                            + f64::from(n - o) * engine::numeric::log1p(-p);
                        let t = cells.statistic(&[o.into(), (n - o).into()]);
                        exp_accurate(ln_p + s * t)
                    };
                    let moment: f64 = (0..=n).map(term).sum();
                    assert!(moment <= 1.0 / (1.0 - s) + 1e-9, "n = {n} p = {p} s = {s}: {moment}");
                }
            }
        }
    }

    #[test]
    fn a_right_sampler_passes_and_a_wrong_one_does_not() {
        let (right, wrong) = ([0.5, 0.25, 0.2, 0.05], [0.48, 0.25, 0.2, 0.07]);
        let subject = subject(&right, &wrong);
        let mut stream = rng::stream(1, "die");
        let trial = subject.check(20_000, || draw(&right, &mut stream));
        assert!(!trial.is_rejected() && trial.p > 1e-3 && trial.degrees == 3, "{trial:?}");
        let trial = subject.check(20_000, || draw(&wrong, &mut stream));
        assert!(trial.is_rejected() && trial.power() > 0.999, "{trial:?}");
    }

    #[test]
    fn what_the_law_excludes_is_never_drawn() {
        let subject = subject(&[0.5, 0.5], &[0.4, 0.6]);
        let mut places = (0..).map(|i| if i == 77 { 2 } else { i % 2 });
        let trial = subject.check(1000, || places.next().unwrap_or(0));
        assert!(trial.outside == 1 && trial.is_rejected(), "{trial:?}");
        assert_eq!((trial.statistic, trial.p, trial.bound), (f64::INFINITY, 0.0, 0.0));
    }

    /// Wrong samplers are rejected as often as the stated power says.
    #[test]
    fn the_stated_power_is_reached() {
        let (right, wrong) = ([0.5, 0.3, 0.2], [0.45, 0.33, 0.22]);
        let subject = subject(&right, &wrong);
        let mut stream = rng::stream(2, "power");
        for (draws, claims_much) in [(2000, false), (8000, true), (11_000, true)] {
            let trials: Vec<Trial> =
                (0..200).map(|_| subject.check(draws, || draw(&wrong, &mut stream))).collect();
            let caught = trials.iter().filter(|trial| trial.is_rejected()).count() as f64 / 200.0;
            let claimed = trials[0].power();
            assert!(caught >= claimed - 0.05, "{draws}: {caught} of {claimed}");
            assert_eq!(claimed > 0.5, claims_much, "{draws}: {claimed}");
        }
    }

    /// Where the bound is tight enough to be seen: right samplers are rejected more rarely than it says.
    #[test]
    fn false_alarms_are_no_more_than_stated() {
        let law = [0.9, 0.06, 0.03, 0.01];
        let subject = subject(&law, &law);
        let mut stream = rng::stream(3, "alarms");
        let bounds = (0..4000).map(|_| subject.check(2000, || draw(&law, &mut stream)).bound);
        let alarms = bounds.filter(|&bound| bound < 0.05).count();
        assert!(alarms as f64 <= 0.05 * 4000.0, "{alarms}");
    }

    #[test]
    fn rare_outcomes_are_pooled() {
        let law: Vec<f64> = (0..1000).map(|i| exp_accurate(-0.05 * f64::from(i))).collect();
        let cells = PooledLaw::new(&law, 10_000.0);
        assert!(cells.degrees() > 50 && cells.degrees() < MOST_CELLS);
        assert!(cells.probabilities.iter().all(|p| p * 10_000.0 >= 20.0));
        assert!((cells.probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert_eq!(cells.ends.last(), Some(&1000));
        // A law of one outcome cannot be tested.
        let single = subject(&[1.0], &[1.0]).check(10, || 0);
        assert_eq!((single.degrees, single.bound, single.p, single.power()), (0, 1.0, 1.0, 0.0));
    }

    #[test]
    fn the_threshold_is_where_the_bound_is_the_level() {
        for degrees in [0, 1, 20, 255] {
            let t = threshold(LEVEL, degrees);
            assert!((bound(t, degrees) / LEVEL - 1.0).abs() < 1e-9, "{degrees}: {t}");
        }
    }
}
