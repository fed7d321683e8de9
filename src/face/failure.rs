//! Why a command ended without doing its work. Every error says its cause; the remedy, if there is
//! one, is asked for separately, so that `main` prints both in one form.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::interrupt;
use engine::analysis::optimum::OptimumError;
use figure::FigureError;
use lab::run::store::{FileError, OpenError};
use lab::run::sweep::AssemblyError;
use service::release::LedgerError;
use system::diagnostic::Diagnostic;

/// Why a command ended without doing its work.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The user's input cannot be used. A diagnostic shows its remedy itself.
    #[error(transparent)]
    Input(#[from] Diagnostic),
    /// Something else went wrong.
    #[error(transparent)]
    Broken(#[from] WorkError),
    /// The work was done, but what was asked to hold does not.
    #[error(transparent)]
    Verdict(#[from] VerdictError),
    /// The user wanted an end.
    #[error("{0}")]
    Interrupted(Continuation),
}

impl Failure {
    pub fn status(&self) -> u8 {
        match self {
            Self::Input(_) => 2,
            Self::Broken(_) => 1,
            Self::Verdict(_) => 3,
            Self::Interrupted(_) => interrupt::STATUS,
        }
    }

    /// A text that is printed as it is after the message.
    pub fn appendix(&self) -> Option<&str> {
        match self {
            Self::Broken(WorkError::Unprinted { text, .. }) => Some(text),
            _ => None,
        }
    }

    /// The message, and what a user can do about it.
    pub fn with_remedy(&self) -> String {
        let remedy = match self {
            Self::Broken(error) => error.remedy(),
            Self::Verdict(error) => error.remedy(),
            // A diagnostic shows its remedy itself.
            Self::Input(_) | Self::Interrupted(_) => None,
        };
        match remedy {
            Some(remedy) => format!("{self}\n  help: {remedy}"),
            None => self.to_string(),
        }
    }
}

/// Why work that could be begun was not done.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// A file could not be written or read.
    #[error(transparent)]
    File(#[from] FileError),
    /// A file of a run could not be written; how the run is continued.
    #[error("{0}")]
    Unwritten(#[source] FileError, Continuation),
    /// A run stopped by itself; how it is continued.
    #[error("{0}")]
    Stopped(Continuation),
    /// Tables could not be put together.
    #[error(transparent)]
    Assembly(#[from] AssemblyError),
    /// A figure could not be drawn.
    #[error("cannot draw: {0}")]
    Figure(#[from] FigureError),
    /// The optimum was not found.
    #[error(transparent)]
    Optimum(#[from] OptimumError),
    /// The ledger could not be written.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// Cells of a run failed.
    #[error("{}; see failures.csv", match .0 {
        1 => "1 cell failed".to_owned(),
        many => format!("{many} cells failed"),
    })]
    Cells(usize),
    /// Cells failed, of all that a reproduction has.
    #[error("{failed} of {all} cells failed; see failures.csv")]
    CellsOf { failed: usize, all: usize },
    /// Cells are in none of the shards that are joined.
    #[error("{missing} of {all} cells are in none of the shards")]
    CellsMissing { missing: usize, all: usize },
    /// A result could not be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// Standard output failed.
    #[error("cannot print: {0}")]
    Print(#[source] io::Error),
    /// The manual could not be made.
    #[error("cannot make the manual: {0}")]
    Manual(#[source] io::Error),
    /// Signals cannot be heard.
    #[error("cannot listen to signals: {0}")]
    Signals(#[source] io::Error),
    /// Threads could not be started.
    #[error("{0}")]
    Threads(String),
    /// The operating system has no random bits.
    #[error("the operating system gives no random bits: {0}")]
    Randomness(String),
    /// Standard output did not take a release. It is shown with the error, since it is paid for.
    #[error(
        "cannot print the release: {source}\n  ε = {spent} is spent{entered}. The release stands{kept} here, on \
         standard error:",
        entered = .ledger.as_ref().map_or_else(String::new, |ledger| format!(
            ", and the ledger {} has its entry",
            ledger.display()
        )),
        kept = .out.as_ref().map_or_else(String::new, |out| format!(" in {}, and", out.display()))
    )]
    Unprinted {
        /// What standard output said.
        source: io::Error,
        spent: String,
        /// The ledger, if there is one.
        ledger: Option<PathBuf>,
        /// The file that has the release, if there is one.
        out: Option<PathBuf>,
        text: String,
    },
}

impl WorkError {
    fn remedy(&self) -> Option<Cow<'static, str>> {
        match self {
            Self::Assembly(error) => error.remedy().map(Cow::Borrowed),
            Self::Unwritten(error, continuation) if error.is_full() => {
                Some(format!("make room: {continuation}").into())
            }
            Self::Unwritten(_, continuation) => Some(continuation.to_string().into()),
            _ => None,
        }
    }
}

/// What was asked to hold, and does not.
#[derive(Debug, thiserror::Error)]
pub enum VerdictError {
    /// `dpbi verify` found a difference.
    #[error("{0}")]
    Difference(String),
    /// `dpbi reproduce --strict` missed readings or numbers.
    #[error("{readings} readings and {numbers} numbers are not reproduced; see {}", report.display())]
    Strict {
        readings: usize,
        numbers: usize,
        /// The report that names them.
        report: PathBuf,
    },
    /// Parts of the self-test failed.
    #[error(
        "selftest: {} {}{}",
        failures.len(),
        if failures.len() == 1 { "failure" } else { "failures" },
        failures.iter().map(|failure| format!("\n  {failure}")).collect::<String>()
    )]
    Selftest { failures: Vec<String>, seed: u64 },
}

impl VerdictError {
    fn remedy(&self) -> Option<Cow<'static, str>> {
        match self {
            Self::Selftest { seed, .. } => {
                Some(format!("dpbi selftest --seed {seed} repeats it").into())
            }
            _ => None,
        }
    }
}

/// What is kept of work that ended early, and how to go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Continuation {
    /// Cells are kept in a folder.
    Cells {
        kept: usize,
        all: usize,
        folder: PathBuf,
        /// Whether the command had `--fresh`.
        fresh: bool,
    },
    /// All cells of a run are kept; only its files are not written.
    AllCells,
    /// What is finished of a reproduction is kept.
    Figures,
    /// The release is made.
    Released,
    /// Nothing was kept, and nothing changed.
    Unchanged,
    /// Nothing was kept.
    Nothing,
}

impl fmt::Display for Continuation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cells { kept, all, folder, fresh } => {
                let without = if *fresh { " without --fresh" } else { "" };
                let folder = folder.display();
                write!(
                    f,
                    "{kept} of {all} cells are kept in {folder}; the same command{without} continues"
                )
            }
            Self::AllCells => f.write_str("its cells are kept; the same command continues"),
            Self::Figures => {
                f.write_str("finished figures and cells are kept; the same command continues")
            }
            Self::Released => f.write_str(
                "the release is made and stands above; only what it says is not told. `dpbi posterior` \
                 tells it from a file of --out",
            ),
            Self::Unchanged => f.write_str("nothing else was changed; run the same command again"),
            Self::Nothing => f.write_str("run the same command again"),
        }
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Refused(diagnostic) => Self::Input(diagnostic),
            OpenError::Full(error) => error.into(),
        }
    }
}

impl From<LedgerError> for Failure {
    fn from(error: LedgerError) -> Self {
        match error {
            LedgerError::Refused(diagnostic) => Self::Input(diagnostic),
            other => Self::Broken(other.into()),
        }
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        Self::Broken(error.into())
    }
}

impl From<FigureError> for Failure {
    fn from(error: FigureError) -> Self {
        Self::Broken(error.into())
    }
}
