//! `dpbi plot`.

mod page;

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::drawing::Drawing;
use super::run::draw;
use super::{load_results, no_results, print_json};
use crate::cli::Plot;
use crate::failure::Failure;
use lab::experiment::{Experiment, Panel};
use lab::run::store::{Change, Folder, Manifest, ManifestError, damaged_manifest};
use system::console::say;
use system::diagnostic::Diagnostic;
use table::{ERRORS, Tables};

pub fn execute(args: &Plot) -> Result<(), Failure> {
    if let Some(page) = &args.page {
        return page::execute(page, args);
    }
    let mut reports = Vec::new();
    for path in &args.folders {
        let figures = redraw(path, args)?;
        let text = || format!("{}: drew {}\n", path.display(), figures.join(", "));
        let document = || Drawn { folder: path.display().to_string(), figures: figures.clone() };
        reports.extend(args.print.tell(args.talk.quiet, document, text)?);
    }
    if args.print.json { print_json(&reports) } else { Ok(()) }
}

/// The figures of a results folder.
#[derive(Serialize, JsonSchema)]
pub struct Drawn {
    pub folder: String,
    /// The names of their files.
    pub figures: Vec<String>,
}

const AGAIN: &str = "run the experiment again";

/// Reads all tables that the folder's manifest lists; any other table is refused. A table that was
/// changed since is drawn as it is now, with a note.
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
    let is_listed = |name: &str| folder.before().is_some_and(|of| of.files.contains_key(name));
    let with_runs = is_listed(ERRORS) && experiment.panels.iter().any(Panel::shows_runs);
    let tables = Tables::read(path, with_runs);
    let tables = tables.map_err(|error| Diagnostic::new(error.to_string()).help(AGAIN))?;
    let foreign = tables.files().map(|(name, _)| name).find(|name| !is_listed(name));
    match foreign {
        None => Ok(tables),
        Some(name) => {
            let cause = format!("{} is not in the manifest", path.join(name).display());
            Err(Diagnostic::new(cause).help("remove it, or run the experiment again"))
        }
    }
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
    let drawing = Drawing::again(&args.figures, folder.before());
    draw(&experiment, &tables, &mut folder, &drawing)?;
    let drawn = folder.files().map(str::to_owned).collect();
    folder.add_figures(drawing.width)?;
    Ok(drawn)
}
