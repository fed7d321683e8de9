//! Lists of numbers, written out or as a range: `{ from = 5, to = 500, count = 40, spacing = "log" }`.

use super::grid::MOST_PARAMETERS;
use crate::experiment::value::{Node, Table};
use engine::numeric::{exp_accurate, ln};
use system::diagnostic::Diagnostic;

/// The most numbers in a range.
pub const MOST: u64 = 10_000;

/// The most categories of a prior.
pub const MOST_CATEGORIES: u64 = 10_000;

const EXAMPLE: &str = "{ from = 1, to = 10, count = 40 }";

/// How the numbers of a range follow each other.
#[derive(Clone, Copy, PartialEq)]
enum Spacing {
    /// By equal differences.
    Linear,
    /// By equal quotients.
    Log,
}

/// The numbers of a range: its ends as written, and what lies between.
struct Range {
    from: f64,
    to: f64,
    count: u64,
    spacing: Spacing,
}

impl Range {
    fn read<'a>(
        node: &Node<'a>,
        mut table: Table<'a>,
        end: impl Fn(&Node<'a>) -> Result<f64, Diagnostic>,
    ) -> Result<Self, Diagnostic> {
        let from = table.require("from", "from = 1");
        let to = table.require("to", "to = 10");
        let count = table.require("count", "count = 40");
        let spacing = table.take("spacing");
        table.finish()?;
        let known = [("linear", Spacing::Linear), ("log", Spacing::Log)];
        let spacing = spacing.map_or(Ok(Spacing::Linear), |node| node.one_of(&known))?;
        let (from, count) = (from?, count?);
        let (low, high, number) = (end(&from)?, end(&to?)?, count.whole()?);
        if low >= high {
            return Err(node
                .wrong(format!("the range of `{}` goes from {low} to {high}", node.key()))
                .help("let `from` be smaller than `to`"));
        }
        if !(2..=MOST).contains(&number) {
            return Err(count
                .wrong(format!("a range cannot have {number} numbers"))
                .help(format!("ask for 2 to {MOST}")));
        }
        if spacing == Spacing::Log && low <= 0.0 {
            return Err(from
                .wrong(format!("a range with equal ratios cannot start at {low}"))
                .help("start above 0, or use spacing = \"linear\""));
        }
        Ok(Self { from: low, to: high, count: number, spacing })
    }

    fn at(&self, i: u64) -> f64 {
        let part = i as f64 / (self.count - 1) as f64;
        match (i, self.spacing) {
            (0, _) => self.from,
            (i, _) if i + 1 == self.count => self.to,
            (_, Spacing::Linear) => self.from + part * (self.to - self.from),
            (_, Spacing::Log) => self.from * exp_accurate(part * ln(self.to / self.from)),
        }
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        (0..self.count).map(|i| self.at(i))
    }
}

/// One number, a list or a range; each number with the place to complain about.
pub fn numbers<'a>(node: &Node<'a>) -> Result<Vec<(Node<'a>, f64)>, Diagnostic> {
    if node.is_table() {
        let range = Range::read(node, node.table(EXAMPLE)?, Node::finite)?;
        return Ok(range.values().map(|value| (*node, value)).collect());
    }
    node.one_or_list()?.iter().map(|element| Ok((*element, element.number()?))).collect()
}

/// The same for whole numbers: those of a range are rounded, and each appears once.
pub fn wholes<'a>(node: &Node<'a>) -> Result<Vec<(Node<'a>, u64)>, Diagnostic> {
    if node.is_table() {
        let end = |node: &Node| node.whole().map(|whole| whole as f64);
        let range = Range::read(node, node.table(EXAMPLE)?, end)?;
        let mut values: Vec<u64> = range.values().map(|value| value.round() as u64).collect();
        values.dedup();
        return Ok(values.into_iter().map(|value| (*node, value)).collect());
    }
    node.one_or_list()?.iter().map(|element| Ok((*element, element.whole()?))).collect()
}

/// A range of symmetric priors (b, …, b): a range of b with `k`, the number of categories.
pub fn symmetric(node: &Node) -> Result<Vec<Vec<f64>>, Diagnostic> {
    let mut table = node.table("{ from = 0.1, to = 10, count = 40, k = 2 }")?;
    let k = table.require("k", "k = 2");
    let range = Range::read(node, table, Node::finite)?;
    let k = k?;
    let categories = match k.whole()? {
        categories @ 2..=MOST_CATEGORIES => categories,
        other => {
            return Err(k
                .wrong(format!("a prior cannot have {other} categories"))
                .help(format!("write for example k = 2; at most {MOST_CATEGORIES}")));
        }
    };
    if range.count * categories > MOST_PARAMETERS {
        return Err(node
            .wrong(format!("{} priors of {categories} categories are too many", range.count))
            .help(format!("let `count` times `k` be at most {MOST_PARAMETERS}")));
    }
    Ok(range.values().map(|b| vec![b; categories as usize]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(from: f64, to: f64, count: u64, spacing: Spacing) -> Vec<f64> {
        Range { from, to, count, spacing }.values().collect()
    }

    #[test]
    fn ranges_end_where_they_say() {
        assert_eq!(range(0.5, 1.0, 3, Spacing::Linear), [0.5, 0.75, 1.0]);
        let log = range(0.01, 10.0, 31, Spacing::Log);
        assert_eq!((log.len(), log[0], log[30]), (31, 0.01, 10.0));
        for pair in log.windows(2) {
            assert!((pair[1] / pair[0] - 10_f64.powf(0.1)).abs() < 1e-14, "{pair:?}");
        }
    }
}
