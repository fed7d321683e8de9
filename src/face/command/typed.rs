//! Settings and mechanisms typed by hand.

use crate::analysis::tuning::check;
use crate::base::diagnostic::Diagnostic;
use crate::face::cli::{Data, Model};
use crate::mechanism::{self, Choice, Mechanism, Variant};
use crate::posterior::distance;
use crate::posterior::model::{Counts, MOST_RECORDS, Posterior, Prior, is_countable};
use crate::posterior::privacy::{Delta, Epsilon, Gamma};
use crate::posterior::setting::Setting;

/// The setting of these counts.
pub fn setting(model: &Model, counts: Counts, epsilon: f64) -> Result<Setting, Diagnostic> {
    let prior = Prior::new(model.prior.clone())
        .map_err(|error| wrong("prior", &error).help("use for example --prior 1,1"))?;
    same_length("--counts", counts.len(), prior.k())?;
    if !is_countable(&counts) {
        return Err(wrong("counts", &"these are more records than dpbi can count")
            .help(format!("use at most {MOST_RECORDS}")));
    }
    let distance = distance::named(&model.distance)
        .map_err(|refusal| wrong("distance", &refusal.cause).help(refusal.remedy))?;
    Ok(Setting {
        posterior: Posterior::new(prior, counts),
        epsilon: Epsilon::new(epsilon)?,
        delta: model.delta.map(Delta::new).transpose()?,
        gamma: Gamma::new(model.gamma)?,
        distance,
    })
}

/// The counts that were given; or, for what depends on the number of records only, all records in
/// the first category.
pub fn counts(model: &Model, data: &Data) -> Counts {
    match (&data.counts, data.n) {
        (Some(counts), _) => counts.clone(),
        (None, n) => {
            let mut counts = vec![0; model.prior.len()];
            if let Some(first) = counts.first_mut() {
                *first = n.unwrap_or(0);
            }
            counts
        }
    }
}

/// A message about a flag.
pub fn wrong(flag: &str, error: &dyn std::fmt::Display) -> Diagnostic {
    Diagnostic::new(format!("--{flag}: {error}"))
}

/// The same, of a cause that is a text.
pub fn flag(flag: &str, cause: &str) -> Diagnostic {
    wrong(flag, &cause)
}

/// Refuses a list that has not one number for every category.
pub fn same_length(flag: &str, length: usize, k: usize) -> Result<(), Diagnostic> {
    if length == k {
        return Ok(());
    }
    Err(Diagnostic::new(format!("{flag} has {length} numbers, but the prior has {k} categories"))
        .help(format!("give {k} numbers separated by commas")))
}

/// A mechanism by its id, with `+calibrated` and `+remap` after it where they are wanted.
pub fn variant(text: &str) -> Result<Variant, Diagnostic> {
    Variant::parse(text).map_err(|refusal| wrong("mechanism", &refusal.cause).help(refusal.remedy))
}

/// The mechanisms that were named, checked; or, if none was, those of `default` that can be used.
pub fn variants(
    named: &[String],
    setting: &Setting,
    default: impl IntoIterator<Item = Variant>,
) -> Result<Vec<Variant>, Diagnostic> {
    if named.is_empty() {
        return Ok(default.into_iter().filter(|variant| check(variant, setting).is_ok()).collect());
    }
    let mut variants: Vec<Variant> = Vec::new();
    for text in named {
        let variant = variant(text)?;
        if !variants.iter().any(|known| known.label == variant.label) {
            check(&variant, setting).map_err(Diagnostic::from)?;
            variants.push(variant);
        }
    }
    Ok(variants)
}

/// Every mechanism as it is, and where `tuned` also calibrated, remapped, and both.
pub fn every_variant(tuned: bool) -> Vec<Variant> {
    let variants = |mechanism: &'static dyn Mechanism| {
        let calibrates = mechanism.choices().contains(&Choice::Calibrated);
        let ways = [(false, false), (true, false), (false, true), (true, true)];
        let ways = ways.into_iter().filter(move |&(calibrated, remap)| {
            (tuned || !(calibrated || remap)) && (calibrates || !calibrated)
        });
        ways.map(move |(calibrated, remap)| Variant::tuned(mechanism, calibrated, remap))
    };
    mechanism::ALL.iter().copied().flat_map(variants).collect()
}
