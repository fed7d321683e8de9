//! The front door: a mechanism that is ready for all data sets of one size.
//!
//! Whatever depends on public values only (prior, n, ε, δ, γ, distance) is done when a mechanism is
//! prepared; only then does it say what it guarantees, loses and errs by, and what it releases.

use std::sync::Arc;

use crate::analysis::audit::{self, Findings, Scope};
use crate::analysis::predictive_error::{self, PredictiveError};
use crate::analysis::tuning::{self, Certificate};
use crate::mechanism::Mechanism;
use crate::mechanism::law::{
    Batch, Bench, Distribution, ErrorSummary, Law, Outputs, Remap, probability,
};
use crate::posterior::model::Counts;
use crate::posterior::privacy::Guarantee;
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;
use crate::rng;

/// A mechanism that is ready for all data sets of as many records as its setting has.
#[derive(Clone)]
pub struct Prepared {
    /// The mechanism, as it was asked for.
    pub variant: Mechanism,
    pub setting: Setting,
    /// The law of the output.
    pub law: Arc<dyn Law>,
    /// What makes it private, if it was calibrated.
    pub certificate: Option<Certificate>,
    /// What replaces its outputs, if it is remapped.
    pub remap: Option<Arc<Remap>>,
}

impl Mechanism {
    /// Calibrates and remaps the mechanism where it asks for that, and does whatever else depends on public
    /// values only.
    pub fn prepare(&self, setting: &Setting) -> Result<Prepared, Refusal> {
        tuning::TuningCache::default().prepare(self, setting)
    }
}

impl Prepared {
    /// What is proved about it, or computed.
    pub fn guarantee(&self) -> Guarantee {
        self.variant.guarantee(&self.setting)
    }

    /// The exact privacy loss over some pairs of neighbours, with the pair and the output that attain it,
    /// and the largest δ at every one of `epsilons`.
    pub fn loss(&self, scope: &Scope, epsilons: &[f64]) -> Result<Findings, Refusal> {
        audit::examine(self.law.as_ref(), &self.setting, scope, epsilons)
    }

    /// The exact mean error over all data sets under the prior, and the largest at any of them; `None` if
    /// the law is too large to be walked.
    pub fn error(&self) -> Result<Option<PredictiveError>, Refusal> {
        predictive_error::over_all_data(self.law.as_ref(), &self.setting)
    }

    /// The law at one data set.
    pub fn at(&self, counts: &[u64]) -> Result<Here<'_>, Refusal> {
        let posterior = self.setting.at(counts.to_vec());
        let laws = [self.law.as_ref()];
        let bench = Bench::with_summaries(&posterior, self.setting.distance, laws, &[])?;
        Ok(Here { prepared: self, n: posterior.n(), bench })
    }
}

/// A prepared mechanism at one data set.
pub struct Here<'a> {
    prepared: &'a Prepared,
    n: u64,
    bench: Bench<'a>,
}

impl Here<'_> {
    fn k(&self) -> usize {
        self.prepared.setting.k()
    }

    /// Mean, spread and quantiles of the error, and the probability of releasing the true counts.
    pub fn summary(&self) -> ErrorSummary {
        ErrorSummary::new(self.bench.law(0).as_ref(), self.bench.distance())
    }

    /// The law of the error; `None` if it is too large to be walked.
    pub fn errors(&self) -> Option<Distribution> {
        Distribution::new(self.bench.law(0).as_ref(), self.bench.distance())
    }

    /// The probability of one output whose total is n.
    pub fn probability(&self, output: &[u64]) -> f64 {
        probability(self.bench.law(0).as_ref(), output)
    }

    /// Every output with ln P, also where the probability is too small for a double.
    pub fn ln_probabilities(&self) -> Vec<(Counts, f64)> {
        let outputs = Outputs::new(self.prepared.law.outputs(), self.n, self.k());
        let logs = self.bench.at(0).ln_probabilities(outputs, &*self.bench.distance());
        outputs.list().into_iter().zip(logs).collect()
    }

    /// Releases that are drawn one after another. The same seed draws the same.
    pub fn draw(&self, runs: usize, seed: u64) -> Vec<Counts> {
        let k = self.k();
        let mut batches = [Batch::new(rng::stream(seed, "draw"), runs, k)];
        self.bench.law(0).draw(k, &mut batches);
        let [Batch { released, .. }] = batches;
        released.chunks_exact(k).map(<[u64]>::to_vec).collect()
    }
}
