//! Tables in short, for people: what a terminal and the report show of a panel.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::base::console::{short, short_or_dash};
use crate::experiment::table::{
    CurveRow, PhaseRow, PrivacyRow, ScalingRow, SummaryRow, Tables, TheoryRow, ValueRow, distinct,
};
use crate::experiment::{Kind, Naming, Panel, optimum as best, phase as map};
use crate::posterior::metric::Metric;

/// A small table of formatted cells.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Digest {
    /// What it holds.
    pub caption: String,
    /// The header; the first column names the rows.
    pub columns: Vec<String>,
    /// The cells.
    pub rows: Vec<Vec<String>>,
}

/// What a panel found out, in short, with mechanisms called by their labels, as in the tables.
#[must_use]
pub fn digests(panel: &Panel, tables: &Tables) -> Vec<Digest> {
    match panel.kind {
        Kind::Accuracy => {
            panel.errors().iter().map(|metric| accuracy(panel, tables, metric)).collect()
        }
        Kind::Theory => theory(panel, tables),
        Kind::Privacy => privacy(panel, tables),
        Kind::TableOne => table_one(panel, tables),
        Kind::Crossover | Kind::Optimality | Kind::Steps => curves(panel, tables),
        Kind::Change => change(panel, tables),
        Kind::Phase => phase(panel, tables),
        Kind::Scaling => scaling(panel, tables),
        Kind::Optimum => optimum(panel, tables),
        Kind::Profile => profile(panel, tables),
        Kind::TradeOff => trade_off(panel, tables),
        _ => Vec::new(),
    }
}

/// The same with mechanisms called by their titles, as in the figures.
#[must_use]
pub fn titled_digests(panel: &Panel, tables: &Tables) -> Vec<Digest> {
    let mut digests = digests(panel, tables);
    for digest in &mut digests {
        for column in &mut digest.columns {
            let variant = panel.variants.iter().find(|variant| variant.label == *column);
            if let Some(variant) = variant {
                *column = variant.title().to_owned();
            }
        }
        // Here mechanisms are rows, and named as the second best.
        let cells = digest.rows.iter_mut().flatten().filter(|_| panel.kind == Kind::Phase);
        for cell in cells {
            let variant = panel.variants.iter().find(|variant| variant.label == *cell);
            if let Some(variant) = variant {
                *cell = variant.title().to_owned();
            }
        }
    }
    digests
}

/// A row for every case, a column for every mechanism.
fn by_case(panel: &Panel, caption: &str, cell: impl Fn(usize, &str) -> String) -> Digest {
    let naming = Naming::new(&panel.cases);
    let labels = || panel.variants.iter().map(|variant| variant.label.clone());
    let rows = panel.settings().map(|(setting, case)| {
        let cells = labels().map(|label| cell(setting, &label));
        std::iter::once(naming.name(case)).chain(cells).collect()
    });
    Digest {
        caption: caption.to_owned(),
        columns: std::iter::once(String::new()).chain(labels()).collect(),
        rows: rows.collect(),
    }
}

/// A count, by all its digits or by four.
fn whole(count: f64) -> String {
    if count < 1e6 { format!("{count:.0}") } else { short(count) }
}

/// What is counted at every case.
fn scaling(panel: &Panel, tables: &Tables) -> Vec<Digest> {
    let own: Vec<&ScalingRow> =
        tables.scaling.iter().filter(|row| panel.owns(row.setting)).collect();
    let counted = distinct(own.iter().map(|row| row.mechanism.as_str()));
    let rows = panel.settings().map(|(setting, case)| {
        let posterior = &case.setting.posterior;
        let cell = |what: &&str| {
            let found = own.iter().find(|row| row.setting == setting && row.mechanism == *what);
            found.map_or_else(|| short_or_dash(None), |row| whole(row.outputs))
        };
        let name = format!("k = {}, n = {}", posterior.k(), posterior.n());
        std::iter::once(name).chain(counted.iter().map(cell)).collect()
    });
    vec![Digest {
        caption: "candidates, those nearer than distance 1, and outputs walked".to_owned(),
        columns: std::iter::once("").chain(counted.clone()).map(str::to_owned).collect(),
        rows: rows.collect(),
    }]
}

/// For every case the exact and the sampled mean of every mechanism.
fn accuracy(panel: &Panel, tables: &Tables, metric: &Metric) -> Digest {
    let naming = Naming::new(&panel.cases);
    let labels = panel.variants.iter().map(|variant| variant.label.clone());
    let mut by_setting: BTreeMap<usize, Vec<&SummaryRow>> = BTreeMap::new();
    for row in tables.summary.iter().filter(|row| row.metric == metric.id) {
        by_setting.entry(row.setting).or_default().push(row);
    }
    let mut rows = Vec::new();
    for (setting, case) in panel.settings() {
        let own = by_setting.remove(&setting).unwrap_or_default();
        let row = |name: String, what: &str, cell: &dyn Fn(&SummaryRow) -> String| {
            let cells = own.iter().map(|row| cell(row));
            [name, what.to_owned()].into_iter().chain(cells).collect::<Vec<String>>()
        };
        rows.push(row(naming.name(case), "exact", &|row| short_or_dash(row.exact_mean)));
        rows.push(row(String::new(), "sampled", &|row| short(row.mean)));
    }
    Digest {
        caption: format!("mean {}, {} runs", metric.title, panel.runs),
        columns: [String::new(), String::new()].into_iter().chain(labels).collect(),
        rows,
    }
}

/// The probability of the true posterior and the median distance.
fn theory(panel: &Panel, tables: &Tables) -> Vec<Digest> {
    let levels = |setting: usize, label: &str| {
        let label = label.to_owned();
        let own = move |row: &&TheoryRow| row.setting == setting && row.mechanism == label;
        tables.theory.iter().filter(own)
    };
    let exact = |setting: usize, label: &str| {
        let first = levels(setting, label).next().filter(|row| row.distance == 0.0);
        short_or_dash(first.map(|row| row.probability))
    };
    let median = |setting: usize, label: &str| {
        let reached = levels(setting, label).find(|row| row.cumulative >= 0.5);
        short_or_dash(reached.map(|row| row.distance))
    };
    vec![
        by_case(panel, "probability of the true posterior, P[H = 0]", exact),
        by_case(panel, "median distance", median),
    ]
}

/// The loss over each scope, and δ where it was asked for.
fn privacy(panel: &Panel, tables: &Tables) -> Vec<Digest> {
    let own: Vec<&PrivacyRow> =
        tables.privacy.iter().filter(|row| panel.owns(row.setting)).collect();
    let scopes = distinct(own.iter().map(|row| row.scope.as_str()));
    let mut digests = Vec::new();
    for scope in scopes {
        let row = |setting: usize, label: &str| {
            let mut rows = own.iter().filter(|row| row.scope == scope);
            rows.find(|row| row.setting == setting && row.mechanism == label)
        };
        let loss =
            |setting: usize, label: &str| short_or_dash(row(setting, label).map(|row| row.loss));
        digests.push(by_case(panel, &format!("exact privacy loss, scope {scope}"), loss));
        if let Some(epsilon) = panel.parameters.at_epsilon {
            let delta = |setting: usize, label: &str| {
                short_or_dash(row(setting, label).and_then(|row| row.delta_at))
            };
            digests.push(by_case(panel, &format!("δ at ε = {epsilon}, scope {scope}"), delta));
        }
    }
    digests
}

/// All numbers, t by t.
fn table_one(panel: &Panel, tables: &Tables) -> Vec<Digest> {
    let own: Vec<&ValueRow> = tables.values.iter().filter(|row| row.panel == panel.id).collect();
    let at = distinct(own.iter().map(|row| row.at.as_str()));
    let named = |row: &ValueRow| match row.mechanism.as_str() {
        "" => row.quantity.clone(),
        mechanism => format!("{mechanism}: {}", row.quantity),
    };
    let names: Vec<String> = own.iter().map(|row| named(row)).collect();
    let rows = distinct(names.iter().map(String::as_str)).into_iter().map(|name| {
        let cell = |at: &&str| {
            let found = own.iter().find(|row| named(row) == name && row.at == **at);
            found.map_or(String::new(), |row| match row.value {
                Some(value) if value.fract() == 0.0 && value >= 1.0 => format!("{value}"),
                Some(value) => format!("{value:.11}"),
                None => "never".to_owned(),
            })
        };
        std::iter::once(name.to_owned()).chain(at.iter().map(cell)).collect()
    });
    let columns = std::iter::once("").chain(at.iter().copied()).map(str::to_owned).collect();
    vec![Digest { caption: panel.title.clone(), columns, rows: rows.collect() }]
}

/// For every facet a row for each abscissa, a column for each curve.
fn curves(panel: &Panel, tables: &Tables) -> Vec<Digest> {
    let own: Vec<&CurveRow> = tables.curves.iter().filter(|row| row.panel == panel.id).collect();
    let name = |row: &CurveRow| match row.mechanism.as_str() {
        "" => row.curve.clone(),
        mechanism => mechanism.to_owned(),
    };
    let digest = |facet: &str| {
        let rows: Vec<&CurveRow> = own.iter().filter(|row| row.facet == facet).copied().collect();
        let names: Vec<String> = rows.iter().map(|row| name(row)).collect();
        let names = distinct(names.iter().map(String::as_str))
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<_>>();
        let mut places: Vec<f64> = rows.iter().map(|row| row.x).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        let line = |x: f64| {
            let cell = |column: &String| {
                let found = rows.iter().find(|row| row.x == x && name(row) == *column);
                short_or_dash(found.map(|row| row.y))
            };
            std::iter::once(x.to_string()).chain(names.iter().map(cell)).collect()
        };
        Digest {
            caption: facet.to_owned(),
            columns: std::iter::once(String::new()).chain(names.iter().cloned()).collect(),
            rows: places.into_iter().map(line).collect(),
        }
    };
    distinct(own.iter().map(|row| row.facet.as_str())).into_iter().map(digest).collect()
}

/// Where the change of score is largest.
fn change(panel: &Panel, tables: &Tables) -> Vec<Digest> {
    let naming = Naming::new(&panel.cases);
    let rows = panel.settings().filter_map(|(setting, case)| {
        let own = tables.change.iter().filter(|row| row.setting == setting);
        let largest = own.max_by(|a, b| a.change.total_cmp(&b.change))?;
        Some(vec![
            naming.data(case),
            short(largest.change),
            format!("({})", largest.candidate.replace(';', ", ")),
            format!("({})", largest.neighbour.replace(';', ", ")),
        ])
    });
    let columns = ["", "largest change", "at r", "neighbour x′"].map(str::to_owned).to_vec();
    vec![Digest { caption: "largest change of score".to_owned(), columns, rows: rows.collect() }]
}

/// For every contest and mechanism how much of the map it wins, and where by most.
fn phase(panel: &Panel, tables: &Tables) -> Vec<Digest> {
    map::Among::of(panel).iter().map(|&among| contest(panel, tables, among)).collect()
}

fn contest(panel: &Panel, tables: &Tables, among: map::Among) -> Digest {
    let own: Vec<&PhaseRow> = among.rows(panel, tables).collect();
    let row = |label: &str| {
        let won: Vec<&PhaseRow> = own.iter().filter(|row| row.winner == label).copied().collect();
        let share = 100.0 * won.len() as f64 / own.len().max(1) as f64;
        let margin = |row: &PhaseRow| row.margin.unwrap_or(f64::INFINITY);
        let largest = won.iter().max_by(|a, b| margin(a).total_cmp(&margin(b)));
        let place = |row: &&PhaseRow| map::place_name(panel, row.setting).unwrap_or_default();
        vec![
            label.to_owned(),
            if won.is_empty() { "nowhere".to_owned() } else { format!("{share:.1} %") },
            largest.map_or(String::new(), |row| percent(row.margin)),
            largest.map_or(String::new(), |row| row.runner_up.clone()),
            largest.map_or(String::new(), place),
        ]
    };
    let columns = ["", "best at", "by at most", "over", "where"].map(str::to_owned).to_vec();
    Digest {
        caption: format!(
            "least exact mean {} of {} mechanisms, at {} points of n and {}",
            panel.distance.title(),
            among.players(panel).count(),
            own.len(),
            map::ordinate_label(panel).unwrap_or_default(),
        ),
        columns,
        rows: among.players(panel).map(|(_, variant)| row(&variant.label)).collect(),
    }
}

/// The points of a mechanism's curve at a case, where each case has a figure of its own.
fn curve_of(panel: &Panel, tables: &Tables, setting: usize, label: &str) -> Vec<(f64, f64)> {
    let naming = Naming::new(&panel.cases);
    let facet = panel.case(setting).map(|case| naming.name(case)).unwrap_or_default();
    let own =
        |row: &&CurveRow| row.panel == panel.id && row.facet == facet && row.mechanism == label;
    tables.curves.iter().filter(own).map(|row| (row.x, row.y)).collect()
}

/// Where a privacy profile begins and where it ends.
fn profile(panel: &Panel, tables: &Tables) -> Vec<Digest> {
    let cell = |setting: usize, label: &str| {
        let points = curve_of(panel, tables, setting, label);
        match (points.first(), points.last()) {
            (Some(first), Some(last)) => format!("{}, {}", short(first.1), short(last.0)),
            _ => "–".to_owned(),
        }
    };
    vec![by_case(panel, "δ at ε = 0, and the ε from which on δ is 0 (the loss)", cell)]
}

/// How much better than chance an observer does.
fn trade_off(panel: &Panel, tables: &Tables) -> Vec<Digest> {
    let cell = |setting: usize, label: &str| {
        let points = curve_of(panel, tables, setting, label).into_iter();
        short(points.map(|(alarm, miss)| 1.0 - alarm - miss).fold(0.0, f64::max))
    };
    vec![by_case(panel, "membership advantage: detections minus false alarms, at most", cell)]
}

/// The least possible error, and every mechanism as a multiple of it.
fn optimum(panel: &Panel, tables: &Tables) -> Vec<Digest> {
    let row = |setting: usize, label: &str| best::row(tables, setting, label);
    let ratio =
        |setting: usize, label: &str| short_or_dash(row(setting, label).and_then(|row| row.ratio));
    let caption = "mean error over the predictive law, as a multiple of the least possible";
    let mut digest = by_case(panel, caption, ratio);
    digest.columns.insert(1, "optimum".to_owned());
    for ((setting, _), cells) in panel.settings().zip(&mut digest.rows) {
        let first = panel.variants.first().and_then(|variant| row(setting, &variant.label));
        cells.insert(1, short_or_dash(first.and_then(|row| row.optimum)));
    }
    vec![digest]
}

/// Parts of a whole in percent: their median, and the least and the largest of them.
#[must_use]
pub fn spread(parts: &[f64]) -> String {
    let mut sorted: Vec<f64> = parts.iter().map(|part| 100.0 * part).collect();
    sorted.sort_by(f64::total_cmp);
    let (Some(least), Some(most)) = (sorted.first(), sorted.last()) else {
        return "–".to_owned();
    };
    let show = |value: f64| {
        let digits = if value.abs() < 10.0 { 1 } else { 0 };
        let text = format!("{value:.digits$}");
        if text.trim_start_matches('-').parse() == Ok(0.0) {
            "0".to_owned()
        } else {
            text.replace('-', "−")
        }
    };
    let middle = |i: usize| sorted[i.min(sorted.len() - 1)];
    let median = show(0.5 * (middle((sorted.len() - 1) / 2) + middle(sorted.len() / 2)));
    match (show(*least), show(*most)) {
        (least, most) if least == most => format!("{median} %"),
        (least, most) => format!("{median} % ({least} to {most})"),
    }
}

/// A part of a whole in percent.
#[must_use]
pub fn percent(part: Option<f64>) -> String {
    match part {
        None => "any factor".to_owned(),
        Some(part) if part < 0.1 => format!("{:.2} %", 100.0 * part),
        Some(part) => format!("{:.0} %", 100.0 * part),
    }
}
