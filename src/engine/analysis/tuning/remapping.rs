//! Bayes-optimal post-processing: every output of a mechanism is replaced by the best candidate.
//!
//! Let w(x) be the prior predictive probability of x. Given an output o, the data x have a probability
//! proportional to w(x) P_x(o). The best candidate is the one with the smallest expected distance from
//! the true posterior under this distribution. The map depends on the output only, so it costs no
//! privacy.

use super::local::LocalSearch;
use crate::analysis::true_counts::CountNoise;
use crate::mechanism::Variant;
use crate::mechanism::law::{Outputs, Recipe, Remap, ln_probabilities};
use crate::numeric::exp_accurate;
use crate::operations::{Operation, count};
use crate::parallel;
use crate::posterior::distance::HELLINGER;
use crate::posterior::error_field::Reach;
use crate::posterior::model::{Counts, Posterior, Predictive, approximate_compositions};
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

/// What a remapping takes.
pub enum Effort {
    /// All outputs are weighed against all data sets at once.
    Listed {
        /// Probabilities that are kept.
        kept: f64,
        /// Terms that are added.
        added: f64,
    },
    /// Each output is weighed when it occurs.
    Searched {
        /// Data sets that are listed for each.
        listed: f64,
        /// Terms that are added for each.
        added: f64,
    },
}

/// The effort for the outputs of a mechanism.
pub fn effort(recipe: Recipe, setting: &Setting) -> Effort {
    let outputs = Outputs::of(recipe, setting.posterior.n(), setting.posterior.k());
    match way(CountNoise::likely, recipe, outputs, setting) {
        Way::Listed => {
            let (kept, added) = work(outputs, setting);
            Effort::Listed { kept, added }
        }
        Way::Searched(noise) => {
            let (listed, added) = LocalSearch::new(setting, noise).effort();
            Effort::Searched { listed, added }
        }
    }
}

/// Whether the candidates of all outputs are found at once, and none is searched for when it is needed.
pub fn is_listed(recipe: Recipe, setting: &Setting) -> bool {
    !matches!(effort(recipe, setting), Effort::Searched { .. })
}

/// The work of a remapping of all outputs: the number of probabilities kept, and of terms added.
fn work(outputs: Outputs, setting: &Setting) -> (f64, f64) {
    let data_sets = approximate_compositions(setting.posterior.n(), setting.posterior.k());
    let kept = (outputs.approximate_len() + data_sets) * data_sets;
    (kept, outputs.approximate_len() * data_sets * data_sets)
}

/// If there are more terms than this, every candidate is searched for when it is needed.
const MANY: f64 = 5e9;

/// How the candidates are found.
enum Way {
    /// All are weighed against all data sets.
    Listed,
    /// Each is searched for when it is needed.
    Searched(CountNoise),
}

/// How the candidates are found. A search needs noise on the counts, and is for the Hellinger distance.
fn way(
    noise: fn(Recipe, &Posterior) -> Option<CountNoise>,
    recipe: Recipe,
    outputs: Outputs,
    setting: &Setting,
) -> Way {
    let (kept, added) = work(outputs, setting);
    let many = kept > MOST_KEPT || added > MANY;
    if !many || setting.distance.id() != HELLINGER.id() {
        return Way::Listed;
    }
    noise(recipe, &setting.posterior).map_or(Way::Listed, Way::Searched)
}

/// Why a remapping cannot be computed, if it is likely too large.
pub fn refusal(variant: &Variant, setting: &Setting) -> Option<Refusal> {
    let recipe = variant.outline(setting).ok()?;
    if let Some(Refusal { cause, remedy, .. }) = setting.distance.refuses_scores(&setting.posterior)
    {
        let cause = format!("`{}` cannot be remapped: {cause}", variant.mechanism.id());
        return Some(Refusal::new(cause, remedy));
    }
    let outputs = Outputs::of(recipe, setting.posterior.n(), setting.posterior.k());
    match way(CountNoise::likely, recipe, outputs, setting) {
        Way::Listed => too_large(variant, outputs, setting),
        Way::Searched(_) => None,
    }
}

/// Why not all outputs are weighed against all data sets, if they are too many.
fn too_large(variant: &Variant, outputs: Outputs, setting: &Setting) -> Option<Refusal> {
    let (kept, added) = work(outputs, setting);
    (kept > MOST_KEPT || added > MOST_ADDED).then(|| {
        Refusal::new(
            format!(
                "the remapping of `{}` weighs every output against every data set: {kept:.1e} \
                 probabilities ({MOST_KEPT:.1e} at most) and {added:.1e} terms ({MOST_ADDED:.0e} \
                 at most)",
                variant.mechanism.id()
            ),
            "use fewer records or categories, or leave `remap` out; with the Hellinger distance, \
             tight, lattice and noise on the counts can be remapped for many records",
        )
    })
}

/// The best map of the outputs of `variant` at data sets of as many records as `setting` has.
///
/// Of several candidates that are equally good, the output itself is taken if it is one, else the
/// first. If there are many outputs, a candidate is found by descent when it is asked for: see `local.rs`.
pub fn best(variant: &Variant, setting: &Setting) -> Result<Remap, Refusal> {
    if let Some(refusal) = refusal(variant, setting) {
        return Err(refusal);
    }
    let (n, k) = (setting.posterior.n(), setting.posterior.k());
    let recipe = variant.recipe(setting)?;
    let outputs = Outputs::of(recipe, n, k);
    match way(CountNoise::of, recipe, outputs, setting) {
        Way::Listed => too_large(variant, outputs, setting).map_or(Ok(()), Err)?,
        Way::Searched(noise) => {
            let search = LocalSearch::new(setting, noise);
            return Ok(Remap::searched(outputs, Box::new(move |output| search.find(output))));
        }
    }
    let data_sets = list_compositions(n, k);
    let rows = parallel::map(&data_sets, |x| DataSet::new(variant, setting, outputs, x));
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
        variant: &Variant,
        setting: &Setting,
        outputs: Outputs,
        x: &Counts,
    ) -> Result<Self, Refusal> {
        let prior = setting.posterior.prior();
        let n = setting.posterior.n();
        let ln_weight = Predictive::new(prior, n).ln_probability(x);
        let at_x = setting.at(x.clone());
        let reach = Reach { windows: vec![(0, n); x.len()], ball: false };
        let field = at_x.distance.field(&at_x.posterior, &reach);
        let recipe = variant.recipe(&at_x)?;
        let logs = ln_probabilities(recipe, &at_x.posterior, field.as_ref(), outputs);
        let candidates = list_compositions(n, x.len());
        Ok(Self {
            joint: logs.into_iter().map(|ln_p| ln_weight + ln_p).collect(),
            distances: candidates.iter().map(|r| field.at(r)).collect(),
        })
    }
}

/// The candidate with the least expected distance given output `o`. If `o` is a candidate itself,
/// `own` is its place.
fn best_candidate(data_sets: &[DataSet], o: usize, own: Option<usize>, negligible: f64) -> usize {
    let highest = data_sets.iter().map(|x| x.joint[o]).fold(f64::NEG_INFINITY, f64::max);
    let mut errors = vec![0.0; data_sets.len()];
    for x in data_sets {
        let weight = exp_accurate(x.joint[o] - highest);
        if weight > negligible {
            count(Operation::Term, errors.len());
            errors.iter_mut().zip(&x.distances).for_each(|(sum, h)| *sum += weight * h);
        }
    }
    let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
    let is_best = |&r: &usize| errors[r] <= least * (1.0 + SAME);
    own.filter(is_best).or_else(|| (0..errors.len()).find(is_best)).unwrap_or(0)
}
