//! The tables of the accuracy experiment.

use super::Accuracy;
use crate::experiment::{Group, Panel, Runs};
use engine::mechanism::law::ErrorSummary;
use table::{Block, BoxSummary, ErrorBlock, ExactNumbers, SummaryRow, Tables};

/// The tables of one mechanism at one case, from all its blocks; none if one is missing.
pub(super) fn tables(kind: &Accuracy, panel: &Panel, group: &Group, blocks: Vec<Block>) -> Tables {
    let variant = match group.variant {
        Some(variant) if blocks.len() as u64 >= kind.blocks(panel) => &panel.variants[variant],
        _ => return Tables::default(),
    };
    let (setting, label) = (panel.first + group.case, &variant.label);
    let metrics = panel.errors();
    let (mut known, mut released) = (None, Vec::new());
    let mut errors: Vec<Vec<f64>> = vec![Vec::new(); metrics.len()];
    for block in blocks {
        known = known.or(block.known);
        released.extend(block.released);
        errors.iter_mut().zip(block.errors).for_each(|(all, more)| all.extend(more));
    }
    let Some(ExactNumbers { exact, calibration, readings }) = known else {
        return Tables::default();
    };
    let summary = |((metric, errors), exact): ((_, &Vec<f64>), &ErrorSummary)| {
        let summary = BoxSummary::new(errors, kind.whiskers);
        summary_row(setting, label, metric, errors.len() as u64, &summary, exact)
    };
    let ids = metrics.iter().map(|metric| metric.id());
    let summary = ids.clone().zip(&errors).zip(&exact).map(summary).collect();
    let block = ErrorBlock {
        setting,
        mechanism: label.clone(),
        k: panel.cases[group.case].setting.k(),
        released,
        errors: ids.map(str::to_owned).zip(errors).collect(),
    };
    Tables {
        errors: vec![block],
        summary,
        calibration: calibration.into_iter().collect(),
        readings,
        ..Tables::default()
    }
}

fn summary_row(
    setting: usize,
    mechanism: &str,
    metric: &str,
    runs: u64,
    summary: &BoxSummary,
    exact: &ErrorSummary,
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
