//! Files that are written under temporary names, and renamed when they are complete.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::{FileError, hexadecimal};
use system::filesystem::create_temporary;

/// A file under its temporary name. Unless it gets its own name, it is removed on drop.
pub(super) struct TemporaryFile {
    path: PathBuf,
    temporary: PathBuf,
    named: bool,
    hash: Sha256,
    /// As long as it is open, other processes leave it alone.
    file: Option<File>,
}

impl TemporaryFile {
    /// Starts the file that will be called `path`.
    pub(super) fn new(path: &Path) -> Result<Self, FileError> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let made = create_temporary(folder.unwrap_or(Path::new(".")));
        let (file, temporary) = made.map_err(|source| FileError::writing(path, source))?;
        let (path, hash) = (path.to_owned(), Sha256::new());
        Ok(Self { path, temporary, named: false, hash, file: Some(file) })
    }

    /// A whole file that has reached the disk.
    pub(super) fn whole(path: &Path, bytes: &[u8]) -> Result<Self, FileError> {
        let mut file = Self::new(path)?;
        file.push(bytes)?;
        file.sync()?;
        Ok(file)
    }

    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        self.hash.update(bytes);
        let written = self.file.as_ref().map_or(Ok(()), |mut file| file.write_all(bytes));
        written.map_err(|source| FileError::writing(&self.path, source))
    }

    /// The SHA-256 of what was written.
    pub(super) fn hash(&self) -> String {
        hexadecimal(&self.hash.clone().finalize())
    }

    /// Waits until it has reached the disk.
    pub(super) fn sync(&self) -> Result<(), FileError> {
        let synced = self.file.as_ref().map_or(Ok(()), File::sync_all);
        synced.map_err(|source| FileError::writing(&self.path, source))
    }

    /// The same, closed: for folders that are locked as a whole, and have many files.
    pub(super) fn closed(mut self) -> Self {
        self.file = None;
        self
    }

    /// The name that it will have.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The name that it has now.
    pub(super) fn temporary(&self) -> &Path {
        &self.temporary
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
pub fn write_whole(path: &Path, bytes: impl AsRef<[u8]>) -> Result<(), FileError> {
    TemporaryFile::whole(path, bytes.as_ref())?.replace()
}
