//! `dpbi account`.

use std::path::PathBuf;

use clap::Args;

use super::Print;

#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    dpbi account survey.ledger\n  \
    dpbi account survey.ledger --budget 3,1e-6\n  \
    dpbi account survey.ledger --pld account.json\n\n\
    The sum of all ε holds whatever was released. The exact composition is an upper\n\
    bound, too, and smaller. It holds if the mechanisms and their ε were fixed before\n\
    the first release. If they were chosen after a look at earlier releases, only the\n\
    sum holds. The ledger is read, and not changed.")]
pub struct Account {
    /// The ledger
    #[arg(value_name = "LEDGER")]
    pub ledger: PathBuf,
    /// The ε of the exact composition at this δ [default: that of the budget, or 1e-6]
    #[arg(long, value_name = "δ", allow_negative_numbers = true)]
    pub at_delta: Option<f64>,
    /// Say whether this budget is kept: by the sum of all ε or, with D, by the exact composition at this δ
    /// [default: the ledger's own, if it has one]
    #[arg(long, value_name = "E[,D]", allow_negative_numbers = true)]
    pub budget: Option<String>,
    /// Write the distribution of the privacy loss to this file, as JSON
    #[arg(long, value_name = "FILE")]
    pub pld: Option<PathBuf>,
    #[command(flatten)]
    pub print: Print,
}
