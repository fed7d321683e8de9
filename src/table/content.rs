//! What a cell of an experiment holds, and its bytes in a log.

use serde::{Deserialize, Serialize};

use super::{CalibrationRow, ReadingRow, Tables};
use engine::mechanism::law::ErrorSummary;

/// The version of everything that reaches a table. To be raised whenever any number or draw, or the
/// form in which cells are kept, changes: cells of different versions are never mixed.
pub const NUMERICS: u32 = 6;

/// What a cell holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Content {
    /// Sampled runs.
    Runs(Box<Block>),
    Rows(Box<Tables>),
}

impl Content {
    /// As bytes.
    ///
    /// # Panics
    /// Never: it is plain data.
    pub fn encode(&self) -> Vec<u8> {
        postcard::to_stdvec(self).expect("plain data can be written to memory")
    }

    /// From bytes; `None` if they are no content of a cell.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        postcard::from_bytes(bytes).ok()
    }
}

/// What is known about one mechanism at one case without any run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExactNumbers {
    /// Exact numbers about each error.
    pub exact: Vec<ErrorSummary>,
    /// Why it is private, if it was calibrated.
    pub calibration: Option<CalibrationRow>,
    /// What was read off the printed figure, beside our law.
    pub readings: Vec<ReadingRow>,
}

/// A block of runs of one mechanism at one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Block {
    /// What is known without any run; in the first block.
    pub known: Option<ExactNumbers>,
    /// Released counts, one run after the other.
    pub released: Vec<u64>,
    /// For each error its value in each run.
    pub errors: Vec<Vec<f64>>,
}

impl Block {
    /// Whether it holds as many runs, counts and errors as it should, and what is known without any
    /// run only if it is the first block. A log may come from a stranger.
    pub fn fits(&self, runs: usize, k: usize, metrics: usize, is_first: bool) -> bool {
        self.released.len() == runs * k
            && self.errors.len() == metrics
            && self.errors.iter().all(|errors| errors.len() == runs)
            && self.errors.iter().flatten().all(|&error| error >= 0.0)
            && self.known.is_some() == is_first
            && self.known.iter().all(|known| known.exact.len() == metrics)
    }
}

#[cfg(test)]
mod tests {
    use serde::de::DeserializeOwned;

    use super::*;
    use system::hash::sha256;

    /// The names and the types of all fields. Bytes of 1 are read as one element in every list and as a
    /// value in every field; an optional one takes one byte more.
    fn form<T: Serialize + DeserializeOwned>() -> String {
        let (sample, rest) = postcard::take_from_bytes::<T>(&[1; 4096]).expect("plain data");
        format!("{} {}", rest.len(), serde_json::to_string(&sample).expect("plain data"))
    }

    /// A cell holds its fields by position: with other fields, the cells of before would be misread.
    #[test]
    fn fields_of_cells_are_pinned_with_their_version() {
        let forms = form::<Tables>() + &form::<Block>();
        assert_eq!(
            (NUMERICS, sha256(forms.as_bytes()).as_str()),
            (6, "8bebdc675a36813495a9281163a043e0990185b4cc12171842290566eb5501f9"),
            "the fields of a row or of a block have changed: raise NUMERICS, or the version of the \
             kinds that have such rows, and pin this hash\n{forms}"
        );
    }

    /// A row with the number of its setting is numbered anew with its cell, but for those of no cell.
    #[test]
    fn rows_of_cells_are_numbered() {
        let mut sample: Tables = postcard::take_from_bytes(&[1; 4096]).expect("plain data").0;
        sample.renumber(7);
        let tables = serde_json::to_value(&sample).expect("plain data");
        let tables = tables.as_object().expect("tables").iter();
        let other = tables.filter(|(_, rows)| rows[0]["setting"].as_u64().is_some_and(|n| n != 7));
        let other: Vec<&str> = other.map(|(table, _)| table.as_str()).collect();
        assert_eq!(other, ["settings", "failures"]);
    }
}
