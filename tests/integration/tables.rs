//! Releases of tables of several columns: cells, margins, groups and comparisons; plans; release files.

use engine::analysis::audit::{self, Scope};
use engine::mechanism::law;
use engine::mechanism::prepared::PreparedSetting;
use engine::mechanism::{self, Variant};
use engine::posterior::simplex::list_compositions;
use engine::rng;
use serde_json::{Value, json};

use crate::common::{Outcome, Sandbox, assert_close, few_or_many, float, refused, setting, words};

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

const ASKED: [&str; 11] = [
    "release",
    "--data",
    "trial.csv",
    "--by",
    "arm",
    "--column",
    "outcome",
    "--categories",
    "arm=control,treated",
    "--categories",
    "outcome=no,yes",
];

/// A release of the trial. To choose a mechanism takes seconds: `lattice` is named, except for fixed groups.
fn release(sandbox: &Sandbox, more: &[&str]) -> Outcome {
    let named: &[&str] = match more.contains(&"--fixed-groups") || more.contains(&"--mechanism") {
        true => &[],
        false => &["--mechanism", "lattice"],
    };
    sandbox.dpbi(&[&ASKED[..], named, more].concat())
}

fn document(sandbox: &Sandbox, more: &[&str]) -> Value {
    let outcome = release(sandbox, &[more, &["--json"]].concat());
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    serde_json::from_str(&outcome.stdout).unwrap()
}

fn close(ours: &Value, theirs: f64) {
    assert!((float(ours) - theirs).abs() < 1e-9, "{ours} {theirs}");
}

/// With so large an ε the true counts come out, and everything can be computed by hand.
#[test]
fn cells_margins_and_groups_of_a_trial_by_hand() {
    let found =
        document(&sandbox(), &["--prior", "1", "--epsilon", "500", "--force", "--compare", "yes"]);
    assert_eq!(found["released"], json!([38, 12, 26, 24]));
    assert_eq!(found["columns"][0]["name"], "arm");
    assert_eq!(found["cells"][1]["cell"], "control, yes");
    close(&found["cells"][1]["aware"]["mean"], 13.0 / 104.0);
    let margins = &found["margins"];
    assert_eq!(
        (&margins[0]["columns"], &margins[1]["columns"]),
        (&json!("arm"), &json!("outcome"))
    );
    close(&margins[0]["rows"][0]["aware"]["mean"], 52.0 / 104.0);
    close(&margins[1]["rows"][1]["aware"]["mean"], 38.0 / 104.0);
    let groups = &found["groups"];
    close(&groups[0]["rows"][1]["aware"]["mean"], 13.0 / 52.0);
    close(&groups[1]["rows"][1]["aware"]["mean"], 25.0 / 52.0);
    let compared = &found["comparisons"][0];
    assert_eq!((&compared["group"], &compared["other"]), (&json!("treated"), &json!("control")));
    close(&compared["aware"]["difference"]["mean"], 12.0 / 52.0);
    // P[Beta(25, 27) > Beta(13, 39)], a sum with 40 digits.
    close(&compared["aware"]["probability_greater"], 0.993_527_343_215_659_4);
    assert_eq!(found["joint"]["aware"]["exact"], true);
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
    refused(&with(&["--prior", "1", "--compare", "yess"]), "did you mean `yes`?");
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
    refused(&with(&["--prior", "1", "--figure", "f.bmp"]), "no name of a figure");
    refused(&with(&["--prior", "1", "--out", "no/such/f.json"]), "cannot write to no/such");
    refused(&with(&["--prior", "1", "--out", "trial.csv"]), "exists already");
    assert!(!sandbox.path("l").exists());
}

/// Every group has all of ε, and the price is paid once.
#[test]
fn groups_of_fixed_sizes_are_released_on_their_own() {
    let fixed = ["--prior", "1", "--fixed-groups", "control=50,treated=50", "--compare", "yes"];
    let sandbox = sandbox();
    let found = document(&sandbox, &[&fixed[..], &["--epsilon", "500", "--force"]].concat());
    assert_eq!(found["released"], json!([38, 12, 26, 24]));
    assert_eq!(found["spent"], "500");
    assert_eq!((&found["margins"], &found["groups"]), (&json!([]), &json!([])));
    close(&found["cells"][3]["aware"]["mean"], 25.0 / 52.0);
    close(&found["comparisons"][0]["aware"]["probability_greater"], 0.993_527_343_215_659_4);
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
    for id in ["lattice", "tight", "geometric", "hamming"] {
        let variant = Variant::plain(mechanism::find(id).unwrap());
        let template = setting(&[n, 0, 0, 0]);
        let audited = audit::loss(&variant, &template, &Scope::All).unwrap();
        assert!(audited.loss <= epsilon + 1e-9, "{id}: {}", audited.loss);
        let law = |x: &[u64]| {
            let setting = setting(x);
            let plan = variant.plan(&setting).unwrap();
            let prepared = PreparedSetting::new(&setting, std::slice::from_ref(&plan), &[]);
            let law = prepared.law(&plan);
            list_compositions(n, 4)
                .iter()
                .map(|r| law::probability(law.as_ref(), r))
                .collect::<Vec<f64>>()
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

const PLAN: &str = r#"data = "trial.csv"
ledger = "l"
budget = 3
n = 100

[categories]
arm = ["control", "treated"]
outcome = ["no", "yes"]

[[release]]
name = "arms"
by = "arm"
column = "outcome"
prior = 1
epsilon = 1
compare = "yes"

[[release]]
column = "arm"
prior = [1, 1]
epsilon = 0.5
mechanism = "geometric"
"#;

#[test]
fn a_plan_is_priced_without_the_data_and_entered_at_once() {
    let sandbox = sandbox();
    sandbox.write("plan.toml", &PLAN.replace("trial.csv", "absent.csv"));
    let dry = sandbox.json(&["release", "--plan", "plan.toml", "--dry-run", "--json"]);
    assert_eq!((&dry["spent"], &dry["n"]), (&json!("1.5"), &json!(100)));
    assert_eq!(dry["releases"][1]["mechanism"], "geometric");
    assert!(float(&dry["releases"][0]["expected_error"]) > 0.0);
    refused(&sandbox.dpbi(&["release", "--plan", "plan.toml"]), "cannot read the data absent.csv");
    // Without n the records are counted, and nothing else is read.
    let bad = trial().replace("yes", "what");
    sandbox.write("trial.csv", &bad).write("plan.toml", &PLAN.replace("n = 100\n", ""));
    assert_eq!(sandbox.json(&["release", "--plan", "plan.toml", "--dry-run", "--json"])["n"], 100);
    assert!(!sandbox.path("l").exists());
    refused(
        &sandbox.dpbi(&["release", "--plan", "plan.toml"]),
        "none of the categories of `outcome`",
    );
    assert!(!sandbox.path("l").exists());
    sandbox.write("trial.csv", &trial()).write("other.toml", &PLAN.replace("n = 100", "n = 99"));
    refused(&sandbox.dpbi(&["release", "--plan", "other.toml"]), "the data have 100 records");
    let made = sandbox.json(&["release", "--plan", "plan.toml", "--json", "--out", "both.json"]);
    assert_eq!(made["releases"].as_array().unwrap().len(), 2);
    let entered = sandbox.entries("l");
    assert_eq!(entered.len(), 1);
    assert_eq!(
        (&entered[0]["epsilon"], &entered[0]["column"]),
        (&json!("1.5"), &json!("outcome by arm; arm"))
    );
    refused(
        &sandbox.dpbi(&["release", "--plan", "plan.toml", "--budget", "2"]),
        "the budget does not suffice",
    );
    let shown = sandbox.json(&["show", "both.json", "--release", "arms", "--json"]);
    assert_eq!(shown["released"], made["releases"][0]["released"]);
}

#[test]
fn mistakes_in_a_plan_are_shown_in_their_place() {
    let sandbox = sandbox();
    let complaint = |from: &str, to: &str, words: &str| {
        sandbox.write("plan.toml", &PLAN.replace(from, to));
        refused(&sandbox.dpbi(&["release", "--plan", "plan.toml", "--dry-run"]), words);
    };
    complaint("epsilon = 1\n", "epsilon = -1\n", "plan.toml:15");
    complaint("epsilon = 1\n", "epsilom = 1\n", "nothing says its ε");
    complaint("prior = 1\n", "prior = [1, 2, 3]\n", "3 numbers for 2 categories in 2 groups");
    complaint("\"yes\"]", "\"yes\"]\nsite = [\"a\", \"b\"]", "no release counts a column `site`");
    complaint("compare = \"yes\"", "compare = \"yse\"", "did you mean `yes`?");
    complaint(
        "column = \"arm\"",
        "name = \"arms\"\ncolumn = \"arm\"",
        "two releases are called `arms`",
    );
    complaint("mechanism = \"geometric\"", "mechanism = \"geometrc\"", "did you mean `geometric`?");
    complaint("budget", "budgt", "did you mean `budget`?");
    complaint("[[release]]", "[[releases]]", "the key `release` is missing");
    assert!(!sandbox.path("l").exists());
}

/// A plan is killed at a random moment, when the ledger has changed, or at the first byte shown. It has
/// then spent and shown nothing, or its whole entry is there.
#[test]
fn a_plan_that_is_killed_is_entered_whole_or_not_at_all() {
    let sandbox = sandbox();
    // A mechanism that is named is quickly made ready.
    let plan = PLAN
        .replace("budget = 3\n", "")
        .replace("prior = 1\n", "prior = 1\nmechanism = \"lattice\"\n");
    sandbox.write("plan.toml", &plan);
    let mut chance = rng::stream(11, "plans");
    let (mut shown, mut hidden) = (0, 0);
    for round in 0..few_or_many(12, 40) {
        let before = sandbox.entries("l").len();
        let out = format!("{round}.json");
        let asked = ["release", "--plan", "plan.toml", "--json", "--out", &out];
        let output = sandbox.killed(&asked, (round, 1_000_000), "l", &mut chance);
        let entered = sandbox.entries("l");
        let new = &entered[before..];
        assert!(new.len() <= 1 && new.iter().all(|entry| entry["epsilon"] == "1.5"));
        // The file is claimed before the entry, and empty until then.
        let file = std::fs::read(sandbox.path(&out)).unwrap_or_default();
        let seen = !output.is_empty() || !file.is_empty();
        assert!(!seen || new.len() == 1, "shown, and not entered");
        match seen {
            true => shown += 1,
            false => hidden += 1,
        }
    }
    assert!(shown > 0 && hidden > 0, "{shown} were shown, {hidden} were not");
}

#[test]
fn a_release_file_is_shown_as_it_was_and_combined() {
    let sandbox = sandbox();
    let made =
        ["--prior", "1", "--epsilon", "1", "--mechanism", "lattice", "--compare", "outcome=yes"];
    let text = release(&sandbox, &[&made[..], &["--out", "a.json"]].concat());
    assert_eq!(text.status, 0, "{}", text.stderr);
    let until_ledger = |text: &str| text.split("  ledger").next().unwrap().to_owned();
    let shown = sandbox.succeed(&["show", "a.json"]);
    assert!(shown.starts_with(&until_ledger(&text.stdout)), "{shown}\n{}", text.stdout);
    let again = sandbox.json(&["show", "a.json", "--json"]);
    let mut stored: Value = serde_json::from_slice(&sandbox.read("a.json")).unwrap();
    stored["ledger"] = Value::Null;
    assert_eq!(stored, again);
    let mut vague = made;
    vague[3] = "0.1";
    document(&sandbox, &[&vague[..], &["--out", "b.json"]].concat());
    let both = sandbox.json(&["combine", "a.json", "b.json", "--json"]);
    assert_eq!(both["spent"], "1.1");
    let width = |one: &Value| {
        let cell = &one["cells"][0]["aware"];
        float(&cell["high"]) - float(&cell["low"])
    };
    let vague = sandbox.json(&["show", "b.json", "--json"]);
    assert!(width(&both) < width(&vague));
    refused(&sandbox.dpbi(&["combine", "a.json", "a.json"]), "given twice");
    document(&sandbox, &["--prior", "2", "--epsilon", "1", "--out", "c.json"]);
    refused(&sandbox.dpbi(&["combine", "a.json", "c.json"]), "another prior");
    for (from, to, words) in [
        ("\"version\": 1", "\"version\": 7", "it has version 7"),
        ("\"n\": 100", "\"n\": 0", "`n`"),
        ("\"n\": 100", "\"n\": 5", "no release has these counts"),
        ("\"dpbi release\"", "\"release\"", "does not hold a release"),
        ("\"lattice\"", "\"lattices\"", "did you mean `lattice`?"),
        ("\"level\": 0.95", "\"level\": 2", "no probability"),
        ("\"epsilon\": \"1\"", "\"epsilon\": \"-1\"", "`epsilon`"),
        ("{", "[", "it is not JSON"),
    ] {
        let text = sandbox.text("a.json");
        assert!(text.contains(from), "{from}");
        sandbox.write("bad.json", &text.replacen(from, to, 1));
        refused(&sandbox.dpbi(&["show", "bad.json"]), words);
    }
    refused(&sandbox.dpbi(&["show", "absent.json"]), "cannot read the release absent.json");
}

/// The entry knows what was released: a file that says something else is not believed.
#[test]
fn a_ledger_knows_a_file_that_was_changed() {
    let sandbox = small();
    let made = ["--prior", "1", "--mechanism", "lattice", "--ledger", "l", "--epsilon", "1"];
    for out in ["a.json", "b.json"] {
        document(&sandbox, &[&made[..], &["--out", out]].concat());
    }
    let text = sandbox.succeed(&["combine", "a.json", "b.json"]);
    assert!(text.contains("as the file says; nobody has checked them"), "{text}");
    let text = sandbox.succeed(&["combine", "a.json", "b.json", "--ledger", "l"]);
    assert!(text.contains("that the ledger l has entered"), "{text}");
    let both = sandbox.json(&["combine", "a.json", "b.json", "--ledger", "l", "--json"]);
    assert_eq!(both["checked_by_ledger"], true);
    let whole = sandbox.read("b.json");
    let change = |change: &dyn Fn(&mut Value)| {
        let mut document: Value = serde_json::from_slice(&whole).unwrap();
        change(&mut document);
        sandbox.write("b.json", &document.to_string());
        sandbox.dpbi(&["combine", "a.json", "b.json", "--ledger", "l"])
    };
    let smaller = |document: &mut Value| document["epsilon"] = json!("0.001");
    refused(&change(&smaller), "ε is 0.001 there and 1 in the ledger");
    let other = |document: &mut Value| document["mechanism"] = json!("geometric");
    let words = "the mechanism is geometric there and lattice in the ledger";
    // Counts of `lattice` need not be such as `geometric` makes.
    let outcome = change(&other);
    assert!(outcome.stderr.contains(words) || outcome.stderr.contains("no release has these"));
    let counts = |document: &mut Value| {
        let released = document["released"].as_array().unwrap().clone();
        document["released"] = released.into_iter().rev().collect();
    };
    // The same counts in another order are possible counts; two of them may happen to be the same.
    let outcome = change(&counts);
    assert!(outcome.stderr.contains("the counts are others") || outcome.status == 0);
    let names = |document: &mut Value| document["columns"][1]["categories"] = json!(["yes", "no"]);
    refused(&change(&names), "another table");
    let shown = sandbox.dpbi(&["show", "b.json", "--ledger", "l"]);
    refused(&shown, "its categories or its number of records are others");
    // An entry of before has neither counts nor their hash: ε, mechanism and columns are compared.
    let old = |line: &str| {
        let mut entry: Value = serde_json::from_str(line).unwrap();
        let part = entry["parts"][0].as_object_mut().unwrap();
        part.remove("released").and(part.remove("content")).unwrap();
        entry.as_object_mut().unwrap().remove("sha256");
        entry
    };
    let (mut lines, mut previous) = (String::new(), String::new());
    for line in sandbox.text("l").lines() {
        let mut entry = old(line);
        entry["previous"] = json!(previous);
        let open = entry.to_string().strip_suffix('}').unwrap().to_owned();
        previous = lab::run::store::sha256(open.as_bytes());
        lines += &format!("{open},\"sha256\":\"{previous}\"}}\n");
    }
    sandbox.write("l", &lines);
    assert_eq!(change(&|_| ()).status, 0);
    refused(&change(&smaller), "ε is 0.001 there and 1 in the ledger");
}

#[test]
fn a_file_that_no_release_has_made_is_refused() {
    let sandbox = sandbox();
    let made = ["--prior", "1", "--mechanism", "geometric", "--epsilon", "1", "--out", "a.json"];
    document(&sandbox, &made);
    let whole = sandbox.read("a.json");
    let changed = |pairs: &[(&str, Value)]| {
        let mut document: Value = serde_json::from_slice(&whole).unwrap();
        pairs.iter().for_each(|(key, value)| document[*key] = value.clone());
        sandbox.write("bad.json", &document.to_string());
        sandbox.dpbi(&["show", "bad.json"])
    };
    let two = |mechanism: &str| {
        let counts = ("released", json!([1, 1, 2, 1]));
        changed(&[("n", json!(2)), ("mechanism", json!(mechanism)), counts])
    };
    for mechanism in ["geometric+remap", "geometric", "lattice", "tight", "hamming", "ehd"] {
        refused(&two(mechanism), "no release has these counts");
    }
    refused(&changed(&[("released", json!([1, 1, 1]))]), "do not fit the table");
    refused(&changed(&[("released", json!([101, 0, 0, 0]))]), "a count is 101");
    refused(&changed(&[("released", json!([-1, 1, 50, 50]))]), "damaged");
    refused(&changed(&[("n", json!(9_007_199_254_740_993_u64))]), "so many records");
    let huge = json!(vec![9_007_199_254_740_991_u64; 4]);
    refused(&changed(&[("n", json!(5)), ("released", huge)]), "a count is");
    refused(&changed(&[("epsilon", json!("1e-30"))]), "`epsilon`");
    refused(&changed(&[("prior", json!([1, 1, 1]))]), "`prior`");
    refused(&changed(&[("prior", json!([1, 1, 1, 0]))]), "`prior`");
    refused(&changed(&[("id", json!("../../etc"))]), "`id`");
    refused(&changed(&[("columns", json!([]))]), "`columns`");
}

#[test]
fn what_is_typed_comes_before_what_a_plan_says() {
    let sandbox = sandbox();
    let plan = PLAN
        .replace("prior = 1\n", "prior = 1\nmechanism = \"geometric\"\n")
        .replace("epsilon = 0.5\n", "epsilon = 0.5\nlevel = 0.9\n");
    sandbox.write("plan.toml", &("level = 0.7\n".to_owned() + &plan));
    let levels = |more: &[&str]| {
        let made = sandbox.json(&[&["release", "--plan", "plan.toml", "--json"], more].concat());
        [&made["releases"][0]["level"], &made["releases"][1]["level"]].map(|v| v.as_f64().unwrap())
    };
    assert_eq!(levels(&["--ledger", "a"]), [0.7, 0.9]);
    assert_eq!(levels(&["--ledger", "b", "--level", "0.8"]), [0.8, 0.8]);
    assert!(!sandbox.path("l").exists());
    // What belongs to one release is refused.
    for flags in [
        "--column outcome",
        "--by arm",
        "--categories a,b",
        "--categories-from f",
        "--other a",
        "--fixed-groups a=1",
        "--prior 1",
        "--epsilon 2",
        "--mechanism lattice",
        "--compare yes",
        "--seed 1",
        "--n 100",
        "--level 2",
    ] {
        let mut args = vec!["release", "--plan", "plan.toml"];
        args.extend(flags.split(' '));
        let outcome = sandbox.dpbi(&args);
        let flag = args[3];
        assert!(
            outcome.status == 2 && outcome.stderr.contains(flag),
            "{flags}: {}",
            outcome.stderr
        );
    }
    assert!(!sandbox.path("l").exists());
}

#[test]
fn names_that_look_the_same_in_a_file_name_have_figures_of_their_own() {
    let sandbox = sandbox();
    let plan = PLAN
        .replace("prior = 1\n", "prior = 1\nmechanism = \"geometric\"\n")
        .replace("name = \"arms\"", "name = \"a b\"")
        .replace("column = \"arm\"\n", "column = \"arm\"\nname = \"a-b\"\n");
    sandbox.write("plan.toml", &plan).write("f-a-b-2.svg", "mine");
    let asked = ["release", "--plan", "plan.toml", "--figure", "f.svg", "--out", "a.json"];
    // A file of that name is replaced, as with --figure itself; but not if it is read.
    sandbox.write("data.toml", &plan.replace("trial.csv", "f-a-b-2.svg"));
    refused(
        &sandbox.dpbi(&["release", "--plan", "data.toml", "--figure", "f.svg"]),
        "f-a-b-2.svg is the data",
    );
    assert_eq!(sandbox.dpbi(&asked).status, 0);
    let [first, second] = ["f-a-b.svg", "f-a-b-2.svg"].map(|name| sandbox.read(name));
    assert!(first.starts_with(b"<svg") && second.starts_with(b"<svg") && first != second);
    std::fs::rename(sandbox.path("a.json"), sandbox.path("g-a-b.svg")).unwrap();
    refused(&sandbox.dpbi(&["show", "g-a-b.svg", "--figure", "g.svg"]), "g-a-b.svg is a release");
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
        let plan = PLAN.replace("budget = 3\n", "").replace("n = 100", "n = 8");
        let plan = plan
            .replace("prior = 1\n", "prior = 1\nmechanism = \"geometric\"\n")
            .replace("epsilon = 1\n", &format!("epsilon = {epsilon}\n"));
        sandbox.write("plan.toml", &plan);
        let fixed = ["--fixed-groups", "control=4,treated=4", "--ledger", "l"];
        let asked: Vec<&str> = match round / 3 % 3 {
            0 => [&ASKED[..], &named, &["--ledger", "l"]].concat(),
            1 => [&ASKED[..], &named, &fixed].concat(),
            _ => vec!["release", "--plan", "plan.toml"],
        };
        let out = format!("{round}.json");
        let before = sandbox.entries("l").len();
        let asked = [&asked[..], &["--json", "--out", &out]].concat();
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
        let parts = entry["parts"].as_array().unwrap();
        assert_eq!(parts.len(), if asked[1] == "--plan" { 2 } else { 1 });
        let says_the_same = |text: &str| {
            let found: Value = serde_json::from_str(text).unwrap();
            let one = [found.clone()];
            let releases = found["releases"].as_array().map_or(&one[..], Vec::as_slice);
            assert_eq!(releases.len(), parts.len());
            for (release, part) in releases.iter().zip(parts) {
                assert_eq!(
                    (&release["id"], &release["released"]),
                    (&part["id"], &part["released"])
                );
            }
        };
        assert!(parts.iter().all(|part| part["released"].as_array().unwrap().len() >= 2));
        if !file.is_empty() {
            kept += 1;
            says_the_same(&file);
            sandbox.succeed(&["show", &out, "--ledger", "l"]);
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

#[test]
fn twenty_cells_and_two_thousand_records() {
    let sandbox = Sandbox::new();
    let rows: String = (0..2000).map(|i| format!("g{},o{}\n", i % 4, i * i % 5)).collect();
    sandbox.write("d.csv", &("g,o\n".to_owned() + &rows));
    let found = sandbox.json(&[
        "release",
        "--data",
        "d.csv",
        "--by",
        "g",
        "--column",
        "o",
        "--categories",
        "g=g0,g1,g2,g3",
        "--categories",
        "o=o0,o1,o2,o3,o4",
        "--prior",
        "1",
        "--epsilon",
        "1",
        "--compare",
        "o1",
        "--json",
    ]);
    assert_eq!(found["mechanism"], "lattice");
    assert!(found["unaware"].is_null() && found["uncompared"].is_null());
    assert_eq!(found["comparisons"].as_array().unwrap().len(), 6);
    let sum: f64 = (0..20).map(|i| float(&found["cells"][i]["aware"]["mean"])).sum();
    assert!((sum - 1.0).abs() < 1e-9, "{sum}");
}

/// In every site A does better than B, but most of A is where few recover.
const PARADOX: [(&str, &str, u32, u32); 4] =
    [("A", "x", 72, 8), ("A", "y", 4, 16), ("B", "x", 19, 1), ("B", "y", 24, 56)];

const BY_SITE: &str = "--by arm --by site --column recovered";

/// PARADOX, a row for every record.
fn paradox() -> Sandbox {
    let sandbox = Sandbox::new();
    let rows = |(arm, site, no, yes): &(&str, &str, u32, u32)| {
        let row = |answer: &str| format!("{arm},{site},{answer}\n");
        row("no").repeat(*no as usize) + &row("yes").repeat(*yes as usize)
    };
    let rows: String = PARADOX.iter().map(rows).collect();
    sandbox.write("paradox.csv", &format!("arm,site,recovered\n{rows}"));
    sandbox
}

const RELEASE_BY_SITE: &str = "release --data paradox.csv --by arm --by site --column recovered --prior 1 \
     --epsilon 4 --mechanism lattice --ledger none --compare yes --categories arm=A,B \
     --categories site=x,y --categories recovered=no,yes";

#[test]
fn sites_with_the_same_weight_turn_a_comparison_round() {
    let sandbox = Sandbox::new();
    let row = |(arm, site, no, yes): &(&str, &str, u32, u32)| {
        format!("{arm},{site},no,{no}\n{arm},{site},yes,{yes}\n")
    };
    let rows: String = PARADOX.iter().map(row).collect();
    sandbox.write("cells.csv", &format!("arm,site,recovered,noisy\n{rows}"));
    let compared = |more: &str| {
        let line = format!(
            "posterior --json --data cells.csv {BY_SITE} --count noisy --noise \
             discrete-laplace(epsilon=1) --prior 1 --compare yes {more}"
        );
        sandbox.json(&words(&line))
    };
    let larger = |found: &Value| float(&found["comparisons"][0]["aware"]["probability_greater"]);
    let (sizes, equal) = (compared(""), compared("--weights equal"));
    assert_eq!(equal["comparisons"][0]["group"], "B");
    assert_eq!((&sizes["averaged"], &equal["averaged"]), (&Value::Null, &json!(["site"])));
    assert!(larger(&sizes) > 0.99 && larger(&equal) < 0.3, "{} {}", larger(&sizes), larger(&equal));
    assert_eq!(sizes, compared("--weights posterior"));
    // About the mean of both differences of shares.
    let share = |no: f64, yes: f64| (yes + 1.0) / (no + yes + 2.0);
    let about = 0.5 * (share(19.0, 1.0) + share(24.0, 56.0) - share(72.0, 8.0) - share(4.0, 16.0));
    assert_close(
        float(&equal["comparisons"][0]["aware"]["difference"]["mean"]),
        about,
        0.2,
        "mean",
    );
    let line = format!(
        "posterior --data cells.csv {BY_SITE} --count noisy --noise -80*abs(t) --prior 1 --compare yes \
         --weights equal"
    );
    let text = sandbox.succeed(&words(&line)).split_whitespace().collect::<Vec<_>>().join(" ");
    let heading =
        "Comparison: the mean of the shares of `yes` in every `site`, all with the same weight";
    assert!(text.contains(heading), "{text}");
    let sentence = "The mean of the shares of `yes` in every `site`, all with the same weight, is larger in \
                    `A` than in `B` with posterior probability";
    assert!(text.contains(sentence), "{text}");
}

#[test]
fn weights_are_kept_with_a_release() {
    let sandbox = paradox();
    let line = format!("{RELEASE_BY_SITE} --weights equal --json --out one.json");
    let made = sandbox.json(&words(&line));
    assert_eq!((&made["weights"], &made["averaged"]), (&json!("equal"), &json!(["site"])));
    let shown = sandbox.json(&words("show one.json --json"));
    for key in ["weights", "averaged", "comparisons", "sentences"] {
        assert_eq!(made[key], shown[key], "{key}");
    }
    let sentences = made["sentences"].to_string();
    assert!(sentences.contains("The mean of the shares of `yes` in every `site`"), "{sentences}");
    let by_sizes = sandbox.json(&words("show one.json --json --weights posterior"));
    assert!(by_sizes["weights"].is_null() && by_sizes["comparisons"] != made["comparisons"]);
    let again = sandbox.json(&words(&format!("{RELEASE_BY_SITE} --json --out two.json")));
    assert!(again["weights"].is_null());
    // The first file says how both are compared.
    let both = sandbox.json(&words("combine one.json two.json --json"));
    assert_eq!(both["averaged"], json!(["site"]));
    let plan = "data = \"paradox.csv\"\nledger = \"none\"\n[categories]\narm = [\"A\", \"B\"]\n\
                site = [\"x\", \"y\"]\nrecovered = [\"no\", \"yes\"]\n[[release]]\ncolumn = \"recovered\"\n\
                by = [\"arm\", \"site\"]\nprior = 1\nepsilon = 4\ncompare = [\"yes\"]\nweights = ";
    sandbox.write("plan.toml", &format!("{plan}\"equal\"\n"));
    assert_eq!(
        sandbox.json(&["release", "--plan", "plan.toml", "--json"])["averaged"],
        json!(["site"])
    );
    sandbox.write("wrong.toml", &format!("{plan}\"equl\"\n"));
    let outcome = sandbox.dpbi(&["release", "--plan", "wrong.toml"]);
    assert!(outcome.stderr.contains("there are no weights `equl`"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("weights = \"equl\""), "{}", outcome.stderr);
}

#[test]
fn equal_weights_are_refused_where_there_is_nothing_to_weigh() {
    let sandbox = paradox();
    let by_site = RELEASE_BY_SITE;
    let by_arm = by_site.replace(" --by site", "").replace(" --categories site=x,y", "");
    for (line, cause) in [
        (
            by_arm.clone() + " --weights equal",
            "there is no column over which shares could be averaged",
        ),
        (
            by_arm + " --weights equal --fixed-groups A=100,B=100",
            "groups of fixed sizes are compared as they are",
        ),
        (format!("{by_site} --weights equal --within site"), "there is nothing to average over"),
        (format!("{by_site} --weights equl"), "there are no weights `equl`"),
    ] {
        let outcome = sandbox.dpbi(&words(&line));
        assert_eq!(outcome.status, 2, "{line}");
        let said = outcome.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(cause), "{line}: {said}");
    }
    sandbox.succeed(&words(&format!("{by_site} --weights equal --out one.json")));
    let outcome = sandbox.dpbi(&words("show one.json --within site"));
    assert_eq!(outcome.status, 2);
    assert!(outcome.stderr.contains("--weights posterior"), "{}", outcome.stderr);
    sandbox.succeed(&words("show one.json --within site --weights posterior"));
}
