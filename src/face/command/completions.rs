//! `dpbi completions`.

use clap::CommandFactory;
use clap_complete::Shell;

use super::print_document;
use crate::cli::{Cli, Completions, names};
use crate::failure::Failure;
use engine::refusal::suggest;
use system::diagnostic::Diagnostic;

pub fn execute(args: &Completions) -> Result<(), Failure> {
    let shell: Shell = args.shell.parse().map_err(|_| {
        let names = names::shells();
        Diagnostic::new(format!("there are no completions for the shell `{}`", args.shell))
            .help(suggest(&args.shell, names.iter().map(String::as_str)))
    })?;
    print_document(&script(shell))
}

fn script(shell: Shell) -> String {
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "dpbi", &mut bytes);
    let script = String::from_utf8_lossy(&bytes).into_owned();
    if shell == Shell::Zsh { with_files(&script) } else { script }
}

/// Where the names of bundled configs are completed, zsh would complete nothing else: a config is
/// also a file.
fn with_files(script: &str) -> String {
    let names = names::configs().join(" ");
    let both =
        format!("{{_alternative \"bundled:bundled experiment:({names})\" \"files:file:_files\"}}");
    script.replace(&format!("({names})"), &both)
}
