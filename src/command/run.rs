//! `dpbi run`.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Instant, SystemTime};

use serde_json::json;

use super::forecast::Forecast;
use super::{Failure, load, print, print_json, summary, threads};
use crate::cli::{Output, Run, Talk};
use crate::config;
use crate::cost;
use crate::experiment::{Experiment, Naming};
use crate::figure::{self, Figure, Format};
use crate::progress::Progress;
use crate::store::{Folder, Manifest, utc};
use crate::table::Tables;

pub fn execute(args: &Run) -> Result<(), Failure> {
    let threads = threads(&args.machine.threads)?;
    let experiments = load(&args.configs, &args.replace)?;
    let manner = Manner::new(&args.output, &args.talk);
    // Everything that can be refused is refused before the first experiment starts.
    let mut planned = Vec::new();
    for (source, experiment) in experiments {
        let forecast = Forecast::new(&experiment, &manner.formats);
        forecast.admit(&source.to_string(), threads, args.machine.force)?;
        planned.push((experiment, forecast));
    }
    let open = |experiment: &Experiment| Folder::open(&args.output.out, &experiment.name);
    let folders =
        planned.iter().map(|(experiment, _)| open(experiment)).collect::<Result<Vec<_>, _>>()?;
    let mut reports = Vec::new();
    for ((experiment, forecast), folder) in planned.iter().zip(folders) {
        let seconds = forecast.total(threads).cpu_seconds;
        let progress = Progress::new(seconds, threads, args.talk.quiet);
        let outcome = run(experiment, forecast, folder, &manner, &progress);
        progress.finish();
        let outcome = outcome?;
        if !args.talk.quiet && !args.print.json {
            print(&outcome.text(experiment))?;
        }
        reports.push(outcome.json(experiment));
    }
    if args.print.json {
        print_json(&json!(reports))?;
    }
    Ok(())
}

/// How an experiment is run.
pub(super) struct Manner {
    pub(super) formats: Vec<Format>,
    pub(super) verbose: bool,
}

impl Manner {
    pub(super) fn new(output: &Output, talk: &Talk) -> Self {
        Self { formats: output.format.0.clone(), verbose: talk.verbose }
    }
}

/// What a run leaves behind.
pub(super) struct Outcome {
    pub(super) tables: Tables,
    /// For every panel its figures, with their names.
    pub(super) figures: Vec<Vec<(String, Figure)>>,
    pub(super) path: PathBuf,
    pub(super) files: Vec<String>,
    pub(super) seconds: f64,
    /// How many of the seconds went into the figures.
    pub(super) drawing: f64,
}

impl Outcome {
    fn text(&self, experiment: &Experiment) -> String {
        format!(
            "{}\n  wrote {} in {}: {}\n\n",
            summary::text(experiment, &self.tables),
            self.path.display(),
            cost::duration(self.seconds),
            self.files.join(", "),
        )
    }

    fn json(&self, experiment: &Experiment) -> serde_json::Value {
        json!({
            "name": experiment.name,
            "folder": self.path,
            "seconds": self.seconds,
            "panels": self.tables.panels,
            "settings": self.tables.settings,
            "summary": self.tables.summary,
            "privacy": self.tables.privacy,
            "curves": self.tables.curves,
            "phase": self.tables.phase,
            "scaling": self.tables.scaling,
            "values": self.tables.values,
            "readings": self.tables.readings,
        })
    }
}

/// Runs one experiment, whose predicted work is `forecast`, and writes its folder.
pub(super) fn run(
    experiment: &Experiment,
    forecast: &Forecast,
    mut folder: Folder,
    manner: &Manner,
    progress: &Progress,
) -> Result<Outcome, Failure> {
    let (started, clock) = (SystemTime::now(), Instant::now());
    let manifest = |seconds| manifest(experiment, started, seconds);
    folder.begin(manifest(0.0))?;
    let tables = compute(experiment, forecast, manner, progress);
    folder.write("config.toml", config::resolve(experiment).into_bytes())?;
    for (name, bytes) in tables.files() {
        folder.write(name, bytes)?;
    }
    let pen = Instant::now();
    let figures = draw(experiment, &tables, &mut folder, &manner.formats)?;
    let drawing = pen.elapsed().as_secs_f64();
    let files = folder.files().map(str::to_owned).collect();
    let seconds = clock.elapsed().as_secs_f64();
    let path = folder.finish(manifest(seconds))?;
    Ok(Outcome { tables, figures, path, files, seconds, drawing })
}

/// Draws all figures from the tables and writes them.
pub(super) fn draw(
    experiment: &Experiment,
    tables: &Tables,
    folder: &mut Folder,
    formats: &[Format],
) -> Result<Vec<Vec<(String, Figure)>>, Failure> {
    let figures: Vec<Vec<(String, Figure)>> =
        experiment.panels.iter().map(|panel| panel.figures(tables)).collect();
    for (name, drawing) in figures.iter().flatten() {
        for &format in formats {
            let bytes = figure::render(drawing, format).map_err(Failure::broken)?;
            folder.write(&format!("{name}.{}", format.extension()), bytes)?;
        }
    }
    Ok(figures)
}

fn manifest(experiment: &Experiment, started: SystemTime, seconds: f64) -> Manifest {
    Manifest {
        dpbi: env!("CARGO_PKG_VERSION").into(),
        name: experiment.name.clone(),
        command: std::env::args().collect(),
        seed: experiment.seed,
        runs: experiment.panels.iter().map(|panel| panel.runs).max().unwrap_or(0),
        started: utc(started),
        ended: utc(SystemTime::now()),
        seconds,
        complete: false,
        files: BTreeMap::new(),
    }
}

fn compute(
    experiment: &Experiment,
    forecast: &Forecast,
    manner: &Manner,
    progress: &Progress,
) -> Tables {
    let clock = Instant::now();
    let part = progress.part(forecast.total(1).cpu_seconds);
    let mut tables = Tables::default();
    for (panel, work) in experiment.panels.iter().zip(&forecast.panels) {
        let naming = Naming::new(&panel.cases);
        tables.append(panel.compute(&|case, variant| {
            part.advance(work[case].cells[variant].cpu_seconds);
            if manner.verbose {
                let name = naming.name(&panel.cases[case]);
                let label = &panel.variants[variant].label;
                let seconds = clock.elapsed().as_secs_f64();
                let cell = format!("{}, {name}: {label}", experiment.name);
                progress.line(&format!("{seconds:8.3} s  {cell} done"));
            }
        }));
    }
    tables
}
