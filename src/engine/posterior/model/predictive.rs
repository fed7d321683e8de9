//! The prior predictive distribution: how likely every data set of n records is before it is seen.

use super::dirichlet::Prior;
use crate::numeric::{Sum, log1p};

/// The prior predictive (Dirichlet-multinomial) distribution of the counts of n records.
///
/// `P[x] = Π_i C(α_i + x_i − 1, x_i) / C(A + n − 1, n)`, A = Σα, and each logarithm of a binomial is
/// the sum of log1p((α − 1)/j) over j = 1, …, x: terms of one sign.
pub struct Predictive {
    /// For each category x ↦ ln C(α_i + x − 1, x).
    categories: Vec<Vec<f64>>,
    /// ln C(A + n − 1, n).
    total: f64,
}

impl Predictive {
    /// The distribution for n records.
    pub fn new(prior: &Prior, n: u64) -> Self {
        let categories = prior.alpha().iter().map(|&alpha| ln_binomials(alpha, n)).collect();
        let total = ln_binomials(prior.total(), n).last().copied().unwrap_or(0.0);
        Self { categories, total }
    }

    /// `ln P[x]`.
    pub fn ln_probability(&self, x: &[u64]) -> f64 {
        let terms = x.iter().zip(&self.categories).map(|(&x, table)| table[x as usize]);
        terms.sum::<f64>() - self.total
    }
}

/// ln C(α + x − 1, x) for x = 0, …, n.
fn ln_binomials(alpha: f64, n: u64) -> Vec<f64> {
    let mut sum = Sum::default();
    let mut table = vec![0.0];
    table.extend((1..=n).map(|j| {
        // α − 1 must not swallow a small α.
        sum.add(if j == 1 { crate::numeric::ln(alpha) } else { log1p((alpha - 1.0) / j as f64) });
        sum.value()
    }));
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::{exp_accurate, ln};
    use crate::posterior::simplex::list_compositions;

    #[test]
    fn probabilities_sum_to_one() {
        for alpha in [vec![1.0, 1.0], vec![0.3, 7.5], vec![1e-30, 2.0], vec![2.0, 0.5, 4.0]] {
            let prior = Prior::new(alpha.clone()).unwrap();
            for n in [0, 1, 9] {
                let predictive = Predictive::new(&prior, n);
                let all = list_compositions(n, alpha.len());
                let sum: f64 = all.iter().map(|x| exp_accurate(predictive.ln_probability(x))).sum();
                assert!((sum - 1.0).abs() < 1e-14, "{alpha:?} {n}: {sum}");
            }
        }
    }

    #[test]
    fn a_uniform_prior_makes_all_data_sets_alike_and_one_record_has_the_prior_mean() {
        let uniform = Predictive::new(&Prior::new(vec![1.0; 3]).unwrap(), 40);
        let one_of_all = -ln(861.0);
        for x in [[40, 0, 0], [10, 20, 10]] {
            assert!((uniform.ln_probability(&x) - one_of_all).abs() < 1e-14);
        }
        let one = Predictive::new(&Prior::new(vec![0.5, 1.5]).unwrap(), 1);
        assert!((one.ln_probability(&[1, 0]) - ln(0.25)).abs() < 1e-15);
    }
}
