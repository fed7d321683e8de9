//! One panel: what is computed, over which grid.

use std::sync::Arc;

use rayon::prelude::*;

use super::grid::{self, Taken};
use super::node::{Node, Table};
use super::{MOST_RUNS, Overrides, data, mechanisms, numbers, positive, range};
use crate::analysis::tuning;
use crate::base::diagnostic::{Diagnostic, suggest};
use crate::base::source::{Source, bundled_tables};
use crate::experiment::reading::ReadingSet;
use crate::experiment::stats::Whiskers;
use crate::experiment::{
    Case, FigureName, Grid, Kind, Look, Panel, Parameters, ScopeName, SensitivityName, phase,
};
use crate::mechanism::law::is_walked;
use crate::mechanism::{Choice, Refusal, Variant};
use crate::posterior::distance::{self, Distance};
use crate::posterior::metric::{self, Metric};
use crate::posterior::model::{Posterior, Prior, approximate_compositions};
use crate::posterior::privacy::{Delta, Epsilon, Gamma};
use crate::posterior::setting::Setting;

/// The values of a panel's keys, taken out of its table and not yet read.
pub struct Open<'a> {
    title: Option<Node<'a>>,
    kind: Option<Node<'a>>,
    runs: Option<Node<'a>>,
    prior: Result<Node<'a>, Diagnostic>,
    epsilon: Result<Node<'a>, Diagnostic>,
    delta: Option<Node<'a>>,
    gamma: Option<Node<'a>>,
    distance: Option<Node<'a>>,
    metrics: Option<Node<'a>>,
    mechanisms: Result<Node<'a>, Diagnostic>,
    whiskers: Option<Node<'a>>,
    outliers: Option<Node<'a>>,
    parameters: Vec<Node<'a>>,
    readings: Option<Node<'a>>,
    data: Result<Node<'a>, Diagnostic>,
}

/// The keys that only some kinds understand.
pub const PARAMETERS: [&str; 7] =
    ["view", "sensitivities", "scope", "at_epsilon", "figures", "steps", "without"];

impl<'a> Open<'a> {
    /// Takes all keys of a panel out of its table. What is missing is complained of later, after
    /// what is unknown.
    pub fn take(table: &mut Table<'a>) -> Self {
        Self {
            title: table.take("title"),
            kind: table.take("kind"),
            runs: table.take("runs"),
            prior: table.require("prior", "prior = [1, 1]"),
            epsilon: table.require("epsilon", "epsilon = 1.0"),
            delta: table.take("delta"),
            gamma: table.take("gamma"),
            distance: table.take("distance"),
            metrics: table.take("metrics"),
            mechanisms: table.require("mechanisms", "mechanisms = [\"lshist\", \"ehds\"]"),
            whiskers: table.take("whiskers"),
            outliers: table.take("outliers"),
            parameters: parameter_nodes(table),
            readings: table.take("readings"),
            data: table.require("data", data::EXAMPLE),
        }
    }
}

/// The keys of a table that only some kinds understand.
pub fn parameter_nodes<'a>(table: &mut Table<'a>) -> Vec<Node<'a>> {
    PARAMETERS.into_iter().filter_map(|key| table.take(key)).collect()
}

/// Complains about a key above all panels that none of them understands.
pub fn check_shared(shared: &[Node], panels: &[Panel]) -> Result<(), Diagnostic> {
    let understood =
        |node: &&Node| panels.iter().any(|panel| panel.kind.keys().contains(&node.key()));
    match shared.iter().find(|node| !understood(node)) {
        None => Ok(()),
        Some(node) => Err(node
            .wrong(format!("`{}` means nothing to any of the panels", node.key()))
            .help("leave it out, or add a panel of a kind that uses it")),
    }
}

/// What all panels of a config share.
pub struct Context<'a> {
    pub source: &'a Source,
    pub seed: u64,
    pub overrides: Overrides,
}

impl Context<'_> {
    /// Reads and checks a panel that comes after those that have `taken` their settings.
    pub fn panel(&self, open: Open, id: String, taken: Taken) -> Result<Panel, Diagnostic> {
        let kind = open.kind.map_or(Ok(Kind::Accuracy), |node| {
            node.one_of(&Kind::ALL.map(|kind| (kind.id(), kind)))
        })?;
        let runs = open.runs.map_or(Ok(1000), |node| runs(&node))?;
        let deltas = numbers(open.delta, Delta::new)?;
        let gammas = numbers(open.gamma, Gamma::new)?;
        let distance = open.distance.map_or(Ok(distance::HELLINGER), |n| named_distance(&n))?;
        let mut metrics = metrics(open.metrics, distance)?;
        // Those of the table around are for other panels.
        metrics.retain(|_| kind == Kind::Accuracy);
        let look = look(open.whiskers, open.outliers)?;
        let parameters = parameters(kind, &open.parameters)?;
        let of_samples = [open.metrics, open.whiskers, open.outliers].into_iter().flatten();
        let unused = of_samples.filter(|_| kind != Kind::Accuracy);
        let unused = unused.chain(open.readings.filter(|_| !kind.compares_readings()));
        if let Some(node) = unused.into_iter().find(|node| !node.is_inherited()) {
            return Err(means_nothing(&node, kind).help("leave it out"));
        }
        let title = open.title.map(|node| node.label()).transpose()?.unwrap_or_default();

        let prior = open.prior?;
        let priors = priors(&prior)?;
        let epsilons = numbers(Some(open.epsilon?), Epsilon::new)?;
        let (variants, nodes) = match kind.compares_mechanisms() {
            true => mechanisms::read(&open.mechanisms?)?,
            false => {
                refuse_mechanisms(kind, open.mechanisms)?;
                (Vec::new(), Vec::new())
            }
        };
        let data_node = open.data?;
        let data = data::read(&data_node, self.source)?;
        let lists = Grid { priors, epsilons, deltas, gammas, data };
        let weighs = |variant: &Variant| variant.mechanism.choices().contains(&Choice::Calibrated);
        let scored = variants.is_empty() || variants.iter().any(weighs);
        taken.check(&lists, scored, &data_node)?;
        let cases = cases(&lists, self.seed, distance, &prior, &data_node)?;
        grid::check_search(&cases, distance, &data_node)?;
        mechanisms::check(&variants, &nodes, &cases)?;
        check_kind(kind, &cases, &data_node)?;
        check_contest(&open.parameters, &parameters.without, &variants)?;
        check_mechanisms(kind, &variants, &nodes, &cases)?;
        if kind.keys().contains(&"steps") && parameters.steps.is_empty() {
            return Err(data_node
                .wrong(format!("an experiment of kind `{}` needs `steps`", kind.id()))
                .help("add for example steps = [1, 2, 5]"));
        }
        let reading_node = open.readings.filter(|_| kind.compares_readings());
        let readings = reading_node.map(|node| readings(&node, self.source)).transpose()?;
        let panel = Panel {
            id,
            title,
            kind,
            parameters,
            seed: self.seed,
            runs: self.overrides.runs.unwrap_or(runs),
            distance,
            metrics,
            variants,
            grid: lists,
            cases,
            first: taken.settings as usize + 1,
            look,
            readings,
            tuning: Arc::default(),
        };
        if kind == Kind::Phase && !phase::has_ordinate(&panel) {
            return Err(data_node
                .wrong("a phase diagram has two axes, n and another number")
                .help(
                    "give several epsilon, several symmetric priors, or [data.shares]: for example \
                 epsilon = { from = 0.1, to = 10, count = 40, spacing = \"log\" }",
                ));
        }
        if panel.is_crowded() {
            let cause = "two settings would stand at the same place of one figure";
            return Err(data_node.wrong(cause).help(uncrowding(kind)));
        }
        match (panel.unplaced_reading(), reading_node) {
            (Some(reading), Some(node)) => {
                let cause = format!(
                    "nothing in this panel is called `{}` at `{}`, which has a reading",
                    reading.mechanism, reading.at
                );
                Err(node.wrong(cause).help("label mechanisms and data as the readings do"))
            }
            _ => Ok(panel),
        }
    }
}

/// How no two settings stand at the same place.
fn uncrowding(kind: Kind) -> String {
    let id = kind.id();
    match kind {
        Kind::Phase => format!(
            "an experiment of kind `{id}` draws a map over n and one other number: use several of \
             only one of ε, priors and shares for each panel, each n once"
        ),
        Kind::Scaling => format!(
            "an experiment of kind `{id}` draws one line for every number of categories: use one \
             prior of each length, one ε, δ and γ, and each n once"
        ),
        _ => format!(
            "an experiment of kind `{id}` draws one line through its settings: use one prior, ε, δ \
             and γ for each panel, and data that differ in what its axis shows"
        ),
    }
}

/// A kind that compares no mechanisms must not be given any (those of the table around are for
/// other panels).
fn refuse_mechanisms(kind: Kind, node: Result<Node, Diagnostic>) -> Result<(), Diagnostic> {
    match node {
        Ok(node) if !node.is_inherited() => Err(node
            .wrong(format!("an experiment of kind `{}` compares no mechanisms", kind.id()))
            .help("leave `mechanisms` out")),
        _ => Ok(()),
    }
}

fn means_nothing(node: &Node, kind: Kind) -> Diagnostic {
    let (key, kind) = (node.key(), kind.id());
    node.wrong(format!("`{key}` means nothing to an experiment of kind `{kind}`"))
}

/// Reads what the kind wants to know, and refuses what it does not.
fn parameters(kind: Kind, nodes: &[Node]) -> Result<Parameters, Diagnostic> {
    let mut parameters = Parameters::default();
    for node in nodes {
        if !kind.keys().contains(&node.key()) {
            // A key of the table around may be meant for another panel.
            if node.is_inherited() {
                continue;
            }
            let known = match kind.keys() {
                [] => "it has no keys of its own".to_owned(),
                keys => format!("its own keys are {}", keys.join(", ")),
            };
            return Err(means_nothing(node, kind).help(known));
        }
        match node.key() {
            "view" => parameters.view = Some(interval(node)?),
            "sensitivities" => {
                let known = SensitivityName::ALL.map(|name| (name.id(), name));
                parameters.sensitivities = names(node, &known)?;
            }
            "scope" => {
                parameters.scopes = names(node, &ScopeName::ALL.map(|name| (name.id(), name)))?;
            }
            "figures" => {
                parameters.figures = names(node, &FigureName::ALL.map(|name| (name.id(), name)))?;
            }
            "at_epsilon" => parameters.at_epsilon = Some(positive(node)?),
            "without" => {
                let labels = node.one_or_list()?;
                let label = |node: &Node| node.string().map(str::to_owned);
                parameters.without = labels.iter().map(label).collect::<Result<_, _>>()?;
            }
            _ => {
                let steps = node.one_or_list()?;
                parameters.steps = steps.iter().map(data::size).collect::<Result<_, _>>()?;
            }
        }
    }
    Ok(parameters)
}

/// One or more of the names in `known`.
fn names<T: Clone>(node: &Node, known: &[(&str, T)]) -> Result<Vec<T>, Diagnostic> {
    node.one_or_list()?.iter().map(|node| node.one_of(known)).collect()
}

/// [from, to], from < to.
fn interval(node: &Node) -> Result<(f64, f64), Diagnostic> {
    let ends = node.list()?.iter().map(Node::finite).collect::<Result<Vec<_>, _>>()?;
    match ends[..] {
        [from, to] if from < to => Ok((from, to)),
        _ => Err(node
            .wrong(format!("`{}` must be two numbers, the smaller first", node.key()))
            .help("write for example [0, 0.1]")),
    }
}

/// The most candidates that are listed one by one.
const MOST_LISTED: f64 = 2e6;

/// Refuses data that a kind cannot show.
fn check_kind(kind: Kind, cases: &[Case], data: &Node) -> Result<(), Diagnostic> {
    for case in cases {
        let posterior = &case.setting.posterior;
        let candidates = approximate_compositions(posterior.n(), posterior.k());
        if kind == Kind::Change && (posterior.k() > 3 || candidates > MOST_LISTED) {
            return Err(data
                .wrong("the change of score is listed candidate by candidate: these are too many")
                .help("use two or three categories, and fewer than two million candidates"));
        }
        if kind.needs_two_categories() && posterior.k() != 2 {
            return Err(data
                .wrong(format!("an experiment of kind `{}` has two categories", kind.id()))
                .help("use a prior of length 2, and data that fit"));
        }
    }
    Ok(())
}

/// Refuses mechanisms that a kind cannot show.
fn check_mechanisms(
    kind: Kind,
    variants: &[Variant],
    nodes: &[Node],
    cases: &[Case],
) -> Result<(), Diagnostic> {
    if let (Kind::Crossover, [node]) = (kind, nodes) {
        return Err(node
            .wrong("a crossover is between two mechanisms")
            .help("write for example mechanisms = [\"lshist\", \"ehd\"]"));
    }
    if let (Kind::Phase, [node]) = (kind, nodes) {
        return Err(node
            .wrong("a phase diagram compares two mechanisms or more")
            .help("write for example mechanisms = [\"lshist\", \"ehds\"]"));
    }
    let leaves_total_open = |variant: &Variant| {
        variant.outline(&cases[0].setting).is_ok_and(|recipe| recipe.leaves_total_open())
    };
    let is_mh = |variant: &Variant| ["mh-beta", "mh-gamma"].contains(&variant.mechanism.id());
    for (variant, node) in variants.iter().zip(nodes) {
        if matches!(kind, Kind::Tail | Kind::Normaliser) && !is_mh(variant) {
            let cause = format!("an experiment of kind `{}` is about MH", kind.id());
            return Err(node.wrong(cause).help("use mh-beta or mh-gamma"));
        }
        if tuning::needs_tuning(variant) && !kind.tunes_mechanisms() {
            let does = match kind {
                Kind::Scaling => "counts outputs, which tuning does not change",
                _ => {
                    "checks the documents' formulas, which know neither calibrated nor remapped \
                     mechanisms"
                }
            };
            let cause = format!("an experiment of kind `{}` {does}", kind.id());
            return Err(node.wrong(cause).help("leave `calibrated` and `remap` out"));
        }
        if matches!(kind, Kind::Steps | Kind::TableOne) && leaves_total_open(variant) {
            let cause = format!("`{}` leaves the total open: steps do not place it", variant.label);
            return Err(node.wrong(cause).help("leave it out"));
        }
        if kind == Kind::Phase {
            check_contender(variant, node, cases)?;
        }
    }
    Ok(())
}

/// Refuses a mechanism that would win a phase diagram by giving less privacy, or whose mean is out
/// of reach.
fn check_contender(variant: &Variant, node: &Node, cases: &[Case]) -> Result<(), Diagnostic> {
    let refused = |case: &Case| contender_refusal(variant, &case.setting);
    match cases.par_iter().find_map_first(refused) {
        Some(Refusal { cause, remedy }) => Err(node.wrong(cause).help(remedy)),
        None => Ok(()),
    }
}

fn contender_refusal(variant: &Variant, setting: &Setting) -> Option<Refusal> {
    let label = &variant.label;
    if let Some(guarantee) = phase::disqualification(variant, setting) {
        let epsilon = setting.epsilon.get();
        let cause = format!(
            "`{label}` is {guarantee} where ε = {epsilon}: a phase diagram compares mechanisms \
             that are ε-private"
        );
        let remedy = "leave it out, or add calibrated = true (exponential mechanisms) or a divisor \
                      that makes it so";
        return Some(Refusal::new(cause, remedy));
    }
    let region = variant.outline(setting).ok().and_then(|r| r.region(&setting.posterior))?;
    (!is_walked(&region)).then(|| {
        let n = setting.posterior.n();
        let cause = format!("`{label}` has too many outputs at n = {n} for its exact mean");
        Refusal::new(cause, "use fewer records or categories, or leave it out")
    })
}

/// Refuses a second contest without rivals, or without somebody who is not there.
fn check_contest(
    nodes: &[Node],
    without: &[String],
    variants: &[Variant],
) -> Result<(), Diagnostic> {
    let Some(node) = nodes.iter().find(|node| node.key() == "without") else { return Ok(()) };
    let labels: Vec<&str> = variants.iter().map(|variant| variant.label.as_str()).collect();
    if let Some(unknown) = without.iter().find(|label| !labels.contains(&label.as_str())) {
        return Err(node
            .wrong(format!("no mechanism of this panel is labelled `{unknown}`"))
            .help(suggest(unknown, labels)));
    }
    let left = labels.iter().filter(|label| !without.iter().any(|out| out == *label)).count();
    if !without.is_empty() && left < 2 {
        return Err(node.wrong("a contest needs two mechanisms or more").help("leave fewer out"));
    }
    Ok(())
}

/// A bundled set of readings by its name, or a file.
fn readings(node: &Node, config: &Source) -> Result<ReadingSet, Diagnostic> {
    let named = node.string()?;
    let source = match named.ends_with(".csv") {
        true => config.relative(named),
        false => Source::Bundle(format!("data/printed/{named}.csv").into()),
    };
    let bytes = source.read().map_err(|error| {
        let known = bundled_tables("printed");
        let hint = suggest(named, known.iter().map(String::as_str));
        node.wrong(error.cause()).help(match source {
            Source::Bundle(_) => format!("name a table of data/printed, or a CSV file; {hint}"),
            Source::Disk(_) => "give the path of a CSV file".to_owned(),
        })
    })?;
    // A file is named so that it is found from the results folder, too.
    let name = match &source {
        Source::Disk(path) => {
            std::path::absolute(path).unwrap_or(path.clone()).display().to_string()
        }
        Source::Bundle(_) => named.to_owned(),
    };
    ReadingSet::parse(&name, &bytes, &source.to_string())
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

/// One vector, a list of vectors, or a range of symmetric ones.
fn priors(node: &Node) -> Result<Vec<Prior>, Diagnostic> {
    if node.is_table() {
        let symmetric = range::symmetric(node)?;
        return symmetric.into_iter().map(|alpha| checked_prior(node, alpha)).collect();
    }
    let read = |node: &Node| {
        let alpha = node.list()?.iter().map(Node::number).collect::<Result<_, _>>()?;
        checked_prior(node, alpha)
    };
    node.vectors()?.iter().map(read).collect()
}

fn checked_prior(node: &Node, alpha: Vec<f64>) -> Result<Prior, Diagnostic> {
    if alpha.len() as u64 > range::MOST_CATEGORIES {
        return Err(node
            .wrong(format!("a prior cannot have {} categories", alpha.len()))
            .help(format!("use at most {}", range::MOST_CATEGORIES)));
    }
    Prior::new(alpha)
        .map_err(|error| node.wrong(error.to_string()).help("write for example prior = [1, 1]"))
}

fn named_distance(node: &Node) -> Result<&'static dyn Distance, Diagnostic> {
    distance::named(node.string()?).map_err(|unfit| node.wrong(unfit.cause).help(unfit.remedy))
}

/// The metrics beside the distance, which is always there.
fn metrics(node: Option<Node>, distance: &dyn Distance) -> Result<Vec<Metric>, Diagnostic> {
    let Some(node) = node else { return Ok(Vec::new()) };
    let mut metrics: Vec<Metric> = Vec::new();
    for element in node.one_or_list()? {
        let metric = metric::named(element.string()?)
            .map_err(|unfit| element.wrong(unfit.cause).help(unfit.remedy))?;
        if metric.id != distance.id() && !metrics.contains(&metric) {
            metrics.push(metric);
        }
    }
    Ok(metrics)
}

fn look(whiskers: Option<Node>, outliers: Option<Node>) -> Result<Look, Diagnostic> {
    let mut look = Look::default();
    if let Some(node) = whiskers {
        look.whiskers = match node.is_string() {
            true => node.one_of(&[("range", Whiskers::Range)])?,
            false => Whiskers::Iqr(positive(&node)?),
        };
    }
    if let Some(node) = outliers {
        look.outliers = node.boolean()?;
    }
    Ok(look)
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
