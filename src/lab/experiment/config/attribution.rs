//! Whether an experiment that names a figure of a document is the one that the document describes.

use std::collections::BTreeSet;

use super::panel::KEYS;
use super::{Overrides, read};
use crate::experiment::{AFTER, Panel};
use engine::mechanism::{Definition, Options};
use system::source::{PAPERS, Source, bundled_configs, config_name};

/// What stands between the place and what was changed.
const CHANGED: &str = "; changed: ";

/// The place in a document. An experiment that differs from the bundled one of that place comes *after* it.
pub fn attributed(place: &str, panels: &[Panel]) -> String {
    // It may have been said before: of the results of a changed experiment.
    let said = place.strip_prefix(AFTER).and_then(|rest| Some(rest.split_once(CHANGED)?.0));
    let place = said.unwrap_or(place);
    let Some(original) = original(place) else { return place.to_owned() };
    let nearest = |panel| original.iter().map(|own| changed(panel, own)).min_by_key(BTreeSet::len);
    let changed: BTreeSet<String> = panels.iter().filter_map(nearest).flatten().collect();
    match changed.is_empty() {
        true => place.to_owned(),
        false => {
            let changed: Vec<String> = changed.into_iter().collect();
            format!("{AFTER}{place}{CHANGED}{}", changed.join(", "))
        }
    }
}

/// The panels of the bundled experiment that is a figure of a document.
fn original(place: &str) -> Option<Vec<Panel>> {
    let quoted = format!("\"{place}\"");
    let found = bundled_configs().into_iter().filter(|path| config_name(path).starts_with(PAPERS));
    let mut found = found.filter_map(|path| {
        let source = Source::Bundle(path);
        let text = String::from_utf8(source.read().ok()?).ok()?;
        let experiment =
            text.contains(&quoted).then(|| read(&text, &source, &Overrides::default()));
        experiment?.ok().filter(|experiment| experiment.source.as_deref() == Some(place))
    });
    found.next().map(|experiment| experiment.panels)
}

/// What differs between two panels, beside their titles, and how many runs are sampled.
fn changed(panel: &Panel, original: &Panel) -> BTreeSet<String> {
    let mut changed = BTreeSet::new();
    let own = |panel: &Panel| panel.kind.resolved();
    let (ours, theirs) = (own(panel), own(original));
    let keys = ours.keys().chain(theirs.keys());
    changed.extend(keys.filter(|&key| ours.get(key) != theirs.get(key)).cloned());
    for key in KEYS {
        let differs = match key.name {
            "title" | "runs" | "readings" | "not_compared" => false,
            "mechanisms" => mechanisms(panel) != mechanisms(original),
            "data" => data(panel) != data(original),
            _ => (key.write)(panel) != (key.write)(original),
        };
        let name = match key.name {
            "epsilon" => "ε",
            "delta" => "δ",
            "gamma" => "γ",
            name => name,
        };
        changed.extend(differs.then(|| name.to_owned()));
    }
    changed
}

/// The mechanisms, whatever they are called.
fn mechanisms(panel: &Panel) -> Vec<(&str, Option<&Definition>, Options)> {
    let variants = panel.variants.iter();
    variants.map(|one| (one.kind.id, one.kind.definition.as_ref(), one.options)).collect()
}

/// The data sets, wherever they come from.
fn data(panel: &Panel) -> BTreeSet<&[u64]> {
    panel.cases.iter().map(|case| case.setting.counts()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;
    use crate::experiment::config::{Change, load, resolve};

    fn reread(experiment: &Experiment, changes: &[&str]) -> Experiment {
        let changes = changes.iter().map(|change| Change::parse(change).unwrap()).collect();
        let overrides = Overrides { changes, ..Overrides::default() };
        read(&resolve(experiment), &Source::Disk("copy.toml".into()), &overrides).unwrap()
    }

    #[test]
    fn a_copy_that_was_not_changed_is_the_figure_of_the_document() {
        let papers = bundled_configs();
        let papers = papers.into_iter().filter(|path| config_name(path).starts_with(PAPERS));
        for path in papers {
            let bundled = load(&Source::Bundle(path), &Overrides::default()).unwrap();
            let copy = reread(&bundled, &["seed=7", "title=mine"]);
            assert_eq!(copy.source, bundled.source);
            assert!(!copy.is_changed());
        }
    }

    #[test]
    fn a_changed_copy_says_what_was_changed() {
        let source = Source::bundled_config("arxiv/fig4").unwrap();
        let bundled = load(&source, &Overrides::default()).unwrap();
        let place = "arxiv, Figure 4, §7.2.2";
        assert_eq!(bundled.source.as_deref(), Some(place));
        for (changes, named) in [
            (&["panel.epsilon=2"][..], "ε"),
            (&["panel.mechanisms=[\"lshist\"]", "panel.prior=[2, 2]"], "mechanisms, prior"),
            (&["panel.data.balanced.sizes=[10, 20]"], "data"),
        ] {
            let copy = reread(&bundled, changes);
            let source = format!("after {place}; changed: {named}");
            assert_eq!(copy.source.as_ref(), Some(&source));
            // It stays so in its results folder, and what is changed back is the figure again.
            assert_eq!(reread(&copy, &[]).source.as_ref(), Some(&source));
        }
        let back = reread(&reread(&bundled, &["panel.delta=0.1"]), &["panel.delta=1e-8"]);
        assert_eq!(back.source.as_deref(), Some(place));
    }
}
