//! Differentially private releases of categorical data, exactly: the output law of every mechanism, its
//! privacy loss, its error, and how far it is from the optimum.
//!
//! ```text
//! setting × mechanism ──► recipe ──► law ──► exact numbers, draws
//! ```
//!
//! ```
//! use dpbi_engine::analysis::{audit, optimum, predictive_error};
//! use dpbi_engine::mechanism::law::{Exact, OutputSet};
//! use dpbi_engine::mechanism::{Variant, prepared::PreparedSetting};
//! use dpbi_engine::posterior::{metric::Metric, model::Prior, privacy::Epsilon, setting::Setting};
//!
//! // Ten records in two categories, released once with ε = 1.
//! let setting = Setting::new(Prior::new(vec![1.0, 1.0])?, vec![4, 6], Epsilon::new(1.0)?);
//! let geometric = Variant::parse("geometric")?;
//! // The law of the output at these data, and the mean error over all data.
//! let plan = geometric.plan(&setting)?;
//! let prepared = PreparedSetting::new(&setting, std::slice::from_ref(&plan), &[]);
//! let here = Exact::new(prepared.law(&plan).as_ref(), prepared.distance());
//! let metric = Metric::from_distance(setting.distance);
//! let error = predictive_error::over_all_data(&geometric, &setting, metric)?.ok_or("too large")?;
//! // The exact privacy loss, and the least error of any private mechanism.
//! let loss = audit::loss(&geometric, &setting, &audit::Scope::All)?.loss;
//! let least = optimum::solve(&setting, optimum::Goal::Bayes, OutputSet::Simplex)?;
//! assert!((here.p_exact - 0.4621).abs() < 1e-4 && (loss - 1.0).abs() < 1e-12);
//! assert!(least.lower <= error.mean && error.mean < 1.05 * least.upper);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | what it knows |
//! |---|---|
//! | [`numeric`] | numbers that keep their digits, whatever the processor |
//! | [`expression`] | formulas that users write |
//! | [`mod@named`] | things that a config calls by name |
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
pub mod parallel;
pub mod posterior;
pub mod refusal;
pub mod rng;
pub mod text;
