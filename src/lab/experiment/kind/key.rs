//! The keys of a config that only some kinds understand.
//!
//! A kind lists its keys once, with `kind!`: name, type, meaning. The parser, the JSON Schema and
//! the resolved config all come from that list.

use std::sync::Arc;

use serde_json::{Value as Json, json};
use toml::{Table, Value};

use super::{ALL, Kind};
use crate::experiment::config::node::Node;
use crate::experiment::config::schema::{
    named, one_or_list, or_default, positive, reference, whole,
};
use crate::experiment::config::{self, data};
use crate::experiment::stats::Whiskers;
use engine::posterior::metric::{self, Metric};
use engine::posterior::model::MOST_RECORDS;
use system::diagnostic::Diagnostic;

/// A key of a kind.
pub struct Key {
    pub name: &'static str,
    pub about: &'static str,
    /// What its value may be.
    pub schema: fn() -> Json,
}

/// Name, sentence and keys of a kind, as `kind!` implements them.
pub trait Keys {
    /// The name of the kind in a config.
    fn id(&self) -> &'static str;

    /// What the kind computes, in one line.
    fn computes(&self) -> &'static str;

    fn keys(&self) -> &'static [Key];

    /// Sets the key of a value.
    fn set(&mut self, value: &Node) -> Result<(), Diagnostic>;

    /// The kind with the values of these keys.
    fn configured(&self, values: &[Node]) -> Result<Arc<dyn Kind>, Diagnostic>;

    /// The values, as a config would give them.
    fn resolved(&self) -> Table;
}

/// A kind: its name in a config, what it computes, and a struct with one field for each of its keys.
macro_rules! kind {
    (
        $id:literal: $computes:literal;
        $(#[$meta:meta])*
        pub struct $kind:ident {
            $(#[doc = $about:literal] $name:literal => $field:ident: $value:ty,)*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug)]
        pub struct $kind {
            $(#[doc = $about] pub $field: $value,)*
        }

        impl $kind {
            /// The kind without any of its keys.
            pub const NEW: Self =
                Self { $($field: <$value as $crate::experiment::kind::key::KeyValue>::ABSENT,)* };
        }

        impl $crate::experiment::kind::key::Keys for $kind {
            fn id(&self) -> &'static str {
                $id
            }

            fn computes(&self) -> &'static str {
                $computes
            }

            fn keys(&self) -> &'static [$crate::experiment::kind::key::Key] {
                &[$($crate::experiment::kind::key::Key {
                    name: $name,
                    about: $about,
                    schema: <$value as $crate::experiment::kind::key::KeyValue>::schema,
                },)*]
            }

            fn set(
                &mut self,
                value: &$crate::experiment::config::node::Node,
            ) -> Result<(), system::diagnostic::Diagnostic> {
                match value.key() {
                    $($name => {
                        self.$field = $crate::experiment::kind::key::KeyValue::read(value)?;
                    })*
                    _ => {}
                }
                Ok(())
            }

            fn configured(
                &self,
                values: &[$crate::experiment::config::node::Node],
            ) -> Result<
                std::sync::Arc<dyn $crate::experiment::kind::Kind>,
                system::diagnostic::Diagnostic,
            > {
                let mut kind = Self::NEW;
                values.iter().try_for_each(|value| kind.set(value))?;
                Ok(std::sync::Arc::new(kind))
            }

            fn resolved(&self) -> toml::Table {
                let values = [
                    $(($name, $crate::experiment::kind::key::KeyValue::write(&self.$field)),)*
                ] as [(&str, Option<toml::Value>); _];
                let given = values.into_iter().filter_map(|(name, value)| Some((name.into(), value?)));
                given.collect()
            }
        }
    };
}
pub(crate) use kind;

/// The names of the keys of all kinds.
pub fn names() -> Vec<&'static str> {
    let mut names: Vec<&str> =
        ALL.iter().flat_map(|kind| kind.keys()).map(|key| key.name).collect();
    names.sort_unstable();
    names.dedup();
    names
}

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
        one_or_list(T::schema())
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
        or_default(json!({ "type": "boolean" }), false)
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
            false => config::positive(node).map(Self::Iqr),
        }
    }

    fn schema() -> Json {
        or_default(json!({ "anyOf": [positive(), { "const": "range" }] }), 1.5)
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
        config::positive(node).map(Self)
    }

    fn schema() -> Json {
        positive()
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
        data::size(node).map(Self)
    }

    fn schema() -> Json {
        whole(0, MOST_RECORDS)
    }

    fn write(&self) -> Value {
        config::resolved::whole(self.0)
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
        metric::named(node.string()?).map_err(|unfit| node.wrong(unfit.cause).help(unfit.remedy))
    }

    fn schema() -> Json {
        reference("metric")
    }

    fn write(&self) -> Value {
        self.id.into()
    }
}

/// One of several things with names.
pub trait Named: Copy + 'static {
    /// All of them.
    const ALL: &'static [Self];

    /// The name in a config.
    fn id(self) -> &'static str;

    /// What it is, in words.
    fn title(self) -> &'static str;
}

impl<T: Named> Element for T {
    fn read(node: &Node) -> Result<Self, Diagnostic> {
        let known: Vec<(&str, T)> = T::ALL.iter().map(|&one| (one.id(), one)).collect();
        node.one_of(&known)
    }

    fn schema() -> Json {
        named(T::ALL.iter().map(|one| (one.id(), one.title())))
    }

    fn write(&self) -> Value {
        self.id().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_means_the_same_to_every_kind_that_has_it() {
        for name in names() {
            let keys: Vec<&Key> =
                (ALL.iter().flat_map(|kind| kind.keys())).filter(|key| key.name == name).collect();
            for key in &keys {
                assert_eq!(
                    (key.about, (key.schema)()),
                    (keys[0].about, (keys[0].schema)()),
                    "{name}"
                );
            }
        }
    }
}
