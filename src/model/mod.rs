//! The model: a Dirichlet prior, counts, and the posterior they give.

pub mod counts;
pub mod dirichlet;

pub use counts::{Counts, compositions, hamming_distance};
pub use dirichlet::{Posterior, Prior, PriorError};
