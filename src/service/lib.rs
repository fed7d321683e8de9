//! Services in addition to experiments: the release of real data, the self-test, and how printed
//! figures were made.

pub mod archaeology;
pub mod release;
pub mod selftest;
