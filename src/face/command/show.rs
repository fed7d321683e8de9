//! `dpbi show` and `dpbi combine`: what earlier releases tell.

use std::collections::BTreeSet;
use std::path::Path;

use super::release::asked::{check_level, compared};
use super::release::document::{self, Loaded};
use super::release::{announce_comparisons, figure, text};
use super::{print, print_json, threads, typed};
use crate::base::console::say;
use crate::base::diagnostic::{Diagnostic, suggest};
use crate::face::cli::{Combine, Show, View};
use crate::face::failure::Failure;
use crate::service::release::{Findings, Posteriors, Released, read_ledger};

/// Prints a release again.
pub fn execute(args: &Show) -> Result<(), Failure> {
    let threads = threads(&args.view.threads)?;
    let loaded = load(&args.file, &args.view)?;
    let mut releases = Vec::new();
    for one in loaded {
        let release = one.prepare(threads)?;
        let _clock = announce_comparisons([(&release.request, release.n)].into_iter(), threads);
        let findings = Posteriors::new(&[&release]).findings();
        releases.push((release, findings));
    }
    let shown: Vec<(&Released, &Findings)> = releases.iter().map(|(a, b)| (a, b)).collect();
    for (release, path) in figure::paths(args.view.figure.as_deref(), &shown) {
        figure::write(&path, &[release])?;
    }
    if args.view.print.json {
        return print_json(&document::document(&shown, None));
    }
    let texts: Vec<String> = shown.iter().map(|(a, b)| text::release(a, b, None)).collect();
    print(&(texts.join("\n") + text::FOOTER))
}

/// Joins releases of the same data.
pub fn combine(args: &Combine) -> Result<(), Failure> {
    let threads = threads(&args.view.threads)?;
    let mut releases: Vec<Released> = Vec::new();
    for file in &args.files {
        let mut loaded = load(file, &args.view)?;
        let one = match (loaded.pop(), loaded.is_empty()) {
            (Some(one), true) => one,
            _ => {
                let cause = format!("{} holds several releases", file.display());
                return Err(Diagnostic::new(cause).help("--release NAME picks one").into());
            }
        };
        let release = one.prepare(threads)?;
        if let Some(first) = releases.first() {
            refuse_others(first, &release, file)?;
        }
        releases.push(release);
    }
    let mut ids = BTreeSet::new();
    if let Some(twice) = releases.iter().find(|release| !ids.insert(&release.id)) {
        let cause = format!("the release {} is given twice", twice.id);
        let remedy = "the same release says the same thing: give every one once";
        return Err(Diagnostic::new(cause).help(remedy).into());
    }
    if let Some(ledger) = &args.ledger {
        refuse_unentered(&releases, ledger)?;
    }
    let releases: Vec<&Released> = releases.iter().collect();
    let asked = releases.iter().take(1).map(|release| (&release.request, release.n));
    let _clock = announce_comparisons(asked, threads);
    let findings = Posteriors::new(&releases).findings();
    if let (Some(reason), true) = (&findings.unaware, releases.len() > 1) {
        let cause = format!("these releases cannot be combined: {reason}");
        let remedy = "release with tight, lattice or geometric: their noise is known for any size";
        return Err(Diagnostic::new(cause).help(remedy).into());
    }
    if let Some(path) = &args.view.figure {
        figure::write(path, &releases)?;
    }
    if args.view.print.json {
        return print_json(&document::combination(&releases, &findings));
    }
    print(&text::combination(&releases, &findings))
}

/// Refuses a release that has no entry in the ledger.
fn refuse_unentered(releases: &[Released], ledger: &Path) -> Result<(), Diagnostic> {
    let lines = read_ledger(ledger, &|line| say(line))?;
    let entered: Vec<&str> =
        lines.entries.iter().flat_map(|entry| &entry.parts).map(|part| part.id.as_str()).collect();
    match releases.iter().find(|release| !entered.contains(&release.id.as_str())) {
        None => Ok(()),
        Some(missing) => {
            let cause =
                format!("the ledger {} has no entry of release {}", ledger.display(), missing.id);
            Err(Diagnostic::new(cause).help("name the ledger that was kept when it was made"))
        }
    }
}

/// The releases of a file that are to be shown, as they are to be shown.
fn load(file: &Path, view: &View) -> Result<Vec<Loaded>, Diagnostic> {
    let wrong = typed::flag;
    let mut loaded = document::read(file)?;
    if let Some(name) = &view.release {
        let names: Vec<String> = loaded.iter().map(|one| one.request.title()).collect();
        loaded.retain(|one| one.request.title() == *name);
        if loaded.is_empty() {
            return Err(wrong("release", &format!("there is no release `{name}`"))
                .help(suggest(name, names.iter().map(String::as_str))));
        }
    }
    for one in &mut loaded {
        if let Some(level) = view.level {
            one.request.level = check_level(level, &wrong)?;
        }
        if !view.compare.is_empty() {
            one.request.compared = compared(&view.compare, &one.request.table, &wrong)?;
        }
    }
    Ok(loaded)
}

/// Refuses a release that cannot be of the same data, or was made with another prior.
fn refuse_others(first: &Released, other: &Released, file: &Path) -> Result<(), Diagnostic> {
    let (ours, theirs) = (&first.request, &other.request);
    let same_columns = ours.table.attributes().len() == theirs.table.attributes().len()
        && (ours.table.attributes().iter().zip(theirs.table.attributes()))
            .all(|(a, b)| a.name == b.name && a.categories == b.categories);
    let difference = match () {
        () if !same_columns => "another table",
        () if first.n != other.n => "another number of records",
        () if ours.fixed != theirs.fixed => "other sizes of the groups",
        () if ours.prior != theirs.prior => "another prior",
        () => return Ok(()),
    };
    Err(Diagnostic::new(format!("{} has {difference} than the first release", file.display()))
        .help("only releases of the same data, with the same table and prior, are combined"))
}
