//! What a release would tell, said before it is made.

use schemars::JsonSchema;
use serde::Serialize;

use super::accuracy;
use super::estimate::Estimated;
use super::method::Method;
use super::posterior::{CountsLaw, Interval, Seen};
use super::private_n::PrivateN;
use super::question::Question;
use super::released::Drawing;
use super::request::{Histogram, Request};

/// Mean errors: over the prior predictive distribution of the data, exact or, if that takes long, estimated;
/// and, exact, if the data are as released.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    /// Over the prior predictive distribution.
    pub predictive: Option<f64>,
    /// The same, estimated from draws.
    pub estimated: Option<Estimated>,
    pub as_released: Option<f64>,
}

impl Errors {
    /// The errors of a method, before or after it has released counts.
    pub fn new(method: &Method, released: Option<&[u64]>) -> Self {
        let predictive = accuracy::expected_error(method);
        Self {
            predictive,
            estimated: match predictive {
                Some(_) => None,
                None => accuracy::estimated_error(method),
            },
            as_released: released.and_then(|released| accuracy::error_near(method, released)),
        }
    }

    /// The error over the prior predictive distribution, exact or estimated.
    pub fn expected(&self) -> Option<f64> {
        self.predictive.or(self.estimated.map(|error| error.mean))
    }
}

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
            let expected = accuracy::apportion(histogram.prior.alpha(), histogram.n);
            let aware = match drawing {
                Drawing::Private(noise) => {
                    PrivateN::inferred(&histogram.prior, &[(noise, &expected)]).ok()?.law
                }
                Drawing::Public { methods, .. } => {
                    let method = methods.get(number)?;
                    let (variant, template) = (method.variant(), method.template());
                    CountsLaw::is_foreseeable(variant, template).then_some(())?;
                    CountsLaw::given(&[Seen { variant, template, released: &expected }]).ok()?
                }
            };
            let half = |law: &CountsLaw| {
                let Interval { low, high } = law.share(&cells).interval(Question::default().level);
                0.5 * (high - low)
            };
            Some((half(&aware), half(&CountsLaw::exactly(&histogram.prior, &expected))))
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
