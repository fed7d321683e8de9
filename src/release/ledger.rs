//! The ledger: what has been spent on a data set, and what is left.
//!
//! A text file, one line of JSON for each release, each with the hash of the line before it. A
//! release is entered, and the entry is on the disk, before anything of the release is shown: a crash
//! can waste some ε, and never forget any. While one process enters, others wait.

use std::fs::{File, Metadata, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::amount::Amount;
use crate::diagnostic::{Diagnostic, Place};
use crate::store::{sha256, sync_folder};

/// One release.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// When, in UTC.
    pub time: String,
    /// The SHA-256 of the data file.
    pub data: String,
    /// The column that was counted.
    pub column: String,
    /// The mechanism.
    pub mechanism: String,
    /// What it spent, whatever becomes of its output.
    #[serde(with = "text")]
    pub epsilon: Amount,
    /// The budget that was set with it.
    #[serde(with = "optional_text", default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Amount>,
    /// The SHA-256 of the line before, empty in the first.
    pub previous: String,
}

/// What a release finds in the ledger, and leaves.
#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    /// Releases entered, this one among them.
    pub releases: usize,
    /// What all of them have spent, by composition: the sum. Whether a file is the same as an earlier
    /// one is not told: that would be an exact answer to a question about its records.
    pub total: Amount,
    /// What all may spend.
    pub budget: Option<Amount>,
}

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

/// Enters a release and returns once the entry is on the disk. `entry.previous` is filled in; an
/// entry without a budget is held to the last one that was set. `tell` hears what a user should know.
pub fn enter(path: &Path, entry: Entry, tell: &dyn Fn(&str)) -> Result<Account, LedgerError> {
    let mut ledger = Ledger::open(path, tell)?;
    let account = ledger.admit(&entry)?;
    let before = ledger.entries.iter().rev().find_map(|entry| entry.budget);
    if let (Some(before), Some(budget)) = (before, entry.budget)
        && budget > before
    {
        tell(&format!("the budget is raised from {before} to {budget}"));
    }
    ledger.append(entry).map_err(|error| LedgerError::Write(path.to_owned(), error))?;
    Ok(account)
}

/// "in one release", "in 5 releases".
#[must_use]
pub fn in_releases(count: usize) -> String {
    if count == 1 { "in one release".to_owned() } else { format!("in {count} releases") }
}

/// A ledger that nobody else can open.
struct Ledger {
    file: File,
    path: PathBuf,
    entries: Vec<Entry>,
    /// The hash of the last line.
    last: String,
    /// Where the last whole line ends.
    end: u64,
    /// Whether that line has its line end.
    ended: bool,
}

/// Opens a ledger, or makes one that only its owner can read: its hashes tell the file to whoever
/// knows all records but one.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Opens a ledger that nobody else has. If it was replaced by another file while we waited, that one
/// is it.
fn open_alone(path: &Path, tell: &dyn Fn(&str)) -> io::Result<File> {
    loop {
        let file = open(path)?;
        lock(&file, tell)?;
        if is_at(&file, path)? {
            return Ok(file);
        }
    }
}

/// Waits until nobody else has a file; after a second it says so.
fn lock(file: &File, tell: &dyn Fn(&str)) -> io::Result<()> {
    const TRIES: u32 = 40;
    for _ in 0..TRIES {
        match file.try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(25)),
        }
    }
    tell("another release is being entered into the ledger: waiting for it");
    file.lock()
}

/// Whether a file is still the one at its path. Where that cannot be told, a file that is open cannot
/// be replaced either.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let here = file.metadata()?;
    Ok(path.metadata().is_ok_and(|there| is_same_file(&here, &there).unwrap_or(true)))
}

/// Whether two files are one; `None` where the system has no numbers for its files.
#[must_use]
pub fn is_same_file(a: &Metadata, b: &Metadata) -> Option<bool> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        Some((a.dev(), a.ino()) == (b.dev(), b.ino()))
    }
    #[cfg(not(unix))]
    {
        let _ = (a, b);
        None
    }
}

impl Ledger {
    fn open(path: &Path, tell: &dyn Fn(&str)) -> Result<Self, Diagnostic> {
        let name = path.display();
        let unusable = |cause: String| {
            Diagnostic::new(format!("cannot use the ledger {name}: {cause}")).help(
                "--ledger takes a file of its own, on a local disk; it is made if there is none",
            )
        };
        // Opening anything else might wait forever.
        match path.metadata() {
            Ok(metadata) if !metadata.is_file() => return Err(unusable("it is no file".into())),
            _ => {}
        }
        let mut file = open_alone(path, tell).map_err(|error| unusable(error.to_string()))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(|error| unusable(error.to_string()))?;
        let mut ledger = Self {
            file,
            path: path.to_owned(),
            entries: Vec::new(),
            last: String::new(),
            end: 0,
            ended: true,
        };
        ledger.read(&bytes)?;
        if bytes.len() as u64 > ledger.end {
            tell(
                "the last line of the ledger was cut off: its release was never shown, and is not \
                 counted",
            );
        }
        Ok(ledger)
    }

    /// Reads the lines. A last one that was cut off belongs to a release that was never shown (the
    /// machine stopped while it was written), and is dropped.
    fn read(&mut self, bytes: &[u8]) -> Result<(), Diagnostic> {
        for (number, line) in (1..).zip(bytes.split_inclusive(|&byte| byte == b'\n')) {
            let (content, ended) = match line.strip_suffix(b"\n") {
                Some(content) => (content, true),
                None => (line, false),
            };
            let damaged = |cause: &str| {
                Diagnostic::new(format!("the ledger is damaged: {cause}"))
                    .at(Place::line(self.path.display().to_string(), number))
                    .help(
                        "restore it from a copy: without it nobody knows what has been spent; if \
                         this is another file, name one of its own",
                    )
            };
            let entry: Entry = match serde_json::from_slice(content) {
                Ok(entry) => entry,
                Err(error) if !ended && is_torn(content, &error) => return Ok(()),
                Err(_) => return Err(damaged("this line is no entry")),
            };
            if entry.previous != self.last {
                return Err(damaged("a line before this one was changed, removed or added"));
            }
            self.last = sha256(content);
            self.end += line.len() as u64;
            self.ended = ended;
            self.entries.push(entry);
        }
        Ok(())
    }

    /// Whether the budget suffices for one more.
    fn admit(&self, entry: &Entry) -> Result<Account, Diagnostic> {
        let before: Amount = self.entries.iter().map(|entry| entry.epsilon).sum();
        let last_budget = || self.entries.iter().rev().find_map(|entry| entry.budget);
        let account = Account {
            releases: self.entries.len() + 1,
            total: before + entry.epsilon,
            budget: entry.budget.or_else(last_budget),
        };
        match account.budget {
            Some(budget) if account.total > budget => {
                let cause = format!(
                    "the budget does not suffice: {before} of {budget} is spent {}, and this one needs {}",
                    in_releases(self.entries.len()),
                    entry.epsilon,
                );
                let place = Place::line(self.path.display().to_string(), self.entries.len().max(1));
                Err(Diagnostic::new(cause).at(place).help(
                    "use a smaller ε, what was released already, or a larger --budget; all files \
                     released with this ledger count, since a changed file is still about the same \
                     people",
                ))
            }
            _ => Ok(account),
        }
    }

    /// Appends an entry and waits until it is on the disk.
    fn append(&mut self, mut entry: Entry) -> io::Result<()> {
        entry.previous.clone_from(&self.last);
        let mut line = if self.ended { String::new() } else { "\n".to_owned() };
        line += &serde_json::to_string(&entry)?;
        line.push('\n');
        let written = self.write(line.as_bytes());
        if written.is_err() {
            // What was written of it would look like a line that was cut off; it is one.
            let _ = self.file.set_len(self.end);
        }
        written
    }

    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        self.file.set_len(self.end)?;
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(line)?;
        self.file.sync_all()?;
        if !is_at(&self.file, &self.path)? {
            return Err(io::Error::other("it was replaced by another file meanwhile"));
        }
        // A new file needs its name on the disk too, whoever made it.
        if self.entries.is_empty()
            && let Some(folder) = self.path.parent()
        {
            sync_folder(if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
        }
        Ok(())
    }
}

/// Whether this is the beginning of an entry, and nothing else.
fn is_torn(content: &[u8], error: &serde_json::Error) -> bool {
    content.starts_with(br#"{"time":""#) && error.is_eof()
}

/// Amounts as text: JSON's numbers are doubles to many readers.
mod text {
    use super::Amount;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(amount: &Amount, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(amount)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Amount, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

mod optional_text {
    use super::Amount;
    use serde::{Deserializer, Serializer};

    pub fn serialize<S: Serializer>(amount: &Option<Amount>, to: S) -> Result<S::Ok, S::Error> {
        match amount {
            Some(amount) => super::text::serialize(amount, to),
            None => to.serialize_none(),
        }
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Amount>, D::Error> {
        super::text::deserialize(from).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn entry(epsilon: &str, budget: Option<&str>) -> Entry {
        Entry {
            time: "2026-01-01T00:00:00Z".into(),
            data: "d".into(),
            column: "c".into(),
            mechanism: "geometric".into(),
            epsilon: epsilon.parse().unwrap(),
            budget: budget.map(|budget| budget.parse().unwrap()),
            previous: String::new(),
        }
    }

    fn enter(path: &Path, entry: Entry) -> Result<Account, LedgerError> {
        super::enter(path, entry, &|_| ())
    }

    fn in_folder(test: impl FnOnce(&Path)) {
        let folder = tempfile::tempdir().unwrap();
        test(&folder.path().join("ledger.jsonl"));
    }

    #[test]
    fn ten_tenths_are_one_and_the_eleventh_is_refused() {
        in_folder(|path| {
            for i in 1..=10 {
                let account = enter(path, entry("0.1", Some("1"))).unwrap();
                assert_eq!(account.releases, i);
            }
            let before = fs::read(path).unwrap();
            let error = enter(path, entry("0.1", Some("1"))).unwrap_err().to_string();
            assert!(error.contains("1 of 1 is spent in 10 releases"), "{error}");
            // Without a budget the last one holds.
            assert!(enter(path, entry("0.000000000000000001", None)).is_err());
            assert_eq!(fs::read(path).unwrap(), before);
            assert_eq!(enter(path, entry("1", Some("2"))).unwrap().total, "2".parse().unwrap());
        });
    }

    #[test]
    fn other_files_count_too_and_nobody_is_told_which_is_which() {
        in_folder(|path| {
            enter(path, Entry { data: "other".into(), ..entry("1", None) }).unwrap();
            let same = enter(path, entry("0.5", None)).unwrap();
            assert_eq!(same.total, "1.5".parse().unwrap());
            let refused = |data: &str| {
                let entry = Entry { data: data.into(), ..entry("1", Some("2")) };
                enter(path, entry).unwrap_err().to_string()
            };
            assert_eq!(refused("d"), refused("new"));
        });
    }

    #[cfg(unix)]
    #[test]
    fn only_its_owner_reads_it() {
        use std::os::unix::fs::PermissionsExt;
        in_folder(|path| {
            enter(path, entry("1", None)).unwrap();
            assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
        });
    }

    #[test]
    fn changes_are_noticed_and_torn_lines_dropped() {
        in_folder(|path| {
            for _ in 0..3 {
                enter(path, entry("1", None)).unwrap();
            }
            let text = fs::read_to_string(path).unwrap();
            let lines: Vec<&str> = text.lines().collect();
            let changed = text.replacen("\"epsilon\":\"1\"", "\"epsilon\":\"0\"", 1);
            let removed = [lines[0], lines[2], ""].join("\n");
            let notes = "notes of mine";
            let cut = format!("{}\n{}", lines[0], &lines[1].replace(':', ";"));
            for damaged in
                [changed.as_str(), &removed, "id,answer\n1,yes\n", "{}\n", notes, "{", &cut]
            {
                fs::write(path, damaged).unwrap();
                let error = enter(path, entry("1", None)).unwrap_err().to_string();
                assert!(error.starts_with("the ledger is damaged"), "{error}");
                assert_eq!(fs::read_to_string(path).unwrap(), damaged);
            }
            fs::write(path, [0; 4]).unwrap();
            assert!(enter(path, entry("1", None)).is_err());
            // Cut off in the middle of the last line; and without its line end.
            fs::write(path, &text[..text.len() - 20]).unwrap();
            assert_eq!(enter(path, entry("1", None)).unwrap().releases, 3);
            assert_eq!(fs::read_to_string(path).unwrap(), text);
            fs::write(path, text.trim_end()).unwrap();
            assert_eq!(enter(path, entry("1", None)).unwrap().releases, 4);
            assert_eq!(enter(path, entry("1", None)).unwrap().releases, 5);
        });
    }

    #[test]
    fn what_a_user_should_know_is_told() {
        in_folder(|path| {
            let told = std::cell::RefCell::new(Vec::new());
            let tell = |line: &str| told.borrow_mut().push(line.to_owned());
            super::enter(path, entry("1", Some("2")), &tell).unwrap();
            assert!(told.borrow().is_empty());
            super::enter(path, entry("1", Some("3")), &tell).unwrap();
            let text = fs::read_to_string(path).unwrap();
            fs::write(path, &text[..text.len() - 9]).unwrap();
            super::enter(path, entry("1", None), &tell).unwrap();
            let told = told.into_inner();
            assert_eq!(told[0], "the budget is raised from 2 to 3");
            assert!(told[1].contains("was cut off") && told.len() == 2, "{told:?}");
        });
    }

    #[test]
    fn a_folder_is_no_ledger() {
        let folder = tempfile::tempdir().unwrap();
        let error = enter(folder.path(), entry("1", None)).unwrap_err().to_string();
        assert!(error.contains("it is no file") && error.contains("help: "), "{error}");
        let missing = folder.path().join("no/such/ledger");
        assert!(matches!(enter(&missing, entry("1", None)), Err(LedgerError::Refused(_))));
    }
}
