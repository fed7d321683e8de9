//! A mechanism as a matrix: the probability of every output at every data set, from a CSV file.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::mechanism::law::OutputSet;
use crate::numeric::{Sum, exp_accurate, ln, ln_sum};
use crate::posterior::model::{Counts, Posterior, compositions, vector};
use crate::posterior::simplex::list_compositions;
use crate::refusal::Refusal;

/// The columns of the file.
pub const COLUMNS: [&str; 3] = ["counts", "output", "probability"];

/// The probabilities at one data set may miss 1 by this much. They are divided by their sum.
const TOLERANCE: f64 = 1e-9;

/// The law of the output at every data set of a file.
#[derive(Debug, PartialEq)]
pub struct ProbabilityTable {
    k: usize,
    set: OutputSet,
    /// For every data set ln P of the outputs that are possible.
    rows: BTreeMap<Counts, BTreeMap<Counts, f64>>,
}

/// What is wrong with a table, and where in its file.
#[derive(Debug, thiserror::Error)]
#[error("line {line}: {refusal}")]
pub struct TableError {
    pub line: u64,
    pub refusal: Refusal,
}

impl TableError {
    fn new(line: u64, cause: String, remedy: &str) -> Self {
        Self { line, refusal: Refusal::new(cause, remedy) }
    }
}

impl ProbabilityTable {
    pub fn parse(bytes: &[u8]) -> Result<Self, TableError> {
        let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(bytes);
        let wrong = |line: u64, cause: String| TableError::new(line, cause, EXAMPLE);
        let unreadable = |error: csv::Error| {
            let line = error.position().map_or(1, csv::Position::line);
            wrong(line, format!("this is not a CSV table: {error}"))
        };
        let header = reader.headers().map_err(unreadable)?.clone();
        let index = |name: &str| header.iter().position(|column| column == name);
        let mut indices = [0; 3];
        for (slot, name) in indices.iter_mut().zip(COLUMNS) {
            *slot =
                index(name).ok_or_else(|| wrong(1, format!("the table has no column `{name}`")))?;
        }
        let mut rows: BTreeMap<Counts, BTreeMap<Counts, f64>> = BTreeMap::new();
        let mut lines: BTreeMap<Counts, u64> = BTreeMap::new();
        let (mut set, mut k) = (OutputSet::Simplex, None);
        for record in reader.records() {
            let record = record.map_err(unreadable)?;
            let line = record.position().map_or(1, csv::Position::line);
            let wrong = |cause: String| wrong(line, cause);
            let [counts, output, probability] =
                indices.map(|index| record.get(index).unwrap_or(""));
            let x = parse_counts(counts).ok_or_else(|| wrong(not_counts("counts", counts)))?;
            let r = parse_counts(output).ok_or_else(|| wrong(not_counts("output", output)))?;
            let k = *k.get_or_insert(x.len());
            if x.len() != k || r.len() != k || k < 2 {
                return Err(wrong(format!(
                    "this row has {} counts and an output of {}, but the first row has {k} categories \
                     (2 at least)",
                    x.len(),
                    r.len()
                )));
            }
            let ln_p = ln_of_decimal(probability)
                .ok_or_else(|| wrong(format!("`{probability}` is not a probability")))?;
            let (n, total): (u64, u64) = (x.iter().sum(), r.iter().sum());
            if r.iter().any(|&v| v > n) {
                return Err(wrong(format!(
                    "an output has a count above the {n} records of its data"
                )));
            }
            let own = match total.cmp(&n) {
                std::cmp::Ordering::Equal => OutputSet::Simplex,
                std::cmp::Ordering::Less => OutputSet::Below,
                std::cmp::Ordering::Greater => OutputSet::Open,
            };
            if ln_p > f64::NEG_INFINITY {
                set = set.max(own);
            }
            lines.entry(x.clone()).or_insert(line);
            if rows.entry(x).or_default().insert(r, ln_p).is_some() {
                return Err(wrong(
                    "this pair of counts and output stands in the table twice".to_owned(),
                ));
            }
        }
        let Some(k) = k else {
            return Err(wrong(1, "the table is empty".to_owned()));
        };
        for (x, row) in &mut rows {
            let sum: Sum = row.values().map(|&ln_p| exp_accurate(ln_p)).collect();
            let sum = sum.value();
            if (sum - 1.0).abs() > TOLERANCE {
                let cause = format!("the probabilities of the data set {} sum to {sum}", vector(x));
                let remedy = "let the probabilities of every data set sum to 1, to nine digits";
                return Err(TableError::new(lines[x], cause, remedy));
            }
            let ln_sum = ln(sum);
            row.retain(|_, ln_p| {
                *ln_p -= ln_sum;
                *ln_p > f64::NEG_INFINITY
            });
        }
        Ok(Self { k, set, rows })
    }

    /// What is common to all outputs.
    pub fn outputs(&self) -> OutputSet {
        self.set
    }

    /// ln P of every possible output at one data set, none if it is not in the table. Probabilities are
    /// raised to a power and normalised again: calibration looks for the power.
    pub fn row(&self, x: &[u64], power: f64) -> Cow<'_, BTreeMap<Counts, f64>> {
        let Some(row) = self.rows.get(x) else { return Cow::default() };
        if power == 1.0 {
            return Cow::Borrowed(row);
        }
        let ln_sum = ln_sum(row.values().map(|ln_p| power * ln_p));
        Cow::Owned(row.iter().map(|(r, ln_p)| (r.clone(), power * ln_p - ln_sum)).collect())
    }

    /// Refuses data of a size that no data set of the table has.
    pub fn refuse_size(&self, n: u64, k: usize) -> Result<(), Refusal> {
        if k != self.k {
            return Err(Refusal::new(
                format!("the table has {} categories, and the prior {k}", self.k),
                format!("use a prior of length {}", self.k),
            ));
        }
        let sizes: BTreeSet<u64> = self.rows.keys().map(|x| x.iter().sum()).collect();
        if sizes.contains(&n) {
            return Ok(());
        }
        let sizes: Vec<u64> = sizes.into_iter().take(10).collect();
        Err(Refusal::new(
            format!("the table has no data set of {n} records, but of {}", vector(&sizes)),
            "use as many records as its data sets have, or add their rows to the table",
        ))
    }

    /// Refuses data that are not in the table.
    pub fn refuse_missing(&self, posterior: &Posterior) -> Result<(), Refusal> {
        let (n, k) = (posterior.n(), posterior.k());
        if self.rows.contains_key(posterior.counts()) {
            return Ok(());
        }
        let named = match compositions(n, k).filter(|&all| all <= MOST_LISTED) {
            Some(_) => {
                let missing: Vec<String> = list_compositions(n, k)
                    .iter()
                    .filter(|x| !self.rows.contains_key(*x))
                    .map(|x| vector(x))
                    .collect();
                let shown = missing[..missing.len().min(MOST_SHOWN)].join(", ");
                match missing.len().checked_sub(MOST_SHOWN) {
                    Some(more) if more > 0 => format!("{shown} and {more} more"),
                    _ => shown,
                }
            }
            None => vector(posterior.counts()),
        };
        Err(Refusal::new(
            format!("of the data sets of {n} records the table lacks {named}"),
            "add their rows to the table",
        ))
    }
}

/// Missing data sets are looked for among this many, and at most [`MOST_SHOWN`] are named.
const MOST_LISTED: u128 = 1_000_000;
const MOST_SHOWN: usize = 5;

const EXAMPLE: &str = "write a header `counts,output,probability` and rows such as `3;4,2;5,0.25`";

fn not_counts(column: &str, text: &str) -> String {
    format!("`{text}` in the column `{column}` is not a list of counts")
}

fn parse_counts(text: &str) -> Option<Counts> {
    let counts: Counts =
        text.split(';').map(|count| count.trim().parse().ok()).collect::<Option<_>>()?;
    crate::posterior::model::is_countable(&counts).then_some(counts)
}

/// ln of a decimal number from 0 to 1, also if it is too small for a double.
fn ln_of_decimal(text: &str) -> Option<f64> {
    let value: f64 = text.parse().ok()?;
    if !(0.0..=1.0 + TOLERANCE).contains(&value) {
        return None;
    }
    if value >= f64::MIN_POSITIVE {
        return Some(ln(value));
    }
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (mantissa, exponent): (f64, f64) = (mantissa.parse().ok()?, exponent.parse().ok()?);
    Some(ln(mantissa) + exponent * std::f64::consts::LN_10)
}

/// e^`ln_p` as a decimal number, also if it is too small for a double.
pub fn written_probability(ln_p: f64) -> String {
    let value = exp_accurate(ln_p);
    if value >= f64::MIN_POSITIVE || ln_p == f64::NEG_INFINITY {
        return format!("{value:e}");
    }
    let exponent = libm::floor(ln_p / std::f64::consts::LN_10);
    let mantissa = exp_accurate(ln_p - exponent * std::f64::consts::LN_10);
    format!("{mantissa}e{exponent}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_too_small_for_a_double_are_written_and_read() {
        for ln_p in [-0.1, -1.0, -300.25, -708.0, -745.5, -1e4, -123_456.789] {
            let read = ln_of_decimal(&written_probability(ln_p)).unwrap();
            assert!((read - ln_p).abs() <= 1e-15 * (1.0 - ln_p), "{ln_p} {read}");
        }
        assert_eq!(ln_of_decimal("0"), Some(f64::NEG_INFINITY));
        assert_eq!(ln_of_decimal(&written_probability(f64::NEG_INFINITY)), Some(f64::NEG_INFINITY));
        for bad in ["-0.1", "1.1", "nan", "inf", "", "x", "1e"] {
            assert_eq!(ln_of_decimal(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_table_is_checked() {
        let read = |text: &str| ProbabilityTable::parse(text.as_bytes());
        let good =
            "counts,output,probability\n1;0,1;0,0.75\n1;0,0;1,0.25\n0;1,1;0,0.5\n0;1,0;1,0.5\n";
        let table = read(good).unwrap();
        assert_eq!(table.outputs(), OutputSet::Simplex);
        assert!((table.row(&[1, 0], 1.0)[&vec![0, 1]] - ln(0.25)).abs() < 1e-15);
        for (from, to, cause) in [
            ("0;1,0;1,0.5\n", "0;1,0;1,0.4\n", "the data set 0;1 sum to 0.9"),
            ("0;1,0;1,0.5\n", "0;1,1;0,0.5\n", "twice"),
            ("0;1,0;1,0.5\n", "0;1,0;2,0.5\n", "above the 1 records"),
            ("0;1,0;1,0.5\n", "0;1,0;1;0,0.5\n", "3"),
            ("0;1,0;1,0.5\n", "0;1,0;1,half\n", "`half` is not a probability"),
            ("0;1,0;1,0.5\n", "0;x,0;1,0.5\n", "`0;x`"),
            ("probability", "p", "no column `probability`"),
        ] {
            let message = read(&good.replacen(from, to, 1)).unwrap_err().to_string();
            assert!(message.contains(cause) && message.starts_with("line "), "{message}");
        }
        assert!(read("counts,output,probability\n").is_err());
    }
}
