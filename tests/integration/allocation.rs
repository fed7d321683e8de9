//! Plans that divide a budget.

use crate::common::{Outcome, Sandbox, float, refused};
use serde_json::Value;

/// A plan with these releases, each of the only column, and what stands before them.
fn plan(sandbox: &Sandbox, head: &str, releases: &[&str]) {
    let mut text = format!("{head}\n[categories]\nanswer = [\"no\", \"yes\"]\n");
    for (place, keys) in releases.iter().enumerate() {
        text +=
            &format!("[[release]]\nname = \"r{place}\"\ncolumn = \"answer\"\nprior = 1\n{keys}\n");
    }
    sandbox.write("plan.toml", &text);
}

fn dry(sandbox: &Sandbox, head: &str, releases: &[&str]) -> Outcome {
    plan(sandbox, head, releases);
    sandbox.dpbi(&["release", "--plan", "plan.toml", "--dry-run", "--json"])
}

fn epsilons(outcome: &Outcome) -> Vec<f64> {
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let found: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let releases = found["releases"].as_array().unwrap();
    releases.iter().map(|one| one["epsilon"].as_str().unwrap().parse().unwrap()).collect()
}

/// Data are not opened: there are none.
const HEAD: &str = "ledger = \"l\"\nbudget = 3\nn = 60";

#[test]
fn a_target_gets_the_least_epsilon_that_reaches_it() {
    let sandbox = Sandbox::new();
    let reached = |key: &str, epsilon: f64| {
        let given = format!("mechanism = \"geometric\"\nepsilon = {epsilon:.6}");
        let found = dry(&sandbox, HEAD, &[&given]);
        let found: Value = serde_json::from_str(&found.stdout).unwrap();
        match key {
            "error" => float(&found["releases"][0]["expected_error"]),
            _ => 2.0 * float(&found["releases"][0]["prospect"]["half_width"]),
        }
    };
    for (key, target) in [("error", 0.2), ("error", 0.08), ("width", 0.3), ("width", 0.27)] {
        let asked = format!("mechanism = \"geometric\"\n{key} = {target}");
        let epsilon = epsilons(&dry(&sandbox, HEAD, &[&asked]))[0];
        // Three digits are tried.
        let step = 10_f64.powf(epsilon.log10().floor() - 2.0);
        let (at, below) = (reached(key, epsilon), reached(key, epsilon - step));
        assert!(at <= target && below > target, "{key} {target}: {epsilon} {at} {below}");
        // The best mechanism needs no more.
        let best = epsilons(&dry(&sandbox, HEAD, &[&format!("{key} = {target}")]))[0];
        assert!(best <= epsilon, "{best} {epsilon}");
    }
}

#[test]
fn what_is_left_is_divided_by_weights() {
    let sandbox = Sandbox::new();
    let asked = ["epsilon = 0.5", "weight = 1", "error = 0.2", "weight = 3"];
    let found = epsilons(&dry(&sandbox, HEAD, &asked));
    let left = 3.0 - found[0] - found[2];
    assert_eq!(found[0], 0.5);
    assert!((found[1] - left / 4.0).abs() < 1e-6 && (found[3] - 0.75 * left).abs() < 1e-6);
    // What the ledger has counts, and the data have as many records as the plan says.
    sandbox.write("d.csv", &format!("answer\n{}", "no\nyes\n".repeat(30)));
    plan(&sandbox, &format!("data = \"d.csv\"\n{HEAD}"), &["epsilon = 1", "weight = 1"]);
    let made = sandbox.dpbi(&["release", "--plan", "plan.toml"]);
    assert_eq!(made.status, 0, "{}", made.stderr);
    assert!(made.stdout.contains("ε = 3 of 3 spent in 2 releases"), "{}", made.stdout);
    refused(&dry(&sandbox, HEAD, &["weight = 1"]), "the budget does not suffice: 0 is left of it");
    refused(&dry(&sandbox, HEAD, &["error = 0.2"]), "the budget does not suffice");
}

#[test]
fn what_cannot_be_reached_or_is_said_twice_is_refused() {
    let sandbox = Sandbox::new();
    for (asked, words) in [
        ("width = 0.1", "no ε up to 30 reaches the width 0.1"),
        ("error = -1", "-1 is not above 0"),
        ("weight = 1\nepsilon = 1", "its ε is said twice"),
        ("compare = []", "nothing says its ε"),
    ] {
        refused(&dry(&sandbox, HEAD, &[asked]), words);
    }
    refused(&dry(&sandbox, "n = 60", &["weight = 1"]), "weights divide a budget");
    assert_eq!(epsilons(&dry(&sandbox, "n = 60", &["error = 0.5"])).len(), 1);
    // The error of a private number of records is not known; an interval is, if a number is expected.
    let private =
        |law: &str| format!("budget = 3\nledger = \"l\"\nprivate_n = true\nn_prior = \"{law}\"");
    refused(&dry(&sandbox, &private("flat"), &["error = 0.2"]), "is not known");
    refused(&dry(&sandbox, &private("flat"), &["width = 0.3"]), "is not known");
    let found =
        epsilons(&dry(&sandbox, &private("negative-binomial:60"), &["width = 0.3", "weight = 1"]));
    assert!(found[0] > 0.3 && found[0] < 2.0 && found[0] + found[1] <= 3.0, "{found:?}");
}
