//! The law of the true counts, given counts that somebody else has released.
//!
//! Each count got noise of its own, so the weight of the counts x is g(N) Π_i f_i(x_i): f_i holds the prior's
//! weight of x_i and the likelihood of what was released, and g belongs to the number of records N = Σ x_i. If N
//! is known, the counts sum to it. If not, the records that are missing from the largest possible N are one more
//! count, with the weight g.

use super::counts_law::{CountsLaw, FAINT, FAINTEST, refuse_wide};
use super::law::Law;
use super::noise::PublishedNoise;
use super::pieces::Pieces;
use super::weights::{LogWeights, Weights};
use super::wide::WideLaw;
use engine::analysis::true_counts::ln_predictive;
use engine::numeric::{Sum, exp_accurate, lgamma, ln, log1p, relative};
use engine::posterior::model::Prior;
use engine::posterior::simplex::Window;

/// ln of the part of the probability that may lie outside of the window of one cell.
const LN_OUTSIDE: f64 = -45.0;

/// Numbers of records that are less likely than this, relative to the likeliest, are left out.
const UNLIKELY: f64 = 1e-19;

/// Counts of a cell that are drawn are tabulated if there are fewer.
const MOST_KNOTS: u64 = 4096;

/// The largest number of records. If their number is not known, all numbers up to this one are equally likely before
/// the release.
pub const MOST_PRIVATE_RECORDS: u64 = 1_000_000_000_000;

/// One release: the number for every cell, and the noise in it.
#[derive(Clone, Copy, Debug)]
pub struct Published<'a> {
    pub noise: &'a PublishedNoise,
    pub values: &'a [f64],
}

/// The law of the true counts, and a bound on the probability of the data sets that were left out.
pub struct Inferred {
    pub law: Law,
    pub left_out: f64,
}

impl Inferred {
    /// The law given releases of the same data of `n` records, if that is known; or why it is not computed.
    pub fn new(prior: &Prior, n: Option<u64>, releases: &[Published]) -> Result<Self, String> {
        let problem = Problem { prior, n, releases };
        let windows = problem.windows()?;
        let outside = windows.len() as f64 * exp_accurate(LN_OUTSIDE);
        Ok(match problem.exact(&windows) {
            Ok((law, trimmed)) => Self { law: law.into(), left_out: outside + trimmed },
            Err(cause) => {
                let law = Law::Wide(Box::new(problem.wide(&windows, cause)?));
                Self { law, left_out: outside }
            }
        })
    }
}

#[cfg(test)]
impl WideLaw {
    /// Draws of a law, also if it is computed.
    pub fn of_published(
        prior: &Prior,
        n: Option<u64>,
        releases: &[Published],
    ) -> Result<Self, String> {
        let problem = Problem { prior, n, releases };
        problem.wide(&problem.windows()?, "a test asks for draws".to_owned())
    }
}

struct Problem<'a> {
    prior: &'a Prior,
    n: Option<u64>,
    releases: &'a [Published<'a>],
}

impl Problem<'_> {
    fn most_records(&self) -> u64 {
        self.n.unwrap_or(MOST_PRIVATE_RECORDS)
    }

    /// Some data set that is possible and not unlikely.
    fn likely(&self) -> Vec<u64> {
        let k = self.prior.k();
        let near = |i: usize| {
            let sum: f64 = self.releases.iter().map(|one| one.values[i].max(0.0)).sum();
            (sum / self.releases.len() as f64).round() as i64
        };
        let near: Vec<i64> = (0..k).map(near).collect();
        let most = self.most_records() as i64;
        let sum: i64 = near.iter().sum();
        if sum <= most && self.n.is_none() {
            return near.iter().map(|&count| count as u64).collect();
        }
        // All counts move by the same number of records, as far as they can.
        let moved = |by: i64| near.iter().map(move |&count| (count + by).max(0));
        let (mut low, mut high) = (-sum.max(most) - 1, most + 1);
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if moved(middle).sum::<i64>() <= most { low = middle } else { high = middle }
        }
        let mut counts: Vec<u64> = moved(low).map(|count| count as u64).collect();
        let left = most as u64 - counts.iter().sum::<u64>();
        // The next step would be one record too far for some of them.
        let rising: Vec<usize> = (0..k).filter(|&i| near[i] + low + 1 > 0).collect();
        rising.iter().take(left as usize).for_each(|&i| counts[i] += 1);
        counts
    }

    /// The logarithm of a data set's probability before the release, at most 0.
    fn ln_prior(&self, counts: &[u64]) -> f64 {
        let cell = |(&alpha, &x): (&f64, &u64)| {
            lgamma(alpha + x as f64) - lgamma(alpha) - lgamma(x as f64 + 1.0)
        };
        let cells: f64 = self.prior.alpha().iter().zip(counts).map(cell).sum();
        cells + self.ln_g(counts.iter().sum())
    }

    /// The counts of every cell that matter.
    ///
    /// Let x be the likely data set above. All data sets with a count of cell i outside of its window have together
    /// at most the probability of such a count's noise, times the peaks of all other noise, times the number of
    /// totals: before the release the data sets of one total have the probability 1. Compared with x alone this is
    /// at most e^`LN_OUTSIDE`.
    fn windows(&self) -> Result<Vec<Window>, String> {
        let likely = self.likely();
        let most = self.most_records();
        let mut drop = -LN_OUTSIDE - self.ln_prior(&likely);
        if self.n.is_none() {
            drop += ln(most as f64 + 1.0);
        }
        for one in self.releases {
            for (&value, &x) in one.values.iter().zip(&likely) {
                let peak = one.noise.peak(value)?;
                // The reach is relative to noise 0, which may be more likely than the peak.
                drop += peak - one.noise.logs(value, x, x)?[0] - peak.min(0.0);
            }
        }
        if !drop.is_finite() {
            return Err("no counts fit what was released".to_owned());
        }
        let reaches: Vec<f64> =
            self.releases.iter().map(|one| one.noise.reach(drop)).collect::<Result<_, _>>()?;
        let window = |i: usize| -> Window {
            let ends = self.releases.iter().zip(&reaches).map(|(one, reach)| {
                ((one.values[i] - reach).max(0.0) as u64, (one.values[i] + reach).max(0.0) as u64)
            });
            let (low, high) =
                ends.fold((0, most), |(low, high), own| (low.max(own.0), high.min(own.1)));
            // The likely count is in every window, but for rounding.
            (low.min(likely[i]), high.max(likely[i]))
        };
        Ok((0..self.prior.k()).map(window).collect())
    }

    /// The law of the counts in these windows, and the part of the probability that it leaves out; or why it is not
    /// computed.
    fn exact(&self, windows: &[Window]) -> Result<(CountsLaw, f64), String> {
        refuse_wide(windows, self.most_records())?;
        let tilt = self.tilt(windows);
        let mut cells: Vec<LogWeights> = (windows.iter().enumerate())
            .map(|(cell, window)| self.factor(cell, *window, tilt))
            .collect::<Result<_, _>>()?;
        let (n, trimmed) = match self.n {
            Some(n) => (n, 0.0),
            None => {
                let (n, missing, trimmed) = self.missing(&cells, tilt)?;
                cells.push(missing);
                (n, trimmed)
            }
        };
        let law = CountsLaw::from_logs(self.prior, n, &cells)?;
        match law.refusal() {
            None => Ok((law, trimmed)),
            Some(cause) => Err(cause),
        }
    }

    /// Draws of the counts in these windows, whose law is not computed for this cause.
    fn wide(&self, windows: &[Window], cause: String) -> Result<WideLaw, String> {
        let counts = windows.iter().enumerate().map(|(cell, window)| self.pieces(cell, *window));
        WideLaw::new(
            self.prior,
            (self.n, self.most_records()),
            counts.collect::<Result<_, _>>()?,
            cause,
        )
    }

    /// The weights of the counts of a cell, for draws.
    fn pieces(&self, cell: usize, (low, high): Window) -> Result<Pieces, String> {
        if high - low < MOST_KNOTS || self.releases.iter().any(|one| !one.noise.is_smooth()) {
            return Ok(Pieces::table(self.factor(cell, (low, high), 0.0)?));
        }
        let corners = self.releases.iter().map(|one| one.values[cell].max(0.0) as u64);
        Pieces::new((low, high), corners, |x| {
            let own =
                self.releases.iter().map(|one| Ok(one.noise.logs(one.values[cell], x, x)?[0]));
            let noise = own.sum::<Result<f64, String>>()?;
            Ok(ln_predictive(self.prior.alpha()[cell], x) + noise)
        })
    }

    /// If the number of records is not known, the weight of every count x gets a factor e^(tilt x), and that of every
    /// number of records loses it. So neither grows or falls more than it must over all of these numbers, and few
    /// weights are too small for doubles.
    fn tilt(&self, windows: &[Window]) -> f64 {
        let end = |of: fn(&Window) -> u64| windows.iter().map(of).sum::<u64>();
        let (low, high) = (end(|window| window.0), end(|window| window.1).min(self.most_records()));
        match self.n.is_none() && low < high {
            true => (self.ln_g(high) - self.ln_g(low)) / (high - low) as f64,
            false => 0.0,
        }
    }

    /// The logarithm of the weight of a number of records: one over the number of ways to get it.
    fn ln_g(&self, n: u64) -> f64 {
        let (sum, n) = (self.prior.total(), n as f64);
        lgamma(sum) + lgamma(n + 1.0) - lgamma(sum + n)
    }

    /// The prior's weight of every count of a cell, times the likelihood of what was released.
    fn factor(&self, cell: usize, (low, high): Window, tilt: f64) -> Result<LogWeights, String> {
        let alpha = self.prior.alpha()[cell];
        let mut logs = vec![0.0; (high - low) as usize + 1];
        for one in self.releases {
            let own = one.noise.logs(one.values[cell], low, high)?;
            logs.iter_mut().zip(own).for_each(|(log, own)| *log += own);
        }
        let mut predictive = 0.0;
        for (log, x) in logs.iter_mut().zip(low..) {
            if x > low {
                predictive += ln((alpha + (x - 1) as f64) / x as f64) + tilt;
            }
            *log += predictive;
        }
        Ok(LogWeights { first: low, logs })
    }

    /// The largest number of records that matters, the weights of those that are missing from it, and a bound on the
    /// part of the probability that this leaves out.
    fn missing(&self, cells: &[LogWeights], tilt: f64) -> Result<(u64, LogWeights, f64), String> {
        let (sum, most) = (self.prior.total(), self.most_records());
        let none = Weights::certain(0);
        let totals = cells.iter().fold(none, |all, one| all.plus(&one.tilted(0.0), most));
        let mut ln_g = 0.0;
        let mut logs = Vec::new();
        for n in totals.first..=totals.last() {
            if n > totals.first {
                ln_g -= log1p((sum - 1.0) / n as f64) + tilt;
            }
            logs.push(ln_g);
        }
        // Weights may be too small for doubles: then they are at most `FAINTEST`.
        let ln_weight = |(log, weight): (&f64, &f64)| log + ln(weight.max(FAINTEST));
        let weights = relative(logs.iter().zip(&totals.values).map(ln_weight));
        let counts = |weight: &f64| *weight > UNLIKELY;
        let lost = |(weight, total): (&f64, &f64)| counts(weight) && *total <= FAINTEST;
        let ends = (weights.iter().position(counts), weights.iter().rposition(counts));
        let (Some(start), Some(end)) = ends else { return Err(FAINT.to_owned()) };
        if weights.iter().zip(&totals.values).any(lost) {
            return Err(FAINT.to_owned());
        }
        let part = |of: &[f64]| of.iter().copied().collect::<Sum>().value();
        let trimmed = part(&weights[..start]) + part(&weights[end + 1..]);
        let mut missing = logs[start..=end].to_vec();
        missing.reverse();
        let n = totals.first + end as u64;
        Ok((n, LogWeights { first: 0, logs: missing }, trimmed / part(&weights)))
    }
}
