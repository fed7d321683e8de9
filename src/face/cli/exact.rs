//! Commands that compute exact numbers, without draws.

use std::path::PathBuf;

use clap::Args;

use super::names::{self, Among};
use super::values::{claim_number, count};
use super::{Answer, Calculation, Compared, Data, FigureOptions, Model, Privacy, Threads};

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
    /// Every case that was tested, with all numbers, as for claims that are named
    #[arg(short, long)]
    pub verbose: bool,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub answer: Answer,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dpbi inspect --prior 1,1 --counts 300,300 --epsilon 1\n  \
    dpbi inspect -p 1,1,1 -x 54,9,27 -e 0.5 -m ehds\n  \
    dpbi inspect --prior 1,1 --counts 300,300 --epsilon 1 --candidate 299,301\n  \
    dpbi inspect --prior 1,1 --counts 30,30 --epsilon 1 -m '{-epsilon*d}'\n  \
    dpbi inspect -p 1,1 -x 5,4 -e 1 -m ehd --law ehd.csv")]
#[command(mut_arg("force", |force| force.help("Show all mechanisms, however long that takes")))]
pub struct Inspect {
    #[command(flatten)]
    pub model: Model,
    #[command(flatten)]
    pub data: Data,
    #[command(flatten)]
    pub privacy: Privacy,
    /// β of the β-smooth sensitivity, instead of the one that δ gives
    #[arg(long, value_name = "β", allow_negative_numbers = true)]
    pub beta: Option<f64>,
    #[command(flatten)]
    pub mechanisms: Compared,
    /// Write the law of the one mechanism that is given, at all data sets of as many records, to a CSV
    /// file (counts, output, probability). A config reads it with id = "table"
    #[arg(long, value_name = "FILE")]
    pub law: Option<PathBuf>,
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
    pub calculation: Calculation,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dpbi audit --prior 1,1 --n 50 --epsilon 1 --mechanism ehds\n  \
    dpbi audit --prior 1,1 --n 50 --epsilon 1 --mechanism ehdl --calibrate\n  \
    dpbi audit --prior 1,1 --counts 5,4 --epsilon 1 --mechanism ehds --at-epsilon 0.5\n  \
    dpbi audit --prior 1,1 --n 50 --epsilon 1 --mechanism hamming --profile --json\n  \
    dpbi audit --prior 1,1 --n 50 --epsilon 1 -m '{-epsilon*H/(2*LS)}'")]
#[command(mut_arg("force", |force| force.help("Start even if it should take more than an hour")))]
pub struct Audit {
    #[command(flatten)]
    pub model: Model,
    #[command(flatten)]
    pub data: Data,
    #[command(flatten)]
    pub privacy: Privacy,
    #[command(flatten)]
    pub mechanisms: Compared,
    /// Which data sets of n records: all, or corners (at most three records outside one category)
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
    #[arg(long, value_name = "ε", allow_negative_numbers = true)]
    pub at_epsilon: Option<f64>,
    /// Move the ε in the weight until the exact loss over all data sets is ε
    #[arg(long)]
    pub calibrate: bool,
    /// Also δ at every ε up to the loss, and false alarms against misses of the worst pair
    #[arg(long)]
    pub profile: bool,
    #[command(flatten)]
    pub calculation: Calculation,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dpbi choose --prior 1,1 --n 100 --epsilon 1\n  \
    dpbi choose --prior 1,1 --n 100 --error 0.05          the least ε of each\n  \
    dpbi choose --prior 1,1,1 --n 20 --epsilon 0.5 --all  also those not private\n  \
    dpbi choose --prior 1,1 --n 100 --epsilon 1 -m 'ehd,{-epsilon*H^0.5}+calibrated'")]
#[command(mut_arg("force", |force| force.help("Leave no mechanism out, however long that takes")))]
pub struct Choose {
    #[command(flatten)]
    pub model: Model,
    #[command(flatten)]
    pub data: Data,
    /// ε (with --error only to see which mechanisms can be used)
    #[arg(
        short,
        long,
        value_name = "ε",
        allow_negative_numbers = true,
        required_unless_present = "error"
    )]
    pub epsilon: Option<f64>,
    /// Find the least ε from which on the mean error is at most this; with --counts not of remapped mechanisms
    #[arg(long, value_name = "H", allow_negative_numbers = true)]
    pub error: Option<f64>,
    #[command(flatten)]
    pub mechanisms: Compared,
    /// Also mechanisms that are not known to be private, and lsdim and mh-*
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub calculation: Calculation,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dpbi optimum --prior 1,1 --n 20 --epsilon 1\n  \
    dpbi optimum --prior 1,1 --n 20 --epsilon 0.1 --mechanism lshist,lshist+remap\n  \
    dpbi optimum --prior 1,1,1 --n 12 --epsilon 1 --minimax --json\n  \
    dpbi optimum --prior 1,1 --n 20 --epsilon 1 --delta 1e-2\n  \
    dpbi optimum --prior 1,1 --n 50 --epsilon 1 --out results --format png\n  \
    dpbi optimum --prior 1,1 --n 20 --epsilon 1 -m '{-epsilon*H^0.5}+calibrated'")]
#[command(mut_arg("force", |force| force.help("Start even if the linear program should need more memory than there is")))]
pub struct Optimum {
    #[command(flatten)]
    pub model: Model,
    #[command(flatten)]
    pub data: Data,
    #[command(flatten)]
    pub privacy: Privacy,
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
    #[command(flatten)]
    pub mechanisms: Compared,
    /// Also mechanisms that are not ε-private
    #[arg(long)]
    pub all: bool,
    /// Also each mechanism calibrated, remapped, and both, where that is possible
    #[arg(long)]
    pub tuned: bool,
    /// Write prices and flows that prove the least error to FILE; scripts/check_certificate.py checks them
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// Write the optimal mechanism to DIR/optimum/, as a table and a heat map
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub figures: FigureOptions,
    #[command(flatten)]
    pub calculation: Calculation,
}
