//! `dpbi generate completions`.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::{Cli, names};
use crate::command::print_document;
use crate::failure::Failure;
use engine::refusal::suggest;
use system::diagnostic::Diagnostic;

pub(super) fn print(named: &str) -> Result<(), Failure> {
    let shell: Shell = named.parse().map_err(|_| {
        let names = names::shells();
        Diagnostic::new(format!("there are no completions for the shell `{named}`"))
            .help(suggest(named, names.iter().map(String::as_str)))
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
