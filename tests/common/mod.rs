//! What the tests share: golden tables, and running the real binary.
#![allow(dead_code)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// One row of a golden table: column name to cell.
pub struct GoldenRow(BTreeMap<String, String>);

impl GoldenRow {
    pub fn text(&self, column: &str) -> &str {
        self.0.get(column).unwrap_or_else(|| panic!("no column {column}"))
    }

    pub fn number(&self, column: &str) -> f64 {
        self.text(column).parse().unwrap_or_else(|_| panic!("{column} = {}", self.text(column)))
    }

    pub fn optional(&self, column: &str) -> Option<f64> {
        let text = self.text(column);
        (!text.is_empty()).then(|| text.parse().unwrap())
    }

    pub fn vector<T: std::str::FromStr<Err: std::fmt::Debug>>(&self, column: &str) -> Vec<T> {
        self.text(column).split(';').map(|v| v.parse().unwrap()).collect()
    }

    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }
}

/// All rows of `tests/golden/<name>`.
pub fn golden(name: &str) -> Vec<GoldenRow> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    let mut reader = csv::Reader::from_path(&path).unwrap();
    let header = reader.headers().unwrap().clone();
    reader
        .records()
        .map(|record| {
            let record = record.unwrap();
            let cells = header.iter().zip(&record).map(|(h, c)| (h.to_owned(), c.to_owned()));
            GoldenRow(cells.collect())
        })
        .collect()
}

/// |ours − theirs| <= relative · |theirs|, with a message that says what was compared.
pub fn assert_close(ours: f64, theirs: f64, relative: f64, what: &str) {
    let error = (ours - theirs).abs();
    assert!(
        error <= relative * theirs.abs(),
        "{what}: {ours:e} instead of {theirs:e} (relative error {:.1e})",
        error / theirs.abs()
    );
}

/// The project's folder.
pub fn root() -> PathBuf {
    env!("CARGO_MANIFEST_DIR").into()
}
