//! The exact error of a mechanism under the prior predictive distribution of the data, and the
//! largest error at any data set of the same size.

use crate::mechanism::law::{self, Bench, BenchField, Distribution, Law, OutputLaw};
use crate::numeric::{Sum, exp_accurate};
use crate::parallel;
use crate::posterior::model::{Counts, Predictive, Prior};
use crate::posterior::setting::Setting;
use crate::posterior::simplex::Region;
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

/// The exact error of `law` over all data sets of the size of the setting. `None` if the law is too large to be walked,
/// or if the outputs that are left out could change the mean.
///
/// Of data sets that differ only by an exchange of categories, one is computed if neither prior nor mechanism notices
/// the exchange.
pub fn over_all_data(law: &dyn Law, setting: &Setting) -> Result<Option<PredictiveError>, Refusal> {
    let data_sets = representatives(law, setting);
    let at = |(x, _): &(Counts, f64)| at_data(law, setting, x, law::mean);
    let means = parallel::map(&data_sets, at).into_iter();
    let Some(means) = means.collect::<Result<Option<Vec<f64>>, Refusal>>()? else {
        return Ok(None);
    };
    let predictive = Predictive::new(&setting.prior, setting.n);
    let (mut mean, mut worst) = (Sum::default(), (f64::NEG_INFINITY, &data_sets[0].0));
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
    Ok(Some(PredictiveError { mean: mean.value(), worst: worst.0, worst_at: worst.1.clone() }))
}

/// The law of the error of `law` under the prior predictive distribution of the data; `None` as
/// for [`over_all_data`].
pub(super) fn distribution(
    law: &dyn Law,
    setting: &Setting,
) -> Result<Option<Distribution>, Refusal> {
    let predictive = Predictive::new(&setting.prior, setting.n);
    let at = |(x, size): &(Counts, f64)| {
        let weight = size * exp_accurate(predictive.ln_probability(x));
        let here = at_data(law, setting, x, Distribution::new)?;
        Ok(here.map(|law| (weight, law.seen_with(weight))))
    };
    let laws = parallel::map(&representatives(law, setting), at);
    let laws = laws.into_iter().collect::<Result<Option<Vec<_>>, Refusal>>()?;
    Ok(laws.map(Distribution::mixture))
}

/// What is found about the error of `law` at these data: its mean or its law, say; `None` as for [`over_all_data`].
pub(super) fn at_data<T>(
    law: &dyn Law,
    setting: &Setting,
    counts: &Counts,
    find: impl Fn(&dyn OutputLaw, BenchField) -> Option<T>,
) -> Result<Option<T>, Refusal> {
    let posterior = setting.at(counts.clone());
    let bench = Bench::new(&posterior, setting.distance, [law], &[])?;
    Ok(find(bench.law(0).as_ref(), bench.distance()))
}

/// One data set for each orbit under the permutations of categories that change neither prior nor
/// mechanism, with the size of its orbit.
fn representatives(law: &dyn Law, setting: &Setting) -> Vec<(Counts, f64)> {
    let k = setting.k();
    let groups = exchangeable(law, &setting.prior);
    let group = |i: usize| groups.iter().position(|group| group.contains(&i)).unwrap_or(k + i);
    Region::simplex(setting.n, k).folded(&(0..k).map(group).collect::<Vec<_>>()).list()
}

/// Groups of categories whose exchange changes neither the prior nor the law.
pub(super) fn exchangeable(law: &dyn Law, prior: &Prior) -> Vec<Vec<usize>> {
    let by_law = law.exchangeable(prior);
    let both = |group: Vec<usize>| -> Vec<Vec<usize>> {
        let within = |one: &Vec<usize>| group.iter().copied().filter(|i| one.contains(i)).collect();
        by_law.iter().map(within).collect()
    };
    prior.exchangeable().into_iter().flat_map(both).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism::law::ErrorSummary;
    use crate::mechanism::{self, Mechanism};
    use crate::posterior::model::Prior;
    use crate::posterior::privacy::{Delta, Epsilon};
    use crate::posterior::simplex::list_compositions;

    fn setting(prior: &[f64], n: u64) -> Setting {
        let prior = Prior::new(prior.to_vec()).unwrap();
        let setting = Setting::new(prior, n, Epsilon::new(0.7).unwrap());
        Setting { delta: Delta::new(1e-3).ok(), ..setting }
    }

    #[test]
    fn sums_over_all_data_sets_agree() {
        for prior in [vec![1.0, 1.0, 1.0], vec![0.5, 2.0, 0.5], vec![1.0, 2.0, 3.0]] {
            let setting = setting(&prior, 7);
            let weights = Predictive::new(&setting.prior, 7);
            for &mechanism in mechanism::ALL {
                let law = Mechanism::plain(mechanism).law(&setting).unwrap();
                let (mut mean, mut worst) = (0.0, 0.0_f64);
                for x in list_compositions(7, 3) {
                    let here = setting.at(x.clone());
                    let bench = Bench::new(&here, setting.distance, [law.as_ref()], &[]).unwrap();
                    let exact = ErrorSummary::new(bench.law(0).as_ref(), bench.distance());
                    let error = exact.error.unwrap().mean;
                    mean += exp_accurate(weights.ln_probability(&x)) * error;
                    worst = worst.max(error);
                }
                let ours = over_all_data(law.as_ref(), &setting).unwrap().unwrap();
                assert!((ours.mean - mean).abs() < 1e-14, "{}", mechanism.id);
                assert!((ours.worst - worst).abs() < 1e-14, "{}", mechanism.id);
                assert_eq!(ours.worst_at.iter().sum::<u64>(), 7);
            }
        }
    }
}
