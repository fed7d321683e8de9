//! The inverse-sensitivity mechanism (not in the documents).

use super::{Choice, Mechanism, Options, pure};
use crate::mechanism::law::{CandidateWeights, Recipe};
use crate::posterior::privacy::Guarantee;
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

/// r in R with weight e^(−(ε/2) d(x, r)), d the Hamming distance between histograms, which one
/// record changes by at most 1.
pub struct Hamming;

const DIVISOR: f64 = 2.0;

impl Mechanism for Hamming {
    fn id(&self) -> &'static str {
        "hamming"
    }

    fn title(&self) -> &'static str {
        "Hamming"
    }

    fn draws(&self) -> &'static str {
        "r in R with weight exp(−(ε/2) d(x, r)), where d is the number of changed records"
    }

    fn choices(&self) -> &'static [Choice] {
        &[Choice::Divisor, Choice::Calibrated]
    }

    fn guarantee(&self, setting: &Setting, options: &Options) -> Guarantee {
        pure(setting, DIVISOR, options.divisor)
    }

    fn recipe(&self, setting: &Setting, options: &Options) -> Result<Recipe, Refusal> {
        let rate = options.inner(setting) / options.divisor.unwrap_or(DIVISOR);
        Ok(Recipe::Hamming { rate, weights: CandidateWeights::Flat })
    }
}
