//! The accuracy and the privacy loss of a release, and the choice of the most accurate mechanism. All
//! of this is computed from public values.

use schemars::JsonSchema;
use serde::Serialize;

use super::Amount;
use super::estimate::{Estimated, Trials};
use super::method::Method;
use super::posterior::CountsLaw;
use engine::analysis::audit::{self, Scope};
use engine::analysis::cost::{self, BRIEF, Limits, Work};
use engine::analysis::ranking::{Data, SAME, mean_error};
use engine::analysis::tuning::{self, Tuned, TuningCache, remapping};
use engine::mechanism::law::{Noise, Recipe};
use engine::mechanism::{Options, Variant};
use engine::posterior::model::{Counts, Posterior};
use engine::posterior::setting::Setting;
use engine::refusal::Refusal;

/// To prepare the mechanisms whose errors are estimated.
const PREPARATION: Limits = Limits { seconds: 1.0, ..BRIEF };

/// Why a mechanism was taken.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// The user named it.
    Named,
    /// Of the private mechanisms that were compared it has the least mean error under the prior predictive
    /// distribution.
    Least(Contest),
    /// There are so many categories that no error can be estimated, and the noise of this one is the same
    /// for all of them.
    Customary,
    /// The number of records is private, and this is the noise for that.
    PrivateN,
}

/// The private mechanisms, by what is known of their errors.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Contest {
    /// Those whose exact errors were compared.
    pub exact: Vec<String>,
    /// Those whose errors were estimated from draws.
    pub estimated: Vec<String>,
    /// Those that would take too long.
    pub left_out: Vec<String>,
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Contest { exact, estimated, left_out } = match self {
            Self::Named => return f.write_str("as you named it"),
            Self::Customary => {
                return f
                    .write_str("customary: with so many categories errors take long to compute");
            }
            Self::PrivateN => {
                return f
                    .write_str("noise of rate ε on every count: the number of records is private");
            }
            Self::Least(contest) => contest,
        };
        let many = exact.len() + estimated.len();
        write!(
            f,
            "the least expected error of {many} private mechanisms, for this n, ε and prior"
        )?;
        match (estimated.len(), left_out.len()) {
            (0, 0) => Ok(()),
            (0, left) => write!(f, "; {left} take too long to compare"),
            (drawn, 0) => write!(f, "; {drawn} errors are estimated from draws"),
            (drawn, left) => write!(
                f,
                "; {drawn} errors are estimated from draws, and {left} take too long to compare"
            ),
        }
    }
}

/// The most categories for which exact errors and losses are computed: with more, even predicting the
/// time takes long.
pub(super) const MOST_CATEGORIES: usize = 6;

/// The most categories for which errors are estimated.
const MOST_ESTIMATED: usize = 64;

/// The mechanism that is chosen if there are more.
const CUSTOMARY: &str = "lattice";

/// A mechanism is chosen only if its ε is at least this many times its price.
const CHEAP: f64 = 1e6;

/// Differences in estimated errors below this many of their standard errors do not count.
const SAME_ESTIMATE: f64 = 2.0;

/// The error of a mechanism, if it can be found in time.
#[derive(Clone, Copy)]
enum Found {
    Exact(f64),
    Estimated(Estimated),
}

impl Found {
    fn mean(self) -> f64 {
        match self {
            Self::Exact(mean) | Self::Estimated(Estimated { mean, .. }) => mean,
        }
    }

    /// Whether this error may be as small as the least one. The estimates share their data sets, so that
    /// their difference has a smaller standard error than is assumed here.
    fn may_be(self, least: Self) -> bool {
        let square = |found: Self| match found {
            Self::Exact(_) => 0.0,
            Self::Estimated(Estimated { standard_error, .. }) => standard_error * standard_error,
        };
        let same = SAME_ESTIMATE * (square(self) + square(least)).sqrt();
        self.mean() - least.mean() <= same.max(SAME * least.mean())
    }
}

/// The most accurate private mechanism among `candidates` (simpler ones first). The choice depends on
/// prior, ε and the number of records only.
pub fn choose(
    candidates: &[Variant],
    template: &Setting,
    epsilon: Amount,
) -> Result<(Method, Reason), Refusal> {
    let tuning = TuningCache::default();
    let customary = candidates.iter().find(|variant| variant.label == CUSTOMARY);
    if let Some(variant) = customary.filter(|_| template.posterior.k() > MOST_ESTIMATED) {
        return Ok((Method::new(variant, template, epsilon, &tuning)?, Reason::Customary));
    }
    let is_private = |variant: &&Variant| {
        variant.is_purely_private(template) && Method::check(variant, template, epsilon).is_ok()
    };
    let private: Vec<&Variant> = candidates.iter().filter(is_private).collect();
    // Rounded noise comes last.
    let quickest = |limits: &Limits, work: &dyn Fn(&Variant) -> Option<Work>| {
        let works = private.iter().map(|one| (is_rounded(one, template), work(one)));
        limits.quickest(works, |work| work.cpu_seconds)
    };
    let exact = quickest(&BRIEF, &|variant| work(variant, template, Data::PriorPredictive));
    let drawn = quickest(&PREPARATION, &|variant| preparation(variant, template));
    let trials = exact.contains(&false).then(|| Trials::new(template));
    let mut contest = Contest::default();
    let mut ranked: Vec<(Found, &Variant)> = Vec::new();
    for (place, &variant) in private.iter().enumerate() {
        let label = variant.label.clone();
        let is_quick = exact[place] || drawn[place];
        // Without a noise-aware posterior, a mechanism is used only if the user names it.
        if is_quick && !CountsLaw::is_foreseeable(variant, template) {
            continue;
        }
        let tuned = || tuning.tune(variant, template).ok();
        let mean = |tuned: Tuned| {
            mean_error(&tuned.variant, template, Data::PriorPredictive).ok().flatten()
        };
        let found = match exact[place] {
            true => tuned().and_then(mean).map(Found::Exact),
            false => None,
        };
        let estimate = || -> Option<Found> {
            let trials = trials.as_ref().filter(|_| drawn[place])?;
            let method = Method::new(variant, template, epsilon, &tuning).ok()?;
            Some(Found::Estimated(trials.mean_error(&method)))
        };
        let found = found.or_else(estimate);
        match found {
            Some(Found::Exact(_)) => contest.exact.push(label),
            Some(Found::Estimated(_)) => contest.estimated.push(label),
            None => contest.left_out.push(label),
        }
        ranked.extend(found.map(|found| (found, variant)));
    }
    while let Some(best) = least(&ranked, template) {
        // If this one cannot be drawn exactly, the next best is tried.
        if let Ok(method) = Method::new(ranked[best].1, template, epsilon, &tuning)
            && method.price().to_f64() * CHEAP <= epsilon.to_f64()
        {
            return Ok((method, Reason::Least(contest)));
        }
        ranked.remove(best);
    }
    Err(Refusal::new("no mechanism is private in this setting", "use another prior"))
}

/// The first one whose error may be the least. Rounded Laplace noise is never better than geometric noise,
/// so that it comes last; before it come counts whose sum is not the number of records.
fn least(ranked: &[(Found, &Variant)], template: &Setting) -> Option<usize> {
    let smallest = ranked.iter().map(|one| one.0).min_by(|a, b| a.mean().total_cmp(&b.mean()))?;
    let equal = (0..ranked.len()).filter(|&i| ranked[i].0.may_be(smallest));
    let is_odd = |variant: &Variant| {
        matches!(variant.outline(template), Ok(Recipe::Noise { restored: false, .. }))
    };
    equal.min_by_key(|&i| (is_rounded(ranked[i].1, template), is_odd(ranked[i].1), i))
}

/// Whether a mechanism adds Laplace noise, which is rounded.
fn is_rounded(variant: &Variant, template: &Setting) -> bool {
    matches!(variant.outline(template), Ok(Recipe::Noise { noise: Noise::Laplace, .. }))
}

/// The work until a mechanism can release any data, if a draw is quick then.
fn preparation(variant: &Variant, template: &Setting) -> Option<Work> {
    let recipe = variant.outline(template).ok()?;
    let searches = variant.options.remap && !remapping::is_listed(recipe, template);
    (is_drawn_quickly(recipe) && !searches).then(|| cost::predict_release(variant, template).sum())
}

/// Whether thousands of draws take little time. Candidates are drawn by rejection, or weighed one by one.
fn is_drawn_quickly(recipe: Recipe) -> bool {
    match recipe {
        Recipe::Noise { .. } | Recipe::Lattice { .. } => true,
        Recipe::Exponential { .. }
        | Recipe::Weighed { .. }
        | Recipe::OwnNoise { .. }
        | Recipe::Hamming { .. }
        | Recipe::Historical { .. }
        | Recipe::Table { .. } => false,
    }
}

/// The work of a mechanism's mean error; `None` if it cannot be used.
fn work(variant: &Variant, setting: &Setting, data: Data) -> Option<Work> {
    (setting.posterior.k() <= MOST_CATEGORIES).then_some(())?;
    tuning::check(variant, setting).ok()?;
    cost::predict_error(variant, setting, data)
}

/// The mean error of a tuned mechanism; `None` if that takes long.
fn quick_error(variant: &Variant, setting: &Setting, data: Data) -> Option<f64> {
    BRIEF.admit(&work(variant, setting, data)?).then_some(())?;
    mean_error(variant, setting, data).ok()?
}

/// The exact mean error of a method under the prior predictive distribution; `None` if that takes long.
pub fn expected_error(method: &Method) -> Option<f64> {
    quick_error(method.variant(), method.template(), Data::PriorPredictive)
}

/// The mean error of a method under the prior predictive distribution, estimated from draws; `None` if a
/// draw takes long.
pub fn estimated_error(method: &Method) -> Option<Estimated> {
    let (variant, template) = (method.variant(), method.template());
    let quick = is_drawn_quickly(variant.outline(template).ok()?);
    let searches = variant.remap.as_ref().is_some_and(|remap| !remap.is_listed());
    let few = template.posterior.k() <= MOST_ESTIMATED;
    (few && quick && !searches).then(|| Trials::new(template).mean_error(method))
}

/// The exact mean error of a method at data with the proportions of `released`.
pub fn error_near(method: &Method, released: &[u64]) -> Option<f64> {
    let shares: Vec<f64> = released.iter().map(|&count| count as f64).collect();
    let posterior = &method.template().posterior;
    let counts = apportion(&shares, posterior.n());
    let posterior = Posterior::new(posterior.prior().clone(), counts);
    let setting = Setting { posterior, ..method.template().clone() };
    quick_error(method.variant(), &setting, Data::Given)
}

/// The privacy loss of a method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// Its exact loss over all data sets of n records.
    Exact(f64),
    /// The exact loss before its outputs are remapped; remapping does not increase it.
    AtMost(f64),
}

/// The privacy loss of a method, with its price. Rounding errors are allowed for, so that it is never
/// below the true loss. `None` if that takes long.
pub fn loss(method: &Method) -> Option<Loss> {
    let (variant, template) = (method.variant(), method.template());
    (template.posterior.k() <= MOST_CATEGORIES).then_some(())?;
    let recipe = variant.outline(template).ok()?;
    let audited = |variant: &Variant, work: Work| {
        BRIEF.admit(&work).then_some(())?;
        let found = audit::loss(variant, template, &Scope::All).ok()?;
        // Both are upper bounds.
        Some((found.bound + method.price().to_f64()).min(method.epsilon().to_f64()))
    };
    let plain = || cost::predict_audit(template, &[recipe], true).sum();
    if variant.remap.is_none() {
        return audited(variant, plain()).map(Loss::Exact);
    }
    let before = before_remapping(variant);
    let exact = audited(variant, cost::predict_remapped_audit(template, recipe));
    exact.map(Loss::Exact).or_else(|| audited(&before, plain()).map(Loss::AtMost))
}

/// A mechanism whose outputs are not remapped.
pub(super) fn before_remapping(variant: &Variant) -> Variant {
    let options = Options { remap: false, ..variant.options };
    Variant { options, remap: None, ..variant.clone() }
}

/// n records in these proportions, rounded down; the categories with the largest remainders get one
/// more, until there are n. If all shares are zero, all are equal.
pub(super) fn apportion(shares: &[f64], n: u64) -> Counts {
    let total: f64 = shares.iter().sum();
    let exact = |share: f64| match total > 0.0 {
        true => share / total * n as f64,
        false => n as f64 / shares.len() as f64,
    };
    let quotas: Vec<f64> = shares.iter().map(|&share| exact(share)).collect();
    let mut counts: Counts = quotas.iter().map(|quota| quota.floor() as u64).collect();
    let mut order: Vec<usize> = (0..quotas.len()).collect();
    order.sort_by(|&a, &b| quotas[b].fract().total_cmp(&quotas[a].fract()));
    let mut left = n.saturating_sub(counts.iter().sum());
    while left > 0 {
        for &i in order.iter().take(left as usize) {
            counts[i] += 1;
            left -= 1;
        }
    }
    // With very large numbers, rounding may make the sum too large.
    while counts.iter().sum::<u64>() > n {
        let largest = (0..counts.len()).max_by_key(|&i| counts[i]).unwrap_or(0);
        counts[largest] -= 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::mechanism;
    use engine::posterior::distance::HELLINGER;
    use engine::posterior::model::Prior;
    use engine::posterior::privacy::{Epsilon, Gamma};

    fn template(alpha: &[f64], n: u64) -> Setting {
        let mut counts = vec![0; alpha.len()];
        counts[0] = n;
        Setting {
            posterior: Posterior::new(Prior::new(alpha.to_vec()).unwrap(), counts),
            epsilon: Epsilon::new(1.0).unwrap(),
            delta: None,
            gamma: Gamma::new(1.0).unwrap(),
            distance: HELLINGER,
        }
    }

    fn plain() -> Vec<Variant> {
        mechanism::ALL.iter().copied().map(Variant::plain).collect()
    }

    #[test]
    fn the_choice_is_the_least_error_and_falls_back() {
        let one: Amount = "1".parse().unwrap();
        let label = |alpha: &[f64], n: u64| {
            let (method, reason) = choose(&plain(), &template(alpha, n), one).unwrap();
            (method.variant().label.clone(), reason)
        };
        let (few, reason) = label(&[1.0, 1.0], 50);
        assert_eq!(few, "geometric");
        assert!(matches!(reason, Reason::Least(contest) if contest.exact.len() >= 6));
        let (many, reason) = label(&[1.0, 1.0], 10_000_000);
        assert_eq!(many, "geometric");
        assert!(matches!(reason, Reason::Least(contest) if contest.estimated.len() >= 4));
        let (categories, reason) = label(&[1.0; 30], 1_000_000);
        assert_eq!(categories, "lattice");
        assert!(matches!(reason, Reason::Least(contest) if contest.estimated.len() >= 4));
        // No sensitivity is computed: with 10,000 different categories it would take minutes.
        let different: Vec<f64> = (1..=10_000).map(f64::from).collect();
        assert_eq!(label(&different, 20_000), ("lattice".into(), Reason::Customary));
    }

    #[test]
    fn records_are_apportioned() {
        assert_eq!(apportion(&[1.0, 1.0, 1.0], 10), [4, 3, 3]);
        assert_eq!(apportion(&[0.0, 0.0], 5), [3, 2]);
        assert_eq!(apportion(&[5.0, 3.0], 4), [3, 1]);
        for n in [0, 1, 1 << 53] {
            assert_eq!(apportion(&[0.1, 0.7, 1e9], n).iter().sum::<u64>(), n);
        }
    }
}
