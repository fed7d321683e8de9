//! The list of mechanisms with their options.

use std::collections::HashSet;

use rayon::prelude::*;

use super::node::{Node, Table, formula_cause, is_formula};
use super::own_mechanisms::Definitions;
use super::{positive, privacy_number};
use crate::experiment::Case;
use engine::analysis::tuning;
use engine::mechanism::{self, Choice, Global, Mechanism, Options, Smooth, Variant, own};
use engine::posterior::privacy::Gamma;
use engine::posterior::sensitivity::CandidatesInBeta;
use engine::refusal::{Refusal, suggest};
use system::diagnostic::Diagnostic;
use system::source::Source;

/// A mechanism, and where it was asked for.
pub struct Asked<'a> {
    pub variant: Variant,
    pub node: Node<'a>,
    /// Its expression, if it is one of the user's own.
    pub log_weight: Option<Node<'a>>,
}

impl Asked<'_> {
    /// Why it cannot be used.
    fn refused(&self, Refusal { cause, remedy, span }: Refusal) -> Diagnostic {
        let diagnostic = match (self.log_weight, span) {
            (Some(expression), Some(span)) => expression.wrong_within(cause, span),
            _ => self.node.wrong(cause),
        };
        diagnostic.help(remedy)
    }
}

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
                variant.mechanism.id()
            ))),
    }
}

/// Asks every mechanism whether it can be used in every case.
pub fn check(all: &[Asked], cases: &[Case]) -> Result<(), Diagnostic> {
    for asked in all {
        let refusal = |case: &Case| tuning::check(&asked.variant, &case.setting).err();
        if let Some(refusal) = cases.par_iter().find_map_first(refusal) {
            return Err(asked.refused(refusal));
        }
    }
    Ok(())
}

fn find(node: &Node, definitions: &Definitions) -> Result<&'static dyn Mechanism, Diagnostic> {
    let id = node.string()?;
    let plain = id.split('+').next().unwrap_or_default();
    let found = mechanism::find_any(plain).ok_or_else(|| {
        let ids = mechanism::ALL.iter().map(|mechanism| mechanism.id());
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
    let variant = Variant::plain(find(node, definitions)?);
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
    let choices = found.map_or(&[][..], |mechanism| mechanism.choices());
    let options = options(&mut table, choices, found.map_or("", |mechanism| mechanism.id()));
    table.finish()?;
    let mechanism = match found {
        Some(mechanism) => mechanism,
        None => find(&id?, definitions)?,
    };
    let label = label.unwrap_or_else(|| mechanism.id().to_owned());
    let variant = Variant::new(mechanism, options?, label);
    Ok(vec![Asked { variant, node: *node, log_weight: None }])
}

/// Takes the options of a mechanism called `name`, which understands `choices`.
pub fn options(table: &mut Table, choices: &[Choice], name: &str) -> Result<Options, Diagnostic> {
    let gamma = table.take("gamma");
    let divisor = table.take("divisor");
    let global = table.take("global");
    let scale_factor = table.take("scale_factor");
    let candidates = table.take("candidates_in_beta");
    let smooth = table.take("smooth");
    let calibrated = table.take("calibrated");
    let remap = table.take("remap");
    let given = [
        (Choice::Gamma, &gamma),
        (Choice::Divisor, &divisor),
        (Choice::Global, &global),
        (Choice::ScaleFactor, &scale_factor),
        (Choice::CandidatesInBeta, &candidates),
        (Choice::Smooth, &smooth),
        (Choice::Calibrated, &calibrated),
    ];
    for (choice, node) in given {
        if let Some(node) = node.filter(|_| !choices.contains(&choice)) {
            return Err(not_understood(&node, choices, name));
        }
    }
    Ok(Options {
        gamma: gamma.map(|node| privacy_number(&node, Gamma::new)).transpose()?,
        divisor: divisor.map(|node| positive(&node)).transpose()?,
        global: global.map(|node| node.one_of(&named(Global::ALL, Global::name))).transpose()?,
        scale_factor: scale_factor.map(|node| positive(&node)).transpose()?,
        candidates_in_beta: candidates
            .map(|node| node.one_of(&named(CandidatesInBeta::ALL, CandidatesInBeta::name)))
            .transpose()?,
        smooth: smooth.map(|node| node.one_of(&named(Smooth::ALL, Smooth::name))).transpose()?,
        calibrated: calibrated.map_or(Ok(false), |node| node.boolean())?,
        remap: remap.map_or(Ok(false), |node| node.boolean())?,
        inner_epsilon: None,
    })
}

/// Each of `all` beside its name.
pub fn named<T: Copy>(all: &[T], name: fn(T) -> &'static str) -> Vec<(&'static str, T)> {
    all.iter().map(|&one| (name(one), one)).collect()
}

fn not_understood(node: &Node, choices: &[Choice], name: &str) -> Diagnostic {
    let known = choices.iter().map(|choice| choice.key()).chain(["remap", "label"]);
    node.wrong(format!("`{name}` has no option `{}`", node.key()))
        .help(format!("its options are {}", known.collect::<Vec<_>>().join(", ")))
}
