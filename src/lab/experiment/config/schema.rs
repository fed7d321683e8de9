//! The config format as a JSON Schema, for editors: they complete keys and names, show what they
//! mean, and mark what is wrong while it is typed.
//!
//! Names and limits come from the lists and constants that the reader itself uses. What a schema
//! cannot say (that counts fit the prior, that a file exists) is left to `dpbi check`. Draft 7 is the
//! latest that the editors' TOML plugins know well.

use serde_json::{Map, Value, json};

use super::{MOST_RUNS, data, range};
use crate::experiment::kind::{self, Kind, key};
use engine::mechanism::own::{self, Noisy};
use engine::mechanism::{self, Choice, Global, Mechanism, Smooth};
use engine::posterior::distance;
use engine::posterior::metric;
use engine::posterior::model::MOST_RECORDS;
use engine::posterior::sensitivity::CandidatesInBeta;

/// The schema of an experiment file.
pub fn schema() -> Value {
    let mut properties = panel_properties();
    properties.extend(experiment_properties());
    let mut conditions = vec![json!({
        "if": with("panel"),
        "else": { "required": ["prior", "epsilon", "data"] },
    })];
    conditions.push(json!({
        "if": { "anyOf": [with("panel"), with_kind(|kind| !kind.compares_mechanisms())] },
        "else": { "required": ["mechanisms"] },
    }));
    conditions.extend(kind_conditions(true));
    // Without definitions of one's own every name is a known one.
    let listed = json!({ "mechanisms": one_or_list(reference("listed_mechanism")) });
    let panels = json!({ "items": { "properties": listed } });
    conditions.push(json!({
        "if": with("define"),
        "else": { "properties": { "mechanisms": listed["mechanisms"], "panel": panels } },
    }));
    json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "A dpbi experiment",
        "description": "An experiment for `dpbi run`. `dpbi check` finds mistakes that this schema cannot find.",
        "type": "object",
        "additionalProperties": false,
        "required": ["name"],
        "properties": properties,
        "allOf": conditions,
        "definitions": {
            "panel": panel_table(),
            "prior": prior(),
            "mechanism": mechanism(),
            "listed_mechanism": listed_mechanism(),
            "own_mechanism": own_mechanism(),
            "distance": distance(),
            "metric": metric(),
            "data": data_table(),
            "range": range_table(json!({ "type": "number" }), false),
            "whole_range": range_table(whole(0, MOST_RECORDS), false),
            "prior_range": range_table(json!({ "type": "number" }), true),
        },
    })
}

/// `value` with words for people.
fn about(mut value: Value, description: &str) -> Value {
    value["description"] = description.into();
    value
}

pub fn or_default(mut value: Value, default: impl Into<Value>) -> Value {
    value["default"] = default.into();
    value
}

pub fn reference(definition: &str) -> Value {
    json!({ "$ref": format!("#/definitions/{definition}") })
}

/// A text of one line that is not blank.
fn label() -> Value {
    json!({ "type": "string", "pattern": r"^[^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f][^\x00-\x1f\x7f]*$" })
}

/// The name of a folder: letters of any language, digits, `_`, `-` and `.`, not hidden.
fn folder_name() -> Value {
    let (inside, first) = (r"\x00-,/:-@\[-^`{-\x7f", ".");
    json!({ "type": "string", "pattern": format!("^[^{first}{inside}][^{inside}]{{0,99}}$") })
}

pub fn whole(least: u64, most: u64) -> Value {
    json!({ "type": "integer", "minimum": least, "maximum": most })
}

fn list(item: &Value) -> Value {
    json!({ "type": "array", "minItems": 1, "items": item })
}

pub fn one_or_list(item: Value) -> Value {
    json!({ "anyOf": [item, list(&item)] })
}

/// One number, a list or a range of them.
fn numbers(number: Value) -> Value {
    json!({ "anyOf": [number, list(&number), reference("range")] })
}

fn sizes(most: u64) -> Value {
    let number = whole(0, most);
    let numbers = json!({ "anyOf": [number, list(&number), reference("whole_range")] });
    about(numbers, "Numbers of records: one, a list, or a range.")
}

/// A positive number that is neither too small nor too large to compute with.
pub fn positive() -> Value {
    json!({ "type": "number", "minimum": 1e-100, "maximum": 1e100 })
}

fn gamma() -> Value {
    json!({ "type": "number", "minimum": 0, "maximum": 1e100 })
}

/// One of several names, each with what it means.
pub fn named<'a>(all: impl IntoIterator<Item = (&'a str, &'a str)>) -> Value {
    let (names, meanings): (Vec<&str>, Vec<&str>) = all.into_iter().unzip();
    json!({ "type": "string", "enum": names, "x-taplo": { "docs": { "enumValues": meanings } } })
}

fn object(properties: Map<String, Value>, required: &[&str]) -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": required,
        "properties": properties,
    })
}

fn keys<const N: usize>(entries: [(&str, Value); N]) -> Map<String, Value> {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

/// A table that sets `key`.
fn with(key: &str) -> Value {
    json!({ "required": [key] })
}

/// The names of the kinds for which `wanted` is true.
fn kinds(wanted: impl Fn(&dyn Kind) -> bool) -> Vec<&'static str> {
    kind::ALL.iter().filter(|kind| wanted(**kind)).map(|kind| kind.id()).collect()
}

/// A table that sets a kind for which `wanted` is true.
fn with_kind(wanted: impl Fn(&dyn Kind) -> bool) -> Value {
    let kinds = kinds(wanted);
    json!({ "required": ["kind"], "properties": { "kind": { "enum": kinds } } })
}

/// What belongs to the experiment as a whole.
fn experiment_properties() -> Map<String, Value> {
    keys([
        ("name", about(folder_name(), "The results folder: results/<name>/.")),
        ("title", about(label(), "The title, in one line. Default: the name.")),
        ("source", about(label(), "Its place in a document, such as \"Figure 2\".")),
        ("notes", about(one_or_list(label()), "Remarks, printed below the figure in the report.")),
        (
            "seed",
            or_default(
                about(
                    whole(0, i64::MAX as u64),
                    "The same seed gives the same bytes in every table.",
                ),
                0,
            ),
        ),
        ("define", definitions()),
        (
            "panel",
            about(
                list(&reference("panel")),
                "Several panels; each inherits every key that it does not set.",
            ),
        ),
    ])
}

fn panel_table() -> Value {
    let mut properties = panel_properties();
    properties.insert("id".into(), about(folder_name(), "The panel's name, in tables and files."));
    let mut panel = object(properties, &["id"]);
    panel["allOf"] = kind_conditions(false).into();
    about(panel, "One panel of a figure.")
}

/// What can be said of every panel, or once for all of them.
fn panel_properties() -> Map<String, Value> {
    let mut properties = keys([
        ("title", about(label(), "The title of the panel.")),
        ("kind", kind()),
        (
            "runs",
            or_default(
                about(whole(1, MOST_RUNS), "Sampled releases for each setting and mechanism."),
                1000,
            ),
        ),
        ("prior", reference("prior")),
        ("epsilon", about(numbers(positive()), "ε: a number, a list, or a range.")),
        (
            "delta",
            about(
                numbers(json!({ "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1 })),
                "δ, for mh-beta, gaussian, geometric-truncated and the β-smooth sensitivity: a number, a list, or a range.",
            ),
        ),
        (
            "gamma",
            or_default(
                about(
                    numbers(gamma()),
                    "γ, for ehds, mh-gamma and the γ-smooth sensitivity: a number, a list, or a \
                     range.",
                ),
                1,
            ),
        ),
        ("distance", or_default(reference("distance"), distance::HELLINGER.id())),
        ("mechanisms", about(one_or_list(reference("mechanism")), "The mechanisms to compare.")),
        (
            "readings",
            about(
                json!({ "type": "string" }),
                "Values read off a printed figure: a table of data/printed, or a CSV file.",
            ),
        ),
        (
            "not_compared",
            about(
                label(),
                "Why a known print of the panel is not compared with it, for the report.",
            ),
        ),
        ("data", reference("data")),
    ]);
    properties.extend(key::names().into_iter().map(|key| (key.to_owned(), own_key(key))));
    properties
}

fn kind() -> Value {
    let kinds = named(kind::ALL.iter().map(|kind| (kind.id(), kind.computes())));
    or_default(about(kinds, "What is computed."), kind::ALL[0].id())
}

/// A key that only some kinds understand.
fn own_key(name: &str) -> Value {
    let mut keys = kind::ALL.iter().flat_map(|kind| kind.keys());
    let Some(key) = keys.find(|key| key.name == name) else { return json!({}) };
    let kinds = kinds(|kind| has_key(kind, name)).join(", ");
    about((key.schema)(), &format!("{} Of kind {kinds}.", key.about.trim()))
}

fn has_key(kind: &dyn Kind, name: &str) -> bool {
    kind.keys().iter().any(|key| key.name == name)
}

/// Keys that mean nothing to a kind are refused, where the kind is known: in a panel of its own,
/// and in an experiment without panels, where it is `accuracy` unless said otherwise.
fn kind_conditions(whole_experiment: bool) -> Vec<Value> {
    let condition = |key: &'static str| {
        let understands = |kind: &dyn Kind| match key {
            "mechanisms" => kind.compares_mechanisms(),
            "readings" => kind.compares_readings(),
            _ => has_key(kind, key),
        };
        let kinds = kinds(understands);
        let mut then = json!({ "properties": { "kind": { "enum": kinds } } });
        if whole_experiment && !understands(kind::ALL[0]) {
            then["required"] = json!(["kind"]);
        }
        let given = match whole_experiment {
            true => json!({ "required": [key], "not": with("panel") }),
            false => json!({ "required": [key, "kind"] }),
        };
        json!({ "if": given, "then": then })
    };
    key::names().into_iter().chain(["mechanisms", "readings"]).map(condition).collect()
}

fn prior() -> Value {
    let vector = json!({
        "type": "array",
        "minItems": 2,
        "maxItems": range::MOST_CATEGORIES,
        "items": positive(),
    });
    let prior = json!({ "anyOf": [vector, list(&vector), reference("prior_range")] });
    about(prior, "The Dirichlet parameters: one vector, a list of vectors, or a range with k.")
}

fn range_table(end: Value, symmetric: bool) -> Value {
    let mut properties = keys([
        ("from", about(end.clone(), "The first number.")),
        ("to", about(end, "The last number.")),
        ("count", about(whole(2, range::MOST), "How many numbers.")),
        (
            "spacing",
            or_default(
                named([("linear", "Equal differences."), ("log", "Equal ratios.")]),
                "linear",
            ),
        ),
    ]);
    let mut required = vec!["from", "to", "count"];
    if symmetric {
        let k = about(whole(2, range::MOST_CATEGORIES), "Categories of the prior (b, …, b).");
        properties.insert("k".into(), k);
        required.push("k");
    }
    about(object(properties, &required), "A range of numbers.")
}

/// A mechanism that is listed or defined here, or one that `[define]` names.
fn mechanism() -> Value {
    let known: Vec<&str> = all_mechanisms().map(|mechanism| mechanism.id()).collect();
    let name = json!({ "type": "string", "not": { "enum": known } });
    let changed = json!({
        "type": "object",
        "required": ["id"],
        "properties": { "id": { "allOf": [name, { "not": { "enum": own_ids() } }] } },
    });
    json!({ "anyOf": [reference("listed_mechanism"), name, changed] })
}

fn all_mechanisms() -> impl Iterator<Item = &'static dyn Mechanism> {
    mechanism::ALL.iter().chain(mechanism::HISTORICAL).copied()
}

fn own_ids() -> Vec<&'static str> {
    own::KINDS.iter().map(|kind| kind.id).collect()
}

/// Mechanisms with names, for several panels.
fn definitions() -> Value {
    let file = about(json!({ "type": "string" }), "A config with definitions.");
    let from = about(one_or_list(file), "Files with further definitions.");
    about(
        json!({
            "type": "object",
            "properties": { "from": from },
            "additionalProperties": reference("own_mechanism"),
        }),
        "Mechanisms of your own, by name.",
    )
}

/// A mechanism of the user's own.
fn own_mechanism() -> Value {
    let kinds = named(own::KINDS.iter().map(|kind| (kind.id, kind.draws)));
    let sets = own::CANDIDATE_SETS.map(|set| set.name());
    let noisy: Vec<&str> = Noisy::ALL.iter().map(|on| on.name()).collect();
    let expression = about(
        json!({ "type": "string", "minLength": 1 }),
        "The logarithm of a weight, such as \"-epsilon * H / (2 * GS)\".",
    );
    let properties = keys([
        ("id", about(kinds, "What the definition gives.")),
        ("label", about(label(), "Its name in tables and figures.")),
        ("gamma", about(gamma(), "γ of the smooth sensitivity. Default: the config's.")),
        ("calibrated", calibrated()),
        ("remap", remap()),
        ("log_weight", expression),
        (
            "outputs",
            about(
                or_default(json!({ "enum": sets }), "R"),
                "Of weights: the candidates, or all counts that sum to n or less.",
            ),
        ),
        (
            "on",
            about(
                or_default(json!({ "enum": noisy }), "first"),
                "Of noise: every count, the first k − 1, or every count with noise that sums to 0.",
            ),
        ),
        (
            "path",
            about(
                json!({ "type": "string" }),
                "Of a table: a CSV file with the columns counts, output, probability.",
            ),
        ),
    ]);
    let needs = |id: &str, key: &str, foreign: &[&str]| {
        let foreign: Vec<Value> = foreign.iter().map(|key| with(key)).collect();
        json!({
            "if": { "properties": { "id": { "const": id } } },
            "then": { "required": [key], "not": { "anyOf": foreign } },
        })
    };
    let mut table = object(properties, &["id"]);
    table["additionalProperties"] = numbers(json!({ "type": "number" }));
    table["allOf"] = json!([
        needs(own::WEIGHTS.id, "log_weight", &["on", "path"]),
        needs(own::NOISE.id, "log_weight", &["outputs", "path"]),
        needs(own::TABLE.id, "path", &["log_weight", "outputs", "on", "gamma", "calibrated"]),
    ]);
    about(table, "A mechanism of your own. Further keys are parameters of its expression.")
}

fn calibrated() -> Value {
    about(
        or_default(json!({ "type": "boolean" }), false),
        "Change the ε in the weight (or a factor of its logarithm) until the exact privacy loss is the ε asked for.",
    )
}

fn remap() -> Value {
    about(
        or_default(json!({ "type": "boolean" }), false),
        "Replace every output by the candidate with the least expected error given that output.",
    )
}

/// A mechanism's id, a table with its options, or a mechanism of the user's own.
fn listed_mechanism() -> Value {
    let id = || named(all_mechanisms().map(|mechanism| (mechanism.id(), mechanism.draws())));
    let properties = keys([
        ("id", about(id(), "The mechanism.")),
        ("label", about(label(), "Its name in tables and figures. Default: the id.")),
        ("gamma", about(gamma(), "γ of the smooth sensitivity. Default: the config's.")),
        ("divisor", about(positive(), "The number before the sensitivity in the weight.")),
        (
            "global",
            or_default(
                about(
                    json!({ "enum": Global::ALL.iter().map(|global| global.name()).collect::<Vec<_>>() }),
                    "Which global sensitivity: the exact one, the bound sqrt(1 − π/4), or that of two neighbours of the prior (only figures in print use the last).",
                ),
                Global::default().name(),
            ),
        ),
        ("scale_factor", about(positive(), "The scale of the noise is this number divided by ε.")),
        (
            "candidates_in_beta",
            or_default(
                about(
                    json!({ "enum": CandidatesInBeta::ALL.iter().map(|count| count.name()).collect::<Vec<_>>() }),
                    "What β counts: as in the text, or as in print.",
                ),
                CandidatesInBeta::default().name(),
            ),
        ),
        (
            "smooth",
            or_default(
                about(
                    json!({ "enum": Smooth::ALL.iter().map(|smooth| smooth.name()).collect::<Vec<_>>() }),
                    "Which sensitivity: the β-smooth one, or the local one (only figures in print use it).",
                ),
                Smooth::default().name(),
            ),
        ),
        ("calibrated", calibrated()),
        ("remap", remap()),
    ]);
    let options = |mechanism: &dyn Mechanism| {
        let own = mechanism.choices().iter().copied().map(Choice::key);
        let known: Vec<&str> = ["id", "label", "remap"].into_iter().chain(own).collect();
        json!({
            "if": { "properties": { "id": { "const": mechanism.id() } } },
            "then": { "propertyNames": { "enum": known } },
        })
    };
    let mut table = object(properties, &["id"]);
    table["allOf"] = all_mechanisms().map(options).collect();
    about(
        json!({ "anyOf": [id(), table, reference("own_mechanism")] }),
        "A mechanism: its id, or a table with its options.",
    )
}

/// The names of distances, or `renyi:` with an order.
fn named_or_renyi<'a>(names: impl IntoIterator<Item = (&'a str, &'a str)>) -> Value {
    let renyi = json!({
        "type": "string",
        "pattern": format!(r"^{}([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$", distance::RENYI),
        "description": "The Rényi divergence of an order, such as renyi:0.5.",
    });
    json!({ "anyOf": [named(names), renyi] })
}

fn distance() -> Value {
    let named = distance::NAMED.iter().map(|distance| (distance.id(), distance.title()));
    about(named_or_renyi(named), "Score, sensitivities and error.")
}

fn metric() -> Value {
    let all = metric::all();
    about(named_or_renyi(all.iter().map(|metric| (metric.id, metric.title))), "An error.")
}

fn data_table() -> Value {
    let sources = data::SOURCES.map(|name| (name.to_owned(), source(name)));
    json!({
        "type": "object",
        "description": "Where the data come from: exactly one source.",
        "additionalProperties": false,
        "minProperties": 1,
        "maxProperties": 1,
        "properties": Map::from_iter(sources),
    })
}

/// One source of data.
fn source(name: &str) -> Value {
    let share = json!({ "type": "number", "minimum": 0, "maximum": 1 });
    let text = json!({ "type": "string" });
    let (properties, required, words): (_, &[&str], _) = match name {
        "balanced" => (
            keys([
                ("sizes", sizes(MOST_RECORDS)),
                ("proportions", about(list(&share), "One for each category; they sum to 1.")),
            ]),
            &["sizes"],
            "n records, split evenly or in proportions.",
        ),
        "counts" => {
            let vector = list(&whole(0, MOST_RECORDS));
            let number = json!({ "type": "number" });
            (
                keys([
                    (
                        "counts",
                        about(
                            json!({ "anyOf": [vector, list(&vector)] }),
                            "The counts of one data set, or a list of data sets.",
                        ),
                    ),
                    ("at", about(one_or_list(number), "A position on the axis for each data set.")),
                    ("at_label", about(label(), "The label of this axis.")),
                    ("labels", about(one_or_list(label()), "A name for each data set.")),
                ]),
                &["counts"],
                "Data sets written out as counts.",
            )
        }
        "file" => (
            keys([
                ("path", about(one_or_list(text.clone()), "CSV files, relative to this config.")),
                ("column", about(text.clone(), "The column of a raw table.")),
                ("categories", about(list(&text), "Its categories, in the prior's order.")),
            ]),
            &["path"],
            "A histogram (category,count) or a raw table.",
        ),
        "line" => (
            keys([("sizes", sizes(data::LONGEST_LINE))]),
            &["sizes"],
            "Every data set of two categories; the first count is the position on the axis.",
        ),
        "shares" => (
            keys([
                ("sizes", sizes(MOST_RECORDS)),
                ("shares", about(numbers(share), "The first category's share of the records.")),
            ]),
            &["sizes", "shares"],
            "The first category has its share of n, and the others have equal parts of the rest.",
        ),
        _ => (
            keys([("sizes", sizes(data::MOST_DRAWN))]),
            &["sizes"],
            "Drawn from the prior predictive distribution, with the seed.",
        ),
    };
    about(object(properties, required), words)
}
