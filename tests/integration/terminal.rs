//! Whatever dpbi prints for people fits the terminal: no line is longer than it is wide.

use std::collections::BTreeSet;

use crate::common::{Outcome, Sandbox, command_line, few_or_many, words};

const WIDTH: usize = 80;

/// What is meant for machines is printed as it is.
const FOR_MACHINES: [&str; 1] = ["generate"];

/// Typical command lines. Those of one line run in order, in the same folder; a line that begins with
/// `!` must fail.
const TYPICAL: &[&str] = &[
    "",
    "--version",
    "list",
    "mechanisms",
    "mechanisms ehds",
    "copy beta_balanced copied.toml",
    "check copied --set epsilon=2",
    "!check copied --set epsilon=-2",
    "check icml/fig4 arxiv/fig5b sweep open/privacy",
    "check own.toml --shard 1/2",
    "run own.toml",
    "run own.toml -v",
    "run own.toml --runs 7 --fresh -v",
    "run many.toml --format none",
    "run beta_balanced --runs 50",
    "run icml/table1 icml/fig1 bounds/cor45 arxiv/bounds notes/fig5 --runs 20 --format none",
    "run own.toml --shard 1/2 --out part1",
    "run own.toml --shard 2/2 --out part2",
    "merge part1 part2 --out joined",
    "plot results/own --format svg",
    "plot results/own --page figures.html",
    "verify results/own --seed 1",
    "verify results/own results/beta_balanced --cells 2",
    "reproduce icml/table1 --format none",
    "claims 2",
    "inspect --prior 1,1 --counts 300,300 --epsilon 1",
    "inspect --prior 1,1 --counts 30,3 --epsilon 0.1 --delta 1e-8 --candidate 29,4",
    "inspect --prior 1,1,1 --counts 5,4,1 --epsilon 0.01 --mechanism tight,lattice",
    "audit --prior 1,1 --n 20 --epsilon 1 --mechanism ehds --profile",
    "audit --prior 1,1 --n 20 --epsilon 1 --mechanism ehdl --calibrate --at-epsilon 0.5",
    "audit --prior 1,1,1,1,1,1,1,1 --counts 1,1,1,1,1,1,1,1 --epsilon 1 --mechanism lshist",
    "inspect --prior 1,1 --counts 3,4 --epsilon 1 --mechanism {-epsilon*abs(t)} --law law.csv",
    "optimum --prior 1,1 --n 8 --epsilon 1 --minimax --mechanism {-max(d,1)-0*H-0*r1-0*r2}+calibrated+remap",
    "choose --prior 1,1 --n 20 --epsilon 1",
    "choose --prior 1,1 --n 10 --epsilon 1 --mechanism ehd,{-max(d,1)-0*H-0*r1-0*r2-0*x1-0*x2}+calibrated",
    "choose --prior 1,1 --counts 12,8 --epsilon 0.25 --all --delta 1e-6",
    "optimum --prior 1,1 --n 12 --epsilon 1 --minimax --all",
    "optimum --prior 1,1,1 --n 6 --epsilon 0.5 --delta 1e-2 --tuned --out best --format none",
    "release --data survey.csv --column answer --categories no,yes --prior 1,1 --epsilon 1",
    "release --data survey.csv --column answer --categories no,yes --prior 1,1 --epsilon 0.5 \
     --ledger survey.ledger --budget 2 --mechanism lattice",
    "account survey.ledger",
    "account survey.ledger --budget 0.1,1e-9 --pld account.json",
    "release --data trial.csv --by arm --column answer --categories arm=control,treated \
     --categories answer=no,yes --prior 1 --epsilon 1 --mechanism lattice --out a.json",
    "release --data trial.csv --by arm --column answer --categories arm=control,treated \
     --categories answer=no,yes --prior 1 --epsilon 0.5 --fixed-groups control=20,treated=20 \
     --out fixed.json",
    "release --data trial.csv --by arm --column answer --categories arm=control,treated \
     --categories answer=no,yes --prior 1 --epsilon 2 --mechanism tight --out b.json",
    "release --data trial.csv --by arm --column answer --categories arm=control,treated \
     --categories answer=no,yes --prior 1 --epsilon 2 --ledger trial.ledger --dry-run",
    "posterior a.json --compare yes,no --level 0.5",
    "posterior fixed.json --compare yes,no",
    "posterior a.json b.json --joint",
    "posterior --released 41,17,9 --noise discrete-laplace(epsilon=0.5) --prior 1",
    "posterior --released 41,17,9 --noise gaussian(sigma=4) --rounded --clamped --prior 1 --n 67 \
     --labels no,maybe,yes",
    // Errors.
    "!rnu",
    "!run absent.toml",
    "!run bad.toml",
    "!run long.toml",
    "!run own.toml --out part1",
    "!run beta_balanced --shard 9/8",
    "!run beta_balanced --format svgg",
    "!merge part1 --out joined",
    "!verify absent",
    "!posterior --released 41,17 --noise laplacian(scale=1) --prior 1",
    "!inspect --prior 1,1 --counts 1,2,3 --epsilon 1",
    "!inspect --counts 1,2",
    "!audit --prior 1,1 --n 50 --epsilon 1 --mechanism ehdz",
    "!audit --prior 1,1,1,1 --n 2000 --epsilon 1 --mechanism ehds",
    "!audit --prior 1,1 --n 50 --epsilon 1 --mechanism {-epsilon*H*d*l1*l2*n*k*gamma*LS*GS*S*banana*d}",
    "!audit --prior 1,1 --n 8 --epsilon 1 --mechanism {-1/(r1-3)}",
    "!inspect --prior 1,1 --counts 3,4 --epsilon 1 --law law.csv",
    "!optimum --prior 1,1,1,1 --n 20000 --epsilon 1",
    "!release --data survey.csv --column answr --categories no,yes --prior 1,1 --epsilon 1",
    "!release --data survey.csv --column answer --categories no,yes --prior 1,1 --epsilon 1 --seed 1",
    "!account absent.ledger",
];

const OWN: &str = r#"name = "own"
title = "An experiment with a title that is so long that it alone does not fit in a line of a terminal"
seed = 1
runs = 5
prior = [1, 1]
epsilon = 1.0
mechanisms = ["lshist", "geometric", "ehd"]

[data.balanced]
sizes = [10, 20]
"#;

const MANY: &str = r#"name = "many"
title = "More mechanisms than a line has room for"
seed = 1
runs = 5
prior = [1, 1]
epsilon = [0.5, 1.0]
delta = 1e-6
mechanisms = [
  "lszhang", "lsdim", "lshist", "ehd", "ehdl", "ehds", "mh-gamma", "mh-beta", "geometric",
  "hamming", "lattice", "tight", "geometric-truncated", "gaussian",
]

[data.balanced]
sizes = [10, 20]
"#;

/// Lines that take minutes, if tests are to be long.
const LONG: &[&str] = &["selftest", "reproduce icml --format none", "claims"];

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("own.toml", OWN).write("many.toml", MANY);
    sandbox.write("bad.toml", &OWN.replace("epsilon = 1.0", "epsilonn = 1.0"));
    let mechanisms = "mechanisms = [\"lshist\", \"geometric\", \"geometric-all\", \"ehd\", \"ehdl\", \
                      \"ehds\", \"mh-gamma\", \"banana\", \"hamming\"] # and a comment behind it";
    let long = OWN.replace("mechanisms = [\"lshist\", \"geometric\", \"ehd\"]", mechanisms);
    sandbox.write("long.toml", &long);
    let answers: String = (0..40).map(|i| if i % 3 == 0 { "yes\n" } else { "no\n" }).collect();
    sandbox.write("survey.csv", &format!("answer\n{answers}"));
    let arms = |i: usize| if i.is_multiple_of(2) { "control" } else { "treated" };
    let rows: String =
        (0..40).map(|i| format!("{},{}\n", arms(i), ["no", "yes"][i / 2 % 2])).collect();
    sandbox.write("trial.csv", &format!("arm,answer\n{rows}"));
    sandbox
}

/// What a command has printed, after a look at the length of its lines.
fn fitting(sandbox: &Sandbox, typed: &[&str]) -> Outcome {
    let outcome = sandbox.dpbi_within(WIDTH, typed);
    for line in outcome.stdout.lines().chain(outcome.stderr.lines()) {
        assert!(line.chars().count() <= WIDTH, "too long: dpbi {}\n{line}", typed.join(" "));
    }
    outcome
}

#[test]
fn every_command_fits_the_terminal() {
    let sandbox = sandbox();
    for line in TYPICAL.iter().chain(few_or_many(&[][..], LONG)) {
        let typed = line.trim_start_matches('!');
        let outcome = fitting(&sandbox, &words(typed));
        assert_eq!(outcome.status != 0, line.starts_with('!'), "{typed}: {}", outcome.stderr);
    }
}

#[test]
fn help_fits_the_terminal() {
    let sandbox = Sandbox::new();
    let cli = command_line();
    let names = cli.get_subcommands().map(clap::Command::get_name);
    let asked = names.flat_map(|name| [vec![name, "--help"], vec![name, "-h"]]);
    for args in asked.chain([vec!["--help"], vec!["help"]]) {
        assert_eq!(fitting(&sandbox, &args).status, 0, "{args:?}");
    }
}

#[test]
fn every_command_is_measured() {
    let measured: BTreeSet<&str> = TYPICAL
        .iter()
        .chain(LONG)
        .filter_map(|line| words(line).first().copied())
        .chain(FOR_MACHINES)
        .collect();
    let cli = command_line();
    let missing: Vec<&str> = cli
        .get_subcommands()
        .map(clap::Command::get_name)
        .filter(|n| !measured.contains(n))
        .collect();
    assert!(missing.is_empty(), "no typical command line of {missing:?}");
}

#[test]
fn words_are_never_broken() {
    let sandbox = Sandbox::new();
    let optimum = "optimum --prior 1,1 --n 6 --epsilon 1 --minimax";
    for line in ["list", optimum, "choose --prior 1,1 --n 10 --epsilon 1", "audit -h"] {
        let text = |width| sandbox.dpbi_within(width, &words(line)).stdout;
        let (narrow, wide) = (text(80), text(1000));
        assert!(narrow.lines().count() > wide.lines().count(), "nothing was broken: {line}");
        let known: BTreeSet<&str> = wide.split_whitespace().collect();
        let broken: Vec<&str> = narrow.split_whitespace().filter(|w| !known.contains(w)).collect();
        assert!(broken.is_empty(), "{line}: {broken:?}");
    }
}

#[test]
fn more_width_shows_more() {
    let sandbox = Sandbox::new();
    let list = |width| sandbox.dpbi_within(width, &["list"]).stdout;
    assert!(!list(80).contains("Figure 2, §7.1.1") && list(200).contains("Figure 2, §7.1.1"));
    assert!(list(80).lines().count() > list(200).lines().count());
}
