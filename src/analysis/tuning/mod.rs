//! Mechanisms made ready for data sets of one size: the inner ε found by calibration, the remapping
//! of the outputs.
//!
//! Both depend on public values only (prior, n, ε, δ, γ, distance), never on the data. They cost as
//! much as an audit of all data sets, and are asked for at every data set of a size; so what was
//! found once is remembered.

pub mod calibration;
pub mod remapping;

pub use calibration::{Certificate, calibrate};

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use crate::base::diagnostic::Refusal;
use crate::mechanism::{Options, Variant};
use crate::posterior::model::{Posterior, vector};
use crate::posterior::setting::Setting;

/// A mechanism that is ready, and what was found on the way.
#[derive(Clone)]
pub struct Tuned {
    /// The mechanism, with inner ε and remapping.
    pub variant: Variant,
    /// What makes it private, if it was calibrated.
    pub certificate: Option<Certificate>,
}

/// Makes `variant` ready for data sets of as many records as `setting` has. One that is neither
/// calibrated nor remapped is ready as it is.
pub fn tune(variant: &Variant, setting: &Setting) -> Result<Tuned, Refusal> {
    if !needs_tuning(variant) {
        return Ok(Tuned { variant: variant.clone(), certificate: None });
    }
    static KNOWN: Mutex<BTreeMap<String, Tuned>> = Mutex::new(BTreeMap::new());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let key = key(variant, setting);
    if let Some(found) = known().get(&key) {
        // The same mechanism may have another label here.
        let mut found = found.clone();
        found.variant.label.clone_from(&variant.label);
        return Ok(found);
    }
    // Not under the lock: a thread that waits for it might be needed for the work.
    let tuned = tune_anew(variant, setting)?;
    known().insert(key, tuned.clone());
    Ok(tuned)
}

/// Makes every one of these mechanisms ready, each once, several at a time, until `stop`; what is
/// found is remembered for [`tune`].
pub fn tune_all<'a>(
    needed: impl IntoIterator<Item = (&'a Variant, &'a Setting)>,
    stop: impl Fn() -> bool + Sync,
) -> Result<(), Refusal> {
    let needed = needed.into_iter().filter(|(variant, _)| needs_tuning(variant));
    let distinct: BTreeMap<String, _> = needed.map(|pair| (key(pair.0, pair.1), pair)).collect();
    let (large, small): (Vec<_>, Vec<_>) =
        distinct.into_values().partition(|(variant, _)| variant.options.remap);
    let one = |(variant, setting): &(&Variant, &Setting)| match stop() {
        true => Ok(()),
        false => tune(variant, setting).map(drop),
    };
    small.par_iter().try_for_each(one)?;
    // A remapping fills memory, and is parallel in itself.
    large.iter().try_for_each(one)
}

/// Asks a mechanism whether it can be used, as it is and made ready.
pub fn check(variant: &Variant, setting: &Setting) -> Result<(), Refusal> {
    variant.outline(setting)?;
    refusal(variant, setting).map_or(Ok(()), Err)
}

/// Why a mechanism cannot be made ready, as far as that is known beforehand.
fn refusal(variant: &Variant, setting: &Setting) -> Option<Refusal> {
    let calibration = variant.options.calibrated.then(|| calibration::refusal(variant, setting));
    let remapping =
        || variant.options.remap.then(|| remapping::refusal(variant, setting)).flatten();
    calibration.flatten().or_else(remapping)
}

/// Whether a mechanism has to be made ready.
#[must_use]
pub fn needs_tuning(variant: &Variant) -> bool {
    variant.options.calibrated || variant.options.remap
}

fn tune_anew(variant: &Variant, setting: &Setting) -> Result<Tuned, Refusal> {
    let mut tuned = Tuned { variant: variant.clone(), certificate: None };
    if variant.options.remap {
        // What is remapped is calibrated as if it were not.
        let options = Options { remap: false, ..variant.options };
        let inner = tune(&Variant { options, ..variant.clone() }, setting)?;
        tuned.certificate = inner.certificate;
        tuned.variant.options.inner_epsilon = inner.variant.options.inner_epsilon;
        tuned.variant.remap = Some(remapping::best(&tuned.variant, setting)?.into());
    } else if variant.options.calibrated {
        let found = calibrate(variant, setting)?;
        tuned.variant.options.inner_epsilon = Some(found.inner_epsilon);
        tuned.certificate = Some(found);
    }
    Ok(tuned)
}

/// A name for what tuning depends on: everything but the data, of which the number of records counts.
#[must_use]
pub fn key(variant: &Variant, setting: &Setting) -> String {
    let prior = setting.posterior.prior();
    let posterior = Posterior::new(prior.clone(), any_counts(setting));
    let alike = Setting { posterior, ..setting.clone() };
    format!("{} {} gamma={}", variant.key(&alike), alike.key(), vector(&[alike.gamma.get()]))
}

/// All records in the first category.
fn any_counts(setting: &Setting) -> Vec<u64> {
    let mut counts = vec![0; setting.posterior.k()];
    counts[0] = setting.posterior.n();
    counts
}
