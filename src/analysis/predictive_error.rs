//! The exact error of a mechanism over all data sets of one size: mean, worst case, and law.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::analysis::tuning;
use crate::base::numeric::{Sum, exp_accurate};
use crate::mechanism::law::{self, Distribution, Recipe};
use crate::mechanism::prepared::PreparedSetting;
use crate::mechanism::{Refusal, Variant};
use crate::posterior::metric::Metric;
use crate::posterior::model::{Counts, Posterior, Predictive};
use crate::posterior::setting::Setting;
use crate::posterior::simplex::list_compositions;

/// The mean error at every data set of one size, summed up.
#[derive(Clone, Debug, PartialEq)]
pub struct PredictiveError {
    /// Weighted by the prior's predictive law of the data.
    pub mean: f64,
    /// The largest of all,
    pub worst: f64,
    /// and the first data set where it is attained.
    pub worst_at: Counts,
}

/// The exact error of `variant`, measured by `metric`, over all data sets of as many records as
/// `template` has; `None` where its law is too large to be walked, or its mean depends on what is not.
///
/// A mechanism that is to be calibrated or remapped is made ready first. Data sets that the
/// mechanism cannot tell apart but for the names of exchangeable categories are done once.
pub fn over_all_data(
    variant: &Variant,
    template: &Setting,
    metric: Metric,
) -> Result<Option<PredictiveError>, Refusal> {
    let variant = &tuning::tune(variant, template)?.variant;
    let prior = template.posterior.prior();
    let n = template.posterior.n();
    let data_sets = representatives(variant, template)?;
    let at = |(x, _): &(Counts, f64)| {
        let posterior = Posterior::new(prior.clone(), x.clone());
        mean_error(variant, &Setting { posterior, ..template.clone() }, metric)
    };
    let means: Vec<Option<f64>> = data_sets.par_iter().map(at).collect::<Result<_, Refusal>>()?;
    let Some(means) = means.into_iter().collect::<Option<Vec<f64>>>() else { return Ok(None) };

    let predictive = Predictive::new(prior, n);
    let (mut mean, mut worst) = (Sum::default(), (f64::NEG_INFINITY, template.posterior.counts()));
    for ((x, size), &error) in data_sets.iter().zip(&means) {
        let weight = size * exp_accurate(predictive.ln_probability(x));
        // An infinite error at data that never occur does not count.
        if weight > 0.0 {
            mean.add(weight * error);
        }
        if error > worst.0 {
            worst = (error, x);
        }
    }
    Ok(Some(PredictiveError { mean: mean.value(), worst: worst.0, worst_at: worst.1.to_vec() }))
}

/// The law of the error of `variant` when the data follow the prior's predictive law; as
/// [`over_all_data`].
pub fn distribution(
    variant: &Variant,
    template: &Setting,
) -> Result<Option<Distribution>, Refusal> {
    let variant = &tuning::tune(variant, template)?.variant;
    let prior = template.posterior.prior();
    let predictive = Predictive::new(prior, template.posterior.n());
    let at = |(x, size): (Counts, f64)| {
        let weight = size * exp_accurate(predictive.ln_probability(&x));
        let posterior = Posterior::new(prior.clone(), x);
        let here = distribution_at(variant, &Setting { posterior, ..template.clone() })?;
        Ok(here.map(|law| (weight, law.seen_with(weight))))
    };
    let laws = representatives(variant, template)?.into_par_iter().map(at);
    let laws: Vec<Option<(f64, Distribution)>> = laws.collect::<Result<_, Refusal>>()?;
    Ok(laws.into_iter().collect::<Option<Vec<_>>>().map(Distribution::mixture))
}

/// The law of the error at the data of `setting`.
pub fn distribution_at(
    variant: &Variant,
    setting: &Setting,
) -> Result<Option<Distribution>, Refusal> {
    let plan = tuning::tune(variant, setting)?.variant.plan(setting)?;
    let bench = PreparedSetting::new(setting, std::slice::from_ref(&plan), &[]);
    let field = bench.fields().next().expect("the distance is always there");
    Ok(Distribution::new(bench.law(&plan).as_ref(), field))
}

/// The mean error at the data of `setting`; `None` as for [`over_all_data`].
pub fn mean_at(
    variant: &Variant,
    setting: &Setting,
    metric: Metric,
) -> Result<Option<f64>, Refusal> {
    mean_error(&tuning::tune(variant, setting)?.variant, setting, metric)
}

/// The mean error of a mechanism that is ready.
fn mean_error(
    variant: &Variant,
    setting: &Setting,
    metric: Metric,
) -> Result<Option<f64>, Refusal> {
    let plan = variant.plan(setting)?;
    // The bench knows the setting's own distance without being asked.
    let other = (metric != Metric::from_distance(setting.distance)).then_some(metric);
    let bench = PreparedSetting::new(setting, std::slice::from_ref(&plan), other.as_slice());
    let field = bench.fields().last().expect("the distance is always there");
    Ok(law::mean(bench.law(&plan).as_ref(), field))
}

/// One data set for each orbit under the permutations of categories that change neither prior nor
/// mechanism, with the size of its orbit.
fn representatives(variant: &Variant, template: &Setting) -> Result<Vec<(Counts, f64)>, Refusal> {
    let (n, k) = (template.posterior.n(), template.posterior.k());
    let mut groups = template.posterior.prior().exchangeable();
    match variant.recipe(template)? {
        // Of equally good candidates a remapping takes the first.
        _ if variant.remap.is_some() => groups.clear(),
        // The last category is what the others leave.
        Recipe::Noise { restored: true, .. } => {
            groups.iter_mut().for_each(|group| group.retain(|&i| i + 1 < k));
        }
        _ => {}
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
    use crate::mechanism::law::Exact;
    use crate::mechanism::{self, Options};
    use crate::posterior::distance::HELLINGER;
    use crate::posterior::model::Prior;
    use crate::posterior::privacy::{Delta, Epsilon, Gamma};

    fn setting(prior: &[f64], counts: Vec<u64>) -> Setting {
        Setting {
            posterior: Posterior::new(Prior::new(prior.to_vec()).unwrap(), counts),
            epsilon: Epsilon::new(0.7).unwrap(),
            delta: Some(Delta::new(1e-3).unwrap()),
            gamma: Gamma::new(1.0).unwrap(),
            distance: HELLINGER,
        }
    }

    #[test]
    fn as_one_would_compute_it_first() {
        for prior in [vec![1.0, 1.0, 1.0], vec![0.5, 2.0, 0.5], vec![1.0, 2.0, 3.0]] {
            let template = setting(&prior, vec![7, 0, 0]);
            let weights = Predictive::new(template.posterior.prior(), 7);
            for mechanism in mechanism::ALL {
                let variant = Variant::plain(mechanism);
                let (mut mean, mut worst) = (0.0, 0.0_f64);
                for x in list_compositions(7, 3) {
                    let here = setting(&prior, x.clone());
                    let recipe = variant.recipe(&here).unwrap();
                    let bench = PreparedSetting::new(&here, &[recipe], &[]);
                    let field = bench.fields().next().unwrap();
                    let error = Exact::new(bench.law(recipe).as_ref(), field).error.unwrap().mean;
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
        let remapped = of(&Variant::new(geometric, options, "remapped".into()), metric);
        assert!(remapped.mean <= plain.mean);
        let steps =
            of(&Variant::plain(geometric), crate::posterior::metric::find("steps").unwrap());
        assert!(steps.mean > plain.mean);
    }
}
