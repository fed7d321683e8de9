//! Options that several commands understand.

use std::path::PathBuf;

use clap::Args;

use super::names::{self, Among};
use super::values::{
    Assignment, Formats, count, figure_width, folder_name, format_list, records, table_format,
};
use figure::Width;
use lab::experiment::config::{Change, MOST_RUNS};
use system::console::TableFormat;

// The experiments.
#[derive(Debug, Args)]
pub struct Configs {
    /// Experiment files, or the names of bundled experiments
    #[arg(
        required = true,
        value_name = "CONFIG",
        value_parser = Among(names::configs),
        hide_possible_values = true
    )]
    pub configs: Vec<String>,
}

// How figures are drawn.
#[derive(Clone, Debug, Args)]
pub struct FigureOptions {
    /// Figure formats: svg, png, pdf, separated by commas, or none [default: as before, at first svg,png]
    #[arg(long, value_name = "LIST", value_parser = format_list(), hide_possible_values = true)]
    pub format: Option<Formats>,
    /// Width of the figures; text: 6.75 inches, column: 3.25 inches, for papers set in two columns
    /// [default: as before, at first text]
    #[arg(long, value_name = "WIDTH", value_parser = figure_width(), hide_possible_values = true)]
    pub width: Option<Width>,
}

// How many threads.
#[derive(Debug, Args)]
pub struct Threads {
    /// Threads to use [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MOST_THREADS))]
    pub threads: Option<u16>,
}

/// No machine is asked for more threads.
pub const MOST_THREADS: i64 = 1024;

// What several commands understand.
#[derive(Debug, Args)]
pub struct Machine {
    #[command(flatten)]
    pub threads: Threads,
    /// Start even if it should need more memory than there is
    #[arg(long)]
    pub force: bool,
}

// What replaces a config's own values.
#[derive(Debug, Args)]
pub struct Replace {
    /// Replace the config's seed
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub seed: Option<u64>,
    /// Replace the config's number of runs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MOST_RUNS))]
    pub runs: Option<u64>,
    /// Set a key of the config to a TOML value, such as epsilon=0.5, 'prior=[2, 2]' or panel.runs=50 (in
    /// every panel); may be given several times
    #[arg(long, value_name = "KEY=VALUE", value_parser = Assignment)]
    pub set: Vec<Change>,
    /// The name of the results folder [default: the config's name, with what was set]
    #[arg(long, value_name = "NAME", value_parser = folder_name)]
    pub name: Option<String>,
}

// What is written, and where.
#[derive(Debug, Args)]
pub struct Output {
    /// The folder for results
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub out: PathBuf,
    #[command(flatten)]
    pub figures: FigureOptions,
}

// How much is said on the way.
#[derive(Debug, Args)]
pub struct Verbosity {
    /// Print nothing but errors
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say of each cell why it is computed or kept, and when it is done
    #[arg(short, long)]
    pub verbose: bool,
}

// The same, where there is little to say.
#[derive(Debug, Args)]
pub struct Quiet {
    /// Print nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
}

// How an exact answer is computed and printed.
#[derive(Debug, Args)]
pub struct Calculation {
    #[command(flatten)]
    pub machine: Machine,
    /// Show no progress
    #[arg(short, long)]
    pub quiet: bool,
    #[command(flatten)]
    pub answer: Answer,
}

// What is printed.
#[derive(Debug, Args)]
pub struct Print {
    /// Print one JSON document on standard output
    #[arg(long)]
    pub json: bool,
}

// The same, or a table for a paper or another program.
#[derive(Debug, Args)]
pub struct Answer {
    #[command(flatten)]
    pub print: Print,
    /// Print only the table, as markdown, latex (for booktabs) or csv
    #[arg(
        long,
        value_name = "FORMAT",
        value_parser = table_format(),
        hide_possible_values = true,
        conflicts_with = "json"
    )]
    pub table: Option<TableFormat>,
}

// What a setting typed by hand consists of, beside the data and ε.
#[derive(Debug, Args)]
pub struct Model {
    /// The prior's parameters
    #[arg(
        short,
        long,
        value_name = "A,B,…",
        value_delimiter = ',',
        required = true,
        allow_negative_numbers = true
    )]
    pub prior: Vec<f64>,
    /// δ, for mh-beta, gaussian, geometric-truncated and the β-smooth sensitivity
    #[arg(long, value_name = "δ", allow_negative_numbers = true)]
    pub delta: Option<f64>,
    /// γ, for ehds, mh-gamma and the γ-smooth sensitivity
    #[arg(long, value_name = "γ", default_value_t = 1.0, allow_negative_numbers = true)]
    pub gamma: f64,
    /// hellinger (as defined), print (as the figures were drawn), tv, kl, kl_reverse, renyi:ORDER, …
    #[arg(
        long,
        value_name = "NAME",
        default_value = "hellinger",
        value_parser = Among(names::distances),
        hide_possible_values = true
    )]
    pub distance: String,
}

// The data, or how many they are.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct Data {
    /// The number of records
    #[arg(short, long, value_name = "N", value_parser = records, allow_negative_numbers = true)]
    pub n: Option<u64>,
    /// The counts of one data set
    #[arg(
        short = 'x',
        long,
        value_name = "X,Y,…",
        value_delimiter = ',',
        allow_negative_numbers = true,
        value_parser = count
    )]
    pub counts: Option<Vec<u64>>,
}

// The privacy parameter of one setting.
#[derive(Debug, Args)]
pub struct Privacy {
    /// ε
    #[arg(short, long, value_name = "ε", allow_negative_numbers = true)]
    pub epsilon: f64,
}

// The mechanisms of one setting.
#[derive(Debug, Args)]
pub struct Compared {
    /// Mechanisms, separated by commas, such as geometric, ehds+calibrated or lshist+remap; one of your
    /// own as table:FILE, as `inspect --law` writes it, or as '{EXPR}': an expression for the logarithm of a
    /// candidate's weight, such as '{-epsilon*H/(2*LS)}', or, with t, of the weight of noise on all counts but
    /// the last, such as '{-epsilon*abs(t)}' [default: all that can be used; choose and optimum: the private ones]
    #[arg(
        short,
        long,
        value_name = "ID,…",
        value_parser = Among(names::mechanisms),
        hide_possible_values = true
    )]
    pub mechanism: Vec<String>,
}

impl Compared {
    /// What was named: at commas that do not stand in an expression, the lists are divided.
    pub fn named(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for list in &self.mechanism {
            let (mut depth, mut start) = (0_usize, 0);
            for (place, c) in list.char_indices() {
                match c {
                    '{' => depth += 1,
                    '}' => depth = depth.saturating_sub(1),
                    ',' if depth == 0 => {
                        names.push(&list[start..place]);
                        start = place + 1;
                    }
                    _ => {}
                }
            }
            names.push(&list[start..]);
        }
        names
    }

    /// Whether nothing was named.
    pub fn is_empty(&self) -> bool {
        self.mechanism.is_empty()
    }
}
