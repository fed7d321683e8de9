//! The resolved config: everything that decides the results, written out, so that a results folder
//! can be run and drawn again without the files it came from.

use toml::{Table, Value};

use super::panel::{KEYS, PanelKey};
use crate::experiment::value::whole;
use crate::experiment::{Experiment, Panel};

/// `experiment` as a config.
pub fn resolve(experiment: &Experiment) -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!("# Written by dpbi {version}: the experiment as it was run.\n{}", table(experiment))
}

/// The same for a manifest.
pub fn resolved(experiment: &Experiment) -> serde_json::Value {
    serde_json::to_value(table(experiment)).expect("a config is plain data")
}

fn table(experiment: &Experiment) -> Table {
    let mut table = Table::new();
    let mut put = |key: &str, value: Value| drop(table.insert(key.into(), value));
    put("name", experiment.name.clone().into());
    put("title", experiment.title.clone().into());
    if let Some(source) = &experiment.source {
        put("source", source.clone().into());
    }
    if !experiment.notes.is_empty() {
        put("notes", experiment.notes.clone().into());
    }
    put("seed", whole(experiment.seed));
    if !experiment.changes.is_empty() {
        put("changes", experiment.changes.clone().into());
    }
    match &experiment.panels[..] {
        [only] if only.id.is_empty() => table.extend(panel(only)),
        panels => {
            put("panel", panels.iter().map(|one| panel(one).into()).collect::<Vec<Value>>().into())
        }
    }
    table
}

/// The keys of one panel.
fn panel(panel: &Panel) -> Table {
    let value = |key: &PanelKey| Some((key.name.to_owned(), (key.write)(panel)?));
    let mut table: Table = KEYS.iter().filter_map(value).collect();
    if !panel.id.is_empty() {
        table.insert("id".to_owned(), panel.id.clone().into());
    }
    table.extend(panel.kind.resolved());
    table
}
