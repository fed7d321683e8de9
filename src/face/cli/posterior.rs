//! `dpbi posterior`.

use std::path::PathBuf;

use clap::Args;

use super::values::{Draws, draws, records};
use super::{Answer, Threads};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dpbi posterior trial.json --compare yes --figure trial.svg\n  \
    dpbi posterior march.json april.json --ledger trial.ledger\n  \
    dpbi posterior --released 41,17,9 --noise 'discrete-laplace(epsilon=0.5)' \\\n    \
        --prior 1\n  \
    dpbi posterior --data cells.csv --by arm --column answer --count noisy \\\n    \
        --noise 'laplace(scale=2)' --rounded --clamped --prior 1 --compare yes\n\n\
    Several files must hold releases of the same records, with the same table and\n\
    prior. Whoever sees all of them has seen what all of them spent: the values\n\
    of ε add up.\n\n\
    Noise on every count, independent of the others:\n  \
    discrete-laplace(epsilon=E)  e^(-E |t|) for whole t; or scale=1/E\n  \
    discrete-gaussian(sigma=S)   e^(-t^2 / 2S^2) for whole t; or rho=1/(2S^2)\n  \
    laplace(scale=B)             e^(-|t|/B) for real t; or epsilon=1/B\n  \
    gaussian(sigma=S)            e^(-t^2 / 2S^2) for real t; or rho=1/(2S^2)\n  \
    EXPRESSION in t              the logarithm of the weight of a whole t\n\n\
    Everything is computed from the released counts. That costs no privacy.")]
pub struct Posterior {
    /// Files that `dpbi release --out` wrote, all of the same data
    #[arg(
        value_name = "FILE.json",
        required_unless_present_any = ["released", "data"],
        conflicts_with_all = ["released", "data", "noise", "prior", "n"]
    )]
    pub files: Vec<PathBuf>,
    /// Numbers that somebody else has released, one for every cell. Repeat it for several releases of the same
    /// counts
    #[arg(
        long,
        value_name = "A,B,…",
        allow_hyphen_values = true,
        requires = "noise",
        requires = "prior",
        conflicts_with = "data"
    )]
    pub released: Vec<String>,
    /// The same in a CSV file with a row for every cell
    #[arg(
        long,
        value_name = "FILE",
        requires = "column",
        requires = "count",
        requires = "noise",
        requires = "prior"
    )]
    pub data: Option<PathBuf>,
    /// The column of that file with the released numbers; several for several releases of the same counts
    #[arg(long, value_name = "NAME", value_delimiter = ',', requires = "data")]
    pub count: Vec<String>,
    /// The column of that file with the outcome
    #[arg(long, value_name = "NAME", requires = "data")]
    pub column: Option<String>,
    /// A column of that file with groups. May be repeated
    #[arg(long, value_name = "NAME", requires = "data")]
    pub by: Vec<String>,
    /// The names of the cells [default: 1, 2, …]
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', requires = "released")]
    pub labels: Vec<String>,
    /// The noise on every count; once, or once for every release
    #[arg(long, value_name = "NOISE", allow_hyphen_values = true)]
    pub noise: Vec<String>,
    /// Sums of counts and real noise were rounded to the nearest whole number
    #[arg(long, requires = "noise")]
    pub rounded: bool,
    /// Numbers below 0 were replaced by 0
    #[arg(long, requires = "noise")]
    pub clamped: bool,
    /// The prior: one number for all cells, one for each category of the column, one for each cell, or
    /// GROUP=A,B,… for every group
    #[arg(long, value_name = "A,B,…", allow_hyphen_values = true)]
    pub prior: Vec<String>,
    /// The number of records, if it is public
    #[arg(long, value_name = "N", value_parser = records)]
    pub n: Option<u64>,
    #[command(flatten)]
    pub question: Question,
    /// Draw the posterior of every group: FILE.svg, FILE.png or FILE.pdf
    #[arg(long, value_name = "FILE")]
    pub figure: Option<PathBuf>,
    /// Give joint draws of the shares, a column for each cell: into this file, or else instead of all other output
    #[arg(long, value_name = "N[,FILE.csv]", value_parser = draws)]
    pub draws: Option<Draws>,
    /// Check that this ledger has an entry of every release, with the same ε, mechanism and counts
    #[arg(long, value_name = "FILE", conflicts_with = "noise")]
    pub ledger: Option<PathBuf>,
    /// What is told in sentences: up to eight shares and the first six comparisons, or all of both
    #[arg(long, value_name = "WHICH", default_value = "first", value_parser = ["first", "all"], hide_possible_values = true)]
    pub sentences: String,
    /// Print only the sentences that can be published
    #[arg(long, conflicts_with_all = ["json", "table"])]
    pub text: bool,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub answer: Answer,
}

// What is asked of released counts.
#[derive(Debug, Args)]
pub struct Question {
    /// The probability of credible intervals
    #[arg(long, value_name = "P", default_value_t = 0.95, allow_negative_numbers = true)]
    pub level: f64,
    /// Compare the share of this category of the outcome between groups: those of the first column, over all others.
    /// May be repeated
    #[arg(long, value_name = "[NAME=]CATEGORY", value_delimiter = ',')]
    pub compare: Vec<String>,
    /// Compare the groups of the first column within each category of this other one. May be repeated
    #[arg(long, value_name = "NAME", value_delimiter = ',', requires = "compare")]
    pub within: Vec<String>,
    /// How the other columns count in a comparison: posterior (by their sizes) or equal (each of their combinations
    /// alike)
    #[arg(
        long,
        value_name = "WEIGHTS",
        default_value = "posterior",
        value_parser = ["posterior", "equal"],
        hide_possible_values = true,
        requires = "compare"
    )]
    pub weights: String,
    /// Also give intervals that hold for all cells at once
    #[arg(long)]
    pub joint: bool,
}
