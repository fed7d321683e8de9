//! Two services in addition to experiments: the release of real data, and the self-test.

pub mod release;
pub mod selftest;
