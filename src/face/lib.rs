//! What people see: the command line, the terminal, the report.

pub mod cli;
pub mod command;
pub mod failure;
pub mod interrupt;
pub mod progress;
pub mod report;
