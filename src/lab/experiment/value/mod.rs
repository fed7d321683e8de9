//! The values of a config: how they are read, what they may be, and how they are written again.

mod node;
pub mod shape;

pub use node::{Later, Node, Table, Text, formula_cause, is_formula};

use serde_json::{Value as Json, json};
use toml::Value;

use engine::named::Named;
use engine::posterior::metric::{self, Metric};
use engine::posterior::model::MOST_RECORDS;
use system::diagnostic::Diagnostic;
use table::Whiskers;

/// The value of a key.
pub trait KeyValue: Sized {
    /// Where the key is not set.
    const ABSENT: Self;

    /// Reads it from a config.
    fn read(node: &Node) -> Result<Self, Diagnostic>;

    /// What it may be.
    fn schema() -> Json;

    /// For the resolved config; `None` if the key is left out.
    fn write(&self) -> Option<Value>;
}

/// A part of a value: alone, or one of a list.
pub trait Element: Sized {
    /// Reads it from a config.
    fn read(node: &Node) -> Result<Self, Diagnostic>;

    /// What it may be.
    fn schema() -> Json;

    /// For the resolved config.
    fn write(&self) -> Value;
}

impl<T: Element> KeyValue for Option<T> {
    const ABSENT: Self = None;

    fn read(node: &Node) -> Result<Self, Diagnostic> {
        T::read(node).map(Some)
    }

    fn schema() -> Json {
        T::schema()
    }

    fn write(&self) -> Option<Value> {
        self.as_ref().map(T::write)
    }
}

/// One or several; if absent, none.
impl<T: Element> KeyValue for Vec<T> {
    const ABSENT: Self = Vec::new();

    fn read(node: &Node) -> Result<Self, Diagnostic> {
        node.one_or_list()?.iter().map(T::read).collect()
    }

    fn schema() -> Json {
        shape::one_or_list(T::schema())
    }

    fn write(&self) -> Option<Value> {
        (!self.is_empty()).then(|| self.iter().map(T::write).collect::<Vec<_>>().into())
    }
}

impl KeyValue for bool {
    const ABSENT: Self = false;

    fn read(node: &Node) -> Result<Self, Diagnostic> {
        node.boolean()
    }

    fn schema() -> Json {
        shape::or_default(json!({ "type": "boolean" }), false)
    }

    fn write(&self) -> Option<Value> {
        Some((*self).into())
    }
}

impl KeyValue for Whiskers {
    const ABSENT: Self = Self::Iqr(1.5);

    fn read(node: &Node) -> Result<Self, Diagnostic> {
        match node.is_string() {
            true => node.one_of(&[("range", Self::Range)]),
            false => positive(node).map(Self::Iqr),
        }
    }

    fn schema() -> Json {
        shape::or_default(json!({ "anyOf": [shape::positive(), { "const": "range" }] }), 1.5)
    }

    fn write(&self) -> Option<Value> {
        Some(match self {
            Self::Range => "range".into(),
            Self::Iqr(factor) => (*factor).into(),
        })
    }
}

/// [from, to], from < to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval(pub f64, pub f64);

impl Element for Interval {
    fn read(node: &Node) -> Result<Self, Diagnostic> {
        let ends = node.list()?.iter().map(Node::finite).collect::<Result<Vec<_>, _>>()?;
        match ends[..] {
            [from, to] if from < to => Ok(Self(from, to)),
            _ => Err(node
                .wrong(format!("`{}` must be two numbers, the smaller first", node.key()))
                .help("write for example [0, 0.1]")),
        }
    }

    fn schema() -> Json {
        let number = json!({ "type": "number" });
        json!({ "type": "array", "minItems": 2, "maxItems": 2, "items": number })
    }

    fn write(&self) -> Value {
        vec![self.0, self.1].into()
    }
}

/// A number that is neither too small nor too large to compute with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Positive(pub f64);

impl Element for Positive {
    fn read(node: &Node) -> Result<Self, Diagnostic> {
        positive(node).map(Self)
    }

    fn schema() -> Json {
        shape::positive()
    }

    fn write(&self) -> Value {
        self.0.into()
    }
}

/// A number of records or steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count(pub u64);

impl Element for Count {
    fn read(node: &Node) -> Result<Self, Diagnostic> {
        size(node).map(Self)
    }

    fn schema() -> Json {
        shape::whole(0, MOST_RECORDS)
    }

    fn write(&self) -> Value {
        whole(self.0)
    }
}

impl Element for String {
    fn read(node: &Node) -> Result<Self, Diagnostic> {
        node.string().map(str::to_owned)
    }

    fn schema() -> Json {
        json!({ "type": "string" })
    }

    fn write(&self) -> Value {
        self.clone().into()
    }
}

impl Element for Metric {
    fn read(node: &Node) -> Result<Self, Diagnostic> {
        metric::find(node.string()?).map_err(|unfit| node.wrong(unfit.cause).help(unfit.remedy))
    }

    fn schema() -> Json {
        shape::reference("metric")
    }

    fn write(&self) -> Value {
        self.id().into()
    }
}

/// A thing with a name that is a value of a key.
pub trait NamedValue: Named {}

impl<T: NamedValue> Element for T {
    fn read(node: &Node) -> Result<Self, Diagnostic> {
        let known: Vec<(&str, T)> = T::ALL.iter().map(|&one| (one.id(), one)).collect();
        node.one_of(&known)
    }

    fn schema() -> Json {
        shape::named(T::ALL.iter().map(|one| (one.id(), one.title())))
    }

    fn write(&self) -> Value {
        self.id().into()
    }
}

/// A positive number that does not overflow when it meets the smallest ε or sensitivity.
pub fn positive(node: &Node) -> Result<f64, Diagnostic> {
    let value = node.number()?;
    if (1e-100..=1e100).contains(&value) {
        return Ok(value);
    }
    let cause = format!("`{}` is {value:?}, but it must lie between 1e-100 and 1e100", node.key());
    Err(node.wrong(cause).help("write for example 1.5"))
}

/// A number that records can have.
pub fn size(node: &Node) -> Result<u64, Diagnostic> {
    checked_size(node, node.whole()?)
}

pub fn checked_size(node: &Node, size: u64) -> Result<u64, Diagnostic> {
    if size > MOST_RECORDS {
        return Err(node
            .wrong(format!("{size} records are more than dpbi can count"))
            .help(format!("use at most {MOST_RECORDS}")));
    }
    Ok(size)
}

/// Counts, runs and seeds all lie in TOML's range: the config reader sees to it.
pub fn whole(value: u64) -> Value {
    Value::Integer(i64::try_from(value).unwrap_or(i64::MAX))
}
