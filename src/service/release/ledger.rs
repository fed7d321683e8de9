//! The ledger: what has been spent on a data set, and what is left.
//!
//! It is a text file with one line of JSON for each release. Each line ends with its own SHA-256, and
//! holds that of the line before it. An entry is on the disk before anything of its release is shown:
//! a crash can waste some ε, but no spent ε is forgotten. While one process enters a release, others
//! wait.
//!
//! ```text
//! {"epsilon":"1","budget":"10","previous":"…","time":…,"mechanism":…,"sha256":"…"}⏎
//! ```
//!
//! The amount comes first, so that it is legible in an entry that was cut short. Hashes reveal
//! accidental changes, but do not prevent forgery: whoever can write the file can compute them, and can
//! remove whole lines at its end.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::amount::Amount;
use crate::base::diagnostic::{Diagnostic, Place};
use crate::base::filesystem::sync_folder;
use crate::base::system::{self, is_same_file};
use crate::run::store::sha256;

/// One release.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The ε that it spent, whatever becomes of its output.
    #[serde(with = "text")]
    pub epsilon: Amount,
    /// The budget that was set with it.
    #[serde(with = "optional_text", default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Amount>,
    /// The SHA-256 of the line before, empty in the first.
    pub previous: String,
    /// When, in UTC.
    pub time: String,
    /// The SHA-256 of the data file.
    pub data: String,
    /// The column that was counted.
    pub column: String,
    /// The mechanism.
    pub mechanism: String,
}

/// The beginning of every line.
const START: &str = "{\"epsilon\":\"";

/// The text before the budget, if there is one.
const BUDGET: &str = ",\"budget\":\"";

/// The text before a line's own SHA-256, which is computed from everything before this text.
const OWN: &str = ",\"sha256\":\"";

impl Entry {
    /// Its line, without the line end, and the line's SHA-256.
    fn line(&self) -> serde_json::Result<(String, String)> {
        let text = serde_json::to_string(self)?;
        let open = text.strip_suffix('}').unwrap_or(&text);
        let hash = sha256(open.as_bytes());
        Ok((format!("{open}{OWN}{hash}\"}}"), hash))
    }

    /// The entry of a line, and the line's SHA-256.
    fn parse(line: &[u8]) -> Result<(Self, String), &'static str> {
        const NO_ENTRY: &str = "this line is not an entry";
        let line = std::str::from_utf8(line).map_err(|_| NO_ENTRY)?;
        let Some((open, rest)) = line.rsplit_once(OWN) else {
            return Err(match serde_json::from_str::<Self>(line) {
                Ok(_) => "this entry has no SHA-256 of its own (those of dpbi 0.1.0 have none)",
                Err(_) => NO_ENTRY,
            });
        };
        let hash = sha256(open.as_bytes());
        if rest.strip_suffix("\"}") != Some(&hash) {
            return Err("this line was changed: its own SHA-256 does not fit");
        }
        let entry = serde_json::from_str(&format!("{open}}}")).map_err(|_| NO_ENTRY)?;
        Ok((entry, hash))
    }

    /// The entry of a line of which only the beginning is known.
    fn cut_short(epsilon: Amount, budget: Option<Amount>) -> Self {
        let unknown = || "unknown: the entry was cut short".to_owned();
        Self {
            epsilon,
            budget,
            previous: String::new(),
            time: unknown(),
            data: unknown(),
            column: unknown(),
            mechanism: unknown(),
        }
    }
}

/// The state of the ledger after a release.
#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    /// Releases entered, this one among them.
    pub releases: usize,
    /// The ε that all of them have spent: by composition, the sum. It is not said whether a file is the
    /// same as an earlier one: that would be an exact answer to a question about its records.
    pub total: Amount,
    /// The ε that all may spend.
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

/// Enters a release and returns once the entry is on the disk. `entry.previous` is filled in. For an
/// entry without a budget the last one that was set holds. `tell` is called with messages to the user.
pub fn enter(path: &Path, entry: Entry, tell: &dyn Fn(&str)) -> Result<Account, LedgerError> {
    let mut ledger = Ledger::open(path, tell)?;
    let account = ledger.admit(&entry)?;
    if let (Some(before), Some(budget)) = (ledger.budget(), entry.budget)
        && budget > before
    {
        tell(&format!("the budget is raised from {before} to {budget}"));
    }
    ledger.append(entry).map_err(|error| LedgerError::Write(path.to_owned(), error))?;
    Ok(account)
}

/// "in one release", "in 5 releases".
pub fn in_releases(count: usize) -> String {
    if count == 1 { "in one release".to_owned() } else { format!("in {count} releases") }
}

/// A ledger that this process has locked.
struct Ledger {
    file: File,
    path: PathBuf,
    entries: Vec<Entry>,
    /// The SHA-256 of the last whole line.
    last: String,
    /// Where that line ends.
    end: u64,
    /// Whether it has its line end.
    ended: bool,
    /// What follows it, if an entry was cut short. If its amounts are legible, it is the last of the
    /// entries.
    torn: Option<Torn>,
}

/// Opens a ledger, or creates one that only its owner can read: whoever knows all records but one can
/// find the last one from the hash of the data file.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    system::private(&mut options).open(path)
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

/// Whether a file is still the one at its path. On systems that cannot tell, an open file cannot be
/// replaced either.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let here = file.metadata()?;
    Ok(path.metadata().is_ok_and(|there| is_same_file(&here, &there).unwrap_or(true)))
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
            Ok(metadata) if !metadata.is_file() => return Err(unusable("it is not a file".into())),
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
            torn: None,
        };
        ledger.read(&bytes)?;
        ledger.recover(tell);
        Ok(ledger)
    }

    /// Reads the lines. The last one may have been cut short, if the machine stopped while it was written.
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
                        "restore it from a copy, because without it nobody knows what was spent; if \
                         this file is not a ledger, name another file",
                    )
            };
            let (entry, hash) = match Entry::parse(content) {
                Ok(parsed) => parsed,
                Err(cause) => {
                    let torn = || Torn::new(content, &self.last, self.end > 0);
                    self.torn = Some((!ended).then(torn).flatten().ok_or_else(|| damaged(cause))?);
                    return Ok(());
                }
            };
            if entry.previous != self.last {
                return Err(damaged("a line before this one was changed, removed or added"));
            }
            self.last = hash;
            self.end += line.len() as u64;
            self.ended = ended;
            self.entries.push(entry);
        }
        Ok(())
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
        // The entry may lower the budget, but not raise it.
        let budget = budget.filter(|budget| self.budget().is_none_or(|before| *budget < before));
        self.entries.push(Entry::cut_short(epsilon, budget));
    }

    /// The last budget that was set.
    fn budget(&self) -> Option<Amount> {
        self.entries.iter().rev().find_map(|entry| entry.budget)
    }

    /// Whether the budget suffices for one more.
    fn admit(&self, entry: &Entry) -> Result<Account, Diagnostic> {
        let before: Amount = self.entries.iter().map(|entry| entry.epsilon).sum();
        let account = Account {
            releases: self.entries.len() + 1,
            total: before + entry.epsilon,
            budget: entry.budget.or_else(|| self.budget()),
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
                    "use a smaller ε, use the earlier release, or raise --budget; every file released \
                     with this ledger counts, because a changed file is still about the same people",
                ))
            }
            _ => Ok(account),
        }
    }

    /// Appends an entry, after the one that was cut short, if any, and waits until it is on the disk.
    fn append(&mut self, entry: Entry) -> io::Result<()> {
        let mut text = if self.ended { String::new() } else { "\n".to_owned() };
        let mut previous = self.last.clone();
        let recovered = self.torn.as_ref().and_then(|torn| torn.amounts).and(self.entries.last());
        for entry in recovered.cloned().into_iter().chain([entry]) {
            let (line, hash) = Entry { previous, ..entry }.line()?;
            text += &line;
            text.push('\n');
            previous = hash;
        }
        let written = self.write(text.as_bytes());
        if written.is_err() {
            // A part of the entry may have been written, and would count as one that was cut short.
            let before = self.torn.take().map_or_else(Vec::new, |torn| torn.bytes);
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
        if self.end == 0
            && let Some(folder) = self.path.parent()
        {
            sync_folder(if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
        }
        Ok(())
    }

    /// Replaces everything after the last whole line.
    fn replace_end(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.set_len(self.end)?;
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(bytes)
    }
}

/// The beginning of an entry that was cut short.
struct Torn {
    /// The bytes that are left of it.
    bytes: Vec<u8>,
    /// ε and the budget, if they are legible.
    amounts: Option<(Amount, Option<Amount>)>,
}

impl Torn {
    /// The beginning of an entry that follows the line whose SHA-256 is `last`; `None` if `content`
    /// cannot be one. After a power failure zeros may follow it, or replace it if it `follows`
    /// another line.
    fn new(content: &[u8], last: &str, follows: bool) -> Option<Self> {
        let torn = |amounts| Self { bytes: content.to_vec(), amounts };
        let length = content.iter().rposition(|&byte| byte != 0).map_or(0, |place| place + 1);
        let text = match std::str::from_utf8(&content[..length]) {
            Ok(text) => text,
            // It may end in the middle of a character.
            Err(error) if error.error_len().is_none() => {
                std::str::from_utf8(&content[..error.valid_up_to()]).ok()?
            }
            Err(_) => return None,
        };
        let Some(inside) = text.strip_prefix(START) else {
            return (START.starts_with(text) && (follows || !text.is_empty())).then(|| torn(None));
        };
        let Some((epsilon, rest)) = inside.split_once('"') else { return Some(torn(None)) };
        let epsilon = epsilon.parse().ok()?;
        let budget = rest.strip_prefix(BUDGET).and_then(|rest| rest.split_once('"'));
        let (budget, rest) = match budget {
            Some((budget, rest)) => (Some(budget.parse().ok()?), rest),
            None => (None, rest),
        };
        let ends_in_budget =
            budget.is_none() && (rest.starts_with(BUDGET) || BUDGET.starts_with(rest));
        let previous = format!(",\"previous\":\"{last}\",");
        let fits = ends_in_budget || rest.starts_with(&previous) || previous.starts_with(rest);
        (fits && is_cut(text)).then(|| torn(Some((epsilon, budget))))
    }
}

/// Whether the JSON of a text is incomplete, and the part that is there of its own SHA-256 is right.
fn is_cut(text: &str) -> bool {
    let parsed = serde_json::from_str::<serde::de::IgnoredAny>(text);
    let hash_fits = text.rsplit_once(OWN).is_none_or(|(open, hash)| {
        let own = sha256(open.as_bytes()) + "\"}";
        own.starts_with(hash)
    });
    parsed.is_err_and(|error| error.is_eof()) && hash_fits
}

/// Amounts as text: many programs read the numbers of JSON as doubles.
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
            column: "ε".into(),
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

    #[test]
    fn only_its_owner_reads_it() {
        in_folder(|path| {
            enter(path, entry("1", None)).unwrap();
            assert_ne!(system::is_private(&fs::metadata(path).unwrap()), Some(false));
        });
    }

    /// A ledger of three entries, with budgets and amounts of their own.
    fn three(path: &Path) -> String {
        for (epsilon, budget) in [("1", Some("10")), ("0.25", None), ("2.5", Some("8"))] {
            enter(path, entry(epsilon, budget)).unwrap();
        }
        fs::read_to_string(path).unwrap()
    }

    #[test]
    fn changes_are_noticed() {
        in_folder(|path| {
            let text = three(path);
            let lines: Vec<&str> = text.lines().collect();
            let first = text.replacen("\"epsilon\":\"1\"", "\"epsilon\":\"0\"", 1);
            let last = text.replacen("\"epsilon\":\"2.5\"", "\"epsilon\":\"1.5\"", 1);
            let budget = text.replacen("\"budget\":\"8\"", "\"budget\":\"9\"", 1);
            let removed = [lines[0], lines[2], ""].join("\n");
            let swapped = [lines[0], lines[2], lines[1], ""].join("\n");
            let unhashed = format!("{}}}\n", lines[0].rsplit_once(OWN).unwrap().0);
            let cut = format!("{}\n{}", lines[0], &lines[1].replace(':', ";"));
            let others =
                ["id,answer\n1,yes\n", "{}\n", "notes of mine", "\n", "{ "].map(str::to_owned);
            let changed = [first, last, budget, removed, swapped, unhashed, cut];
            for damaged in changed.iter().chain(&others) {
                assert_ne!(*damaged, text);
                fs::write(path, damaged).unwrap();
                let error = enter(path, entry("1", None)).unwrap_err().to_string();
                assert!(error.starts_with("the ledger is damaged"), "{damaged}: {error}");
                assert_eq!(fs::read_to_string(path).unwrap(), *damaged);
            }
            fs::write(path, [0; 4]).unwrap();
            assert!(enter(path, entry("1", None)).is_err());
            // A last line that was cut hides no other change.
            let short = |line: &str| line[..line.len() - 2].to_owned();
            let alone = short(lines[2]);
            let gap = format!("{}\n{}", lines[0], short(lines[2]));
            let two = format!("{}\n{}\n", lines[0], lines[1]);
            let epsilon = |text: &str| {
                let new = format!("\"epsilon\":\"{text}\"");
                two.clone() + &short(&lines[2].replace("\"epsilon\":\"2.5\"", &new))
            };
            let amounts = ["I", "0.001", "-1", "1e400"].map(epsilon);
            for damaged in [alone, gap].iter().chain(&amounts) {
                fs::write(path, damaged).unwrap();
                let error = enter(path, entry("1", None)).unwrap_err().to_string();
                assert!(error.starts_with("the ledger is damaged"), "{damaged}: {error}");
            }
        });
    }

    #[test]
    fn wherever_the_last_entry_is_cut_the_ledger_goes_on_and_legible_amounts_count() {
        in_folder(|path| {
            let text = three(path);
            let start = text[..text.len() - 1].rfind('\n').unwrap() + 1;
            let whole = start + START.len() + "2.5\"".len();
            for length in start + 1..text.len() {
                // Zeros after it are usual after a power failure.
                let zeros = vec![0; length % 3];
                fs::write(path, [&text.as_bytes()[..length], &zeros].concat()).unwrap();
                let account = enter(path, entry("1", Some("8"))).unwrap();
                let (releases, total) = if length < whole { (3, "2.25") } else { (4, "4.75") };
                assert_eq!(account.releases, releases, "{length}");
                assert_eq!(account.total, total.parse().unwrap(), "{length}");
                // What was recovered is part of the ledger from now on.
                assert_eq!(enter(path, entry("1", None)).unwrap().releases, releases + 1);
            }
        });
    }

    #[test]
    fn a_budget_that_was_cut_short_is_lowered_and_not_raised() {
        in_folder(|path| {
            for (set, cut, held) in [("10", "8", "8"), ("10", "20", "10")] {
                let _ = fs::remove_file(path);
                enter(path, entry("1", Some(set))).unwrap();
                enter(path, entry("1", Some(cut))).unwrap();
                let text = fs::read_to_string(path).unwrap();
                fs::write(path, &text[..text.len() - 20]).unwrap();
                let account = enter(path, entry("1", None)).unwrap();
                assert_eq!(account.budget, Some(held.parse().unwrap()));
                assert_eq!(account.total, "3".parse().unwrap());
            }
        });
    }

    #[test]
    fn what_a_user_should_know_is_told() {
        in_folder(|path| {
            let told = std::cell::RefCell::new(Vec::new());
            let tell = |line: &str| told.borrow_mut().push(line.to_owned());
            super::enter(path, entry("1", Some("2")), &tell).unwrap();
            assert!(told.borrow().is_empty());
            super::enter(path, entry("1", Some("9")), &tell).unwrap();
            let text = fs::read_to_string(path).unwrap();
            fs::write(path, &text[..text.len() - 9]).unwrap();
            super::enter(path, entry("1", Some("9")), &tell).unwrap();
            fs::write(path, "{").unwrap();
            super::enter(path, entry("1", None), &tell).unwrap();
            let told = told.into_inner();
            assert_eq!(told[0], "the budget is raised from 2 to 9");
            assert!(told[1].ends_with("cut short: its ε = 1 counts as spent"), "{told:?}");
            assert_eq!(told[2], "the budget is raised from 2 to 9");
            assert!(told[3].ends_with("and it is not counted") && told.len() == 4, "{told:?}");
        });
    }

    #[test]
    fn a_folder_is_not_a_ledger() {
        let folder = tempfile::tempdir().unwrap();
        let error = enter(folder.path(), entry("1", None)).unwrap_err().to_string();
        assert!(error.contains("it is not a file") && error.contains("help: "), "{error}");
        let missing = folder.path().join("no/such/ledger");
        assert!(matches!(enter(&missing, entry("1", None)), Err(LedgerError::Refused(_))));
    }
}
