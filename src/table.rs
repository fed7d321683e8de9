//! Rows of the result tables, and CSV.

use serde::Serialize;

/// One row of `settings.csv`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SettingRow {
    /// The setting's number, from 1.
    pub setting: usize,
    /// The number of categories.
    pub k: usize,
    /// The number of records.
    pub n: u64,
    /// α.
    pub prior: String,
    /// x.
    pub counts: String,
    /// ε.
    pub epsilon: f64,
    /// δ.
    pub delta: Option<f64>,
    /// γ.
    pub gamma: f64,
    /// |R|.
    pub candidates: String,
    /// LS(x).
    pub local: f64,
    /// GS.
    pub global: f64,
    /// S_γ(x).
    pub gamma_smooth: f64,
    /// S_β(x); empty without δ.
    pub beta_smooth: Option<f64>,
}

/// One row of `summary.csv`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SummaryRow {
    /// The setting's number.
    pub setting: usize,
    /// The mechanism's label.
    pub mechanism: String,
    /// The error's name.
    pub metric: String,
    /// How many releases were sampled.
    pub runs: u64,
    /// Their mean error.
    pub mean: f64,
    /// Their standard deviation.
    pub std: f64,
    /// The smallest error.
    pub min: f64,
    /// The lower quartile (type 7).
    pub q1: f64,
    /// The median.
    pub median: f64,
    /// The upper quartile.
    pub q3: f64,
    /// The largest error.
    pub max: f64,
    /// Where the lower whisker ends.
    pub whisker_low: f64,
    /// Where the upper whisker ends.
    pub whisker_high: f64,
    /// The lower end of the notch.
    pub notch_low: f64,
    /// The upper end of the notch.
    pub notch_high: f64,
    /// The exact mean; empty where the law is too large.
    pub exact_mean: Option<f64>,
    /// The exact median.
    pub exact_median: Option<f64>,
    /// The exact 90 % quantile.
    pub exact_q90: Option<f64>,
    /// The probability of releasing the true posterior.
    pub p_exact: f64,
    /// (mean − exact mean) / its exact standard error; empty where that is 0.
    pub z: Option<f64>,
}

/// Serialisable rows as CSV with a header.
#[must_use]
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
    #[must_use]
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
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        self.writer.into_inner().expect("memory does not fail")
    }
}
