//! Theory curves: the exact probability of every distance from the true posterior (icml §7.1.1,
//! arxiv §7.2.1, notes §4.4), and the cumulative probability.
//!
//! P[H = c] is how the documents compare mechanisms, but it is a comparison of unlike things where
//! the distances that two mechanisms can reach differ; P[H <= c] is the fair one.

use rayon::prelude::*;

use super::curves::line;
use super::{Case, Finished, Naming, Panel, naming};
use crate::experiment::reading::Quantity;
use crate::experiment::table::{ReadingRow, Tables, TheoryRow};
use crate::figure::{Curve, CurveFigure, Figure, Scale};
use crate::mechanism::Variant;
use crate::mechanism::law::{Distribution, Plan};
use crate::mechanism::prepared::PreparedSetting;

/// The law of the error of every mechanism.
pub(super) fn at_case(panel: &Panel, case: usize, finished: &Finished) -> Tables {
    let (setting, case) = (panel.first + case, &panel.cases[case]);
    let plans = panel.plans(case);
    let bench = PreparedSetting::new(&case.setting, &plans, &[]);
    let cell = |(place, (variant, plan)): (usize, (&Variant, &Plan))| {
        let law = bench.law(plan);
        let field = bench.fields().next().expect("the distance");
        let distribution = Distribution::new(law.as_ref(), field);
        finished(place);
        distribution.map_or_else(Tables::default, |distribution| {
            tables(panel, setting, variant, &distribution)
        })
    };
    let parts: Vec<Tables> = panel.variants.par_iter().zip(&plans).enumerate().map(cell).collect();
    let mut all = Tables::default();
    parts.into_iter().for_each(|part| all.append(part));
    all
}

fn tables(panel: &Panel, setting: usize, variant: &Variant, distribution: &Distribution) -> Tables {
    let theory = distribution.levels.iter().map(|level| TheoryRow {
        setting,
        mechanism: variant.label.clone(),
        distance: level.value,
        probability: level.probability,
        cumulative: level.cumulative,
        candidates: format!("{:.0}", level.outputs),
    });
    let readings = compare(panel, variant, distribution);
    Tables { theory: theory.collect(), readings, ..Tables::default() }
}

/// Readings of a theory curve stand at distances, not at cases: a panel that has them has one case.
fn compare(panel: &Panel, variant: &Variant, distribution: &Distribution) -> Vec<ReadingRow> {
    let points: Vec<(f64, f64)> =
        distribution.levels.iter().map(|level| (level.value, level.probability)).collect();
    let all = panel.readings.iter().flat_map(|set| &set.readings);
    all.filter(|reading| reading.mechanism == variant.label)
        .filter_map(|reading| match reading.quantity {
            Quantity::Curve => reading.of_curve(&panel.id, &points),
            _ => reading.of_vertex(&panel.id, &points),
        })
        .collect()
}

/// For every case P[H = c] and P[H <= c].
#[must_use]
pub fn figures(panel: &Panel, tables: &Tables) -> Vec<(String, Figure)> {
    let naming = Naming::new(&panel.cases);
    let mut figures = Vec::new();
    for (number, (setting, case)) in (1..).zip(panel.settings()) {
        let suffix = if panel.cases.len() > 1 { format!("-{number}") } else { String::new() };
        let rows: Vec<&TheoryRow> =
            tables.theory.iter().filter(|row| row.setting == setting).collect();
        let note = note(panel, &naming, case);
        let readings: Vec<&ReadingRow> =
            tables.readings.iter().filter(|row| row.panel == panel.id).collect();
        let probability = CurveFigure {
            y_label: "probability P[H = c]".to_owned(),
            ..curves(panel, &note, &rows, &readings, |row| row.probability)
        };
        figures.push((format!("theory{suffix}"), Figure::Curve(probability)));
        let cumulative = CurveFigure {
            y_label: "cumulative probability P[H ≤ c]".to_owned(),
            y_range: Some((0.0, 1.0)),
            steps: true,
            ..curves(panel, &note, &rows, &[], |row| row.cumulative)
        };
        figures.push((format!("cumulative{suffix}"), Figure::Curve(cumulative)));
    }
    figures
}

fn note(panel: &Panel, naming: &Naming, case: &Case) -> String {
    let mut parts = vec![format!("x = {}", naming::parenthesised(case.setting.posterior.counts()))];
    if naming.labelled {
        parts.insert(0, naming.data(case));
    }
    parts.extend([naming::prior(case), naming::epsilon(case)]);
    if panel.variants.iter().any(|variant| variant.mechanism.uses_delta()) {
        parts.extend(naming::delta(case));
    }
    parts.push("exact".to_owned());
    parts.join(", ")
}

fn curves(
    panel: &Panel,
    note: &str,
    rows: &[&TheoryRow],
    readings: &[&ReadingRow],
    value: impl Fn(&TheoryRow) -> f64,
) -> CurveFigure {
    let lines = panel.variants.iter().zip(panel.series()).map(|(variant, series)| {
        let own = rows.iter().filter(|row| row.mechanism == variant.label);
        let read = readings.iter().filter(|row| row.mechanism == variant.label);
        let readings = read.filter_map(|row| Some((row.at.parse().ok()?, row.read))).collect();
        let exact = own.map(|row| (row.distance, value(row))).collect();
        Curve { readings, ..line(series, exact) }
    });
    CurveFigure {
        title: panel.title.clone(),
        note: note.to_owned(),
        x_label: format!("{} c from the true posterior", panel.distance.title()),
        x_scale: Scale::Linear,
        y_scale: Scale::Linear,
        x_range: panel.parameters.view,
        lines: lines.collect(),
        ..CurveFigure::default()
    }
}
