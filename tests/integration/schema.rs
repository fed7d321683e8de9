//! `dpbi generate schema`: the same keys as the reader of configs knows, right about every bundled config,
//! and not content with broken ones.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::common::{Sandbox, refused, root};
use regex_lite::Regex;
use serde_json::{Value, json};

const FILE: &str = "configs/dpbi.schema.json";

fn schema() -> Value {
    lab::experiment::config::schema()
}

/// What is wrong with `value`, by the keywords of draft 7 that the schema uses. An unknown keyword is
/// an error: it would not be checked.
pub fn complaints(schema: &Value, value: &Value, whole: &Value) -> Vec<String> {
    let mut found = Vec::new();
    let Value::Object(keywords) = schema else {
        return if schema == &json!(false) { vec!["never".to_owned()] } else { Vec::new() };
    };
    let valid = |schema: &Value| complaints(schema, value, whole).is_empty();
    let number = value.as_f64();
    let length = match value {
        Value::String(text) => Some(text.len()),
        Value::Array(items) => Some(items.len()),
        Value::Object(table) => Some(table.len()),
        _ => None,
    };
    for (keyword, rule) in keywords {
        let holds = match keyword.as_str() {
            "$schema" | "title" | "description" | "default" | "x-taplo" | "definitions"
            | "then" | "else" => true,
            "$ref" => {
                let pointer = rule.as_str().unwrap().strip_prefix('#').unwrap();
                found.extend(complaints(whole.pointer(pointer).unwrap(), value, whole));
                true
            }
            "type" => {
                let one = std::slice::from_ref(rule);
                let types = rule.as_array().map_or(one, Vec::as_slice).iter();
                types.map(|one| one.as_str().unwrap()).any(|one| is_of_type(value, one))
            }
            "enum" => rule.as_array().unwrap().contains(value),
            "const" => rule == value,
            "oneOf" => rule.as_array().unwrap().iter().filter(|one| valid(one)).count() == 1,
            "anyOf" => rule.as_array().unwrap().iter().any(valid),
            "allOf" => {
                let all = rule.as_array().unwrap().iter();
                found.extend(all.flat_map(|one| complaints(one, value, whole)));
                true
            }
            "not" => !valid(rule),
            "if" => {
                let branch = if valid(rule) { "then" } else { "else" };
                let branch = keywords.get(branch).unwrap_or(&Value::Bool(true));
                found.extend(complaints(branch, value, whole));
                true
            }
            "minimum" => number.is_none_or(|number| number >= rule.as_f64().unwrap()),
            "maximum" => number.is_none_or(|number| number <= rule.as_f64().unwrap()),
            "exclusiveMinimum" => number.is_none_or(|number| number > rule.as_f64().unwrap()),
            "exclusiveMaximum" => number.is_none_or(|number| number < rule.as_f64().unwrap()),
            "minLength" | "minItems" | "minProperties" => {
                length.is_none_or(|length| length as u64 >= rule.as_u64().unwrap())
            }
            "maxItems" | "maxProperties" => {
                length.is_none_or(|length| length as u64 <= rule.as_u64().unwrap())
            }
            "pattern" => {
                let pattern = Regex::new(rule.as_str().unwrap()).unwrap();
                value.as_str().is_none_or(|text| pattern.is_match(text))
            }
            "items" => {
                let items = value.as_array().into_iter().flatten().enumerate();
                // One rule for all of them, or one for each.
                let rule = |place| rule.get(place).unwrap_or(rule);
                found.extend(items.flat_map(|(i, item)| complaints(rule(i), item, whole)));
                true
            }
            "required" => value.as_object().is_none_or(|table| {
                rule.as_array().unwrap().iter().all(|key| table.contains_key(key.as_str().unwrap()))
            }),
            "propertyNames" => {
                let names = value.as_object().into_iter().flat_map(|table| table.keys());
                let wrong = |name: &String| complaints(rule, &json!(name), whole);
                found.extend(names.flat_map(wrong));
                true
            }
            "properties" => {
                for (key, inner) in value.as_object().into_iter().flatten() {
                    found.extend(rule.get(key).map_or(vec![], |r| complaints(r, inner, whole)));
                }
                true
            }
            "additionalProperties" => {
                let known = keywords.get("properties").and_then(Value::as_object);
                let is_known = |key| known.is_some_and(|known| known.contains_key(key));
                let table = value.as_object().into_iter().flatten();
                let others: Vec<_> = table.filter(|(key, _)| !is_known(*key)).collect();
                match rule.as_bool() {
                    Some(allowed) => allowed || others.is_empty(),
                    None => {
                        let wrong = |(_, inner): &(&String, &Value)| complaints(rule, inner, whole);
                        found.extend(others.iter().flat_map(wrong));
                        true
                    }
                }
            }
            other => panic!("the schema uses the keyword {other}, which is not checked here"),
        };
        if !holds {
            found.push(format!("{keyword} {rule}: {value}"));
        }
    }
    found
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.is_u64() || value.is_i64(),
        "null" => value.is_null(),
        other => panic!("unknown type {other}"),
    }
}

fn judge(text: &str) -> Vec<String> {
    let table: toml::Table = text.parse().unwrap();
    let schema = schema();
    complaints(&schema, &serde_json::to_value(table).unwrap(), &schema)
}

fn bundled() -> Vec<PathBuf> {
    let paths = system::source::bundled_configs();
    paths.iter().map(|path| root().join(path)).collect()
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn the_file_beside_the_configs_is_the_schema() {
    let printed = Sandbox::new().succeed(&["generate", "schema"]);
    assert!(
        printed == read(&root().join(FILE)),
        "write it again: cargo run -- generate schema > {FILE}"
    );
    assert_eq!(serde_json::from_str::<Value>(&printed).unwrap(), schema());
}

#[test]
fn every_bundled_config_names_the_schema_and_obeys_it() {
    for path in bundled() {
        let text = read(&path);
        let line = text.lines().next().unwrap();
        let named = line.strip_prefix("#:schema ").unwrap_or_else(|| panic!("{}", path.display()));
        assert!(named.starts_with('.'), "{}: {line}", path.display());
        let found = path.parent().unwrap().join(named).canonicalize().unwrap();
        assert_eq!(found, root().join(FILE).canonicalize().unwrap(), "{}", path.display());
        assert_eq!(judge(&text), [""; 0], "{}", path.display());
    }
}

#[test]
fn what_was_run_obeys_the_schema() {
    let configs =
        ["beta_balanced", "real_data", "papers/icml/fig1", "open_questions/phase_n_prior"];
    for named in configs {
        let source = system::source::Source::config(named).unwrap();
        let experiment = lab::experiment::config::load(&source, &Default::default()).unwrap();
        assert_eq!(judge(&lab::experiment::config::resolve(&experiment)), [""; 0], "{named}");
    }
}

const CONFIG: &str = "name = \"x\"\nseed = 1\nprior = [1, 1]\nepsilon = 1\n\
    mechanisms = [\"ehds\", { id = \"ehdl\", divisor = 1 }]\n[data.balanced]\nsizes = [10]\n";

/// Changes to [`CONFIG`] that the reader refuses with these words, and the schema as well.
const BROKEN: [(&str, &str, &str); 39] = [
    ("epsilon", "epsilno", "did you mean `epsilon`?"),
    ("name = \"x\"\n", "", "`name` is missing"),
    ("\"x\"", "\".hidden\"", "cannot be the name"),
    ("\"x\"", "\"a/b\"", "cannot be the name"),
    ("\"x\"", "\"\"", "cannot be the name"),
    ("\"x\"", "3", "`name`"),
    ("seed = 1", "seed = -1", "`seed`"),
    ("seed = 1", "seed = 1.5", "`seed`"),
    ("seed = 1", "runs = 0", "`runs` is 0"),
    ("seed = 1", "title = \" \"", "`title`"),
    ("seed = 1", "kind = \"acuracy\"", "did you mean `accuracy`?"),
    ("seed = 1", "distance = \"helinger\"", "did you mean `hellinger`?"),
    ("seed = 1", "distance = \"renyi:x\"", "renyi:0.5"),
    ("seed = 1", "metrics = [\"l3\"]", "`l3`"),
    ("seed = 1", "metrics = [\"tv_uper\"]", "did you mean `tv_upper`?"),
    ("seed = 1", "delta = 1", "delta is 1"),
    ("seed = 1", "gamma = -1", "gamma is -1"),
    ("seed = 1", "outliers = \"no\"", "`outliers`"),
    ("seed = 1", "whiskers = \"rnage\"", "did you mean `range`?"),
    ("seed = 1", "view = [0, 1]", "`view`"),
    ("seed = 1", "figures = [\"boks\"]", "did you mean `box`?"),
    ("seed = 1", "kind = \"theory\"\nfigures = [\"box\"]", "`figures`"),
    ("seed = 1", "kind = \"sensitivity\"", "compares no mechanisms"),
    ("[1, 1]", "[1]", "at least two categories"),
    ("[1, 1]", "[1, 0]", "parameter 2"),
    ("[1, 1]", "1", "`prior`"),
    ("[1, 1]", "{ from = 1, to = 2, count = 3 }", "`k` is missing"),
    ("epsilon = 1", "epsilon = 0", "epsilon is 0"),
    ("epsilon = 1", "epsilon = []", "empty list"),
    ("= 1\nmech", "= { from = 1, to = 2 }\nmech", "`count` is missing"),
    ("= 1\nmech", "= { from = 1, to = 2, count = 1 }\nmech", "cannot have 1 numbers"),
    ("[10]", "{ from = 1, to = 9, count = 3, spacing = \"lgo\" }", "did you mean `log`?"),
    ("\"ehds\"", "\"edhs\"", "did you mean `ehds`?"),
    ("\"ehds\"", "\"ehds+remap\"", "remap = true"),
    ("divisor = 1", "gamma = 1", "its options are divisor"),
    ("divisor = 1", "divisor = 0", "`divisor` is 0"),
    ("[data.balanced]", "[data.balancd]", "did you mean `balanced`?"),
    ("sizes = [10]", "sizes = [-1]", "whole number"),
    ("sizes = [10]", "sizes = [10]\n[data.line]\nsizes = [10]", "more than one source"),
];

/// Other changes that the reader refuses. The schema need not.
const MISSPELT: [(&str, &str, &str); 9] = [
    ("\"ehds\"", "\"edhs+remap\"", "did you mean `ehds`?"),
    ("divisor", "divisro", "did you mean `divisor`?"),
    ("[10]", "{ from = 1, to = 9, count = 3, spacng = \"log\" }", "did you mean `spacing`?"),
    ("seed = 1", "readings = \"icml-fg4\"", "did you mean `icml-fig4`?"),
    ("seed = 1", "kind = \"privacy\"\nscope = \"corner\"", "did you mean `corners`?"),
    ("seed = 1", "kind = \"sensitivity\"\nsensitivities = [\"locl\"]", "did you mean `local`?"),
    (
        "[data.balanced]\nsizes = [10]",
        "data.file.path = \"tabel.csv\"",
        "did you mean `table.csv`?",
    ),
    (
        "[data.balanced]\nsizes = [10]",
        "data.file = { path = \"table.csv\", column = \"anwser\" }",
        "did you mean `answer`?",
    ),
    (
        "[data.balanced]\nsizes = [10]",
        "data.file = { path = \"table.csv\", column = \"answer\", categories = [\"yse\", \"no\"] }",
        "did you mean `yse`?",
    ),
];

#[test]
fn broken_configs_are_refused_by_the_schema_as_by_the_reader() {
    let sandbox = Sandbox::new();
    sandbox.write("table.csv", "id,answer\n1,yes\n2,no\n");
    sandbox.write("right.toml", CONFIG).succeed(&["check", "right.toml"]);
    assert_eq!(judge(CONFIG), [""; 0]);
    for (place, (right, wrong, words)) in BROKEN.into_iter().chain(MISSPELT).enumerate() {
        assert!(CONFIG.contains(right), "{right}");
        let text = CONFIG.replacen(right, wrong, 1);
        assert!(place >= BROKEN.len() || !judge(&text).is_empty(), "the schema accepts {wrong}");
        refused(&sandbox.write("wrong.toml", &text).dpbi(&["check", "wrong.toml"]), words);
    }
}

/// Configs with an unknown key in every kind of table, and where the schema describes that table.
const TABLES: [(&str, &str); 13] = [
    ("zzzzzzzzzzzzzzzz = 1\n", ""),
    ("name = \"x\"\n[[panel]]\nzzzzzzzzzzzzzzzz = 1\nid = \"a\"\n", "/definitions/panel"),
    (
        "epsilon = { zzzzzzzzzzzzzzzz = 1 }\nname = \"x\"\nprior = [1, 1]\nmechanisms = \"ehd\"\n\
         data.line.sizes = 1\n",
        "/definitions/range",
    ),
    (
        "epsilon = 1\nname = \"x\"\nprior = { k = 2, zzzzzzzzzzzzzzzz = 1 }\nmechanisms = \"ehd\"\n\
         data.line.sizes = 1\n",
        "/definitions/prior_range",
    ),
    (
        "epsilon = 1\nname = \"x\"\nprior = [1, 1]\nmechanisms = { zzzzzzzzzzzzzzzz = 1 }\n\
         data.line.sizes = 1\n",
        "/definitions/listed_mechanism/anyOf/1",
    ),
    ("DATA.zzzzzzzzzzzzzzzz = 1\n", "/definitions/data"),
    ("DATA.balanced.zzzzzzzzzzzzzzzz = 1\n", "/definitions/data/properties/balanced"),
    ("DATA.counts.zzzzzzzzzzzzzzzz = 1\n", "/definitions/data/properties/counts"),
    ("DATA.file.zzzzzzzzzzzzzzzz = 1\n", "/definitions/data/properties/file"),
    ("DATA.line.zzzzzzzzzzzzzzzz = 1\n", "/definitions/data/properties/line"),
    ("DATA.shares.zzzzzzzzzzzzzzzz = 1\n", "/definitions/data/properties/shares"),
    ("DATA.predictive.zzzzzzzzzzzzzzzz = 1\n", "/definitions/data/properties/predictive"),
    ("DATA.line.sizes.zzzzzzzzzzzzzzzz = 1\n", "/definitions/whole_range"),
];

#[test]
fn the_schema_has_the_keys_that_the_reader_knows() {
    let sandbox = Sandbox::new();
    let base = "name = \"x\"\nprior = [1, 1]\nepsilon = 1\nmechanisms = \"ehd\"\ndata";
    for (text, place) in TABLES {
        let text = text.replace("DATA", base);
        let outcome = sandbox.write("odd.toml", &text).dpbi(&["check", "odd.toml"]);
        // The complaint about an unknown key lists those that are known.
        let known = outcome.stderr.split("known: ").nth(1).unwrap_or_else(|| {
            panic!("{place}: {}", outcome.stderr);
        });
        let known: BTreeSet<&str> = known.trim().trim_end_matches(')').split(", ").collect();
        let schema = schema();
        let table = schema.pointer(place).unwrap();
        let described = table["properties"].as_object().unwrap();
        let described: BTreeSet<&str> = described.keys().map(String::as_str).collect();
        assert_eq!(described, known, "{place}");
        assert_eq!(table["additionalProperties"], false, "{place}");
    }
    let sources = schema();
    let sources = sources["definitions"]["data"]["properties"].as_object().unwrap();
    let asked = TABLES.iter().filter(|(_, place)| place.starts_with("/definitions/data/"));
    assert_eq!(sources.len(), asked.count());
}

#[test]
fn every_key_of_the_schema_is_described() {
    fn walk(value: &Value, path: &str, schema: &Value) {
        if let Some(properties) = value.get("properties").and_then(Value::as_object) {
            for (key, inner) in properties.iter().filter(|_| value.get("type").is_some()) {
                let named = inner.get("$ref").and_then(Value::as_str);
                let inner = named.map_or(inner, |name| schema.pointer(&name[1..]).unwrap());
                let described = inner.get("description").is_some() || key == "spacing";
                assert!(described, "{path}/{key}");
                walk(inner, &format!("{path}/{key}"), schema);
            }
        }
    }
    let schema = schema();
    walk(&schema, "", &schema);
    walk(&schema["definitions"]["panel"], "panel", &schema);
    walk(&schema["definitions"]["listed_mechanism"]["anyOf"][1], "mechanism", &schema);
}
