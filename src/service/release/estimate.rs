//! The mean error of a release, estimated from draws: for sizes at which its exact error takes long.
//!
//! Data sets are drawn from the prior predictive distribution, and every mechanism releases each of them
//! once. All of this rests on public values, and its streams are fixed: the same setting gives the same
//! estimate.

use rayon::prelude::*;

use super::accuracy::apportion;
use super::method::Method;
use crate::base::numeric::expm1;
use crate::base::numeric::log_affinity::log_affinity_at_once;
use crate::base::rng::stream;
use crate::posterior::model::{Counts, Prior};
use crate::posterior::setting::Setting;

/// A mean with its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimated {
    /// The mean error.
    pub mean: f64,
    /// Its standard error.
    pub standard_error: f64,
}

/// Data sets at which mechanisms are tried.
pub struct Trials {
    prior: Prior,
    data: Vec<Counts>,
}

/// The number of counts that are drawn for one mechanism, and bounds on the number of data sets.
const COUNTS: usize = 40_000;
const FEWEST: usize = 2000;
const MOST: usize = 8000;

/// Of more records than these the shares are drawn: those of as many records.
const MOST_RECORDS: u64 = 1000;

/// Data sets that are drawn from one stream.
const CHUNK: usize = 250;

impl Trials {
    /// Data sets of as many records as the template has.
    pub fn new(template: &Setting) -> Self {
        let prior = template.posterior.prior();
        let (n, k) = (template.posterior.n(), prior.k());
        let number = (COUNTS / k).clamp(FEWEST, MOST);
        let draw = |chunk: usize| {
            let mut rng = stream(0, &format!("data of trials {chunk}"));
            let one = |_| {
                let drawn = prior.draw_predictive(n.min(MOST_RECORDS), &mut rng);
                if n <= MOST_RECORDS {
                    return drawn;
                }
                let shares: Vec<f64> = drawn.iter().map(|&count| count as f64).collect();
                apportion(&shares, n)
            };
            (0..CHUNK).map(one).collect::<Vec<Counts>>()
        };
        let data = (0..number.div_ceil(CHUNK)).into_par_iter().flat_map(draw).collect();
        Self { prior: prior.clone(), data }
    }

    /// The mean error of a method: one release of every data set.
    pub fn mean_error(&self, method: &Method) -> Estimated {
        let chunks: Vec<&[Counts]> = self.data.chunks(CHUNK).collect();
        let errors = |(place, chunk): (usize, &&[Counts])| {
            let mut rng = stream(0, &format!("releases of trials {place}"));
            let error = |x: &Counts| self.error(x, &method.draw(x, &mut rng));
            chunk.iter().map(error).collect::<Vec<f64>>()
        };
        let errors: Vec<Vec<f64>> = chunks.par_iter().enumerate().map(errors).collect();
        let (errors, number) = (errors.concat(), self.data.len() as f64);
        let mean = errors.iter().sum::<f64>() / number;
        let squares: f64 = errors.iter().map(|error| (error - mean) * (error - mean)).sum();
        Estimated { mean, standard_error: squares.sqrt() / number }
    }

    /// The Hellinger distance of two posteriors, with as many digits as an estimate needs.
    fn error(&self, x: &[u64], released: &[u64]) -> f64 {
        let alpha = self.prior.alpha();
        let cells = alpha.iter().zip(x).zip(released);
        let logs = cells.map(|((&alpha, &x), &v)| log_affinity_at_once(alpha, x, v));
        let [n, total] = [x, released].map(|counts| counts.iter().sum::<u64>());
        let ln_affinity = logs.sum::<f64>() - log_affinity_at_once(self.prior.total(), n, total);
        (-expm1(ln_affinity.min(0.0))).sqrt()
    }
}
