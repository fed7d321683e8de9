//! The release of real data.
//!
//! ```text
//! public:   prior, ε, categories, n ──► method (mechanism, exact rate, price)
//! private:  file ──► counts ──► one draw ──► released counts
//! public:   released counts ──► posterior, noise-aware posterior, intervals
//! ```
//!
//! The data reach the output through [`Released::draw`] only: of the data, the choice of the mechanism knows
//! only their number n, and not even that if n is private. Everything that is printed is computed from the
//! released counts.
//!
//! ```
//! use engine::mechanism::{self, Mechanism};
//! use engine::posterior::model::Prior;
//! use engine::posterior::privacy::Epsilon;
//! use engine::posterior::setting::Setting;
//! use dpbi_service::release::{Amount, Entropy, Method};
//!
//! // Public: of the data only n = 100 is known.
//! let setting = Setting::new(Prior::new(vec![1.0, 1.0])?, 100, Epsilon::new(0.5)?);
//! let geometric = Mechanism::plain(mechanism::find("geometric").ok_or("no such mechanism")?);
//! let epsilon: Amount = "0.5".parse()?;
//! let method = Method::new(&geometric, &setting, epsilon)?;
//! assert_eq!(method.epsilon(), epsilon);
//!
//! // Private: the counts, and one draw.
//! let released = method.draw(&[37, 63], &mut Entropy::new()?);
//! assert_eq!(released.iter().sum::<u64>(), 100);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cells;
mod densities;
pub mod document;
mod entropy;
mod evidence;
mod findings;
mod ledger;
mod method;
mod posterior;
mod private_n;
mod profile;
mod prospect;
mod question;
mod released;
mod request;
pub mod sentences;
mod table;
mod tally;

pub use cells::Cells;
pub use densities::Density;
pub use engine::posterior::amount::Amount;
pub use entropy::Entropy;
pub use evidence::{Elsewhere, Evidence};
pub use findings::{
    Answer, Block, Compared, Estimate, Findings, JointIntervals, Median, Row, TablePosterior,
};
pub use ledger::{
    Account, Budget, Entry, Kept, LedgerError, Lines, Part, compose, enter, in_releases,
    read as read_ledger,
};
pub use method::{Method, check_releases, mechanisms, usual};
pub use posterior::{
    BetaMixture, CountsLaw, Estimated, FORMS, Interval, Law, PublishedNoise, Seen, draws,
    share_deviation,
};
pub use private_n::{MECHANISM as PRIVATE_N_MECHANISM, PrivateN};
pub use profile::profile;
pub use prospect::Prospect;
pub use question::Question;
pub use released::{Drawing, ONE_ROW, Released};
pub use request::{Histogram, Request};
pub use table::{Attribute, Margin, MarginRow, Table};
pub use tally::{Tally, count, count_records, read_text};
