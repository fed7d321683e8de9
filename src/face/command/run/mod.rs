//! `dpbi run`.

mod notice;
mod watch;

use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

use schemars::JsonSchema;
use serde::Serialize;

use super::drawing::Drawing;
use super::{MOST_PRINTED, load, print_document, summary, threads};
use crate::cli::{FigureOptions, Output, Run, Verbosity};
use crate::failure::{Failure, WorkError};
use crate::interrupt;
use engine::{parallel, words};
use figure::{self, Figure, Width};
use lab::experiment::Experiment;
use lab::experiment::config;
use lab::run::size::ExperimentSize;
use lab::run::store::{CellStore, Folder, MOST_CELLS, Manifest, Shard, Written, utc};
use lab::run::sweep::{Assembly, AssemblyError, Failed, Stock, Sweep};
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
        let mut size = options.size(&experiment, &args.output.out);
        args.shard.iter().for_each(|&shard| size.take_part(&experiment, shard));
        size.admit(&source.to_string(), threads, args.machine.force)?;
        planned.push((experiment, size));
    }
    let open = |(experiment, size)| Job::open(experiment, size, &args.output.out, &options);
    let jobs = planned.iter().map(|(e, s)| open((e, s))).collect::<Result<Vec<_>, _>>()?;
    let all: f64 = jobs.iter().map(Job::weight).sum();
    let (mut reports, mut failures) = (Vec::new(), 0);
    for job in jobs {
        job.tell(&options);
        let _part = parallel::of_whole(job.weight() / all);
        let experiment = job.sweep.experiment;
        let outcome = job.run(&options)?;
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

    /// The size of an experiment with results in `out`.
    pub(super) fn size(&self, experiment: &Experiment, out: &Path) -> ExperimentSize {
        let before = Manifest::read(&out.join(&experiment.name)).ok();
        let Drawing { formats, width } = Drawing::new(&self.figures, before.as_ref());
        ExperimentSize::new(experiment, &formats, width)
    }
}

/// The part of the time of a run in which cells are computed; and of the rest, in which tables are put together.
const COMPUTED: f64 = 0.9;
const ASSEMBLED: f64 = 0.5;

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
        let (path, seconds) = (self.path.display(), words::duration(self.seconds));
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
    size: &'a ExperimentSize,
    folder: Folder,
    store: CellStore,
    stock: Stock,
    drawing: Drawing,
}

impl<'a> Job<'a> {
    /// Opens the folder, and finds out which cells are stored.
    pub(super) fn open(
        experiment: &'a Experiment,
        size: &'a ExperimentSize,
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
        Ok(Self { sweep, size, folder, store, stock, drawing })
    }

    /// Says what is kept of an earlier run, and which files were changed since.
    pub(super) fn tell(&self, options: &RunOptions) {
        if !options.quiet {
            let lines = notice::news(&self.folder, &self.store, &self.stock, self.sweep.experiment);
            lines.iter().for_each(say);
        }
    }

    /// What it is of the whole work, relative to other experiments.
    pub(super) fn weight(&self) -> f64 {
        let missing = |&(panel, case): &(usize, usize)| self.stock.is_missing(panel, case);
        let cases = self.sweep.cases().filter(missing);
        1e6 + cases.map(|(panel, case)| self.size.outputs_at(panel, case)).sum::<f64>()
    }

    /// Runs it, and writes its folder.
    pub(super) fn run(self, options: &RunOptions) -> Result<RunOutcome, Failure> {
        let (started, clock) = (SystemTime::now(), Instant::now());
        let first = manifest(&self.sweep, self.drawing.width, started);
        self.folder.begin(&first)?;
        let watch = Watch::new(&self.sweep, self.size, &self.stock, options.verbose);
        let part = parallel::part(COMPUTED);
        let failed = parallel::unless_cancelled(|| self.sweep.compute(&self.store, &watch));
        drop(part);
        let Some(failed) = failed.filter(|_| !interrupt::is_asked() && !self.store.failed()) else {
            return Err(notice::give_up(&self, options, None));
        };
        self.publish(first, &failed, options, clock)
    }

    /// Writes the folder of an experiment whose cells are in the folders of its shards.
    pub(super) fn join(
        experiment: &'a Experiment,
        size: &'a ExperimentSize,
        folder: Folder,
        store: CellStore,
        options: &RunOptions,
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
        let job = Self { sweep, size, folder, store, stock, drawing };
        job.folder.begin(&first)?;
        job.publish(first, &[], options, clock)
    }

    /// Puts the files together and writes them.
    fn publish(
        mut self,
        first: Manifest,
        failed: &[Failed],
        options: &RunOptions,
        clock: Instant,
    ) -> Result<RunOutcome, Failure> {
        let written = parallel::unless_cancelled(|| self.write(failed, options));
        let written = written.unwrap_or_else(|| Err(AssemblyError::Stopped.into()));
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
    ) -> Result<(Assembly, Drawn), WorkError> {
        let (experiment, folder) = (self.sweep.experiment, &mut self.folder);
        folder.write("config.toml", config::resolve(experiment).into_bytes())?;
        let part = parallel::part(ASSEMBLED);
        let all = self.sweep.assemble(&self.store, failed, folder, || !interrupt::is_asked())?;
        drop(part);
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
    let in_all_formats = |one| options.formats.iter().map(move |&format| (one, format));
    let all: Vec<_> = figures.iter().flatten().flat_map(in_all_formats).collect();
    let drawn = parallel::map(&all, |((_, drawing), format)| {
        figure::render(drawing, *format, options.width)
    });
    for (((name, _), format), bytes) in all.iter().zip(drawn) {
        folder.write(&format!("{name}.{}", format.extension()), bytes?)?;
    }
    Ok(figures)
}

/// Refuses an experiment of so many cells that its manifest could not be read again. The parts of an
/// experiment are joined at last: the whole of it counts.
pub(super) fn refuse_unreadable(experiment: &Experiment) -> Result<(), Diagnostic> {
    let cells = Sweep::whole(experiment).count();
    if cells <= MOST_CELLS {
        return Ok(());
    }
    let cause = format!("{} has {cells} cells, and results can have {MOST_CELLS}", experiment.name);
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
