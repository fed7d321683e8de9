//! The commands of the project's README: all must parse, and what is quick is run.

use clap::Parser;
use face::cli::Cli;

use super::shell::Shell;

/// Commands that answer at once, whatever their arguments in the README.
const QUICK: [&str; 5] = ["audit", "choose", "inspect", "list", "optimum"];

/// What is wrong with the commands of a README.
pub fn faults(text: &str) -> Vec<String> {
    let mut shell = Shell::new();
    let mut commands: Vec<(usize, String)> = in_blocks(text).chain(in_sentences(text)).collect();
    commands.sort_by(|a, b| a.1.cmp(&b.1));
    commands.dedup_by(|a, b| a.1 == b.1);
    assert!(commands.len() > 10, "the README shows {} commands", commands.len());
    let fault = |(line, command): &(usize, String)| {
        fault(&mut shell, command).map(|what| format!("README.md:{line}: `{command}`: {what}"))
    };
    commands.iter().filter_map(fault).collect()
}

/// Lines of `sh` blocks that call dpbi, without their comments.
fn in_blocks(text: &str) -> impl Iterator<Item = (usize, String)> {
    let mut inside = false;
    text.lines().enumerate().filter_map(move |(at, line)| {
        match line.strip_prefix("```") {
            Some(info) => inside = info == "sh",
            None if inside => {
                let command = line.split(" #").next().unwrap_or_default().trim();
                return plain(command).map(|command| (at + 1, command));
            }
            None => {}
        }
        None
    })
}

/// Commands in backticks within sentences and tables.
fn in_sentences(text: &str) -> impl Iterator<Item = (usize, String)> {
    text.lines().enumerate().flat_map(|(at, line)| {
        let spans = line.split('`').skip(1).step_by(2);
        spans.filter_map(plain).map(move |command| (at + 1, command)).collect::<Vec<_>>()
    })
}

/// `dpbi …` of a line that calls it, by whatever name.
fn plain(command: &str) -> Option<String> {
    let arguments = command.strip_prefix("cargo run --release -- ");
    let command = arguments.map_or(command.to_owned(), |rest| format!("dpbi {rest}"));
    command.starts_with("dpbi ").then_some(command)
}

fn fault(shell: &mut Shell, command: &str) -> Option<String> {
    let words = words(command);
    if words.len() == 2 || words.iter().any(|word| word.contains(['[', '…'])) {
        let help = Cli::try_parse_from(["dpbi", words[1], "--help"]);
        return help.err().filter(clap::Error::use_stderr).map(|error| error.to_string());
    }
    let parsed = Cli::try_parse_from(&words);
    if let Some(error) = parsed.err().filter(clap::Error::use_stderr) {
        return Some(error.to_string());
    }
    if QUICK.contains(&words[1]) {
        let outcome = shell.run(command);
        return (outcome.status != 0).then_some(outcome.output);
    }
    let missing =
        words.iter().find(|word| word.starts_with("configs/") && shell.read(word).is_none());
    missing.map(|word| format!("there is no {word}"))
}

/// The words of a command, as a shell divides it: what stands between single quotes is one word.
fn words(command: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for (place, part) in command.split('\'').enumerate() {
        match place % 2 {
            0 => words.extend(part.split_whitespace()),
            _ => words.push(part),
        }
    }
    words
}
