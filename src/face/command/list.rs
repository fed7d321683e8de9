//! `dpbi list`.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::reproduce::DOCUMENTS;
use crate::cli::List;
use crate::failure::Failure;
use lab::experiment::config::{self, Overrides};
use lab::run::store::{Manifest, ManifestError};
use system::console::{Grid, Style, width};
use system::source::{PAPERS, Source, bundled_configs, config_name, short_name};

pub fn execute(args: &List) -> Result<(), Failure> {
    let all = experiments(&args.results)?;
    args.print.answer(|| &all, || table(&all))
}

/// A bundled experiment, and the state of its results.
#[derive(Serialize, JsonSchema)]
pub struct ListedExperiment {
    config: String,
    /// The document that it belongs to, or the open questions; empty for other experiments.
    document: String,
    figure: String,
    kind: String,
    title: String,
    results: &'static str,
}

impl ListedExperiment {
    fn cell(&self, column: Column) -> String {
        match column {
            Column::Name => short_name(&self.config),
            Column::Figure => self.figure.clone(),
            Column::Kind => self.kind.clone(),
            Column::Title => self.title.clone(),
            Column::Results => style(self.results).paint(self.results),
        }
    }
}

fn experiments(out: &Path) -> Result<Vec<ListedExperiment>, Failure> {
    let mut all = Vec::new();
    for path in bundled_configs() {
        let experiment = config::load(&Source::Bundle(path.clone()), &Overrides::default())?;
        let folder = out.join(&experiment.name);
        let results = match Manifest::read(&folder) {
            Err(ManifestError::Absent | ManifestError::Foreign) => ABSENT,
            Err(ManifestError::Damaged(_)) => DAMAGED,
            Ok(manifest) if !manifest.complete => "unfinished",
            Ok(manifest) if manifest.is_current(&folder, &config::resolve(&experiment)) => CURRENT,
            Ok(_) => "out of date",
        };
        let mut kinds: Vec<&str> = experiment.panels.iter().map(|panel| panel.kind.id()).collect();
        kinds.dedup();
        let config = config_name(&path);
        let document = match config.split('/').collect::<Vec<_>>()[..] {
            ["papers", document, _] => document.to_owned(),
            [folder, _] => folder.replace('_', " "),
            _ => String::new(),
        };
        let (figure, kind) = (experiment.source.clone().unwrap_or_default(), kinds.join(", "));
        let title = experiment.title.clone();
        all.push(ListedExperiment { config, document, figure, kind, title, results });
    }
    Ok(all)
}

const ABSENT: &str = "absent";
const DAMAGED: &str = "damaged";
const CURRENT: &str = "current";

fn style(results: &str) -> Style {
    match results {
        CURRENT => Style::Good,
        ABSENT => Style::Faint,
        DAMAGED => Style::Bad,
        _ => Style::Mixed,
    }
}

#[derive(Clone, Copy)]
enum Column {
    Name,
    Figure,
    Kind,
    Title,
    Results,
}

/// What is shown, from the widest table to the narrowest.
const COLUMNS: [&[Column]; 3] = [
    &[Column::Name, Column::Figure, Column::Kind, Column::Title, Column::Results],
    &[Column::Name, Column::Figure, Column::Title, Column::Results],
    &[Column::Name, Column::Title, Column::Results],
];

/// The experiments, by document, with as many columns as there is room for.
fn table(all: &[ListedExperiment]) -> String {
    let mut groups: Vec<(String, Vec<&ListedExperiment>)> = Vec::new();
    let titled = DOCUMENTS.map(|(id, title)| (id, format!("{id}: {title}")));
    let experiments = ("", "experiments".to_owned());
    for (id, heading) in std::iter::once(experiments).chain(titled) {
        groups.push((heading, all.iter().filter(|one| one.document == id).collect()));
    }
    let others =
        |one: &&ListedExperiment| !one.document.is_empty() && !one.config.starts_with(PAPERS);
    groups.push(("open questions".to_owned(), all.iter().filter(others).collect()));
    let fits = |columns: &&&[Column]| {
        groups.iter().all(|(_, group)| grid(group, columns).natural_width() <= width())
    };
    let narrowest = COLUMNS[COLUMNS.len() - 1];
    let columns = COLUMNS.iter().find(fits).copied().unwrap_or(narrowest);
    let mut text = String::new();
    for (heading, group) in groups.iter().filter(|(_, group)| !group.is_empty()) {
        text += &format!("{}\n{}\n", Style::Strong.paint(heading), grid(group, columns).render());
    }
    text + "The last column says whether results are there. `dpbi run NAME` makes them.\n"
}

fn grid(group: &[&ListedExperiment], columns: &[Column]) -> Grid {
    let mut grid = Grid::new(usize::MAX);
    group.iter().for_each(|one| grid.row(columns.iter().map(|&column| one.cell(column))));
    grid
}
