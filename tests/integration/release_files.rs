//! `dpbi posterior` of files that `dpbi release` wrote: cells, margins, groups and comparisons of a table.

use serde_json::{Value, json};

use crate::common::{Outcome, Sandbox, assert_close, float, holds, refused, words};

/// 100 records: 38 control/no, 12 control/yes, 26 treated/no, 24 treated/yes.
fn sandbox() -> Sandbox {
    let cells = ["no,control\n", "yes,control\n", "no,treated\n", "yes,treated\n"];
    let rows: String =
        cells.iter().zip([38, 12, 26, 24]).map(|(row, many)| row.repeat(many)).collect();
    let sandbox = Sandbox::new();
    sandbox.write("trial.csv", &format!("outcome,arm\n{rows}"));
    sandbox
}

const ASKED: &str = "release --data trial.csv --by arm --column outcome --categories arm=control,treated \
     --categories outcome=no,yes";

/// Releases the trial and returns the file.
fn release(sandbox: &Sandbox, out: &str, more: &str) -> Value {
    let line = format!("{ASKED} {more} --out {out}");
    let ledger = if more.contains("--ledger") { "" } else { "--ledger none" };
    sandbox.succeed(&[words(&line), words(ledger)].concat());
    serde_json::from_str(&sandbox.text(out)).unwrap()
}

fn posterior(sandbox: &Sandbox, line: &str) -> Value {
    sandbox.json(&words(&format!("posterior --json {line}")))
}

fn refuses(sandbox: &Sandbox, line: &str) -> Outcome {
    sandbox.dpbi(&words(&format!("posterior {line}")))
}

fn close(ours: &Value, theirs: f64) {
    assert_close(float(ours), theirs, 1e-9, "by hand");
}

/// With so large an ε the true counts come out, and everything can be computed by hand.
#[test]
fn cells_margins_and_groups_of_a_trial_by_hand() {
    let sandbox = sandbox();
    release(&sandbox, "a.json", "--prior 1 --epsilon 500 --force");
    let found = posterior(&sandbox, "a.json --compare outcome=yes");
    assert_eq!(found["releases"][0]["released"], json!([38, 12, 26, 24]));
    let cell = &found["shares"][1];
    assert_eq!((&cell["cell"], &cell["released"]), (&json!("control, yes"), &json!(12)));
    close(&cell["mean"], 13.0 / 104.0);
    let margins = &found["margins"];
    assert_eq!((&margins[0]["title"], &margins[1]["title"]), (&json!("arm"), &json!("outcome")));
    close(&margins[0]["rows"][0]["mean"], 52.0 / 104.0);
    close(&margins[1]["rows"][1]["mean"], 38.0 / 104.0);
    close(&found["groups"][0]["rows"][1]["mean"], 13.0 / 52.0);
    close(&found["groups"][1]["rows"][1]["mean"], 25.0 / 52.0);
    let compared = &found["comparisons"][0];
    assert_eq!((&compared["group"], &compared["other"]), (&json!("treated"), &json!("control")));
    close(&compared["difference"]["mean"], 12.0 / 52.0);
    // P[Beta(25, 27) > Beta(13, 39)], a sum with 40 digits.
    close(&compared["probability_greater"], 0.993_527_343_215_659_4);
    assert!(found["joint"].is_null());
    let joint = &posterior(&sandbox, "a.json --joint")["joint"];
    assert_eq!(joint["intervals"].as_array().unwrap().len(), 4);
    let (all, error) = (float(&joint["probability"]), float(&joint["standard_error"]));
    assert!(0.0 < error && error < 0.001 && (all - 0.95).abs() < 0.01, "{all} ± {error}");
    assert_eq!(posterior(&sandbox, "a.json")["comparisons"], json!([]));
    let text = sandbox.succeed(&words("posterior a.json --compare yes --figure a.svg"));
    for words in ["released by", "Margin: arm", "Comparison: the share of `yes`", "To be published"]
    {
        assert!(text.contains(words), "{words}: {text}");
    }
    assert!(sandbox.text("a.svg").contains("share of outcome = yes"));
}

#[test]
fn groups_of_fixed_sizes_are_compared_as_they_are() {
    let sandbox = sandbox();
    let fixed = "--prior 1 --fixed-groups control=50,treated=50 --epsilon 500 --force";
    release(&sandbox, "a.json", fixed);
    let found = posterior(&sandbox, "a.json --compare yes");
    assert_eq!((&found["margins"], &found["groups"]), (&json!([]), &json!([])));
    close(&found["shares"][3]["mean"], 25.0 / 52.0);
    close(&found["comparisons"][0]["probability_greater"], 0.993_527_343_215_659_4);
    refused(&refuses(&sandbox, "a.json --compare yes --weights equal"), "compared as they are");
}

#[test]
fn what_was_done_and_found_can_be_published() {
    let sandbox = sandbox();
    let made = release(&sandbox, "a.json", "--prior 1 --epsilon 0.5");
    let found = posterior(&sandbox, "a.json --compare yes");
    let sentences: Vec<&str> =
        found["sentences"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    let mechanism = made["mechanism"].as_str().unwrap();
    for words in [
        "Counts of `outcome` by `arm` (n = 100 in total) were released once, with random noise",
        "(ε = 0.5; neighbouring data sets differ in the category of one record)",
        &format!("by the mechanism `{mechanism}` of dpbi"),
        "95 % credible intervals that account for both sampling variation and the noise",
        "A record is one row of the data, and for a person with m rows ε is m times as large.",
        "within `treated` the share of `yes` is ",
        "; the difference of the shares (`",
    ] {
        assert!(sentences.iter().any(|one| one.contains(words)), "{words}: {sentences:?}");
    }
    let shown = sandbox.succeed(&words("posterior a.json --compare yes --text"));
    let folded = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(folded, sentences.join(" "));
}

/// Three pairs of arms, of which the release says that the first or the second one is larger, or neither.
#[test]
fn a_direction_is_told_if_the_interval_says_it() {
    for (counts, words) in [
        (
            "20,30,45,5",
            "`yes` is more frequent in `control` than in `treated` with posterior probability above 99.9 %;",
        ),
        (
            "45,5,20,30",
            "`yes` is more frequent in `treated` than in `control` with posterior probability above 99.9 %;",
        ),
        (
            "50,0,50,0",
            "Whether `yes` is more frequent in `treated` or in `control` is not established (posterior probability \
             that it is in `treated`: 50.0 %); the difference of the shares (`treated` minus `control`, before \
             rounding) is 0 (95 % credible interval −0.",
        ),
    ] {
        let sandbox = Sandbox::new();
        let cells = ["control,no", "control,yes", "treated,no", "treated,yes"];
        let rows = cells.iter().zip(counts.split(','));
        let rows: String = rows.map(|(cell, count)| format!("{cell},{count}\n")).collect();
        sandbox.write("cells.csv", &("arm,recovered,noisy\n".to_owned() + &rows));
        let line = BY_SITE.replace(" --by site", "").replace("epsilon=1", "epsilon=500");
        let found = posterior(&sandbox, &format!("{line} --n 100"));
        let sentence = found["sentences"].as_array().unwrap().last().unwrap().as_str().unwrap();
        assert!(sentence.starts_with(words), "{sentence}");
        assert_eq!(sentence.ends_with(", which contains 0)."), counts == "50,0,50,0", "{sentence}");
    }
}

/// Of many shares and comparisons the first are told, and how many are left out; or all.
#[test]
fn every_comparison_is_told_if_that_is_asked_for() {
    let sandbox = Sandbox::new();
    let rows: String = (0..200).map(|i| format!("g{},o{}\n", i % 4, i * i % 5)).collect();
    sandbox.write("d.csv", &("g,o\n".to_owned() + &rows));
    let line = "release --data d.csv --by g --column o --categories g=g0,g1,g2,g3 --categories \
                o=o0,o1,o2,o3,o4 --prior 1 --epsilon 1 --ledger none --out a.json";
    sandbox.succeed(&words(line));
    let told = |more: &str| {
        let found = posterior(&sandbox, &format!("a.json --compare {more}"));
        let sentences = found["sentences"].as_array().unwrap().iter();
        let sentences: Vec<&str> = sentences.map(|one| one.as_str().unwrap()).collect();
        let told = sentences.iter().filter(|one| one.contains("the difference of the shares"));
        (told.count(), sentences.last().unwrap().strip_prefix("Not told here: ").map(str::to_owned))
    };
    let in_tables = ", which are in the tables of `dpbi posterior`.";
    assert_eq!(told("o1,o4"), (6, Some("6 of 12 comparisons".to_owned() + in_tables)));
    let words = "12 shares and 12 of 18 comparisons".to_owned() + in_tables;
    assert_eq!(told("o0,o1,o4"), (6, Some(words)));
    assert_eq!(told("o0,o1,o4 --sentences all"), (18, None));
}

#[test]
fn releases_of_the_same_data_are_joined() {
    let sandbox = sandbox();
    release(&sandbox, "a.json", "--prior 1 --epsilon 1");
    release(&sandbox, "b.json", "--prior 1 --epsilon 0.1");
    release(&sandbox, "c.json", "--prior 2 --epsilon 1");
    let both = posterior(&sandbox, "a.json b.json");
    assert_eq!((&both["spent"], &both["checked_by_ledger"]), (&json!("1.1"), &json!(false)));
    assert!(both["shares"][0]["released"].is_null());
    let width = |one: &Value| float(&one["shares"][0]["high"]) - float(&one["shares"][0]["low"]);
    assert!(width(&both) < width(&posterior(&sandbox, "b.json")));
    let half = posterior(&sandbox, "b.json --level 0.5");
    assert!(width(&half) < width(&posterior(&sandbox, "b.json")));
    refused(&refuses(&sandbox, "a.json a.json"), "given twice");
    refused(&refuses(&sandbox, "a.json c.json"), "another prior");
    refused(&refuses(&sandbox, "a.json --level 2"), "no probability");
    refused(&refuses(&sandbox, "a.json --compare yess"), "did you mean `yes`?");
    refused(&refuses(&sandbox, "absent.json"), "cannot read the release absent.json");
    refused(&refuses(sandbox.write("e.json", ""), "e.json"), "e.json is empty");
}

#[test]
fn a_file_that_no_release_has_made_is_refused() {
    let sandbox = sandbox();
    let whole = release(&sandbox, "a.json", "--prior 1 --mechanism geometric --epsilon 1");
    let changed = |pairs: &[(&str, Value)]| {
        let mut document = whole.clone();
        pairs.iter().for_each(|(key, value)| document[*key] = value.clone());
        sandbox.write("bad.json", &document.to_string());
        refuses(&sandbox, "bad.json")
    };
    for mechanism in ["geometric", "lattice", "tight"] {
        let counts = ("released", json!([1, 1, 2, 1]));
        let outcome = changed(&[("n", json!(2)), ("mechanism", json!(mechanism)), counts]);
        refused(&outcome, "no release has these counts");
    }
    for mechanism in ["ehds", "geometric+remap", "hamming", "lattices"] {
        let outcome = changed(&[("mechanism", json!(mechanism))]);
        refused(&outcome, &format!("was made by `{mechanism}`, which is not read"));
        holds(&outcome.stderr, "geometric-all, lattice and tight");
    }
    for (key, value, words) in [
        ("version", json!(7), "it has version 7"),
        ("format", json!("release"), "does not hold a release"),
        ("released", json!([1, 1, 1]), "do not fit the table"),
        ("released", json!([101, 0, 0, 0]), "a count is 101"),
        ("released", json!([-1, 1, 50, 50]), "damaged"),
        ("n", json!(0), "`n`"),
        ("n", json!(9_007_199_254_740_993_u64), "so many records"),
        ("epsilon", json!("1e-30"), "`epsilon`"),
        ("epsilon", json!("-1"), "`epsilon`"),
        ("prior", json!([1, 1, 1]), "`prior`"),
        ("prior", json!([1, 1, 1, 0]), "`prior`"),
        ("id", json!("../../etc"), "`id`"),
        ("columns", json!([]), "`columns`"),
    ] {
        refused(&changed(&[(key, value)]), words);
    }
    let huge = json!(vec![9_007_199_254_740_991_u64; 4]);
    refused(&changed(&[("n", json!(5)), ("released", huge)]), "a count is");
    refused(&refuses(sandbox.write("bad.json", "["), "bad.json"), "it is not JSON");
}

/// The entry knows what was released: a file that says something else is not believed.
#[test]
fn a_ledger_knows_a_file_that_was_changed() {
    let sandbox = sandbox();
    for out in ["a.json", "b.json"] {
        release(&sandbox, out, "--prior 1 --mechanism lattice --ledger l --epsilon 1");
    }
    let text = sandbox.succeed(&words("posterior a.json b.json"));
    assert!(text.contains("as the file says; nobody has checked them"), "{text}");
    let text = sandbox.succeed(&words("posterior a.json b.json --ledger l"));
    assert!(text.contains("that the ledger l has entered"), "{text}");
    let both = posterior(&sandbox, "a.json b.json --ledger l");
    assert_eq!(both["checked_by_ledger"], true);
    let whole: Value = serde_json::from_str(&sandbox.text("b.json")).unwrap();
    let changed = |key: &str, value: Value| {
        let mut document = whole.clone();
        document[key] = value;
        sandbox.write("b.json", &document.to_string());
        refuses(&sandbox, "a.json b.json --ledger l")
    };
    refused(&changed("epsilon", json!("0.001")), "ε is 0.001 there and 1 in the ledger");
    let outcome = changed("mechanism", json!("geometric-all"));
    refused(&outcome, "the mechanism is geometric-all there and lattice in the ledger");
    // Whatever was released, one record in another cell is possible, and is something else.
    let mut counts: Vec<u64> = serde_json::from_value(whole["released"].clone()).unwrap();
    let most = (0..4).max_by_key(|&cell| counts[cell]).unwrap();
    counts[most] -= 1;
    counts[(most + 1) % 4] += 1;
    refused(&changed("released", json!(counts)), "the counts are others");
    let mut columns = whole["columns"].clone();
    columns[1]["categories"] = json!(["yes", "no"]);
    refused(&changed("columns", columns), "another table");
    let outcome = refuses(&sandbox, "b.json --ledger l");
    refused(&outcome, "its categories or its number of records are others");
}

/// In every site A does better than B, but most of A is where few recover.
const PARADOX: &str = "arm,site,recovered,noisy\nA,x,no,72\nA,x,yes,8\nA,y,no,4\nA,y,yes,16\n\
     B,x,no,19\nB,x,yes,1\nB,y,no,24\nB,y,yes,56\n";

const BY_SITE: &str = "--data cells.csv --by arm --by site --column recovered --count noisy --noise \
     discrete-laplace(epsilon=1) --prior 1 --compare yes";

#[test]
fn sites_with_the_same_weight_turn_a_comparison_round() {
    let sandbox = Sandbox::new();
    sandbox.write("cells.csv", PARADOX);
    let compared = |more: &str| posterior(&sandbox, &format!("{BY_SITE} {more}"));
    let larger = |found: &Value| float(&found["comparisons"][0]["probability_greater"]);
    let (sizes, equal) = (compared(""), compared("--weights equal"));
    assert_eq!(equal["comparisons"][0]["group"], "B");
    assert_eq!((&sizes["averaged"], &equal["averaged"]), (&json!([]), &json!(["site"])));
    assert!(larger(&sizes) > 0.99 && larger(&equal) < 0.3, "{} {}", larger(&sizes), larger(&equal));
    assert_eq!(sizes, compared("--weights posterior"));
    // About the mean of both differences of shares.
    let share = |no: f64, yes: f64| (yes + 1.0) / (no + yes + 2.0);
    let about = 0.5 * (share(19.0, 1.0) + share(24.0, 56.0) - share(72.0, 8.0) - share(4.0, 16.0));
    assert_close(float(&equal["comparisons"][0]["difference"]["mean"]), about, 0.2, "mean");
    let text = sandbox.succeed(&words(&format!("posterior {BY_SITE} --weights equal")));
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "Comparison: the mean of the shares of `yes` in every `site`, all with the same weight",
        "Whether the mean of the shares of `yes` in every `site`, all with the same weight, is larger in `B` or in \
         `A` is not established (posterior probability that it is in `B`: ",
    ] {
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn equal_weights_are_refused_where_there_is_nothing_to_weigh() {
    let sandbox = Sandbox::new();
    sandbox
        .write("cells.csv", PARADOX)
        .write("arms.csv", "arm,recovered,noisy\nA,no,76\nA,yes,24\nB,no,43\nB,yes,57\n");
    let by_arm = BY_SITE.replace(" --by site", "").replace("cells", "arms");
    for (line, cause) in [
        (by_arm + " --weights equal", "there is no column over which shares could be averaged"),
        (format!("{BY_SITE} --weights equal --within site"), "there is nothing to average over"),
        (format!("{BY_SITE} --weights equl"), "a similar value exists: 'equal'"),
    ] {
        let outcome = refuses(&sandbox, &line);
        assert_eq!(outcome.status, 2, "{line}");
        let said = outcome.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(said.contains(cause), "{line}: {said}");
    }
}
