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
//! # The modules, each using only those above it
//!
//! | module | what it knows |
//! |---|---|
//! | [`numeric`] | sums, exp, differences of log-gammas that keep their digits |
//! | [`rng`] | the sole maker of random streams that can be drawn again |
//! | [`diagnostic`] | messages about bad input |
//! | [`filesystem`] | opening and making files where a stranger may have been |
//! | [`privacy`] | ε, δ, γ, guarantees |
//! | [`model`] | counts, priors, posteriors |
//! | [`simplex`] | walking outputs row by row and block by block |
//! | [`sensitivity`] | local, global and smooth sensitivities, without enumeration |
//! | [`field`] | a number for every output |
//! | [`distance`], [`metric`] | the fields: distances (scores and errors), other errors |
//! | [`setting`] | posterior, privacy parameters, distance |
//! | [`law`] | exact output laws and their samplers |
//! | [`mechanism`] | the mechanisms, one file each |
//! | [`workbench`] | what the mechanisms of one setting share |
//! | [`formula`] | the documents' own formulas and bounds |
//! | [`audit`] | exact privacy losses: every pair of adjacent data sets walked, or proved to lose less |
//! | [`tuning`] | exact calibration and Bayes-optimal remapping |
//! | [`expected`] | exact errors over all data sets of one size |
//! | [`choice`] | which mechanism to take |
//! | [`claims`], [`numbers`] | what the documents claim and print, judged |
//! | [`cost`] | predictions of time and memory |
//! | [`optimum`] | the least error of any private mechanism, by linear programming |
//! | [`stats`], [`table`] | summaries of samples; rows and CSV |
//! | [`reading`] | values read off printed figures, and whether ours explain them |
//! | [`figure`] | box plots and curves, as SVG and PNG |
//! | [`fault`] | cells that fail |
//! | [`experiment`] | experiments, one module for each kind, and the cells that they are made of |
//! | [`source`], [`data`], [`config`] | files: bundled or not, data, experiments |
//! | [`store`] | results folders: files, manifest, and the log of finished cells |
//! | [`sweep`] | an experiment carried out cell by cell, whole or in shards |
//! | [`release`] | one release of real data: counted, drawn in whole numbers, entered into a ledger |
//! | [`selftest`] | samplers against their exact laws, the engine against reference values, the machine |
//! | [`console`], [`digest`], [`answers`] | numbers and tables in short, and sentences, for people |
//! | [`report`] | one page with all that was regenerated, for people and for machines |
//! | [`progress`], [`interrupt`], [`cli`], [`command`] | the face |
//!
//! Comments cite the source documents by short names: `icml`, `arxiv`, `bounds`, `notes`, `early`;
//! the README lists them.

pub mod answers;
pub mod audit;
pub mod choice;
pub mod claims;
pub mod cli;
pub mod command;
pub mod config;
pub mod console;
pub mod cost;
pub mod data;
pub mod diagnostic;
pub mod digest;
pub mod distance;
pub mod expected;
pub mod experiment;
pub mod fault;
pub mod field;
pub mod figure;
pub mod filesystem;
pub mod formula;
pub mod interrupt;
pub mod law;
pub mod mechanism;
pub mod metric;
pub mod model;
pub mod numbers;
pub mod numeric;
pub mod optimum;
pub mod privacy;
pub mod progress;
pub mod reading;
pub mod release;
pub mod report;
pub mod rng;
pub mod selftest;
pub mod sensitivity;
pub mod setting;
pub mod simplex;
pub mod source;
pub mod stats;
pub mod store;
pub mod sweep;
pub mod table;
pub mod tuning;
pub mod workbench;
