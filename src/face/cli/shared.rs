//! Options that several commands understand.

use std::path::PathBuf;

use clap::Args;

use super::names::{self, Among};
use super::values::{Formats, count, figure_width, format_list, records};
use figure::Width;
use lab::experiment::config::MOST_RUNS;

/// The experiments.
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

/// How figures are drawn.
#[derive(Clone, Debug, Args)]
pub struct FigureOptions {
    /// Figure formats: svg, png, pdf, separated by commas, or none
    #[arg(long, value_name = "LIST", default_value = "svg,png", value_parser = format_list(), hide_possible_values = true)]
    pub format: Formats,
    /// Width of the figures; text: 6.75 inches, column: 3.25 inches, for papers set in two columns
    #[arg(long, value_name = "WIDTH", default_value = "text", value_parser = figure_width(), hide_possible_values = true)]
    pub width: Width,
}

/// How many threads.
#[derive(Debug, Args)]
pub struct Threads {
    /// Threads to use [default: all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MOST_THREADS))]
    pub threads: Option<u16>,
}

/// No machine is asked for more threads.
pub const MOST_THREADS: i64 = 1024;

/// What several commands understand.
#[derive(Debug, Args)]
pub struct Machine {
    #[command(flatten)]
    pub threads: Threads,
    /// Start even if it needs more memory than there is, or more than 24 hours (an hour for audit);
    /// choose and inspect leave no mechanism out, however long it takes
    #[arg(long)]
    pub force: bool,
}

/// What replaces a config's own values.
#[derive(Debug, Args)]
pub struct Replace {
    /// Replace the config's seed
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    pub seed: Option<u64>,
    /// Replace the config's number of runs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MOST_RUNS))]
    pub runs: Option<u64>,
}

/// What is written, and where.
#[derive(Debug, Args)]
pub struct Output {
    /// The folder for results
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub out: PathBuf,
    #[command(flatten)]
    pub figures: FigureOptions,
}

/// How much is said on the way.
#[derive(Debug, Args)]
pub struct Verbosity {
    /// Print nothing but errors
    #[arg(short, long, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say of each cell why it is computed or kept, and when it is done
    #[arg(short, long)]
    pub verbose: bool,
}

/// The same, where there is little to say.
#[derive(Debug, Args)]
pub struct Quiet {
    /// Print nothing but errors
    #[arg(short, long)]
    pub quiet: bool,
}

/// What is printed.
#[derive(Debug, Args)]
pub struct Print {
    /// Print one JSON document on standard output
    #[arg(long)]
    pub json: bool,
}

/// What a setting typed by hand consists of, beside the data and ε.
#[derive(Debug, Args)]
pub struct Model {
    /// The prior's parameters
    #[arg(
        long,
        value_name = "A,B,…",
        value_delimiter = ',',
        required = true,
        allow_negative_numbers = true
    )]
    pub prior: Vec<f64>,
    /// δ, for mh-beta, gaussian, geometric-truncated and the β-smooth sensitivity
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    pub delta: Option<f64>,
    /// γ, for ehds, mh-gamma and the γ-smooth sensitivity
    #[arg(long, value_name = "G", default_value_t = 1.0, allow_negative_numbers = true)]
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

/// The data, or how many they are.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct Data {
    /// The number of records
    #[arg(long, value_name = "N", value_parser = records, allow_negative_numbers = true)]
    pub n: Option<u64>,
    /// The counts of one data set
    #[arg(
        long,
        value_name = "X,Y,…",
        value_delimiter = ',',
        allow_negative_numbers = true,
        value_parser = count
    )]
    pub counts: Option<Vec<u64>>,
}
