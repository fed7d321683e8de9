//! `dpbi release`, and the commands about what was released.

use std::path::PathBuf;

use clap::Args;

use super::names::{self, Among};
use super::values::{delimiter, records};
use super::{FigureFile, Print, TableOption, Threads};

const OF_POSTERIOR: &str = "Draw the posterior of every group: FILE.svg, FILE.png or FILE.pdf";

#[derive(Debug, Args)]
#[command(mut_arg("figure", |figure| figure.help(OF_POSTERIOR)))]
#[command(after_help = "Examples:\n  \
    dpbi release --data survey.csv --column answer --categories no,yes \\\n    \
        --prior 1,1 --epsilon 1\n  \
    dpbi release --data survey.csv --column party --categories-from parties.txt \\\n    \
        --other others --prior 1 --epsilon 0.5 --ledger survey.ledger --budget 2\n  \
    dpbi release --data trial.csv --by arm --column outcome \\\n    \
        --categories arm=control,treated --categories outcome=no,yes \\\n    \
        --prior 1 --epsilon 1 --compare yes --out trial.json\n\n\
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
    /// What is believed of the private number of records: flat, flat:MOST or negative-binomial:MEAN (with the sum
    /// of the prior as its shape) [default: flat]
    #[arg(long, value_name = "LAW", requires = "private_n")]
    pub n_prior: Option<String>,
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
    /// Compare the share of this category of the column between groups: those of the first --by, over all others.
    /// May be repeated
    #[arg(long, value_name = "[NAME=]CATEGORY", value_delimiter = ',')]
    pub compare: Vec<String>,
    /// Compare the groups of the first --by within each category of this other one. May be repeated
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub within: Vec<String>,
    /// How the other columns count in a comparison: posterior (by their sizes) or equal (each of their combinations
    /// alike) [default: posterior]
    #[arg(long, value_name = "WEIGHTS", value_parser = Among(names::weights))]
    pub weights: Option<String>,
    /// Print what would be spent, and the expected error, and release nothing. Of the data only the
    /// number of records is read
    #[arg(long, conflicts_with_all = ["out", "figure"])]
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
    /// Keep the release as a JSON file, for `dpbi show` and `dpbi combine`
    #[arg(long, value_name = "FILE.json")]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub figure: FigureFile,
    /// Also show what the released counts would tell if the noise were ignored
    #[arg(long)]
    pub naive: bool,
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

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dpbi show trial.json\n  \
    dpbi show trial.json --compare yes --figure trial.svg\n\n\
    Everything is computed again from the released counts. That costs no privacy.")]
pub struct Show {
    /// The file that `dpbi release --out` wrote
    #[arg(value_name = "FILE.json")]
    pub file: PathBuf,
    /// Also show what the released counts would tell if the noise were ignored
    #[arg(long)]
    pub naive: bool,
    /// Print only the sentences that can be published
    #[arg(long, conflicts_with_all = ["json", "table"])]
    pub text: bool,
    #[command(flatten)]
    pub view: View,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dpbi combine march.json april.json\n  \
    dpbi combine march.json april.json --ledger trial.ledger --figure both.svg\n\n\
    The files must hold releases of the same records, with the same table and\n\
    prior. Whoever sees all of them has seen what all of them spent: the values\n\
    of ε add up.")]
pub struct Combine {
    /// The files that `dpbi release --out` wrote
    #[arg(value_name = "FILE.json", required = true, num_args = 2..)]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub view: View,
}

#[derive(Debug, Args)]
#[command(mut_arg("figure", |figure| figure.help(OF_POSTERIOR)))]
#[command(after_help = "Examples:\n  \
    dpbi posterior --released 41,17,9 --noise 'discrete-laplace(epsilon=0.5)' \\\n    \
        --prior 1\n  \
    dpbi posterior --released 41,17,9 --noise 'discrete-gaussian(sigma=4)' \\\n    \
        --prior 1 --n 67 --labels no,maybe,yes\n  \
    dpbi posterior --data cells.csv --by arm --column answer --count noisy \\\n    \
        --noise 'laplace(scale=2)' --rounded --clamped --prior 1 --compare yes\n\n\
    Noise on every count, independent of the others:\n  \
    discrete-laplace(epsilon=E)  e^(-E |t|) for whole t; or scale=1/E\n  \
    discrete-gaussian(sigma=S)   e^(-t^2 / 2S^2) for whole t; or rho=1/(2S^2)\n  \
    laplace(scale=B)             e^(-|t|/B) for real t; or epsilon=1/B\n  \
    gaussian(sigma=S)            e^(-t^2 / 2S^2) for real t; or rho=1/(2S^2)\n  \
    EXPRESSION in t              the logarithm of the weight of a whole t\n  \
    FILE.csv                     columns t and probability\n\
    Add cells=M if a number is the sum of M noisy cells.\n\n\
    This reads what others have released. It says nothing about its privacy.")]
pub struct Posterior {
    /// The numbers that were released, one for every cell. Repeat it for several releases of the same counts
    #[arg(
        long,
        value_name = "A,B,…",
        allow_hyphen_values = true,
        required_unless_present = "data",
        conflicts_with = "data"
    )]
    pub released: Vec<String>,
    /// A CSV file with a row for every cell
    #[arg(long, value_name = "FILE", requires = "column", requires = "count")]
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
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', conflicts_with = "data")]
    pub labels: Vec<String>,
    /// The noise on every count; once, or once for every release
    #[arg(long, value_name = "NOISE", required = true, allow_hyphen_values = true)]
    pub noise: Vec<String>,
    /// Sums of counts and real noise were rounded to the nearest whole number
    #[arg(long)]
    pub rounded: bool,
    /// Numbers below 0 were replaced by 0
    #[arg(long)]
    pub clamped: bool,
    /// The prior: one number for all cells, one for each category of the column, one for each cell, or
    /// GROUP=A,B,… for every group
    #[arg(long, value_name = "A,B,…", required = true, allow_hyphen_values = true)]
    pub prior: Vec<String>,
    /// The number of records, if it is public
    #[arg(long, value_name = "N", value_parser = records, conflicts_with = "n_prior")]
    pub n: Option<u64>,
    /// What is believed of an unknown number of records: flat, flat:MOST or negative-binomial:MEAN (with the sum of
    /// the prior as its shape) [default: flat]
    #[arg(long, value_name = "LAW")]
    pub n_prior: Option<String>,
    /// The probability of credible intervals
    #[arg(long, value_name = "P", default_value_t = 0.95, allow_negative_numbers = true)]
    pub level: f64,
    /// Compare the share of this category of the column between groups: those of the first --by, over all others.
    /// May be repeated
    #[arg(long, value_name = "[NAME=]CATEGORY", value_delimiter = ',', requires = "by")]
    pub compare: Vec<String>,
    /// Compare the groups of the first --by within each category of this other one. May be repeated
    #[arg(long, value_name = "NAME", value_delimiter = ',', requires = "by")]
    pub within: Vec<String>,
    /// How the other columns count in a comparison: posterior (by their sizes) or equal (each of their combinations
    /// alike) [default: posterior]
    #[arg(long, value_name = "WEIGHTS", value_parser = Among(names::weights), requires = "by")]
    pub weights: Option<String>,
    #[command(flatten)]
    pub figure: FigureFile,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub print: Print,
    #[command(flatten)]
    pub tables: TableOption,
}

// What is shown of a release.
#[derive(Debug, Args)]
#[command(mut_arg("figure", |figure| figure.help(OF_POSTERIOR)))]
pub struct View {
    /// The probability of credible intervals [default: as released]
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    pub level: Option<f64>,
    /// Compare the share of this category between groups [default: as released]
    #[arg(long, value_name = "[NAME=]CATEGORY", value_delimiter = ',')]
    pub compare: Vec<String>,
    /// Compare the groups of the first column within each category of this other one [default: as released]
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub within: Vec<String>,
    /// How the other columns count in a comparison: posterior (by their sizes) or equal (each of their combinations
    /// alike) [default: as released]
    #[arg(long, value_name = "WEIGHTS", value_parser = Among(names::weights))]
    pub weights: Option<String>,
    #[command(flatten)]
    pub figure: FigureFile,
    /// Check that this ledger has an entry of every release, with the same ε, mechanism and counts
    #[arg(long, value_name = "FILE")]
    pub ledger: Option<PathBuf>,
    #[command(flatten)]
    pub threads: Threads,
    #[command(flatten)]
    pub print: Print,
    #[command(flatten)]
    pub tables: TableOption,
}
