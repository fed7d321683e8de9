//! Messages about the cells of an earlier run, and about a run that ends early.

use std::path::Path;

use crate::failure::{Continuation, Failure, WorkError};
use crate::interrupt;
use lab::experiment::config;
use lab::experiment::{Cell, Experiment};
use lab::run::store::{CellStore, Change, FileError, Folder, Key, Manifest};
use lab::run::sweep::{AssemblyError, Stock, Sweep};
use system::console::say;
use system::diagnostic::Diagnostic;
use table::NUMERICS;

use super::{Job, RunOptions};

/// Refuses to run another part of an experiment in a folder that holds one, or the whole.
pub(super) fn refuse_other_part(folder: &Folder, options: &RunOptions) -> Result<(), Diagnostic> {
    let Some(before) = folder.before().filter(|before| before.shard != options.shard) else {
        return Ok(());
    };
    let what = |shard: Option<_>| shard.map_or("the whole".to_owned(), |shard| format!("{shard}"));
    let cause = format!(
        "{} holds {} of `{}`, but this run is {}",
        folder.path().display(),
        what(before.shard),
        before.name,
        what(options.shard),
    );
    Err(Diagnostic::new(cause).help("give each part, and the whole, an --out of its own"))
}

/// Says of every cell why it is kept or computed, if that was asked for.
pub(super) struct Explain<'a> {
    verbose: bool,
    store: &'a CellStore,
    /// Why nothing of the earlier run fits, if nothing does; else why a cell is missing.
    reason: String,
}

impl<'a> Explain<'a> {
    pub(super) fn new(
        folder: &'a Folder,
        store: &'a CellStore,
        experiment: &'a Experiment,
        options: &RunOptions,
    ) -> Self {
        let reason = match folder.before() {
            _ if options.fresh => "--fresh".to_owned(),
            None => "nothing was computed before".to_owned(),
            Some(before) => {
                let other = other_in_kind(before, experiment);
                other.unwrap_or_else(|| "it was not computed before".to_owned())
            }
        };
        Self { verbose: options.verbose, store, reason }
    }

    pub(super) fn cell(&self, sweep: &Sweep, panel: usize, cell: &Cell, is_kept: bool) {
        if !self.verbose {
            return;
        }
        let name = sweep.cell_name(panel, cell);
        match is_kept {
            true => say(format!("{name}: kept, since everything that it depends on is the same")),
            false if self.store.is_damaged(Key::new(&cell.text)) => {
                say(format!("{name}: computed, since its record is damaged"));
            }
            false => say(format!("{name}: computed, since {}", self.reason)),
        }
    }
}

/// Why no cell of an earlier run can be kept, if so.
fn other_in_kind(before: &Manifest, experiment: &Experiment) -> Option<String> {
    if before.numerics != NUMERICS {
        return Some(format!("dpbi {} computed other numbers or draws", before.dpbi));
    }
    (before.seed != experiment.seed)
        .then(|| format!("the seed was {}, and is {}", before.seed, experiment.seed))
}

/// Lines for the user before a run begins: what is kept, and which files were changed since.
pub(super) fn news(
    folder: &Folder,
    store: &CellStore,
    stock: &Stock,
    experiment: &Experiment,
) -> Vec<String> {
    let path = folder.path().display();
    let mut lines = Vec::new();
    if folder.before().is_none() && !folder.changes().is_empty() {
        lines.push(format!(
            "note: {path} has no manifest. Files that differ from what its cells give are kept beside \
             the new ones"
        ));
    }
    for (name, change) in folder.changes().iter().filter(|_| folder.before().is_some()) {
        lines.push(match change {
            Change::Missing => format!("note: {path}/{name} is gone"),
            Change::Altered => format!("note: {path}/{name} is not as it was written"),
        });
    }
    if !folder.is_locked() {
        lines.push(format!(
            "note: {path} cannot be locked. Make sure that no other dpbi works there"
        ));
    }
    let losses = store.losses();
    match losses.cells() {
        0 => {}
        1 => lines.push(format!("note: 1 damaged cell in {path} is computed again")),
        many => lines.push(format!("note: {many} damaged cells in {path} are computed again")),
    }
    for (log, bytes) in &losses.bytes {
        lines.push(format!("note: {bytes} bytes of {} hold no readable cells", log.display()));
    }
    if let Some(aside) = &losses.aside {
        lines
            .push(format!("note: a file that is not a log of dpbi is kept as {}", aside.display()));
    }
    let Stock { cells, kept, .. } = stock;
    let before = folder.before();
    let changed = before.is_some_and(|before| before.config != config::resolved(experiment));
    let changed = if changed { "; the config has changed since" } else { "" };
    if *kept > 0 {
        let kept = if kept == cells { "all".to_owned() } else { format!("{kept} of") };
        lines.push(format!(
            "{path}: {kept} {cells} cells are kept from an earlier run{changed} (--fresh computes \
             them again)"
        ));
    } else if !store.is_empty() {
        let why = before.and_then(|before| other_in_kind(before, experiment));
        let why = why.unwrap_or_else(|| "the config has changed".to_owned());
        lines.push(format!("{path}: nothing of an earlier run can be kept: {why}"));
    }
    lines
}

/// Ends a run early: saves what is finished, and says how to go on. If there is no `error`, either the
/// user stopped the run or a file could not be written.
pub(super) fn give_up(job: &Job, options: &RunOptions, error: Option<WorkError>) -> Failure {
    let commit = job.store.commit();
    let error = match (error, commit) {
        (Some(WorkError::Assembly(AssemblyError::Stopped)) | None, Ok(())) => None,
        (Some(WorkError::File(error) | WorkError::Assembly(AssemblyError::Disk(error))), _)
        | (Some(WorkError::Assembly(AssemblyError::Stopped)) | None, Err(error)) => Some(error),
        (Some(other), _) => return other.into(),
    };
    // What counts is what another process would find.
    let (stock, path) = (&job.stock, job.folder.path());
    let kept =
        CellStore::open(path, false).map(|found| job.sweep.take_stock(&found, |_, _, _| ()).kept);
    let continuation = match kept {
        Ok(kept) if !job.store.is_read_only() => {
            let (all, folder, fresh) = (stock.cells, path.to_owned(), options.fresh);
            Continuation::Cells { kept, all, folder, fresh }
        }
        _ => Continuation::Unchanged,
    };
    match error {
        None if interrupt::is_asked() => Failure::Interrupted(continuation),
        None => WorkError::Stopped(continuation).into(),
        Some(error) => WorkError::Unwritten(error, continuation).into(),
    }
}

/// Says that the cells of another unfinished run are kept.
pub(super) fn left_over(cells: usize, path: &Path, options: &RunOptions) {
    if cells > 0 && !options.quiet {
        let log = path.join("unfinished.log");
        let other = "cells of an unfinished run with other parameters, and is kept for that one";
        say(format!("note: {} holds {cells} {other}", log.display()));
    }
}

/// The files were made, but could not take their places.
pub(super) fn not_written(error: FileError, store: &CellStore) -> WorkError {
    let continuation = match store.commit() {
        Ok(()) if !store.is_read_only() => Continuation::AllCells,
        _ => Continuation::Nothing,
    };
    WorkError::Unwritten(error, continuation)
}
