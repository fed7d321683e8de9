//! `dpbi generate schema COMMAND`: what commands print with `--json` fits it. [`Sandbox::dpbi`] looks at every document
//! of every test.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};

use crate::common::{Sandbox, command_line, holds};
use crate::schema::complaints;

/// The schema of the documents of a command.
fn schema(command: &str) -> Value {
    static KNOWN: Mutex<BTreeMap<String, Value>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let read = || Sandbox::new().json(&["generate", "schema", command]);
    known.entry(command.to_owned()).or_insert_with(read).clone()
}

/// Whether a document fits the schema of its command.
pub fn check(command: &str, document: &Value) {
    let schema = schema(command);
    let wrong = complaints(&schema, document, &schema);
    assert!(wrong.is_empty(), "dpbi {command} --json: {:#?}", &wrong[..wrong.len().min(5)]);
}

/// The commands that have `--json`.
fn with_json() -> Vec<String> {
    let dpbi = command_line();
    let prints = |command: &&clap::Command| {
        command.get_arguments().any(|argument| argument.get_id() == "json")
    };
    dpbi.get_subcommands().filter(prints).map(|command| command.get_name().to_owned()).collect()
}

const TRIAL: &str = "arm,answer\nA,yes\nA,no\nB,yes\nB,yes\nB,no\nA,no\n";

const RELEASE: &str = "release --data trial.csv --by arm --column answer --categories arm=A,B \
    --categories answer=no,yes --prior 1 --epsilon 1 --json --ledger trial.ledger --budget 9";

/// Commands that print every part of their documents.
const COMMANDS: &[&str] = &[
    "run icml/fig4 --runs 5 --format svg --out results --json --errors",
    "run arxiv/fig4 --runs 5 --shard 1/2 --out one --format none --json",
    "run arxiv/fig4 --runs 5 --shard 2/2 --out two --format none --json",
    "merge one two --out whole --format none --json",
    "check beta_balanced --json",
    "plot results/icml-fig4 --json",
    "plot results/icml-fig4 --page figures.html --json",
    "verify results/icml-fig4 --json",
    "list --json",
    "reproduce icml/fig4 early --runs 20 --out again --json",
    "claims 1 4 16 --json",
    "inspect -p 1,1 -x 5,4 -e 1 -m tight,ehd --candidate 4,5 --json",
    "inspect -p 1,1 -x 5,4 -e 1 -m ehd --law law.csv --json",
    "inspect -p 1,1,1 -x 5,4,3 -e 1 --distance kl --json",
    "audit -p 1,1 -n 9 -e 1 -m ehds --calibrate --profile --at-epsilon 0.5 --json",
    "audit -p 1,1 -n 9 -e 1 -m {-epsilon*d} --calibrate --json",
    "audit -p 1,1 -n 9 -e 1 -m geometric --distance kl --json",
    "choose -p 1,1 -n 20 -e 1 --all --json",
    "choose -p 1,1 -n 20 --error 0.05 --json",
    "optimum -p 1,1 -n 8 -e 1 --minimax --tuned --all --json",
    "optimum -p 1,1 -n 8 -e 1 --delta 0.01 --json",
    "mechanisms --json",
    "mechanisms ehds --json",
    "posterior --released 41,17,9 --noise laplace(scale=2) --prior 1 --n 67 --json",
    "posterior --released 41.5,17 --released 40,-2 --noise laplace(scale=2) --prior 1 --json",
    "selftest --config beta_balanced --seed 5 --json",
];

#[test]
fn every_document_has_a_schema_that_it_fits() {
    let sandbox = Sandbox::new();
    sandbox.write("trial.csv", TRIAL);
    let mut printed = BTreeMap::new();
    let run = |line: &str| -> Vec<String> { line.split_whitespace().map(str::to_owned).collect() };
    let mut commands: Vec<Vec<String>> = COMMANDS.iter().map(|line| run(line)).collect();
    let by_column =
        RELEASE.replace("--by arm --column answer --categories arm=A,B", "--column answer");
    for line in [
        format!("{RELEASE} --dry-run"),
        format!("{RELEASE} --out one.json"),
        format!("{RELEASE} --out two.json --fixed-groups A=3,B=3"),
        format!("{RELEASE} --out three.json --mechanism lattice"),
        by_column.clone(),
        "posterior one.json --compare yes --joint --json".to_owned(),
        by_column.replace("trial.ledger", "other.ledger") + " --private-n",
        "posterior one.json three.json --json".to_owned(),
        "account trial.ledger --json".to_owned(),
    ] {
        commands.push(run(&line));
    }
    for args in &commands {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        // It is compared with its schema there.
        printed.insert(args[0].to_owned(), sandbox.json(&args));
    }
    let all: Vec<&String> = printed.keys().collect();
    let mut expected = with_json();
    expected.sort();
    assert_eq!(all, expected.iter().collect::<Vec<_>>());
    // A document that is changed at any place does not fit it.
    for (command, document) in printed {
        let schema = schema(&command);
        for broken in broken(&document) {
            assert!(!complaints(&schema, &broken, &schema).is_empty(), "{command}: {broken:#}");
        }
    }
}

/// The document, each time with another one of its first keys gone, of another type, or new.
fn broken(document: &Value) -> Vec<Value> {
    let part = |of: &Value| match of {
        Value::Array(items) => items.first().cloned().unwrap_or_default(),
        whole => whole.clone(),
    };
    let whole = |part: Value| if document.is_array() { json!([part]) } else { part };
    let part = part(document);
    let mut all = Vec::new();
    for key in part.as_object().into_iter().flat_map(|object| object.keys()) {
        let mut other = part.clone();
        other[key] = json!({ "no": "such thing" });
        all.push(whole(other));
    }
    let mut more = part;
    more["no such key"] = json!(1);
    all.push(whole(more));
    all
}

#[test]
fn a_command_without_documents_has_no_schema() {
    let outcome = Sandbox::new().dpbi(&["generate", "schema", "insepct"]);
    crate::common::refused(&outcome, "there is no command `insepct` that prints JSON");
    holds(&outcome.stderr, "inspect");
}
