//! `dpbi choose` as a user types it.

use crate::common::{Sandbox, assert_close, number, refused, row, words};
use serde_json::Value;

fn choose(args: &str) -> Value {
    let args = words(args);
    Sandbox::new().json(&[&["choose", "--json"], &args[..]].concat())
}

fn rows(found: &Value) -> Vec<&Value> {
    found["mechanisms"].as_array().unwrap().iter().collect()
}

#[test]
fn private_mechanisms_by_exact_error() {
    let found = choose("--prior 1,1 --n 20 --epsilon 1");
    assert_eq!(found["choice"], "geometric");
    // What is known about the optimum, which geometric noise attains.
    assert!((number(row(&found, "geometric"), "mean") - 0.1477).abs() < 5e-5);
    let means: Vec<f64> = rows(&found).iter().map(|row| number(row, "mean")).collect();
    assert!(means.windows(2).all(|pair| pair[0] <= pair[1] * (1.0 + 1e-9)), "{means:?}");
    let ids: Vec<&str> = rows(&found).iter().map(|row| row["id"].as_str().unwrap()).collect();
    for private in ["ehdl+calibrated", "tight", "lattice", "lszhang+remap", "hamming"] {
        assert!(ids.contains(&private), "{private}");
    }
    for other in ["ehdl", "lsdim", "lsdim+remap", "mh-gamma", "mh-gamma+calibrated", "mh-beta"] {
        assert!(!ids.contains(&other), "{other}");
    }
    let all = choose("--prior 1,1 --n 20 --epsilon 1 --all --delta 1e-6");
    for other in ["ehdl", "lsdim", "mh-gamma", "mh-gamma+calibrated", "mh-beta"] {
        assert!(number(row(&all, other), "mean") > 0.0);
    }
    let named = choose("--prior 1,1 --n 20 --epsilon 1 --mechanism lsdim,mh-gamma+calibrated");
    assert_eq!(rows(&named).len(), 2);
    // With a δ, mechanisms that are (ε, δ)-private take part.
    let with_delta = choose("--prior 1,1 --n 20 --epsilon 1 --delta 1e-2");
    assert_eq!(with_delta["choice"], "geometric-truncated");
    let known = |id: &str| number(row(&with_delta, id), "mean");
    assert_close(known("geometric-truncated+remap"), 0.142_117_309_678_8, 1e-10, "truncated");
    assert_close(known("gaussian"), 0.245_783_226_683, 1e-9, "gaussian");
    assert_close(known("gaussian+remap"), 0.244_313_249_038, 1e-9, "gaussian, remapped");
    let stated = &row(&with_delta, "gaussian")["guarantee"];
    assert_eq!(stated, "(1, 0.01)-private");
    assert!(rows(&with_delta).iter().all(|row| row["id"] != "mh-beta"));
    for needs_delta in ["gaussian", "geometric-truncated"] {
        assert!(!ids.contains(&needs_delta), "{needs_delta}");
    }
    // What is not private is ranked if that is asked for, but never recommended.
    let only = choose("--prior 1,1 --n 20 --epsilon 1 --mechanism ehdl,ehds");
    assert_eq!((&rows(&only)[0]["id"], &only["choice"]), (&"ehdl".into(), &"ehds".into()));
    let advice = found["advice"].as_str().unwrap();
    assert!(advice.contains("Take geometric") && advice.contains("1-private"), "{advice}");
}

#[test]
fn a_given_data_set_is_the_law_that_inspect_shows() {
    let ids = "lshist,ehds,geometric+remap,ehds+calibrated";
    let args = format!("--prior 1,2 --counts 5,9 --epsilon 0.7 --mechanism {ids}");
    let found = choose(&args);
    let typed = words(&args);
    let inspected = Sandbox::new().json(&[&["inspect", "--json"], &typed[..]].concat());
    for law in inspected["mechanisms"].as_array().unwrap() {
        let id = law["id"].as_str().unwrap();
        for key in ["mean", "median"] {
            assert_close(number(row(&found, id), key), number(law, key), 1e-10, id);
        }
        assert!(number(row(&found, id), "q95") >= number(law, "q90"), "{id}");
    }
    let text = Sandbox::new().succeed(&[&["choose"], &typed[..]].concat());
    assert!(text.contains("rests on --n"), "{text}");
}

#[test]
fn the_least_epsilon_is_enough_and_less_is_not() {
    let ids = "geometric,ehds,ehds+calibrated,geometric+remap";
    let found = choose(&format!("--prior 1,1 --n 15 --error 0.1 --mechanism {ids}"));
    let epsilons: Vec<f64> = rows(&found).iter().map(|row| number(row, "epsilon")).collect();
    assert!(epsilons.is_sorted(), "{epsilons:?}");
    for found in rows(&found) {
        let (id, epsilon) = (found["id"].as_str().unwrap(), number(found, "epsilon"));
        assert!(number(found, "mean") <= 0.1);
        let mean_at = |epsilon: f64| {
            let args = format!("--prior 1,1 --n 15 --epsilon {epsilon} --mechanism {id}");
            number(row(&choose(&args), id), "mean")
        };
        assert!(mean_at(epsilon) <= 0.1 && mean_at(epsilon * (1.0 - 1.5e-3)) > 0.1, "{id}");
    }
    // ε does not matter then.
    let at = "--prior 1,1 --counts 10,10 --error 0.05 --mechanism geometric,ehds";
    let found = choose(at);
    assert_eq!(found["choice"], "geometric");
    assert_eq!(choose(&format!("{at} --epsilon 0.01")), found);
    // Any ε will do, or none: half of the time the floor takes a record away, whatever ε.
    let any = choose("--prior 1,1 --n 15 --error 0.99 --mechanism geometric");
    assert_eq!(number(row(&any, "geometric"), "epsilon"), 1e-4);
    let none = choose("--prior 1,1 --n 15 --error 0.05 --mechanism lshist");
    assert!(none["choice"].is_null() && none["advice"].is_null());
    assert!(row(&none, "lshist")["epsilon"].is_null());
    let one = choose("--prior 1,1 --n 15 --error 0.05 --mechanism lshist,geometric");
    let advice = one["advice"].as_str().unwrap();
    assert!(advice.contains("no other does") && !advice.contains("equal"), "{advice}");
}

#[test]
fn the_last_digit_of_the_least_epsilon() {
    let args = "--prior 6.366,1.252,0.04966 --n 4 --error 0.0587 --mechanism lszhang+remap";
    assert_eq!(number(rows(&choose(args))[0], "epsilon"), 5.99);
}

/// Remapped errors at given data jump up and down: a bisection would not find the least ε.
#[test]
fn no_least_epsilon_of_remapped_mechanisms_at_given_data() {
    let sandbox = Sandbox::new();
    let args = words("choose --prior 1,1 --counts 5,5 --error 0.43");
    let found = sandbox.json(&[&args[..], &["--json"]].concat());
    assert!(rows(&found).iter().all(|row| !row["id"].as_str().unwrap().ends_with("+remap")));
    assert!(found["not_offered"].as_array().unwrap().contains(&"geometric+remap".into()));
    let text = sandbox.succeed(&args);
    assert!(text.contains("Left out are remapped mechanisms"), "{text}");
    let named = sandbox.dpbi(&[&args[..], &["--mechanism", "geometric,geometric+remap"]].concat());
    refused(&named, "the error of a remapped mechanism there need not fall as ε grows");
}

/// What nobody named and is not shown is named in one sentence, with the reason and the remedy.
#[test]
fn what_is_left_out_is_one_sentence() {
    let sandbox = Sandbox::new();
    let six = words("inspect -p 1,1,1,1,1,1 -x 80,80,80,80,80,80 -e 3 -q");
    let text = sandbox.succeed(&six).replace("\n  ", " ");
    assert_eq!(text.matches("eft out").count(), 1, "{text}");
    assert!(text.contains("(too large without --force); tight (impossible here:"), "{text}");
    assert!(text.contains("--mechanism tight says why)"), "{text}");
    let found = sandbox.json(&[&six[..], &["--json"]].concat());
    assert!(found["left_out"].as_array().unwrap().contains(&"tight".into()), "{found}");
    let why = sandbox.dpbi(&[&six[..], &["-m", "tight"]].concat());
    refused(&why, "the weights of `tight` for 480 records in 6 categories would take");
    refused(
        &sandbox.dpbi(&words("choose -p 1,1,1,1,1,1 -n 100 -e 1")),
        "no mechanism can be ranked",
    );
}

/// For two categories three mechanisms are the same.
#[test]
fn equal_mechanisms_share_a_line() {
    let args =
        words("choose --prior 1,1 --n 20 --epsilon 1 --mechanism geometric,tight,lattice,ehd");
    let text = Sandbox::new().succeed(&args);
    let lines: Vec<&str> = text.lines().filter(|line| line.contains("-private")).collect();
    assert!(lines[0].starts_with("  geometric, tight, lattice "), "{text}");
    assert!(lines[1].starts_with("  ehd "), "{text}");
    assert_eq!(rows(&choose(&args[1..].join(" "))).len(), 4);
}

#[test]
fn infinite_errors_are_infinite_here_too() {
    let found =
        choose("--prior 1,1 --counts 6000,4000 --epsilon 1 --mechanism geometric --distance chi2");
    assert!(found["choice"].is_null(), "{found}");
    assert_eq!(row(&found, "geometric")["mean"], "inf");
    let text =
        Sandbox::new().succeed(&words("choose --prior 1,1 --n 6 --epsilon 1 --distance chi2"));
    assert!(
        text.contains("infinite") && !text.contains("NaN") && !text.contains("remap"),
        "{text}"
    );
    // Hardly any error at all: still no NaN.
    let tiny = choose("--prior 1,1 --n 6 --epsilon 900 --mechanism geometric,hamming");
    assert!(!tiny["advice"].as_str().unwrap().contains("NaN"), "{tiny}");
}

#[test]
fn edges_and_refusals() {
    let none = choose("--prior 1,1 --n 0 --epsilon 1");
    assert!(rows(&none).iter().all(|row| number(row, "mean") == 0.0));
    let sandbox = Sandbox::new();
    let refused = |args: &str, word: &str| {
        let args = words(args);
        let outcome = sandbox.dpbi(&[&["choose"], &args[..]].concat());
        assert_eq!(outcome.status, 2, "{args:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(word), "{args:?}: {}", outcome.stderr);
    };
    refused("--prior 1,1 --n 10", "--epsilon");
    refused("--prior 1,1 --n 10 --error 0", "error");
    refused("--prior 1,1 --n 10 --error nan", "error");
    refused("--prior 1,1 --n 10 --epsilon 1 --mechanism geometrix", "geometric");
    refused("--prior 1,1,1 --n 100000 --epsilon 1", "would need");
}
