//! `dpbi show` and `dpbi combine`: what earlier releases tell.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::release::asked::{check_level, check_weights, compared, equal_weights, within};
use super::release::figure::{self, FigureFiles};
use super::release::read::{self, Loaded};
use super::release::text;
use super::{paths::Paths, print, threads, typed};
use crate::cli::{Combine, Show, View};
use crate::failure::Failure;
use service::release::document::{Combination, Document};
use service::release::{Posteriors, Released, read_ledger};
use system::console::say;
use system::diagnostic::Diagnostic;

/// Prints a release again.
pub fn execute(args: &Show) -> Result<(), Failure> {
    let threads = threads(&args.view.threads)?;
    let loaded = load(&args.file, &args.view)?;
    let figure = FigureFiles::new(&args.view.figure)?;
    check_paths(&args.view, [args.file.as_path()], figure.as_ref())?;
    let release = &loaded.prepare(threads)?;
    refuse_unentered(std::slice::from_ref(release), args.view.ledger.as_deref())?;
    let findings = Posteriors::new(&[release]).findings();
    if let Some(files) = &figure {
        files.write(&figure::figure(&[release], args.naive))?;
    }
    let shown = || text::shown_findings(&findings, args.naive);
    if args.view.tables.print(|| text::table(&release.request, &shown()))? {
        return Ok(());
    }
    if args.text {
        return print(&(text::paragraph(release, &findings) + "\n"));
    }
    let text = || {
        text::release(release, &shown(), None)
            + &text::whose_word(args.view.ledger.as_deref())
            + &text::footer(release.n().is_none())
    };
    args.view.print.answer(|| Document::new(release, Some(&findings), None), text)
}

/// Joins releases of the same data.
pub fn combine(args: &Combine) -> Result<(), Failure> {
    let threads = threads(&args.view.threads)?;
    let figure = FigureFiles::new(&args.view.figure)?;
    let files = args.files.iter().map(PathBuf::as_path);
    check_paths(&args.view, files, figure.as_ref())?;
    let mut releases: Vec<Released> = Vec::new();
    for file in &args.files {
        let release = load(file, &args.view)?.prepare(threads)?;
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
    let ledger = args.view.ledger.as_deref();
    refuse_unentered(&releases, ledger)?;
    let releases: Vec<&Released> = releases.iter().collect();
    let findings = Posteriors::new(&releases).findings();
    if let (Some(reason), true) = (&findings.unaware, releases.len() > 1) {
        let cause = format!("these releases cannot be combined: {reason}");
        let remedy = "release with tight, lattice or geometric: their noise is known for any size";
        return Err(Diagnostic::new(cause).help(remedy).into());
    }
    if let Some(files) = &figure {
        files.write(&figure::figure(&releases, false))?;
    }
    if args.view.tables.print(|| text::table(&releases[0].request, &findings))? {
        return Ok(());
    }
    args.view.print.answer(
        || Combination::new(&releases, &findings, ledger.is_some()),
        || text::combination(&releases, &findings) + &text::whose_word(ledger),
    )
}

/// Refuses figures in place of what is read.
fn check_paths<'a>(
    view: &'a View,
    files: impl IntoIterator<Item = &'a Path>,
    figure: Option<&FigureFiles>,
) -> Result<(), Diagnostic> {
    Paths::default()
        .read("a release that is read", files)
        .read("the ledger", view.ledger.as_deref())
        .written("figure", "where a figure goes", figure.into_iter().flat_map(FigureFiles::paths))
        .check()
}

/// Refuses a release that has no entry in the ledger, or another one.
fn refuse_unentered(releases: &[Released], ledger: Option<&Path>) -> Result<(), Diagnostic> {
    let Some(ledger) = ledger else { return Ok(()) };
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
            return Err(
                Diagnostic::new(cause).help("use the file as `dpbi release --out` wrote it")
            );
        }
    }
    Ok(())
}

/// The release of a file, as it is to be shown.
fn load(file: &Path, view: &View) -> Result<Loaded, Diagnostic> {
    let wrong = typed::flag;
    let mut loaded = read::read(file)?;
    let request = &mut loaded.request;
    if let Some(level) = view.level {
        request.level = check_level(level, &wrong)?;
    }
    if !view.compare.is_empty() {
        request.compared = compared(&view.compare, &request.table, &wrong)?;
    }
    if !view.within.is_empty() {
        request.within = within(&view.within, &request.table, &wrong)?;
    }
    if let Some(weights) = &view.weights {
        request.equal_weights = equal_weights(Some(weights), &wrong)?;
    }
    check_weights(request, &wrong)?;
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
        () if ours.private_n.is_some() != theirs.private_n.is_some() => {
            "another kind of privacy (--private-n)"
        }
        () if ours.private_n != theirs.private_n => "another --n-prior",
        () if first.n() != other.n() => "another number of records",
        () if ours.fixed != theirs.fixed => "other sizes of the groups",
        () if ours.prior != theirs.prior => "another prior",
        () => return Ok(()),
    };
    Err(Diagnostic::new(format!("{} has {difference} than the first release", file.display()))
        .help("only releases of the same data, with the same table and prior, are combined"))
}
