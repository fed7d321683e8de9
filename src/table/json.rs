//! The tables for other programs, as JSON: vectors are lists, numbers are numbers, an infinite one is the text
//! "inf", and a row says its whole setting.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::{SettingRow, csv};

/// A number that may be infinite. JSON has no infinity: that is the text "inf".
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number(pub f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if self.0.is_finite() { to.serialize_f64(self.0) } else { to.collect_str(&self.0) }
    }
}

impl Number {
    /// Writes a number that may be infinite: for a field's `serialize_with`.
    pub fn write<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
        Self(*value).serialize(to)
    }
}

impl JsonSchema for Number {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "number".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A number; an infinite one is a text.",
            "anyOf": [{ "type": "number" }, infinite()],
        })
    }
}

/// What stands for an infinite number.
fn infinite() -> Value {
    json!({ "enum": ["inf", "-inf"] })
}

/// All tables as JSON, by their names.
#[derive(Serialize)]
#[serde(transparent)]
pub struct JsonTables(pub(super) BTreeMap<&'static str, Vec<JsonRow>>);

/// Rows as JSON, by the names of their columns.
pub(super) type JsonRow = Map<String, Value>;

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

/// The schema of a table that has such rows.
pub(super) fn table_schema<T: JsonSchema>(table: &str, to: &mut SchemaGenerator) -> Value {
    let mut properties = columns::<T>(to);
    if properties.contains_key("setting") && !LONG.contains(&table) {
        let setting = columns::<SettingRow>(to).into_iter();
        properties.extend(setting.filter(|(name, _)| OF_SETTING.contains(&name.as_str())));
    }
    let required: Vec<&String> = properties.keys().collect();
    let row = json!({ "type": "object", "required": required, "properties": properties });
    json!({ "type": "array", "items": row })
}

/// The schema of every column of a row as JSON has it.
fn columns<T: JsonSchema>(to: &mut SchemaGenerator) -> Map<String, Value> {
    let mut row = T::json_schema(to);
    let Some(Value::Object(mut columns)) = row.remove("properties") else { return Map::new() };
    for (name, schema) in &mut columns {
        let Value::Object(schema) = schema else { continue };
        schema.remove("format");
        match schema.remove("type") {
            _ if VECTORS.contains(&name.as_str()) => {
                schema.insert("type".to_owned(), json!("array"));
                schema.insert("items".to_owned(), json!({ "type": "number" }));
            }
            _ if name == CANDIDATES => {
                schema.insert("type".to_owned(), json!("number"));
            }
            Some(kind) if kind == "number" || kind == json!(["number", "null"]) => {
                schema.insert("anyOf".to_owned(), json!([{ "type": kind }, infinite()]));
            }
            Some(kind) => {
                schema.insert("type".to_owned(), kind);
            }
            None => {}
        }
    }
    columns
}

/// "6;6;0" as a list of numbers.
fn vector(text: &str) -> Value {
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
) -> JsonTables {
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
    JsonTables(tables.into_iter().map(table).collect())
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
        let JsonTables(json) = tables.json();
        assert_eq!(json["settings"][0]["candidates"], 13);
        let row = &json["means"][0];
        assert_eq!(row["prior"], json!([1, 0.5]));
        assert_eq!((&row["counts"], &row["n"]), (&json!([5, 7]), &json!(12)));
        assert_eq!((&row["mean"], &row["delta"]), (&json!("inf"), &Value::Null));
        assert_eq!(row.keys().next().map(String::as_str), Some("setting"));
        assert!(json["summary"].is_empty());
    }
}
