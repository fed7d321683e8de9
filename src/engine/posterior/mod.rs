//! The mathematics without privacy noise: counts, priors, posteriors, the distances between
//! posteriors, and how far one record can move them.

pub mod amount;
pub mod distance;
pub mod error_field;
pub mod metric;
pub mod model;
pub mod privacy;
pub mod sensitivity;
pub mod setting;
pub mod simplex;
