//! All tests that use dpbi from outside, as a library or as a program. One program, since linking
//! costs more than compiling: `cargo test --test integration shards` runs one module.
//!
//! The tests share a process, so none of them may change its environment, current folder, signal
//! handlers or panic hook; what needs such a change is done in a child process.

mod account;
mod audit;
mod changes;
mod choose;
mod claims;
mod claims_bounds;
mod cli;
mod common;
mod config_errors;
mod determinism;
mod distances;
mod documents;
mod face;
#[cfg(unix)]
mod figure_page;
mod fuzz;
mod golden;
#[cfg(unix)]
mod guide;
mod kinds;
mod optimum;
mod own;
mod own_commands;
mod papers;
mod phase;
mod posterior;
mod prior;
mod private_n;
mod release;
mod release_files;
mod schema;
mod selftest;
mod shards;
#[cfg(unix)]
mod strangers;
#[cfg(unix)]
mod survival;
mod table_posterior;
mod tables;
mod terminal;
mod tight;
mod tuning;
mod verify;
