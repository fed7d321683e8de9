//! The laboratory: experiments, and how they are carried out.

pub mod experiment;
pub mod run;
