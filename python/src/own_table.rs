//! Tables of probabilities from weights that Python has computed.

use std::path::Path;

use engine::mechanism::own::{TABLE_COLUMNS, written_probability};
use engine::numeric::{Sum, exp_accurate, ln};
use engine::posterior::model::{Counts, approximate_compositions, vector};
use engine::posterior::simplex::list_compositions;
use lab::run::store::write_whole;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

/// A table of more entries is not written.
const MOST_ENTRIES: f64 = 5e6;

/// All counts of n records in k categories, if they can be a mechanism's candidates.
pub fn candidates(n: u64, k: usize) -> PyResult<Vec<Counts>> {
    let many = approximate_compositions(n, k);
    if k < 2 || many * many > MOST_ENTRIES {
        return Err(PyValueError::new_err(format!(
            "{n} records in {k} categories make {many:.3e} data sets, and as many candidates for each\n  help: use \
             fewer records or categories, {MOST_ENTRIES:.0e} weights in all; an expression, such as \
             '{{-epsilon*H}}', can weigh more candidates"
        )));
    }
    Ok(list_compositions(n, k))
}

/// Writes the probabilities that are proportional to e^weight, for each data set in its turn. `weights` are the bytes
/// of doubles.
pub fn write(path: &str, n: u64, k: usize, weights: &[u8]) -> PyResult<()> {
    let all: Vec<String> = candidates(n, k)?.iter().map(|counts| vector(counts)).collect();
    let weights: Vec<f64> =
        weights.as_chunks().0.iter().map(|&bytes| f64::from_ne_bytes(bytes)).collect();
    if weights.len() != all.len() * all.len() {
        let (found, wanted) = (weights.len(), all.len());
        return Err(PyValueError::new_err(format!(
            "there are {found} weights instead of {wanted} × {wanted}"
        )));
    }
    let mut text = TABLE_COLUMNS.join(",") + "\n";
    for (counts, row) in all.iter().zip(weights.chunks_exact(all.len())) {
        let wrong = |what: &str| {
            PyValueError::new_err(format!(
                "at the data set ({}) {what}\n  help: return the logarithm of a weight for every candidate; that of 0 is \
                 -inf",
                counts.replace(';', ", ")
            ))
        };
        let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if row.iter().any(|weight| weight.is_nan()) || largest == f64::INFINITY {
            return Err(wrong("a log weight is not a number, or infinite"));
        }
        if largest == f64::NEG_INFINITY {
            return Err(wrong("no candidate has a weight"));
        }
        let sum: Sum = row.iter().map(|weight| exp_accurate(weight - largest)).collect();
        let ln_sum = largest + ln(sum.value());
        for (output, weight) in
            all.iter().zip(row).filter(|(_, weight)| **weight > f64::NEG_INFINITY)
        {
            text += &format!("{counts},{output},{}\n", written_probability(weight - ln_sum));
        }
    }
    write_whole(Path::new(path), text.into_bytes())
        .map_err(|error| PyRuntimeError::new_err(error.to_string()))
}
