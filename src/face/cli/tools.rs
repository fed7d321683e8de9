//! Commands about dpbi itself.

use clap::{Args, Subcommand};

use super::names::{self, Among};
use super::{Print, Quiet, Threads};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dpbi selftest\n  \
    dpbi selftest --seed 2718 --json   the same draws again, for machines\n  \
    dpbi selftest --config mine.toml   the samplers of a config in its settings\n\n\
    Every sampler, also those of releases, is compared with its exact law by a G-test, which notices a scale \
    that is wrong by 5 %. This takes about a minute on two cores. The exit status is 3 if a test fails.")]
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
#[command(
    disable_help_subcommand = true,
    after_help = "Examples:\n  \
    dpbi generate schema > dpbi.schema.json\n  \
    dpbi generate schema run             what `dpbi run --json` prints\n  \
    dpbi generate schema release         also the format of `dpbi release --out`\n  \
    dpbi generate completions bash \\\n    \
        > ~/.local/share/bash-completion/completions/dpbi\n  \
    dpbi generate completions zsh > ~/.zfunc/_dpbi   with ~/.zfunc in $fpath\n  \
    dpbi generate completions fish > ~/.config/fish/completions/dpbi.fish\n  \
    dpbi generate man > dpbi.1           then: man -l dpbi.1\n\n\
    Editors that know Taplo (VS Code: Even Better TOML) complete and check a config while it is typed, if \
    its first line is `#:schema ./dpbi.schema.json`, as in the bundled configs."
)]
pub struct Generate {
    #[command(subcommand)]
    pub what: Generated,
}

#[derive(Debug, Subcommand)]
pub enum Generated {
    /// The config format, or what a command prints with --json, as a JSON Schema
    Schema {
        /// The document that this command prints with --json [default: the config format]
        #[arg(value_parser = Among(names::commands), hide_possible_values = true)]
        command: Option<String>,
    },
    /// Completions for a shell
    Completions {
        /// The shell: bash, elvish, fish, powershell or zsh
        #[arg(value_parser = Among(names::shells), hide_possible_values = true)]
        shell: String,
    },
    /// The manual page
    Man,
}
