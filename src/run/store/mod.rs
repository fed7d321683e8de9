//! Results folders: files that are written whole or not at all, a manifest that vouches for them,
//! and the cells that they are made of.

mod background_file;
mod cell_store;
mod folder;
mod log;
mod manifest;
mod time;

pub use background_file::{BackgroundFile, write_whole};
pub use cell_store::{CellStore, LOG, Losses, log_head, log_record};
pub use folder::{Folder, OpenError, Written, damaged_manifest, keep_aside};
pub use log::{Key, LARGEST_CONTENT};
pub use manifest::{
    CellTime, Change, Division, FileName, MOST_SHARDS, Manifest, ManifestError, Shard,
};
pub use time::utc;

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::base::filesystem::open_regular;

/// Why a file could not be written, or read back.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} {}: {source}", path.display())]
pub struct WriteError {
    doing: &'static str,
    path: PathBuf,
    source: io::Error,
}

impl WriteError {
    fn new(path: &Path, source: io::Error) -> Self {
        Self { doing: "write", path: path.into(), source }
    }

    /// The same for a file that is read.
    #[must_use]
    pub fn reading(path: &Path, source: io::Error) -> Self {
        Self { doing: "read", path: path.into(), source }
    }

    /// Whether there is no room left.
    #[must_use]
    pub fn is_full(&self) -> bool {
        is_full(&self.source)
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// The SHA-256 of some bytes, in hexadecimal.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
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

/// Bytes in hexadecimal.
#[must_use]
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
