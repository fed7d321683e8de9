//! The tables of the accuracy experiment.

use rayon::prelude::*;

use super::Cell;
use crate::experiment::{Case, Panel};
use crate::law::Exact;
use crate::mechanism::Variant;
use crate::stats::BoxSummary;
use crate::table::{ErrorBlock, SummaryRow, Tables};

/// All tables, from the cells of every case.
pub(super) fn tables(panel: &Panel, results: Vec<Vec<Cell>>) -> Tables {
    let of_case = |(case, cells): (_, Vec<Cell>)| {
        panel.variants.iter().zip(cells).map(move |(variant, cell)| (case, variant, cell))
    };
    let cells: Vec<_> = panel.settings().zip(results).flat_map(of_case).collect();
    let of_cell = |(case, variant, cell)| of_cell(panel, case, variant, cell);
    let parts: Vec<Tables> = cells.into_par_iter().map(of_cell).collect();
    let mut tables = Tables::default();
    parts.into_iter().for_each(|part| tables.append(part));
    tables
}

/// The tables of one cell.
fn of_cell(
    panel: &Panel,
    (setting, case): (usize, &Case),
    variant: &Variant,
    cell: Cell,
) -> Tables {
    let metrics = panel.errors();
    let summary = |((metric, errors), exact): ((_, &Vec<f64>), &Exact)| {
        let summary = BoxSummary::new(errors, panel.look.whiskers);
        summary_row(setting, &variant.label, metric, errors.len() as u64, &summary, exact)
    };
    let errors = metrics.iter().map(|metric| metric.id).zip(&cell.draws.errors);
    let summary = errors.zip(&cell.exact).map(summary).collect();
    let names = metrics.iter().map(|metric| metric.id.to_owned());
    let block = ErrorBlock {
        setting,
        mechanism: variant.label.clone(),
        k: case.setting.posterior.k(),
        released: cell.draws.released().flatten().copied().collect(),
        errors: names.zip(cell.draws.errors).collect(),
    };
    Tables { errors: vec![block], summary, readings: cell.readings, ..Tables::default() }
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
