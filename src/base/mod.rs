//! What everything stands on: numbers that keep their digits, expressions, random streams, messages,
//! files.

pub mod console;
pub mod diagnostic;
pub mod expression;
pub mod fault;
pub mod filesystem;
pub mod hash;
pub mod numeric;
pub mod operations;
pub mod rng;
pub mod source;
pub mod system;
