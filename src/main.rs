//! The `dpbi` binary: reads the command line, carries it out, reports failures.

use std::process::ExitCode;

use face::cli::Cli;
use face::command;
use face::failure::Failure;
use lab::run::store::Build;
use system::console::{say_document, say_in_red};
use system::platform::outlive_file_limits;

fn main() -> ExitCode {
    outlive_file_limits();
    let (commit, rustc) = (env!("DPBI_COMMIT"), env!("DPBI_RUSTC"));
    Build { commit, rustc, platform: env!("DPBI_PLATFORM") }.declare();
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
