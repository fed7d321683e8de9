//! The resolved config: everything that decides the results, written out, so that a results folder
//! can be run and drawn again without the files it came from.

use toml::{Table, Value};

use crate::experiment::{DataSpec, Experiment, Panel};
use engine::mechanism::{Definition, Variant};
use engine::posterior::privacy::{Delta, Epsilon, Gamma};

/// `experiment` as a config.
pub fn resolve(experiment: &Experiment) -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!("# Written by dpbi {version}: the experiment as it was run.\n{}", table(experiment))
}

/// The same for a manifest.
pub fn resolved(experiment: &Experiment) -> serde_json::Value {
    serde_json::to_value(table(experiment)).expect("a config is plain data")
}

fn table(experiment: &Experiment) -> Table {
    let mut table = Table::new();
    let mut put = |key: &str, value: Value| drop(table.insert(key.into(), value));
    put("name", experiment.name.clone().into());
    put("title", experiment.title.clone().into());
    if let Some(source) = &experiment.source {
        put("source", source.clone().into());
    }
    if !experiment.notes.is_empty() {
        put("notes", experiment.notes.clone().into());
    }
    put("seed", whole(experiment.seed));
    match &experiment.panels[..] {
        [only] if only.id.is_empty() => table.extend(panel(only)),
        panels => {
            put("panel", panels.iter().map(|one| panel(one).into()).collect::<Vec<Value>>().into())
        }
    }
    table
}

/// The keys of one panel.
fn panel(panel: &Panel) -> Table {
    let mut table = Table::new();
    let mut put = |key: &str, value: Value| drop(table.insert(key.into(), value));
    if !panel.id.is_empty() {
        put("id", panel.id.clone().into());
    }
    put("title", panel.title.clone().into());
    put("kind", panel.kind.id().into());
    put("runs", whole(panel.runs));
    put("distance", panel.distance.id().into());
    let grid = &panel.grid;
    let prior = |prior: &engine::posterior::model::Prior| Value::from(prior.alpha().to_vec());
    put("prior", grid.priors.iter().map(prior).collect::<Vec<_>>().into());
    put("epsilon", grid.epsilons.iter().copied().map(Epsilon::get).collect::<Vec<_>>().into());
    if !grid.deltas.is_empty() {
        put("delta", grid.deltas.iter().copied().map(Delta::get).collect::<Vec<_>>().into());
    }
    if !grid.gammas.is_empty() {
        put("gamma", grid.gammas.iter().copied().map(Gamma::get).collect::<Vec<_>>().into());
    }
    if panel.kind.compares_mechanisms() {
        put("mechanisms", panel.variants.iter().map(mechanism).collect::<Vec<_>>().into());
    }
    if let Some(readings) = &panel.readings {
        put("readings", readings.name.clone().into());
    }
    if let Some(reason) = &panel.not_compared {
        put("not_compared", reason.clone().into());
    }
    put("data", data(&grid.data));
    table.extend(panel.kind.resolved());
    table
}

/// Counts, runs and seeds all lie in TOML's range: the config reader sees to it.
pub(in crate::experiment) fn whole(value: u64) -> Value {
    Value::Integer(i64::try_from(value).unwrap_or(i64::MAX))
}

fn mechanism(variant: &Variant) -> Value {
    let mut table = Table::new();
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            table.insert(key.into(), value);
        }
    };
    let options = &variant.options;
    put("id", Some(variant.mechanism.id().into()));
    put("label", Some(variant.label.clone().into()));
    put("gamma", options.gamma.map(|gamma| gamma.get().into()));
    put("divisor", options.divisor.map(Value::from));
    put("global", options.global.map(|global| global.name().into()));
    put("scale_factor", options.scale_factor.map(Value::from));
    put("candidates_in_beta", options.candidates_in_beta.map(|count| count.name().into()));
    put("smooth", options.smooth.map(|smooth| smooth.name().into()));
    put("calibrated", options.calibrated.then_some(Value::from(true)));
    put("remap", options.remap.then_some(Value::from(true)));
    if let Some(definition) = variant.mechanism.definition() {
        put("log_weight", definition.log_weight().map(Value::from));
        match definition {
            Definition::Weights { outputs, .. } => put("outputs", Some(outputs.name().into())),
            Definition::Noise { on, .. } => put("on", Some(on.name().into())),
            Definition::Table { path, .. } => put("path", Some(path.clone().into())),
        }
        definition.parameters().iter().for_each(|one| put(&one.name, Some(one.value.into())));
    }
    table.into()
}

fn data(spec: &DataSpec) -> Value {
    let mut inner = Table::new();
    let mut put = |key: &str, value: Value| drop(inner.insert(key.into(), value));
    let wholes =
        |values: &[u64]| Value::from(values.iter().copied().map(whole).collect::<Vec<_>>());
    let name = match spec {
        DataSpec::Balanced { sizes, proportions } => {
            put("sizes", wholes(sizes));
            if let Some(proportions) = proportions {
                put("proportions", proportions.clone().into());
            }
            "balanced"
        }
        DataSpec::Counts { counts, at, at_label, labels } => {
            put("counts", counts.iter().map(|counts| wholes(counts)).collect::<Vec<_>>().into());
            if let Some(at) = at {
                put("at", at.clone().into());
            }
            if let Some(label) = at_label {
                put("at_label", label.clone().into());
            }
            if let Some(labels) = labels {
                put("labels", labels.clone().into());
            }
            "counts"
        }
        DataSpec::Line { sizes } => {
            put("sizes", wholes(sizes));
            "line"
        }
        DataSpec::Shares { sizes, shares } => {
            put("sizes", wholes(sizes));
            put("shares", shares.clone().into());
            "shares"
        }
        DataSpec::Predictive { sizes } => {
            put("sizes", wholes(sizes));
            "predictive"
        }
    };
    Table::from_iter([(name.to_owned(), inner.into())]).into()
}
