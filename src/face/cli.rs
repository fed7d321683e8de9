//! The command line. Doc comments here are the help that users read.
#![allow(missing_docs)]

pub mod names;

use std::path::PathBuf;

use clap::builder::{TypedValueParser, styling};
use clap::error::{ContextKind, ContextValue};
use clap::{Args, CommandFactory, Parser, Subcommand};

use crate::base::diagnostic::{Diagnostic, suggest};
use crate::base::source::Source;
use crate::experiment::config::MOST_RUNS;
use crate::figure::Format;
use crate::run::store::{MOST_SHARDS, Shard};
use names::Among;

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
        dpbi run configs/beta_balanced.toml      run an experiment, write results/beta_balanced/\n  \
        dpbi check configs/real_data.toml        validate it and predict the work\n  \
        dpbi inspect --prior 1,1 --counts 300,300 --epsilon 1\n  \
        dpbi optimum --prior 1,1 --n 20 --epsilon 1      how good any private release could be\n  \
        dpbi release --help                      release the posterior of your own data\n  \
        dpbi list                                the bundled experiments\n  \
        dpbi reproduce                           every figure and claim of the documents, one report\n\n\
        Exit status: 0 done; 1 failed; 2 bad input; 3 a --strict verdict, a verification or a\n\
        self-test failed; 130 interrupted, with everything finished so far on disk."
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Option<Command>,
}

impl Cli {
    /// The command line of this process. What clap refuses it explains itself; a command that does
    /// not exist is compared with those that do, however short they are.
    pub fn read() -> Result<Self, Diagnostic> {
        Self::try_parse().or_else(|error| match unknown_command(&error) {
            Some(diagnostic) => Err(diagnostic),
            None => error.exit(),
        })
    }
}

fn unknown_command(error: &clap::Error) -> Option<Diagnostic> {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let cause = format!("dpbi has no command `{typed}`");
    let remedy = match Source::config(typed) {
        Ok(_) => format!("did you mean `dpbi run {typed}`?"),
        Err(_) => suggest_command(typed),
    };
    Some(Diagnostic::new(cause).help(remedy))
}

/// The commands that `typed` may be meant for.
#[must_use]
pub fn suggest_command(typed: &str) -> String {
    let cli = Cli::command();
    suggest(typed, cli.get_subcommands().map(clap::Command::get_name))
}

const STYLES: styling::Styles = styling::Styles::styled()
    .header(styling::AnsiColor::Blue.on_default().bold())
    .usage(styling::AnsiColor::Blue.on_default().bold())
    .literal(styling::AnsiColor::Green.on_default())
    .placeholder(styling::AnsiColor::Cyan.on_default());

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run experiments and write tables and figures to results/<name>/
    Run(Run),
    /// Regenerate the documents' figures, tables and claims, and write results/report.html
    Reproduce(Reproduce),
    /// Validate configs and predict the work, without running
    Check(Check),
    /// Draw the figures of results folders again, from their CSV files
    Plot(Plot),
    /// Join the results folders of shards
    Merge(Merge),
    /// Check results folders against their manifests, and compute a sample of them again
    Verify(Verify),
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
    /// Release the posterior of real data privately, once
    Release(Release),
    /// Test every sampler, the exact numbers and the machine, with the power of the tests stated
    Selftest(Selftest),
    /// The bundled experiments, and whether their results are present and current
    List(List),
    /// The config format as a JSON Schema, for editors
    Schema(Schema),
    /// Completions for a shell
    Completions(Completions),
    /// The manual page
    Man(Man),
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
    /// Start even if it needs more memory than there is, or more than 24 hours (an hour for audit, a
    /// minute for each mechanism of choose)
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
    /// Figure formats: svg, png, pdf, separated by commas, or none
    #[arg(long, value_name = "LIST", default_value = "svg,png", value_parser = format_list(), hide_possible_values = true)]
    pub format: Formats,
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
    /// δ, for mh-beta and the β-smooth sensitivity
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

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dpbi run configs/beta_balanced.toml\n  \
    dpbi run beta_balanced --runs 100 --format none      a bundled config, from any folder\n  \
    dpbi run icml/fig2                                   a figure of a document\n  \
    dpbi run configs/*.toml --threads 2 --out /tmp/results\n  \
    dpbi run configs/sweep.toml --shard 3/8 --out part3  the third of eight parts\n\n\
    A run that was interrupted or killed is continued by the same command: finished cells are kept.")]
pub struct Run {
    /// Experiment files, or the names of bundled experiments
    #[arg(
        required = true,
        value_name = "CONFIG",
        value_parser = Among(names::configs),
        hide_possible_values = true
    )]
    pub configs: Vec<String>,
    #[command(flatten)]
    pub output: Output,
    /// Compute everything again, instead of keeping the cells of an earlier run
    #[arg(long)]
    pub fresh: bool,
    /// Run only part I (from 1) of N parts that take about as long; `dpbi merge` joins them
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub shard: Option<Shard>,
    #[command(flatten)]
    pub replace: Replace,
    #[command(flatten)]
    pub machine: Machine,
    #[command(flatten)]
    pub print: Print,
    #[command(flatten)]
    pub talk: Verbosity,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dpbi reproduce                        every document, every claim\n  \
    dpbi reproduce icml arxiv/fig4        one document and one figure\n  \
    dpbi reproduce --strict --json        for machines: exit status 3 if a number or reading does not come out")]
pub struct Reproduce {
    /// Documents (icml), figures (icml/fig2) or the open questions (open) [default: all]
    #[arg(
        value_name = "DOC[/FIG]",
        value_parser = Among(names::documents),
        hide_possible_values = true
    )]
    pub names: Vec<String>,
    #[command(flatten)]
    pub output: Output,
    /// Compute everything again, instead of keeping the cells of an earlier run
    #[arg(long)]
    pub fresh: bool,
    /// Fail (exit status 3) if a number or a reading does not come out
    #[arg(long)]
    pub strict: bool,
    #[command(flatten)]
    pub replace: Replace,
    #[command(flatten)]
    pub machine: Machine,
    #[command(flatten)]
    pub print: Print,
    #[command(flatten)]
    pub talk: Verbosity,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dpbi plot results/beta_balanced --format pdf\n  \
    dpbi plot results/* --format png                  every figure again, from its CSV files")]
pub struct Plot {
    /// Results folders
    #[arg(required = true, value_name = "DIR")]
    pub folders: Vec<PathBuf>,
    /// Figure formats: svg, png, pdf, separated by commas
    #[arg(long, value_name = "LIST", default_value = "svg,png", value_parser = format_list(), hide_possible_values = true)]
    pub format: Formats,
    #[command(flatten)]
    pub print: Print,
    #[command(flatten)]
    pub talk: Quiet,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dpbi run configs/sweep.toml --shard 1/2 --out part1\n  \
    dpbi run configs/sweep.toml --shard 2/2 --out part2\n  \
    dpbi merge part1 part2 --out results              the same bytes as one run")]
pub struct Merge {
    /// Results folders of all shards, or the folders that hold one each
    #[arg(required = true, value_name = "DIR")]
    pub folders: Vec<PathBuf>,
    #[command(flatten)]
    pub output: Output,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub print: Print,
    #[command(flatten)]
    pub talk: Quiet,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dpbi verify results/beta_balanced\n  \
    dpbi verify results/* --cells 100                 a larger sample\n\n\
    Every file is hashed, the tables are made again from the kept cells, and a random sample of the\n\
    cells is computed again. Exit status 3 at the first difference, which is named.")]
pub struct Verify {
    /// Results folders
    #[arg(required = true, value_name = "DIR")]
    pub folders: Vec<PathBuf>,
    /// How many cells are computed again
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub cells: usize,
    /// Which cells: the same number gives the same ones [default: by chance]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub machine: Machine,
    #[command(flatten)]
    pub print: Print,
    #[command(flatten)]
    pub talk: Quiet,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dpbi claims                           all claims, under both distances\n  \
    dpbi claims 4 9 --distance hellinger  two of them, as defined")]
pub struct Claims {
    /// Numbers of claims [default: all]
    #[arg(value_name = "N", value_parser = claim_number(), hide_possible_values = true)]
    pub numbers: Vec<u32>,
    /// hellinger (as defined) or print (as the figures were drawn) [default: both]
    #[arg(
        long,
        value_name = "NAME",
        value_parser = Among(names::documented_distances),
        hide_possible_values = true
    )]
    pub distance: Option<String>,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub print: Print,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dpbi check configs/beta_balanced.toml\n  \
    dpbi check beta_balanced --runs 100000            how much longer with more runs\n  \
    dpbi check configs/*.toml --json                  for machines")]
pub struct Check {
    /// Experiment files, or the names of bundled experiments
    #[arg(
        required = true,
        value_name = "CONFIG",
        value_parser = Among(names::configs),
        hide_possible_values = true
    )]
    pub configs: Vec<String>,
    #[command(flatten)]
    pub replace: Replace,
    /// Figure formats to predict: svg, png, pdf, separated by commas, or none
    #[arg(long, value_name = "LIST", default_value = "svg,png", value_parser = format_list(), hide_possible_values = true)]
    pub format: Formats,
    /// Predict only part I (from 1) of N parts
    #[arg(long, value_name = "I/N", value_parser = shard)]
    pub shard: Option<Shard>,
    #[command(flatten)]
    pub machine: Machine,
    #[command(flatten)]
    pub print: Print,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dpbi inspect --prior 1,1 --counts 300,300 --epsilon 1\n  \
    dpbi inspect --prior 1,1,1 --counts 54,9,27 --epsilon 0.5 --mechanism geometric,ehds --json\n  \
    dpbi inspect --prior 1,1 --counts 300,300 --epsilon 1 --candidate 299,301")]
pub struct Inspect {
    #[command(flatten)]
    pub model: Model,
    /// The counts of the data
    #[arg(
        long,
        value_name = "X,Y,…",
        value_delimiter = ',',
        required = true,
        allow_negative_numbers = true,
        value_parser = count
    )]
    pub counts: Vec<u64>,
    /// ε
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    pub epsilon: f64,
    /// β of the β-smooth sensitivity, instead of the one that δ gives
    #[arg(long, value_name = "B", allow_negative_numbers = true)]
    pub beta: Option<f64>,
    /// Mechanisms, such as geometric, ehds+calibrated or lshist+remap [default: all that can be used]
    #[arg(
        long,
        value_name = "ID,…",
        value_delimiter = ',',
        value_parser = Among(names::mechanisms),
        hide_possible_values = true
    )]
    pub mechanism: Vec<String>,
    /// Also the distance of this posterior's counts from the data
    #[arg(
        long,
        value_name = "X,Y,…",
        value_delimiter = ',',
        allow_negative_numbers = true,
        value_parser = count
    )]
    pub candidate: Option<Vec<u64>>,
    #[command(flatten)]
    pub machine: Machine,
    #[command(flatten)]
    pub print: Print,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dpbi audit --prior 1,1 --n 50 --epsilon 1 --mechanism ehds\n  \
    dpbi audit --prior 1,1 --n 50 --epsilon 1 --mechanism ehdl --calibrate\n  \
    dpbi audit --prior 1,1,1 --counts 5,4,1 --epsilon 1 --mechanism lshist --at-epsilon 0.5\n  \
    dpbi audit --prior 1,1 --n 50 --epsilon 1 --mechanism hamming --profile --json")]
pub struct Audit {
    #[command(flatten)]
    pub model: Model,
    #[command(flatten)]
    pub data: Data,
    /// ε
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    pub epsilon: f64,
    /// The mechanism, such as ehds, ehds+calibrated or geometric+remap
    #[arg(
        long,
        value_name = "ID",
        value_parser = Among(names::mechanisms),
        hide_possible_values = true
    )]
    pub mechanism: String,
    /// Which data sets of n records: all, or corners (at most three records in one category)
    #[arg(
        long,
        value_name = "SCOPE",
        default_value = "all",
        conflicts_with = "counts",
        value_parser = Among(names::scopes),
        hide_possible_values = true
    )]
    pub scope: String,
    /// Also δ at this ε
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    pub at_epsilon: Option<f64>,
    /// Move the ε in the weight until the exact loss over all data sets is ε
    #[arg(long)]
    pub calibrate: bool,
    /// Also δ at every ε up to the loss, and false alarms against misses of the worst pair
    #[arg(long)]
    pub profile: bool,
    #[command(flatten)]
    pub machine: Machine,
    #[command(flatten)]
    pub print: Print,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dpbi choose --prior 1,1 --n 100 --epsilon 1\n  \
    dpbi choose --prior 1,1 --n 100 --error 0.05           the least ε of each\n  \
    dpbi choose --prior 1,1,1 --n 20 --epsilon 0.5 --all   also what is not private")]
pub struct Choose {
    #[command(flatten)]
    pub model: Model,
    #[command(flatten)]
    pub data: Data,
    /// ε (with --error only to see which mechanisms can be used)
    #[arg(
        long,
        value_name = "E",
        allow_negative_numbers = true,
        required_unless_present = "error"
    )]
    pub epsilon: Option<f64>,
    /// Find the least ε from which on the mean error is at most this
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    pub error: Option<f64>,
    /// Mechanisms, such as geometric, ehds+calibrated or lshist+remap [default: all private ones]
    #[arg(
        long,
        value_name = "ID,…",
        value_delimiter = ',',
        value_parser = Among(names::mechanisms),
        hide_possible_values = true
    )]
    pub mechanism: Vec<String>,
    /// Also mechanisms that are not known to be private
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub machine: Machine,
    #[command(flatten)]
    pub print: Print,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dpbi optimum --prior 1,1 --n 20 --epsilon 1\n  \
    dpbi optimum --prior 1,1 --n 20 --epsilon 0.1 --mechanism geometric,geometric+remap\n  \
    dpbi optimum --prior 1,1,1 --n 12 --epsilon 1 --minimax --json\n  \
    dpbi optimum --prior 1,1 --n 50 --epsilon 1 --out results --format png")]
pub struct Optimum {
    #[command(flatten)]
    pub model: Model,
    /// The number of records
    #[arg(long, value_name = "N", value_parser = records, allow_negative_numbers = true)]
    pub n: u64,
    /// ε
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    pub epsilon: f64,
    /// Also the least possible error at the worst data set
    #[arg(long)]
    pub minimax: bool,
    /// Which counts may be released: those with the data's total (same), or also smaller ones (below)
    #[arg(
        long,
        value_name = "SET",
        default_value = "same",
        value_parser = Among(names::release_sets),
        hide_possible_values = true
    )]
    pub release_set: String,
    /// Mechanisms to compare with it, such as geometric, ehds+calibrated or lshist+remap [default: all that are ε-private]
    #[arg(
        long,
        value_name = "ID,…",
        value_delimiter = ',',
        value_parser = Among(names::mechanisms),
        hide_possible_values = true
    )]
    pub mechanism: Vec<String>,
    /// Also mechanisms that are not ε-private
    #[arg(long)]
    pub all: bool,
    /// Also each mechanism calibrated, remapped, and both, where that is possible
    #[arg(long)]
    pub tuned: bool,
    /// Write the optimal mechanism to DIR/optimum/, as a table and a heat map
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Figure formats: svg, png, pdf, separated by commas, or none
    #[arg(long, value_name = "LIST", default_value = "svg,png", value_parser = format_list(), hide_possible_values = true)]
    pub format: Formats,
    #[command(flatten)]
    pub machine: Machine,
    #[command(flatten)]
    pub print: Print,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dpbi release --data survey.csv --column answer --categories no,yes \\\n    \
        --prior 1,1 --epsilon 1\n  \
    dpbi release --data survey.csv --column party --categories-from parties.txt \\\n    \
        --other others --prior 1,1,1 --epsilon 0.5 --ledger survey.ledger --budget 2\n\n\
    The number of records is public; their categories are what is protected.\n\
    Categories are declared, never read off the data. Noise is drawn in whole\n\
    numbers from the operating system's randomness. Every release spends its ε,\n\
    whatever becomes of its output: keep a ledger.")]
pub struct Release {
    /// The data: CSV, one record a row, with a first row that names the columns
    #[arg(long, value_name = "FILE")]
    pub data: PathBuf,
    /// The column whose values are counted
    #[arg(long, value_name = "NAME")]
    pub column: String,
    #[command(flatten)]
    pub categories: Categories,
    /// The category that takes every value that is none of them [default: such a value is an error]
    #[arg(long, value_name = "CATEGORY")]
    pub other: Option<String>,
    /// What separates the cells of a row: one character, or tab
    #[arg(long, value_name = "C", default_value = ",", value_parser = delimiter)]
    pub delimiter: u8,
    /// The prior's parameters, one for each category
    #[arg(
        long,
        value_name = "A,B,…",
        value_delimiter = ',',
        required = true,
        allow_negative_numbers = true
    )]
    pub prior: Vec<f64>,
    /// ε, a decimal number; it is taken exactly as it is written
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    pub epsilon: String,
    /// The mechanism, such as geometric or geometric+remap [default: the private one with the least
    /// exact error, by prior, ε and number of records]
    #[arg(
        long,
        value_name = "ID",
        value_parser = Among(names::mechanisms),
        hide_possible_values = true
    )]
    pub mechanism: Option<String>,
    /// The probability of credible intervals
    #[arg(long, value_name = "P", default_value_t = 0.95, allow_negative_numbers = true)]
    pub level: f64,
    /// Enter the release into this file before anything of it is shown
    #[arg(long, value_name = "FILE")]
    pub ledger: Option<PathBuf>,
    /// What all releases in the ledger may spend [default: as set with an earlier release]
    #[arg(long, value_name = "E", requires = "ledger", allow_negative_numbers = true)]
    pub budget: Option<String>,
    /// Refused: noise that can be drawn again protects nobody
    #[arg(long, value_name = "N", hide = true)]
    pub seed: Option<String>,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub print: Print,
}

/// The categories, declared.
#[derive(Debug, Args)]
#[group(required = true, multiple = false)]
pub struct Categories {
    /// The categories, separated by commas
    #[arg(long = "categories", value_name = "A,B,…", value_delimiter = ',')]
    pub listed: Option<Vec<String>>,
    /// A file with a category on every line
    #[arg(long = "categories-from", value_name = "FILE")]
    pub from: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dpbi selftest\n  \
    dpbi selftest --seed 2718 --json                  the same draws again, for machines\n\n\
    Every sampler is drawn from and compared with its exact law; samplers whose scale is wrong by\n\
    5 % are built on purpose and must be rejected; exact numbers are compared with independent\n\
    ones; and the machine must give the same bytes whatever its processor and threads.\n\
    About half a minute on two cores. Exit status 3 if anything is not as it should be.")]
pub struct Selftest {
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
    dpbi list                             what `dpbi run NAME` can run\n  \
    dpbi list --mechanisms                what each draws, and its options\n  \
    dpbi list --out /tmp/results --json   for machines")]
pub struct List {
    /// The mechanisms instead, with what they draw and their options
    #[arg(long)]
    pub mechanisms: bool,
    /// The folder for results
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub out: PathBuf,
    #[command(flatten)]
    pub print: Print,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dpbi schema > dpbi.schema.json\n\n\
    A config whose first line is `#:schema ./dpbi.schema.json` is then completed and checked while it\n\
    is typed, in every editor that knows Taplo (VS Code: Even Better TOML). The bundled configs have\n\
    such a line.")]
pub struct Schema {}

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

fn count(text: &str) -> Result<u64, String> {
    text.trim().parse().map_err(|_| "a count is a whole number, 0 or more, such as 300".to_owned())
}

fn records(text: &str) -> Result<u64, String> {
    let wrong = "a number of records is a whole number, 0 or more, such as 100";
    text.trim().parse().map_err(|_| wrong.to_owned())
}

fn shard(text: &str) -> Result<Shard, String> {
    let whole = |text: &str| text.trim().parse::<usize>().ok();
    let numbers = text.split_once('/').and_then(|(i, n)| Some((whole(i)?, whole(n)?)));
    let Some((index, count)) = numbers else {
        return Err("write I/N, such as 3/8 for the third of eight parts".to_owned());
    };
    Shard::new(index, count).ok_or_else(|| match count > MOST_SHARDS {
        true => format!("more than {MOST_SHARDS} parts would be too small"),
        false => format!(
            "part {index} of {count} does not exist: write I/N with I from 1 to N, such as 3/8"
        ),
    })
}

/// A list of formats, as one value.
#[derive(Clone, Debug)]
pub struct Formats(pub Vec<Format>);

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        _ if text == "tab" || text == "\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !b"\"\r\n\0 #".contains(byte) => Ok(*byte),
        _ => Err("it must be one character, such as ; or |, or tab".to_owned()),
    }
}

fn formats(list: &str) -> Result<Formats, String> {
    if list == names::NO_FORMAT {
        return Ok(Formats(Vec::new()));
    }
    let parse = |name: &str| {
        let unknown = |_| {
            let hint = suggest(name, names::formats().iter().map(String::as_str));
            format!("unknown figure format `{name}`; {hint}")
        };
        name.trim().parse::<Format>().map_err(unknown)
    };
    list.split(',').map(parse).collect::<Result<_, _>>().map(Formats)
}

fn format_list() -> impl TypedValueParser<Value = Formats> {
    Among(names::formats).try_map(|list| formats(&list))
}

fn claim(number: &str) -> Result<u32, String> {
    let wrong = "a claim is known by its number, such as 4; `dpbi claims` prints them all";
    number.trim().parse().map_err(|_| wrong.to_owned())
}

fn claim_number() -> impl TypedValueParser<Value = u32> {
    Among(names::claims).try_map(|number| claim(&number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn formats_are_a_list_or_none() {
        assert_eq!(formats("svg, png").unwrap().0, [Format::Svg, Format::Png]);
        assert!(formats("none").unwrap().0.is_empty());
        assert!(formats("svg,jpg").unwrap_err().contains("jpg"));
    }
}
