//! Runs that are killed, interrupted, or lose their disk: what is finished is kept, and the files
//! are those of an undisturbed run.

use std::collections::BTreeMap;
use std::process::Child;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::common::{Outcome, Sandbox, ended, few_or_many, holds, refused, words};
use engine::rng;

/// 50 settings, 10 mechanisms, 500 cells: some seconds of work.
const SWEEP: &str = r#"
name = "sweep"
seed = 3
runs = 1000
prior = [[1, 1, 1], [2, 1, 0.5]]
epsilon = [0.2, 0.5, 1.0, 2.0, 5.0]
delta = 1e-6
mechanisms = ["lszhang", "lsdim", "lshist", "ehd", "ehdl", "ehds", "mh-gamma", "mh-beta", "geometric", "hamming"]
[data.balanced]
sizes = [180, 200, 220, 240, 260]
proportions = [0.5, 0.3, 0.2]
"#;

/// 6 cells, a moment's work.
const SMALL: &str = r#"
name = "small"
runs = 300
prior = [1, 1]
epsilon = [0.5, 1.0]
mechanisms = ["lshist", "ehds", "geometric"]
[data.balanced]
sizes = [40]
"#;

fn small() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("small.toml", SMALL).succeed(&["run", "small.toml", "--format", "svg"]);
    sandbox
}

type Files = BTreeMap<String, Vec<u8>>;

/// The files of a run of the sweep that nothing disturbs.
fn undisturbed() -> &'static Files {
    static FILES: OnceLock<Files> = OnceLock::new();
    FILES.get_or_init(|| {
        let sandbox = Sandbox::new();
        let run = ["run", "sweep.toml", "--format", "svg", "-q"];
        sandbox.write("sweep.toml", SWEEP).succeed(&run);
        let manifest = sandbox.manifest("results/sweep");
        assert_eq!(manifest["cells"].as_array().unwrap().len(), 500);
        sandbox.files("results/sweep")
    })
}

/// Those of a run without figures.
fn undisturbed_tables() -> Files {
    let tables = undisturbed().iter().filter(|(name, _)| !name.ends_with(".svg"));
    tables.map(|(name, bytes)| (name.clone(), bytes.clone())).collect()
}

/// How long the log of the sweep's cells is before the sweep is finished, in bytes.
fn unfinished(sandbox: &Sandbox) -> u64 {
    let log = sandbox.path("results/sweep/unfinished.log");
    std::fs::metadata(log).map_or(0, |log| log.len())
}

/// Starts a run of the sweep on one thread and waits until it has written more cells; `None` if it has
/// ended before.
fn try_start_and_wait(sandbox: &Sandbox, args: &[&str]) -> Option<Child> {
    let before = unfinished(sandbox);
    let mut child = sandbox.start(&[args, &["--threads", "1"]].concat());
    // A cell has 12 kB, the head of the log less than 1 kB.
    while unfinished(sandbox) < before + 10_000 {
        if child.try_wait().unwrap().is_some() {
            return None;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    Some(child)
}

/// The same, for a sweep that was not begun before.
fn start_and_wait(sandbox: &Sandbox, args: &[&str]) -> Child {
    let child = try_start_and_wait(sandbox, args);
    child.expect("the sweep must be so large that it can be interrupted")
}

fn signal(child: &Child, signal: &str) {
    let sent = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(sent.unwrap().success());
}

/// Kills a run of the sweep. How many cells it had said to keep of an earlier one.
fn kill(mut child: Child) -> u64 {
    child.kill().unwrap();
    let told = end(child).stderr;
    let Some((start, _)) = told.split_once(" of 500 cells are kept") else {
        return if told.contains("all 500 cells are kept") { 500 } else { 0 };
    };
    start.rsplit(' ').next().unwrap().parse().unwrap()
}

fn end(child: Child) -> Outcome {
    child.wait_with_output().unwrap().into()
}

/// A run is killed before anything is on the disk, again and again when more cells are, and while it
/// writes its tables.
#[test]
fn killed_again_and_again_the_same_command_continues_to_the_same_bytes() {
    let (expected, killed) = (undisturbed(), Sandbox::new());
    let run = ["run", "sweep.toml", "--format", "svg"];
    killed.write("sweep.toml", SWEEP);
    assert_eq!(kill(killed.start(&run)), 0);
    let mut moments = rng::stream(1, "moments");
    let (mut kills, mut ends, mut kept) = (0, 0, None);
    while kills < few_or_many(3, 9) {
        let Some(child) = try_start_and_wait(&killed, &run) else {
            // It was done before: the files are right, and it begins again.
            assert!(killed.files("results/sweep") == *expected);
            std::fs::remove_dir_all(killed.path("results")).unwrap();
            (ends, kept) = (ends + 1, None);
            assert!(ends <= kills + 1, "the sweep must be larger: {kills} runs were killed");
            continue;
        };
        std::thread::sleep(Duration::from_secs_f64(0.1 * rng::uniform(&mut moments)));
        let more = Some(kill(child));
        assert!(more > kept, "{more:?} cells were kept, and {kept:?} before");
        (kills, kept) = (kills + 1, more);
    }
    let mut child = killed.start(&run);
    while child.try_wait().unwrap().is_none() {
        if killed.path("results/sweep/errors.csv").exists() {
            break;
        }
        std::thread::sleep(Duration::from_micros(100));
    }
    let more = Some(kill(child));
    assert!(more > kept, "{more:?} cells were kept, and {kept:?} before");
    let again = killed.dpbi(&run);
    holds(&again.stderr, " cells are kept from an earlier run");
    assert!(killed.files("results/sweep") == *expected);
    assert_eq!(killed.manifest("results/sweep")["complete"], true);
}

#[test]
fn an_interrupted_run_says_how_to_continue() {
    let sandbox = Sandbox::new();
    let run = ["run", "sweep.toml", "--format", "none"];
    for ask in ["-INT", "-TERM"] {
        sandbox.write("sweep.toml", SWEEP).shell("rm -rf results");
        let child = start_and_wait(&sandbox, &run);
        // As `timeout` does: to the process, and to its group.
        signal(&child, ask);
        signal(&child, ask);
        let outcome = end(child);
        ended(&outcome, 130, "interrupted:  … of 500 cells are kept in results/sweep");
        holds(&outcome.stderr, "the same command continues");
        assert_eq!(sandbox.manifest("results/sweep")["complete"], false);
    }
    let again = sandbox.dpbi(&run);
    holds(&again.stderr, "of 500 cells are kept from an earlier run");
    assert!(sandbox.files("results/sweep") == undisturbed_tables());
    // A cell of many seconds is given up at once.
    let (small, large) = ("balanced]\nsizes = [40]", "counts]\ncounts = [9000, 5400, 4200, 1800]");
    let slow = SMALL.replace("[1, 1]", "[1, 1, 1, 1]").replace(small, large);
    let mut child =
        sandbox.write("slow.toml", &slow).start(&["run", "slow.toml", "--threads", "1"]);
    // The manifest is written, and then the cell is begun.
    while !sandbox.path("results/small/manifest.json").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it was interrupted");
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(interrupted(child).status, 130);
}

/// Signals a process, which must end soon.
fn interrupted(child: Child) -> Outcome {
    signal(&child, "-INT");
    let asked = Instant::now();
    let outcome = end(child);
    // Half a second, and as much again for a busy machine.
    assert!(asked.elapsed() < Duration::from_secs(1), "{:?}", asked.elapsed());
    holds(&outcome.stderr, "interrupted: ");
    outcome
}

/// Work of one setting that takes many seconds: laws, pairs of data sets, weights, programs and flows. Nothing is
/// written.
#[test]
fn commands_of_one_setting_end_at_the_first_signal() {
    let sandbox = Sandbox::new();
    for command in [
        "inspect -p 1,1,1,1 -x 9000,5400,4200,1800 -e 1 -m ehds",
        "audit -p 1,1,1 -n 700 -e 1 -m ehds",
        "audit -p 1,1,1 -n 200 -e 1 -m ehds+calibrated",
        "choose -p 1,1,1 -n 250 -e 1 -m ehd",
        "optimum -p 1,1,1 -n 60 -e 0.1 -m tight --out results",
        "optimum -p 1,1,1 -n 43 -e 0.2 -m tight --certificate proof.json",
    ] {
        let args: Vec<&str> = command.split(' ').collect();
        let child = sandbox.start(&args);
        std::thread::sleep(Duration::from_millis(1200));
        let outcome = interrupted(child);
        assert_eq!(outcome.status, 130, "{command}: {}", outcome.stderr);
        assert!(!sandbox.path("proof.json").exists());
    }
}

#[test]
fn a_fresh_run_that_was_interrupted_is_continued_without_what_it_replaces() {
    let sandbox = Sandbox::new();
    let run = ["run", "sweep.toml", "--format", "none"];
    sandbox.write("sweep.toml", SWEEP).succeed(&run);
    let child = start_and_wait(&sandbox, &[&run[..], &["--fresh"]].concat());
    signal(&child, "-INT");
    let outcome = end(child);
    assert_eq!(outcome.status, 130, "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("500 of 500"), "{}", outcome.stderr);
    let how = "the same command without --fresh continues";
    assert!(outcome.stderr.contains(how), "{}", outcome.stderr);
    // What it was to replace is still there, whole.
    assert_eq!(sandbox.manifest("results/sweep")["complete"], true);
    let again = sandbox.dpbi(&run);
    assert!(!again.stderr.contains("all 500 cells"), "{}", again.stderr);
    holds(&again.stderr, "of 500 cells are kept");
    assert!(sandbox.files("results/sweep") == undisturbed_tables());
}

/// A short run of the same name in between does not cost what a long one has finished.
#[test]
fn another_run_leaves_the_cells_of_an_unfinished_one() {
    let sandbox = Sandbox::new();
    let run = ["run", "sweep.toml", "--format", "none"];
    sandbox.write("sweep.toml", SWEEP);
    let child = start_and_wait(&sandbox, &run);
    signal(&child, "-INT");
    assert_eq!(end(child).status, 130);
    let short = sandbox.dpbi(&[&run[..], &["--runs", "10"]].concat());
    ended(&short, 0, "results/sweep/unfinished.log holds ");
    holds(&sandbox.dpbi(&run).stderr, "of 500 cells are kept");
    assert!(!sandbox.files("results/sweep").contains_key("unfinished.log"));
}

/// Runs a config as `small.toml`, which must succeed. Whatever is kept on the way, the bytes are those of a fresh
/// run. What was said.
fn run_again(sandbox: &Sandbox, config: &str, more: &str) -> String {
    let args = [words("run small.toml --format svg"), words(more)].concat();
    let outcome = sandbox.write("small.toml", config).dpbi(&args);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let fresh = Sandbox::new();
    fresh.write("small.toml", config).succeed(&args);
    assert!(sandbox.files("results/small") == fresh.files("results/small"), "{more} {config}");
    outcome.stderr
}

#[test]
fn a_changed_config_keeps_what_is_the_same() {
    let sandbox = small();
    let wide = SMALL.replace("[0.5, 1.0]", "[0.1, 0.5, 1.0, 2.0]").replace("[40]", "[10, 40, 41]");
    let other = wide.replace("\"lshist\", ", "\"ehd\", \"lshist\", ");
    let fewer = SMALL.replace("\"ehds\", ", "");
    let whiskers = SMALL.replace("runs = 300", "runs = 300\nwhiskers = \"range\"");
    for (config, more, words) in [
        (SMALL, "", "all 6 cells are kept from an earlier run (--fresh"),
        // Settings in front change all numbers, but no other cell.
        (&other, "", "6 of 48 cells are kept from an earlier run; the config has changed"),
        (
            &fewer,
            "-v",
            "all 4 cells are kept … small, n = 40, ε = 0.5: lshist: kept, since everything",
        ),
        (&whiskers, "", "4 of 6 cells are kept"),
        (SMALL, "--runs 1200 -v", "nothing of an earlier run can be kept: the config has changed"),
        (SMALL, "--runs 2500", "6 of 18 cells are kept"),
        (
            SMALL,
            "--runs 2500 --seed 9 -v",
            "can be kept: the seed was 0, and is 9 … lshist, block 2",
        ),
        (SMALL, "--runs 300", "nothing of an earlier run can be kept"),
        (SMALL, "--runs 300 --fresh -v", "computed, since --fresh"),
    ] {
        holds(&run_again(&sandbox, config, more), words);
    }
}

/// No cell depends on what else is computed beside it: mechanisms that reach far beyond the others,
/// where tables end, must change no bit.
#[test]
fn a_mechanism_added_changes_no_bit_of_the_others() {
    let mechanisms =
        ["lszhang", "lsdim", "lshist", "ehd", "ehdl", "ehds", "mh-gamma", "geometric", "hamming"];
    for (prior, counts, epsilon) in [
        ("[1, 1]", "[4000, 4000]", "[0.006, 1]"),
        ("[0.5, 2, 1]", "[120, 80, 200]", "[0.008, 0.5]"),
    ] {
        let config = |mechanisms: &[&str]| {
            format!(
                "name = \"small\"\nruns = 400\nprior = {prior}\nepsilon = {epsilon}\n\
                 mechanisms = {mechanisms:?}\n[data.counts]\ncounts = {counts}\n"
            )
        };
        let sandbox = Sandbox::new();
        let run = ["run", "small.toml", "--format", "none"];
        // One after the other, each with those before: every one is computed with all later ones
        // missing, and the last run puts them together.
        for some in 1..=mechanisms.len() {
            let added = [&mechanisms[some - 1..], &mechanisms[..some - 1]].concat();
            sandbox.write("small.toml", &config(&added[..1.max(some - 1)])).succeed(&run);
        }
        holds(&run_again(&sandbox, &config(&mechanisms), ""), "cells are kept");
    }
}

#[test]
fn other_kinds_are_kept_case_by_case() {
    let config = |sizes: &str| {
        format!(
            "name = \"small\"\nprior = [1, 1]\nepsilon = 1\ndata.balanced.sizes = {sizes}\n\
             mechanisms = [\"lshist\", {{ id = \"ehdl\", calibrated = true }}]\n\
             [[panel]]\nid = \"p\"\nkind = \"privacy\"\n[[panel]]\nid = \"m\"\nkind = \"phase\"\n\
             epsilon = [0.5, 1]\n[[panel]]\nid = \"t\"\nkind = \"theory\"\n"
        )
    };
    let sandbox = Sandbox::new();
    run_again(&sandbox, &config("[6, 9]"), "");
    holds(&run_again(&sandbox, &config("[5, 6, 9]"), ""), "8 of 12 cells are kept");
}

#[test]
fn files_that_were_changed_are_noticed_and_nothing_is_lost() {
    let sandbox = small();
    let sound = sandbox.files("results/small");
    let again = || sandbox.dpbi(&["run", "small.toml", "--format", "svg", "-v"]);
    let path = |name: &str| sandbox.path(&format!("results/small/{name}"));
    for name in ["errors.csv", "summary.csv", "box.svg", "config.toml", "cells.log"] {
        let bytes = &sound[name];
        std::fs::write(path(name), &bytes[..bytes.len() / 2]).unwrap();
        let note = format!("results/small/{name} is not as it was written");
        ended(&again(), 0, &note);
        // What was cut off is part of the new file: nothing of it has to be kept.
        assert!(sandbox.files("results/small") == sound, "{name}");
        std::fs::remove_file(path(name)).unwrap();
        holds(&again().stderr, &format!("{name} is gone"));
        assert!(sandbox.files("results/small") == sound, "{name}");
    }
    // A line of the user's, and a byte of a cell: only that is computed again.
    let edited = [&sound["summary.csv"][..], b"my own line\n"].concat();
    std::fs::write(path("summary.csv"), &edited).unwrap();
    let mut log = sound["cells.log"].clone();
    let middle = log.len() / 2;
    log[middle] ^= 1;
    std::fs::write(path("cells.log"), &log).unwrap();
    let said = again().stderr;
    holds(&said, "what was changed is kept as results/small/summary.csv.changed");
    holds(&said, "1 damaged cell in results/small is computed again … 5 of 6 cells are kept");
    holds(&said, "since its record is damaged");
    let mut found = sandbox.files("results/small");
    assert!(found.remove("summary.csv.changed") == Some(edited));
    assert!(found.remove("cells.log.changed") == Some(log));
    assert!(found == sound);
}

#[test]
fn foreign_folders_are_refused_and_left_as_they_are() {
    for (file, text) in [
        ("thesis.tex", "precious"),
        ("manifest.json", "{ \"name\": \"small\", \"files\": {} }"),
        ("manifest.json", "not even JSON"),
        ("manifest.json", "{ \"dpbi\": \"0.1.0\", \"name\": \"other\" }"),
    ] {
        let sandbox = Sandbox::new();
        std::fs::create_dir_all(sandbox.path("results/small")).unwrap();
        sandbox.write("small.toml", SMALL).write(&format!("results/small/{file}"), text);
        for line in ["run small.toml", "run small.toml --fresh"] {
            refused(&sandbox.dpbi(&words(line)), "manifest");
        }
        assert_eq!(sandbox.read(&format!("results/small/{file}")), text.as_bytes());
        assert_eq!(std::fs::read_dir(sandbox.path("results/small")).unwrap().count(), 1);
    }
}

#[test]
fn a_manifest_that_was_lost_does_not_cost_the_cells() {
    let sandbox = small();
    let sound = sandbox.files("results/small");
    let run = ["run", "small.toml", "--format", "svg"];
    sandbox.write("results/small/manifest.json", "{ \"dpbi\": \"0.1");
    refused(&sandbox.dpbi(&run), "manifest.json is damaged");
    assert!(sandbox.files("results/small") == sound);
    // As the message says.
    std::fs::remove_file(sandbox.path("results/small/manifest.json")).unwrap();
    let edited = [&sound["summary.csv"][..], b"my own line\n"].concat();
    std::fs::write(sandbox.path("results/small/summary.csv"), &edited).unwrap();
    holds(&sandbox.dpbi(&run).stderr, "has no manifest … all 6 cells are kept");
    let mut found = sandbox.files("results/small");
    assert!(found.remove("summary.csv.changed") == Some(edited) && found == sound);
    assert_eq!(sandbox.manifest("results/small")["complete"], true);
}

#[test]
fn a_disk_that_fails_leaves_what_was_there() {
    let sandbox = small();
    let sound = sandbox.files("results/small");
    // No file may be longer than 20 kB: `errors.csv` of 1000 runs would be.
    let limited = "ulimit -f 20; $DPBI run small.toml --format none --runs 1000";
    let outcome = sandbox.shell(limited);
    ended(&outcome, 1, "cannot write results/small/");
    assert_eq!(outcome.stderr.matches("error:").count(), 1, "{}", outcome.stderr);
    let mut found = sandbox.files("results/small");
    found.remove("unfinished.log");
    assert!(found == sound);
    assert_eq!(sandbox.manifest("results/small")["complete"], true);
    sandbox.succeed(&["run", "small.toml", "--format", "none", "--runs", "1000"]);
    assert!(!sandbox.files("results/small").contains_key("unfinished.log"));
}

/// Only root can make a disk.
#[test]
fn a_full_disk_keeps_the_finished_cells() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", SWEEP);
    let mount = "mkdir disk && mount -t tmpfs -o size=4m none disk 2> /dev/null";
    if sandbox.shell(mount).status != 0 {
        eprintln!("skipped: no disk can be mounted here");
        return;
    }
    let outcome = sandbox.shell("$DPBI run sweep.toml --format none --out disk --threads 1");
    let room = "mount -o remount,size=200m disk";
    let again = sandbox.shell(&format!("{room} && $DPBI run sweep.toml --format none --out disk"));
    let found = sandbox.files("disk/sweep");
    assert_eq!(sandbox.shell("umount disk").status, 0);
    ended(
        &outcome,
        1,
        "No space left on device … help: make room:  … of 500 cells are kept in disk/sweep",
    );
    assert!(!outcome.stderr.contains(" 0 of 500"), "{}", outcome.stderr);
    holds(&again.stderr, "cells are kept from an earlier run");
    assert!(found == undisturbed_tables());
}

#[test]
fn a_folder_that_cannot_be_written_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("small.toml", SMALL).write("file", "");
    for out in ["/proc/dpbi", "file"] {
        let outcome = sandbox.dpbi(&["run", "small.toml", "--out", out]);
        refused(&outcome, &format!("cannot write to the results folder {out}/small … with --out"));
    }
}

#[test]
fn one_cell_that_fails_stops_no_other() {
    let sandbox = small();
    let sound = sandbox.files("results/small");
    sandbox.shell("rm -r results");
    let outcome = sandbox.shell("DPBI_FAULT=ehds@2 $DPBI run small.toml --format svg");
    ended(&outcome, 1, "failed: small, n = 40, ε = 1: ehds: ");
    holds(&outcome.stderr, "error: 1 cell failed; see failures.csv");
    let failures = sandbox.text("results/small/failures.csv");
    holds(&failures, "2,ehds,1,1;1,20;20,1.0,,1.0,a fault was asked for");
    let manifest = sandbox.manifest("results/small");
    assert_eq!((&manifest["complete"], &manifest["failures"]), (&false.into(), &1.into()));
    assert_eq!(sandbox.text("results/small/summary.csv").lines().count(), 1 + 5);
    // What failed is tried again, and only that.
    holds(&run_again(&sandbox, SMALL, ""), "5 of 6 cells are kept");
    assert!(sandbox.files("results/small") == sound);
    // Without γ in the mechanism both settings share the cell.
    let shared = SMALL.replace("epsilon = [0.5, 1.0]", "epsilon = 1\ngamma = [0.5, 1.0]");
    sandbox.write("small.toml", &shared);
    let fault = "DPBI_FAULT=lshist@1 $DPBI run small.toml --format none --fresh";
    holds(&sandbox.shell(fault).stderr, "error: 2 cells failed");
    holds(&sandbox.text("results/small/failures.csv"), "\n1,lshist,1, … \n2,lshist,1,");
}

#[test]
fn two_at_a_time_in_one_folder_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", SWEEP);
    let child = start_and_wait(&sandbox, &["run", "sweep.toml", "--format", "none"]);
    let second = sandbox.dpbi(&["run", "sweep.toml", "--format", "none"]);
    kill(child);
    refused(&second, "another dpbi is at work in results/sweep");
}

#[test]
fn the_manifest_says_where_everything_comes_from() {
    let sandbox = small();
    let manifest = sandbox.manifest("results/small");
    for key in ["dpbi", "commit", "rustc", "platform", "started", "ended"] {
        assert!(manifest[key].as_str().is_some_and(|text| !text.is_empty()), "{key}");
    }
    assert_eq!(manifest["command"][1], "run");
    assert_eq!(manifest["config"]["epsilon"], serde_json::json!([0.5, 1.0]));
    let cells = manifest["cells"].as_array().unwrap();
    assert!(cells.len() == 6 && cells.iter().all(|cell| cell[3].as_f64().unwrap() > 0.0));
    let files = manifest["files"].as_object().unwrap();
    assert!(files.keys().eq(sandbox.files("results/small").keys()));
}
