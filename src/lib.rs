//! dpbi: a laboratory for differentially private Bayesian inference.
#![warn(missing_docs)]

pub mod data;
pub mod diagnostic;
pub mod distance;
pub mod field;
pub mod law;
pub mod mechanism;
pub mod metric;
pub mod model;
pub mod numeric;
pub mod privacy;
pub mod rng;
pub mod sensitivity;
pub mod setting;
pub mod simplex;
pub mod source;
pub mod workbench;
