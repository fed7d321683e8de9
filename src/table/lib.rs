//! The result tables: one list of them, and CSV both ways.
//!
//! A table that is added is a row type in `rows.rs`, and a line in the list below.

mod box_summary;
mod content;
mod errors;
mod json;
mod rows;

pub use box_summary::{BoxSummary, Whiskers};
pub use content::{Block, Content, ExactNumbers, NUMERICS};
pub use errors::{ERRORS, ErrorBlock, ErrorRows, error_rows, errors_head};
pub use json::{JsonTables, Number};
pub use rows::*;

use std::path::Path;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use system::filesystem::open_regular;

/// A row of a table with a file of its own.
pub trait Row: Serialize + DeserializeOwned {
    /// The name of the file.
    const FILE: &'static str;

    /// Sets the number of the row's setting, if it has one.
    fn renumber(&mut self, _setting: usize) {}

    /// The name of the row's panel, if it has one.
    fn panel(&self) -> Option<&str> {
        None
    }
}

/// The list of tables: everything that has to be done with each of them is done here.
macro_rules! tables {
    ($($table:ident: $row:ident,)*) => {
        /// Everything that an experiment computes.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
        pub struct Tables {
            /// `errors.csv`, as far as it is kept in memory.
            #[serde(skip)]
            pub errors: Vec<ErrorBlock>,
            $(
                #[doc = concat!("The rows of [`", stringify!($row), "`].")]
                pub $table: Vec<$row>,
            )*
        }

        impl Tables {
            /// Appends other rows to every table.
            pub fn append(&mut self, mut more: Self) {
                self.errors.append(&mut more.errors);
                $(self.$table.append(&mut more.$table);)*
            }

            /// Gives all rows the number of one setting.
            pub fn renumber(&mut self, setting: usize) {
                self.errors.iter_mut().for_each(|block| block.setting = setting);
                $(self.$table.iter_mut().for_each(|row| row.renumber(setting));)*
            }

            /// Name and bytes of every table that has rows, each made when it is its turn. Without
            /// `errors.csv`, which may be too large to be in memory.
            pub fn files(&self) -> impl Iterator<Item = (&'static str, Vec<u8>)> {
                let tables: [(_, &dyn Rows); _] = [$(($row::FILE, &self.$table),)*];
                tables.into_iter().filter_map(|(name, rows)| Some((name, rows.csv()?)))
            }

            /// Every table by its name, as JSON.
            pub fn json(&self) -> JsonTables {
                let tables = vec![$((stringify!($table), json::rows(&self.$table)),)*];
                json::with_settings(tables, &self.settings)
            }

            /// Reads the tables of a results folder, `errors.csv` only if it is wanted. A file that is
            /// absent has no rows.
            pub fn read(folder: &Path, with_errors: bool) -> Result<Self, ReadError> {
                Ok(Self {
                    errors: if with_errors { errors::read(folder)? } else { Vec::new() },
                    $($table: read_rows(folder)?,)*
                })
            }
        }

        impl JsonSchema for JsonTables {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                "tables".into()
            }

            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                let tables = [$((stringify!($table), json::table_schema::<$row> as fn(&str, &mut _) -> _),)*];
                let tables = tables.map(|(name, schema)| (name, schema(name, generator)));
                let names = tables.each_ref().map(|(name, _)| *name);
                let tables = serde_json::Map::from_iter(tables.map(|(name, schema)| (name.to_owned(), schema)));
                json_schema!({ "type": "object", "required": names, "properties": tables })
            }
        }
    };
}

tables! {
    panels: PanelRow,
    settings: SettingRow,
    summary: SummaryRow,
    theory: TheoryRow,
    calibration: CalibrationRow,
    optimum: OptimumRow,
    optimal: OptimalRow,
    privacy: PrivacyRow,
    curves: CurveRow,
    change: ChangeRow,
    phase: PhaseRow,
    means: MeanRow,
    values: ValueRow,
    readings: ReadingRow,
    failures: FailureRow,
}

/// The rows of one file.
trait Rows {
    /// The file, if there are any rows.
    fn csv(&self) -> Option<Vec<u8>>;
}

impl<T: Serialize> Rows for Vec<T> {
    fn csv(&self) -> Option<Vec<u8>> {
        (!self.is_empty()).then(|| csv(self))
    }
}

/// The distinct texts, in order of appearance.
pub fn distinct<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    for text in texts {
        if !seen.contains(&text) {
            seen.push(text);
        }
    }
    seen
}

/// Why a table could not be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {file}: {cause}")]
pub struct ReadError {
    pub file: String,
    pub cause: String,
}

/// A table of a results folder and its path; `None` if there is none.
fn reader(
    folder: &Path,
    name: &str,
) -> Result<Option<(String, csv::Reader<std::fs::File>)>, ReadError> {
    let path = folder.join(name);
    let file = path.display().to_string();
    match open_regular(&path) {
        Ok(opened) => Ok(Some((file, csv::Reader::from_reader(opened)))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(ReadError { file, cause: error.to_string() }),
    }
}

fn read_rows<T: Row>(folder: &Path) -> Result<Vec<T>, ReadError> {
    let Some((file, mut reader)) = reader(folder, T::FILE)? else { return Ok(Vec::new()) };
    let wrong = |cause: String| ReadError { file: file.clone(), cause };
    let header = reader.headers().map_err(|error| wrong(error.to_string()))?.clone();
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| wrong(error.to_string()))?;
        if let Some(cell) = record.iter().find(|cell| is_unsound(cell)) {
            let line = record.position().map_or(0, csv::Position::line);
            return Err(wrong(format!("line {line}: `{cell}` is not a sound number")));
        }
        rows.push(record.deserialize(Some(&header)).map_err(|error| wrong(error.to_string()))?);
    }
    Ok(rows)
}

/// Whether a cell holds what a float may be but a table of ours never holds. (An error may be
/// infinite.)
fn is_unsound(cell: &str) -> bool {
    cell.parse::<f64>().is_ok_and(|number| number.is_nan() || number == f64::NEG_INFINITY)
}

/// Whether a table holds nothing that a table of ours never holds.
pub fn is_sound(table: &[u8]) -> bool {
    let mut reader = csv::Reader::from_reader(table);
    reader.byte_records().all(|record| {
        let is_text = |cell: &[u8]| std::str::from_utf8(cell).is_ok_and(|cell| !is_unsound(cell));
        record.is_ok_and(|record| record.iter().all(is_text))
    })
}

/// Serialisable rows as CSV with a header.
pub fn csv<T: Serialize>(rows: &[T]) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row).expect("plain rows can be written to memory");
    }
    writer.into_inner().expect("memory does not fail")
}

/// A CSV table whose columns are only known at run time.
pub struct Columns {
    writer: csv::Writer<Vec<u8>>,
}

impl Columns {
    /// Starts a table with its header.
    pub fn new<'a>(header: impl IntoIterator<Item = &'a str>) -> Self {
        let mut table = Self { writer: csv::Writer::from_writer(Vec::new()) };
        table.row(header);
        table
    }

    /// Appends a row.
    pub fn row<S: AsRef<[u8]>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.writer.write_record(cells).expect("rows as long as the header");
    }

    /// The finished table.
    pub fn finish(self) -> Vec<u8> {
        self.writer.into_inner().expect("memory does not fail")
    }
}
