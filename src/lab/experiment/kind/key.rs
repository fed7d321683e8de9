//! The keys of a config that only some kinds understand.
//!
//! A kind lists its keys once, with `kind!`: name, type, meaning. The parser, the JSON Schema and
//! the resolved config all come from that list.

use std::sync::Arc;

use serde_json::Value as Json;
use toml::Table;

use super::{ALL, Kind};
use crate::experiment::value::Node;
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
                Self { $($field: <$value as $crate::experiment::value::KeyValue>::ABSENT,)* };
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
                    schema: <$value as $crate::experiment::value::KeyValue>::schema,
                },)*]
            }

            fn configured(
                &self,
                values: &[$crate::experiment::value::Node],
            ) -> Result<
                std::sync::Arc<dyn $crate::experiment::kind::Kind>,
                system::diagnostic::Diagnostic,
            > {
                // Some kinds have no keys.
                #[allow(unused_mut)]
                let mut kind = Self::NEW;
                for value in values {
                    match value.key() {
                        $($name => kind.$field = $crate::experiment::value::KeyValue::read(value)?,)*
                        _ => {}
                    }
                }
                Ok(std::sync::Arc::new(kind))
            }

            fn resolved(&self) -> toml::Table {
                let values = [
                    $(($name, $crate::experiment::value::KeyValue::write(&self.$field)),)*
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
