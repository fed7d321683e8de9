//! The probability of the answer that is t steps from the truth on one side, against n (icml Table 1
//! and §8): fixed for noise on the counts, moving for mechanisms calibrated to the distance.

use super::curves::{self, EXACT, against_n, point};
use super::{Case, Panel, naming};
use crate::experiment::table::{CurveRow, Tables};
use crate::figure::{CurveFigure, Figure};
use crate::mechanism::law;
use crate::mechanism::prepared::PreparedSetting;

/// P[release (x_1 + t, x_2 − t)] for every mechanism and t.
pub(super) fn at_case(panel: &Panel, case: usize) -> Tables {
    Tables { curves: points(panel, &panel.cases[case]), ..Tables::default() }
}

fn points(panel: &Panel, case: &Case) -> Vec<CurveRow> {
    let n = case.setting.posterior.n() as f64;
    let probabilities = probabilities(panel, case, &panel.parameters.steps);
    let rows = panel.variants.iter().zip(probabilities).flat_map(|(variant, probabilities)| {
        let steps = panel.parameters.steps.iter().zip(probabilities);
        steps.filter_map(move |(t, probability)| {
            let facet = format!("t = {t}");
            Some(point(panel, facet, &variant.label, EXACT, (n, probability?)))
        })
    });
    rows.collect()
}

/// For every mechanism of the panel the probability of each number of steps; `None` where there are
/// fewer records than steps.
pub(super) fn probabilities(panel: &Panel, case: &Case, steps: &[u64]) -> Vec<Vec<Option<f64>>> {
    let plans = panel.plans(case);
    let bench = PreparedSetting::new(&case.setting, &plans, &[]);
    let x = case.setting.posterior.counts();
    plans
        .iter()
        .map(|plan| {
            let law = bench.law(plan);
            let at = |&t: &u64| {
                let output = [x[0] + t, x[1].checked_sub(t)?];
                Some(law::probability(law.as_ref(), &output))
            };
            steps.iter().map(at).collect()
        })
        .collect()
}

/// One figure for every number of steps.
#[must_use]
pub fn figures(panel: &Panel, tables: &Tables) -> Vec<(String, Figure)> {
    let case = &panel.cases[0];
    let settings = format!("{}, {}, balanced data", naming::prior(case), naming::epsilon(case));
    curves::figures(panel, tables, "steps", |facet| CurveFigure {
        ..against_n(format!("{facet}, one side; {settings}"), "probability of this release")
    })
}
