//! The commands as a user types them.

use crate::common::{Sandbox, assert_close, golden, number, refused, row, words};

/// `golden.rs` compares all rows with the library.
#[test]
fn inspect_gives_golden_numbers() {
    let sandbox = Sandbox::new();
    let inspect = |file: &str, place: usize, more: &str| {
        let row = golden(file).swap_remove(place);
        let [prior, counts] = ["prior", "counts"].map(|column| row.text(column).replace(';', ","));
        let line = format!("inspect --json --prior {prior} --counts {counts} {more}");
        (sandbox.json(&words(&line)), row)
    };
    let smooth = "--epsilon 1 --gamma 5 --beta 1 --mechanism lshist";
    let (found, row_of) = inspect("sensitivity.csv", 13, smooth);
    for (key, column) in [
        ("local", "local"),
        ("global", "global"),
        ("gamma_smooth", "gamma_5"),
        ("beta_smooth", "beta_1"),
    ] {
        assert_close(number(&found, key), row_of.number(column), 1e-9, column);
    }
    let (_, row_of) = inspect("error.csv", 150, "--epsilon 1");
    let [epsilon, delta] = ["epsilon", "delta"].map(|column| row_of.text(column));
    let (found, row_of) =
        inspect("error.csv", 150, &format!("--epsilon {epsilon} --delta {delta}"));
    let law = row(&found, row_of.text("mechanism"));
    for key in ["mean", "median", "q90"] {
        assert_close(number(law, key), row_of.number(&format!("{key}_hellinger")), 1e-8, key);
    }
    assert_close(number(law, "p_exact"), row_of.number("p_exact"), 1e-8, "p_exact");
    let candidate = golden("hellinger.csv")[20].text("candidate").replace(';', ",");
    let named = format!("--epsilon 1 --candidate {candidate} --mechanism lshist");
    let (found, row_of) = inspect("hellinger.csv", 20, &named);
    assert_close(number(&found, "distance"), row_of.number("hellinger"), 1e-12, "distance");
}

#[test]
fn inspect_at_the_edges() {
    let sandbox = Sandbox::new();
    let at = |counts: &str, more: &[&str]| {
        let args =
            ["inspect", "--prior", "1,1,0.5", "--counts", counts, "--epsilon", "1", "--json"];
        sandbox.json(&[&args[..], more].concat())
    };
    let none = at("0,0,0", &["--delta", "0.1"]);
    for key in ["local", "global", "gamma_smooth", "beta_smooth"] {
        assert_eq!(none[key], 0.0, "{key}");
    }
    let laws = none["mechanisms"].as_array().unwrap();
    assert_eq!(laws.len(), engine::mechanism::ALL.len());
    for law in laws {
        assert_eq!(
            (law["mean"].as_f64(), law["p_exact"].as_f64()),
            (Some(0.0), Some(1.0)),
            "{law}"
        );
    }
    let one = at("0,1,0", &[]);
    assert_eq!(one["candidates"], 3);
    assert!(one["beta_smooth"].is_null());
    assert!(one["mechanisms"].as_array().unwrap().iter().all(|law| law["id"] != "mh-beta"));
}

#[test]
fn inspect_refuses_what_makes_no_sense() {
    let sandbox = Sandbox::new();
    let base = ["inspect", "--prior", "1,1", "--counts", "3,4", "--epsilon", "1"];
    for (more, expected) in [
        ("--mechanism mh-beta", "mh-beta needs a delta"),
        ("--mechanism geometric-all", "use geometric"),
        ("--candidate 1,2,3", "--candidate has 3 numbers"),
        ("--candidate 1,9", "never released"),
        ("--delta 2", "delta is 2"),
        ("--gamma -1", "gamma is -1"),
        ("--beta -1", "--beta"),
    ] {
        refused(&sandbox.dpbi(&[&base[..], &words(more)].concat()), expected);
    }
    for line in [
        "--prior 1,1 --counts 3,4 --epsilon 0",
        "--prior 1,0 --counts 3,4 --epsilon 1",
        "--prior 1,1 --counts 1,2,3 --epsilon 1",
        "--prior 1,1 --counts 1,-2 --epsilon 1",
    ] {
        let outcome = sandbox.dpbi(&words(&format!("inspect {line}")));
        assert_eq!(outcome.status, 2, "{line}: {}", outcome.stderr);
    }
}

#[test]
fn run_writes_tables_figures_config_and_manifest() {
    let sandbox = Sandbox::new();
    let printed = sandbox.succeed(&["run", "beta_balanced", "--runs", "50"]);
    assert!(printed.contains("n = 300") && printed.contains("standard errors"), "{printed}");
    let folder = |file: &str| sandbox.read(&format!("results/beta_balanced/{file}"));
    let text = |file: &str| String::from_utf8(folder(file)).unwrap();
    let header = |file: &str| text(file).lines().next().unwrap().to_owned();
    assert_eq!(
        header("settings.csv"),
        "setting,k,n,prior,counts,epsilon,delta,gamma,candidates,local,global,gamma_smooth,beta_smooth"
    );
    assert_eq!(header("errors.csv"), "setting,mechanism,run,released,hellinger");
    assert_eq!(
        header("summary.csv"),
        "setting,mechanism,metric,runs,mean,std,min,q1,median,q3,max,whisker_low,whisker_high,\
         notch_low,notch_high,exact_mean,exact_median,exact_q90,p_exact,z"
    );
    assert_eq!(text("errors.csv").lines().count(), 1 + 5 * 6 * 50);
    assert!(!text("summary.csv").contains("NaN") && !text("summary.csv").contains("inf"));
    for figure in ["box", "mean"] {
        assert!(text(&format!("{figure}.svg")).starts_with("<svg"));
        assert!(folder(&format!("{figure}.png")).starts_with(b"\x89PNG"));
    }
    let manifest: serde_json::Value = serde_json::from_str(&text("manifest.json")).unwrap();
    let hash = manifest["files"]["errors.csv"].as_str().unwrap();
    assert_eq!(hash, lab::run::store::sha256(&folder("errors.csv")));
    assert_eq!(manifest["runs"], 50);
}

#[test]
fn run_prints_json_or_nothing() {
    let sandbox = Sandbox::new();
    let args = ["run", "real_data", "--runs", "20", "--format", "none"];
    let document = sandbox.json(&[&args[..], &["--json"]].concat());
    assert_eq!(document[0]["summary"].as_array().unwrap().len(), 4 * 5);
    assert_eq!(document[0]["settings"][0]["counts"], serde_json::json!([231, 500]));
    assert_eq!(sandbox.succeed(&[&args[..], &["-q"]].concat()), "");
}

#[test]
fn records_none_or_one_make_complete_tables() {
    let sandbox = Sandbox::new();
    let config = "name = \"edge\"\nruns = 30\nprior = [[1, 1], [0.2, 3]]\nepsilon = [0.01, 50]\ndelta = 1e-9\n\
        mechanisms = [\"lszhang\", \"lsdim\", \"lshist\", \"ehd\", \"ehdl\", \"ehds\", \"mh-gamma\", \"mh-beta\", \"geometric\", \"hamming\"]\n\
        metrics = [\"l1\", \"l2\", \"steps\", \"tv_lower\", \"tv_upper\", \"kl\", \"kl_reverse\", \"print\"]\n\
        [data.balanced]\nsizes = [0, 1, 2]\n";
    sandbox.write("edge.toml", config).succeed(&["run", "edge.toml", "--format", "svg", "-q"]);
    let summary = sandbox.text("results/edge/summary.csv");
    assert_eq!(summary.lines().count(), 1 + 12 * 10 * 9);
    assert!(!summary.contains("NaN") && !summary.contains("inf"));
}

#[test]
fn extreme_parameters_make_complete_tables() {
    for prior in ["1e-100, 1", "1e100, 1e-100", "1e100, 1e100"] {
        let sandbox = Sandbox::new();
        let config = format!(
            "name = \"far\"\nruns = 20\nprior = [{prior}]\nepsilon = [1e-100, 1e-3, 1e3, 1e100]\n\
             delta = 1e-300\ngamma = [0, 1e100]\n\
             mechanisms = [\"lszhang\", \"lsdim\", \"lshist\", \"ehd\", \"ehdl\", \"ehds\", \
             \"mh-gamma\", \"mh-beta\", \"geometric\", \"hamming\"]\n\
             metrics = [\"l2\", \"tv_upper\", \"kl\", \"kl_reverse\"]\n\
             [data.counts]\ncounts = [0, 7]\n"
        );
        sandbox.write("far.toml", &config).succeed(&["run", "far.toml", "--format", "svg", "-q"]);
        for table in ["settings", "errors", "summary"] {
            let text = sandbox.text(&format!("results/far/{table}.csv"));
            assert!(!text.contains("NaN") && !text.contains("inf"), "{prior}: {table}");
        }
    }
}

#[test]
fn check_says_how_large_it_is_without_running() {
    let sandbox = Sandbox::new();
    let printed = sandbox.succeed(&["check", "dirichlet_balanced"]);
    assert!(printed.contains("is valid") && printed.contains("126 thousand"), "{printed}");
    let document = sandbox.json(&["check", "dirichlet_balanced", "--json"]);
    assert_eq!(document[0]["settings"], 5);
    assert_eq!(document[0]["time"], "seconds");
    assert!(!sandbox.path("results").exists());
    // Too many outputs for an exact law: sampled only, and said so.
    let config = "name = \"z\"\nprior = [1, 1, 1, 1]\nepsilon = 0.1\nmechanisms = [\"lszhang\"]\n\
                  [data.balanced]\nsizes = [2000]\n";
    let printed = sandbox.write("z.toml", config).succeed(&["check", "z.toml"]);
    assert!(printed.contains("sampled without exact means"), "{printed}");
    sandbox.succeed(&["run", "z.toml", "--runs", "10"]);
    let summary = sandbox.text("results/z/summary.csv");
    assert!(summary.lines().nth(1).unwrap().contains(",,,,"), "{summary}");
}

#[test]
fn list_knows_what_is_present_and_current() {
    let sandbox = Sandbox::new();
    let state = |name: &str| {
        let rows = sandbox.json(&["list", "--json"]);
        let row = rows.as_array().unwrap().iter().find(|row| row["config"] == name).unwrap();
        row["results"].as_str().unwrap().to_owned()
    };
    assert_eq!(state("beta_balanced"), "absent");
    sandbox.succeed(&["run", "beta_balanced", "--runs", "5", "--format", "none", "-q"]);
    assert_eq!(state("beta_balanced"), "out of date");
    sandbox.succeed(&["run", "beta_balanced", "--format", "none", "-q"]);
    assert_eq!(state("beta_balanced"), "current");
    let mechanisms = sandbox.json(&["mechanisms", "--json"]);
    let own = engine::mechanism::own::KINDS.len();
    let listed = engine::mechanism::ALL.len() + engine::mechanism::HISTORICAL.len() + own;
    assert_eq!(mechanisms.as_array().unwrap().len(), listed);
}

#[test]
fn raw_tables_and_histograms_give_the_same_counts() {
    let sandbox = Sandbox::new();
    let raw: String =
        (0..30).map(|i| format!("{i},{}\n", if i % 3 == 0 { "yes" } else { "no" })).collect();
    sandbox.write("raw.csv", &format!("id,answer\n{raw}"));
    sandbox.write("histogram.csv", "category,count\nyes,10\nno,20\n");
    let run = |data: &str| {
        let config = format!(
            "name = \"f\"\nruns = 5\nprior = [1, 1]\nepsilon = 1\nmechanisms = [\"ehds\"]\n[data.file]\n{data}"
        );
        sandbox.write("f.toml", &config).succeed(&["run", "f.toml", "--format", "none", "-q"]);
        let settings = sandbox.text("results/f/settings.csv");
        settings.lines().nth(1).unwrap().split(',').nth(4).unwrap().to_owned()
    };
    let categories = "categories = [\"yes\", \"no\"]";
    assert_eq!(run(&format!("path = \"raw.csv\"\ncolumn = \"answer\"\n{categories}")), "10;20");
    assert_eq!(run("path = \"raw.csv\"\ncolumn = \"answer\""), "20;10");
    assert_eq!(run("path = \"histogram.csv\""), "10;20");
}

#[test]
fn names_of_data_are_shown_as_they_are() {
    let sandbox = Sandbox::new();
    let histogram = "category,count\nyes,10\nno,20\n";
    sandbox.write("ward_A.csv", histogram).write("ward_B.csv", histogram).write(
        "f.toml",
        "name = \"f\"\nruns = 5\nprior = [1, 1]\nepsilon = 1\nmechanisms = [\"ehds\"]\n[data.file]\n\
         path = [\"ward_A.csv\", \"ward_B.csv\"]",
    );
    let told = sandbox.succeed(&["run", "f.toml", "--format", "svg"]);
    for shown in [told, sandbox.text("results/f/box.svg")] {
        assert!(shown.contains("ward_A") && !shown.contains("ward A"), "{shown}");
    }
}

/// 2000 categories, all different, as flags.
fn many_categories() -> [String; 4] {
    let counts: Vec<String> = (1..=2000).map(|i| i.to_string()).collect();
    ["--prior".into(), vec!["1"; 2000].join(","), "--counts".into(), counts.join(",")]
}

#[test]
fn many_categories_are_foreseen() {
    let sandbox = Sandbox::new();
    let [prior, ones, counts, different] = &many_categories();
    let inspect = ["inspect", prior, ones, counts, different, "--epsilon", "1"];
    let outcome = sandbox.dpbi(&[&inspect[..], &["--mechanism", "ehds"]].concat());
    refused(&outcome, "more memory than there is … --force");
    let ones = vec!["1"; 400].join(",");
    let outcome = sandbox.dpbi(&["choose", "--prior", &ones, "--n", "1000", "--epsilon", "1"]);
    refused(&outcome, "no mechanism can be ranked");
}

#[test]
fn a_long_audit_shows_how_far_it_is() {
    let sandbox = Sandbox::new();
    let audit =
        ["audit", "--prior", "1,1,1", "--n", "500", "--epsilon", "1", "--mechanism", "ehds"];
    let said = sandbox.first_words(&audit);
    assert!(said.contains(" % done, about ") && said.contains(" left"), "{said}");
    let short = ["audit", "--prior", "1,1", "--n", "20", "--epsilon", "1", "--mechanism", "ehds"];
    let outcome = sandbox.dpbi(&short);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (0, ""));
}

#[test]
fn figures_that_cannot_be_drawn_are_refused_before_any_work() {
    let sandbox = Sandbox::new();
    let config = |mechanisms: usize| {
        let one = |i| format!("{{ id = \"geometric\", label = \"geometric {i}\" }}");
        let all: Vec<String> = (0..mechanisms).map(one).collect();
        let head = "name = \"many\"\nruns = 2\nprior = [1, 1]\nepsilon = 1\n";
        format!("{head}mechanisms = [{}]\n[data.balanced]\nsizes = [4, 6]\n", all.join(", "))
    };
    sandbox.write("many.toml", &config(5000)).write("some.toml", &config(50));
    for command in ["check", "run"] {
        let outcome = sandbox.dpbi(&[command, "many.toml"]);
        assert_eq!(outcome.status, 2, "{}", outcome.stderr);
        let words = ["many.toml: ", "too large to draw: it names 5000 mechanisms", "--format none"];
        assert!(words.iter().all(|word| outcome.stderr.contains(word)), "{}", outcome.stderr);
    }
    assert!(!sandbox.path("results").exists());
    sandbox.succeed(&["check", "many.toml", "--format", "none"]);
    sandbox.succeed(&["run", "some.toml", "-q"]);
    assert!(sandbox.path("results/many/mean.svg").exists());
}

#[test]
fn threads_are_bounded_however_they_are_asked_for() {
    let sandbox = Sandbox::new();
    for variable in ["RAYON_NUM_THREADS", "RAYON_RS_NUM_CPUS"] {
        let outcome = sandbox.shell(&format!("{variable}=100000 $DPBI check beta_balanced"));
        assert_eq!(outcome.status, 2);
        let words = format!("error: {variable}: 100000 threads are too many\n  help: ");
        assert!(outcome.stderr.starts_with(&words), "{}", outcome.stderr);
        let outcome =
            sandbox.shell(&format!("{variable}=100000 $DPBI check beta_balanced --threads 2"));
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    }
    assert_eq!(sandbox.dpbi(&["check", "beta_balanced", "--threads", "100000"]).status, 2);
    assert_eq!(sandbox.shell("RAYON_NUM_THREADS=x $DPBI check beta_balanced").status, 0);
}
