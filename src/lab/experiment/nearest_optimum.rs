//! Which mechanism comes nearest to the least possible error, over all panels of an experiment.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::Experiment;
use super::kind::optimum::OPTIMAL;
use table::Tables;

/// The mechanism that is optimal in most cases.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct NearestOptimum {
    pub mechanism: String,
    /// In how many cases the optimum of all ε-private releases and its error are known.
    pub cases: usize,
    pub optimal: usize,
    /// How far it is above the optimum at most, relative.
    pub excess: f64,
}

/// The mechanism that is optimal in most cases without δ; none if no optimum was computed.
pub fn nearest_optimum(experiment: &Experiment, tables: &Tables) -> Option<NearestOptimum> {
    let mut excesses: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for panel in &experiment.panels {
        for row in &tables.optimum {
            let pure = panel.case(row.setting).is_some_and(|case| case.setting.delta.is_none());
            if let Some(ratio) = row.ratio.filter(|_| pure) {
                excesses.entry(panel.title_of(&row.mechanism)).or_default().push(ratio - 1.0);
            }
        }
    }
    let candidates = excesses.into_iter().map(|(mechanism, excesses)| NearestOptimum {
        mechanism,
        cases: excesses.len(),
        optimal: excesses.iter().filter(|excess| **excess <= OPTIMAL).count(),
        excess: excesses.into_iter().fold(0.0, f64::max),
    });
    candidates.max_by_key(|candidate| candidate.optimal)
}
