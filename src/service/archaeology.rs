//! How the printed figures were made, where captions and texts say otherwise.
//!
//! A [`Finding`] names the settings that were tried. The readings of the figure decide: with the setting
//! that was found they agree, with the one that the document states they do not. The settings are listed
//! in `data/printed/findings.toml`; how well the readings agree is not: [`Trial::evidence`] computes the
//! figure anew with every setting.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use lab::experiment::config::{self, Overrides};
use lab::experiment::reading::largest_deviation;
use system::diagnostic::Diagnostic;
use system::source::Source;

/// What a printed figure shows about how it was made.
#[derive(Clone, Deserialize, Serialize, JsonSchema)]
pub struct Finding {
    pub id: String,
    /// What was found, in a few words.
    pub title: String,
    /// What was found, in sentences.
    pub sentence: String,
    /// Where the authors' public history shows it, or what else supports it.
    pub source: String,
    /// The numbers of the claims that rest on these figures.
    pub claims: Vec<u32>,
    /// The settings that were tried.
    #[serde(rename = "trial", skip_serializing)]
    #[schemars(skip)]
    pub trials: Vec<Trial>,
}

/// A setting with which a figure is computed again.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Trial {
    /// The figure (`arxiv/fig4`).
    pub figure: String,
    pub panel: String,
    pub setting: String,
    /// The keys of the panel that are changed. None for the setting that was found.
    #[serde(default)]
    pub change: Table,
    /// How many runs are behind every printed mean, if this is what is tried.
    pub runs: Option<f64>,
    /// Whether the readings agree with it.
    pub agrees: bool,
}

/// Every finding, in the order of the report.
pub fn findings() -> Result<Vec<Finding>, Diagnostic> {
    #[derive(Deserialize)]
    struct List {
        finding: Vec<Finding>,
    }
    let source = Source::Bundle("data/printed/findings.toml".into());
    let list: Result<List, _> = toml::from_slice(&source.read()?);
    let broken = |error| Diagnostic::new(format!("{source}: {error}")).help("mend the list");
    Ok(list.map_err(broken)?.finding)
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
    /// How far all deviations together are from those that the number of runs leads one to expect, if that is
    /// tried.
    pub scatter: Option<Scatter>,
}

/// The scatter of sampled means around the exact ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Scatter {
    /// The root mean square of the deviations in standard errors: about 1 if the number of runs is right.
    pub rms: f64,
    /// By how many standard deviations their sum of squares is too large or, if negative, too small.
    pub excess: f64,
}

impl Scatter {
    /// The largest excess that is still called chance: one trial in a thousand is further off.
    const MOST: f64 = 3.3;

    fn new(deviations: impl Iterator<Item = f64>) -> Self {
        let (sum, count) =
            deviations.fold((0.0, 0.0), |(sum, count), z| (sum + z * z, count + 1.0));
        // The cube root of a χ² is nearly normal (Wilson and Hilferty, 1931).
        let variance = 2.0 / (9.0 * count);
        let excess = (libm::cbrt(sum / count) - (1.0 - variance)) / variance.sqrt();
        Self { rms: (sum / count).sqrt(), excess }
    }
}

impl Evidence {
    /// Whether the readings agree with the setting.
    pub fn agrees(&self) -> bool {
        let by_chance = |scatter: &Scatter| scatter.excess.abs() < Scatter::MOST;
        self.within + self.named == self.total && self.scatter.as_ref().is_none_or(by_chance)
    }

    /// The largest deviation, or the scatter of all where the number of runs is tried.
    pub fn deviations(&self) -> String {
        match &self.scatter {
            None => self.largest.clone(),
            Some(Scatter { rms, excess }) => {
                let side = if *excess < 0.0 { "below" } else { "above" };
                let far = excess.abs();
                format!(
                    "scatter: {rms:.2} standard errors (rms), {far:.1} deviations {side} chance"
                )
            }
        }
    }
}

impl Finding {
    /// The figures that show it, each once.
    pub fn figures(&self) -> Vec<String> {
        let mut figures: Vec<String> =
            self.trials.iter().map(|trial| trial.figure.clone()).collect();
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
        let source = Source::config(&self.figure)?;
        let text = String::from_utf8_lossy(&source.read()?).into_owned();
        let config = self.changed(&text)?;
        // Readings are compared with exact laws, so that one run is enough.
        let overrides = Overrides { runs: Some(1), ..Overrides::default() };
        let mut experiment = config::read(&config, &source, &overrides)?;
        if let (Some(runs), Some(set)) = (self.runs, &mut experiment.panels[0].readings) {
            set.readings.iter_mut().for_each(|reading| reading.runs = Some(runs));
        }
        let tables = experiment.panels[0].compute();
        let rows = &tables.readings;
        let named = rows.iter().filter(|row| !row.within && !row.note.is_empty()).count();
        Ok(Evidence {
            within: rows.iter().filter(|row| row.within).count(),
            named,
            total: rows.len(),
            largest: largest_deviation(rows).unwrap_or_default(),
            scatter: self.runs.map(|_| Scatter::new(rows.iter().filter_map(|row| row.z))),
        })
    }

    /// The config with this panel only, changed.
    fn changed(&self, text: &str) -> Result<String, Diagnostic> {
        let broken = |what: &str| {
            Diagnostic::new(format!("{} {what}", self.figure)).help("mend the list of findings")
        };
        let mut config: Table = text.parse().map_err(|_| broken("is no TOML"))?;
        let panels = config.get_mut("panel").and_then(Value::as_array_mut);
        let panels = panels.ok_or_else(|| broken("has no panels"))?;
        let id =
            |panel: &Value| panel.get("id").and_then(Value::as_str) == Some(self.panel.as_str());
        panels.retain(id);
        let panel = panels.first_mut().and_then(Value::as_table_mut);
        panel.ok_or_else(|| broken("has no such panel"))?.extend(self.change.clone());
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
        for finding in findings().unwrap() {
            for trial in &finding.trials {
                let found = trial.evidence().unwrap_or_else(|error| panic!("{error}"));
                assert!(found.total > 0, "{}", trial.name());
                assert_eq!(found.agrees(), trial.agrees, "{}: {found:?}", trial.name());
            }
        }
    }

    #[test]
    fn every_finding_tries_what_the_document_states() {
        for finding in findings().unwrap() {
            assert!(finding.trials.iter().any(|trial| !trial.agrees), "{}", finding.id);
            for trial in &finding.trials {
                let is_unchanged = trial.change.is_empty() && trial.runs.is_none();
                assert!(!is_unchanged || trial.agrees, "{}", trial.setting);
                assert!(trial.change.is_empty() || !trial.agrees, "{}", trial.setting);
            }
        }
    }
}
