//! What commands answer: a document for machines, or a text for people.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::{print, print_document, print_json};
use crate::cli::{Answer, Print};
use crate::failure::Failure;
use system::console::Grid;

impl Answer {
    /// Prints the table, the document or the text.
    pub fn give<D: Serialize + JsonSchema>(
        &self,
        table: impl FnOnce() -> Grid,
        document: impl FnOnce() -> D,
        text: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        match self.table {
            Some(format) => print_document(&table().to_table(format)),
            None => self.print.answer(document, text),
        }
    }
}

impl Print {
    /// Prints the document or the text.
    pub fn answer<D: Serialize + JsonSchema>(
        &self,
        document: impl FnOnce() -> D,
        text: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        self.answer_unless(false, document, text)
    }

    /// The same, but no text if the command is to be quiet.
    pub fn answer_unless<D: Serialize + JsonSchema>(
        &self,
        quiet: bool,
        document: impl FnOnce() -> D,
        text: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        let wanted = self.tell(quiet, document, text)?;
        wanted.map_or(Ok(()), |document| print_json(&document))
    }

    /// The same for one of several answers: its text is printed at once, and its document returned.
    pub fn tell<D>(
        &self,
        quiet: bool,
        document: impl FnOnce() -> D,
        text: impl FnOnce() -> String,
    ) -> Result<Option<D>, Failure> {
        match self.json {
            true => Ok(Some(document())),
            false if quiet => Ok(None),
            false => print(&text()).map(|()| None),
        }
    }
}

/// A path as a text, also one that is not UTF-8.
pub fn as_shown<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&path.display())
}
