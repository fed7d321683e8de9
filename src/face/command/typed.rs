//! Settings and mechanisms typed by hand.

use std::path::Path;

use crate::cli::{Compared, Data, Model};
use engine::analysis::tuning::check;
use engine::analysis::tuning::remapping::searched;
use engine::mechanism::law::OutputSet;
use engine::mechanism::own::{self, NoisyCounts, Purpose};
use engine::mechanism::{Definition, Mechanism, Tuning};
use engine::posterior::distance;
use engine::posterior::model::{MOST_RECORDS, Posterior, Prior, is_countable};
use engine::posterior::privacy::{Delta, Epsilon, Gamma};
use engine::posterior::setting::Setting;
use engine::refusal::Refusal;
use lab::experiment::config;
use system::console::{say, shorten};
use system::diagnostic::{Diagnostic, Place};
use system::filesystem::create_temporary;
use system::source::Source;

/// The setting of data of n records, which were given or counted.
pub fn setting(model: &Model, data: &Data, epsilon: f64) -> Result<Setting, Diagnostic> {
    let prior = Prior::new(model.prior.clone())
        .map_err(|error| wrong("prior", &error).help("use for example --prior 1,1"))?;
    let n = [data.n.unwrap_or(0)];
    let counts = data.counts.as_deref().unwrap_or(&n);
    if data.counts.is_some() {
        same_length("--counts", counts.len(), prior.k())?;
    }
    if !is_countable(counts) {
        return Err(wrong("counts", &"these are more records than dpbi can count")
            .help(format!("use at most {MOST_RECORDS}")));
    }
    let distance = distance::find(&model.distance)
        .map_err(|refusal| wrong("distance", &refusal.cause).help(refusal.remedy))?;
    Ok(Setting {
        prior,
        n: counts.iter().sum(),
        epsilon: Epsilon::new(epsilon)?,
        delta: model.delta.map(Delta::new).transpose()?,
        gamma: Gamma::new(model.gamma)?,
        distance,
    })
}

/// A message about a flag.
pub fn wrong(flag: &str, error: &dyn std::fmt::Display) -> Diagnostic {
    Diagnostic::new(format!("--{flag}: {error}"))
}

/// The same, of a cause that is a text.
pub fn flag(flag: &str, cause: &str) -> Diagnostic {
    wrong(flag, &cause)
}

/// Refuses a list that has not one number for every category.
pub fn same_length(flag: &str, length: usize, k: usize) -> Result<(), Diagnostic> {
    if length == k {
        return Ok(());
    }
    Err(Diagnostic::new(format!("{flag} has {length} numbers, but the prior has {k} categories"))
        .help(format!("give {k} numbers separated by commas")))
}

/// A mechanism by its id, as `{expression}` or as `table:FILE`, with `+calibrated` and `+remap` after it where they
/// are wanted.
pub fn variant(text: &str) -> Result<Mechanism, Diagnostic> {
    let refused = |refusal: Refusal| wrong("mechanism", &refusal.cause).help(refusal.remedy);
    let text = text.trim();
    if let Some(file) = text.strip_prefix(TABLE_FILE) {
        return tabled_variant(file);
    }
    let Some(inside) = text.strip_prefix('{') else {
        return Mechanism::parse(text).map_err(refused);
    };
    let Some((expression, tuning)) = inside.rsplit_once('}') else {
        return Err(flag("mechanism", "an expression has no end").help("close it with }"));
    };
    let tuning = Mechanism::tuning(tuning).map_err(refused)?;
    own_variant(expression, tuning)
}

/// What stands before the file of a mechanism that is a table of probabilities.
const TABLE_FILE: &str = "table:";

/// The mechanism of a table in a file, whose name may be followed by `+calibrated` and `+remap`.
fn tabled_variant(text: &str) -> Result<Mechanism, Diagnostic> {
    let (mut file, mut tuning) = (text, Tuning::NONE);
    for way in [Tuning::BOTH, Tuning::REMAPPED, Tuning::CALIBRATED] {
        if let Some(before) = text.strip_suffix(&way.to_string()) {
            (file, tuning) = (before, way);
            break;
        }
    }
    let source = Source::Disk(file.into());
    let mechanism = config::tabled(&source, &source.read()?, file.to_owned())?;
    let variant = Mechanism::tuned(mechanism, tuning);
    Ok(Mechanism { label: format!("{TABLE_FILE}{text}"), ..variant })
}

/// The mechanisms that were named, checked at these data; or, if none was, those of `default` that can be used.
pub fn variants(
    named: &Compared,
    setting: &Setting,
    posterior: &Posterior,
    default: impl IntoIterator<Item = Mechanism>,
) -> Result<Vec<Mechanism>, Diagnostic> {
    let named = named.named();
    if named.is_empty() {
        let can_be_used = |variant: &Mechanism| check(variant, setting, posterior).is_ok();
        return Ok(default.into_iter().filter(can_be_used).collect());
    }
    let mut variants: Vec<Mechanism> = Vec::new();
    for text in named {
        let variant = variant(text)?;
        if !variants.iter().any(|known| known.label == variant.label) {
            check(&variant, setting, posterior).map_err(|refusal| refused(&variant, refusal))?;
            variants.push(variant);
        }
    }
    Ok(variants)
}

/// The mechanism that an expression defines: noise on the first k − 1 counts if it uses `t`, else weights of
/// the candidates of R. Its label is the text in braces.
fn own_variant(text: &str, tuning: Tuning) -> Result<Mechanism, Diagnostic> {
    // A label has no line breaks.
    let one_line = |c: char| if c.is_whitespace() { ' ' } else { c };
    let text: String = text.trim().chars().map(one_line).collect();
    if text.starts_with("exp(") {
        say("note: the expression is the logarithm of a weight: for the weight exp(-d), write -d");
    }
    let mechanism = match Purpose::of(&text) {
        Purpose::Noise => own::noise(&text, NoisyCounts::First, Vec::new()),
        Purpose::Weights => own::weights(&text, OutputSet::Simplex, Vec::new()),
    };
    let mechanism = mechanism.map_err(|refusal| in_expression(&text, refusal))?;
    let variant = Mechanism::tuned(mechanism, tuning);
    Ok(Mechanism { label: format!("{{{text}}}{tuning}"), ..variant })
}

/// The flag that names mechanisms.
const MECHANISM: &str = "--mechanism";

/// The expression of a mechanism of the user's own.
fn expression(variant: &Mechanism) -> Option<&str> {
    variant.kind.definition.as_ref().and_then(Definition::log_weight)
}

/// The message about a mechanism that cannot be used. It points into the expression, if there is one.
pub fn refused(variant: &Mechanism, refusal: Refusal) -> Diagnostic {
    match expression(variant) {
        Some(text) => in_expression(text, refusal),
        None => Diagnostic::from(refusal),
    }
}

fn in_expression(text: &str, refusal: Refusal) -> Diagnostic {
    let span = refusal.span.clone().unwrap_or(0..text.len());
    Diagnostic::from(refusal).at(Place::span(MECHANISM, text, span))
}

/// The label in a table: the middle of a long expression is left out.
pub fn shown(variant: &Mechanism) -> String {
    const LONGEST: usize = 24;
    let label = &variant.label;
    match expression(variant)
        .and_then(|text| Some((text, label.strip_prefix(&format!("{{{text}}}"))?)))
    {
        Some((text, tuning)) => format!("{{{}}}{tuning}", shorten(text, LONGEST)),
        None => label.clone(),
    }
}

/// Labels in a sentence.
pub fn listed(labels: &[String]) -> String {
    let separator = if labels.iter().any(|label| label.contains(',')) { "; " } else { ", " };
    labels.join(separator)
}

/// Of `default`, the mechanisms that cannot be used for so many records. Another reason, such as a δ that is missing,
/// is none to name them.
pub fn of_fewer_records(
    named: &Compared,
    setting: &Setting,
    default: impl IntoIterator<Item = Mechanism>,
) -> Vec<Mechanism> {
    let default = default.into_iter().filter(|_| named.is_empty());
    default.filter(|variant| (variant.kind.refusal)(setting).is_some()).collect()
}

/// One sentence that names the mechanisms that are left out: those that take long, and `impossible` ones; empty if
/// there are none.
pub fn left_out(slow: &[Mechanism], impossible: &[Mechanism]) -> String {
    let names = |variants: &[Mechanism]| listed(&variants.iter().map(shown).collect::<Vec<_>>());
    let mut parts = Vec::new();
    if !slow.is_empty() {
        parts.push(format!("{} (too large without --force)", names(slow)));
    }
    if let [first, ..] = impossible {
        let why = format!("--mechanism {} says why", first.label);
        parts.push(format!("{} (impossible here: {why})", names(impossible)));
    }
    match parts.is_empty() {
        true => String::new(),
        false => format!("  Left out: {}\n", parts.join("; ")),
    }
}

/// A line that names the mechanisms whose remapping is found by descent; empty if there are none.
pub fn remapped_by_descent<'a>(
    variants: impl Iterator<Item = &'a Mechanism>,
    setting: &Setting,
) -> String {
    let is_searched = |variant: &&Mechanism| {
        let law = variant.outline(setting).ok().filter(|_| variant.options.remap);
        law.is_some_and(|law| searched(law.as_ref(), setting).is_some())
    };
    let names: Vec<String> = variants.filter(is_searched).map(shown).collect();
    match names.is_empty() {
        true => String::new(),
        false => format!("  Remapped by descent, not proved best: {}\n", listed(&names)),
    }
}

/// Refuses a file whose folder cannot be written to, before any work is done.
pub fn refuse_unwritable(flag: &str, path: &Path) -> Result<(), Diagnostic> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    match create_temporary(folder) {
        Ok((_, temporary)) => {
            // Nothing depends on it.
            let _ = std::fs::remove_file(temporary);
            Ok(())
        }
        Err(error) => {
            let cause = format!("cannot write to {}: {error}", folder.display());
            Err(wrong(flag, &cause).help("use another folder"))
        }
    }
}
