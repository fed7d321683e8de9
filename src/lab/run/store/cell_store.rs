//! The finished cells of a results folder. A cell is in memory until it is on the disk.
//!
//! `cells.log` holds the cells of finished work, and is never appended to. Cells that are finished
//! now are appended to `unfinished.log` once a second, all together: a killed run loses the cells of
//! its last second, and cells do not wait for the disk one by one.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use super::background_file::BackgroundFile;
use super::log::{self, CONTENT, Inventory, Key, MAGIC};
use super::{FileError, Manifest};
use system::filesystem::{
    beside, is_regular, is_taken, open_in_place, open_regular, rename_to_free, sync_folder,
};

/// The cells of finished work.
pub const LOG: &str = "cells.log";

/// The cells of work that was not finished.
pub(super) const UNFINISHED: &str = "unfinished.log";

/// How often finished cells are written to the disk.
const INTERVAL: Duration = Duration::from_secs(1);

/// At most this many bytes wait in memory.
const MOST_PENDING: usize = 4 << 20;

/// All finished cells of one or more results folders.
pub struct CellStore {
    places: RwLock<HashMap<Key, RecordLocation>>,
    /// Logs that are only read.
    logs: Vec<(PathBuf, Mutex<File>)>,
    /// Where cells are added; `None` if the store is only read.
    journal: Option<Arc<Journal>>,
    committer: Option<JoinHandle<()>>,
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
        let mut store = Self::new(Some(Journal::new(path.clone())));
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
            store.put(started_fresh(), 0.0, &[]);
            return Ok(store);
        }
        let is_fresh = |found: &Inventory| {
            found.entries.first().is_some_and(|entry| entry.key == started_fresh())
        };
        if !unfinished.as_ref().is_some_and(|(_, found)| is_fresh(found)) {
            store.add(folder)?;
        }
        if let Some((file, found)) = unfinished {
            store.journal().lock().resume(file, found.end);
            store.register(None, &found.entries);
            store.unfinished.extend(found.entries.iter().map(|entry| entry.key));
            store.note(path, &found);
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
            journal: journal.map(Arc::new),
            committer: None,
            losses: Losses::default(),
            unfinished: Vec::new(),
        }
    }

    fn journal(&self) -> &Arc<Journal> {
        self.journal.as_ref().expect("a store that can be added to")
    }

    fn note(&mut self, path: PathBuf, found: &Inventory) {
        self.losses.damaged.extend(&found.damaged);
        if found.lost > 0 {
            self.losses.bytes.push((path, found.lost));
        }
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
        self.logs.push((path.clone(), Mutex::new(file)));
        self.register(Some(self.logs.len() - 1), &found.entries);
        self.note(path, &found);
        Ok(())
    }

    fn register(&mut self, log: Option<usize>, entries: &[log::Entry]) {
        let places = self.places.get_mut().unwrap_or_else(PoisonError::into_inner);
        places.extend(entries.iter().map(|&log::Entry { key, seconds, at, length }| {
            (key, RecordLocation { log, at, length, seconds })
        }));
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
                let journal = self.journal();
                (&journal.path, journal.lock().read(at, &mut content))
            }
        };
        read.map_err(|source| FileError::reading(path, source))?;
        Ok(Some((seconds, content)))
    }

    /// Stores a cell. It reaches the disk within a second or so; if not, [`CellStore::failed`] is true.
    pub fn put(&self, key: Key, seconds: f64, content: &[u8]) {
        let at = self.journal().append(&log::record(key, seconds, content));
        let length = content.len() as u32;
        let place = RecordLocation { log: None, at: at + CONTENT, length, seconds };
        self.places.write().unwrap_or_else(PoisonError::into_inner).insert(key, place);
    }

    /// Starts a thread that writes new cells to the disk every second or so.
    pub fn keep_committing(&mut self) -> Result<(), FileError> {
        let journal = Arc::clone(self.journal());
        let path = journal.path.clone();
        let thread = thread::Builder::new().name("dpbi committer".to_owned());
        let committer = thread.spawn(move || journal.keep_committing());
        let wrong = |source| FileError::writing(&path, source);
        self.committer = Some(committer.map_err(wrong)?);
        Ok(())
    }

    /// Whether writing has failed, so that further cells would be lost.
    pub fn failed(&self) -> bool {
        self.journal.as_ref().is_some_and(|journal| journal.failed.load(Ordering::Relaxed))
    }

    /// Writes everything to the disk now.
    pub fn commit(&self) -> Result<(), FileError> {
        let Some(journal) = &self.journal else { return Ok(()) };
        journal.commit();
        match &journal.lock().error {
            Some(error) => Err(FileError::writing(&journal.path, same(error))),
            None => Ok(()),
        }
    }

    /// Removes `unfinished.log`, but for the cells of an earlier run that are not among `finished`.
    /// Returns how many these are.
    pub fn clear(mut self, finished: impl Fn() -> HashSet<Key>) -> Result<usize, FileError> {
        self.stop();
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
        let file = BackgroundFile::new(&journal.path)?;
        file.push(log_head());
        for &key in &others {
            let (seconds, content) = self.get(key)?.unwrap_or_default();
            file.push(log::record(key, seconds, &content));
        }
        file.close()?.1.arrive()?.replace()?;
        Ok(others.len())
    }

    fn stop(&mut self) {
        let Some(journal) = &self.journal else { return };
        *lock(&journal.stopping) = true;
        journal.wake.notify_all();
        if let Some(committer) = self.committer.take() {
            let _ = committer.join();
        }
    }
}

impl Drop for CellStore {
    fn drop(&mut self) {
        self.stop();
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

/// `unfinished.log`, which is made when there is something to write.
struct Journal {
    path: PathBuf,
    state: Mutex<State>,
    failed: AtomicBool,
    /// Held while the file is synced, so that commits follow one another.
    syncing: Mutex<()>,
    stopping: Mutex<bool>,
    wake: Condvar,
}

#[derive(Default)]
struct State {
    /// What the file held at the start, to be read.
    earlier: Option<File>,
    /// The file as it is written now.
    file: Option<File>,
    /// Where the next byte goes that is not pending.
    written: u64,
    pending: Vec<u8>,
    /// Whether something was written that may not have reached the disk.
    unsynced: bool,
    error: Option<io::Error>,
}

impl Journal {
    fn new(path: PathBuf) -> Self {
        let state = State { pending: MAGIC.to_vec(), ..State::default() };
        Self {
            path,
            state: Mutex::new(state),
            failed: AtomicBool::new(false),
            syncing: Mutex::new(()),
            stopping: Mutex::new(false),
            wake: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Appends a record and returns where it is.
    fn append(&self, record: &[u8]) -> u64 {
        let mut state = self.lock();
        let at = state.written + state.pending.len() as u64;
        state.pending.extend(record);
        if state.pending.len() > MOST_PENDING {
            self.write(&mut state);
        }
        at
    }

    /// Writes everything that is pending to the file.
    fn write(&self, state: &mut State) {
        if state.error.is_some() || state.pending.is_empty() {
            return;
        }
        if let Err(error) = state.write(&self.path) {
            state.error = Some(error);
            self.failed.store(true, Ordering::Relaxed);
        }
    }

    /// Writes and syncs everything. Other threads may append meanwhile.
    fn commit(&self) {
        let _syncing = lock(&self.syncing);
        let mut state = self.lock();
        self.write(&mut state);
        if !std::mem::take(&mut state.unsynced) {
            return;
        }
        let file = state.file.as_ref().map(File::try_clone);
        drop(state);
        if let Some(Err(error)) = file.map(|file| file.and_then(|file| file.sync_data())) {
            self.lock().error.get_or_insert(error);
            self.failed.store(true, Ordering::Relaxed);
        }
    }

    fn keep_committing(&self) {
        let mut stopping = lock(&self.stopping);
        while !*stopping {
            let waited = self.wake.wait_timeout(stopping, INTERVAL);
            stopping = waited.unwrap_or_else(PoisonError::into_inner).0;
            if !*stopping {
                drop(stopping);
                self.commit();
                stopping = lock(&self.stopping);
            }
        }
    }
}

impl State {
    /// Goes on with a file whose first `end` bytes are sound.
    fn resume(&mut self, file: File, end: u64) {
        self.earlier = Some(file);
        self.written = end;
        self.pending.clear();
    }

    fn write(&mut self, path: &Path) -> io::Result<()> {
        if self.file.is_none() {
            let file = open_in_place(path)?;
            // Otherwise a power failure may lose the file's name, and all its cells with it.
            path.parent().iter().for_each(|folder| sync_folder(folder));
            // What follows is incomplete, or belongs to a run that is not continued.
            file.set_len(self.written)?;
            self.file = Some(file);
        }
        let Some(file) = &mut self.file else { return Ok(()) };
        file.seek(SeekFrom::Start(self.written))?;
        if let Err(error) = file.write_all(&self.pending) {
            // An incomplete record would hide those that are appended when there is room again.
            let _ = file.set_len(self.written);
            return Err(error);
        }
        self.written += self.pending.len() as u64;
        self.pending.clear();
        self.unsynced = true;
        Ok(())
    }

    fn read(&mut self, at: u64, content: &mut [u8]) -> io::Result<()> {
        if let Some(start) = at.checked_sub(self.written) {
            let start = start as usize;
            content.copy_from_slice(&self.pending[start..start + content.len()]);
            return Ok(());
        }
        let file = self.file.as_mut().or(self.earlier.as_mut());
        let file = file.ok_or_else(|| io::Error::other("the log is gone"))?;
        read_at(file, at, content)
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
        // More than stays in memory.
        let many = 4 * MOST_PENDING / 2500;
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

    #[test]
    fn a_run_that_was_started_fresh_is_continued_without_what_it_replaces() {
        let folder = tempfile::tempdir().unwrap();
        let old = [log_head(), log_record(key(1), b"old"), log_record(key(2), b"old")].concat();
        fs::write(folder.path().join(LOG), old).unwrap();
        let plain = CellStore::open(folder.path(), false).unwrap();
        assert!(plain.has(key(1)) && plain.has(key(2)));
        let fresh = CellStore::open(folder.path(), true).unwrap();
        fresh.put(key(1), 0.0, b"new");
        fresh.commit().unwrap();
        drop(fresh);
        let continued = CellStore::open(folder.path(), false).unwrap();
        assert_eq!(continued.get(key(1)).unwrap(), Some((0.0, b"new".to_vec())));
        assert!(!continued.has(key(2)));
    }

    #[test]
    fn cells_of_another_run_are_left() {
        let folder = tempfile::tempdir().unwrap();
        let store = CellStore::open(folder.path(), false).unwrap();
        (0..4).for_each(|i| store.put(key(i), 0.5, &content(i)));
        store.commit().unwrap();
        drop(store);
        let store = CellStore::open(folder.path(), false).unwrap();
        store.put(key(4), 0.5, &content(4));
        store.commit().unwrap();
        assert_eq!(store.clear(|| HashSet::from([1, 3, 4].map(key))).unwrap(), 2);
        let store = CellStore::open(folder.path(), false).unwrap();
        assert_eq!(store.get(key(2)).unwrap(), Some((0.5, content(2))));
        assert!(store.has(key(0)) && ![1, 3, 4].iter().any(|&i| store.has(key(i))));
        assert_eq!(store.clear(|| HashSet::from([0, 2].map(key))).unwrap(), 0);
        assert!(!folder.path().join(UNFINISHED).exists());
    }

    #[test]
    fn nothing_is_written_before_there_is_need() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = CellStore::open(folder.path(), false).unwrap();
        store.keep_committing().unwrap();
        store.put(key(1), 0.0, b"small");
        assert_eq!(store.get(key(1)).unwrap(), Some((0.0, b"small".to_vec())));
        assert_eq!(store.clear(HashSet::new).unwrap(), 0);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_disk_that_fails_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let store = CellStore::open(&folder.path().join("gone"), false).unwrap();
        store.put(key(1), 0.0, b"lost");
        assert!(!store.failed());
        assert!(store.commit().unwrap_err().to_string().contains(UNFINISHED));
        assert!(store.failed());
    }
}
