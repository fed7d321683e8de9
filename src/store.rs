//! A results folder: files written whole or not at all, and a manifest that vouches for them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::diagnostic::Diagnostic;

const MANIFEST: &str = "manifest.json";

/// What a results folder says about itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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

/// A results folder that can be written to.
pub struct Folder {
    path: PathBuf,
    before: Option<Manifest>,
    written: BTreeMap<String, String>,
}

impl Folder {
    /// Opens or makes `out/name`. Refused if it cannot be written, or if it holds files but no
    /// manifest of ours: dpbi overwrites nothing that it did not write.
    pub fn open(out: &Path, name: &str) -> Result<Self, Diagnostic> {
        let path = out.join(name);
        let cannot = |error: io::Error| {
            Diagnostic::new(format!(
                "cannot write to the results folder {}: {error}",
                path.display()
            ))
            .help("choose another folder with --out, or change its permissions")
        };
        fs::create_dir_all(&path).map_err(cannot)?;
        let probe = path.join(".dpbi-probe");
        File::create(&probe).and_then(|_| fs::remove_file(&probe)).map_err(cannot)?;
        let before = Manifest::read(&path);
        let occupied = fs::read_dir(&path).map_err(cannot)?.next().is_some();
        if occupied && before.is_none() {
            return Err(Diagnostic::new(format!(
                "{} holds files, but no manifest.json of dpbi",
                path.display()
            ))
            .help("choose another folder with --out, another name, or empty this one"));
        }
        Ok(Self { path, before, written: BTreeMap::new() })
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes one file under a temporary name, has it reach the disk, and renames it.
    pub fn write(&mut self, name: &str, bytes: &[u8]) -> Result<(), WriteError> {
        self.replace(name, bytes)
            .map_err(|source| WriteError { path: self.path.join(name), source })?;
        self.written.insert(name.to_owned(), sha256(bytes));
        Ok(())
    }

    fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let temporary = self.path.join(format!(".{name}.part"));
        let mut file = File::create(&temporary)?;
        let written = file.write_all(bytes).and_then(|()| file.sync_all());
        if let Err(error) = written {
            // The half-written file is of no use; if it cannot be removed, the first error counts.
            let _ = fs::remove_file(&temporary);
            return Err(error);
        }
        fs::rename(&temporary, self.path.join(name))
    }

    /// Writes the manifest, and removes what an earlier run wrote and this one did not.
    pub fn finish(mut self, mut manifest: Manifest) -> Result<PathBuf, WriteError> {
        manifest.files = self.written.clone();
        let text =
            serde_json::to_string_pretty(&manifest).expect("a manifest is plain data") + "\n";
        self.write(MANIFEST, text.as_bytes())?;
        let stale = self.before.take().map(|before| before.files).unwrap_or_default();
        for name in stale.keys().filter(|name| !self.written.contains_key(*name)) {
            // It may be gone already.
            let _ = fs::remove_file(self.path.join(name));
        }
        Ok(self.path)
    }

    /// The files written so far.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.written.keys().map(String::as_str)
    }
}

impl Manifest {
    /// The manifest of a folder, if it is one of ours.
    #[must_use]
    pub fn read(folder: &Path) -> Option<Self> {
        serde_json::from_slice(&fs::read(folder.join(MANIFEST)).ok()?).ok()
    }

    /// Whether the folder holds the results of this resolved config.
    #[must_use]
    pub fn is_of(&self, resolved: &str) -> bool {
        self.files.get("config.toml") == Some(&sha256(resolved.as_bytes()))
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
        folder.write("old.csv", b"1").unwrap();
        folder.write("both.csv", b"1").unwrap();
        folder.finish(manifest("a")).unwrap();
        let mut folder = Folder::open(out.path(), "a").unwrap();
        folder.write("both.csv", b"2").unwrap();
        let path = folder.finish(manifest("a")).unwrap();
        assert!(!path.join("old.csv").exists());
        assert_eq!(fs::read(path.join("both.csv")).unwrap(), b"2");
        assert_eq!(Manifest::read(&path).unwrap().files["both.csv"], sha256(b"2"));
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
