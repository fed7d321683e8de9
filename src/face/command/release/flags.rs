//! The flags of `dpbi release`, and what they ask for.

use std::path::{Path, PathBuf};

use super::asked::{Asked, GroupPrior, Wrong};
use crate::cli::Release;
use engine::refusal::suggest;
use service::release::{Request, read_text};
use system::diagnostic::Diagnostic;

/// The columns that the flags name, the outcome last.
fn columns(args: &Release) -> Vec<&str> {
    args.by.iter().chain([&args.column]).map(|name| name.trim()).collect()
}

/// The files with categories.
pub fn lists(args: &Release) -> Vec<PathBuf> {
    let columns = columns(args);
    args.categories_from.iter().map(|text| split_name(text, &columns).1.into()).collect()
}

/// The release that the flags ask for, checked.
pub fn request(args: &Release, wrong: Wrong) -> Result<Request, Diagnostic> {
    let columns = columns(args);
    let list = |text: &str| text.split(',').map(|one| one.trim().to_owned()).collect();
    let mut categories = Vec::new();
    for text in &args.categories {
        let (name, rest) = split_name(text, &columns);
        if let (None, Some((typed, _)), true) = (&name, text.split_once('='), columns.len() > 1) {
            let cause = format!("no column is called `{}`", typed.trim());
            return Err(wrong("categories", &cause).help(suggest(typed.trim(), columns)));
        }
        categories.push((name, list(rest)));
    }
    for text in &args.categories_from {
        let (name, file) = split_name(text, &columns);
        categories.push((name, declared(Path::new(file))?));
    }
    let other = |text: &String| {
        let (name, category) = split_name(text, &columns);
        (name, category.trim().to_owned())
    };
    let asked = Asked {
        by: args.by.clone(),
        column: args.column.trim().to_owned(),
        categories,
        other: args.other.iter().map(other).collect(),
        fixed_groups: args.fixed_groups.as_deref().map(|text| sizes(text, wrong)).transpose()?,
        private_n: args.private_n,
        prior: args.prior.iter().map(|text| prior(text, wrong)).collect::<Result<_, _>>()?,
        epsilon: Some(args.epsilon.clone()),
        mechanism: args.mechanism.clone(),
    };
    asked.check(wrong)
}

/// `NAME=rest`, if the name is that of a column; otherwise all of the text without a name.
fn split_name<'a>(text: &'a str, columns: &[&str]) -> (Option<String>, &'a str) {
    match text.split_once('=') {
        Some((name, rest)) if columns.contains(&name.trim()) => {
            (Some(name.trim().to_owned()), rest)
        }
        _ => (None, text),
    }
}

/// `1,1` or `GROUP=1,1`.
pub fn prior(text: &str, wrong: Wrong) -> Result<GroupPrior, Diagnostic> {
    let (name, rest) = match text.rsplit_once('=') {
        Some((name, rest)) => (Some(name.trim().to_owned()), rest),
        None => (None, text),
    };
    let number = |text: &str| {
        text.trim().parse::<f64>().map_err(|_| {
            wrong("prior", &format!("`{}` is not a number", text.trim()))
                .help("use for example --prior 1,1")
        })
    };
    Ok((name, rest.split(',').map(number).collect::<Result<_, _>>()?))
}

/// `control=50,treated=50`. The name of a group may hold commas.
fn sizes(text: &str, wrong: Wrong) -> Result<Vec<(String, u64)>, Diagnostic> {
    let mut sizes = Vec::new();
    let mut name = String::new();
    for part in text.split(',').filter(|part| !part.trim().is_empty()) {
        let Some((last, size)) = part.rsplit_once('=') else {
            name += part.trim();
            name += ", ";
            continue;
        };
        let size = size.trim().parse().map_err(|_| {
            wrong("fixed-groups", &format!("`{}` is not a number of records", size.trim()))
                .help("use for example --fixed-groups control=50,treated=50")
        })?;
        sizes.push((std::mem::take(&mut name) + last.trim(), size));
    }
    Ok(sizes)
}

/// The most bytes of a list of categories.
const LONGEST_LIST: u64 = 1_000_000;

/// The categories of a file, one on every line.
fn declared(file: &Path) -> Result<Vec<String>, Diagnostic> {
    let text = read_text(file, LONGEST_LIST).map_err(|cause| {
        Diagnostic::new(format!("cannot read the categories {}: {cause}", file.display()))
            .help("a text file with a category on every line")
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let lines = text.split(['\n', '\r']).map(|line| line.trim().to_owned());
    Ok(lines.filter(|line| !line.is_empty()).collect())
}
