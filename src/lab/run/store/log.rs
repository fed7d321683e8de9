//! A log of finished cells: records with checksums, one after the other.
//!
//! ```text
//! dpbi cells 1⏎
//! key (16 bytes) · seconds (8) · length (4) · checksum of these (4) · content · checksum of key and content (8)
//! …
//! ```
//!
//! Numbers are little-endian, checksums the first bytes of a SHA-256. A killed run may leave the last
//! record incomplete: it is dropped. A record whose content is damaged is skipped by its length. After a
//! damaged head the next sound one is searched for.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;

use sha2::{Digest, Sha256};

use system::filesystem::open_regular;

/// The first bytes of every log.
pub(super) const MAGIC: &[u8] = b"dpbi cells 1\n";

const HEAD: usize = 32;
const CHECK: usize = 8;

/// The largest content of a record.
pub const LARGEST_CONTENT: usize = u32::MAX as usize;

/// How many bytes are searched for the next sound head: more than most records have.
const FARTHEST: usize = 64 << 20;

/// How many bytes are searched first.
const FIRST_STEP: u64 = 256;

/// The name of a cell's content: a hash of all that it depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key([u8; 16]);

impl Key {
    /// The key of a cell that is described by `text`.
    pub fn new(text: &str) -> Self {
        let hash = Sha256::digest(text.as_bytes());
        Self(std::array::from_fn(|i| hash[i]))
    }
}

/// A record of a log, without its content.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) key: Key,
    /// How long the cell took.
    pub(super) seconds: f64,
    /// Where its content begins.
    pub(super) at: u64,
    pub(super) length: u32,
}

/// The bytes of a record.
pub(super) fn record(key: Key, seconds: f64, content: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD + content.len() + CHECK);
    let length = u32::try_from(content.len()).expect("a cell's content is small");
    bytes.extend(key.0);
    bytes.extend(seconds.to_le_bytes());
    bytes.extend(length.to_le_bytes());
    bytes.extend(check_of_head(&bytes));
    bytes.extend(content);
    bytes.extend(check(key, content));
    bytes
}

/// Where the content begins in a record.
pub(super) const CONTENT: u64 = HEAD as u64;

fn check_of_head(head: &[u8]) -> [u8; 4] {
    let hash = Sha256::digest(head);
    std::array::from_fn(|i| hash[i])
}

fn check(key: Key, content: &[u8]) -> [u8; CHECK] {
    let hash = Sha256::new_with_prefix(key.0).chain_update(content).finalize();
    std::array::from_fn(|i| hash[i])
}

/// What a log holds.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Inventory {
    /// Its sound records.
    pub(super) entries: Vec<Entry>,
    /// Records whose content is damaged.
    pub(super) damaged: Vec<Key>,
    /// Where the last record ends.
    pub(super) end: u64,
    /// Bytes that belong to no record.
    pub(super) lost: u64,
}

/// Reads a whole log. `None` if there is no file, or if it is not a log of dpbi.
pub(super) fn take_stock(path: &Path) -> io::Result<Option<(File, Inventory)>> {
    let file = match open_regular(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let size = file.metadata()?.len();
    let mut reader = BufReader::with_capacity(1 << 18, file);
    let mut magic = vec![0; MAGIC.len()];
    read_all(&mut reader, &mut magic)?;
    let mut found = Inventory::default();
    // A log whose first bytes are damaged may still hold sound records.
    let mut at = if magic == MAGIC { MAGIC.len() as u64 } else { 0 };
    found.end = at;
    let mut body = Vec::new();
    while let Some(entry) = next_entry(&mut reader, at, size)? {
        go_to(&mut reader, entry.at)?;
        body.resize(entry.length as usize + CHECK, 0);
        reader.read_exact(&mut body)?;
        let (content, sum) = body.split_at(entry.length as usize);
        match sum == check(entry.key, content) {
            true => found.entries.push(entry),
            false => found.damaged.push(entry.key),
        }
        found.lost += entry.at - CONTENT - at;
        at = entry.at + body.len() as u64;
        found.end = at;
    }
    found.lost += size - at;
    let is_log = magic == MAGIC || !found.entries.is_empty();
    Ok(is_log.then(|| (reader.into_inner(), found)))
}

/// The record whose head begins at `at`, or the first sound one after it.
fn next_entry(reader: &mut BufReader<File>, at: u64, size: u64) -> io::Result<Option<Entry>> {
    go_to(reader, at)?;
    let mut head = [0; HEAD];
    let here = read_all(reader, &mut head)? == HEAD;
    if let Some(entry) = entry(&head, at, size).filter(|_| here) {
        return Ok(Some(entry));
    }
    // In steps that grow, so that a log with many gaps is not read many times over.
    let (mut rest, mut step, mut seen) = (head.to_vec(), FIRST_STEP, 1);
    while here && rest.len() <= FARTHEST {
        let more = reader.by_ref().take(step).read_to_end(&mut rest)?;
        let heads = rest[seen..].windows(HEAD).zip(at + seen as u64..);
        let sound = |(head, at): (&[u8], u64)| entry(head.first_chunk()?, at, size);
        if let Some(found) = heads.into_iter().find_map(sound) {
            return Ok(Some(found));
        }
        if more == 0 {
            break;
        }
        (seen, step) = (rest.len() + 1 - HEAD, 2 * step);
    }
    Ok(None)
}

/// The record whose head begins at `at`, if it is sound.
fn entry(head: &[u8; HEAD], at: u64, size: u64) -> Option<Entry> {
    let (fields, sum) = head.split_at(HEAD - 4);
    if sum != check_of_head(fields) {
        return None;
    }
    let (key, fields) = fields.split_first_chunk()?;
    let (seconds, fields) = fields.split_first_chunk()?;
    let length = u32::from_le_bytes(*fields.first_chunk()?);
    let (key, seconds, at) = (Key(*key), f64::from_le_bytes(*seconds), at + CONTENT);
    let ends = at + u64::from(length) + CHECK as u64;
    (ends <= size).then_some(Entry { key, seconds, at, length })
}

/// Moves to a place and keeps the buffer.
fn go_to(reader: &mut BufReader<File>, at: u64) -> io::Result<()> {
    let from = reader.stream_position()?;
    reader.seek_relative(at as i64 - from as i64)
}

/// Fills the buffer as far as the file goes.
fn read_all(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match reader.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(more) => filled += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(contents: &[&str]) -> Vec<u8> {
        let records = contents.iter().map(|text| record(Key::new(text), 0.5, text.as_bytes()));
        records.fold(MAGIC.to_vec(), |log, record| [log, record].concat())
    }

    fn stock(bytes: &[u8]) -> Option<Inventory> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        std::fs::write(&path, bytes).unwrap();
        take_stock(&path).unwrap().map(|(_, found)| found)
    }

    fn keys(found: &Inventory) -> Vec<Key> {
        found.entries.iter().map(|entry| entry.key).collect()
    }

    #[test]
    fn what_was_written_is_found() {
        let bytes = log(&["one", "", "three"]);
        let found = stock(&bytes).unwrap();
        assert_eq!(keys(&found), ["one", "", "three"].map(Key::new));
        assert_eq!((found.end, found.lost), (bytes.len() as u64, 0));
        let last = found.entries[2];
        assert_eq!((last.seconds, last.length), (0.5, 5));
        assert_eq!(&bytes[last.at as usize..][..5], b"three");
    }

    #[test]
    fn wherever_it_is_torn_the_records_before_are_kept() {
        let bytes = log(&["one", "two", "three"]);
        let ends = [1, 2, 3].map(|records| log(&["one", "two", "three"][..records]).len());
        for length in MAGIC.len()..bytes.len() {
            let found = stock(&bytes[..length]).unwrap();
            let whole = ends.iter().filter(|end| **end <= length).count();
            assert_eq!(found.entries.len(), whole, "{length}");
            assert_eq!(found.lost, (length as u64) - found.end);
            assert!(found.damaged.is_empty());
        }
    }

    #[test]
    fn records_are_found_behind_gaps_of_any_length() {
        let sound = |text: &str| record(Key::new(text), 0.5, text.as_bytes());
        for gap in [1, 2, 31, 32, 33, 255, 256, 257, 300, 5000, 100_000] {
            let junk = vec![b'x'; gap];
            let bytes = [MAGIC, &junk, &sound("one"), &junk, &sound("two"), &junk].concat();
            let found = stock(&bytes).unwrap();
            assert_eq!(keys(&found), ["one", "two"].map(Key::new), "{gap}");
            assert_eq!(found.lost, 3 * gap as u64);
        }
    }

    #[test]
    fn a_flipped_bit_is_noticed_wherever_it_is() {
        let sound = log(&["one", "two", "three"]);
        let all = keys(&stock(&sound).unwrap());
        for byte in 0..sound.len() {
            for bit in 0..8 {
                let mut bytes = sound.clone();
                bytes[byte] ^= 1 << bit;
                let found = stock(&bytes).unwrap();
                assert!(keys(&found).iter().all(|key| all.contains(key)));
                assert!(!found.damaged.is_empty() || found.lost > 0);
                // One record is lost, and no other.
                let sound = if byte < MAGIC.len() { 3 } else { 2 };
                assert_eq!(found.entries.len(), sound, "byte {byte}, bit {bit}");
            }
        }
    }

    #[test]
    fn other_files_are_no_logs() {
        assert_eq!(stock(b""), None);
        assert_eq!(stock(b"dpbi cells 2\n"), None);
        assert!(take_stock(Path::new("/nowhere/at/all")).unwrap().is_none());
    }
}
