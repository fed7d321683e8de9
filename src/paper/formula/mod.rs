//! The documents' own formulas and bounds, one file for each passage, as they are printed. Whether they
//! are true is tested in [`crate::claims`].
//!
//! All of them are about k = 2 categories unless they say otherwise.

pub mod laplace_error;
pub mod laplace_tail;
mod notes_laplace;
pub mod overtaking;
pub mod step_bounds;
pub mod steps;
pub mod table_one;
pub mod tail;

pub use notes_laplace::notes_laplace;
