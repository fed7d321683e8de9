//! The documents' claims and their tests, one file for each claim.
//!
//! A claim's file holds its words, the cases in which it is tested, and the function that tests them.
//! No file holds a verdict: it is computed every time. A [`Finding`] says in which cases the claim is
//! true, and the verdict follows from that. Where the words of a document and what its authors meant
//! differ, there are two verdicts: as stated, and as meant.

mod alike_categories;
mod contest;
mod finding;
mod grid;
mod lab;
mod range;
mod verdict;

mod approximate_privacy;
mod concrete_epsilon;
mod good_answers;
mod growing_data;
mod growing_priors;
mod laplace_optimality;
mod large_epsilon;
mod lemmas;
mod loss_in_practice;
mod notes_theory;
mod pure_privacy;
mod real_data;
mod smooth_sensitivity;
mod step_bounds;
mod step_probabilities;
mod table_one;
mod tail_bounds;

use schemars::JsonSchema;
use serde::Serialize;

use engine::parallel;
use engine::posterior::distance::Distance;

pub use finding::{ClaimPart, Finding, Reading};
pub use lab::{Lab, balanced};
pub use verdict::{ONE_LINE, Outcome, Sentence, Verdict};

/// Every claim, in the order of the report.
pub static ALL: &[&Claim] = &[
    &table_one::CLAIM,
    &good_answers::CLAIM,
    &large_epsilon::CLAIM,
    &real_data::CLAIM,
    &loss_in_practice::CLAIM,
    &smooth_sensitivity::CLAIM,
    &pure_privacy::CLAIM,
    &approximate_privacy::CLAIM,
    &growing_data::CLAIM,
    &growing_priors::CLAIM,
    &notes_theory::CLAIM,
    &step_bounds::CLAIM,
    &laplace_optimality::CLAIM,
    &step_probabilities::CLAIM,
    &lemmas::CLAIM,
    &tail_bounds::CLAIM,
    &concrete_epsilon::CLAIM,
];

/// A claim of the documents.
#[derive(Serialize, JsonSchema)]
pub struct Claim {
    pub number: u32,
    /// The claim in a few words, for tables.
    pub title: &'static str,
    /// Where the documents make it.
    pub source: &'static str,
    /// The figures and tables on which it rests (`icml/fig4`).
    pub figures: &'static [&'static str],
    pub statement: &'static str,
    /// What the authors meant, where that is not what they wrote.
    pub meant: Option<&'static str>,
    /// It takes as long under one distance as about so many outputs: for the order of work, and for progress.
    #[serde(skip)]
    pub outputs: f64,
    #[serde(skip)]
    pub judge: fn(&Lab) -> Finding,
}

impl Claim {
    /// What is found under each of these distances.
    pub fn judged(&self, distances: &[&'static dyn Distance]) -> Vec<Finding> {
        parallel::map(distances, |&distance| (self.judge)(&Lab::new(distance)))
    }
}
