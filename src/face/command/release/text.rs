//! A release in words, for people.

use std::path::Path;

use engine::text::legible;
use service::release::{Account, Question, Released, TablePosterior};
use system::console::Grid;

use super::super::posterior::text::{how_computed, shares};

/// What was drawn, and what it has cost.
pub fn drawn(release: &Released, account: Option<&Account>) -> String {
    let table = &release.request.table;
    let mut counts = Grid::new(1);
    counts.row(["", "released"]);
    for (cell, count) in release.counts.iter().enumerate() {
        counts.row([legible(&table.cell_name(cell)), count.to_string()]);
    }
    let ledger = match account {
        Some(account) => account.words(),
        None => "none: nobody counts what is spent (--ledger FILE does)".to_owned(),
    };
    format!(
        "  `{}`, {}, released by {}\n\n{}\n{}",
        legible(&table.title()),
        records(release.n()),
        release.mechanism(),
        counts.render(),
        list(vec![("privacy", release.guarantee()), ("ledger", ledger)]),
    )
}

/// What the drawn counts tell of the shares, and how to ask for more.
pub fn told(release: &Released, out: Option<&Path>) -> String {
    let question = Question::default();
    let shares = match TablePosterior::new(std::slice::from_ref(release)) {
        Ok(posterior) => {
            let rows = posterior.shares(question.level);
            let grid = shares(&rows, &question.percent(), posterior.drawn());
            format!("{}\n  {}", grid.render(), how_computed(posterior.drawn()))
        }
        Err(cause) => format!("  The shares are not computed: {cause}."),
    };
    let never = match release.n() {
        Some(_) => {
            "The true counts are not shown, here or anywhere; the number of records is public."
        }
        None => {
            "Neither the true counts nor their sum are shown, here or anywhere. Do not publish the number of records \
             elsewhere: it would not be private any more."
        }
    };
    let last = match out {
        Some(file) => format!("More: dpbi posterior {}{}", word(file), comparison(release)),
        None => "Nothing of this was kept in a file (--out FILE.json does that).".to_owned(),
    };
    format!("\n{shares} {never}\n\n  {last}\n")
}

/// The flag that compares the groups, if there are some.
fn comparison(release: &Released) -> String {
    let table = &release.request.table;
    match (table.groups(), table.outcome().categories.last()) {
        (2.., Some(category)) => format!(" --compare {}", word(Path::new(category))),
        _ => String::new(),
    }
}

/// A word for a shell.
fn word(path: &Path) -> String {
    let text = legible(&path.display().to_string());
    let is_plain = |c: char| c.is_alphanumeric() || "-_./".contains(c);
    match text.chars().all(is_plain) && !text.starts_with('-') {
        true => text,
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
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
