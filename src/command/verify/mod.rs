//! `dpbi verify`.

mod compare;
mod sample;

use std::path::Path;

use serde_json::json;

use super::forecast::Forecast;
use super::{Failure, no_results, print, print_json, threads};
use crate::cli::Verify;
use crate::config::{self, Overrides};
use crate::diagnostic::Diagnostic;
use crate::experiment::{Experiment, NUMERICS};
use crate::source::Source;
use crate::store::{Change, LOG, Manifest, ManifestError, Shelf};
use crate::sweep::Sweep;
use compare::Comparison;
use sample::{Sample, entropy};

pub fn execute(args: &Verify) -> Result<(), Failure> {
    threads(&args.threads)?;
    let seed = args.seed.unwrap_or_else(entropy);
    let (mut reports, mut first) = (Vec::new(), None);
    for path in &args.folders {
        let findings = verify(path, args.cells, seed)?;
        if !args.talk.quiet && !args.print.json {
            print(&findings.text(path, seed))?;
        }
        first = first.or_else(|| findings.problems.first().cloned());
        reports.push(findings.json(path, seed));
    }
    if args.print.json {
        print_json(&json!(reports))?;
    }
    first.map_or(Ok(()), |problem| Err(Failure::Verdict(problem)))
}

const CONFIG: &str = "config.toml";

/// What was found out about a folder.
struct Findings {
    files: usize,
    cells: usize,
    sampled: usize,
    problems: Vec<String>,
}

impl Findings {
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

fn verify(path: &Path, cells: usize, seed: u64) -> Result<Findings, Failure> {
    let mut findings = Findings { files: 0, cells: 0, sampled: 0, problems: Vec::new() };
    let manifest = match Manifest::read(path) {
        Ok(manifest) => manifest,
        Err(ManifestError::Damaged(cause)) => {
            let manifest = path.join("manifest.json");
            findings.problems.push(format!("{} is damaged: {cause}", manifest.display()));
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
        findings.problems.push(format!("{} {what}", path.join(name).display()));
    }
    if !manifest.complete {
        findings.problems.push(format!("{} is not complete", path.display()));
    } else if manifest.files.is_empty() {
        findings.problems.push(format!("the manifest of {} lists no files", path.display()));
    }
    // A folder of `dpbi optimum` has neither config nor cells; without a config nothing can be made
    // again.
    let (config, log) = (path.join(CONFIG), path.join(LOG));
    if !manifest.files.contains_key(CONFIG) && (config.exists() || log.exists()) {
        findings.problems.push(format!("{} is not in the manifest", config.display()));
    }
    if changes.contains_key(CONFIG) || !manifest.files.contains_key(CONFIG) {
        return Ok(findings);
    }
    let source = Source::Disk(path.join(CONFIG));
    let experiment = config::load(&source, Overrides::default())?;
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
    check_cells(path, &experiment, &manifest, cells, seed, &mut findings)?;
    Ok(findings)
}

/// Makes the tables again from the cells, and some cells from nothing.
fn check_cells(
    path: &Path,
    experiment: &Experiment,
    manifest: &Manifest,
    cells: usize,
    seed: u64,
    findings: &mut Findings,
) -> Result<(), Failure> {
    let shelf = Shelf::of(&[path])?;
    let sweep = match manifest.shard {
        None => Sweep::whole(experiment),
        Some(shard) => {
            let mut forecast = Forecast::new(experiment, &[]);
            forecast.take_part(shard);
            Sweep::part(experiment, |panel, case| forecast.is_own(panel, case))
        }
    };
    let stock = sweep.take_stock(&shelf, |_, _, _| ());
    findings.cells = stock.cells;
    if let Some(name) = sample::first_missing(&sweep, &shelf).filter(|_| manifest.complete) {
        let missing = stock.cells - stock.kept;
        let log = path.join(LOG);
        let problem = format!("{missing} cells of {} cannot be read: {name}", log.display());
        findings.problems.push(problem);
    }
    if manifest.shard.is_none() && manifest.complete && stock.kept == stock.cells {
        let mut comparison = Comparison::new(path);
        sweep.assemble(&shelf, &[], &mut comparison, |_| true).map_err(Failure::broken)?;
        findings.problems.extend(comparison.finish());
    }
    let sample = Sample::draw(&sweep, &shelf, cells, seed);
    findings.sampled = sample.len();
    findings.problems.extend(sample.compute_again(&sweep, &shelf)?);
    Ok(())
}
