//! Mechanisms of the user's own: a table with an expression or a file, or the name of a definition.
//!
//! Keys that are no options are parameters of the expression. A list of numbers makes a family: one
//! mechanism for each.

use std::collections::HashMap;

use serde_json::{Value as Json, json};

use super::asked::{Asked, options};
use super::{lasting_name, range};
use crate::experiment::value::shape::or_default;
use crate::experiment::value::{Node, Table};
use engine::expression::{self, Expression};
use engine::mechanism::own::{
    self, CANDIDATE_SETS, NOISE, Name, NoisyCounts, Parameter, ProbabilityTable, Purpose, TABLE,
    TableError, Vocabulary, WEIGHTS,
};
use engine::mechanism::{self, Definition, Kind, Mechanism};
use engine::named::Named;
use engine::refusal::Refusal;
use engine::refusal::nearest;
use system::diagnostic::{Diagnostic, Place};
use system::hash::sha256;
use system::source::Source;

/// The most mechanisms of one family.
const MOST_MEMBERS: usize = 1000;

/// The definitions that mechanisms may name, each with the file in which it stands.
#[derive(Default)]
pub struct Definitions<'a> {
    all: Vec<(Node<'a>, &'a Source)>,
    /// The place of every name: there may be many.
    places: HashMap<&'a str, usize>,
}

impl<'a> Definitions<'a> {
    /// Adds those of the table `[define]`, which stands in the file `source`.
    pub fn add(&mut self, define: &Node<'a>, source: &'a Source) -> Result<(), Diagnostic> {
        for node in define.table(EXAMPLE)?.entries() {
            if node.key() == FROM {
                continue;
            }
            let name = node.key();
            let taken = mechanism::find_any(name).is_some() || own::is_kind(name);
            if taken || name.contains('+') || name.trim().is_empty() {
                return Err(node
                    .wrong(format!("`{name}` cannot be the name of a definition"))
                    .help("use a name that no mechanism has, without `+`"));
            }
            if self.find(name).is_some() {
                return Err(node
                    .wrong(format!("`{name}` is defined twice"))
                    .help("give one of the two definitions another name"));
            }
            node.table(EXAMPLE)?;
            self.places.insert(name, self.all.len());
            self.all.push((node, source));
        }
        Ok(())
    }

    pub fn names(&self) -> impl Iterator<Item = &'a str> {
        self.all.iter().map(|(node, _)| node.key())
    }

    fn find(&self, name: &str) -> Option<(Node<'a>, &'a Source)> {
        self.places.get(name).map(|&place| self.all[place])
    }

    /// The mechanisms that the definition called `node.string()` stands for.
    pub fn named(&self, node: &Node<'a>) -> Option<Result<Vec<Asked<'a>>, Diagnostic>> {
        let (definition, source) = self.find(node.string().ok()?)?;
        let own = Own { node: *node, name: Some(definition.key()), source };
        Some(definition.table(EXAMPLE).and_then(|table| own.read(table)))
    }

    /// The mechanisms that a table asks for, if its id is a definition or a kind of definition.
    pub fn with_options(
        &self,
        node: &Node<'a>,
        id: &str,
        source: &'a Source,
    ) -> Option<Result<Vec<Asked<'a>>, Diagnostic>> {
        let mut table = node.table(EXAMPLE).ok()?;
        if own::is_kind(id) {
            return Some(Own { node: *node, name: None, source }.read(table));
        }
        let (definition, place) = self.find(id)?;
        // The id is the definition's name. That of the definition is its kind.
        table.take_own("id");
        let own = Own { node: *node, name: Some(definition.key()), source: place };
        Some(definition.table(EXAMPLE).and_then(|mut around| {
            let kind = around.require("id", "id = \"weights\"")?;
            own.read_as(table.within(&around), &kind)
        }))
    }

    /// All of them, as far as they stand for themselves.
    pub fn all(&self) -> Result<Vec<Mechanism>, Diagnostic> {
        let mut variants = Vec::new();
        for &(node, source) in &self.all {
            let own = Own { node, name: Some(node.key()), source };
            let asked = own.read(node.table(EXAMPLE)?)?;
            variants.extend(asked.into_iter().map(|asked| asked.variant));
        }
        Ok(variants)
    }
}

/// The files with further definitions that the table `[define]` names, by their places.
pub fn files(define: &Node, source: &Source) -> Result<Vec<Source>, Diagnostic> {
    let mut table = define.table(EXAMPLE)?;
    let Some(from) = table.take(FROM) else { return Ok(Vec::new()) };
    from.one_or_list()?.iter().map(|file| Ok(source.relative(file.string()?))).collect()
}

/// A key that says what a definition gives. One without a default must be given.
pub struct DefinitionKey {
    pub name: &'static str,
    /// The kinds of definitions that have it.
    pub kinds: &'static [&'static str],
    pub about: &'static str,
    pub schema: fn() -> Json,
    /// Its value, as a config would give it.
    pub write: fn(&Definition) -> Option<&str>,
}

pub const KEYS: &[DefinitionKey] = &[
    DefinitionKey {
        name: "log_weight",
        kinds: &[WEIGHTS.id, NOISE.id],
        about: "The logarithm of a weight, such as \"-epsilon * H / (2 * GS)\".",
        schema: || json!({ "type": "string", "minLength": 1 }),
        write: |definition| definition.log_weight(),
    },
    DefinitionKey {
        name: "outputs",
        kinds: &[WEIGHTS.id],
        about: "Of weights: the candidates, or all counts that sum to n or less.",
        schema: || names(&CANDIDATE_SETS),
        write: |definition| match definition {
            Definition::Weights { outputs, .. } => Some(outputs.id()),
            _ => None,
        },
    },
    DefinitionKey {
        name: "on",
        kinds: &[NOISE.id],
        about: "Of noise: every count, or the first k − 1, so that the last restores the total.",
        schema: || names(NoisyCounts::ALL),
        write: |definition| match definition {
            Definition::Noise { on, .. } => Some(on.id()),
            _ => None,
        },
    },
    DefinitionKey {
        name: "path",
        kinds: &[TABLE.id],
        about: "Of a table: a CSV file with the columns counts, output, probability.",
        schema: || json!({ "type": "string" }),
        write: |definition| match definition {
            Definition::Table { path, .. } => Some(path),
            _ => None,
        },
    },
];

/// One of the names of these.
fn names<T: Named + Default>(among: &[T]) -> Json {
    let names: Vec<&str> = among.iter().map(|one| one.id()).collect();
    or_default(json!({ "enum": names }), T::default().id())
}

/// The one of these that a key names, or the usual one.
fn chosen<T: Named + Default>(node: Option<Node>, among: &[T]) -> Result<T, Diagnostic> {
    let known: Vec<(&str, T)> = among.iter().map(|&one| (one.id(), one)).collect();
    node.map_or(Ok(T::default()), |node| node.one_of(&known))
}

/// The key of `[define]` that names files with further definitions.
const FROM: &str = "from";

const EXAMPLE: &str = "{ id = \"weights\", log_weight = \"-epsilon * H / (2 * GS)\" }";

/// How a mechanism is made of its parameters.
type Make<'a> = dyn Fn(Vec<Parameter>) -> Result<Kind, Refusal> + 'a;

/// A table that defines mechanisms.
struct Own<'a> {
    /// Where they are asked for.
    node: Node<'a>,
    name: Option<&'a str>,
    /// The file with the definition.
    source: &'a Source,
}

impl<'a> Own<'a> {
    /// Reads a table whose id is the kind of definition.
    fn read(&self, mut table: Table<'a>) -> Result<Vec<Asked<'a>>, Diagnostic> {
        let kind = table.require("id", "id = \"weights\"")?;
        self.read_as(table, &kind)
    }

    fn read_as(&self, mut table: Table<'a>, kind: &Node) -> Result<Vec<Asked<'a>>, Diagnostic> {
        let known: Vec<(&str, &Kind)> = own::KINDS.iter().map(|&kind| (kind.id, kind)).collect();
        let kind = kind.one_of(&known)?;
        let label = table.take("label").map(|node| node.label()).transpose()?;
        let options = options(&mut table, kind.choices, kind.id)?;
        if kind.id == TABLE.id {
            let path = table.require("path", "path = \"mine.csv\"");
            table.finish()?;
            let mechanism = self.table(&path?)?;
            let label = label.or(self.name.map(str::to_owned)).unwrap_or(kind.id.to_owned());
            let variant = Mechanism::new(mechanism, options, label);
            return Ok(vec![Asked { variant, node: self.node, log_weight: None }]);
        }
        let log_weight = table.require("log_weight", "log_weight = \"-epsilon * H / (2 * GS)\"")?;
        let text = log_weight.string()?;
        let (purpose, make): (Purpose, Box<Make>) = if kind.id == NOISE.id {
            let on = chosen(table.take("on"), NoisyCounts::ALL)?;
            (Purpose::Noise, Box::new(move |parameters| own::noise(text, on, parameters)))
        } else {
            let set = chosen(table.take("outputs"), &CANDIDATE_SETS)?;
            (Purpose::Weights, Box::new(move |parameters| own::weights(text, set, parameters)))
        };
        let grid = parameters(&table, &log_weight, purpose)?;
        let mechanism =
            |parameters| make(parameters).map_err(|fault| in_expression(&log_weight, fault));
        let base = label.or(self.name.map(str::to_owned));
        let members = grid.members(&self.node)?;
        let asked = members.into_iter().map(|(parameters, varied)| {
            let label = match (&base, varied.is_empty()) {
                (None, true) => kind.id.to_owned(),
                (None, false) => varied,
                (Some(base), true) => base.clone(),
                (Some(base), false) => format!("{base}, {varied}"),
            };
            let variant = Mechanism::new(mechanism(parameters)?, options, label);
            Ok(Asked { variant, node: self.node, log_weight: Some(log_weight) })
        });
        asked.collect()
    }

    fn table(&self, path: &Node) -> Result<Kind, Diagnostic> {
        let source = self.source.relative(path.string()?);
        let bytes = source
            .read()
            .map_err(|error| path.wrong(error.cause()).help("give the path of a CSV file"))?;
        tabled(&source, &bytes, lasting_name(&source, path.string()?))
    }
}

/// The mechanism of a table of probabilities. `name` says where it can be found again.
pub fn tabled(source: &Source, bytes: &[u8], name: String) -> Result<Kind, Diagnostic> {
    let table = ProbabilityTable::parse(bytes).map_err(|TableError { line, refusal }| {
        Diagnostic::from(refusal).at(Place::line(source.to_string(), line as usize))
    })?;
    Ok(own::table(name, sha256(bytes), table))
}

/// A fault, with a mark below the part of the expression that is meant.
pub fn in_expression(log_weight: &Node, fault: Refusal) -> Diagnostic {
    log_weight.wrong_within(fault.cause, fault.span.unwrap_or_default()).help(fault.remedy)
}

/// The numbers of every parameter.
struct Parameters {
    all: Vec<(String, Vec<f64>)>,
}

/// The keys of a table that are no options: they must be names of numbers that the expression uses.
fn parameters(
    table: &Table,
    log_weight: &Node,
    purpose: Purpose,
) -> Result<Parameters, Diagnostic> {
    // In a fixed order: a definition is the same, however it is written.
    let mut nodes = table.left();
    nodes.sort_by_key(|node| node.key());
    let mut all = Vec::new();
    for node in &nodes {
        let name = node.key();
        let letters = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if !is_name || !name.chars().all(letters) {
            return Err(node
                .wrong(format!("`{name}` cannot be a name in an expression"))
                .help("use letters, digits and `_`, and begin with a letter"));
        }
        if Name::find(name).is_some() || expression::is_reserved(name) {
            return Err(node
                .wrong(format!("`{name}` has a meaning of its own in an expression"))
                .help("give the parameter another name"));
        }
        let values = range::numbers(node)?;
        if let Some((element, value)) = values.iter().find(|(_, value)| !value.is_finite()) {
            return Err(element.wrong(format!("`{name}` is {value}")).help("use a finite number"));
        }
        all.push((name.to_owned(), values.into_iter().map(|(_, value)| value).collect()));
    }
    let parameters = Parameters { all };
    // What the expression does not use is a mistake, most often a mistyped option.
    let text = log_weight.string()?;
    for node in &nodes {
        let others = parameters.all.iter().filter(|(name, _)| name != node.key());
        let others: Vec<Parameter> = others
            .map(|(name, values)| Parameter { name: name.clone(), value: values[0] })
            .collect();
        if Expression::parse(text, &Vocabulary { purpose, parameters: &others }).is_ok() {
            let meant = nearest(node.key(), &table.known());
            let remedy = match meant {
                Some(option) => format!("did you mean `{option}`?"),
                None => "leave it out, or use it in log_weight".to_owned(),
            };
            let cause = format!("the expression does not use `{}`", node.key());
            return Err(node.wrong(cause).help(remedy));
        }
    }
    Ok(parameters)
}

impl Parameters {
    /// Every combination, with the values of those that vary, as a label.
    fn members(&self, node: &Node) -> Result<Vec<(Vec<Parameter>, String)>, Diagnostic> {
        let count = self.all.iter().try_fold(1_usize, |all, (_, v)| all.checked_mul(v.len()));
        if count.is_none_or(|count| count > MOST_MEMBERS) {
            return Err(node
                .wrong(format!("this family has more than {MOST_MEMBERS} mechanisms"))
                .help("give its parameters fewer numbers"));
        }
        let mut members = vec![(Vec::new(), Vec::new())];
        for (name, values) in &self.all {
            let with = |(parameters, varied): (Vec<Parameter>, Vec<String>)| {
                values.iter().map(move |&value| {
                    let (mut parameters, mut varied) = (parameters.clone(), varied.clone());
                    parameters.push(Parameter { name: name.clone(), value });
                    if values.len() > 1 {
                        varied.push(format!("{name} = {}", own::compact(value)));
                    }
                    (parameters, varied)
                })
            };
            members = members.into_iter().flat_map(with).collect();
        }
        Ok(members.into_iter().map(|(all, varied)| (all, varied.join(", "))).collect())
    }
}
