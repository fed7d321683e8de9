//! `dpbi audit` as a user types it.

use crate::common::{GoldenRow, Sandbox, assert_close, golden, holds, number, refused, words};
use serde_json::Value;

fn audit(sandbox: &Sandbox, args: &str) -> Value {
    let args = words(args);
    sandbox.json(&[&["audit", "--json"], &args[..]].concat())
}

/// The arguments of a golden row's prior, n, ε and mechanism.
fn typed(row: &GoldenRow) -> String {
    let [prior, n, epsilon, id] = ["prior", "n", "epsilon", "mechanism"].map(|name| row.text(name));
    let prior = prior.replace(';', ",");
    format!("--prior {prior} --n {n} --epsilon {epsilon} --mechanism {id}")
}

/// `golden.rs` compares all rows with the library.
#[test]
fn a_golden_loss_and_a_golden_calibration() {
    let sandbox = Sandbox::new();
    let row = &golden("privacy.csv")[30];
    let (delta, at) = (row.text("delta"), row.text("at_epsilon"));
    let found = audit(&sandbox, &format!("{} --delta {delta} --at-epsilon {at}", typed(row)));
    assert_eq!(found["mechanism"], row.text("mechanism"));
    assert_close(number(&found, "loss"), row.number("loss"), 1e-10, "loss");
    assert!((number(&found, "delta_at") - row.number("delta_at")).abs() <= 1e-11);
    // Total variation is no smaller than any δ.
    assert!(number(&found, "advantage") >= number(&found, "delta_at"));

    let row = &golden("calibration.csv")[10];
    let found = audit(&sandbox, &format!("{} --calibrate", typed(row)));
    assert_close(number(&found, "inner_epsilon"), row.number("inner_epsilon"), 1e-7, "inner ε");
    assert_close(number(&found, "mean"), row.number("mean_hellinger_predictive"), 1e-7, "mean");
    let (loss, target) = (number(&found, "loss"), row.number("epsilon"));
    assert!(loss <= target && loss > target - 1e-6, "{loss}");
    let certificate = &found["certificate"];
    assert_eq!(certificate["loss"], found["loss"]);
    assert!(number(certificate, "margin") > 0.0 && number(certificate, "pairs") > 0.0);
    // The plain mechanism at the inner ε is the same mechanism (hamming and ehd* know no other ε).
    let [stated, inner] = [row.text("epsilon"), &number(&found, "inner_epsilon").to_string()]
        .map(|epsilon| format!("--epsilon {epsilon} "));
    let plain = typed(row).replace(&stated, &inner);
    assert_eq!(audit(&sandbox, &plain)["loss"], found["loss"], "{plain}");
}

#[test]
fn profile_and_trade_off_agree_with_loss_and_advantage() {
    let sandbox = Sandbox::new();
    for mechanism in ["lszhang", "geometric", "ehds", "hamming", "ehd+calibrated", "lshist+remap"] {
        let args = format!("--prior 1,2 --n 12 --epsilon 0.8 --mechanism {mechanism} --profile");
        let found = audit(&sandbox, &args);
        let points = |value: &Value| -> Vec<(f64, f64)> {
            let pair = |p: &Value| (p[0].as_f64().unwrap(), p[1].as_f64().unwrap());
            value.as_array().unwrap().iter().map(pair).collect()
        };
        let profile = points(&found["profile"]);
        assert_eq!(profile[0], (0.0, number(&found, "advantage")), "{mechanism}");
        assert_eq!(profile.last().unwrap().0, number(&found, "loss"));
        assert!(profile.last().unwrap().1 < 1e-15, "{mechanism}");
        assert!(profile.windows(2).all(|w| w[0].1 > w[1].1), "{mechanism}");
        // Convex in e^ε, and never above what pure privacy at the loss allows.
        let loss = number(&found, "loss");
        for &(epsilon, delta) in &profile {
            let bound = (loss.exp() - epsilon.exp()).max(0.0) / (1.0 + loss.exp());
            assert!(delta <= bound + 1e-12, "{mechanism}: δ({epsilon}) = {delta} above {bound}");
        }
        let tested = &found["trade_off"];
        assert_eq!((&tested["null"], &tested["alternative"]), (&tested["to"], &tested["from"]));
        let curve = points(&tested["points"]);
        assert_eq!((curve[0].0, curve.last().unwrap().0), (0.0, 1.0));
        let best = curve.iter().map(|(alarm, miss)| 1.0 - alarm - miss).fold(0.0, f64::max);
        let advantage = number(&found, "advantage");
        assert!(best <= advantage + 1e-12 && best > advantage - 0.02, "{mechanism}: {best}");
        assert!(curve.windows(2).all(|w| w[0].1 >= w[1].1), "{mechanism}");
        // An ε-private mechanism keeps e^ε · alarms + misses >= 1.
        let kept = |(alarm, miss): &(f64, f64)| loss.exp() * alarm + miss > 1.0 - 1e-12;
        assert!(curve.iter().all(kept), "{mechanism}");
    }
}

#[test]
fn at_the_edges() {
    let sandbox = Sandbox::new();
    let none =
        audit(&sandbox, "--prior 1,1 --n 0 --epsilon 1 --mechanism ehds --calibrate --profile");
    assert_eq!((number(&none, "loss"), number(&none, "advantage")), (0.0, 0.0));
    assert_eq!(number(&none, "mean"), 0.0);
    let one = audit(&sandbox, "--prior 1,1 --n 1 --epsilon 1 --mechanism ehd");
    assert_close(number(&one, "loss"), 0.5, 1e-14, "one record");
    // Probabilities of e^(−10^5) and less, and yet the losses are right.
    for (mechanism, loss) in [("geometric", 1e5), ("lshist", 1e5), ("hamming", 5e4), ("ehd", 5e4)] {
        let args = format!("--prior 1,1 --n 1 --epsilon 100000 --mechanism {mechanism}");
        assert_close(number(&audit(&sandbox, &args), "loss"), loss, 1e-12, mechanism);
    }
    let large = audit(&sandbox, "--prior 1,1 --n 40 --epsilon 50000 --mechanism ehds --calibrate");
    let margin = 50_000.0 - number(&large, "loss");
    assert!(margin > 0.0 && margin < 1e-6 * 50_000.0, "{margin}");
    // One data set against its neighbours loses no more than all of them.
    let all = audit(&sandbox, "--prior 1,1 --n 9 --epsilon 1 --mechanism ehdl");
    let data = audit(&sandbox, "--prior 1,1 --counts 5,4 --epsilon 1 --mechanism ehdl");
    let corners = audit(&sandbox, "--prior 1,1 --n 9 --epsilon 1 --mechanism ehdl --scope corners");
    assert!(number(&data, "loss") < number(&all, "loss"));
    assert!(number(&corners, "loss") <= number(&all, "loss"));
    assert_eq!((number(&all, "pairs"), number(&data, "pairs")), (9.0, 2.0));
}

/// δ at the stated ε is reported without being asked for.
#[test]
fn mechanisms_with_a_delta() {
    let sandbox = Sandbox::new();
    let base = "--prior 1,1 --n 20 --epsilon 1 --delta 1e-6";
    let gaussian = audit(&sandbox, &format!("{base} --mechanism gaussian"));
    assert_eq!(gaussian["guarantee"], "(1, 1e-6)-private");
    assert_eq!(number(&gaussian, "at_epsilon"), 1.0);
    let delta = number(&gaussian, "delta_at");
    assert!(delta <= 1e-6 && delta > 0.9e-6, "{delta}");
    assert!(number(&gaussian, "loss") > 1.0);
    let truncated = audit(&sandbox, &format!("{base} --mechanism geometric-truncated"));
    assert_eq!(truncated["loss"], "inf");
    // Cut off at 14: e^(−14) / (1 + 2 (e^(−1) + … + e^(−14))).
    assert_close(number(&truncated, "delta_at"), 3.842_638_597_2e-7, 1e-9, "truncated");
    let typed = format!("audit {base} --mechanism geometric-truncated --profile");
    let text = sandbox.dpbi(&words(&typed)).stdout;
    assert!(text.contains("infinite") && text.contains("δ at ε = 1"), "{text}");
    assert!(!text.contains("NaN") && !text.contains("inf "), "{text}");
    // For two categories any number of records will do.
    let many = audit(
        &sandbox,
        "--prior 1,1 --n 2000 --epsilon 0.5 --delta 1e-9 --mechanism gaussian --at-epsilon 0.5",
    );
    let delta = number(&many, "delta_at");
    assert!(delta <= 1e-9 && delta > 0.999e-9, "{delta}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let sandbox = Sandbox::new();
    for (mechanism, causes) in [
        ("ehsd", "unknown mechanism `ehsd` … ehds"),
        ("ehds+calibrate", "calibrated"),
        ("mh-beta", "delta"),
        ("gaussian", "gaussian needs a delta"),
        ("geometric-truncated", "needs a delta"),
        ("lshist --calibrate", "cannot be calibrated … hamming"),
        ("ehds --scope al", "unknown scope … all"),
        ("ehds --at-epsilon=-1", "at-epsilon"),
        ("ehds --counts 4,5", "cannot be used"),
    ] {
        let line = format!("audit --prior 1,1 --n 9 --epsilon 1 --mechanism {mechanism}");
        refused(&sandbox.dpbi(&words(&line)), causes);
    }
    // Too large for all data sets: what it would cost, and what would do.
    let large = "--prior 1,1,1 --n 2000000 --epsilon 1 --mechanism";
    let costs = "too large … more memory … TB … --scope corners … --counts … --force";
    for (line, causes) in [
        ("--prior 1,1 --epsilon 1 --mechanism ehds", "--n … --counts"),
        ("--prior 1,1 --n=-3 --epsilon 1 --mechanism ehds", "whole number"),
        ("--prior 1,1 --n 9 --epsilon 0 --mechanism ehds", "epsilon"),
        ("--prior 1,1 --n 9 --epsilon 1e-12 --mechanism ehds --calibrate", "1e-9"),
        (
            "--prior 1,1,1 --n 200 --epsilon 1 --delta 1e-6 --mechanism gaussian",
            "outputs here … two categories … before clamping",
        ),
        (&format!("{large} ehds"), costs),
        (&format!("{large} geometric"), "too large … --scope corners"),
        (&format!("{large} hamming"), "too large … --scope corners"),
        ("--prior 1,1,1 --n 900 --epsilon 1 --mechanism ehds+remap", "remapping … fewer"),
    ] {
        let outcome = sandbox.dpbi(&words(&format!("audit {line}")));
        assert!(outcome.status == 2 && outcome.stdout.is_empty(), "{line}: {}", outcome.stderr);
        holds(&outcome.stderr, causes);
    }
}
