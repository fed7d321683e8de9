//! From a TOML file to an [`Experiment`] that cannot be wrong.
//!
//! Everything is checked before any work begins, and every complaint names the file, the line,
//! the cause and the remedy.

mod data;
mod mechanisms;
mod node;
mod resolved;

pub use resolved::resolve;

use crate::diagnostic::Diagnostic;
use crate::distance::{self, Distance};
use crate::experiment::{Case, Experiment, Grid, Kind, Look};
use crate::metric::{self, Metric};
use crate::model::{Posterior, Prior};
use crate::privacy::{Delta, Epsilon, Gamma, PrivacyError};
use crate::setting::Setting;
use crate::source::Source;
use crate::stats::Whiskers;
use node::{Node, Table, Text};

/// What the command line may replace.
#[derive(Clone, Copy, Debug, Default)]
pub struct Overrides {
    /// The seed.
    pub seed: Option<u64>,
    /// The number of runs.
    pub runs: Option<u64>,
}

/// The most runs that make sense: beyond, sampled means gain nothing that exact ones lack.
pub const MOST_RUNS: u64 = 1_000_000_000;

/// Reads and checks a config.
pub fn load(source: &Source, overrides: Overrides) -> Result<Experiment, Diagnostic> {
    let file = source.to_string();
    let bytes = source.read()?;
    let text = std::str::from_utf8(&bytes).map_err(|_| {
        Diagnostic::new(format!("{file} is not valid UTF-8")).help("save the file as UTF-8")
    })?;
    let text = Text { file: &file, text };
    let parsed = text.parse()?;
    experiment(Table::new(text, parsed.get_ref()), source, overrides)
}

fn experiment(
    mut table: Table,
    source: &Source,
    overrides: Overrides,
) -> Result<Experiment, Diagnostic> {
    // Unknown keys are reported before missing ones, since a typo is both: what `require` says waits
    // for `finish`.
    let name = table.require("name", "name = \"my_experiment\"");
    let title = table.take("title").map(|node| node.label()).transpose()?;
    let kind = table.take("kind").map_or(Ok(Kind::Accuracy), |node| node.one_of(&KINDS))?;
    let seed = table.take("seed").map_or(Ok(0), |node| seed(&node))?;
    let runs = table.take("runs").map_or(Ok(1000), |node| runs(&node))?;
    let prior = table.require("prior", "prior = [1, 1]");
    let epsilon = table.require("epsilon", "epsilon = 1.0");
    let deltas = numbers(table.take("delta"), Delta::new)?;
    let gammas = numbers(table.take("gamma"), Gamma::new)?;
    let distance =
        table.take("distance").map_or(Ok(distance::HELLINGER), |n| named_distance(&n))?;
    let metrics = metrics(table.take("metrics"), distance)?;
    let mechanisms = table.require("mechanisms", "mechanisms = [\"lshist\", \"ehds\"]");
    let look = look(&mut table)?;
    let data = table.require("data", data::EXAMPLE);
    table.finish()?;

    let name = folder_name(&name?)?;
    let prior = prior?;
    let priors = prior.vectors()?.iter().map(read_prior).collect::<Result<Vec<_>, _>>()?;
    let epsilons = numbers(Some(epsilon?), Epsilon::new)?;
    let (variants, nodes) = mechanisms::read(&mechanisms?)?;
    let data_node = data?;
    let data = data::read(&data_node, source)?;

    let seed = overrides.seed.unwrap_or(seed);
    let runs = overrides.runs.unwrap_or(runs);
    let grid = Grid { priors, epsilons, deltas, gammas, data };
    let cases = cases(&grid, seed, distance, &prior, &data_node)?;
    mechanisms::check(&variants, &nodes, &cases)?;
    let title = title.unwrap_or_else(|| name.clone());
    Ok(Experiment { name, title, kind, seed, runs, distance, metrics, variants, grid, cases, look })
}

const KINDS: [(&str, Kind); 1] = [("accuracy", Kind::Accuracy)];

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

fn runs(node: &Node) -> Result<u64, Diagnostic> {
    match node.whole()? {
        0 => Err(node.wrong("`runs` is 0").help("ask for at least one run, such as runs = 1000")),
        runs if runs > MOST_RUNS => Err(node
            .wrong(format!("{runs} runs are more than {MOST_RUNS}"))
            .help("the exact means need no runs at all; 1000 runs make good box plots")),
        runs => Ok(runs),
    }
}

/// The name becomes a folder: letters, digits, `_`, `-` and `.`, not hidden.
fn folder_name(node: &Node) -> Result<String, Diagnostic> {
    let name = node.string()?;
    let plain = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    let length = name.chars().count();
    if length == 0 || length > 100 || name.starts_with('.') || !name.chars().all(plain) {
        return Err(node
            .wrong(format!("`{name}` cannot be the name of a results folder"))
            .help("use at most 100 letters, digits, `_`, `-` and `.`"));
    }
    Ok(name.to_owned())
}

fn read_prior(node: &Node) -> Result<Prior, Diagnostic> {
    let alpha = node.list()?.iter().map(Node::number).collect::<Result<_, _>>()?;
    Prior::new(alpha)
        .map_err(|error| node.wrong(error.to_string()).help("write for example prior = [1, 1]"))
}

/// A number or a list of numbers, each checked; nothing if the key is absent.
fn numbers<T>(
    node: Option<Node>,
    check: impl Fn(f64) -> Result<T, PrivacyError>,
) -> Result<Vec<T>, Diagnostic> {
    let Some(node) = node else { return Ok(Vec::new()) };
    node.one_or_list()?.iter().map(|element| privacy_number(element, &check)).collect()
}

fn privacy_number<T>(
    node: &Node,
    check: impl Fn(f64) -> Result<T, PrivacyError>,
) -> Result<T, Diagnostic> {
    check(node.number()?).map_err(|error| node.wrong(error.to_string()).help(error.remedy()))
}

fn named_distance(node: &Node) -> Result<&'static dyn Distance, Diagnostic> {
    node.one_of(&distance::ALL.map(|distance| (distance.id(), distance)))
}

/// The metrics beside the distance, which is always there.
fn metrics(node: Option<Node>, distance: &dyn Distance) -> Result<Vec<Metric>, Diagnostic> {
    let Some(node) = node else { return Ok(Vec::new()) };
    let known: Vec<_> = metric::all().into_iter().map(|metric| (metric.id, metric)).collect();
    let mut metrics: Vec<Metric> = Vec::new();
    for element in node.one_or_list()? {
        let metric = element.one_of(&known)?;
        if metric.id != distance.id() && !metrics.contains(&metric) {
            metrics.push(metric);
        }
    }
    Ok(metrics)
}

fn look(table: &mut Table) -> Result<Look, Diagnostic> {
    let mut look = Look::default();
    if let Some(node) = table.take("whiskers") {
        look.whiskers = match node.is_string() {
            true => node.one_of(&[("range", Whiskers::Range)])?,
            false => Whiskers::Iqr(positive(&node)?),
        };
    }
    if let Some(node) = table.take("outliers") {
        look.outliers = node.boolean()?;
    }
    Ok(look)
}

/// A positive number that does not overflow when it meets the smallest ε or sensitivity.
fn positive(node: &Node) -> Result<f64, Diagnostic> {
    let value = node.number()?;
    if (1e-100..=1e100).contains(&value) {
        return Ok(value);
    }
    let cause = format!("`{}` is {value:?}, but it must lie between 1e-100 and 1e100", node.key());
    Err(node.wrong(cause).help("write for example 1.5"))
}

/// Every combination of prior, data, ε, δ and γ.
fn cases(
    grid: &Grid,
    seed: u64,
    distance: &'static dyn Distance,
    prior_node: &Node,
    data_node: &Node,
) -> Result<Vec<Case>, Diagnostic> {
    let mut cases = Vec::new();
    for prior in &grid.priors {
        let data_sets = grid.data.data_sets(prior, seed).map_err(|(cause, remedy)| {
            let node = if grid.priors.len() > 1 { prior_node } else { data_node };
            node.wrong(cause).help(remedy)
        })?;
        for data in data_sets {
            for &epsilon in &grid.epsilons {
                for delta in grid.deltas_or_none() {
                    for gamma in grid.gammas_or_one() {
                        let posterior = Posterior::new(prior.clone(), data.counts.clone());
                        let setting = Setting { posterior, epsilon, delta, gamma, distance };
                        cases.push(Case { setting, label: data.label.clone(), at: data.at });
                    }
                }
            }
        }
    }
    Ok(cases)
}
