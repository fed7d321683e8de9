//! The file of a release before it is written: empty, and held by the process that will write it. So no
//! two processes spend ε for one file.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use crate::command::typed;
use lab::run::store::{FileError, write_whole};
use system::diagnostic::Diagnostic;
use system::filesystem::{hold, is_at, open_in_place};

/// A file that this process may write. Unless it is written, it is removed on drop.
pub struct Claim {
    path: PathBuf,
    file: File,
    written: bool,
}

impl Claim {
    /// Claims a path at which nothing stands but, perhaps, the empty file of a process that was killed
    /// before it had released anything.
    pub fn new(path: &Path) -> Result<Self, Diagnostic> {
        let refused = |cause: &str, remedy: &str| {
            typed::wrong("out", &format!("{} {cause}", path.display())).help(remedy)
        };
        let taken = || {
            let remedy = "a release is paid for, and is not overwritten: use another name";
            refused("exists already", remedy)
        };
        let file = match OpenOptions::new().write(true).create_new(true).open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                let left = open_in_place(path).ok().filter(is_empty);
                left.ok_or_else(taken)?
            }
            Err(error) => {
                typed::refuse_unwritable("out", path)?;
                return Err(refused(&format!("cannot be made: {error}"), "use another name"));
            }
        };
        if !hold(&file) {
            return Err(refused("is being written by another release", "use another name"));
        }
        // The other release may have ended meanwhile.
        match is_empty(&file) && is_at(&file, path).unwrap_or(false) {
            true => Ok(Self { path: path.to_owned(), file, written: false }),
            false => Err(taken()),
        }
    }

    pub fn write(mut self, text: String) -> Result<(), FileError> {
        write_whole(&self.path, text.into_bytes())?;
        self.written = true;
        Ok(())
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if !self.written && is_empty(&self.file) && is_at(&self.file, &self.path).unwrap_or(false) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn is_empty(file: &File) -> bool {
    file.metadata().is_ok_and(|about| about.len() == 0)
}
