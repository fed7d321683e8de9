//! The exact privacy loss (icml Figure 6, arxiv Figure 6): what a mechanism really gives away about
//! one record, where the documents prove a bound.

use super::axis::Abscissa;
use super::curves::line;
use super::{Case, Finished, Layout, Panel, ScopeName, naming};
use crate::analysis::audit::{self, Findings};
use crate::experiment::table::{PrivacyRow, Tables};
use crate::figure::{Curve, CurveFigure, Figure, Scale, Series};
use crate::mechanism::Variant;
use crate::posterior::model::vector;

/// The loss of every mechanism, over every scope.
pub(super) fn at_case(layout: &Layout, case: usize, finished: &Finished) -> Tables {
    let Layout { panel, placed, .. } = layout;
    let (setting, case) = (panel.first + case, &panel.cases[case]);
    let mut tables = Tables::default();
    for (place, variant) in panel.variants.iter().enumerate() {
        for (order, &scope) in panel.parameters.scopes_or_all().iter().enumerate() {
            let row = row(panel, setting, case, variant, scope);
            if order == 0 {
                let readings = placed.of(&variant.label, case);
                let rows = readings.map(|reading| reading.of_value(&panel.id, row.loss));
                tables.readings.extend(rows);
            }
            tables.privacy.push(row);
        }
        finished(place);
    }
    tables
}

fn row(
    panel: &Panel,
    setting: usize,
    case: &Case,
    variant: &Variant,
    name: ScopeName,
) -> PrivacyRow {
    let scope = name.scope(case);
    let tuned = panel.tuned(variant, case);
    let at: Vec<f64> = panel.parameters.at_epsilon.into_iter().collect();
    let Findings { loss, deltas } =
        audit::examine(&tuned.variant, &case.setting, &scope, &at).expect("checked by the config");
    PrivacyRow {
        setting,
        mechanism: variant.label.clone(),
        scope: name.id().to_owned(),
        epsilon: case.setting.epsilon.get(),
        loss: loss.loss,
        from: vector(&loss.from),
        to: vector(&loss.to),
        output: vector(&loss.output),
        at_epsilon: panel.parameters.at_epsilon,
        delta_at: deltas.first().map(|at| at.delta),
    }
}

/// The loss against n (or what else distinguishes the cases), with ε as a line across.
#[must_use]
pub fn figures(panel: &Panel, tables: &Tables) -> Vec<(String, Figure)> {
    let abscissa = Abscissa::new(panel);
    let scopes = panel.parameters.scopes_or_all();
    let mut lines = Vec::new();
    for (variant, series) in panel.variants.iter().zip(panel.series()) {
        for (order, scope) in scopes.iter().enumerate() {
            let own = |row: &&PrivacyRow| {
                panel.owns(row.setting) && row.mechanism == variant.label && row.scope == scope.id()
            };
            let point = |row: &PrivacyRow| Some((abscissa.place(panel, row.setting)?, row.loss));
            let points = tables.privacy.iter().filter(own).filter_map(point).collect();
            let label = match scopes.len() {
                1 => series.label.clone(),
                _ => format!("{}, {}", series.label, scope.title()),
            };
            let shade = 0.35 * order as f64;
            let colour = series.colour.lighten(shade);
            // Readings belong to the first scope.
            let readings = match order {
                0 => abscissa.readings(panel, tables, &variant.label),
                _ => Vec::new(),
            };
            let series = Series { label, colour, ..series.clone() };
            lines.push(Curve { readings, ..line(series, points) });
        }
    }
    let case = &panel.cases[0];
    let naming = &abscissa.naming;
    let mut note = naming.shared(case);
    if !naming.deltas && panel.variants.iter().any(|variant| variant.mechanism.uses_delta()) {
        note.extend(naming::delta(case));
    }
    if let [scope] = scopes[..] {
        note.push(scope.title().to_owned());
    }
    let figure = CurveFigure {
        title: panel.title.clone(),
        note: note.join(", "),
        x_label: abscissa.axis.label(panel).unwrap_or_default(),
        y_label: "exact privacy loss".to_owned(),
        y_scale: Scale::Linear,
        lines,
        references: (!naming.epsilons)
            .then(|| (case.setting.epsilon.get(), naming::epsilon(case)))
            .into_iter()
            .collect(),
        categories: abscissa.categories(panel),
        ..CurveFigure::default()
    };
    vec![("loss".to_owned(), Figure::Curve(figure))]
}
