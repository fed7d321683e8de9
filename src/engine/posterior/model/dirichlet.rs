//! The Dirichlet prior and the conjugate posterior.

use rand::Rng;

use super::Counts;
use crate::numeric::relative;
use crate::refusal::Refusal;
use crate::rng::{self, ln_standard_gamma};

/// A Dirichlet prior Dir(α); for k = 2 a Beta prior.
#[derive(Clone, Debug, PartialEq)]
pub struct Prior(Vec<f64>);

impl Prior {
    /// Checks k >= 2 and 10⁻¹⁰⁰ <= α_i <= 10¹⁰⁰: beyond, doubles overflow on the way.
    pub fn new(alpha: Vec<f64>) -> Result<Self, Refusal> {
        let place = alpha.iter().position(|a| !(1e-100..=1e100).contains(a));
        let cause = match place {
            _ if alpha.len() < 2 => {
                format!("a prior needs at least two categories, this one has {}", alpha.len())
            }
            Some(place) => format!(
                "parameter {} of the prior is {:?}, but every one must lie between 1e-100 and 1e100",
                place + 1,
                alpha[place]
            ),
            None => return Ok(Self(alpha)),
        };
        Err(Refusal::new(cause, "use for example 1, 1"))
    }

    /// The parameters α_1, …, α_k.
    pub fn alpha(&self) -> &[f64] {
        &self.0
    }

    /// The number of categories.
    pub fn k(&self) -> usize {
        self.0.len()
    }

    /// Σ α_i.
    pub fn total(&self) -> f64 {
        self.0.iter().sum()
    }

    /// The categories that can be exchanged because their parameters are equal, in groups of two or
    /// more.
    pub fn exchangeable(&self) -> Vec<Vec<usize>> {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for (i, alpha) in self.0.iter().enumerate() {
            match groups.iter_mut().find(|group| self.0[group[0]] == *alpha) {
                Some(group) => group.push(i),
                None => groups.push(vec![i]),
            }
        }
        groups.retain(|group| group.len() > 1);
        groups
    }

    /// Draws counts of `n` records from the prior predictive (Dirichlet-multinomial) distribution:
    /// first the probabilities, up to a common factor, then every record.
    pub fn draw_predictive(&self, n: u64, rng: &mut impl Rng) -> Counts {
        let logs: Vec<f64> = self.0.iter().map(|&a| ln_standard_gamma(a, rng)).collect();
        let weights = relative(logs);
        let total: f64 = weights.iter().sum();
        let mut counts = vec![0; self.k()];
        for _ in 0..n {
            let mut rest = rng::uniform(rng) * total;
            let chosen = weights.iter().position(|w| {
                rest -= w;
                rest < 0.0
            });
            counts[chosen.unwrap_or(self.k() - 1)] += 1;
        }
        counts
    }
}

/// The posterior Dir(α + x), with its prior and its counts.
///
/// ```
/// use dpbi_engine::posterior::model::{Posterior, Prior};
///
/// // Three of ten records in the first category make a uniform prior Beta(1, 1) a Beta(4, 8).
/// let posterior = Posterior::new(Prior::new(vec![1.0, 1.0])?, vec![3, 7]);
/// assert_eq!([posterior.parameter(0), posterior.parameter(1)], [4.0, 8.0]);
/// assert_eq!((posterior.n(), posterior.total()), (10, 12.0));
/// # Ok::<(), dpbi_engine::refusal::Refusal>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    prior: Prior,
    counts: Counts,
}

impl Posterior {
    /// The posterior of `counts` under `prior`; both must have the same length.
    pub fn new(prior: Prior, counts: Counts) -> Self {
        assert_eq!(prior.k(), counts.len(), "prior and counts of different length");
        Self { prior, counts }
    }

    pub fn prior(&self) -> &Prior {
        &self.prior
    }

    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// α_i.
    pub fn alpha(&self, i: usize) -> f64 {
        self.prior.0[i]
    }

    /// The prior parameter and the count of every category. Categories that agree in both are
    /// interchangeable.
    pub fn categories(&self) -> Vec<(f64, u64)> {
        self.prior.alpha().iter().copied().zip(self.counts.iter().copied()).collect()
    }

    /// a_i = α_i + x_i.
    pub fn parameter(&self, i: usize) -> f64 {
        self.alpha(i) + self.counts[i] as f64
    }

    /// The number of categories.
    pub fn k(&self) -> usize {
        self.counts.len()
    }

    pub fn n(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// n + Σ α_i, the total of the posterior's parameters.
    pub fn total(&self) -> f64 {
        self.prior.total() + self.n() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prior_must_be_positive_and_finite() {
        assert!(Prior::new(vec![1.0]).unwrap_err().cause.ends_with("this one has 1"));
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-320, 1e200] {
            let error = Prior::new(vec![1.0, bad]).unwrap_err();
            assert!(error.to_string().starts_with("parameter 2 of the prior"));
        }
    }

    #[test]
    fn equal_parameters_can_be_exchanged() {
        let groups = |alpha: &[f64]| Prior::new(alpha.to_vec()).unwrap().exchangeable();
        assert_eq!(groups(&[1.0, 2.0, 1.0, 3.0, 2.0]), [vec![0, 2], vec![1, 4]]);
        assert!(groups(&[1.0, 2.0]).is_empty());
    }

    #[test]
    fn tiny_priors_put_all_records_into_any_one_category() {
        let prior = Prior::new(vec![1e-3, 1e-3]).unwrap();
        let mut rng = rng::stream(7, "tiny prior");
        let first = (0..400).filter(|_| prior.draw_predictive(5, &mut rng)[0] == 5).count();
        // A fair coin but for a chance of 1 % or so to divide: 200 ± 5 standard errors.
        assert!((150..250).contains(&first), "{first}");
    }

    #[test]
    fn predictive_counts_have_the_predictive_mean_and_variance() {
        // Beta-binomial(n = 10, a = 2, b = 3): mean 4, variance n ab(a+b+n) / ((a+b)²(a+b+1)) = 6.
        let prior = Prior::new(vec![2.0, 3.0]).unwrap();
        let mut rng = rng::stream(7, "predictive test");
        let draws: Vec<f64> =
            (0..40_000).map(|_| prior.draw_predictive(10, &mut rng)[0] as f64).collect();
        let mean = draws.iter().sum::<f64>() / 4e4;
        let variance = draws.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / 4e4;
        // Five standard errors: sqrt(6/4e4) = 0.0122 for the mean, about 0.035 for the variance.
        assert!((mean - 4.0).abs() < 0.062, "{mean}");
        assert!((variance - 6.0).abs() < 0.18, "{variance}");
    }
}
