//! What a release would tell, said before it is made.

use schemars::JsonSchema;
use serde::Serialize;

use super::posterior::{CountsLaw, Interval, Law, Seen};
use super::private_n::PrivateN;
use super::question::Question;
use super::released::Drawing;
use super::request::{Histogram, Request};
use engine::posterior::model::Counts;

/// What would be learned of the share of a category: half the width of its interval, if the data are as the prior
/// expects them; in the group where that is widest, if each is released on its own.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Prospect {
    pub category: String,
    pub half_width: f64,
    /// The same from the true counts.
    pub without_noise: f64,
}

impl Prospect {
    /// Of the last category; `None` if that takes long. If the number of records is private, it is supposed to be `n`.
    pub fn new(request: &Request, drawing: &Drawing, n: Option<u64>) -> Option<Self> {
        let n = match drawing {
            Drawing::Public { n, .. } => *n,
            Drawing::Private(_) => n?,
        };
        let outcome = request.table.outcome();
        let place = outcome.categories.len() - 1;
        let half_widths = |(number, histogram): (usize, Histogram)| {
            let cells: Vec<usize> = (0..histogram.prior.k())
                .filter(|cell| cell % outcome.categories.len() == place)
                .collect();
            let expected = apportion(histogram.prior.alpha(), histogram.n);
            let aware = match drawing {
                Drawing::Private(noise) => {
                    PrivateN::inferred(&histogram.prior, &[(noise, &expected)]).ok()?.law
                }
                Drawing::Public { methods, .. } => {
                    let method = methods.get(number)?;
                    let (law, setting) = (method.law(), method.setting());
                    Law::given(&[Seen { law, setting, released: &expected }]).ok()?
                }
            };
            let half = |law: &Law| {
                let Interval { low, high } = law.interval(&cells, Question::default().level);
                0.5 * (high - low)
            };
            Some((half(&aware), half(&CountsLaw::exactly(&histogram.prior, &expected).into())))
        };
        let all = request.histograms(Some(n)).into_iter().enumerate().map(half_widths);
        let all: Vec<(f64, f64)> = all.collect::<Option<_>>()?;
        let (half_width, without_noise) = all.into_iter().max_by(|a, b| a.0.total_cmp(&b.0))?;
        Some(Self { category: outcome.categories[place].clone(), half_width, without_noise })
    }

    /// Whether the noise is wider than the sampling error.
    pub fn is_drowned(&self) -> bool {
        self.half_width * self.half_width > 2.0 * self.without_noise * self.without_noise
    }
}

/// n records in these proportions, rounded down; the categories with the largest remainders get one
/// more, until there are n. If all shares are zero, all are equal.
fn apportion(shares: &[f64], n: u64) -> Counts {
    let total: f64 = shares.iter().sum();
    let exact = |share: f64| match total > 0.0 {
        true => share / total * n as f64,
        false => n as f64 / shares.len() as f64,
    };
    let quotas: Vec<f64> = shares.iter().map(|&share| exact(share)).collect();
    let mut counts: Counts = quotas.iter().map(|quota| quota.floor() as u64).collect();
    let mut order: Vec<usize> = (0..quotas.len()).collect();
    order.sort_by(|&a, &b| quotas[b].fract().total_cmp(&quotas[a].fract()));
    let mut left = n.saturating_sub(counts.iter().sum());
    while left > 0 {
        for &i in order.iter().take(left as usize) {
            counts[i] += 1;
            left -= 1;
        }
    }
    // With very large numbers, rounding may make the sum too large.
    while counts.iter().sum::<u64>() > n {
        let largest = (0..counts.len()).max_by_key(|&i| counts[i]).unwrap_or(0);
        counts[largest] -= 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_apportioned() {
        assert_eq!(apportion(&[1.0, 1.0, 1.0], 10), [4, 3, 3]);
        assert_eq!(apportion(&[0.0, 0.0], 5), [3, 2]);
        assert_eq!(apportion(&[5.0, 3.0], 4), [3, 1]);
        for n in [0, 1, 1 << 53] {
            assert_eq!(apportion(&[0.1, 0.7, 1e9], n).iter().sum::<u64>(), n);
        }
    }
}
