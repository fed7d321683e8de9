//! The command line. Doc comments here are the help that users read.

mod account;
mod exact;
mod experiments;
pub mod names;
mod posterior;
mod release;
mod shared;
mod tools;
mod values;

use std::ffi::OsString;

use clap::builder::styling;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use engine::refusal::suggest;
use system::console::{self, Hang, say_in_red};
use system::diagnostic::Diagnostic;
use system::source::Source;

pub use account::Account;
pub use exact::{Audit, Choose, Claims, Inspect, Optimum};
pub use experiments::{Check, Copy, List, Mechanisms, Merge, Plot, Reproduce, Run, Verify};
pub use posterior::{Posterior, Question};
pub use release::Release;
pub use shared::{
    Answer, Calculation, Compared, Configs, Data, FigureOptions, MOST_THREADS, Machine, Model,
    Output, Print, Privacy, Quiet, Replace, Threads, Verbosity,
};
pub use tools::{Generate, Generated, Selftest};
pub use values::{Draws, Formats, delimiter};

/// A laboratory for differentially private Bayesian inference.
///
/// How to release the posterior of categorical data privately, and how much accuracy each way of
/// doing it costs. Experiments are TOML files; results are CSV tables and figures.
#[derive(Debug, Parser)]
#[command(
    name = "dpbi",
    version,
    styles = STYLES,
    after_help = "Examples:\n  \
        dpbi run beta_balanced            run it, write results/beta_balanced/\n  \
        dpbi check real_data              validate it and count the work\n  \
        dpbi inspect -p 1,1 -x 300,300 -e 1\n  \
        dpbi optimum -p 1,1 -n 20 -e 1\n  \
        dpbi release --help               release the posterior of your own data\n  \
        dpbi list                         the bundled experiments\n  \
        dpbi reproduce                    every figure and claim of the documents\n\n\
        Exit status: 0 done; 1 failed; 2 bad input; 3 a --strict verdict, a verification or a \
        self-test failed; 130 interrupted, with everything finished so far on disk."
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
}

impl Cli {
    /// The command line of a process. What clap refuses it explains itself; a command that does
    /// not exist is compared with those that do, however short they are.
    pub fn read(arguments: &[OsString]) -> Result<Self, Diagnostic> {
        Self::parse_words(arguments).or_else(|error| {
            match unknown_command(&error, arguments).or_else(|| not_utf8(&error, arguments)) {
                Some(diagnostic) => Err(diagnostic),
                None => explain(&error),
            }
        })
    }

    /// The same for a command line that another program wrote: what clap refuses is a message, too.
    pub fn read_embedded(arguments: &[OsString]) -> Result<Self, Diagnostic> {
        Self::parse_words(arguments).map_err(|error| {
            unknown_command(&error, arguments).unwrap_or_else(|| {
                let text = error.render().to_string();
                let cause =
                    text.trim_start_matches("error: ").split("\n\n").next().unwrap_or_default();
                Diagnostic::new(cause.lines().map(str::trim).collect::<Vec<_>>().join(" "))
            })
        })
    }

    fn parse_words(arguments: &[OsString]) -> Result<Self, clap::Error> {
        let parse = |command: clap::Command| {
            let matches = command.term_width(console::width()).try_get_matches_from(arguments);
            matches.and_then(|matches| Self::from_arg_matches(&matches))
        };
        // Only a help text needs the groups.
        parse(Self::command()).or_else(|error| match error.kind() {
            ErrorKind::DisplayHelp => parse(grouped()),
            _ => Err(error),
        })
    }
}

/// Prints what clap has to say, in lines that fit the terminal, and ends the process.
fn explain(error: &clap::Error) -> ! {
    if error.use_stderr() {
        let text = error.render().to_string();
        say_in_red("error:", text.trim_end().trim_start_matches("error: "));
    } else {
        let help = error.render();
        // A reader that has gone away (`dpbi --help | head`) is not an error.
        let _ = console::emit_styled(&help.to_string(), &help.ansi().to_string());
    }
    std::process::exit(error.exit_code())
}

fn unknown_command(error: &clap::Error, arguments: &[OsString]) -> Option<Diagnostic> {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let mut cli = Cli::command();
    cli.build();
    // Some commands have commands of their own.
    let outer = arguments.get(1).and_then(|first| cli.find_subcommand(first)).unwrap_or(&cli);
    let cause = format!("{} has no command `{typed}`", outer.get_bin_name().unwrap_or("dpbi"));
    let remedy = match Source::config(typed) {
        Ok(_) => format!("did you mean `dpbi run {typed}`?"),
        Err(_) => suggest(typed, outer.get_subcommands().map(clap::Command::get_name)),
    };
    Some(Diagnostic::new(cause).help(remedy))
}

/// Names of configs and categories are texts; other paths need not be.
fn not_utf8(error: &clap::Error, arguments: &[OsString]) -> Option<Diagnostic> {
    if error.kind() != ErrorKind::InvalidUtf8 {
        return None;
    }
    let wrong = arguments.iter().find(|argument| argument.to_str().is_none())?;
    let cause = format!("`{}` is not text in UTF-8", wrong.display());
    Some(Diagnostic::new(cause).help("rename the file, or go to its folder and name it from there"))
}

const STYLES: styling::Styles = styling::Styles::styled()
    .header(styling::AnsiColor::Blue.on_default().bold())
    .usage(styling::AnsiColor::Blue.on_default().bold())
    .literal(styling::AnsiColor::Green.on_default())
    .placeholder(styling::AnsiColor::Cyan.on_default());

// The flags of a command are made when it is called. Groups of flags have no doc comments: these would replace
// what their command says of itself.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub enum Command {
    /// Run experiments and write tables and figures to results/<name>/
    Run(Run),
    /// Validate configs and say how large they are, without running
    Check(Check),
    /// Write a bundled config to a file, to change it
    Copy(Copy),
    /// Draw the figures of results folders again, or show them on one page
    Plot(Plot),
    /// Join the results folders of shards
    Merge(Merge),
    /// Check results folders against their manifests, and compute a sample of them again
    Verify(Verify),
    /// The bundled experiments, and whether their results are present and current
    List(List),
    /// Regenerate the documents' figures, tables and claims, and write results/report.html
    Reproduce(Reproduce),
    /// Judge what the documents claim
    Claims(Claims),
    /// Everything exact about one setting
    Inspect(Inspect),
    /// How private a mechanism really is: its exact loss, its δ at any ε, its calibration
    Audit(Audit),
    /// Which mechanism to take: their exact errors, or the least ε that is accurate enough
    Choose(Choose),
    /// How good any private mechanism could be, and how far the mechanisms are from it
    Optimum(Optimum),
    /// The mechanisms: what each draws, its guarantee and its options
    Mechanisms(Mechanisms),
    /// Release the posterior of real data privately, once
    Release(Box<Release>),
    /// What released counts tell: shares, comparisons, a figure
    Posterior(Box<Posterior>),
    /// What a ledger has spent: by addition and by exact composition
    Account(Account),
    /// Test every sampler against its exact law, with level and power stated
    Selftest(Selftest),
    /// Write a JSON Schema, completions for a shell, or the manual page
    Generate(Generate),
}

/// The commands by what they are about, in the order of the help.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Experiments", &["run", "check", "copy", "plot", "merge", "verify", "list"]),
    ("Documents", &["reproduce", "claims"]),
    ("One setting", &["inspect", "audit", "choose", "optimum", "mechanisms"]),
    ("Real data", &["release", "posterior", "account"]),
    ("This program", &["selftest", "generate", "help"]),
];

/// The command line, with its commands in groups.
fn grouped() -> clap::Command {
    let width = console::width();
    let mut command = Cli::command().term_width(width);
    command.build();
    let about = |name: &str| {
        let found = command.find_subcommand(name).and_then(clap::Command::get_about);
        found.map_or(String::new(), ToString::to_string)
    };
    let longest = GROUPS.iter().flat_map(|(_, names)| *names).map(|name| name.len()).max();
    let column = longest.unwrap_or(0);
    let mut text = String::new();
    for (heading, names) in GROUPS {
        text += &format!("{}:\n", painted(STYLES.get_header(), heading));
        for name in names {
            let gap = " ".repeat(column + 2 - name.len());
            let words = console::fold(&about(name), width - column - 4, Hang::NONE);
            let words = words.replace('\n', &format!("\n{}", " ".repeat(column + 4)));
            text += &format!("  {}{gap}{words}\n", painted(STYLES.get_literal(), name));
        }
        text.push('\n');
    }
    let template = format!(
        "{{before-help}}{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{text}{}:\n{{options}}{{after-help}}",
        painted(STYLES.get_header(), "Options")
    );
    Cli::command().help_template(template)
}

fn painted(style: &styling::Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_is_in_one_group() {
        let command = Cli::command();
        let mut all: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
        all.push("help");
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        all.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(all, grouped);
    }
}
