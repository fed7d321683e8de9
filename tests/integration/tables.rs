//! Releases of tables of several columns: cells, margins, groups and comparisons; release files.

use engine::analysis::audit::Scope;
use engine::mechanism::Mechanism;
use engine::posterior::simplex::list_compositions;
use engine::rng;
use serde_json::{Value, json};

use crate::common::{Outcome, Sandbox, few_or_many, refused, setting, words};

/// 100 records: 38 control/no, 12 control/yes, 26 treated/no, 24 treated/yes.
fn trial() -> String {
    let cells = [
        ("control", "no", 38),
        ("control", "yes", 12),
        ("treated", "no", 26),
        ("treated", "yes", 24),
    ];
    let rows =
        cells.iter().flat_map(|(arm, outcome, many)| vec![format!("{outcome},x,{arm}\n"); *many]);
    "outcome,note,arm\n".to_owned() + &rows.collect::<String>()
}

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("trial.csv", &trial());
    sandbox
}

/// Eight records: their posteriors take no time.
fn small() -> Sandbox {
    let sandbox = Sandbox::new();
    let rows = ["no,control", "yes,control", "no,treated", "yes,treated"].join("\n") + "\n";
    sandbox.write("trial.csv", &("outcome,arm\n".to_owned() + &rows.repeat(2)));
    sandbox
}

const ASKED: &str = "release --data trial.csv --by arm --column outcome --categories arm=control,treated \
    --categories outcome=no,yes";

/// A release of the trial.
fn release(sandbox: &Sandbox, more: &[&str]) -> Outcome {
    sandbox.dpbi(&[&words(ASKED)[..], more].concat())
}

fn document(sandbox: &Sandbox, more: &[&str]) -> Value {
    let outcome = release(sandbox, &[more, &["--json"]].concat());
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    serde_json::from_str(&outcome.stdout).unwrap()
}

#[test]
fn a_prior_is_given_for_all_cells_for_every_group_or_by_cell() {
    let sandbox = sandbox();
    let prior = |flags: &[&str]| {
        document(&sandbox, &[flags, &["--epsilon", "1"]].concat())["prior"].clone()
    };
    assert_eq!(prior(&["--prior", "2"]), json!([2.0, 2.0, 2.0, 2.0]));
    assert_eq!(prior(&["--prior", "3,1"]), json!([3.0, 1.0, 3.0, 1.0]));
    assert_eq!(prior(&["--prior", "1,2,3,4"]), json!([1.0, 2.0, 3.0, 4.0]));
    let groups = ["--prior", "treated=1,2", "--prior", "control=5"];
    assert_eq!(prior(&groups), json!([5.0, 5.0, 1.0, 2.0]));
}

#[test]
fn what_is_wrong_is_said_before_anything_is_spent() {
    let sandbox = sandbox();
    let with =
        |more: &[&str]| release(&sandbox, &[&["--epsilon", "1", "--ledger", "l"], more].concat());
    refused(&with(&["--prior", "1,2,3"]), "3 numbers for 2 categories in 2 groups");
    refused(&with(&["--prior", "control=1"]), "group `treated` has no prior");
    refused(&with(&["--prior", "1,x"]), "`x` is not a number");
    refused(&with(&["--prior", "1", "--by", "outcome"]), "named twice");
    refused(&with(&["--prior", "1", "--by", "site"]), "at least two categories");
    refused(&with(&["--prior", "1", "--categories", "a,b"]), "does not say which column");
    refused(&with(&["--prior", "1", "--fixed-groups", "control=50"]), "changes two histograms");
    refused(
        &with(&["--prior", "1", "--fixed-groups", "control=50,treatd=50"]),
        "did you mean `treated`?",
    );
    refused(
        &with(&["--prior", "1", "--fixed-groups", "control=40,treated=60"]),
        "changes two histograms",
    );
    refused(
        &with(&["--prior", "1", "--fixed-groups", "control=40,treated=50"]),
        "90 records together",
    );
    refused(&with(&["--prior", "1", "--out", "no/such/f.json"]), "cannot write to no/such");
    refused(&with(&["--prior", "1", "--out", "trial.csv"]), "exists already");
    assert!(!sandbox.path("l").exists());
}

/// Every group has all of ε, and the price is paid once.
#[test]
fn groups_of_fixed_sizes_are_released_on_their_own() {
    let fixed = ["--prior", "1", "--fixed-groups", "control=50,treated=50"];
    let sandbox = sandbox();
    let found = document(&sandbox, &[&fixed[..], &["--epsilon", "500", "--force"]].concat());
    assert_eq!(found["released"], json!([38, 12, 26, 24]));
    assert_eq!(found["epsilon"], "500");
    let found = document(&sandbox, &[&fixed[..], &["--epsilon", "1"]].concat());
    assert_eq!(found["mechanism"], "geometric");
    // Each group keeps its size: two categories leave nothing open.
    let released: Vec<u64> =
        found["released"].as_array().unwrap().iter().map(|v| v.as_u64().unwrap()).collect();
    assert_eq!((released[0] + released[1], released[2] + released[3]), (50, 50));
}

/// Tables of four cells that differ by one record, whose group changes: every mechanism that is released
/// loses at most ε, by every output.
#[test]
fn a_record_that_changes_its_group_costs_epsilon() {
    let (n, epsilon) = (6, 1.0);
    let setting = |x: &[u64]| setting(&[1.0; 4], x, epsilon, "hellinger");
    for id in ["lattice", "tight", "geometric", "geometric-all"] {
        let template = setting(&[n, 0, 0, 0]);
        let prepared = Mechanism::parse(id).unwrap().prepare(&template).unwrap();
        let audited = prepared.loss(&Scope::All, &[]).unwrap().loss;
        assert!(audited.loss <= epsilon + 1e-9, "{id}: {}", audited.loss);
        let law = |x: &[u64]| {
            let here = prepared.at(x).unwrap();
            list_compositions(n, 4).iter().map(|r| here.probability(r)).collect::<Vec<f64>>()
        };
        let (mut largest, mut pairs) = (0.0_f64, 0);
        for x in list_compositions(n, 4) {
            let here = law(&x);
            // From the first group (cells 0 and 1) to the second.
            for (from, to) in [(0, 2), (0, 3), (1, 2), (1, 3)] {
                if x[from] == 0 {
                    continue;
                }
                let mut moved = x.clone();
                (moved[from], moved[to]) = (x[from] - 1, x[to] + 1);
                pairs += 1;
                for (p, q) in here.iter().zip(law(&moved)) {
                    if *p > 1e-300 && q > 1e-300 {
                        largest = largest.max((libm::log(*p) - libm::log(q)).abs());
                    }
                }
            }
        }
        assert!(pairs > 200 && largest <= epsilon + 1e-9, "{id}: {pairs} pairs, {largest}");
        assert!(largest > 0.3, "{id}: the pairs are compared: {largest}");
    }
}

/// Releases of every form are killed at a random moment, when the ledger has changed, or at the first byte
/// shown. An entry then has what was paid for, and whatever else was left says the same.
#[test]
fn what_a_killed_release_has_paid_for_is_not_lost() {
    let sandbox = small();
    let mut chance = rng::stream(13, "kills of every form");
    let (mut paid, mut kept, mut shown, mut nothing) = (0, 0, 0, 0);
    for round in 0..few_or_many(18, 300) {
        let epsilon = ["0.00001", "0.001", "0.1", "1", "10"][round / 9 % 5];
        let named = ["--prior", "1", "--epsilon", epsilon, "--mechanism", "geometric"];
        let fixed: &[&str] = match round / 3 % 2 {
            0 => &[],
            _ => &["--fixed-groups", "control=4,treated=4"],
        };
        let out = format!("{round}.json");
        let before = sandbox.entries("l").len();
        let written = ["--ledger", "l", "--json", "--out", &out];
        let asked = [&words(ASKED)[..], &named, fixed, &written].concat();
        let output = sandbox.killed(&asked, (round, 100_000), "l", &mut chance);
        let entered = sandbox.entries("l");
        let file = std::fs::read_to_string(sandbox.path(&out)).unwrap_or_default();
        let Some(entry) = entered.get(before) else {
            assert!(output.is_empty() && file.is_empty(), "shown, and not entered: {file}");
            nothing += 1;
            continue;
        };
        paid += 1;
        assert_eq!(entered.len(), before + 1);
        let part = &entry["parts"][0];
        let says_the_same = |text: &str| {
            let found: Value = serde_json::from_str(text).unwrap();
            assert_eq!((&found["id"], &found["released"]), (&part["id"], &part["released"]));
        };
        assert_eq!(part["released"].as_array().unwrap().len(), 4);
        if !file.is_empty() {
            kept += 1;
            says_the_same(&file);
            sandbox.succeed(&["posterior", &out, "--ledger", "l"]);
        }
        if let Ok(text) = String::from_utf8(output)
            && text.ends_with("}\n")
        {
            shown += 1;
            says_the_same(&text);
        }
    }
    println!("{paid} entries, {kept} of them in files, {shown} shown whole, {nothing} not entered");
    assert!(paid > 0 && kept > 0 && nothing > 0);
    // What killed processes left is cleared away by the next release.
    document(&sandbox, &["--prior", "1", "--epsilon", "1", "--out", "last.json"]);
    let left = std::fs::read_dir(sandbox.path("")).unwrap().map(|one| one.unwrap().file_name());
    let left: Vec<_> = left.filter(|name| name.to_string_lossy().ends_with(".part")).collect();
    assert!(left.is_empty(), "{left:?}");
}
