//! How the printed figures were made, where captions and texts say otherwise.
//!
//! A [`Finding`] names the settings that were tried. The readings of the figure decide: with the setting
//! that was found they agree, with the one that the document states they do not. Nothing is written
//! down: [`Trial::evidence`] computes the figure anew with every setting.

mod findings;

pub use findings::FINDINGS;

use schemars::JsonSchema;
use serde::Serialize;
use toml::{Table, Value};

use lab::experiment::config::{self, Overrides};
use lab::experiment::reading::largest_deviation;
use system::diagnostic::Diagnostic;
use system::source::Source;

/// What a printed figure shows about how it was made.
#[derive(Serialize, JsonSchema)]
pub struct Finding {
    pub id: &'static str,
    /// What was found, in a few words.
    pub title: &'static str,
    /// What was found, in sentences.
    pub sentence: &'static str,
    /// Where the authors' public history shows it, or what else supports it.
    pub source: &'static str,
    /// The numbers of the claims that rest on these figures.
    #[serde(skip)]
    pub claims: &'static [u32],
    /// The settings that were tried.
    #[serde(skip)]
    pub trials: &'static [Trial],
}

/// A setting with which a figure is computed again.
pub struct Trial {
    /// The figure (`arxiv/fig4`).
    pub figure: &'static str,
    pub panel: &'static str,
    pub setting: &'static str,
    /// What is changed in the panel, as TOML. Nothing for the setting that was found.
    pub change: &'static str,
    /// Whether the readings agree with it.
    pub agrees: bool,
}

/// How well the readings agree with one setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// How many readings agree.
    pub within: usize,
    /// How many do not, for a reason that their notes give.
    pub named: usize,
    /// How many readings there are.
    pub total: usize,
    /// The largest deviation and where it is.
    pub largest: String,
}

impl Finding {
    /// The figures that show it, each once.
    pub fn figures(&self) -> Vec<&'static str> {
        let mut figures: Vec<&str> = self.trials.iter().map(|trial| trial.figure).collect();
        figures.dedup();
        figures
    }
}

impl Trial {
    /// Figure, part and setting in words: "notes/fig2 (a): divisor 1".
    pub fn name(&self) -> String {
        let part = self.panel.split('-').next().filter(|part| part.len() == 1);
        let part = part.map_or(String::new(), |part| format!(" ({part})"));
        format!("{}{part}: {}", self.figure, self.setting)
    }

    /// Compares the readings with the panel, changed.
    pub fn evidence(&self) -> Result<Evidence, Diagnostic> {
        let source = Source::config(self.figure)?;
        let text = String::from_utf8_lossy(&source.read()?).into_owned();
        let config = self.changed(&text)?;
        // Readings are compared with exact laws, so that one run is enough.
        let overrides = Overrides { runs: Some(1), ..Overrides::default() };
        let experiment = config::read(&config, &source, &overrides)?;
        let tables = experiment.panels[0].compute();
        let rows = &tables.readings;
        let named = rows.iter().filter(|row| !row.within && !row.note.is_empty()).count();
        Ok(Evidence {
            within: rows.iter().filter(|row| row.within).count(),
            named,
            total: rows.len(),
            largest: largest_deviation(rows).unwrap_or_default(),
        })
    }

    /// The config with this panel only, changed.
    fn changed(&self, text: &str) -> Result<String, Diagnostic> {
        let broken = |what: &str| {
            Diagnostic::new(format!("{} {what}", self.figure)).help("mend the list of findings")
        };
        let mut config: Table = text.parse().map_err(|_| broken("is no TOML"))?;
        let change: Table = self.change.parse().map_err(|_| broken("is changed by no TOML"))?;
        let panels = config.get_mut("panel").and_then(Value::as_array_mut);
        let panels = panels.ok_or_else(|| broken("has no panels"))?;
        let id = |panel: &Value| panel.get("id").and_then(Value::as_str) == Some(self.panel);
        panels.retain(id);
        let panel = panels.first_mut().and_then(Value::as_table_mut);
        panel.ok_or_else(|| broken("has no such panel"))?.extend(change);
        toml::to_string(&config).map_err(|_| broken("cannot be written"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A wrong ε, n, divisor, neighbour set, distance, sensitivity, β or label is rejected; the setting
    /// that was found is not.
    #[test]
    fn readings_tell_the_settings_apart() {
        for finding in FINDINGS {
            for trial in finding.trials {
                let found = trial.evidence().unwrap_or_else(|error| panic!("{error}"));
                let Evidence { within, named, total, .. } = found;
                assert!(total > 0, "{}", trial.name());
                let agrees = within + named == total;
                assert_eq!(agrees, trial.agrees, "{}: {found:?}", trial.name());
            }
        }
    }

    #[test]
    fn every_finding_tries_what_the_document_states() {
        for finding in FINDINGS {
            assert!(finding.trials.iter().any(|trial| !trial.agrees), "{}", finding.id);
            for trial in finding.trials {
                assert_eq!(trial.change.is_empty(), trial.agrees, "{}", trial.setting);
            }
        }
    }
}
