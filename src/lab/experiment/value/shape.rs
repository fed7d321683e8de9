//! What values may be, as parts of the JSON Schema.

use serde_json::{Map, Value, json};

/// `value` with words for people.
pub fn about(mut value: Value, description: &str) -> Value {
    value["description"] = description.into();
    value
}

pub fn or_default(mut value: Value, default: impl Into<Value>) -> Value {
    value["default"] = default.into();
    value
}

pub fn reference(definition: &str) -> Value {
    json!({ "$ref": format!("#/definitions/{definition}") })
}

/// A text of one line that is not blank.
pub fn label() -> Value {
    json!({ "type": "string", "pattern": r"^[^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f][^\x00-\x1f\x7f]*$" })
}

/// The name of a folder: letters of any language, digits, `_`, `-`, `.` and `=`, not hidden.
pub fn folder_name() -> Value {
    let (inside, first) = (r"\x00-,/:-<>-@\[-^`{-\x7f", ".");
    json!({ "type": "string", "pattern": format!("^[^{first}{inside}][^{inside}]{{0,99}}$") })
}

pub fn whole(least: u64, most: u64) -> Value {
    json!({ "type": "integer", "minimum": least, "maximum": most })
}

pub fn list(item: &Value) -> Value {
    json!({ "type": "array", "minItems": 1, "items": item })
}

pub fn one_or_list(item: Value) -> Value {
    json!({ "anyOf": [item, list(&item)] })
}

/// One number, a list or a range of them.
pub fn numbers(number: Value) -> Value {
    json!({ "anyOf": [number, list(&number), reference("range")] })
}

pub fn sizes(most: u64) -> Value {
    let number = whole(0, most);
    let numbers = json!({ "anyOf": [number, list(&number), reference("whole_range")] });
    about(numbers, "Numbers of records: one, a list, or a range.")
}

/// A positive number that is neither too small nor too large to compute with.
pub fn positive() -> Value {
    json!({ "type": "number", "minimum": 1e-100, "maximum": 1e100 })
}

pub fn gamma() -> Value {
    json!({ "type": "number", "minimum": 0, "maximum": 1e100 })
}

/// One of several names, each with what it means.
pub fn named<'a>(all: impl IntoIterator<Item = (&'a str, &'a str)>) -> Value {
    let (names, meanings): (Vec<&str>, Vec<&str>) = all.into_iter().unzip();
    json!({ "type": "string", "enum": names, "x-taplo": { "docs": { "enumValues": meanings } } })
}

pub fn object(properties: Map<String, Value>, required: &[&str]) -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": required,
        "properties": properties,
    })
}

pub fn keys<const N: usize>(entries: [(&str, Value); N]) -> Map<String, Value> {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}
