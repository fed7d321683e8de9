//! Arithmetic that keeps its digits and does not depend on the processor.
//!
//! Everything that reaches a table goes through this module: elementary functions come from the
//! crate `libm` or from `exp.rs` and `ln.rs`, never from the standard library, whose last bits change with the
//! features of the CPU. Sums are compensated or made block by block in a fixed order.

pub mod beta;
pub mod bregman;
mod digits;
pub(crate) mod exp;
pub mod gamma;
pub mod jensen;
pub mod kernel;
mod ln;
pub mod log_affinity;
mod log_sum;
pub mod overlap;
pub(crate) mod rows;
pub(crate) mod scale;
pub(crate) mod stirling;
pub mod sum;
mod table;

pub use digits::{short, short_or_dash, significant, typed_around};
pub use libm::{exp as exp_accurate, expm1, lgamma, log as ln, log1p};
pub use log_sum::{ln_sum, relative};
pub use sum::Sum;
pub use table::Table;

/// ln 2⁻⁵⁴: a Bhattacharyya coefficient below e to this power no longer changes `1.0 - bc`, so
/// the distance is exactly 1 in double precision.
pub const LN_NEGLIGIBLE: f64 = -37.429_947_750_237_05;

/// The first number of `low..high` at which `holds`, or else `high`; `holds` changes from false to true once.
pub fn first_where(mut low: u64, mut high: u64, holds: impl Fn(u64) -> bool) -> u64 {
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    low
}
