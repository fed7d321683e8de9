//! Services in addition to experiments: the release of real data, priors from words, the self-test, and
//! how printed figures were made.

pub mod archaeology;
pub mod prior_from_words;
pub mod release;
pub mod selftest;
