//! Comparing tables with the files that should hold them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::run::store::{FileError, LOG};
use crate::run::sweep::Output;
use system::filesystem::open_regular;

/// Takes tables as they are made, and finds where a file differs from them first.
pub struct Comparison {
    folder: PathBuf,
    files: BTreeMap<String, FileComparison>,
}

/// A file, as far as it has been compared.
struct FileComparison {
    reader: Option<BufReader<File>>,
    /// The line that comes next, from 1.
    line: u64,
    difference: Option<String>,
}

impl Comparison {
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.into(), files: BTreeMap::new() }
    }

    /// The files that were compared.
    pub fn names(&self) -> impl Iterator<Item = String> {
        self.files.keys().cloned()
    }

    /// The first difference of every file.
    pub fn finish(self) -> Vec<String> {
        let difference = |(name, file): (String, FileComparison)| {
            let path = self.folder.join(name);
            file.finish().map(|difference| format!("{} {difference}", path.display()))
        };
        self.files.into_iter().filter_map(difference).collect()
    }
}

impl Output for Comparison {
    fn write(&mut self, name: &str, bytes: Vec<u8>) -> Result<(), FileError> {
        // The records of the log have checksums of their own.
        if name == LOG {
            return Ok(());
        }
        let path = self.folder.join(name);
        let file = self.files.entry(name.to_owned()).or_insert_with(|| {
            let reader = open_regular(&path).ok().map(BufReader::new);
            FileComparison { reader, line: 1, difference: None }
        });
        file.compare(&bytes).map_err(|source| FileError::reading(&path, source))
    }
}

impl FileComparison {
    fn compare(&mut self, expected: &[u8]) -> std::io::Result<()> {
        let Some(reader) = &mut self.reader else {
            self.difference = Some("is not there, but the cells give it".to_owned());
            return Ok(());
        };
        if self.difference.is_some() {
            return Ok(());
        }
        for expected in expected.split_inclusive(|&byte| byte == b'\n') {
            let mut found = Vec::new();
            // A line may be of any length: little more is read than it should have.
            let limit = expected.len() as u64 + LONGEST_SHOWN as u64;
            reader.by_ref().take(limit).read_until(b'\n', &mut found)?;
            if found != expected {
                self.difference = Some(format!(
                    "differs first in line {}: it has `{}`, the cells give `{}`",
                    self.line,
                    shown(&found),
                    shown(expected),
                ));
                return Ok(());
            }
            self.line += 1;
        }
        Ok(())
    }

    fn finish(mut self) -> Option<String> {
        let more = self
            .reader
            .as_mut()
            .is_some_and(|reader| reader.fill_buf().is_ok_and(|rest| !rest.is_empty()));
        let longer =
            || more.then(|| format!("goes on after line {}, the cells do not", self.line - 1));
        self.difference.clone().or_else(longer)
    }
}

/// At most this many characters of a line are shown.
const LONGEST_SHOWN: usize = 200;

fn shown(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let text = text.trim_end_matches('\n');
    match text.char_indices().nth(LONGEST_SHOWN) {
        None => text.escape_debug().to_string(),
        Some((end, _)) => format!("{}…", text[..end].escape_debug()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(file: &str, pieces: &[&str]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.csv"), file).unwrap();
        let mut comparison = Comparison::new(folder.path());
        for piece in pieces {
            comparison.write("a.csv", piece.as_bytes().to_vec()).unwrap();
        }
        comparison.finish()
    }

    #[test]
    fn the_first_difference_is_named() {
        let pieces = ["h\n1,2\n", "3,4\n"];
        assert!(compared("h\n1,2\n3,4\n", &pieces).is_empty());
        let found = |file| compared(file, &pieces).pop().unwrap();
        assert!(found("h\n1,2\n3,5\n").contains("in line 3: it has `3,5`, the cells give `3,4`"));
        assert!(found("h\n9,2\n3,5\n").contains("in line 2: it has `9,2`, the cells give `1,2`"));
        assert!(found("h\n1,2\n3").contains("in line 3: it has `3`, the cells give `3,4`"));
        assert!(found("h\n1,2\n3,4\n5\n").contains("goes on after line 3"));
        assert!(found("").contains("in line 1: it has ``"));
    }
}
