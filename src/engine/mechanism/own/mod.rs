//! Mechanisms of the user's own: an expression for the weights of candidates, an expression for noise, or a
//! table of probabilities. Nothing is proved about them; what they give away is computed.
//!
//! A definition is read once and kept as long as the program runs, so that a user's mechanism can be used
//! wherever one of the built-in ones can. The same definition is the same mechanism.

mod constants;
pub mod names;
mod noise;
mod probability_table;
mod weigher;
mod weight;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

pub use names::{Name, Parameter, Purpose, Vocabulary, compact};
pub use noise::{NoiseSampler, NoiseTable, Noisy, OwnNoise};
pub use probability_table::{
    COLUMNS as TABLE_COLUMNS, ProbabilityTable, TableError, written_probability,
};
pub use weigher::OwnWeigher;
pub use weight::{CANDIDATE_SETS, OwnWeight};

use super::{Choice, Mechanism, Options};
use crate::expression::{Expression, Fault};
use crate::mechanism::law::{CandidateWeights, LARGEST_EXACT, Noise, OutputSet, Recipe};
use crate::named::Named;
use crate::posterior::model::approximate_compositions;
use crate::posterior::privacy::Guarantee;
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;
use constants::{Constants, Sensitivities, refuse_missing_categories};

/// The most candidates that are examined before a run begins.
const FEW: f64 = 1e6;

/// A mechanism as the user wrote it.
#[derive(Clone, Debug, PartialEq)]
pub enum Definition {
    /// A candidate with weight e^log_weight.
    Weights {
        /// The expression.
        log_weight: String,
        /// The candidates.
        outputs: OutputSet,
        /// The names that it adds.
        parameters: Vec<Parameter>,
    },
    /// Whole noise with weight e^log_weight.
    Noise {
        /// The expression.
        log_weight: String,
        /// What gets noise.
        on: Noisy,
        /// The names that it adds.
        parameters: Vec<Parameter>,
    },
    /// A table of probabilities.
    Table {
        /// The file.
        path: String,
        /// The SHA-256 of its content.
        digest: String,
    },
}

/// A kind of definition.
pub struct DefinitionKind {
    /// The id in a config.
    pub id: &'static str,
    /// What it draws, in one line.
    pub draws: &'static str,
    /// The options beside those that every mechanism has; parameters are not among them.
    pub choices: &'static [Choice],
}

/// Candidates weighed by an expression.
pub const WEIGHTS: DefinitionKind = DefinitionKind {
    id: "weights",
    draws: "r in R with weight exp(log_weight), an expression of yours",
    choices: &[Choice::Gamma, Choice::Calibrated],
};

/// Noise whose law is an expression.
pub const NOISE: DefinitionKind = DefinitionKind {
    id: "noise",
    draws: "counts plus whole noise t with weight exp(log_weight), an expression of yours; clamped",
    choices: &[Choice::Gamma, Choice::Calibrated],
};

/// A table of probabilities.
pub const TABLE: DefinitionKind = DefinitionKind {
    id: "table",
    draws: "outputs with the probabilities in a CSV file of yours",
    choices: &[Choice::Calibrated],
};

/// Every kind of definition.
pub const KINDS: &[DefinitionKind] = &[WEIGHTS, NOISE, TABLE];

/// Whether `id` names a kind of definition.
pub fn is_kind(id: &str) -> bool {
    KINDS.iter().any(|kind| kind.id == id)
}

impl Definition {
    /// The kind.
    pub fn kind(&self) -> &'static DefinitionKind {
        match self {
            Self::Weights { .. } => &WEIGHTS,
            Self::Noise { .. } => &NOISE,
            Self::Table { .. } => &TABLE,
        }
    }

    /// The expression, if there is one.
    pub fn log_weight(&self) -> Option<&str> {
        match self {
            Self::Weights { log_weight, .. } | Self::Noise { log_weight, .. } => Some(log_weight),
            Self::Table { .. } => None,
        }
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
                write!(f, "log_weight={log_weight:?} outputs={}", outputs.id())?;
            }
            Self::Noise { log_weight, on, .. } => {
                write!(f, "log_weight={log_weight:?} on={}", on.id())?;
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
) -> Result<&'static dyn Mechanism, Fault> {
    let log_weight = log_weight.to_owned();
    by_expression(Purpose::Weights, Definition::Weights { log_weight, outputs, parameters })
}

/// The mechanism whose noise has the weights e^`log_weight`.
pub fn noise(
    log_weight: &str,
    on: Noisy,
    parameters: Vec<Parameter>,
) -> Result<&'static dyn Mechanism, Fault> {
    let log_weight = log_weight.to_owned();
    by_expression(Purpose::Noise, Definition::Noise { log_weight, on, parameters })
}

/// The mechanism of a table of probabilities that stands at `path`.
pub fn table(path: String, digest: String, table: ProbabilityTable) -> &'static dyn Mechanism {
    kept(Definition::Table { path, digest }, || OwnLaw::Table(Box::leak(Box::new(table))))
}

fn by_expression(
    purpose: Purpose,
    definition: Definition,
) -> Result<&'static dyn Mechanism, Fault> {
    let vocabulary = Vocabulary { purpose, parameters: definition.parameters() };
    let text = definition.log_weight().unwrap_or_default();
    let expression =
        Expression::parse(text, &vocabulary).map_err(|fault| vocabulary.explained(text, fault))?;
    Ok(kept(definition, || OwnLaw::Expression(Box::leak(Box::new(expression)))))
}

/// The mechanism with this definition, kept as long as the program runs.
fn kept(definition: Definition, law: impl FnOnce() -> OwnLaw) -> &'static dyn Mechanism {
    static KNOWN: Mutex<BTreeMap<String, &'static Own>> = Mutex::new(BTreeMap::new());
    let key = format!("{} {definition}", definition.kind().id);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let found: &'static Own = known.entry(key).or_insert_with(|| {
        Box::leak(Box::new(Own { definition: Box::leak(Box::new(definition)), law: law() }))
    });
    found
}

/// A mechanism of the user's own.
struct Own {
    definition: &'static Definition,
    law: OwnLaw,
}

#[derive(Clone, Copy)]
enum OwnLaw {
    Expression(&'static Expression),
    Table(&'static ProbabilityTable),
}

impl Own {
    fn uses(&self, wanted: impl Fn(Name) -> bool) -> bool {
        match self.law {
            OwnLaw::Expression(expression) => {
                expression.variables().iter().any(|(variable, _)| wanted(Name::of(*variable)))
            }
            OwnLaw::Table(_) => false,
        }
    }

    /// The recipe. Whether all log weights are numbers is not examined if there are more than `examined`
    /// candidates.
    fn recipe_within(
        &self,
        setting: &Setting,
        options: &Options,
        sensitivities: Sensitivities,
        examined: f64,
    ) -> Result<Recipe, Refusal> {
        let (n, k) = (setting.posterior.n(), setting.posterior.k());
        let expression = match self.law {
            OwnLaw::Expression(expression) => expression,
            OwnLaw::Table(table) => {
                table.refuse_missing(&setting.posterior)?;
                return Ok(Recipe::Table { table, power: options.factor(setting) });
            }
        };
        refuse_missing_categories(expression, k)?;
        let gamma = options.gamma_or(setting.gamma);
        let constants = Constants::new(expression, setting, gamma, sensitivities)?;
        let factor = options.factor(setting);
        match *self.definition {
            Definition::Weights { outputs, .. } => {
                let weight = OwnWeight::new(expression, constants, outputs, factor);
                weights_recipe(weight, setting, examined)
            }
            Definition::Noise { on, .. } => {
                noise_recipe(OwnNoise::new(expression, constants, (n, k), factor), on)
            }
            Definition::Table { .. } => unreachable!("a table has no expression"),
        }
    }
}

/// Weights that are those of a built-in mechanism are computed as these are.
fn weights_recipe(weight: OwnWeight, setting: &Setting, examined: f64) -> Result<Recipe, Refusal> {
    let posterior = &setting.posterior;
    if weight.set() == OutputSet::Simplex && posterior.n() > 0 {
        if let Some(rate) = weight.rate(posterior, Name::H) {
            return Ok(Recipe::Exponential { rate });
        }
        let moved = weight.rate(posterior, Name::D);
        let moved = moved.or_else(|| Some(2.0 * weight.rate(posterior, Name::L1)?));
        if let Some(rate) = moved.filter(|&rate| rate > 0.0) {
            return Ok(Recipe::Hamming { rate, weights: CandidateWeights::Flat });
        }
    }
    let size = weight.set().region(posterior.n(), posterior.k()).size_bound();
    if !weight.is_by_score() && size > LARGEST_EXACT {
        return Err(Refusal::new(
            format!(
                "the expression weighs every candidate, and there are {size:.1e} ({LARGEST_EXACT:.0e} at \
                 most)"
            ),
            "use fewer records or categories, or an expression in H or d alone",
        ));
    }
    let weight = if size <= examined { weight.examined(setting)? } else { weight };
    Ok(Recipe::Weighed { weight })
}

/// Noise that falls as that of a built-in mechanism is computed as this is.
fn noise_recipe(noise: OwnNoise, on: Noisy) -> Result<Recipe, Refusal> {
    let restored = on == Noisy::First;
    Ok(match noise.geometric_rate() {
        Some(rate) => Recipe::Noise { noise: Noise::Geometric, scale: 1.0 / rate, restored },
        None => Recipe::OwnNoise { noise: noise.measured()?, restored },
    })
}

impl Mechanism for Own {
    fn id(&self) -> &'static str {
        self.definition.kind().id
    }

    fn title(&self) -> &'static str {
        self.definition.log_weight().unwrap_or(self.definition.kind().id)
    }

    fn draws(&self) -> &'static str {
        self.definition.kind().draws
    }

    fn choices(&self) -> &'static [Choice] {
        self.definition.kind().choices
    }

    fn uses_delta(&self) -> bool {
        self.uses(|name| matches!(name, Name::Delta | Name::SmoothBeta))
    }

    fn guarantee(&self, _: &Setting, _: &Options) -> Guarantee {
        Guarantee::Unstated
    }

    fn definition(&self) -> Option<&'static Definition> {
        Some(self.definition)
    }

    fn is_symmetric(&self) -> bool {
        match &self.law {
            OwnLaw::Expression(_) => !self.uses(|name| name.category().is_some()),
            OwnLaw::Table(_) => false,
        }
    }

    fn outline(&self, setting: &Setting, options: &Options) -> Result<Recipe, Refusal> {
        let candidates = approximate_compositions(setting.posterior.n(), setting.posterior.k());
        let sensitivities = match candidates <= FEW {
            true => Sensitivities::Exact,
            false => Sensitivities::One,
        };
        self.recipe_within(setting, options, sensitivities, FEW)
    }

    fn recipe(&self, setting: &Setting, options: &Options) -> Result<Recipe, Refusal> {
        self.recipe_within(setting, options, Sensitivities::Exact, f64::INFINITY)
    }
}
