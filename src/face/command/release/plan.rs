//! A plan: several releases of the same data, from a TOML file.
//!
//! ```toml
//! data = "trial.csv"
//! ledger = "trial.ledger"
//! budget = 3
//!
//! [categories]
//! arm = ["control", "treated"]
//! outcome = ["no", "yes"]
//!
//! [[release]]
//! name = "arms"
//! by = "arm"
//! column = "outcome"
//! prior = 1
//! epsilon = 1
//! compare = "yes"
//! ```

use std::path::{Path, PathBuf};

use super::NO_LEDGER;
use super::allocate::Share;
use super::asked::{self, Asked, GroupPrior, LEVEL};
use crate::cli::delimiter;
use engine::refusal::suggest;
use lab::experiment::value::{Node, Table, Text};
use service::release::{Budget, RecordsPrior, Request, read_text};
use system::diagnostic::Diagnostic;

/// A plan, checked.
pub struct Plan {
    pub data: Option<PathBuf>,
    pub ledger: Option<PathBuf>,
    pub budget: Option<Budget>,
    pub n: Option<u64>,
    pub delimiter: Option<u8>,
    pub requests: Vec<Request>,
    /// How the ε of each is found.
    pub shares: Vec<Share>,
}

/// The most bytes of a plan.
const LARGEST: u64 = 10_000_000;

/// The most releases of a plan.
const MOST_RELEASES: usize = 1000;

/// Reads a plan. Its paths are relative to its own folder. A level that was typed comes before those of the
/// plan and of its releases.
pub fn read(path: &Path, typed_level: Option<f64>) -> Result<Plan, Diagnostic> {
    let file = path.display().to_string();
    let text = read_text(path, LARGEST).map_err(|cause| {
        Diagnostic::new(format!("cannot read the plan {file}: {cause}"))
            .help("a plan is a TOML file with a table [[release]] for every release")
    })?;
    let text = Text::new(&file, &text);
    let parsed = text.parse()?;
    let mut plan = Table::new(text, parsed.get_ref());
    let near = |node: Node| -> Result<PathBuf, Diagnostic> {
        Ok(path.parent().unwrap_or(Path::new("")).join(node.string()?))
    };
    // ε, or [ε, δ].
    let budget = |node: Node| {
        let text = match node.list() {
            Ok(both) => both.iter().map(Node::decimal).collect::<Result<Vec<_>, _>>()?.join(","),
            Err(_) => node.decimal()?.to_owned(),
        };
        asked::budget(&text, &|_, cause| node.wrong(cause.to_owned()))
    };
    let separator = |node: Node| {
        delimiter(node.string()?).map_err(|cause| node.wrong(cause).help("for example \";\""))
    };
    let level = plan.take("level").map(|node| node.number()).transpose()?.unwrap_or(LEVEL);
    let n = plan.take("n");
    let private_n = plan.take("private_n").map(|node| node.boolean()).transpose()?.unwrap_or(false);
    let n_prior = plan.take("n_prior");
    if let (Some(node), true) = (n, private_n) {
        return Err(node
            .wrong(
                "whoever reads this knows the number of records, which is to be private".to_owned(),
            )
            .help("leave n or private_n out"));
    }
    if let (Some(node), false) = (n_prior, private_n) {
        return Err(node
            .wrong("the number of records is public".to_owned())
            .help("set private_n = true, or leave this out"));
    }
    let shared = Shared {
        categories: entries(plan.take("categories"))?,
        other: entries(plan.take("other"))?,
        levels: Levels { typed: typed_level, plan: level },
        private_n,
        n_prior,
    };
    let releases = plan.require("release", "[[release]]")?;
    let releases = releases.list()?;
    if releases.len() > MOST_RELEASES {
        let cause = format!("{} releases are too many", releases.len());
        return Err(releases[0].wrong(cause).help(format!("use at most {MOST_RELEASES}")));
    }
    let (mut requests, mut shares): (Vec<Request>, Vec<Share>) = Default::default();
    for node in releases {
        let (request, share) = shared.request(node.table("[[release]]")?, node)?;
        if requests.iter().any(|known| known.name == request.name) {
            let cause = format!("two releases are called `{}`", request.title());
            return Err(node.wrong(cause).help("give every release a `name` of its own"));
        }
        requests.push(request);
        shares.push(share);
    }
    shared.refuse_unused(&requests)?;
    let ledger = |node: Node| match node.string()? == NO_LEDGER {
        true => Ok(NO_LEDGER.into()),
        false => near(node),
    };
    let read = Plan {
        data: plan.take("data").map(near).transpose()?,
        ledger: plan.take("ledger").map(ledger).transpose()?,
        budget: plan.take("budget").map(budget).transpose()?,
        n: n.map(|node| node.whole()).transpose()?,
        delimiter: plan.take("delimiter").map(separator).transpose()?,
        requests,
        shares,
    };
    plan.finish()?;
    Ok(read)
}

/// The probability of intervals: what is typed comes first, then that of a release, then the plan's.
#[derive(Clone, Copy)]
struct Levels {
    typed: Option<f64>,
    plan: f64,
}

impl Levels {
    fn of(self, own: Option<f64>) -> f64 {
        self.typed.or(own).unwrap_or(self.plan)
    }
}

/// What the plan says of all releases: lists of categories, the category that takes all other values, and so on.
struct Shared<'a> {
    categories: Vec<Node<'a>>,
    other: Vec<Node<'a>>,
    levels: Levels,
    /// Whether the number of records is private, and what is believed of it then.
    private_n: bool,
    n_prior: Option<Node<'a>>,
}

impl Shared<'_> {
    /// One release of the plan.
    fn request(&self, mut table: Table, whole: Node) -> Result<(Request, Share), Diagnostic> {
        let column = table.require("column", "column = \"outcome\"")?;
        let (by, prior) = (table.take("by"), table.require("prior", "prior = 1")?);
        let (epsilon, share) = share(&mut table, whole)?;
        let name = table.take("name");
        let (mechanism, compare) = (table.take("mechanism"), table.take("compare"));
        let (fixed, own_level) = (table.take("fixed_groups"), table.take("level"));
        let (within, weights) = (table.take("within"), table.take("weights"));
        table.finish()?;
        let by_names = strings(by)?;
        let used = |node: &&Node| {
            node.key() == column.string().unwrap_or_default()
                || by_names.iter().any(|by| by == node.key())
        };
        let lists = self.categories.iter().filter(used);
        let others = self.other.iter().filter(used);
        let asked = Asked {
            name: Some(match name {
                Some(name) => name.label()?,
                None => column.label()?,
            }),
            by: by_names.clone(),
            column: column.string()?.to_owned(),
            categories: lists
                .map(|node| Ok((Some(node.key().to_owned()), strings(Some(*node))?)))
                .collect::<Result<_, Diagnostic>>()?,
            other: others
                .map(|node| Ok((Some(node.key().to_owned()), node.string()?.to_owned())))
                .collect::<Result<_, Diagnostic>>()?,
            fixed_groups: fixed.map(sizes).transpose()?,
            n_prior: match (self.private_n, self.n_prior) {
                (false, _) => None,
                (true, None) => Some(RecordsPrior::default().to_string()),
                (true, Some(node)) => Some(node.string()?.to_owned()),
            },
            prior: parameters(prior)?,
            epsilon: epsilon.map(|node| node.decimal().map(str::to_owned)).transpose()?,
            mechanism: mechanism.map(|node| node.string()).transpose()?.map(str::to_owned),
            level: self.levels.of(own_level.map(|node| node.number()).transpose()?),
            compare: strings(compare)?,
            within: strings(within)?,
            weights: weights.map(|node| node.string()).transpose()?.map(str::to_owned),
        };
        let wrong = |key: &str, cause: &str| {
            let node = match key {
                "prior" => Some(prior),
                "epsilon" => epsilon,
                "column" => Some(column),
                "by" => by,
                "mechanism" => mechanism,
                "compare" => compare,
                "within" => within,
                "weights" => weights,
                "fixed-groups" => fixed,
                "level" => own_level,
                "n-prior" => self.n_prior,
                "categories" => self.categories.iter().find(|node| used(node)).copied(),
                "other" => self.other.iter().find(|node| used(node)).copied(),
                _ => None,
            };
            node.unwrap_or(whole).wrong(cause.to_owned())
        };
        Ok((asked.check(&wrong)?, share))
    }

    /// Refuses categories of a column that no release counts: it may be misspelt.
    fn refuse_unused(&self, requests: &[Request]) -> Result<(), Diagnostic> {
        let names: Vec<&str> = (requests.iter())
            .flat_map(|request| request.table.attributes())
            .map(|column| column.name.as_str())
            .collect();
        let all = self.categories.iter().chain(&self.other);
        match all.into_iter().find(|node| !names.contains(&node.key())) {
            None => Ok(()),
            Some(node) => Err(node
                .wrong(format!("no release counts a column `{}`", node.key()))
                .help(suggest(node.key(), names))),
        }
    }
}

/// ε, or how it is found: exactly one of four keys.
fn share<'a>(table: &mut Table<'a>, whole: Node) -> Result<(Option<Node<'a>>, Share), Diagnostic> {
    let mut found = Vec::from_iter(table.take("epsilon").map(|node| (Some(node), Share::Given)));
    for key in ["weight", "error", "width"] {
        let Some(node) = table.take(key) else { continue };
        let value = node.number()?;
        if !(value > 0.0 && value.is_finite()) {
            return Err(node.wrong(format!("{value} is not above 0")).help("use a number above 0"));
        }
        let share = match key {
            "weight" => Share::Weight(value),
            "error" => Share::Error(value),
            _ => Share::Width(value),
        };
        found.push((None, share));
    }
    let remedy = "give one of epsilon (a number), weight (a part of the budget), error and width (the least ε that \
                  reaches it)";
    match &found[..] {
        [one] => Ok(*one),
        [] => Err(whole.wrong("nothing says its ε".to_owned()).help(remedy)),
        _ => Err(whole.wrong("its ε is said twice".to_owned()).help(remedy)),
    }
}

/// The keys and values of a table; nothing counts as an empty one.
fn entries(node: Option<Node<'_>>) -> Result<Vec<Node<'_>>, Diagnostic> {
    node.map_or(Ok(Vec::new()), |node| Ok(node.table("[categories]")?.entries()))
}

/// A text, or a list of texts; nothing counts as an empty list.
fn strings(node: Option<Node>) -> Result<Vec<String>, Diagnostic> {
    let Some(node) = node else { return Ok(Vec::new()) };
    node.one_or_list()?.iter().map(|one| Ok(one.string()?.to_owned())).collect()
}

/// `1`, `[1, 1]`, or a table of groups with one of them each.
fn parameters(node: Node) -> Result<Vec<GroupPrior>, Diagnostic> {
    let numbers = |node: Node| -> Result<Vec<f64>, Diagnostic> {
        node.one_or_list()?.iter().map(Node::number).collect()
    };
    if !node.is_table() {
        return Ok(vec![(None, numbers(node)?)]);
    }
    let groups = node.table("{ control = [1, 1] }")?.entries();
    groups.into_iter().map(|group| Ok((Some(group.key().to_owned()), numbers(group)?))).collect()
}

/// `{ control = 50, treated = 50 }`.
fn sizes(node: Node) -> Result<Vec<(String, u64)>, Diagnostic> {
    let groups = node.table("{ control = 50, treated = 50 }")?.entries();
    groups.into_iter().map(|group| Ok((group.key().to_owned(), group.whole()?))).collect()
}
