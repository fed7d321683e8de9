//! What a release would cost, before it is made.

use schemars::JsonSchema;
use serde::Serialize;

use super::Job;
use super::text::{error_words, list, records};
use crate::cli::Print;
use crate::failure::Failure;
use engine::text::legible;
use service::release::document::Ledger;
use service::release::{
    Account, Contest, Errors, Prospect, Reason, Released, count_records, read_ledger,
};
use system::console::{say, significant};
use system::diagnostic::Diagnostic;

/// What a release would cost.
#[derive(Serialize, JsonSchema)]
pub struct Document {
    /// The number of records; none if it is private.
    n: Option<u64>,
    cells: usize,
    mechanism: String,
    /// Why that mechanism was taken.
    reason: String,
    /// The mechanisms among which it was chosen.
    compared: Option<Contest>,
    /// The ε that would be spent, a decimal number.
    spent: String,
    /// The part of it that rounding costs.
    price: String,
    /// The largest of the errors of its histograms under the prior predictive distribution.
    expected_error: Option<f64>,
    /// What would be learned.
    prospect: Option<Prospect>,
    /// The ledger as it would be then.
    ledger: Option<Ledger>,
    #[serde(skip)]
    errors: Vec<Errors>,
}

impl Document {
    fn new(
        release: &Released,
        reason: Reason,
        supposed: Option<u64>,
        account: Option<&Account>,
    ) -> Self {
        let errors = release.methods().iter().map(|method| Errors::new(method, None));
        let errors: Vec<Errors> = errors.collect();
        let known: Option<Vec<f64>> = errors.iter().map(Errors::expected).collect();
        Self {
            n: release.n(),
            cells: release.request.table.cells(),
            mechanism: release.mechanism().to_owned(),
            reason: reason.to_string(),
            compared: match reason {
                Reason::Least(contest) => Some(contest),
                Reason::Named | Reason::Customary | Reason::PrivateN => None,
            },
            price: release.price().to_string(),
            spent: release.spent().to_string(),
            expected_error: known.and_then(|known| known.into_iter().reduce(f64::max)),
            prospect: Prospect::new(&release.request, &release.drawing, supposed),
            ledger: account.map(Ledger::from),
            errors,
        }
    }
}

/// Prints what the release would spend, and its expected error.
pub(super) fn execute(job: &Job, threads: usize, print: &Print) -> Result<(), Failure> {
    let n = match (job.is_n_private(), job.n) {
        (true, _) => None,
        (false, Some(n)) => Some(n),
        (false, None) => Some(count_records(job.data()?, job.delimiter)?),
    };
    n.map_or(Ok(()), |n| job.check_sizes(n))?;
    let supposed = n.or(job.n);
    let (release, reason) = job.prepare(n, threads)?;
    let account = account(job, &release)?;
    let document = Document::new(&release, reason, supposed, account.as_ref());
    print.answer(|| &document, || text(&document, account.as_ref()))
}

fn text(document: &Document, account: Option<&Account>) -> String {
    let Document { n, cells, mechanism, reason, spent, errors, .. } = document;
    let mut text =
        format!("  {}, {cells} cells; nothing is released\n\n  {mechanism}: {reason}", records(*n));
    text += &match &errors[..] {
        [errors] => format!("; the error is {}.\n", error_words(errors).join(", ")),
        _ => ".\n".to_owned(),
    };
    text += &document.prospect.as_ref().map_or(String::new(), learned);
    let compared = document.compared.iter().flat_map(contestants);
    for (title, names) in compared.filter(|(_, names)| !names.is_empty()) {
        text += &format!("    {title}: {}\n", names.join(", "));
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
fn account(job: &Job, release: &Released) -> Result<Option<Account>, Diagnostic> {
    let Some(path) = &job.ledger else { return Ok(None) };
    let entry = job.entry(release, String::new());
    if !path.exists() {
        return Ok(Some(Account::new([&entry], job.budget)));
    }
    let lines = read_ledger(path, &|line| say(line))?;
    lines.refuse_mixture(&entry)?;
    let budget = job.budget.or_else(|| lines.budget());
    Ok(Some(Account::new(lines.entries.iter().chain([&entry]), budget)))
}
