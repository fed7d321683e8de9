//! The model: a Dirichlet prior, counts, and the posterior they give.

mod counts;
mod dirichlet;
mod predictive;

pub use counts::{
    Counts, MOST_RECORDS, approximate_compositions, compositions, hamming_distance, is_countable,
    neighbours, vector,
};
pub use dirichlet::{Posterior, Prior};
pub use predictive::Predictive;
