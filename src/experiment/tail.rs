//! The tail P[H >= c] of an exponential mechanism, exactly and by the bounds of arxiv §6.1.1 and
//! §6.2; and the normaliser that §6.2 asks for, against n.

use super::curves::{self, EXACT, against_n, point};
use super::{Case, Layout, Panel, naming};
use crate::experiment::table::{CurveRow, Tables};
use crate::figure::{CurveFigure, Figure, Scale};
use crate::mechanism::law::{Distribution, Recipe};
use crate::paper::formula::tail::{Weights, normaliser_limit};
use crate::posterior::model::approximate_compositions;

/// The number before the sensitivity in MH, unless a mechanism sets another.
const DIVISOR: f64 = 2.0;

/// The tail and its bounds at every distance, for every mechanism.
pub(super) fn at_case(layout: &Layout, case: usize) -> Tables {
    let Layout { panel, naming, .. } = layout;
    let case = &panel.cases[case];
    let facet = naming.data(case);
    let laws = panel.distributions(case);
    let plans = panel.plans(case);
    let mut tables = Tables::default();
    for ((variant, law), plan) in panel.variants.iter().zip(&laws).zip(plans) {
        let (Recipe::Exponential { rate }, Some(law)) = (plan.recipe, law) else { continue };
        let divisor = variant.options.divisor.unwrap_or(DIVISOR);
        let weights = weights(case, rate, divisor);
        let put = |curve: &str, c: f64, p: f64| {
            point(panel, facet.as_str(), &variant.label, curve, (c, p))
        };
        tables.curves.extend(tail_rows(law, &weights, put));
    }
    tables
}

fn weights(case: &Case, rate: f64, divisor: f64) -> Weights {
    let posterior = &case.setting.posterior;
    let epsilon = case.setting.epsilon.get();
    Weights {
        candidates: approximate_compositions(posterior.n(), posterior.k()),
        epsilon,
        sensitivity: epsilon / (divisor * rate),
        divisor,
    }
}

fn tail_rows(
    law: &Distribution,
    weights: &Weights,
    put: impl Fn(&str, f64, f64) -> CurveRow,
) -> Vec<CurveRow> {
    let first = law.levels.first();
    // The true posterior has weight 1, so that its probability is 1/NL.
    let normaliser = first.map_or(1.0, |level| level.outputs / level.probability);
    let as_printed = Weights { divisor: 1.0, ..*weights };
    let bound = format!("|R| e^(−εc/{}S)", weights.divisor);
    let with_normaliser = format!("{bound} / NL");
    let mut rows = Vec::new();
    for (c, tail) in thinned(law.tail()) {
        rows.extend([
            put(EXACT, c, tail),
            put(&with_normaliser, c, weights.with_normaliser(c, normaliser)),
            put(&bound, c, weights.without_normaliser(c)),
            put("|R| e^(−εc/S) / NL (§6.2)", c, as_printed.with_normaliser(c, normaliser)),
        ]);
    }
    rows
}

/// At most about 500 points, evenly spread among them, the first and the last included.
fn thinned(points: Vec<(f64, f64)>) -> impl Iterator<Item = (f64, f64)> {
    let step = points.len().div_ceil(500).max(1);
    let last = points.len().saturating_sub(1);
    let kept = move |(i, _): &(usize, _)| i % step == 0 || *i == last;
    points.into_iter().enumerate().filter(kept).map(|(_, point)| point)
}

/// One figure for every case.
#[must_use]
pub fn figures(panel: &Panel, tables: &Tables) -> Vec<(String, Figure)> {
    let case = &panel.cases[0];
    let settings = note(panel, case);
    let y_range = |facet: &str| {
        let own = |row: &&CurveRow| row.panel == panel.id && row.facet == facet;
        let exact = tables.curves.iter().filter(own).filter(|row| row.curve == EXACT);
        let least = exact.map(|row| row.y).filter(|&y| y > 0.0).fold(1.0, f64::min);
        let largest = tables.curves.iter().filter(own).map(|row| row.y).fold(1.0, f64::max);
        Some((least.max(1e-12) / 10.0, largest))
    };
    curves::figures(panel, tables, "tail", |facet| CurveFigure {
        note: format!("{facet}, {settings}; dotted: bounds"),
        x_label: format!("{} c", panel.distance.title()),
        y_label: "tail P[H ≥ c]".to_owned(),
        y_scale: Scale::Log,
        x_range: panel.parameters.view,
        y_range: y_range(facet),
        ..CurveFigure::default()
    })
}

fn note(panel: &Panel, case: &Case) -> String {
    let mut parts = vec![naming::prior(case), naming::epsilon(case)];
    if panel.variants.iter().any(|variant| variant.mechanism.uses_delta()) {
        parts.extend(naming::delta(case));
    }
    parts.join(", ")
}

/// The normaliser NL of every mechanism against n, and its limit.
pub mod normaliser {
    use super::*;

    /// NL = 1 / P[H = 0].
    pub(in crate::experiment) fn at_case(panel: &Panel, case: usize) -> Tables {
        Tables { curves: points(panel, &panel.cases[case]), ..Tables::default() }
    }

    fn points(panel: &Panel, case: &Case) -> Vec<CurveRow> {
        let n = case.setting.posterior.n() as f64;
        let epsilon = case.setting.epsilon.get();
        let rows = panel.variants.iter().zip(panel.p_exact(case)).flat_map(|(variant, p_exact)| {
            let divisor = variant.options.divisor.unwrap_or(DIVISOR);
            let name = format!("limit coth(ε/{})", 2.0 * divisor);
            let limit = normaliser_limit(epsilon, divisor);
            [(EXACT.to_owned(), 1.0 / p_exact), (name, limit)]
                .map(|(curve, y)| point(panel, "", &variant.label, curve, (n, y)))
        });
        rows.collect()
    }

    /// One figure.
    #[must_use]
    pub fn figures(panel: &Panel, tables: &Tables) -> Vec<(String, Figure)> {
        let settings = note(panel, &panel.cases[0]);
        curves::figures(panel, tables, "normaliser", |_| {
            against_n(format!("{settings}, balanced data"), "normaliser NL = 1 / P[H = 0]")
        })
    }
}
