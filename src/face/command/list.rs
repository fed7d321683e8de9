//! `dpbi list`.

use std::path::Path;

use serde::Serialize;

use super::reproduce::DOCUMENTS;
use crate::cli::List;
use crate::failure::Failure;
use engine::mechanism::{self, Choice, Definition, Mechanism, Variant, own, usual_guarantee};
use engine::posterior::privacy::Guarantee;
use lab::experiment::config::{self, Overrides};
use lab::run::store::{Manifest, ManifestError};
use system::console::{Grid, Style, width};
use system::source::{PAPERS, Source, bundled_configs, config_name, short_name};

pub fn execute(args: &List) -> Result<(), Failure> {
    if args.mechanisms {
        let all = mechanism::ALL.iter().chain(mechanism::HISTORICAL);
        let mut all: Vec<_> = all.map(|mechanism| mechanism_row(*mechanism)).collect();
        all.extend(own::KINDS.iter().map(own_row));
        if let Some(named) = &args.config {
            all.extend(config::defined(&Source::config(named)?)?.iter().map(defined_row));
        }
        return args.print.answer(|| &all, || mechanisms(&all));
    }
    let all = experiments(&args.out)?;
    args.print.answer(|| &all, || table(&all))
}

/// A bundled experiment, and the state of its results.
#[derive(Serialize)]
struct ListedExperiment {
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
        let experiment = config::load(&Source::Bundle(path.clone()), Overrides::default())?;
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

#[derive(Serialize)]
struct ListedMechanism {
    id: String,
    options: String,
    draws: String,
    guarantee: String,
}

fn mechanism_row(mechanism: &'static dyn Mechanism) -> ListedMechanism {
    row(mechanism.id(), mechanism.choices(), mechanism.draws(), usual_guarantee(mechanism))
}

/// A kind of mechanism that the user defines.
fn own_row(kind: &own::DefinitionKind) -> ListedMechanism {
    row(kind.id, kind.choices, kind.draws, Guarantee::Unstated.to_string())
}

fn row(id: &str, choices: &[Choice], draws: &str, guarantee: String) -> ListedMechanism {
    let options = choices.iter().map(|choice| choice.key()).collect::<Vec<_>>().join(", ");
    ListedMechanism { id: id.to_owned(), options, draws: draws.to_owned(), guarantee }
}

/// A mechanism that the user has defined.
fn defined_row(variant: &Variant) -> ListedMechanism {
    let definition = variant.mechanism.definition();
    let (kind, log_weight) = (variant.mechanism.id(), definition.and_then(Definition::log_weight));
    let parameters = definition.map_or(&[][..], Definition::parameters).iter();
    let parameters = parameters.map(|one| format!("{} = {}", one.name, own::compact(one.value)));
    ListedMechanism {
        id: variant.label.clone(),
        options: parameters.collect::<Vec<_>>().join(", "),
        draws: format!("{kind}: {}", log_weight.unwrap_or("a CSV file")),
        guarantee: Guarantee::Unstated.to_string(),
    }
}

fn mechanisms(all: &[ListedMechanism]) -> String {
    let head = ["MECHANISM", "PRIVACY", "WHAT IT DRAWS"];
    let mut wide = Grid::new(usize::MAX);
    let mut narrow = Grid::new(usize::MAX);
    wide.row(head.into_iter().chain(["OPTIONS"]));
    narrow.row(head);
    for ListedMechanism { id, options, draws, guarantee } in all {
        let optional = if options.is_empty() { String::new() } else { format!(" ({options})") };
        narrow.row([id.clone(), guarantee.clone(), format!("{draws}{optional}")]);
        wide.row([id, guarantee, draws, options]);
    }
    let fits = wide.natural_width() <= width();
    let mut symbols = Grid::new(usize::MAX);
    SYMBOLS.into_iter().for_each(|(symbol, meaning)| symbols.row([symbol, meaning]));
    let options = if fits { "" } else { "\n  The names in brackets are options.\n" };
    let table = if fits { wide } else { narrow };
    format!("{}{options}\n{}", table.render(), symbols.render())
}

/// The symbols of the table.
const SYMBOLS: [(&str, &str); 9] = [
    ("x, n", "the counts of the data, and their total"),
    ("k", "the number of categories"),
    ("R", "all counts with the total n"),
    ("H", "the distance between the posteriors of x and r: Hellinger, or another one"),
    ("GS, LS(x)", "the global and the local sensitivity of H"),
    ("S_γ(x), S_β(x)", "its smooth sensitivities"),
    ("d(x, r)", "the number of records in which x and r differ"),
    ("Lap(b)", "Laplace noise of scale b"),
    ("clamped", "counts below 0 become 0, and counts above n become n"),
];
