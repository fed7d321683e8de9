//! A results folder that is written to.
//!
//! At any time it holds the files of one run. New files are written under temporary names, and are
//! renamed together when all of them have reached the disk. Only while they are renamed, the manifest
//! says that the folder is incomplete.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::cell_store::{UNFINISHED, has_log};
use super::manifest::{Change, Damage, FileName, Holds, MANIFEST, Manifest, ManifestError};
use super::temporary_file::{TemporaryFile, write_whole};
use super::{FileError, is_full};
use figure::Width;
use system::diagnostic::Diagnostic;
use system::filesystem::{
    LOCK, beside, create_temporary, is_regular, is_taken, is_temporary, open_in_place,
    open_regular, rename_to_free, sync_folder,
};

/// Why a folder could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// It cannot be used.
    #[error(transparent)]
    Refused(#[from] Diagnostic),
    /// The disk is full.
    #[error(transparent)]
    Full(#[from] FileError),
}

/// A results folder that can be written to. Its files reach the disk several at a time: waiting for the disk once
/// for each of them would take longer than a small experiment.
pub struct Folder {
    path: PathBuf,
    /// Its manifest when it was opened.
    before: Option<Manifest>,
    /// Those of its files that were changed after they were written.
    changes: BTreeMap<String, Change>,
    /// Files that are being written.
    writing: Vec<(FileName, TemporaryFile)>,
    /// Files that have reached the disk, under their temporary names.
    parts: Vec<TemporaryFile>,
    /// The SHA-256 of every file of these.
    written: BTreeMap<FileName, String>,
    /// The names of all files, in the order in which they were begun.
    names: Vec<String>,
    /// The locked file, which keeps other processes out; `None` where nothing can be locked.
    lock: Option<File>,
}

/// A folder that was written.
#[derive(Debug)]
pub struct Written {
    pub path: PathBuf,
    /// The new names of files that others had changed.
    pub aside: Vec<PathBuf>,
    /// Figures of earlier tables that were there and were not drawn again.
    pub removed: Vec<String>,
    /// Whether every file was there already, so that none was touched.
    pub is_same: bool,
}

/// At most this many files are written at the same time.
const MOST_AT_A_TIME: usize = 16;

impl Folder {
    /// Opens or makes `out/name` for an experiment. Refuses a folder that cannot be written, in which
    /// another process is at work, whose manifest is damaged, or that holds files which dpbi did not write.
    pub fn open(out: &Path, name: &str) -> Result<Self, OpenError> {
        Self::open_for(out, name, Holds::Experiment)
    }

    /// The same for what the folder is to hold. One that holds something else is refused, too.
    pub fn open_for(out: &Path, name: &str, holds: Holds) -> Result<Self, OpenError> {
        let path = out.join(name);
        refuse_link(&path)?;
        make(&path)?;
        refuse_foreign(&path, name, holds)?;
        Self::reopen(&path)
    }

    /// A folder with results, to which something is added.
    pub fn reopen(path: &Path) -> Result<Self, OpenError> {
        let lock = lock(path)?;
        if lock.is_some() {
            remove_leftovers(path);
        }
        let before = match Manifest::read(path) {
            Ok(before) => Some(before),
            Err(ManifestError::Damaged(damage)) => {
                return Err(damaged_manifest(path, &damage).into());
            }
            Err(ManifestError::Absent | ManifestError::Foreign) => None,
        };
        let changes = match &before {
            Some(before) => before.changes(path),
            // It is not known who wrote the files: those that would be replaced by others are kept.
            None => names(path).map(|name| (name, Change::Altered)).collect(),
        };
        Ok(Self {
            path: path.into(),
            before,
            changes,
            writing: Vec::new(),
            parts: Vec::new(),
            written: BTreeMap::new(),
            names: Vec::new(),
            lock,
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether other processes are kept out.
    pub fn is_locked(&self) -> bool {
        self.lock.is_some()
    }

    /// Its manifest when it was opened.
    pub fn before(&self) -> Option<&Manifest> {
        self.before.as_ref()
    }

    /// Its files that were changed by others after they were written.
    pub fn changes(&self) -> &BTreeMap<String, Change> {
        &self.changes
    }

    /// Writes the first manifest of a new folder. Whatever happens later, the folder is then known to be dpbi's.
    /// A folder with results keeps its manifest.
    pub fn begin(&self, manifest: &Manifest) -> Result<(), FileError> {
        if self.before.is_none() {
            let first = Manifest { complete: false, ..manifest.clone() };
            write_whole(&self.path.join(MANIFEST), first.bytes())?;
            // The name of the folder itself is synced, too.
            [Some(self.path.as_path()), self.path.parent()]
                .into_iter()
                .flatten()
                .for_each(sync_folder);
        }
        Ok(())
    }

    /// Writes a file, or its next piece.
    pub fn write(&mut self, name: &str, bytes: impl AsRef<[u8]>) -> Result<(), FileError> {
        if let Some((_, file)) = self.writing.iter_mut().find(|(known, _)| known.as_str() == name) {
            return file.push(bytes.as_ref());
        }
        debug_assert!(!self.written.contains_key(name), "{name} was closed");
        let path = self.path.join(name);
        let file_name = FileName::try_from(name.to_owned())
            .map_err(|cause| FileError::writing(&path, io::Error::other(cause)))?;
        if self.writing.len() >= MOST_AT_A_TIME {
            self.close();
            self.settle()?;
        }
        let mut file = TemporaryFile::new(&path)?;
        file.push(bytes.as_ref())?;
        self.writing.push((file_name, file));
        self.names.push(name.to_owned());
        Ok(())
    }

    /// Nothing more is added to the files.
    fn close(&mut self) {
        let hashes = self.writing.iter().map(|(name, file)| (name.clone(), file.hash()));
        self.written.extend(hashes);
    }

    /// Waits until all files have reached the disk.
    fn settle(&mut self) -> Result<(), FileError> {
        self.writing.par_iter().try_for_each(|(_, file)| file.sync())?;
        self.parts.extend(self.writing.drain(..).map(|(_, file)| file.closed()));
        Ok(())
    }

    /// Adds the files, which are figures of this width, to those that were there before.
    pub fn add_figures(self, width: Width) -> Result<Written, FileError> {
        let mut manifest = Manifest { width, ..self.before.clone().unwrap_or_default() };
        let files = std::mem::take(&mut manifest.files);
        self.replace(manifest, files)
    }

    /// Renames all files to their own names, removes those of an earlier run, and writes the manifest. Figures in
    /// formats that were not asked for again are kept if they are of the same tables. Where every file is as it
    /// was, none is touched.
    pub fn finish(mut self, manifest: Manifest) -> Result<Written, FileError> {
        self.close();
        let old = self.before.iter().flat_map(|before| &before.files);
        let old =
            old.filter(|(name, _)| name.is_figure() && !self.written.contains_key(name.as_str()));
        let old: BTreeMap<FileName, String> =
            old.map(|(name, hash)| (name.clone(), hash.clone())).collect();
        if self.has_same_tables(manifest.width) {
            let is_whole = |name: &FileName| !self.changes.contains_key(name.as_str());
            let kept: BTreeMap<FileName, String> =
                old.into_iter().filter(|(name, _)| is_whole(name)).collect();
            if self.is_as_before(&manifest, &kept) {
                return Ok(Written { is_same: true, ..self.untouched() });
            }
            return self.replace(manifest, kept);
        }
        let removed = old.into_keys().map(String::from).collect();
        Ok(Written { removed, ..self.replace(manifest, BTreeMap::new())? })
    }

    /// Whether the files, and those that are kept, are all that there were, and none was changed.
    fn is_as_before(&self, manifest: &Manifest, kept: &BTreeMap<FileName, String>) -> bool {
        let is_there = |(name, hash): (&FileName, &String)| {
            self.before.as_ref().and_then(|before| before.files.get(name)) == Some(hash)
        };
        let complete = |of: &Manifest| (of.complete, of.failures, of.shard);
        let all = self.written.len() + kept.len();
        self.changes.is_empty()
            && self.written.iter().chain(kept).all(is_there)
            && self.before.as_ref().is_some_and(|before| {
                before.files.len() == all && complete(before) == complete(manifest)
            })
    }

    /// Whether figures of this width that were drawn before would be drawn in the same way.
    fn has_same_tables(&self, width: Width) -> bool {
        let Some(before) = self.before.as_ref().filter(|before| before.width == width) else {
            return false;
        };
        let is_drawn =
            |name: &&FileName| name.as_str().ends_with(".csv") || name.as_str() == "config.toml";
        let names = |files: &BTreeMap<FileName, String>| -> Vec<(FileName, String)> {
            let drawn = files.iter().filter(|(name, _)| is_drawn(name));
            drawn.map(|(name, hash)| (name.clone(), hash.clone())).collect()
        };
        names(&before.files) == names(&self.written)
    }

    fn replace(
        mut self,
        manifest: Manifest,
        mut files: BTreeMap<FileName, String>,
    ) -> Result<Written, FileError> {
        self.close();
        files.extend(std::mem::take(&mut self.written));
        let vouched = Manifest { files, ..manifest };
        // From here on some files are old and some are new. If the process is killed meanwhile, this
        // manifest tells the next run which files dpbi wrote.
        let base = self.before.clone().unwrap_or_else(|| Manifest {
            files: BTreeMap::new(),
            cells: Vec::new(),
            ..vouched.clone()
        });
        let mut replacing = base.replacing.clone();
        replacing.extend(vouched.files.clone());
        let between = Manifest { complete: false, replacing, ..base };
        self.settle()?;
        write_whole(&self.path.join(MANIFEST), between.bytes())?;
        // The last manifest is on the disk before anything is renamed: renaming needs no room.
        let last = TemporaryFile::whole(&self.path.join(MANIFEST), &vouched.bytes())?;
        let mut aside = Vec::new();
        for file in std::mem::take(&mut self.parts) {
            aside.extend(self.set_aside(&file)?);
            file.replace()?;
        }
        let old = self.before.iter().flat_map(Manifest::names);
        for name in old.filter(|name| !vouched.files.contains_key(*name)) {
            // It may be gone already. One that was changed is kept.
            if !self.changes.contains_key(name.as_str()) {
                let _ = fs::remove_file(self.path.join(name.as_str()));
            }
        }
        // Should renames reach the disk in another order, the hashes in the manifest show it.
        last.replace()?;
        sync_folder(&self.path);
        Ok(Written { aside, ..self.untouched() })
    }

    fn untouched(&self) -> Written {
        let path = self.path.clone();
        Written { path, aside: Vec::new(), removed: Vec::new(), is_same: false }
    }

    /// Keeps a file that is not as dpbi wrote it under another name, which is returned; unless the new
    /// file begins with all that it holds.
    fn set_aside(&self, new: &TemporaryFile) -> Result<Option<PathBuf>, FileError> {
        let path = new.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let mut vouched = self.before.iter().flat_map(Manifest::names);
        let is_ours =
            vouched.any(|ours| *ours.as_str() == *name) && !self.changes.contains_key(&*name);
        if is_ours || new.holds(path) { Ok(None) } else { keep_aside(path) }
    }

    /// The files written so far.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }
}

/// Gives the file at a path a second name, which is returned. The file is there at all times: it may
/// hold cells that are needed to go on.
pub fn keep_aside(path: &Path) -> Result<Option<PathBuf>, FileError> {
    if !is_taken(path) {
        return Ok(None);
    }
    let copy = |aside: &Path| {
        let mut new = File::create_new(aside)?;
        io::copy(&mut open_regular(path)?, &mut new).map(drop)
    };
    let keep = |aside: &Path| match fs::hard_link(path, aside) {
        // Some file systems have no second names.
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => copy(aside),
        done => done,
    };
    let move_away = |aside: &Path| rename_to_free(path, aside);
    let keep: &dyn Fn(&Path) -> io::Result<()> = if is_regular(path) { &keep } else { &move_away };
    beside(path, keep).map(Some).map_err(|source| FileError::writing(path, source))
}

/// The user names the folder that holds all results, and that may be a link. The results folder inside
/// it may not.
fn refuse_link(path: &Path) -> Result<(), Diagnostic> {
    if !path.is_symlink() {
        return Ok(());
    }
    let cause = format!("the results folder {} is a link", path.display());
    Err(Diagnostic::new(cause).help("remove the link, or name the folder it leads into with --out"))
}

/// Refuses a folder with files that has neither a manifest of what it is to hold nor, for an experiment, a
/// log of dpbi.
fn refuse_foreign(path: &Path, name: &str, holds: Holds) -> Result<(), Diagnostic> {
    let shown = path.display();
    let of = |name: &str, holds: Holds| match holds {
        Holds::Experiment => format!("`{name}`"),
        Holds::Optimum => "the command `dpbi optimum`".to_owned(),
    };
    let is_log = || holds == Holds::Experiment && has_log(path);
    let (cause, help) = match Manifest::read(path) {
        Ok(manifest) if manifest.name == name && manifest.holds == holds => return Ok(()),
        Ok(manifest) => (
            format!(
                "{} is the manifest of {}, not of {}",
                path.join(MANIFEST).display(),
                of(&manifest.name, manifest.holds),
                of(name, holds),
            ),
            "move that folder away, or choose another one with --out",
        ),
        Err(ManifestError::Damaged(damage)) => return Err(damaged_manifest(path, &damage)),
        Err(ManifestError::Absent) if !holds_files(path) || is_log() => return Ok(()),
        Err(error) => {
            let cause = match error {
                ManifestError::Absent => "holds files, but no manifest.json of dpbi",
                _ => "holds a manifest.json that dpbi did not write",
            };
            let help = "choose another folder with --out, another name, or empty this one";
            (format!("{shown} {cause}"), help)
        }
    };
    Err(Diagnostic::new(cause).help(help))
}

/// The message about a damaged manifest. Cells are kept, since their log has checksums of its own.
pub fn damaged_manifest(path: &Path, damage: &Damage) -> Diagnostic {
    let manifest = path.join(MANIFEST);
    Diagnostic::new(format!("{} is damaged: {damage}", manifest.display())).help(
        "nothing was touched; if the folder is your own, remove its manifest.json and run the \
         experiment again: finished cells are kept",
    )
}

/// Makes the folder if there is none, and tries to write a file there.
fn make(path: &Path) -> Result<(), OpenError> {
    let probe = || {
        fs::create_dir_all(path)?;
        let (mut file, probe) = create_temporary(path)?;
        let written = io::Write::write_all(&mut file, b"probe");
        fs::remove_file(probe)?;
        written
    };
    probe().map_err(|source| {
        if is_full(&source) {
            return OpenError::Full(FileError::writing(path, source));
        }
        let help = match source.kind() {
            io::ErrorKind::PermissionDenied => {
                "choose another folder with --out, or change its permissions"
            }
            _ => "choose another folder with --out",
        };
        let cause = format!("cannot write to the results folder {}: {source}", path.display());
        OpenError::Refused(Diagnostic::new(cause).help(help))
    })
}

/// Keeps other processes out of a folder; `None` where nothing can be locked.
fn lock(path: &Path) -> Result<Option<File>, Diagnostic> {
    // A file is locked, not the folder, since some file systems lock folders for one machine only.
    let file = match open_in_place(&path.join(LOCK)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => {
            let cause = format!("cannot use {}: {error}", path.join(LOCK).display());
            return Err(
                Diagnostic::new(cause).help("remove it, or choose another folder with --out")
            );
        }
        Err(_) => return Ok(None),
    };
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::Error(_)) => Ok(None),
        Err(TryLockError::WouldBlock) => {
            let cause = format!("another dpbi is at work in {}", path.display());
            let help = "wait until it is done, or choose another folder with --out";
            Err(Diagnostic::new(cause).help(help))
        }
    }
}

/// Removes the temporary files of a killed run.
fn remove_leftovers(path: &Path) {
    for entry in fs::read_dir(path).into_iter().flatten().flatten() {
        if entry.file_name().to_str().is_some_and(is_temporary) && is_regular(&entry.path()) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Whether a folder holds any files but those that a killed run leaves behind.
fn holds_files(path: &Path) -> bool {
    names(path).next().is_some()
}

/// The names of all files but those that a killed run leaves behind.
fn names(path: &Path) -> impl Iterator<Item = String> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| !is_temporary(name) && ![UNFINISHED, LOCK].contains(&name.as_str()))
}

impl TemporaryFile {
    /// Whether it begins with the whole content of another file.
    fn holds(&self, other: &Path) -> bool {
        let files = (open_regular(self.temporary()), open_regular(other));
        let (Ok(mut own), Ok(mut other)) = files else {
            return false;
        };
        let (mut a, mut b) = (vec![0; 1 << 16], vec![0; 1 << 16]);
        loop {
            let Ok(length) = other.read(&mut b) else { return false };
            if length == 0 {
                return true;
            }
            if own.read_exact(&mut a[..length]).is_err() || a[..length] != b[..length] {
                return false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sha256;
    use super::*;

    fn manifest(name: &str) -> Manifest {
        Manifest { dpbi: "0".into(), name: name.into(), complete: true, ..Manifest::default() }
    }

    fn sorted(path: &Path) -> Vec<String> {
        let mut names: Vec<_> = names(path).collect();
        names.sort();
        names
    }

    #[test]
    fn a_second_run_replaces_the_first_and_leaves_nothing_stale() {
        let out = tempfile::tempdir().unwrap();
        let mut folder = Folder::open(out.path(), "a").unwrap();
        folder.begin(&manifest("a")).unwrap();
        folder.write("old.csv", b"1").unwrap();
        folder.write("both.csv", b"1").unwrap();
        folder.finish(manifest("a")).unwrap();
        let mut folder = Folder::open(out.path(), "a").unwrap();
        folder.write("both.csv", b"2").unwrap();
        folder.write("both.csv", b"3").unwrap();
        let path = folder.finish(manifest("a")).unwrap().path;
        assert_eq!(sorted(&path), ["both.csv", "manifest.json"]);
        assert_eq!(fs::read(path.join("both.csv")).unwrap(), b"23");
        assert_eq!(Manifest::read(&path).unwrap().files["both.csv"], sha256(b"23"));
    }

    #[test]
    fn many_files_are_all_vouched_for() {
        let out = tempfile::tempdir().unwrap();
        let mut folder = Folder::open(out.path(), "a").unwrap();
        folder.begin(&manifest("a")).unwrap();
        let files: Vec<String> = (0..3 * MOST_AT_A_TIME).map(|i| format!("{i}.csv")).collect();
        for name in &files {
            folder.write(name, name.as_bytes()).unwrap();
        }
        assert_eq!(folder.files().count(), files.len());
        let path = folder.finish(manifest("a")).unwrap().path;
        let found = Manifest::read(&path).unwrap();
        assert!(found.complete && found.files.len() == files.len());
        assert!(found.changes(&path).is_empty());
        assert_eq!(sorted(&path).len(), files.len() + 1);
    }

    /// A manifest of a run that was killed while it replaced `name`.
    fn replacing(name: &str, hash: String) -> Vec<u8> {
        let replacing = BTreeMap::from([(FileName::try_from(name.to_owned()).unwrap(), hash)]);
        Manifest { complete: false, replacing, ..manifest("a") }.bytes()
    }

    #[test]
    fn what_a_manifest_says_is_being_replaced_is_removed_only_if_it_is_ours() {
        let out = tempfile::tempdir().unwrap();
        let path = out.path().join("a");
        fs::create_dir(&path).unwrap();
        for (hash, is_kept) in [(sha256(b"mine"), true), (sha256(b"1,2\n"), false)] {
            fs::write(path.join("data.csv"), b"1,2\n").unwrap();
            fs::write(path.join(MANIFEST), replacing("data.csv", hash)).unwrap();
            Folder::open(out.path(), "a").unwrap().finish(manifest("a")).unwrap();
            assert_eq!(path.join("data.csv").exists(), is_kept);
        }
    }
}
