//! The files of releases, read again.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::super::release::asked::Asked;
use super::super::release::prepare;
use engine::posterior::model::MOST_RECORDS;
use service::release::document::{RELEASE, ReleaseFile, VERSION};
use service::release::{Released, Request, mechanisms, read_ledger, read_text};
use system::console::say;
use system::diagnostic::Diagnostic;

/// What to do about a document that cannot be one.
const INTACT: &str = "use the file as `dpbi release --out` wrote it";

/// The most bytes of a document.
const LARGEST: u64 = 100_000_000;

/// The releases of these files, which are of the same data as far as they say.
pub fn releases(files: &[PathBuf], ledger: Option<&Path>) -> Result<Vec<Released>, Diagnostic> {
    let mut releases: Vec<Released> = Vec::new();
    for file in files {
        let release = release(file)?;
        if let Some(first) = releases.first() {
            refuse_others(first, &release, file)?;
        }
        releases.push(release);
    }
    let mut ids = BTreeSet::new();
    if let Some(twice) = releases.iter().find(|release| !ids.insert(&release.id)) {
        let cause = format!("the release {} is given twice", twice.id);
        let remedy = "the same release says the same thing: give every one once";
        return Err(Diagnostic::new(cause).help(remedy));
    }
    if let Some(ledger) = ledger {
        refuse_unentered(&releases, ledger)?;
    }
    Ok(releases)
}

/// The release of a file, with its method made ready again.
fn release(path: &Path) -> Result<Released, Diagnostic> {
    let stored = stored(path)?;
    let request = request(&stored, &path.display().to_string())?;
    let drawing = prepare::drawing(&request, stored.n)?;
    let ReleaseFile { id, time, dpbi, released: counts, .. } = stored;
    let release = Released { id, time, dpbi, request, drawing, counts };
    match release.impossible() {
        None => Ok(release),
        Some(cause) => {
            Err(Diagnostic::new(format!("no release has these counts: {cause}")).help(INTACT))
        }
    }
}

/// What a file says.
fn stored(path: &Path) -> Result<ReleaseFile, Diagnostic> {
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
    if document["format"] != RELEASE {
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
    serde_json::from_value(document).map_err(|error| unreadable(format!("it is damaged ({error})")))
}

/// The request of a release. Its values are checked as those of a command line are.
fn request(stored: &ReleaseFile, file: &str) -> Result<Request, Diagnostic> {
    let all = mechanisms();
    if !all.contains(&stored.mechanism.as_str()) {
        let (mechanism, last) = (&stored.mechanism, all.len() - 1);
        let cause = format!("the release {file} was made by `{mechanism}`, which is not read");
        let known = format!("{} and {}", all[..last].join(", "), all[last]);
        return Err(Diagnostic::new(cause)
            .help(format!("releases of {known} are read: their noise is known for any size")));
    }
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
        private_n: stored.n.is_none(),
        prior: vec![(None, stored.prior.clone())],
        epsilon: Some(stored.epsilon.clone()),
        mechanism: Some(stored.mechanism.clone()),
    };
    let mut request = asked.check(&wrong)?;
    if let Some(sizes) = &stored.fixed_groups {
        let sum = sizes.iter().fold(0_u64, |sum, &size| sum.saturating_add(size));
        if sizes.len() != request.table.groups() || Some(sum) != stored.n || sizes.contains(&0) {
            return Err(damaged("fixed_groups", "they do not fit the table"));
        }
    }
    request.fixed = stored.fixed_groups.clone();
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
    Ok(request)
}

/// Refuses a release that cannot be of the same data, or was made with another prior.
fn refuse_others(first: &Released, other: &Released, file: &Path) -> Result<(), Diagnostic> {
    let (ours, theirs) = (&first.request, &other.request);
    let same_columns = ours.table.attributes().len() == theirs.table.attributes().len()
        && (ours.table.attributes().iter().zip(theirs.table.attributes()))
            .all(|(a, b)| a.name == b.name && a.categories == b.categories);
    let difference = match () {
        () if !same_columns => "another table",
        () if first.n().is_some() != other.n().is_some() => "another kind of privacy (--private-n)",
        () if first.n() != other.n() => "another number of records",
        () if ours.fixed != theirs.fixed => "other sizes of the groups",
        () if ours.prior != theirs.prior => "another prior",
        () => return Ok(()),
    };
    Err(Diagnostic::new(format!("{} has {difference} than the first release", file.display()))
        .help("only releases of the same data, with the same table and prior, are joined"))
}

/// Refuses a release that has no entry in the ledger, or another one.
fn refuse_unentered(releases: &[Released], ledger: &Path) -> Result<(), Diagnostic> {
    let lines = read_ledger(ledger, &|line| say(line))?;
    for release in releases {
        let (id, parts) = (&release.id, lines.entries.iter().flat_map(|entry| &entry.parts));
        let Some(part) = parts.into_iter().find(|part| part.id == *id) else {
            let cause = format!("the ledger {} has no entry of release {id}", ledger.display());
            return Err(
                Diagnostic::new(cause).help("name the ledger that was kept when it was made")
            );
        };
        if let Some(difference) = part.difference(release) {
            let cause = format!(
                "the file of release {id} is not what the ledger {} has entered: {difference}",
                ledger.display()
            );
            return Err(Diagnostic::new(cause).help(INTACT));
        }
    }
    Ok(())
}
