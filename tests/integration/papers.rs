//! The documents' figures: every one has its config, and what was read off the printed ones is
//! explained by what we compute.

use std::collections::{BTreeMap, BTreeSet};

use crate::common::{Sandbox, ended, refused, words};
use figure::{Format, Head, Width, misplaced_texts, render};
use lab::experiment::config::{self, Overrides};
use lab::experiment::{Experiment, Panel};
use rayon::prelude::*;
use system::source::Source;
use table::Tables;

fn load(figure: &str) -> Experiment {
    let source = Source::config(&format!("papers/{figure}")).unwrap();
    config::load(&source, &Overrides { runs: Some(4), ..Overrides::default() }).unwrap()
}

#[test]
fn every_figure_has_its_config() {
    let listed = Sandbox::new().json(&["list", "--json"]);
    let names = listed.as_array().unwrap().iter().map(|row| row["config"].as_str().unwrap());
    let papers: Vec<&str> = names.filter_map(|name| name.strip_prefix("papers/")).collect();
    assert_eq!(papers.len(), 31, "{papers:?}");
    for figure in papers {
        let experiment = load(figure);
        assert_eq!(experiment.name, figure.replace('/', "-"));
        assert!(experiment.source.is_some(), "{figure} says where it is printed");
    }
}

/// Mechanisms that only printed figures used can be drawn, and nothing else.
#[test]
fn historical_mechanisms_are_neither_chosen_nor_released_nor_audited() {
    let sandbox = Sandbox::new();
    for id in ["laplace-rounded", "laplace-absolute"] {
        for command in ["choose", "optimum", "audit"] {
            let line = format!("{command} --prior 1,1 --n 10 --epsilon 1 --mechanism {id}");
            refused(&sandbox.dpbi(&words(&line)), "historical");
        }
    }
    let chosen = sandbox.json(&words("choose --prior 1,1 --n 10 --epsilon 1 --json"));
    assert!(!chosen.to_string().contains("laplace-"), "{chosen}");
    let config = "name = \"own\"\nprior = [2, 2]\nepsilon = 1.0\ndelta = 1e-6\n\
                  data.counts.counts = [4, 5]\n";
    for (kind, mechanism) in [
        ("privacy", "{ id = \"laplace-rounded\" }"),
        ("optimum", "{ id = \"laplace-absolute\" }"),
        ("accuracy", "{ id = \"laplace-rounded\", remap = true }"),
        ("privacy", "{ id = \"ehd\", global = \"neighbour\" }"),
        ("accuracy", "{ id = \"mh-beta\", smooth = \"local\", remap = true }"),
    ] {
        let text = format!("{config}kind = \"{kind}\"\nmechanisms = [{mechanism}]\n");
        refused(&sandbox.write("own.toml", &text).dpbi(&["check", "own.toml"]), "historical");
    }
}

#[test]
fn theory_tables_are_laws() {
    let experiment = load("arxiv/fig3");
    for panel in &experiment.panels {
        let tables = panel.compute();
        let mut laws: BTreeMap<&str, Vec<_>> = BTreeMap::new();
        for row in &tables.theory {
            laws.entry(&row.mechanism).or_default().push(row);
        }
        assert_eq!(laws.len(), panel.variants.len());
        for (mechanism, rows) in laws {
            assert!(rows.windows(2).all(|pair| pair[0].distance < pair[1].distance));
            let total: f64 = rows.iter().map(|row| row.probability).sum();
            assert!((total - 1.0).abs() < 1e-9, "{mechanism}: {total}");
            assert!((rows.last().unwrap().cumulative - 1.0).abs() < 1e-12, "{mechanism}");
            assert_eq!((rows[0].distance, rows[0].candidates.as_str()), (0.0, "1"));
        }
    }
}

#[test]
fn a_theory_curve_of_many_distances_is_a_small_file() {
    let experiment = load("icml/fig2");
    let panel = experiment.panels.iter().find(|panel| panel.id == "b-defined").unwrap();
    let tables = panel.compute();
    assert!(tables.theory.len() > 50_000, "{}", tables.theory.len());
    // Without the view that leaves most of them out.
    let mut whole = panel.clone();
    whole.kind = std::sync::Arc::new(lab::experiment::kind::theory::Theory::NEW);
    for (name, figure) in whole.figures(&tables) {
        let svg = render(&figure, Format::Svg, Width::Text).unwrap();
        assert!(svg.len() < 300_000, "whole {name}: {} bytes", svg.len());
    }
}

#[test]
fn table_one_to_eleven_digits() {
    let experiment = load("icml/table1");
    let tables = experiment.panels[0].compute();
    let value = |mechanism: &str, quantity: &str, t: u32| {
        let at = format!("t = {t}");
        let mut rows = tables.values.iter();
        let row =
            rows.find(|row| row.mechanism == mechanism && row.quantity == quantity && row.at == at);
        row.unwrap().value.unwrap()
    };
    let printed = [
        ("lsdim", [0.196_734_670_14, 0.119_325_609_27, 0.072_374_640_51]),
        ("lshist", [0.316_060_279_41, 0.116_272_078_96, 0.042_774_107_43]),
    ];
    for (mechanism, digits) in printed {
        for (t, digits) in (0..).zip(digits) {
            let ours = value(mechanism, "P[H = c(t)], one side", t);
            assert!((0.0..1e-11).contains(&(ours - digits)), "{mechanism} {t}: {ours}");
        }
    }
    assert!((value("", "distance c(t)", 1) - 0.0288).abs() < 5e-5);
    assert!((value("", "distance c(t)", 2) - 0.0576).abs() < 5e-5);
    assert!((value("", "distance c(t) by the table's closed form", 1) + 0.0008).abs() < 5e-5);
    assert!((value("", "distance c(t) by the table's closed form", 2) - 0.0033).abs() < 5e-5);
}

#[test]
fn the_largest_change_of_score_is_at_the_true_posterior() {
    let experiment = load("arxiv/fig2");
    let largest = |panel: &Panel| {
        let tables = panel.compute();
        let largest = tables.change.iter().max_by(|a, b| a.change.total_cmp(&b.change)).unwrap();
        (largest.change, largest.distance, tables.settings[0].local)
    };
    for panel in experiment.panels.iter().filter(|panel| panel.id != "k3-printed") {
        let (change, distance, local) = largest(panel);
        assert_eq!(distance, 0.0, "{}", panel.id);
        assert!((change / local - 1.0).abs() < 1e-13);
    }
    // sqrt(1 − φ(11) φ(22)); in print, which leaves out half of the neighbours, sqrt(1 − φ(12) φ(21)).
    let [defined, printed] = [0, 1].map(|place| largest(&experiment.panels[place]).0);
    assert!((defined - 0.1300).abs() < 5e-5, "{defined}");
    assert!((printed - 0.1274).abs() < 5e-5, "{printed}");
}

#[test]
fn reproduce_writes_one_page_that_stands_alone() {
    let sandbox = Sandbox::new();
    let args = ["reproduce", "icml/fig1", "arxiv/fig1", "notes/fig5", "--format", "none"];
    let report = sandbox.json(&[&args[..], &["--runs", "20", "--strict", "--json"]].concat());
    assert_eq!(report["summary"]["figures"], 3);
    assert_eq!(report["summary"]["readings"], 99 + 99 + 32);
    assert_eq!(report["summary"]["readings_within"], 99 + 99 + 32);
    assert_eq!(report["summary"]["numbers"], report["summary"]["numbers_agreeing"]);
    assert!(!sandbox.path("results/report.html").exists(), "the page of the whole");
    let page = "results/report-icml-fig1+arxiv-fig1+notes-fig5.html";
    let page = sandbox.text(page);
    for part in ["icml-fig1", "arxiv-fig1", "notes-fig5", "<svg", "99"] {
        assert!(page.contains(part), "{part}");
    }
    assert_eq!(page.matches("<script").count(), 1, "the page's own");
    for foreign in ["http://", "https://", "src=\"", "@import", "url("] {
        assert!(!page.contains(foreign), "{foreign}");
    }
}

#[test]
fn results_with_readings_of_ones_own_can_be_drawn_again() {
    let sandbox = Sandbox::new();
    let config = r#"
name = "own"
kind = "privacy"
prior = [1, 1]
epsilon = 1.0
readings = "own.csv"
mechanisms = ["ehds"]
data.counts.counts = [20, 30]
data.counts.labels = ["mine"]
"#;
    let readings = "mechanism,at,quantity,value,error,pixel,at_error,at_pixel,note\n\
                    ehds,mine,loss,0.3738,1e-3,1e-3,,,\n";
    sandbox.write("own.toml", config).write("own.csv", readings);
    sandbox.succeed(&["run", "own.toml", "--format", "svg", "-q"]);
    let before = sandbox.read("results/own/loss.svg");
    let text = String::from_utf8(before.clone()).unwrap();
    assert!(
        text.contains("mine") && text.contains("values read off the print deviate by at most"),
        "{text}"
    );
    sandbox.succeed(&["plot", "results/own", "--format", "svg", "-q"]);
    assert_eq!(before, sandbox.read("results/own/loss.svg"));
}

#[test]
fn plot_refuses_tables_that_are_not_whole() {
    let sandbox = Sandbox::new();
    let folder = "results/arxiv-fig1";
    sandbox.succeed(&["run", "papers/arxiv/fig1", "--format", "svg", "-q"]);
    let table = sandbox.text(&format!("{folder}/settings.csv"));
    let drawn = sandbox.files(folder).remove("defined-sensitivity.svg");
    let plot = |text: &str| {
        sandbox.write(&format!("{folder}/settings.csv"), text);
        sandbox.dpbi(&["plot", folder, "--format", "svg"])
    };
    let first_lines: String = table.split_inclusive('\n').take(20).collect();
    for (text, message) in [
        ("", "is empty"),
        (&first_lines, "has 19 settings, but its config 202"),
        (&table.replacen("0.3389", "NaN", 1), "cannot read"),
        (&table.replacen(';', ";x", 1).replacen(",1.0,", ",one,", 1), "cannot read"),
    ] {
        ended(&plot(text), 2, message);
        assert!(drawn == sandbox.files(folder).remove("defined-sensitivity.svg"), "{message}");
    }
    ended(&plot(&table.replacen("0.3389", "0.5389", 1)), 0, "was changed after the run");
    std::fs::remove_file(sandbox.path(&format!("{folder}/settings.csv"))).unwrap();
    ended(&sandbox.dpbi(&["plot", folder, "--format", "svg"]), 2, "cannot read");
    refused(&sandbox.dpbi(&["plot", "results"]), "no complete results");
}

#[test]
fn a_law_that_is_too_large_is_left_out_and_its_neighbour_is_itself() {
    let sandbox = Sandbox::new();
    let config = r#"
name = "large"
kind = "within"
prior = [1, 1]
epsilon = 1e-4
steps = [1]
mechanisms = ["lszhang", "lshist"]
data.balanced.sizes = [200000]
"#;
    sandbox.write("large.toml", config).succeed(&["run", "large.toml", "--format", "none", "-q"]);
    let rows = sandbox.text("results/large/curves.csv");
    let exact: Vec<&str> = rows.lines().filter(|row| row.contains(",exact,")).collect();
    assert_eq!(exact.len(), 1, "{exact:?}");
    assert!(exact[0].contains(",lshist,"));
    let value: f64 = exact[0].rsplit(',').next().unwrap().parse().unwrap();
    // bounds Theorem 4.5: 1 − ½ (e^(−ε) + e^(−2ε)).
    assert!((value - 1.499_875e-4).abs() < 1e-9, "{value}");
}

#[test]
fn lshist_overtakes_ehd_early() {
    // Found with another program in high precision: EHD is not behind up to n = 22 for ε = 0.1, at
    // n = 4 and 5 for ε = 0.5, and nowhere from n = 3 on for ε = 1.
    let experiment = load("bounds/cor45");
    let tables = experiment.panels[0].compute();
    let computed: Vec<f64> = (tables.curves.iter())
        .filter(|row| row.facet == "k′ = 1" && row.curve == "computed")
        .map(|row| row.y)
        .collect();
    assert_eq!(computed[..3], [23.0, 6.0, 3.0]);
}

/// Every bundled experiment, with few runs.
fn bundled() -> Vec<Experiment> {
    let few = || Overrides { runs: Some(40), ..Overrides::default() };
    let load = |path| config::load(&Source::Bundle(path), &few()).unwrap();
    system::source::bundled_configs().into_iter().map(load).collect()
}

/// All panels are computed once: no text is off the page, over another or over data, no drawing is large, no
/// title stands twice, and all readings are explained but for the outlier that is named.
#[test]
#[ignore = "it computes every bundled config, which takes half a minute"]
fn bundled_figures_are_legible_and_explain_their_readings() {
    let faults: Vec<String> = bundled().par_iter().flat_map_iter(faults).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn faults(experiment: &Experiment) -> Vec<String> {
    let (mut faults, mut tables, mut titles) = (Vec::new(), Tables::default(), BTreeSet::new());
    experiment.panels.iter().for_each(|panel| tables.append(panel.compute()));
    for (file, figure) in experiment.figures(&tables).into_iter().flatten() {
        for &width in Width::ALL.iter().chain(&[Width::Screen]) {
            let misplaced = misplaced_texts(&figure, width).unwrap();
            let svg = render(&figure, Format::Svg, width).unwrap();
            let large = (svg.len() > 300_000).then(|| format!("{} bytes", svg.len()));
            let all = misplaced.into_iter().chain(large);
            faults.extend(all.map(|fault| format!("{file} {width:?}: {fault}")));
        }
        let Head { title, note, source, .. } = figure.head;
        // What is as defined and what is as printed are told apart by their sources.
        if !titles.insert((title.clone(), source)) {
            faults.push(format!("two figures \"{title}\" ({note})"));
        }
    }
    let readings = tables.readings;
    if titles.is_empty() {
        faults.push("no figure".to_owned());
    }
    let sets = experiment.panels.iter().filter_map(|panel| panel.readings.as_ref());
    let expected: usize = sets.map(|set| set.readings.len()).sum();
    if readings.len() != expected {
        faults.push(format!("{} readings, not {expected}", readings.len()));
    }
    let beyond: Vec<_> = readings.iter().filter(|row| !row.within).collect();
    if beyond.len() != usize::from(experiment.name == "arxiv-fig5b")
        || beyond.iter().any(|row| row.note.is_empty())
    {
        faults.push(format!("not explained: {beyond:?}"));
    }
    // Privacy losses that the authors recorded with 12 digits.
    let recorded: Vec<_> = readings.iter().filter(|row| row.error == 1e-8).collect();
    if recorded.len() != if experiment.name == "arxiv-fig6" { 57 } else { 0 }
        || recorded.iter().any(|row| row.deviation.abs() > 1e-8)
    {
        faults.push(format!("not as recorded: {recorded:?}"));
    }
    faults.into_iter().map(|fault| format!("{}: {fault}", experiment.name)).collect()
}

#[test]
fn what_is_drawn_of_a_panel_shows_all_of_its_readings() {
    let mut panels = 0;
    for experiment in bundled() {
        for panel in &experiment.panels {
            let Some(set) = &panel.readings else { continue };
            let view = panel.kind.resolved().remove("view");
            let Some(ends) = view.as_ref().and_then(|view| view.as_array()) else { continue };
            panels += 1;
            let [from, to] = [0, 1].map(|end| ends[end].as_float().unwrap());
            for reading in &set.readings {
                let at = reading.position().unwrap();
                let place = format!("{}, {}: {reading:?}", experiment.name, panel.id);
                assert!(from <= at && at <= to, "{place}");
            }
        }
    }
    assert_eq!(panels, 6);
}
