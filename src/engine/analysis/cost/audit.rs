//! The cost of exact privacy losses, and of the mechanisms that are tuned by them.

use super::{
    Extent, SettingWork, Work, extent, predict_laws, predict_means, rates, rearrangements, repeated,
};
use crate::analysis::audit::is_symmetric;
use crate::analysis::ranking::Data;
use crate::analysis::tuning::remapping::{self, Effort};
use crate::mechanism::Variant;
use crate::mechanism::law::{CandidateWeights, LatticeNoise, Outputs, Recipe, tight};
use crate::posterior::model::{Posterior, approximate_compositions};
use crate::posterior::setting::Setting;

/// Predicts the exact privacy loss of every recipe: over all data sets of the setting's size, or
/// over a few of them.
pub fn predict_audit(setting: &Setting, recipes: &[Recipe], everything: bool) -> SettingWork {
    predict_passes(setting, recipes, everything, 1.0)
}

/// Predicts the same, with `passes` passes over the outputs of exponential mechanisms.
pub fn predict_passes(
    setting: &Setting,
    recipes: &[Recipe],
    everything: bool,
    passes: f64,
) -> SettingWork {
    let posterior = &setting.posterior;
    let mut work = SettingWork::new(setting);
    let weighs = recipes.iter().any(Recipe::needs_ball);
    let compared = match everything {
        _ if !weighs => None,
        true => Some(Extent::new(&balanced(setting), &[])),
        false => Some(Extent::new(setting, &[])),
    };
    // Their number, and that of their rows.
    let (compared, rows) = compared.map_or((0.0, 0.0), |Extent { near, walked, .. }| {
        (near, near / walked.outputs.max(1.0) * walked.rows)
    });
    let k = posterior.k() as f64;
    let data_sets = if everything { work.candidates } else { 8.0 * k };
    let (first, pair) = match posterior.k() {
        2 => (rates::NS_PER_LINE_COMPARISON, rates::NS_PER_LINE_PAIR),
        _ => (rates::NS_PER_COMPARISON, rates::NS_PER_WEIGHED_PAIR),
    };
    // All data sets are gone through once more for a profile.
    let examinations = if passes > rates::PASSES_PER_PROFILE { 2.0 } else { 1.0 };
    let cell = |recipe: &Recipe| {
        // Of few records in many categories there are fewer data sets than permutations.
        let different = (data_sets / symmetries(posterior, *recipe)).max(1.0);
        let values = posterior.n() as f64 + 1.0;
        let pairs = different * 0.5 * k * (k - 1.0);
        // Of pairs where the same two counts change, one; and only these are listed.
        let (pairs, listed_data) = match recipe.noisy_counts(posterior.k()) {
            Some(_) => (pairs.min(0.5 * values * values), 0.0),
            None => (pairs, data_sets),
        };
        let outputs = match recipe.needs_ball() {
            true => 2.0 * pairs * compared,
            false => pairs,
        };
        // The mean over pairs: a count that restores the total has no noise of its own.
        let one = if recipe.restores_total() { 2.0 / k } else { 0.0 };
        let combinations = values * (one + (1.0 - one) * values);
        let tabled = Outputs::of(*recipe, posterior.n(), posterior.k()).approximate_len();
        // Neighbours are not listed in order.
        let laws = data_sets.min(pairs + different);
        let ns = match recipe {
            Recipe::Exponential { .. } => {
                let again = rates::NS_PER_COMPARISON * (passes - 1.0);
                let walked = match posterior.k() {
                    2 => 0.0,
                    _ => rates::ns_per_walked_row(posterior.k()) * 2.0 * pairs * rows,
                };
                outputs * (first * setting.distance.effort() + again) + pairs * pair + walked
            }
            Recipe::Noise { .. } | Recipe::Historical { .. } => {
                pairs * (rates::NS_PER_NOISY_PAIR + rates::NS_PER_NOISY_DELTA * (passes - 1.0))
            }
            Recipe::Lattice { noise: LatticeNoise::Geometric { .. } } => {
                pairs * (rates::NS_PER_PAIR + rates::NS_PER_LATTICE_DELTA * (passes - 1.0))
            }
            // The four tails, and for δ all outputs on the line.
            Recipe::Lattice { noise } if posterior.k() == 2 && noise.is_approximate() => {
                let reached = values.min(2.0 * noise.reach(2).0 as f64 + 1.0);
                let classes = if passes > 1.0 { examinations * reached } else { 0.0 };
                let tails = 4.0 * examinations * noise.tail_terms();
                let ns = rates::NS_PER_LINE_CLASS * classes + rates::NS_PER_LOG_TERM * tails;
                pairs * (rates::NS_PER_PAIR + ns)
            }
            // Value by value of the counts that change; for δ all combinations of the two.
            Recipe::OwnNoise { noise, .. } => {
                let listed = 2.0 * (values + noise.reach() as f64);
                let combined = if passes > 1.0 { combinations } else { 0.0 };
                rates::NS_PER_OWN * listed
                    + pairs * (rates::NS_PER_TABLED * 4.0 * values + rates::NS_PER_CLASS * combined)
            }
            // Output by output.
            Recipe::Lattice { .. } => {
                examinations
                    * (logarithms(*recipe, posterior) * laws
                        + rates::NS_PER_COMPARISON * pairs * tabled)
            }
            Recipe::Weighed { .. } | Recipe::Table { .. } => {
                rates::NS_PER_OWN * laws * tabled + rates::NS_PER_COMPARISON * pairs * tabled
            }
            Recipe::Hamming { weights: CandidateWeights::Tight, .. } => {
                let outputs = extent::likely_outputs(*recipe, posterior, Data::Given);
                pairs * (rates::NS_PER_RESTORED * outputs * (passes - 1.0) + rates::NS_PER_PAIR)
            }
            Recipe::Hamming { .. } => {
                // Two categories need no convolution. Convolutions grow with every category.
                let effort = recipe.effort(posterior).filter(|_| posterior.k() > 2);
                let convolved = effort.map_or(0.0, |effort| effort.convolved) * 0.5 * (k + 1.0);
                // The two normalisers, which neighbours share; for δ two parts of them.
                let normalisers = if passes > 1.0 { 2.0 } else { 1.0 };
                pairs * (rates::NS_PER_CONVOLVED * normalisers * convolved + rates::NS_PER_PAIR)
            }
        };
        // The list of data sets and of pairs of them; the tables of the data sets that are compared
        // at one time.
        let (listed, paired) = (24.0 + 8.0 * k + 16.0, 2.0 * (24.0 + 8.0 * k + 16.0) + 16.0);
        let tables = match recipe {
            Recipe::OwnNoise { .. } if passes > 1.0 => rates::BYTES_PER_CLASS * combinations,
            _ if recipe.needs_ball() => rates::BYTES_PER_COMPARISON * compared,
            _ => 0.0,
        };
        Work {
            outputs,
            kept: rates::BYTES_PER_CELL,
            passing: listed_data * listed + pairs * paired + tables,
            cpu_seconds: 1e-9 * (ns + rates::NS_PER_CELL),
            ..Work::default()
        }
    };
    work.cells = recipes.iter().map(cell).collect();
    work.sampled_only = vec![false; recipes.len()];
    work
}

/// As many records in equal parts. Most data sets resemble these rather than a corner, which has few
/// candidates near it.
fn balanced(setting: &Setting) -> Setting {
    let (n, k) = (setting.posterior.n(), setting.posterior.k() as u64);
    setting.at((0..k).map(|i| n / k + u64::from(i < n % k)).collect())
}

/// The setting at whose data the work is predicted: its own, or data like most others.
fn usual(setting: &Setting, data: Data, recipe: Recipe) -> Setting {
    match recipe {
        _ if data == Data::Given => setting.clone(),
        // Its law takes as long at symmetric data, or nearly so.
        Recipe::OwnNoise { .. } => uneven(setting),
        Recipe::Exponential { .. }
        | Recipe::Weighed { .. }
        | Recipe::Noise { .. }
        | Recipe::Hamming { .. }
        | Recipe::Lattice { .. }
        | Recipe::Historical { .. }
        | Recipe::Table { .. } => balanced(setting),
    }
}

/// Nearly equal parts, of which no two are equal if there are enough records.
fn uneven(setting: &Setting) -> Setting {
    let (n, k) = (setting.posterior.n(), setting.posterior.k() as u64);
    let offsets = k * (k - 1) / 2;
    let Some(shared) = n.checked_sub(offsets) else { return balanced(setting) };
    let more = |i: u64| if i + 1 == k { shared % k } else { 0 };
    setting.at((0..k).map(|i| shared / k + i + more(i)).collect())
}

/// Predicts the exact privacy loss of a remapped mechanism over all data sets: every candidate of
/// every pair is compared.
pub fn predict_remapped_audit(setting: &Setting, recipe: Recipe) -> Work {
    let (n, k) = (setting.posterior.n(), setting.posterior.k());
    let candidates = approximate_compositions(n, k);
    let pairs = candidates * 0.5 * (k * (k - 1)) as f64;
    let tabled = candidates * Outputs::of(recipe, n, k).approximate_len();
    let replaced = match remapping::is_listed(recipe, setting) {
        true => 0.0,
        false => rates::NS_PER_REPLACED_OUTPUT,
    };
    Work {
        outputs: pairs * candidates,
        passing: 8.0 * tabled,
        cpu_seconds: 1e-9
            * (logarithms(recipe, &setting.posterior) * candidates
                + replaced * tabled
                + rates::NS_PER_COMPARISON * pairs * candidates),
        ..Work::default()
    }
}

/// Nanoseconds of the logarithms of all probabilities at one data set.
fn logarithms(recipe: Recipe, posterior: &Posterior) -> f64 {
    let outputs = Outputs::of(recipe, posterior.n(), posterior.k());
    rates::NS_PER_TABLED * outputs.approximate_len()
        + rates::NS_PER_LOG_TERM * log_terms(recipe, posterior)
}

/// The terms of the sums behind these logarithms.
fn log_terms(recipe: Recipe, posterior: &Posterior) -> f64 {
    match recipe {
        Recipe::Lattice { noise } => noise.log_terms(posterior.k(), posterior.n()),
        Recipe::Exponential { .. }
        | Recipe::Weighed { .. }
        | Recipe::Noise { .. }
        | Recipe::OwnNoise { .. }
        | Recipe::Hamming { .. }
        | Recipe::Historical { .. }
        | Recipe::Table { .. } => 0.0,
    }
}

/// The number of data sets, or pairs of them, of which one is computed because the others differ only by
/// a permutation of the categories.
pub(super) fn symmetries(posterior: &Posterior, recipe: Recipe) -> f64 {
    match is_symmetric(posterior.prior(), recipe) {
        true => (1..=posterior.k()).map(|i| i as f64).product(),
        false => 1.0,
    }
}

/// Predicts the tuning of one mechanism: its calibration, and the remapping of the outputs that matter at
/// the setting's own data, or at all data sets.
pub fn predict_tuning(variant: &Variant, setting: &Setting, data: Data) -> Work {
    tuning(variant, setting, |recipe| extent::likely_outputs(recipe, &setting.posterior, data))
}

/// The same, if a remapping is searched for at so many outputs.
fn tuning(variant: &Variant, setting: &Setting, searched: impl Fn(Recipe) -> f64) -> Work {
    let mut work = Work::default();
    let Ok(recipe) = variant.outline(setting) else { return work };
    if variant.options.calibrated {
        let audit = predict_audit(setting, &[recipe], true);
        work.add(repeated(audit, rates::AUDITS_PER_CALIBRATION).sum());
    }
    work.add(weights(recipe, setting));
    if variant.options.remap {
        let posterior = &setting.posterior;
        let data_sets = approximate_compositions(posterior.n(), posterior.k());
        work.add(match remapping::effort(recipe, setting) {
            Effort::Listed { kept, added } => Work {
                outputs: added,
                passing: 8.0 * kept,
                cpu_seconds: 1e-9
                    * (rates::NS_PER_TERM * added
                        + rates::NS_PER_TABLED_OUTPUT * kept
                        + rates::NS_PER_LOG_TERM * log_terms(recipe, posterior) * data_sets),
                ..Work::default()
            },
            Effort::Searched { listed, added } => {
                let outputs = searched(recipe);
                Work {
                    outputs,
                    passing: rates::BYTES_PER_SEARCHED_OUTPUT * outputs + 8.0 * listed,
                    cpu_seconds: 1e-9 * rates::NS_PER_SEARCHED_TERM * added * outputs,
                    ..Work::default()
                }
            }
        });
    }
    work
}

/// The tight weights of candidates, which are found before a law is made.
fn weights(recipe: Recipe, setting: &Setting) -> Work {
    let (k, n) = (setting.posterior.k(), setting.posterior.n());
    let rate = match recipe {
        Recipe::Hamming { rate, weights: CandidateWeights::Tight } => rate,
        Recipe::Hamming { weights: CandidateWeights::Flat, .. }
        | Recipe::Exponential { .. }
        | Recipe::Weighed { .. }
        | Recipe::Noise { .. }
        | Recipe::OwnNoise { .. }
        | Recipe::Lattice { .. }
        | Recipe::Historical { .. }
        | Recipe::Table { .. } => return Work::default(),
    };
    let effort = tight::Effort::new(k, n, rate);
    Work {
        kept: 8.0 * effort.kept,
        passing: rates::BYTES_PER_TIGHT_WEIGHT * effort.kept,
        cpu_seconds: 1e-9
            * rates::ns_per_tight_row(k)
            * effort.rows
            * effort.factor
            * effort.solutions,
        ..Work::default()
    }
}

/// Predicts a release by one mechanism: its weights.
pub fn predict_release(variant: &Variant, setting: &Setting) -> SettingWork {
    let mut work = SettingWork::new(setting);
    work.cells.push(tuning(variant, setting, |_| 1.0));
    work.sampled_only.push(false);
    work
}

/// Predicts the mean error of one mechanism and its tuning: at the setting's own data, or under the prior
/// predictive distribution. `None` if it cannot be used, or its law is too large.
pub fn predict_error(variant: &Variant, setting: &Setting, data: Data) -> Option<Work> {
    let recipe = variant.outline(setting).ok()?;
    let setting = &usual(setting, data, recipe);
    let means = predict_means(setting, &[recipe]);
    (!means.sampled_only[0]).then(|| everywhere(variant, recipe, means.sum(), setting, data))
}

/// Predicts the distribution of the error of one mechanism and its tuning, in the same way.
pub fn predict_distribution(variant: &Variant, setting: &Setting, data: Data) -> Option<Work> {
    let recipe = variant.outline(setting).ok()?;
    let setting = &usual(setting, data, recipe);
    let here = predict_laws(setting, &[recipe], f64::INFINITY).sum();
    let mut work = everywhere(variant, recipe, here, setting, data);
    if data == Data::PriorPredictive {
        // All distributions are in memory until they are mixed.
        let data_sets = representatives(variant, recipe, setting);
        work.passing += data_sets * rates::BYTES_PER_MIXED_LEVEL * here.outputs.max(1.0);
    }
    Some(work)
}

/// Work at one data set, done at all that matter, and the tuning before it.
fn everywhere(
    variant: &Variant,
    recipe: Recipe,
    mut work: Work,
    setting: &Setting,
    data: Data,
) -> Work {
    let (n, k) = (setting.posterior.n(), setting.posterior.k());
    if variant.options.remap {
        work.cpu_seconds += 1e-9 * replacement(recipe, setting);
    }
    if data == Data::PriorPredictive {
        let data_sets = approximate_compositions(n, k);
        let seconds = match variant.options.remap {
            true => work.cpu_seconds,
            // These data may be symmetric, and few others are.
            false => work.cpu_seconds * rearrangements(&setting.posterior),
        };
        work.cpu_seconds = seconds * representatives(variant, recipe, setting)
            + 1e-9 * rates::NS_PER_DATA_SET * data_sets;
        // The data sets are listed, with the sizes of their orbits.
        work.kept += data_sets * (64.0 + 16.0 * k as f64);
    }
    work.add(predict_tuning(variant, setting, data));
    work
}

/// Nanoseconds of the law of a remapped mechanism, besides that of its outputs.
fn replacement(recipe: Recipe, setting: &Setting) -> f64 {
    let posterior = &setting.posterior;
    match remapping::is_listed(recipe, setting) {
        true => {
            let outputs = Outputs::of(recipe, posterior.n(), posterior.k());
            rates::NS_PER_TABLED_OUTPUT * outputs.approximate_len()
                + rates::NS_PER_LOG_TERM * log_terms(recipe, posterior)
        }
        false => {
            let outputs = extent::likely_outputs(recipe, posterior, Data::Given);
            rates::NS_PER_REPLACED_OUTPUT * outputs
        }
    }
}

/// The number of data sets of which one is computed for each orbit under permutations of the categories:
/// see [`crate::analysis::predictive_error`].
fn representatives(variant: &Variant, recipe: Recipe, setting: &Setting) -> f64 {
    let (n, k) = (setting.posterior.n(), setting.posterior.k());
    let data_sets = approximate_compositions(n, k);
    if variant.options.remap || !variant.mechanism.is_symmetric() {
        return data_sets;
    }
    let fixed = recipe.restores_total().then_some(k - 1);
    let groups = setting.posterior.prior().exchangeable();
    let arrangements = groups.iter().map(|group| {
        let free = group.iter().filter(|&&i| Some(i) != fixed).count();
        (1..=free).map(|i| i as f64).product::<f64>()
    });
    (data_sets / arrangements.product::<f64>()).max(1.0)
}
