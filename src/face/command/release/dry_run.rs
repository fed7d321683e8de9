//! What a release would cost, before it is made.

use schemars::JsonSchema;
use serde::Serialize;

use super::Job;
use super::text::{list, records};
use crate::cli::Print;
use crate::failure::Failure;
use engine::text::legible;
use service::release::{Account, Prospect, Released, count_records, read_ledger};
use system::console::{say, significant};
use system::diagnostic::Diagnostic;

/// What a release would cost.
#[derive(Serialize, JsonSchema)]
pub struct Document {
    /// The number of records; none if it is private.
    n: Option<u64>,
    cells: usize,
    mechanism: String,
    /// The ε that would be spent, a decimal number.
    spent: String,
    /// The part of it that rounding costs.
    price: String,
    /// What would be learned.
    prospect: Option<Prospect>,
    /// The ledger as it would be then.
    ledger: Option<Account>,
}

impl Document {
    fn new(release: &Released, supposed: Option<u64>, ledger: Option<Account>) -> Self {
        Self {
            n: release.n(),
            cells: release.request.table.cells(),
            mechanism: release.mechanism().to_owned(),
            price: release.price().to_string(),
            spent: release.spent().to_string(),
            prospect: Prospect::new(&release.request, &release.drawing, supposed),
            ledger,
        }
    }
}

/// Prints what the release would spend, and what would be learned.
pub(super) fn execute(job: &Job, print: &Print) -> Result<(), Failure> {
    let n = match (job.is_n_private(), job.n) {
        (true, _) => None,
        (false, Some(n)) => Some(n),
        (false, None) => Some(count_records(job.data()?, job.delimiter)?),
    };
    n.map_or(Ok(()), |n| job.check_sizes(n))?;
    let supposed = n.or(job.n);
    let release = job.prepare(n)?;
    let document = Document::new(&release, supposed, account(job, &release)?);
    print.answer(|| &document, || text(&document))
}

fn text(document: &Document) -> String {
    let Document { n, cells, mechanism, spent, prospect, ledger, .. } = document;
    let mut text =
        format!("  {}, {cells} cells, by {mechanism}; nothing is released\n", records(*n));
    text += &prospect.as_ref().map_or(String::new(), learned);
    let mut lines = vec![("total", format!("ε = {spent} would be spent"))];
    lines.extend(ledger.as_ref().map(|account| match account.is_exceeded() {
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
        "\n  If the data are as the prior expects them, the interval for `{}` will be about ± {}; without noise ± \
         {}.{warning}\n",
        legible(category),
        significant(*half_width, 2),
        significant(*without_noise, 2)
    )
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
