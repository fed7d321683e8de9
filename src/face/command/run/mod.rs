//! `dpbi run`.

mod notice;
mod watch;

use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::json;

use super::drawing::Drawing;
use super::{MOST_PRINTED, load, print_document, summary, threads};
use crate::cli::{FigureOptions, Output, Run, Verbosity};
use crate::failure::{Failure, WorkError};
use crate::interrupt;
use crate::progress::{Ahead, Progress, say_duration};
use engine::analysis::cost;
use figure::{self, Figure, Width};
use lab::experiment::Experiment;
use lab::experiment::config;
use lab::run::forecast::Forecast;
use lab::run::store::{CellStore, Folder, Manifest, Shard, Written, utc};
use lab::run::sweep::{Assembly, Failed, Stock, Sweep};
use system::console::{harmless_json, say};
use system::diagnostic::Diagnostic;
use table::{ErrorRows, JsonTables, NUMERICS, Tables};
use watch::Watch;

pub fn execute(args: &Run) -> Result<(), Failure> {
    let threads = threads(&args.machine.threads)?;
    let experiments = load(&args.experiments.configs, &args.replace)?;
    let options =
        RunOptions { shard: args.shard, ..RunOptions::new(&args.output, &args.talk, args.fresh) };
    // Everything that can be refused is refused before the first experiment starts.
    let mut planned = Vec::new();
    for (source, experiment) in experiments {
        let mut forecast = options.forecast(&experiment, &args.output.out);
        args.shard.iter().for_each(|&shard| forecast.take_part(&experiment, shard));
        forecast.admit(&source.to_string(), threads, args.machine.force)?;
        planned.push((experiment, forecast));
    }
    let open = |(experiment, forecast)| Job::open(experiment, forecast, &args.output.out, &options);
    let jobs = planned.iter().map(|(e, f)| open((e, f))).collect::<Result<Vec<_>, _>>()?;
    // From here on signals are heard, and obeyed when the cells in flight are done; until here the
    // first one ends the process, whatever it is reading.
    interrupt::watch(args.talk.quiet).map_err(WorkError::Signals)?;
    let (mut reports, mut failures) = (Vec::new(), 0);
    for job in jobs {
        job.tell(&options);
        let progress = Progress::new(job.ahead(), threads, args.talk.quiet);
        let seconds = job.ahead().cpu_seconds / threads as f64;
        if progress.is_hidden() && seconds > super::LONG {
            say_duration(seconds);
        }
        let experiment = job.sweep.experiment;
        let outcome = job.run(&options, &progress);
        progress.finish();
        let outcome = outcome?;
        failures += outcome.tables.failures.len();
        let document = || serde_json::to_string_pretty(&outcome.document(experiment, args.errors));
        let text = || match args.answer.table {
            Some(format) => summary::tables(experiment, &outcome.tables, format),
            None => outcome.text(experiment),
        };
        let report = args.answer.print.tell(
            args.talk.quiet && args.answer.table.is_none(),
            document,
            text,
        )?;
        reports.extend(report.transpose().map_err(WorkError::from)?);
    }
    if args.answer.print.json {
        print_document(&harmless_json(format!("[\n{}\n]\n", reports.join(",\n"))))?;
    }
    match failures {
        0 => Ok(()),
        failed => Err(WorkError::Cells(failed).into()),
    }
}

/// How an experiment is run.
pub(super) struct RunOptions {
    pub(super) figures: FigureOptions,
    pub(super) quiet: bool,
    pub(super) verbose: bool,
    /// Nothing of an earlier run is kept.
    pub(super) fresh: bool,
    /// Only a part of it.
    pub(super) shard: Option<Shard>,
}

impl RunOptions {
    pub(super) fn new(output: &Output, talk: &Verbosity, fresh: bool) -> Self {
        Self {
            figures: output.figures.clone(),
            quiet: talk.quiet,
            verbose: talk.verbose,
            fresh,
            shard: None,
        }
    }

    /// What an experiment with results in `out` will take.
    pub(super) fn forecast(&self, experiment: &Experiment, out: &Path) -> Forecast {
        let before = Manifest::read(&out.join(&experiment.name)).ok();
        let Drawing { formats, width } = Drawing::new(&self.figures, before.as_ref());
        Forecast::new(experiment, &formats, width)
    }
}

/// For every panel its figures, with their names.
pub(super) type Drawn = Vec<Vec<(String, Figure)>>;

/// What a run leaves behind.
pub(super) struct RunOutcome {
    pub(super) tables: Tables,
    pub(super) figures: Drawn,
    pub(super) path: PathBuf,
    pub(super) files: Vec<String>,
    /// Whether all of them were there, and none was written.
    pub(super) is_same: bool,
    pub(super) seconds: f64,
    pub(super) shard: Option<Shard>,
    pub(super) cells: usize,
    pub(super) kept: usize,
}

impl RunOutcome {
    pub(super) fn text(&self, experiment: &Experiment) -> String {
        let found = match self.shard {
            Some(shard) => format!(
                "{}, {shard}: {} cells\n  when all are done: dpbi merge DIR… --out DIR",
                experiment.name, self.cells
            ),
            None => summary::text(experiment, &self.tables),
        };
        let (path, seconds) = (self.path.display(), cost::duration(self.seconds));
        match self.is_same {
            true => format!("{found}\n  wrote nothing in {seconds}: {path} is as it was\n\n"),
            false => format!("{found}\n  wrote {path} in {seconds}: {}\n\n", listed(&self.files)),
        }
    }

    /// The tables as one JSON document.
    pub(super) fn document<'a>(&'a self, experiment: &'a Experiment, errors: bool) -> Document<'a> {
        Document {
            name: &experiment.name,
            folder: self.path.display().to_string(),
            seconds: self.seconds,
            shard: self.shard,
            cells: self.cells,
            kept: self.kept,
            errors: errors.then_some(ErrorRows(&self.path)),
            tables: self.tables.json(),
        }
    }
}

/// An experiment's tables, and where they were written.
#[derive(Serialize, JsonSchema)]
pub struct Document<'a> {
    name: &'a str,
    folder: String,
    seconds: f64,
    /// Which part of the experiment was run, if not all of it.
    shard: Option<Shard>,
    cells: usize,
    /// Cells that were computed before.
    kept: usize,
    /// What every run released, with `--errors`.
    #[serde(skip_serializing_if = "Option::is_none")]
    errors: Option<ErrorRows<'a>>,
    /// Every other table, by its name.
    #[serde(flatten)]
    tables: JsonTables,
}

/// Names in one line; of many, the last ones are only counted.
fn listed(names: &[String]) -> String {
    match names.len().saturating_sub(MOST_PRINTED) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names[..MOST_PRINTED].join(", ")),
    }
}

/// An experiment that is going to be run, and the folder where it is kept.
pub(super) struct Job<'a> {
    sweep: Sweep<'a>,
    forecast: &'a Forecast,
    folder: Folder,
    store: CellStore,
    stock: Stock,
    drawing: Drawing,
}

impl<'a> Job<'a> {
    /// Opens the folder, and finds out which cells are stored.
    pub(super) fn open(
        experiment: &'a Experiment,
        forecast: &'a Forecast,
        out: &Path,
        options: &RunOptions,
    ) -> Result<Self, Failure> {
        refuse_unreadable(experiment)?;
        let folder = Folder::open(out, &experiment.name)?;
        notice::refuse_other_part(&folder, options)?;
        let store = CellStore::open(folder.path(), options.fresh)?;
        let sweep = Sweep::new(experiment, options.shard);
        let explain = notice::Explain::new(&folder, &store, experiment, options);
        let stock = sweep.take_stock(&store, |panel, cell, is_kept| {
            explain.cell(&sweep, panel, cell, is_kept);
        });
        let drawing = Drawing::new(&options.figures, folder.before());
        Ok(Self { sweep, forecast, folder, store, stock, drawing })
    }

    /// Says what is kept of an earlier run, and which files were changed since.
    pub(super) fn tell(&self, options: &RunOptions) {
        if !options.quiet {
            let lines = notice::news(&self.folder, &self.store, &self.stock, self.sweep.experiment);
            lines.iter().for_each(say);
        }
    }

    /// What is left to do.
    pub(super) fn ahead(&self) -> Ahead {
        let cpu_seconds = self.cpu_seconds() + self.writing_seconds();
        Ahead { cpu_seconds, cells: self.stock.cells - self.stock.kept }
    }

    /// The predicted seconds of the cells that are missing.
    fn cpu_seconds(&self) -> f64 {
        self.forecast
            .cpu_seconds(|panel, case, variant| self.stock.is_missing(panel, case, variant))
    }

    /// The predicted seconds of putting the files together.
    fn writing_seconds(&self) -> f64 {
        self.forecast.writing_seconds()
    }

    /// Runs it, and writes its folder.
    pub(super) fn run(
        mut self,
        options: &RunOptions,
        progress: &Progress,
    ) -> Result<RunOutcome, Failure> {
        let (started, clock) = (SystemTime::now(), Instant::now());
        let first = manifest(&self.sweep, self.drawing.width, started);
        self.folder.begin(&first)?;
        self.store.keep_committing()?;
        let part = progress.part(self.cpu_seconds());
        let watch = Watch::new(&self.sweep, self.forecast, progress, &part, options.verbose);
        let failed = self.sweep.compute(&self.store, &watch);
        drop(part);
        if interrupt::is_asked() || self.store.failed() {
            return Err(notice::give_up(&self, options, None));
        }
        self.publish(first, &failed, options, progress, clock)
    }

    /// Writes the folder of an experiment whose cells are in the folders of its shards.
    pub(super) fn join(
        experiment: &'a Experiment,
        forecast: &'a Forecast,
        folder: Folder,
        store: CellStore,
        options: &RunOptions,
        progress: &Progress,
    ) -> Result<RunOutcome, Failure> {
        let (started, clock) = (SystemTime::now(), Instant::now());
        notice::refuse_other_part(&folder, options)?;
        let sweep = Sweep::whole(experiment);
        let stock = sweep.take_stock(&store, |_, _, _| ());
        if stock.kept < stock.cells {
            let (all, missing) = (stock.cells, stock.cells - stock.kept);
            return Err(WorkError::CellsMissing { missing, all }.into());
        }
        let drawing = Drawing::new(&options.figures, folder.before());
        let first = manifest(&sweep, drawing.width, started);
        let mut job = Self { sweep, forecast, folder, store, stock, drawing };
        job.folder.begin(&first)?;
        job.publish(first, &[], options, progress, clock)
    }

    /// Puts the files together and writes them.
    fn publish(
        mut self,
        first: Manifest,
        failed: &[Failed],
        options: &RunOptions,
        progress: &Progress,
        clock: Instant,
    ) -> Result<RunOutcome, Failure> {
        let written = self.write(failed, options, progress);
        let (Assembly { tables, times }, figures) = match written {
            Ok(written) => written,
            Err(error) => return Err(notice::give_up(&self, options, Some(error))),
        };
        let files: Vec<String> = self.folder.files().map(str::to_owned).collect();
        let seconds = clock.elapsed().as_secs_f64();
        let last = Manifest {
            ended: utc(SystemTime::now()),
            seconds,
            complete: tables.failures.is_empty(),
            failures: tables.failures.len(),
            cells: times,
            ..first
        };
        let Self { sweep, folder, store, stock, .. } = self;
        let Written { path, aside, removed, is_same } = match folder.finish(last) {
            Ok(written) => written,
            Err(error) => return Err(notice::not_written(error, &store).into()),
        };
        if !options.quiet && !removed.is_empty() {
            let removed = listed(&removed);
            say(format!("note: figures of the earlier tables were removed: {removed}"));
        }
        if !options.quiet {
            aside.iter().for_each(|aside| {
                say(format!("note: what was changed is kept as {}", aside.display()))
            });
        }
        notice::left_over(store.clear(|| sweep.keys())?, &path, options);
        let (shard, Stock { cells, kept, .. }) = (options.shard, stock);
        Ok(RunOutcome { tables, figures, path, files, is_same, seconds, shard, cells, kept })
    }

    /// Writes all files to the folder. Returns the tables and the figures.
    fn write(
        &mut self,
        failed: &[Failed],
        options: &RunOptions,
        progress: &Progress,
    ) -> Result<(Assembly, Drawn), WorkError> {
        let seconds = self.writing_seconds();
        let (part, cells) = (progress.part(seconds), self.stock.cells as f64);
        let (experiment, folder) = (self.sweep.experiment, &mut self.folder);
        folder.write("config.toml", config::resolve(experiment).into_bytes())?;
        let all = self.sweep.assemble(&self.store, failed, folder, |added| {
            part.advance(seconds * added as f64 / cells);
            !interrupt::is_asked()
        })?;
        let figures = match options.shard {
            None => draw(experiment, &all.tables, folder, &self.drawing)?,
            Some(_) => Vec::new(),
        };
        Ok((all, figures))
    }
}

/// Draws all figures from the tables and writes them.
pub(super) fn draw(
    experiment: &Experiment,
    tables: &Tables,
    folder: &mut Folder,
    options: &Drawing,
) -> Result<Drawn, WorkError> {
    let figures: Drawn = experiment.figures(tables);
    for (name, drawing) in figures.iter().flatten() {
        for &format in &options.formats {
            let bytes = figure::render(drawing, format, options.width)?;
            folder.write(&format!("{name}.{}", format.extension()), bytes)?;
        }
    }
    Ok(figures)
}

/// Refuses an experiment of so many cells that its manifest could not be read again. The parts of an
/// experiment are joined at last: the whole of it counts.
pub(super) fn refuse_unreadable(experiment: &Experiment) -> Result<(), Diagnostic> {
    let whole = Sweep::whole(experiment);
    let labels = experiment.panels.iter().flat_map(|panel| &panel.variants);
    let longest = labels.map(|variant| json!(variant.label).to_string().len()).max().unwrap_or(0);
    let empty = manifest(&whole, Width::default(), SystemTime::now());
    let (cells, most) = (whole.count(), empty.most_cells(longest));
    if cells <= most {
        return Ok(());
    }
    let cause = format!("{} has {cells} cells, and results can have {most}", experiment.name);
    let help = "use fewer settings, mechanisms or runs, or divide it into several experiments";
    Err(Diagnostic::new(cause).help(help))
}

/// The manifest of a run that begins.
fn manifest(sweep: &Sweep, width: Width, started: SystemTime) -> Manifest {
    let experiment = sweep.experiment;
    Manifest {
        numerics: NUMERICS,
        seed: experiment.seed,
        runs: experiment.panels.iter().map(|panel| panel.runs).max().unwrap_or(0),
        shard: sweep.shard,
        division: sweep.division(),
        width,
        config: config::resolved(experiment),
        ..Manifest::new(&experiment.name, started)
    }
}
