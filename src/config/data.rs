//! Where the data of an experiment come from.

use super::node::{Node, Table};
use crate::data;
use crate::diagnostic::Diagnostic;
use crate::model::{Counts, Prior};
use crate::rng;
use crate::source::Source;

/// The data of an experiment, before a prior says how many categories there are.
#[derive(Clone, Debug, PartialEq)]
pub enum DataSpec {
    /// `[data.balanced]`: each size is divided by proportions, equal ones unless given.
    Balanced {
        /// The numbers of records.
        sizes: Vec<u64>,
        /// What part of them falls into each category.
        proportions: Option<Vec<f64>>,
    },
    /// `[data.counts]`, and what was read by `[data.file]`.
    Counts {
        /// The count vectors.
        counts: Vec<Counts>,
        /// The abscissa of each in a figure.
        at: Option<Vec<f64>>,
        /// The name of each.
        labels: Option<Vec<String>>,
    },
    /// `[data.predictive]`: drawn from the prior's own predictive law.
    Predictive {
        /// The numbers of records.
        sizes: Vec<u64>,
    },
}

/// One data set of an experiment.
pub struct DataSet {
    pub counts: Counts,
    pub label: Option<String>,
    pub at: Option<f64>,
}

/// How far proportions may miss 1 in sum.
const PROPORTION_SLACK: f64 = 1e-9;

/// The largest number of records: sums of counts and moves of them fit 63 bits with room to spare.
const MOST_RECORDS: u64 = 1 << 53;

impl DataSpec {
    /// The data sets for one prior, or the cause and the remedy of a mismatch.
    pub fn data_sets(&self, prior: &Prior, seed: u64) -> Result<Vec<DataSet>, (String, String)> {
        let k = prior.k();
        let fits = |length: usize, what: &str| {
            if length == k {
                return Ok(());
            }
            Err((
                format!("the prior has {k} categories, but {what} {length}"),
                format!("give {k} numbers, or change the prior"),
            ))
        };
        let plain = |counts: Counts| DataSet { counts, label: None, at: None };
        match self {
            Self::Balanced { sizes, proportions } => {
                let equal = vec![1.0 / k as f64; k];
                let proportions = proportions.as_ref().unwrap_or(&equal);
                fits(proportions.len(), "the proportions have")?;
                Ok(sizes.iter().map(|&n| plain(split(n, proportions))).collect())
            }
            Self::Counts { counts, at, labels } => (counts.iter().enumerate())
                .map(|(i, counts)| {
                    fits(counts.len(), &format!("the counts {counts:?} have"))?;
                    let label = labels.as_ref().map(|labels| labels[i].clone());
                    let at = at.as_ref().map(|at| at[i]);
                    Ok(DataSet { counts: counts.clone(), label, at })
                })
                .collect(),
            Self::Predictive { sizes } => Ok(sizes
                .iter()
                .map(|&n| {
                    let name = format!("predictive prior={:?} n={n}", prior.alpha());
                    plain(prior.draw_predictive(n, &mut rng::stream(seed, &name)))
                })
                .collect()),
        }
    }
}

/// floor(n p_i) for all but the last category, the rest to the last. A product that misses a whole
/// number by rounding only (100 · 0.29) counts as that number.
fn split(n: u64, proportions: &[f64]) -> Counts {
    let mut counts: Counts =
        proportions.iter().map(|p| (n as f64 * p + 1e-9).floor() as u64).collect();
    if let Some((last, others)) = counts.split_last_mut() {
        *last = n.saturating_sub(others.iter().sum());
    }
    counts
}

const SOURCES: [&str; 4] = ["balanced", "counts", "file", "predictive"];

/// Reads the table `[data]`, which must hold one source.
pub fn read(node: &Node, config: &Source) -> Result<DataSpec, Diagnostic> {
    let mut table = node.table()?;
    let found: Vec<_> =
        SOURCES.iter().filter_map(|&name| table.take(name).map(|node| (name, node))).collect();
    table.finish()?;
    let [(name, node)] = found[..] else {
        let problem = if found.is_empty() { "no source" } else { "more than one source" };
        return Err(node
            .wrong(format!("`data` names {problem}"))
            .help(format!("give exactly one of [data.{}]", SOURCES.join("], [data."))));
    };
    let table = node.table()?;
    match name {
        "balanced" => balanced(table),
        "counts" => counts(table),
        "file" => file(table, config),
        _ => predictive(table),
    }
}

fn sizes(table: &mut Table) -> Result<Vec<u64>, Diagnostic> {
    let node = table.require("sizes", "sizes = [100, 200]")?;
    node.one_or_list()?.iter().map(size).collect()
}

fn size(node: &Node) -> Result<u64, Diagnostic> {
    let size = node.whole()?;
    if size > MOST_RECORDS {
        return Err(node
            .wrong(format!("{size} records are more than dpbi can count"))
            .help(format!("use at most {MOST_RECORDS}")));
    }
    Ok(size)
}

fn balanced(mut table: Table) -> Result<DataSpec, Diagnostic> {
    let proportions = table.take("proportions").map(|node| proportions(&node)).transpose()?;
    let sizes = sizes(&mut table);
    table.finish()?;
    Ok(DataSpec::Balanced { sizes: sizes?, proportions })
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
    let labels = table.take("labels");
    table.finish()?;
    let vectors = vectors?;
    let read = |node: &Node| {
        let counts = node.list()?.iter().map(size).collect::<Result<Counts, _>>()?;
        if counts.iter().fold(0, |sum: u64, &x| sum.saturating_add(x)) > MOST_RECORDS {
            return Err(node
                .wrong("the counts sum to more than dpbi can count")
                .help(format!("use at most {MOST_RECORDS} records")));
        }
        Ok(counts)
    };
    let counts = vectors.vectors()?.iter().map(read).collect::<Result<Vec<_>, _>>()?;
    let at = at.map(|node| beside(&node, counts.len(), |node| node.number())).transpose()?;
    let text = |node: &Node| node.string().map(str::to_owned);
    let labels = labels.map(|node| beside(&node, counts.len(), text)).transpose()?;
    Ok(DataSpec::Counts { counts, at, labels })
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
    let categories = table.take("categories").map(|node| {
        let text = |node: &Node| node.string().map(str::to_owned);
        node.list()?.iter().map(text).collect::<Result<Vec<_>, _>>()
    });
    let categories = categories.transpose()?;
    table.finish()?;
    let (mut counts, mut labels) = (Vec::new(), Vec::new());
    for node in paths?.one_or_list()? {
        let source = config.relative(node.string()?);
        // A file that cannot be opened is the config's fault, a bad row the file's.
        if let Err(error) = source.read() {
            let cause = error.to_string();
            return Err(node.wrong(cause).help("a data path is relative to the config file"));
        }
        let histogram = data::read(&source, column, categories.as_deref())?;
        counts.push(histogram.counts);
        labels.push(source.stem());
    }
    Ok(DataSpec::Counts { counts, at: None, labels: Some(labels) })
}

fn predictive(mut table: Table) -> Result<DataSpec, Diagnostic> {
    let sizes = sizes(&mut table);
    table.finish()?;
    Ok(DataSpec::Predictive { sizes: sizes? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_category_takes_the_rest() {
        assert_eq!(split(100, &[0.33, 0.33, 0.34]), [33, 33, 34]);
        assert_eq!(split(500, &[1.0 / 3.0; 3]), [166, 166, 168]);
        assert_eq!(split(100, &[0.29, 0.71]), [29, 71]);
        assert_eq!(split(101, &[0.5, 0.5]), [50, 51]);
        assert_eq!(split(0, &[0.5, 0.5]), [0, 0]);
    }
}
