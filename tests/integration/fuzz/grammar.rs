//! Configs written from the grammar of the keys, with values from one end to the other.

use engine::named::Named;
use lab::experiment::ScopeName;
use lab::experiment::kind::accuracy::FigureName;
use lab::experiment::kind::sensitivity::SensitivityName;
use lab::experiment::kind::{ALL, Kind};
use toml::{Table, Value};

use super::dice::Dice;
use super::value;

/// A config of one panel or a few.
pub fn config(dice: &mut Dice) -> Table {
    // Grids of astronomic size must be refused as quickly as small ones are taken.
    let wide = dice.once_in(40);
    if !dice.once_in(4) {
        dice.tame();
    }
    let mut config = Table::new();
    let mut put = |key: &str, value: Value| drop(config.insert(key.into(), value));
    let name = if dice.once_in(20) { value::text(dice) } else { "x".into() };
    put("name", name.into());
    for key in ["title", "source", "notes"] {
        if dice.once_in(4) {
            put(key, value::text(dice).into());
        }
    }
    if dice.once_in(4) {
        put("seed", value::whole(dice).into());
    }
    if dice.once_in(3) {
        let panels = dice.between(1, 3);
        let panel = |i: usize, dice: &mut Dice| {
            let mut panel = panel(dice, wide);
            let id = if dice.once_in(20) { value::text(dice) } else { format!("p{i}") };
            panel.insert("id".into(), id.into());
            Value::Table(panel)
        };
        put("panel", Value::Array((0..panels).map(|i| panel(i, dice)).collect()));
        if dice.once_in(2) {
            put("epsilon", 1.into());
        }
    } else {
        config.extend(panel(dice, wide));
    }
    config
}

/// The keys of one panel.
fn panel(dice: &mut Dice, wide: bool) -> Table {
    let mut panel = Table::new();
    let kind = if dice.once_in(2) { ALL[0] } else { *dice.one(ALL) };
    let k = match dice.below(40) {
        0 => dice.between(5, 300),
        1..=8 if !kind.needs_two_categories() => dice.between(3, 4),
        _ => 2,
    };
    let mut put = |key: &str, value: Value| drop(panel.insert(key.into(), value));
    put("kind", kind.id().into());
    let mut half = || wide && dice.once_in(2);
    let (wide_prior, wide_delta, wide_gamma) = (half(), half(), half());
    put("prior", value::prior(dice, k, wide_prior));
    put(
        "epsilon",
        match kind.id() {
            // Most kinds draw one line through their settings.
            "accuracy" | "theory" => value::numbers(dice, wide, value::number),
            "phase" => vec![0.5, value::number(dice)].into(),
            _ if wide => value::numbers(dice, wide, value::number),
            _ => value::number(dice).into(),
        },
    );
    if !dice.once_in(6) {
        let one = kind.id() != "accuracy" && !wide_delta;
        let delta = value::share(dice).into();
        put("delta", if one { delta } else { value::numbers(dice, wide_delta, value::share) });
    }
    if dice.once_in(4) {
        put("gamma", value::numbers(dice, wide_gamma, value::number));
    }
    if dice.once_in(3) {
        put("distance", value::distance(dice));
    }
    if dice.once_in(3) {
        put("runs", value::whole(dice).into());
    }
    if kind.compares_mechanisms() || dice.once_in(20) {
        put("mechanisms", mechanisms(kind, dice));
    }
    for key in kind.keys() {
        if key.name == "steps" || dice.once_in(3) {
            put(key.name, parameter(key.name, dice));
        }
    }
    put("data", data(dice, k, wide));
    panel
}

/// Mechanisms that the kind can show, as a rule.
fn mechanisms(kind: &dyn Kind, dice: &mut Dice) -> Value {
    let ids: &[&str] = match kind.id() {
        "tail" | "normaliser" => &["mh-beta", "mh-gamma"],
        "steps" | "table1" | "crossover" => &["lsdim", "lshist", "ehd", "ehds"],
        "phase" => &["lshist", "ehd", "ehds", "geometric", "hamming"],
        _ => return value::mechanisms(dice),
    };
    match dice.is_wild() {
        true => value::mechanisms(dice),
        false => {
            Value::Array(ids[..dice.between(2, ids.len())].iter().map(|&id| id.into()).collect())
        }
    }
}

fn parameter(key: &str, dice: &mut Dice) -> Value {
    let name = match key {
        "view" => {
            let from = value::number(dice);
            return vec![from, from + value::number(dice).abs()].into();
        }
        "steps" => return value::sizes(dice, false),
        "metrics" => {
            let names = ["l1", "l2", "linf", "tv", "kl", "print", "hellinger", "renyi:0.5", "mse"];
            let names = (0..dice.between(1, 3)).map(|_| Value::from(*dice.one(&names)));
            return Value::Array(names.collect());
        }
        "whiskers" if dice.once_in(2) => "range",
        "whiskers" => return value::number(dice).into(),
        "outliers" => return dice.once_in(2).into(),
        "at_epsilon" => return value::number(dice).into(),
        "sensitivities" => dice.one(SensitivityName::ALL).id(),
        "scope" => dice.one(ScopeName::ALL).id(),
        "figures" => dice.one(FigureName::ALL).id(),
        _ => dice.one(engine::mechanism::ALL).id(),
    };
    Value::Array(vec![name.into(); if dice.once_in(10) { 2 } else { 1 }])
}

/// The table `[data]`.
pub fn data(dice: &mut Dice, k: usize, wide: bool) -> Value {
    let source = *dice.one(&["balanced", "counts", "file", "line", "predictive", "shares"]);
    let mut inner = Table::new();
    let mut put = |key: &str, value: Value| drop(inner.insert(key.into(), value));
    match source {
        "counts" => {
            let many = value::length(dice);
            let vectors = (0..many).map(|_| value::counts(dice, k)).collect();
            put("counts", Value::Array(vectors));
            let many = if dice.once_in(10) { many + 1 } else { many };
            if dice.once_in(3) {
                let at = (0..many).map(|_| value::number(dice).into()).collect();
                put("at", Value::Array(at));
                put("at_label", value::text(dice).into());
            }
            if dice.once_in(3) {
                let labels = (0..many).map(|i| format!("{}{i}", value::text(dice)).into());
                put("labels", Value::Array(labels.collect()));
            }
        }
        "file" => {
            let paths = (0..value::length(dice).min(5)).map(|_| path(dice).into()).collect();
            put("path", Value::Array(paths));
            if dice.once_in(4) {
                put("column", (*dice.one(&["category", "count", "kind"])).into());
            }
            if dice.once_in(6) {
                put("categories", vec!["no", "yes", "minus", "plus"].into());
            }
        }
        _ => {
            put("sizes", value::sizes(dice, wide));
            if source == "shares" {
                put("shares", value::numbers(dice, wide, value::share));
            }
            if source == "balanced" && dice.once_in(6) {
                put("proportions", vec![1.0 / k as f64; k].into());
            }
        }
    }
    value::table([(source, Value::Table(inner))])
}

/// The path of a data file: one that is there, or none.
fn path(dice: &mut Dice) -> String {
    const FILES: [&str; 6] = [
        "badges",
        "bike_weather",
        "bike_working_day",
        "cryotherapy_type",
        "immunotherapy_type",
        "printed/icml-fig1",
    ];
    match dice.below(12) {
        0 => value::text(dice),
        1 => (*dice.one(&["..", "/dev/null", "/dev/zero", "a\0b", "../data", "x.toml"])).to_owned(),
        _ => format!("../data/{}.csv", dice.one(&FILES)),
    }
}
