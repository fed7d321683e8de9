//! Experiments: what a config asks for, checked and laid out case by case.

pub mod accuracy;
mod dataset;
pub mod naming;
mod sampling;

pub use dataset::{DataSet, DataSpec};
pub use naming::Naming;
pub use sampling::{Draws, draw};

use crate::distance::Distance;
use crate::mechanism::Variant;
use crate::metric::Metric;
use crate::model::Prior;
use crate::privacy::{Delta, Epsilon, Gamma};
use crate::setting::Setting;
use crate::stats::Whiskers;

/// What is computed for every case. One module for each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Errors of sampled releases beside their exact laws: [`accuracy`].
    Accuracy,
}

impl Kind {
    /// The name in a config.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Accuracy => "accuracy",
        }
    }
}

/// The lists that a config combines.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// Priors.
    pub priors: Vec<Prior>,
    /// ε.
    pub epsilons: Vec<Epsilon>,
    /// δ; may be empty.
    pub deltas: Vec<Delta>,
    /// γ; if empty, 1.
    pub gammas: Vec<Gamma>,
    /// The data.
    pub data: DataSpec,
}

impl Grid {
    /// Every δ, or once none.
    #[must_use]
    pub fn deltas_or_none(&self) -> Vec<Option<Delta>> {
        if self.deltas.is_empty() {
            vec![None]
        } else {
            self.deltas.iter().copied().map(Some).collect()
        }
    }

    /// Every γ, or once 1.
    #[must_use]
    pub fn gammas_or_one(&self) -> Vec<Gamma> {
        if self.gammas.is_empty() {
            Gamma::new(1.0).into_iter().collect()
        } else {
            self.gammas.clone()
        }
    }
}

/// One point of the grid.
#[derive(Clone)]
pub struct Case {
    /// The setting.
    pub setting: Setting,
    /// The name of the data set, if it has one.
    pub label: Option<String>,
    /// Its abscissa in a figure, if one was given.
    pub at: Option<f64>,
}

/// How figures look.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Where whiskers end.
    pub whiskers: Whiskers,
    /// Whether data beyond the whiskers are drawn.
    pub outliers: bool,
}

impl Default for Look {
    fn default() -> Self {
        Self { whiskers: Whiskers::Iqr(1.5), outliers: false }
    }
}

/// A checked experiment.
#[derive(Clone)]
pub struct Experiment {
    /// The name of the results folder.
    pub name: String,
    /// The title of the figures.
    pub title: String,
    /// What is computed.
    pub kind: Kind,
    /// The seed of all random streams.
    pub seed: u64,
    /// How many releases are sampled for each case and mechanism.
    pub runs: u64,
    /// Score, sensitivity and error are measured in this distance.
    pub distance: &'static dyn Distance,
    /// Further errors.
    pub metrics: Vec<Metric>,
    /// The mechanisms.
    pub variants: Vec<Variant>,
    /// The lists that were combined.
    pub grid: Grid,
    /// Their combinations.
    pub cases: Vec<Case>,
    /// How figures look.
    pub look: Look,
}

impl Experiment {
    /// The errors that are tabulated: the distance first, then the metrics asked for.
    #[must_use]
    pub fn errors(&self) -> Vec<Metric> {
        let distance = Metric::from_distance(self.distance);
        std::iter::once(distance).chain(self.metrics.iter().copied()).collect()
    }
}
