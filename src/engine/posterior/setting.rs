//! One setting: everything public about a release except the mechanism.

use std::ops::Deref;

use crate::posterior::distance::{Distance, HELLINGER};
use crate::posterior::model::{Counts, Posterior, Prior, vector};
use crate::posterior::privacy::{Delta, Epsilon, Gamma};
use crate::posterior::sensitivity::{CandidatesInBeta, Sensitivity, beta};

/// The prior, the number of records, the privacy asked for, and the distance that counts. There are no data in it:
/// nothing that is made for a setting can depend on them.
#[derive(Clone)]
pub struct Setting {
    pub prior: Prior,
    /// The number of records.
    pub n: u64,
    pub epsilon: Epsilon,
    /// δ, where a mechanism needs it.
    pub delta: Option<Delta>,
    /// γ, for mechanisms that set none of their own.
    pub gamma: Gamma,
    /// Score, sensitivity and error are measured in this distance.
    pub distance: &'static dyn Distance,
}

impl Setting {
    /// Data of n records, and the ε with which they are released, measured in the Hellinger distance; without a
    /// δ, and with the usual γ.
    pub fn new(prior: Prior, n: u64, epsilon: Epsilon) -> Self {
        Self { prior, n, epsilon, delta: None, gamma: Gamma::USUAL, distance: HELLINGER }
    }

    /// The number of categories.
    pub fn k(&self) -> usize {
        self.prior.k()
    }

    /// The posterior of these data.
    pub fn at(&self, counts: Counts) -> Posterior {
        Posterior::new(self.prior.clone(), counts)
    }

    /// The posterior of data of this size, where it does not matter which: all records are in the first category.
    pub fn anywhere(&self) -> Posterior {
        let mut counts = vec![0; self.k()];
        counts[0] = self.n;
        self.at(counts)
    }

    /// β of the β-smooth sensitivity, if δ is given.
    pub fn beta(&self, candidates: CandidatesInBeta) -> Option<f64> {
        Some(beta(self.epsilon.get(), self.delta?.get(), self.n, candidates))
    }

    /// A text that says everything about the setting and these data: part of the name of a random stream.
    pub fn key(&self, counts: &[u64]) -> String {
        format!(
            "prior={} counts={} epsilon={} delta={} distance={}",
            vector(self.prior.alpha()),
            vector(counts),
            self.epsilon.get(),
            self.delta.map_or("none".to_owned(), |delta| delta.get().to_string()),
            self.distance.id()
        )
    }
}

/// A setting with data, as experiments have them: it is used wherever a setting is.
#[derive(Clone)]
pub struct SettingWithData {
    setting: Setting,
    posterior: Posterior,
}

impl SettingWithData {
    /// These data, of as many records as the setting has.
    pub fn new(setting: Setting, counts: Counts) -> Self {
        let posterior = setting.at(counts);
        Self { setting, posterior }
    }

    pub fn posterior(&self) -> &Posterior {
        &self.posterior
    }

    pub fn counts(&self) -> &[u64] {
        self.posterior.counts()
    }

    /// The sensitivities of the score at these data.
    pub fn sensitivity(&self) -> Sensitivity {
        self.distance.sensitivity(&self.posterior)
    }

    /// [`Setting::key`] of these data.
    pub fn key(&self) -> String {
        self.setting.key(self.counts())
    }
}

impl Deref for SettingWithData {
    type Target = Setting;

    fn deref(&self) -> &Setting {
        &self.setting
    }
}
