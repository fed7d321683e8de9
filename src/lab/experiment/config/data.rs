//! The table `[data]`.

use std::collections::HashSet;

use super::node::{Node, Table, formula_cause, is_formula};
use super::range;
use crate::experiment::DataSpec;
use crate::experiment::data;
use engine::posterior::model::{Counts, MOST_RECORDS, is_countable};
use system::diagnostic::Diagnostic;
use system::source::Source;

/// How far proportions may miss 1 in sum.
const PROPORTION_SLACK: f64 = 1e-9;

/// The most records whose data sets are all settings of one experiment.
pub const LONGEST_LINE: u64 = 100_000;

/// The largest number of records drawn from a predictive law: a second's work.
pub const MOST_DRAWN: u64 = 100_000_000;

/// The simplest source.
pub const EXAMPLE: &str = "[data.balanced] with sizes = [100]";

/// The names of the sources.
pub const SOURCES: [&str; 6] = ["balanced", "counts", "file", "line", "predictive", "shares"];

/// Reads the table `[data]`, which must hold one source.
pub fn read(node: &Node, config: &Source) -> Result<DataSpec, Diagnostic> {
    let mut table = node.table(EXAMPLE)?;
    let found: Vec<_> =
        SOURCES.iter().filter_map(|&name| table.take(name).map(|node| (name, node))).collect();
    table.finish()?;
    let [(name, node)] = found[..] else {
        let problem = if found.is_empty() { "no source" } else { "more than one source" };
        return Err(node
            .wrong(format!("`data` names {problem}"))
            .help(format!("give exactly one of [data.{}]", SOURCES.join("], [data."))));
    };
    let table = node.table(EXAMPLE)?;
    match name {
        "balanced" => balanced(table),
        "counts" => counts(table),
        "file" => file(table, config),
        "line" => line(table),
        "shares" => shares(table),
        _ => predictive(table),
    }
}

/// A number that records can have.
pub fn size(node: &Node) -> Result<u64, Diagnostic> {
    checked_size(node, node.whole()?)
}

fn checked_size(node: &Node, size: u64) -> Result<u64, Diagnostic> {
    if size > MOST_RECORDS {
        return Err(node
            .wrong(format!("{size} records are more than dpbi can count"))
            .help(format!("use at most {MOST_RECORDS}")));
    }
    Ok(size)
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
        let histogram = data::parse(&bytes, &source.to_string(), column, categories.as_deref())?;
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
