//! The mean error of a release, estimated from draws: for sizes at which its exact error takes long.
//!
//! Data sets are drawn from the prior predictive distribution, and every mechanism releases each of them
//! once. All of this rests on public values, and its streams are fixed: the same setting gives the same
//! estimate.

use super::accuracy::apportion;
use super::method::Method;
use engine::numeric::expm1;
use engine::numeric::log_affinity::log_affinity_at_once;
use engine::parallel;
use engine::posterior::model::{Counts, Prior};
use engine::posterior::setting::Setting;
use engine::rng::{Stream, standard_exponential, stream};

/// A mean with its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimated {
    pub mean: f64,
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

/// More records than these are not drawn one by one.
const MOST_RECORDS: u64 = 1000;

/// Of many records, counts that are expected to be below this are drawn; larger ones are as expected.
const SMALL: f64 = 10.0;

/// Data sets that are drawn from one stream.
const CHUNK: usize = 250;

/// Draws many records. A small count has nearly a Poisson distribution, and the error hardly depends on how a
/// large one varies.
fn draw_many(prior: &Prior, n: u64, rng: &mut Stream) -> Counts {
    let mut shares = prior.draw_weights(rng);
    let records = n as f64 / shares.iter().sum::<f64>();
    let mut small = vec![0; shares.len()];
    for (count, share) in small.iter_mut().zip(&mut shares) {
        let expected = records * *share;
        if expected < SMALL {
            let mut time = standard_exponential(rng);
            while time < expected {
                time += standard_exponential(rng);
                *count += 1;
            }
            *share = 0.0;
        }
    }
    let large = apportion(&shares, n.saturating_sub(small.iter().sum()));
    small.iter().zip(large).map(|(small, large)| small + large).collect()
}

impl Trials {
    /// Data sets of as many records as the template has.
    pub fn new(template: &Setting) -> Self {
        let prior = template.posterior.prior();
        let (n, k) = (template.posterior.n(), prior.k());
        let number = (COUNTS / k).clamp(FEWEST, MOST);
        let draw = |chunk: usize| {
            let mut rng = stream(0, &format!("data of trials {chunk}"));
            let one = |_| match n <= MOST_RECORDS {
                true => prior.draw_predictive(n, &mut rng),
                false => draw_many(prior, n, &mut rng),
            };
            (0..CHUNK).map(one).collect::<Vec<Counts>>()
        };
        let data = parallel::map_range(0..number.div_ceil(CHUNK), draw).concat();
        Self { prior: prior.clone(), data }
    }

    /// The mean error of a method: one release of every data set.
    pub fn mean_error(&self, method: &Method) -> Estimated {
        let chunks: Vec<&[Counts]> = self.data.chunks(CHUNK).collect();
        let errors = |place: usize| {
            let mut rng = stream(0, &format!("releases of trials {place}"));
            let error = |x: &Counts| self.error(x, &method.draw(x, &mut rng));
            chunks[place].iter().map(error).collect::<Vec<f64>>()
        };
        let errors = parallel::map_range(0..chunks.len(), errors);
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

#[cfg(test)]
mod tests {
    use super::super::accuracy::expected_error;
    use super::*;
    use engine::analysis::tuning::TuningCache;
    use engine::mechanism::{Variant, find};
    use engine::posterior::distance::HELLINGER;
    use engine::posterior::model::Posterior;
    use engine::posterior::privacy::{Epsilon, Gamma};

    /// More records than are drawn one by one, at priors under which small counts are rare and frequent.
    /// A false alarm has a probability of 6e-5 each.
    #[test]
    fn estimates_agree_with_exact_errors() {
        for alpha in [1.0, 0.3] {
            let template = Setting {
                posterior: Posterior::new(Prior::new(vec![alpha; 2]).unwrap(), vec![3000, 0]),
                epsilon: Epsilon::new(1.0).unwrap(),
                delta: None,
                gamma: Gamma::new(1.0).unwrap(),
                distance: HELLINGER,
            };
            let variant = Variant::plain(find("geometric").unwrap());
            let one = "1".parse().unwrap();
            let method = Method::new(&variant, &template, one, &TuningCache::default()).unwrap();
            let exact = expected_error(&method).unwrap();
            let Estimated { mean, standard_error } = Trials::new(&template).mean_error(&method);
            assert!((mean - exact).abs() < 4.0 * standard_error, "{mean} {exact} {standard_error}");
            assert!(standard_error < 0.05 * mean);
        }
    }
}
