//! What came out of an experiment, in sentences: every number in them is taken from its tables.

use std::collections::BTreeMap;

use crate::base::console::short;
use crate::experiment::optimum::{self, Step};
use crate::experiment::phase::Among;
use crate::experiment::table::{PhaseRow, PrivacyRow, SummaryRow, Tables};
use crate::experiment::{Experiment, Kind, Naming, Panel};
use crate::face::digest::{Digest, percent, spread};

/// The answers of every panel that has some.
#[must_use]
pub fn answers(experiment: &Experiment, tables: &Tables) -> Vec<String> {
    experiment.panels.iter().flat_map(|panel| of_panel(panel, tables)).collect()
}

fn of_panel(panel: &Panel, tables: &Tables) -> Vec<String> {
    let text = match panel.kind {
        Kind::Optimum if panel.cases.len() > 1 => optimality(panel, tables),
        Kind::Privacy => losses(panel, tables),
        Kind::Accuracy => accuracy(panel, tables),
        Kind::Phase => {
            let contest = |&among: &Among| {
                format!("{}: {}.", among.title(panel), winners(panel, tables, among))
            };
            return Among::of(panel).iter().map(contest).collect();
        }
        _ => return Vec::new(),
    };
    if text.is_empty() { Vec::new() } else { vec![format!("{}: {text}.", panel.title)] }
}

/// Nearer than this, relative, nobody can tell a mechanism from the optimum.
const OPTIMAL: f64 = 1e-6;

/// What is left to the optimum, and what each step buys to a mechanism as it is.
fn optimality(panel: &Panel, tables: &Tables) -> String {
    let left = optimum::left_over(panel, tables);
    let Some((setting, mechanism, excess)) = left.iter().max_by(|a, b| a.2.total_cmp(&b.2)) else {
        return String::new();
    };
    let place = panel.case(*setting).map(|case| Naming::new(&panel.cases).name(case));
    let best = match *excess <= OPTIMAL {
        true => "the best of these mechanisms is optimal everywhere".to_owned(),
        false => format!(
            "the best of these mechanisms is at most {} above the optimum ({} at {})",
            percent(Some(*excess)),
            title(panel, mechanism),
            place.unwrap_or_default()
        ),
    };
    let steps = Step::all(panel).into_iter().filter(|step| step.is_first);
    let steps: Vec<String> =
        steps.map(|step| format!("{} {}", step.name, spread(&step.gains(panel, tables)))).collect();
    format!("{best}; of the mean error is removed by {}", steps.join(", by "))
}

fn title(panel: &Panel, label: &str) -> String {
    let variant = panel.variants.iter().find(|variant| variant.label == label);
    variant.map_or_else(|| label.to_owned(), |variant| variant.title())
}

/// Which part of the map belongs to whom.
fn winners(panel: &Panel, tables: &Tables, among: Among) -> String {
    let own: Vec<&PhaseRow> = among.rows(panel, tables).collect();
    let mut shares: BTreeMap<&str, usize> = BTreeMap::new();
    own.iter().for_each(|row| *shares.entry(&row.winner).or_default() += 1);
    let mut shares: Vec<(&str, usize)> = shares.into_iter().collect();
    shares.sort_by_key(|(_, won)| std::cmp::Reverse(*won));
    let part = |&(label, won): &(&str, usize)| {
        format!("{} at {:.1} %", title(panel, label), 100.0 * won as f64 / own.len() as f64)
    };
    let parts: Vec<String> = shares.iter().map(part).collect();
    format!("least mean error at {} points: {}", own.len(), parts.join(", "))
}

/// How much of its ε every mechanism uses.
fn losses(panel: &Panel, tables: &Tables) -> String {
    let part = |label: &str| {
        let own = |row: &&PrivacyRow| panel.owns(row.setting) && row.mechanism == label;
        let used: Vec<f64> =
            tables.privacy.iter().filter(own).map(|row| row.loss / row.epsilon).collect();
        format!("{} {}", title(panel, label), spread(&used))
    };
    let parts: Vec<String> = panel.variants.iter().map(|variant| part(&variant.label)).collect();
    format!("of the ε asked for is really lost: {}", parts.join(", "))
}

/// Which mechanism has the least exact mean error, and how the others compare.
fn accuracy(panel: &Panel, tables: &Tables) -> String {
    let metric = panel.distance.id();
    let own = |row: &&SummaryRow| panel.owns(row.setting) && row.metric == metric;
    let rows: Vec<&SummaryRow> = tables.summary.iter().filter(own).collect();
    let best = |setting: usize| {
        let here = rows.iter().filter(|row| row.setting == setting);
        let means = here.filter_map(|row| Some((row.mechanism.as_str(), row.exact_mean?)));
        means.min_by(|a, b| a.1.total_cmp(&b.1))
    };
    let winners: Vec<(&str, f64)> =
        panel.settings().filter_map(|(setting, _)| best(setting)).collect();
    let (Some(first), Some(last)) = (winners.first(), winners.last()) else {
        return String::new();
    };
    let mut names: Vec<String> = Vec::new();
    for (label, _) in &winners {
        let name = title(panel, label);
        if names.last() != Some(&name) {
            names.push(name);
        }
    }
    format!(
        "least mean {}: {}, from {} to {}",
        panel.distance.title(),
        names.join(", then "),
        short(first.1),
        short(last.1)
    )
}

/// What each step buys, panel by panel, if the experiment is about the optimum.
#[must_use]
pub fn overall(experiment: &Experiment, tables: &Tables) -> Vec<Digest> {
    let panels: Vec<&Panel> = experiment
        .panels
        .iter()
        .filter(|panel| panel.kind == Kind::Optimum && panel.cases.len() > 1)
        .collect();
    let Some(first) = panels.first() else { return Vec::new() };
    let mut rows: Vec<Vec<String>> = Vec::new();
    for step in Step::all(first) {
        let gain = |panel: &&Panel| {
            let same = Step::all(panel).into_iter().find(|other| other.name == step.name);
            same.map_or(String::new(), |step| spread(&step.gains(panel, tables)))
        };
        rows.push(std::iter::once(step.name.clone()).chain(panels.iter().map(gain)).collect());
    }
    let left = |panel: &&Panel| {
        let left: Vec<f64> =
            optimum::left_over(panel, tables).into_iter().map(|(_, _, excess)| excess).collect();
        spread(&left)
    };
    let last = "left to the optimum, by the best".to_owned();
    rows.push(std::iter::once(last).chain(panels.iter().map(left)).collect());
    let columns = panels.iter().map(|panel| panel.title.clone());
    vec![Digest {
        caption: "part of the mean error that each step removes: median (least to most)".to_owned(),
        columns: std::iter::once(String::new()).chain(columns).collect(),
        rows,
    }]
}
