//! `dpbi plot`.

use std::path::Path;

use serde_json::json;

use super::run::draw;
use super::{Failure, load_results, no_results, print, print_json};
use crate::base::console::say;
use crate::base::diagnostic::Diagnostic;
use crate::experiment::table::Tables;
use crate::experiment::{Experiment, Panel};
use crate::face::cli::Plot;
use crate::run::store::{Change, Folder, Manifest, ManifestError, damaged_manifest};

pub fn execute(args: &Plot) -> Result<(), Failure> {
    let mut reports = Vec::new();
    for path in &args.folders {
        let drawn = redraw(path, args)?;
        if !args.talk.quiet && !args.print.json {
            print(&format!("{}: drew {}\n", path.display(), drawn.join(", ")))?;
        }
        reports.push(json!({ "folder": path.display().to_string(), "figures": drawn }));
    }
    if args.print.json {
        print_json(&json!(reports))?;
    }
    Ok(())
}

const AGAIN: &str = "run the experiment again";

/// Reads all tables that the folder's manifest names. What was changed since is drawn as it is now,
/// with a word about it.
fn read(folder: &Folder, experiment: &Experiment) -> Result<Tables, Diagnostic> {
    let path = folder.path();
    for (name, change) in folder.changes().iter().filter(|(name, _)| name.ends_with(".csv")) {
        let file = path.join(name);
        let cause = match change {
            Change::Missing => format!("cannot read {}", file.display()),
            Change::Altered if is_empty(&file) => format!("{} is empty", file.display()),
            Change::Altered => {
                say(format!("note: {} was changed after the run", file.display()));
                continue;
            }
        };
        return Err(Diagnostic::new(cause).help(AGAIN));
    }
    let with_runs = experiment.panels.iter().any(Panel::shows_runs);
    Tables::read(path, with_runs).map_err(|error| Diagnostic::new(error.to_string()).help(AGAIN))
}

fn is_empty(file: &Path) -> bool {
    std::fs::metadata(file).is_ok_and(|file| file.len() == 0)
}

/// Draws one folder again and returns the new files.
fn redraw(path: &Path, args: &Plot) -> Result<Vec<String>, Failure> {
    match Manifest::read(path) {
        Ok(manifest) if manifest.complete && manifest.shard.is_none() => {}
        Err(ManifestError::Damaged(cause)) => return Err(damaged_manifest(path, &cause).into()),
        _ => {
            let remedy = "give a folder that `dpbi run` has written, such as results/beta_balanced";
            return Err(no_results(path, "holds no complete results of dpbi", remedy).into());
        }
    }
    let experiment = load_results(path)?;
    let mut folder = Folder::reopen(path)?;
    let tables = read(&folder, &experiment)?;
    let settings: usize = experiment.panels.iter().map(|panel| panel.cases.len()).sum();
    if tables.settings.len() != settings {
        let cause = format!(
            "{} has {} settings, but its config {settings}",
            path.join("settings.csv").display(),
            tables.settings.len()
        );
        return Err(Diagnostic::new(cause).help(AGAIN).into());
    }
    draw(&experiment, &tables, &mut folder, &args.format.0)?;
    let drawn = folder.files().map(str::to_owned).collect();
    folder.update()?;
    Ok(drawn)
}
