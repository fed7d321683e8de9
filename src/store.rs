//! A results folder: files written whole or not at all, and a manifest that vouches for them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::diagnostic::Diagnostic;

const MANIFEST: &str = "manifest.json";

/// What a results folder says about itself. Other versions may say more or less: what is missing
/// is read as a default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Manifest {
    /// The version of dpbi that wrote it.
    pub dpbi: String,
    /// The experiment.
    pub name: String,
    /// The command line.
    pub command: Vec<String>,
    /// The seed.
    pub seed: u64,
    /// The runs of each cell.
    pub runs: u64,
    /// When the work began (UTC).
    pub started: String,
    /// When it ended.
    pub ended: String,
    /// How long it took.
    pub seconds: f64,
    /// Whether the run came to its end; if not, the files may be old, new or missing.
    pub complete: bool,
    /// The SHA-256 of every other file.
    pub files: BTreeMap<String, String>,
}

/// Why a file could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {source}", path.display())]
pub struct WriteError {
    path: PathBuf,
    source: io::Error,
}

/// Why a folder could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// It cannot be used.
    #[error(transparent)]
    Refused(#[from] Diagnostic),
    /// The disk is full.
    #[error(transparent)]
    Full(#[from] WriteError),
}

/// A results folder that can be written to. Its files reach the disk in the background, several at a
/// time: waiting for the disk once for each of them would take longer than a small experiment.
pub struct Folder {
    path: PathBuf,
    /// The files of an earlier run.
    before: BTreeMap<String, String>,
    /// Whether the manifest says that a run has begun, as soon as that is known: until then no file
    /// is replaced.
    begun: Arc<OnceLock<bool>>,
    beginning: Option<Handed>,
    /// Files that may not have reached the disk yet.
    handed: Vec<Handed>,
    /// The SHA-256 of every file of this run.
    written: BTreeMap<String, String>,
}

/// So many files at most are on their way to the disk.
const MOST_HANDED: usize = 16;

/// A file on its way to the disk.
struct Handed {
    name: String,
    writing: JoinHandle<Result<(), WriteError>>,
}

impl Handed {
    /// Starts to write the file.
    fn new(
        folder: &Path,
        name: &str,
        write: impl FnOnce(&Path) -> Result<(), WriteError> + Send + 'static,
    ) -> Result<Self, WriteError> {
        let path = folder.join(name);
        let own = path.clone();
        let writing = thread::Builder::new().spawn(move || write(&own));
        let writing = writing.map_err(|source| WriteError { path, source })?;
        Ok(Self { name: name.to_owned(), writing })
    }

    /// Waits until the file has its place.
    fn arrive(self) -> Result<(), WriteError> {
        let path = PathBuf::from(&self.name);
        let lost = |_| Err(WriteError { path, source: io::Error::other("the writer stopped") });
        self.writing.join().unwrap_or_else(lost)
    }
}

/// A file under its temporary name, which is gone when this is.
struct Part {
    path: PathBuf,
    temporary: PathBuf,
    named: bool,
}

impl Part {
    /// Writes the bytes beside where they belong, and has them reach the disk.
    fn write(path: &Path, bytes: &[u8]) -> Result<Self, WriteError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let temporary = path.with_file_name(format!(".{name}.part"));
        let part = Self { path: path.into(), temporary, named: false };
        let write = || {
            let mut file = File::create(&part.temporary)?;
            file.write_all(bytes)?;
            file.sync_all()
        };
        match write() {
            Ok(()) => Ok(part),
            Err(source) => Err(WriteError { path: path.into(), source }),
        }
    }

    /// Gives the file its name.
    fn replace(mut self) -> Result<(), WriteError> {
        let renamed = fs::rename(&self.temporary, &self.path);
        self.named = renamed.is_ok();
        renamed.map_err(|source| WriteError { path: self.path.clone(), source })
    }
}

impl Drop for Part {
    /// A file without its name is of no use; if it cannot be removed, the first error counts.
    fn drop(&mut self) {
        if !self.named {
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

impl Folder {
    /// Opens or makes `out/name`. Refused if it cannot be written, or if it holds files but no
    /// manifest of ours: dpbi overwrites nothing that it did not write.
    pub fn open(out: &Path, name: &str) -> Result<Self, OpenError> {
        let path = out.join(name);
        let probe = path.join(".dpbi-probe");
        let touch = || {
            fs::create_dir_all(&path)?;
            File::create(&probe).and_then(|mut file| file.write_all(b"probe"))?;
            fs::remove_file(&probe)
        };
        touch().map_err(|source| match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                OpenError::Full(WriteError { path: probe.clone(), source })
            }
            _ => OpenError::Refused(
                Diagnostic::new(format!(
                    "cannot write to the results folder {}: {source}",
                    path.display()
                ))
                .help("choose another folder with --out, or change its permissions"),
            ),
        })?;
        let before = Manifest::read(&path);
        if before.is_none() && holds_files(&path) {
            let cause = format!("{} holds files, but no manifest.json of dpbi", path.display());
            return Err(OpenError::Refused(
                Diagnostic::new(cause)
                    .help("choose another folder with --out, another name, or empty this one"),
            ));
        }
        let before = before.map(|manifest| manifest.files).unwrap_or_default();
        Ok(Self::new(path, before))
    }

    /// A folder with complete results, to which something is added.
    #[must_use]
    pub fn reopen(path: &Path, manifest: &Manifest) -> Self {
        Self::new(path.into(), manifest.files.clone())
    }

    fn new(path: PathBuf, before: BTreeMap<String, String>) -> Self {
        let begun = Arc::new(OnceLock::from(true));
        Self { path, before, begun, beginning: None, handed: Vec::new(), written: BTreeMap::new() }
    }

    /// Writes the manifest with the files of before and those written since.
    pub fn update(mut self, mut manifest: Manifest) -> Result<PathBuf, WriteError> {
        manifest.files.extend(self.written.clone());
        self.vouch(&manifest)
    }

    /// Says in the manifest that a run has begun: before the first file is replaced, the folder is
    /// known as ours, and as incomplete, whatever happens from then on. In the background too.
    pub fn begin(&mut self, mut manifest: Manifest) -> Result<(), WriteError> {
        manifest.complete = false;
        manifest.files.clone_from(&self.before);
        self.begun = Arc::default();
        let (begun, bytes) = (Arc::clone(&self.begun), manifest.bytes());
        let write = move |path: &Path| {
            let written = write_whole(path, &bytes);
            // It is set nowhere else.
            let _ = begun.set(written.is_ok());
            written
        };
        self.beginning = Some(Handed::new(&self.path, MANIFEST, write)?);
        Ok(())
    }

    /// Writes one file under a temporary name, has it reach the disk, and renames it: in the
    /// background, so that it may be this file's failure that a later call reports.
    pub fn write(&mut self, name: &str, bytes: Vec<u8>) -> Result<(), WriteError> {
        if self.handed.len() >= MOST_HANDED || self.handed.iter().any(|file| file.name == name) {
            self.settle()?;
        }
        self.written.insert(name.to_owned(), sha256(&bytes));
        let begun = Arc::clone(&self.begun);
        let write = move |path: &Path| {
            let part = Part::write(path, &bytes)?;
            if *begun.wait() { part.replace() } else { Ok(()) }
        };
        self.handed.push(Handed::new(&self.path, name, write)?);
        Ok(())
    }

    /// Waits until all files have their places. The first failure counts.
    fn settle(&mut self) -> Result<(), WriteError> {
        let files = self.beginning.take().into_iter().chain(self.handed.drain(..));
        let arrived: Vec<_> = files.map(Handed::arrive).collect();
        arrived.into_iter().collect()
    }

    /// Writes the manifest while the files reach the disk; it gets its place after all of them.
    fn vouch(&mut self, manifest: &Manifest) -> Result<PathBuf, WriteError> {
        self.beginning.take().map(Handed::arrive).transpose()?;
        let part = Part::write(&self.path.join(MANIFEST), &manifest.bytes())?;
        self.settle()?;
        part.replace()?;
        Ok(self.path.clone())
    }

    /// Writes the manifest, and removes what an earlier run wrote and this one did not.
    pub fn finish(mut self, mut manifest: Manifest) -> Result<PathBuf, WriteError> {
        manifest.complete = true;
        manifest.files.clone_from(&self.written);
        let path = self.vouch(&manifest)?;
        for name in self.before.keys().filter(|name| !self.written.contains_key(*name)) {
            // It may be gone already.
            let _ = fs::remove_file(path.join(name));
        }
        Ok(path)
    }

    /// The files written so far; some may be on their way.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.written.keys().map(String::as_str)
    }
}

impl Drop for Folder {
    /// Whatever made the run end early, no file is left half-written.
    fn drop(&mut self) {
        let _ = self.settle();
    }
}

/// Writes one file under a temporary name beside it, has it reach the disk, and renames it.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    Part::write(path, bytes)?.replace()
}

/// Whether there is anything but what a killed run of ours leaves behind.
fn holds_files(path: &Path) -> bool {
    let ours = |name: &str| name.starts_with('.') && name.ends_with(".part");
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name()).any(|name| !name.to_str().is_some_and(ours))
}

impl Manifest {
    /// The manifest of a folder, if it is one of ours.
    #[must_use]
    pub fn read(folder: &Path) -> Option<Self> {
        let manifest: Self = serde_json::from_slice(&fs::read(folder.join(MANIFEST)).ok()?).ok()?;
        (!manifest.dpbi.is_empty()).then_some(manifest)
    }

    /// Whether `folder` holds the complete results of this resolved config.
    #[must_use]
    pub fn is_current(&self, folder: &Path, resolved: &str) -> bool {
        self.complete
            && self.files.get("config.toml") == Some(&sha256(resolved.as_bytes()))
            && self.files.keys().all(|name| folder.join(name).is_file())
    }

    fn bytes(&self) -> Vec<u8> {
        let text = serde_json::to_string_pretty(self).expect("a manifest is plain data");
        (text + "\n").into_bytes()
    }
}

/// The SHA-256 of some bytes, in hexadecimal.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A time as RFC 3339 in UTC, to the second.
#[must_use]
pub fn utc(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
    let (days, clock) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = civil(days);
    let (hour, minute, second) = (clock / 3600, clock / 60 % 60, clock % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Days since 1970 as year, month, day (Gregorian).
fn civil(days: u64) -> (u64, u64, u64) {
    let divides = |year: u64, by: u64| year.is_multiple_of(by);
    let leap = |year| divides(year, 4) && (!divides(year, 100) || divides(year, 400));
    let (mut year, mut left) = (1970, days);
    while left >= 365 + u64::from(leap(year)) {
        left -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let lengths = [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while left >= lengths[month] {
        left -= lengths[month];
        month += 1;
    }
    (year, month as u64 + 1, left + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(name: &str) -> Manifest {
        Manifest {
            dpbi: "0".into(),
            name: name.into(),
            command: vec![],
            seed: 0,
            runs: 1,
            started: utc(UNIX_EPOCH),
            ended: utc(UNIX_EPOCH),
            seconds: 0.0,
            complete: false,
            files: BTreeMap::new(),
        }
    }

    #[test]
    fn dates() {
        let at = |seconds| utc(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(at(1_767_225_599), "2025-12-31T23:59:59Z");
    }

    #[test]
    fn a_second_run_replaces_the_first_and_leaves_nothing_stale() {
        let out = tempfile::tempdir().unwrap();
        let mut folder = Folder::open(out.path(), "a").unwrap();
        folder.write("old.csv", b"1".to_vec()).unwrap();
        folder.write("both.csv", b"1".to_vec()).unwrap();
        folder.finish(manifest("a")).unwrap();
        let mut folder = Folder::open(out.path(), "a").unwrap();
        folder.write("both.csv", b"2".to_vec()).unwrap();
        let path = folder.finish(manifest("a")).unwrap();
        assert!(!path.join("old.csv").exists());
        assert_eq!(fs::read(path.join("both.csv")).unwrap(), b"2");
        assert_eq!(Manifest::read(&path).unwrap().files["both.csv"], sha256(b"2"));
    }

    #[test]
    fn a_run_that_was_killed_can_be_repeated() {
        let out = tempfile::tempdir().unwrap();
        let mut folder = Folder::open(out.path(), "a").unwrap();
        folder.begin(manifest("a")).unwrap();
        folder.write("settings.csv", b"1".to_vec()).unwrap();
        drop(folder);
        fs::write(out.path().join("a/.errors.csv.part"), b"half").unwrap();
        assert!(!Manifest::read(&out.path().join("a")).unwrap().complete);
        let mut folder = Folder::open(out.path(), "a").unwrap();
        folder.begin(manifest("a")).unwrap();
        folder.write("settings.csv", b"1".to_vec()).unwrap();
        let path = folder.finish(manifest("a")).unwrap();
        assert!(Manifest::read(&path).unwrap().complete);
    }

    #[test]
    fn the_last_of_several_writes_counts_and_every_file_is_vouched_for() {
        let out = tempfile::tempdir().unwrap();
        let mut folder = Folder::open(out.path(), "a").unwrap();
        folder.begin(manifest("a")).unwrap();
        let names: Vec<String> = (0..3 * MOST_HANDED).map(|i| format!("{i}.csv")).collect();
        for name in &names {
            folder.write(name, b"first".to_vec()).unwrap();
            folder.write(name, name.as_bytes().to_vec()).unwrap();
        }
        assert_eq!(folder.files().count(), names.len());
        let path = folder.finish(manifest("a")).unwrap();
        let found = Manifest::read(&path).unwrap();
        assert!(found.complete && found.files.len() == names.len());
        for name in &names {
            assert_eq!(fs::read(path.join(name)).unwrap(), name.as_bytes());
            assert_eq!(found.files[name], sha256(name.as_bytes()));
        }
        assert_eq!(fs::read_dir(&path).unwrap().count(), names.len() + 1);
    }

    #[test]
    fn a_file_that_cannot_be_written_leaves_the_folder_incomplete() {
        let out = tempfile::tempdir().unwrap();
        let mut folder = Folder::open(out.path(), "a").unwrap();
        folder.begin(manifest("a")).unwrap();
        folder.write("good.csv", b"1".to_vec()).unwrap();
        // A folder stands where the file should be.
        fs::create_dir(out.path().join("a/bad.csv")).unwrap();
        folder.write("bad.csv", b"1".to_vec()).unwrap();
        let error = folder.finish(manifest("a")).unwrap_err().to_string();
        assert!(error.contains("cannot write") && error.contains("bad.csv"), "{error}");
        assert!(!Manifest::read(&out.path().join("a")).unwrap().complete);
        assert!(!out.path().join("a/.bad.csv.part").exists());
    }

    #[test]
    fn a_foreign_folder_is_left_alone() {
        let out = tempfile::tempdir().unwrap();
        fs::create_dir(out.path().join("a")).unwrap();
        fs::write(out.path().join("a/thesis.tex"), "precious").unwrap();
        let error = Folder::open(out.path(), "a").err().unwrap().to_string();
        assert!(error.contains("no manifest.json of dpbi") && error.contains("help: "), "{error}");
        assert_eq!(fs::read_dir(out.path().join("a")).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_refused() {
        let out = tempfile::tempdir().unwrap();
        fs::write(out.path().join("file"), "").unwrap();
        let error = Folder::open(&out.path().join("file"), "a").err().unwrap().to_string();
        assert!(error.contains("cannot write to the results folder"), "{error}");
    }
}
