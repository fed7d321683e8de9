//! icml Table 1: the probabilities of the three nearest answers, the table's own closed forms of
//! their distances beside the true ones, and §6.3's equation solved: from how many records on the
//! last mechanism beats each of the others.

use super::steps::probabilities;
use super::{Case, Panel};
use crate::experiment::table::{Tables, ValueRow};
use crate::figure::Figure;
use crate::paper::formula::overtaking::{SizeCache, leads_from};
use crate::paper::formula::{steps, table_one};
use crate::posterior::model::Posterior;

/// The largest n that is tried: far beyond it, the probabilities are at their limits.
const MOST_RECORDS: u64 = 10_000_000;

/// The numbers of the table.
pub(super) fn at_case(panel: &Panel, case: usize) -> Tables {
    let case = &panel.cases[case];
    let mut values = step_probabilities(panel, case);
    values.extend(distances(panel, case));
    values.extend(overtakings(panel, case));
    Tables { values, ..Tables::default() }
}

fn value(panel: &Panel, mechanism: &str, quantity: &str, t: u64, value: Option<f64>) -> ValueRow {
    ValueRow {
        panel: panel.id.clone(),
        mechanism: mechanism.to_owned(),
        quantity: quantity.to_owned(),
        at: format!("t = {t}"),
        value,
    }
}

fn step_probabilities(panel: &Panel, case: &Case) -> Vec<ValueRow> {
    let steps = &panel.parameters.steps;
    let all = probabilities(panel, case, steps);
    let rows = panel.variants.iter().zip(all).flat_map(|(variant, probabilities)| {
        let rows = steps.iter().zip(probabilities);
        rows.map(|(&t, p)| value(panel, &variant.label, "P[H = c(t)], one side", t, p))
    });
    rows.collect()
}

/// The true distances, and the closed forms that the table prints for t = 1 and t = 2.
fn distances(panel: &Panel, case: &Case) -> Vec<ValueRow> {
    let setting = &case.setting;
    let (alpha, beta) = (setting.posterior.parameter(0), setting.posterior.parameter(1));
    let truth = panel.parameters.steps.iter().map(|&t| {
        let distance = steps::distance(setting, i64::try_from(t).unwrap_or(i64::MAX));
        value(panel, "", "distance c(t)", t, distance)
    });
    let printed =
        [(1, table_one::printed_c1(alpha, beta)), (2, table_one::printed_c2(alpha, beta, 2.0))];
    let printed = printed
        .map(|(t, c)| value(panel, "", "distance c(t) by the table's closed form", t, Some(c)));
    truth.chain(printed).collect()
}

/// The n from which on the last mechanism of the panel is likelier than each other one to be t steps
/// off; no value if it never is.
fn overtakings(panel: &Panel, case: &Case) -> Vec<ValueRow> {
    let Some((last, others)) = panel.variants.split_last() else { return Vec::new() };
    let all_steps = &panel.parameters.steps;
    let known = SizeCache::new(|n| probabilities(panel, &balanced(case, n), all_steps));
    let known = &known;
    let rows = others.iter().enumerate().flat_map(|(place, other)| {
        all_steps.iter().enumerate().map(move |(step, &t)| {
            let lead = |n: u64| {
                let [ours, theirs] =
                    known.at(n, |all| [others.len(), place].map(|place| all[place][step]));
                ours.zip(theirs).map_or(0.0, |(ours, theirs)| ours - theirs)
            };
            let n = leads_from(2 * t.max(1)..=MOST_RECORDS, lead).map(|n| n as f64);
            let quantity = format!("n from which {} is likelier", last.label);
            value(panel, &other.label, &quantity, t, n)
        })
    });
    rows.collect()
}

fn balanced(case: &Case, n: u64) -> Case {
    let prior = case.setting.posterior.prior().clone();
    let mut case = case.clone();
    case.setting.posterior = Posterior::new(prior, vec![n / 2, n - n / 2]);
    case
}

/// The table is the figure.
#[must_use]
pub fn figures(_: &Panel, _: &Tables) -> Vec<(String, Figure)> {
    Vec::new()
}
