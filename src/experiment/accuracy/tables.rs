//! The tables of the accuracy experiment.

use super::{Cell, Results};
use crate::experiment::{Case, Experiment};
use crate::law::Exact;
use crate::model::{compositions, vector};
use crate::sensitivity::CandidatesInBeta;
use crate::stats::BoxSummary;
use crate::table::{Columns, SettingRow, SummaryRow};

/// The rows of `settings.csv`.
#[must_use]
pub fn setting_rows(experiment: &Experiment) -> Vec<SettingRow> {
    (1..).zip(&experiment.cases).map(|(number, case)| setting_row(number, case)).collect()
}

fn setting_row(number: usize, case: &Case) -> SettingRow {
    let setting = &case.setting;
    let posterior = &setting.posterior;
    let sensitivity = setting.sensitivity();
    let beta = setting.beta(CandidatesInBeta::NPlusOne);
    let candidates = compositions(posterior.n(), posterior.k());
    SettingRow {
        setting: number,
        k: posterior.k(),
        n: posterior.n(),
        prior: vector(posterior.prior().alpha()),
        counts: vector(posterior.counts()),
        epsilon: setting.epsilon.get(),
        delta: setting.delta.map(|delta| delta.get()),
        gamma: setting.gamma.get(),
        candidates: candidates.map_or(String::new(), |count| count.to_string()),
        local: sensitivity.local(),
        global: sensitivity.global(),
        gamma_smooth: sensitivity.gamma_smooth(setting.gamma.get()),
        beta_smooth: beta.map(|beta| sensitivity.beta_smooth(beta)),
    }
}

/// Every cell with the number of its setting and the label of its mechanism.
fn cells<'a>(
    experiment: &'a Experiment,
    results: &'a Results,
) -> impl Iterator<Item = (usize, &'a str, &'a Cell)> {
    (1..).zip(results).flat_map(move |(number, cells)| {
        let labels = experiment.variants.iter().map(|variant| variant.label.as_str());
        labels.zip(cells).map(move |(label, cell)| (number, label, cell))
    })
}

/// `errors.csv`: every run with what was released and its errors.
#[must_use]
pub fn errors_csv(experiment: &Experiment, results: &Results) -> Vec<u8> {
    let errors = experiment.errors();
    let names = errors.iter().map(|metric| metric.id);
    let mut table =
        Columns::new(["setting", "mechanism", "run", "released"].into_iter().chain(names));
    for (number, label, cell) in cells(experiment, results) {
        for (run, released) in cell.draws.released().enumerate() {
            let mut row =
                vec![number.to_string(), label.to_owned(), (run + 1).to_string(), vector(released)];
            row.extend(cell.draws.errors.iter().map(|errors| format!("{:?}", errors[run])));
            table.row(row);
        }
    }
    table.finish()
}

/// The rows of `summary.csv`.
#[must_use]
pub fn summary_rows(experiment: &Experiment, results: &Results) -> Vec<SummaryRow> {
    let errors = experiment.errors();
    let rows = cells(experiment, results).flat_map(|(number, label, cell)| {
        let metrics = errors.iter().zip(cell.exact.iter().zip(&cell.draws.errors));
        metrics.map(move |(metric, (exact, errors))| {
            let summary = BoxSummary::new(errors, experiment.look.whiskers);
            summary_row(number, label, metric.id, errors.len() as u64, &summary, exact)
        })
    });
    rows.collect()
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
        .map(|error| (summary.mean - error.mean) / (error.std / (runs as f64).sqrt()));
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
