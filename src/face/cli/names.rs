//! The names that a user can type, for shells to complete.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command, Error, ValueEnum};
use clap_complete::Shell;

use super::GROUPS;
use engine::mechanism;
use engine::mechanism::law::OutputSet;
use engine::named::Named;
use engine::posterior::distance;
use figure::{Format, Width};
use lab::experiment::ScopeName;
use paper::claims;
use system::console::TableFormat;
use system::source::{PAPERS, QUESTIONS, bundled_configs, config_name, short_name};

/// A text, and those among which shells complete it. Others are let through, since what is wrong
/// with them is said best by those who use them: with the nearest name that would be right.
#[derive(Clone)]
pub struct Among(pub fn() -> Vec<String>);

impl TypedValueParser for Among {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter().map(PossibleValue::new)))
    }
}

fn owned<'a>(names: impl IntoIterator<Item = &'a str>) -> Vec<String> {
    names.into_iter().map(str::to_owned).collect()
}

pub fn commands() -> Vec<String> {
    owned(GROUPS.iter().flat_map(|(_, names)| names.iter().copied()))
}

pub fn mechanisms() -> Vec<String> {
    owned(mechanism::ALL.iter().map(|mechanism| mechanism.id))
}

/// The mechanisms that release.
pub fn releasing() -> Vec<String> {
    owned(service::release::mechanisms())
}

pub fn distances() -> Vec<String> {
    owned(distance::names())
}

pub fn documented_distances() -> Vec<String> {
    owned(distance::DOCUMENTED.iter().map(|distance| distance.id()))
}

/// The bundled experiments, by their names and short names.
pub fn configs() -> Vec<String> {
    let names: Vec<String> = bundled_configs().iter().map(|path| config_name(path)).collect();
    let mut all: Vec<String> =
        names.iter().map(|name| short_name(name)).chain(names.clone()).collect();
    all.sort();
    all.dedup();
    all
}

/// What `dpbi reproduce` knows: documents, their figures, and the open questions.
pub fn documents() -> Vec<String> {
    let names = bundled_configs().into_iter().map(|path| config_name(&path));
    let documented = names.filter(|name| name.starts_with(PAPERS) || name.starts_with(QUESTIONS));
    let figures: Vec<String> = documented.map(|name| short_name(&name)).collect();
    let mut documents: Vec<String> =
        owned(figures.iter().filter_map(|figure| Some(figure.split_once('/')?.0)));
    documents.dedup();
    documents.into_iter().chain(figures).collect()
}

/// The scopes of `dpbi audit`.
pub fn scopes() -> Vec<String> {
    owned([ScopeName::All, ScopeName::Corners].map(Named::id))
}

/// What may be released.
pub struct ReleaseSet {
    pub name: &'static str,
    pub outputs: OutputSet,
    pub words: &'static str,
}

pub const RELEASE_SETS: &[ReleaseSet] = &[
    ReleaseSet { name: "same", outputs: OutputSet::Simplex, words: "counts with the same total" },
    ReleaseSet {
        name: "below",
        outputs: OutputSet::Below,
        words: "counts with the same total or a smaller one",
    },
];

pub fn release_sets() -> Vec<String> {
    owned(RELEASE_SETS.iter().map(|set| set.name))
}

/// In place of a list of formats.
pub const NO_FORMAT: &str = "none";

pub fn formats() -> Vec<String> {
    owned(Format::ALL.iter().map(|format| format.extension()).chain([NO_FORMAT]))
}

pub fn widths() -> Vec<String> {
    owned(Width::ALL.iter().map(|width| width.id()))
}

pub fn table_formats() -> Vec<String> {
    owned(TableFormat::ALL.iter().map(|format| format.id()))
}

pub fn claims() -> Vec<String> {
    claims::ALL.iter().map(|claim| claim.number.to_string()).collect()
}

pub fn shells() -> Vec<String> {
    Shell::value_variants().iter().map(Shell::to_string).collect()
}
