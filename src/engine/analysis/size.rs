//! How large an analysis is: the size of a law, times data sets or pairs of them; and what is admitted.
//!
//! Sizes depend on what was asked for alone, so that every machine admits the same. Nothing is refused because it
//! takes long, only what needs more memory than there is; but where mechanisms are not named, only as many are
//! looked at as the budgets here allow.

use crate::analysis::predictive_error::exchangeable;
use crate::analysis::ranking::Data;
use crate::analysis::tuning::remapping;
use crate::mechanism::Mechanism;
pub use crate::mechanism::law::size::{Size, is_sampled_only, of};
use crate::mechanism::law::size::{all_outputs, likely_outputs, logarithms};
use crate::mechanism::law::{Law, PairSize};
use crate::orbits::orders;
use crate::posterior::distance::Distance;
use crate::posterior::model::{Posterior, approximate_compositions};
use crate::posterior::setting::Setting;

/// Seconds of one thread for an output: the only rate there is, for an order of magnitude.
pub const SECONDS_PER_OUTPUT: f64 = 1e-8;

/// The outputs that a ranking may walk if nobody has named its mechanisms; if none is so small; and before a
/// release.
pub const BUDGET: f64 = 6e8;
/// The same if there is no answer otherwise.
pub const LARGE_BUDGET: f64 = 6e9;
/// The same for one audit before a release.
pub const SMALL_BUDGET: f64 = 7e7;

/// The bytes that one of these mechanisms may need; and if there is no answer otherwise.
pub const LARGEST: f64 = 4e8;
pub const LARGEST_ALONE: f64 = 1.6e10;

/// How long an output takes if only the mean error is found; or its spread and quantiles; or its distribution is
/// listed.
pub const MEAN: f64 = 1.0;
pub const SUMMARISED: f64 = 3.0;
pub const LISTED: f64 = 15.0;

/// Bytes of an error in a list, and in a mixture of distributions.
const LISTED_BYTES: f64 = 45.0;
const MIXED_BYTES: f64 = 64.0;

/// The values of ε at which an audit finds δ: its own, and those of a trade-off curve; and those of a profile.
pub const TRADE_OFF: f64 = 5.0;
pub const PROFILE: f64 = 50.0;

/// Audits that a calibration takes.
const AUDITS: f64 = 5.0;

/// A term of a remapping, of a descent to one candidate, and a candidate that replaces an output take as long as
/// so many outputs.
const TERM: f64 = 0.1;
const SEARCHED_TERM: f64 = 1.5;
const REPLACED: f64 = 25.0;

/// The mean error of a mechanism and its tuning: at given data, or under the prior predictive
/// distribution. `None` if it cannot be used, or its law is too large.
pub fn error(variant: &Mechanism, setting: &Setting, data: &Data) -> Option<Size> {
    let law = variant.outline(setting).ok()?;
    let (law, at) = (law.as_ref(), usual(setting, data));
    let here = || of(law, &at, setting.distance, MEAN);
    (!is_sampled_only(law, &at)).then(|| everywhere(variant, law, here(), setting, data))
}

/// The distribution of its error, in the same way.
pub fn distribution(variant: &Mechanism, setting: &Setting, data: &Data) -> Option<Size> {
    let law = variant.outline(setting).ok()?;
    let (law, at) = (law.as_ref(), usual(setting, data));
    let here = listed(law, &at, setting.distance);
    let size = everywhere(variant, law, here, setting, data);
    Some(match data {
        Data::Given(_) => size,
        // All distributions are in memory until they are mixed.
        Data::PriorPredictive => {
            let levels = here.outputs / LISTED;
            size.beside(MIXED_BYTES * levels * representatives(variant, law, setting))
        }
    })
}

/// A law whose error is listed value by value.
pub fn listed(law: &dyn Law, posterior: &Posterior, distance: &dyn Distance) -> Size {
    let size = of(law, posterior, distance, LISTED);
    size.beside(LISTED_BYTES * size.outputs / LISTED)
}

/// Data at which a law is as large as at most others: those that are given, or nearly equal parts of which no two
/// are equal.
fn usual(setting: &Setting, data: &Data) -> Posterior {
    let (n, k) = (setting.n, setting.k() as u64);
    if let Data::Given(x) = data {
        return setting.at(x.clone());
    }
    let steps = if n >= k * (k - 1) / 2 { 1 } else { 0 };
    let shared = n - steps * k * (k - 1) / 2;
    let last = |i: u64| if i + 1 == k { shared % k } else { 0 };
    setting.at((0..k).map(|i| shared / k + steps * i + last(i)).collect())
}

/// What is done at one data set, at all that matter, and the tuning before it.
fn everywhere(
    variant: &Mechanism,
    law: &dyn Law,
    mut here: Size,
    setting: &Setting,
    data: &Data,
) -> Size {
    let (n, k) = (setting.n, setting.k());
    if variant.options.remap {
        here.outputs += match remapping::searched(law, setting) {
            None => logarithms(law, n, k),
            Some(_) => REPLACED * likely_outputs(law, &usual(setting, data), false),
        };
    }
    if *data == Data::PriorPredictive {
        let all = approximate_compositions(n, k);
        // The data sets are listed, with the sizes of their orbits.
        let data_set = 64.0 + 16.0 * k as f64;
        here = here.times(representatives(variant, law, setting)).beside(all * data_set);
        here.outputs += REPLACED * all;
    }
    tuning(variant, setting, data).then(here)
}

/// The number of data sets of which one is computed for each orbit under permutations of the categories:
/// see [`crate::analysis::predictive_error`].
fn representatives(variant: &Mechanism, law: &dyn Law, setting: &Setting) -> f64 {
    let (n, k) = (setting.n, setting.k());
    let data_sets = approximate_compositions(n, k);
    if variant.options.remap {
        return data_sets;
    }
    (data_sets / orders(&exchangeable(law, &setting.prior))).max(1.0)
}

/// The tuning of a mechanism: its calibration, its weights, and the remapping of the outputs that matter at the
/// given data, or at all data.
pub fn tuning(variant: &Mechanism, setting: &Setting, data: &Data) -> Size {
    let Ok(law) = variant.outline(setting) else { return Size::default() };
    let mut size = (variant.kind.preparation)(setting);
    if variant.options.calibrated {
        size = size.then(audit(law.as_ref(), setting, &Data::PriorPredictive, 0.0).times(AUDITS));
    }
    if variant.options.remap {
        size = size.then(remap(law.as_ref(), setting, data));
    }
    size
}

fn remap(law: &dyn Law, setting: &Setting, data: &Data) -> Size {
    let (n, k) = (setting.n, setting.k());
    match remapping::searched(law, setting) {
        None => {
            let data_sets = approximate_compositions(n, k);
            let (kept, added) = remapping::terms(law, setting);
            Size { outputs: TERM * added + data_sets * logarithms(law, n, k), bytes: 8.0 * kept }
        }
        Some(noise) => {
            let outputs =
                likely_outputs(law, &usual(setting, data), *data == Data::PriorPredictive);
            let terms = remapping::searched_terms(&noise, setting);
            Size { outputs: SEARCHED_TERM * terms * outputs, bytes: 500.0 * outputs + 8e8 }
        }
    }
}

/// The exact privacy loss over all data sets of the setting's size, or over a few like those given, and δ at so
/// many values of ε.
pub fn audit(law: &dyn Law, setting: &Setting, data: &Data, epsilons: f64) -> Size {
    let k = setting.k() as f64;
    let pair = PairSize::of(law, &usual(setting, data), setting.distance);
    let all = match data {
        Data::PriorPredictive => approximate_compositions(setting.n, setting.k()),
        Data::Given(_) => 8.0 * k,
    };
    let groups = law.exchangeable(&setting.prior);
    let symmetries = match groups.iter().any(|group| group.len() == setting.k()) {
        true => orders(&groups),
        false => 1.0,
    };
    // Of few records in many categories there are fewer data sets than permutations.
    let different = (all / symmetries).max(1.0);
    let pairs = different * 0.5 * k * (k - 1.0);
    // Of noise on every count, only the two counts that change matter.
    let by_counts = law.noisy_counts(setting.k()).is_some();
    let two_counts = 0.5 * (setting.n as f64 + 1.0).powi(2);
    let pairs = if by_counts { pairs.min(two_counts) } else { pairs };
    let each = pair.compared + epsilons * pair.classes;
    // Of pairs where the same two counts change, only one is listed.
    let listed = if by_counts { 0.0 } else { all };
    let bytes = 40.0 + 8.0 * k;
    Size {
        outputs: pairs * each + all.min(pairs + different) * pair.prepared,
        bytes: listed * bytes + pairs * (2.0 * bytes + 16.0) + KEPT.max(pair.bytes),
    }
}

/// Bytes of the probabilities that an audit keeps.
const KEPT: f64 = 6.4e7;

/// The same of a remapped mechanism: every candidate is compared.
pub fn remapped_audit(law: &dyn Law, setting: &Setting) -> Size {
    let (n, k) = (setting.n, setting.k());
    let candidates = approximate_compositions(n, k);
    let pairs = candidates * 0.5 * (k * (k - 1)) as f64;
    let tabled = all_outputs(law, n, k);
    Size {
        outputs: candidates * (logarithms(law, n, k) + REPLACED * tabled) + pairs * candidates,
        bytes: 8.0 * candidates * tabled,
    }
}

/// Which of several pieces of work are done, if all together may walk so many outputs: the smallest. A piece
/// without a size is not done.
pub fn smallest(pieces: &[Option<Size>], budget: f64) -> Vec<bool> {
    let outputs = |i: usize| pieces[i].map_or(f64::INFINITY, |size| size.outputs);
    let mut order: Vec<usize> = (0..pieces.len()).collect();
    order.sort_by(|&a, &b| outputs(a).total_cmp(&outputs(b)));
    let (mut left, mut done) = (budget, vec![false; pieces.len()]);
    for i in order {
        done[i] = outputs(i) <= left;
        left -= if done[i] { outputs(i) } else { 0.0 };
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism;
    use crate::mechanism::law::{Bench, mean};
    use crate::posterior::model::Prior;
    use crate::posterior::privacy::{Delta, Epsilon};

    fn setting(prior: &[f64], n: u64) -> Setting {
        let prior = Prior::new(prior.to_vec()).unwrap();
        let setting = Setting::new(prior, n, Epsilon::new(1.0).unwrap());
        Setting { delta: Delta::new(1e-6).ok(), ..setting }
    }

    /// Of every mechanism as many outputs are counted as are walked, give or take what is made besides.
    #[test]
    fn laws_are_as_large_as_was_counted() {
        for counts in [&[300, 200][..], &[30, 20, 7], &[8, 8, 8], &[6, 3, 2, 1]] {
            let setting = setting(&vec![1.0; counts.len()], counts.iter().sum());
            let posterior = setting.at(counts.to_vec());
            for &mechanism in mechanism::ALL {
                let variant = Mechanism::plain(mechanism);
                let Ok(law) = variant.law(&setting) else { continue };
                let bench = Bench::new(&posterior, setting.distance, [law.as_ref()], &[]).unwrap();
                assert!(mean(bench.law(0).as_ref(), bench.distance()).is_some());
                let walked = bench.law(0).walked().expect("a small law").blocks.outputs() as f64;
                let said = of(law.as_ref(), &posterior, setting.distance, MEAN).outputs;
                let what = format!("{} {counts:?}: {said} for {walked}", mechanism.id);
                assert!(said >= 0.8 * walked, "{what}");
                // Rows of four categories are short, and each takes time to be found.
                assert!(said <= 5.0 * walked + 40_000.0, "{what}");
            }
        }
    }

    /// More records or passes are never less; noise has a closed form.
    #[test]
    fn audits_grow() {
        let of = |id: &str, n: u64, epsilons: f64| {
            let setting = setting(&[1.0; 3], n);
            let law = Mechanism::parse(id).unwrap().outline(&setting).unwrap();
            audit(law.as_ref(), &setting, &Data::PriorPredictive, epsilons)
        };
        for id in ["ehds", "hamming", "geometric", "tight", "lattice"] {
            let [small, large, profile] = [of(id, 30, 0.0), of(id, 60, 0.0), of(id, 60, PROFILE)];
            assert!(small.outputs < large.outputs && large.outputs < profile.outputs, "{id}");
            assert!(small.bytes <= large.bytes, "{id}");
        }
        assert!(of("geometric", 60, 0.0).outputs < 0.1 * of("ehds", 60, 0.0).outputs);
    }
}
