//! Results folders: files that are written whole or not at all, a manifest that vouches for them,
//! and the cells that they are made of.

mod build;
mod cell_store;
mod folder;
mod log;
mod manifest;
mod temporary_file;
mod time;

use build::declared_command;
pub use build::{Build, declare_command};
pub use cell_store::{CellStore, LOG, Losses, log_head, log_record};
pub use folder::{Folder, OpenError, Written, damaged_manifest, keep_aside};
pub use log::{Key, LARGEST_CONTENT};
pub use manifest::{
    CellTime, Change, Damage, Division, FileName, Holds, MANIFEST, MOST_CELLS, MOST_SHARDS,
    Manifest, ManifestError, Shard,
};
pub use temporary_file::write_whole;
pub use time::utc;

pub use system::hash::{hexadecimal, sha256};

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use system::filesystem::open_regular;

/// Why a file could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    /// It could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
}

impl FileError {
    fn writing(path: &Path, source: io::Error) -> Self {
        Self::Write { path: path.into(), source }
    }

    /// For a file that could not be read.
    pub fn reading(path: &Path, source: io::Error) -> Self {
        Self::Read { path: path.into(), source }
    }

    /// Whether there is no room left.
    pub fn is_full(&self) -> bool {
        let (Self::Write { source, .. } | Self::Read { source, .. }) = self;
        is_full(source)
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// The SHA-256 of a file of a results folder.
fn hash_file(path: &Path) -> io::Result<String> {
    let mut file = open_regular(path)?;
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 18]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hexadecimal(&hash.finalize())),
            length => hash.update(&buffer[..length]),
        }
    }
}
