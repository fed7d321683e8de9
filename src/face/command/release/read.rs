//! The file of a release, read again.

use std::path::Path;

use serde_json::Value;

use super::asked::{Asked, check_weights};
use super::prepare;
use engine::posterior::model::{Counts, MOST_RECORDS};
use service::release::document::{FORMAT, Stored, VERSION};
use service::release::{Released, Request, read_text};
use system::diagnostic::Diagnostic;

/// What to do about a document that cannot be one.
const INTACT: &str = "use the file as `dpbi release --out` wrote it";

/// The most bytes of a document.
const LARGEST: u64 = 100_000_000;

/// A release that was read, before it is made ready again.
pub struct Loaded {
    pub request: Request,
    n: Option<u64>,
    id: String,
    time: String,
    dpbi: Option<String>,
    reason: String,
    counts: Counts,
}

impl Loaded {
    /// The release, with its method made ready again.
    pub fn prepare(self, threads: usize) -> Result<Released, Diagnostic> {
        let Self { request, n, id, time, dpbi, reason, counts } = self;
        let (drawing, _) = prepare::drawing(&request, n, threads)?;
        let release = Released { id, time, dpbi, request, drawing, reason, counts };
        match release.impossible() {
            None => Ok(release),
            Some(cause) => {
                Err(Diagnostic::new(format!("no release has these counts: {cause}")).help(INTACT))
            }
        }
    }
}

/// The release of a file.
pub fn read(path: &Path) -> Result<Loaded, Diagnostic> {
    let file = path.display().to_string();
    let unreadable = |cause: String| {
        Diagnostic::new(format!("cannot read the release {file}: {cause}"))
            .help("give a file that `dpbi release --out` wrote")
    };
    let text = read_text(path, LARGEST).map_err(unreadable)?;
    if text.is_empty() {
        return Err(Diagnostic::new(format!("the file {file} is empty: no release is in it")).help(
            "the process that was to write it has ended or is at work; if its ledger has an entry, the \
             entry has the released counts",
        ));
    }
    let document: Value = serde_json::from_str(&text)
        .map_err(|error| unreadable(format!("it is not JSON ({error})")))?;
    if document["format"] != FORMAT {
        return Err(unreadable("it does not hold a release".to_owned()));
    }
    match document["version"].as_u64() {
        Some(VERSION) => {}
        Some(other) => {
            let cause = format!("it has version {other}, and this dpbi reads version {VERSION}");
            return Err(unreadable(cause).help("use the dpbi that wrote it, or a newer one"));
        }
        None => return Err(unreadable("it does not say its version".to_owned())),
    }
    let stored: Stored = serde_json::from_value(document)
        .map_err(|error| unreadable(format!("it is damaged ({error})")))?;
    check(stored, &file)
}

/// Checks the values of a document as those of a command line are checked.
fn check(stored: Stored, file: &str) -> Result<Loaded, Diagnostic> {
    let wrong = |key: &str, cause: &str| {
        let key = if key == "column" || key == "by" { "columns" } else { key };
        Diagnostic::new(format!("the release {file} is damaged: `{key}`: {cause}"))
    };
    let damaged = |key: &str, cause: &str| wrong(key, cause).help(INTACT);
    let Some((outcome, by)) = stored.columns.split_last() else {
        return Err(damaged("columns", "there is none"));
    };
    let lists = stored.columns.iter().map(|one| (Some(one.name.clone()), one.categories.clone()));
    let asked = Asked {
        by: by.iter().map(|column| column.name.clone()).collect(),
        column: outcome.name.clone(),
        categories: lists.collect(),
        other: Vec::new(),
        fixed_groups: None,
        n_prior: stored.n_prior,
        prior: vec![(None, stored.prior)],
        epsilon: Some(stored.epsilon),
        mechanism: Some(stored.mechanism),
        level: stored.level,
        compare: stored.compare,
        within: stored.within,
        weights: stored.weights,
    };
    let mut request = asked.check(&wrong)?;
    if let Some(sizes) = &stored.fixed_groups {
        let sum = sizes.iter().fold(0_u64, |sum, &size| sum.saturating_add(size));
        if sizes.len() != request.table.groups() || Some(sum) != stored.n || sizes.contains(&0) {
            return Err(damaged("fixed_groups", "they do not fit the table"));
        }
    }
    request.fixed = stored.fixed_groups;
    check_weights(&request, &wrong)?;
    if stored.n.is_none() != request.private_n.is_some() {
        return Err(damaged("n", "it is said to be private, and public"));
    }
    if stored.n.is_some_and(|n| n == 0 || n > MOST_RECORDS) {
        return Err(damaged("n", "there cannot be so many records"));
    }
    if stored.released.len() != request.table.cells() {
        return Err(damaged("released", "these counts do not fit the table"));
    }
    let total = stored.released.iter().try_fold(0_u64, |sum, &count| sum.checked_add(count));
    if total.is_none() {
        return Err(damaged("released", "no data have so many records"));
    }
    if stored.id.len() != 16 || !stored.id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(damaged("id", "this is not the id of a release"));
    }
    Ok(Loaded {
        request,
        n: stored.n,
        id: stored.id,
        time: stored.time,
        dpbi: stored.dpbi,
        reason: stored.reason,
        counts: stored.released,
    })
}
