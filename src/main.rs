//! The `dpbi` binary: reads the command line, carries it out, reports failures.

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Parser;
use dpbi::cli::Cli;
use dpbi::command;

fn main() -> ExitCode {
    match command::execute(&Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            let error = if colour { "\x1b[1;31merror:\x1b[0m" } else { "error:" };
            eprintln!("{error} {failure}");
            ExitCode::from(failure.status())
        }
    }
}
