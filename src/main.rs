//! The `dpbi` binary: reads the command line, carries it out, reports failures.

use std::process::ExitCode;

use dpbi::base::console::say_in_red;
use dpbi::face::cli::Cli;
use dpbi::face::command::{self, Failure};
use dpbi::face::interrupt;

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
            say_in_red(word, &failure);
            ExitCode::from(failure.status())
        }
    }
}
