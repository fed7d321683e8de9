//! Mechanisms of the user's own: those that are written like built-in ones have the same laws, losses and
//! calibrations, whichever way they are computed; and what configs say about them.

use crate::common::{Sandbox, assert_close, holds, refused, setting};
use engine::analysis::audit::Scope;
use engine::mechanism::law::OutputSet;
use engine::mechanism::own::{self, NoisyCounts};
use engine::mechanism::{self, Kind, Mechanism, Options};
use engine::posterior::error_field::Reach;
use engine::posterior::setting::SettingWithData;

fn weights(text: &str) -> Kind {
    own::weights(text, OutputSet::Simplex, Vec::new()).unwrap_or_else(|fault| panic!("{fault:?}"))
}

fn noise(text: &str, on: NoisyCounts) -> Kind {
    own::noise(text, on, Vec::new()).unwrap_or_else(|fault| panic!("{fault:?}"))
}

/// For k categories: a built-in mechanism, and expressions for it. The first is recognised and computed as
/// the built-in one is; the others are not, and take the way of an expression of its kind.
fn twins(k: usize) -> Vec<(&'static str, Vec<Kind>)> {
    let moved = match k {
        2 => "(abs(r1 - x1) + abs(r2 - x2))",
        _ => "(abs(r1 - x1) + abs(r2 - x2) + abs(r3 - x3))",
    };
    let per_count = if k == 2 { 1 } else { 2 };
    let noises = |on: NoisyCounts, divisor: u32| {
        let size = ["abs(t)", "sqrt(t^2)", "if(t < 0, -t, t)"];
        size.map(|size| noise(&format!("-epsilon * {size} / {divisor}"), on)).to_vec()
    };
    let mut twins = vec![
        (
            "ehd",
            vec![weights("-epsilon * H / (2 * GS)"), weights("-epsilon * sqrt(H^2) / (2 * GS)")],
        ),
        (
            "ehdl",
            vec![
                weights("-epsilon * H / (2 * LS) + ln(3)"),
                weights("-epsilon * max(H, H^2) / (2 * LS)"),
                // Not in H alone.
                weights("-epsilon * H / (2 * LS) + 0 * r1"),
            ],
        ),
        (
            "ehds",
            vec![
                weights("-epsilon * H / (2 * (1 + gamma) * S)"),
                weights("-epsilon * H^0.5 * H^0.5 / (2 * (1 + gamma) * S)"),
            ],
        ),
        (
            "mh-beta",
            vec![
                weights("-epsilon * H / (2 * S_beta)"),
                weights("-epsilon / (2 * S_beta) * if(H > 0, H, 0)"),
            ],
        ),
        (
            "hamming",
            vec![
                weights("-epsilon * d / 2"),
                weights("-epsilon * l1 / 4"),
                weights(&format!("-epsilon * {moved} / 4")),
                weights("-epsilon * sqrt(d^2) / 2 + 700"),
            ],
        ),
        ("geometric", noises(NoisyCounts::First, per_count)),
        // Laplace noise that is rounded down: the side below 0 is one step shorter.
        (
            "lshist",
            vec![noise(
                &format!("-epsilon * if(t >= 0, t, -t - 1) / {per_count}"),
                NoisyCounts::First,
            )],
        ),
    ];
    if k > 2 {
        twins.push(("geometric-all", noises(NoisyCounts::All, 2)));
    }
    twins
}

fn settings() -> Vec<SettingWithData> {
    vec![
        setting(&[1.0, 1.0], &[12, 18], 1.0, "hellinger"),
        setting(&[0.5, 3.0], &[0, 20], 0.4, "hellinger"),
        setting(&[1.0, 1.0], &[9, 9], 2.0, "print"),
        setting(&[1.0, 1.0, 1.0], &[3, 0, 5], 1.0, "hellinger"),
        setting(&[2.0, 0.6, 1.0], &[2, 4, 1], 3.0, "hellinger"),
    ]
}

fn ln_law(variant: &Mechanism, setting: &SettingWithData) -> Vec<f64> {
    let prepared = variant.prepare(setting).unwrap();
    let here = prepared.at(setting.counts()).unwrap();
    here.ln_probabilities().into_iter().map(|(_, ln_p)| ln_p).collect()
}

fn summary(variant: &Mechanism, setting: &SettingWithData) -> [f64; 5] {
    let prepared = variant.prepare(setting).unwrap();
    let exact = prepared.at(setting.counts()).unwrap().summary();
    let error = exact.error.unwrap();
    [error.mean, error.std, error.median, error.q90, exact.p_exact]
}

#[test]
fn an_expression_for_a_built_in_mechanism_has_its_law() {
    let mut compared = 0;
    for setting in settings() {
        for (id, own) in twins(setting.k()) {
            let built_in = Mechanism::plain(mechanism::find(id).unwrap());
            let law = ln_law(&built_in, &setting);
            for mechanism in own {
                let what = format!("{id} {} {}", mechanism.title(), setting.key());
                let variant = Mechanism::plain(mechanism);
                let ours = ln_law(&variant, &setting);
                if ours.len() == law.len() {
                    for (ours, theirs) in ours.iter().zip(&law) {
                        let same = (ours - theirs).abs() <= 1e-12 * (1.0 + theirs.abs());
                        assert!(same || ours == theirs, "{what}: {ours} {theirs}");
                        compared += 1;
                    }
                }
                for (ours, theirs) in
                    summary(&variant, &setting).into_iter().zip(summary(&built_in, &setting))
                {
                    assert_close(ours, theirs, 1e-12, &what);
                }
            }
        }
    }
    assert!(compared > 6000, "{compared}");
}

#[test]
fn its_loss_its_mean_over_all_data_and_its_calibration_are_the_same() {
    for setting in settings().iter().filter(|one| one.n <= 20) {
        let options = Options { calibrated: true, ..Options::default() };
        let calibrated = |mechanism: Kind| {
            let variant = Mechanism::new(mechanism, options, "calibrated".to_owned());
            let certificate = variant.prepare(setting).unwrap().certificate;
            (certificate.unwrap(), summary(&variant, setting))
        };
        for (id, own) in twins(setting.k()) {
            let built_in = mechanism::find(id).unwrap();
            let prepared = Mechanism::plain(built_in).prepare(setting).unwrap();
            let theirs = prepared.loss(&Scope::All, &[0.3]).unwrap();
            let mean = prepared.error().unwrap().unwrap().mean;
            let can_be_calibrated = built_in.choices.contains(&mechanism::Choice::Calibrated);
            let tuned = can_be_calibrated.then(|| calibrated(built_in.into()));
            for mechanism in own {
                let what = format!("{id} {} {}", mechanism.title(), setting.key());
                let own = Mechanism::plain(mechanism.clone()).prepare(setting).unwrap();
                let ours = own.loss(&Scope::All, &[0.3]).unwrap();
                assert_close(ours.loss.loss, theirs.loss.loss, 1e-12, &what);
                let (ours, theirs) = (ours.deltas[0].delta, theirs.deltas[0].delta);
                assert!((ours - theirs).abs() < 1e-13, "{what}: δ {ours} {theirs}");
                assert_close(own.error().unwrap().unwrap().mean, mean, 1e-12, &what);
                let Some((theirs, law)) = &tuned else { continue };
                let (ours, own_law) = calibrated(mechanism);
                assert!(ours.found.loss <= setting.epsilon.get(), "{what}");
                // The inner ε has eleven digits, and rounding errors may decide the last.
                let (inner, expected) = (ours.inner_epsilon.get(), theirs.inner_epsilon.get());
                assert_close(inner, expected, 5e-11, &what);
                own_law.iter().zip(law).for_each(|(a, b)| assert_close(*a, *b, 1e-9, &what));
            }
        }
    }
}

/// Noise can be calibrated: e^(−|t|) becomes geometric noise at the stated ε.
#[test]
fn noise_is_calibrated_to_the_geometric_optimum() {
    let setting = setting(&[1.0, 1.0], &[10, 10], 0.7, "hellinger");
    let geometric = summary(&Mechanism::plain(mechanism::find("geometric").unwrap()), &setting);
    for text in ["-abs(t)", "-3 * sqrt(t^2)"] {
        let options = Options { calibrated: true, ..Options::default() };
        let variant = Mechanism::new(noise(text, NoisyCounts::First), options, text.to_owned());
        let own = summary(&variant, &setting);
        own.iter().zip(geometric).for_each(|(a, b)| assert_close(*a, b, 1e-9, text));
    }
}

/// Noise must be a number also where it is unlikely: such a step may decide about the loss.
#[test]
fn every_step_from_one_count_to_another_is_examined() {
    let setting = setting(&[1.0, 1.0], &[100, 100], 1.0, "hellinger");
    for on in [NoisyCounts::First, NoisyCounts::All] {
        let variant = Mechanism::plain(noise("-30 * abs(t) + 0 * sqrt(150 - abs(t))", on));
        let refusal = variant.law(&setting).map(drop).unwrap_err();
        assert!(refusal.cause.contains("at t = 151") && refusal.span.is_some(), "{refusal:?}");
    }
}

/// A law over all counts with a total of at most n, by the definition.
#[test]
fn candidates_below_the_total() {
    let text = "-epsilon * (l1 + l2) / 3 - 0.1 * H";
    let mechanism = own::weights(text, OutputSet::Below, Vec::new()).unwrap();
    let variant = Mechanism::plain(mechanism);
    for setting in settings() {
        let posterior = setting.posterior();
        let (n, k) = (posterior.n(), posterior.k());
        let field = setting.distance.field(posterior, &Reach::ball(posterior));
        let mut all = vec![Vec::new()];
        for _ in 0..k {
            let longer = |r: Vec<u64>| {
                let left = n - r.iter().sum::<u64>();
                (0..=left).map(move |v| [&r[..], &[v]].concat())
            };
            all = all.into_iter().flat_map(longer).collect();
        }
        let weight = |r: &Vec<u64>| {
            let moves = || r.iter().zip(posterior.counts()).map(|(r, x)| *r as f64 - *x as f64);
            let (l1, l2) =
                (moves().map(f64::abs).sum::<f64>(), moves().map(|z| z * z).sum::<f64>().sqrt());
            (-setting.epsilon.get() * (l1 + l2) / 3.0 - 0.1 * field.at(r)).exp()
        };
        let total: f64 = all.iter().map(weight).sum();
        let mean: f64 = all.iter().map(|r| weight(r) * field.at(r)).sum::<f64>() / total;
        let exact = weight(&posterior.counts().to_vec()) / total;
        let [ours, _, _, _, p_exact] = summary(&variant, &setting);
        assert_close(ours, mean, 1e-12, &setting.key());
        assert_close(p_exact, exact, 1e-12, &setting.key());
        let law = ln_law(&variant, &setting);
        assert_eq!(law.len(), all.len());
        assert!((law.iter().map(|ln_p| ln_p.exp()).sum::<f64>() - 1.0).abs() < 1e-12);
    }
}

const CONFIG: &str = r#"
name = "mine"
prior = [1, 1]
epsilon = 1.0
runs = 40
data.balanced.sizes = [12]
mechanisms = [MECHANISMS]

[define.power]
id = "weights"
log_weight = "-c * H^p"
c = 2
p = [0.5, 1, 2]
"#;

fn config(mechanisms: &str) -> String {
    CONFIG.replace("MECHANISMS", mechanisms)
}

#[test]
fn families_and_definitions_are_mechanisms_of_a_config() {
    let sandbox = Sandbox::new();
    let ideas = "[define.far]\nid = \"weights\"\nlog_weight = \"-epsilon * d / 2\"\n";
    sandbox.write("ideas.toml", ideas);
    let mechanisms = r#""power", { id = "power", p = 3, label = "third", calibrated = true }, "far",
        { id = "noise", label = "wide", log_weight = "-s * t^2", s = [0.1, 0.2], on = "first" }"#;
    let with_file = config(mechanisms)
        .replace("[define.power]", "[define]\nfrom = \"ideas.toml\"\n[define.power]");
    sandbox.write("a.toml", &with_file);
    let run = sandbox.dpbi(&["run", "a.toml", "-q"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let summary = sandbox.text("results/mine/summary.csv");
    for label in ["power, p = 0.5", "power, p = 1", "power, p = 2", "third", "far", "wide, s = 0.1"]
    {
        assert!(summary.contains(label), "{label}: {summary}");
    }
    // The resolved config stands alone, and gives the same results.
    let again = sandbox.dpbi(&["run", "results/mine/config.toml", "--out", "again", "-q"]);
    assert_eq!(again.status, 0, "{}", again.stderr);
    assert_eq!(sandbox.read("results/mine/summary.csv"), sandbox.read("again/mine/summary.csv"));
    assert_eq!(sandbox.read("results/mine/errors.csv"), sandbox.read("again/mine/errors.csv"));
    let listed = sandbox.dpbi(&["mechanisms", "a.toml"]);
    for words in ["weights", "noise", "table", "power, p = 0.5", "-c * H^p", "none stated"] {
        assert!(listed.stdout.contains(words), "{words}: {}", listed.stdout);
    }
    // A definition that changes makes other cells; those of the other mechanisms are kept.
    sandbox.write("ideas.toml", &ideas.replace("/ 2", "/ 3"));
    let changed = sandbox.dpbi(&["run", "a.toml", "--out", "again"]);
    assert_eq!(changed.status, 0, "{}", changed.stderr);
    let rows = |folder: &str, label: &str| -> Vec<String> {
        let text = sandbox.text(&format!("{folder}/mine/errors.csv"));
        text.lines().filter(|line| line.contains(label)).map(str::to_owned).collect()
    };
    assert_eq!(rows("results", "third"), rows("again", "third"));
    assert_ne!(rows("results", "far"), rows("again", "far"));
}

#[test]
fn mistakes_are_marked_in_the_expression() {
    let sandbox = Sandbox::new();
    let log_weight = |text: &str| format!("{{ id = \"weights\", log_weight = \"{text}\" }}");
    let noise = |text: &str| format!("{{ id = \"noise\", log_weight = \"{text}\" }}");
    let far = "{ id = \"weights\", log_weight = \"-c * H\", c = 1, ";
    for (mechanisms, words, mark) in [
        (log_weight("-epsilon * Hh"), "unknown name `Hh`", "^^"),
        (log_weight("-epsilom * H"), "did you mean `epsilon`?", "^^^^^^^"),
        (log_weight("-min(H)"), "`min`", "^"),
        (log_weight("-1/(r1 - 3)"), "at the data (6;6) and the candidate (3;9)", "^^^^^^"),
        (log_weight("ln(r1 - 20)"), "at the data (6;6) and the candidate (0;12)", "^^"),
        (log_weight("-H * x3"), "uses `x3`, but there are 2 categories", "^^"),
        (log_weight("-t"), "`t` is noise", "^"),
        (log_weight("-inf + 0 * H"), "the weights of all candidates are 0", ""),
        (noise("-H * t"), "noise cannot depend on `H`", "^"),
        (noise("0 * t"), "cannot be normalised", "^^^^^"),
        (noise("-2 * ln(1 + abs(t))"), "fall too slowly", "^^^"),
        (noise("-1 / t"), "at t = 0", "^"),
        (format!("{far} cc = 2 }}"), "does not use `cc`", "^"),
        (format!("{far} calibratd = true }}"), "calibratd", "^^^^"),
        (format!("{far} H = 2 }}"), "`H` has a meaning of its own", "^"),
        ("\"weights\"".to_owned(), "it is not said which", "^^^"),
        ("{ id = \"powr\", p = 1 }".to_owned(), "did you mean `power`?", "^^^"),
        ("{ id = \"table\", path = \"absent.csv\" }".to_owned(), "absent.csv", "^^^"),
    ] {
        sandbox.write("a.toml", &config(&mechanisms));
        let outcome = sandbox.dpbi(&["check", "a.toml"]);
        refused(&outcome, words);
        assert!(outcome.stderr.contains(mark), "{mechanisms}: {}", outcome.stderr);
        assert!(outcome.stderr.contains("a.toml:7:"), "{mechanisms}: {}", outcome.stderr);
    }
}

/// Every kind of experiment accepts mechanisms of the user's own, or refuses them in words.
#[test]
fn every_kind_takes_them_or_says_why_not() {
    let sandbox = Sandbox::new();
    let mechanisms = r#""power", { id = "weights", label = "general", log_weight = "-abs(r1 - x1)" },
        { id = "noise", label = "wide", log_weight = "-0.2 * t^2" },
        { id = "weights", label = "below", outputs = "below", log_weight = "-l1" }"#;
    let mut accepted = 0;
    // A crossover tries hundreds of sizes.
    for kind in lab::experiment::kind::ALL.iter().filter(|kind| kind.id() != "crossover") {
        let mut text = config(mechanisms)
            .replace("runs = 40", &format!("runs = 40\nkind = \"{}\"", kind.id()));
        if kind.keys().iter().any(|key| key.name == "steps") {
            text = text.replace("runs = 40", "runs = 40\nsteps = [1, 2]");
        }
        sandbox.write("a.toml", &text);
        let outcome = sandbox.dpbi(&["run", "a.toml", "-q", "--out", kind.id()]);
        match outcome.status {
            0 => accepted += 1,
            2 => assert!(outcome.stderr.contains("help: "), "{}: {}", kind.id(), outcome.stderr),
            status => panic!("{}: {status} {}", kind.id(), outcome.stderr),
        }
    }
    assert!(accepted >= 8, "{accepted}");
}

#[test]
fn their_samplers_are_tested_against_their_laws() {
    let sandbox = Sandbox::new();
    sandbox.write("table.csv", &coin_table(12));
    let mechanisms = r#""power", { id = "power", label = "mapped", p = 2, calibrated = true, remap = true },
        { id = "weights", label = "general", log_weight = "-epsilon * abs(r1 - x1)^1.5" },
        { id = "noise", label = "first", log_weight = "-epsilon * t^2" },
        { id = "noise", label = "all", log_weight = "-epsilon * t^2", on = "all" },
        { id = "weights", label = "below", outputs = "below", log_weight = "-epsilon * l1" },
        { id = "table", label = "coins", path = "table.csv" }"#;
    sandbox.write("a.toml", &config(mechanisms));
    let outcome = sandbox.dpbi(&["selftest", "--config", "a.toml", "--seed", "7"]);
    assert_eq!(outcome.status, 0, "{}{}", outcome.stdout, outcome.stderr);
    for label in ["power, p = 2", "mapped", "general", "first", "all", "below", "coins"] {
        assert!(outcome.stdout.contains(label), "{label}: {}", outcome.stdout);
    }
    // A scale that is 5 % off would be noticed in all of them.
    assert_eq!(outcome.stdout.matches("> 0.9999  ok").count(), 9, "{}", outcome.stdout);
}

/// Every record is kept with probability 3/4 each, and goes to the other category otherwise.
fn coin_table(n: u64) -> String {
    let binomial = |n: u64, p: f64, j: u64| -> f64 {
        let ways: f64 = (0..j).map(|i| (n - i) as f64 / (i + 1) as f64).product();
        ways * p.powi(j as i32) * (1.0 - p).powi((n - j) as i32)
    };
    let mut text = "counts,output,probability\n".to_owned();
    for x in 0..=n {
        for r in 0..=n {
            let kept = (0..=x.min(r)).filter(|kept| r - kept <= n - x);
            let p: f64 =
                kept.map(|kept| binomial(x, 0.75, kept) * binomial(n - x, 0.25, r - kept)).sum();
            text += &format!("{x};{},{r};{},{p:e}\n", n - x, n - r);
        }
    }
    text
}

/// Randomised response loses ln 3 for one record, and no more for several.
#[test]
fn a_table_is_audited_like_any_other() {
    let sandbox = Sandbox::new();
    sandbox.write("table.csv", &coin_table(12));
    let text = config("{ id = \"table\", label = \"coins\", path = \"table.csv\" }, \"power\"");
    sandbox.write("a.toml", &text.replace("runs = 40", "kind = \"privacy\""));
    let run = sandbox.dpbi(&["run", "a.toml", "-q"]);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let table = sandbox.text("results/mine/privacy.csv");
    let row = table.lines().find(|line| line.contains("coins")).unwrap();
    let near = |cell: &str| cell.parse::<f64>().is_ok_and(|v| (v - 3.0_f64.ln()).abs() < 1e-12);
    assert!(row.split(',').any(near), "{table}");
    // Data sets that are not in the table.
    sandbox.write("a.toml", &text.replace("[12]", "[10]"));
    refused(&sandbox.dpbi(&["check", "a.toml"]), "no data set of 10 records, but of 12");
    let without = coin_table(12).replace("3;9,", "3;8,");
    sandbox.write("table.csv", &without);
    refused(&sandbox.dpbi(&["check", "a.toml"]), "table.csv");
    let lines = coin_table(12);
    let without: Vec<&str> = lines.lines().filter(|line| !line.starts_with("3;9,")).collect();
    sandbox.write("table.csv", &without.join("\n"));
    sandbox.write("a.toml", &text.replace("runs = 40", "kind = \"privacy\""));
    holds(&sandbox.dpbi(&["run", "a.toml", "-q"]).stderr, "the table lacks 3;9");
}

/// A mechanism whose laws are of several kinds at different data is audited all the same.
#[test]
fn laws_of_several_kinds_are_compared() {
    let setting = setting(&[1.0, 1.0], &[5, 4], 1.0, "hellinger");
    // The rate is negative where x1 < 3.
    let mixed = Mechanism::plain(weights("-H * (x1 - 3)"));
    let general = Mechanism::plain(weights("-H * (x1 - 3) + 0 * r1"));
    let losses = [mixed, general]
        .map(|variant| variant.prepare(&setting).unwrap().loss(&Scope::All, &[]).unwrap().loss);
    assert_close(losses[0].loss, losses[1].loss, 1e-12, "mixed");
    assert!(losses[0].loss > 0.1);
}
