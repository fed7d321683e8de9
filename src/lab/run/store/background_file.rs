//! Files that are written in the background under temporary names, and renamed when they are complete.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use sha2::{Digest, Sha256};

use super::{FileError, hexadecimal};
use system::filesystem::create_temporary;

/// At most this many pieces wait for the disk.
const WAITING: usize = 4;

/// A file that is being written, piece by piece, by a thread of its own.
pub struct BackgroundFile {
    path: PathBuf,
    pieces: SyncSender<Vec<u8>>,
    hash: Receiver<String>,
    writing: JoinHandle<io::Result<TemporaryFile>>,
}

impl BackgroundFile {
    /// Starts the file that will be called `path`.
    pub(super) fn new(path: &Path) -> Result<Self, FileError> {
        let (pieces, arriving) = sync_channel::<Vec<u8>>(WAITING);
        let (hashed, hash) = sync_channel(1);
        let path_of_part = path.to_owned();
        let write = move || {
            let (mut file, mut part) = TemporaryFile::create(path_of_part)?;
            let mut hash = Sha256::new();
            for piece in arriving {
                hash.update(&piece);
                file.write_all(&piece)?;
            }
            // If nothing receives the hash, the file has been given up.
            let _ = hashed.send(hexadecimal(&hash.finalize()));
            file.sync_all()?;
            part.held = Some(file);
            Ok(part)
        };
        let writing = thread::Builder::new().name("dpbi writer".to_owned()).spawn(write);
        let writing = writing.map_err(|source| FileError::writing(path, source))?;
        Ok(Self { path: path.into(), pieces, hash, writing })
    }

    /// Appends a piece. Returns false if the disk has failed; then [`BackgroundFile::close`] says why.
    pub(super) fn push(&self, piece: Vec<u8>) -> bool {
        self.pieces.send(piece).is_ok()
    }

    /// Ends the file. Its SHA-256 is known before all of it has reached the disk.
    pub(super) fn close(self) -> Result<(String, Closed), FileError> {
        let Self { path, pieces, hash, writing } = self;
        drop(pieces);
        let closed = Closed { path, writing };
        match hash.recv() {
            Ok(hash) => Ok((hash, closed)),
            Err(_) => {
                let path = closed.path.clone();
                let lost = || FileError::writing(&path, io::Error::other("the writer stopped"));
                Err(closed.arrive().err().unwrap_or_else(lost))
            }
        }
    }
}

/// A complete file that may not have reached the disk.
pub(super) struct Closed {
    path: PathBuf,
    writing: JoinHandle<io::Result<TemporaryFile>>,
}

impl Closed {
    /// Waits until it has reached the disk.
    pub(super) fn arrive(self) -> Result<TemporaryFile, FileError> {
        let lost = |_| Err(io::Error::other("the writer stopped"));
        let arrived = self.writing.join().unwrap_or_else(lost);
        arrived.map_err(|source| FileError::writing(&self.path, source))
    }
}

/// A file under its temporary name. Unless it gets its own name, it is removed on drop.
pub(super) struct TemporaryFile {
    path: PathBuf,
    temporary: PathBuf,
    named: bool,
    /// As long as it is open, other processes leave it alone.
    held: Option<File>,
}

impl TemporaryFile {
    fn create(path: PathBuf) -> io::Result<(File, Self)> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let (file, temporary) = create_temporary(folder.unwrap_or(Path::new(".")))?;
        Ok((file, Self { path, temporary, named: false, held: None }))
    }

    /// The name that it will have.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The name that it has now.
    pub(super) fn temporary(&self) -> &Path {
        &self.temporary
    }

    /// The same, closed: for folders that are locked as a whole, and have many files.
    pub(super) fn closed(mut self) -> Self {
        self.held = None;
        self
    }

    /// Gives the file its name.
    pub(super) fn replace(mut self) -> Result<(), FileError> {
        let renamed = fs::rename(&self.temporary, &self.path);
        self.named = renamed.is_ok();
        renamed.map_err(|source| FileError::writing(&self.path, source))
    }
}

impl Drop for TemporaryFile {
    /// That it cannot be removed is not reported: the error that led here is.
    fn drop(&mut self) {
        if !self.named {
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

/// Writes one file under a temporary name in the same folder, syncs it, and renames it.
pub fn write_whole(path: &Path, bytes: Vec<u8>) -> Result<(), FileError> {
    write_part(path, bytes)?.1.arrive()?.replace()
}

/// Begins to write one whole file, and returns its SHA-256.
pub(super) fn write_part(path: &Path, bytes: Vec<u8>) -> Result<(String, Closed), FileError> {
    let file = BackgroundFile::new(path)?;
    file.push(bytes);
    file.close()
}
