//! The work of exponential mechanisms grows with the candidates near the data, not with all of them.

use crate::common::{Sandbox, load};
use engine::mechanism::law::Recipe;
use engine::mechanism::prepared::PreparedSetting;
use engine::posterior::model::compositions;
use figure::{self, Format};
use lab::experiment::Experiment;
use lab::experiment::config::{self, Overrides};
use lab::experiment::kind::scaling::{CANDIDATES, NEAR, curve, slope};
use system::source::Source;
use table::Tables;

fn bundled() -> (Experiment, Tables) {
    let source = Source::config("scaling").unwrap();
    let experiment = config::load(&source, &Overrides::default()).unwrap();
    let tables = experiment.panels[0].compute();
    (experiment, tables)
}

#[test]
fn near_candidates_grow_by_half_a_power_for_every_category_but_one() {
    let (experiment, tables) = bundled();
    let panel = &experiment.panels[0];
    for k in [2, 3, 4] {
        let expected = 0.5 * (k as f64 - 1.0);
        let near = slope(&curve(panel, &tables, k, NEAR)).unwrap();
        assert!((near - expected).abs() < 0.02, "k = {k}: {near}");
        let all = slope(&curve(panel, &tables, k, CANDIDATES)).unwrap();
        assert!((all - 2.0 * expected).abs() < 0.001, "k = {k}: {all}");
    }
    // Of few records more are near, and the slope is not yet what it becomes.
    let early: Vec<(f64, f64)> =
        curve(panel, &tables, 4, NEAR).into_iter().filter(|(n, _)| *n <= 2000.0).collect();
    assert!(slope(&early).unwrap() > 1.7);

    let at = |k: usize, n: u64, what: &str| {
        let points = curve(panel, &tables, k, what);
        points.iter().find(|(x, _)| *x == n as f64).unwrap().1
    };
    for (k, n, near, all) in
        [(2, 10_000_000, 77e3, 1e7), (3, 100_000, 22e6, 5e9), (4, 2000, 133e6, 1.3e9)]
    {
        let (found, of) = (at(k, n, NEAR), at(k, n, CANDIDATES));
        assert!((found / near - 1.0).abs() < 0.01, "k = {k}, n = {n}: {found}");
        assert!((of / all - 1.0).abs() < 0.05, "k = {k}, n = {n}: {of}");
    }
}

#[test]
fn what_is_counted_is_what_is_walked() {
    let experiment = load(
        r#"
name = "s"
kind = "scaling"
prior = [[1, 1], [0.5, 2, 1]]
epsilon = 2
distance = "print"
mechanisms = ["ehds", "lszhang", "lshist", "hamming"]
[data.balanced]
sizes = [40, 3000]
"#,
    );
    let panel = &experiment.panels[0];
    let tables = panel.compute();
    for (setting, case) in panel.settings() {
        let posterior = &case.setting.posterior;
        let of = |name: &str| {
            let own = |row: &&table::ScalingRow| row.setting == setting;
            let mut own = tables.scaling.iter().filter(own);
            own.find(|row| row.mechanism == name).map(|row| row.outputs)
        };
        let all = compositions(posterior.n(), posterior.k()).unwrap() as f64;
        assert_eq!(of(CANDIDATES), Some(all));
        assert_eq!(of("ehds"), None, "its outputs are the candidates");
        let recipes = panel.recipes(case).unwrap();
        let bench = PreparedSetting::new(&case.setting, &recipes, &[]);
        for (variant, recipe) in panel.variants.iter().zip(&recipes) {
            let walked = bench.law(*recipe).blocks().unwrap().represented();
            match recipe {
                // A ball of more than half of all is walked like all.
                Recipe::Exponential { .. } if of(NEAR) > Some(0.5 * all) => {
                    assert_eq!(walked, all);
                }
                Recipe::Exponential { .. } => assert_eq!(of(NEAR), Some(walked)),
                _ => assert_eq!(of(&variant.label), Some(walked), "{}", variant.label),
            }
        }
    }
}

#[test]
fn a_divergence_has_no_plateau() {
    let experiment = load(
        r#"
name = "s"
kind = "scaling"
prior = [1, 1]
epsilon = 1
distance = "kl"
mechanisms = ["ehds"]
data.balanced.sizes = [500]
"#,
    );
    let tables = experiment.panels[0].compute();
    let counts: Vec<f64> = tables.scaling.iter().map(|row| row.outputs).collect();
    assert_eq!(counts, [501.0, 501.0]);
}

#[test]
fn it_is_run_checked_and_drawn_again() {
    let sandbox = Sandbox::new();
    let config = "name = \"s\"\nkind = \"scaling\"\nprior = [[1, 1], [1, 1, 1]]\nepsilon = 1\n\
                  mechanisms = [\"lshist\"]\ndata.balanced.sizes = [100, 1000]\n";
    sandbox.write("s.toml", config);
    let checked = sandbox.succeed(&["check", "s.toml"]);
    assert!(checked.contains("4 settings"), "{checked}");
    let printed = sandbox.succeed(&["run", "s.toml", "--format", "svg"]);
    assert!(printed.contains("nearer than 1"), "{printed}");
    let table = std::fs::read_to_string(sandbox.path("results/s/scaling.csv")).unwrap();
    assert!(table.starts_with("setting,k,n,mechanism,outputs\n1,2,100,candidates,101.0\n"));
    let drawn = || std::fs::read(sandbox.path("results/s/scaling.svg")).unwrap();
    let first = drawn();
    sandbox.succeed(&["plot", "results/s", "--format", "svg"]);
    assert_eq!(drawn(), first);
    let svg = String::from_utf8(first).unwrap();
    assert!(svg.contains("slope") && svg.contains("(k−1)/2"));

    sandbox.write("t.toml", &config.replace("[1, 1, 1]", "[2, 2]"));
    let refused = sandbox.dpbi(&["check", "t.toml"]);
    assert_eq!(refused.status, 2);
    assert!(refused.stderr.contains("one prior of each length"), "{}", refused.stderr);
}

#[test]
fn curves_are_named_with_their_slopes() {
    let (experiment, tables) = bundled();
    let figures = experiment.panels[0].figures(&tables);
    let [(name, drawing)] = &figures[..] else { panic!("one figure") };
    assert_eq!(name, "scaling");
    let svg = String::from_utf8(figure::render(drawing, Format::Svg, figure::Width::Text).unwrap())
        .unwrap();
    for label in ["k = 2: slope 0.50", "k = 3: slope 1.0", "k = 4: slope 1.5", "k = 4: |R|"] {
        assert!(svg.contains(label), "{label}");
    }
}
