//! The commands: each turns its arguments into calls of the library and prints the outcome.

mod audit;
mod check;
mod choose;
mod claims;
mod inspect;
mod list;
mod optimum;
mod plot;
mod reproduce;
mod run;
mod summary;
mod typed;

use std::collections::BTreeSet;

use crate::cli::{Cli, Command, Replace, Threads};
use crate::config::{self, Overrides};
use crate::console;
use crate::cost::{self, SettingWork, Work};
use crate::diagnostic::Diagnostic;
use crate::experiment::{Case, Experiment, Kind, Panel, ScopeName};
use crate::optimum::{ReleaseSet, Size};
use crate::source::Source;
use crate::store::{OpenError, WriteError};
use crate::tuning;

/// Why a command ended without doing its work.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The user's input cannot be used.
    #[error(transparent)]
    Input(#[from] Diagnostic),
    /// Something else went wrong.
    #[error("{0}")]
    Broken(String),
    /// The work was done, but what was asked to hold does not.
    #[error("{0}")]
    Verdict(String),
}

impl Failure {
    /// The exit status.
    #[must_use]
    pub fn status(&self) -> u8 {
        match self {
            Self::Input(_) => 2,
            Self::Broken(_) => 1,
            Self::Verdict(_) => 3,
        }
    }

    fn broken(error: impl std::fmt::Display) -> Self {
        Self::Broken(error.to_string())
    }
}

impl From<OpenError> for Failure {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Refused(diagnostic) => Self::Input(diagnostic),
            OpenError::Full(error) => Self::broken(error),
        }
    }
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
        Self::broken(error)
    }
}

/// So many settings are printed; the tables hold them all.
const MOST_PRINTED: usize = 24;

/// Prints on standard output.
fn print(text: &str) -> Result<(), Failure> {
    console::emit(text).map_err(|error| Failure::Broken(format!("cannot print: {error}")))
}

/// Prints one JSON document.
fn print_json(document: &serde_json::Value) -> Result<(), Failure> {
    print(&format!("{document:#}\n"))
}

/// A number; JSON has none that is infinite, so that one is the text "inf".
fn number(value: f64) -> serde_json::Value {
    if value.is_finite() { value.into() } else { value.to_string().into() }
}

/// Carries out a command.
pub fn execute(cli: &Cli) -> Result<(), Failure> {
    match &cli.command {
        Command::Run(args) => run::execute(args),
        Command::Reproduce(args) => reproduce::execute(args),
        Command::Check(args) => check::execute(args),
        Command::Plot(args) => plot::execute(args),
        Command::Claims(args) => claims::execute(args),
        Command::Inspect(args) => inspect::execute(args),
        Command::Audit(args) => audit::execute(args),
        Command::Choose(args) => choose::execute(args),
        Command::Optimum(args) => optimum::execute(args),
        Command::List(args) => list::execute(args),
    }
}

/// Reads all configs before anything is done with the first.
fn load(configs: &[String], replace: &Replace) -> Result<Vec<(Source, Experiment)>, Diagnostic> {
    let overrides = Overrides { seed: replace.seed, runs: replace.runs };
    let mut experiments: Vec<(Source, Experiment)> = Vec::new();
    for named in configs {
        let source = Source::config(named)?;
        let experiment = config::load(&source, overrides)?;
        if let Some((other, _)) = experiments.iter().find(|(_, e)| e.name == experiment.name) {
            let cause = format!("{other} and {source} are both named `{}`", experiment.name);
            return Err(Diagnostic::new(cause).help("give one of them another `name`"));
        }
        experiments.push((source, experiment));
    }
    Ok(experiments)
}

/// Sets the number of threads and returns it. This thread is one of them: otherwise it would hand
/// over its work and wait, and the others would look for work while it is busy alone.
fn threads(asked: &Threads) -> Result<usize, Failure> {
    let pool = rayon::ThreadPoolBuilder::new().use_current_thread();
    let pool = pool.num_threads(asked.threads.map_or(0, usize::from));
    pool.build_global().map_err(Failure::broken)?;
    Ok(rayon::current_num_threads())
}

/// Predicts an experiment, panel by panel and case by case.
fn predict(experiment: &Experiment) -> Vec<Vec<SettingWork>> {
    experiment.panels.iter().map(predict_panel).collect()
}

fn everything(panel: &Panel) -> bool {
    panel.parameters.scopes_or_all().contains(&ScopeName::All)
}

fn predict_panel(panel: &Panel) -> Vec<SettingWork> {
    let predict = |case: &Case| {
        let (setting, recipes) = (&case.setting, panel.recipes(case));
        match panel.kind {
            Kind::Accuracy => cost::predict(setting, &recipes, &panel.metrics, panel.runs),
            Kind::Privacy => cost::predict_audit(setting, &recipes, everything(panel)),
            // Every output counts again at every point of the profile.
            Kind::Profile => {
                cost::repeated(cost::predict_audit(setting, &recipes, everything(panel)), 60.0)
            }
            Kind::TradeOff => {
                cost::repeated(cost::predict_audit(setting, &recipes, everything(panel)), 3.0)
            }
            Kind::Change => cost::predict_changes(setting),
            Kind::Optimum => {
                let mut work = cost::predict_everywhere(setting, &recipes);
                if let Some(cell) = work.cells.first_mut() {
                    cell.add(Size::new(setting, ReleaseSet::Same).work);
                }
                work
            }
            Kind::Phase => cost::predict_means(setting, &recipes),
            // ℓ1 errors are whole numbers; a few lists of them are joined at a time.
            Kind::L1Tail => cost::predict_laws(setting, &recipes, 1e6),
            // Several hundred sizes are tried for every number of steps.
            Kind::Crossover | Kind::TableOne => {
                let searches = 500.0 * panel.parameters.steps.len() as f64;
                cost::repeated(cost::predict_laws(setting, &recipes, f64::INFINITY), searches)
            }
            _ => cost::predict_laws(setting, &recipes, f64::INFINITY),
        }
    };
    let mut work: Vec<SettingWork> = panel.cases.iter().map(predict).collect();
    // A mechanism is made ready once for all data sets of a size.
    let mut ready = BTreeSet::new();
    for (case, work) in panel.cases.iter().zip(&mut work) {
        for (variant, cell) in panel.variants.iter().zip(&mut work.cells) {
            if ready.insert(tuning::key(variant, &case.setting)) {
                cell.add(cost::predict_tuning(variant, &case.setting));
            }
        }
    }
    work
}

/// Work of more predicted seconds is announced.
const LONG: f64 = 3.0;

/// Says how long it will take, if one would wonder.
fn announce(seconds: f64) {
    if seconds > LONG {
        eprintln!("this will take about {}", cost::duration(seconds));
    }
}

/// Refuses work that cannot be done, unless forced.
fn admit(
    what: &str,
    work: &[Vec<SettingWork>],
    threads: usize,
    force: bool,
) -> Result<Work, Diagnostic> {
    let total = cost::total(work.iter().flatten());
    let largest = work.iter().flatten().map(|setting| setting.candidates).fold(0.0, f64::max);
    match cost::objection(&total, largest, threads, cost::available_memory(), cost::LONGEST) {
        Some(objection) if !force => Err(Diagnostic::new(format!("{what}: {objection}")).help(
            "fewer runs, records or categories, or mechanisms that need no enumeration (lshist, \
             geometric); --force starts it all the same",
        )),
        _ => Ok(total),
    }
}
