//! `dpbi prior` as a user types it.

use serde_json::Value;

use crate::common::{Sandbox, assert_close, float, words};

fn found(args: &str) -> Value {
    let args = words(args);
    Sandbox::new().json(&[&["prior", "--json"], &args[..]].concat())
}

/// The totals are those of SciPy 1.17.1.
#[test]
fn a_mean_and_an_interval_give_a_beta() {
    let beta = found("--mean 0.2 --interval 0.1,0.35 --level 0.9");
    assert_close(float(&beta["records"]), 28.970_776_799_805, 1e-9, "records");
    assert_close(float(&beta["prior"][0]), 0.2 * 28.970_776_799_805, 1e-9, "α");
    assert_close(float(&beta["probability"]), 0.9, 1e-12, "probability");
    assert_eq!(beta["rounded"], serde_json::json!([5.79, 23.18]));
    let rounded = float(&beta["rounded_probability"]);
    assert!((rounded - 0.9).abs() < 1e-3 && rounded != 0.9, "{rounded}");
    let deviation = (0.2 * 0.8 / 29.970_776_799_805_f64).sqrt();
    assert_close(float(&beta["standard_deviation"][0]), deviation, 1e-9, "deviation");
    // Both tails alike, with another mean.
    let tails = found("--interval 0.1,0.35");
    assert_close(float(&tails["prior"][0]), 5.894_101_83, 1e-7, "α");
    assert_close(float(&tails["prior"][1]), 21.772_725_31, 1e-7, "β");
    assert_close(float(&tails["intervals"][0][0]), 0.1, 1e-9, "lower end");
    assert_close(float(&tails["intervals"][0][1]), 0.35, 1e-9, "upper end");
}

#[test]
fn several_means_give_a_dirichlet() {
    let first = found("--mean 0.5,0.3,0.2 --interval 0.4,0.6 --level 0.95");
    assert_close(float(&first["records"]), 94.599_644_408_526, 1e-9, "records");
    let third = found("--mean 0.5,0.3,0.2 --interval 0.1,0.35 --category 3");
    assert_close(float(&third["records"]), 28.970_776_799_805, 1e-9, "records");
    assert_eq!(third["category"], 3);
    let ten = found("--mean 0.5,0.3,0.2 --records 10");
    assert_eq!(ten["prior"], serde_json::json!([5.0, 3.0, 2.0]));
    assert_eq!(ten["probability"], Value::Null);
}

#[test]
fn the_answer_ends_with_the_flag_to_paste() {
    let sandbox = Sandbox::new();
    let line = ["prior", "--mean", "0.2", "--interval", "0,0.25", "--level", "0.7"];
    let text = sandbox.succeed(&line);
    assert!(text.contains("A prior worth 1.540 records fits, too."), "{text}");
    let flag = text.lines().find_map(|line| line.trim().strip_prefix("--prior ")).expect("a flag");
    let inspected = ["inspect", "--prior", flag, "--counts", "1,2", "--epsilon", "1"];
    sandbox.succeed(&inspected);
}

#[test]
fn what_contradicts_itself_is_refused_with_a_remedy() {
    let sandbox = Sandbox::new();
    for (args, cause) in [
        ("--mean 0.5 --interval 0.1,0.35", "is not inside the interval"),
        ("--mean 0.5,0.3 --interval 0.4,0.6", "they add up to 0.8"),
        ("--mean 1 --interval 0.4,1", "is no mean of a share"),
        ("--mean 0.2 --interval 0.1", "two are needed"),
        ("--mean 0.2 --interval 0,1", "says nothing"),
        ("--mean 0.2 --interval=-1,0.3", "between 0 and 1"),
        ("--mean 0.2 --interval NaN,0.3", "between 0 and 1"),
        ("--mean 0.2 --interval 0.1,0.35 --level 1", "no probability of an interval"),
        ("--mean 0.2 --interval 0,0.25 --level 0.5", "use a higher --level"),
        ("--mean 0.2 --interval 0.1999999,0.2000001", "too narrow"),
        ("--mean 0.2 --interval 0.1,0.35 --category 3", "from 1 to 2"),
        ("--interval 0,0.35", "only one tail"),
        ("--mean 0.2 --records 0", "cannot be used"),
        ("--mean 0.2 --records inf", "cannot be used"),
    ] {
        let args = words(args);
        let outcome = sandbox.dpbi(&[&["prior"], &args[..]].concat());
        assert_eq!(outcome.status, 2, "{args:?}");
        let said = outcome.stderr.replace("\n", " ");
        assert!(said.contains(cause) && said.contains("help:"), "{args:?}: {said}");
        assert!(outcome.stdout.is_empty());
    }
}
