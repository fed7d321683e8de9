//! `dpbi mechanisms`.

use schemars::JsonSchema;
use serde::Serialize;

use crate::cli::Mechanisms;
use crate::failure::Failure;
use engine::mechanism::{self, Choice, Definition, Kind, Mechanism, own, usual_guarantee};
use engine::posterior::privacy::Guarantee;
use engine::refusal::nearest;
use lab::experiment::config;
use system::console::{Grid, width};
use system::diagnostic::Diagnostic;
use system::source::Source;

pub fn execute(args: &Mechanisms) -> Result<(), Failure> {
    let known = || mechanism::ALL.iter().chain(mechanism::HISTORICAL).copied();
    let mut all: Vec<_> = known().chain(own::KINDS.iter().copied()).map(mechanism_row).collect();
    let Some(named) = &args.about else { return args.print.answer(|| &all, || table(&all)) };
    if let Some(found) = known().find(|mechanism| mechanism.id == named) {
        let row = mechanism_row(found);
        return args.print.answer(|| [&row], || page(found, &row));
    }
    let source = Source::config(named).map_err(|error| {
        let ids: Vec<&str> = known().map(|mechanism| mechanism.id).collect();
        match nearest(named, &ids) {
            Some(near) => Diagnostic::new(format!("there is no mechanism or config {named}"))
                .help(format!("did you mean `{near}`?")),
            None => error,
        }
    })?;
    all.extend(config::defined(&source)?.iter().map(defined_row));
    args.print.answer(|| &all, || table(&all))
}

/// Everything about one mechanism.
fn page(mechanism: &'static Kind, row: &ListedMechanism) -> String {
    let mut grid = Grid::new(usize::MAX);
    grid.row(["mechanism", &row.id]);
    grid.row(["name", mechanism.title()]);
    grid.row(["draws", &row.draws]);
    grid.row(["guarantee", &row.guarantee]);
    let takes = match (mechanism.uses_delta, mechanism.choices.contains(&Choice::Gamma)) {
        (true, true) => "ε, δ and γ",
        (true, false) => "ε and δ",
        (false, true) => "ε and γ",
        (false, false) => "ε",
    };
    grid.row(["takes", takes]);
    let mut options = Grid::new(usize::MAX);
    for choice in mechanism.choices.iter().chain([&Choice::Remap]) {
        options.row([choice.key(), choice.about()]);
    }
    let delta = if mechanism.uses_delta { " --delta 1e-6" } else { "" };
    let id = &row.id;
    let example = match mechanism::find(id) {
        Some(_) => format!("dpbi inspect -p 1,1 -x 30,70 -e 1{delta} -m {id}"),
        None => "dpbi run arxiv/fig4".to_owned(),
    };
    format!(
        "{}\n  options in a config\n{}\n  example\n    {example}\n\n{}",
        grid.render(),
        options.render(),
        symbols()
    )
}

/// A mechanism, or a kind of one's own.
#[derive(Serialize, JsonSchema)]
pub struct ListedMechanism {
    id: String,
    options: String,
    draws: String,
    guarantee: String,
}

fn mechanism_row(mechanism: &'static Kind) -> ListedMechanism {
    let options: Vec<&str> = mechanism.choices.iter().map(|choice| choice.key()).collect();
    ListedMechanism {
        id: mechanism.id.to_owned(),
        options: options.join(", "),
        draws: mechanism.draws.to_owned(),
        guarantee: usual_guarantee(mechanism),
    }
}

/// A mechanism that the user has defined.
fn defined_row(variant: &Mechanism) -> ListedMechanism {
    let definition = variant.kind.definition.as_ref();
    let (kind, log_weight) = (variant.kind.id, definition.and_then(Definition::log_weight));
    let parameters = definition.map_or(&[][..], Definition::parameters).iter();
    let parameters = parameters.map(|one| format!("{} = {}", one.name, own::compact(one.value)));
    ListedMechanism {
        id: variant.label.clone(),
        options: parameters.collect::<Vec<_>>().join(", "),
        draws: format!("{kind}: {}", log_weight.unwrap_or("a CSV file")),
        guarantee: Guarantee::Unstated.to_string(),
    }
}

fn table(all: &[ListedMechanism]) -> String {
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
    let options = if fits { "" } else { "\n  The names in brackets are options.\n" };
    let table = if fits { wide } else { narrow };
    format!("{}{options}\n{}", table.render(), symbols())
}

fn symbols() -> String {
    let mut grid = Grid::new(usize::MAX);
    SYMBOLS.into_iter().for_each(|(symbol, meaning)| grid.row([symbol, meaning]));
    grid.render()
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
