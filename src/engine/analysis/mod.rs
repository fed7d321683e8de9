//! What can be said exactly about a mechanism: its privacy loss, that of many releases, its
//! calibration, its error under the prior predictive distribution, its rank among others, its distance
//! to the optimum, how large all that is.

pub mod audit;
pub mod composition;
pub mod optimum;
pub mod predictive_error;
pub mod ranking;
pub mod size;
pub mod true_counts;
pub mod tuning;
