//! The exact engine against reference values computed independently of it (`tests/golden`).

mod common;

use common::{GoldenRow, assert_close, golden};
use dpbi::distance::{self, Distance};
use dpbi::field::Reach;
use dpbi::law::Exact;
use dpbi::mechanism::{self, Global, Options, Variant};
use dpbi::metric;
use dpbi::model::{Posterior, Prior};
use dpbi::numeric::bregman::bregman_table;
use dpbi::numeric::gamma::{digamma_gap, ln_phi};
use dpbi::numeric::half_gap::half_gap;
use dpbi::privacy::{Delta, Epsilon, Gamma};
use dpbi::sensitivity::CandidatesInBeta;
use dpbi::setting::Setting;
use dpbi::workbench::Workbench;

fn posterior(row: &GoldenRow) -> Posterior {
    Posterior::new(Prior::new(row.vector("prior")).unwrap(), row.vector("counts"))
}

fn setting(row: &GoldenRow, distance: &'static dyn Distance) -> Setting {
    Setting {
        posterior: posterior(row),
        epsilon: Epsilon::new(row.number("epsilon")).unwrap(),
        delta: Some(Delta::new(row.number("delta")).unwrap()),
        gamma: Gamma::new(1.0).unwrap(),
        distance,
    }
}

fn release(setting: &Setting, row: &GoldenRow, options: Options) -> Exact {
    let mechanism = mechanism::find(row.text("mechanism")).unwrap();
    let variant = Variant { options, ..Variant::plain(mechanism) };
    let recipe = variant.recipe(setting).unwrap();
    let bench = Workbench::new(setting, &[recipe], &[]);
    Exact::new(bench.law(recipe).as_ref(), bench.fields().next().unwrap())
}

fn describe(row: &GoldenRow) -> String {
    let cells = row.columns().take(9).map(|c| format!("{c} = {}", row.text(c)));
    cells.collect::<Vec<_>>().join(", ")
}

fn compare(ours: Exact, row: &GoldenRow, suffix: &str, relative: f64) {
    let what = describe(row);
    let error = ours.error.unwrap();
    for (name, ours) in [("mean", error.mean), ("median", error.median), ("q90", error.q90)] {
        assert_close(ours, row.number(&format!("{name}_{suffix}")), relative, &what);
    }
    assert_close(ours.p_exact, row.number("p_exact"), relative, &what);
}

#[test]
fn hellinger_distances_are_right_to_twelve_digits_up_to_ten_million_records() {
    let rows = golden("hellinger.csv");
    assert_eq!(rows.len(), 135);
    for row in rows {
        let posterior = posterior(&row);
        // From tables, and computed on its own.
        for ball in [true, false] {
            let reach = Reach { ball, ..Reach::ball(&posterior) };
            let field = distance::HELLINGER.field(&posterior, &reach);
            let ours = field.at(&row.vector::<u64>("candidate"));
            assert_close(ours, row.number("hellinger"), 1e-12, &describe(&row));
        }
    }
}

/// A tiny prior parameter is not lost beside the count. 60-digit arithmetic.
#[test]
fn tiny_priors_keep_their_digits() {
    let posterior = Posterior::new(Prior::new(vec![1e-12, 1.0]).unwrap(), vec![1, 5]);
    let field = distance::HELLINGER.field(&posterior, &Reach::ball(&posterior));
    assert_close(field.at(&[0, 6]), 0.999_999_132_024_005_8, 1e-15, "prior 1e-12");
    let local = distance::HELLINGER.sensitivity(&posterior).local();
    assert_close(local, 0.999_999_132_024_005_8, 1e-15, "prior 1e-12, local");
}

#[test]
fn sensitivities_match_brute_force() {
    for row in golden("sensitivity.csv") {
        let sensitivity = distance::HELLINGER.sensitivity(&posterior(&row));
        for column in row.columns().filter(|c| *c != "prior" && *c != "counts") {
            let ours = match column.split_once('_') {
                Some(("gamma", gamma)) => sensitivity.gamma_smooth(gamma.parse().unwrap()),
                Some(("beta", beta)) => sensitivity.beta_smooth(beta.parse().unwrap()),
                _ if column == "local" => sensitivity.local(),
                _ => sensitivity.global(),
            };
            // The reference itself is good to about 1e-10.
            assert_close(ours, row.number(column), 1e-9, &format!("{column}: {}", describe(&row)));
        }
    }
}

#[test]
fn exact_errors_match_brute_force() {
    for row in golden("error.csv") {
        let setting = setting(&row, distance::HELLINGER);
        compare(release(&setting, &row, Options::default()), &row, "hellinger", 1e-8);
    }
}

#[test]
fn the_print_distance_matches_the_oracle() {
    let print = distance::find("print").unwrap();
    for row in golden("print.csv") {
        let setting = setting(&row, print);
        compare(release(&setting, &row, Options::default()), &row, "print", 1e-12);
        let sensitivity = setting.sensitivity();
        let beta = setting.beta(CandidatesInBeta::NPlusOne).unwrap();
        let what = describe(&row);
        assert_close(sensitivity.local(), row.number("local"), 1e-13, &what);
        assert_close(sensitivity.global(), row.number("global"), 1e-13, &what);
        assert_close(sensitivity.gamma_smooth(1.0), row.number("gamma_smooth"), 1e-13, &what);
        assert_close(sensitivity.beta_smooth(beta), row.number("beta_smooth"), 1e-13, &what);
    }
}

#[test]
fn every_option_matches_the_oracle() {
    for row in golden("options.csv") {
        let options = Options {
            gamma: row.optional("gamma").map(|g| Gamma::new(g).unwrap()),
            divisor: row.optional("divisor"),
            global: (row.text("global") == "bound").then_some(Global::Bound),
            scale_factor: row.optional("scale_factor"),
            candidates_in_beta: (row.text("candidates_in_beta") == "n")
                .then_some(CandidatesInBeta::N),
            ..Options::default()
        };
        let setting = setting(&row, distance::HELLINGER);
        compare(release(&setting, &row, options), &row, "hellinger", 1e-12);
    }
}

#[test]
fn every_metric_matches_the_oracle() {
    for row in golden("metrics.csv") {
        let setting = setting(&row, distance::HELLINGER);
        let metric = metric::find(row.text("metric")).unwrap();
        let variant = Variant::plain(mechanism::find(row.text("mechanism")).unwrap());
        let recipe = variant.recipe(&setting).unwrap();
        let bench = Workbench::new(&setting, &[recipe], &[metric]);
        let ours = Exact::new(bench.law(recipe).as_ref(), bench.fields().nth(1).unwrap());
        assert_close(ours.error.unwrap().mean, row.number("mean"), 1e-12, &describe(&row));
    }
}

#[test]
fn gamma_functions_match_sixty_digit_arithmetic() {
    for row in golden("functions.csv") {
        let a = row.number("a");
        let d = || row.number("d") as i64;
        let ours = match row.text("function") {
            "ln_phi" => ln_phi(a),
            "digamma_gap" => digamma_gap(a),
            "half_gap" => with_counts(a, d(), half_gap),
            "bregman" => {
                with_counts(a, d(), |alpha, x, v| bregman_table(alpha, x, v).get(v).unwrap())
            }
            other => panic!("unknown function {other}"),
        };
        let what = format!("{} a = {a} d = {}", row.text("function"), row.text("d"));
        assert_close(ours, row.number("value"), 4e-15, &what);
    }
}

/// f(α, x, v) with α + x = a and v − x = d, x being as small as possible.
fn with_counts(a: f64, d: i64, f: impl Fn(f64, u64, u64) -> f64) -> f64 {
    let x = (-d).max(0) as u64;
    f(a - x as f64, x, (x as i64 + d) as u64)
}
