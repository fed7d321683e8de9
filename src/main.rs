//! The `dpbi` binary: reads the command line, carries it out, reports failures.

use std::process::ExitCode;

use dpbi::base::console::{say_document, say_in_red};
use dpbi::base::system::outlive_file_limits;
use dpbi::face::cli::Cli;
use dpbi::face::command;
use dpbi::face::failure::Failure;

fn main() -> ExitCode {
    outlive_file_limits();
    let outcome = Cli::read().map_err(Failure::Input).and_then(|cli| command::execute(&cli));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let word = match failure {
                Failure::Interrupted(_) => "interrupted:",
                _ => "error:",
            };
            let remedy = failure.remedy().map(|remedy| format!("\n  help: {remedy}"));
            say_in_red(word, format!("{failure}{}", remedy.unwrap_or_default()));
            if let Some(text) = failure.appendix() {
                say_document(text);
            }
            ExitCode::from(failure.status())
        }
    }
}
