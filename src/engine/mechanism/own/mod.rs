//! Mechanisms of the user's own: an expression for the weights of candidates, an expression for noise, or a
//! table of probabilities. Nothing is proved about them; what they give away is computed.
//!
//! A user's mechanism can be used wherever one of the built-in ones can. The same definition is the same
//! mechanism.

mod constants;
pub mod names;
mod noise;
mod weigher;
mod weight;

use std::fmt;
use std::sync::Arc;

pub use names::{Name, Parameter, Purpose, Vocabulary, compact};
pub use noise::{NoiseTable, NoisyCounts};
pub use weight::CANDIDATE_SETS;

use super::{Choice, Kind, Options};
use crate::expression::Expression;
use crate::mechanism::law::listed::Listed;
pub use crate::mechanism::law::listed::table::{
    COLUMNS as TABLE_COLUMNS, ProbabilityTable, TableError, written_probability,
};
use crate::mechanism::law::noise::{Noise, NoiseOnCounts};
use crate::mechanism::law::{Law, OutputSet};
use crate::named::Named;
use crate::posterior::privacy::Guarantee;
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;
use constants::{constants, refuse_missing_categories};
use noise::OwnNoise;
use weight::OwnWeights;

/// The most candidates that are examined before a run begins.
const FEW: f64 = 1e6;

/// A mechanism as the user wrote it.
#[derive(Clone, Debug, PartialEq)]
pub enum Definition {
    /// A candidate with weight e^log_weight.
    Weights {
        log_weight: Arc<Expression<Name>>,
        outputs: OutputSet,
        /// The names that it adds.
        parameters: Vec<Parameter>,
    },
    /// Whole noise with weight e^log_weight.
    Noise {
        log_weight: Arc<Expression<Name>>,
        /// What gets noise.
        on: NoisyCounts,
        /// The names that it adds.
        parameters: Vec<Parameter>,
    },
    Table {
        path: String,
        /// The SHA-256 of its content.
        digest: String,
        table: Arc<ProbabilityTable>,
    },
}

/// Candidates weighed by an expression.
pub static WEIGHTS: Kind = Kind {
    id: "weights",
    draws: "r in R with weight exp(log_weight), an expression of yours",
    choices: &[Choice::Gamma, Choice::Calibrated],
    ..OWN
};

/// Noise whose law is an expression.
pub static NOISE: Kind = Kind {
    id: "noise",
    draws: "counts plus whole noise t with weight exp(log_weight), an expression of yours; clamped",
    choices: &[Choice::Gamma, Choice::Calibrated],
    ..OWN
};

pub static TABLE: Kind =
    Kind { id: "table", draws: "outputs with the probabilities in a CSV file of yours", ..OWN };

/// The kinds of definitions. Parameters are not among their options.
pub static KINDS: &[&Kind] = &[&WEIGHTS, &NOISE, &TABLE];

/// What they have in common. Nothing is proved about them.
const OWN: Kind = Kind {
    choices: &[Choice::Calibrated],
    guarantee: |_, _| Guarantee::Unstated,
    outline: |kind, setting, options| {
        let set = match kind.definition {
            Some(Definition::Weights { outputs, .. }) => outputs,
            _ => OutputSet::Simplex,
        };
        let candidates = set.region(setting.n, setting.k()).size_bound();
        law_within(kind, setting, options, candidates > FEW)
    },
    law: |kind, setting, options| law_within(kind, setting, options, false),
    ..Kind::USUAL
};

pub fn is_kind(id: &str) -> bool {
    KINDS.iter().any(|kind| kind.id == id)
}

impl Definition {
    pub fn kind(&self) -> &'static Kind {
        match self {
            Self::Weights { .. } => &WEIGHTS,
            Self::Noise { .. } => &NOISE,
            Self::Table { .. } => &TABLE,
        }
    }

    fn expression(&self) -> Option<&Expression<Name>> {
        match self {
            Self::Weights { log_weight, .. } | Self::Noise { log_weight, .. } => Some(log_weight),
            Self::Table { .. } => None,
        }
    }

    /// The text of the expression, if there is one.
    pub fn log_weight(&self) -> Option<&str> {
        self.expression().map(Expression::text)
    }

    /// The names that it adds.
    pub fn parameters(&self) -> &[Parameter] {
        match self {
            Self::Weights { parameters, .. } | Self::Noise { parameters, .. } => parameters,
            Self::Table { .. } => &[],
        }
    }
}

/// Everything that decides what the mechanism does, in one line.
impl fmt::Display for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Weights { log_weight, outputs, .. } => {
                write!(f, "log_weight={:?} outputs={}", log_weight.text(), outputs.id())?;
            }
            Self::Noise { log_weight, on, .. } => {
                write!(f, "log_weight={:?} on={}", log_weight.text(), on.id())?;
            }
            Self::Table { digest, .. } => write!(f, "sha256={digest}")?,
        }
        self.parameters().iter().try_for_each(|one| write!(f, " {}={:?}", one.name, one.value))
    }
}

/// The mechanism whose candidates have the weights e^`log_weight`.
pub fn weights(
    log_weight: &str,
    outputs: OutputSet,
    parameters: Vec<Parameter>,
) -> Result<Kind, Refusal> {
    let log_weight = parsed(log_weight, Purpose::Weights, &parameters)?;
    Ok(defined(Definition::Weights { log_weight, outputs, parameters }))
}

/// The mechanism whose noise has the weights e^`log_weight`.
pub fn noise(
    log_weight: &str,
    on: NoisyCounts,
    parameters: Vec<Parameter>,
) -> Result<Kind, Refusal> {
    let log_weight = parsed(log_weight, Purpose::Noise, &parameters)?;
    Ok(defined(Definition::Noise { log_weight, on, parameters }))
}

/// The mechanism of a table of probabilities that stands at `path`.
pub fn table(path: String, digest: String, table: ProbabilityTable) -> Kind {
    defined(Definition::Table { path, digest, table: Arc::new(table) })
}

fn parsed(
    text: &str,
    purpose: Purpose,
    parameters: &[Parameter],
) -> Result<Arc<Expression<Name>>, Refusal> {
    let vocabulary = Vocabulary { purpose, parameters };
    let parsed = Expression::parse(text, &vocabulary).map(Arc::new);
    parsed.map_err(|fault| vocabulary.explained(text, fault))
}

fn defined(definition: Definition) -> Kind {
    let kind = definition.kind().clone();
    let uses = |name: Name| definition.expression().is_some_and(|one| one.uses(name));
    let uses_delta = uses(Name::Delta) || uses(Name::SmoothBeta);
    Kind { uses_delta, definition: Some(definition), ..kind }
}

/// The law; if it is only outlined, without sensitivities, and without a look at all log weights.
fn law_within(
    kind: &Kind,
    setting: &Setting,
    options: &Options,
    outlined: bool,
) -> Result<Arc<dyn Law>, Refusal> {
    let (n, k, factor) = (setting.n, setting.k(), options.factor(setting));
    let gamma = options.gamma_or(setting.gamma);
    let definition = kind.definition.as_ref();
    if let Some(expression) = definition.and_then(Definition::expression) {
        refuse_missing_categories(expression, k)?;
    }
    Ok(match definition {
        None => return Err(Refusal::new("it has no law", "give it one")),
        Some(Definition::Table { table, .. }) => {
            table.refuse_size(n, k)?;
            Arc::new(Listed { table: Arc::clone(table), power: factor })
        }
        Some(Definition::Weights { log_weight, outputs, .. }) => {
            let (expression, setting) = (Arc::clone(log_weight), setting.clone());
            Arc::new(OwnWeights { expression, set: *outputs, setting, gamma, factor, outlined })
        }
        Some(Definition::Noise { log_weight, on, .. }) => {
            let constants = constants(log_weight, setting, &setting.anywhere(), gamma, outlined)?;
            let outputs = on.outputs();
            let noise = OwnNoise::new(Arc::clone(log_weight), constants, n, factor, outputs);
            // Noise that falls as that of a built-in mechanism is computed as this is.
            match noise.geometric_rate() {
                Some(rate) => {
                    let (noise, scale) = (Noise::Geometric, 1.0 / rate);
                    Arc::new(NoiseOnCounts { noise, scale, outputs })
                }
                None => Arc::new(noise.measured()?),
            }
        }
    })
}
