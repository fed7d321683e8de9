//! The result tables: their rows, and CSV both ways.

use std::io::Write;
use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::analysis::tuning::Certificate;
use crate::base::filesystem::open_regular;
use crate::posterior::model::vector;

/// One row of `panels.csv`: which settings belong to which panel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PanelRow {
    /// The panel's name; empty if it is the only one.
    pub panel: String,
    /// What is computed.
    pub kind: String,
    /// The distance.
    pub distance: String,
    /// Its title.
    pub title: String,
    /// The number of its first setting.
    pub first: usize,
    /// The number of its last setting.
    pub last: usize,
}

/// One row of `settings.csv`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// The exact mean, infinite if a possible output's error is; empty where the law is too large.
    pub exact_mean: Option<f64>,
    /// The exact median.
    pub exact_median: Option<f64>,
    /// The exact 90 % quantile.
    pub exact_q90: Option<f64>,
    /// The probability of releasing the true posterior.
    pub p_exact: f64,
    /// (mean − exact mean) / its exact standard error; empty where that is 0 or infinite.
    pub z: Option<f64>,
}

/// The runs of one mechanism at one setting: a block of `errors.csv`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorBlock {
    /// The setting's number.
    pub setting: usize,
    /// The mechanism's label.
    pub mechanism: String,
    /// The number of categories.
    pub k: usize,
    /// What each run released: k counts, one run after the other.
    pub released: Vec<u64>,
    /// For each error its name and its value in each run.
    pub errors: Vec<(String, Vec<f64>)>,
}

impl ErrorBlock {
    /// The number of runs.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.released.len() / self.k
    }

    /// The values of one error.
    #[must_use]
    pub fn error(&self, metric: &str) -> Option<&[f64]> {
        let found = self.errors.iter().find(|(name, _)| name == metric);
        found.map(|(_, values)| values.as_slice())
    }
}

/// One row of `theory.csv`: all outputs of one distance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TheoryRow {
    /// The setting's number.
    pub setting: usize,
    /// The mechanism's label.
    pub mechanism: String,
    /// c.
    pub distance: f64,
    /// P[H = c].
    pub probability: f64,
    /// P[H <= c].
    pub cumulative: f64,
    /// How many outputs have this distance.
    pub candidates: String,
}

/// One row of `calibration.csv`: why a calibrated mechanism is private.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CalibrationRow {
    /// The setting's number.
    pub setting: usize,
    /// The mechanism's label.
    pub mechanism: String,
    /// The loss that may not be exceeded: ε.
    pub target: f64,
    /// ε in the weight.
    pub inner_epsilon: f64,
    /// The exact loss over all data sets of this size.
    pub loss: f64,
    /// target − loss.
    pub margin: f64,
    /// Where the loss is attained: the data set,
    pub from: String,
    /// its neighbour,
    pub to: String,
    /// and the output.
    pub output: String,
    /// How many pairs of adjacent data sets were covered.
    pub pairs: u64,
}

impl CalibrationRow {
    /// The row of one mechanism at one setting.
    #[must_use]
    pub fn new(setting: usize, mechanism: &str, found: &Certificate) -> Self {
        Self {
            setting,
            mechanism: mechanism.to_owned(),
            target: found.target,
            inner_epsilon: found.inner_epsilon.get(),
            loss: found.loss,
            margin: found.margin(),
            from: vector(&found.from),
            to: vector(&found.to),
            output: vector(&found.output),
            pairs: found.pairs,
        }
    }
}

/// One row of `optimum.csv`: a mechanism beside the best possible one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OptimumRow {
    /// The setting's number; of its data only the number of records counts.
    pub setting: usize,
    /// The mechanism's label.
    pub mechanism: String,
    /// Its exact mean error over the prior's predictive law of the data.
    pub mean: f64,
    /// Its exact mean error at the data set where that is largest.
    pub worst: f64,
    /// The least mean error of any private mechanism; empty if the solver gave up.
    pub optimum: Option<f64>,
    /// A certified lower bound on it.
    pub lower: Option<f64>,
    /// A certified upper bound.
    pub upper: Option<f64>,
    /// mean / optimum; empty where the optimum is too small to be known to three digits.
    pub ratio: Option<f64>,
}

/// One row of `optimal.csv`: the best possible mechanism.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OptimalRow {
    /// The setting's number.
    pub setting: usize,
    /// The data x.
    pub counts: String,
    /// The release r.
    pub released: String,
    /// P(r|x), where it is not 0.
    pub probability: f64,
}

/// One row of `privacy.csv`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PrivacyRow {
    /// The setting's number.
    pub setting: usize,
    /// The mechanism's label.
    pub mechanism: String,
    /// Which data sets were compared.
    pub scope: String,
    /// ε of the setting.
    pub epsilon: f64,
    /// The largest |ln P_x(r) − ln P_x'(r)|.
    pub loss: f64,
    /// x.
    pub from: String,
    /// x'.
    pub to: String,
    /// r.
    pub output: String,
    /// The ε at which δ is given.
    pub at_epsilon: Option<f64>,
    /// δ at that ε.
    pub delta_at: Option<f64>,
}

/// One row of `curves.csv`: a point of a curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CurveRow {
    /// The panel's name.
    pub panel: String,
    /// The figure within the panel, where there are several.
    pub facet: String,
    /// The mechanism's label, where the curve is about one.
    pub mechanism: String,
    /// What the curve shows.
    pub curve: String,
    /// The abscissa.
    pub x: f64,
    /// The ordinate.
    pub y: f64,
}

/// One row of `change.csv`: what one changed record does to the score of a candidate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangeRow {
    /// The setting's number.
    pub setting: usize,
    /// The candidate r.
    pub candidate: String,
    /// The score H(x, r).
    pub distance: f64,
    /// The largest |H(x, r) − H(x', r)| over the neighbours x' of x.
    pub change: f64,
    /// The neighbour x' that attains it.
    pub neighbour: String,
}

/// One row of `phase.csv`: which mechanism has the least exact mean error at one setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PhaseRow {
    /// The setting's number.
    pub setting: usize,
    /// Who competes: `all`, or `without` those that the config leaves out of a second contest.
    pub contest: String,
    /// The label of the best mechanism; of equal ones the first.
    pub winner: String,
    /// Its mean error.
    pub mean: f64,
    /// The label of the second best.
    pub runner_up: String,
    /// Its mean error.
    pub runner_up_mean: f64,
    /// Second mean / best mean − 1: 0 if they are equal, empty beside a best of 0.
    pub margin: Option<f64>,
}

/// One row of `means.csv`: the exact mean error of one mechanism at one setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MeanRow {
    /// The setting's number.
    pub setting: usize,
    /// The mechanism's label.
    pub mechanism: String,
    /// The mean error.
    pub mean: f64,
}

/// One row of `scaling.csv`: how many outputs there are, or are walked, at one setting.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScalingRow {
    /// The setting's number.
    pub setting: usize,
    /// The number of categories.
    pub k: usize,
    /// The number of records.
    pub n: u64,
    /// The mechanism's label; `candidates` for all of R, `nearer than 1` for those that exponential
    /// mechanisms weigh one by one.
    pub mechanism: String,
    /// How many, without any use of symmetry; beyond 10⁵ rows of them, by a sample of the rows.
    pub outputs: f64,
}

/// One row of `values.csv`: a number of a table in print beside our own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ValueRow {
    /// The panel's name.
    pub panel: String,
    /// The mechanism's label, where the number is about one.
    pub mechanism: String,
    /// What the number is.
    pub quantity: String,
    /// At which t, n or ε.
    pub at: String,
    /// The number; empty where there is none.
    pub value: Option<f64>,
}

/// One row of `readings.csv`: a value read off the printed figure beside our own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReadingRow {
    /// The panel's name.
    pub panel: String,
    /// The mechanism as printed.
    pub mechanism: String,
    /// The abscissa or the group as printed.
    pub at: String,
    /// What was read: probability, mean, q1, …
    pub quantity: String,
    /// The reading.
    pub read: f64,
    /// Its reading error.
    pub error: f64,
    /// Our value.
    pub computed: f64,
    /// Reading minus computed value.
    pub deviation: f64,
    /// What may deviate without being remarkable; empty where probabilities decide.
    pub allowed: Option<f64>,
    /// The deviation in standard errors, where the reading is of a sample.
    pub z: Option<f64>,
    /// Whether the reading is explained by our value.
    pub within: bool,
    /// What is known about the reading.
    pub note: String,
}

/// One row of `failures.csv`: a cell that could not be computed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FailureRow {
    /// The setting's number.
    pub setting: usize,
    /// The mechanism's label; empty if the cell is about all of them.
    pub mechanism: String,
    /// The block of runs, from 1.
    pub block: u64,
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
    /// What went wrong.
    pub cause: String,
}

/// Everything that an experiment computes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tables {
    /// `panels.csv`.
    pub panels: Vec<PanelRow>,
    /// `settings.csv`.
    pub settings: Vec<SettingRow>,
    /// `errors.csv`, as far as it is kept in memory.
    pub errors: Vec<ErrorBlock>,
    /// `summary.csv`.
    pub summary: Vec<SummaryRow>,
    /// `theory.csv`.
    pub theory: Vec<TheoryRow>,
    /// `calibration.csv`.
    pub calibration: Vec<CalibrationRow>,
    /// `optimum.csv`.
    pub optimum: Vec<OptimumRow>,
    /// `optimal.csv`.
    pub optimal: Vec<OptimalRow>,
    /// `privacy.csv`.
    pub privacy: Vec<PrivacyRow>,
    /// `curves.csv`.
    pub curves: Vec<CurveRow>,
    /// `change.csv`.
    pub change: Vec<ChangeRow>,
    /// `phase.csv`.
    pub phase: Vec<PhaseRow>,
    /// `means.csv`.
    pub means: Vec<MeanRow>,
    /// `scaling.csv`.
    pub scaling: Vec<ScalingRow>,
    /// `values.csv`.
    pub values: Vec<ValueRow>,
    /// `readings.csv`.
    pub readings: Vec<ReadingRow>,
    /// `failures.csv`.
    pub failures: Vec<FailureRow>,
}

impl Tables {
    /// Appends the tables of another panel.
    pub fn append(&mut self, mut more: Self) {
        self.panels.append(&mut more.panels);
        self.settings.append(&mut more.settings);
        self.errors.append(&mut more.errors);
        self.summary.append(&mut more.summary);
        self.theory.append(&mut more.theory);
        self.calibration.append(&mut more.calibration);
        self.optimum.append(&mut more.optimum);
        self.optimal.append(&mut more.optimal);
        self.privacy.append(&mut more.privacy);
        self.curves.append(&mut more.curves);
        self.change.append(&mut more.change);
        self.phase.append(&mut more.phase);
        self.means.append(&mut more.means);
        self.scaling.append(&mut more.scaling);
        self.values.append(&mut more.values);
        self.readings.append(&mut more.readings);
        self.failures.append(&mut more.failures);
    }

    /// Gives all rows the number of one setting.
    pub fn renumber(&mut self, setting: usize) {
        self.errors.iter_mut().for_each(|row| row.setting = setting);
        self.summary.iter_mut().for_each(|row| row.setting = setting);
        self.theory.iter_mut().for_each(|row| row.setting = setting);
        self.calibration.iter_mut().for_each(|row| row.setting = setting);
        self.optimum.iter_mut().for_each(|row| row.setting = setting);
        self.optimal.iter_mut().for_each(|row| row.setting = setting);
        self.privacy.iter_mut().for_each(|row| row.setting = setting);
        self.change.iter_mut().for_each(|row| row.setting = setting);
        self.phase.iter_mut().for_each(|row| row.setting = setting);
        self.means.iter_mut().for_each(|row| row.setting = setting);
        self.scaling.iter_mut().for_each(|row| row.setting = setting);
    }

    /// The files but `errors.csv`, which may be too large to be in memory: name and bytes of every
    /// table that has rows, each made when it is its turn.
    pub fn files(&self) -> impl Iterator<Item = (&'static str, Vec<u8>)> {
        let tables: [(_, &dyn Rows); _] = [
            ("panels.csv", &self.panels),
            ("settings.csv", &self.settings),
            ("summary.csv", &self.summary),
            ("theory.csv", &self.theory),
            ("calibration.csv", &self.calibration),
            ("optimum.csv", &self.optimum),
            ("optimal.csv", &self.optimal),
            ("privacy.csv", &self.privacy),
            ("curves.csv", &self.curves),
            ("change.csv", &self.change),
            ("phase.csv", &self.phase),
            ("means.csv", &self.means),
            ("scaling.csv", &self.scaling),
            ("values.csv", &self.values),
            ("readings.csv", &self.readings),
            ("failures.csv", &self.failures),
        ];
        tables.into_iter().filter_map(|(name, rows)| Some((name, rows.csv()?)))
    }

    /// Reads the tables of a results folder, `errors.csv` only if it is wanted; a file that is not
    /// there has no rows. On failure, what is wrong with which file.
    pub fn read(folder: &Path, with_errors: bool) -> Result<Self, ReadError> {
        Ok(Self {
            panels: read_rows(folder, "panels.csv")?,
            settings: read_rows(folder, "settings.csv")?,
            errors: if with_errors { read_errors(folder)? } else { Vec::new() },
            summary: read_rows(folder, "summary.csv")?,
            theory: read_rows(folder, "theory.csv")?,
            calibration: read_rows(folder, "calibration.csv")?,
            optimum: read_rows(folder, "optimum.csv")?,
            optimal: read_rows(folder, "optimal.csv")?,
            privacy: read_rows(folder, "privacy.csv")?,
            curves: read_rows(folder, "curves.csv")?,
            change: read_rows(folder, "change.csv")?,
            phase: read_rows(folder, "phase.csv")?,
            means: read_rows(folder, "means.csv")?,
            scaling: read_rows(folder, "scaling.csv")?,
            values: read_rows(folder, "values.csv")?,
            readings: read_rows(folder, "readings.csv")?,
            failures: read_rows(folder, "failures.csv")?,
        })
    }
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
    /// The file.
    pub file: String,
    /// What is wrong with it.
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

fn read_rows<T: DeserializeOwned>(folder: &Path, name: &str) -> Result<Vec<T>, ReadError> {
    let Some((file, mut reader)) = reader(folder, name)? else { return Ok(Vec::new()) };
    let wrong = |cause: String| ReadError { file: file.clone(), cause };
    let header = reader.headers().map_err(|error| wrong(error.to_string()))?.clone();
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| wrong(error.to_string()))?;
        if let Some(cell) = record.iter().find(|cell| is_unsound(cell)) {
            let line = record.position().map_or(0, csv::Position::line);
            return Err(wrong(format!("line {line}: `{cell}` is no sound number")));
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
#[must_use]
pub fn is_sound(table: &[u8]) -> bool {
    let mut reader = csv::Reader::from_reader(table);
    reader.byte_records().all(|record| {
        let is_text = |cell: &[u8]| std::str::from_utf8(cell).is_ok_and(|cell| !is_unsound(cell));
        record.is_ok_and(|record| record.iter().all(is_text))
    })
}

/// The name of the table of runs.
pub const ERRORS: &str = "errors.csv";

/// The head of `errors.csv`: every run with what was released and its errors. The columns are the
/// errors of all panels; where a panel has none of a name, its cells are empty.
#[must_use]
pub fn errors_head(names: &[&str]) -> Vec<u8> {
    let columns = ["setting", "mechanism", "run", "released"].into_iter();
    Columns::new(columns.chain(names.iter().copied())).finish()
}

/// The rows of one block. Only the mechanism's label may need quotes.
#[must_use]
pub fn error_rows(block: &ErrorBlock, names: &[&str]) -> Vec<u8> {
    let mut own = format!("{},", block.setting).into_bytes();
    let label = Columns::new([block.mechanism.as_str(), ""]).finish();
    own.extend(label.strip_suffix(b"\n").unwrap_or(&label));
    let columns: Vec<_> = names.iter().map(|name| block.error(name)).collect();
    let mut rows = Vec::with_capacity(block.runs() * (own.len() + 24 * (names.len() + 1)));
    let mut digits = itoa::Buffer::new();
    for run in 0..block.runs() {
        rows.extend(&own);
        rows.extend(digits.format(run + 1).as_bytes());
        let mut mark = b',';
        for &count in &block.released[run * block.k..][..block.k] {
            rows.push(mark);
            rows.extend(digits.format(count).as_bytes());
            mark = b';';
        }
        for column in &columns {
            rows.push(b',');
            column.iter().for_each(|errors| push_number(&mut rows, errors[run]));
        }
        rows.push(b'\n');
    }
    rows
}

/// Appends a number as `{:?}` writes it, only faster: the shortest digits that are read as the same
/// number. They are unique unless the number has as few binary places as digits and is half way
/// between two candidates; and in this range they come without an exponent.
fn push_number(text: &mut Vec<u8>, number: f64) {
    let places = |number: f64| (number * 2_f64.powi(24)).fract() != 0.0;
    if (1e-3..1e15).contains(&number) && places(number) {
        text.extend(ryu::Buffer::new().format_finite(number).as_bytes());
    } else {
        write!(text, "{number:?}").expect("memory does not fail");
    }
}

fn read_errors(folder: &Path) -> Result<Vec<ErrorBlock>, ReadError> {
    let Some((file, mut reader)) = reader(folder, "errors.csv")? else { return Ok(Vec::new()) };
    let wrong = |cause: String| ReadError { file: file.clone(), cause };
    let header = reader.headers().map_err(|error| wrong(error.to_string()))?.clone();
    let mut blocks: Vec<ErrorBlock> = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| wrong(error.to_string()))?;
        let line = record.position().map_or(0, csv::Position::line);
        let number = |cell: &str| {
            let number = cell.parse::<f64>().ok().filter(|_| !is_unsound(cell));
            number.ok_or_else(|| wrong(format!("line {line}: `{cell}` is no sound number")))
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
            wrong(format!("line {line}: `{}` is no vector of {} counts", cell(3), block.k))
        })?;
        block.released.extend(counts);
        for (name, values) in &mut block.errors {
            let place = header.iter().position(|column| column == name).unwrap_or(0);
            values.push(number(cell(place))?);
        }
    }
    Ok(blocks)
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

#[cfg(test)]
mod tests {
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
    fn numbers_are_written_as_by_the_standard_library() {
        let mut rng = crate::base::rng::stream(1, "numbers");
        let mut state = || rand::Rng::next_u64(&mut rng);
        let bits = (0..100_000).map(|_| f64::from_bits(state())).collect::<Vec<_>>();
        let unit = (0..100_000).map(|_| (state() >> 11) as f64 / 2_f64.powi(53));
        // Half way between two numbers with one digit less: 0.50000762939453125, …
        let dyadic = (0..100_000).map(|i| f64::from(2 * i + 1) / 2_f64.powi(i % 60));
        let special = [0.0, 1e-5, 1e-4, 1e-3, 0.1, 1.0, 1e15, 1e16, 1e17, f64::INFINITY];
        for number in bits.into_iter().chain(unit).chain(dyadic).chain(special) {
            let mut text = Vec::new();
            push_number(&mut text, number);
            assert_eq!(String::from_utf8(text).unwrap(), format!("{number:?}"));
        }
    }

    #[test]
    fn errors_are_read_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let blocks = vec![block("A", 2, 30, &["h", "l1"]), block("B", 3, 40, &["h"])];
        std::fs::write(folder.path().join("errors.csv"), errors_csv(&blocks)).unwrap();
        assert_eq!(read_errors(folder.path()).unwrap(), blocks);
    }

    #[test]
    fn a_release_that_is_no_vector_of_counts_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for wrong in ["1;2;3", "1;-2", "1;x", ""] {
            let text =
                format!("setting,mechanism,run,released,h\n1,A,1,1;2,0.5\n1,A,2,{wrong},0.5\n");
            std::fs::write(folder.path().join("errors.csv"), text).unwrap();
            let error = read_errors(folder.path()).unwrap_err().to_string();
            assert!(error.contains("line 3") && error.contains("no vector of 2 counts"), "{error}");
        }
    }
}
