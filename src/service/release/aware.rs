//! The noise-aware posterior: the distribution of the true counts, given a release.
//!
//! A posterior that takes released counts for the true ones is too narrow. The noise-aware posterior
//! takes the mechanism into account. Before the release the counts x have the prior predictive
//! probability P[x]. Given the release r they have the probability w(x | r) ∝ P[x] · P[r | x], and the
//! posterior of the categories' probabilities is the mixture Σ_x w(x | r) Dir(α + x). It is computed
//! from r alone, and costs no privacy.

use rayon::prelude::*;

use super::credible::BetaMixture;
use super::method::Method;
use crate::analysis::true_counts::CountNoise;
use crate::base::numeric::exp_accurate;
use crate::mechanism::Variant;
use crate::mechanism::law;
use crate::mechanism::prepared::PreparedSetting;
use crate::posterior::model::{Posterior, Predictive, Prior, approximate_compositions};
use crate::posterior::setting::Setting;
use crate::posterior::simplex::list_compositions;

/// The most products of a convolution: they take some seconds.
const MOST_PRODUCTS: f64 = 2e9;

/// The most possible counts of one category: with more, credible intervals take long.
const MOST_COUNTS: f64 = 300_000.0;

/// The most data sets whose laws are evaluated one by one.
const MOST_DATA_SETS: f64 = 5000.0;

/// Weights are relative to the likeliest count of each category on its own. If all weights of counts
/// that sum to n are smaller than this, they have lost digits.
const FAINTEST: f64 = 1e-280;

/// Every data set outside of the windows is less likely than the likeliest one by a factor of e to this.
const NEGLIGIBLE: f64 = 40.0;

/// The law of every category's true count, given a release.
#[derive(Clone, Debug, PartialEq)]
pub struct Aware {
    categories: Vec<Weights>,
}

/// Weights of the counts from `first` on.
#[derive(Clone, Debug, PartialEq)]
struct Weights {
    first: u64,
    values: Vec<f64>,
}

impl Weights {
    fn end(&self) -> u64 {
        self.first + self.values.len() as u64
    }

    fn get(&self, count: u64) -> f64 {
        let place = count.checked_sub(self.first).map(|place| place as usize);
        place.and_then(|place| self.values.get(place)).copied().unwrap_or(0.0)
    }

    /// The weight 1 at 0.
    fn unit() -> Self {
        Self { first: 0, values: vec![1.0] }
    }

    /// The weights of sums of two counts, divided by the largest.
    fn plus(&self, other: &Self) -> Self {
        let mut values = vec![0.0; self.values.len() + other.values.len() - 1];
        for (i, a) in self.values.iter().enumerate() {
            for (value, b) in values[i..].iter_mut().zip(&other.values) {
                *value += a * b;
            }
        }
        let largest = values.iter().copied().fold(0.0, f64::max);
        if largest > 0.0 {
            values.iter_mut().for_each(|value| *value /= largest);
        }
        Self { first: self.first + other.first, values }
    }
}

impl Aware {
    /// Whether the law of the true counts can be computed, as far as that is known before a release.
    pub(super) fn is_foreseeable(variant: &Variant, template: &Setting) -> bool {
        let posterior = &template.posterior;
        let recipe = variant.outline(template).ok();
        let noisy = recipe.and_then(|recipe| CountNoise::of(recipe, posterior)).is_some();
        (noisy && !variant.options.remap)
            || approximate_compositions(posterior.n(), posterior.k()) <= MOST_DATA_SETS
    }

    /// The law of the true counts, given `released`; or why it is not computed.
    pub fn new(method: &Method, released: &[u64]) -> Result<Self, String> {
        let (variant, template) = (method.variant(), method.template());
        let posterior = &template.posterior;
        let recipe = variant.recipe(template).map_err(|refusal| refusal.cause)?;
        let noise = CountNoise::of(recipe, posterior).filter(|_| variant.remap.is_none());
        let found = match noise {
            Some(noise) => from_noise(posterior.prior(), posterior.n(), noise, released)?,
            None => from_all_data_sets(variant, template, released)?,
        };
        let reached =
            found.iter().all(|weights| weights.values.iter().any(|&weight| weight > FAINTEST));
        match reached {
            true => Ok(Self { categories: found }),
            false => Err("the released counts are too unlikely for double precision".to_owned()),
        }
    }

    /// The marginal posterior of category `i`.
    pub fn marginal(&self, i: usize, prior: &Prior, n: u64) -> BetaMixture {
        let Weights { first, values } = &self.categories[i];
        BetaMixture::new(prior.alpha()[i], prior.total() + n as f64, *first, values.clone())
    }
}

/// The predictive probability of x and the probability of the noise are both products over the
/// categories: every marginal is a convolution.
fn from_noise(
    prior: &Prior,
    n: u64,
    noise: CountNoise,
    released: &[u64],
) -> Result<Vec<Weights>, String> {
    let windows = noise.windows(prior, n, released, NEGLIGIBLE);
    let k = windows.len();
    let (mut products, mut length, mut widest) = (0.0, 1.0, 0.0_f64);
    for (low, high) in &windows {
        let width = (high - low) as f64 + 1.0;
        products += 2.0 * length * width;
        length += width;
        widest = widest.max(width);
    }
    // Two categories need no convolution: each count tells the other.
    if widest > MOST_COUNTS || (k > 2 && products > MOST_PRODUCTS) {
        return Err(format!(
            "the noise is so wide that {widest} counts of a category are possible"
        ));
    }
    let factors: Vec<Weights> = windows
        .into_iter()
        .enumerate()
        .map(|(i, window)| from_logs(window.0, &noise.ln_weights(prior, n, released, i, window)))
        .collect();
    let mut before = vec![Weights::unit()];
    for factor in &factors[..k - 1] {
        before.push(before[before.len() - 1].plus(factor));
    }
    let mut after = Weights::unit();
    let mut marginals = Vec::new();
    for (factor, before) in factors.iter().zip(&before).rev() {
        marginals.push(marginal(factor, before, &after, n));
        if marginals.len() < k {
            after = after.plus(factor);
        }
    }
    marginals.reverse();
    Ok(marginals)
}

/// The weight of every count of one category, given what those before and after it may sum to.
fn marginal(factor: &Weights, before: &Weights, after: &Weights, n: u64) -> Weights {
    let weigh = |count: u64| {
        let Some(left) = n.checked_sub(count) else { return 0.0 };
        let low = before.first.max((left + 1).saturating_sub(after.end()));
        let high = before.end().min((left + 1).saturating_sub(after.first));
        let terms = (low..high).map(|sum| before.get(sum) * after.get(left - sum));
        factor.get(count) * terms.sum::<f64>()
    };
    let values = (factor.first..factor.end()).into_par_iter().map(weigh).collect();
    Weights { first: factor.first, values }
}

/// The weights with these logarithms, relative to the largest.
fn from_logs(first: u64, logs: &[f64]) -> Weights {
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    Weights { first, values: logs.iter().map(|log| exp_accurate(log - largest)).collect() }
}

/// The weights from the probability of `released` at every data set of n records.
fn from_all_data_sets(
    variant: &Variant,
    template: &Setting,
    released: &[u64],
) -> Result<Vec<Weights>, String> {
    let (n, k) = (template.posterior.n(), template.posterior.k());
    let prior = template.posterior.prior();
    let data_sets = approximate_compositions(n, k);
    if data_sets > MOST_DATA_SETS {
        return Err(format!(
            "`{}` would have to be evaluated at {data_sets:.0} data sets (at most {MOST_DATA_SETS:.0})",
            variant.label
        ));
    }
    let predictive = Predictive::new(prior, n);
    let weigh = |x: &Vec<u64>| -> Result<f64, String> {
        let posterior = Posterior::new(prior.clone(), x.clone());
        let setting = Setting { posterior, ..template.clone() };
        let plan = variant.plan(&setting).map_err(|refusal| refusal.cause)?;
        let prepared = PreparedSetting::new(&setting, std::slice::from_ref(&plan), &[]);
        let probability = law::probability(prepared.law(&plan).as_ref(), released);
        Ok(exp_accurate(predictive.ln_probability(x)) * probability)
    };
    let all = list_compositions(n, k);
    let weights: Vec<f64> = all.par_iter().map(weigh).collect::<Result<_, _>>()?;
    let mut marginals = vec![Weights { first: 0, values: vec![0.0; n as usize + 1] }; k];
    for (x, weight) in all.iter().zip(&weights) {
        for (marginal, &count) in marginals.iter_mut().zip(x) {
            marginal.values[count as usize] += weight;
        }
    }
    Ok(marginals)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::tuning::TuningCache;
    use crate::mechanism::law::Recipe;
    use crate::mechanism::{self, Options};
    use crate::posterior::distance::HELLINGER;
    use crate::posterior::privacy::{Epsilon, Gamma};

    fn method(id: &str, alpha: &[f64], n: u64, remap: bool) -> Method {
        let mut counts = vec![0; alpha.len()];
        counts[0] = n;
        let template = Setting {
            posterior: Posterior::new(Prior::new(alpha.to_vec()).unwrap(), counts),
            epsilon: Epsilon::new(1.0).unwrap(),
            delta: None,
            gamma: Gamma::new(1.0).unwrap(),
            distance: HELLINGER,
        };
        let options = Options { remap, ..Options::default() };
        let variant = Variant::new(mechanism::find(id).unwrap(), options, id.into());
        Method::new(&variant, &template, "0.4".parse().unwrap(), &TuningCache::default()).unwrap()
    }

    /// w(x | r), directly from the definition.
    fn brute_force(method: &Method, released: &[u64]) -> Vec<Vec<f64>> {
        let posterior = &method.template().posterior;
        let (prior, n) = (posterior.prior(), posterior.n());
        let predictive = Predictive::new(prior, n);
        let mut marginals = vec![vec![0.0; n as usize + 1]; prior.k()];
        let mut total = 0.0;
        for x in list_compositions(n, prior.k()) {
            let posterior = Posterior::new(prior.clone(), x.clone());
            let setting = Setting { posterior, ..method.template().clone() };
            let Ok(Recipe::Noise { noise, scale, restored }) = method.variant().recipe(&setting)
            else {
                panic!("noise")
            };
            let free = x.len() - usize::from(restored);
            let seen = x[..free].iter().zip(released);
            let seen: f64 = seen.map(|(&x, &v)| noise.probability(scale, x, n, v)).product();
            let weight = exp_accurate(predictive.ln_probability(&x)) * seen;
            total += weight;
            for (marginal, &count) in marginals.iter_mut().zip(&x) {
                marginal[count as usize] += weight;
            }
        }
        marginals.iter_mut().flatten().for_each(|weight| *weight /= total);
        marginals
    }

    fn normalised(aware: &Aware, n: u64) -> Vec<Vec<f64>> {
        let all = |weights: &Weights| {
            let sum: f64 = weights.values.iter().sum();
            (0..=n).map(|count| weights.get(count) / sum).collect()
        };
        aware.categories.iter().map(all).collect()
    }

    fn assert_close(ours: &[Vec<f64>], theirs: &[Vec<f64>]) {
        for (ours, theirs) in ours.iter().flatten().zip(theirs.iter().flatten()) {
            assert!((ours - theirs).abs() < 1e-13, "{ours} {theirs}");
        }
    }

    #[test]
    fn convolutions_equal_the_definition() {
        let cases: [(&str, &[f64], u64, &[u64]); 8] = [
            ("geometric", &[1.0, 1.0], 30, &[12, 18]),
            ("lshist", &[0.3, 8.0], 30, &[30, 0]),
            ("geometric", &[1.0, 2.0, 0.5], 25, &[5, 8, 12]),
            ("lsdim", &[1.0, 1.0, 1.0], 20, &[20, 13, 0]),
            ("lszhang", &[1.0, 1.0], 30, &[3, 4]),
            ("lszhang", &[0.2, 2.0, 1.0], 20, &[0, 20, 11]),
            ("geometric-all", &[1.0, 40.0, 1.0], 20, &[19, 0, 7]),
            ("geometric", &[1.0, 1.0, 1.0, 3.0], 12, &[2, 0, 7, 3]),
        ];
        for (id, alpha, n, released) in cases {
            let method = method(id, alpha, n, false);
            let aware = Aware::new(&method, released).unwrap();
            assert_close(&normalised(&aware, n), &brute_force(&method, released));
        }
    }

    #[test]
    fn the_sum_over_all_data_sets_agrees_with_convolutions() {
        let method = method("geometric", &[1.0, 2.0, 0.5], 12, false);
        let released = [3, 5, 4];
        let summed = from_all_data_sets(method.variant(), method.template(), &released).unwrap();
        let aware = Aware::new(&method, &released).unwrap();
        assert_close(&normalised(&Aware { categories: summed }, 12), &normalised(&aware, 12));
    }

    #[test]
    fn other_mechanisms_and_remapped_ones() {
        for (id, remap) in [("hamming", false), ("ehds", false), ("geometric", true)] {
            let method = method(id, &[1.0, 1.0], 20, remap);
            let aware = Aware::new(&method, &[8, 12]).unwrap();
            let weights = normalised(&aware, 20);
            let likeliest = (0..=20).max_by(|&a, &b| weights[0][a].total_cmp(&weights[0][b]));
            assert!((6..=10).contains(&likeliest.unwrap()), "{id}: {likeliest:?}");
        }
    }

    #[test]
    fn large_data_stay_in_their_window() {
        let method = method("geometric", &[1.0, 1.0, 1.0], 1_000_000, false);
        let aware = Aware::new(&method, &[250_000, 250_000, 500_000]).unwrap();
        assert!(aware.categories.iter().all(|weights| weights.values.len() < 3000));
        let mean = aware.marginal(0, method.template().posterior.prior(), 1_000_000).mean();
        assert!((mean - 0.25).abs() < 1e-5, "{mean}");
    }
}
