//! What releases would cost, before they are made.

use serde_json::{Value, json};

use super::Job;
use super::text::{error_words, list, records};
use crate::cli::Print;
use crate::failure::Failure;
use engine::text::legible;
use service::release::{
    Account, Amount, Contest, Errors, Reason, Released, count_records, read_ledger,
};
use system::console::{Grid, say, short};
use system::diagnostic::Diagnostic;

/// One release that would be made.
struct Planned {
    /// Without counts.
    release: Released,
    /// Why its mechanism was taken.
    reason: Reason,
    errors: Vec<Errors>,
}

impl Planned {
    /// The largest of the errors of its histograms under the prior predictive distribution.
    fn error(&self) -> Option<f64> {
        let known = self.errors.iter().map(Errors::expected);
        known.collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::max)
    }
}

/// Prints what the releases would spend, and their expected errors.
pub fn execute(job: &Job, threads: usize, print: &Print) -> Result<(), Failure> {
    let n = match job.n {
        Some(n) => n,
        None => count_records(job.data()?, job.delimiter)?,
    };
    job.check_sizes(n)?;
    let (releases, reasons) = job.prepare(n, threads)?;
    let account = account(job, &releases)?;
    let planned = |(release, reason): (Released, Reason)| Planned {
        errors: release.methods.iter().map(|method| Errors::new(method, None)).collect(),
        release,
        reason,
    };
    let planned: Vec<Planned> = releases.into_iter().zip(reasons).map(planned).collect();
    let total: Amount = planned.iter().map(|one| one.release.spent()).sum();
    print.answer(
        || document(&planned, n, total, account.as_ref()),
        || text(&planned, n, total, account.as_ref()),
    )
}

fn text(planned: &[Planned], n: u64, total: Amount, account: Option<&Account>) -> String {
    let mut grid = Grid::new(1);
    grid.row(["", "cells", "ε", "mechanism", "expected error"]);
    for one in planned {
        let release = &one.release;
        grid.row([
            legible(&release.request.title()),
            release.request.table.cells().to_string(),
            release.spent().to_string(),
            release.mechanism().to_owned(),
            one.error().map_or("takes long".to_owned(), short),
        ]);
    }
    let mut text = format!("  {}; nothing is released\n\n{}\n", records(n), grid.render());
    for Planned { release, reason, errors } in planned {
        text += &format!("  {}: {reason}", legible(&release.request.title()));
        text += &match &errors[..] {
            [errors] => format!("; the error is {}.\n", error_words(errors).join(", ")),
            _ => ".\n".to_owned(),
        };
        for (title, names) in contestants(reason).into_iter().filter(|(_, names)| !names.is_empty())
        {
            text += &format!("    {title}: {}\n", names.join(", "));
        }
    }
    let mut lines = vec![("total", format!("ε = {total} would be spent"))];
    lines.extend(account.map(|account| match account.is_exceeded() {
        true => ("ledger", format!("the budget does not suffice: {}", account.words())),
        false => ("ledger", format!("then: {}", account.words())),
    }));
    text + "\n" + &list(lines)
}

/// The mechanisms of a choice, by what is known of their errors.
fn contestants(reason: &Reason) -> Vec<(&'static str, &[String])> {
    match reason {
        Reason::Least(Contest { exact, estimated, left_out }) => vec![
            ("exact errors", exact),
            ("errors estimated from draws", estimated),
            ("not compared, because they take long", left_out),
        ],
        Reason::Named | Reason::Customary => Vec::new(),
    }
}

/// The ledger as it would be afterwards, if there is one. It is not changed.
fn account(job: &Job, releases: &[Released]) -> Result<Option<Account>, Diagnostic> {
    let Some(path) = &job.ledger else { return Ok(None) };
    let entry = job.entry(releases, String::new());
    if !path.exists() {
        return Ok(Some(Account::new([&entry], job.budget)));
    }
    let lines = read_ledger(path, &|line| say(line))?;
    let budget = job.budget.or_else(|| lines.budget());
    Ok(Some(Account::new(lines.entries.iter().chain([&entry]), budget)))
}

fn document(planned: &[Planned], n: u64, total: Amount, account: Option<&Account>) -> Value {
    let one = |one: &Planned| {
        let release = &one.release;
        json!({
            "name": release.request.title(),
            "cells": release.request.table.cells(),
            "mechanism": release.mechanism(),
            "reason": release.reason,
            "compared": match &one.reason {
                Reason::Least(Contest { exact, estimated, left_out }) => {
                    json!({ "exact": exact, "estimated": estimated, "left_out": left_out })
                }
                Reason::Named | Reason::Customary => Value::Null,
            },
            "epsilon": release.request.epsilon.to_string(),
            "price": release.price().to_string(),
            "spent": release.spent().to_string(),
            "expected_error": one.error(),
        })
    };
    json!({
        "n": n,
        "releases": planned.iter().map(one).collect::<Vec<_>>(),
        "spent": total.to_string(),
        "ledger": super::document::ledger(account),
    })
}
