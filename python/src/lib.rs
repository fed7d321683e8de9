//! What Python calls: commands that answer with JSON, laws as arrays, and tables of one's own weights.
//!
//! Arrays are the bytes of 64-bit numbers in the machine's own order, as NumPy reads and writes them.

mod door;
mod own_table;

use std::ffi::OsString;

use face::embedded::{self, ListedLaw};
use lab::run::store::Build;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Carries out a command, and returns what it prints on standard output.
#[pyfunction]
fn answer(py: Python<'_>, arguments: Vec<String>) -> PyResult<String> {
    door::carry_out(py, words(arguments), embedded::answer)
}

/// The document, the outputs, their probabilities and their errors.
type Law<'py> = (String, Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

/// Carries out `inspect` with one mechanism: the document and the law as arrays.
#[pyfunction]
fn law(py: Python<'_>, arguments: Vec<String>) -> PyResult<Law<'_>> {
    let law = door::carry_out(py, words(arguments), embedded::law)?;
    let ListedLaw { document, outputs, probabilities, errors } = law;
    let numbers = |values: Vec<f64>| bytes(py, values.into_iter().map(f64::to_ne_bytes));
    let outputs = bytes(py, outputs.into_iter().map(u64::to_ne_bytes));
    Ok((document, outputs, numbers(probabilities), numbers(errors)))
}

/// Refuses a setting that `inspect` would refuse. It does not wait for the work of other threads.
#[pyfunction]
fn check_setting(py: Python<'_>, arguments: Vec<String>) -> PyResult<()> {
    let arguments = words(arguments);
    py.detach(|| embedded::check_setting(&arguments)).map_err(|failure| door::exception(&failure))
}

/// All counts of n records in k categories, in the order of tables.
#[pyfunction]
fn candidates(py: Python<'_>, n: u64, k: usize) -> PyResult<Bound<'_, PyBytes>> {
    let all = own_table::candidates(n, k)?;
    Ok(bytes(py, all.into_iter().flatten().map(u64::to_ne_bytes)))
}

/// Writes a table of probabilities from the logarithms of weights: a row for every data set of n records in k
/// categories, in the order of `candidates`, with a weight for every candidate.
#[pyfunction]
fn write_table(py: Python<'_>, path: &str, n: u64, k: usize, weights: &[u8]) -> PyResult<()> {
    py.detach(|| own_table::write(path, n, k, weights))
}

/// The program itself: carries out a command line, prints, and returns the exit status.
#[pyfunction]
fn program(py: Python<'_>, arguments: Vec<String>) -> u8 {
    let arguments = words(arguments);
    py.detach(|| face::program(&arguments))
}

#[pymodule]
fn _dpbi(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let (commit, rustc) = (env!("DPBI_COMMIT"), env!("DPBI_RUSTC"));
    Build { commit, rustc, platform: env!("DPBI_PLATFORM") }.declare();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(answer, module)?)?;
    module.add_function(wrap_pyfunction!(law, module)?)?;
    module.add_function(wrap_pyfunction!(check_setting, module)?)?;
    module.add_function(wrap_pyfunction!(candidates, module)?)?;
    module.add_function(wrap_pyfunction!(write_table, module)?)?;
    module.add_function(wrap_pyfunction!(program, module)?)
}

/// The words of a command line, the program's name first.
fn words(arguments: Vec<String>) -> Vec<OsString> {
    std::iter::once("dpbi".to_owned()).chain(arguments).map(OsString::from).collect()
}

fn bytes<'py>(py: Python<'py>, numbers: impl Iterator<Item = [u8; 8]>) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &numbers.flatten().collect::<Vec<u8>>())
}
