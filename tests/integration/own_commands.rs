//! Mechanisms of the user's own on the command line: `--mechanism '{EXPR}'`, and `inspect --law`.

use std::collections::BTreeMap;

use crate::common::{Outcome, Sandbox, assert_close, holds, number, refused, row, setting, words};
use engine::analysis::audit::Scope;
use engine::mechanism::Mechanism;
use engine::mechanism::own::{self, ProbabilityTable};
use engine::posterior::model::compositions;
use serde_json::Value;

fn own(sandbox: &Sandbox, line: &str, expression: &str) -> Value {
    built_in(sandbox, line, &format!("{{{expression}}}"))
}

fn own_text(sandbox: &Sandbox, line: &str, expression: &str) -> Outcome {
    sandbox.dpbi(&[&words(line)[..], &["--mechanism", &format!("{{{expression}}}")]].concat())
}

fn built_in(sandbox: &Sandbox, line: &str, id: &str) -> Value {
    sandbox.json(&[&words(line)[..], &["--json", "--mechanism", id]].concat())
}

/// `own.rs` compares all expressions with the library.
#[test]
fn an_expression_is_audited_and_inspected_as_the_built_in_mechanism_is() {
    let sandbox = Sandbox::new();
    let (expression, id) = ("-epsilon * H / (2 * LS)", "ehdl");
    let both = |line: &str| [own(&sandbox, line, expression), built_in(&sandbox, line, id)];
    for (line, keys) in [
        ("--n 20 --epsilon 0.7 --at-epsilon 0.2", &["loss", "delta_at", "advantage"][..]),
        ("--n 20 --epsilon 0.7 --scope corners", &["loss"]),
        ("--counts 5,4 --epsilon 1", &["loss"]),
        ("--n 20 --epsilon 0.7 --calibrate", &["inner_epsilon", "mean"]),
    ] {
        let [mine, theirs] = both(&format!("audit --prior 1,2 {line}"));
        assert!(mine["mechanism"].as_str().unwrap().contains(expression));
        for key in keys {
            let tolerance = if line.ends_with("calibrate") { 1e-9 } else { 1e-12 };
            assert_close(number(&mine, key), number(&theirs, key), tolerance, line);
        }
        assert_eq!(mine["pairs"], theirs["pairs"]);
    }
    // Several, beside one that has a name.
    let line = "inspect --prior 1,1 --counts 12,8 --epsilon 0.7 --mechanism ehdl,{-d},{-d}";
    let found = own(&sandbox, line, expression);
    let ids: Vec<&Value> =
        found["mechanisms"].as_array().unwrap().iter().map(|row| &row["id"]).collect();
    assert_eq!(ids, ["ehdl", "{-d}", "{-epsilon * H / (2 * LS)}"]);
    let [mine, theirs] = [ids[2], ids[0]].map(|id| row(&found, id.as_str().unwrap()));
    assert_eq!(mine["guarantee"], "none stated");
    for key in ["mean", "std", "p_exact", "median", "q90"] {
        assert_close(number(mine, key), number(theirs, key), 1e-12, key);
    }
}

#[test]
fn an_audit_says_what_is_computed_and_for_what() {
    let sandbox = Sandbox::new();
    let text = |line: &str| own_text(&sandbox, line, "-epsilon * H / (2 * LS)").stdout;
    let plain = text("audit --prior 1,1 --n 50 --epsilon 1");
    assert!(
        plain.contains("none stated; the loss below is computed for n = 50, prior (1, 1)"),
        "{plain}"
    );
    assert!(plain.contains("-epsilon * H / (2 * LS)") && plain.contains("at output"), "{plain}");
    assert!(!plain.contains("not private") && !plain.contains("proved"), "{plain}");
    let calibrated = text("audit --prior 1,0.5 --n 12 --epsilon 1 --calibrate");
    assert!(calibrated.contains("1-private, computed for n = 12, prior (1, 0.5)"), "{calibrated}");
}

#[test]
fn choose_and_optimum_calibrate_expressions() {
    let sandbox = Sandbox::new();
    let calibrated = "{-epsilon * H / (2 * LS)}+calibrated";
    let remapped = "{-epsilon * H / (2 * LS)}+calibrated+remap";
    let pairs = [(calibrated, "ehdl+calibrated"), (remapped, "ehdl+calibrated+remap")];
    let named = pairs.map(|(mine, theirs)| format!("{mine},{theirs}")).join(",");
    let found = built_in(&sandbox, "choose --prior 1,1 --n 12 --epsilon 0.7", &named);
    for (mine, theirs) in pairs {
        assert_eq!(row(&found, mine)["guarantee"], "0.7-private, computed");
        for key in ["mean", "median", "q95"] {
            let [mine, theirs] = [mine, theirs].map(|id| number(row(&found, id), key));
            assert_close(mine, theirs, 1e-9, key);
        }
    }
    let line = "choose --prior 1,1 --n 12 --epsilon 0.7 --all --mechanism ehdl";
    let all = own(&sandbox, line, " -epsilon * H / (2 * LS) ");
    let [mine, theirs] = ["{-epsilon * H / (2 * LS)}", "ehdl"].map(|id| row(&all, id));
    assert_close(number(mine, "mean"), number(theirs, "mean"), 1e-12, "plain");
    // What is not private is never recommended.
    assert_ne!(all["choice"], mine["id"]);
    // The least ε, too.
    let ids = ["{-epsilon*d/2}+calibrated", "hamming+calibrated"];
    let found = built_in(&sandbox, "choose --prior 1,1 --n 8 --error 0.2", &ids.join(","));
    let [mine, theirs] = ids.map(|id| number(row(&found, id), "epsilon"));
    assert_close(mine, theirs, 1e-6, "the least ε");

    let line = "optimum --prior 1,1 --n 8 --epsilon 0.7";
    let found = built_in(&sandbox, line, &named);
    for (mine, theirs) in pairs {
        let [mine, theirs] = [mine, theirs].map(|id| row(&found, id));
        for key in ["mean", "ratio", "worst"] {
            assert_close(number(mine, key), number(theirs, key), 1e-9, key);
        }
        assert_eq!((&mine["calibrated"], &mine["remap"]), (&true.into(), &theirs["remap"]));
    }
}

/// Two expressions of the same errors are two mechanisms.
#[test]
fn equal_expressions_are_not_taken_for_idle_options() {
    let sandbox = Sandbox::new();
    let line = "choose --prior 1,1 --n 8 --epsilon 1 --mechanism geometric,{-d}+calibrated,\
                {-d}+calibrated+remap,{-l1/2}+calibrated,{-l1/2}+calibrated+remap";
    let text = sandbox.dpbi(&words(line)).stdout;
    assert!(text.contains("  {-d}+calibrated, {-l1/2}+calibrated "), "{text}");
    assert!(text.contains("nothing: {-d}+calibrated+remap, {-l1/2}+calibrated+remap"), "{text}");
}

#[test]
fn a_long_expression_is_whole_in_json_and_short_in_tables() {
    let sandbox = Sandbox::new();
    let long = format!("-epsilon*d/2{}", "+0*d".repeat(60));
    for line in [
        "audit --prior 1,1 --n 8 --epsilon 1",
        "inspect --prior 1,1 --counts 4,4 --epsilon 1",
        "choose --prior 1,1 --n 8 --epsilon 1 --mechanism geometric",
        "optimum --prior 1,1 --n 8 --epsilon 1 --tuned --minimax --mechanism geometric",
    ] {
        let mine = format!("{{{long}}}");
        let args = [&words(line)[..], &["--mechanism", &mine]].concat();
        for width in [80, 120] {
            let Outcome { status, stdout, stderr } = sandbox.dpbi_within(width, &args);
            assert_eq!(status, 0, "{line}: {stderr}");
            assert!(stdout.contains("-epsilon*d/2") && stdout.contains('…'), "{stdout}");
            assert!(stdout.lines().all(|line| line.chars().count() <= width), "{stdout}");
        }
        assert!(own(&sandbox, line, &long).to_string().contains(&long), "{line}");
    }
}

#[test]
fn a_message_points_into_the_expression() {
    let sandbox = Sandbox::new();
    // Expression, what is marked, words of the message.
    let cases: [(&str, &str, &[&str]); 10] = [
        ("-epsilon * banana", "banana", &["unknown name `banana`"]),
        ("-epsilom * d", "epsilom", &["did you mean `epsilon`?"]),
        ("-min(d)", "min(d)", &["min"]),
        ("-log(d)", "log", &["`ln` is the natural logarithm"]),
        ("-(d + 1", "(", &[]),
        ("-1/(r1-3)", "-1/(r1-3)", &["3;5"]),
        ("ln(r1 - 2)", "ln(r1 - 2)", &["8;0", "0;8"]),
        ("-d * r3", "r3", &["there are 2 categories"]),
        ("-epsilon * t^2 * H", "H", &["noise cannot depend on `H`"]),
        ("-d / delta", "delta", &["needs a delta"]),
    ];
    for line in [
        "audit --prior 1,1 --n 8 --epsilon 1",
        "audit --prior 1,1 --n 8 --epsilon 1 --calibrate",
        "inspect --prior 1,1 --counts 8,0 --epsilon 1",
        "choose --prior 1,1 --n 8 --epsilon 1 --mechanism geometric",
        "optimum --prior 1,1 --n 8 --epsilon 1 --mechanism geometric",
    ] {
        for (expression, marked, said) in cases {
            let outcome = own_text(&sandbox, line, expression);
            refused(&outcome, "--mechanism:1:");
            let lines: Vec<&str> = outcome.stderr.lines().collect();
            let place = lines.iter().position(|line| line.starts_with(" 1 | ")).unwrap();
            assert_eq!(lines[place], format!(" 1 | {expression}"));
            let mark = lines[place + 1];
            let (start, end) = (mark.find('^').unwrap(), mark.len());
            assert_eq!(&lines[place][start..end], marked, "{line}: {}", outcome.stderr);
            for words in said {
                assert!(outcome.stderr.contains(words), "{words}: {}", outcome.stderr);
            }
        }
    }
    // A fault at other data than the first is found, too.
    let late = own_text(&sandbox, "audit --prior 1,1 --n 8 --epsilon 1", "-1/(x1-3)");
    refused(&late, "--mechanism:1:1");
    holds(&late.stderr, "(3;5)");
    // A law that cannot be normalised.
    refused(&own_text(&sandbox, "audit --prior 1,1 --n 8 --epsilon 1", "abs(t)"), "--mechanism:1:");
}

/// Writes the law and reads it back.
fn round_trip(id: &str, prior: &[f64], counts: &[u64]) {
    let sandbox = Sandbox::new();
    let [alpha, x] =
        [engine::posterior::model::vector(prior), engine::posterior::model::vector(counts)]
            .map(|list| list.replace(';', ","));
    let args = ["inspect", "--prior", &alpha, "--counts", &x, "--epsilon", "0.7", "--json"];
    let more = ["--mechanism", id, "--law", "law.csv"];
    let told = sandbox.json(&[&args[..], &more].concat());
    let bytes = sandbox.read("law.csv");
    let text = String::from_utf8(bytes.clone()).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().skip(1).map(|row| row.split(',').collect()).collect();
    let mut sums: BTreeMap<Vec<u64>, f64> = BTreeMap::new();
    let mut keys: Vec<Vec<u64>> = Vec::new();
    for row in &rows {
        let key: Vec<u64> = row[0].split(';').map(|count| count.parse().unwrap()).collect();
        *sums.entry(key.clone()).or_default() += row[2].parse::<f64>().unwrap();
        keys.push(key);
    }
    assert!(keys.is_sorted(), "{id}");
    assert!(sums.values().all(|sum| (sum - 1.0).abs() < 1e-12), "{id}: {sums:?}");
    let n = counts.iter().sum();
    assert_eq!(Some(sums.len() as u128), compositions(n, counts.len()), "{id}");
    assert_eq!(told["law"]["rows"], rows.len());
    assert_eq!(told["law"]["data_sets"], sums.len());

    let table = ProbabilityTable::parse(&bytes).unwrap();
    let digest = lab::run::store::sha256(&bytes);
    let mine = Mechanism::plain(own::table("law.csv".to_owned(), digest, table));
    let setting = setting(prior, counts, 0.7, "hellinger");
    let both = [mine, Mechanism::parse(id).unwrap()].map(|one| one.prepare(&setting).unwrap());
    let losses = both.each_ref().map(|one| one.loss(&Scope::All, &[]).unwrap().loss.loss);
    assert_close(losses[0], losses[1], 1e-12, id);
    let means = both.each_ref().map(|one| one.error().unwrap().unwrap().mean);
    assert_close(means[0], means[1], 1e-12, id);
}

#[test]
fn a_law_that_was_written_is_read_as_the_same_mechanism() {
    for id in ["ehds", "tight", "hamming+calibrated", "geometric+remap"] {
        round_trip(id, &[1.0, 1.0], &[5, 4]);
        round_trip(id, &[1.0, 2.0, 0.5], &[2, 1, 1]);
    }
    round_trip("geometric-all", &[1.0, 2.0, 0.5], &[2, 1, 1]);
    round_trip("lattice", &[1.0, 1.0, 1.0], &[2, 1, 1]);
    round_trip("lattice+remap", &[1.0, 1.0, 1.0], &[2, 1, 1]);
    round_trip("tight", &[1.0, 1.0], &[0, 0]);
}

/// What is too small for a double stays in the table.
#[test]
fn tiny_probabilities_are_written() {
    let sandbox = Sandbox::new();
    let line = "inspect --prior 1,1 --counts 3,3 --epsilon 1000 --mechanism hamming --law law.csv";
    sandbox.succeed(&words(line));
    let bytes = sandbox.read("law.csv");
    let table = ProbabilityTable::parse(&bytes).unwrap();
    let ln_p = table.row(&[6, 0], 1.0)[&vec![0, 6]];
    assert!((ln_p + 3000.0).abs() < 1e-9, "{ln_p}");
}

#[test]
fn the_law_of_an_expression_is_written_and_told() {
    let sandbox = Sandbox::new();
    let line = "inspect --prior 1,1 --counts 3,3 --epsilon 1 --law law.csv";
    let outcome = own_text(&sandbox, line, "if(d > 2, ln(0), -d)");
    assert!(
        outcome.stdout.contains("wrote law.csv: the law at 7 data sets, 29 rows"),
        "{}{}",
        outcome.stdout,
        outcome.stderr
    );
    let text = sandbox.text("law.csv");
    assert_eq!(text.lines().next(), Some("counts,output,probability"));
    // An earlier table is replaced.
    holds(&own_text(&sandbox, line, "-d").stdout, "49 rows");
}

#[test]
fn laws_that_cannot_be_written() {
    let sandbox = Sandbox::new();
    let law = |line: &str| sandbox.dpbi(&words(&format!("inspect --epsilon 1 {line}")));
    refused(&law("--prior 1,1 --counts 3,3 --law a.csv"), "no mechanism is given");
    refused(&law("--prior 1,1 --counts 3,3 --law a.csv --mechanism ehd,ehds"), "2 mechanisms");
    refused(&law("--prior 1,1 --counts 3,3 --law a.csv --mechanism ehd,{-d}"), "2 mechanisms");
    refused(
        &law("--prior 1,1,1 --counts 40,40,40 --law a.csv --mechanism ehds"),
        "7381 data sets of 120 records with 7381 outputs each make up to 5.4e7 rows (5e6 at most)",
    );
    refused(
        &law("--prior 1,1 --counts 3,3 --law absent/a.csv --mechanism ehds"),
        "cannot write to absent",
    );
    refused(
        &law("--prior 1,1 --counts 6,0 --law a.csv --mechanism {-1/(x1-3)}"),
        "--mechanism:1:1",
    );
    assert!(!sandbox.path("a.csv").exists());
}

#[test]
fn a_profile_of_laws_of_two_kinds_is_computed() {
    let sandbox = Sandbox::new();
    let line = "audit --prior 1,1 --epsilon 3 --n 60 --profile";
    let found = own(&sandbox, line, "-epsilon * d * min(x1, 1)");
    assert!(number(&found, "advantage") > 0.5 && found["trade_off"]["points"].is_array());
}

/// A table is a mechanism of the command line, and is calibrated by a power of its probabilities: as a mechanism whose
/// log weights ε multiplies.
#[test]
fn a_table_is_a_mechanism_and_can_be_calibrated() {
    let sandbox = Sandbox::new();
    let law = "inspect --prior 1,1,1 --counts 3,3,2 --epsilon 0.7 -m hamming --law h.csv";
    assert_eq!(sandbox.dpbi(&words(law)).status, 0);
    let asked = "audit --prior 1,1,1 --n 8 --epsilon 0.7 --json -m";
    for tuning in ["", "+calibrated", "+remap", "+calibrated+remap"] {
        let ours = sandbox.json(&words(&format!("{asked} table:h.csv{tuning}")));
        let theirs = sandbox.json(&words(&format!("{asked} hamming{tuning}")));
        assert_eq!(ours["mechanism"], format!("table:h.csv{tuning}"));
        assert_close(number(&ours, "loss"), number(&theirs, "loss"), 1e-10, tuning);
        if tuning.starts_with("+calibrated") {
            assert_close(number(&ours, "mean"), number(&theirs, "mean"), 1e-10, tuning);
            let factor = number(&theirs, "inner_epsilon") / 0.7;
            assert_close(number(&ours, "factor"), factor, 1e-9, tuning);
        }
    }
    let listed =
        "choose --prior 1,1,1 --n 8 --epsilon 0.7 --json -m hamming,table:h.csv+calibrated";
    let rows = sandbox.json(&words(listed));
    assert_eq!(rows["mechanisms"].as_array().map(Vec::len), Some(2));
    for (prior, file, words_of_it) in [
        ("1,1", "h.csv", "the table has 3 categories, and the prior 2"),
        ("1,1,1", "absent.csv", "cannot read absent.csv"),
        ("1,1,1", "law.csv", "law.csv:2"),
    ] {
        sandbox.write("law.csv", "counts,output,probability\n0;1,0;1,half\n");
        let line = format!("audit --prior {prior} --n 8 --epsilon 1 -m table:{file}");
        refused(&sandbox.dpbi(&words(&line)), words_of_it);
    }
    // A table that tells the data cannot be calibrated: its loss is infinite, whatever the power.
    let truth: String = (0..=3).map(|x| format!("{x};{0},{x};{0},1\n", 3 - x)).collect();
    sandbox.write("truth.csv", &format!("counts,output,probability\n{truth}"));
    let line = "audit --prior 1,1 --n 3 --epsilon 1 -m table:truth.csv+calibrated";
    refused(&sandbox.dpbi(&words(line)), "cannot be calibrated");
}
