//! Settings and mechanisms typed by hand.

use crate::diagnostic::{Diagnostic, suggest};
use crate::distance;
use crate::mechanism::{self, Mechanism, Refusal, Variant};
use crate::model::{Counts, MOST_RECORDS, Posterior, Prior, is_countable};
use crate::privacy::{Delta, Epsilon, Gamma, PrivacyError};
use crate::setting::Setting;

/// What was typed about the data.
pub(super) enum Data<'a> {
    /// `--counts`
    Counts(&'a [u64]),
    /// `--n`: any data set of so many records.
    Records(u64),
}

/// A setting, as typed.
pub(super) struct Typed<'a> {
    pub(super) prior: &'a [f64],
    pub(super) data: Data<'a>,
    pub(super) epsilon: f64,
    pub(super) delta: Option<f64>,
    pub(super) gamma: f64,
    pub(super) distance: &'a str,
}

impl Typed<'_> {
    /// The setting, if it makes sense.
    pub(super) fn setting(&self) -> Result<Setting, Diagnostic> {
        let prior = Prior::new(self.prior.to_vec())
            .map_err(|error| wrong("prior", &error).help("use for example --prior 1,1"))?;
        let counts = self.counts(prior.k())?;
        let distance = distance::find(self.distance).ok_or_else(|| {
            wrong("distance", &format!("unknown distance `{}`", self.distance))
                .help(suggest(self.distance, distance::ALL.iter().map(|distance| distance.id())))
        })?;
        let privacy = |error: PrivacyError| Diagnostic::new(error.to_string()).help(error.remedy());
        let delta = self.delta.map(Delta::new).transpose().map_err(privacy)?;
        Ok(Setting {
            posterior: Posterior::new(prior, counts),
            epsilon: Epsilon::new(self.epsilon).map_err(privacy)?,
            delta,
            gamma: Gamma::new(self.gamma).map_err(privacy)?,
            distance,
        })
    }

    fn counts(&self, k: usize) -> Result<Counts, Diagnostic> {
        let (flag, counts) = match self.data {
            Data::Counts(counts) => ("counts", counts.to_vec()),
            Data::Records(n) => {
                let mut counts = vec![0; k];
                counts[0] = n;
                ("n", counts)
            }
        };
        same_length("--counts", counts.len(), k)?;
        if !is_countable(&counts) {
            return Err(wrong(flag, &"these are more records than dpbi can count")
                .help(format!("use at most {MOST_RECORDS}")));
        }
        Ok(counts)
    }
}

/// A message about one flag.
pub(super) fn wrong(flag: &str, error: &dyn std::fmt::Display) -> Diagnostic {
    Diagnostic::new(format!("--{flag}: {error}"))
}

/// Checks that as many numbers were given as there are categories.
pub(super) fn same_length(flag: &str, length: usize, k: usize) -> Result<(), Diagnostic> {
    if length == k {
        return Ok(());
    }
    Err(Diagnostic::new(format!("{flag} has {length} numbers, but the prior has {k} categories"))
        .help(format!("give {k} numbers separated by commas")))
}

/// A refusal as a message.
pub(super) fn refused(refusal: Refusal) -> Diagnostic {
    Diagnostic::new(refusal.cause).help(refusal.remedy)
}

/// The mechanisms called `ids`, or, if none are named, all that can be used in this setting.
pub(super) fn variants(ids: &[String], setting: &Setting) -> Result<Vec<Variant>, Diagnostic> {
    if ids.is_empty() {
        let all = mechanism::ALL.into_iter().map(Variant::plain);
        return Ok(all.filter(|variant| variant.recipe(setting).is_ok()).collect());
    }
    let asked = |id: &String| {
        let variant = Variant::plain(mechanism(id)?);
        variant.recipe(setting).map_err(refused)?;
        Ok(variant)
    };
    ids.iter().map(asked).collect()
}

fn mechanism(id: &str) -> Result<&'static dyn Mechanism, Diagnostic> {
    mechanism::find(id).ok_or_else(|| {
        wrong("mechanism", &format!("unknown mechanism `{id}`"))
            .help(suggest(id, mechanism::ALL.iter().map(|mechanism| mechanism.id())))
    })
}
