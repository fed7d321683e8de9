//! The list of mechanisms with their options.

use std::collections::HashSet;

use rayon::prelude::*;
use toml::Value;

use super::asked::{self, Asked, options};
use super::own_mechanisms::{self, Definitions};
use crate::experiment::Case;
use crate::experiment::value::{Node, formula_cause, is_formula};
use engine::analysis::tuning;
use engine::mechanism::{self, Kind, Mechanism, own};
use engine::refusal::suggest;
use system::diagnostic::Diagnostic;
use system::source::Source;

/// Reads the list of a config that stands at `source`.
pub fn read<'a>(
    node: &Node<'a>,
    definitions: &Definitions<'a>,
    source: &'a Source,
) -> Result<Vec<Asked<'a>>, Diagnostic> {
    let mut all: Vec<Asked> = Vec::new();
    for node in &node.one_or_list()? {
        all.extend(match node.is_string() {
            true => plain(node, definitions)?,
            false => with_options(node, definitions, source)?,
        });
    }
    // The name of a definition is a label, too.
    if let Some(asked) = all.iter().find(|asked| is_formula(&asked.variant.label)) {
        let cause = formula_cause(&asked.variant.label);
        return Err(asked.node.wrong(cause).help("begin its label with a letter or a digit"));
    }
    let mut labels = HashSet::new();
    match all.iter().find(|asked| !labels.insert(&asked.variant.label)) {
        None => Ok(all),
        Some(Asked { variant, node, .. }) => Err(node
            .wrong(format!("two mechanisms are labelled `{}`", variant.label))
            .help(format!(
                "set a label of its own: {{ id = \"{}\", label = \"…\" }}",
                variant.kind.id
            ))),
    }
}

/// Asks every mechanism whether it can be used in every case.
pub fn check(all: &[Asked], cases: &[Case]) -> Result<(), Diagnostic> {
    for asked in all {
        let refusal = |case: &Case| {
            tuning::check(&asked.variant, &case.setting, case.setting.posterior()).err()
        };
        if let Some(refusal) = cases.par_iter().find_map_first(refusal) {
            return Err(asked.refused(refusal));
        }
    }
    Ok(())
}

fn find(node: &Node, definitions: &Definitions) -> Result<&'static Kind, Diagnostic> {
    let id = node.string()?;
    let plain = id.split('+').next().unwrap_or_default();
    let found = mechanism::find_any(plain).ok_or_else(|| {
        let ids = mechanism::ALL.iter().map(|mechanism| mechanism.id);
        let own = own::KINDS.iter().map(|kind| kind.id);
        node.wrong(format!("unknown mechanism `{plain}`"))
            .help(suggest(plain, ids.chain(own).chain(definitions.names())))
    })?;
    if plain == id {
        return Ok(found);
    }
    Err(node.wrong(format!("a config has no mechanism `{id}`")).help(format!(
        "write {{ id = \"{plain}\", calibrated = true }} or {{ id = \"{plain}\", remap = true }}"
    )))
}

fn plain<'a>(node: &Node<'a>, definitions: &Definitions<'a>) -> Result<Vec<Asked<'a>>, Diagnostic> {
    if let Some(own) = definitions.named(node) {
        return own;
    }
    let id = node.string()?;
    if own::is_kind(id) {
        let example = match id == own::TABLE.id {
            true => "path = \"mine.csv\"",
            false => "log_weight = \"…\"",
        };
        return Err(node
            .wrong(format!("`{id}` is a mechanism of your own, and it is not said which"))
            .help(format!("write {{ id = \"{id}\", {example} }}")));
    }
    let variant = Mechanism::plain(find(node, definitions)?);
    Ok(vec![Asked { variant, node: *node, log_weight: None }])
}

fn with_options<'a>(
    node: &Node<'a>,
    definitions: &Definitions<'a>,
    source: &'a Source,
) -> Result<Vec<Asked<'a>>, Diagnostic> {
    let mut table = node.table("{ id = \"ehds\" }")?;
    let id = table.require("id", "id = \"ehds\"");
    if let Ok(id) = id.as_ref().map_or(Err(()), |id| id.string().map_err(drop))
        && let Some(own) = definitions.with_options(node, id, source)
    {
        return own;
    }
    let label = table.take("label").map(|node| node.label()).transpose()?;
    // A mistyped key is reported before an id that is missing.
    let found = id.as_ref().ok().map(|id| find(id, definitions)).transpose()?;
    let choices = found.map_or(&[][..], |mechanism| mechanism.choices);
    let options = options(&mut table, choices, found.map_or("", |mechanism| mechanism.id));
    table.finish()?;
    let mechanism = match found {
        Some(mechanism) => mechanism,
        None => find(&id?, definitions)?,
    };
    let label = label.unwrap_or_else(|| mechanism.id.to_owned());
    let variant = Mechanism::new(mechanism, options?, label);
    Ok(vec![Asked { variant, node: *node, log_weight: None }])
}

/// A mechanism, as a config would give it.
pub fn write(variant: &Mechanism) -> Value {
    let mut table = toml::Table::new();
    let mut put = |key: &str, value: Value| drop(table.insert(key.into(), value));
    put("id", variant.kind.id.into());
    put("label", variant.label.clone().into());
    asked::write_options(variant.options).for_each(|(key, value)| put(key, value));
    if let Some(definition) = &variant.kind.definition {
        for key in own_mechanisms::KEYS {
            (key.write)(definition).into_iter().for_each(|value| put(key.name, value.into()));
        }
        definition.parameters().iter().for_each(|one| put(&one.name, one.value.into()));
    }
    table.into()
}
