//! How accurate and how private a release will be, and which mechanism is the most accurate: from
//! public values only.

use super::amount::Amount;
use super::aware::Aware;
use super::method::Method;
use crate::analysis::audit::{self, Scope};
use crate::analysis::cost::{self, Work};
use crate::analysis::predictive_error;
use crate::analysis::ranking::Data;
use crate::analysis::tuning::{self, TuningCache};
use crate::mechanism::{Options, Refusal, Variant};
use crate::posterior::metric::Metric;
use crate::posterior::model::{Counts, Posterior};
use crate::posterior::setting::Setting;

/// A mechanism may take so long to be judged (processor seconds, by prediction; whatever the machine,
/// so that the choice is the same on all),
const LONGEST: f64 = 0.5;
/// and all of them together so long.
const LONGEST_CHOICE: f64 = 3.0;
/// So many bytes may be needed for it.
const LARGEST: f64 = 1e9;

/// Why a mechanism was taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// The user named it.
    Named,
    /// Of so many private ones it has the least mean error over all data sets of n records, as
    /// likely as the prior says.
    LeastExpected(usize),
    /// The same, at the data set that the prior expects: over all of them it would take too long.
    LeastAtPrior(usize),
    /// None can be judged in reasonable time, and this one is optimal for two categories.
    Customary,
}

/// Errors are computed for so many categories at most: the laws of more take long even to look over.
const MOST_CATEGORIES: usize = 6;

/// A mechanism is not taken by itself if more than one part in so many of its ε is a price.
const CHEAP: f64 = 1e6;

/// The mechanism that is taken where nothing can be computed.
const CUSTOMARY: &str = "geometric";

/// Differences in error below this do not count: the first of `candidates` is taken.
const SAME: f64 = 1e-9;

/// The most accurate private mechanism among `candidates` (simpler ones first). Everything is decided
/// by prior, ε and the number of records.
pub fn choose(
    candidates: &[Variant],
    template: &Setting,
    epsilon: Amount,
) -> Result<(Method, Reason), Refusal> {
    let tuning = TuningCache::default();
    let customary = candidates.iter().find(|variant| variant.label == CUSTOMARY);
    if let Some(variant) = customary.filter(|_| template.posterior.k() > MOST_CATEGORIES) {
        return Ok((Method::new(variant, template, epsilon, &tuning)?, Reason::Customary));
    }
    // What cannot be read with an eye to the noise is not taken without being asked for.
    let apt = |variant: &&Variant| {
        variant.is_private(template) && Aware::is_foreseeable(variant, template)
    };
    let private: Vec<&Variant> = candidates.iter().filter(apt).collect();
    let expected = Setting { posterior: expected_data(&template.posterior), ..template.clone() };
    for (setting, data, reason) in [
        (template, Data::Predicted, Reason::LeastExpected as fn(usize) -> Reason),
        (&expected, Data::Given, Reason::LeastAtPrior),
    ] {
        let judged = affordable(&private, setting, data);
        let mut ranked: Vec<(f64, &Variant)> = Vec::new();
        for variant in judged {
            let tuned = tuning.tune(variant, setting).ok();
            let error = tuned.and_then(|tuned| mean_error(&tuned.variant, setting, data));
            ranked.extend(error.map(|error| (error, variant)));
        }
        while let Some(best) = least(&ranked) {
            // One that cannot be drawn exactly here leaves the place to the next.
            if let Ok(method) = Method::new(ranked[best].1, template, epsilon, &tuning)
                && method.price().to_f64() * CHEAP <= epsilon.to_f64()
            {
                return Ok((method, reason(ranked.len())));
            }
            ranked.remove(best);
        }
    }
    let customary = customary.or(private.first().copied()).ok_or_else(|| {
        Refusal::new("no mechanism is private in this setting", "use another prior")
    })?;
    Ok((Method::new(customary, template, epsilon, &tuning)?, Reason::Customary))
}

/// The first one whose error is the least.
fn least(ranked: &[(f64, &Variant)]) -> Option<usize> {
    let smallest = ranked.iter().map(|(error, _)| *error).reduce(f64::min)?;
    ranked.iter().position(|(error, _)| *error <= smallest * (1.0 + SAME))
}

/// Those that can be judged in time, the quickest first as long as there is time, in their own order.
fn affordable<'a>(variants: &[&'a Variant], setting: &Setting, data: Data) -> Vec<&'a Variant> {
    let seconds = |variant: &Variant| {
        let work = work(variant, setting, data)?;
        is_affordable(&work).then_some(work.cpu_seconds)
    };
    let mut priced: Vec<(f64, usize)> = (variants.iter().enumerate())
        .filter_map(|(place, variant)| Some((seconds(variant)?, place)))
        .collect();
    priced.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut left = LONGEST_CHOICE;
    priced.retain(|(seconds, _)| {
        left -= seconds;
        left >= 0.0
    });
    let mut places: Vec<usize> = priced.into_iter().map(|(_, place)| place).collect();
    places.sort_unstable();
    places.into_iter().map(|place| variants[place]).collect()
}

fn is_affordable(work: &Work) -> bool {
    work.cpu_seconds <= LONGEST && work.bytes() <= LARGEST
}

/// What the mean error of a mechanism takes; `None` if it cannot be used.
fn work(variant: &Variant, setting: &Setting, data: Data) -> Option<Work> {
    (setting.posterior.k() <= MOST_CATEGORIES).then_some(())?;
    tuning::check(variant, setting).ok()?;
    cost::predict_error(variant, setting, data)
}

/// The mean error of a tuned mechanism.
fn mean_error(variant: &Variant, setting: &Setting, data: Data) -> Option<f64> {
    let metric = Metric::from_distance(setting.distance);
    match data {
        Data::Predicted => {
            predictive_error::over_all_data(variant, setting, metric).ok()??.mean.into()
        }
        Data::Given => predictive_error::mean_at(variant, setting, metric).ok()?,
    }
}

/// The exact mean error of a method over all data sets of n records, as likely as the prior says;
/// `None` if that takes long.
#[must_use]
pub fn expected_error(method: &Method) -> Option<f64> {
    let (variant, template) = (method.variant(), method.template());
    is_affordable(&work(variant, template, Data::Predicted)?).then_some(())?;
    mean_error(variant, template, Data::Predicted)
}

/// The exact mean error of a method at the data set that the prior expects.
#[must_use]
pub fn error_at_prior(method: &Method) -> Option<f64> {
    error_at(method, expected_data(&method.template().posterior))
}

/// The exact mean error of a method if the data were like what was released.
#[must_use]
pub fn error_near(method: &Method, released: &[u64]) -> Option<f64> {
    let shares: Vec<f64> = released.iter().map(|&count| count as f64).collect();
    let posterior = &method.template().posterior;
    let counts = apportion(&shares, posterior.n());
    error_at(method, Posterior::new(posterior.prior().clone(), counts))
}

fn error_at(method: &Method, posterior: Posterior) -> Option<f64> {
    let setting = Setting { posterior, ..method.template().clone() };
    is_affordable(&work(method.variant(), &setting, Data::Given)?).then_some(())?;
    mean_error(method.variant(), &setting, Data::Given)
}

/// What a method really gives away.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// Its exact loss over all data sets of n records.
    Exact(f64),
    /// The exact loss before its outputs are remapped, which gives away no more.
    AtMost(f64),
}

/// What a method really gives away, with its price, and never below the true loss whatever rounding
/// did; `None` if that takes long.
#[must_use]
pub fn loss(method: &Method) -> Option<Loss> {
    let (variant, template) = (method.variant(), method.template());
    (template.posterior.k() <= MOST_CATEGORIES).then_some(())?;
    let recipe = variant.outline(template).ok()?;
    let audited = |variant: &Variant, work: Work| {
        is_affordable(&work).then_some(())?;
        let found = audit::loss(variant, template, &Scope::All).ok()?;
        // Both are upper bounds.
        Some((found.bound + method.price().to_f64()).min(method.spent().to_f64()))
    };
    let plain = || cost::predict_audit(template, &[recipe], true).sum();
    if variant.remap.is_none() {
        return audited(variant, plain()).map(Loss::Exact);
    }
    let options = Options { remap: false, ..variant.options };
    let before = Variant { options, remap: None, ..variant.clone() };
    let exact = audited(variant, cost::predict_remapped_audit(template, recipe));
    exact.map(Loss::Exact).or_else(|| audited(&before, plain()).map(Loss::AtMost))
}

/// The data that the prior expects.
fn expected_data(posterior: &Posterior) -> Posterior {
    let prior = posterior.prior();
    Posterior::new(prior.clone(), apportion(prior.alpha(), posterior.n()))
}

/// n records in these proportions, as nearly as whole numbers can: of what is left over each of the
/// largest remainders gets one. Nothing in particular (all zero) is all alike.
fn apportion(shares: &[f64], n: u64) -> Counts {
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
    // Rounding of very large numbers may have given away too many.
    while counts.iter().sum::<u64>() > n {
        let largest = (0..counts.len()).max_by_key(|&i| counts[i]).unwrap_or(0);
        counts[largest] -= 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanism;
    use crate::posterior::distance::HELLINGER;
    use crate::posterior::model::Prior;
    use crate::posterior::privacy::{Epsilon, Gamma};

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
        mechanism::ALL.into_iter().map(Variant::plain).collect()
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
        assert!(matches!(reason, Reason::LeastExpected(count) if count >= 6), "{reason:?}");
        assert!(
            matches!(label(&[1.0, 1.0], 10_000_000), (id, Reason::LeastAtPrior(_)) if id == "geometric")
        );
        assert_eq!(label(&[1.0; 30], 1_000_000), ("geometric".into(), Reason::Customary));
        // No sensitivity is computed for it: of so many different categories one would take minutes.
        let different: Vec<f64> = (1..=10_000).map(f64::from).collect();
        assert_eq!(label(&different, 20_000), ("geometric".into(), Reason::Customary));
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
