//! What comes from strangers: results folders, paths, pipes, ledgers. Each test is an attack, or an
//! accident, that must do no harm.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use crate::common::{Sandbox, UNBROKEN};
use engine::rng::{self, Stream, uniform_below};
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
                let outcome = sandbox.dpbi(reader);
                let status = if reader[0] == "verify" { 3 } else { 2 };
                assert_eq!(outcome.status, status, "{key} {name}: {}", outcome.stderr);
                assert!(
                    outcome.stderr.contains("manifest.json is damaged: "),
                    "{}",
                    outcome.stderr
                );
                assert!(is_untouched(&sandbox), "{reader:?}, {key} {name}");
                assert!(sandbox.files("results/v") == before);
            }
        }
    }
}

#[test]
fn a_manifest_without_its_hash_is_damaged() {
    let sandbox = results();
    let mut manifest = sandbox.manifest("results/v");
    manifest["seed"] = json!(7);
    sandbox.write("results/v/manifest.json", &manifest.to_string());
    for reader in READERS {
        let outcome = sandbox.dpbi(reader);
        assert!([2, 3].contains(&outcome.status), "{reader:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("its own SHA-256 does not fit"), "{}", outcome.stderr);
    }
    let list = sandbox.write("none", "").dpbi(&["list", "--results", "results"]);
    assert_eq!(list.status, 0);
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
    let names = [
        ".dpbi-probe",
        ".lock",
        "unfinished.log",
        ".summary.csv.part",
        ".manifest.json.part",
        "summary.csv",
        "summary.csv.changed",
        "cells.log",
        "box.svg",
    ];
    for name in names {
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

/// A forger who computes all hashes again.
#[test]
fn verify_makes_everything_again() {
    let forged = |change: &dyn Fn(&Sandbox, &mut Value)| {
        let sandbox = results();
        let mut manifest = sandbox.manifest("results/v");
        change(&sandbox, &mut manifest);
        sandbox.forge_manifest("results/v", manifest);
        let outcome = sandbox.dpbi(&["verify", "results/v", "--cells", "1000"]);
        assert_eq!(outcome.status, 3, "{}", outcome.stdout);
        outcome.stdout
    };
    let write = |sandbox: &Sandbox, manifest: &mut Value, file: &str, text: &str| {
        sandbox.write(&format!("results/v/{file}"), text);
        manifest["files"][file] = sha256(text.as_bytes()).into();
    };
    let found = forged(&|sandbox, manifest| write(sandbox, manifest, "box.svg", "<svg/>"));
    assert!(found.contains("box.svg is not what the tables give"), "{found}");
    let found = forged(&|sandbox, manifest| write(sandbox, manifest, "theory.csv", "setting\n1\n"));
    assert!(found.contains("theory.csv is not a file of this experiment"), "{found}");
    let found = forged(&|sandbox, manifest| {
        write(sandbox, manifest, "summary.csv", "setting\n1\n");
        manifest["shard"] = json!({ "index": 1, "count": 1 });
    });
    assert!(found.contains("summary.csv is not a file of this experiment"), "{found}");
    let found = forged(&|sandbox, manifest| {
        for file in ["config.toml", "cells.log"] {
            std::fs::remove_file(sandbox.path("results/v").join(file)).unwrap();
            manifest["files"].as_object_mut().unwrap().remove(file);
        }
    });
    assert!(found.contains("config.toml is not in the manifest"), "{found}");
    // The optimum has neither config nor cells.
    let sandbox = Sandbox::new();
    sandbox.succeed(&["optimum", "--prior", "1,1", "--n", "4", "--epsilon", "1", "--out", "o"]);
    sandbox.succeed(&["verify", "o/optimum"]);
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
    let outcome = sandbox.dpbi(&["run", "v.toml", "--out", "others"]);
    assert_eq!(outcome.status, 2);
    assert!(outcome.stderr.contains("others/v is a link"), "{}", outcome.stderr);
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
    let data = CONFIG.replace("data.balanced.sizes = [4, 6]", "data.file.path = \"pipe\"");
    sandbox.write("data.toml", &data);
    for args in [&["check", "pipe"][..], &["run", "pipe"], &["run", "data.toml"]] {
        let outcome = sandbox.dpbi(args);
        assert_eq!(outcome.status, 2, "{args:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("nobody writes to this pipe"), "{}", outcome.stderr);
    }
    sandbox.write("data.toml", &data.replace("pipe", "/dev/zero"));
    assert!(sandbox.dpbi(&["run", "data.toml"]).stderr.contains("more than 64 MB"));
    for name in ["summary.csv", "config.toml", "manifest.json", "cells.log", ".lock"] {
        let sandbox = results();
        drop(std::fs::remove_file(sandbox.path("results/v").join(name)));
        sandbox.shell(&format!("mkfifo results/v/{name}"));
        for reader in READERS {
            let outcome = sandbox.dpbi(reader);
            assert!((0..=3).contains(&outcome.status), "{reader:?}, {name}: {}", outcome.stderr);
        }
    }
}

/// While a config is read, the first signal ends the process. One that was not obeyed would end by
/// itself when the pipe is closed, with a status of its own.
#[test]
fn the_first_signal_ends_any_reading() {
    // A background job of a script ignores SIGINT, and so would its children. One that is handled, in the usual way,
    // is back at its default in a child.
    let usual = Arc::new(AtomicBool::new(true));
    signal_hook::flag::register_conditional_default(SIGINT, usual).unwrap();
    for (name, number, args) in [("TERM", 15, ["run", "pipe"]), ("INT", 2, ["check", "pipe"])] {
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
        assert_eq!(child.wait().unwrap().signal(), Some(number));
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
    let mut args =
        vec!["release", "--data", "d.csv", "--column", "answer", "--categories", "no,yes"];
    args.extend([
        "--prior",
        "1,1",
        "--mechanism",
        "geometric",
        "--ledger",
        "l",
        "--epsilon",
        epsilon,
    ]);
    args.extend(budget.iter().flat_map(|budget| ["--budget", budget]));
    args
}

#[test]
fn a_release_that_cannot_be_printed_is_shown_with_the_error_and_spent() {
    let (sandbox, text) = ledger();
    for (json, shown) in [("", "released by geometric"), ("--json", "\"released\"")] {
        let command = format!("$DPBI {} {json} > /dev/full", with_ledger("0.1", None).join(" "));
        let outcome = sandbox.shell(&command);
        assert_eq!(outcome.status, 1, "{}", outcome.stderr);
        assert!(outcome.stderr.contains("ε = 0.1 is spent, and the ledger l has its entry"));
        assert!(outcome.stderr.contains(shown), "{}", outcome.stderr);
    }
    let after = sandbox.text("l");
    assert!(after.starts_with(&text) && after.lines().count() == text.lines().count() + 2);
}

/// What becomes of a ledger in somebody's editor, on a bad disk, or in a merge.
fn mutated(text: &[u8], chance: &mut Stream) -> Vec<u8> {
    let mut bytes = text.to_vec();
    let mut below = |bound: usize| uniform_below(bound.max(1) as u64, chance) as usize;
    for _ in 0..[1, 1, 1, 2, 3, 8][below(6)] {
        let place = below(bytes.len());
        match below(9) {
            0..=3 => bytes[place] = b"0123456789.\"{},:\n ex"[below(20)],
            4 => bytes[place] ^= 1 << below(8),
            5 => drop(bytes.remove(place)),
            6 => bytes.insert(place, b"0123456789.\n"[below(12)]),
            7 => {
                // Two lines change places, or one is doubled or lost.
                let mut lines: Vec<&[u8]> = bytes.split_inclusive(|&byte| byte == b'\n').collect();
                let (one, other) = (below(lines.len()), below(lines.len()));
                match below(3) {
                    0 => lines.swap(one, other),
                    1 => lines.insert(one, lines[other]),
                    _ => drop(lines.remove(one)),
                }
                bytes = lines.concat();
            }
            _ => {
                // A number of one line stands in another.
                let digits: Vec<usize> =
                    (0..bytes.len()).filter(|&i| bytes[i].is_ascii_digit()).collect();
                if let [first, ..] = digits[..] {
                    bytes.swap(digits[below(digits.len())], digits[below(digits.len())].max(first));
                }
            }
        }
        if bytes.is_empty() {
            return bytes;
        }
    }
    bytes
}

/// Fifty thousand changes of a ledger. One that is not refused has left every entry as it was, up to
/// where the file was cut: then what is spent is the sum of the entries that are left, or more.
#[test]
fn no_change_of_a_ledger_makes_room() {
    use service::release::{Amount, Entry, enter};
    let (_, text) = ledger();
    // In memory, where there is such a folder: a disk takes minutes.
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let path = folder.path().join("ledger");
    let entries: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let amount = |text: &str| text.parse::<Amount>().unwrap();
    let of = |entry: &Value, key: &str| amount(entry[key].as_str().unwrap());
    let entry = Entry {
        epsilon: amount("0.001"),
        budget: None,
        time: "now".into(),
        data: "d".into(),
        column: "c".into(),
        mechanism: "geometric".into(),
        previous: String::new(),
        delta: None,
        parts: Vec::new(),
    };
    let mut chance = rng::stream(5, "ledger");
    let (mut refused, mut cut, mut same) = (0, 0, 0);
    for trial in 0..50_000 {
        let changed = mutated(text.as_bytes(), &mut chance);
        std::fs::write(&path, &changed).unwrap();
        let Ok(account) = enter(&path, entry.clone(), &|_| ()) else {
            refused += 1;
            assert_eq!(std::fs::read(&path).unwrap(), changed, "trial {trial}");
            continue;
        };
        // Whole lines that are left; all of them stand at the beginning.
        let left = text.split_inclusive('\n').scan(0, |end, line| {
            *end += line.len();
            Some(*end)
        });
        let left = left.filter(|&end| changed.get(..end - 1) == Some(&text.as_bytes()[..end - 1]));
        let left = left.count();
        let spent: Amount = entries[..left].iter().map(|entry| of(entry, "epsilon")).sum();
        assert!(account.total >= spent + entry.epsilon, "trial {trial}");
        if let Some(last) = entries[..left].last() {
            let budget = of(last, "budget");
            assert!(account.budget.is_some_and(|held| held <= budget), "trial {trial}");
        }
        // Nothing may follow but the beginning of an entry that was cut short.
        let whole: usize = text.split_inclusive('\n').take(left).map(str::len).sum();
        let rest = changed.get(whole..).unwrap_or_default();
        assert!(!rest.contains(&b'\n'), "trial {trial}: {}", String::from_utf8_lossy(rest));
        match left == entries.len() {
            true => same += 1,
            false => cut += 1,
        }
    }
    println!("{refused} refused, {cut} cut short, {same} the same but for the last line end");
    assert!(refused > 45_000 && cut > 0 && same > 0, "{refused} {cut} {same}");
}

#[test]
fn plot_refuses_tables_that_the_manifest_does_not_list() {
    let sandbox = results();
    let mut manifest = sandbox.manifest("results/v");
    manifest["files"].as_object_mut().unwrap().remove("summary.csv");
    sandbox.forge_manifest("results/v", manifest);
    let outcome = sandbox.dpbi(&["plot", "results/v", "--format", "svg"]);
    assert_eq!(outcome.status, 2, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("summary.csv is not in the manifest"), "{}", outcome.stderr);
    std::fs::remove_file(sandbox.path("results/v/summary.csv")).unwrap();
    // A table of one's own is no table of dpbi.
    sandbox.write("results/v/notes.csv", "mine\n1\n");
    sandbox.dpbi(&["plot", "results/v", "--format", "svg"]);
    assert_eq!(sandbox.read("results/v/notes.csv"), b"mine\n1\n");
}
