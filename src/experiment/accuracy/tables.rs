//! The tables of the accuracy experiment.

use super::Cell;
use crate::experiment::Panel;
use crate::law::Exact;
use crate::model::vector;
use crate::stats::BoxSummary;
use crate::table::{ErrorBlock, SummaryRow, Tables};

/// All tables, from the cells of every case.
pub(super) fn tables(panel: &Panel, results: &[Vec<Cell>]) -> Tables {
    let metrics = panel.errors();
    let mut tables = Tables::default();
    for (setting, cells) in (panel.first..).zip(results) {
        for (variant, cell) in panel.variants.iter().zip(cells) {
            let errors = metrics.iter().zip(&cell.draws.errors);
            tables.errors.push(ErrorBlock {
                setting,
                mechanism: variant.label.clone(),
                released: cell.draws.released().map(vector).collect(),
                errors: errors
                    .clone()
                    .map(|(m, values)| (m.id.to_owned(), values.clone()))
                    .collect(),
            });
            tables.summary.extend(errors.zip(&cell.exact).map(|((metric, errors), exact)| {
                let summary = BoxSummary::new(errors, panel.look.whiskers);
                let runs = errors.len() as u64;
                summary_row(setting, &variant.label, metric.id, runs, &summary, exact)
            }));
            tables.readings.extend(cell.readings.iter().cloned());
        }
    }
    tables
}
fn summary_row(
    setting: usize,
    mechanism: &str,
    metric: &str,
    runs: u64,
    summary: &BoxSummary,
    exact: &Exact,
) -> SummaryRow {
    let error = exact.error;
    let z = error
        .filter(|error| error.std > 0.0)
        .map(|error| (summary.mean - error.mean) / (error.std / (runs as f64).sqrt()))
        .filter(|z| z.is_finite());
    SummaryRow {
        setting,
        mechanism: mechanism.to_owned(),
        metric: metric.to_owned(),
        runs,
        mean: summary.mean,
        std: summary.std,
        min: summary.min,
        q1: summary.q1,
        median: summary.median,
        q3: summary.q3,
        max: summary.max,
        whisker_low: summary.whisker_low,
        whisker_high: summary.whisker_high,
        notch_low: summary.notch_low,
        notch_high: summary.notch_high,
        exact_mean: error.map(|error| error.mean),
        exact_median: error.map(|error| error.median),
        exact_q90: error.map(|error| error.q90),
        p_exact: exact.p_exact,
        z,
    }
}
