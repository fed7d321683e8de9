//! Differentially private releases of categorical data, exactly: the output law of every mechanism, its
//! privacy loss, its error, and how far it is from the optimum.
//!
//! ```text
//! setting × mechanism ──► recipe ──► law ──► exact numbers, draws
//! ```
//!
//! | module | what it knows |
//! |---|---|
//! | [`numeric`] | numbers that keep their digits, whatever the processor |
//! | [`expression`] | formulas that users write |
//! | [`named`] | things that a config calls by name |
//! | [`rng`] | random streams, each with a name |
//! | [`refusal`] | why something cannot be done, and what would help |
//! | [`text`] | texts of users as they are shown |
//! | [`posterior`] | counts, priors, posteriors, distances, sensitivities, privacy parameters |
//! | [`mechanism`] | the mechanisms, and their exact laws and samplers |
//! | [`analysis`] | exact privacy loss, calibration, errors over all data sets, optimum, cost |
//!
//! Comments cite the source documents by short names: `icml`, `arxiv`, `bounds`, `notes`, `early`;
//! the README lists them.

#![warn(missing_docs)]

pub mod analysis;
pub mod expression;
pub mod mechanism;
mod memo;
pub mod named;
pub mod numeric;
pub mod operations;
pub mod posterior;
pub mod refusal;
pub mod rng;
pub mod text;
