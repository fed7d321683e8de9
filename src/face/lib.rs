//! What people see: the command line, the terminal, the report.

pub mod cli;
pub mod command;
pub mod embedded;
pub mod failure;
pub mod interrupt;
pub mod progress;
pub mod report;

use std::ffi::OsString;

use cli::Cli;
use engine::parallel;
use failure::{Continuation, Failure};
use lab::run::store::declare_command;
use system::console::{say_document, say_in_red};
use system::platform::outlive_file_limits;

/// The program: reads a command line, carries it out, reports failures, and returns the exit status.
pub fn program(arguments: &[OsString]) -> u8 {
    outlive_file_limits();
    declare_command(arguments);
    let outcome = Cli::read(arguments).map_err(Failure::Input);
    let cancelled = || Failure::Interrupted(Continuation::Unchanged);
    let execute = |cli: Cli| parallel::unless_cancelled(|| command::execute(&cli));
    let outcome = outcome.and_then(|cli| execute(cli).unwrap_or_else(|| Err(cancelled())));
    let Err(failure) = outcome else { return 0 };
    let word = match failure {
        Failure::Interrupted(_) => "interrupted:",
        _ => "error:",
    };
    say_in_red(word, failure.with_remedy());
    if let Some(text) = failure.appendix() {
        say_document(text);
    }
    failure.status()
}
