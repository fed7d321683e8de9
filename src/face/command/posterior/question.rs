//! What is asked of released counts, as it was typed, and how it is checked.

use super::super::typed::flag;
use crate::cli;
use engine::refusal::suggest;
use service::release::{Question, Request, Table};
use system::diagnostic::Diagnostic;

/// The question, if it can be asked of this table.
pub fn check(asked: &cli::Question, request: &Request) -> Result<Question, Diagnostic> {
    let cli::Question { level, compare, within, weights, joint } = asked;
    let question = Question {
        level: check_level(*level)?,
        compared: compared(compare, &request.table)?,
        within: columns(within, &request.table)?,
        equal_weights: weights == "equal",
        joint: *joint,
    };
    check_weights(&question, request)?;
    Ok(question)
}

fn check_level(level: f64) -> Result<f64, Diagnostic> {
    if level > 0.0 && level < 1.0 {
        return Ok(level);
    }
    let cause = format!("{level} is no probability of an interval");
    Err(flag("level", &cause).help("use for example 0.95"))
}

/// The categories of the outcome that are compared between groups.
fn compared(names: &[String], table: &Table) -> Result<Vec<usize>, Diagnostic> {
    if !names.is_empty() && table.groups() == 1 {
        return Err(flag("compare", "there is only one group")
            .help("shares are compared between the groups of a table with --by"));
    }
    let outcome = table.outcome();
    let mut places = Vec::new();
    for name in names.iter().map(|name| name.trim()) {
        let category = match name.split_once('=') {
            Some((column, category)) if column.trim() == outcome.name => category.trim(),
            _ => name,
        };
        let found = outcome.categories.iter().position(|known| known == category);
        let found = found.ok_or_else(|| {
            flag("compare", &format!("`{category}` is none of the categories"))
                .help(suggest(category, outcome.categories.iter().map(String::as_str)))
        })?;
        if !places.contains(&found) {
            places.push(found);
        }
    }
    Ok(places)
}

/// The columns within whose categories groups are compared: any but the first and the outcome.
fn columns(names: &[String], table: &Table) -> Result<Vec<usize>, Diagnostic> {
    let mut columns = Vec::new();
    for name in names.iter().map(|name| name.trim()) {
        let others = table.by().iter().skip(1).map(|column| column.name.as_str());
        match others.clone().position(|column| column == name) {
            Some(place) if !columns.contains(&(place + 1)) => columns.push(place + 1),
            Some(_) => {}
            None => {
                let cause =
                    format!("`{name}` is not a column that divides the groups of the first one");
                let help = match others.clone().next() {
                    Some(_) => suggest(name, others),
                    None => "this needs a table with two columns of groups".to_owned(),
                };
                return Err(flag("within", &cause).help(help));
            }
        }
    }
    columns.sort_unstable();
    Ok(columns)
}

/// Refuses equal weights if there is nothing to weigh.
fn check_weights(question: &Question, request: &Request) -> Result<(), Diagnostic> {
    let complain = |cause: &str, help: &str| Err(flag("weights", cause).help(help));
    match () {
        () if !question.equal_weights => Ok(()),
        () if request.fixed.is_some() => {
            complain("groups of fixed sizes are compared as they are", "leave --weights out")
        }
        () if !question.averaged(request).is_empty() => Ok(()),
        () if request.table.by().len() < 2 => complain(
            "there is no column over which shares could be averaged",
            "this needs two columns of groups: first those that are compared, then those that count equally",
        ),
        () => complain(
            "groups are compared within all other columns: there is nothing to average over",
            "leave --weights out, or one --within",
        ),
    }
}
