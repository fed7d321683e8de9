//! `dpbi release`, as somebody with data uses it, and as somebody who tries to break it.

use std::io::Write;
use std::time::Duration;

use crate::common::{Outcome, Sandbox, few_or_many, float, holds, refused, words};
use engine::rng;
use serde_json::Value;

/// 30 records: 20 yes, 10 no.
fn survey() -> String {
    let rows = (0..30).map(|i| format!("{i},{}\n", if i % 3 == 0 { "no" } else { "yes" }));
    "id,answer\n".to_owned() + &rows.collect::<String>()
}

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("survey.csv", &survey());
    sandbox
}

const ASKED: &str = "release --column answer --categories no,yes --prior 1,1 --data survey.csv";

/// The words of a release with further flags.
fn asked<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&words(ASKED)[..], more].concat()
}

fn release(sandbox: &Sandbox, more: &[&str]) -> Outcome {
    sandbox.dpbi(&asked(more))
}

fn json(outcome: &Outcome) -> Value {
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    serde_json::from_str(&outcome.stdout).unwrap()
}

#[test]
fn a_release_says_what_it_is_and_not_what_the_data_are() {
    let sandbox = sandbox();
    // With so large an ε the true counts come out, and the posterior is theirs.
    let found = json(&release(&sandbox, &["--epsilon", "500", "--force", "--json"]));
    assert_eq!(found["released"], serde_json::json!([10, 20]));
    assert_eq!(found["n"], 30);
    assert_eq!(found["epsilon"], "500");
    let guarantee = "500-differentially private; a record is one row of the data, and for a person with m rows ε is m \
                     times as large: keep one row of each person, or divide ε by the most rows that a person has";
    assert_eq!(found["guarantee"], guarantee);
    let text = release(&sandbox, &["--epsilon", "0.5"]).stdout;
    for words in ["released by geometric", "0.5-differentially private", "95 %"] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn what_is_unsafe_is_said_before_anything_is_drawn() {
    let sandbox = sandbox();
    let said = |more: &[&str]| release(&sandbox, &[&["--mechanism", "geometric"], more].concat());
    let nobody = "note: nobody counts what is spent";
    assert!(said(&["--epsilon", "1"]).stderr.contains(nobody));
    assert_eq!(said(&["--epsilon", "1", "--ledger", "none"]).stderr, "");
    assert!(!sandbox.path("none").exists());
    assert_eq!(said(&["--epsilon", "1", "--ledger", "l"]).stderr, "");
    let large = said(&["--epsilon", "12", "--ledger", "none"]);
    assert_eq!(large.status, 0);
    holds(&large.stderr, "note: ε = 12 is large");
    refused(&said(&["--epsilon", "31", "--ledger", "m"]), "ε = 31 protects nobody");
    let above = said(&["--epsilon", "30.000000000000000001", "--ledger", "m"]);
    refused(&above, "ε = 30.000000000000000001 protects nobody");
    assert!(!sandbox.path("m").exists());
    refused(&said(&["--epsilon", "1", "--ledger", "none", "--budget", "2"]), "without a ledger");
    // A dry run says what one would learn, and when noise drowns it.
    let dry = |epsilon: &str| said(&["--epsilon", epsilon, "--dry-run", "--json"]);
    let widths = |epsilon: &str| {
        let prospect = json(&dry(epsilon))["prospect"].clone();
        assert_eq!(prospect["category"], "yes");
        (float(&prospect["half_width"]), float(&prospect["without_noise"]))
    };
    let ((narrow, plain), (wide, same)) = (widths("5"), widths("0.05"));
    assert!(plain == same && plain <= narrow && narrow < 1.05 * plain && wide > 2.0 * plain);
    for n in ["9007199254740993", "18446744073709551615"] {
        let dry = said(&["--epsilon", "1", "--dry-run", "--n", n]);
        assert_eq!((dry.status, dry.stdout.as_str()), (2, ""));
        holds(&dry.stderr, "these are more records than dpbi can count");
    }
    let text = said(&["--epsilon", "0.05", "--dry-run"]).stdout;
    assert!(text.contains("The noise is wider than the sampling error"), "{text}");
}

/// What was drawn comes before what it tells, and the last line says how to go on.
#[test]
fn a_release_ends_with_the_command_that_says_more() {
    let sandbox = sandbox();
    let said = |more: &[&str]| {
        let outcome = release(&sandbox, &[&["--epsilon", "1", "--ledger", "none"], more].concat());
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
        outcome.stdout
    };
    let text = said(&["--out", "a.json"]);
    let places = ["released by geometric", "privacy", "share of"].map(|words| text.find(words));
    assert!(places.is_sorted() && places[0].is_some(), "{text}");
    assert!(text.ends_with("More: dpbi posterior a.json\n"), "{text}");
    sandbox.succeed(&["posterior", "a.json"]);
    assert!(
        said(&[]).ends_with("Nothing of this was kept in a file (--out FILE.json does that).\n")
    );
}

#[test]
fn four_mechanisms_release_and_the_nearest_of_them_is_named_for_the_others() {
    let sandbox = Sandbox::new();
    let rows: String = (0..30).map(|i| format!("{}\n", ["a", "b", "c"][i % 3])).collect();
    sandbox.write("d.csv", &format!("answer\n{rows}"));
    let asked =
        "release --data d.csv --column answer --categories a,b,c --prior 1 --epsilon 1 --ledger l";
    let with = |mechanism: &str| {
        sandbox.dpbi(&[&words(asked)[..], &["--mechanism", mechanism, "--json"]].concat())
    };
    for (other, nearest) in [
        ("lszhang", "is geometric-all (of"),
        ("lsdim", "is geometric (of"),
        ("lshist", "is geometric (of"),
        ("hamming", "is tight (of"),
        ("ehds", "is tight (of"),
        ("ehdl+calibrated", "is tight (of"),
        ("mh-beta", "is geometric (of"),
        ("gaussian", "is geometric (of"),
        ("lattice+remap", "is lattice (of"),
        ("geometrc", "did you mean `geometric`?"),
    ] {
        refused(&with(other), nearest);
    }
    assert!(!sandbox.path("l").exists());
    for id in ["geometric", "geometric-all", "tight", "lattice"] {
        assert_eq!(json(&with(id))["mechanism"], id);
    }
    // What rounding of the weights costs is part of ε.
    let words = json(&with("tight"))["guarantee"].as_str().unwrap().to_owned();
    assert!(
        words.starts_with("1-differentially private (") && words.contains(" for rounding); "),
        "{words}"
    );
}

#[test]
fn bad_requests_are_refused_before_the_data_are_read() {
    let sandbox = Sandbox::new();
    let with = |more: &[&str]| release(&sandbox, more);
    for epsilon in ["0", "-1", "x", "1e-30", "nan", "1e9", ""] {
        refused(&with(&["--epsilon", epsilon]), "--epsilon");
    }
    refused(&with(&["--epsilon", "1", "--seed", "3"]), "--seed");
    refused(&with(&["--epsilon", "1", "--other", "yess"]), "did you mean `yes`?");
    refused(&with(&["--epsilon", "1", "--ledger", "l", "--budget", "0"]), "--budget");
    refused(&with(&["--epsilon", "1", "--budget", "1"]), "--ledger");
    refused(&with(&["--epsilon", "1"]), "cannot read the data survey.csv");
    let swapped = |flag: &str, value: &str| {
        let mut args: Vec<&str> = words(ASKED);
        let place = args.iter().position(|arg| *arg == flag).unwrap();
        args[place + 1] = value;
        sandbox.dpbi(&[&args[..], &["--epsilon", "1"]].concat())
    };
    refused(&swapped("--prior", "1,1,1"), "3 numbers for 2 categories");
    refused(&swapped("--prior", "1,0"), "--prior");
    refused(&swapped("--prior", "1,1e13"), "outweighs any data");
    refused(&swapped("--categories", "yes,"), "a category has no name");
    refused(&swapped("--categories", "yes"), "at least two categories");
    refused(&swapped("--categories", "yes,no,yes"), "`yes` occurs twice");
    let none =
        sandbox.dpbi(&["release", "--data", "survey.csv", "--column", "answer", "--prior", "1,1"]);
    refused(&none, "--categories");
}

#[test]
fn categories_are_declared_and_what_is_left_goes_to_other() {
    let sandbox = Sandbox::new();
    sandbox.write("d.csv", "kind\na\nb\nzebra\nb\n\"x\ny\"\nb\n").write("c.txt", "a\nb\n\nrest\n");
    let asked = |more: &[&str]| {
        let common = ["release", "--data", "d.csv", "--column", "kind", "--prior", "1,1,1"];
        sandbox.dpbi(&[&common[..], &["--epsilon", "900", "--force", "--json"], more].concat())
    };
    let outcome = asked(&["--categories-from", "c.txt"]);
    refused(&outcome, "this record belongs to none of the categories\n  --> d.csv:4");
    assert!(!outcome.stderr.contains("zebra"), "{}", outcome.stderr);
    let found = json(&asked(&["--categories-from", "c.txt", "--other", "rest"]));
    assert_eq!(found["released"], serde_json::json!([1, 3, 2]));
}

#[test]
fn large_or_hostile_files_give_the_right_result_or_one_clear_error() {
    let sandbox = Sandbox::new();
    let write = |bytes: &[u8]| std::fs::write(sandbox.path("survey.csv"), bytes).unwrap();
    let released = || release(&sandbox, &["--epsilon", "900", "--force", "--json"]);
    write(&[b"id,answer\n".as_slice(), &vec![b'x'; 5_000_000], b",yes\n2,no\n3,yes\n"].concat());
    assert_eq!(json(&released())["released"], serde_json::json!([1, 2]));
    write(&[b"id,answer\n1,yes\n2,\"".as_slice(), &vec![b's'; 3_000_000]].concat());
    let outcome = released();
    refused(&outcome, "this quote is never closed\n  --> survey.csv:3");
    assert!(outcome.stderr.len() < 600);
    std::fs::remove_file(sandbox.path("survey.csv")).unwrap();
    std::fs::create_dir(sandbox.path("survey.csv")).unwrap();
    refused(&released(), "it is a folder");
}

#[cfg(unix)]
#[test]
fn a_ledger_that_is_replaced_while_one_waits_is_the_new_one() {
    let sandbox = sandbox();
    let flags = ["--epsilon", "1", "--mechanism", "geometric", "--ledger", "l", "--budget", "2"];
    json(&release(&sandbox, &[&flags[..], &["--json"]].concat()));
    let held = std::fs::File::open(sandbox.path("l")).unwrap();
    held.lock().unwrap();
    let waiting = sandbox.start(&asked(&[&flags[..], &["--json"]].concat()));
    std::thread::sleep(Duration::from_millis(300));
    std::fs::copy(sandbox.path("l"), sandbox.path("new")).unwrap();
    std::fs::rename(sandbox.path("new"), sandbox.path("l")).unwrap();
    held.unlock().unwrap();
    let found = json(&waiting.wait_with_output().unwrap().into());
    assert_eq!(found["mechanism"], "geometric");
    assert_eq!(sandbox.entries("l").len(), 2);
    refused(&release(&sandbox, &flags), "the budget does not suffice");
}

#[cfg(unix)]
#[test]
fn a_pipe_is_read_and_one_that_nobody_writes_to_is_not_waited_for_forever() {
    let sandbox = Sandbox::new();
    assert_eq!(sandbox.shell("mkfifo survey.csv").status, 0);
    let child = sandbox.start(&asked(&["--epsilon", "900", "--force", "--json"]));
    let mut pipe =
        std::fs::OpenOptions::new().write(true).open(sandbox.path("survey.csv")).unwrap();
    pipe.write_all(survey().as_bytes()).unwrap();
    drop(pipe);
    let found = json(&child.wait_with_output().unwrap().into());
    assert_eq!(found["released"], serde_json::json!([10, 20]));
    refused(&release(&sandbox, &["--epsilon", "1"]), "nobody writes to this pipe");
}

#[test]
fn twenty_at_once_with_a_budget_for_ten() {
    let sandbox = sandbox();
    let flags = words("--epsilon 0.1 --mechanism geometric --ledger l --budget 1 --json");
    let children: Vec<_> = (0..20).map(|_| sandbox.start(&asked(&flags))).collect();
    let outcomes: Vec<Outcome> =
        children.into_iter().map(|child| child.wait_with_output().unwrap().into()).collect();
    let (done, not): (Vec<_>, Vec<_>) = outcomes.iter().partition(|outcome| outcome.status == 0);
    assert_eq!((done.len(), not.len()), (10, 10));
    not.iter().for_each(|outcome| refused(outcome, "the budget does not suffice"));
    let entries = sandbox.entries("l");
    assert_eq!(entries.len(), 10);
    assert!(entries.iter().all(|entry| entry["epsilon"] == "0.1" && entry["budget"] == "1"));
    let hash = lab::run::store::sha256(survey().as_bytes());
    assert!(entries.iter().all(|entry| entry["data"] == hash.as_str()));
}

/// Eight processes and one file: one of them pays.
#[test]
fn one_file_is_paid_for_once() {
    let sandbox = sandbox();
    let flags = ["--epsilon", "1", "--mechanism", "geometric", "--ledger", "l", "--out", "a.json"];
    let children: Vec<_> = (0..8).map(|_| sandbox.start(&asked(&flags))).collect();
    let outcomes: Vec<Outcome> =
        children.into_iter().map(|child| child.wait_with_output().unwrap().into()).collect();
    let (done, not): (Vec<_>, Vec<_>) = outcomes.iter().partition(|outcome| outcome.status == 0);
    assert_eq!((done.len(), not.len()), (1, 7));
    not.iter().for_each(|outcome| refused(outcome, "--out: a.json "));
    assert_eq!(sandbox.entries("l").len(), 1);
    sandbox.succeed(&["posterior", "a.json", "--ledger", "l"]);
    // A release that is refused leaves no file, and an empty one of a killed process is no hindrance.
    let none = ["--epsilon", "1", "--ledger", "l", "--budget", "1", "--out", "b.json"];
    let none = [&none[..], &["--mechanism", "geometric"]].concat();
    refused(&release(&sandbox, &none), "the budget does not suffice");
    assert!(!sandbox.path("b.json").exists());
    refused(&sandbox.write("b.json", "").dpbi(&["posterior", "b.json"]), "b.json is empty");
    assert_eq!(release(&sandbox, &[&flags[..7], &["b.json"]].concat()).status, 0);
    sandbox.succeed(&["posterior", "b.json", "--ledger", "l"]);
}

#[cfg(unix)]
#[test]
fn a_release_that_nobody_would_see_is_not_paid_for() {
    let sandbox = sandbox();
    let flags = "--epsilon 1 --mechanism geometric --ledger l";
    let typed = format!("$DPBI {ASKED} {flags}");
    for lost in [">&-", "> /dev/null", "--json >&-"] {
        refused(&sandbox.shell(&format!("{typed} {lost}")), "nobody would see the release");
    }
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_dpbi"));
    child.args(asked(&words(flags)));
    let outcome: Outcome =
        child.current_dir(sandbox.path("")).stdout(writer).output().unwrap().into();
    refused(&outcome, "the reader has gone away");
    assert!(!sandbox.path("l").exists());
    // With a file it is not lost.
    let kept = sandbox.shell(&format!("{typed} --out a.json > /dev/null"));
    assert_eq!((kept.status, sandbox.entries("l").len()), (0, 1), "{}", kept.stderr);
    sandbox.succeed(&["posterior", "a.json"]);
    let full = sandbox.shell(&format!("{typed} --out b.json > /dev/full"));
    assert_eq!(full.status, 1);
    holds(&full.stderr, "The release stands in b.json, and here");
}

#[test]
fn nothing_is_written_in_place_of_what_is_read() {
    let sandbox = sandbox();
    for name in ["d.svg", "c.svg"] {
        std::fs::copy(sandbox.path("survey.csv"), sandbox.path(name)).unwrap();
    }
    sandbox.write("c.svg", "no\nyes\n");
    std::fs::hard_link(sandbox.path("d.svg"), sandbox.path("hard.svg")).unwrap();
    let flags =
        "release --column answer --categories-from c.svg --prior 1 --data d.svg --epsilon 1";
    let flags = format!("{flags} --mechanism geometric");
    let with = |more: &str| {
        let line = format!("{flags} {more}");
        sandbox.dpbi(&words(&line))
    };
    refused(&with("--out d.svg"), "exists already");
    refused(&with("--ledger f.svg --out f.svg"), "f.svg is the ledger");
    assert!(!sandbox.path("f.svg").exists());
    assert_eq!(with("--ledger l.svg --out a.svg").status, 0);
    assert_eq!(with("--ledger l.svg --out b.svg").status, 0);
    let before = sandbox.files("");
    refused(&sandbox.dpbi(&["posterior", "a.svg", "--figure", "a.svg"]), "a.svg is a release");
    let joined = ["posterior", "a.svg", "b.svg", "--ledger", "l.svg", "--figure"];
    refused(&sandbox.dpbi(&[&joined[..], &["l.svg"]].concat()), "l.svg is the ledger");
    refused(&sandbox.dpbi(&[&joined[..], &["b.svg"]].concat()), "b.svg is a release");
    refused(&sandbox.dpbi(&["account", "l.svg", "--pld", "l.svg"]), "l.svg is the ledger");
    let output = sandbox.shell("$DPBI account l.svg --pld p.json > p.json");
    refused(&output, "p.json is where the output goes");
    sandbox.shell("rm p.json");
    assert_eq!(sandbox.files(""), before);
}

#[test]
fn what_a_terminal_would_obey_is_written_out_and_json_stays_json() {
    let sandbox = Sandbox::new();
    sandbox.write("d.csv", "k\na\u{202e}b\nc\n").write("c.txt", "a\u{202e}b\nc\n");
    let asked = ["release", "--data", "d.csv", "--column", "k", "--categories-from", "c.txt"];
    let more = ["--prior", "1", "--epsilon", "1", "--mechanism", "geometric"];
    let text = sandbox.succeed(&[&asked[..], &more].concat());
    assert!(text.contains("a\\u{202e}b") && !text.contains('\u{202e}'), "{text}");
    let text = sandbox.succeed(&[&asked[..], &more, &["--json"]].concat());
    assert!(text.contains("a\\u202eb"), "{text}");
    let found: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(found["columns"][0]["categories"][0], "a\u{202e}b");
    refused(&sandbox.dpbi(&["posterior", "\u{202e}.json"]), "\\u{202e}.json");
}

/// Releases are killed at a random moment, when the ledger has changed, or at the first byte shown.
#[test]
fn whatever_is_shown_has_been_entered_before() {
    let sandbox = sandbox();
    let flags = ["--epsilon", "1", "--mechanism", "geometric", "--ledger", "l", "--json"];
    let mut chance = rng::stream(7, "kills");
    let rounds = few_or_many(8, 20);
    let (mut shown, mut hidden) = (0, 0);
    for round in 0..3 * rounds {
        let before = sandbox.entries("l").len();
        let asked = asked(&flags);
        let output = sandbox.killed(&asked, (round, 20_000), "l", &mut chance);
        let after = sandbox.entries("l").len();
        assert!(after == before || after == before + 1);
        match output.is_empty() {
            true => hidden += 1,
            false => {
                assert_eq!(after, before + 1, "{}", String::from_utf8_lossy(&output));
                shown += 1;
            }
        }
    }
    assert!(shown >= rounds && hidden > 0, "{shown} were shown, {hidden} were not");
    // A ledger that went through all this still works.
    json(&release(&sandbox, &flags));
    assert_eq!(sandbox.json(&["account", "l", "--json"])["releases"], sandbox.entries("l").len());
}

#[test]
fn a_ledger_that_cannot_be_trusted_stops_everything() {
    let sandbox = sandbox();
    let flags = ["--epsilon", "1", "--ledger", "l"];
    sandbox.write("l", "{\"time\":\"now\"}\n");
    refused(&release(&sandbox, &flags), "the ledger is damaged");
    sandbox.write("notes", "notes of mine, without a line end");
    refused(&release(&sandbox, &["--epsilon", "1", "--ledger", "notes"]), "damaged");
    assert_eq!(sandbox.read("notes"), b"notes of mine, without a line end");
    refused(&release(&sandbox, &["--epsilon", "1", "--ledger", "survey.csv"]), "is the data");
    assert_eq!(sandbox.read("survey.csv"), survey().into_bytes());
    refused(
        &release(&sandbox, &["--epsilon", "1", "--ledger", "no/such/folder"]),
        "no/such/folder",
    );
    refused(&release(&sandbox, &["--epsilon", "1", "--ledger", "."]), "it is not a file");
}

#[test]
fn white_space_around_a_mechanism_does_not_reach_the_ledger() {
    let sandbox = sandbox();
    let typed = ["--mechanism", " lattice \n", "--ledger", "l", "--json"];
    let found = json(&release(&sandbox, &[&["--epsilon", "1"], &typed[..]].concat()));
    assert_eq!(found["mechanism"], "lattice");
    assert_eq!(sandbox.entries("l")[0]["mechanism"], "lattice");
}

/// A column of as many records, all in the first of k categories, and the flags that release it.
fn uniform(sandbox: &Sandbox, prior: &str, records: usize) -> Vec<String> {
    let k = prior.split(',').count();
    let names: Vec<String> = (0..k).map(|i| format!("c{i}")).collect();
    sandbox.write("c.txt", &names.join("\n"));
    sandbox.write("d.csv", &("kind\n".to_owned() + &"c0\n".repeat(records)));
    let flags = ["release", "--data", "d.csv", "--column", "kind", "--categories-from", "c.txt"];
    let more = ["--prior", prior, "--epsilon", "1", "--ledger", "l"];
    flags.iter().chain(&more).map(|&flag| flag.to_owned()).collect()
}

#[test]
fn what_takes_too_long_is_refused_before_the_ledger_is_touched() {
    let sandbox = Sandbox::new();
    let with = |flags: &[String], more: &[&str]| {
        let flags: Vec<&str> =
            flags.iter().map(String::as_str).chain(more.iter().copied()).collect();
        sandbox.dpbi(&flags)
    };
    let few = uniform(&sandbox, "1,2,3,4,5,6", 300);
    refused(&with(&few, &["--mechanism", "tight"]), "the weights of `tight` for 300 records");
    let different: Vec<String> = (1..=5_000).map(|i| i.to_string()).collect();
    let many = uniform(&sandbox, &different.join(","), 50);
    refused(&with(&many, &["--mechanism", "tight"]), "for at most 12 categories, not for 5000");
    assert!(!sandbox.path("l").exists());
    let found = json(&with(&many, &["--json"]));
    assert_eq!(found["mechanism"], "lattice");
    assert_eq!(found["released"].as_array().unwrap().len(), 5_000);
    assert_eq!(sandbox.entries("l").len(), 1);
    if cfg!(unix) {
        let endless = "release --data d.csv --column kind --categories-from /dev/zero --prior 1,1";
        refused(&sandbox.dpbi(&words(&format!("{endless} --epsilon 1"))), "larger");
    }
}
