//! Tables: short ones open, long ones folded, wide ones scrolling in a box of their own.

use super::text::{count, escape, notes, number};
use super::{Agreement, Digest, ReadingRow, Readings};

/// A table of more rows is folded.
const SHORT: usize = 8;

/// A table with its caption, which says whether it is as defined or as printed; nothing if it has
/// no rows.
pub(super) fn table(table: &Digest, side: Option<&str>) -> String {
    if table.rows.is_empty() {
        return String::new();
    }
    let side = side.map_or(String::new(), |side| format!(", {side}"));
    let caption = format!("{}{side}", escape(&table.caption));
    let grid = grid(table);
    if table.rows.len() <= SHORT {
        return format!("<p class=\"caption\">{caption}</p>\n{}", scroll(&table.caption, &grid));
    }
    let summary = format!("{caption} <span class=\"faint\">({} rows)</span>", table.rows.len());
    fold(&summary, &scroll(&table.caption, &grid), false)
}

/// Something long that opens on demand.
pub(super) fn fold(summary: &str, content: &str, open: bool) -> String {
    let open = if open { " open" } else { "" };
    format!("<details{open}><summary>{summary}</summary>\n{content}</details>\n")
}

/// A box in which a wide table scrolls, also by keyboard.
pub(super) fn scroll(label: &str, table: &str) -> String {
    let label = escape(label);
    format!(
        "<div class=\"scroll\" role=\"region\" aria-label=\"{label}\" tabindex=\"0\">{table}</div>\n"
    )
}

fn grid(table: &Digest) -> String {
    let numeric: Vec<bool> =
        (0..table.columns.len()).map(|column| is_numeric(&table.rows, column)).collect();
    let class = |column: usize| match numeric.get(column) {
        Some(true) => " class=\"n\"",
        _ => "",
    };
    let cells = |row: &[String], tag: &str| -> String {
        let cell = |(column, cell): (usize, &String)| {
            format!("<{tag}{}>{}</{tag}>", class(column), escape(cell))
        };
        row.iter().enumerate().map(cell).collect()
    };
    let head = cells(&table.columns, "th");
    let row = |row: &Vec<String>| format!("<tr>{}</tr>\n", cells(row, "td"));
    let rows: String = table.rows.iter().map(row).collect();
    format!("<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody></table>")
}

/// Whether a column holds numbers only: these are aligned right.
fn is_numeric(rows: &[Vec<String>], column: usize) -> bool {
    let is_number = |cell: &str| cell.replace('−', "-").parse::<f64>().is_ok();
    let mut cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.trim());
    cells.all(|cell| matches!(cell, "" | "–" | "-" | "—") || is_number(cell))
}

/// How many readings agree, in one line.
pub(super) fn readings_line(readings: &Readings) -> String {
    let Readings { total, within, named_outliers: named, .. } = readings;
    let all = count(*total, "reading");
    let mut line = format!("<strong>{within} of {all}</strong> off the printed figure match");
    let beyond = readings.beyond();
    if beyond > 0 {
        line += &format!("; <strong class=\"fails\">{beyond} beyond</strong>");
    }
    if *named > 0 {
        line += &format!("; {}, named below", count(*named, "known outlier"));
    }
    if !readings.largest.is_empty() {
        line += &format!("; largest deviation {}", escape(&readings.largest));
    }
    let class = if beyond > 0 { "readings bad" } else { "readings" };
    format!("<div class=\"{class}\"><p>{line}.</p>\n{}</div>\n", outliers(&readings.rows))
}

/// The readings that do not agree, those with the same explanation together.
fn outliers(rows: &[ReadingRow]) -> String {
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
pub(super) fn readings_table(readings: &Readings, title: &str) -> String {
    if readings.rows.is_empty() {
        return String::new();
    }
    let heads = ["mechanism", "at", "quantity"].map(|head| format!("<th>{head}</th>")).concat();
    let numbers = ["read", "±", "computed", "deviation", "allowed", "s.e."];
    let numbers = numbers.map(|head| format!("<th class=\"n\">{head}</th>")).concat();
    let rows: String = readings.rows.iter().map(reading_row).collect();
    let table = format!(
        "<table>\n<thead><tr>{heads}{numbers}<th>verdict</th><th>note</th></tr></thead>\n\
         <tbody>\n{rows}</tbody></table>"
    );
    let criterion = if readings.criterion.is_empty() {
        String::new()
    } else {
        format!("<p class=\"criterion\">{}</p>\n", escape(&readings.criterion))
    };
    let summary = format!(
        "Readings: {} <span class=\"faint\">({} rows)</span>",
        escape(title),
        readings.rows.len()
    );
    fold(&summary, &(criterion + &scroll("readings", &table)), readings.beyond() > 0)
}

fn reading_row(row: &ReadingRow) -> String {
    let class = match Agreement::of(row) {
        Agreement::Within => "",
        Agreement::Named => " class=\"named\"",
        Agreement::Beyond => " class=\"beyond\"",
    };
    let words = [&row.mechanism, &row.at, &row.quantity];
    let words: String = words.iter().map(|word| format!("<td>{}</td>", escape(word))).collect();
    let given = [row.read, row.error, row.computed, row.deviation].map(Some);
    let values = given.into_iter().chain([row.allowed, row.z]);
    let cell = |value: Option<f64>| {
        format!("<td class=\"n\">{}</td>", value.map_or(String::new(), number))
    };
    let values: String = values.map(cell).collect();
    let (verdict, note) = (Agreement::of(row).label(), escape(&row.note));
    format!("<tr{class}>{words}{values}<td>{verdict}</td><td class=\"note\">{note}</td></tr>\n")
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
        assert!(!table(&of(SHORT), Some("as defined")).contains("<details>"));
        assert!(table(&of(SHORT + 1), Some("as defined")).contains("<summary>c, as defined <span"));
        assert_eq!(table(&of(0), Some("as defined")), "");
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
        assert!(readings_table(&readings, "a").starts_with("<details open>"));
        assert!(readings_line(&readings).contains("1 beyond"));
        let readings = Readings::new("", vec![ReadingRow { note: "why".into(), ..row }]);
        assert!(readings_table(&readings, "a").starts_with("<details>"));
        assert!(readings_line(&readings).contains("1 known outlier, named below"));
    }
}
