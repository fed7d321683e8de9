//! `dpbi list`.

use std::path::Path;

use serde_json::json;

use super::{print, print_json};
use crate::base::console::Grid;
use crate::base::source::{Source, bundled_configs, config_name};
use crate::experiment::config::{self, Overrides};
use crate::face::cli::List;
use crate::face::failure::Failure;
use crate::mechanism;
use crate::run::store::{Manifest, ManifestError};

pub fn execute(args: &List) -> Result<(), Failure> {
    let rows = if args.mechanisms { mechanisms() } else { experiments(&args.out)? };
    if args.print.json {
        return print_json(&json!(rows));
    }
    let mut grid = Grid::new(usize::MAX);
    if let Some(first) = rows.first() {
        grid.row(first.keys().map(|key| key.to_uppercase()));
    }
    for row in &rows {
        grid.row(row.values().map(|value| value.as_str().unwrap_or_default()));
    }
    print(&grid.render())
}

type ListRow = serde_json::Map<String, serde_json::Value>;

fn row(cells: impl IntoIterator<Item = (&'static str, String)>) -> ListRow {
    cells.into_iter().map(|(key, value)| (key.to_owned(), value.into())).collect()
}

fn experiments(out: &Path) -> Result<Vec<ListRow>, Failure> {
    let mut rows = Vec::new();
    for path in bundled_configs() {
        let experiment = config::load(&Source::Bundle(path.clone()), Overrides::default())?;
        let folder = out.join(&experiment.name);
        let state = match Manifest::read(&folder) {
            Err(ManifestError::Absent | ManifestError::Foreign) => "absent",
            Err(ManifestError::Damaged(_)) => "damaged",
            Ok(manifest) if !manifest.complete => "unfinished",
            Ok(manifest) if manifest.is_current(&folder, &config::resolve(&experiment)) => {
                "current"
            }
            Ok(_) => "out of date",
        };
        let mut kinds: Vec<&str> = experiment.panels.iter().map(|panel| panel.kind.id()).collect();
        kinds.dedup();
        let name = config_name(&path);
        let group = match name.split('/').collect::<Vec<_>>()[..] {
            ["papers", document, _] => document.to_owned(),
            [folder, _] => folder.replace('_', " "),
            _ => String::new(),
        };
        rows.push(row([
            ("config", name.clone()),
            ("document", group),
            ("figure", experiment.source.clone().unwrap_or_default()),
            ("kind", kinds.join(", ")),
            ("title", experiment.title.clone()),
            ("results", state.to_owned()),
        ]));
    }
    Ok(rows)
}

fn mechanisms() -> Vec<ListRow> {
    let cells = |mechanism: &&dyn mechanism::Mechanism| {
        let options: Vec<_> = mechanism.choices().iter().map(|choice| choice.key()).collect();
        row([
            ("id", mechanism.id().to_owned()),
            ("options", options.join(", ")),
            ("draws", mechanism.draws().to_owned()),
        ])
    };
    mechanism::ALL.iter().map(cells).collect()
}
