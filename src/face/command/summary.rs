//! What a run found out, in a few lines on a terminal.

use super::MOST_PRINTED;
use crate::report::Readings;
use lab::experiment::digest::Digest;
use lab::experiment::{Experiment, Panel};
use system::console::{Grid, TableFormat, short};
use table::Tables;

/// The tables of every panel, in short.
pub fn text(experiment: &Experiment, tables: &Tables) -> String {
    let mut text = format!("{}: {}\n", experiment.name, experiment.title);
    for panel in &experiment.panels {
        if !panel.id.is_empty() {
            text += &format!("\n  {}: {}\n", panel.id, panel.title);
        }
        for digest in panel.kind.digests(panel, tables) {
            text += &table(&digest);
        }
        text += &panel.kind.summary(panel, tables, MOST_PRINTED);
        text += &readings(panel, tables);
    }
    text
}

/// The same tables, whole and in another form.
pub fn tables(experiment: &Experiment, tables: &Tables, format: TableFormat) -> String {
    let digests = experiment.panels.iter().flat_map(|panel| panel.kind.digests(panel, tables));
    let texts: Vec<String> =
        digests.map(|digest| grid(&digest, usize::MAX).to_table(format)).collect();
    texts.join("\n")
}

/// The columns of names, which have no heads.
fn names(digest: &Digest) -> usize {
    digest.columns.iter().take_while(|name| name.is_empty()).count()
}

fn grid(digest: &Digest, most: usize) -> Grid {
    let mut grid = Grid::new(names(digest));
    grid.row(&digest.columns);
    digest.rows.iter().take(most).for_each(|row| grid.row(row));
    grid
}

fn table(digest: &Digest) -> String {
    // Some tables have two rows for a setting.
    let most = names(digest) * MOST_PRINTED;
    let grid = grid(digest, most);
    let more = match digest.rows.len().saturating_sub(most) {
        0 => String::new(),
        more => format!("  … and {more} more rows in the tables\n"),
    };
    format!("\n  {}\n{}{more}", digest.caption, grid.render())
}

/// How many readings are explained, the largest deviation, and those that are not explained.
fn readings(panel: &Panel, tables: &Tables) -> String {
    let own = panel.own(&tables.readings);
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
