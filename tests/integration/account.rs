//! `dpbi account`: what a ledger has spent, as its owner asks for it.

use crate::common::{Outcome, Sandbox, holds, refused};
use serde_json::Value;

/// 12 records in three categories.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    let rows: String = (0..12).map(|i| format!("{}\n", ["a", "b", "c"][i % 3])).collect();
    sandbox.write("survey.csv", &format!("answer\n{rows}"));
    sandbox
}

fn release(sandbox: &Sandbox, more: &str) -> Outcome {
    let asked =
        "release --data survey.csv --column answer --categories a,b,c --prior 1,1,1 --ledger l";
    sandbox.dpbi(&asked.split(' ').chain(more.split(' ')).collect::<Vec<_>>())
}

fn released(sandbox: &Sandbox, more: &str) {
    let outcome = release(sandbox, more);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
}

fn account(sandbox: &Sandbox, more: &str) -> Value {
    sandbox.json(&"account l --json".split(' ').chain(more.split_whitespace()).collect::<Vec<_>>())
}

fn number(value: &Value) -> f64 {
    value.as_f64().or_else(|| value.as_str()?.parse().ok()).unwrap_or_else(|| panic!("{value}"))
}

#[test]
fn sum_and_exact_composition() {
    let sandbox = sandbox();
    (0..20).for_each(|_| released(&sandbox, "--epsilon 0.1 --mechanism lattice"));
    let found = account(&sandbox, "");
    assert_eq!((&found["releases"], found["entries"].as_array().unwrap().len()), (&20.into(), 20));
    assert_eq!(found["sum"], "2");
    let composed = number(&found["composed"]);
    // By a trinomial sum, computed elsewhere.
    assert!((composed - 1.490_670_265_066).abs() <= 2e-9, "{composed}");
    assert_eq!(number(&found["delta"]), 1e-6);
    assert!(found["budget"].is_null());
    let curve: Vec<(f64, f64)> = found["curve"]
        .as_array()
        .unwrap()
        .iter()
        .map(|point| (number(&point[0]), number(&point[1])))
        .collect();
    assert!(curve.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 >= two[1].1));
    assert_eq!(curve.last().unwrap().1, 0.0);
    for (epsilon, delta) in &curve {
        assert_eq!(*delta <= 1e-6, *epsilon >= composed, "{epsilon} {delta} {composed}");
    }
    // A smaller δ costs more; a larger one less.
    assert!(number(&account(&sandbox, "--at-delta 1e-9")["composed"]) > composed);
    assert!(number(&account(&sandbox, "--at-delta 0.01")["composed"]) < composed);
    // A filter is worse than the sum at a small δ and better at a large one.
    assert!(found["adaptive"].is_null());
    assert!(account(&sandbox, "--budget 3,1e-6")["adaptive"].is_null());
    let filter = account(&sandbox, "--budget 3,0.01");
    let expected = (2.0 * 100_f64.ln() * 0.2).sqrt() + 0.1;
    assert!((number(&filter["adaptive"]) - expected).abs() < 1e-9, "{filter}");
    assert!(number(&filter["composed"]) < expected);
    let text = sandbox.dpbi(&["account", "l", "--budget", "3,0.01"]).stdout;
    assert!(text.contains("ε chosen on the way  ε = 1.4573 with δ = 0.01"), "{text}");
    let text = sandbox.dpbi(&["account", "l"]).stdout;
    assert!(text.contains("exact composition") && text.contains("the sum holds"), "{text}");
}

#[test]
fn a_budget_may_be_kept_by_either() {
    let sandbox = sandbox();
    let flags = "--epsilon 0.25 --mechanism lattice --budget 1.5,1e-3";
    let mut kept = Vec::new();
    let refusal = loop {
        let outcome = release(&sandbox, flags);
        if outcome.status != 0 {
            break outcome;
        }
        let (_, words) = outcome.stdout.split_once(": kept ").expect("the state of the ledger");
        kept.push(words.lines().next().unwrap().to_owned());
        assert!(kept.len() < 40, "the budget has no end");
    };
    refused(&refusal, "by exact composition δ would be");
    // At first both keep it. The seventh release exceeds the sum, a later one the composition.
    let last = "by the exact composition, not by the sum";
    let both = "by the sum and by the exact composition";
    assert_eq!(kept[0], both);
    assert_eq!(kept.iter().position(|words| words == last), Some(6), "{kept:?}");
    assert!(kept.len() > 7, "{kept:?}");
    let found = account(&sandbox, "");
    let budget = &found["budget"];
    assert_eq!((&budget["epsilon"], &budget["kept"]), (&"1.5".into(), &true.into()));
    assert_eq!(budget["kept_by"], last);
    assert!(number(&found["composed"]) <= 1.5 && number(&found["sum"]) > 1.5);
    // The same ledger against other budgets.
    assert_eq!(account(&sandbox, "--budget 100,1e-6")["budget"]["kept_by"], both);
    assert_eq!(account(&sandbox, "--budget 100")["budget"]["kept_by"], "by the sum");
    assert_eq!(account(&sandbox, "--budget 1")["budget"]["kept"], false);
    // Without its δ the budget holds by the sum only.
    let strict = release(&sandbox, "--epsilon 0.25 --mechanism lattice --budget 1.5");
    refused(&strict, "the budget does not suffice");
    assert!(!strict.stderr.contains("exact composition"), "{}", strict.stderr);
    refused(&release(&sandbox, "--epsilon 1 --budget ,1e-6"), "--budget");
    refused(&release(&sandbox, "--epsilon 1 --budget 9,2"), "--budget");
}

#[test]
fn ledgers_of_before_are_read_and_damage_is_refused() {
    let sandbox = sandbox();
    released(&sandbox, "--epsilon 0.5 --mechanism lattice");
    let path = sandbox.path("l");
    let line = std::fs::read_to_string(&path).unwrap();
    // Without the new fields, as they were written before.
    let open = line.split(",\"parts\"").next().unwrap();
    let hash = lab::run::store::sha256(open.as_bytes());
    std::fs::write(&path, format!("{open},\"sha256\":\"{hash}\"}}\n")).unwrap();
    let composed = number(&account(&sandbox, "")["composed"]);
    assert!((0.49..=0.5).contains(&composed), "{composed}");
    released(&sandbox, "--epsilon 0.5 --mechanism lattice");
    let whole = std::fs::read(&path).unwrap();
    let found = account(&sandbox, "");
    assert_eq!((&found["sum"], &found["releases"]), (&"1".into(), &2.into()));
    // Reading does not change it, also if its end is missing.
    let torn = &whole[..whole.len() - 9];
    std::fs::write(&path, torn).unwrap();
    let outcome = sandbox.dpbi(&["account", "l", "--json"]);
    holds(&outcome.stderr, "cut short: its ε = 0.5 counts as spent");
    let found: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(found["sum"], "1");
    assert_eq!(std::fs::read(&path).unwrap(), torn);
    let text = String::from_utf8(whole).unwrap();
    let changed = text.replacen("\"epsilon\":\"0.5\"", "\"epsilon\":\"0.1\"", 1);
    std::fs::write(&path, changed).unwrap();
    let outcome = sandbox.dpbi(&["account", "l"]);
    refused(&outcome, "the ledger is damaged");
    holds(&outcome.stderr, "l:1");
    refused(&sandbox.dpbi(&["account", "absent"]), "cannot read the ledger");
    refused(&sandbox.dpbi(&["account", "."]), "it is not a file");
}

#[test]
fn the_distribution_is_written() {
    let sandbox = sandbox();
    for more in ["--epsilon 0.3 --mechanism tight", "--epsilon 0.5 --mechanism geometric-all"] {
        released(&sandbox, more);
    }
    let found = account(&sandbox, "--pld pld.json");
    let text = std::fs::read_to_string(sandbox.path("pld.json")).unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    let (step, first) = (number(&document["step"]), number(&document["first"]));
    let masses: Vec<f64> =
        document["probabilities"].as_array().unwrap().iter().map(number).collect();
    let total: f64 = masses.iter().sum();
    assert!((total - 1.0).abs() < 1e-12, "{total}");
    for point in found["curve"].as_array().unwrap() {
        let (epsilon, delta) = (number(&point[0]), number(&point[1]));
        let term = |(i, mass): (usize, &f64)| {
            mass * (1.0 - (epsilon - (first + i as f64) * step).exp()).max(0.0)
        };
        let read = number(&document["infinite"]) + masses.iter().enumerate().map(term).sum::<f64>();
        assert!((read - delta).abs() <= 1e-9 * delta + 1e-13, "{epsilon}: {read} {delta}");
    }
    assert_eq!(document["releases"].as_array().unwrap().len(), 2);
    assert_eq!(document["releases"][0]["losses"].as_array().unwrap().len(), 3);
    let before = std::fs::read(sandbox.path("l")).unwrap();
    refused(&sandbox.dpbi(&["account", "l", "--pld", "l"]), "l is the ledger");
    assert_eq!(std::fs::read(sandbox.path("l")).unwrap(), before);
}
