//! A Beta or Dirichlet prior from words: a mean, an interval and its probability. It never looks at
//! data.
//!
//! ```
//! use dpbi_service::prior_from_words::{Statement, prior};
//!
//! // "About 20 %, and with probability 0.9 between 10 % and 35 %."
//! let statement = Statement { means: vec![0.2], category: 0, interval: (0.1, 0.35), level: 0.9 };
//! let found = prior(&statement)?;
//! assert!((found.total() - 28.97).abs() < 0.01);
//! # Ok::<(), engine::refusal::Refusal>(())
//! ```

use crate::release::{BetaMixture, Interval};
use engine::numeric::beta::{Place, beta_split};
use engine::numeric::{Sum, exp_accurate, ln};
use engine::posterior::privacy::compact;
use engine::refusal::Refusal;
use system::console::short;

/// The least and the greatest sum of the parameters. Beyond, distribution functions lose digits.
pub const LEAST_TOTAL: f64 = 1e-6;
/// See [`LEAST_TOTAL`].
pub const GREATEST_TOTAL: f64 = 1e9;
/// The least mean of a category; the others have the rest.
const LEAST_MEAN: f64 = 1e-15;
/// The least probability inside of an interval, and outside of it.
const LEAST_LEVEL: f64 = 1e-9;
/// From one total that is tried to the next.
const STEP: f64 = 1.05;
/// Means add up to 1 within this.
const TOLERANCE: f64 = 1e-9;

/// What is said about a share: where it lies with which probability.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// The mean of every category; of one category, if there are two; empty if no mean is known.
    pub means: Vec<f64>,
    /// The category of the interval, from 0.
    pub category: usize,
    /// Where the share of this category lies.
    pub interval: (f64, f64),
    /// The probability of the interval.
    pub level: f64,
}

/// A prior that says what was stated.
#[derive(Clone, Debug, PartialEq)]
pub struct WordedPrior {
    pub alpha: Vec<f64>,
    /// The sums of the parameters of other priors with the same means that also fit, in descending
    /// order. All of them are smaller: of several priors the most informative one is taken.
    pub other_totals: Vec<f64>,
}

impl WordedPrior {
    /// The prior with these parameters.
    pub fn new(alpha: Vec<f64>) -> Self {
        Self { alpha, other_totals: Vec::new() }
    }

    /// Σ α: the number of records that the prior is worth.
    pub fn total(&self) -> f64 {
        self.alpha.iter().copied().collect::<Sum>().value()
    }

    pub fn mean(&self, category: usize) -> f64 {
        self.alpha[category] / self.total()
    }

    pub fn standard_deviation(&self, category: usize) -> f64 {
        let (a, b) = self.beta(category);
        let total = a + b;
        (a / total * (b / total) / (total + 1.0)).sqrt()
    }

    /// The equal-tailed interval of a category.
    pub fn interval(&self, category: usize, level: f64) -> Interval {
        let a = self.alpha[category];
        BetaMixture::beta(a, self.total() - a).interval(level)
    }

    /// The probability that the share of a category lies in an interval.
    pub fn probability(&self, category: usize, interval: (f64, f64)) -> f64 {
        let (a, b) = self.beta(category);
        1.0 - outside(a, b, interval)
    }

    /// The parameters of a category's own distribution, which is a Beta.
    fn beta(&self, category: usize) -> (f64, f64) {
        let others = self.alpha.iter().enumerate().filter(|(i, _)| *i != category);
        (self.alpha[category], others.map(|(_, a)| *a).collect::<Sum>().value())
    }
}

/// The probability outside of an interval under Beta(a, b).
fn outside(a: f64, b: f64, (low, high): (f64, f64)) -> f64 {
    (beta_split(a, b, Place::at(low)).0 + beta_split(a, b, Place::at(high)).1).min(1.0)
}

/// The prior that fits the statement.
///
/// With means, the parameters are α = s m, and s is the number for which the interval has its
/// probability. Without means there are two categories, and both tails outside the interval have the
/// same probability.
///
/// # Errors
///
/// Returns a refusal if the statement contradicts itself, or if no prior of reasonable size fits it.
pub fn prior(statement: &Statement) -> Result<WordedPrior, Refusal> {
    let Statement { means, category, interval, level } = statement;
    check_level(*level)?;
    check_interval(*interval)?;
    if means.is_empty() {
        return with_equal_tails(*interval, *level);
    }
    let means = complete(means)?;
    if *category >= means.len() {
        return Err(Refusal::new(
            format!("--category: there is no category {}", category + 1),
            format!("use a number from 1 to {}", means.len()),
        ));
    }
    with_means(&means, *category, *interval, *level)
}

/// The prior with these means that is worth so many records.
///
/// # Errors
///
/// Returns a refusal if these are no means, or no number of records of reasonable size.
pub fn worth(means: &[f64], records: f64) -> Result<WordedPrior, Refusal> {
    if !(LEAST_TOTAL..=GREATEST_TOTAL).contains(&records) {
        return Err(Refusal::new(
            format!("--records: a prior worth {} records cannot be used", compact(&records)),
            format!("use a number from {LEAST_TOTAL:e} to {GREATEST_TOTAL:e}, such as 10"),
        ));
    }
    Ok(scaled(&complete(means)?, records))
}

/// Refuses a level that is not between 0 and 1.
///
/// # Errors
///
/// Returns a refusal if it is not.
pub fn check_level(level: f64) -> Result<(), Refusal> {
    if (LEAST_LEVEL..=1.0 - LEAST_LEVEL).contains(&level) {
        return Ok(());
    }
    Err(Refusal::new(
        format!("--level: {} is no probability of an interval", compact(&level)),
        format!("use a number from {LEAST_LEVEL:e} to {}, such as 0.9", 1.0 - LEAST_LEVEL),
    ))
}

fn check_interval((low, high): (f64, f64)) -> Result<(), Refusal> {
    let [from, to] = [low, high].map(|number| compact(&number));
    let problem = if !(0.0..=1.0).contains(&low) || !(0.0..=1.0).contains(&high) {
        format!("a share lies between 0 and 1, but the interval is {from} to {to}")
    } else if low >= high {
        format!("the lower end {from} must be below the upper end {to}")
    } else if low == 0.0 && high == 1.0 {
        "every share lies between 0 and 1: this interval says nothing".to_owned()
    } else {
        return Ok(());
    };
    Err(Refusal::new(format!("--interval: {problem}"), "use for example --interval 0.1,0.35"))
}

/// The mean of every category. They add up to 1.
fn complete(means: &[f64]) -> Result<Vec<f64>, Refusal> {
    let remedy = "use for example --mean 0.2, or for three categories --mean 0.5,0.3,0.2";
    let refuse = |cause: String| Err(Refusal::new(format!("--mean: {cause}"), remedy));
    if means.is_empty() {
        return refuse("a prior that is worth a number of records needs means".to_owned());
    }
    let possible = LEAST_MEAN..=1.0 - LEAST_MEAN;
    if let Some(wrong) = means.iter().find(|mean| !possible.contains(*mean)) {
        let wrong = compact(wrong);
        return refuse(format!("{wrong} is no mean of a share, which lies between 0 and 1"));
    }
    let means = match *means {
        [mean] => vec![mean, 1.0 - mean],
        _ => means.to_vec(),
    };
    let sum = means.iter().copied().collect::<Sum>().value();
    if (sum - 1.0).abs() > TOLERANCE {
        return refuse(format!("the means must add up to 1, but they add up to {sum}"));
    }
    Ok(means.into_iter().map(|mean| mean / sum).collect())
}

fn scaled(means: &[f64], total: f64) -> WordedPrior {
    WordedPrior::new(means.iter().map(|mean| mean * total).collect())
}

/// The probability outside the interval, as a function of the total s, starts at s = 0 where all mass
/// is at 0 and 1, and ends with 0, since the mean is inside. It need not fall all the way: if an end of
/// the interval is 0 or 1, there may be two totals. Therefore totals are tried from the greatest one
/// down.
fn with_means(
    means: &[f64],
    category: usize,
    (low, high): (f64, f64),
    level: f64,
) -> Result<WordedPrior, Refusal> {
    let mean = means[category];
    if !(low < mean && mean < high) {
        let [mean, low, high] = [mean, low, high].map(|number| compact(&number));
        return Err(Refusal::new(
            format!("--mean: the mean {mean} is not inside the interval from {low} to {high}"),
            "give an interval around the mean, or leave --mean out",
        ));
    }
    let rest = means.iter().enumerate().filter(|(i, _)| *i != category);
    let rest = rest.map(|(_, mean)| *mean).collect::<Sum>().value();
    let left_out = |total: f64| outside(mean * total, rest * total, (low, high));
    let excess = |total: f64| left_out(total) - (1.0 - level);
    let steps = (ln(GREATEST_TOTAL / LEAST_TOTAL) / ln(STEP)).ceil() as u32;
    let total =
        |step: u32| (GREATEST_TOTAL * exp_accurate(-f64::from(step) * ln(STEP))).max(LEAST_TOTAL);
    let tried: Vec<(f64, f64)> =
        (0..=steps).map(|step| (total(step), excess(total(step)))).collect();
    if tried[0].1 > 0.0 {
        return Err(Refusal::new(
            format!(
                "--interval: it is too narrow: even a prior worth {GREATEST_TOTAL:e} records gives it \
                 only the probability {:.3}",
                1.0 - left_out(GREATEST_TOTAL)
            ),
            "use a wider interval or a lower --level",
        ));
    }
    let changes = tried.windows(2).filter(|pair| (pair[0].1 > 0.0) != (pair[1].1 > 0.0));
    let mut totals: Vec<f64> = changes.map(|pair| crossing(pair[1].0, pair[0].0, excess)).collect();
    if totals.is_empty() {
        let least = tried.iter().map(|(_, excess)| *excess).fold(f64::NEG_INFINITY, f64::max);
        let least = level - least;
        let [mean, low, high] = [mean, low, high].map(|number| compact(&number));
        return Err(Refusal::new(
            format!(
                "--level: every prior with the mean {mean} gives the interval from {low} to {high} a \
                 probability of at least {}, more than {}",
                short(least),
                compact(&level)
            ),
            "use a higher --level or a narrower interval",
        ));
    }
    let other_totals = totals.split_off(1);
    Ok(WordedPrior { other_totals, ..scaled(means, totals[0]) })
}

/// The place between `low` and `high`, both positive, where a function changes its sign, to the last
/// bit.
fn crossing(mut low: f64, mut high: f64, function: impl Fn(f64) -> f64) -> f64 {
    let sign = function(low) > 0.0;
    loop {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            return high;
        }
        if (function(middle) > 0.0) == sign { low = middle } else { high = middle }
    }
}

/// The largest logit of a mean that is tried.
const GREATEST_LOGIT: f64 = 200.0;

/// For every total s one mean gives the left tail its probability, because the tail falls with the
/// mean. With this mean, the right tail falls with s, and one s gives it the same probability.
fn with_equal_tails((low, high): (f64, f64), level: f64) -> Result<WordedPrior, Refusal> {
    if low == 0.0 || high == 1.0 {
        let [low, high] = [low, high].map(|number| compact(&number));
        return Err(Refusal::new(
            format!(
                "--interval: without --mean both tails have the same probability, but the interval \
                 from {low} to {high} leaves only one tail"
            ),
            "use ends above 0 and below 1, or give a --mean",
        ));
    }
    let tail = 0.5 * (1.0 - level);
    let parameters = |total: f64| {
        let at = |logit: f64| {
            let odds = exp_accurate(-logit.abs());
            let (small, large) = (total * (odds / (1.0 + odds)), total / (1.0 + odds));
            if logit < 0.0 { (small, large) } else { (large, small) }
        };
        let (mut below, mut above) = (-GREATEST_LOGIT, GREATEST_LOGIT);
        // As many halvings as a logit has bits.
        for _ in 0..62 {
            let middle = f64::midpoint(below, above);
            let (a, b) = at(middle);
            if beta_split(a, b, Place::at(low)).0 > tail { below = middle } else { above = middle }
        }
        at(above)
    };
    let excess = |log_total: f64| {
        let (a, b) = parameters(exp_accurate(log_total));
        beta_split(a, b, Place::at(high)).1 - tail
    };
    let (mut below, mut above) = (ln(LEAST_TOTAL), ln(GREATEST_TOTAL));
    let (wide, narrow) = (excess(below) <= 0.0, excess(above) > 0.0);
    if wide || narrow {
        let (size, change) = match narrow {
            true => {
                (format!("more than {GREATEST_TOTAL:e}"), "a wider interval or a lower --level")
            }
            false => {
                (format!("less than {LEAST_TOTAL:e}"), "a narrower interval or a higher --level")
            }
        };
        return Err(Refusal::new(
            format!("--interval: a prior that fits would be worth {size} records"),
            format!("use {change}"),
        ));
    }
    for _ in 0..56 {
        let middle = f64::midpoint(below, above);
        if excess(middle) > 0.0 { below = middle } else { above = middle }
    }
    let (a, b) = parameters(exp_accurate(above));
    Ok(WordedPrior::new(vec![a, b]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stated(means: &[f64], interval: (f64, f64), level: f64) -> Result<WordedPrior, Refusal> {
        prior(&Statement { means: means.to_vec(), category: 0, interval, level })
    }

    fn near(ours: f64, theirs: f64, tolerance: f64) {
        assert!((ours / theirs - 1.0).abs() < tolerance, "{ours} {theirs}");
    }

    /// Totals by `scipy.optimize.brentq` on `scipy.stats.beta.cdf`, SciPy 1.17.1.
    #[test]
    fn totals_are_those_of_scipy() {
        for (mean, interval, level, total) in [
            (0.2, (0.1, 0.35), 0.9, 28.970_776_799_805_474),
            (0.5, (0.4, 0.6), 0.95, 94.599_644_408_525_95),
            (0.01, (0.001, 0.03), 0.99, 294.962_084_305_213_2),
            (0.2, (0.01, 0.25), 0.55, 2.662_636_920_211_922),
        ] {
            let found = stated(&[mean], interval, level).unwrap();
            near(found.total(), total, 1e-10);
            near(found.mean(0), mean, 1e-14);
            near(found.probability(0, interval), level, 1e-12);
            assert!(found.other_totals.is_empty());
        }
    }

    /// The same reference.
    #[test]
    fn of_two_totals_the_larger_one_is_taken() {
        let found = stated(&[0.2], (0.0, 0.25), 0.7).unwrap();
        near(found.total(), 10.088_198_612_238_306, 1e-10);
        assert_eq!(found.other_totals.len(), 1);
        near(found.other_totals[0], 1.539_745_045_271_589_7, 1e-10);
        // The least probability of this interval is 0.68278.
        let refusal = stated(&[0.2], (0.0, 0.25), 0.5).unwrap_err();
        assert!(refusal.cause.contains("at least 0.6828, more than 0.5"), "{refusal}");
    }

    /// Both parameters by `scipy.optimize.root`; of (0.05, 0.95) it is the uniform distribution.
    #[test]
    fn equal_tails_are_those_of_scipy() {
        for (interval, level, (a, b), tolerance) in [
            ((0.1, 0.35), 0.9, (5.894_101_83, 21.772_725_31), 1e-8),
            ((0.4, 0.6), 0.95, (47.299_822_2, 47.299_822_2), 1e-8),
            ((0.01, 0.9), 0.9, (0.669_395_28, 1.122_418_35), 1e-7),
            ((1e-6, 1e-3), 0.9, (0.497_893_866, 1_914.809_75), 1e-8),
            ((0.05, 0.95), 0.9, (1.0, 1.0), 1e-10),
        ] {
            let found = stated(&[], interval, level).unwrap();
            near(found.alpha[0], a, tolerance);
            near(found.alpha[1], b, tolerance);
            let ends = found.interval(0, level);
            near(ends.low, interval.0, 1e-9);
            near(ends.high, interval.1, 1e-9);
        }
    }

    #[test]
    fn several_categories_have_their_means() {
        let statement = |category| Statement {
            means: vec![0.5, 0.3, 0.2],
            category,
            interval: [(0.4, 0.6), (0.2, 0.4), (0.1, 0.35)][category],
            level: 0.95 - 0.025 * category as f64,
        };
        let first = prior(&statement(0)).unwrap();
        near(first.total(), 94.599_644_408_525_95, 1e-10);
        let third = prior(&statement(2)).unwrap();
        near(third.total(), 28.970_776_799_805_474, 1e-10);
        for (category, mean) in [0.5, 0.3, 0.2].into_iter().enumerate() {
            near(third.mean(category), mean, 1e-14);
        }
        // Beta(2, 2): √(1/20).
        let two = worth(&[0.5, 0.25, 0.25], 4.0).unwrap();
        assert_eq!(two.alpha, [2.0, 1.0, 1.0]);
        near(two.standard_deviation(0), 0.05_f64.sqrt(), 1e-14);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let nan = f64::NAN;
        for (means, interval, level, cause) in [
            (&[0.5][..], (0.1, 0.35), 0.9, "not inside"),
            (&[0.1], (0.1, 0.35), 0.9, "not inside"),
            (&[0.0], (0.0, 0.35), 0.9, "no mean"),
            (&[1.0], (0.1, 1.0), 0.9, "no mean"),
            (&[nan], (0.1, 1.0), 0.9, "no mean"),
            (&[0.5, 0.3], (0.4, 0.6), 0.9, "add up to 0.8"),
            (&[0.2], (0.35, 0.1), 0.9, "must be below"),
            (&[0.2], (0.1, 1.1), 0.9, "between 0 and 1"),
            (&[0.2], (nan, 0.3), 0.9, "between 0 and 1"),
            (&[0.2], (0.0, 1.0), 0.9, "says nothing"),
            (&[0.2], (0.1, 0.35), 0.0, "no probability"),
            (&[0.2], (0.1, 0.35), 1.0, "no probability"),
            (&[0.2], (0.1, 0.35), nan, "no probability"),
            (&[0.2], (0.199_999_9, 0.200_000_1), 0.9, "too narrow"),
            (&[], (0.0, 0.35), 0.9, "only one tail"),
            (&[], (0.3, 0.300_000_1), 0.9, "more than 1e9"),
            (&[], (1e-300, 1.0 - 1e-16), 0.9, ""),
        ] {
            match stated(means, interval, level) {
                Err(refusal) => assert!(refusal.cause.contains(cause), "{refusal}"),
                Ok(found) => assert!(cause.is_empty() && found.total() > 0.0, "{found:?}"),
            }
        }
        for records in [0.0, -1.0, nan, f64::INFINITY, 1e300] {
            assert!(worth(&[0.2], records).is_err());
        }
        assert!(worth(&[], 10.0).is_err());
    }
}
