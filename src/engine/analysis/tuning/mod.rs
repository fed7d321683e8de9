//! Tuning: calibration of the inner ε, and remapping of the outputs, for data sets of one size.
//!
//! Both depend on public values only (prior, n, ε, δ, γ, distance), never on the data. Either takes
//! as long as an audit of all data sets of the size, so a [`TuningCache`] keeps what was found.
//!
//! A calibrated mechanism spends all of its ε:
//!
//! ```
//! use dpbi_engine::analysis::tuning::{Tuned, tune};
//! use dpbi_engine::mechanism::{self, Options, Variant};
//! use dpbi_engine::posterior::model::Prior;
//! use dpbi_engine::posterior::privacy::Epsilon;
//! use dpbi_engine::posterior::setting::Setting;
//!
//! let setting = Setting::new(Prior::new(vec![1.0, 1.0])?, vec![20, 0], Epsilon::new(1.0)?);
//! let ehds = mechanism::find("ehds").ok_or("no such mechanism")?;
//! let options = Options { calibrated: true, ..Options::default() };
//! let variant = Variant::new(ehds, options, "calibrated".to_owned());
//! let Tuned { certificate, .. } = tune(&variant, &setting)?;
//! let certificate = certificate.ok_or("it was calibrated")?;
//! assert!(certificate.inner_epsilon.get() > 1.0);
//! assert!(certificate.loss <= 1.0 && certificate.loss > 1.0 - 1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod calibration;
mod local;
pub mod remapping;

pub use calibration::{Certificate, calibrate};

use std::collections::BTreeMap;

use crate::mechanism::{Options, Variant};
use crate::memo::Memo;
use crate::parallel;
use crate::posterior::model::vector;
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

/// A tuned mechanism.
#[derive(Clone)]
pub struct Tuned {
    /// The mechanism, with its inner ε and its remapping.
    pub variant: Variant,
    /// What makes it private, if it was calibrated.
    pub certificate: Option<Certificate>,
}

/// Tunes `variant` for data sets of as many records as `setting` has. A mechanism that is neither
/// calibrated nor remapped stays as it is.
pub fn tune(variant: &Variant, setting: &Setting) -> Result<Tuned, Refusal> {
    TuningCache::default().tune(variant, setting)
}

/// Tuned mechanisms: none is calibrated or remapped twice for data sets of the same size.
#[derive(Default)]
pub struct TuningCache {
    known: Memo<String, Tuned>,
}

impl TuningCache {
    /// As the function [`tune`], unless the answer is known.
    pub fn tune(&self, variant: &Variant, setting: &Setting) -> Result<Tuned, Refusal> {
        if !needs_tuning(variant) {
            return Ok(Tuned { variant: variant.clone(), certificate: None });
        }
        let find = || self.tune_anew(variant, setting);
        let mut found = self.known.try_get(&key(variant, setting), find)?;
        // The same mechanism may have another label here.
        found.variant.label.clone_from(&variant.label);
        Ok(found)
    }

    /// Tunes all these mechanisms, each once, several at a time, until `stop`.
    pub fn tune_all<'a>(
        &self,
        needed: impl IntoIterator<Item = (&'a Variant, &'a Setting)>,
        stop: impl Fn() -> bool + Sync,
    ) -> Result<(), Refusal> {
        let needed = needed.into_iter().filter(|(variant, _)| needs_tuning(variant));
        let distinct: BTreeMap<String, _> =
            needed.map(|pair| (key(pair.0, pair.1), pair)).collect();
        let (large, small): (Vec<_>, Vec<_>) =
            distinct.into_values().partition(|(variant, _)| variant.options.remap);
        let one = |(variant, setting): &(&Variant, &Setting)| match stop() {
            true => Ok(()),
            false => self.tune(variant, setting).map(drop),
        };
        parallel::map(&small, one).into_iter().collect::<Result<(), Refusal>>()?;
        // One remapping fills the memory and keeps all threads busy.
        large.iter().try_for_each(one)
    }

    fn tune_anew(&self, variant: &Variant, setting: &Setting) -> Result<Tuned, Refusal> {
        let mut tuned = Tuned { variant: variant.clone(), certificate: None };
        if variant.options.remap {
            // The inner ε of a remapped mechanism is that of the same mechanism without remapping.
            let options = Options { remap: false, ..variant.options };
            let inner = self.tune(&Variant { options, ..variant.clone() }, setting)?;
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
}

/// Refuses a mechanism that cannot be used in this setting, or not be tuned, as far as that is known
/// without any work.
pub fn check(variant: &Variant, setting: &Setting) -> Result<(), Refusal> {
    variant.outline(setting)?;
    refusal(variant, setting).map_or(Ok(()), Err)
}

/// Why a mechanism cannot be tuned, as far as that is known without any work.
fn refusal(variant: &Variant, setting: &Setting) -> Option<Refusal> {
    if variant.is_historical() && needs_tuning(variant) {
        return Some(variant.historical_refusal());
    }
    let calibration = variant.options.calibrated.then(|| calibration::refusal(variant, setting));
    let remapping =
        || variant.options.remap.then(|| remapping::refusal(variant, setting)).flatten();
    calibration.flatten().or_else(remapping)
}

/// Whether a mechanism is to be calibrated or remapped.
pub fn needs_tuning(variant: &Variant) -> bool {
    variant.options.calibrated || variant.options.remap
}

/// A text that names everything on which tuning depends: of the data only the number of records.
pub fn key(variant: &Variant, setting: &Setting) -> String {
    let alike = setting.at(any_counts(setting));
    format!("{} {} gamma={}", variant.key(&alike), alike.key(), vector(&[alike.gamma.get()]))
}

/// All records in the first category.
fn any_counts(setting: &Setting) -> Vec<u64> {
    let mut counts = vec![0; setting.posterior.k()];
    counts[0] = setting.posterior.n();
    counts
}
