//! The tight mechanism and its relatives: privacy by exhaustive audit, and independent numbers.

use crate::common::{Sandbox, assert_close, of_size, setting, some_golden, words};
use engine::analysis::audit::{Scope, loss};
use engine::analysis::predictive_error::over_all_data;
use engine::analysis::tuning::tune;
use engine::mechanism::law::Exact;
use engine::mechanism::prepared::PreparedSetting;
use engine::mechanism::{self, Options, Variant};
use engine::posterior::metric::Metric;

fn variant(id: &str, remap: bool) -> Variant {
    let options = Options { remap, ..Options::default() };
    Variant::new(mechanism::find(id).unwrap(), options, id.to_owned())
}

/// The loss over all pairs is ε, clipped weights included, and is never above it by more than rounding.
#[test]
fn the_loss_is_epsilon() {
    let cases = [(3, 1..=20_u64), (4, 1..=10), (5, 1..=6)];
    for (k, sizes) in cases {
        for n in sizes {
            for epsilon in [0.1, 0.7, 3.0] {
                let template = of_size(&vec![1.0; k], n, epsilon, "hellinger");
                let found = loss(&variant("tight", false), &template, &Scope::All).unwrap();
                let what = format!("k = {k}, n = {n}, ε = {epsilon}: {found:?}");
                assert!(found.bound <= epsilon + 1e-12, "{what}");
                assert!(found.loss >= epsilon * (1.0 - 1e-11) - 1e-15, "{what}");
            }
        }
    }
}

#[test]
fn with_two_categories_it_is_geometric() {
    for (counts, epsilon) in [([3, 9], 0.3), ([0, 40], 1.0), ([500, 250], 2.0), ([1, 0], 0.05)] {
        let setting = setting(&[0.7, 2.0], &counts, epsilon, "hellinger");
        let exact = |id: &str| {
            let plan = variant(id, false).plan(&setting).unwrap();
            let prepared = PreparedSetting::new(&setting, std::slice::from_ref(&plan), &[]);
            Exact::new(prepared.law(&plan).as_ref(), prepared.distance())
        };
        let (tight, geometric) = (exact("tight"), exact("geometric"));
        assert!((tight.p_exact - geometric.p_exact).abs() < 1e-12, "{counts:?}");
        let means = [tight, geometric].map(|exact| exact.error.unwrap().mean);
        assert!((means[0] - means[1]).abs() < 1e-12, "{counts:?} {means:?}");
    }
}

/// Computed independently, by brute force.
#[test]
fn remapped_lattice_noise() {
    let cases =
        [(12, 1.0, 0.352_137_473_0), (12, 0.5, 0.514_012_878_4), (12, 2.0, 0.160_335_151_0)];
    for (n, epsilon, expected) in cases {
        let template = of_size(&[1.0; 3], n, epsilon, "hellinger");
        let tuned = tune(&variant("lattice", true), &template).unwrap().variant;
        let metric = Metric::from_distance(template.distance);
        let mean = over_all_data(&tuned, &template, metric).unwrap().unwrap().mean;
        assert!((mean - expected).abs() < 1e-9, "n = {n}, ε = {epsilon}: {mean}");
    }
}

#[test]
fn golden_rows_from_the_command_line() {
    let sandbox = Sandbox::new();
    for row in some_golden("tight.csv", 3) {
        let [prior, counts] = ["prior", "counts"].map(|name| row.text(name).replace(';', ","));
        let n: u64 = row.vector::<u64>("counts").iter().sum();
        let epsilon = row.text("epsilon");
        let inspect = ["inspect", "--prior", &prior, "--counts", &counts, "--epsilon", epsilon];
        let found = sandbox.json(&[&inspect[..], &["--mechanism", "tight", "--json"]].concat());
        let found = &found["mechanisms"][0];
        let number = |key: &str| found[key].as_f64().unwrap();
        assert_close(number("mean"), row.number("mean"), 1e-9, &prior);
        assert_close(number("p_exact"), row.number("p_exact"), 1e-9, &prior);
        assert!(found["weights"]["residual"].as_f64().unwrap() < 1e-13, "{found}");
        if n > 10 {
            continue;
        }
        let n = n.to_string();
        let optimum = ["optimum", "--prior", &prior, "--n", &n, "--epsilon", epsilon, "--json"];
        let rivals = ["--mechanism", "tight,tight+remap"];
        let found = sandbox.json(&[&optimum[..], &rivals].concat());
        for mechanism in found["mechanisms"].as_array().unwrap() {
            let column = if mechanism["id"] == "tight" { "bayes" } else { "bayes_remapped" };
            assert_close(mechanism["mean"].as_f64().unwrap(), row.number(column), 1e-9, &prior);
        }
    }
}

/// With many records candidates are found by descent, and the text says so.
#[test]
fn remapping_at_scale() {
    let sandbox = Sandbox::new();
    let line =
        "inspect --prior 0.5,3,10 --counts 300,600,100 --epsilon 2 --mechanism tight,tight+remap";
    let text = sandbox.succeed(&words(line));
    assert!(text.contains("Remapped by descent, not proved best: tight+remap"), "{text}");
    let found = sandbox.json(&words(&format!("{line} --json")));
    let mean = |place: usize| found["mechanisms"][place]["mean"].as_f64().unwrap();
    assert!(mean(1) > 0.0 && mean(1) < 1.2 * mean(0), "{found}");
}
