//! Releases of tables of several columns: cells, margins, groups and comparisons; release files.

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
        let asked = [&ASKED[..], &named, fixed, &written].concat();
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
