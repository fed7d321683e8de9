//! Values that the command line sets in place of a config's own: `--set KEY=VALUE`.

use std::borrow::Cow;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::LARGEST_CONFIG;
use crate::experiment::value::Later;
use crate::run::store::sha256;
use system::diagnostic::{Diagnostic, Place};

/// More than the keys of any config have. Thousands of tables in one another would overflow the stack.
const MOST_PARTS: usize = 20;

/// A key, and the TOML value that it is set to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The parts of the key: `panel.epsilon` has two.
    path: Vec<String>,
    /// How many bytes stand before the value.
    before: usize,
    /// `key = value`, as it would stand in a config.
    toml: String,
}

impl Change {
    /// Reads `KEY=VALUE`. A plain word that is no TOML value is taken for a text.
    pub fn parse(typed: &str) -> Result<Self, Diagnostic> {
        let wrong = |cause: &str| {
            Diagnostic::new(cause)
                .at(Place::span(Later::FILE, typed, 0..typed.len()))
                .help("write KEY=VALUE, such as epsilon=0.5 or 'prior=[2, 2]'")
        };
        let (key, value) = typed.split_once('=').ok_or_else(|| wrong("there is no `=`"))?;
        let path: Vec<String> = key.split('.').map(|part| part.trim().to_owned()).collect();
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
        let is_part = |part: &String| !part.is_empty() && part.chars().all(is_plain);
        if path.len() > MOST_PARTS || !path.iter().all(is_part) {
            return Err(wrong("what stands before `=` is no key"));
        }
        let (key, value) = (path.join("."), value.trim());
        let before = key.len() + " = ".len();
        let change = |value: &str| Self { path, before, toml: format!("{key} = {value}") };
        let is_word = |c: char| c.is_ascii_alphanumeric() || "_-+:./".contains(c);
        match DeValue::parse(value) {
            Ok(_) => Ok(change(value)),
            Err(_)
                if value.starts_with(|c: char| c.is_ascii_alphabetic())
                    && value.chars().all(is_word) =>
            {
                Ok(change(&format!("\"{value}\"")))
            }
            Err(error) => {
                let change = change(value);
                let span = error.span().unwrap_or(0..value.len());
                let span = before + span.start..before + span.end;
                let message = error.message().replace('\n', ", ");
                Err(Diagnostic::new(format!("this is not a TOML value: {message}"))
                    .at(Place::span(Later::FILE, &change.toml, span))
                    .help("write a number, a \"text\", a [list], true or false"))
            }
        }
    }

    fn value(&self) -> &str {
        &self.toml[self.before..]
    }

    /// Whether it sets this key of the whole experiment.
    pub fn sets(&self, key: &str) -> bool {
        self.path == [key]
    }

    /// Key and value in letters that the name of a folder can have.
    fn slug(&self) -> String {
        let key = self.path.last().map_or("", String::as_str);
        let letter = |c: char| if is_told(c) { c } else { ' ' };
        let value: String = self.value().chars().map(letter).collect();
        format!("{key}={}", value.split_whitespace().collect::<Vec<_>>().join("_"))
    }

    /// Whether the slug of another value would be another one.
    fn is_told(&self) -> bool {
        self.value().chars().all(|c| is_told(c) || " ,[]\"".contains(c))
    }

    fn wrong(&self, cause: String) -> Diagnostic {
        Diagnostic::new(cause).at(Place::span(Later::FILE, &self.toml, 0..self.toml.len()))
    }
}

fn is_told(c: char) -> bool {
    c.is_alphanumeric() || "_-.".contains(c)
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.toml)
    }
}

/// Changes that are made to one config, and where their values stand: behind its text, one after the other.
pub struct Changes<'a> {
    all: &'a [Change],
    /// The values as those of a key, each behind as many spaces as there is text before it.
    padded: Vec<String>,
    pub later: Vec<Later<'a>>,
}

impl<'a> Changes<'a> {
    pub fn new(all: &'a [Change], text: &str) -> Result<Self, Diagnostic> {
        if text.len().saturating_mul(all.len()) > 16 * LARGEST_CONFIG {
            let cause = "this config is too large for so many changes";
            return Err(Diagnostic::new(cause).help("change a copy of the file instead"));
        }
        let (mut padded, mut later, mut start) = (Vec::new(), Vec::new(), text.len() + 1);
        for change in all {
            let spaces = start + change.before - VALUE.len();
            padded.push([&" ".repeat(spaces), VALUE, change.value()].concat());
            later.push(Later { start, text: &change.toml });
            start += change.toml.len() + 1;
        }
        Ok(Self { all, padded, later })
    }

    /// Makes them.
    pub fn make<'t>(&'t self, table: &mut DeTable<'t>) -> Result<(), Diagnostic> {
        for (change, padded) in self.all.iter().zip(&self.padded) {
            let parsed = DeTable::parse(padded).map(Spanned::into_inner);
            let parsed = parsed.ok().and_then(|table| table.into_iter().next());
            let wrong = || change.wrong("this is not a TOML value".to_owned());
            let (_, value) = parsed.ok_or_else(wrong)?;
            match &change.path[..] {
                [first, rest @ ..] if first == PANEL && !rest.is_empty() => {
                    let mut panels = panels(table, change)?;
                    // `panel.a.epsilon` is the ε of the panel whose id is `a`.
                    let is_id = |panel: &&mut DeTable| id(panel) == Some(rest[0].as_str());
                    let one = panels.iter().position(is_id).filter(|_| rest.len() > 1);
                    match one {
                        Some(place) => set(panels.swap_remove(place), change, &rest[1..], &value)?,
                        None => panels
                            .into_iter()
                            .try_for_each(|panel| set(panel, change, rest, &value))?,
                    }
                }
                path => {
                    refuse_hidden(table, change)?;
                    set(table, change, path, &value)?;
                }
            }
        }
        Ok(())
    }
}

/// What stands before a value that is parsed alone: as little as before any value.
const VALUE: &str = "v = ";

/// The key of the panels.
const PANEL: &str = "panel";

/// The tables of all panels.
fn panels<'m, 't>(
    table: &'m mut DeTable<'t>,
    change: &Change,
) -> Result<Vec<&'m mut DeTable<'t>>, Diagnostic> {
    let found = match table.get_mut(PANEL).map(Spanned::get_mut) {
        Some(DeValue::Array(all)) => all.iter_mut().map(Spanned::get_mut).collect(),
        _ => Vec::new(),
    };
    let tables: Vec<&mut DeTable> = found.into_iter().filter_map(as_table).collect();
    if tables.is_empty() {
        let key = change.path[1..].join(".");
        return Err(change
            .wrong("this experiment has no [[panel]]".to_owned())
            .help(format!("set the experiment's own key: --set {key}=…")));
    }
    Ok(tables)
}

fn as_table<'m, 't>(value: &'m mut DeValue<'t>) -> Option<&'m mut DeTable<'t>> {
    match value {
        DeValue::Table(table) => Some(table),
        _ => None,
    }
}

fn id<'a>(panel: &'a DeTable) -> Option<&'a str> {
    panel.get("id").and_then(|id| id.get_ref().as_str())
}

/// Refuses to set a key for the whole experiment where panels have their own, which would hide it. A title
/// belongs to the experiment or to a panel, and hides nothing.
fn refuse_hidden(table: &mut DeTable, change: &Change) -> Result<(), Diagnostic> {
    let key = change.path[0].as_str();
    if key == "title" {
        return Ok(());
    }
    let own = panels(table, change).unwrap_or_default();
    let own = own.iter().filter(|panel| panel.contains_key(key));
    let names: Vec<String> = own.map(|panel| format!("`{}`", id(panel).unwrap_or("?"))).collect();
    if names.is_empty() {
        return Ok(());
    }
    let panels = if names.len() == 1 { "the panel" } else { "the panels" };
    let cause = format!("{panels} {} would keep `{key}` as it is", names.join(", "));
    let toml = change.toml.replace(" = ", "=");
    Err(change
        .wrong(cause)
        .help(format!("--set '{PANEL}.{toml}' sets it in all panels, and {PANEL}.ID.{key} in one")))
}

/// Sets the value at `path`, and makes the tables on the way that are missing.
fn set<'t>(
    table: &mut DeTable<'t>,
    change: &'t Change,
    path: &'t [String],
    value: &Spanned<DeValue<'t>>,
) -> Result<(), Diagnostic> {
    let [key, rest @ ..] = path else { return Ok(()) };
    let start = value.span().start - change.before;
    let whole_key = start..start + change.before - " = ".len();
    let spanned = || Spanned::new(whole_key.clone(), Cow::Borrowed(key.as_str()));
    if rest.is_empty() {
        table.insert(spanned(), value.clone());
        return Ok(());
    }
    if !table.contains_key(key.as_str()) {
        table.insert(spanned(), Spanned::new(value.span(), DeValue::Table(DeTable::new())));
    }
    let inner = table.get_mut(key.as_str()).and_then(|inner| as_table(inner.get_mut()));
    let inner = inner.ok_or_else(|| {
        change
            .wrong(format!("`{key}` is not a table here"))
            .help(format!("set it as a whole: {key}=…"))
    })?;
    set(inner, change, rest, value)
}

/// The name of an experiment with these changes: it says what they are.
pub fn changed_name(name: &str, changes: &[Change]) -> String {
    const LONGEST: usize = 80;
    if changes.is_empty() {
        return name.to_owned();
    }
    let slugs: String = changes.iter().map(|change| format!("-{}", change.slug())).collect();
    let changed = format!("{name}{slugs}");
    if changed.chars().count() <= LONGEST && changes.iter().all(Change::is_told) {
        return changed;
    }
    let all: String = changes.iter().map(|change| change.toml.clone() + "\n").collect();
    let start: String = changed.chars().take(LONGEST - 10).collect();
    format!("{start}-{}", &sha256(all.as_bytes())[..8])
}
