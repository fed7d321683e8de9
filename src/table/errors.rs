//! `errors.csv`: every sampled release and its errors, in blocks of runs.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::io::Write;
use std::path::Path;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::ser::{Error, SerializeSeq};
use serde::{Deserialize, Serialize, Serializer};

use super::{Columns, Number, ReadError, is_unsound, reader};

/// The runs of one mechanism at one setting: a block of `errors.csv`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorBlock {
    pub setting: usize,
    /// The mechanism's label.
    pub mechanism: String,
    pub k: usize,
    /// What each run released: k counts, one run after the other.
    pub released: Vec<u64>,
    /// For each error its name and its value in each run.
    pub errors: Vec<(String, Vec<f64>)>,
}

impl ErrorBlock {
    pub fn runs(&self) -> usize {
        self.released.len() / self.k
    }

    /// The values of one error.
    pub fn error(&self, metric: &str) -> Option<&[f64]> {
        let found = self.errors.iter().find(|(name, _)| name == metric);
        found.map(|(_, values)| values.as_slice())
    }
}

/// The name of the table of runs.
pub const ERRORS: &str = "errors.csv";

/// Its columns before those of the errors.
const OF_RUN: [&str; 4] = ["setting", "mechanism", "run", "released"];

/// The head of `errors.csv`: every run with what was released and its errors. The columns are the
/// errors of all panels; where a panel has none of a name, its cells are empty.
pub fn errors_head(names: &[&str]) -> Vec<u8> {
    Columns::new(OF_RUN.into_iter().chain(names.iter().copied())).finish()
}

/// The rows of one block. Only the mechanism's label may need quotes.
pub fn error_rows(block: &ErrorBlock, names: &[&str]) -> Vec<u8> {
    let mut own = format!("{},", block.setting).into_bytes();
    let label = Columns::new([block.mechanism.as_str(), ""]).finish();
    own.extend(label.strip_suffix(b"\n").unwrap_or(&label));
    let columns: Vec<_> = names.iter().map(|name| block.error(name)).collect();
    let mut rows = Vec::with_capacity(block.runs() * (own.len() + 24 * (names.len() + 1)));
    for run in 0..block.runs() {
        rows.extend(&own);
        let mut put = |text: fmt::Arguments| rows.write_fmt(text).expect("memory does not fail");
        put(format_args!("{}", run + 1));
        let mut mark = ',';
        for count in &block.released[run * block.k..][..block.k] {
            put(format_args!("{mark}{count}"));
            mark = ';';
        }
        for column in &columns {
            match column {
                Some(errors) => put(format_args!(",{:?}", errors[run])),
                None => put(format_args!(",")),
            }
        }
        rows.push(b'\n');
    }
    rows
}

/// The rows of the `errors.csv` of a results folder, as JSON: one at a time, since there may be more
/// of them than memory holds.
#[derive(JsonSchema)]
#[schemars(with = "Vec<ErrorRow>")]
pub struct ErrorRows<'a>(pub &'a Path);

/// What one run released.
#[derive(Serialize, JsonSchema)]
struct ErrorRow {
    setting: u64,
    /// The mechanism's label.
    mechanism: String,
    /// The number of the run, from 1.
    run: u64,
    /// The released counts.
    released: Vec<u64>,
    /// The release's errors, by their names; those of other panels are left out.
    #[serde(flatten)]
    errors: BTreeMap<String, Number>,
}

impl Serialize for ErrorRows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let found = reader(self.0, ERRORS).map_err(S::Error::custom)?;
        let Some((_, mut reader)) = found else { return serializer.serialize_seq(Some(0))?.end() };
        let header = reader.headers().map_err(S::Error::custom)?.clone();
        let mut rows = serializer.serialize_seq(None)?;
        for record in reader.records() {
            let record = record.map_err(S::Error::custom)?;
            let cell = |column| record.get(column).unwrap_or_default();
            let errors = header.iter().zip(&record).skip(OF_RUN.len());
            let errors = errors.filter(|(_, cell)| !cell.is_empty());
            let errors = errors.map(|(name, cell)| Ok((name.to_owned(), Number(number(cell)?))));
            rows.serialize_element(&ErrorRow {
                setting: number(cell(0))?,
                mechanism: cell(1).to_owned(),
                run: number(cell(2))?,
                released: cell(3).split(';').map(number).collect::<Result<_, _>>()?,
                errors: errors.collect::<Result<_, S::Error>>()?,
            })?;
        }
        rows.end()
    }
}

/// The number in a cell.
fn number<N: FromStr<Err: Display>, E: Error>(cell: &str) -> Result<N, E> {
    cell.parse().map_err(|cause| E::custom(format_args!("{ERRORS}: {cell}: {cause}")))
}

pub(super) fn read(folder: &Path) -> Result<Vec<ErrorBlock>, ReadError> {
    let Some((file, mut reader)) = reader(folder, ERRORS)? else { return Ok(Vec::new()) };
    let wrong = |cause: String| ReadError { file: file.clone(), cause };
    let header = reader.headers().map_err(|error| wrong(error.to_string()))?.clone();
    let mut blocks: Vec<ErrorBlock> = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| wrong(error.to_string()))?;
        let line = record.position().map_or(0, csv::Position::line);
        let number = |cell: &str| {
            let number = cell.parse::<f64>().ok().filter(|_| !is_unsound(cell));
            number.ok_or_else(|| wrong(format!("line {line}: `{cell}` is not a sound number")))
        };
        let cell = |i: usize| record.get(i).unwrap_or_default();
        let setting = number(cell(0))? as usize;
        let same = |block: &ErrorBlock| block.setting == setting && block.mechanism == cell(1);
        if !blocks.last().is_some_and(same) {
            let filled = (4..header.len()).filter(|&i| !cell(i).is_empty());
            let errors = filled.map(|i| (header[i].to_owned(), Vec::new())).collect();
            let (mechanism, k) = (cell(1).to_owned(), cell(3).split(';').count());
            blocks.push(ErrorBlock { setting, mechanism, k, released: Vec::new(), errors });
        }
        let Some(block) = blocks.last_mut() else { continue };
        let counts: Option<Vec<u64>> = cell(3).split(';').map(|count| count.parse().ok()).collect();
        let counts = counts.filter(|counts| counts.len() == block.k).ok_or_else(|| {
            wrong(format!("line {line}: `{}` is not a vector of {} counts", cell(3), block.k))
        })?;
        block.released.extend(counts);
        for (name, values) in &mut block.errors {
            let place = header.iter().position(|column| column == name).unwrap_or(0);
            values.push(number(cell(place))?);
        }
    }
    Ok(blocks)
}

#[cfg(test)]
mod tests {
    use super::super::distinct;
    use super::*;

    fn block(mechanism: &str, k: usize, runs: usize, errors: &[&str]) -> ErrorBlock {
        let values = |i: usize| (0..runs).map(|run| (run + i) as f64 / 8.0).collect();
        ErrorBlock {
            setting: 7,
            mechanism: mechanism.to_owned(),
            k,
            released: (0..(k * runs) as u64).collect(),
            errors: (1..).zip(errors).map(|(i, name)| ((*name).to_owned(), values(i))).collect(),
        }
    }

    fn errors_csv(blocks: &[ErrorBlock]) -> Vec<u8> {
        let names = blocks.iter().flat_map(|block| &block.errors).map(|(name, _)| name.as_str());
        let names = distinct(names);
        let rows = blocks.iter().map(|block| error_rows(block, &names));
        std::iter::once(errors_head(&names)).chain(rows).collect::<Vec<_>>().concat()
    }

    #[test]
    fn errors_are_written_as_a_csv_writer_would() {
        let blocks = [block("EHDS", 2, 2, &["h"]), block("a, \"b\"", 3, 1, &["l1"])];
        let text = String::from_utf8(errors_csv(&blocks)).unwrap();
        let rows = "7,EHDS,1,0;1,0.125,\n7,EHDS,2,2;3,0.25,\n7,\"a, \"\"b\"\"\",1,0;1;2,,0.125\n";
        assert_eq!(text, format!("setting,mechanism,run,released,h,l1\n{rows}"));
    }

    #[test]
    fn errors_are_read_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let blocks = vec![block("A", 2, 30, &["h", "l1"]), block("B", 3, 40, &["h"])];
        std::fs::write(folder.path().join("errors.csv"), errors_csv(&blocks)).unwrap();
        assert_eq!(read(folder.path()).unwrap(), blocks);
    }

    #[test]
    fn a_release_that_is_no_vector_of_counts_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for wrong in ["1;2;3", "1;-2", "1;x", ""] {
            let text =
                format!("setting,mechanism,run,released,h\n1,A,1,1;2,0.5\n1,A,2,{wrong},0.5\n");
            std::fs::write(folder.path().join("errors.csv"), text).unwrap();
            let error = read(folder.path()).unwrap_err().to_string();
            assert!(
                error.contains("line 3") && error.contains("not a vector of 2 counts"),
                "{error}"
            );
        }
    }
}
