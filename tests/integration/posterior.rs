//! `dpbi posterior` as a user types it.

use serde_json::Value;

use crate::common::{Sandbox, assert_close, float, words};

const THREE: [&str; 3] =
    ["--released=41,17,9", "--noise=discrete-laplace(epsilon=0.5)", "--prior=1"];

fn found(args: &[&str]) -> Value {
    Sandbox::new().json(&[&["posterior", "--json"], args].concat())
}

/// The means are those of a sum over all counts in Python.
#[test]
fn three_counts_with_and_without_the_number_of_records() {
    let cases = [
        (
            vec!["--n=67"],
            [0.599_989_309_977_549_2, 0.257_132_197_704_466_2, 0.142_878_492_317_981_58],
        ),
        (vec![], [0.603_338_994_623_601_6, 0.255_703_007_544_678_9, 0.140_957_997_832_022_7]),
    ];
    for (more, means) in cases {
        let document = found(&[&THREE[..], &more].concat());
        for (share, mean) in document["shares"].as_array().unwrap().iter().zip(means) {
            assert_close(float(&share["mean"]), mean, 1e-10, "mean");
            assert!(float(&share["low"]) < mean && mean < float(&share["high"]));
        }
        assert!(float(&document["left_out"]) < 1e-15);
        assert_eq!(document["n"].is_null(), more.is_empty());
        assert_eq!(document["records"].is_null(), !more.is_empty());
    }
    // What is known of the number of records narrows the intervals.
    let width = |document: &Value| {
        float(&document["shares"][0]["high"]) - float(&document["shares"][0]["low"])
    };
    let wide = width(&found(&THREE));
    assert!(width(&found(&[&THREE[..], &["--n=67"]].concat())) < wide);
    // So does a second release.
    assert!(width(&found(&[&THREE[..], &["--released=40,17,10"]].concat())) < wide);
}

/// The same noise in four forms.
#[test]
fn a_law_an_expression_a_file_and_a_sum_of_one() {
    let sandbox = Sandbox::new();
    let weights: f64 = (-200..=200).map(|t: i32| (-0.5 * f64::from(t.abs())).exp()).sum();
    let line = |t: i32| format!("{t},{:e}\n", (-0.5 * f64::from(t.abs())).exp() / weights);
    let table: String = (-160..=160).map(line).collect();
    sandbox.write("noise.csv", &format!("t,probability\n{table}"));
    let mean = |noise: &str| {
        let args = ["posterior", "--json", "--released=41,17,9", "--prior=1", "--noise", noise];
        float(&sandbox.json(&args)["shares"][2]["mean"])
    };
    let expected = mean("discrete-laplace(epsilon=0.5)");
    for noise in
        ["discrete-laplace(scale=2)", "geometric(epsilon=0.5, cells=1)", "-abs(t)/2", "noise.csv"]
    {
        assert_close(mean(noise), expected, 1e-12, noise);
    }
    assert!((mean("discrete-laplace(epsilon=0.5, cells=2)") - expected).abs() > 1e-4);
}

#[test]
fn groups_are_compared_and_drawn() {
    let sandbox = Sandbox::new();
    sandbox.write("cells.csv", "arm,answer,noisy\nA,no,30\nA,yes,0\nB,no,22\nB,yes,21\n");
    let args = words(
        "posterior --data cells.csv --by arm --column answer --count noisy --noise laplace(scale=2) \
         --rounded --clamped --prior 1 --compare yes --figure a.svg",
    );
    let text = sandbox.succeed(&args).replace("\n  ", " ");
    let sentence = "`yes` is more frequent in `B` than in `A` with probability above 99.9 %.";
    assert!(text.contains(sentence), "{text}");
    assert!(sandbox.text("a.svg").contains("<svg"));
    // A 0 stands for all numbers below it, which changes the share.
    let share = |flags: &str| {
        let args = words(
            "posterior --data cells.csv --by arm --column answer --count noisy --noise laplace(scale=2) \
             --prior 1 --json",
        );
        float(&sandbox.json(&[&args[..], &words(flags)].concat())["shares"][1]["mean"])
    };
    let [plain, rounded, clamped] = ["", "--rounded", "--rounded --clamped"].map(share);
    assert!(clamped < rounded && plain != rounded, "{plain} {rounded} {clamped}");
}

#[test]
fn what_is_wrong_is_said() {
    let sandbox = Sandbox::new();
    sandbox.write("cells.csv", "arm,answer,noisy\nA,no,30\nA,yes,x\n");
    for (args, cause) in [
        (
            "--released 41,17.5 --noise discrete-laplace(epsilon=1) --prior 1",
            "17.5 is not a whole number",
        ),
        (
            "--released 41,17 --noise laplacian(scale=1) --prior 1",
            "--noise: unknown function `laplacian`",
        ),
        ("--released 41,17 --noise laplace(scale=1) --prior 1,1,1", "3 numbers for 2 categories"),
        ("--released 41,a --noise laplace(scale=1) --prior 1", "--released: `a` is not a number"),
        (
            "--released 41,17 --released 4 --noise laplace(scale=1) --prior 1",
            "1 numbers for 2 cells",
        ),
        ("--released 4,1 --noise laplace(scale=1) --noise -t^2 --prior 1", "2 laws for 1 releases"),
        (
            "--released 41,17 --noise laplace(scale=1) --prior 1 --n-prior x",
            "no law of the number of records",
        ),
        (
            "--released 41,17 --noise laplace(scale=1) --prior 1 --n 5 --n-prior flat",
            "cannot be used with",
        ),
        (
            "--data cells.csv --column answer --by arm --count noisy --noise -t^2 --prior 1",
            "line 3: `x`",
        ),
        ("--released 9,9 --noise -100000*t^2 --prior 1 --n 3", "the posterior is not computed"),
    ] {
        let outcome = sandbox.dpbi(&[&["posterior"], &words(args)[..]].concat());
        assert_eq!(outcome.status, 2, "{args}");
        let said = outcome.stderr.replace("\n  ", " ");
        assert!(said.contains(cause), "{args}: {said}");
    }
}
