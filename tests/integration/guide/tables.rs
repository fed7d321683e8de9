//! The tables of the guide name everything that there is.

use std::collections::BTreeSet;

use engine::mechanism::{ALL, Choice, HISTORICAL, Kind};
use engine::posterior::metric;
use lab::experiment::kind;
use table::Tables;

use super::{docs, read};

/// The words of a cell that are set as code.
fn code(cell: &str) -> BTreeSet<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// The code in the first two cells of every row below a heading of a page.
fn rows<'a>(page: &'a str, heading: &str) -> Vec<[BTreeSet<&'a str>; 2]> {
    let below = page.split("\n## ").find(|section| section.lines().next() == Some(heading));
    let below = below.unwrap_or_else(|| panic!("a heading `{heading}`"));
    let rows = below.lines().filter_map(|line| line.strip_prefix("| "));
    let cells = rows.map(|row| row.split(" | ").collect::<Vec<_>>());
    cells.map(|cells| [code(cells[0]), code(cells[1])]).collect()
}

/// What is in the first cell of no row.
fn missing<'a>(
    rows: &[[BTreeSet<&str>; 2]],
    all: impl IntoIterator<Item = &'a str>,
) -> Vec<&'a str> {
    all.into_iter().filter(|name| !rows.iter().any(|[first, _]| first.contains(name))).collect()
}

#[test]
fn every_mechanism_and_its_options_have_a_row() {
    let page = read(&docs().join("mechanisms.md"));
    let mut found = rows(&page, "Noise on the counts");
    found.extend(rows(&page, "Exponential mechanisms"));
    let ids = |all: &'static [&Kind]| all.iter().map(|mechanism| mechanism.id);
    assert_eq!(missing(&found, ids(ALL)), [""; 0]);
    assert_eq!(missing(&rows(&page, "Historical curiosities"), ids(HISTORICAL)), [""; 0]);
    let options = rows(&page, "Options");
    assert_eq!(missing(&options, Choice::ALL.iter().map(|choice| choice.key())), [""; 0]);
    // All understand `remap`.
    for choice in Choice::ALL.iter().filter(|choice| **choice != Choice::Remap) {
        let [_, of] = options.iter().find(|[key, _]| key.contains(choice.key())).unwrap();
        let having = ALL.iter().filter(|mechanism| mechanism.choices.contains(choice));
        assert_eq!(*of, having.map(|one| one.id).collect(), "of {}", choice.key());
    }
}

#[test]
fn every_kind_distance_metric_and_table_has_a_row() {
    let page = read(&docs().join("reference.md"));
    let kinds = rows(&page, "Kinds");
    assert_eq!(missing(&kinds, kind::ALL.iter().map(|kind| kind.id())), [""; 0]);
    let keys = kind::key::names().into_iter();
    let keys = keys.filter(|key| !page.contains(&format!("`{key}`"))).collect::<Vec<_>>();
    assert_eq!(keys, [""; 0], "keys of kinds");
    let metrics = metric::all();
    let metrics = metrics.iter().map(|metric| metric.id());
    assert_eq!(missing(&rows(&page, "Distances"), metrics), [""; 0]);
    let tables = serde_json::to_value(Tables::default()).unwrap();
    let files = tables.as_object().unwrap().keys().map(|table| format!("{table}.csv"));
    let files: Vec<String> = files.chain(["errors.csv".to_owned()]).collect();
    let listed = rows(&page, "Files of a results folder");
    assert_eq!(missing(&listed, files.iter().map(String::as_str)), [""; 0]);
}
