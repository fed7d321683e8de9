//! The number of records from which on the first mechanism of a panel beats the second within k'
//! steps, against ε: computed, and by bounds Corollaries 4.5.1 to 4.5.3.

use super::curves::{self, point};
use super::{Case, Panel, naming};
use crate::experiment::table::{CurveRow, Tables};
use crate::figure::{CurveFigure, Figure, Scale};
use crate::paper::formula::overtaking::{self, SizeCache, leads_from};
use crate::paper::formula::steps;
use crate::posterior::model::Posterior;

/// The largest n that is tried: within k' steps an exponential mechanism with global sensitivity is
/// found like k'/n, noise on the counts with a fixed probability.
const MOST_RECORDS: u64 = 100_000;

/// For every number of steps the n from which on, and the corollaries.
pub(super) fn at_case(panel: &Panel, case: usize) -> Tables {
    Tables { curves: points(panel, &panel.cases[case]), ..Tables::default() }
}

fn points(panel: &Panel, case: &Case) -> Vec<CurveRow> {
    let epsilon = case.setting.epsilon.get();
    let steps = panel.parameters.steps.iter();
    let counts: Vec<u32> = steps.map(|&count| u32::try_from(count).unwrap_or(u32::MAX)).collect();
    let known = SizeCache::new(|n| leads(panel, case, n, &counts));
    let mut curves = Vec::new();
    for (place, &count) in counts.iter().enumerate() {
        let facet = format!("k′ = {count}");
        let mut put = |curve: &str, n: f64| {
            curves.push(point(panel, facet.as_str(), "", curve, (epsilon, n)));
        };
        // With 2k' records or fewer every candidate is within k' steps.
        let sizes = 2 * u64::from(count) + 1..=MOST_RECORDS;
        if let Some(n) = leads_from(sizes, |n| known.at(n, |leads| leads[place])) {
            put("computed", n as f64);
        }
        put("Corollary 4.5.1", overtaking::lshist_wins_above(count, epsilon));
        put("Corollary 4.5.2", overtaking::ehd_wins_below(count, epsilon));
        if count == 1 {
            put("Corollary 4.5.3", overtaking::good_outputs_above(epsilon));
        }
    }
    curves
}

/// How much more often the first mechanism is within each number of steps at n balanced records.
fn leads(panel: &Panel, case: &Case, n: u64, counts: &[u32]) -> Vec<f64> {
    let mut case = case.clone();
    let prior = case.setting.posterior.prior().clone();
    case.setting.posterior = Posterior::new(prior, vec![n / 2, n - n / 2]);
    let laws = panel.distributions(&case);
    let lead = |&count: &u32| {
        let radius = steps::radius(&case.setting, count)?;
        let [Some(first), Some(second), ..] = &laws[..] else { return None };
        Some(first.at_most(radius) - second.at_most(radius))
    };
    counts.iter().map(|count| lead(count).unwrap_or(0.0)).collect()
}

/// One figure for every number of steps.
#[must_use]
pub fn figures(panel: &Panel, tables: &Tables) -> Vec<(String, Figure)> {
    let [first, second] = [0, 1].map(|place| panel.variants[place].title());
    curves::figures(panel, tables, "crossover", |facet| CurveFigure {
        note: format!("{facet}, {}, balanced data", naming::prior(&panel.cases[0])),
        x_label: "privacy parameter ε".to_owned(),
        y_label: format!("n from which {first} beats {second}"),
        x_scale: Scale::Log,
        y_scale: Scale::Log,
        ..CurveFigure::default()
    })
}
