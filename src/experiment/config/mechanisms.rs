//! The list of mechanisms with their options.

use std::collections::HashSet;

use rayon::prelude::*;

use super::node::Node;
use super::{positive, privacy_number};
use crate::analysis::tuning;
use crate::base::diagnostic::{Diagnostic, suggest};
use crate::experiment::Case;
use crate::mechanism::{self, Choice, Global, Mechanism, Options, Smooth, Variant};
use crate::posterior::privacy::Gamma;
use crate::posterior::sensitivity::CandidatesInBeta;

/// Reads the list; each variant comes with the place where it was asked for.
pub fn read<'a>(node: &Node<'a>) -> Result<(Vec<Variant>, Vec<Node<'a>>), Diagnostic> {
    let nodes = node.one_or_list()?;
    let mut variants: Vec<Variant> = Vec::new();
    let mut labels = HashSet::new();
    for node in &nodes {
        let variant = if node.is_string() { plain(node) } else { with_options(node) }?;
        if !labels.insert(variant.label.clone()) {
            return Err(node
                .wrong(format!("two mechanisms are labelled `{}`", variant.label))
                .help(format!(
                    "set a label of its own: {{ id = \"{}\", label = \"…\" }}",
                    variant.mechanism.id()
                )));
        }
        variants.push(variant);
    }
    Ok((variants, nodes))
}

/// Asks every mechanism whether it can be used in every case.
pub fn check(variants: &[Variant], nodes: &[Node], cases: &[Case]) -> Result<(), Diagnostic> {
    for (variant, node) in variants.iter().zip(nodes) {
        let refusal = |case: &Case| tuning::check(variant, &case.setting).err();
        if let Some(refusal) = cases.par_iter().find_map_first(refusal) {
            return Err(node.wrong(refusal.cause).help(refusal.remedy));
        }
    }
    Ok(())
}

fn find(node: &Node) -> Result<&'static dyn Mechanism, Diagnostic> {
    let id = node.string()?;
    let plain = id.split('+').next().unwrap_or_default();
    let found = mechanism::find_any(plain).ok_or_else(|| {
        node.wrong(format!("unknown mechanism `{plain}`"))
            .help(suggest(plain, mechanism::ALL.iter().map(|mechanism| mechanism.id())))
    })?;
    if plain == id {
        return Ok(found);
    }
    Err(node.wrong(format!("a config has no mechanism `{id}`")).help(format!(
        "write {{ id = \"{plain}\", calibrated = true }} or {{ id = \"{plain}\", remap = true }}"
    )))
}

fn plain(node: &Node) -> Result<Variant, Diagnostic> {
    Ok(Variant::plain(find(node)?))
}

fn with_options(node: &Node) -> Result<Variant, Diagnostic> {
    let mut table = node.table("{ id = \"ehds\" }")?;
    let id = table.require("id", "id = \"ehds\"");
    let label = table.take("label").map(|node| node.label()).transpose()?;
    let gamma = table.take("gamma");
    let divisor = table.take("divisor");
    let global = table.take("global");
    let scale_factor = table.take("scale_factor");
    let candidates = table.take("candidates_in_beta");
    let smooth = table.take("smooth");
    let calibrated = table.take("calibrated");
    let remap = table.take("remap");
    table.finish()?;

    let mechanism = find(&id?)?;
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
        if let Some(node) = node.filter(|_| !mechanism.choices().contains(&choice)) {
            return Err(not_understood(&node, mechanism));
        }
    }
    let options = Options {
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
    };
    let label = label.unwrap_or_else(|| mechanism.id().to_owned());
    Ok(Variant::new(mechanism, options, label))
}

/// Each of `all` beside its name.
fn named<T: Copy>(all: &[T], name: fn(T) -> &'static str) -> Vec<(&'static str, T)> {
    all.iter().map(|&one| (name(one), one)).collect()
}

fn not_understood(node: &Node, mechanism: &dyn Mechanism) -> Diagnostic {
    let known: Vec<_> = mechanism.choices().iter().map(|choice| choice.key()).collect();
    node.wrong(format!("`{}` has no option `{}`", mechanism.id(), node.key()))
        .help(format!("its options are {}, remap, label", known.join(", ")))
}
