//! The finished cells of a results folder.
//!
//! `cells.log` holds the cells of finished work, and is never appended to. A cell that is finished now is
//! appended to `unfinished.log` at once, so that a killed run loses none. The system takes it to the disk
//! when it likes: cells do not wait for that. Only the end of a run does.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};

use super::log::{self, CONTENT, Inventory, Key, MAGIC};
use super::temporary_file::TemporaryFile;
use super::{FileError, Manifest};
use system::filesystem::{
    beside, is_regular, is_taken, open_in_place, open_regular, rename_to_free, sync_folder,
};

/// The cells of finished work.
pub const LOG: &str = "cells.log";

/// The cells of work that was not finished.
pub(super) const UNFINISHED: &str = "unfinished.log";

/// All finished cells of one or more results folders.
pub struct CellStore {
    places: RwLock<HashMap<Key, RecordLocation>>,
    /// Logs that are only read.
    logs: Vec<(PathBuf, Mutex<File>)>,
    /// Where cells are added; `None` if the store is only read.
    journal: Option<Journal>,
    /// What was found damaged.
    losses: Losses,
    /// The cells that `unfinished.log` held at the start.
    unfinished: Vec<Key>,
}

/// What could not be read.
#[derive(Debug, Default)]
pub struct Losses {
    /// Records whose content is damaged.
    damaged: HashSet<Key>,
    /// For each log the number of bytes that belong to no record.
    pub bytes: Vec<(PathBuf, u64)>,
    /// The new name of a file that was called `unfinished.log`, but is not a log.
    pub aside: Option<PathBuf>,
}

impl Losses {
    /// How many records are damaged.
    pub fn cells(&self) -> usize {
        self.damaged.len()
    }
}

#[derive(Clone, Copy)]
struct RecordLocation {
    /// The log; `None` for the one that is written.
    log: Option<usize>,
    at: u64,
    length: u32,
    seconds: f64,
}

impl CellStore {
    /// The cells of a results folder, to which others are added; with `fresh`, none of the old ones.
    pub fn open(folder: &Path, fresh: bool) -> Result<Self, FileError> {
        let path = folder.join(UNFINISHED);
        let wrong = |source| FileError::reading(&path, source);
        let mut store = Self::new(Some(Journal { path: path.clone(), state: Mutex::default() }));
        let unfinished = match is_regular(&path) {
            true => log::take_stock(&path).map_err(wrong)?,
            false => None,
        };
        if unfinished.is_none() && is_taken(&path) && !is_just_begun(&path) {
            // The file is not a log of dpbi: it is kept under another name.
            let aside = beside(&path, |aside| rename_to_free(&path, aside)).map_err(wrong)?;
            store.losses.aside = Some(aside);
        }
        if fresh {
            // If this run is continued later, the cells that it replaces must not be used.
            store.lock().head.extend(log::record(started_fresh(), 0.0, &[]));
            return Ok(store);
        }
        let is_fresh = |found: &Inventory| {
            found.entries.first().is_some_and(|entry| entry.key == started_fresh())
        };
        if !unfinished.as_ref().is_some_and(|(_, found)| is_fresh(found)) {
            store.add(folder)?;
        }
        if let Some((file, found)) = unfinished {
            *store.lock() = State { head: Vec::new(), end: found.end, ..State::default() };
            store.unfinished.extend(found.entries.iter().map(|entry| entry.key));
            store.register(path, file, &found);
        }
        Ok(store)
    }

    /// The finished cells of several folders, to which nothing is added.
    pub fn of(folders: &[&Path]) -> Result<Self, FileError> {
        let mut store = Self::new(None);
        folders.iter().try_for_each(|folder| store.add(folder))?;
        Ok(store)
    }

    fn new(journal: Option<Journal>) -> Self {
        Self {
            places: RwLock::default(),
            logs: Vec::new(),
            journal,
            losses: Losses::default(),
            unfinished: Vec::new(),
        }
    }

    fn journal(&self) -> &Journal {
        self.journal.as_ref().expect("a store that can be added to")
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.journal().state)
    }

    /// Adds the finished cells of a folder.
    fn add(&mut self, folder: &Path) -> Result<(), FileError> {
        let path = folder.join(LOG);
        let wrong = |source| FileError::reading(&path, source);
        let Some((file, mut found)) = log::take_stock(&path).map_err(wrong)? else { return Ok(()) };
        // The log has no times, so that the same work gives the same bytes. The manifest has them.
        let manifest = Manifest::read(folder).unwrap_or_default();
        if manifest.cells.len() == found.entries.len() {
            for (entry, (.., seconds)) in found.entries.iter_mut().zip(&manifest.cells) {
                entry.seconds = *seconds;
            }
        }
        self.register(path, file, &found);
        Ok(())
    }

    /// Adds the cells of a log.
    fn register(&mut self, path: PathBuf, file: File, found: &Inventory) {
        let log = Some(self.logs.len());
        let places = self.places.get_mut().unwrap_or_else(PoisonError::into_inner);
        places.extend(found.entries.iter().map(|&log::Entry { key, seconds, at, length }| {
            (key, RecordLocation { log, at, length, seconds })
        }));
        self.losses.damaged.extend(&found.damaged);
        if found.lost > 0 {
            self.losses.bytes.push((path.clone(), found.lost));
        }
        self.logs.push((path, Mutex::new(file)));
    }

    /// Whether a cell is there.
    pub fn has(&self, key: Key) -> bool {
        self.places.read().unwrap_or_else(PoisonError::into_inner).contains_key(&key)
    }

    /// Whether a cell was there, but damaged.
    pub fn is_damaged(&self, key: Key) -> bool {
        self.losses.damaged.contains(&key) && !self.has(key)
    }

    /// What could not be read.
    pub fn losses(&self) -> &Losses {
        &self.losses
    }

    /// Whether nothing can be added.
    pub fn is_read_only(&self) -> bool {
        self.journal.is_none()
    }

    /// Whether nothing is there.
    pub fn is_empty(&self) -> bool {
        let places = self.places.read().unwrap_or_else(PoisonError::into_inner);
        places.keys().all(|key| *key == started_fresh())
    }

    /// How long a cell took, and its content.
    pub fn get(&self, key: Key) -> Result<Option<(f64, Vec<u8>)>, FileError> {
        let places = self.places.read().unwrap_or_else(PoisonError::into_inner);
        let Some(&RecordLocation { log, at, length, seconds }) = places.get(&key) else {
            return Ok(None);
        };
        drop(places);
        let mut content = vec![0; length as usize];
        let (path, read) = match log {
            Some(log) => {
                let (path, file) = &self.logs[log];
                (path, read_at(&mut lock(file), at, &mut content))
            }
            None => {
                let file = &mut self.lock().file;
                let file = file.as_mut().ok_or_else(|| io::Error::other("the log is gone"));
                (&self.journal().path, file.and_then(|file| read_at(file, at, &mut content)))
            }
        };
        read.map_err(|source| FileError::reading(path, source))?;
        Ok(Some((seconds, content)))
    }

    /// Stores a cell. If that fails, [`CellStore::failed`] is true.
    pub fn put(&self, key: Key, seconds: f64, content: &[u8]) {
        let mut state = self.lock();
        if state.error.is_some() {
            return;
        }
        match state.append(&self.journal().path, &log::record(key, seconds, content)) {
            Ok(at) => {
                let length = content.len() as u32;
                let place = RecordLocation { log: None, at: at + CONTENT, length, seconds };
                self.places.write().unwrap_or_else(PoisonError::into_inner).insert(key, place);
            }
            Err(error) => state.error = Some(error),
        }
    }

    /// Whether writing has failed, so that further cells would be lost.
    pub fn failed(&self) -> bool {
        self.journal.is_some() && self.lock().error.is_some()
    }

    /// Waits until everything is on the disk.
    pub fn commit(&self) -> Result<(), FileError> {
        let Some(journal) = &self.journal else { return Ok(()) };
        let mut state = self.lock();
        if let Some(file) = &state.file
            && let Err(error) = file.sync_data()
        {
            state.error.get_or_insert(error);
        }
        // Otherwise a power failure may lose the file's name, and all its cells with it.
        journal.path.parent().iter().for_each(|folder| sync_folder(folder));
        match &state.error {
            Some(error) => Err(FileError::writing(&journal.path, same(error))),
            None => Ok(()),
        }
    }

    /// Removes `unfinished.log`, but for the cells of an earlier run that are not among `finished`.
    /// Returns how many these are.
    pub fn clear(mut self, finished: impl Fn() -> HashSet<Key>) -> Result<usize, FileError> {
        let Some(journal) = &self.journal else { return Ok(0) };
        let mut others = std::mem::take(&mut self.unfinished);
        if !others.is_empty() {
            let (finished, fresh) = (finished(), started_fresh());
            others.retain(|key| !finished.contains(key) && *key != fresh);
        }
        if others.is_empty() {
            // If it cannot be removed, the next run reads it again, which changes nothing.
            let _ = fs::remove_file(&journal.path);
            return Ok(0);
        }
        let mut file = TemporaryFile::new(&journal.path)?;
        file.push(MAGIC)?;
        for &key in &others {
            let (seconds, content) = self.get(key)?.unwrap_or_default();
            file.push(&log::record(key, seconds, &content))?;
        }
        file.sync()?;
        file.replace()?;
        Ok(others.len())
    }
}

/// The key of a record that says that `cells.log` is not to be used.
fn started_fresh() -> Key {
    Key::new("started fresh")
}

/// A copy of an error.
fn same(error: &io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}

/// The head of `cells.log`.
pub fn log_head() -> Vec<u8> {
    MAGIC.to_vec()
}

/// A record of `cells.log`. Times are kept in the manifest, not here.
pub fn log_record(key: Key, content: &[u8]) -> Vec<u8> {
    log::record(key, 0.0, content)
}

/// Whether a folder has a log of ours.
pub(super) fn has_log(folder: &Path) -> bool {
    [LOG, UNFINISHED].iter().any(|name| begins_as_log(&folder.join(name)))
}

fn begins_as_log(path: &Path) -> bool {
    let mut magic = vec![0; MAGIC.len()];
    let read = open_regular(path).and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok() && magic == MAGIC
}

/// Whether a run was killed before it had written more of its log than a part of the first line.
fn is_just_begun(path: &Path) -> bool {
    let mut start = Vec::new();
    let limit = MAGIC.len() as u64;
    let read = open_regular(path).and_then(|file| file.take(limit).read_to_end(&mut start));
    read.is_ok() && MAGIC.starts_with(&start)
}

/// `unfinished.log`.
struct Journal {
    path: PathBuf,
    state: Mutex<State>,
}

struct State {
    /// The bytes that a new file begins with.
    head: Vec<u8>,
    /// The file, which is opened when the first cell is added.
    file: Option<File>,
    /// Where the next byte goes.
    end: u64,
    error: Option<io::Error>,
}

impl Default for State {
    fn default() -> Self {
        Self { head: MAGIC.to_vec(), file: None, end: 0, error: None }
    }
}

impl State {
    /// Appends a record and returns where it is.
    fn append(&mut self, path: &Path, record: &[u8]) -> io::Result<u64> {
        if self.file.is_none() {
            let file = open_in_place(path)?;
            // What follows is incomplete, or belongs to a run that is not continued.
            file.set_len(self.end)?;
            self.file = Some(file);
            let head = std::mem::take(&mut self.head);
            self.write(&head)?;
        }
        self.write(record)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<u64> {
        let file = self.file.as_mut().expect("the file is open");
        let at = self.end;
        file.seek(SeekFrom::Start(at))?;
        if let Err(error) = file.write_all(bytes) {
            // An incomplete record would hide those that are appended when there is room again.
            let _ = file.set_len(at);
            return Err(error);
        }
        self.end += bytes.len() as u64;
        Ok(at)
    }
}

fn read_at(file: &mut File, at: u64, content: &mut [u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(at))?;
    file.read_exact(content)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(i: usize) -> Key {
        Key::new(&i.to_string())
    }

    fn content(i: usize) -> Vec<u8> {
        vec![i as u8; 1 + i % 5000]
    }

    #[test]
    fn cells_are_found_in_memory_on_disk_and_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let store = CellStore::open(folder.path(), false).unwrap();
        let many = 2000;
        for i in 0..many {
            store.put(key(i), i as f64, &content(i));
        }
        let check = |store: &CellStore, cells: usize| {
            for i in (0..many + 10).step_by(97) {
                let expected = (i < cells).then(|| (i as f64, content(i)));
                assert_eq!(store.get(key(i)).unwrap(), expected, "{i}");
            }
        };
        check(&store, many);
        store.commit().unwrap();
        check(&store, many);
        drop(store);
        let store = CellStore::open(folder.path(), false).unwrap();
        check(&store, many);
        // Cells that are added later do not replace the earlier ones.
        store.put(key(many), many as f64, &content(many));
        check(&store, many + 1);
        store.commit().unwrap();
        check(&store, many + 1);
        drop(store);
        check(&CellStore::open(folder.path(), false).unwrap(), many + 1);
        check(&CellStore::open(folder.path(), true).unwrap(), 0);
    }

    #[test]
    fn a_torn_tail_is_dropped_and_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let store = CellStore::open(folder.path(), false).unwrap();
        (0..3).for_each(|i| store.put(key(i), 0.0, &content(i)));
        store.commit().unwrap();
        drop(store);
        let path = folder.path().join(UNFINISHED);
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
        let store = CellStore::open(folder.path(), false).unwrap();
        assert!(store.has(key(1)) && !store.has(key(2)) && !store.losses().bytes.is_empty());
        store.put(key(2), 0.0, &content(2));
        store.commit().unwrap();
        assert_eq!(fs::read(&path).unwrap(), bytes);
    }
}
