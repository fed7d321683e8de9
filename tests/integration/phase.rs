//! Phase diagrams: the winner is the mechanism of least exact mean error, everywhere, and what was
//! drawn can be drawn again.

use crate::common::{Sandbox, assert_close, load};
use engine::mechanism::law::Distribution;
use lab::experiment::Panel;
use lab::experiment::config::{self, Overrides};
use system::source::Source;
use table::PhaseRow;

const CONFIG: &str = r#"
name = "p"
kind = "phase"
[[panel]]
id = "epsilon"
prior = [1, 1]
epsilon = { from = 0.05, to = 8, count = 6, spacing = "log" }
mechanisms = ["lszhang", "lsdim", "lshist", "ehd", "ehds"]
data.balanced.sizes = { from = 4, to = 40, count = 6, spacing = "log" }
[[panel]]
id = "share"
prior = [1, 1, 1]
epsilon = 0.7
mechanisms = ["hamming", "geometric-all", "ehds", { id = "ehds", gamma = 0.5, label = "EHDS ½" }]
data.shares.sizes = [5, 9, 16]
data.shares.shares = { from = 0.4, to = 1, count = 4 }
[[panel]]
id = "prior"
prior = { from = 0.5, to = 20, count = 4, spacing = "log", k = 2 }
epsilon = 1.0
mechanisms = ["ehd", "ehds", "lshist", "geometric"]
data.balanced.sizes = [6, 20]
"#;

/// The mean error of every mechanism at one case, from its law value by value.
fn brute_means(panel: &Panel, case: usize) -> Vec<f64> {
    let case = &panel.cases[case];
    let laws = panel.laws(case).unwrap();
    let bench = panel.bench(case, &laws, &[]).unwrap();
    let mean = |place| {
        let law = Distribution::new(bench.law(place).as_ref(), bench.distance()).unwrap();
        law.levels.iter().map(|level| level.value * level.probability).sum()
    };
    (0..laws.len()).map(mean).collect()
}

#[test]
fn the_winner_has_the_least_mean_of_all() {
    let mut winners = std::collections::BTreeSet::new();
    for panel in &load(CONFIG).panels {
        let tables = panel.compute();
        assert_eq!(tables.phase.len(), panel.cases.len());
        assert_eq!(tables.means.len(), panel.cases.len() * panel.variants.len());
        for (case, row) in tables.phase.iter().enumerate() {
            let what = format!("{} at setting {}", panel.id, row.setting);
            assert_eq!(row.setting, panel.first + case);
            let mut brute: Vec<(f64, &str)> = brute_means(panel, case)
                .into_iter()
                .zip(panel.variants.iter().map(|variant| variant.label.as_str()))
                .collect();
            for (mean, label) in &brute {
                let own = |row: &&table::MeanRow| row.mechanism == *label;
                let own: Vec<_> = tables.means.iter().filter(own).collect();
                assert_close(own[case].mean, *mean, 1e-12, &format!("{what}, {label}"));
            }
            brute.sort_by(|a, b| a.0.total_cmp(&b.0));
            assert_eq!((row.winner.as_str(), row.runner_up.as_str()), (brute[0].1, brute[1].1));
            assert!(row.mean < brute.last().unwrap().0, "{what}: the worst is not the best");
            assert_close(row.mean, brute[0].0, 1e-12, &what);
            assert_close(row.runner_up_mean, brute[1].0, 1e-12, &what);
            let margin = brute[1].0 / brute[0].0 - 1.0;
            assert!((row.margin.unwrap() - margin).abs() < 1e-10 * (1.0 + margin), "{what}");
            winners.insert(row.winner.clone());
        }
    }
    assert!(winners.len() >= 4, "the test sees several winners: {winners:?}");
}

#[test]
fn equal_mechanisms_tie_and_the_first_is_named() {
    let panel = &load(
        r#"
name = "p"
kind = "phase"
prior = [1, 1]
epsilon = [0.5, 2]
mechanisms = [{ id = "geometric", label = "b" }, "lsdim", { id = "geometric", label = "a" }]
data.balanced.sizes = [8, 20, 50]
"#,
    )
    .panels[0];
    for row in panel.compute().phase {
        assert_eq!((row.winner.as_str(), row.runner_up.as_str()), ("b", "a"));
        assert_eq!((row.margin, row.mean), (Some(0.0), row.runner_up_mean));
    }
}

#[test]
fn a_run_says_who_wins_how_much_of_the_map() {
    let sandbox = Sandbox::new();
    let printed = sandbox.write("p.toml", CONFIG).succeed(&["run", "p.toml", "--format", "none"]);
    for part in
        ["best at", "largest lead", "36 points of n and privacy parameter ε", "nowhere", "share ="]
    {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    let checked = sandbox.succeed(&["check", "p.toml"]);
    assert!(checked.contains("12 settings, 4 mechanisms"), "{checked}");
}

const QUESTIONS: [&str; 3] = ["phase_n_epsilon", "phase_n_imbalance", "phase_n_prior"];

#[test]
fn bundled_maps_have_forty_by_forty_points() {
    for name in QUESTIONS {
        let source = Source::config(&format!("configs/open_questions/{name}.toml")).unwrap();
        let experiment = config::load(&source, &Overrides::default()).unwrap();
        assert_eq!(experiment.name, format!("open-{}", name.replace('_', "-")));
        for panel in &experiment.panels {
            let mut sizes: Vec<u64> = panel.cases.iter().map(|case| case.setting.n).collect();
            sizes.sort_unstable();
            sizes.dedup();
            let others = panel.cases.len() / sizes.len();
            assert!(sizes.len() >= 40 && others >= 40, "{name}: {} × {others}", sizes.len());
        }
        if name == "phase_n_epsilon" {
            check_winners(&experiment.panels[0]);
        }
    }
}

fn check_winners(panel: &Panel) {
    let tables = panel.compute();
    let won = |contest: &str, label: &str| {
        let of = |row: &&PhaseRow| row.contest == contest && row.winner == label;
        tables.phase.iter().filter(of).count()
    };
    let points = panel.cases.len();
    assert_eq!(tables.phase.len(), 2 * points);
    // Among the documents' own mechanisms LSHist wins most; the newcomers leave it nothing.
    assert!(won("without", "lshist") > points / 2 && won("all", "lshist") == 0);
    assert!(won("without", "geometric") == 0 && won("all", "geometric") > points / 2);
}
