//! What comes from strangers: results folders, paths, pipes, ledgers. Each test is an attack, or an
//! accident, that must do no harm.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::common::{Sandbox, UNBROKEN, ended, holds, refused, words};
use crate::fuzz::drawn;
use crate::fuzz::mutate::Corpus;
use lab::run::store::sha256;
use serde_json::{Value, json};
use signal_hook::consts::SIGINT;

const CONFIG: &str = "name = \"v\"\nruns = 3\nprior = [1, 1]\nepsilon = 1\n\
                      mechanisms = [\"lshist\", \"ehds\"]\ndata.balanced.sizes = [4, 6]\n";

const PRECIOUS: &str = "precious\n";

/// Results in `results/v`, and a file of the user's beside.
fn results() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("v.toml", CONFIG).write("precious.csv", PRECIOUS);
    sandbox.succeed(&["run", "v.toml", "--format", "svg"]);
    sandbox
}

fn is_untouched(sandbox: &Sandbox) -> bool {
    sandbox.read("precious.csv") == PRECIOUS.as_bytes()
}

const READERS: [&[&str]; 3] = [
    &["plot", "results/v", "--format", "svg"],
    &["run", "v.toml", "--format", "svg"],
    &["verify", "results/v"],
];

#[test]
fn a_manifest_names_no_file_outside_its_folder() {
    let sandbox = results();
    let sound = sandbox.manifest("results/v");
    let hash = sha256(PRECIOUS.as_bytes());
    let absolute = sandbox.path("precious.csv").display().to_string();
    for name in ["../../precious.csv", &absolute, "..", "/dev/zero"] {
        for (key, names) in [
            ("replacing", json!([name])),
            ("replacing", json!({ name: hash })),
            ("files", json!({ name: hash })),
        ] {
            let mut manifest = sound.clone();
            manifest[key] = names;
            sandbox.forge_manifest("results/v", manifest);
            let before = sandbox.files("results/v");
            for reader in READERS {
                let status = if reader[0] == "verify" { 3 } else { 2 };
                ended(&sandbox.dpbi(reader), status, "manifest.json is damaged: ");
                assert!(is_untouched(&sandbox), "{reader:?}, {key} {name}");
                assert!(sandbox.files("results/v") == before);
            }
        }
    }
    // One without its hash.
    sandbox.write("results/v/manifest.json", &sound.to_string());
    for reader in READERS {
        holds(&sandbox.dpbi(reader).stderr, "its own SHA-256 does not fit");
    }
    sandbox.succeed(&["list", "--results", "results"]);
}

#[test]
fn the_folder_of_a_shard_is_read_with_the_same_care() {
    let sandbox = Sandbox::new();
    sandbox.write("v.toml", CONFIG).write("precious.csv", PRECIOUS);
    for shard in ["1", "2"] {
        let (part, out) = (format!("{shard}/2"), format!("part{shard}"));
        sandbox.succeed(&["run", "v.toml", "--shard", &part, "--out", &out]);
    }
    let sound = sandbox.manifest("part1/v");
    let with = |key: &str, value: Value| {
        let mut manifest = sound.clone();
        manifest[key] = value;
        sandbox.forge_manifest("part1/v", manifest);
        let outcome = sandbox.dpbi(&["merge", "part1", "part2", "--out", "results"]);
        assert_eq!(outcome.status, 2, "{key}: {}", outcome.stderr);
        assert!(is_untouched(&sandbox));
        outcome.stderr
    };
    assert!(with("replacing", json!({ "../../precious.csv": "" })).contains("is damaged"));
    assert!(with("shard", json!({ "index": 1, "count": u64::MAX })).contains("there is no shard"));
    assert!(with("cells", json!([])).contains("but their config makes"));
    sandbox.forge_manifest("part1/v", sound);
    sandbox.succeed(&["merge", "part1", "part2", "--out", "results"]);
}

#[test]
fn nothing_is_written_through_links() {
    for name in [".lock", "unfinished.log", "summary.csv", "summary.csv.changed", "box.svg"] {
        for (target, exists) in [("precious.csv", true), ("made", false)] {
            let sandbox = results();
            let place = sandbox.path("results/v").join(name);
            drop(std::fs::remove_file(&place));
            symlink(sandbox.path(target), &place).unwrap();
            for reader in READERS {
                sandbox.dpbi(reader);
                sandbox.dpbi(&["run", "v.toml", "--fresh", "--format", "none", "--runs", "40"]);
                assert!(is_untouched(&sandbox), "{reader:?}, {name}");
                assert_eq!(sandbox.path(target).exists(), exists, "{reader:?}, {name}");
            }
        }
    }
}

#[test]
fn a_file_of_the_user_s_that_has_our_name_is_kept() {
    let sandbox = results();
    let notes = "my own notes\n";
    for name in ["unfinished.log", ".notes.part", ".dpbi-probe"] {
        sandbox.write(&format!("results/v/{name}"), notes);
    }
    let outcome = sandbox.dpbi(&["run", "v.toml", "--fresh", "--format", "svg"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    for name in ["unfinished.log.changed", ".notes.part", ".dpbi-probe"] {
        assert_eq!(sandbox.read(&format!("results/v/{name}")), notes.as_bytes(), "{name}");
    }
    // A second name of a file elsewhere.
    let log = sandbox.path("results/v/unfinished.log");
    std::fs::hard_link(sandbox.path("precious.csv"), log).unwrap();
    sandbox.dpbi(&["run", "v.toml", "--fresh", "--format", "svg"]);
    assert!(is_untouched(&sandbox));
}

#[test]
fn what_a_manifest_does_not_list_is_not_ours() {
    let sandbox = Sandbox::new();
    sandbox.write("v.toml", CONFIG);
    let notes = "my own notes\n";
    for writer in [
        &["run", "v.toml", "--format", "svg"][..],
        &["plot", "results/v", "--format", "svg"],
        &["run", "v.toml", "--format", "svg", "--fresh"],
    ] {
        drop(std::fs::remove_dir_all(sandbox.path("results")));
        sandbox.succeed(&["run", "v.toml", "--format", "none", "-q"]);
        sandbox.write("results/v/box.svg", notes);
        symlink("box.svg", sandbox.path("results/v/mean.svg")).unwrap();
        sandbox.succeed(writer);
        assert_eq!(sandbox.read("results/v/box.svg.changed"), notes.as_bytes(), "{writer:?}");
        assert!(sandbox.path("results/v/mean.svg.changed").is_symlink(), "{writer:?}");
        assert!(sandbox.read("results/v/box.svg").starts_with(b"<svg"));
        assert!(!sandbox.path("results/v/summary.csv.changed").exists());
    }
    sandbox.write("results/report-icml-fig1.html", notes);
    for _ in 0..2 {
        sandbox.succeed(&["reproduce", "icml/fig1", "--runs", "2", "--format", "none", "-q"]);
        assert_eq!(sandbox.read("results/report-icml-fig1.html.changed"), notes.as_bytes());
        assert!(!sandbox.path("results/report-icml-fig1.html.changed-2").exists());
    }
}

#[test]
fn no_name_of_a_file_is_obeyed_by_a_terminal() {
    let sandbox = Sandbox::new();
    let odd = "\u{1b}[31mred";
    sandbox.write("v.toml", CONFIG);
    for args in [
        &["run", "v.toml", "--format", "svg", "--out", odd][..],
        &["run", "v.toml", "--format", "svg", "--out", odd, "-v"],
        &["plot", &format!("{odd}/v"), "--format", "svg"],
        &["plot", &format!("{odd}/v"), "--page", &format!("{odd}/page.html")],
        &["verify", &format!("{odd}/v")],
        &["check", odd],
        &["merge", odd, "--out", "joined"],
    ] {
        let outcome = sandbox.dpbi(args);
        let all = outcome.stdout + &outcome.stderr;
        assert!(!all.contains('\u{1b}') && all.contains("\\u{1b}[31mred"), "{args:?}: {all}");
    }
}

#[test]
fn a_folder_that_the_user_names_may_be_a_link_and_one_within_may_not() {
    let sandbox = results();
    symlink(sandbox.path("results"), sandbox.path("link")).unwrap();
    symlink(sandbox.path("results/v"), sandbox.path("named")).unwrap();
    sandbox.succeed(&["run", "v.toml", "--out", "link", "--format", "svg"]);
    sandbox.succeed(&["plot", "named", "--format", "svg"]);
    sandbox.succeed(&["verify", "named"]);
    std::fs::create_dir(sandbox.path("others")).unwrap();
    symlink(sandbox.path("results/v"), sandbox.path("others/v")).unwrap();
    refused(&sandbox.dpbi(&["run", "v.toml", "--out", "others"]), "others/v is a link");
}

#[test]
fn a_link_is_not_taken_into_a_page() {
    let sandbox = results();
    std::fs::remove_file(sandbox.path("results/v/box.svg")).unwrap();
    symlink(sandbox.path("precious.csv"), sandbox.path("results/v/box.svg")).unwrap();
    let document = sandbox.json(&["plot", "results/v", "--page", "page.html", "--json"]);
    assert_eq!(document[0]["figures"], json!(["mean.svg"]));
}

/// A pipe that nobody writes to is given up; a device is not read to its end; neither is waited for
/// where a file of ours should be.
#[test]
fn pipes_and_devices_are_not_waited_for() {
    let sandbox = results();
    sandbox.shell("mkfifo pipe");
    refused(&sandbox.dpbi(&["check", "pipe"]), "nobody writes to this pipe");
    let data = CONFIG.replace("data.balanced.sizes = [4, 6]", "data.file.path = \"pipe\"");
    sandbox.write("data.toml", &data);
    refused(&sandbox.dpbi(&["run", "data.toml"]), "nobody writes to this pipe");
    for name in ["summary.csv", "config.toml", "manifest.json", "cells.log", ".lock"] {
        let sandbox = results();
        sandbox.shell(&format!("rm -f results/v/{name}; mkfifo results/v/{name}"));
        for reader in READERS {
            let outcome = sandbox.dpbi(reader);
            assert!((0..=3).contains(&outcome.status), "{reader:?}, {name}: {}", outcome.stderr);
        }
    }
}

/// While a config is read, the first signal ends the process soon. One that was not obeyed would end by
/// itself when the pipe is closed, with a status of its own.
#[test]
fn the_first_signal_ends_any_reading() {
    // A background job of a script ignores SIGINT, and so would its children. One that is handled, in the usual way,
    // is back at its default in a child.
    let usual = Arc::new(AtomicBool::new(true));
    signal_hook::flag::register_conditional_default(SIGINT, usual).unwrap();
    for (name, args) in [("TERM", ["run", "pipe"]), ("INT", ["check", "pipe"])] {
        let sandbox = Sandbox::new();
        sandbox.shell("mkfifo pipe");
        // Somebody who has the pipe open for a while and writes nothing.
        let path = sandbox.path("pipe");
        std::thread::spawn(move || {
            let _pipe = std::fs::OpenOptions::new().write(true).open(path);
            std::thread::sleep(Duration::from_secs(60));
        });
        let mut child = sandbox.start(&args);
        std::thread::sleep(Duration::from_millis(500));
        assert!(child.try_wait().unwrap().is_none(), "it waits");
        let id = child.id().to_string();
        Command::new("kill").args(["-s", name, &id]).status().unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(130));
    }
}

fn run_in(sandbox: &Sandbox, args: &[&OsStr]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dpbi"));
    command.args(args).current_dir(sandbox.path("")).env("COLUMNS", UNBROKEN).output().unwrap()
}

#[test]
fn paths_need_not_be_utf_8() {
    let sandbox = results();
    let odd = OsStr::from_bytes(b"odd-\xff");
    let with = |line: &str, more: &[&OsStr]| {
        let args: Vec<&OsStr> =
            line.split(' ').map(OsStr::new).chain(more.iter().copied()).collect();
        let output = run_in(&sandbox, &args);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{line}: {message}");
        String::from_utf8(output.stdout).unwrap()
    };
    with("run v.toml --format svg --out", &[odd]);
    with("run v.toml --json --format none --out", &[odd]);
    with("optimum --prior 1,1 --n 4 --epsilon 1 --format none --out", &[odd]);
    with("reproduce icml/fig1 --runs 2 --format none --json --out", &[odd]);
    with("run v.toml --shard 1/1 --format none --out", &[OsStr::from_bytes(b"part-\xfe")]);
    with("merge --json --format none --out joined", &[OsStr::from_bytes(b"part-\xfe")]);
    let folder: PathBuf = [odd, OsStr::new("v")].iter().collect();
    for line in ["plot --json --format svg", "verify --json"] {
        let document: Value = serde_json::from_str(&with(line, &[folder.as_os_str()])).unwrap();
        assert_eq!(document[0]["folder"], "odd-\u{fffd}/v");
    }
    let named = run_in(&sandbox, &[OsStr::new("run"), odd]);
    let message = String::from_utf8_lossy(&named.stderr).into_owned();
    assert_eq!(named.status.code(), Some(2));
    assert!(message.contains("is not text in UTF-8") && message.contains("help: "), "{message}");
    with("list --results", &[odd]);
    with("plot --page page.html", &[folder.as_os_str()]);
}

/// Data of six people, and a ledger with five releases of them.
fn ledger() -> (Sandbox, String) {
    let sandbox = Sandbox::new();
    sandbox.write("d.csv", "id,answer\n1,no\n2,yes\n3,yes\n4,no\n5,no\n6,yes\n");
    for (epsilon, budget) in
        [("1", "10"), ("0.5", "10"), ("0.25", "9"), ("2", "8.5"), ("0.75", "12")]
    {
        sandbox.succeed(&with_ledger(epsilon, Some(budget)));
    }
    let text = sandbox.text("l");
    (sandbox, text)
}

fn with_ledger<'a>(epsilon: &'a str, budget: Option<&'a str>) -> Vec<&'a str> {
    let mut args = words("release --data d.csv --column answer --categories no,yes --prior 1,1");
    args.extend(words("--mechanism geometric --ledger l --epsilon"));
    args.push(epsilon);
    args.extend(budget.iter().flat_map(|budget| ["--budget", budget]));
    args
}

#[test]
fn a_release_that_cannot_be_printed_is_shown_with_the_error_and_spent() {
    let (sandbox, text) = ledger();
    for (json, shown) in [("", "released by geometric"), ("--json", "\"released\"")] {
        let command = format!("$DPBI {} {json} > /dev/full", with_ledger("0.1", None).join(" "));
        let outcome = sandbox.shell(&command);
        ended(&outcome, 1, "ε = 0.1 is spent, and the ledger l has its entry");
        assert!(outcome.stderr.contains(shown), "{}", outcome.stderr);
    }
    let after = sandbox.text("l");
    assert!(after.starts_with(&text) && after.lines().count() == text.lines().count() + 2);
}

/// A ledger that is cut at any place, or changed in any way. One that is not refused has left every entry as it
/// was, up to where the file was cut: then what is spent is the sum of the entries that are left, or more.
#[test]
fn no_change_of_a_ledger_makes_room() {
    use service::release::{Amount, Entry, enter};
    let (_, text) = ledger();
    // In memory, where there is such a folder: a disk takes minutes.
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let path = folder.path().join("ledger");
    let entries: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let amount = |entry: &Value, key: &str| entry[key].as_str().unwrap().parse::<Amount>().unwrap();
    let entry = Entry {
        epsilon: "0.001".parse().unwrap(),
        budget: None,
        time: "now".into(),
        data: "d".into(),
        column: "c".into(),
        mechanism: "geometric".into(),
        previous: String::new(),
        delta: None,
        parts: Vec::new(),
    };
    // Where the lines end.
    let ends: Vec<usize> = text.match_indices('\n').map(|(place, _)| place).collect();
    let (mut refused, mut cut, mut same) = (0, 0, 0);
    let mut try_out = |changed: &[u8]| {
        let what = String::from_utf8_lossy(changed);
        std::fs::write(&path, changed).unwrap();
        let Ok(account) = enter(&path, entry.clone(), &|_| ()) else {
            refused += 1;
            assert_eq!(std::fs::read(&path).unwrap(), changed, "{what}");
            return;
        };
        // Whole lines that are left; all of them stand at the beginning.
        let is_left = |end: &usize| changed.get(..*end) == Some(&text.as_bytes()[..*end]);
        let left = ends.iter().take_while(|end| is_left(end)).count();
        let spent: Amount = entries[..left].iter().map(|entry| amount(entry, "epsilon")).sum();
        assert!(account.total >= spent + entry.epsilon, "{what}");
        if let Some(last) = entries[..left].last() {
            let budget = amount(last, "budget");
            assert!(account.budget.is_some_and(|held| held <= budget), "{what}");
        }
        // Nothing may follow but the beginning of an entry that was cut short.
        let whole = if left == 0 { 0 } else { ends[left - 1] + 1 };
        assert!(!changed.get(whole..).unwrap_or_default().contains(&b'\n'), "{what}");
        *(if left == entries.len() { &mut same } else { &mut cut }) += 1;
    };
    (0..text.len()).for_each(|end| try_out(&text.as_bytes()[..end]));
    let corpus = Corpus::new(vec![("ledger".to_owned(), text.clone().into_bytes())], "");
    let changed = drawn(corpus.mutated()).map(|(_, changed)| changed);
    let changed = changed.filter(|changed| changed != text.as_bytes());
    changed.take(20_000).for_each(|changed| try_out(&changed));
    assert!(refused > 18_000 && cut > 0 && same > 0, "{refused} {cut} {same}");
}

#[test]
fn plot_refuses_tables_that_the_manifest_does_not_list() {
    let sandbox = results();
    let mut manifest = sandbox.manifest("results/v");
    manifest["files"].as_object_mut().unwrap().remove("summary.csv");
    sandbox.forge_manifest("results/v", manifest);
    let outcome = sandbox.dpbi(&["plot", "results/v", "--format", "svg"]);
    refused(&outcome, "summary.csv is not in the manifest");
    std::fs::remove_file(sandbox.path("results/v/summary.csv")).unwrap();
    // A table of one's own is no table of dpbi.
    sandbox.write("results/v/notes.csv", "mine\n1\n");
    sandbox.dpbi(&["plot", "results/v", "--format", "svg"]);
    assert_eq!(sandbox.read("results/v/notes.csv"), b"mine\n1\n");
}
