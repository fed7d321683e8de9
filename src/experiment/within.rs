//! The probability of an answer within a few steps of the truth, beside the formulas and bounds of
//! bounds Theorem 4.5.

use super::curves::{self, EXACT, against_n, point};
use super::{Case, Panel, naming};
use crate::experiment::table::{CurveRow, Tables};
use crate::figure::{CurveFigure, Figure, Scale};
use crate::mechanism::Variant;
use crate::paper::formula::{step_bounds, steps};

/// P[H <= c(k')] for every mechanism and number of steps k'.
pub(super) fn at_case(panel: &Panel, case: usize) -> Tables {
    Tables { curves: points(panel, &panel.cases[case]), ..Tables::default() }
}

fn points(panel: &Panel, case: &Case) -> Vec<CurveRow> {
    let setting = &case.setting;
    let n = setting.posterior.n() as f64;
    let mut rows = Vec::new();
    for (variant, distribution) in panel.variants.iter().zip(panel.distributions(case)) {
        let Some(distribution) = distribution else { continue };
        for &count in &panel.parameters.steps {
            let count = u32::try_from(count).unwrap_or(u32::MAX);
            // Fewer records than steps: nothing to say.
            let Some(radius) = steps::radius(setting, count) else { continue };
            let facet = format!("k′ = {count}");
            let mut put = |curve: &str, y: f64| {
                rows.push(point(panel, facet.as_str(), &variant.label, curve, (n, y)));
            };
            put(EXACT, distribution.at_most(radius));
            for (curve, bound) in bounds(variant, case, count) {
                put(curve, bound);
            }
        }
    }
    rows
}

/// What the theorem says about a mechanism.
fn bounds(variant: &Variant, case: &Case, steps: u32) -> Vec<(&'static str, f64)> {
    let setting = &case.setting;
    let (epsilon, n) = (setting.epsilon.get(), setting.posterior.n());
    let between = |(lower, upper)| vec![("lower bound", lower), ("upper bound", upper)];
    match variant.mechanism.id() {
        "lszhang" => vec![
            ("formula", step_bounds::lszhang(steps, epsilon)),
            ("lower bound", step_bounds::lszhang_lower(steps, epsilon)),
        ],
        "lshist" => vec![
            ("formula", step_bounds::lshist(steps, epsilon)),
            ("lower bound", step_bounds::lshist_lower(steps, epsilon)),
        ],
        "ehd" => between(step_bounds::ehd(steps, epsilon, n)),
        "ehdl" => between(step_bounds::ehdl(steps, epsilon, n, setting.sensitivity().local())),
        _ => Vec::new(),
    }
}

/// One figure for every number of steps.
#[must_use]
pub fn figures(panel: &Panel, tables: &Tables) -> Vec<(String, Figure)> {
    let case = &panel.cases[0];
    let settings = format!("{}, {}, balanced data", naming::prior(case), naming::epsilon(case));
    curves::figures(panel, tables, "within", |facet| CurveFigure {
        y_scale: Scale::Log,
        // The upper bounds leave the probabilities far behind.
        y_range: Some((1e-4, 1.0)),
        ..against_n(
            format!("{facet}, {settings}; dotted: formulas and bounds"),
            "P[H ≤ c(k′)], within k′ steps",
        )
    })
}
