//! The tables for other programs, as JSON: vectors are lists, numbers are numbers, an infinite one is the text
//! "inf", and a row says its whole setting.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{SettingRow, csv};

/// Rows as JSON, by the names of their columns.
pub type JsonRow = Map<String, Value>;

/// The columns that hold vectors.
const VECTORS: &[&str] =
    &["prior", "counts", "from", "to", "output", "released", "candidate", "neighbour"];

/// A column of whole numbers that may be larger than 64 bits hold.
const CANDIDATES: &str = "candidates";

/// The columns of a setting that its rows in other tables have, too.
const OF_SETTING: &[&str] = &["n", "k", "epsilon", "delta", "gamma", "prior", "counts"];

/// The tables with so many rows for each setting that these do not repeat it.
const LONG: &[&str] = &["theory", "optimal", "change"];

/// The rows of one table.
pub(super) fn rows<T: Serialize>(rows: &[T]) -> Vec<JsonRow> {
    let written = csv(rows);
    let mut reader = csv::Reader::from_reader(&written[..]);
    let row = |(row, record): (&T, Result<csv::StringRecord, _>)| {
        let Ok(Value::Object(row)) = serde_json::to_value(row) else { return JsonRow::new() };
        let cells = record.unwrap_or_default();
        let value = |(cell, (name, value)): (usize, (String, Value))| {
            let text = cells.get(cell).unwrap_or_default();
            let value = match value {
                // JSON has no infinity.
                Value::Null if text.ends_with("inf") => json!(text),
                Value::String(text) if VECTORS.contains(&name.as_str()) => vector(&text),
                Value::String(text) if name == CANDIDATES => number(&text),
                other => other,
            };
            (name, value)
        };
        row.into_iter().enumerate().map(value).collect()
    };
    rows.iter().zip(reader.records()).map(row).collect()
}

/// "6;6;0" as a list of numbers.
pub(super) fn vector(text: &str) -> Value {
    text.split(';').map(number).collect()
}

fn number(text: &str) -> Value {
    let whole = text.parse::<u64>().map(Value::from);
    whole.or_else(|_| text.parse::<f64>().map(Value::from)).unwrap_or(Value::Null)
}

/// Adds to the rows of all tables what their settings are.
pub(super) fn with_settings(
    tables: Vec<(&'static str, Vec<JsonRow>)>,
    settings: &[SettingRow],
) -> BTreeMap<&'static str, Vec<JsonRow>> {
    let known: BTreeMap<u64, JsonRow> =
        settings.iter().map(|row| row.setting as u64).zip(rows(settings)).collect();
    let whole = |row: JsonRow| {
        let setting = row.get("setting").and_then(Value::as_u64).and_then(|one| known.get(&one));
        let Some(setting) = setting else { return row };
        let mut entries = row.into_iter();
        let mut whole: JsonRow = entries.by_ref().take(1).collect();
        let columns = OF_SETTING.iter().filter_map(|&name| Some((name, setting.get(name)?)));
        whole.extend(columns.map(|(name, value)| (name.to_owned(), value.clone())));
        // A row's own column of the same name, such as ε, holds the same.
        whole.extend(entries);
        whole
    };
    let table = |(name, rows): (&'static str, Vec<JsonRow>)| match LONG.contains(&name) {
        true => (name, rows),
        false => (name, rows.into_iter().map(whole).collect()),
    };
    tables.into_iter().map(table).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MeanRow, Tables};

    #[test]
    fn rows_say_their_setting_in_numbers() {
        let setting = SettingRow {
            setting: 3,
            k: 2,
            n: 12,
            prior: "1;0.5".into(),
            counts: "5;7".into(),
            epsilon: 1.0,
            delta: None,
            gamma: 1.0,
            candidates: "13".into(),
            local: 0.5,
            global: 0.5,
            gamma_smooth: 0.5,
            beta_smooth: None,
        };
        let mean = MeanRow { setting: 3, mechanism: "ehd".into(), mean: f64::INFINITY };
        let tables = Tables { settings: vec![setting], means: vec![mean], ..Tables::default() };
        let json = tables.json();
        assert_eq!(json["settings"][0]["candidates"], 13);
        let row = &json["means"][0];
        assert_eq!(row["prior"], json!([1, 0.5]));
        assert_eq!((&row["counts"], &row["n"]), (&json!([5, 7]), &json!(12)));
        assert_eq!((&row["mean"], &row["delta"]), (&json!("inf"), &Value::Null));
        assert_eq!(row.keys().next().map(String::as_str), Some("setting"));
        assert!(json["summary"].is_empty());
    }
}
