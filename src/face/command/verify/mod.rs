//! `dpbi verify`.

mod compare;
mod sample;

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::json;

use super::forecast::Forecast;
use super::optimum;
use super::{CONFIG, announce, load_results, no_results, print, print_json, threads};
use crate::base::diagnostic::{Diagnostic, legible};
use crate::experiment::table::Tables;
use crate::experiment::{Experiment, NUMERICS};
use crate::face::cli::Verify;
use crate::face::failure::{Failure, VerdictError, WorkError};
use crate::face::progress::Clock;
use crate::figure::{self, Format};
use crate::run::store::{CellStore, Change, LOG, Manifest, ManifestError, sha256};
use crate::run::sweep::Sweep;
use compare::Comparison;
use sample::{Sample, entropy};

pub fn execute(args: &Verify) -> Result<(), Failure> {
    threads(&args.machine.threads)?;
    let seed = args.seed.unwrap_or_else(entropy);
    let (mut reports, mut first) = (Vec::new(), None);
    for path in &args.folders {
        let findings = verify(path, args, seed)?;
        if !args.talk.quiet && !args.print.json {
            print(&findings.text(path, seed))?;
        }
        first = first.or_else(|| findings.problems.first().cloned());
        reports.push(findings.json(path, seed));
    }
    if args.print.json {
        print_json(&json!(reports))?;
    }
    first.map_or(Ok(()), |problem| Err(VerdictError::Difference(problem).into()))
}

/// What was found out about a folder.
struct FolderCheck {
    files: usize,
    cells: usize,
    sampled: usize,
    problems: Vec<String>,
}

impl FolderCheck {
    /// Notes a difference. What a file says may hold anything: a terminal would obey it.
    fn note(&mut self, problem: impl AsRef<str>) {
        self.problems.push(legible(problem.as_ref()));
    }

    fn text(&self, path: &Path, seed: u64) -> String {
        let Self { files, cells, sampled, problems } = self;
        let state = match problems.len() {
            0 => "as it was written".to_owned(),
            1 => "1 difference".to_owned(),
            many => format!("{many} differences"),
        };
        let mut text = format!(
            "{}: {state}\n  {files} files hashed; {sampled} of {cells} cells computed again \
             (--seed {seed})\n",
            path.display(),
        );
        problems.iter().for_each(|problem| text += &format!("  {problem}\n"));
        text
    }

    fn json(&self, path: &Path, seed: u64) -> serde_json::Value {
        json!({
            "folder": path.display().to_string(),
            "files": self.files,
            "cells": self.cells,
            "sampled": self.sampled,
            "seed": seed,
            "problems": self.problems,
        })
    }
}

fn verify(path: &Path, args: &Verify, seed: u64) -> Result<FolderCheck, Failure> {
    let mut findings = FolderCheck { files: 0, cells: 0, sampled: 0, problems: Vec::new() };
    let manifest = match Manifest::read(path) {
        Ok(manifest) => manifest,
        Err(ManifestError::Damaged(cause)) => {
            let manifest = path.join("manifest.json");
            findings.note(format!("{} is damaged: {cause}", manifest.display()));
            return Ok(findings);
        }
        Err(ManifestError::Absent | ManifestError::Foreign) => {
            let remedy = "give a folder that `dpbi run` has written, such as results/beta_balanced";
            return Err(no_results(path, "holds no manifest.json of dpbi", remedy).into());
        }
    };
    findings.files = manifest.files.len();
    let changes = manifest.changes(path);
    for (name, change) in &changes {
        let what = match change {
            Change::Missing => "is gone, or cannot be read",
            Change::Altered => "is not as it was written",
        };
        findings.note(format!("{} {what}", path.join(name).display()));
    }
    if !manifest.complete {
        findings.note(format!("{} is not complete", path.display()));
        return Ok(findings);
    }
    if manifest.files.is_empty() {
        findings.note(format!("the manifest of {} lists no files", path.display()));
    }
    // Without a config nothing can be made again.
    if !manifest.files.contains_key(CONFIG) && manifest.name != optimum::NAME {
        findings.note(format!("{} is not in the manifest", path.join(CONFIG).display()));
    }
    if changes.contains_key(CONFIG) || !manifest.files.contains_key(CONFIG) {
        return Ok(findings);
    }
    let experiment = load_results(path)?;
    if manifest.numerics != NUMERICS || manifest.dpbi != env!("CARGO_PKG_VERSION") {
        let cause = format!(
            "{} was written by dpbi {} (numerics {}), this is dpbi {} (numerics {NUMERICS})",
            path.display(),
            manifest.dpbi,
            manifest.numerics,
            env!("CARGO_PKG_VERSION"),
        );
        return Err(Diagnostic::new(cause).help("verify it with that version").into());
    }
    check_cells(path, &experiment, &manifest, args, seed, &mut findings)?;
    Ok(findings)
}

/// Makes the tables again from the cells, and some cells from nothing.
fn check_cells(
    path: &Path,
    experiment: &Experiment,
    manifest: &Manifest,
    args: &Verify,
    seed: u64,
    findings: &mut FolderCheck,
) -> Result<(), Failure> {
    let store = CellStore::of(&[path])?;
    let mut forecast = Forecast::new(experiment, &[]);
    manifest.shard.iter().for_each(|&shard| forecast.take_part(experiment, shard));
    let sweep = Sweep::new(experiment, manifest.shard);
    if manifest.division != sweep.division() {
        let division = "is not the one that this dpbi makes";
        findings.note(format!("the division in the manifest of {} {division}", path.display()));
    }
    let (all, listed) = (sweep.count(), manifest.cells.len());
    if all != listed as u64 {
        let config = path.join(CONFIG);
        let problem =
            format!("{} makes {all} cells, but the manifest has {listed}", config.display());
        findings.note(problem);
        return Ok(());
    }
    let stock = sweep.take_stock(&store, |_, _, _| ());
    findings.cells = stock.cells;
    if let Some(name) = sample::first_missing(&sweep, &store) {
        let missing = stock.cells - stock.kept;
        let log = path.join(LOG);
        let problem = format!("{missing} cells of {} cannot be read: {name}", log.display());
        findings.note(problem);
    }
    if stock.kept == stock.cells {
        check_files(path, &sweep, &store, manifest, findings)?;
    }
    let sample = Sample::draw(&sweep, &store, args.cells, seed);
    findings.sampled = sample.len();
    forecast.keep_only(|panel, case| sample.holds(panel, case));
    let clock = admit(path, &forecast, args)?;
    let different = sample.compute_again(&sweep, &store)?;
    drop(clock);
    different.into_iter().for_each(|problem| findings.note(problem));
    Ok(())
}

/// Makes the tables and figures again from the cells, and looks for files that are neither.
fn check_files(
    path: &Path,
    sweep: &Sweep,
    store: &CellStore,
    manifest: &Manifest,
    findings: &mut FolderCheck,
) -> Result<(), Failure> {
    let mut made = BTreeSet::from([CONFIG, LOG].map(str::to_owned));
    if manifest.shard.is_none() {
        let mut comparison = Comparison::new(path);
        let all = sweep.assemble(store, &[], &mut comparison, |_| true).map_err(WorkError::from)?;
        made.extend(comparison.names());
        comparison.finish().into_iter().for_each(|problem| findings.note(problem));
        for (name, bytes) in drawn_again(sweep.experiment, &all.tables, manifest)? {
            if manifest.files.get(name.as_str()) != Some(&sha256(&bytes)) {
                let file = path.join(&name);
                findings.note(format!("{} is not what the tables give", file.display()));
            }
            made.insert(name);
        }
    }
    for name in manifest.files.keys().filter(|name| !made.contains(name.as_str())) {
        let file = path.join(name.as_str());
        findings.note(format!("{} is not a file of this experiment", file.display()));
    }
    Ok(())
}

/// The figures that the manifest lists, drawn from the tables.
fn drawn_again(
    experiment: &Experiment,
    tables: &Tables,
    manifest: &Manifest,
) -> Result<Vec<(String, Vec<u8>)>, Failure> {
    let mut drawn = Vec::new();
    for (name, figure) in experiment.panels.iter().flat_map(|panel| panel.figures(tables)) {
        for format in Format::ALL {
            let file = format!("{name}.{}", format.extension());
            if manifest.files.contains_key(file.as_str()) {
                drawn.push((file, figure::render(&figure, format)?));
            }
        }
    }
    Ok(drawn)
}

/// Refuses a sample that takes too long to be computed, and announces one that takes long.
fn admit(path: &Path, forecast: &Forecast, args: &Verify) -> Result<Option<Clock>, Diagnostic> {
    let threads = rayon::current_num_threads();
    forecast.admit(&path.display().to_string(), threads, args.machine.force).map_err(|error| {
        error.help(
            "choose fewer cells with --cells, or none: --cells 0; --force starts it all the same",
        )
    })?;
    let seconds = forecast.total(threads).seconds(threads);
    Ok(if args.talk.quiet { None } else { announce(seconds) })
}
