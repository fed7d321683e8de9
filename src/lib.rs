//! dpbi: a laboratory for differentially private Bayesian inference.
#![warn(missing_docs)]

pub mod cli;
pub mod command;
pub mod config;
pub mod console;
pub mod cost;
pub mod data;
pub mod diagnostic;
pub mod distance;
pub mod experiment;
pub mod field;
pub mod figure;
pub mod law;
pub mod mechanism;
pub mod metric;
pub mod model;
pub mod numeric;
pub mod privacy;
pub mod progress;
pub mod rng;
pub mod sensitivity;
pub mod setting;
pub mod simplex;
pub mod source;
pub mod stats;
pub mod store;
pub mod table;
pub mod workbench;
