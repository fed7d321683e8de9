//! How the values of options are read.

use clap::builder::TypedValueParser;

use super::names::{self, Among};
use crate::base::diagnostic::suggest;
use crate::figure::Format;
use crate::run::store::{MOST_SHARDS, Shard};

pub(super) fn count(text: &str) -> Result<u64, String> {
    text.trim().parse().map_err(|_| "a count is a whole number, 0 or more, such as 300".to_owned())
}

pub(super) fn records(text: &str) -> Result<u64, String> {
    let wrong = "a number of records is a whole number, 0 or more, such as 100";
    text.trim().parse().map_err(|_| wrong.to_owned())
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

pub(super) fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        _ if text == "tab" || text == "\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !b"\"\r\n\0 #".contains(byte) => Ok(*byte),
        _ => Err("it must be one character, such as ; or |, or tab".to_owned()),
    }
}

/// A list of formats, as one value.
#[derive(Clone, Debug)]
pub struct Formats(pub Vec<Format>);

fn formats(list: &str) -> Result<Formats, String> {
    if list == names::NO_FORMAT {
        return Ok(Formats(Vec::new()));
    }
    let parse = |name: &str| {
        let unknown = |_| {
            let hint = suggest(name, names::formats().iter().map(String::as_str));
            format!("unknown figure format `{name}`; {hint}")
        };
        name.trim().parse::<Format>().map_err(unknown)
    };
    list.split(',').map(parse).collect::<Result<_, _>>().map(Formats)
}

pub(super) fn format_list() -> impl TypedValueParser<Value = Formats> {
    Among(names::formats).try_map(|list| formats(&list))
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
    }
}
