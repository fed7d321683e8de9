//! `dpbi release`.

use std::path::PathBuf;

use clap::Args;

use super::names::{self, Among};
use super::values::delimiter;
use super::{Print, Threads};

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
