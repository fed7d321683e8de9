//! How the values of options are read.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::{StringValueParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Command, Error};

use super::names::{self, Among};
use engine::posterior::model::MOST_RECORDS;
use engine::refusal::{Refusal, suggest};
use figure::{Format, Width};
use lab::experiment::config::{Change, check_name};
use lab::run::store::{MOST_SHARDS, Shard};
use system::console::TableFormat;

pub(super) fn count(text: &str) -> Result<u64, String> {
    text.trim().parse().map_err(|_| "a count is a whole number, 0 or more, such as 300".to_owned())
}

pub(super) fn records(text: &str) -> Result<u64, String> {
    match text.trim().parse() {
        Ok(n) if n <= MOST_RECORDS => Ok(n),
        Ok(_) => {
            Err(format!("these are more records than dpbi can count; use at most {MOST_RECORDS}"))
        }
        Err(_) => Err("a number of records is a whole number, 0 or more, such as 100".to_owned()),
    }
}

/// Joint draws that are asked for.
#[derive(Clone, Debug)]
pub struct Draws {
    pub number: usize,
    /// Where they go; standard output if there is none.
    pub file: Option<PathBuf>,
}

pub(super) fn draws(text: &str) -> Result<Draws, String> {
    let (number, file) = match text.split_once(',') {
        Some((number, file)) => (number, Some(file.into())),
        None => (text, None),
    };
    match number.trim().parse() {
        Ok(number) if number > 0 => Ok(Draws { number, file }),
        _ => Err("write N or N,FILE.csv, such as 4000 or 4000,draws.csv".to_owned()),
    }
}

pub(super) fn shard(text: &str) -> Result<Shard, String> {
    let whole = |text: &str| text.trim().parse::<usize>().ok();
    let numbers = text.split_once('/').and_then(|(i, n)| Some((whole(i)?, whole(n)?)));
    let Some((index, count)) = numbers else {
        return Err("write I/N, such as 3/8 for the third of eight parts".to_owned());
    };
    Shard::new(index, count).ok_or_else(|| match count > MOST_SHARDS {
        true => format!("more than {MOST_SHARDS} parts would be too small"),
        false => format!(
            "part {index} of {count} does not exist: write I/N with I from 1 to N, such as 3/8"
        ),
    })
}

pub fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        _ if text == "tab" || text == "\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !b"\"\r\n\0 #".contains(byte) => Ok(*byte),
        _ => Err("it must be one character, such as ; or |, or tab".to_owned()),
    }
}

/// A key and a value. What is wrong with them is said as if they stood in a config.
#[derive(Clone)]
pub(super) struct Assignment;

impl TypedValueParser for Assignment {
    type Value = Change;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<Change, Error> {
        let typed = StringValueParser::new().parse_ref(command, argument, value)?;
        Change::parse(&typed)
            .map_err(|error| Error::raw(ErrorKind::ValueValidation, format!("{error}\n")))
    }
}

pub(super) fn folder_name(name: &str) -> Result<String, String> {
    let wrong = |refusal: Refusal| format!("{}; {}", refusal.cause, refusal.remedy);
    check_name(name).map(|()| name.to_owned()).map_err(wrong)
}

/// A list of formats, each once, as one value.
#[derive(Clone, Debug)]
pub struct Formats(pub Vec<Format>);

fn formats(list: &str) -> Result<Formats, String> {
    if list == names::NO_FORMAT {
        return Ok(Formats(Vec::new()));
    }
    let mut formats = Vec::new();
    for name in list.split(',') {
        let format = known("figure format", name, Format::ALL, Format::extension, names::formats)?;
        if !formats.contains(&format) {
            formats.push(format);
        }
    }
    Ok(Formats(formats))
}

pub(super) fn format_list() -> impl TypedValueParser<Value = Formats> {
    Among(names::formats).try_map(|list| formats(&list))
}

/// The one of `all` that has this name.
fn known<T: Copy>(
    what: &str,
    name: &str,
    all: &[T],
    id: impl Fn(T) -> &'static str,
    names: impl Fn() -> Vec<String>,
) -> Result<T, String> {
    let name = name.trim();
    let found = all.iter().copied().find(|one| name.eq_ignore_ascii_case(id(*one)));
    found.ok_or_else(|| {
        let hint = suggest(name, names().iter().map(String::as_str));
        format!("unknown {what} `{name}`; {hint}")
    })
}

fn width(name: &str) -> Result<Width, String> {
    known("width", name, Width::ALL, Width::id, names::widths)
}

pub(super) fn figure_width() -> impl TypedValueParser<Value = Width> {
    Among(names::widths).try_map(|name| width(&name))
}

pub(super) fn table_format() -> impl TypedValueParser<Value = TableFormat> {
    Among(names::table_formats).try_map(|name| {
        known("table format", &name, TableFormat::ALL, TableFormat::id, names::table_formats)
    })
}

fn claim(number: &str) -> Result<u32, String> {
    let wrong = "a claim is known by its number, such as 4; `dpbi claims` prints them all";
    number.trim().parse().map_err(|_| wrong.to_owned())
}

pub(super) fn claim_number() -> impl TypedValueParser<Value = u32> {
    Among(names::claims).try_map(|number| claim(&number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_a_list_or_none() {
        assert_eq!(formats("svg, png").unwrap().0, [Format::Svg, Format::Png]);
        assert!(formats("none").unwrap().0.is_empty());
        assert!(formats("svg,jpg").unwrap_err().contains("jpg"));
        assert_eq!(formats("svg,png,SVG").unwrap().0, [Format::Svg, Format::Png]);
    }

    #[test]
    fn widths_are_known_by_their_names() {
        for &known in Width::ALL {
            assert_eq!(width(known.id()), Ok(known));
        }
        assert!(width("colum").unwrap_err().contains("did you mean `column`?"));
    }
}
