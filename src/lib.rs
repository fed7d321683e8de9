//! dpbi: a laboratory for differentially private Bayesian inference.
//!
//! How can the posterior of categorical data (Beta-Binomial, Dirichlet-Multinomial) be released
//! privately, and how much accuracy does each way of doing it cost? dpbi answers with exact output
//! laws, and samples beside them.
//!
//! # The way of an experiment
//!
//! ```text
//! config ──► experiment ──► setting × mechanism ──► recipe ──► law ──► exact numbers, draws
//!                                                                            │
//!                       store ◄── figures ◄── tables ◄── cells ◄─────────────┘
//! ```
//!
//! # The wings, each using only those above it
//!
//! | wing | what it knows |
//! |---|---|
//! | [`base`] | numbers that keep their digits, random streams, messages, files |
//! | [`posterior`] | counts, priors, posteriors, distances, sensitivities, privacy parameters |
//! | [`mechanism`] | the mechanisms, one file each, and their exact laws and samplers |
//! | [`analysis`] | exact privacy loss, calibration, errors over all data sets, optimum, cost |
//! | [`paper`] | the documents' formulas, claims and printed numbers |
//! | [`figure`] | box plots, curves and heat maps, as SVG, PNG and PDF |
//! | [`experiment`] | configs, the kinds of experiments (one file each), cells, tables |
//! | [`run`] | carrying an experiment out, whole or in shards, and its results folder |
//! | [`service`] | the release of real data; the self-test |
//! | [`face`] | the command line, the terminal, the report |
//!
//! `tests/integration/wings.rs` reads this table and the imports of every file, and fails if one of
//! them points down the table.
//!
//! Comments cite the source documents by short names: `icml`, `arxiv`, `bounds`, `notes`, `early`;
//! the README lists them.

pub mod analysis;
pub mod base;
pub mod experiment;
pub mod face;
pub mod figure;
pub mod mechanism;
pub mod paper;
pub mod posterior;
pub mod run;
pub mod service;
