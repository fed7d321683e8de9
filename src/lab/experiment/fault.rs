//! Faults on demand, for tests of what becomes of the other cells.

use std::sync::LazyLock;

static WANTED: LazyLock<Option<String>> = LazyLock::new(|| std::env::var("DPBI_FAULT").ok());

/// Fails on demand, to see what becomes of the others: with the environment variable
/// `DPBI_FAULT=ehds@3` the cells of `ehds` at setting 3 fail, with `DPBI_FAULT=@3` those that are
/// about the whole setting.
///
/// # Panics
/// That is what it is for.
pub fn strike(setting: usize, mechanism: &str) {
    if WANTED.as_ref().is_some_and(|wanted| *wanted == format!("{mechanism}@{setting}")) {
        panic!("a fault was asked for");
    }
}
