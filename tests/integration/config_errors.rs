//! Bad input: refused before any work with exit status 2 and one message that names the file, the
//! line, the cause and the remedy.

use crate::common::{Sandbox, holds, refused};

const GOOD: &str = r#"name = "x"
runs = 10
prior = [1, 1]
epsilon = 1.0
mechanisms = ["lshist", "ehds"]
[data.balanced]
sizes = [10]
"#;

/// The end of that.
const DATA: &str = "[data.balanced]\nsizes = [10]";

/// Runs a config and returns the message, after checking that nothing was done.
fn refusal(sandbox: &Sandbox, config: &str) -> String {
    let outcome = sandbox.write("x.toml", config).dpbi(&["run", "x.toml"]);
    refused(&outcome, "");
    assert_eq!(outcome.stderr.matches("error:").count(), 1, "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("panicked"));
    assert!(!sandbox.path("results").exists(), "something was written");
    outcome.stderr
}

/// What is replaced in a good config, by what, the line that is named, and words of the message.
type Case<'a> = (&'a str, &'a str, usize, &'a str);

fn expect(sandbox: &Sandbox, good: &str, (line, bad, at_line, words): Case) {
    let config = good.replacen(line, bad, 1);
    assert_ne!(config, good, "{line} is not in the config");
    let message = refusal(sandbox, &config);
    holds(&message, words);
    // Data files are beside the config.
    if !words.contains(".csv:") {
        holds(&message, &format!("x.toml:{at_line}"));
    }
}

fn expect_all(good: &str, cases: &[Case]) {
    let sandbox = Sandbox::new();
    cases.iter().for_each(|case| expect(&sandbox, good, *case));
}

#[test]
fn keys_names_and_mechanisms() {
    expect_all(
        GOOD,
        &[
            ("sizes =", "size =", 7, "unknown key `size` … did you mean `sizes`?"),
            ("\"ehds\"", "{ id = \"ehds\", gama = 1 }", 5, "`gama` … did you mean `gamma`?"),
            ("\"ehds\"", "{ id = \"ehd\", divisor = 1e-300 }", 5, "between 1e-100 and 1e100"),
            ("\"ehds\"", "{ id = \"ehd\", global = \"exakt\" }", 5, "did you mean `exact`?"),
            ("\"ehds\"", "\"lshist\"", 5, "two mechanisms are labelled `lshist`"),
            ("\"ehds\"", "\"mh-beta\"", 5, "mh-beta needs a delta … for example 1e-8"),
            ("\"ehds\"", "\"geometric-all\"", 5, "three or more categories … use geometric"),
            ("\"ehds\"", "3", 5, "must be a table"),
            ("[\"lshist\", \"ehds\"]", "[]", 5, "`mechanisms` is an empty list"),
            ("prior = [1, 1]", "prior = [1, 1", 4, "not valid TOML"),
            ("prior = [1, 1]", "prior == [1, 1]", 3, "not valid TOML"),
            ("runs = 10", "name = \"y\"", 2, "not valid TOML … duplicate"),
            ("prior = [1, 1]\n", "", 1, "the key `prior` is missing … help: add for example"),
            ("epsilon = 1.0\n", "", 1, "the key `epsilon` is missing … help: add for example"),
            (DATA, "", 1, "the key `data` is missing … help: add for example"),
            ("sizes = [10]\n", "", 1, "the key `sizes` is missing … help: add for example"),
            ("\"x\"", "\".hidden\"", 1, "cannot be the name of a results folder"),
        ],
    );
}

#[test]
fn names_in_tables_are_no_formulas() {
    const CAUSE: &str = "a spreadsheet would take the name";
    let sandbox = Sandbox::new();
    for start in ["=HYPERLINK(1)", "+1", "-1", "@x"] {
        let label = format!("{{ id = \"ehds\", label = \"{start}\" }}");
        expect(&sandbox, GOOD, ("\"ehds\"", &label, 5, &format!("{CAUSE} … {start}")));
    }
    let named = "runs = 10\ndefine.\"=x\" = { id = \"weights\", log_weight = \"-epsilon\" }";
    holds(&refusal(&sandbox, &GOOD.replace("runs = 10", named).replace("ehds", "=x")), CAUSE);
    sandbox.write("=x.csv", "category,count\na,3\nb,4\n");
    holds(&refusal(&sandbox, &GOOD.replace(DATA, "[data.file]\npath = \"=x.csv\"")), CAUSE);
}

#[test]
fn numbers_must_lie_in_their_range() {
    let sandbox = Sandbox::new();
    for bad in ["0", "-1", "nan", "inf", "[1.0, -2]", &"9".repeat(60)] {
        expect(&sandbox, GOOD, ("1.0", bad, 4, "epsilon is "));
    }
    for bad in ["0", "1", "-0.1", "nan"] {
        expect(&sandbox, GOOD, ("1.0", &format!("1\ndelta = {bad}"), 5, "delta is "));
    }
    let steps = format!("kind = \"within\"\nsteps = [{}]", u64::MAX);
    expect(&sandbox, GOOD, ("runs = 10", &steps, 3, "more than dpbi can count"));
    expect_all(
        GOOD,
        &[
            ("1.0", "\"one\"", 4, "`epsilon` must be a number"),
            ("[1, 1]", "[1, -2.5]", 3, "parameter 2 of the prior is -2.5"),
            ("[1, 1]", "[]", 3, "empty list"),
            ("runs = 10", "runs = -5", 2, "whole number"),
            ("sizes = [10]", "sizes = []", 7, "`sizes` is an empty list"),
            ("sizes = [10]", "sizes = [10, -3]", 7, "whole number … -3"),
            ("sizes = [10]", "sizes = [10.5]", 7, "whole number … 10.5"),
            ("sizes = [10]", "sizes = { from = 1.5, to = 3, count = 2 }", 7, "whole number … 1.5"),
            ("1.0", "{ from = 2, to = 1, count = 3 }", 4, "from 2 to 1 … smaller than `to`"),
            ("1.0", "{ from = 1, to = 2, count = 99999 }", 4, "cannot have 99999 numbers"),
            ("1.0", "{ form = 1, to = 2, count = 3 }", 4, "`form` … did you mean `from`?"),
            ("1.0", "{ from = 1, to = nan, count = 3 }", 4, "`to` is NaN"),
            ("1.0", "{ from = -1, to = 1, count = 3 }", 4, "epsilon is -1"),
            ("1.0", "{ from = 0, to = 2, count = 3, spacing = \"log\" }", 4, "cannot start at 0"),
            ("[1, 1]", "{ from = 1, to = 2, count = 3, k = 1 }", 3, "cannot have 1 categories"),
            ("[1, 1]", "{ from = 1, from = 0, count = 3, k = 3 }", 3, "not valid TOML"),
            (
                "[1, 1]",
                "{ from = 0, to = 2, count = 3, k = 2 }",
                3,
                "parameter 1 of the prior is 0",
            ),
        ],
    );
}

#[test]
fn data_must_fit_the_prior() {
    let at = "[data.counts]\ncounts = [[1, 2], [3, 4]]\nat = [1]";
    let shares = "[data.shares]\nsizes = [10]\nshares = [0.5, 1.5]";
    expect_all(
        GOOD,
        &[
            (DATA, "[data.counts]\ncounts = [1, 2, 3]", 6, "the counts [1, 2, 3] have 3"),
            (DATA, "[data.counts]\ncounts = [1, -2]", 7, "0 or more, but this is -2"),
            (DATA, "[data.counts]\ncounts = [1, 2.5]", 7, "0 or more, but this is 2.5"),
            (DATA, at, 8, "`at` has 1 elements for 2 data sets"),
            ("[10]", "[10]\nproportions = [0.5, 0.6]", 8, "sum to 1.1, not to 1"),
            ("[10]", "[10]\nproportions = [0.5, 0.25, 0.25]", 6, "the proportions have 3"),
            ("[10]", "[10]\n[data.predictive]\nsizes = 5", 6, "more than one source"),
            (DATA, "[data]", 6, "no source"),
            (DATA, "[data.shares]\nsizes = [10]", 7, "the key `shares` is missing"),
            (DATA, shares, 8, "the share 1.5 does not lie between 0 and 1"),
            (
                "prior = [1, 1]\nepsilon = 1.0\nmechanisms = [\"lshist\"",
                "prior = [0.3, 0.4]\ndistance = \"print\"\nepsilon = 1.0\nmechanisms = [\"lszhang\"",
                6,
                "lszhang does not restore the total … sum to 0.7",
            ),
            (
                "1]\nepsilon = 1.0\nmechanisms = [\"lshist\", \"ehds\"]",
                "0.9]\nepsilon = 1.0\nmechanisms = [{ id = \"ehd\", global = \"bound\" }]",
                5,
                "needs every prior parameter >= 1",
            ),
        ],
    );
}

#[test]
fn data_files_are_checked_row_by_row() {
    let sandbox = Sandbox::new();
    let read = |more: &str, at_line: usize, words: &str| {
        let file = format!("[data.file]\npath = \"d.csv\"\n{more}");
        expect(&sandbox, GOOD, (DATA, &file, at_line, words));
    };
    read("", 7, "cannot read d.csv … relative to the config file");
    let of_kind = "column = \"kind\"\ncategories = [\"a\", \"b\"]";
    for (data, more, words) in [
        ("category,count\na,1\nb,x\n", "", "`x` is not a count … d.csv:3"),
        ("category,count\na,1\nb,-2\n", "", "`-2` is not a count … d.csv:3"),
        ("category,number\na,1\n", "", "no column `count` … d.csv:1"),
        ("id,kind\n1,a\n", "column = \"kinds\"", "no column `kinds` … d.csv:1"),
        ("id,kind\n1,a\n2,z\n", of_kind, "`z` is not one of the categories … d.csv:3"),
        ("category,count\na,1\nb,2\nc,3\n", "", "the prior has 2 categories"),
    ] {
        sandbox.write("d.csv", data);
        read(more, 6, words);
    }
    let twice = (DATA, "[data.file]\npath = [\"d.csv\", \"d.csv\"]", 7, "named twice");
    expect(&sandbox, GOOD, twice);
    if cfg!(unix) {
        let endless = "[data.file]\npath = \"/dev/zero\"";
        expect(&sandbox, GOOD, (DATA, endless, 7, "/dev/zero: it has more than 64 MB"));
    }
}

#[test]
fn readings_are_finite_numbers() {
    let sandbox = Sandbox::new();
    let header = "mechanism,at,quantity,value,error,pixel,at_error,at_pixel,note";
    for (row, words) in [
        ("ehds,10,mean,NaN,0,0,,,", "value of `ehds` is NaN … r.csv:3"),
        ("ehds,10,mean,inf,0,0,,,", "value of `ehds` is inf … r.csv:3"),
        ("ehds,10,mean,0.1,-1,0,,,", "error of `ehds` is -1 … r.csv:3"),
        ("ehds,10,mean,0.1,0,0,NaN,,", "at_error of `ehds` is NaN … r.csv:3"),
    ] {
        sandbox.write("r.csv", &format!("{header}\nlshist,10,mean,0.1,0,0,,,\n{row}\n"));
        expect(&sandbox, GOOD, ("runs = 10", "readings = \"r.csv\"", 2, words));
    }
}

#[test]
fn work_beyond_the_memory_is_refused_with_figures() {
    let sandbox = Sandbox::new();
    let huge = GOOD.replace("[1, 1]", "[1, 1, 1, 1, 1, 1]").replace("[10]", "[100000]");
    let words = "more memory than there is … 8.3e22 candidates … TB … GB … --force";
    holds(&refusal(&sandbox, &huge), words);
    let check = sandbox.dpbi(&["check", "x.toml"]);
    assert_eq!(check.status, 2);
    assert!(check.stdout.contains("is valid") && check.stderr.contains("more memory"));
}

#[test]
fn two_experiments_of_one_name_are_refused() {
    let sandbox = Sandbox::new();
    sandbox.write("x.toml", GOOD).write("y.toml", GOOD);
    refused(&sandbox.dpbi(&["run", "x.toml", "y.toml"]), "both named `x`");
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
    let theory = "kind = \"theory\"";
    let whole = "kind = \"theory\"\nmechanisms = [\"lshist\"]";
    let within = "kind = \"within\"";
    let open = "mechanisms = [\"lszhang\"]\nkind = \"steps\"\nsteps = [1]";
    let labels = "`LSDim` … the labels that the readings have";
    expect_all(
        PANELS,
        &[
            ("id = \"b\"\n", "", 11, "a panel has no `id`"),
            ("id = \"b\"", "id = \"a\"", 12, "two panels are called `a`"),
            ("id = \"b\"", "id = \"a/b\"", 12, "cannot be the name"),
            ("steps = [1]", "stepz = [1]", 14, "unknown key `stepz` … steps"),
            ("steps = [1]\n", "", 15, "needs `steps`"),
            (theory, "kind = \"teory\"", 7, "unknown kind `teory` … theory"),
            ("prior = [1, 1]", "prior = [1, 1, 1]", 16, "two categories"),
            (theory, "kind = \"theory\"\nview = [1, 0]", 8, "the smaller first"),
            (theory, "kind = \"theory\"\nreadings = \"icml-fig9\"", 8, "icml-fig9"),
            (theory, "kind = \"theory\"\nreadings = \"icml-fig2a\"", 8, labels),
            (whole, open, 7, "need not sum to n"),
            (
                whole,
                "kind = \"sensitivity\"\nmechanisms = [\"lshist\"]",
                8,
                "compares no mechanisms",
            ),
            (whole, "kind = \"tail\"\nmechanisms = [\"lshist\"]", 8, "is about MH … mh-beta"),
            ("1.0", "1.0\nscope = \"all\"", 4, "none of the panels uses the key"),
            (within, "kind = \"within\"\nview = [0, 1]", 14, "does not use the key `view`"),
            (within, "kind = \"within\"\nreadings = \"icml-fig1\"", 14, "the key `readings`"),
            (within, "kind = \"within\"\nepsilon = [1, 2]", 17, "the same place … one prior, ε"),
            (
                "data.balanced.sizes = [20]",
                "data.line.sizes = [200000]",
                9,
                "too many to make every data set",
            ),
        ],
    );
}

#[test]
fn phase_diagrams_compare_private_mechanisms_over_two_axes() {
    let phase = GOOD
        .replace("runs = 10", "kind = \"phase\"\ndelta = 1e-3")
        .replace("epsilon = 1.0", "epsilon = [0.5, 1.0]");
    let asymmetric = "prior = [[1, 1], [1, 2]]\nepsilon = 1";
    let weaker = "{ id = \"lshist\", scale_factor = 0.5 }";
    expect_all(
        &phase,
        &[
            ("\"lshist\", \"ehds\"", "\"ehds\"", 6, "two mechanisms or more"),
            ("\"lshist\"", "\"ehdl\"", 6, "`ehdl` is not private … leave it out"),
            ("\"lshist\"", "\"mh-gamma\"", 6, "`mh-gamma` is 1-private where ε = 0.5"),
            ("\"lshist\"", "\"mh-beta\"", 6, "`mh-beta` is (0.5, 0.001) claimed"),
            ("\"lshist\"", weaker, 6, "`lshist` is 1-private where ε = 0.5"),
            ("[0.5, 1.0]", "1", 7, "has two axes … several epsilon"),
            ("[1, 1]", "[[1, 1], [2, 2]]", 7, "the same place … only one of ε, priors"),
            (
                "prior = [1, 1]\nepsilon = [0.5, 1.0]",
                asymmetric,
                7,
                "has two axes … symmetric priors",
            ),
            ("[10]", "[10, 10]", 7, "the same place … each n once"),
            ("delta = 1e-3", "steps = [1]", 3, "does not use the key `steps`"),
        ],
    );
}

#[test]
fn grids_are_counted_before_they_are_made() {
    let wide = "{ from = 1, to = 2, count = 10000 }";
    let deltas = "{ from = 0.1, to = 0.2, count = 9999 }";
    let product = format!("epsilon = {wide}\ngamma = {wide}\ndelta = {deltas}");
    let settings = "these are 999900000000 settings: 10000 ε × 9999 δ × 10000 γ … at most 1000000";
    let line = "[data.line]\nsizes = { from = 1, to = 100000, count = 10000 }";
    let drawn = "[data.predictive]\nsizes = [90000000, 90000000]";
    let prior = |count: u64, k: u64| format!("{{ from = 1, to = 2, count = {count}, k = {k} }}");
    let numbers = format!("{}\ngamma = {{ from = 1, to = 2, count = 30 }}", prior(400, 1000));
    let long = format!("[{}]", "1, ".repeat(10_001));
    expect_all(
        GOOD,
        &[
            ("epsilon = 1.0", &product, 8, settings),
            (DATA, line, 6, "these are 500 …  settings: 500 …  data sets"),
            ("[1, 1]", &prior(10_000, 10_000), 3, "10000 priors of 10000 categories are too many"),
            ("[1, 1]", &prior(501, 1000), 3, "501 priors of 1000 categories are too many"),
            ("[1, 1]", &prior(2, 10_001), 3, "a prior cannot have 10001 categories"),
            ("[1, 1]", &long, 3, "a prior cannot have 10001 categories"),
            ("[1, 1]", &prior(400, 1000), 6, "sensitivities … take too long … add noise"),
            ("[1, 1]", &numbers, 7, "hold 12000000 counts in all"),
            (DATA, drawn, 6, "to be drawn one by one … [data.counts]"),
        ],
    );
    // Panels add up.
    let sizes = "data.balanced.sizes = { from = 1, to = 60, count = 60 }";
    let panel = |id| format!("[[panel]]\nid = \"{id}\"\nepsilon = {wide}\n{sizes}\n");
    let head = "name = \"x\"\nprior = [1, 1]\nmechanisms = \"lshist\"\n";
    let message = refusal(&Sandbox::new(), &format!("{head}{}{}", panel("a"), panel("b")));
    holds(&message, "these are 600000 settings: 60 data sets × 10000 ε");
}

#[test]
fn what_is_too_large_for_a_distance_or_a_mechanism_is_refused() {
    let sandbox = Sandbox::new();
    for distance in ["kl", "kl_reverse", "renyi:0.5"] {
        let good = GOOD.replace("1.0", &format!("1.0\ndistance = \"{distance}\""));
        let words = "is tabulated count by count … hellinger";
        expect(&sandbox, &good, ("sizes = [10]", "sizes = [100000000]", 7, words));
    }
    let many = "prior = { from = 1, to = 2, count = 8, k = 200 }\ndistance = \"kl_reverse\"";
    let message = refusal(&sandbox, &GOOD.replace("prior = [1, 1]", many));
    holds(&message, "is searched over pairs of categories");
    let sizes = "sizes = [9007199254740992]";
    let words = "ehds weighs the candidates … at most 1000000000000";
    expect(&sandbox, GOOD, ("sizes = [10]", sizes, 5, words));
    let noise = GOOD.replace("sizes = [10]", sizes).replace(", \"ehds\"", "");
    sandbox.write("x.toml", &noise).succeed(&["check", "x.toml"]);
    let prior = "prior = { from = 1.5, to = 2, count = 2, k = 100 }";
    let counted = GOOD.replace("prior = [1, 1]", prior).replace("[10]", "[1000]");
    let check = sandbox.write("x.toml", &counted).dpbi(&["check", "x.toml"]);
    assert!(check.status == 2 && check.stderr.contains("candidates"), "{}", check.stderr);
    let config = format!("{GOOD}# {}\n", "x".repeat(17 << 20));
    holds(&refusal(&sandbox, &config), "x.toml has more than 16 MB");
}

#[test]
fn messages_stay_short_and_legible() {
    let sandbox = Sandbox::new();
    let long = "x".repeat(900_000);
    sandbox.write("d.csv", &format!("kind\na\n\"{long}\n"));
    let file = "[data.file]\npath = \"d.csv\"\ncolumn = \"kind\"";
    for (line, bad) in [
        ("\"ehds\"", format!("\"{long}\"")),
        ("epsilon = 1.0", format!("epsilon = [{}-1]", "1.0, ".repeat(100_000))),
        ("epsilon", long.clone()),
        ("runs = 10", format!("title = \"{long}\\u001b[31m\"")),
        ("runs = 10", "\"\\u0000\\n\" = 1".to_owned()),
        ("runs = 10", "runs = 10 # \u{1b}[31m".to_owned()),
        (DATA, format!("{file}\ncategories = [\"a\", \"{long}x\"]")),
    ] {
        let message = refusal(&sandbox, &GOOD.replacen(line, &bad, 1));
        assert!(message.len() < 3000, "{} bytes: {message:.1000}", message.len());
        assert!(!message.contains(|c: char| c.is_control() && c != '\n'), "{message:?}");
    }
}
