//! From a bundled experiment to one's own: copies, `--set`, sweeps of two parameters, and tables for other
//! programs.

use lab::experiment::config::{self, Change, Overrides};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;
use system::source::Source;

use crate::common::{Sandbox, few_or_many, holds, refused, words};
use crate::fuzz::drawn;
use crate::fuzz::mutate::Corpus;

#[test]
fn a_copy_is_run_changed_and_drawn_again() {
    let sandbox = Sandbox::new();
    sandbox.succeed(&["copy", "icml/fig4", "mine.toml"]);
    let copy = sandbox.text("mine.toml");
    assert!(copy.starts_with("# icml, Figure 4") && copy.contains("name    = \"mine\"\n"));
    let bundled = sandbox.succeed(&["copy", "icml/fig4"]);
    assert_eq!(copy.replace("\"mine\"", "\"icml-fig4\""), bundled);
    refused(&sandbox.dpbi(&["copy", "icml/fig4", "mine.toml"]), "mine.toml exists");
    refused(&sandbox.dpbi(&["copy", "icml/fgi4"]), "did you mean `icml/fig4`?");

    // A config beside which it is typed is found without its ending.
    let run = "run mine --set epsilon=0.5 --runs 20 --format svg";
    let told = sandbox.succeed(&words(run));
    assert!(told.contains("results/mine-epsilon=0.5"), "{told}");
    // The print was made with another ε.
    assert!(!told.contains("readings"), "{told}");
    let folder = "results/mine-epsilon=0.5";
    let resolved = sandbox.text(&format!("{folder}/config.toml"));
    assert!(resolved.contains("changes = [\"epsilon = 0.5\"]") && resolved.contains("[0.5]"));
    assert_eq!(sandbox.manifest(folder)["config"]["changes"], json!(["epsilon = 0.5"]));
    let drawn = sandbox.read(&format!("{folder}/defined-box.svg"));
    sandbox.succeed(&["plot", folder, "--format", "svg"]);
    assert_eq!(sandbox.read(&format!("{folder}/defined-box.svg")), drawn);
    sandbox.succeed(&["verify", folder]);
    let named = "run mine --set panel.printed.epsilon=2 --name two --runs 5 --format none";
    sandbox.succeed(&words(named));
    let resolved = sandbox.text("results/two/config.toml");
    assert!(resolved.contains("epsilon = [2.0]") && resolved.contains("epsilon = [1.0]"));
}

#[test]
fn what_is_set_is_located() {
    let sandbox = Sandbox::new();
    let check = |typed: &str| sandbox.dpbi(&["check", "icml/fig4", "--set", typed]);
    for (typed, place, cause) in [
        ("epsilon=-1", "--set:1:11", "must lie between"),
        ("epsilon=[1,", "--set:1:14", "not a TOML value"),
        ("epsilom=1", "--set:1:1", "unknown key `epsilom`"),
        ("epsilon.a=1", "--set:1:1", "`epsilon` is not a table here"),
        ("mechanisms=ehd", "--set:1:1", "would keep `mechanisms`"),
        ("panel.mechanisms=ehdd", "--set:1:20", "`ehdd`"),
        ("panel.defined.outliers=yes", "--set:1:26", "must be true or false"),
        ("panel.data.file.path=bundled:badge", "--set:1:24", "did you mean `bundled:badges`?"),
        ("epsilon", "--set:1:1", "there is no `=`"),
        ("=1", "--set:1:1", "is no key"),
        (&("a.".repeat(9000) + "b=1"), "--set:1:1", "is no key"),
        (&("a".repeat(70_000) + "=1"), "--set:1:1", "unknown key"),
        ("seed=1\nruns=2", "--set:1:", "not a TOML value"),
        ("name=\"a/b\"", "--set:1:8", "cannot be the name"),
    ] {
        let outcome = check(typed);
        refused(&outcome, cause);
        assert!(outcome.stderr.contains(place), "{typed}: {}", outcome.stderr);
    }
    // However long the config is.
    sandbox.write("long.toml", &format!("{GRID}# {}\n", "x".repeat(70_000)));
    sandbox.succeed(&words("check long --set runs=7"));
    let without = sandbox.dpbi(&["check", "beta_balanced", "--set", "panel.epsilon=1"]);
    refused(&without, "has no [[panel]]");
    let several = words("run beta_balanced real_data --name x");
    refused(&sandbox.dpbi(&several), "--name is the name of one experiment");
}

/// Whatever is set, the config is read, or there is a message with a place; and what is set is not the
/// original.
#[test]
fn random_changes_are_read_or_located() {
    const CONFIGS: [&str; 2] = [
        "name = \"a\"\nprior = [1, 1]\nepsilon = 1\nmechanisms = [\"ehd\"]\n[data.balanced]\nsizes = [4]\n",
        "name = \"a\"\nprior = [1, 1]\nmechanisms = [\"ehd\"]\ndata.balanced.sizes = [4]\n[[panel]]\nid = \"a\"\nepsilon = 1\n",
    ];
    let valid = [
        "epsilon=0.5",
        "epsilon=[1, 2]",
        "prior=[2, 2]",
        "runs=7",
        "panel.a.epsilon=3",
        "panel.epsilon=4",
        "mechanisms=ehds",
        "mechanisms=[\"ehd\", \"lshist\"]",
        "data.balanced.sizes=[3, 9]",
        "distance=tv",
        "name=other",
    ];
    let sound = valid.map(|text| (String::new(), text.into())).to_vec();
    let corpus =
        Corpus::new(sound, "seed kind x facet series delta define changes figures data.counts");
    let typed = prop_oneof![
        select(valid.to_vec()).prop_map(str::to_owned),
        corpus.mutated().prop_map(|(_, text)| String::from_utf8_lossy(&text).into_owned()),
    ];
    let source = Source::Disk("a.toml".into());
    let (mut read, mut refused) = (0, 0);
    let rounds = few_or_many(10_000, 100_000);
    for (round, typed) in drawn(vec(typed, 1..4)).take(rounds).enumerate() {
        let changes = typed.iter().map(|typed| Change::parse(typed)).collect::<Result<Vec<_>, _>>();
        let outcome = changes.and_then(|changes| {
            let overrides = Overrides { changes, ..Overrides::default() };
            config::read(CONFIGS[round % 2], &source, &overrides)
        });
        match outcome {
            Ok(experiment) => {
                read += 1;
                let is_named = typed.iter().any(|typed| typed.starts_with("name"));
                assert!(experiment.name != "a" || is_named, "{typed:?}");
                let resolved = config::resolve(&experiment);
                let again = config::read(&resolved, &source, &Overrides::default()).unwrap();
                assert_eq!(config::resolve(&again), resolved, "{typed:?}");
            }
            Err(error) => {
                refused += 1;
                assert!(error.to_string().contains("--> "), "{typed:?}: {error}");
            }
        }
    }
    assert!(read > 300 && refused > 300, "{read} {refused}");
}

const GRID: &str = "name = \"grid\"\nruns = 50\nprior = [1, 1]\nmechanisms = [\"geometric\", \"ehds\"]\n\
    epsilon = { from = 0.1, to = 4, count = 7, spacing = \"log\" }\n[data.balanced]\nsizes = [20, 40, 100]\n";

#[test]
fn a_sweep_of_two_parameters_is_one_page() {
    let sandbox = Sandbox::new();
    sandbox.write("grid.toml", GRID);
    let told = sandbox.succeed(&words("run grid --format svg"));
    // What has most values is on the axis, and the terminal follows it.
    assert!(told.contains("columns: means from n = 100, ε = 0.1 to n = 100, ε = 4"), "{told}");
    assert!(told.contains("ε = 0.185"), "{told}");
    let page = sandbox.text("results/grid/mean.svg");
    for words in ["n = 20", "n = 40", "n = 100", "privacy parameter ε"] {
        assert!(page.contains(words), "{words}");
    }
    assert_eq!(page.matches("Geometric").count(), 1, "one legend");
    assert!(sandbox.path("results/grid/box.svg").exists());

    let other = "run grid --set x=n --set facet=epsilon --format svg";
    sandbox.succeed(&words(other));
    let page = sandbox.text("results/grid-x=n-facet=epsilon/mean.svg");
    assert!(page.contains("ε = 0.185") && page.contains("number of records n"));
    let pages = "run grid --set delta=[1e-6,1e-3] --format svg";
    sandbox.succeed(&words(pages));
    let files = sandbox.files("results/grid-delta=1e-6_1e-3");
    assert!(files.contains_key("mean-delta=1e-6.svg"), "{:?}", files.keys());
    assert!(files.contains_key("box-delta=0.001.svg"));
    refused(&sandbox.dpbi(&words("check grid --set x=delta")), "do not differ in δ");
    let twice = "check grid --set x=n --set facet=n";
    refused(&sandbox.dpbi(&words(twice)), "another key shows the number of records already");
}

#[test]
fn lines_may_be_values_of_a_parameter_and_mechanisms_stand_on_the_axis() {
    let sandbox = Sandbox::new();
    sandbox.write("grid.toml", GRID);
    sandbox.succeed(&words("run grid --set series=n --format svg --name lines"));
    // A small figure of each mechanism, with a line for each n in one legend.
    let page = sandbox.text("results/lines/mean.svg");
    for (words, count) in [("Geometric", 1), ("EHDS", 1), ("n = 20", 1), ("n = 100", 1)] {
        assert_eq!(page.matches(&format!("\n{words}\n")).count(), count, "{words}");
    }
    let pages = "run grid --set series=n --set facet=epsilon --set x=n --format svg --name pages";
    refused(&sandbox.dpbi(&words(pages)), "another key shows the number of records already");
    sandbox.succeed(&words("run grid --set x=mechanism --format svg --name side"));
    let page = sandbox.text("results/side/box.svg");
    assert_eq!(page.matches("\nEHDS\n").count(), 3, "under the boxes of each n");
    assert!(page.contains("ε = 0.185") && !sandbox.path("results/side/mean.svg").exists());
    // With one setting there are only the mechanisms.
    let one = "run grid --set epsilon=1 --set data.balanced.sizes=[98] --format svg --name one";
    sandbox.succeed(&words(one));
    let page = sandbox.text("results/one/box.svg");
    assert_eq!(page.matches("\nEHDS\n").count(), 1, "no legend names it again");
    assert!(page.contains("n = 98, ε = 1"), "the setting stands under the title");
    refused(
        &sandbox.dpbi(&words("check grid --set mechanisms=[\"ehd\"] --set x=mechanism")),
        "settings do not differ in the mechanism",
    );
}

#[test]
fn figures_that_are_still_true_are_kept_and_others_removed_with_a_word() {
    let sandbox = Sandbox::new();
    sandbox.write("grid.toml", GRID);
    sandbox.succeed(&words("run grid --format png"));
    let drawn = sandbox.read("results/grid/mean.png");
    let same = sandbox.dpbi(&words("run grid --format none"));
    assert!(!same.stderr.contains("removed"), "{}", same.stderr);
    assert_eq!(sandbox.read("results/grid/mean.png"), drawn);
    sandbox.succeed(&words("verify results/grid"));
    let other = sandbox.dpbi(&words("run grid --seed 5 --format svg"));
    holds(&other.stderr, "removed: box.png, mean.png");
    assert!(!sandbox.path("results/grid/mean.png").exists());
}

/// What is only printed touches nothing.
#[test]
fn a_finished_run_is_printed_again_and_left_as_it_is() {
    let sandbox = Sandbox::new();
    sandbox.write("grid.toml", GRID);
    sandbox.succeed(&words("run grid --width column --format pdf,png,svg"));
    let (drawn, manifest) = (sandbox.files("results/grid"), sandbox.manifest("results/grid"));
    let table = sandbox.succeed(&words("run grid --table latex"));
    assert!(table.contains("\\begin{tabular}"), "{table}");
    let text = sandbox.succeed(&words("run grid"));
    assert!(text.contains("wrote nothing") && text.contains("results/grid is as it was"), "{text}");
    assert!(sandbox.files("results/grid") == drawn && sandbox.manifest("results/grid") == manifest);
    // Other tables are drawn in the same way, and another width draws every format.
    sandbox.succeed(&words("run grid --runs 60 --name grid -q"));
    let other = sandbox.files("results/grid");
    assert!(other.keys().eq(drawn.keys()) && other["box.png"] != drawn["box.png"]);
    sandbox.succeed(&words("run grid --runs 60 --name grid --width text -q"));
    let wide = sandbox.files("results/grid");
    assert!(wide.keys().eq(drawn.keys()) && wide["box.pdf"] != other["box.pdf"]);
    // Without figures it stays without.
    sandbox.succeed(&words("run grid --format none --name none -q"));
    sandbox.succeed(&words("run grid --name none -q"));
    assert!(!sandbox.path("results/none/box.svg").exists());
}

#[test]
fn columns_show_the_whole_of_a_long_sweep() {
    let sandbox = Sandbox::new();
    let long = "name = \"long\"\nruns = 2\nprior = [1, 1]\nepsilon = 1\n\
                mechanisms = [\"lshist\"]\ndata.balanced.sizes = { from = 10, to = 300, count = 30 }\n";
    let text = sandbox.write("long.toml", long).succeed(&words("run long --format none"));
    assert!(
        text.contains("… and") && text.contains("columns: means from n = 10 to n = 300"),
        "{text}"
    );
    assert!(text.contains("bars: means at n = 300"), "{text}");
}

#[test]
fn one_row_of_json_is_enough_for_a_plot() {
    let sandbox = Sandbox::new();
    sandbox.write("grid.toml", GRID);
    let run = sandbox.json(&words("run grid --format none --json -q"));
    let row = &run[0]["summary"][0];
    assert_eq!(
        (&row["n"], &row["k"], &row["mechanism"]),
        (&json!(20), &json!(2), &json!("geometric"))
    );
    assert_eq!((&row["prior"], &row["counts"]), (&json!([1, 1]), &json!([10, 10])));
    assert!(row["epsilon"] == 0.1 && row["delta"].is_null() && row["exact_mean"].is_f64(), "{row}");
    assert_eq!(run[0]["settings"][0]["candidates"], 21);
    assert!(run[0].get("errors").is_none());
    let run = sandbox.json(&words("run grid --format none --json -q --errors"));
    assert_eq!(run[0]["errors"].as_array().map(Vec::len), Some(7 * 3 * 2 * 50));
    assert!(run[0]["errors"][0]["released"].is_array());
}

#[test]
fn tables_are_those_of_the_terminal() {
    let sandbox = Sandbox::new();
    let line = "choose -p 1,1 -n 20 -e 1 -m geometric,ehds+calibrated";
    let latex = sandbox.succeed(&words(&format!("{line} --table latex")));
    assert!(
        latex.starts_with("\\begin{tabular}{lrrrr}\n\\toprule\nmechanism & mean & median"),
        "{latex}"
    );
    let terminal = sandbox.succeed(&words(line));
    for format in ["markdown", "csv"] {
        let table = sandbox.succeed(&words(&format!("{line} --table {format}")));
        let digits = table.lines().find(|row| row.contains("geometric")).unwrap();
        let digits =
            digits.split(['|', ',']).map(str::trim).find(|cell| cell.starts_with("0.")).unwrap();
        assert!(terminal.contains(digits), "{digits} in {terminal}");
    }
    for line in [
        "inspect -p 1,1 -x 5,5 -e 1 -m ehd",
        "audit -p 1,1 -n 8 -e 1 -m ehd",
        "optimum -p 1,1 -n 8 -e 1 -m geometric",
        "claims 3 4 --distance hellinger",
        "run beta_balanced --runs 5 --format none",
    ] {
        let table = sandbox.succeed(&words(&format!("{line} --table markdown")));
        assert!(table.starts_with("| ") && table.contains("| --- |"), "{line}: {table}");
    }
    let wrong = sandbox.dpbi(&words("claims 3 --table latx"));
    assert!(
        wrong.status == 2 && wrong.stderr.contains("did you mean `latex`?"),
        "{}",
        wrong.stderr
    );
}

#[test]
fn mechanisms_are_written_in_one_way() {
    let sandbox = Sandbox::new();
    let own = "{-epsilon * max(d, 1)}+calibrated";
    let setting = ["-p", "1,1", "-e", "1", "--json", "-m"];
    let both = format!("ehds,{own}");
    let inspected = sandbox.json(&[&["inspect", "-x", "4,4"], &setting[..], &[&both]].concat());
    assert_eq!(inspected["mechanisms"][1]["id"], own);
    let audited = sandbox.json(&[&["audit", "-n", "8"], &setting[..], &[own]].concat());
    assert!(audited["mechanism"] == own && audited["factor"].is_f64(), "{audited}");
    let chosen = sandbox.json(&[&["choose", "-n", "8"], &setting[..], &[own]].concat());
    let best = sandbox.json(&[&["optimum", "-n", "8"], &setting[..], &[own]].concat());
    assert_eq!(chosen["mechanisms"][0]["id"], own);
    assert_eq!(best["mechanisms"][0]["mean"], chosen["mechanisms"][0]["mean"]);
    let line = |line: &str| sandbox.dpbi(&words(line));
    refused(&line("audit -p 1,1 -n 8 -e 1 -m {-d"), "has no end");
    refused(&line("audit -p 1,1 -n 8 -e 1 -m {-d}calibrated"), "cannot stand behind");
    refused(&line("audit -p 1,1 -n 8 -e 1 -m {-d}+calibratd"), "did you mean `calibrated`?");
    refused(&line("audit -p 1,1 -n 8 -e 1 -m ehd,ehds"), "an audit is about one mechanism");
    refused(&line("inspect -p 1,1 -n 8 -e 1"), "this is about one data set");
    refused(&line("optimum -p 1,1 -x 8,0 -e 1"), "all data sets of n records");
    let page = sandbox.succeed(&words("mechanisms ehds"));
    assert!(page.contains("S_γ(x)") && page.contains("dpbi inspect"), "{page}");
    refused(&line("mechanisms ehdss"), "did you mean `ehds`?");
}
