//! A release in words, for people.

use engine::text::legible;
use service::release::{Account, Errors, Estimated, Question, Released, TablePosterior};
use system::console::{Grid, short};

use super::super::posterior::text::shares;

/// A release and the shares that it tells.
pub fn release(
    release: &Released,
    posterior: &Result<TablePosterior, String>,
    ledger: &str,
) -> String {
    let mut text = format!(
        "  `{}`, {}, released by {}\n\n",
        legible(&release.request.table.title()),
        records(release.n()),
        release.mechanism(),
    );
    let question = Question::default();
    text += &match posterior {
        Ok(posterior) => {
            shares(&posterior.shares(question.level), &question.percent()).render()
                + "\n  Means and intervals account for the noise.\n"
        }
        Err(cause) => {
            format!("  {:?}\n\n  The posterior is not computed: {cause}.\n", release.counts)
        }
    };
    let lines = vec![("privacy", release.guarantee()), ("ledger", ledger.to_owned())];
    text + "\n" + &list(lines)
}

/// The state of the ledger in words.
pub fn ledger(account: Option<&Account>) -> String {
    match account {
        Some(account) => account.words(),
        None => "none: nobody counts what is spent (--ledger FILE does)".to_owned(),
    }
}

/// What is true of every release.
pub fn footer(private_n: bool) -> String {
    match private_n {
        false => {
            "\n  The true counts are not shown, here or anywhere; the number of records is public.\n"
        }
        true => {
            "\n  Neither the true counts nor their sum are shown, here or anywhere. Do not publish the number of \
             records elsewhere: it would not be private any more.\n"
        }
    }
    .to_owned()
}

/// Names and words, side by side.
pub fn list(lines: Vec<(&str, String)>) -> String {
    let mut grid = Grid::new(usize::MAX);
    lines.into_iter().for_each(|(name, words)| grid.row([name.to_owned(), words]));
    grid.render()
}

/// "100 records".
pub fn records(n: Option<u64>) -> String {
    match n {
        None => "a private number of records".to_owned(),
        Some(1) => "1 record".to_owned(),
        Some(n) => format!("{n} records"),
    }
}

/// The errors that are known, in words.
pub fn error_words(errors: &Errors) -> Vec<String> {
    let over = "averaged over the prior predictive distribution";
    let estimated = errors.estimated.map(|Estimated { mean, standard_error }| {
        let (mean, error) = (short(mean), short(standard_error));
        format!("{mean} (estimated, standard error {error}) {over}")
    });
    let exact = errors.predictive.map(|error| format!("{} {over}", short(error)));
    let as_released =
        errors.as_released.map(|error| format!("{} if the data are as released", short(error)));
    let words: Vec<String> = [exact, estimated, as_released].into_iter().flatten().collect();
    if words.is_empty() { vec!["not computed: it takes long".to_owned()] } else { words }
}
