//! The release of real data.
//!
//! ```text
//! public:   prior, ε, categories, n ──► method (mechanism, exact rate, price)
//! private:  file ──► counts ──► one draw ──► released counts
//! public:   released counts ──► posterior, noise-aware posterior, intervals
//! ```
//!
//! Between the two public sides stands [`Ready::draw`], and nothing else of the data passes: the
//! mechanism is chosen before the data are counted, and what is printed is computed from the
//! released counts.

mod accuracy;
mod amount;
mod aware;
mod credible;
mod discrete;
mod entropy;
mod ledger;
mod method;
mod tally;
mod weighed;

pub use accuracy::{Loss, Reason, choose, error_at_prior, error_near, expected_error, loss};
pub use amount::{Amount, AmountError};
pub use aware::Aware;
pub use credible::{BetaMixture, Interval};
pub use entropy::Entropy;
pub use ledger::{Account, Entry, LedgerError, enter, in_releases};
pub use method::{Method, Ready};
pub use tally::{Columns, Tally, count, read_text};
