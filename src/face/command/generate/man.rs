//! `dpbi generate man`.

use std::io;

use clap::{Command, CommandFactory};

use crate::cli::Cli;
use crate::command::print_document;
use crate::failure::{Failure, WorkError};

/// One page: dpbi, then a section for each of its commands.
pub(super) fn print() -> Result<(), Failure> {
    let mut cli = Cli::command().disable_help_subcommand(true).subcommand_value_name("COMMAND");
    cli.build();
    let mut text = opening(&cli)?;
    text += &part(&cli)?;
    for command in cli.get_subcommands().flat_map(with_subcommands) {
        let name = command.get_bin_name().unwrap_or_default();
        text += &format!(".SH \"{}\"\n", name.to_uppercase());
        // The sections of a command's own page are subsections here.
        text += &part(command)?.replace(".SH ", ".SS ");
    }
    print_document(&text)
}

/// A command, and those within it.
fn with_subcommands(command: &Command) -> impl Iterator<Item = &Command> {
    std::iter::once(command).chain(command.get_subcommands())
}

/// The title and the name.
fn opening(command: &Command) -> Result<String, Failure> {
    let man = page(command);
    rendered(|out| man.render_title(out).and_then(|()| man.render_name_section(out)))
}

/// How a command is used, what it does, its options, and examples.
fn part(command: &Command) -> Result<String, Failure> {
    let man = page(command);
    let text = rendered(|out| {
        man.render_synopsis_section(out)?;
        man.render_description_section(out)?;
        man.render_options_section(out)
    })?;
    let text = without_preamble(&text);
    let examples = command.get_after_help().map(|text| as_typed(&text.to_string()));
    Ok(text + &examples.unwrap_or_default())
}

fn page(command: &Command) -> clap_mangen::Man {
    let source = concat!("dpbi ", env!("CARGO_PKG_VERSION"));
    clap_mangen::Man::new(command.clone()).source(source).manual("dpbi")
}

fn rendered(render: impl Fn(&mut Vec<u8>) -> io::Result<()>) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    render(&mut bytes).map_err(WorkError::Manual)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Removes the definition of an apostrophe, with which every rendered piece begins.
fn without_preamble(text: &str) -> String {
    let defines = |line: &&str| line.starts_with(".ie \\n(.g") || line.starts_with(".el .ds Aq");
    text.lines().filter(|line| !defines(line)).map(|line| line.to_owned() + "\n").collect()
}

/// The text after the options in the help, line by line.
fn as_typed(text: &str) -> String {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let heading = first.trim_end_matches(':').to_uppercase();
    let line = |line: &str| format!("\\&{}\n", line.replace('\\', "\\e").replace('-', "\\-"));
    let lines: String = rest.lines().map(line).collect();
    format!(".SH {heading}\n.nf\n{lines}.fi\n")
}
