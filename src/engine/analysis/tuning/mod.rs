//! Tuning: calibration of the inner ε, and remapping of the outputs, for data sets of one size.
//!
//! Both depend on public values only (prior, n, ε, δ, γ, distance), never on the data. Either takes
//! as long as an audit of all data sets of the size, so a [`TuningCache`] keeps what was found.

pub mod calibration;
mod local;
pub mod remapping;

pub use calibration::{Certificate, calibrate};

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::mechanism::law::mapped::Mapped;
use crate::mechanism::{Mechanism, Options};
use crate::memo::Memo;
use crate::parallel;
use crate::posterior::model::{Posterior, vector};
use crate::posterior::setting::Setting;
use crate::prepared::Prepared;
use crate::refusal::Refusal;

/// Prepared mechanisms: none is calibrated or remapped twice for data sets of the same size.
#[derive(Default)]
pub struct TuningCache {
    known: Memo<String, Prepared>,
}

impl TuningCache {
    /// As [`Mechanism::prepare`], unless the answer is known.
    pub fn prepare(&self, variant: &Mechanism, setting: &Setting) -> Result<Prepared, Refusal> {
        let prepare = || self.prepare_anew(variant, setting);
        if !needs_tuning(variant) {
            return prepare();
        }
        let mut found = self.known.try_get(&key(variant, setting), prepare)?;
        // The same mechanism may have another label here.
        found.variant.label.clone_from(&variant.label);
        Ok(found)
    }

    /// Tunes all these mechanisms, each once, several at a time, until `stop`.
    pub fn prepare_all<'a>(
        &self,
        needed: impl IntoIterator<Item = (&'a Mechanism, &'a Setting)>,
        stop: impl Fn() -> bool + Sync,
    ) -> Result<(), Refusal> {
        let needed = needed.into_iter().filter(|(variant, _)| needs_tuning(variant));
        let distinct: BTreeMap<String, _> =
            needed.map(|pair| (key(pair.0, pair.1), pair)).collect();
        let (large, small): (Vec<_>, Vec<_>) =
            distinct.into_values().partition(|(variant, _)| variant.options.remap);
        let one = |(variant, setting): &(&Mechanism, &Setting)| match stop() {
            true => Ok(()),
            false => self.prepare(variant, setting).map(drop),
        };
        let part = parallel::part(if large.is_empty() { 1.0 } else { 0.2 });
        parallel::map(&small, one).into_iter().collect::<Result<(), Refusal>>()?;
        drop(part);
        // One remapping fills the memory and keeps all threads busy.
        parallel::steps(0..large.len()).try_for_each(|index| one(&large[index]))
    }

    fn prepare_anew(&self, variant: &Mechanism, setting: &Setting) -> Result<Prepared, Refusal> {
        let ready = |law, certificate, remap| {
            let (variant, setting) = (variant.clone(), setting.clone());
            Ok(Prepared { variant, setting, law, certificate, remap })
        };
        if variant.options.remap {
            // The inner ε of a remapped mechanism is that of the same mechanism without remapping.
            let options = Options { remap: false, ..variant.options };
            let part = parallel::part(if options.calibrated { 0.5 } else { 0.0 });
            let inner = self.prepare(&Mechanism { options, ..variant.clone() }, setting)?;
            drop(part);
            let remap = Arc::new(remapping::best(variant, inner.law.as_ref(), setting)?);
            let law = Mapped { inner: inner.law, remap: Arc::clone(&remap) };
            return ready(Arc::new(law), inner.certificate, Some(remap));
        }
        if variant.options.calibrated && variant.options.inner_epsilon.is_none() {
            let (law, certificate) = calibrate(variant, setting)?;
            return ready(law, Some(certificate), None);
        }
        ready(variant.law(setting)?, None, None)
    }
}

/// Refuses a mechanism that cannot be used in this setting, or not at data like these, or not be tuned, as far as
/// that is known without any work.
pub fn check(variant: &Mechanism, setting: &Setting, posterior: &Posterior) -> Result<(), Refusal> {
    let law = variant.outline(setting)?;
    if variant.kind.definition.is_some() {
        // What is wrong with the user's weights is said at once.
        law.at(posterior)?;
    }
    if variant.is_historical() && needs_tuning(variant) {
        return Err(variant.historical_refusal());
    }
    if variant.options.calibrated {
        calibration::refusal(variant, setting).map_or(Ok(()), Err)?;
    }
    if variant.options.remap {
        remapping::refusal(variant, law.as_ref(), setting).map_or(Ok(()), Err)?;
    }
    Ok(())
}

/// Whether a mechanism is to be calibrated or remapped.
pub fn needs_tuning(variant: &Mechanism) -> bool {
    variant.options.calibrated || variant.options.remap
}

/// A text that names everything on which tuning depends: of the data only the number of records.
pub fn key(variant: &Mechanism, setting: &Setting) -> String {
    let size = setting.key(setting.anywhere().counts());
    format!("{} {size} gamma={}", variant.key(setting), vector(&[setting.gamma.get()]))
}
