//! The least error of any private mechanism, against independent values.

use crate::common::{Sandbox, golden, holds, of_size, refused, setting, words};
use engine::analysis::optimum::{Goal, Optimum, Question, answer};
use engine::mechanism::law::OutputSet;
use engine::mechanism::{self, Mechanism, Options};
use serde_json::Value;

/// The golden values are accurate to 5e-7.
#[test]
fn golden_optima() {
    let rows = golden("optimum.csv");
    assert_eq!(rows.len(), 15);
    for row in rows {
        let prior: Vec<f64> = row.vector("prior");
        let n = row.number("n") as u64;
        let setting = of_size(&prior, n, row.number("epsilon"), "hellinger");
        for (goal, column) in [(Goal::Bayes, "bayes"), (Goal::Minimax, "minimax")] {
            let question = Question::pure(goal, OutputSet::Simplex);
            let optimum = answer(&setting, question, &|_| ()).unwrap();
            let error = (optimum.value - row.number(column)).abs();
            assert!(error <= 1e-6, "{prior:?} {column}: {} is off by {error:.1e}", optimum.value);
            // 3e-8 at most when this was written.
            assert!(optimum.upper - optimum.lower <= 1e-7, "{prior:?} {column}");
        }
    }
}

#[test]
fn geometric_noise_is_optimal_where_the_prior_is_flat() {
    let geometric = mechanism::find("geometric").unwrap();
    let options = Options { remap: true, ..Options::default() };
    let remapped = Mechanism::new(geometric, options, "remapped".into());
    let cases = [
        (10, 1.0, Mechanism::plain(geometric)),
        (20, 1.0, Mechanism::plain(geometric)),
        (50, 1.0, Mechanism::plain(geometric)),
        (20, 0.1, remapped),
    ];
    for (n, epsilon, variant) in cases {
        let setting = setting(&[1.0, 1.0], &[n, 0], epsilon, "hellinger");
        let optimum = Optimum::of(&setting).unwrap();
        let found = variant.prepare(&setting).unwrap().error().unwrap().unwrap();
        assert!((found.mean - optimum.value).abs() < 1e-9, "{n}: {found:?} {}", optimum.value);
        assert!(found.mean >= optimum.lower - 1e-13);
    }
}

#[test]
fn no_private_mechanism_beats_the_optimum() {
    let sandbox = Sandbox::new();
    for (prior, n, epsilon) in [("1,1", "12", "0.5"), ("0.4,3", "9", "2"), ("1,2,1", "5", "1")] {
        let found = sandbox.json(&[
            "optimum",
            "--prior",
            prior,
            "--n",
            n,
            "--epsilon",
            epsilon,
            "--minimax",
            "--json",
            "--tuned",
        ]);
        let mechanisms = found["mechanisms"].as_array().unwrap();
        assert!(mechanisms.len() > 15);
        let means: Vec<f64> = mechanisms.iter().map(|m| m["mean"].as_f64().unwrap()).collect();
        assert!(means.is_sorted());
        for mechanism in mechanisms {
            // These release any total, so they are not bound by the optimum within R.
            let free = ["lszhang", "geometric-all"].map(Value::from).contains(&mechanism["id"]);
            let bound = |key: &str| mechanism[key].as_f64().unwrap() >= 1.0 - 1e-6;
            let remapped = mechanism["remap"] == true;
            assert!(free && !remapped || bound("ratio") && bound("worst_ratio"), "{mechanism}");
        }
    }
}

#[test]
fn the_command_prints_what_was_found() {
    let sandbox = Sandbox::new();
    let base = ["optimum", "--prior", "1,1", "--n", "20", "--epsilon", "0.1"];
    let found = sandbox.json(&[&base[..], &["--json", "--mechanism", "geometric,ehds"]].concat());
    assert!((found["bayes"].as_f64().unwrap() - 0.561_477_3).abs() < 5e-8);
    assert!(found["minimax"].is_null());
    let geometric = &found["mechanisms"][0];
    assert_eq!(geometric["id"], "geometric");
    assert!((geometric["mean"].as_f64().unwrap() - 0.6420).abs() < 5e-5, "{geometric}");
    assert!((geometric["ratio"].as_f64().unwrap() - 1.1434).abs() < 5e-5, "{geometric}");
    let certificate = &found["bayes_certificate"];
    let number = |key: &str| certificate[key].as_f64().unwrap();
    assert!(number("upper") - number("lower") < 1e-9 && number("gap") < 1e-8);
    assert!(number("loss") <= 0.1 + 1e-13);

    let below = sandbox.json(&[&base[..], &["--json", "--release-set", "below"]].concat());
    assert!((below["bayes"].as_f64().unwrap() - 0.5345).abs() < 5e-5);
    let text = sandbox.succeed(&[&base[..], &["--minimax"]].concat());
    assert!(text.contains("0.561477286") && text.contains("× minimax"), "{text}");
    assert!(!text.contains("ehdl"), "not private, and not asked for: {text}");
    assert!(sandbox.succeed(&[&base[..], &["--all"]].concat()).contains("ehdl"));
}

#[test]
fn the_command_knows_delta() {
    let sandbox = Sandbox::new();
    let base = ["optimum", "--prior", "1,1", "--n", "20", "--epsilon", "1", "--delta", "1e-2"];
    let found = sandbox.json(&[&base[..], &["--json", "--mechanism", "geometric"]].concat());
    assert!((found["bayes"].as_f64().unwrap() - 0.141_365_4).abs() < 5e-8);
    assert_eq!(found["delta"], 0.01);
    let spent = found["bayes_certificate"]["delta"].as_f64().unwrap();
    assert!(spent > 0.0099 && spent <= 0.01, "{spent}");
    let text = sandbox.succeed(&[&base[..], &["--mechanism", "geometric"]].concat());
    assert!(text.contains("(ε, δ)-private release") && text.contains("δ = 0.01"), "{text}");
}

/// The linear program as a whole would need an hour.
#[test]
fn a_large_program_is_solved_in_rounds() {
    let sandbox = Sandbox::new();
    let args = ["optimum", "--prior", "1,1,1", "--n", "50", "--epsilon", "1", "--json"];
    let found = sandbox.json(&[&args[..], &["--mechanism", "geometric"]].concat());
    assert!((found["bayes"].as_f64().unwrap() - 0.254_427_262).abs() < 1e-9);
    let certificate = &found["bayes_certificate"];
    let number = |key: &str| certificate[key].as_f64().unwrap();
    assert!(number("upper") - number("lower") < 1e-9 && number("loss") <= 1.0 + 1e-13);
    assert!(certificate["status"].as_str().unwrap().starts_with("column generation"));
}

#[test]
fn the_optimal_mechanism_is_written() {
    let sandbox = Sandbox::new();
    let args = ["optimum", "--prior", "1,1", "--n", "6", "--epsilon", "1", "--out", "o"];
    let text = sandbox.succeed(&[&args[..], &["--minimax", "--format", "svg,png"]].concat());
    assert!(text.contains("bayes.csv"), "{text}");
    for file in ["bayes.csv", "bayes.svg", "bayes.png", "minimax.csv", "minimax.svg"] {
        assert!(!sandbox.read(&format!("o/optimum/{file}")).is_empty(), "{file}");
    }
    let table = sandbox.text("o/optimum/bayes.csv");
    let mut rows = csv::Reader::from_reader(table.as_bytes());
    let mut sums = std::collections::BTreeMap::new();
    for row in rows.records().map(Result::unwrap) {
        *sums.entry(row[0].to_owned()).or_insert(0.0) += row[2].parse::<f64>().unwrap();
    }
    assert_eq!(sums.len(), 7);
    assert!(sums.values().all(|sum: &f64| (sum - 1.0).abs() < 1e-14), "{sums:?}");
    // The same bytes again, whatever the threads.
    sandbox.succeed(&[&args[..], &["--minimax", "--format", "none", "--threads", "1"]].concat());
    assert_eq!(sandbox.read("o/optimum/bayes.csv"), table.as_bytes());
}

#[test]
fn the_command_at_the_edges() {
    let sandbox = Sandbox::new();
    let at = |n: &str, epsilon: &str| {
        let args = ["optimum", "--prior", "1,1,2", "--n", n, "--epsilon", epsilon, "--json"];
        sandbox.json(&[&args[..], &["--minimax"]].concat())
    };
    let none = at("0", "1");
    assert_eq!((none["bayes"].as_f64(), none["minimax"].as_f64()), (Some(0.0), Some(0.0)));
    assert!(none["mechanisms"].as_array().unwrap().iter().all(|m| m["ratio"].is_null()));
    let one = at("1", "1");
    assert!(one["bayes"].as_f64().unwrap() > 0.0 && one["mechanisms"][0]["ratio"].is_number());
    assert!(at("5", "80")["bayes"].as_f64().unwrap() < 1e-30);
}

#[test]
fn the_command_refuses_what_makes_no_sense() {
    let sandbox = Sandbox::new();
    for (line, expected) in [
        ("--prior 1 --n 4 --epsilon 1", "at least two categories"),
        ("--prior 1,0 --n 4 --epsilon 1", "parameter 2"),
        ("--prior 1,1 --n -3 --epsilon 1", "a number of records is a whole number"),
        ("--prior 1,1 --n 4 --epsilon 0", "epsilon is 0"),
        ("--prior 1,1 --n 4 --epsilon 1 --mechanism mh-beta", "needs a delta"),
        ("--prior 1,1 --n 9007199254740993 --epsilon 1", "more records than dpbi can count"),
        ("--prior 1,1 --n 2000000000 --epsilon 1", "n = "),
        ("--prior 0.2,0.2 --n 4 --epsilon 1 --distance print --release-set below", "print"),
    ] {
        let outcome = sandbox.dpbi(&words(&format!("optimum {line}")));
        assert!(outcome.status == 2 && outcome.stdout.is_empty(), "{line}: {}", outcome.stderr);
        holds(&outcome.stderr, expected);
    }
}

/// The linear program would have 22 million unknowns; flows need none.
#[test]
fn flows_answer_for_many_records() {
    let sandbox = Sandbox::new();
    let args =
        ["optimum", "--prior", "1,1,1", "--n", "150", "--epsilon", "1.4", "--mechanism", "tight"];
    let found = sandbox.json(&[&args[..], &["--json"]].concat());
    let [certificate, tight] = [&found["bayes_certificate"], &found["mechanisms"][0]];
    assert_eq!(certificate["method"], "flows");
    let number = |value: &Value, key: &str| value[key].as_f64().unwrap();
    let bound = number(tight, "bound");
    assert_eq!(bound, number(tight, "mean") / number(certificate, "lower"));
    // 0.44 % when this was written; the threshold of optimality is near 1.9.
    assert!(bound > 1.0 && bound < 1.006, "{bound}");
    assert!(
        found["bayes"].is_null()
            || number(certificate, "upper") < 1.001 * number(certificate, "lower")
    );
    let text = sandbox.succeed(&args);
    assert!(text.contains("Proved by flows: `tight` is at most 0."), "{text}");
    assert!(text.contains(" % above the least possible error"), "{text}");
}

/// What a certificate says is checked by a script in Python, from the file alone.
#[test]
fn a_certificate_is_checked_by_somebody_else() {
    let sandbox = Sandbox::new();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/check_certificate.py");
    let check = |file: &str| {
        let file = sandbox.path(file);
        std::process::Command::new("python3").arg(script).arg(file).output()
    };
    for (prior, n, epsilon) in [("1,1,1", "12", "1"), ("0.5,2,1", "6", "0.7"), ("1,1", "15", "0.5")]
    {
        let args = ["optimum", "--prior", prior, "--n", n, "--epsilon", epsilon];
        sandbox
            .succeed(&[&args[..], &["--mechanism", "tight", "--certificate", "c.json"]].concat());
        // The tests do not need Python; where there is none, nobody checks the file.
        let Ok(outcome) = check("c.json") else { return };
        let said = String::from_utf8_lossy(&outcome.stdout).into_owned();
        assert!(outcome.status.success(), "{prior}: {}", String::from_utf8_lossy(&outcome.stderr));
        assert!(said.contains("The certificate holds."), "{said}");
        // A price that is too high is found out.
        let mut file: Value = serde_json::from_str(&sandbox.text("c.json")).unwrap();
        let price = file["prices"][2].as_f64().unwrap();
        file["prices"][2] = Value::from(price * (1.0 + 1e-6) + 1e-9);
        sandbox.write("c.json", &file.to_string());
        assert_eq!(check("c.json").unwrap().status.code(), Some(1), "{prior}");
    }
    let many = ["optimum", "--prior", "1,1,1", "--n", "100", "--epsilon", "1"];
    refused(&sandbox.dpbi(&[&many[..], &["--certificate", "c.json"]].concat()), "n = 43 would do");
    let minimax = ["--minimax", "--certificate", "c.json"];
    assert_eq!(sandbox.dpbi(&[&many[..], &minimax].concat()).status, 2);
}
