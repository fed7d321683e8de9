//! The table `[data]`.

use std::collections::HashSet;

use serde_json::{Map, Value as Json, json};
use toml::Value;

use super::range;
use crate::experiment::DataSpec;
use crate::experiment::data_file;
use crate::experiment::value::shape::{self, about, keys, label, list, one_or_list};
use crate::experiment::value::{Node, Table, checked_size, formula_cause, is_formula, size, whole};
use engine::posterior::model::{Counts, MOST_RECORDS, is_countable};
use system::diagnostic::Diagnostic;
use system::source::Source;

/// How far proportions may miss 1 in sum.
const PROPORTION_SLACK: f64 = 1e-9;

/// The simplest source.
pub const EXAMPLE: &str = "[data.balanced] with sizes = [100]";

/// A source of data.
struct DataSource {
    name: &'static str,
    about: &'static str,
    /// Its keys, and what they may be.
    keys: fn() -> Map<String, Json>,
    required: &'static [&'static str],
    read: fn(Table, &Source) -> Result<DataSpec, Diagnostic>,
}

const SOURCES: [DataSource; 6] = [
    DataSource {
        name: "balanced",
        about: "n records, split evenly or in proportions.",
        keys: || {
            let proportions = about(list(&share()), "One for each category; they sum to 1.");
            keys([("sizes", shape::sizes(MOST_RECORDS)), ("proportions", proportions)])
        },
        required: &["sizes"],
        read: |table, _| balanced(table),
    },
    DataSource {
        name: "counts",
        about: "Data sets written out as counts.",
        keys: || {
            let vector = list(&shape::whole(0, MOST_RECORDS));
            let vectors = json!({ "anyOf": [vector, list(&vector)] });
            let at = one_or_list(json!({ "type": "number" }));
            let words = "The counts of one data set, or a list of data sets.";
            keys([
                ("counts", about(vectors, words)),
                ("at", about(at, "A position on the axis for each data set.")),
                ("at_label", about(label(), "The label of this axis.")),
                ("labels", about(one_or_list(label()), "A name for each data set.")),
            ])
        },
        required: &["counts"],
        read: |table, _| counts(table),
    },
    DataSource {
        name: "file",
        about: "A histogram (category,count) or a raw table.",
        keys: || {
            let text = json!({ "type": "string" });
            keys([
                (
                    "path",
                    about(
                        one_or_list(text.clone()),
                        "CSV files, relative to this config, or bundled:NAME.",
                    ),
                ),
                ("column", about(text.clone(), "The column of a raw table.")),
                ("categories", about(list(&text), "Its categories, in the prior's order.")),
            ])
        },
        required: &["path"],
        read: file,
    },
    DataSource {
        name: "line",
        about: "Every data set of two categories; the first count is the position on the axis.",
        keys: || keys([("sizes", shape::sizes(LONGEST_LINE))]),
        required: &["sizes"],
        read: |table, _| line(table),
    },
    DataSource {
        name: "predictive",
        about: "Drawn from the prior predictive distribution, with the seed.",
        keys: || keys([("sizes", shape::sizes(MOST_DRAWN))]),
        required: &["sizes"],
        read: |table, _| predictive(table),
    },
    DataSource {
        name: "shares",
        about: "The first category has its share of n, and the others have equal parts of the rest.",
        keys: || {
            let shares = shape::numbers(share());
            let shares = about(shares, "The first category's share of the records.");
            keys([("sizes", shape::sizes(MOST_RECORDS)), ("shares", shares)])
        },
        required: &["sizes", "shares"],
        read: |table, _| shares(table),
    },
];

/// The most records whose data sets are all settings of one experiment.
const LONGEST_LINE: u64 = 100_000;

/// The largest number of records drawn from a predictive law: a second's work.
const MOST_DRAWN: u64 = 100_000_000;

fn share() -> Json {
    json!({ "type": "number", "minimum": 0, "maximum": 1 })
}

/// What the table `[data]` may be.
pub fn schema() -> Json {
    let source = |source: &DataSource| {
        let table = about(shape::object((source.keys)(), source.required), source.about);
        (source.name.to_owned(), table)
    };
    json!({
        "type": "object",
        "description": "Where the data come from: exactly one source.",
        "additionalProperties": false,
        "minProperties": 1,
        "maxProperties": 1,
        "properties": Map::from_iter(SOURCES.iter().map(source)),
    })
}

/// The table `[data]`, written again.
pub fn write(spec: &DataSpec) -> Value {
    let wholes =
        |values: &[u64]| Some(values.iter().copied().map(whole).collect::<Vec<_>>().into());
    let (name, keys) = match spec {
        DataSpec::Balanced { sizes, proportions } => {
            let proportions = proportions.clone().map(Value::from);
            ("balanced", vec![("sizes", wholes(sizes)), ("proportions", proportions)])
        }
        DataSpec::Counts { counts, at, at_label, labels } => {
            let counts = counts.iter().filter_map(|counts| wholes(counts)).collect::<Vec<_>>();
            let keys = vec![
                ("counts", Some(counts.into())),
                ("at", at.clone().map(Value::from)),
                ("at_label", at_label.clone().map(Value::from)),
                ("labels", labels.clone().map(Value::from)),
            ];
            ("counts", keys)
        }
        DataSpec::Line { sizes } => ("line", vec![("sizes", wholes(sizes))]),
        DataSpec::Shares { sizes, shares } => {
            ("shares", vec![("sizes", wholes(sizes)), ("shares", Some(shares.clone().into()))])
        }
        DataSpec::Predictive { sizes } => ("predictive", vec![("sizes", wholes(sizes))]),
    };
    let given = keys.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    let inner: toml::Table = given.collect();
    toml::Table::from_iter([(name.to_owned(), inner.into())]).into()
}

/// Reads the table `[data]`, which must hold one source.
pub fn read(node: &Node, config: &Source) -> Result<DataSpec, Diagnostic> {
    let mut table = node.table(EXAMPLE)?;
    let take = |source: &'static DataSource| table.take(source.name).map(|node| (source, node));
    let found: Vec<(&DataSource, Node)> = SOURCES.iter().filter_map(take).collect();
    table.finish()?;
    let [(source, node)] = found[..] else {
        let problem = if found.is_empty() { "no source" } else { "more than one source" };
        let names = SOURCES.map(|source| source.name).join("], [data.");
        return Err(node
            .wrong(format!("`data` names {problem}"))
            .help(format!("give exactly one of [data.{names}]")));
    };
    (source.read)(node.table(EXAMPLE)?, config)
}

/// A number of records, a list or a range of them.
fn sizes(node: &Node) -> Result<Vec<u64>, Diagnostic> {
    range::wholes(node)?.iter().map(|(node, size)| checked_size(node, *size)).collect()
}

fn balanced(mut table: Table) -> Result<DataSpec, Diagnostic> {
    let proportions = table.take("proportions").map(|node| proportions(&node)).transpose()?;
    let node = table.require("sizes", "sizes = [100, 200]");
    table.finish()?;
    Ok(DataSpec::Balanced { sizes: sizes(&node?)?, proportions })
}

fn shares(mut table: Table) -> Result<DataSpec, Diagnostic> {
    let sizes_node = table.require("sizes", "sizes = [100, 200]");
    let shares_node = table.require("shares", "shares = [0.5, 0.7, 0.9]");
    table.finish()?;
    let share = |(node, share): (Node, f64)| match share {
        0.0..=1.0 => Ok(share),
        _ => Err(node
            .wrong(format!("the share {share} does not lie between 0 and 1"))
            .help("write for example shares = [0.5, 0.7, 0.9]")),
    };
    let sizes = sizes(&sizes_node?)?;
    let shares = range::numbers(&shares_node?)?.into_iter().map(share).collect::<Result<_, _>>()?;
    Ok(DataSpec::Shares { sizes, shares })
}

fn proportions(node: &Node) -> Result<Vec<f64>, Diagnostic> {
    let values = node.list()?.iter().map(Node::number).collect::<Result<Vec<_>, _>>()?;
    if let Some(bad) = values.iter().find(|p| !(0.0..=1.0).contains(*p)) {
        return Err(node
            .wrong(format!("the proportion {bad} does not lie between 0 and 1"))
            .help("write for example proportions = [0.33, 0.33, 0.34]"));
    }
    let sum: f64 = values.iter().sum();
    if (sum - 1.0).abs() > PROPORTION_SLACK {
        return Err(node
            .wrong(format!("the proportions sum to {sum}, not to 1"))
            .help("write for example proportions = [0.33, 0.33, 0.34]"));
    }
    Ok(values)
}

fn counts(mut table: Table) -> Result<DataSpec, Diagnostic> {
    let vectors = table.require("counts", "counts = [300, 300]");
    let at = table.take("at");
    let at_label = table.take("at_label").map(|node| node.label()).transpose()?;
    let labels = table.take("labels");
    table.finish()?;
    let vectors = vectors?;
    let read = |node: &Node| {
        let counts = node.list()?.iter().map(size).collect::<Result<Counts, _>>()?;
        countable(node, counts)
    };
    let counts = vectors.vectors()?.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let at = at.map(|node| beside(&node, counts.len(), |node| node.finite())).transpose()?;
    let labels = labels.map(|node| unique_labels(&node, counts.len())).transpose()?;
    Ok(DataSpec::Counts { counts, at, at_label, labels })
}

/// Refuses counts whose sum is too large.
fn countable(node: &Node, counts: Counts) -> Result<Counts, Diagnostic> {
    if is_countable(&counts) {
        return Ok(counts);
    }
    Err(node
        .wrong("the counts sum to more than dpbi can count")
        .help(format!("use at most {MOST_RECORDS} records")))
}

/// Names for data sets, all different.
fn unique_labels(node: &Node, length: usize) -> Result<Vec<String>, Diagnostic> {
    let labels = beside(node, length, |node| node.label())?;
    match first_repeated(&labels) {
        Some(label) => Err(node
            .wrong(format!("two data sets are called `{label}`"))
            .help("give each data set a name of its own")),
        None => Ok(labels),
    }
}

fn first_repeated(names: &[String]) -> Option<&String> {
    let mut seen = HashSet::new();
    names.iter().find(|name| !seen.insert(*name))
}

/// A list with one element for each of `length` data sets.
fn beside<T>(
    node: &Node,
    length: usize,
    read: impl Fn(&Node) -> Result<T, Diagnostic>,
) -> Result<Vec<T>, Diagnostic> {
    let values = node.one_or_list()?.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    if values.len() == length {
        return Ok(values);
    }
    let cause = format!("`{}` has {} elements for {length} data sets", node.key(), values.len());
    Err(node.wrong(cause).help("give one element for each vector of counts"))
}

fn file(mut table: Table, config: &Source) -> Result<DataSpec, Diagnostic> {
    let paths = table.require("path", "path = \"../data/badges.csv\"");
    let column = table.take("column").map(|node| node.string()).transpose()?;
    let categories = table.take("categories").map(|node| categories(&node)).transpose()?;
    table.finish()?;
    let (mut counts, mut labels, mut sources) = (Vec::new(), Vec::new(), Vec::new());
    let mut named = HashSet::new();
    for node in paths?.one_or_list()? {
        let source = config.relative(node.string()?);
        // A file that cannot be opened is the config's fault, a bad row the file's.
        let bytes = source.read().map_err(|error| {
            node.wrong(error.cause()).help(match source.similar() {
                Some(near) => {
                    format!("did you mean `{near}`? A data path is relative to the config file")
                }
                None => "a data path is relative to the config file".to_owned(),
            })
        })?;
        let histogram =
            data_file::parse(&bytes, &source.to_string(), column, categories.as_deref())?;
        counts.push(countable(&node, histogram.counts)?);
        if is_formula(&source.stem()) {
            let cause = formula_cause(&source.stem());
            return Err(node
                .wrong(cause)
                .help("rename the file: its name is that of its data set"));
        }
        labels.push(source.stem());
        let source = source.to_string();
        if source.chars().any(char::is_control) {
            return Err(node
                .wrong("this file name cannot be shown in tables and figures")
                .help("rename the file; its name becomes the name of its data set"));
        }
        if !named.insert(source.clone()) {
            return Err(node.wrong("this file is named twice").help("name each file once"));
        }
        sources.push(source);
    }
    // Two files of one name in different folders are called by their paths.
    if first_repeated(&labels).is_some() {
        labels = sources;
    }
    Ok(DataSpec::Counts { counts, at: None, at_label: None, labels: Some(labels) })
}

fn categories(node: &Node) -> Result<Vec<String>, Diagnostic> {
    let text = |node: &Node| node.string().map(str::to_owned);
    let names = node.list()?.iter().map(text).collect::<Result<Vec<_>, _>>()?;
    match first_repeated(&names) {
        Some(name) => Err(node
            .wrong(format!("the category `{name}` is listed twice"))
            .help("list each category once")),
        None => Ok(names),
    }
}

fn line(table: Table) -> Result<DataSpec, Diagnostic> {
    let sizes = limited_sizes(table, LONGEST_LINE, "too many to make every data set a setting")?;
    Ok(DataSpec::Line { sizes })
}

fn predictive(table: Table) -> Result<DataSpec, Diagnostic> {
    let sizes = limited_sizes(table, MOST_DRAWN, "too many to be drawn one by one")?;
    Ok(DataSpec::Predictive { sizes })
}

/// The key `sizes`, none of them above `most`.
fn limited_sizes(mut table: Table, most: u64, cause: &str) -> Result<Vec<u64>, Diagnostic> {
    let node = table.require("sizes", "sizes = [100, 200]");
    table.finish()?;
    let limited = |(node, n): (Node, u64)| match checked_size(&node, n)? {
        n if n > most => Err(node
            .wrong(format!("{n} records are {cause}"))
            .help(format!("use at most {most}, or [data.counts]"))),
        n => Ok(n),
    };
    range::wholes(&node?)?.into_iter().map(limited).collect()
}
