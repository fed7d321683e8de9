//! The mechanisms that come with dpbi: one value for each, in a file for each family.

mod exponential;
mod hamming;
mod historical;
mod lattice;
mod noise;

pub use historical::HISTORICAL;

use super::{Choice, Mechanism, Options};
use crate::mechanism::law::Recipe;
use crate::posterior::privacy::Guarantee;
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

/// Every mechanism, in the order in which they are listed.
pub static ALL: &[&dyn Mechanism] = &[
    &noise::LSZHANG,
    &noise::LSDIM,
    &noise::LSHIST,
    &exponential::EHD,
    &exponential::EHDL,
    &exponential::EHDS,
    &exponential::MH_GAMMA,
    &exponential::MH_BETA,
    &noise::GEOMETRIC,
    &noise::GEOMETRIC_ALL,
    &hamming::HAMMING,
    &lattice::LATTICE,
    &hamming::TIGHT,
    &lattice::GEOMETRIC_TRUNCATED,
    &lattice::GAUSSIAN,
];

/// A mechanism that comes with dpbi. Its fields are what [`Mechanism`] asks for.
struct BuiltIn {
    id: &'static str,
    title: &'static str,
    draws: &'static str,
    colour: u32,
    choices: &'static [Choice],
    uses_delta: bool,
    guarantee: fn(&Setting, &Options) -> Guarantee,
    refusal: fn(&Setting) -> Option<Refusal>,
    recipe: fn(&Setting, &Options) -> Result<Recipe, Refusal>,
}

impl BuiltIn {
    /// What most of them have in common.
    const USUAL: Self = Self {
        id: "",
        title: "",
        draws: "",
        colour: 0,
        choices: &[],
        uses_delta: false,
        guarantee: |_, _| Guarantee::None,
        refusal: |_| None,
        recipe: |_, _| Err(Refusal::new("it has no recipe", "give it one")),
    };
}

impl Mechanism for BuiltIn {
    fn id(&self) -> &'static str {
        self.id
    }

    fn title(&self) -> &'static str {
        self.title
    }

    fn draws(&self) -> &'static str {
        self.draws
    }

    fn colour(&self) -> Option<u32> {
        Some(self.colour)
    }

    fn choices(&self) -> &'static [Choice] {
        self.choices
    }

    fn uses_delta(&self) -> bool {
        self.uses_delta
    }

    fn guarantee(&self, setting: &Setting, options: &Options) -> Guarantee {
        (self.guarantee)(setting, options)
    }

    fn refusal(&self, setting: &Setting) -> Option<Refusal> {
        (self.refusal)(setting)
    }

    fn recipe(&self, setting: &Setting, options: &Options) -> Result<Recipe, Refusal> {
        (self.recipe)(setting, options)
    }
}

/// ε-privacy of a mechanism that needs the divisor (or noise factor) `needed`; one that was chosen
/// smaller or larger costs or saves ε in proportion.
fn pure(setting: &Setting, needed: f64, chosen: Option<f64>) -> Guarantee {
    Guarantee::Pure(setting.epsilon.get() * needed / chosen.unwrap_or(needed))
}

/// The mechanism called `id` cannot do without a δ.
fn delta_is_missing(id: &str) -> Refusal {
    Refusal::new(format!("{id} needs a delta, and none is given"), "give one, for example 1e-8")
}
