//! From a TOML file to an [`Experiment`] that cannot be wrong.
//!
//! Everything is checked before any work begins, and every complaint names the file, the line,
//! the cause and the remedy.

mod asked;
mod attribution;
mod changes;
mod data_table;
mod grid;
mod mechanisms;
mod own_mechanisms;
mod panel;
mod range;
mod resolved;
mod schema;

pub use changes::{Change, changed_name};
pub use range::MOST_CATEGORIES;
pub use resolved::{resolve, resolved};
pub use schema::schema;

use std::collections::HashSet;
use std::sync::Arc;

use crate::experiment::value::{Node, Table, Text};
use crate::experiment::{Experiment, Panel};
use changes::Changes;
use engine::mechanism::Mechanism;
use engine::refusal::Refusal;
use grid::Taken;
use own_mechanisms::Definitions;
pub use own_mechanisms::tabled;
use panel::{Context, Open};
use system::diagnostic::Diagnostic;
use system::source::Source;

/// What the command line may replace.
#[derive(Clone, Debug, Default)]
pub struct Overrides {
    pub seed: Option<u64>,
    pub runs: Option<u64>,
    /// The name of the results folder.
    pub name: Option<String>,
    /// Other values.
    pub changes: Vec<Change>,
}

impl Overrides {
    /// What an experiment called `name` is called with them.
    fn name_of(&self, name: String) -> String {
        match &self.name {
            Some(name) => name.clone(),
            None if self.changes.is_empty() => name,
            None if self.changes.iter().any(|change| change.sets("name")) => name,
            None => changed_name(&name, &self.changes),
        }
    }
}

/// The most runs that make sense: beyond, sampled means gain nothing that exact ones lack.
pub const MOST_RUNS: u64 = 1_000_000_000;

/// The most bytes of a config: parsed, it takes a hundred times as many at worst.
const LARGEST_CONFIG: usize = 16 << 20;

/// Reads and checks a config.
pub fn load(source: &Source, overrides: &Overrides) -> Result<Experiment, Diagnostic> {
    read(&text(source)?, source, overrides)
}

/// The text of a config.
fn text(source: &Source) -> Result<String, Diagnostic> {
    let file = source.to_string();
    let bytes = source.read()?;
    if bytes.len() > LARGEST_CONFIG {
        let cause = format!("{file} has more than {} MB", LARGEST_CONFIG >> 20);
        return Err(
            Diagnostic::new(cause).help("name data files in it, and write ranges for lists")
        );
    }
    String::from_utf8(bytes).map_err(|_| {
        Diagnostic::new(format!("{file} is not valid UTF-8")).help("save the file as UTF-8")
    })
}

/// Checks the text of a config that stands at `source`.
pub fn read(text: &str, source: &Source, overrides: &Overrides) -> Result<Experiment, Diagnostic> {
    with_definitions(text, source, &overrides.changes, |table, definitions| {
        experiment(table, definitions, source, overrides)
    })
}

/// The mechanisms that the config at `source` defines.
pub fn defined(source: &Source) -> Result<Vec<Mechanism>, Diagnostic> {
    with_definitions(&text(source)?, source, &[], |_, definitions| definitions.all())
}

/// What `work` makes of the text of a config and of the mechanisms that it defines, or that the files
/// define which it names.
fn with_definitions<T>(
    text: &str,
    source: &Source,
    changes: &[Change],
    work: impl FnOnce(Table, &Definitions) -> Result<T, Diagnostic>,
) -> Result<T, Diagnostic> {
    let file = source.to_string();
    let changes = Changes::new(changes, text)?;
    let text = Text { file: &file, text, later: &changes.later };
    let mut parsed = text.parse()?;
    changes.make(parsed.get_mut())?;
    let mut table = Table::new(text, parsed.get_ref());
    let define = table.take("define");
    let others = define.map_or(Ok(Vec::new()), |define| own_mechanisms::files(&define, source))?;
    let mut texts = Vec::new();
    for other in &others {
        texts.push((other.to_string(), self::text(other)?));
    }
    let texts: Vec<Text> = texts.iter().map(|(file, text)| Text::new(file, text)).collect();
    let parsed: Vec<_> = texts.iter().map(|text| text.parse()).collect::<Result<_, _>>()?;
    let mut definitions = Definitions::default();
    for ((text, parsed), other) in texts.iter().zip(&parsed).zip(&others) {
        if let Some(define) = Table::new(*text, parsed.get_ref()).take("define") {
            definitions.add(&define, other)?;
        }
    }
    if let Some(define) = define {
        definitions.add(&define, source)?;
    }
    work(table, &definitions)
}

fn experiment<'a>(
    mut table: Table<'a>,
    definitions: &'a Definitions<'a>,
    source: &'a Source,
    overrides: &Overrides,
) -> Result<Experiment, Diagnostic> {
    // A mistyped key is both unknown and missing. It is reported as unknown: the result of `require`
    // is looked at only after all tables are finished.
    let name = table.require("name", "name = \"my_experiment\"");
    let title = table.take("title").map(|node| node.label()).transpose()?;
    let place = table.take("source").map(|node| node.label()).transpose()?;
    let notes = table.take("notes").map_or(Ok(Vec::new()), |node| texts(&node))?;
    let seed = table.take("seed").map_or(Ok(0), |node| seed(&node))?;
    let seed = overrides.seed.unwrap_or(seed);
    let earlier = table.take("changes").map_or(Ok(Vec::new()), |node| texts(&node))?;
    let tables = match table.take("panel") {
        None => vec![],
        Some(node) => node.list()?,
    };
    let compares = overrides.changes.is_empty();
    let context = Context { source, definitions, seed, compares, runs: overrides.runs };
    let mut panels = if tables.is_empty() {
        let open = Open::take(&mut table);
        table.finish()?;
        vec![context.panel(open, String::new(), Taken::default())?]
    } else {
        several(table, &tables, &context)?
    };
    let name = overrides.name_of(folder_name(&name?)?);
    let title = title.unwrap_or_else(|| name.clone());
    for panel in panels.iter_mut().filter(|panel| panel.title.is_empty()) {
        panel.title.clone_from(&title);
    }
    let is_original = matches!(source, Source::Bundle(_)) && overrides.changes.is_empty();
    let place = place.map(|place| match is_original {
        true => place,
        false => attribution::attributed(&place, &panels),
    });
    let changes = earlier.into_iter().chain(overrides.changes.iter().map(Change::to_string));
    let changes = changes.collect();
    let mut experiment = Experiment { name, title, source: place, notes, seed, changes, panels };
    experiment.share_tuning(&Arc::default());
    Ok(experiment)
}

/// Several panels: each inherits what it does not set.
fn several<'a>(
    mut table: Table<'a>,
    nodes: &[Node<'a>],
    context: &Context<'a>,
) -> Result<Vec<Panel>, Diagnostic> {
    let mut opened = Vec::new();
    for node in nodes {
        let mut inner = node.table("[[panel]] with id = \"a\"")?.within(&table);
        let open = Open::take(&mut inner);
        table.know(&inner);
        let missing = || node.wrong("a panel has no `id`").help("add for example id = \"a\"");
        let id = inner.take_own("id").ok_or_else(missing)?;
        inner.finish()?;
        opened.push((id, open));
    }
    let shared = panel::own_keys(&mut table);
    table.finish()?;
    let mut panels: Vec<Panel> = Vec::new();
    let (mut names, mut taken) = (HashSet::new(), Taken::default());
    for (id, open) in opened {
        let name = folder_name(&id)?;
        if !names.insert(name.clone()) {
            return Err(id
                .wrong(format!("two panels are called `{name}`"))
                .help("give each panel an id of its own"));
        }
        let panel = context.panel(open, name, taken)?;
        taken = taken.and(&panel);
        panels.push(panel);
    }
    panel::check_shared(&shared, &panels)?;
    Ok(panels)
}

fn texts(node: &Node) -> Result<Vec<String>, Diagnostic> {
    node.one_or_list()?.iter().map(Node::label).collect()
}

/// TOML's whole numbers end at 2⁶³ − 1, and so do seeds.
fn seed(node: &Node) -> Result<u64, Diagnostic> {
    let seed = node.whole()?;
    if i64::try_from(seed).is_err() {
        return Err(node
            .wrong(format!("the seed {seed} is too large"))
            .help("use a seed below 2^63"));
    }
    Ok(seed)
}

/// The name becomes a folder: letters, digits, `_`, `-`, `.` and `=`, not hidden.
fn folder_name(node: &Node) -> Result<String, Diagnostic> {
    let name = node.string()?;
    check_name(name).map_err(|Refusal { cause, remedy, .. }| node.wrong(cause).help(remedy))?;
    Ok(name.to_owned())
}

/// Refuses what cannot be the name of a folder.
pub fn check_name(name: &str) -> Result<(), Refusal> {
    let plain = |c: char| c.is_alphanumeric() || "_-.=".contains(c);
    let length = name.chars().count();
    // Letters may take several bytes each, and file systems allow 255 in all.
    let fits = (1..=100).contains(&length) && name.len() <= 200;
    match fits && !name.starts_with('.') && name.chars().all(plain) {
        true => Ok(()),
        false => Err(Refusal::new(
            format!("`{name}` cannot be the name of a results folder"),
            "use at most 100 letters, digits, `_`, `-`, `.` and `=`",
        )),
    }
}

/// The name of a file that a config calls `named`, such that it is found from the results folder, too.
fn lasting_name(source: &Source, named: &str) -> String {
    match source {
        Source::Disk(path) => {
            std::path::absolute(path).unwrap_or(path.clone()).display().to_string()
        }
        Source::Bundle(_) => named.to_owned(),
    }
}

/// A number, a list or a range of numbers, each checked; nothing if the key is absent.
fn numbers<T>(
    node: Option<Node>,
    check: impl Fn(f64) -> Result<T, Refusal>,
) -> Result<Vec<T>, Diagnostic> {
    let Some(node) = node else { return Ok(Vec::new()) };
    let checked = |(element, value): (Node, f64)| in_range(&element, value, &check);
    range::numbers(&node)?.into_iter().map(checked).collect()
}

fn privacy_number<T>(
    node: &Node,
    check: impl Fn(f64) -> Result<T, Refusal>,
) -> Result<T, Diagnostic> {
    in_range(node, node.number()?, check)
}

fn in_range<T>(
    node: &Node,
    value: f64,
    check: impl Fn(f64) -> Result<T, Refusal>,
) -> Result<T, Diagnostic> {
    check(value).map_err(|refusal| node.wrong(refusal.cause).help(refusal.remedy))
}
