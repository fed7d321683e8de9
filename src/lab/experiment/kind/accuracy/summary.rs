//! What people see of an accuracy experiment on a terminal and in the report.

use std::collections::BTreeMap;

use statrs::function::erf::erfc;

use super::figures;
use crate::experiment::digest::Digest;
use crate::experiment::{Case, Naming, Panel};
use engine::posterior::metric::Metric;
use system::console::{Grid, bar, columns, short, short_or_dash};
use table::{SummaryRow, Tables};

/// For every case the exact and the sampled mean of every mechanism.
pub(super) fn digest(panel: &Panel, tables: &Tables, metric: &Metric) -> Digest {
    let naming = Naming::new(&panel.cases);
    let labels = || panel.variants.iter().map(|variant| variant.label.clone());
    let mut by_setting: BTreeMap<usize, Vec<&SummaryRow>> = BTreeMap::new();
    for row in tables.summary.iter().filter(|row| row.metric == metric.id()) {
        by_setting.entry(row.setting).or_default().push(row);
    }
    let mut rows = Vec::new();
    for (setting, case) in panel.settings() {
        let own = by_setting.remove(&setting).unwrap_or_default();
        let row = |name: String, what: &str, cell: &dyn Fn(&SummaryRow) -> String| {
            let of = |label: String| own.iter().find(|row| row.mechanism == label);
            let cells = labels().map(|label| of(label).map_or("–".to_owned(), |row| cell(row)));
            [name, what.to_owned()].into_iter().chain(cells).collect::<Vec<String>>()
        };
        rows.push(row(naming.name(case), "exact", &|row| short_or_dash(row.exact_mean)));
        rows.push(row(String::new(), "sampled", &|row| short(row.mean)));
    }
    Digest {
        caption: format!("mean {}, {} runs", metric.title(), panel.runs),
        columns: [String::new(), String::new()].into_iter().chain(labels()).collect(),
        rows,
    }
}

/// How long a bar can be.
const LONGEST_BAR: usize = 24;

/// The means of every mechanism as columns along the settings, from the first to the last, and as a bar at the last
/// of them. Of many settings so many are shown, with equal steps between them. All columns and bars begin at 0. Columns are scaled to the mechanism's own largest mean, to
/// show where it goes; bars to the largest of all, to compare the mechanisms.
pub(super) fn picture(panel: &Panel, tables: &Tables, most: usize) -> String {
    // Where settings differ in several parameters, those along the axis at the last of the others.
    let along = figures::along_axis(panel);
    let count = along.len().min(most);
    let place = |column: usize| column * (along.len() - 1) / (count - 1).max(1);
    let settings: Vec<(usize, &Case)> = (0..count).map(|column| along[place(column)]).collect();
    let (Some(&(first, start)), Some(&(last, end))) = (settings.first(), settings.last()) else {
        return String::new();
    };
    let several = first != last;
    let is_drawn = |row: &&SummaryRow| row.metric == panel.distance.id();
    let rows: Vec<&SummaryRow> = tables.summary.iter().filter(is_drawn).collect();
    let mean = |setting: usize, label: &str| {
        let found = rows.iter().find(|row| row.setting == setting && row.mechanism == label);
        found.map(|row| row.exact_mean.unwrap_or(row.mean))
    };
    let labels = || panel.variants.iter().map(|variant| variant.label.as_str());
    let largest = largest(labels().map(|label| mean(last, label)));
    let mut grid = Grid::new(usize::MAX);
    for label in labels() {
        let along: Vec<_> = settings.iter().map(|(setting, _)| mean(*setting, label)).collect();
        let here = mean(last, label);
        let drawn = here.filter(|value| value.is_finite());
        let drawn = drawn.map_or(String::new(), |value| bar(value, largest, LONGEST_BAR) + " ");
        let own = self::largest(along.iter().copied());
        let way = several.then(|| columns(&along, own));
        let cells = [Some(label.to_owned()), way, Some(drawn + &short_or_dash(here))];
        grid.row(cells.into_iter().flatten());
    }
    let naming = Naming::new(&panel.cases);
    let [start, end] = [start, end].map(|case| naming.name(case));
    let caption = match several {
        true => {
            format!(
                "columns: means from {start} to {end}, scaled by mechanism\n  \
                 bars: means at {end}, one scale for all"
            )
        }
        false => format!("bars: means at {end}"),
    };
    format!("\n  {caption}\n{}", grid.render())
}

/// The largest of the finite values.
fn largest(values: impl Iterator<Item = Option<f64>>) -> f64 {
    values.flatten().filter(|value| value.is_finite()).fold(0.0, f64::max)
}

/// How well the sampled means agree with the exact ones: the largest |z|, and how often chance
/// alone gives one as large among this many.
pub(super) fn agreement(panel: &Panel, tables: &Tables) -> String {
    let own = tables.summary.iter().filter(|row| panel.owns(row.setting));
    let scores: Vec<(f64, &SummaryRow)> = own.filter_map(|row| Some((row.z?.abs(), row))).collect();
    let Some((z, row)) = scores.iter().max_by(|a, b| a.0.total_cmp(&b.0)) else {
        return "\n  no sampled mean can be compared with an exact one\n".into();
    };
    let single = erfc(z / std::f64::consts::SQRT_2);
    let chance = -libm::expm1(scores.len() as f64 * libm::log1p(-single.min(1.0 - 1e-16)));
    let differences = match scores.len() {
        1 => "the difference between the sampled and the exact mean".to_owned(),
        many => format!("the largest of {many} differences between sampled and exact means"),
    };
    let naming = Naming::new(&panel.cases);
    let place = panel.case(row.setting).map_or(String::new(), |case| naming.name(case));
    let chance = match chance < 0.01 {
        true => format!("{chance:.1e}"),
        false => format!("{chance:.2}"),
    };
    format!(
        "\n  {differences}\n  is {z:.2} standard errors ({}, {place}; p = {chance})\n",
        row.mechanism
    )
}

/// Which mechanism has the least exact mean error, and how the others compare.
pub(super) fn answer(panel: &Panel, tables: &Tables) -> Option<String> {
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
    let (first, last) = (winners.first()?, winners.last()?);
    let mut names: Vec<String> = Vec::new();
    for (label, _) in &winners {
        let name = panel.title_of(label);
        if names.last() != Some(&name) {
            names.push(name);
        }
    }
    let title = panel.distance.title();
    let order = match &names[..] {
        [only] => format!("in every setting {only} has the least mean {title}"),
        _ => format!("the least mean {title} is that of {}", names.join(", then of ")),
    };
    let (first, last) = (short(first.1), short(last.1));
    Some(format!("{order}; it is {first} in the first setting and {last} in the last"))
}
