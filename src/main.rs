//! The `dpbi` binary: reads the command line, carries it out, reports failures.

use std::io::IsTerminal;
use std::process::ExitCode;

use dpbi::cli::Cli;
use dpbi::command::{self, Failure};
use dpbi::console::say;
use dpbi::interrupt;

fn main() -> ExitCode {
    interrupt::outlive_file_limits();
    let outcome = Cli::read().map_err(Failure::Input).and_then(|cli| command::execute(&cli));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let word = match failure {
                Failure::Interrupted(_) => "interrupted:",
                _ => "error:",
            };
            let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            match colour {
                true => say(format!("\x1b[1;31m{word}\x1b[0m {failure}")),
                false => say(format!("{word} {failure}")),
            }
            ExitCode::from(failure.status())
        }
    }
}
