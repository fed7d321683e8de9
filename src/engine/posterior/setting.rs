//! One setting: everything about a release except the mechanism.

use crate::posterior::distance::{Distance, HELLINGER};
use crate::posterior::model::{Counts, Posterior, Prior, vector};
use crate::posterior::privacy::{Delta, Epsilon, Gamma};
use crate::posterior::sensitivity::{CandidatesInBeta, Sensitivity, beta};

/// A posterior to be released, the privacy asked for, and the distance that counts.
#[derive(Clone)]
pub struct Setting {
    /// The posterior of the data.
    pub posterior: Posterior,
    /// ε.
    pub epsilon: Epsilon,
    /// δ, where a mechanism needs it.
    pub delta: Option<Delta>,
    /// γ, for mechanisms that set none of their own.
    pub gamma: Gamma,
    /// Score, sensitivity and error are measured in this distance.
    pub distance: &'static dyn Distance,
}

impl Setting {
    /// Data, and the ε with which they are released, measured in the Hellinger distance; without a δ, and
    /// with the usual γ.
    pub fn new(prior: Prior, counts: Counts, epsilon: Epsilon) -> Self {
        let posterior = Posterior::new(prior, counts);
        Self { posterior, epsilon, delta: None, gamma: Gamma::USUAL, distance: HELLINGER }
    }

    /// The same setting with other data.
    pub fn at(&self, counts: Counts) -> Self {
        let posterior = Posterior::new(self.posterior.prior().clone(), counts);
        Self { posterior, ..self.clone() }
    }

    /// The sensitivities of the score.
    pub fn sensitivity(&self) -> Sensitivity {
        self.distance.sensitivity(&self.posterior)
    }

    /// β of the β-smooth sensitivity, if δ is given.
    pub fn beta(&self, candidates: CandidatesInBeta) -> Option<f64> {
        let delta = self.delta?.get();
        Some(beta(self.epsilon.get(), delta, self.posterior.n(), candidates))
    }

    /// A text that says everything about the setting: part of the name of a random stream.
    pub fn key(&self) -> String {
        format!(
            "prior={} counts={} epsilon={} delta={} distance={}",
            vector(self.posterior.prior().alpha()),
            vector(self.posterior.counts()),
            self.epsilon.get(),
            self.delta.map_or("none".to_owned(), |delta| delta.get().to_string()),
            self.distance.id()
        )
    }
}
