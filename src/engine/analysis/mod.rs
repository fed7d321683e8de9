//! What can be said exactly about a mechanism: its privacy loss, that of many releases, its
//! calibration, its error under the prior predictive distribution, its rank among others, its distance
//! to the optimum, its cost.

pub mod audit;
pub mod composition;
pub mod cost;
pub mod optimum;
pub mod predictive_error;
pub mod ranking;
pub mod true_counts;
pub mod tuning;
