//! What holds for every kind of experiment.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::{Sandbox, root};
use lab::experiment::config::{self, Overrides};
use lab::experiment::{Experiment, Layout, Panel, kind};
use system::source::Source;
use table::Tables;

/// A config with a panel of every kind, of some kinds several.
pub const EVERY_KIND: &str = r#"
name = "every_kind"
prior = [1, 1]
epsilon = 1.0
runs = 5
mechanisms = ["lshist", "ehds"]
data.balanced.sizes = [10, 20]

[[panel]]
id = "accuracy"
metrics = ["l1", "hellinger"]
figures = ["box", "mean", "runs"]
mechanisms = ["lshist", { id = "ehd", label = "tuned", calibrated = true }]

[[panel]]
id = "accuracy-facets"
epsilon = [0.5, 1]
delta = [1e-3, 1e-2]

[[panel]]
id = "accuracy-unordered"
data.counts = { counts = [[3, 7], [5, 5]], labels = ["some", "others"] }

[[panel]]
id = "theory"
kind = "theory"
mechanisms = [{ id = "ehd", calibrated = true }]

[[panel]]
id = "sensitivity"
kind = "sensitivity"
data.line.sizes = 10
readings = "read.csv"

[[panel]]
id = "change"
kind = "change"

[[panel]]
id = "change-map"
kind = "change"
prior = [1, 1, 1]
data.balanced.sizes = 6

[[panel]]
id = "privacy"
kind = "privacy"
scope = ["all", "data"]
at_epsilon = 0.5

[[panel]]
id = "profile"
kind = "profile"

[[panel]]
id = "trade-off"
kind = "trade-off"

[[panel]]
id = "optimum"
kind = "optimum"

[[panel]]
id = "optimum-alone"
kind = "optimum"
data.balanced.sizes = 6

[[panel]]
id = "family"
kind = "family"
over = "p"
mechanisms = [
    "ehds",
    { id = "weights", label = "mine", log_weight = "-c * H^p", c = [1, 2], p = [0.5, 1, 2] },
]

[[panel]]
id = "threshold"
kind = "threshold"
prior = [1, 1, 1]
data.balanced.sizes = [3, 4]

[[panel]]
id = "within"
kind = "within"
steps = [1, 2, 2, 15, 1000]
mechanisms = ["lszhang", "lshist", "ehd"]

[[panel]]
id = "steps"
kind = "steps"
steps = [1, 7, 7, 1000]

[[panel]]
id = "crossover"
kind = "crossover"
steps = [1, 2, 2]
data.balanced.sizes = 10
mechanisms = ["lshist", "ehd"]

[[panel]]
id = "optimality"
kind = "optimality"
mechanisms = ["lshist"]

[[panel]]
id = "tail"
kind = "tail"
mechanisms = ["mh-gamma"]

[[panel]]
id = "normaliser"
kind = "normaliser"
mechanisms = ["mh-gamma"]

[[panel]]
id = "l1-tail"
kind = "l1-tail"
mechanisms = ["lshist"]

[[panel]]
id = "table1"
kind = "table1"
steps = [0, 1]
data.balanced.sizes = 10
mechanisms = ["lshist", "ehd"]

[[panel]]
id = "phase"
kind = "phase"
epsilon = [0.5, 1]
mechanisms = ["lshist", "ehds", "geometric"]
without = ["geometric"]
"#;

/// A value read off a figure of sensitivities.
pub const READ: &str = "mechanism,at,quantity,value,error,pixel,at_error,at_pixel,note\n\
                    local,3,local,0.1,0.01,0.001,,,\n";

/// A folder with the config.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("every_kind.toml", EVERY_KIND).write("read.csv", READ);
    sandbox
}

fn every_kind() -> Experiment {
    let sandbox = sandbox();
    let source = Source::Disk(sandbox.path("every_kind.toml"));
    config::load(&source, &Overrides::default()).unwrap()
}

#[test]
fn the_config_has_a_panel_of_every_kind() {
    let experiment = every_kind();
    let here: BTreeSet<&str> = experiment.panels.iter().map(|panel| panel.kind.id()).collect();
    assert_eq!(here, kind::ALL.iter().map(|kind| kind.id()).collect());
}

#[test]
fn figures_have_names_of_their_own() {
    for panel in &every_kind().panels {
        let drawn = panel.figures(&panel.compute());
        assert_eq!(drawn.is_empty(), panel.kind.id() == "table1", "{}", panel.id);
        let names: BTreeSet<&String> = drawn.iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), drawn.len(), "{}: names are unique", panel.id);
    }
}

/// A value of a key of a kind that differs from what [`EVERY_KIND`] says.
fn other_value(key: &str) -> toml::Value {
    match key {
        "at_epsilon" => 0.25.into(),
        "formula" => "notes-laplace".into(),
        "neighbours" => "ordered".into(),
        "over" => "c".into(),
        "scope" => "data".into(),
        "sensitivities" => "global".into(),
        "steps" => 3.into(),
        "view" => vec![0.1, 0.2].into(),
        "with_delta" => true.into(),
        "without" => "lshist".into(),
        other => panic!("give `{other}` a value here"),
    }
}

/// Finished cells are found again by their names: a key that changes rows must change these too. A kind that
/// samples keeps draws, of which rows are made later.
#[test]
fn what_changes_rows_changes_the_names_of_cells() {
    let names = |panel: &Panel| {
        let cells = (0..panel.cases.len()).flat_map(|case| Layout::new(panel).cells(case));
        cells.map(|cell| cell.text).collect::<Vec<_>>()
    };
    let (sandbox, text) = (sandbox(), format!("delta = 1e-3\n{EVERY_KIND}"));
    let load = |text: &str| {
        let source = Source::Disk(sandbox.write("changed.toml", text).path("changed.toml"));
        config::load(&source, &Overrides::default()).unwrap()
    };
    for (place, before) in load(&text).panels.iter().enumerate() {
        if before.kind.runs().is_some() {
            continue;
        }
        let mut known = None;
        for key in before.kind.keys() {
            let mut changed: toml::Table = text.parse().unwrap();
            let panel = changed["panel"][place].as_table_mut().unwrap();
            panel.insert(key.name.to_owned(), other_value(key.name));
            let after = &load(&changed.to_string()).panels[place];
            if names(before) == names(after) {
                let known = known.get_or_insert_with(|| before.compute());
                assert!(*known == after.compute(), "{}: {}", before.id, key.name);
            }
        }
    }
}

/// The rows of every table of a results folder.
fn tables_of(folder: &std::path::Path) -> BTreeMap<String, usize> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let tables = entries.filter(|path| path.extension().is_some_and(|ending| ending == "csv"));
    tables
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, csv::Reader::from_path(&path).unwrap().records().count())
        })
        .collect()
}

#[test]
fn the_json_document_has_every_table_of_the_folder_and_no_other() {
    let sandbox = sandbox();
    // One cell fails, so that there is a table of failures.
    let run = "DPBI_FAULT=@17 $DPBI run every_kind.toml --json --errors -q --format none";
    let outcome = sandbox.shell(run);
    assert_eq!(outcome.status, 1, "{}", outcome.stderr);
    let documents: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
    let told = documents[0].as_object().unwrap().iter().filter_map(|(name, value)| {
        let rows = value.as_array()?.len();
        (rows > 0).then(|| (name.clone(), rows))
    });
    let written = tables_of(&sandbox.path("results/every_kind"));
    assert_eq!(told.collect::<BTreeMap<_, _>>(), written);
    // All tables that there are take part: errors, and those of the list.
    let listed = std::fs::read_to_string(root().join("src/table/rows.rs")).unwrap();
    let listed = listed.lines().filter(|line| line.starts_with("row!(")).count();
    assert_eq!(written.len(), 1 + listed, "{written:?}");
}

#[test]
fn every_kind_is_the_same_on_any_number_of_threads_and_drawn_again() {
    let sandbox = sandbox();
    let folders = ["1", "2"].map(|threads| {
        let args = ["run", "every_kind.toml", "--format", "svg,png", "-q", "--threads", threads];
        sandbox.succeed(&[&args[..], &["--out", threads]].concat());
        format!("{threads}/every_kind")
    });
    let one = sandbox.files(&folders[0]);
    assert!(one == sandbox.files(&folders[1]));
    sandbox.succeed(&["plot", &folders[0], "--format", "svg,png", "-q"]);
    assert!(one == sandbox.files(&folders[0]));
}

/// What the digests of a panel show beside the names of rows and columns.
fn cells(panel: &Panel, tables: &Tables) -> Vec<Vec<String>> {
    let digests = panel.kind.digests(panel, tables).into_iter();
    let rows = digests.flat_map(|digest| {
        let width = digest.columns.len();
        assert!(digest.rows.iter().all(|row| row.len() == width), "{}: {digest:?}", panel.id);
        digest.rows
    });
    rows.map(|row| row[1..].to_vec()).collect()
}

#[test]
fn what_was_not_computed_is_no_number() {
    let nothing = Tables::default();
    for panel in &every_kind().panels {
        for cell in cells(panel, &nothing).concat() {
            assert!(["–", "", "exact", "sampled"].contains(&&*cell), "{}: {cell}", panel.id);
        }
        for (_, figure) in panel.figures(&nothing) {
            assert!(!format!("{figure:?}").contains("0.0000"), "{}: {figure:?}", panel.id);
        }
        let answers = panel.kind.answers(panel, &nothing);
        let says = |answer: &String| !answer.contains('0') && !answer.contains(": .");
        assert!(answers.iter().all(says), "{answers:?}");
    }
}

/// A mechanism that failed has a dash of its own: the others stay in their columns.
#[test]
fn a_failed_mechanism_leaves_the_others_in_their_columns() {
    let experiment = every_kind();
    let panel = experiment.panels.iter().find(|panel| panel.id == "accuracy").unwrap();
    let mut tables = panel.compute();
    let whole = cells(panel, &tables);
    tables.summary.retain(|row| row.mechanism != "lshist");
    for (row, before) in cells(panel, &tables).iter().zip(whole) {
        assert_eq!(row[1..], ["–", &before[2]]);
    }
}
