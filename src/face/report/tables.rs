//! Tables: short ones open, long ones folded, wide ones scrolling in a box of their own.

use maud::{Markup, html};

use super::text::{count, notes, number};
use super::{Agreement, Digest, ReadingRow, Readings};
use lab::experiment::reading::MOST_STANDARD_ERRORS;

/// A table of more rows is folded.
const SHORT: usize = 8;

/// A table with its caption, which says whether it is as defined or as printed; nothing if it has
/// no rows.
pub(super) fn table(table: &Digest, side: Option<&str>) -> Markup {
    let caption = html! { (table.caption) @if let Some(side) = side { ", " (side) } };
    let scrolling = scroll(&table.caption, grid(table));
    match table.rows.len() {
        0 => html! {},
        1..=SHORT => html! { p.caption { (caption) } (scrolling) },
        rows => fold(html! { (caption) " " span.faint { "(" (rows) " rows)" } }, scrolling, false),
    }
}

/// Something long that opens on demand.
pub(super) fn fold(summary: Markup, content: Markup, open: bool) -> Markup {
    html! { details open[open] { summary { (summary) } (content) } }
}

/// A box in which a wide table scrolls, also by keyboard.
pub(super) fn scroll(label: &str, table: Markup) -> Markup {
    html! { div.scroll role="region" aria-label=(label) tabindex="0" { (table) } }
}

fn grid(table: &Digest) -> Markup {
    let numeric: Vec<bool> =
        (0..table.columns.len()).map(|column| is_numeric(&table.rows, column)).collect();
    let class = |column: usize| numeric.get(column).filter(|numeric| **numeric).map(|_| "n");
    html! {
        table {
            thead {
                tr {
                    @for (column, cell) in table.columns.iter().enumerate() {
                        th class=[class(column)] { (cell) }
                    }
                }
            }
            tbody {
                @for row in &table.rows {
                    tr {
                        @for (column, cell) in row.iter().enumerate() {
                            td class=[class(column)] { (cell) }
                        }
                    }
                }
            }
        }
    }
}

/// Whether a column holds numbers only: these are aligned right.
fn is_numeric(rows: &[Vec<String>], column: usize) -> bool {
    let is_number = |cell: &str| cell.replace('−', "-").parse::<f64>().is_ok();
    let mut cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.trim());
    cells.all(|cell| matches!(cell, "" | "–" | "-" | "—") || is_number(cell))
}

/// How many readings agree, in one line.
pub(super) fn readings_line(readings: &Readings) -> Markup {
    let Readings { total, within, named_outliers: named, largest, .. } = readings;
    let beyond = readings.beyond();
    html! {
        div.readings.bad[beyond > 0] {
            p {
                strong { (within) " of " (count(*total, "reading")) } " off the printed figure match"
                @if beyond > 0 { "; " strong.fails { (beyond) " beyond" } }
                @if *named > 0 { "; " (count(*named, "known outlier")) ", named below" }
                @if !largest.is_empty() { "; largest deviation " (largest) }
                "."
            }
            (outliers(&readings.rows))
        }
    }
}

/// The readings that do not agree, those with the same explanation together.
fn outliers(rows: &[ReadingRow]) -> Markup {
    let mut groups: Vec<(&str, Vec<&ReadingRow>)> = Vec::new();
    for row in rows.iter().filter(|row| !row.within) {
        match groups.iter_mut().find(|(note, _)| *note == row.note) {
            Some((_, group)) => group.push(row),
            None => groups.push((&row.note, vec![row])),
        }
    }
    let place = |row: &&ReadingRow| format!("{} at {} ({})", row.mechanism, row.at, row.quantity);
    let item = |(note, group): &(&str, Vec<&ReadingRow>)| {
        let places: Vec<String> = group.iter().map(place).collect();
        let why = if note.is_empty() { "no explanation" } else { note };
        format!("{}: {why}", places.join(", "))
    };
    notes(&groups.iter().map(item).collect::<Vec<_>>())
}

/// Every reading, folded unless one disagrees for no known reason.
pub(super) fn readings_table(readings: &Readings, title: &str) -> Markup {
    if readings.rows.is_empty() {
        return html! {};
    }
    let table = html! {
        table {
            thead {
                tr {
                    @for head in ["mechanism", "at", "quantity"] { th { (head) } }
                    @for head in ["read", "±", "computed", "deviation", "allowed", "s.e."] {
                        th.n { (head) }
                    }
                    th { "verdict" } th { "note" }
                }
            }
            tbody { @for row in most_deviating(&readings.rows) { (reading_row(row)) } }
        }
    };
    let rows = match readings.rows.len() {
        all if all > MOST_READINGS => {
            format!("({MOST_READINGS} of {all}: those that deviate most; readings.csv has all)")
        }
        all => format!("({all} rows)"),
    };
    let summary = html! { "Readings: " (title) " " span.faint { (rows) } };
    let content = html! {
        @if !readings.criterion.is_empty() { p.criterion { (readings.criterion) } }
        p.faint { (MEANING) }
        (scroll("readings", table))
    };
    fold(summary, content, readings.beyond() > 0)
}

/// What the columns of readings and the quantities are called.
const MEANING: &str = "±: the error of reading. allowed: the largest deviation that counts as agreement. s.e.: the \
                       deviation in standard errors of the printed runs. vertex: P[H = c] at a corner of a curve; \
                       q1, q3: the quartiles; whisker_low, whisker_high: the ends of the whiskers.";

/// A page of thousands of readings would be slow and large.
const MOST_READINGS: usize = 60;

/// The readings that are shown, in their order: all, or those that deviate most of what is allowed.
fn most_deviating(rows: &[ReadingRow]) -> Vec<&ReadingRow> {
    let share = |row: &ReadingRow| match (row.within, row.z, row.allowed) {
        (false, ..) => f64::INFINITY,
        (true, Some(z), _) => z.abs() / MOST_STANDARD_ERRORS,
        (true, None, Some(allowed)) if allowed > 0.0 => row.deviation.abs() / allowed,
        _ => 0.0,
    };
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&a, &b| share(&rows[b]).total_cmp(&share(&rows[a])));
    order.truncate(MOST_READINGS);
    order.sort_unstable();
    order.into_iter().map(|place| &rows[place]).collect()
}

fn reading_row(row: &ReadingRow) -> Markup {
    let agreement = Agreement::of(row);
    let class = match agreement {
        Agreement::Within => None,
        Agreement::Named => Some("named"),
        Agreement::Beyond => Some("beyond"),
    };
    let given = [row.read, row.error, row.computed, row.deviation].map(Some);
    html! {
        tr class=[class] {
            @for word in [&row.mechanism, &row.at, &row.quantity] { td { (word) } }
            @for value in given.into_iter().chain([row.allowed, row.z]) {
                td.n { @if let Some(value) = value { (number(value)) } }
            }
            td { (agreement.label()) }
            td.note { (row.note) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(cells: &[&str]) -> Vec<Vec<String>> {
        cells.iter().map(|cell| vec![(*cell).to_owned()]).collect()
    }

    #[test]
    fn columns_of_numbers_are_recognised() {
        assert!(is_numeric(&rows(&["1", "−0.5", "2e-3", "–", ""]), 0));
        assert!(!is_numeric(&rows(&["1", "n = 2"]), 0));
    }

    #[test]
    fn only_long_tables_are_folded() {
        let of = |length: usize| Digest {
            caption: "c".into(),
            columns: vec!["a".into()],
            rows: vec![vec!["1".into()]; length],
        };
        let table = |length| table(&of(length), Some("as defined")).into_string();
        assert!(!table(SHORT).contains("<details>"));
        assert!(table(SHORT + 1).contains("<summary>c, as defined <span"));
        assert_eq!(table(0), "");
    }

    #[test]
    fn readings_that_disagree_are_not_hidden() {
        let row = ReadingRow {
            panel: String::new(),
            mechanism: "EHD".into(),
            at: "100".into(),
            quantity: "mean".into(),
            read: 0.5,
            error: 0.01,
            computed: 0.6,
            deviation: 0.1,
            allowed: Some(0.01),
            z: None,
            within: false,
            note: String::new(),
        };
        let readings = Readings::new("", vec![row.clone()]);
        assert!(readings_table(&readings, "a").into_string().starts_with("<details open>"));
        assert!(readings_line(&readings).into_string().contains("1 beyond"));
        let readings = Readings::new("", vec![ReadingRow { note: "why".into(), ..row }]);
        assert!(readings_table(&readings, "a").into_string().starts_with("<details>"));
        assert!(readings_line(&readings).into_string().contains("1 known outlier, named below"));
    }
}
