//! The G-test of a sampler against its exact law.
//!
//! Outcomes are pooled, in order, into d + 1 cells, each of which expects at least [`LEAST_EXPECTED`] draws. If
//! o_i of N draws fall into the cell of probability p_i,
//!
//! ```text
//! G = 2 Σ o_i ln(o_i / (N p_i)) → χ² with d degrees of freedom.
//! ```
//!
//! In cells of this size the tail of χ² is that of G within a factor of two, even at a level of 10⁻⁹, as a test
//! here finds by exact sums.
//!
//! If the draws follow q instead, G is nearly a non-central χ² with the parameter λ = 2N Σ q_i ln(q_i / p_i).
//! Its tail is that of a multiple of a central χ² with the same mean and variance (P. B. Patnaik, "The
//! non-central χ²- and F-distributions and their applications", Biometrika 36, 1949).

use schemars::JsonSchema;
use serde::Serialize;
use statrs::function::gamma::checked_gamma_ur;

use super::LEVEL;
use engine::numeric::{Sum, ln};
use table::Number;

/// The fewest draws that a cell expects.
const LEAST_EXPECTED: f64 = 50.0;
/// The most cells: more would cost power. If there are more, larger ones are made.
const MOST_CELLS: usize = 200;

/// A sampler under test.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The name of the sampler; those of one name make one line of the report.
    pub sampler: String,
    pub setting: String,
    /// The exact probability of every outcome.
    pub law: Vec<f64>,
    /// The laws of wrong samplers, over the same outcomes: the test should tell them from the right one.
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
    /// G; infinite if a draw is excluded by the exact law.
    #[serde(serialize_with = "Number::write")]
    #[schemars(with = "Number")]
    pub statistic: f64,
    /// P[a statistic at least as large] if the sampler is right.
    pub p: f64,
    /// P[a wrong sampler is rejected], for the wrong law that is hardest to tell; 0 if there is none.
    pub power: f64,
}

impl Trial {
    /// Whether the sampler is rejected at the level [`LEVEL`]. A p-value that is not a number rejects, too.
    pub fn is_rejected(&self) -> bool {
        self.p.is_nan() || self.p < LEVEL
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
        let statistic = if outside > 0 { f64::INFINITY } else { cells.statistic(counts) };
        let powers = self.wrong.iter().map(|wrong| cells.power(wrong));
        Trial {
            sampler: self.sampler.clone(),
            setting: self.setting.clone(),
            draws,
            outside,
            degrees: cells.degrees(),
            statistic,
            p: tail(statistic, cells.degrees() as f64),
            power: powers.reduce(f64::min).unwrap_or(0.0),
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

    /// G.
    fn statistic(&self, counts: &[u64]) -> f64 {
        let observed = self.cells(counts).map(|counts| counts.iter().sum::<u64>() as f64);
        // Each o ln(o/e) − o + e is at least 0, and the added terms −o + e sum to 0.
        let term = |(o, p): (f64, &f64)| {
            let e = self.draws * p;
            if o > 0.0 { o * ln(o / e) - (o - e) } else { e }
        };
        let terms: Sum = observed.zip(&self.probabilities).map(term).collect();
        2.0 * terms.value().max(0.0)
    }

    /// The probability that a sampler with the law `wrong` is rejected.
    fn power(&self, wrong: &[f64]) -> f64 {
        let total = Sum::from_iter(wrong.iter().copied()).value();
        let pooled = |cell: &[f64]| Sum::from_iter(cell.iter().copied()).value() / total;
        let q = self.cells(wrong).map(pooled);
        let term = |(q, p): (f64, &f64)| if q > 0.0 { q * ln(q / p) } else { 0.0 };
        let divergence: Sum = q.zip(&self.probabilities).map(term).collect();
        let d = self.degrees() as f64;
        let lambda = 2.0 * self.draws * divergence.value().max(0.0);
        if d == 0.0 {
            return 0.0;
        }
        let scale = (d + 2.0 * lambda) / (d + lambda);
        tail(critical(d) / scale, (d + lambda) / scale)
    }
}

/// The statistic whose tail is [`LEVEL`].
fn critical(degrees: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1e4);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if tail(middle, degrees) > LEVEL { low = middle } else { high = middle }
    }
    high
}

/// P[χ² with `degrees` degrees of freedom >= `statistic`].
fn tail(statistic: f64, degrees: f64) -> f64 {
    if statistic == f64::INFINITY {
        return 0.0;
    }
    // A statistic of 0 and a single cell have the tail 1.
    checked_gamma_ur(0.5 * degrees, 0.5 * statistic).unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::numeric::{exp_accurate, lgamma, log1p};
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

    /// For two cells, one of which is as small as a cell may be, by summing over all outcomes.
    #[test]
    fn a_right_sampler_is_rejected_about_as_often_as_stated() {
        for draws in [20_000.0, 250_000.0] {
            for expected in [50.0, 51.7, 53.3, 58.1] {
                let p: f64 = expected / draws;
                let cells = PooledLaw { ends: vec![1, 2], probabilities: vec![p, 1.0 - p], draws };
                let critical = critical(1.0);
                let mass = |o: u64| {
                    let o = o as f64;
                    let ln_choose = lgamma(draws + 1.0) - lgamma(o + 1.0) - lgamma(draws - o + 1.0);
                    exp_accurate(ln_choose + o * ln(p) + (draws - o) * log1p(-p))
                };
                let is_far = |o: &u64| cells.statistic(&[*o, draws as u64 - o]) > critical;
                let rejected: f64 = (0..500).filter(is_far).map(mass).sum();
                assert!(rejected < 2.0 * LEVEL, "{draws} {expected}: {rejected:e}");
                assert!(rejected > 0.3 * LEVEL, "{draws} {expected}: {rejected:e}");
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
        assert!(trial.is_rejected() && trial.power > 0.999, "{trial:?}");
    }

    #[test]
    fn what_the_law_excludes_is_never_drawn() {
        let subject = subject(&[0.5, 0.5], &[0.4, 0.6]);
        let mut places = (0..).map(|i| if i == 77 { 2 } else { i % 2 });
        let trial = subject.check(1000, || places.next().unwrap_or(0));
        assert!(trial.outside == 1 && trial.is_rejected(), "{trial:?}");
        assert_eq!((trial.statistic, trial.p), (f64::INFINITY, 0.0));
    }

    /// Wrong samplers are rejected as often as the stated power says.
    #[test]
    fn the_stated_power_is_reached() {
        let (right, wrong) = ([0.5, 0.3, 0.2], [0.45, 0.33, 0.22]);
        let subject = subject(&right, &wrong);
        let mut stream = rng::stream(2, "power");
        for draws in [2000, 4000, 5000, 8000] {
            let trials: Vec<Trial> =
                (0..400).map(|_| subject.check(draws, || draw(&wrong, &mut stream))).collect();
            let caught = trials.iter().filter(|trial| trial.is_rejected()).count() as f64 / 400.0;
            let claimed = trials[0].power;
            assert!((caught - claimed).abs() < 0.1, "{draws}: {caught}, but {claimed} stated");
        }
    }

    #[test]
    fn rare_outcomes_are_pooled() {
        let law: Vec<f64> = (0..1000).map(|i| exp_accurate(-0.05 * f64::from(i))).collect();
        let cells = PooledLaw::new(&law, 10_000.0);
        assert!(cells.degrees() > 30 && cells.degrees() < MOST_CELLS);
        assert!(cells.probabilities.iter().all(|p| p * 10_000.0 >= LEAST_EXPECTED));
        assert!((cells.probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert_eq!(cells.ends.last(), Some(&1000));
        // A law of one outcome cannot be tested.
        let single = subject(&[1.0], &[1.0]).check(10, || 0);
        assert_eq!((single.degrees, single.p, single.power), (0, 1.0, 0.0));
    }
}
