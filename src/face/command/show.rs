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
use engine::refusal::suggest;
use service::release::document::{Combination, Document};
use service::release::{Findings, Posteriors, Released, read_ledger};
use system::console::say;
use system::diagnostic::Diagnostic;

/// Prints a release again.
pub fn execute(args: &Show) -> Result<(), Failure> {
    let threads = threads(&args.view.threads)?;
    let loaded = load(&args.file, &args.view)?;
    let titles: Vec<String> = loaded.iter().map(|one| one.request.title()).collect();
    let figures = FigureFiles::new(&args.view.figure, &titles)?;
    check_paths(&args.view, [args.file.as_path()], &figures)?;
    let releases: Vec<Released> =
        loaded.into_iter().map(|one| one.prepare(threads)).collect::<Result<_, _>>()?;
    refuse_unentered(&releases, args.view.ledger.as_deref())?;
    let mut findings = Vec::new();
    for release in &releases {
        findings.push(Posteriors::new(&[release]).findings());
    }
    for (release, files) in releases.iter().zip(&figures) {
        files.write(&figure::figure(&[release], args.naive))?;
    }
    if let ([release], [findings]) = (&releases[..], &findings[..])
        && args
            .view
            .tables
            .print(|| text::table(&release.request, &text::shown_findings(findings, args.naive)))?
    {
        return Ok(());
    }
    if args.view.tables.table.is_some() {
        return Err(several(&args.file).into());
    }
    if args.text {
        let both = releases.iter().zip(&findings);
        let texts: Vec<String> = both.map(|(a, b)| text::paragraph(a, b) + "\n").collect();
        return print(&texts.join("\n"));
    }
    let text = || {
        let one = |(release, findings): (&Released, &Findings)| {
            text::release(release, &text::shown_findings(findings, args.naive), None)
        };
        let texts: Vec<String> = releases.iter().zip(&findings).map(one).collect();
        texts.join("\n")
            + &text::whose_word(args.view.ledger.as_deref())
            + &text::footer(releases.iter().any(|release| release.n().is_none()))
    };
    args.view.print.answer(|| Document::new(&releases, Some(&findings), None), text)
}

/// Joins releases of the same data.
pub fn combine(args: &Combine) -> Result<(), Failure> {
    let threads = threads(&args.view.threads)?;
    let figures = FigureFiles::new(&args.view.figure, &[String::new()])?;
    let files = args.files.iter().map(PathBuf::as_path);
    check_paths(&args.view, files, &figures)?;
    let mut releases: Vec<Released> = Vec::new();
    for file in &args.files {
        let mut loaded = load(file, &args.view)?;
        let one = match (loaded.pop(), loaded.is_empty()) {
            (Some(one), true) => one,
            _ => return Err(several(file).into()),
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
    let ledger = args.view.ledger.as_deref();
    refuse_unentered(&releases, ledger)?;
    let releases: Vec<&Released> = releases.iter().collect();
    let findings = Posteriors::new(&releases).findings();
    if let (Some(reason), true) = (&findings.unaware, releases.len() > 1) {
        let cause = format!("these releases cannot be combined: {reason}");
        let remedy = "release with tight, lattice or geometric: their noise is known for any size";
        return Err(Diagnostic::new(cause).help(remedy).into());
    }
    for files in &figures {
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

fn several(file: &Path) -> Diagnostic {
    let cause = format!("{} holds several releases", file.display());
    Diagnostic::new(cause).help("--release NAME picks one")
}

/// Refuses figures in place of what is read.
fn check_paths<'a>(
    view: &'a View,
    files: impl IntoIterator<Item = &'a Path>,
    figures: &[FigureFiles],
) -> Result<(), Diagnostic> {
    Paths::default()
        .read("a release that is read", files)
        .read("the ledger", view.ledger.as_deref())
        .written("figure", "where a figure goes", figures.iter().flat_map(FigureFiles::paths))
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

/// The releases of a file that are to be shown, as they are to be shown.
fn load(file: &Path, view: &View) -> Result<Vec<Loaded>, Diagnostic> {
    let wrong = typed::flag;
    let mut loaded = read::read(file)?;
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
        if !view.within.is_empty() {
            one.request.within = within(&view.within, &one.request.table, &wrong)?;
        }
        if let Some(weights) = &view.weights {
            one.request.equal_weights = equal_weights(Some(weights), &wrong)?;
        }
        check_weights(&one.request, &wrong)?;
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
