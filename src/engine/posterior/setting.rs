//! One setting: everything about a release except the mechanism.

use crate::posterior::distance::Distance;
use crate::posterior::model::{Posterior, vector};
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
