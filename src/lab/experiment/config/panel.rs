//! One panel: what is computed, over which grid.

use std::sync::Arc;

use serde_json::{Value as Json, json};
use toml::Value;

use super::grid::{self, Taken};
use super::own_mechanisms::Definitions;
use super::{MOST_RUNS, data_table, lasting_name, mechanisms, numbers, range};
use crate::experiment::kind::{self, About, Kind, key};
use crate::experiment::reading::ReadingSet;
use crate::experiment::value::shape::{self, about, label, or_default, reference};
use crate::experiment::value::{Node, Table, whole};
use crate::experiment::{Case, Grid, Panel};
use engine::analysis::tuning;
use engine::mechanism::{Choice, Mechanism};
use engine::posterior::distance::{self, Distance};
use engine::posterior::model::Prior;
use engine::posterior::privacy::{Delta, Epsilon, Gamma};
use engine::posterior::setting::{Setting, SettingWithData};
use engine::refusal::suggest;
use system::diagnostic::Diagnostic;
use system::source::{Source, bundled_tables};

/// A key that every panel understands.
pub struct PanelKey {
    pub name: &'static str,
    pub schema: fn() -> Json,
    /// Its value, as a config would give it.
    pub write: fn(&Panel) -> Option<Value>,
}

/// The keys of a panel, each once: what to write if it must not be missing, what it may be, and what it
/// is in a panel.
macro_rules! panel_keys {
    (@example) => { "" };
    (@example $example:expr) => { $example };
    ($($key:ident $(or $example:expr)? => $schema:expr, $write:expr;)+) => {
        /// The values of a panel's keys, taken out of its table and not yet read. A missing key is
        /// reported later, after unknown ones.
        pub struct Open<'a> {
            $($key: Result<Node<'a>, Diagnostic>,)+
            /// The keys that only some kinds understand.
            own: Vec<Node<'a>>,
        }

        impl<'a> Open<'a> {
            /// Takes all keys of a panel out of its table.
            pub fn take(table: &mut Table<'a>) -> Self {
                Self {
                    $($key: table.require(stringify!($key), panel_keys!(@example $($example)?)),)+
                    own: own_keys(table),
                }
            }
        }

        pub const KEYS: &[PanelKey] = &[
            $(PanelKey { name: stringify!($key), schema: || $schema, write: $write },)+
        ];
    };
}

panel_keys! {
    title => about(label(), "The title of the panel."), |panel| Some(panel.title.clone().into());
    kind => {
        let kinds = shape::named(kind::ALL.iter().map(|kind| (kind.id(), kind.computes())));
        or_default(about(kinds, "What is computed."), kind::ALL[0].id())
    }, |panel| Some(panel.kind.id().into());
    runs => {
        let runs = shape::whole(1, MOST_RUNS);
        or_default(about(runs, "Sampled releases for each setting and mechanism."), DEFAULT_RUNS)
    }, |panel| Some(whole(panel.runs));
    prior or "prior = [1, 1]" => reference("prior"), |panel| {
        let prior = |prior: &Prior| Value::from(prior.alpha().to_vec());
        Some(panel.grid.priors.iter().map(prior).collect::<Vec<_>>().into())
    };
    epsilon or "epsilon = 1.0" => {
        about(shape::numbers(shape::positive()), "ε: a number, a list, or a range.")
    }, |panel| written(&panel.grid.epsilons, Epsilon::get);
    delta => {
        let delta = json!({ "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1 });
        about(
            shape::numbers(delta),
            "δ, for mh-beta, gaussian, geometric-truncated and the β-smooth sensitivity: a number, \
             a list, or a range.",
        )
    }, |panel| written(&panel.grid.deltas, Delta::get);
    gamma => {
        let words = "γ, for ehds, mh-gamma and the γ-smooth sensitivity: a number, a list, or a range.";
        or_default(about(shape::numbers(shape::gamma()), words), 1)
    }, |panel| written(&panel.grid.gammas, Gamma::get);
    distance => {
        or_default(reference("distance"), distance::HELLINGER.id())
    }, |panel| Some(panel.distance.id().into());
    mechanisms or "mechanisms = [\"lshist\", \"ehds\"]" => {
        about(shape::one_or_list(reference("mechanism")), "The mechanisms to compare.")
    }, |panel| {
        let all = || panel.variants.iter().map(mechanisms::write).collect::<Vec<_>>().into();
        panel.kind.rules().compares_mechanisms.then(all)
    };
    readings => {
        let words = "Values read off a printed figure: a table of data/printed, or a CSV file.";
        about(json!({ "type": "string" }), words)
    }, |panel| Some(panel.readings.as_ref()?.name.clone().into());
    not_compared => {
        about(label(), "Why a known print of the panel is not compared with it, for the report.")
    }, |panel| panel.not_compared.clone().map(Value::from);
    data or data_table::EXAMPLE => reference("data"), |panel| Some(data_table::write(&panel.grid.data));
}

/// The runs of a panel that does not say how many.
const DEFAULT_RUNS: u64 = 1000;

fn written<T: Copy>(all: &[T], get: fn(T) -> f64) -> Option<Value> {
    (!all.is_empty()).then(|| all.iter().copied().map(get).collect::<Vec<_>>().into())
}

/// The keys of a table that only some kinds understand.
pub fn own_keys<'a>(table: &mut Table<'a>) -> Vec<Node<'a>> {
    key::names().into_iter().filter_map(|key| table.take(key)).collect()
}

/// Whether a kind has a key of this name.
fn understands(kind: &dyn Kind, node: &Node) -> bool {
    kind.keys().iter().any(|key| key.name == node.key())
}

/// Refuses a key above all panels that none of them understands.
pub fn check_shared(shared: &[Node], panels: &[Panel]) -> Result<(), Diagnostic> {
    let understood =
        |node: &&Node| panels.iter().any(|panel| understands(panel.kind.as_ref(), node));
    match shared.iter().find(|node| !understood(node)) {
        None => Ok(()),
        Some(node) => Err(node
            .wrong(format!("none of the panels uses the key `{}`", node.key()))
            .help("leave it out, or add a panel of a kind that uses it")),
    }
}

/// What all panels of a config share.
pub struct Context<'a> {
    pub source: &'a Source,
    pub definitions: &'a Definitions<'a>,
    pub seed: u64,
    /// Whether prints are compared: not with an experiment that was changed.
    pub compares: bool,
    /// The runs that replace every panel's own.
    pub runs: Option<u64>,
}

impl<'a> Context<'a> {
    /// Reads and checks a panel that comes after those that have `taken` their settings.
    pub fn panel(&self, open: Open<'a>, id: String, taken: Taken) -> Result<Panel, Diagnostic> {
        let reading_node = open.readings.ok();
        let kind = kind(open.kind.ok(), &open.own, reading_node)?;
        let runs = open.runs.map_or(Ok(DEFAULT_RUNS), |node| runs(&node))?;
        let deltas = numbers(open.delta.ok(), Delta::new)?;
        let gammas = numbers(open.gamma.ok(), Gamma::new)?;
        let distance = open.distance.map_or(Ok(distance::HELLINGER), |n| named_distance(&n))?;
        let title = open.title.map_or(Ok(String::new()), |node| node.label())?;

        let prior = open.prior?;
        let priors = priors(&prior)?;
        let epsilons = numbers(Some(open.epsilon?), Epsilon::new)?;
        let asked = match kind.rules().compares_mechanisms {
            true => mechanisms::read(&open.mechanisms?, self.definitions, self.source)?,
            false => {
                refuse_mechanisms(kind.as_ref(), open.mechanisms)?;
                Vec::new()
            }
        };
        let variants: Vec<Mechanism> = asked.iter().map(|asked| asked.variant.clone()).collect();
        let mechanism_nodes: Vec<Node> = asked.iter().map(|asked| asked.node).collect();
        let data_node = open.data?;
        let data = data_table::read(&data_node, self.source)?;
        let grid = Grid { priors, epsilons, deltas, gammas, data };
        let weighs = |variant: &Mechanism| variant.kind.choices.contains(&Choice::Calibrated);
        let scored = variants.is_empty() || variants.iter().any(weighs);
        taken.check(&grid, scored, &data_node)?;
        let cases = cases(&grid, self.seed, distance, &prior, &data_node)?;
        grid::check_search(&cases, distance, &data_node)?;
        mechanisms::check(&asked, &cases)?;
        let reading_node = reading_node.filter(|_| kind.rules().compares_readings && self.compares);
        let readings = reading_node.map(|node| readings(&node, self.source)).transpose()?;
        let panel = Panel {
            id,
            title,
            kind,
            seed: self.seed,
            runs: self.runs.unwrap_or(runs),
            distance,
            variants,
            grid,
            cases,
            first: taken.settings as usize + 1,
            readings,
            not_compared: open.not_compared.ok().map(|node| node.label()).transpose()?,
            tuning: Arc::default(),
        };
        check(&panel, &mechanism_nodes, &open.own, &data_node)?;
        check_readings(&panel, reading_node)?;
        Ok(panel)
    }
}

/// The kind with its own keys. Refuses keys that mean nothing to it; those of the table around may be
/// meant for another panel.
fn kind(
    node: Option<Node>,
    own: &[Node],
    readings: Option<Node>,
) -> Result<Arc<dyn Kind>, Diagnostic> {
    let known: Vec<(&str, &dyn Kind)> = kind::ALL.iter().map(|&kind| (kind.id(), kind)).collect();
    let kind = node.map_or(Ok(kind::ALL[0]), |node| node.one_of(&known))?;
    let values: Vec<Node> = own.iter().copied().filter(|node| understands(kind, node)).collect();
    let configured = kind.configured(&values)?;
    let unused = |node: &&Node| !node.is_inherited() && !understands(kind, node);
    if let Some(node) = own.iter().find(unused) {
        let names: Vec<&str> = kind.keys().iter().map(|key| key.name).collect();
        return Err(means_nothing(node, kind).help(match names[..] {
            [] => "it has no keys of its own".to_owned(),
            _ => format!("its own keys are {}", names.join(", ")),
        }));
    }
    let compares = kind.rules().compares_readings;
    if let Some(node) = readings.filter(|node| !node.is_inherited() && !compares) {
        return Err(means_nothing(&node, kind).help("leave it out"));
    }
    Ok(configured)
}

/// A kind that compares no mechanisms must not be given any (those of the table around are for
/// other panels).
fn refuse_mechanisms(kind: &dyn Kind, node: Result<Node, Diagnostic>) -> Result<(), Diagnostic> {
    match node {
        Ok(node) if !node.is_inherited() => Err(node
            .wrong(format!("an experiment of kind `{}` compares no mechanisms", kind.id()))
            .help("leave `mechanisms` out")),
        _ => Ok(()),
    }
}

fn means_nothing(node: &Node, kind: &dyn Kind) -> Diagnostic {
    let (key, kind) = (node.key(), kind.id());
    node.wrong(format!("an experiment of kind `{kind}` does not use the key `{key}`"))
}

/// Refuses a panel that its kind cannot compute or draw.
fn check(panel: &Panel, mechanisms: &[Node], own: &[Node], data: &Node) -> Result<(), Diagnostic> {
    let (kind, rules) = (&panel.kind, panel.kind.rules());
    let has_other_k = |case: &Case| case.setting.k() != 2;
    if rules.needs_two_categories && panel.cases.iter().any(has_other_k) {
        return Err(data
            .wrong(format!("an experiment of kind `{}` has two categories", kind.id()))
            .help("use a prior of length 2, and data that fit"));
    }
    kind.check(panel).map_err(|complaint| {
        let own = |name| own.iter().find(|node| node.key() == name).copied();
        let node = match complaint.about {
            About::Data => *data,
            About::Mechanism(place) => mechanisms[place],
            About::Key(name) => own(name).unwrap_or(*data),
        };
        node.wrong(complaint.refusal.cause).help(complaint.refusal.remedy)
    })?;
    let mechanisms = panel.variants.iter().zip(mechanisms);
    let historical = |(variant, _): &(&Mechanism, _)| variant.is_historical();
    let misused = mechanisms.clone().find(historical).filter(|_| !rules.draws_historical);
    if let Some((variant, node)) = misused {
        let refusal = variant.historical_refusal();
        return Err(node.wrong(refusal.cause).help(refusal.remedy));
    }
    let tuned = mechanisms.clone().find(|(variant, _)| tuning::needs_tuning(variant));
    if let Some((_, node)) = tuned.filter(|_| rules.checks_formulas) {
        let cause = format!(
            "an experiment of kind `{}` checks formulas of the documents, which do not cover calibrated or remapped \
             mechanisms",
            kind.id()
        );
        return Err(node.wrong(cause).help("leave `calibrated` and `remap` out"));
    }
    if panel.is_crowded() {
        return Err(data.wrong("two settings have the same place in one figure").help(format!(
            "an experiment of kind `{}` {}",
            kind.id(),
            kind.uncrowding()
        )));
    }
    Ok(())
}

/// Refuses a reading of what the panel does not have.
fn check_readings(panel: &Panel, node: Option<Node>) -> Result<(), Diagnostic> {
    let (Some(reading), Some(node)) = (panel.unplaced_reading(), node) else { return Ok(()) };
    let cause = format!(
        "there is a reading of `{}` at `{}`, but this panel has nothing of that name",
        reading.mechanism, reading.at
    );
    Err(node.wrong(cause).help("give mechanisms and data the labels that the readings have"))
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
    ReadingSet::parse(&lasting_name(&source, named), &bytes, &source.to_string())
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
    distance::find(node.string()?).map_err(|refusal| node.wrong(refusal.cause).help(refusal.remedy))
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
                        let (prior, n) = (prior.clone(), data.counts.iter().sum());
                        let setting = Setting { prior, n, epsilon, delta, gamma, distance };
                        let setting = SettingWithData::new(setting, data.counts.clone());
                        cases.push(Case { setting, label: data.label.clone(), at: data.at });
                    }
                }
            }
        }
    }
    Ok(cases)
}
