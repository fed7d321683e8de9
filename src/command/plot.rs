//! `dpbi plot`.

use std::path::Path;

use serde_json::json;

use super::run::draw;
use super::{Failure, print, print_json};
use crate::cli::Plot;
use crate::config::{self, Overrides};
use crate::diagnostic::Diagnostic;
use crate::source::Source;
use crate::store::{Folder, Manifest, sha256};
use crate::table::Tables;

pub fn execute(args: &Plot) -> Result<(), Failure> {
    let mut reports = Vec::new();
    for path in &args.folders {
        let drawn = redraw(path, args)?;
        if !args.quiet && !args.print.json {
            print(&format!("{}: drew {}\n", path.display(), drawn.join(", ")))?;
        }
        reports.push(json!({ "folder": path, "figures": drawn }));
    }
    if args.print.json {
        print_json(&json!(reports))?;
    }
    Ok(())
}

const AGAIN: &str = "run the experiment again";

/// Reads all tables that the folder's manifest names. What was changed since is drawn as it is now,
/// with a word about it.
fn read(path: &Path, manifest: &Manifest) -> Result<Tables, Diagnostic> {
    for (name, hash) in manifest.files.iter().filter(|(name, _)| name.ends_with(".csv")) {
        let file = path.join(name);
        match std::fs::read(&file) {
            Ok(bytes) if bytes.is_empty() => {
                let cause = format!("{} is empty", file.display());
                return Err(Diagnostic::new(cause).help(AGAIN));
            }
            Ok(bytes) if sha256(&bytes) != *hash => {
                eprintln!("note: {} was changed after the run", file.display());
            }
            Ok(_) => {}
            Err(error) => {
                let cause = format!("cannot read {}: {error}", file.display());
                return Err(Diagnostic::new(cause).help(AGAIN));
            }
        }
    }
    Tables::read(path).map_err(|error| Diagnostic::new(error.to_string()).help(AGAIN))
}

/// Draws one folder again and returns the new files.
fn redraw(path: &Path, args: &Plot) -> Result<Vec<String>, Failure> {
    let manifest = Manifest::read(path).filter(|manifest| manifest.complete).ok_or_else(|| {
        Diagnostic::new(format!("{} holds no complete results of dpbi", path.display()))
            .help("give a folder that `dpbi run` has written, such as results/beta_balanced")
    })?;
    let config = Source::Disk(path.join("config.toml"));
    let experiment = config::load(&config, Overrides::default())?;
    let tables = read(path, &manifest)?;
    let settings: usize = experiment.panels.iter().map(|panel| panel.cases.len()).sum();
    if tables.settings.len() != settings {
        let cause = format!(
            "{} has {} settings, but its config {settings}",
            path.join("settings.csv").display(),
            tables.settings.len()
        );
        return Err(Diagnostic::new(cause).help(AGAIN).into());
    }
    let mut folder = Folder::reopen(path, &manifest);
    draw(&experiment, &tables, &mut folder, &args.format.0)?;
    let drawn = folder.files().map(str::to_owned).collect();
    folder.update(manifest)?;
    Ok(drawn)
}
