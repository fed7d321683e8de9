//! The config format as a JSON Schema, for editors: they complete keys and names, show what they
//! mean, and mark what is wrong while it is typed.
//!
//! Names and limits come from the lists and constants that the reader itself uses. What a schema
//! cannot say (that counts fit the prior, that a file exists) is left to `dpbi check`. Draft 7 is the
//! latest that the editors' TOML plugins know well.

use serde_json::{Map, Value, json};

use super::asked::{option_schema, understands};
use super::own_mechanisms::KEYS;
use super::{data_table, panel, range};
use crate::experiment::kind::{self, Kind, key};
use crate::experiment::value::shape::{
    about, folder_name, keys, label, list, named, numbers, object, one_or_list, or_default,
    positive, reference, whole,
};
use engine::mechanism::own;
use engine::mechanism::{self, Choice};
use engine::posterior::distance;
use engine::posterior::metric;
use engine::posterior::model::MOST_RECORDS;

/// The schema of an experiment file.
pub fn schema() -> Value {
    let mut properties = panel_properties();
    properties.extend(experiment_properties());
    let mut conditions = vec![json!({
        "if": with("panel"),
        "else": { "required": ["prior", "epsilon", "data"] },
    })];
    conditions.push(json!({
        "if": { "anyOf": [with("panel"), with_kind(|kind| !kind.rules().compares_mechanisms)] },
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
            "data": data_table::schema(),
            "range": range_table(json!({ "type": "number" }), false),
            "whole_range": range_table(whole(0, MOST_RECORDS), false),
            "prior_range": range_table(json!({ "type": "number" }), true),
        },
    })
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
        (
            "changes",
            about(one_or_list(label()), "What `--set` changed. dpbi writes it to results folders."),
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
    let of_all = panel::KEYS.iter().map(|key| (key.name.to_owned(), (key.schema)()));
    let own = key::names().into_iter().map(|key| (key.to_owned(), own_key(key)));
    of_all.chain(own).collect()
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
            "mechanisms" => kind.rules().compares_mechanisms,
            "readings" => kind.rules().compares_readings,
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
    let known: Vec<&str> = all_mechanisms().map(|mechanism| mechanism.id).collect();
    let name = json!({ "type": "string", "not": { "enum": known } });
    let changed = json!({
        "type": "object",
        "required": ["id"],
        "properties": { "id": { "allOf": [name, { "not": { "enum": own_ids() } }] } },
    });
    json!({ "anyOf": [reference("listed_mechanism"), name, changed] })
}

fn all_mechanisms() -> impl Iterator<Item = &'static mechanism::Kind> {
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
    let mut properties = keys([
        ("id", about(kinds, "What the definition gives.")),
        ("label", about(label(), "Its name in tables and figures.")),
    ]);
    let options = || {
        let is_own =
            |choice: &&Choice| own::KINDS.iter().any(|kind| understands(kind.choices, **choice));
        Choice::ALL.iter().filter(is_own).copied()
    };
    properties.extend(options().map(option_schema));
    properties
        .extend(KEYS.iter().map(|key| (key.name.to_owned(), about((key.schema)(), key.about))));
    let needs = |kind: &&mechanism::Kind| {
        let (own, others): (Vec<_>, Vec<_>) =
            KEYS.iter().partition(|key| key.kinds.contains(&kind.id));
        let required = own.iter().filter(|key| (key.schema)().get("default").is_none());
        let required: Vec<&str> = required.map(|key| key.name).collect();
        let options = options().filter(|choice| !understands(kind.choices, *choice));
        let foreign = others.iter().map(|key| key.name).chain(options.map(Choice::key));
        let foreign: Vec<Value> = foreign.map(with).collect();
        json!({
            "if": { "properties": { "id": { "const": kind.id } } },
            "then": { "required": required, "not": { "anyOf": foreign } },
        })
    };
    let mut table = object(properties, &["id"]);
    table["additionalProperties"] = numbers(json!({ "type": "number" }));
    table["allOf"] = own::KINDS.iter().map(needs).collect();
    about(table, "A mechanism of your own. Further keys are parameters of its expression.")
}

/// A mechanism's id, a table with its options, or a mechanism of the user's own.
fn listed_mechanism() -> Value {
    let id = || named(all_mechanisms().map(|mechanism| (mechanism.id, mechanism.draws)));
    let mut properties = keys([
        ("id", about(id(), "The mechanism.")),
        ("label", about(label(), "Its name in tables and figures. Default: the id.")),
    ]);
    properties.extend(Choice::ALL.iter().copied().map(option_schema));
    let options = |mechanism: &mechanism::Kind| {
        let own = mechanism.choices.iter().copied().map(Choice::key);
        let known: Vec<&str> = ["id", "label", "remap"].into_iter().chain(own).collect();
        json!({
            "if": { "properties": { "id": { "const": mechanism.id } } },
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
    about(named_or_renyi(all.iter().map(|metric| (metric.id(), metric.title()))), "An error.")
}
