//! What a newcomer sees: the orientation, the help, suggestions, completions, the manual.

use std::process::Command;

use crate::common::{Sandbox, command_line, holds, words};
use clap::Parser;
use face::cli::{Cli, names};

/// The command lines in a text, without the remarks after them. A backslash at the end of a line
/// continues it.
fn command_lines(text: &str) -> Vec<Vec<String>> {
    let joined: Vec<&str> = text.split("\\\n").map(str::trim_start).collect();
    let joined = joined.join("");
    let lines = joined.lines().filter(|line| line.starts_with("  dpbi ")).map(str::trim);
    let words = |line: &str| {
        let typed = line.split("  ").next().unwrap().split(" > ").next().unwrap();
        typed.split(' ').map(str::to_owned).collect()
    };
    lines.map(words).collect()
}

#[test]
fn dpbi_alone_orients_by_commands_that_parse() {
    let outcome = Sandbox::new().dpbi(&[]);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (0, ""));
    holds(&outcome.stdout, "dpbi run beta_balanced … dpbi choose … dpbi --help … docs/");
    let advice = command_lines(&outcome.stdout);
    assert_eq!(advice.len(), 5);
    advice.iter().for_each(|line| drop(Cli::try_parse_from(line).unwrap()));
}

#[test]
fn every_command_has_examples_that_parse_and_name_configs_that_exist() {
    let known = names::configs();
    for command in command_line().get_subcommands() {
        let name = command.get_name();
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        assert!(help.starts_with("Examples:\n"), "{name}");
        let examples = command_lines(&help);
        assert!(examples.iter().any(|line| line[1] == name), "{name}");
        for line in examples {
            Cli::try_parse_from(&line).unwrap_or_else(|error| panic!("{line:?}: {error}"));
            for word in line {
                let path = word.strip_prefix("configs/");
                let named = path.and_then(|path| path.strip_suffix(".toml"));
                let exists = named.is_none_or(|named| known.iter().any(|name| name == named));
                assert!(exists || named == Some("*"), "{word}");
            }
        }
    }
}

#[test]
fn a_typo_on_the_command_line_is_recognised() {
    let sandbox = Sandbox::new();
    sandbox.write("mine.toml", "").write("table.csv", "id,answer\n1,yes\n2,no\n");
    std::fs::create_dir_all(sandbox.path("results/beta_balanced")).unwrap();
    let model = "--prior 1,1 --n 5 --epsilon 1";
    let survey = "--data table.csv --categories no,yes --prior 1,1 --epsilon 1";
    let typos = [
        ("rnu beta_balanced", "did you mean `run`?"),
        ("chose", "did you mean `choose`?"),
        ("lst", "did you mean `list`?"),
        ("beta_balanced", "did you mean `dpbi run beta_balanced`?"),
        ("help rnu", "did you mean `run`?"),
        ("run beta_balanced --sed 3", "--seed"),
        ("run beta_balanced --treads 3", "--threads"),
        ("run beta_balanced --fomat png", "--format"),
        ("run beta_balanced --format pgn", "did you mean `png`?"),
        ("run beta_balanced --format none,svg", "svg"),
        ("run beta_balanced --format non", "did you mean `none`?"),
        ("run beta_balanced --width colunm", "did you mean `column`?"),
        ("optimum MODEL --out o --width txt", "did you mean `text`?"),
        ("plot results/beta_balanced --widht text", "--width"),
        ("run beta_balancd", "did you mean `beta_balanced`?"),
        ("run configs/beta_balancd.toml", "did you mean `beta_balanced`?"),
        ("run icml/fgi3", "did you mean `icml/fig3`?"),
        ("run mine.tml", "did you mean `mine.toml`?"),
        ("check papers/icml/fgi3", "did you mean `papers/icml/fig3`?"),
        ("reproduce icm", "did you mean `icml`?"),
        ("reproduce icml/fg2", "did you mean `icml/fig2`?"),
        ("reproduce opne", "did you mean `open`?"),
        ("plot results/beta_balancd", "did you mean `results/beta_balanced`?"),
        ("merge results/beta_balancd", "did you mean `results/beta_balanced`?"),
        ("verify results/beta-balanced", "did you mean `results/beta_balanced`?"),
        ("claims 99", "numbered from 1 to"),
        ("claims four", "a claim is known by its number"),
        ("claims --distance prnt", "did you mean `print`?"),
        ("audit MODEL --mechanism edhs", "did you mean `ehds`?"),
        ("audit MODEL --mechanism ehds+calibratd", "did you mean `calibrated`?"),
        ("audit MODEL --mechanism ehds+rempa", "did you mean `remap`?"),
        ("audit MODEL --mechanism ehds --scope corner", "did you mean `corners`?"),
        ("audit MODEL --mechanism ehds --distance helinger", "did you mean `hellinger`?"),
        ("audit MODEL --mechanism ehds --distance renyi", "did you mean `renyi:0.5`?"),
        ("audit MODEL --mechanism ehds --distance renyi:x", "renyi:0.5"),
        ("choose MODEL --mechanism geometrc,ehds", "did you mean `geometric`?"),
        ("optimum MODEL --release-set blow", "did you mean `below`?"),
        ("release SURVEY --column anwser", "column 2 has a similar name"),
        ("release SURVEY --column answer --mechanism geometrc", "did you mean `geometric`?"),
        ("release SURVEY --column answer --other yse", "did you mean `yes`?"),
        ("generate completions zhs", "did you mean `zsh`?"),
        ("generate completions power-shell", "did you mean `powershell`?"),
        ("generate mna", "did you mean `man`?"),
    ];
    for (typed, expected) in typos {
        let typed = typed.replace("MODEL", model).replace("SURVEY", survey);
        let outcome = sandbox.dpbi(&words(&typed));
        assert!(outcome.status == 2 && outcome.stdout.is_empty(), "{typed}");
        holds(&outcome.stderr, expected);
    }
}

/// Whether a program accepts a script; `None` where there is no such program.
fn accepts(program: &str, args: &[&str], file: &std::path::Path) -> Option<bool> {
    let status = Command::new(program).args(args).arg(file).status().ok()?;
    Some(status.success())
}

#[test]
fn completions_are_scripts_that_know_the_names() {
    let sandbox = Sandbox::new();
    for shell in names::shells() {
        let script = sandbox.succeed(&["generate", "completions", &shell]);
        assert!(script.contains("reproduce") && script.contains("release-set"), "{shell}");
        sandbox.write(&shell, &script);
        let names = ["ehds", "beta_balanced", "papers/icml/fig3", "corners", "svg", "hellinger"];
        // The others complete commands and options only.
        for name in names.iter().filter(|_| ["bash", "zsh"].contains(&shell.as_str())) {
            assert!(script.contains(name), "{shell}: {name}");
        }
    }
    for shell in ["bash", "zsh", "fish"] {
        let parsed = accepts(shell, &["-n"], &sandbox.path(shell));
        assert_ne!(parsed, Some(false), "{shell}");
        assert!(parsed.is_some() || shell != "bash", "there is no bash here");
    }
}

#[test]
fn bash_completes_what_is_typed() {
    let sandbox = Sandbox::new();
    let script = sandbox.succeed(&["generate", "completions", "bash"]);
    let complete = |words: &str| {
        let count = words.split(' ').count();
        let asked = format!(
            "{script}\nCOMP_WORDS=({words}); COMP_CWORD={}\n\
             _dpbi dpbi \"${{COMP_WORDS[-1]}}\" \"${{COMP_WORDS[-2]}}\"\necho \"${{COMPREPLY[@]}}\"",
            count - 1
        );
        sandbox.write("ask", &asked);
        let output = Command::new("bash").arg(sandbox.path("ask")).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    assert_eq!(complete("dpbi inspe"), "inspect");
    assert_eq!(complete("dpbi run beta_"), "beta_balanced");
    assert_eq!(complete("dpbi run icml/fig2"), "icml/fig2");
    assert_eq!(complete("dpbi audit --mechanism geometric-a"), "geometric-all");
    assert_eq!(complete("dpbi audit --scope c"), "corners");
    assert_eq!(complete("dpbi plot --width c"), "column");
    assert_eq!(complete("dpbi generate completions z"), "zsh");
}

#[test]
fn the_manual_has_every_command_and_option() {
    let sandbox = Sandbox::new();
    let manual = sandbox.succeed(&["generate", "man"]);
    assert_eq!(manual.matches(".TH ").count(), 1);
    for command in command_line().get_subcommands() {
        let name = command.get_name();
        let heading = format!(".SH \"DPBI {}\"", name.to_uppercase());
        let section = manual.split(&heading).nth(1).unwrap_or_else(|| panic!("{name}"));
        let section = section.split("\n.SH ").next().unwrap();
        let shown = command.get_arguments().filter(|argument| !argument.is_hide_set());
        for option in shown.filter_map(|argument| argument.get_long()) {
            let option = format!("\\-\\-{}", option.replace('-', "\\-"));
            assert!(section.contains(&option), "{name}: {option}");
        }
        assert!(section.contains(".SS EXAMPLES"), "{name}");
    }
    sandbox.write("dpbi.1", &manual);
    let groff = Command::new("groff")
        .args(["-k", "-man", "-Tutf8", "-ww"])
        .arg(sandbox.path("dpbi.1"))
        .output();
    if let Ok(output) = groff {
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    }
}

#[test]
fn a_run_draws_its_means_on_the_terminal() {
    let sandbox = Sandbox::new();
    let printed = sandbox.succeed(&["run", "beta_balanced", "--runs", "20", "--format", "none"]);
    let line = |label: &str| {
        let drawn = |line: &&str| line.trim_start().starts_with(label) && line.contains('█');
        printed.lines().find(drawn).unwrap_or_else(|| panic!("{printed}")).to_owned()
    };
    // The worst has the longest bar, and its error grows; that of the others falls.
    assert!(line("ehd ").contains("▇▇███ "), "{}", line("ehd "));
    assert!(line("lshist").contains("█▆▅▄▄") && line("lshist").matches('█').count() < 4);
    assert!(
        printed.lines().filter(|line| line.contains('█')).all(|line| line.chars().count() <= 80)
    );
    let chosen = sandbox.succeed(&["choose", "--prior", "1,1", "--n", "10", "--epsilon", "1"]);
    assert!(chosen.lines().any(|line| line.contains("████████")), "{chosen}");
}
