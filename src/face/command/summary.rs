//! What a run found out, in a few lines on a terminal.

use statrs::function::erf::erfc;

use super::MOST_PRINTED;
use crate::base::console::{Grid, bar, columns, short, short_or_dash};
use crate::experiment::table::{SummaryRow, Tables};
use crate::experiment::{Case, Experiment, Kind, Naming, Panel, accuracy};
use crate::face::digest::{Digest, digests};
use crate::face::report::Readings;

/// The tables of every panel, in short.
pub fn text(experiment: &Experiment, tables: &Tables) -> String {
    let mut text = format!("{}: {}\n", experiment.name, experiment.title);
    for panel in &experiment.panels {
        if !panel.id.is_empty() {
            text += &format!("\n  {}: {}\n", panel.id, panel.title);
        }
        for digest in digests(panel, tables) {
            text += &table(&digest);
        }
        if panel.kind == Kind::Accuracy {
            text += &picture(panel, tables);
            text += &agreement(panel, tables);
            let (drawn, all) = accuracy::facets(panel);
            if drawn < all {
                text += &format!(
                    "  figures of the first {drawn} of {all} combinations; `kind = \"phase\"` draws a \
                     map of many\n"
                );
            }
        }
        text += &readings(panel, tables);
    }
    text
}

fn table(digest: &Digest) -> String {
    let left = digest.columns.iter().take_while(|name| name.is_empty()).count();
    let mut grid = Grid::new(left);
    grid.row(&digest.columns);
    // Some tables have two rows for a setting.
    let most = left * MOST_PRINTED;
    digest.rows.iter().take(most).for_each(|row| grid.row(row));
    let more = match digest.rows.len().saturating_sub(most) {
        0 => String::new(),
        more => format!("  … and {more} more rows in the tables\n"),
    };
    format!("\n  {}\n{}{more}", digest.caption, grid.render())
}

/// How long a bar can be.
const LONGEST_BAR: usize = 24;

/// The means of every mechanism as columns along the printed settings, and as a bar at the last of
/// them. All columns and bars begin at 0. Columns are scaled to the mechanism's own largest mean, to
/// show where it goes; bars to the largest of all, to compare the mechanisms.
fn picture(panel: &Panel, tables: &Tables) -> String {
    let settings: Vec<(usize, &Case)> = panel.settings().take(MOST_PRINTED).collect();
    let (Some(&(first, start)), Some(&(last, end))) = (settings.first(), settings.last()) else {
        return String::new();
    };
    let several = first < last;
    let is_drawn = |row: &&SummaryRow| {
        (first..=last).contains(&row.setting) && row.metric == panel.distance.id()
    };
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
            format!("means from {start} to {end}, each on its own scale; bars at {end}, from 0")
        }
        false => format!("means at {end}, from 0"),
    };
    format!("\n  {caption}\n{}", grid.render())
}

/// The largest of the finite values.
fn largest(values: impl Iterator<Item = Option<f64>>) -> f64 {
    values.flatten().filter(|value| value.is_finite()).fold(0.0, f64::max)
}

/// How well the sampled means agree with the exact ones: the largest |z|, and how often chance
/// alone gives one as large among so many.
fn agreement(panel: &Panel, tables: &Tables) -> String {
    let own = tables.summary.iter().filter(|row| panel.owns(row.setting));
    let scores: Vec<(f64, &SummaryRow)> = own.filter_map(|row| Some((row.z?.abs(), row))).collect();
    let Some((z, row)) = scores.iter().max_by(|a, b| a.0.total_cmp(&b.0)) else {
        return "\n  no sampled mean can be compared with an exact one\n".into();
    };
    let single = erfc(z / std::f64::consts::SQRT_2);
    let chance = -libm::expm1(scores.len() as f64 * libm::log1p(-single.min(1.0 - 1e-16)));
    format!(
        "\n  sampled and exact means differ by at most {z:.2} standard errors ({} in setting {}); \
         among {} this happens by chance with probability {}\n",
        row.mechanism,
        row.setting,
        scores.len(),
        short(chance),
    )
}

/// How many readings are explained, the largest deviation, and those that are not explained.
fn readings(panel: &Panel, tables: &Tables) -> String {
    let own = tables.readings.iter().filter(|row| row.panel == panel.id);
    let readings = Readings::new("", own.cloned().collect());
    if readings.rows.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "\n  {} of {} readings of the printed figure are explained; largest deviation {}\n",
        readings.within, readings.total, readings.largest,
    );
    for row in readings.rows.iter().filter(|row| !row.within) {
        text += &format!(
            "  beyond: {} at {}, {}: read {}, computed {}{}\n",
            row.mechanism,
            row.at,
            row.quantity,
            short(row.read),
            short(row.computed),
            row.z.map_or(String::new(), |z| format!(", {z:.1} standard errors")),
        );
    }
    text
}
