//! The laboratory: what the papers say, experiments on it, and how they are carried out.

pub mod experiment;
pub mod paper;
pub mod run;
