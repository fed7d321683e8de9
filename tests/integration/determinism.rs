//! Same seed, same bytes. (`kinds.rs` and `shards.rs` show that the threads do not matter, `survival.rs` that what
//! else is in the config does not.)

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
            6,
            [
                "04a3fbc506fd53d63a22e5c328036716020e470ae38808fc8dc232021387b512",
                "94f2ab32ce20b7ae7b0534c400ff5f88e8b83b4faea13571e4660b30a8a6dc81",
            ]
        ),
        "a number or a draw (the first hash), or the key or the form of a cell (the second) has \
         changed: raise NUMERICS, or the version of the kind, so that no cell of before is mixed \
         with one of now, and pin this hash"
    );
}
