//! Bad input: refused before any work with exit status 2 and one message that names the file, the
//! line, the cause and the remedy.

use crate::common::Sandbox;

const GOOD: &str = r#"name = "x"
runs = 10
prior = [1, 1]
epsilon = 1.0
mechanisms = ["lshist", "ehds"]
[data.balanced]
sizes = [10]
"#;

/// Runs a config and returns the message, after checking that nothing was done.
fn refusal(sandbox: &Sandbox, config: &str) -> String {
    sandbox.write("x.toml", config);
    let outcome = sandbox.dpbi(&["run", "x.toml"]);
    assert_eq!(outcome.status, 2, "{config}\n{}", outcome.stderr);
    assert!(outcome.stdout.is_empty());
    assert_eq!(outcome.stderr.matches("error:").count(), 1, "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("panicked"));
    assert!(!sandbox.path("results/x").exists(), "something was written");
    outcome.stderr
}

/// Replaces one line of a good config and expects a message at that line.
fn expect(line: &str, replacement: &str, at_line: usize, parts: &[&str]) {
    let sandbox = Sandbox::new();
    let config = GOOD.replace(line, replacement);
    assert_ne!(config, GOOD, "{line} is not in the config");
    let message = refusal(&sandbox, &config);
    let place = format!("x.toml:{at_line}");
    for part in parts.iter().chain([&place.as_str(), &"help: "]) {
        assert!(message.contains(part), "{replacement}: `{part}` is missing in\n{message}");
    }
}

#[test]
fn the_good_config_is_good() {
    let sandbox = Sandbox::new();
    sandbox.write("x.toml", GOOD).succeed(&["run", "x.toml", "--format", "none"]);
    assert!(sandbox.path("results/x/summary.csv").exists());
}

#[test]
fn unknown_keys_are_refused_with_the_nearest_known_one() {
    expect("epsilon =", "epsilonn =", 4, &["unknown key `epsilonn`", "did you mean `epsilon`?"]);
    expect("sizes =", "size =", 7, &["unknown key `size`", "did you mean `sizes`?"]);
    expect("[data.balanced]", "[data.ballanced]", 6, &["`ballanced`", "did you mean `balanced`?"]);
    expect("\"ehds\"", "{ id = \"ehds\", gama = 1 }", 5, &["`gama`", "did you mean `gamma`?"]);
}

#[test]
fn names_in_tables_are_no_formulas() {
    const CAUSE: &str = "a spreadsheet would take the name";
    for start in ["=HYPERLINK(1)", "+1", "-1", "@x"] {
        let label = format!("{{ id = \"ehds\", label = \"{start}\" }}");
        expect("\"ehds\"", &label, 5, &[CAUSE, start]);
    }
    let named = "runs = 10\ndefine.\"=x\" = { id = \"weights\", log_weight = \"-epsilon\" }";
    let sandbox = Sandbox::new();
    let config = GOOD.replace("runs = 10", named).replace("\"ehds\"", "\"=x\"");
    assert!(refusal(&sandbox, &config).contains(CAUSE));
    sandbox.write("=x.csv", "category,count\na,3\nb,4\n");
    let data = "[data.file]\npath = \"=x.csv\"";
    let config = GOOD.replace("[data.balanced]\nsizes = [10]", data);
    assert!(refusal(&sandbox, &config).contains(CAUSE));
}

#[test]
fn mechanisms_must_exist_and_understand_their_options() {
    expect("\"ehds\"", "\"edhs\"", 5, &["unknown mechanism `edhs`", "did you mean `ehds`?"]);
    expect(
        "\"ehds\"",
        "{ id = \"ehd\", gamma = 1 }",
        5,
        &["`ehd` has no option `gamma`", "divisor, global"],
    );
    expect("\"ehds\"", "{ id = \"ehd\", divisor = 0 }", 5, &["`divisor` is 0.0"]);
    expect("\"ehds\"", "{ id = \"ehd\", divisor = 1e-300 }", 5, &["between 1e-100 and 1e100"]);
    expect("\"ehds\"", "{ id = \"ehd\", global = \"exakt\" }", 5, &["did you mean `exact`?"]);
    expect("\"ehds\"", "\"lshist\"", 5, &["two mechanisms are labelled `lshist`"]);
    expect("\"ehds\"", "\"mh-beta\"", 5, &["mh-beta needs a delta", "for example 1e-8"]);
    expect("\"ehds\"", "\"geometric-all\"", 5, &["three or more categories", "use geometric"]);
    expect("\"ehds\"", "3", 5, &["must be a table"]);
    expect("[\"lshist\", \"ehds\"]", "[]", 5, &["`mechanisms` is an empty list"]);
}

#[test]
fn numbers_must_lie_in_their_range() {
    for bad in ["0", "-1", "nan", "inf", "[1.0, -2]"] {
        expect("epsilon = 1.0", &format!("epsilon = {bad}"), 4, &["epsilon is "]);
    }
    for bad in ["0", "1", "1.5", "-0.1", "nan"] {
        expect("epsilon = 1.0", &format!("epsilon = 1\ndelta = {bad}"), 5, &["delta is "]);
    }
    expect("epsilon = 1.0", "epsilon = 1\ngamma = -1", 5, &["gamma is -1"]);
    expect("epsilon = 1.0", "epsilon = \"one\"", 4, &["`epsilon` must be a number"]);
    expect("prior = [1, 1]", "prior = [1, 0]", 3, &["parameter 2 of the prior is 0"]);
    expect("prior = [1, 1]", "prior = [1, -2.5]", 3, &["parameter 2 of the prior is -2.5"]);
    expect("prior = [1, 1]", "prior = [1]", 3, &["at least two categories"]);
    expect("prior = [1, 1]", "prior = []", 3, &["empty list"]);
    expect("runs = 10", "runs = 0", 2, &["`runs` is 0"]);
    expect("runs = 10", "runs = -5", 2, &["whole number"]);
    expect("runs = 10", "runs = 10\nwhiskers = \"rang\"", 3, &["did you mean `range`?"]);
    expect("sizes = [10]", "sizes = []", 7, &["`sizes` is an empty list"]);
    expect("sizes = [10]", "sizes = [10, -3]", 7, &["whole number", "-3"]);
    expect("sizes = [10]", "sizes = [10.5]", 7, &["whole number", "10.5"]);
}

#[test]
fn data_must_fit_the_prior() {
    let counts = |counts: &str| {
        GOOD.replace("[data.balanced]\nsizes = [10]", &format!("[data.counts]\ncounts = {counts}"))
    };
    let cases = [
        (counts("[1, 2, 3]"), "the prior has 2 categories, but the counts [1, 2, 3] have 3"),
        (counts("[1, -2]"), "whole number, 0 or more, but this is -2"),
        (counts("[1, 2.5]"), "whole number, 0 or more, but this is 2.5"),
        (counts("[[1, 2], [3, 4]]\nat = [1]"), "`at` has 1 elements for 2 data sets"),
        (
            GOOD.replace("sizes = [10]", "sizes = [10]\nproportions = [0.5, 0.6]"),
            "sum to 1.1, not to 1",
        ),
        (
            GOOD.replace("sizes = [10]", "sizes = [10]\nproportions = [0.5, 0.25, 0.25]"),
            "the proportions have 3",
        ),
        (
            GOOD.replace("sizes = [10]", "sizes = [10]\n[data.predictive]\nsizes = 5"),
            "more than one source",
        ),
        (GOOD.replace("[data.balanced]\nsizes = [10]", "[data]"), "no source"),
    ];
    for (config, expected) in cases {
        let message = refusal(&Sandbox::new(), &config);
        assert!(message.contains(expected) && message.contains("help: "), "{message}");
        assert!(message.contains("x.toml:"), "{message}");
    }
}

#[test]
fn data_files_are_checked_row_by_row() {
    let config = |more: &str| {
        GOOD.replace(
            "[data.balanced]\nsizes = [10]",
            &format!("[data.file]\npath = \"d.csv\"\n{more}"),
        )
    };
    let cases = [
        ("category,count\na,1\nb,x\n", "", "`x` is not a count", "d.csv:3"),
        ("category,count\na,1\nb,-2\n", "", "`-2` is not a count", "d.csv:3"),
        ("category,number\na,1\n", "", "no column `count`", "d.csv:1"),
        ("id,kind\n1,a\n", "column = \"kinds\"", "no column `kinds`", "d.csv:1"),
        (
            "id,kind\n1,a\n2,z\n",
            "column = \"kind\"\ncategories = [\"a\", \"b\"]",
            "`z` is not one of the categories",
            "d.csv:3",
        ),
        ("category,count\na,1\nb,2\nc,3\n", "", "the prior has 2 categories", "x.toml:6"),
    ];
    for (data, more, cause, place) in cases {
        let sandbox = Sandbox::new();
        sandbox.write("d.csv", data);
        let message = refusal(&sandbox, &config(more));
        for part in [cause, place, "help: "] {
            assert!(message.contains(part), "`{part}` is missing in\n{message}");
        }
    }
    let message = refusal(&Sandbox::new(), &config(""));
    for part in ["cannot read", "d.csv", "x.toml:7", "relative to the config file"] {
        assert!(message.contains(part), "`{part}` is missing in\n{message}");
    }
}

#[test]
fn broken_toml_is_shown_where_it_breaks() {
    expect("prior = [1, 1]", "prior = [1, 1", 4, &["not valid TOML"]);
    expect("prior = [1, 1]", "prior == [1, 1]", 3, &["not valid TOML"]);
    expect("runs = 10", "name = \"y\"", 2, &["not valid TOML", "duplicate"]);
}

#[test]
fn missing_keys_are_named() {
    for (line, key) in [
        ("name = \"x\"\n", "name"),
        ("prior = [1, 1]\n", "prior"),
        ("epsilon = 1.0\n", "epsilon"),
        ("mechanisms = [\"lshist\", \"ehds\"]\n", "mechanisms"),
        ("[data.balanced]\nsizes = [10]\n", "data"),
        ("sizes = [10]\n", "sizes"),
    ] {
        let message = refusal(&Sandbox::new(), &GOOD.replace(line, ""));
        assert!(message.contains(&format!("the key `{key}` is missing")), "{message}");
        assert!(
            message.contains("x.toml:") && message.contains("help: add for example"),
            "{message}"
        );
    }
}

#[test]
fn names_must_be_folders() {
    for bad in ["", "../evil", "a/b", ".hidden"] {
        let message = refusal(&Sandbox::new(), &GOOD.replace("\"x\"", &format!("\"{bad}\"")));
        assert!(message.contains("cannot be the name of a results folder"), "{message}");
    }
}

#[test]
fn the_print_distance_needs_a_prior_above_one_for_open_totals() {
    let config = GOOD
        .replace("prior = [1, 1]", "prior = [0.3, 0.4]\ndistance = \"print\"")
        .replace("\"ehds\"", "\"lszhang\"");
    let message = refusal(&Sandbox::new(), &config);
    for part in ["lszhang does not restore the total", "sum to 0.7", "x.toml:6", "help: "] {
        assert!(message.contains(part), "`{part}` is missing in\n{message}");
    }
}

#[test]
fn the_bound_on_the_global_sensitivity_needs_parameters_of_one_or_more() {
    let config = GOOD
        .replace("prior = [1, 1]", "prior = [0.9, 1]")
        .replace("\"ehds\"", "{ id = \"ehd\", global = \"bound\" }");
    let message = refusal(&Sandbox::new(), &config);
    assert!(
        message.contains("needs every prior parameter >= 1") && message.contains("x.toml:5"),
        "{message}"
    );
}

#[test]
fn a_config_that_is_not_there_is_looked_for_among_the_bundled_ones() {
    let outcome = Sandbox::new().dpbi(&["run", "beta_balancd"]);
    assert_eq!(outcome.status, 2);
    assert!(outcome.stderr.contains("did you mean `beta_balanced`?"), "{}", outcome.stderr);
}

#[test]
fn an_output_folder_that_cannot_be_written_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("x.toml", GOOD).write("blocked", "a file, not a folder");
    let outcome = sandbox.dpbi(&["run", "x.toml", "--out", "blocked"]);
    assert_eq!(outcome.status, 2);
    assert!(outcome.stderr.contains("cannot write to the results folder"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("--out"));
}

#[test]
fn work_beyond_a_day_or_the_memory_is_refused_with_figures() {
    let sandbox = Sandbox::new();
    let huge = GOOD
        .replace("prior = [1, 1]", "prior = [1, 1, 1, 1, 1, 1]")
        .replace("sizes = [10]", "sizes = [100000]");
    let message = refusal(&sandbox, &huge);
    for part in ["24 hours", "8.3e22 candidates", "TB", "--force"] {
        assert!(message.contains(part), "`{part}` is missing in\n{message}");
    }
    let before_days = message.split(" days").next().unwrap();
    let days: f64 = before_days.rsplit(' ').next().unwrap().parse().unwrap();
    assert!(days > 20.0, "{message}");
    let args =
        ["inspect", "--prior", "1,1,1,1,1,1", "--counts", "20000,20000,20000,20000,10000,10000"];
    let outcome = sandbox.dpbi(&[&args[..], &["--epsilon", "1", "--mechanism", "ehds"]].concat());
    assert_eq!(outcome.status, 2);
    assert!(outcome.stderr.contains("8.3e22 candidates"), "{}", outcome.stderr);
    let check = sandbox.dpbi(&["check", "x.toml"]);
    assert_eq!(check.status, 2);
    assert!(check.stdout.contains("is valid") && check.stderr.contains("24 hours"));
}

#[test]
fn two_experiments_of_one_name_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("x.toml", GOOD).write("y.toml", GOOD);
    let outcome = sandbox.dpbi(&["run", "x.toml", "y.toml"]);
    assert_eq!(outcome.status, 2);
    assert!(outcome.stderr.contains("both named `x`"), "{}", outcome.stderr);
    assert!(!sandbox.path("results").exists());
}

/// A config of two panels that share a prior and ε.
const PANELS: &str = r#"name = "panels"
prior = [1, 1]
epsilon = 1.0

[[panel]]
id = "a"
kind = "theory"
mechanisms = ["lshist"]
data.balanced.sizes = [20]

[[panel]]
id = "b"
kind = "within"
steps = [1]
mechanisms = ["lshist"]
data.balanced.sizes = [20]
"#;

#[test]
fn panels_are_checked_one_by_one() {
    let expect = |line: &str, replacement: &str, at_line: usize, parts: &[&str]| {
        assert!(PANELS.contains(line), "{line}");
        let message = refusal(&Sandbox::new(), &PANELS.replacen(line, replacement, 1));
        assert!(message.contains(&format!(":{at_line}")), "line {at_line}: {message}");
        for part in parts {
            assert!(message.contains(part), "{part}: {message}");
        }
    };
    expect("id = \"b\"\n", "", 11, &["a panel has no `id`"]);
    expect("id = \"b\"", "id = \"a\"", 12, &["two panels are called `a`"]);
    expect("id = \"b\"", "id = \"a/b\"", 12, &["cannot be the name"]);
    expect("steps = [1]", "stepz = [1]", 14, &["unknown key `stepz`", "steps"]);
    expect("steps = [1]\n", "", 15, &["needs `steps`"]);
    expect("kind = \"theory\"", "kind = \"teory\"", 7, &["unknown kind `teory`", "theory"]);
    let view = "kind = \"within\"\nview = [0, 1]";
    expect("kind = \"within\"", view, 14, &["kind `within` does not use the key"]);
    expect("prior = [1, 1]", "prior = [1, 1, 1]", 16, &["two categories"]);
    expect("kind = \"theory\"", "kind = \"theory\"\nview = [1, 0]", 8, &["the smaller first"]);
    let readings = |name: &str| format!("kind = \"theory\"\nreadings = \"{name}\"");
    expect("kind = \"theory\"", &readings("icml-fig9"), 8, &["icml-fig9"]);
    expect(
        "kind = \"theory\"",
        &readings("icml-fig2a"),
        8,
        &["`LSDim`", "the labels that the readings have"],
    );
    let open = "mechanisms = [\"lszhang\"]\nkind = \"steps\"\nsteps = [1]";
    expect("kind = \"theory\"\nmechanisms = [\"lshist\"]", open, 7, &["need not sum to n"]);
    let named = "kind = \"sensitivity\"\nmechanisms = [\"lshist\"]";
    let theory = "kind = \"theory\"\nmechanisms = [\"lshist\"]";
    expect(theory, named, 8, &["compares no mechanisms"]);
    expect(
        "epsilon = 1.0",
        "epsilon = 1.0\nscope = \"all\"",
        4,
        &["none of the panels uses the key"],
    );
    let tail = "kind = \"tail\"\nmechanisms = [\"lshist\"]";
    expect(theory, tail, 8, &["is about MH", "mh-beta"]);
    let within = "kind = \"within\"";
    let unused = |key: &str| format!("{within}\n{key}");
    expect(within, &unused("metrics = [\"l1\"]"), 14, &["does not use the key `metrics`"]);
    expect(within, &unused("readings = \"icml-fig1\""), 14, &["does not use the key `readings`"]);
    expect(within, &unused("epsilon = [1, 2]"), 17, &["the same place", "one prior, ε"]);
    let line = "data.line.sizes = [200000]";
    expect("data.balanced.sizes = [20]", line, 9, &["too many to make every data set"]);
}

#[test]
fn ranges_are_checked() {
    let expect_epsilon = |range: &str, parts: &[&str]| {
        expect("epsilon = 1.0", &format!("epsilon = {{ {range} }}"), 4, parts);
    };
    expect_epsilon("from = 1, to = 2", &["the key `count` is missing"]);
    expect_epsilon("from = 2, to = 1, count = 3", &["goes from 2 to 1", "smaller than `to`"]);
    expect_epsilon("from = 1, to = 2, count = 1", &["cannot have 1 numbers"]);
    expect_epsilon("from = 1, to = 2, count = 99999", &["cannot have 99999 numbers"]);
    expect_epsilon("form = 1, to = 2, count = 3", &["unknown key `form`", "did you mean `from`?"]);
    expect_epsilon("from = 1, to = nan, count = 3", &["`to` is NaN"]);
    expect_epsilon("from = -1, to = 1, count = 3", &["epsilon is -1"]);
    let spacing =
        |from: &str, name: &str| format!("from = {from}, to = 2, count = 3, spacing = \"{name}\"");
    expect_epsilon(&spacing("1", "lag"), &["unknown spacing `lag`", "did you mean `log`?"]);
    expect_epsilon(&spacing("0", "log"), &["cannot start at 0"]);
    let sizes = "sizes = { from = 1.5, to = 3, count = 2 }";
    expect("sizes = [10]", sizes, 7, &["whole number", "1.5"]);
    let prior = |more: &str| format!("prior = {{ from = 1, to = 2, count = 3{more} }}");
    expect("prior = [1, 1]", &prior(""), 3, &["the key `k` is missing"]);
    expect("prior = [1, 1]", &prior(", k = 1"), 3, &["cannot have 1 categories"]);
    expect("prior = [1, 1]", &prior(", k = 3, from = 0"), 3, &["not valid TOML"]);
    let zero = "prior = { from = 0, to = 2, count = 3, k = 2 }";
    expect("prior = [1, 1]", zero, 3, &["parameter 1 of the prior is 0"]);
    let shares = |value: &str| format!("[data.shares]\nsizes = [10]\nshares = {value}");
    let balanced = "[data.balanced]\nsizes = [10]";
    expect(balanced, &shares("[0.5, 1.5]"), 8, &["the share 1.5 does not lie between 0 and 1"]);
    let range = "{ from = -0.5, to = 1, count = 4 }";
    expect(balanced, &shares(range), 8, &["the share -0.5"]);
    expect(balanced, "[data.shares]\nsizes = [10]", 7, &["the key `shares` is missing"]);
}

#[test]
fn phase_diagrams_compare_private_mechanisms_over_two_axes() {
    let phase = GOOD
        .replace("runs = 10", "kind = \"phase\"")
        .replace("epsilon = 1.0", "epsilon = [0.5, 1.0]");
    let refused = |line: &str, replacement: &str, at_line: usize, parts: &[&str]| {
        let config = phase.replace(line, replacement);
        assert_ne!(config, phase, "{line} is not in the config");
        let message = refusal(&Sandbox::new(), &config);
        let place = format!("x.toml:{at_line}");
        for part in parts.iter().chain([&place.as_str(), &"help: "]) {
            assert!(message.contains(part), "{replacement}: `{part}` is missing in\n{message}");
        }
    };
    refused("\"lshist\", \"ehds\"", "\"ehds\"", 5, &["two mechanisms or more"]);
    refused("\"lshist\"", "\"ehdl\"", 5, &["`ehdl` is not private", "leave it out"]);
    refused("\"lshist\"", "\"mh-gamma\"", 5, &["`mh-gamma` is 1-private where ε = 0.5"]);
    let claimed = "epsilon = [0.5, 1.0]\ndelta = 1e-3";
    let with_delta = phase.replace("epsilon = [0.5, 1.0]", claimed);
    let message = refusal(&Sandbox::new(), &with_delta.replace("\"lshist\"", "\"mh-beta\""));
    assert!(message.contains("`mh-beta` is (0.5, 0.001) claimed"), "{message}");
    let weaker = "{ id = \"lshist\", scale_factor = 0.5 }";
    refused("\"lshist\"", weaker, 5, &["`lshist` is 1-private where ε = 0.5"]);
    refused("epsilon = [0.5, 1.0]", "epsilon = 1", 6, &["has two axes", "several epsilon"]);
    refused("[1, 1]", "[[1, 1], [2, 2]]", 6, &["the same place", "only one of ε, priors"]);
    refused("[10]", "[10, 10]", 6, &["the same place", "each n once"]);
    refused(
        "kind = \"phase\"",
        "kind = \"phase\"\nsteps = [1]",
        3,
        &["does not use the key `steps`"],
    );
    let asymmetric =
        phase.replace("epsilon = [0.5, 1.0]", "epsilon = 1").replace("[1, 1]", "[[1, 1], [1, 2]]");
    let message = refusal(&Sandbox::new(), &asymmetric);
    assert!(message.contains("has two axes") && message.contains("symmetric priors"), "{message}");
}

#[test]
fn grids_are_counted_before_they_are_made() {
    let wide = "{ from = 1, to = 2, count = 10000 }";
    let balanced = "[data.balanced]\nsizes = [10]";
    let product = format!(
        "epsilon = {wide}\ngamma = {wide}\ndelta = {{ from = 0.1, to = 0.2, count = 9999 }}"
    );
    expect(
        "epsilon = 1.0",
        &product,
        8,
        &["these are 999900000000 settings: 10000 ε × 9999 δ × 10000 γ", "at most 1000000"],
    );
    let line = "[data.line]\nsizes = { from = 1, to = 100000, count = 10000 }";
    expect(balanced, line, 6, &["these are 500", " settings: 500", " data sets"]);
    let prior =
        |count: u64, k: u64| format!("prior = {{ from = 1, to = 2, count = {count}, k = {k} }}");
    expect(
        "prior = [1, 1]",
        &prior(10_000, 10_000),
        3,
        &["10000 priors of 10000 categories are too many"],
    );
    expect("prior = [1, 1]", &prior(2, 10_001), 3, &["a prior cannot have 10001 categories"]);
    let long = format!("prior = [{}]", "1, ".repeat(10_001));
    expect("prior = [1, 1]", &long, 3, &["a prior cannot have 10001 categories"]);
    expect(
        "prior = [1, 1]",
        &prior(400, 1000),
        6,
        &["sensitivities", "take too long", "add noise"],
    );
    let numbers = format!("{}\ngamma = {{ from = 1, to = 2, count = 30 }}", prior(400, 1000));
    expect("prior = [1, 1]", &numbers, 7, &["hold 12000000 counts in all"]);
    let drawn = "[data.predictive]\nsizes = [90000000, 90000000]";
    expect(balanced, drawn, 6, &["to be drawn one by one", "[data.counts]"]);
    expect("prior = [1, 1]", &prior(501, 1000), 3, &["501 priors of 1000 categories are too many"]);
    // Panels add up.
    let panel = |id: &str| {
        format!(
            "\n[[panel]]\nid = \"{id}\"\nepsilon = {wide}\ndata.balanced.sizes = {{ from = 1, to = 60, count = 60 }}\n"
        )
    };
    let panels = "name = \"x\"\nprior = [1, 1]\nmechanisms = \"lshist\"\n".to_owned()
        + &panel("a")
        + &panel("b");
    let message = refusal(&Sandbox::new(), &panels);
    assert!(message.contains("these are 600000 settings: 60 data sets × 10000 ε"), "{message}");
}

#[test]
fn divergences_of_too_many_records_or_categories_are_refused() {
    for distance in ["kl", "kl_reverse", "renyi:0.5"] {
        let more = format!("epsilon = 1.0\ndistance = \"{distance}\"");
        let config = GOOD.replace("epsilon = 1.0", &more).replace("[10]", "[100000000]");
        let message = refusal(&Sandbox::new(), &config);
        for part in ["is tabulated count by count", "x.toml:7", "hellinger"] {
            assert!(message.contains(part), "`{part}` is missing in\n{message}");
        }
    }
    let many = "prior = { from = 1, to = 2, count = 8, k = 200 }\ndistance = \"kl_reverse\"";
    let message = refusal(&Sandbox::new(), &GOOD.replace("prior = [1, 1]", many));
    assert!(message.contains("is searched over pairs of categories"), "{message}");
}

#[test]
fn the_same_file_cannot_be_two_data_sets() {
    let sandbox = Sandbox::new();
    sandbox.write("d.csv", "category,count\na,1\nb,2\n");
    let file = "[data.file]\npath = [\"d.csv\", \"d.csv\"]";
    let message = refusal(&sandbox, &GOOD.replace("[data.balanced]\nsizes = [10]", file));
    assert!(message.contains("named twice") && message.contains("x.toml:7"), "{message}");
}

#[test]
#[cfg(unix)]
fn a_file_that_never_ends_is_refused() {
    let file = "[data.file]\npath = \"/dev/zero\"";
    let message = refusal(&Sandbox::new(), &GOOD.replace("[data.balanced]\nsizes = [10]", file));
    assert!(message.contains("/dev/zero: it has more than 64 MB"), "{message}");
    assert!(message.contains("x.toml:7"), "{message}");
}

#[test]
fn readings_are_finite_numbers() {
    let sandbox = Sandbox::new();
    let config = GOOD.replace("runs = 10", "readings = \"r.csv\"");
    let header = "mechanism,at,quantity,value,error,pixel,at_error,at_pixel,note";
    for (row, part) in [
        ("ehds,10,mean,NaN,0,0,,,", "value of `ehds` is NaN"),
        ("ehds,10,mean,inf,0,0,,,", "value of `ehds` is inf"),
        ("ehds,10,mean,0.1,-1,0,,,", "error of `ehds` is -1"),
        ("ehds,10,mean,0.1,0,0,NaN,,", "at_error of `ehds` is NaN"),
    ] {
        sandbox.write("r.csv", &format!("{header}\nlshist,10,mean,0.1,0,0,,,\n{row}\n"));
        let message = refusal(&sandbox, &config);
        assert!(message.contains(part) && message.contains("r.csv:3"), "{message}");
    }
}

#[test]
fn whole_numbers_beyond_all_limits_are_refused() {
    let nines = "9".repeat(60);
    expect("epsilon = 1.0", &format!("epsilon = {nines}"), 4, &["epsilon is inf"]);
    let within = format!("kind = \"within\"\nsteps = [{}]", u64::MAX);
    expect("runs = 10", &within, 3, &["more than dpbi can count"]);
}

#[test]
fn messages_stay_short_and_legible() {
    let long = "x".repeat(1_000_000);
    for (line, bad) in [
        ("\"ehds\"", format!("\"{long}\"")),
        ("epsilon = 1.0", format!("epsilon = [{}-1]", "1.0, ".repeat(100_000))),
        ("epsilon", long.clone()),
        ("runs = 10", format!("title = \"{long}\\u001b[31m\"")),
        ("runs = 10", "\"\\u0000\\n\" = 1".to_owned()),
        ("runs = 10", "runs = 10 # \u{1b}[31m".to_owned()),
    ] {
        let message = refusal(&Sandbox::new(), &GOOD.replacen(line, &bad, 1));
        assert!(message.len() < 3000, "{} bytes: {message:.1000}", message.len());
        assert!(!message.contains(|c: char| c.is_control() && c != '\n'), "{message:?}");
    }
    let data = format!("kind\na\n\"{long}\n");
    let sandbox = Sandbox::new();
    sandbox.write("d.csv", &data);
    let file = format!(
        "[data.file]\npath = \"d.csv\"\ncolumn = \"kind\"\ncategories = [\"a\", \"{}\"]",
        "x".repeat(900_000)
    );
    let message = refusal(&sandbox, &GOOD.replace("[data.balanced]\nsizes = [10]", &file));
    assert!(message.contains("is not one of the categories"), "{message:.1000}");
    assert!(message.len() < 3000, "{} bytes", message.len());
}

#[test]
fn many_categories_are_forecast() {
    let sandbox = Sandbox::new();
    let prior = "prior = { from = 1.5, to = 2, count = 2, k = 100 }";
    let config = GOOD.replace("prior = [1, 1]", prior).replace("[10]", "[1000]");
    let check = sandbox.write("x.toml", &config).dpbi(&["check", "x.toml"]);
    assert_eq!(check.status, 2, "{}", check.stderr);
    assert!(check.stdout.contains("is valid") && check.stderr.contains("candidates"));
}

#[test]
fn a_config_of_many_megabytes_is_refused() {
    let config = format!("{GOOD}# {}\n", "x".repeat(17 << 20));
    let message = refusal(&Sandbox::new(), &config);
    assert!(
        message.contains("x.toml has more than 16 MB") && message.contains("help: "),
        "{message}"
    );
}

#[test]
fn candidates_near_very_many_records_are_not_weighed() {
    let sizes = "sizes = [9007199254740992]";
    expect("sizes = [10]", sizes, 5, &["ehds weighs the candidates", "at most 1000000000000"]);
    let noise = GOOD.replace("sizes = [10]", sizes).replace(", \"ehds\"", "");
    let check = Sandbox::new().write("x.toml", &noise).dpbi(&["check", "x.toml"]);
    assert_eq!(check.status, 0, "{}", check.stderr);
}
