//! The ledger: what has been spent on a data set, and what is left.
//!
//! It is a text file with one line of JSON for each release. Each line ends with its own SHA-256, and
//! holds that of the line before it. An entry is on the disk before anything of its release is shown, and
//! holds the released counts: whenever a process ends, no spent ε is forgotten, and nothing that it paid
//! for is lost. While one process enters a release, others wait.
//!
//! ```text
//! {"epsilon":"1","budget":"10","previous":"…","time":…,"mechanism":…,"parts":[…],"sha256":"…"}⏎
//! ```
//!
//! The amount comes first, so that it is legible in an entry that was cut short. Hashes reveal
//! accidental changes, but do not prevent forgery: whoever can write the file can compute them, and can
//! remove whole lines at its end.

mod account;
mod entry;
mod torn;

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

pub use account::{Account, Budget, Kept, compose, in_releases};
pub use entry::{Entry, Part};
use torn::Torn;

use super::Amount;
use system::console::short;
use system::diagnostic::{Diagnostic, Place};
use system::filesystem::{is_at, sync_folder};
use system::platform;

/// Why a release was not entered.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The ledger cannot be used, or the budget does not suffice.
    #[error(transparent)]
    Refused(#[from] Diagnostic),
    /// It could not be written.
    #[error("cannot write the ledger {0}: {1}; nothing was released")]
    Write(PathBuf, io::Error),
}

/// Enters a release and returns once the entry is on the disk. `entry.previous` is filled in. For an
/// entry without a budget the last one that was set holds. `tell` is called with messages to the user.
pub fn enter(path: &Path, entry: Entry, tell: &dyn Fn(&str)) -> Result<Account, LedgerError> {
    let mut ledger = Ledger::open(path, tell)?;
    let account = ledger.admit(&entry)?;
    if let (Some(before), Some(budget)) = (ledger.lines.budget(), own_budget(&entry))
        && !budget.is_within(before)
    {
        let words = |Budget { epsilon, delta }: Budget| {
            let delta = delta.map_or(String::new(), |delta| format!(" with δ = {:?}", delta.get()));
            format!("{epsilon}{delta}")
        };
        tell(&format!("the budget is raised from {} to {}", words(before), words(budget)));
    }
    ledger.append(entry).map_err(|error| LedgerError::Write(path.to_owned(), error))?;
    Ok(account)
}

/// The entries of a ledger, which is not changed. `tell` is called with messages to the user.
pub fn read(path: &Path, tell: &dyn Fn(&str)) -> Result<Lines, Diagnostic> {
    let unusable = |cause: String| {
        Diagnostic::new(format!("cannot read the ledger {}: {cause}", path.display()))
            .help("name a ledger that `dpbi release --ledger FILE` has made")
    };
    refuse_other_than_files(path, unusable)?;
    let read = || {
        let mut file = File::open(path)?;
        file.lock_shared()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().map_err(|error: io::Error| unusable(error.to_string()))?;
    Lines::new(path, &bytes, tell)
}

/// The budget that is set with an entry.
fn own_budget(entry: &Entry) -> Option<Budget> {
    entry.budget.map(|epsilon| Budget { epsilon, delta: entry.delta })
}

/// What stands in a ledger.
pub struct Lines {
    /// The entries. If the last one was cut short, it is here as far as it is legible.
    pub entries: Vec<Entry>,
    /// The SHA-256 of the last whole line.
    last: String,
    /// Where that line ends.
    end: u64,
    ended: bool,
    /// What follows it, if an entry was cut short. If its amounts are legible, it is the last of the
    /// entries.
    torn: Option<Torn>,
}

/// A ledger that this process has locked.
struct Ledger {
    file: File,
    path: PathBuf,
    lines: Lines,
}

/// Opens a ledger, or creates one that only its owner can read: whoever knows all records but one can
/// find the last one from the hash of the data file.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    platform::private(&mut options).open(path)
}

/// Opens and locks a ledger. If it was replaced by another file while we waited, that one is opened.
fn open_alone(path: &Path, tell: &dyn Fn(&str)) -> io::Result<File> {
    loop {
        let file = open(path)?;
        lock(&file, tell)?;
        if is_at(&file, path)? {
            return Ok(file);
        }
    }
}

/// Locks a file. If another process has it, waits; after a second the user is told.
fn lock(file: &File, tell: &dyn Fn(&str)) -> io::Result<()> {
    const TRIES: u32 = 40;
    for _ in 0..TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(25)),
        }
    }
    tell("another release is writing to the ledger; waiting for it");
    file.lock()
}

/// Opening anything else than a file might wait forever.
fn refuse_other_than_files(
    path: &Path,
    unusable: impl Fn(String) -> Diagnostic,
) -> Result<(), Diagnostic> {
    match path.metadata() {
        Ok(metadata) if !metadata.is_file() => Err(unusable("it is not a file".into())),
        _ => Ok(()),
    }
}

impl Lines {
    /// Reads and checks the lines. The last one may have been cut short, if the machine stopped while it
    /// was written.
    fn new(path: &Path, bytes: &[u8], tell: &dyn Fn(&str)) -> Result<Self, Diagnostic> {
        let mut lines =
            Self { entries: Vec::new(), last: String::new(), end: 0, ended: true, torn: None };
        for (number, line) in (1..).zip(bytes.split_inclusive(|&byte| byte == b'\n')) {
            let (content, ended) = match line.strip_suffix(b"\n") {
                Some(content) => (content, true),
                None => (line, false),
            };
            let damaged = |cause: &str| {
                Diagnostic::new(format!("the ledger is damaged: {cause}"))
                    .at(Place::line(path.display().to_string(), number))
                    .help(
                        "restore it from a copy, because without it nobody knows what was spent; if \
                         this file is not a ledger, name another file",
                    )
            };
            let (entry, hash) = match Entry::parse(content) {
                Ok(parsed) => parsed,
                Err(cause) => {
                    let torn = || Torn::new(content, &lines.last, lines.end > 0);
                    lines.torn = Some((!ended).then(torn).flatten().ok_or_else(|| damaged(cause))?);
                    break;
                }
            };
            if entry.previous != lines.last {
                return Err(damaged("a line before this one was changed, removed or added"));
            }
            lines.last = hash;
            lines.end += line.len() as u64;
            lines.ended = ended;
            lines.entries.push(entry);
        }
        lines.recover(tell);
        Ok(lines)
    }

    /// Counts the ε of an entry that was cut short, if it is legible. A release is not shown before its
    /// entry is whole; but the file may have been shortened later.
    fn recover(&mut self, tell: &dyn Fn(&str)) {
        let Some(torn) = &self.torn else { return };
        let Some((epsilon, budget)) = torn.amounts else {
            return tell(
                "the last entry of the ledger was cut short before its ε: nothing was shown for it, \
                 and it is not counted",
            );
        };
        tell(&format!(
            "the last entry of the ledger was cut short: its ε = {epsilon} counts as spent"
        ));
        // The entry may lower the budget, but not raise it. Its δ is not known, so it has none.
        let lowers = |epsilon: &Amount| {
            let own = Budget { epsilon: *epsilon, delta: None };
            self.budget().is_none_or(|before| own != before && own.is_within(before))
        };
        self.entries.push(Entry::cut_short(epsilon, budget.filter(lowers)));
    }

    /// Refuses an entry that keeps the number of records private after others that have told it, and the other way
    /// round: their neighbours differ in other ways, so that the values of ε do not add up. All entries are of the
    /// kind of the first one. If that was cut short, nothing says its kind, and no entry is certain to be of it.
    pub fn refuse_mixture(&self, entry: &Entry) -> Result<(), Diagnostic> {
        let Some(first) = self.entries.first() else { return Ok(()) };
        let cause = match (first.private_n(), entry.private_n()) {
            (None, _) => {
                return Err(Diagnostic::new(
                    "the first entry of this ledger was cut short: nobody can read whether it keeps the number of \
                     records private, and ε of two kinds does not add up",
                )
                .help(
                    "restore the ledger from a copy; or begin a new one, with a budget that is smaller by what was \
                     spent",
                ));
            }
            (Some(false), Some(true)) => {
                "the releases in this ledger have told the number of records: it cannot be kept private any more"
            }
            (Some(true), Some(false)) => {
                "the releases in this ledger keep the number of records private, and this one would tell it"
            }
            _ => return Ok(()),
        };
        Err(Diagnostic::new(cause).help(
            "use --private-n in all releases of a ledger or in none: in them ε is about one record more or less, in \
             others about one that is replaced",
        ))
    }

    /// The last budget that was set.
    pub fn budget(&self) -> Option<Budget> {
        self.entries.iter().rev().find_map(own_budget)
    }
}

impl Ledger {
    fn open(path: &Path, tell: &dyn Fn(&str)) -> Result<Self, Diagnostic> {
        let unusable = |cause: String| {
            Diagnostic::new(format!("cannot use the ledger {}: {cause}", path.display())).help(
                "--ledger takes a file of its own, on a local disk; it is made if there is none",
            )
        };
        refuse_other_than_files(path, unusable)?;
        let mut file = open_alone(path, tell).map_err(|error| unusable(error.to_string()))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|error| unusable(error.to_string()))?;
        Ok(Self { file, path: path.to_owned(), lines: Lines::new(path, &bytes, tell)? })
    }

    /// Whether the budget suffices for one more.
    fn admit(&self, entry: &Entry) -> Result<Account, Diagnostic> {
        self.lines.refuse_mixture(entry)?;
        let entries = &self.lines.entries;
        let budget = own_budget(entry).or_else(|| self.lines.budget());
        let account = Account::new(entries.iter().chain([entry]), budget);
        let (Some(budget), true) = (account.budget, account.is_exceeded()) else {
            return Ok(account);
        };
        let before = Account::new(entries, None);
        let mut cause = format!(
            "the budget does not suffice: {} of {budget} is spent {}, and this one needs {}",
            before.total,
            in_releases(before.releases),
            entry.epsilon,
        );
        if let (Some(delta), Some(composed)) = (account.delta, account.composed) {
            cause += &format!(
                "; by exact composition δ would be {} at ε = {budget}, and {:?} is allowed",
                short(composed),
                delta.get(),
            );
        }
        let place = Place::line(self.path.display().to_string(), entries.len().max(1));
        Err(Diagnostic::new(cause).at(place).help(
            "use a smaller ε, use the earlier release, or raise --budget; every file released with \
             this ledger counts, because a changed file is still about the same people",
        ))
    }

    /// Appends an entry, after the one that was cut short, if any, and waits until it is on the disk.
    fn append(&mut self, entry: Entry) -> io::Result<()> {
        let lines = &self.lines;
        let mut text = if lines.ended { String::new() } else { "\n".to_owned() };
        let mut previous = lines.last.clone();
        let recovered = lines.torn.as_ref().and_then(|torn| torn.amounts).and(lines.entries.last());
        for entry in recovered.cloned().into_iter().chain([entry]) {
            let (line, hash) = Entry { previous, ..entry }.line()?;
            text += &line;
            text.push('\n');
            previous = hash;
        }
        let written = self.write(text.as_bytes());
        if written.is_err() {
            // A part of the entry may have been written, and would count as one that was cut short.
            let before = self.lines.torn.take().map_or_else(Vec::new, |torn| torn.bytes);
            let _ = self.replace_end(&before);
        }
        written
    }

    fn write(&mut self, text: &[u8]) -> io::Result<()> {
        self.replace_end(text)?;
        self.file.sync_all()?;
        if !is_at(&self.file, &self.path)? {
            return Err(io::Error::other("another file has replaced it meanwhile"));
        }
        // The name of a new file must be on the disk, too.
        if self.lines.end == 0
            && let Some(folder) = self.path.parent()
        {
            sync_folder(if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
        }
        Ok(())
    }

    /// Replaces everything after the last whole line.
    fn replace_end(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.set_len(self.lines.end)?;
        self.file.seek(SeekFrom::Start(self.lines.end))?;
        self.file.write_all(bytes)
    }
}

#[cfg(test)]
mod tests;
