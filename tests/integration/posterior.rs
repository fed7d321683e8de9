//! `dpbi posterior` as a user types it.

use serde_json::Value;

use crate::common::{Sandbox, assert_close, float, refused, words};

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

/// The same noise in three forms.
#[test]
fn two_parameters_and_an_expression() {
    let mean = |noise: &str| {
        let args = ["--released=41,17,9", "--prior=1", "--noise", noise];
        float(&found(&args)["shares"][2]["mean"])
    };
    let expected = mean("discrete-laplace(epsilon=0.5)");
    for noise in ["discrete-laplace(scale=2)", "-abs(t)/2"] {
        assert_close(mean(noise), expected, 1e-12, noise);
    }
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
    let sentence = "`yes` is more frequent in `B` than in `A` with posterior probability 99.9 %;";
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
        (
            "--released 41 --noise laplace(scale=1) --prior 1",
            "--released: there must be at least two",
        ),
        ("--released 41,a --noise laplace(scale=1) --prior 1", "--released: `a` is not a number"),
        (
            "--released 41,17 --released 4 --noise laplace(scale=1) --prior 1",
            "1 numbers for 2 cells",
        ),
        ("--released 4,1 --noise laplace(scale=1) --noise -t^2 --prior 1", "2 laws for 1 releases"),
        ("a.json --noise laplace(scale=1)", "cannot be used with"),
        ("--released 41,17 --noise laplace(scale=1)", "--prior"),
        ("--released 41,17 --noise laplace(scale=1) --prior 1 --ledger l", "cannot be used with"),
        (
            "--released 41,17 --noise laplace(scale=1) --prior 1 --compare 1",
            "there is only one group",
        ),
        (
            "--released 41,17 --noise laplace(scale=1) --prior 1 --figure f.bmp",
            "no name of a figure",
        ),
        (
            "--data cells.csv --column answer --by arm --count noisy --noise -t^2 --prior 1",
            "line 3: `x`",
        ),
        ("--released 9,9 --noise ln(max(2-abs(t),0)) --prior 1 --n 3", "no counts fit"),
    ] {
        let outcome = sandbox.dpbi(&[&["posterior"], &words(args)[..]].concat());
        assert_eq!(outcome.status, 2, "{args}");
        let said = outcome.stderr.replace("\n  ", " ");
        assert!(said.contains(cause), "{args}: {said}");
    }
}

/// Over all sites an arm is as if nobody had asked for the site; within a site it is as if there were no other.
#[test]
fn arms_are_compared_over_sites_or_within_them() {
    let sandbox = Sandbox::new();
    let cells = [
        ("A", "x", 5, 9),
        ("A", "y", 7, 2),
        ("A", "z", 4, 4),
        ("B", "x", 3, 8),
        ("B", "y", 6, 6),
        ("B", "z", 1, 9),
    ];
    let row = |(arm, site, no, yes): &(&str, &str, u32, u32)| {
        format!("{arm},{site},no,{no}\n{arm},{site},yes,{yes}\n")
    };
    let rows: String = cells.iter().map(row).collect();
    sandbox.write("sites.csv", &format!("arm,site,answer,noisy\n{rows}"));
    let arm = |name: &str| {
        let of = cells.iter().filter(|cell| cell.0 == name);
        of.fold((0, 0), |sum, cell| (sum.0 + cell.2, sum.1 + cell.3))
    };
    let [(a_no, a_yes), (b_no, b_yes)] = ["A", "B"].map(arm);
    let both = format!("A,no,{a_no}\nA,yes,{a_yes}\nB,no,{b_no}\nB,yes,{b_yes}\n");
    sandbox.write("arms.csv", &format!("arm,answer,noisy\n{both}"));
    // Next to no noise: the counts are as they are.
    let compared = |args: &str| {
        let common =
            "posterior --json --column answer --count noisy --noise -80*abs(t) --compare yes";
        let found = sandbox.json(&[words(common), words(args)].concat());
        found["comparisons"].as_array().unwrap().clone()
    };
    let over = compared("--data sites.csv --by arm --by site --prior 1");
    let arms = compared("--data arms.csv --by arm --prior 3");
    assert_eq!((over.len(), arms.len()), (1, 1));
    assert_eq!((&over[0]["group"], &over[0]["other"]), (&"B".into(), &"A".into()));
    for key in ["probability_greater", "difference"] {
        let [over, arms] = [&over[0][key], &arms[0][key]]
            .map(|value| value.as_f64().unwrap_or_else(|| float(&value["low"])));
        assert_close(over, arms, 1e-9, key);
    }
    let within = compared("--data sites.csv --by arm --by site --prior 1 --within site");
    let names: Vec<&str> = within.iter().map(|one| one["group"].as_str().unwrap()).collect();
    assert_eq!(names, ["B, x", "B, y", "B, z"]);
    sandbox.write("one.csv", "arm,answer,noisy\nA,no,4\nA,yes,4\nB,no,1\nB,yes,9\n");
    let alone = compared("--data one.csv --by arm --prior 1");
    let [within, alone] = [&within[2], &alone[0]].map(|one| float(&one["probability_greater"]));
    assert_close(within, alone, 1e-9, "within a site");
    let wrong = "posterior --data sites.csv --by arm --by site --column answer --count noisy \
                 --noise -80*abs(t) --prior 1 --compare yes --within arm";
    refused(&sandbox.dpbi(&words(wrong)), "--within: `arm` is not a column");
}

#[test]
fn draws_are_a_table_with_a_column_for_each_cell() {
    let sandbox = Sandbox::new();
    let asked = [&["posterior"], &THREE[..]].concat();
    let text = sandbox
        .succeed(&[&asked[..], &["--n=67", "--labels=no,\"maybe\",yes", "--draws=4000"]].concat());
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("no,\"\"\"maybe\"\"\",yes"));
    let draws: Vec<Vec<f64>> =
        lines.map(|line| line.split(',').map(|share| share.parse().unwrap()).collect()).collect();
    assert_eq!(draws.len(), 4000);
    assert!(draws.iter().all(|draw| (draw.iter().sum::<f64>() - 1.0).abs() < 1e-12));
    let share = &found(&[&THREE[..], &["--n=67"]].concat())["shares"][1];
    let mean = draws.iter().map(|draw| draw[1]).sum::<f64>() / 4000.0;
    // The draws are always the same; a standard error is 0.0009.
    assert!((mean - float(&share["mean"])).abs() < 0.004, "{mean}");
    let below = draws.iter().filter(|draw| draw[1] < float(&share["low"])).count();
    assert!((60..140).contains(&below), "{below}");
    // Into a file they go beside the other output, and the first ones are the same.
    let other = sandbox.succeed(&[&asked[..], &["--n=67", "--draws=10,draws.csv"]].concat());
    assert!(other.contains("To be published"), "{other}");
    let (first, all) = (sandbox.text("draws.csv"), text);
    assert!(first.starts_with("1,2,3\n"));
    assert!(all.lines().skip(1).zip(first.lines().skip(1)).all(|(one, other)| one == other));
    for wrong in ["--draws=0", "--draws=x.csv", "--draws=9999999"] {
        assert_eq!(sandbox.dpbi(&[&asked[..], &[wrong]].concat()).status, 2, "{wrong}");
    }
}
