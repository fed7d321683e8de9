//! Runs that are killed, interrupted, or lose their disk: what is finished is kept, and the files
//! are those of an undisturbed run.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::process::Child;
use std::sync::OnceLock;
use std::time::Duration;

use crate::common::{Outcome, Sandbox, few_or_many};
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

/// Starts a run of the sweep on one thread and waits until it has brought more cells to the disk, which
/// takes a second on any machine; `None` if it has ended before.
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
    assert!(again.stderr.contains(" cells are kept from an earlier run"), "{}", again.stderr);
    assert!(killed.files("results/sweep") == *expected);
    assert_eq!(killed.manifest("results/sweep")["complete"], true);
}

#[test]
fn an_interrupted_run_says_how_to_continue_and_a_second_signal_ends_it_at_once() {
    let sandbox = Sandbox::new();
    let run = ["run", "sweep.toml", "--format", "none"];
    for ask in ["-INT", "-TERM"] {
        sandbox.write("sweep.toml", SWEEP).shell("rm -rf results");
        let child = start_and_wait(&sandbox, &run);
        // As `timeout` does: to the process, and to its group.
        signal(&child, ask);
        signal(&child, ask);
        let outcome = end(child);
        assert_eq!(outcome.status, 130, "{}", outcome.stderr);
        assert!(outcome.stderr.contains("interrupted: "), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("of 500 cells are kept in results/sweep"));
        assert!(outcome.stderr.contains("the same command continues"));
        assert_eq!(sandbox.manifest("results/sweep")["complete"], false);
    }
    let again = sandbox.dpbi(&run);
    assert!(again.stderr.contains("of 500 cells are kept from an earlier run"), "{}", again.stderr);
    assert!(sandbox.files("results/sweep") == undisturbed_tables());
    // A cell of many seconds: the second comes before the first can be obeyed.
    let slow = SMALL.replace("[1, 1]", "[1, 1, 1, 1]").replace(
        "[data.balanced]\nsizes = [40]",
        "[data.counts]\ncounts = [9000, 5400, 4200, 1800]",
    );
    let mut child =
        sandbox.write("slow.toml", &slow).start(&["run", "slow.toml", "--threads", "1"]);
    let mut told = BufReader::new(child.stderr.take().unwrap());
    // The manifest is written when it has begun to listen, and then the cell is begun.
    while !sandbox.path("results/small/manifest.json").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it was interrupted");
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(500));
    signal(&child, "-INT");
    let mut line = String::new();
    while !line.contains("once more to stop at once") {
        line.clear();
        assert!(told.read_line(&mut line).unwrap() > 0, "it ended at the first signal");
    }
    signal(&child, "-INT");
    let mut outcome = end(child);
    told.read_to_string(&mut outcome.stderr).unwrap();
    assert_eq!(outcome.status, 130);
    assert!(!outcome.stderr.contains("interrupted:"), "{}", outcome.stderr);
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
    assert!(again.stderr.contains("of 500 cells are kept"), "{}", again.stderr);
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
    assert_eq!(short.status, 0, "{}", short.stderr);
    let note = "results/sweep/unfinished.log holds ";
    assert!(short.stderr.contains(note), "{}", short.stderr);
    let again = sandbox.dpbi(&run);
    assert!(again.stderr.contains("of 500 cells are kept"), "{}", again.stderr);
    assert!(!sandbox.files("results/sweep").contains_key("unfinished.log"));
}

#[test]
fn a_changed_config_keeps_what_is_the_same() {
    let sandbox = small();
    let told = |change: &str, to: &str, args: &[&str]| {
        sandbox.write("small.toml", &SMALL.replace(change, to));
        let all = ["run", "small.toml", "--format", "none"];
        let outcome = sandbox.dpbi(&[&all[..], args].concat());
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
        outcome.stderr
    };
    let same = told("", "", &[]);
    assert!(same.contains("all 6 cells are kept from an earlier run (--fresh"), "{same}");
    // A setting in front changes all numbers, but no other cell.
    let more = told("[0.5, 1.0]", "[0.1, 0.5, 1.0]", &[]);
    assert!(more.contains("6 of 9 cells are kept from an earlier run; the config has changed"));
    let less = told("\"ehds\", ", "", &["-v"]);
    assert!(less.contains("all 4 cells are kept"), "{less}");
    assert!(less.contains("small, n = 40, ε = 0.5: lshist: kept, since everything"), "{less}");
    let whiskers = told("runs = 300", "runs = 300\nwhiskers = \"range\"", &[]);
    assert!(whiskers.contains("4 of 6 cells are kept"), "{whiskers}");
    let runs = told("", "", &["--runs", "1200", "-v"]);
    assert!(runs.contains("nothing of an earlier run can be kept: the config has changed"));
    let longer = told("", "", &["--runs", "2500"]);
    assert!(longer.contains("6 of 18 cells are kept"), "{longer}");
    let seed = told("", "", &["--runs", "2500", "--seed", "9", "-v"]);
    assert!(seed.contains("nothing of an earlier run can be kept: the seed was 0, and is 9"));
    assert!(seed.contains("lshist, block 2: computed, since the seed was 0, and is 9"), "{seed}");
    // Whatever was kept on the way, the bytes are those of a fresh run.
    let last = told("", "", &["--runs", "300"]);
    assert!(last.contains("nothing of an earlier run can be kept"), "{last}");
    let kept = sandbox.files("results/small");
    let fresh = told("", "", &["--runs", "300", "--fresh", "-v"]);
    assert!(fresh.contains("computed, since --fresh"), "{fresh}");
    assert!(sandbox.files("results/small") == kept);
}

/// The sweep of a changed config, cell for cell as if it had been computed at once.
#[test]
fn what_is_kept_and_what_is_new_make_the_bytes_of_one_run() {
    let (sandbox, fresh) = (small(), Sandbox::new());
    let changed = SMALL
        .replace("[0.5, 1.0]", "[0.1, 0.5, 1.0, 2.0]")
        .replace("\"lshist\", ", "\"ehd\", \"lshist\", ")
        .replace("sizes = [40]", "sizes = [10, 40, 41]");
    let run = ["run", "small.toml", "--format", "svg"];
    let outcome = sandbox.write("small.toml", &changed).dpbi(&run);
    assert!(outcome.stderr.contains("6 of 48 cells are kept"), "{}", outcome.stderr);
    fresh.write("small.toml", &changed).succeed(&run);
    assert!(sandbox.files("results/small") == fresh.files("results/small"));
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
                "name = \"m\"\nruns = 400\nprior = {prior}\nepsilon = {epsilon}\n\
                 mechanisms = {mechanisms:?}\n[data.counts]\ncounts = {counts}\n"
            )
        };
        let (sandbox, fresh) = (Sandbox::new(), Sandbox::new());
        let run = ["run", "m.toml", "--format", "none"];
        // One after the other, each with those before: every one is computed with all later ones
        // missing, and the last run puts them together.
        for some in 1..=mechanisms.len() {
            let added = [&mechanisms[some - 1..], &mechanisms[..some - 1]].concat();
            sandbox.write("m.toml", &config(&added[..1.max(some - 1)])).succeed(&run);
        }
        let last = sandbox.write("m.toml", &config(&mechanisms)).dpbi(&run);
        assert!(last.stderr.contains("cells are kept"), "{}", last.stderr);
        fresh.write("m.toml", &config(&mechanisms)).succeed(&run);
        assert!(sandbox.files("results/m") == fresh.files("results/m"), "{prior}");
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
    let (sandbox, fresh) = (Sandbox::new(), Sandbox::new());
    let run = ["run", "small.toml", "--format", "svg"];
    sandbox.write("small.toml", &config("[6, 9]")).succeed(&run);
    let outcome = sandbox.write("small.toml", &config("[5, 6, 9]")).dpbi(&run);
    assert!(outcome.stderr.contains("8 of 12 cells are kept"), "{}", outcome.stderr);
    fresh.write("small.toml", &config("[5, 6, 9]")).succeed(&run);
    assert!(sandbox.files("results/small") == fresh.files("results/small"));
}

#[test]
fn files_that_were_changed_are_noticed_and_nothing_is_lost() {
    let sandbox = small();
    let sound = sandbox.files("results/small");
    let again = || sandbox.dpbi(&["run", "small.toml", "--format", "svg"]);
    let path = |name: &str| sandbox.path(&format!("results/small/{name}"));
    for name in ["errors.csv", "summary.csv", "box.svg", "config.toml", "cells.log"] {
        let bytes = &sound[name];
        std::fs::write(path(name), &bytes[..bytes.len() / 2]).unwrap();
        let outcome = again();
        assert_eq!(outcome.status, 0);
        let note = format!("results/small/{name} is not as it was written");
        assert_eq!(outcome.stderr.matches(&note).count(), 1, "{name}: {}", outcome.stderr);
        // What was cut off is part of the new file: nothing of it has to be kept.
        assert!(sandbox.files("results/small") == sound, "{name}");
        std::fs::remove_file(path(name)).unwrap();
        assert!(again().stderr.contains(&format!("{name} is gone")), "{name}");
        assert!(sandbox.files("results/small") == sound, "{name}");
    }
    let edited = [&sound["summary.csv"][..], b"my own line\n"].concat();
    std::fs::write(path("summary.csv"), &edited).unwrap();
    let outcome = again();
    assert!(outcome.stderr.contains("summary.csv is not as it was written"));
    assert!(
        outcome.stderr.contains("what was changed is kept as results/small/summary.csv.changed")
    );
    assert!(sandbox.read("results/small/summary.csv.changed") == edited);
    assert!(sandbox.read("results/small/summary.csv") == sound["summary.csv"]);
}

#[test]
fn a_damaged_cell_is_computed_again_and_no_other() {
    let sandbox = small();
    let sound = sandbox.files("results/small");
    let mut log = sound["cells.log"].clone();
    let middle = log.len() / 2;
    log[middle] ^= 1;
    std::fs::write(sandbox.path("results/small/cells.log"), log).unwrap();
    let outcome = sandbox.dpbi(&["run", "small.toml", "--format", "svg", "-v"]);
    assert!(
        outcome.stderr.contains("1 damaged cell in results/small is computed again"),
        "{}",
        outcome.stderr
    );
    assert!(outcome.stderr.contains("5 of 6 cells are kept"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("since its record is damaged"), "{}", outcome.stderr);
    let mut found = sandbox.files("results/small");
    found.remove("cells.log.changed");
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
        for args in [&["run", "small.toml"][..], &["run", "small.toml", "--fresh"]] {
            let outcome = sandbox.dpbi(args);
            assert_eq!(outcome.status, 2, "{text}: {}", outcome.stderr);
            assert!(outcome.stderr.contains("manifest"), "{text}: {}", outcome.stderr);
            assert!(outcome.stderr.contains("help: "), "{text}: {}", outcome.stderr);
        }
        assert_eq!(sandbox.read(&format!("results/small/{file}")), text.as_bytes());
        assert_eq!(std::fs::read_dir(sandbox.path("results/small")).unwrap().count(), 1);
    }
}

#[test]
fn a_manifest_that_was_lost_does_not_cost_the_cells() {
    let sandbox = small();
    let sound = sandbox.files("results/small");
    let edited = [&sound["summary.csv"][..], b"my own line\n"].concat();
    std::fs::write(sandbox.path("results/small/summary.csv"), &edited).unwrap();
    let changed = sandbox.files("results/small");
    sandbox.write("results/small/manifest.json", "{ \"dpbi\": \"0.1");
    let outcome = sandbox.dpbi(&["run", "small.toml", "--format", "svg"]);
    assert_eq!(outcome.status, 2, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("manifest.json is damaged"), "{}", outcome.stderr);
    assert!(sandbox.files("results/small") == changed);
    // As the message says.
    std::fs::remove_file(sandbox.path("results/small/manifest.json")).unwrap();
    let outcome = sandbox.dpbi(&["run", "small.toml", "--format", "svg"]);
    assert!(outcome.stderr.contains("has no manifest"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("all 6 cells are kept"), "{}", outcome.stderr);
    let mut found = sandbox.files("results/small");
    assert!(found.remove("summary.csv.changed") == Some(edited));
    assert!(found == sound);
    assert_eq!(sandbox.manifest("results/small")["complete"], true);
}

#[test]
fn a_disk_that_fails_leaves_what_was_there() {
    let sandbox = small();
    let sound = sandbox.files("results/small");
    // No file may be longer than 20 kB: `errors.csv` of 1000 runs would be.
    let limited = "ulimit -f 20; $DPBI run small.toml --format none --runs 1000";
    let outcome = sandbox.shell(limited);
    assert_eq!(outcome.status, 1, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("cannot write results/small/"), "{}", outcome.stderr);
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
    assert_eq!(outcome.status, 1, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("No space left on device"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("help: make room: "), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("of 500 cells are kept in disk/sweep"), "{}", outcome.stderr);
    assert!(!outcome.stderr.contains(" 0 of 500"), "{}", outcome.stderr);
    assert!(again.stderr.contains("cells are kept from an earlier run"), "{}", again.stderr);
    assert!(found == undisturbed_tables());
}

#[test]
fn a_folder_that_cannot_be_written_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("small.toml", SMALL).write("file", "");
    for out in ["/proc/dpbi", "file"] {
        let outcome = sandbox.dpbi(&["run", "small.toml", "--out", out]);
        assert_eq!(outcome.status, 2, "{}", outcome.stderr);
        let message = format!("cannot write to the results folder {out}/small");
        assert!(outcome.stderr.contains(&message), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("help: choose another folder with --out"));
    }
}

#[test]
fn one_cell_that_fails_stops_no_other() {
    let sandbox = small();
    let sound = sandbox.files("results/small");
    sandbox.shell("rm -r results");
    let fail =
        |cell: &str| sandbox.shell(&format!("DPBI_FAULT={cell} $DPBI run small.toml --format svg"));
    let outcome = fail("ehds@2");
    assert_eq!(outcome.status, 1);
    assert!(outcome.stderr.contains("failed: small, n = 40, ε = 1: ehds: "), "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("error: 1 cell failed; see failures.csv"),
        "{}",
        outcome.stderr
    );
    let failures = sandbox.text("results/small/failures.csv");
    assert!(failures.contains("2,ehds,1,1;1,20;20,1.0,,1.0,a fault was asked for"), "{failures}");
    let manifest = sandbox.manifest("results/small");
    assert_eq!((&manifest["complete"], &manifest["failures"]), (&false.into(), &1.into()));
    let summary = sandbox.text("results/small/summary.csv");
    assert_eq!(summary.lines().count(), 1 + 5);
    // What failed is tried again, and only that.
    let outcome = sandbox.dpbi(&["run", "small.toml", "--format", "svg"]);
    assert!(outcome.stderr.contains("5 of 6 cells are kept"), "{}", outcome.stderr);
    assert!(sandbox.files("results/small") == sound);
}

/// Without γ in the mechanism both settings share the cell.
#[test]
fn settings_that_share_a_failed_cell_are_both_named() {
    let sandbox = Sandbox::new();
    let shared = SMALL.replace("epsilon = [0.5, 1.0]", "epsilon = 1\ngamma = [0.5, 1.0]");
    sandbox.write("small.toml", &shared);
    let outcome = sandbox.shell("DPBI_FAULT=lshist@1 $DPBI run small.toml --format none");
    assert!(outcome.stderr.contains("error: 2 cells failed"), "{}", outcome.stderr);
    let failures = sandbox.text("results/small/failures.csv");
    assert!(failures.contains("\n1,lshist,1,") && failures.contains("\n2,lshist,1,"), "{failures}");
}

#[test]
fn two_at_a_time_in_one_folder_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("sweep.toml", SWEEP);
    let mut child = start_and_wait(&sandbox, &["run", "sweep.toml", "--format", "none"]);
    let second = sandbox.dpbi(&["run", "sweep.toml", "--format", "none"]);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(second.status, 2, "{}", second.stderr);
    assert!(second.stderr.contains("another dpbi is at work in results/sweep"));
}

#[test]
fn the_manifest_says_where_everything_comes_from() {
    let sandbox = small();
    let manifest = sandbox.manifest("results/small");
    for key in ["dpbi", "commit", "rustc", "platform", "started", "ended"] {
        assert!(manifest[key].as_str().is_some_and(|text| !text.is_empty()), "{key}");
    }
    assert!(manifest["rustc"].as_str().unwrap().starts_with("rustc 1."));
    assert_eq!(manifest["command"][1], "run");
    assert_eq!(manifest["config"]["epsilon"], serde_json::json!([0.5, 1.0]));
    let cells = manifest["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 6);
    assert!(cells.iter().all(|cell| cell[3].as_f64().unwrap() > 0.0));
    let files = manifest["files"].as_object().unwrap();
    let found = sandbox.files("results/small");
    assert_eq!(files.keys().collect::<Vec<_>>(), found.keys().collect::<Vec<_>>());
}
