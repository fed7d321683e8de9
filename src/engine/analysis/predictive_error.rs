//! The exact error of a mechanism under the prior predictive distribution of the data, and the
//! largest error at any data set of the same size.

use std::collections::BTreeMap;

use crate::mechanism::Variant;
use crate::mechanism::law::{self, Distribution};
use crate::mechanism::prepared::PreparedSetting;
use crate::numeric::{Sum, exp_accurate};
use crate::parallel;
use crate::posterior::metric::Metric;
use crate::posterior::model::{Counts, Predictive};
use crate::posterior::setting::Setting;
use crate::posterior::simplex::list_compositions;
use crate::refusal::Refusal;

/// The mean errors at all data sets of one size, summed up.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictiveError {
    /// Their mean under the prior predictive distribution of the data.
    pub mean: f64,
    /// The largest of them.
    pub worst: f64,
    /// The first data set that attains it.
    pub worst_at: Counts,
}

/// The exact error of `variant`, measured by `metric`, over all data sets of as many records as
/// `template` has. `None` if the law is too large to be walked, or if the outputs that are left out
/// could change the mean.
///
/// `variant` is tuned already: see [`crate::analysis::tuning`]. Of data sets that differ only by an
/// exchange of categories, one is computed if neither prior nor mechanism notices the exchange.
pub fn over_all_data(
    variant: &Variant,
    template: &Setting,
    metric: Metric,
) -> Result<Option<PredictiveError>, Refusal> {
    let prior = template.posterior.prior();
    let n = template.posterior.n();
    let data_sets = representatives(variant, template)?;
    let at = |(x, _): &(Counts, f64)| mean_at(variant, &template.at(x.clone()), metric);
    let means = parallel::map(&data_sets, at).into_iter().collect::<Result<Vec<_>, Refusal>>()?;
    let Some(means) = means.into_iter().collect::<Option<Vec<f64>>>() else { return Ok(None) };

    let predictive = Predictive::new(prior, n);
    let (mut mean, mut worst) = (Sum::default(), (f64::NEG_INFINITY, template.posterior.counts()));
    for ((x, size), &error) in data_sets.iter().zip(&means) {
        let weight = size * exp_accurate(predictive.ln_probability(x));
        // An infinite error at data of probability 0 does not count.
        if weight > 0.0 {
            mean.add(weight * error);
        }
        if error > worst.0 {
            worst = (error, x);
        }
    }
    Ok(Some(PredictiveError { mean: mean.value(), worst: worst.0, worst_at: worst.1.to_vec() }))
}

/// The law of the error of `variant` under the prior predictive distribution of the data; `None` as
/// for [`over_all_data`].
pub(super) fn distribution(
    variant: &Variant,
    template: &Setting,
) -> Result<Option<Distribution>, Refusal> {
    let prior = template.posterior.prior();
    let predictive = Predictive::new(prior, template.posterior.n());
    let at = |(x, size): &(Counts, f64)| {
        let weight = size * exp_accurate(predictive.ln_probability(x));
        let here = distribution_at(variant, &template.at(x.clone()))?;
        Ok(here.map(|law| (weight, law.seen_with(weight))))
    };
    let laws = parallel::map(&representatives(variant, template)?, at);
    let laws = laws.into_iter().collect::<Result<Option<Vec<_>>, Refusal>>()?;
    Ok(laws.map(Distribution::mixture))
}

/// The law of the error of `variant` at the data of `setting`.
pub(super) fn distribution_at(
    variant: &Variant,
    setting: &Setting,
) -> Result<Option<Distribution>, Refusal> {
    let plan = variant.plan(setting)?;
    let prepared = PreparedSetting::new(setting, std::slice::from_ref(&plan), &[]);
    let field = prepared.distance();
    Ok(Distribution::new(prepared.law(&plan).as_ref(), field))
}

/// The exact mean error of `variant` at the data of `setting`; `None` as for [`over_all_data`].
pub fn mean_at(
    variant: &Variant,
    setting: &Setting,
    metric: Metric,
) -> Result<Option<f64>, Refusal> {
    let plan = variant.plan(setting)?;
    // The setting's own distance is always prepared.
    let other = (metric != Metric::from_distance(setting.distance)).then_some(metric);
    let prepared = PreparedSetting::new(setting, std::slice::from_ref(&plan), other.as_slice());
    let field = prepared.fields().last().expect("the distance is always there");
    Ok(law::mean(prepared.law(&plan).as_ref(), field))
}

/// One data set for each orbit under the permutations of categories that change neither prior nor
/// mechanism, with the size of its orbit.
fn representatives(variant: &Variant, template: &Setting) -> Result<Vec<(Counts, f64)>, Refusal> {
    let (n, k) = (template.posterior.n(), template.posterior.k());
    let mut groups = template.posterior.prior().exchangeable();
    let recipe = variant.recipe(template)?;
    // A remapping takes the first of equally good candidates, which breaks the symmetry.
    if variant.remap.is_some() || !variant.mechanism.is_symmetric() {
        groups.clear();
    } else if recipe.restores_total() {
        // The last count gets no noise of its own.
        groups.iter_mut().for_each(|group| group.retain(|&i| i + 1 < k));
    }
    let mut orbits: BTreeMap<Counts, f64> = BTreeMap::new();
    for mut x in list_compositions(n, k) {
        for group in &groups {
            let mut counts: Vec<u64> = group.iter().map(|&i| x[i]).collect();
            counts.sort_unstable();
            group.iter().zip(counts).for_each(|(&i, count)| x[i] = count);
        }
        *orbits.entry(x).or_insert(0.0) += 1.0;
    }
    Ok(orbits.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::tuning::tune;
    use crate::mechanism::law::Exact;
    use crate::mechanism::{self, Options};
    use crate::posterior::distance::HELLINGER;
    use crate::posterior::model::Prior;
    use crate::posterior::privacy::{Delta, Epsilon};

    fn setting(prior: &[f64], counts: Vec<u64>) -> Setting {
        let prior = Prior::new(prior.to_vec()).unwrap();
        let setting = Setting::new(prior, counts, Epsilon::new(0.7).unwrap());
        Setting { delta: Delta::new(1e-3).ok(), ..setting }
    }

    #[test]
    fn sums_over_all_data_sets_agree() {
        for prior in [vec![1.0, 1.0, 1.0], vec![0.5, 2.0, 0.5], vec![1.0, 2.0, 3.0]] {
            let template = setting(&prior, vec![7, 0, 0]);
            let weights = Predictive::new(template.posterior.prior(), 7);
            for &mechanism in mechanism::ALL {
                let variant = Variant::plain(mechanism);
                let (mut mean, mut worst) = (0.0, 0.0_f64);
                for x in list_compositions(7, 3) {
                    let here = setting(&prior, x.clone());
                    let recipe = variant.recipe(&here).unwrap();
                    let prepared = PreparedSetting::new(&here, &[recipe], &[]);
                    let field = prepared.distance();
                    let error =
                        Exact::new(prepared.law(recipe).as_ref(), field).error.unwrap().mean;
                    mean += exp_accurate(weights.ln_probability(&x)) * error;
                    worst = worst.max(error);
                }
                let metric = Metric::from_distance(HELLINGER);
                let ours = over_all_data(&variant, &template, metric).unwrap().unwrap();
                assert!((ours.mean - mean).abs() < 1e-14, "{}", variant.label);
                assert!((ours.worst - worst).abs() < 1e-14, "{}", variant.label);
                assert_eq!(ours.worst_at.iter().sum::<u64>(), 7);
            }
        }
    }

    #[test]
    fn other_errors_and_tuned_mechanisms() {
        let template = setting(&[1.0, 1.0], vec![12, 0]);
        let geometric = mechanism::find("geometric").unwrap();
        let metric = Metric::from_distance(HELLINGER);
        let of =
            |variant: &Variant, metric| over_all_data(variant, &template, metric).unwrap().unwrap();
        let plain = of(&Variant::plain(geometric), metric);
        let options = Options { remap: true, ..Options::default() };
        let remapped = Variant::new(geometric, options, "remapped".into());
        let remapped = of(&tune(&remapped, &template).unwrap().variant, metric);
        assert!(remapped.mean <= plain.mean);
        let steps =
            of(&Variant::plain(geometric), crate::posterior::metric::find("steps").unwrap());
        assert!(steps.mean > plain.mean);
    }
}
