//! One mechanism at two adjacent data sets: which law compares them.

use super::hamming::{Hamming, HammingPair};
use super::lattice::LatticePair;
use super::noisy::{NoiseLaw, Noisy, NoisyPair};
use super::pair_comparison::PairComparison;
use super::pairs::Pair;
use super::scored::{Scored, ScoredPair};
use super::tabled::{Tabled, TabledPair};
use crate::mechanism::Variant;
use crate::mechanism::law::{LatticeNoise, Outputs, Recipe};
use crate::operations::{Operation, count};
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

/// What a mechanism does at one data set, prepared for comparisons.
pub enum Release {
    Scored(Scored),
    Noisy(Noisy),
    Hamming(Hamming),
    Lattice { rate: f64 },
    Tabled(Tabled),
}

/// Refuses a mechanism that cannot be audited, as far as that is known without any work.
pub fn check(variant: &Variant, setting: &Setting) -> Result<(), Refusal> {
    let (recipe, k) = (variant.outline(setting)?, setting.posterior.k());
    let is_tabled = match recipe {
        _ if variant.options.remap => false,
        Recipe::Lattice { noise: LatticeNoise::Geometric { .. } } => false,
        Recipe::Lattice { .. } => k > 2,
        Recipe::Weighed { .. } | Recipe::Table { .. } => true,
        Recipe::Exponential { .. }
        | Recipe::Noise { .. }
        | Recipe::OwnNoise { .. }
        | Recipe::Hamming { .. }
        | Recipe::Historical { .. } => false,
    };
    match is_tabled {
        true => refuse_many_outputs(variant, recipe, Outputs::of(recipe, setting.posterior.n(), k)),
        false => Ok(()),
    }
}

/// The most outputs whose probabilities are tabled.
const MOST_TABLED: f64 = 2e5;

/// Refuses a mechanism with too many outputs.
fn refuse_many_outputs(variant: &Variant, recipe: Recipe, outputs: Outputs) -> Result<(), Refusal> {
    let many = outputs.approximate_len();
    if many <= MOST_TABLED {
        return Ok(());
    }
    let own = variant.mechanism.definition().is_some();
    let clamped = if matches!(recipe, Recipe::Lattice { .. }) { "clamped " } else { "" };
    let cause = format!(
        "`{}` has {many:.1e} {clamped}outputs here, and an exact audit takes {MOST_TABLED:.0e} at most",
        variant.label
    );
    let remedy = match own {
        true => "use fewer records or categories",
        false => {
            "use fewer records or two categories; its δ before clamping is at most the one stated, \
             for every number of records"
        }
    };
    Err(Refusal::new(cause, remedy))
}

impl Release {
    /// The mechanism at the posterior of `setting`.
    pub fn new(variant: &Variant, setting: &Setting) -> Result<Self, Refusal> {
        let recipe = variant.recipe(setting)?;
        if let Some(remap) = &variant.remap {
            return Ok(Self::Tabled(Tabled::new(setting, recipe, Some(remap))));
        }
        Ok(match recipe {
            Recipe::Exponential { rate } => Self::Scored(Scored::new(setting, rate)),
            Recipe::Noise { noise, scale, restored } => {
                Self::Noisy(Noisy { law: NoiseLaw::Falling { noise, scale }, restored })
            }
            Recipe::OwnNoise { noise, restored } => Self::Noisy(Noisy::own(noise, restored)),
            Recipe::Hamming { rate, weights } => {
                Self::Hamming(Hamming::new(&setting.posterior, rate, weights))
            }
            Recipe::Lattice { noise: LatticeNoise::Geometric { rate } } => Self::Lattice { rate },
            Recipe::Lattice { noise } if setting.posterior.k() == 2 => {
                Self::Noisy(Noisy::on_a_line(noise))
            }
            Recipe::Historical { .. } => return Err(variant.historical_refusal()),
            Recipe::Lattice { .. } | Recipe::Weighed { .. } | Recipe::Table { .. } => {
                return Self::output_by_output(variant, setting, recipe);
            }
        })
    }

    /// The same, output by output.
    pub fn tabled(variant: &Variant, setting: &Setting) -> Result<Self, Refusal> {
        Self::output_by_output(variant, setting, variant.recipe(setting)?)
    }

    fn output_by_output(
        variant: &Variant,
        setting: &Setting,
        recipe: Recipe,
    ) -> Result<Self, Refusal> {
        let posterior = &setting.posterior;
        refuse_many_outputs(variant, recipe, Outputs::of(recipe, posterior.n(), posterior.k()))?;
        Ok(Self::Tabled(Tabled::new(setting, recipe, variant.remap.as_deref())))
    }

    /// A mechanism that does the same at all data sets of n records.
    pub fn everywhere(variant: &Variant, setting: &Setting) -> Result<Option<Self>, Refusal> {
        let is_same = match variant.recipe(setting)? {
            _ if variant.remap.is_some() => false,
            Recipe::Noise { .. } | Recipe::OwnNoise { .. } => true,
            Recipe::Lattice { noise: LatticeNoise::Geometric { .. } } => true,
            Recipe::Lattice { .. } => setting.posterior.k() == 2,
            Recipe::Exponential { .. }
            | Recipe::Weighed { .. }
            | Recipe::Hamming { .. }
            | Recipe::Historical { .. }
            | Recipe::Table { .. } => false,
        };
        is_same.then(|| Self::new(variant, setting)).transpose()
    }

    /// Whether this and another release of the same mechanism can be compared.
    pub fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
    }
}

/// Compares a mechanism at the two data sets of a pair.
pub fn compare<'a>(
    pair: &'a Pair,
    at_x: &'a Release,
    at_moved: &'a Release,
) -> Box<dyn PairComparison + 'a> {
    count(Operation::Pair, 1);
    match (at_x, at_moved) {
        (Release::Scored(at_x), Release::Scored(at_moved)) => {
            Box::new(ScoredPair { at_x, at_moved })
        }
        (Release::Noisy(noisy), Release::Noisy(_)) => Box::new(NoisyPair::new(noisy, pair)),
        (Release::Hamming(at_x), Release::Hamming(at_moved)) => {
            Box::new(HammingPair { pair, at_x, at_moved })
        }
        (&Release::Lattice { rate }, Release::Lattice { .. }) => {
            Box::new(LatticePair { pair, rate })
        }
        (Release::Tabled(at_x), Release::Tabled(at_moved)) => {
            Box::new(TabledPair { at_x, at_moved })
        }
        _ => unreachable!("a mechanism has laws of one kind"),
    }
}
