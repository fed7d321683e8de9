//! Bayes-optimal post-processing: every output of a mechanism is replaced by the best candidate.
//!
//! Let w(x) be the prior predictive probability of x. Given an output o, the data x have a probability
//! proportional to w(x) P_x(o). The best candidate is the one with the smallest expected distance from
//! the true posterior under this distribution. The map depends on the output only, so it costs no
//! privacy.

use super::local::LocalSearch;
pub use super::local::terms as searched_terms;
use crate::analysis::optimum::full_field;
use crate::analysis::true_counts::CountNoise;
use crate::mechanism::Mechanism;
use crate::mechanism::law::{Law, Outputs, Remap};
use crate::numeric::exp_accurate;
use crate::parallel;
use crate::posterior::distance::HELLINGER;
use crate::posterior::model::{Counts, Predictive, approximate_compositions};
use crate::posterior::setting::Setting;
use crate::posterior::simplex::{list_compositions, rank};
use crate::refusal::Refusal;

/// The most probabilities (outputs times data sets) that are kept.
const MOST_KEPT: f64 = 1.5e8;
/// The most additions: an hour on one thread.
const MOST_ADDED: f64 = 1e13;

/// Data sets less likely than this, relative to the likeliest, do not change which candidate is
/// best if distances are at most 1. If they are larger, it is divided by the largest.
const NEGLIGIBLE: f64 = 1e-20;

/// Candidates whose expected errors differ by less than this, relatively, are equally good: a
/// remapping must not depend on the last bits of a sum.
pub(super) const SAME: f64 = 1e-12;

fn outputs(law: &dyn Law, setting: &Setting) -> Outputs {
    Outputs::new(law.outputs(), setting.n, setting.k())
}

/// The work of a remapping of all outputs: the number of probabilities kept, and of terms added.
pub fn terms(law: &dyn Law, setting: &Setting) -> (f64, f64) {
    let outputs = outputs(law, setting);
    let data_sets = approximate_compositions(setting.n, setting.k());
    let kept = (outputs.approximate_len() + data_sets) * data_sets;
    (kept, outputs.approximate_len() * data_sets * data_sets)
}

/// If there are more terms than this, every candidate is searched for when it is needed.
const MANY: f64 = 5e9;

/// The noise on the counts, if every candidate is searched for when it is needed; else all are weighed against all data
/// sets. A search needs such noise, and is for the Hellinger distance.
pub fn searched(law: &dyn Law, setting: &Setting) -> Option<CountNoise> {
    let (kept, added) = terms(law, setting);
    let many = kept > MOST_KEPT || added > MANY;
    let noise = law.count_noise(setting.k());
    noise.filter(|_| many && setting.distance.id() == HELLINGER.id())
}

/// Why the outputs of `variant`, which have this law, cannot be remapped.
pub fn refusal(variant: &Mechanism, law: &dyn Law, setting: &Setting) -> Option<Refusal> {
    let id = variant.kind.id;
    if let Some(Refusal { cause, remedy, .. }) =
        setting.distance.refuses_scores(&setting.prior, setting.n)
    {
        return Some(Refusal::new(format!("`{id}` cannot be remapped: {cause}"), remedy));
    }
    let (kept, added) = terms(law, setting);
    let too_many = kept > MOST_KEPT || added > MOST_ADDED;
    (too_many && searched(law, setting).is_none()).then(|| {
        Refusal::new(
            format!(
                "the remapping of `{id}` weighs every output against every data set: {kept:.1e} \
                 probabilities ({MOST_KEPT:.1e} at most) and {added:.1e} terms ({MOST_ADDED:.0e} \
                 at most)"
            ),
            "use fewer records or categories, or leave `remap` out; with the Hellinger distance, \
             tight, lattice and noise on the counts can be remapped for many records",
        )
    })
}

/// The best map of the outputs of `variant`, which have this law, at data sets of as many records as `setting` has.
///
/// Of several candidates that are equally good, the output itself is taken if it is one, else the
/// first. If there are many outputs, a candidate is found by descent when it is asked for: see `local.rs`.
pub fn best(variant: &Mechanism, law: &dyn Law, setting: &Setting) -> Result<Remap, Refusal> {
    refusal(variant, law, setting).map_or(Ok(()), Err)?;
    let (n, k) = (setting.n, setting.k());
    let outputs = outputs(law, setting);
    if let Some(noise) = searched(law, setting) {
        let search = LocalSearch::new(setting, noise);
        return Ok(Remap::searched(outputs, Box::new(move |output| search.find(output))));
    }
    let data_sets = list_compositions(n, k);
    let part = parallel::part(0.3);
    let rows = parallel::map(&data_sets, |x| DataSet::new(law, setting, outputs, x));
    drop(part);
    let rows: Vec<DataSet> = rows.into_iter().collect::<Result<_, _>>()?;
    let list = outputs.list();
    let distances = rows.iter().flat_map(|row| &row.distances);
    let negligible = NEGLIGIBLE / distances.copied().fold(1.0, f64::max);
    let to = parallel::map_range(0..list.len(), |o| {
        let own = (list[o].iter().sum::<u64>() == n).then(|| rank(&list[o]));
        data_sets[best_candidate(&rows, o, own, negligible)].clone()
    });
    Ok(Remap::new(outputs, to))
}

/// A data set x.
struct DataSet {
    /// ln (w(x) P_x(o)) for every output o.
    joint: Vec<f64>,
    /// The distance of every candidate from the posterior of x.
    distances: Vec<f64>,
}

impl DataSet {
    fn new(
        law: &dyn Law,
        setting: &Setting,
        outputs: Outputs,
        x: &Counts,
    ) -> Result<Self, Refusal> {
        let ln_weight = Predictive::new(&setting.prior, setting.n).ln_probability(x);
        let field = full_field(setting, x.clone());
        let logs = law.at(&setting.at(x.clone()))?.ln_probabilities(outputs, field.as_ref());
        let candidates = list_compositions(setting.n, x.len());
        Ok(Self {
            joint: logs.into_iter().map(|ln_p| ln_weight + ln_p).collect(),
            distances: candidates.iter().map(|r| field.at(r)).collect(),
        })
    }
}

/// The candidate with the least expected distance given output `o`. If `o` is a candidate itself,
/// `own` is its index.
fn best_candidate(data_sets: &[DataSet], o: usize, own: Option<usize>, negligible: f64) -> usize {
    let highest = data_sets.iter().map(|x| x.joint[o]).fold(f64::NEG_INFINITY, f64::max);
    let mut errors = vec![0.0; data_sets.len()];
    for x in data_sets {
        let weight = exp_accurate(x.joint[o] - highest);
        if weight > negligible {
            errors.iter_mut().zip(&x.distances).for_each(|(sum, h)| *sum += weight * h);
        }
    }
    let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
    let is_best = |&r: &usize| errors[r] <= least * (1.0 + SAME);
    own.filter(is_best).or_else(|| (0..errors.len()).find(is_best)).unwrap_or(0)
}
