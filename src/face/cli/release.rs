//! `dpbi release`.

use std::path::PathBuf;

use clap::Args;

use super::names::{self, Among};
use super::values::{delimiter, records};
use super::{Print, Threads};

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dpbi release --data survey.csv --column answer --categories no,yes \\\n    \
        --prior 1,1 --epsilon 1\n  \
    dpbi release --data survey.csv --column party --categories-from parties.txt \\\n    \
        --other others --prior 1 --epsilon 0.5 --ledger survey.ledger --budget 2\n  \
    dpbi release --data trial.csv --by arm --column outcome \\\n    \
        --categories arm=control,treated --categories outcome=no,yes \\\n    \
        --prior 1 --epsilon 1 --out trial.json\n\n\
    The number of records is public (unless --private-n); their categories are\n\
    what is protected.\n\
    Categories are declared, never read off the data. Noise is drawn in whole\n\
    numbers from the operating system's randomness. Every release spends its ε,\n\
    whatever becomes of its output: keep a ledger.")]
pub struct Release {
    /// The data: CSV, one record a row, with a first row that names the columns
    #[arg(long, value_name = "FILE", required_unless_present_any = ["n", "private_n"])]
    pub data: Option<PathBuf>,
    /// The column whose values are counted
    #[arg(long, value_name = "NAME")]
    pub column: String,
    /// A column that divides the records into groups. All cells are released as one histogram, at ε. May
    /// be repeated
    #[arg(long, value_name = "NAME")]
    pub by: Vec<String>,
    /// The categories, separated by commas; with --by once for every column, as NAME=A,B,…
    #[arg(long, value_name = "[NAME=]A,B,…", required_unless_present = "categories_from")]
    pub categories: Vec<String>,
    /// A file with a category on every line
    #[arg(long, value_name = "[NAME=]FILE")]
    pub categories_from: Vec<String>,
    /// The category that takes every value that is none of them [default: such a value is an error]
    #[arg(long, value_name = "[NAME=]CATEGORY")]
    pub other: Vec<String>,
    /// The sizes of the groups, if they are public and fixed by design: each group is then released on
    /// its own, at ε
    #[arg(long, value_name = "GROUP=N,…", requires = "by")]
    pub fixed_groups: Option<String>,
    /// Keep the number of records private: ε is about one record more or less (2ε about one that is replaced), and
    /// every count gets noise of rate ε
    #[arg(long)]
    pub private_n: bool,
    /// What separates the cells of a row: one character, or tab
    #[arg(long, value_name = "C", default_value = ",", value_parser = delimiter)]
    pub delimiter: u8,
    /// The prior: one number for all cells, one for each category of the column, one for each cell, or
    /// GROUP=A,B,… for every group
    #[arg(long, value_name = "A,B,…", required = true, allow_hyphen_values = true)]
    pub prior: Vec<String>,
    /// ε, a decimal number; it is taken exactly as it is written
    #[arg(long, value_name = "ε", allow_negative_numbers = true)]
    pub epsilon: String,
    /// geometric, geometric-all, tight or lattice [default: geometric for two cells; else tight, up to 10,000
    /// candidates and if ε is not so small that its weights may be negative; else lattice]
    #[arg(
        long,
        value_name = "ID",
        value_parser = Among(names::releasing),
        hide_possible_values = true
    )]
    pub mechanism: Option<String>,
    /// Print what would be spent, and how much would be learned, and release nothing. Of the data only the
    /// number of records is read
    #[arg(long, conflicts_with = "out")]
    pub dry_run: bool,
    /// The number of records, for a dry run without the data; if it is private, a supposition
    #[arg(long, value_name = "N", value_parser = records, requires = "dry_run")]
    pub n: Option<u64>,
    /// Enter the release into this file before anything of it is shown; none: nobody is to count
    #[arg(long, value_name = "FILE")]
    pub ledger: Option<PathBuf>,
    /// What all releases in the ledger may spend: the sum of their ε is at most E; or, with D, their
    /// exact composition has at most this δ at E [default: as set with an earlier release]
    #[arg(long, value_name = "E[,D]", allow_negative_numbers = true)]
    pub budget: Option<String>,
    /// Keep the release as a JSON file, for `dpbi posterior`
    #[arg(long, value_name = "FILE.json")]
    pub out: Option<PathBuf>,
    /// Release at an ε above 30, which protects nobody
    #[arg(long)]
    pub force: bool,
    /// Refused: noise that can be drawn again protects nobody
    #[arg(long, value_name = "N", hide = true)]
    pub seed: Option<String>,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub print: Print,
}
