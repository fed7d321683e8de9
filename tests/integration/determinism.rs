//! Same seed, same bytes: whatever the threads, whatever else is in the config.

use crate::common::Sandbox;

const CONFIG: &str = r#"
name = "d"
seed = 7
runs = 600
prior = [[1, 1, 1], [0.5, 2, 1]]
epsilon = [0.5, 2.0]
delta = 1e-6
mechanisms = ["lszhang", "lsdim", "lshist", "ehd", "ehdl", "ehds", "mh-gamma", "mh-beta", "geometric", "geometric-all", "hamming"]
metrics = ["l1", "kl"]
[data.counts]
counts = [[20, 3, 0], [8, 8, 9]]
"#;

const FILES: [&str; 5] = [
    "settings.csv",
    "errors.csv",
    "summary.csv",
    "box-prior=1,1,1.svg",
    "mean-l1-prior=0.5,2,1.png",
];

fn results(args: &[&str]) -> Vec<Vec<u8>> {
    let sandbox = Sandbox::new();
    sandbox.write("d.toml", CONFIG);
    sandbox.succeed(&[&["run", "d.toml"], args].concat());
    FILES.iter().map(|file| sandbox.read(&format!("results/d/{file}"))).collect()
}

#[test]
fn threads_and_repetition_change_no_byte() {
    let one = results(&["--threads", "1"]);
    for args in [&["--threads", "3"][..], &[]] {
        assert!(results(args) == one, "{args:?}");
    }
}

/// Mechanisms that are calibrated and remapped, and every kind that was made for them.
const TUNED: &str = r#"
name = "d"
seed = 7
runs = 300
prior = [1, 2]
epsilon = 0.7
mechanisms = [
    "geometric",
    { id = "ehdl", label = "a", calibrated = true },
    { id = "hamming", label = "b", calibrated = true, remap = true },
    { id = "lszhang", label = "c", remap = true },
]
data.balanced.sizes = [4, 9]
[[panel]]
id = "accuracy"
[[panel]]
id = "privacy"
kind = "privacy"
at_epsilon = 0.2
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
id = "phase"
kind = "phase"
epsilon = [0.3, 0.7]
without = ["a", "b"]
"#;

#[test]
fn tuned_mechanisms_are_the_same_on_any_number_of_threads_and_drawn_again() {
    let sandbox = Sandbox::new();
    sandbox.write("d.toml", TUNED);
    sandbox.succeed(&["run", "d.toml", "--threads", "1", "--format", "svg"]);
    let one = sandbox.files("results/d");
    sandbox.succeed(&["plot", "results/d", "--format", "svg"]);
    assert!(sandbox.files("results/d") == one, "drawn again from the tables");
    let again = ["run", "results/d/config.toml", "--format", "svg", "--fresh", "--threads", "2"];
    sandbox.succeed(&again);
    assert!(sandbox.files("results/d") == one, "run again from the resolved config");
    for table in ["calibration.csv", "optimum.csv", "phase.csv", "curves.csv", "phase-winner.svg"] {
        assert!(one.contains_key(table), "{table}");
    }
    // Every draw is explained by its law: a z beyond 5 would be one in a million.
    let mut reader = csv::Reader::from_reader(&one["summary.csv"][..]);
    let column = reader.headers().unwrap().iter().position(|name| name == "z").unwrap();
    for record in reader.records() {
        let z: f64 = record.unwrap()[column].parse().unwrap();
        assert!(z.abs() < 5.0, "{z}");
    }
}

#[test]
fn the_resolved_config_gives_the_same_bytes_and_another_seed_others() {
    let sandbox = Sandbox::new();
    sandbox.write("d.toml", CONFIG);
    sandbox.succeed(&["run", "d.toml", "--format", "none", "--seed", "99", "--runs", "300"]);
    sandbox.succeed(&["run", "results/d/config.toml", "--format", "none", "--out", "again"]);
    for file in ["config.toml", "settings.csv", "errors.csv", "summary.csv"] {
        let (first, again) = (format!("results/d/{file}"), format!("again/d/{file}"));
        assert!(sandbox.read(&first) == sandbox.read(&again), "{file}");
    }
    sandbox.succeed(&["run", "d.toml", "--format", "none", "--runs", "300", "--out", "seven"]);
    assert!(sandbox.read("results/d/errors.csv") != sandbox.read("seven/d/errors.csv"));
}

/// The rows of `errors.csv` of one mechanism at one setting, without the setting's number.
fn cell(errors: &str, setting: &str, mechanism: &str) -> Vec<String> {
    let start = format!("{setting},{mechanism},");
    let rows = errors.lines().filter_map(|line| line.strip_prefix(&start));
    rows.map(str::to_owned).collect()
}

#[test]
fn a_setting_or_mechanism_added_changes_no_other_cell() {
    let config = |sizes: &str, mechanisms: &str, runs: u32| {
        format!(
            "name = \"a\"\nruns = {runs}\nprior = [1, 1]\nepsilon = 1\nmechanisms = {mechanisms}\n\
             [data.balanced]\nsizes = {sizes}\n"
        )
    };
    let run = |text: &str| {
        let sandbox = Sandbox::new();
        sandbox.write("a.toml", text).succeed(&["run", "a.toml", "--format", "none"]);
        sandbox.text("results/a/errors.csv")
    };
    let small = run(&config("[100]", "[\"ehds\"]", 300));
    let large = run(&config("[50, 100]", "[\"lshist\", \"ehds\"]", 300));
    let longer = run(&config("[100]", "[\"ehds\"]", 700));
    let wanted = cell(&small, "1", "ehds");
    assert_eq!(wanted.len(), 300);
    assert_eq!(cell(&large, "2", "ehds"), wanted);
    assert_eq!(cell(&longer, "1", "ehds")[..300], wanted);
}

/// At this size exponential mechanisms walk a ball; a further error that is not flat outside of it
/// makes them walk everything. What is drawn must not change.
#[test]
fn an_error_added_changes_no_draw() {
    let released = |metrics: &str| {
        let sandbox = Sandbox::new();
        let config = format!(
            "name = \"m\"\nruns = 300\nprior = [1, 1]\nepsilon = 1\nmetrics = {metrics}\n\
             mechanisms = [\"ehd\", \"ehds\", \"lszhang\", \"hamming\"]\n\
             [data.counts]\ncounts = [1000, 5000]\n"
        );
        sandbox.write("m.toml", &config).succeed(&["run", "m.toml", "--format", "none"]);
        let errors = sandbox.text("results/m/errors.csv");
        let columns = errors
            .lines()
            .skip(1)
            .map(|line| line.split(',').take(5).collect::<Vec<_>>().join(","));
        columns.collect::<Vec<_>>()
    };
    let alone = released("\"tv_lower\"");
    for more in ["\"l1\"", "[\"print\", \"tv_upper\"]", "[\"kl\", \"hellinger\"]"] {
        assert_eq!(released(more), alone, "{more}");
    }
}

/// All numbers and draws of these configs, in one hash.
#[test]
fn numbers_are_pinned_with_their_version() {
    let sandbox = Sandbox::new();
    let (mut tables, mut cells) = (Vec::new(), Vec::new());
    for text in [CONFIG, TUNED] {
        sandbox.write("d.toml", text).succeed(&["run", "d.toml", "--format", "none", "--fresh"]);
        for (name, bytes) in sandbox.files("results/d") {
            match name.as_str() {
                "config.toml" => {}
                "cells.log" => cells.extend([name.as_bytes(), &bytes].concat()),
                _ => tables.extend([name.as_bytes(), &bytes].concat()),
            }
        }
    }
    let hashes = [tables, cells].map(|bytes| lab::run::store::sha256(&bytes));
    assert_eq!(
        (table::NUMERICS, hashes.each_ref().map(String::as_str)),
        (
            4,
            [
                "7de1a75d9dbf07b24f900863a34051ef430b66743a7cee78763ca5ab2414f8bb",
                "67312a5d6b5ffda69af23bed9a61b1e1c0849c3d0be4781ad93e8ce90398a9b8",
            ]
        ),
        "a number or a draw (the first hash), or the key or the form of a cell (the second) has \
         changed: raise NUMERICS, or the version of the kind, so that no cell of before is mixed \
         with one of now, and pin this hash"
    );
}
