//! Releases that keep the number of records private.

use std::collections::BTreeMap;

use crate::common::{Outcome, Sandbox, few_or_many, float, refused};
use serde_json::Value;

const ASKED: [&str; 10] = [
    "release",
    "--private-n",
    "--column",
    "answer",
    "--categories",
    "no,yes",
    "--prior",
    "1",
    "--ledger",
    "none",
];

/// A file with these numbers of no and yes.
fn data(sandbox: &Sandbox, name: &str, counts: [usize; 2]) {
    let text = "answer\n".to_owned() + &"no\n".repeat(counts[0]) + &"yes\n".repeat(counts[1]);
    sandbox.write(name, &text);
}

/// The probability of a released count, given the true one, at ε = 1.
fn probability(released: u64, x: u64) -> f64 {
    let q = (-1.0_f64).exp();
    let steps = q.powi(released.abs_diff(x) as i32);
    if released == 0 { steps / (1.0 + q) } else { steps * (1.0 - q) / (1.0 + q) }
}

/// What is shown and written is a function of the released counts, whatever n is: also 0.
///
/// Released counts have their law: Pearson's statistics of four times at most 20 cells together exceed 200 with a
/// probability below 1e-9. If the counts were one record larger, they would exceed 200.
#[test]
fn nothing_depends_on_n_beyond_the_release() {
    let sandbox = Sandbox::new();
    let all = [[0, 0], [1, 0], [0, 2], [1, 2]];
    let names: Vec<String> = (0..all.len()).map(|place| format!("{place}.csv")).collect();
    names.iter().zip(all).for_each(|(name, counts)| data(&sandbox, name, counts));
    let runs = few_or_many(50, 150);
    // Status, messages, text, and the size of the file.
    type Shown = (i32, String, String, usize);
    let mut shown: BTreeMap<Vec<u64>, (Shown, usize)> = BTreeMap::new();
    let mut repeated = 0;
    let (mut own, mut wrong) = (0.0, 0.0);
    for (place, (name, counts)) in names.iter().zip(all).enumerate() {
        let mut seen: BTreeMap<Vec<u64>, f64> = BTreeMap::new();
        for run in 0..runs {
            let out = format!("{place}-{run}.json");
            let more = ["--epsilon", "1", "--data", name, "--out", &out];
            let Outcome { status, stdout, stderr } = sandbox.dpbi(&[&ASKED[..], &more].concat());
            let kept: Value = serde_json::from_str(&sandbox.text(&out)).unwrap();
            let released: Vec<u64> = serde_json::from_value(kept["released"].clone()).unwrap();
            let now = (status, stderr, stdout.replace(&out, ""), sandbox.text(&out).len());
            *seen.entry(released.clone()).or_default() += 1.0;
            match shown.get(&released) {
                None => drop(shown.insert(released, (now, place))),
                Some((before, other)) => {
                    assert_eq!(*before, now, "{released:?} of {counts:?}");
                    repeated += usize::from(*other != place);
                }
            }
        }
        let statistic = |more: u64| -> f64 {
            let (mut statistic, mut rest, mut others) = (0.0, 1.0, f64::from(runs));
            for released in (0..40).map(|i| [i % 6, i / 6]) {
                let chance: f64 = (released.iter().zip(counts))
                    .map(|(&released, x)| probability(released, x as u64 + more))
                    .product();
                if f64::from(runs) * chance < 2.0 {
                    continue;
                }
                let found = seen.get(&released[..]).copied().unwrap_or(0.0);
                statistic +=
                    (found - f64::from(runs) * chance).powi(2) / (f64::from(runs) * chance);
                rest -= chance;
                others -= found;
            }
            statistic + (others - f64::from(runs) * rest).powi(2) / (f64::from(runs) * rest)
        };
        own += statistic(0);
        wrong += statistic(1);
    }
    assert!(own < 200.0 && wrong > 200.0, "{own} {wrong}");
    // The same counts were released from other data, often.
    assert!(repeated > runs as usize, "{repeated}");
}

/// The posterior is the sum over all counts, and combines with a second release of the same data.
#[test]
fn the_posterior_is_the_sum_over_all_counts() {
    let sandbox = Sandbox::new();
    data(&sandbox, "d.csv", [7, 4]);
    let mut released: Vec<Vec<u64>> = Vec::new();
    for out in ["a.json", "b.json"] {
        let more = ["--epsilon", "1", "--data", "d.csv", "--out", out];
        assert_eq!(sandbox.dpbi(&[&ASKED[..], &more].concat()).status, 0);
        let kept: Value = serde_json::from_str(&sandbox.text(out)).unwrap();
        assert_eq!(kept["n"], Value::Null);
        released.push(serde_json::from_value(kept["released"].clone()).unwrap());
    }
    let one = sandbox.json(&["posterior", "a.json", "--json"]);
    let both = sandbox.json(&["posterior", "a.json", "b.json", "--json"]);
    for (found, releases) in [(one, &released[..1]), (both, &released[..])] {
        let (mut total, mut records, mut share) = (0.0, 0.0, 0.0);
        for (x, y) in (0..=80_u64).flat_map(|x| (0..=80).map(move |y| (x, y))) {
            let n = x + y;
            // With the uniform prior all counts of n records are equally likely.
            let weight: f64 = (releases.iter())
                .map(|released| probability(released[0], x) * probability(released[1], y))
                .product::<f64>()
                / (n + 1) as f64;
            total += weight;
            records += weight * n as f64;
            share += weight * (1.0 + y as f64) / (2.0 + n as f64);
        }
        let (records, share) = (records / total, share / total);
        assert!((float(&found["records"]["mean"]) - records).abs() < 1e-9 * records);
        let yes = &found["shares"][1]["mean"];
        assert!((float(yes) - share).abs() < 1e-10, "{yes} {share}");
    }
}

#[test]
fn what_would_tell_the_number_of_records_is_refused() {
    let sandbox = Sandbox::new();
    data(&sandbox, "d.csv", [7, 4]);
    let asked = |more: &[&str]| {
        sandbox.dpbi(&[&ASKED[..8], &["--epsilon", "1", "--data", "d.csv"], more].concat())
    };
    let named = asked(&["--mechanism", "tight", "--ledger", "none"]);
    refused(&named, "`tight` is made for a known number of records");
    // A ledger is about one kind of neighbours.
    assert_eq!(asked(&["--ledger", "private", "--budget", "2"]).status, 0);
    assert!(asked(&["--ledger", "private"]).stdout.contains("ε = 2 of 2 spent in 2 releases"));
    let public = |more: &[&str]| {
        let asked = [&ASKED[..1], &ASKED[2..8], &["--epsilon", "1", "--data", "d.csv"], more];
        sandbox.dpbi(&asked.concat())
    };
    for dry in [&["--dry-run"][..], &[]] {
        let flags = [&["--ledger", "private", "--budget", "9"], dry].concat();
        refused(&public(&flags), "this one would tell it");
    }
    assert_eq!(sandbox.entries("private").len(), 2);
    assert_eq!(sandbox.json(&["account", "private", "--json"])["private_n"], true);
    assert!(sandbox.succeed(&["account", "private"]).contains("one record more or less"));
    assert_eq!(public(&["--ledger", "public"]).status, 0);
    refused(&asked(&["--ledger", "public"]), "cannot be kept private any more");
    assert_eq!(sandbox.entries("public").len(), 1);
}

/// A dry run does not open the data.
#[test]
fn a_dry_run_knows_nothing_of_the_data() {
    let sandbox = Sandbox::new();
    let dry = |more: &[&str]| {
        let asked = [&ASKED[..], &["--epsilon", "1", "--dry-run", "--json"], more].concat();
        sandbox.json(&asked)
    };
    let found = dry(&["--data", "missing.csv"]);
    assert_eq!((&found["n"], &found["prospect"]), (&Value::Null, &Value::Null));
    let width = |more: &[&str]| float(&dry(more)["prospect"]["half_width"]);
    let supposed = width(&["--n", "100"]);
    assert!(0.09 < supposed && supposed < 0.12, "{supposed}");
}

/// Whatever was paid for is told: exactly or, where the noise is too wide for that, by draws.
#[test]
fn every_release_tells_something() {
    let sandbox = Sandbox::new();
    let rows = "a,no\n".repeat(50) + &"a,yes\n".repeat(30) + &"b,no\n".repeat(20) + "b,yes\n";
    sandbox.write("data.csv", &format!("arm,answer\n{rows}"));
    let asked = ["release", "--data", "data.csv", "--by", "arm", "--column", "answer"];
    let table = ["--categories", "arm=a,b", "--categories", "answer=no,yes", "--prior", "1"];
    let asked = [&asked[..], &table, &["--ledger", "none"]].concat();
    for epsilon in ["0.000000001", "0.001", "0.01", "1"] {
        for private in [&["--private-n"][..], &[]] {
            let out = format!("{epsilon}-{}.json", private.len());
            let told = sandbox
                .succeed(&[&asked[..], private, &["--epsilon", epsilon, "--out", &out]].concat());
            assert!(told.contains("Means and intervals account for the noise."), "{told}");
            let found = sandbox.json(&["posterior", &out, "--compare", "yes", "--json"]);
            let is_drawn = !found["drawn"].is_null();
            assert_eq!(
                is_drawn,
                !private.is_empty() && epsilon.parse::<f64>().unwrap() < 1.0,
                "{epsilon}"
            );
            let shares = found["shares"].as_array().unwrap();
            let sum: f64 = shares.iter().map(|row| float(&row["mean"])).sum();
            assert!(shares.len() == 4 && (sum - 1.0).abs() < 0.02, "{epsilon}: {found}");
            let [compared] = &found["comparisons"].as_array().unwrap()[..] else {
                panic!("{epsilon}: {found}")
            };
            let difference = &compared["difference"];
            assert!(float(&difference["low"]) < float(&difference["high"]), "{epsilon}: {found}");
            assert_eq!(found["groups"].as_array().unwrap().len(), 2, "{epsilon}: {found}");
        }
    }
}
