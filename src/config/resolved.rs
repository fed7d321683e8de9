//! The resolved config: everything that decides the results, written out, so that a results folder
//! can be run and drawn again without the files it came from.

use toml::{Table, Value};

use crate::experiment::{DataSpec, Experiment};
use crate::mechanism::Variant;
use crate::privacy::{Delta, Epsilon, Gamma};
use crate::stats::Whiskers;

/// `experiment` as a config.
#[must_use]
pub fn resolve(experiment: &Experiment) -> String {
    let mut table = Table::new();
    let mut put = |key: &str, value: Value| drop(table.insert(key.into(), value));
    put("name", experiment.name.clone().into());
    put("title", experiment.title.clone().into());
    put("kind", experiment.kind.id().into());
    put("seed", whole(experiment.seed));
    put("runs", whole(experiment.runs));
    put("distance", experiment.distance.id().into());
    let grid = &experiment.grid;
    let prior = |prior: &crate::model::Prior| Value::from(prior.alpha().to_vec());
    put("prior", grid.priors.iter().map(prior).collect::<Vec<_>>().into());
    put("epsilon", grid.epsilons.iter().copied().map(Epsilon::get).collect::<Vec<_>>().into());
    if !grid.deltas.is_empty() {
        put("delta", grid.deltas.iter().copied().map(Delta::get).collect::<Vec<_>>().into());
    }
    if !grid.gammas.is_empty() {
        put("gamma", grid.gammas.iter().copied().map(Gamma::get).collect::<Vec<_>>().into());
    }
    if !experiment.metrics.is_empty() {
        let ids = experiment.metrics.iter().map(|metric| metric.id);
        put("metrics", ids.collect::<Vec<_>>().into());
    }
    put("mechanisms", experiment.variants.iter().map(mechanism).collect::<Vec<_>>().into());
    put(
        "whiskers",
        match experiment.look.whiskers {
            Whiskers::Range => "range".into(),
            Whiskers::Iqr(factor) => factor.into(),
        },
    );
    put("outliers", experiment.look.outliers.into());
    put("data", data(&grid.data));
    format!(
        "# Written by dpbi {}: the experiment as it was run.\n{table}",
        env!("CARGO_PKG_VERSION")
    )
}

/// Counts, runs and seeds all lie in TOML's range: the config reader sees to it.
fn whole(value: u64) -> Value {
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
        DataSpec::Counts { counts, at, labels } => {
            put("counts", counts.iter().map(|counts| wholes(counts)).collect::<Vec<_>>().into());
            if let Some(at) = at {
                put("at", at.clone().into());
            }
            if let Some(labels) = labels {
                put("labels", labels.clone().into());
            }
            "counts"
        }
        DataSpec::Predictive { sizes } => {
            put("sizes", wholes(sizes));
            "predictive"
        }
    };
    Table::from_iter([(name.to_owned(), inner.into())]).into()
}
