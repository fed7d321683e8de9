//! A mechanism as a config asks for it, and its options.

use serde_json::{Value as Json, json};
use toml::Value;

use super::privacy_number;
use crate::experiment::value::{Node, Table, positive, shape};
use engine::mechanism::{Choice, Mechanism, Options, Slot};
use engine::posterior::privacy::Gamma;
use engine::refusal::Refusal;
use system::diagnostic::Diagnostic;

/// A mechanism, and where it was asked for.
pub struct Asked<'a> {
    pub variant: Mechanism,
    pub node: Node<'a>,
    /// Its expression, if it is one of the user's own.
    pub log_weight: Option<Node<'a>>,
}

impl Asked<'_> {
    /// Why it cannot be used.
    pub fn refused(&self, Refusal { cause, remedy, span }: Refusal) -> Diagnostic {
        let diagnostic = match (self.log_weight, span) {
            (Some(expression), Some(span)) => expression.wrong_within(cause, span),
            _ => self.node.wrong(cause),
        };
        diagnostic.help(remedy)
    }
}

/// Whether a mechanism that understands `choices` has an option.
pub fn understands(choices: &[Choice], choice: Choice) -> bool {
    choice == Choice::Remap || choices.contains(&choice)
}

/// Takes the options of a mechanism called `name`, which understands `choices`.
pub fn options(table: &mut Table, choices: &[Choice], name: &str) -> Result<Options, Diagnostic> {
    let take = |&choice: &Choice| table.take(choice.key()).map(|node| (choice, node));
    let given: Vec<(Choice, Node)> = Choice::ALL.iter().filter_map(take).collect();
    if let Some((_, node)) = given.iter().find(|(choice, _)| !understands(choices, *choice)) {
        return Err(not_understood(node, choices, name));
    }
    let mut options = Options::default();
    for (choice, node) in &given {
        match options.slot(*choice) {
            Slot::Gamma(gamma) => *gamma = Some(privacy_number(node, Gamma::new)?),
            Slot::Number(number) => *number = Some(positive(node)?),
            Slot::Name(one) => {
                let known: Vec<_> = one.names().into_iter().map(|name| (name, name)).collect();
                one.set(node.one_of(&known)?);
            }
            Slot::Flag(flag) => *flag = node.boolean()?,
        }
    }
    Ok(options)
}

fn not_understood(node: &Node, choices: &[Choice], name: &str) -> Diagnostic {
    let known = choices.iter().map(|choice| choice.key()).chain(["remap", "label"]);
    node.wrong(format!("`{name}` has no option `{}`", node.key()))
        .help(format!("its options are {}", known.collect::<Vec<_>>().join(", ")))
}

/// What an option may be.
pub fn option_schema(choice: Choice) -> (String, Json) {
    let (value, default) = match Options::default().slot(choice) {
        Slot::Gamma(_) => (shape::gamma(), None),
        Slot::Number(_) => (shape::positive(), None),
        Slot::Name(one) => (json!({ "enum": one.names() }), Some(one.names()[0])),
        Slot::Flag(_) => (shape::or_default(json!({ "type": "boolean" }), false), None),
    };
    let mut value = shape::about(value, choice.about());
    if let Some(default) = default {
        value = shape::or_default(value, default);
    }
    (choice.key().to_owned(), value)
}

/// What was set, as a config would give it.
pub fn write_options(mut options: Options) -> impl Iterator<Item = (&'static str, Value)> {
    Choice::ALL.iter().filter_map(move |&choice| {
        let value = match options.slot(choice) {
            Slot::Gamma(gamma) => gamma.map(|gamma| gamma.get().into()),
            Slot::Number(number) => number.map(Value::from),
            Slot::Name(one) => one.name().map(Value::from),
            Slot::Flag(flag) => flag.then_some(Value::from(true)),
        };
        Some((choice.key(), value?))
    })
}
