//! What asks the system: the terminal, files, the bundled configs and data, and messages about input that
//! stands in a file.

pub mod console;
pub mod diagnostic;
pub mod fault;
pub mod filesystem;
pub mod hash;
pub mod platform;
pub mod source;
