//! Commands about dpbi itself.

use clap::Args;

use super::names::{self, Among};
use super::{Print, Quiet, Threads};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dpbi selftest\n  \
    dpbi selftest --seed 2718 --json   the same draws again, for machines\n  \
    dpbi selftest --config mine.toml   the samplers of a config in its settings\n\n\
    Every sampler is compared with its exact law. Samplers whose scale is wrong by 5 % are built on \
    purpose and must be rejected. Exact numbers are compared with independent ones. The machine must \
    give the same bytes, whatever its processor and threads. This takes about half a minute on two \
    cores. The exit status is 3 if a test fails.")]
pub struct Selftest {
    /// Only the samplers of this config's mechanisms, in its settings
    #[arg(long, value_name = "FILE")]
    pub config: Option<String>,
    /// The seed of all draws, to repeat a test [default: from the operating system]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub print: Print,
    #[command(flatten)]
    pub talk: Quiet,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dpbi schema > dpbi.schema.json\n  \
    dpbi schema run                   what `dpbi run --json` prints\n  \
    dpbi schema release               also the format of `dpbi release --out`\n\n\
    Editors that know Taplo (VS Code: Even Better TOML) then complete and check a config while it is \
    typed, if its first line is `#:schema ./dpbi.schema.json`, as in the bundled configs.")]
pub struct Schema {
    /// The document that this command prints with --json [default: the config format]
    #[arg(value_parser = Among(names::commands), hide_possible_values = true)]
    pub command: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dpbi completions bash > ~/.local/share/bash-completion/completions/dpbi\n  \
    dpbi completions zsh > ~/.zfunc/_dpbi             with ~/.zfunc in $fpath\n  \
    dpbi completions fish > ~/.config/fish/completions/dpbi.fish")]
pub struct Completions {
    /// The shell: bash, elvish, fish, powershell or zsh
    #[arg(value_parser = Among(names::shells), hide_possible_values = true)]
    pub shell: String,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dpbi man > dpbi.1                     then: man -l dpbi.1\n  \
    dpbi man run > dpbi-run.1             one command")]
pub struct Man {
    /// One command only [default: all of dpbi]
    pub command: Option<String>,
}
