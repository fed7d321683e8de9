//! What every mechanism needs: counts, priors, posteriors, the distances between posteriors, how far one
//! record can move them, and the privacy that is asked for and stated.

pub mod amount;
pub mod distance;
pub mod error_field;
pub mod metric;
pub mod model;
pub mod privacy;
pub mod sensitivity;
pub mod setting;
pub mod simplex;
