//! What releases would cost, before they are made.

use schemars::JsonSchema;
use serde::Serialize;

use super::Job;
use super::allocate::Share;
use super::text::{error_words, list, records};
use crate::cli::Print;
use crate::failure::Failure;
use engine::text::legible;
use service::release::document::Ledger;
use service::release::{
    Account, Amount, Contest, Errors, Prospect, Reason, Released, count_records, read_ledger,
};
use system::console::{Grid, say, short, significant};
use system::diagnostic::Diagnostic;

/// What releases would cost.
#[derive(Serialize, JsonSchema)]
pub struct Document {
    /// The number of records; none if it is private.
    n: Option<u64>,
    releases: Vec<Planned>,
    /// The ε that would be spent, a decimal number.
    spent: String,
    /// The ledger as it would be then.
    ledger: Option<Ledger>,
}

/// One release that would be made.
#[derive(Serialize, JsonSchema)]
pub struct Planned {
    name: String,
    cells: usize,
    mechanism: String,
    /// Why that mechanism was taken.
    reason: String,
    /// The mechanisms among which it was chosen.
    compared: Option<Contest>,
    /// ε, a decimal number.
    epsilon: String,
    /// What the ε was found for, if the plan does not give it.
    #[serde(skip_serializing_if = "Option::is_none")]
    found_for: Option<String>,
    /// The part of it that rounding costs.
    price: String,
    spent: String,
    /// The largest of the errors of its histograms under the prior predictive distribution.
    expected_error: Option<f64>,
    /// What would be learned.
    prospect: Option<Prospect>,
    #[serde(skip)]
    errors: Vec<Errors>,
}

impl Planned {
    fn new((release, reason): (&Released, Reason), share: Share, supposed: Option<u64>) -> Self {
        let errors = release.methods().iter().map(|method| Errors::new(method, None));
        let errors: Vec<Errors> = errors.collect();
        let known: Option<Vec<f64>> = errors.iter().map(Errors::expected).collect();
        Self {
            name: release.request.title(),
            cells: release.request.table.cells(),
            mechanism: release.mechanism().to_owned(),
            reason: release.reason.clone(),
            compared: match reason {
                Reason::Least(contest) => Some(contest),
                Reason::Named | Reason::Target | Reason::Customary | Reason::PrivateN => None,
            },
            epsilon: release.request.epsilon.to_string(),
            found_for: share.words(),
            price: release.price().to_string(),
            spent: release.spent().to_string(),
            expected_error: known.and_then(|known| known.into_iter().reduce(f64::max)),
            prospect: Prospect::new(&release.request, &release.drawing, supposed),
            errors,
        }
    }
}

/// Prints what the releases would spend, and their expected errors.
pub(super) fn execute(job: &mut Job, threads: usize, print: &Print) -> Result<(), Failure> {
    let n = match (job.is_n_private(), job.n) {
        (true, _) => None,
        (false, Some(n)) => Some(n),
        (false, None) => Some(count_records(job.data()?, job.delimiter)?),
    };
    n.map_or(Ok(()), |n| job.check_sizes(n))?;
    let supposed = n.or(job.n);
    job.allocate(supposed, threads)?;
    let (releases, reasons) = job.prepare(n, threads)?;
    let account = account(job, &releases)?;
    let document = Document {
        n,
        releases: releases
            .iter()
            .zip(reasons)
            .zip(&job.shares)
            .map(|(one, share)| Planned::new(one, *share, supposed))
            .collect(),
        spent: releases.iter().map(Released::spent).sum::<Amount>().to_string(),
        ledger: account.as_ref().map(Ledger::from),
    };
    print.answer(|| &document, || text(&document, account.as_ref()))
}

fn text(document: &Document, account: Option<&Account>) -> String {
    let Document { n, releases: planned, spent, .. } = document;
    let mut grid = Grid::new(1);
    grid.row(["", "cells", "ε", "mechanism", "expected error"]);
    for one in planned {
        grid.row([
            legible(&one.name),
            one.cells.to_string(),
            one.spent.clone(),
            one.mechanism.clone(),
            match (n, one.expected_error) {
                (None, _) => "not known".to_owned(),
                (Some(_), error) => error.map_or("takes long".to_owned(), short),
            },
        ]);
    }
    let mut text = format!("  {}; nothing is released\n\n{}\n", records(*n), grid.render());
    for Planned { name, found_for, epsilon, reason, compared, prospect, errors, .. } in planned {
        let found = found_for.as_ref().map(|words| format!("ε = {epsilon} for {words}; "));
        text += &format!("  {}: {}{reason}", legible(name), found.unwrap_or_default());
        text += &match &errors[..] {
            [errors] => format!("; the error is {}.\n", error_words(errors).join(", ")),
            _ => ".\n".to_owned(),
        };
        text += &prospect.as_ref().map_or(String::new(), learned);
        let compared = compared.iter().flat_map(contestants);
        for (title, names) in compared.filter(|(_, names)| !names.is_empty()) {
            text += &format!("    {title}: {}\n", names.join(", "));
        }
    }
    let mut lines = vec![("total", format!("ε = {spent} would be spent"))];
    lines.extend(account.map(|account| match account.is_exceeded() {
        true => ("ledger", format!("the budget does not suffice: {}", account.words())),
        false => ("ledger", format!("then: {}", account.words())),
    }));
    text + "\n" + &list(lines)
}

/// What would be learned, in words.
fn learned(prospect: &Prospect) -> String {
    let Prospect { category, half_width, without_noise } = prospect;
    let warning = match prospect.is_drowned() {
        true => {
            " The noise is wider than the sampling error: a larger ε or fewer cells would tell more."
        }
        false => "",
    };
    format!(
        "    If the data are as the prior expects them, the interval for `{}` will be about ± {}; without noise ± \
         {}.{warning}\n",
        legible(category),
        significant(*half_width, 2),
        significant(*without_noise, 2)
    )
}

/// The mechanisms of a choice, by what is known of their errors.
fn contestants(Contest { exact, estimated, left_out }: &Contest) -> [(&str, &[String]); 3] {
    [
        ("exact errors", exact),
        ("errors estimated from draws", estimated),
        ("not compared, because they take long", left_out),
    ]
}

/// The ledger as it would be afterwards, if there is one. It is not changed.
fn account(job: &Job, releases: &[Released]) -> Result<Option<Account>, Diagnostic> {
    let Some(path) = &job.ledger else { return Ok(None) };
    let entry = job.entry(releases, String::new());
    if !path.exists() {
        return Ok(Some(Account::new([&entry], job.budget)));
    }
    let lines = read_ledger(path, &|line| say(line))?;
    lines.refuse_mixture(&entry)?;
    let budget = job.budget.or_else(|| lines.budget());
    Ok(Some(Account::new(lines.entries.iter().chain([&entry]), budget)))
}
