//! `dpbi reproduce`.

mod times;

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Instant, SystemTime};

use rayon::prelude::*;

use super::forecast::Forecast;
use super::run::{Job, RunOptions, RunOutcome};
use super::task_pools::TaskPools;
use super::{load, print, print_json, threads, write_page};
use crate::analysis::cost::{Work, available_memory, duration};
use crate::base::console::say;
use crate::base::diagnostic::{Diagnostic, suggest};
use crate::base::source::{OPEN, PAPERS, QUESTIONS, bundled_configs, config_name, short_name};
use crate::experiment::digest::{answers, overall, titled_digests};
use crate::experiment::reading::Quantity;
use crate::experiment::table::Tables;
use crate::experiment::{Experiment, Panel};
use crate::face::cli::Reproduce;
use crate::face::failure::{Continuation, Failure, VerdictError, WorkError};
use crate::face::interrupt;
use crate::face::progress::Progress;
use crate::face::report::{
    self, Claim, Document, Drawing, Evidence, FigureReport, Number, PanelReport, ReadingRow,
    Readings, Report, Verdict,
};
use crate::figure::{self, Figure, Format, Width};
use crate::paper::claims::{self, Finding, Lab};
use crate::paper::printed_numbers;
use crate::posterior::distance::{self, Distance};
use crate::run::store::utc;

/// The documents, in the order of the report, with their titles.
const DOCUMENTS: [(&str, &str); 5] = [
    (
        "icml",
        "Exploring the Design Space of Differentially Private Bayesian Inference under Hellinger \
         Distance",
    ),
    (
        "arxiv",
        "Tailoring Differentially Private Bayesian Inference to Distance Between Distributions",
    ),
    ("bounds", "Differentially Private Bayesian Inference: notes with accuracy bounds"),
    ("notes", "Notes of DP – Bayesian Inference"),
    ("early", "An earlier version of the notes"),
];

pub fn execute(args: &Reproduce) -> Result<(), Failure> {
    let clock = Instant::now();
    let threads = threads(&args.machine.threads)?;
    let options = RunOptions::new(&args.output, &args.talk, args.fresh);
    let planned = plan(args, &options, threads)?;
    let mut jobs: Vec<OpenJob> = Vec::new();
    for Planned { experiment, forecast, .. } in &planned {
        let job = Job::open(experiment, forecast, &args.output.out, &options)?;
        jobs.push(Mutex::new(Some(job)));
    }
    // Until here the first signal ends the process.
    interrupt::watch(args.talk.quiet).map_err(WorkError::Signals)?;
    let claims = claims::ALL.iter().copied().filter(|claim| asked(&args.names, claim.source));
    let claims: Vec<&claims::Claim> = claims.collect();
    let tasks = tasks(&planned, &claims);
    let pools = TaskPools::new(threads, at_a_time(&planned, threads))?;
    let progress =
        Progress::new(tasks.iter().map(|(_, seconds)| seconds).sum(), threads, args.talk.quiet);
    let talk = !args.talk.quiet && !args.print.json;
    let mut builder = ReportBuilder::new(&planned, &claims);
    let done = pools.carry_out(
        &tasks,
        |(task, _)| task.carry_out(args, &jobs, &options, &progress),
        |done| {
            let told = builder.take(done?);
            told.filter(|_| talk).map_or(Ok(()), |line| progress.aside(|| print(&line)))
        },
    );
    progress.finish();
    done?;
    let mut report = Report {
        version: env!("CARGO_PKG_VERSION").into(),
        generated: utc(SystemTime::now()),
        command: format!("dpbi reproduce{}{}", names(args), replaced(args)),
        partial: !args.names.is_empty(),
        numbers: (printed_numbers::all().iter().filter(|one| asked(&args.names, one.place)))
            .map(number)
            .collect(),
        ..Report::default()
    };
    let cells = builder.cells;
    builder.fill(&mut report);
    finish(args, report, cells, clock, pools.len())
}

/// An experiment that is going to be run.
struct Planned {
    config: String,
    experiment: Experiment,
    forecast: Forecast,
    total: Work,
}

/// Reads everything that was asked for, and refuses what cannot be done before the first experiment
/// starts.
fn plan(args: &Reproduce, options: &RunOptions, threads: usize) -> Result<Vec<Planned>, Failure> {
    let chosen = choose(&args.names)?;
    let experiments = load(&chosen, &args.replace)?;
    let forecast = |(_, experiment): &(_, Experiment)| Forecast::new(experiment, &options.figures);
    let forecasts: Vec<_> = experiments.par_iter().map(forecast).collect();
    let all = chosen.into_iter().zip(experiments).zip(forecasts);
    all.map(|((config, (source, experiment)), forecast)| {
        forecast.admit(&source.to_string(), threads, args.machine.force)?;
        let total = forecast.total(threads);
        Ok(Planned { config, experiment, forecast, total })
    })
    .collect()
}

/// Experiments that run at the same time may need at most this share of the free memory.
const MEMORY: f64 = 0.5;

/// How many tasks may be done at a time: one on every thread, if the largest of them fit into memory
/// together.
fn at_a_time(planned: &[Planned], threads: usize) -> usize {
    let free = available_memory().unwrap_or(f64::INFINITY);
    let mut bytes: Vec<f64> = planned.iter().map(|planned| planned.total.bytes()).collect();
    bytes.sort_by(|a, b| b.total_cmp(a));
    let fits = |tasks: &usize| bytes.iter().take(*tasks).sum::<f64>() <= MEMORY * free;
    (1..=threads).rev().find(fits).unwrap_or(1)
}

/// A task that does not depend on the others.
enum Task<'a> {
    /// An experiment, with its place in the report.
    Figure(usize, &'a Planned),
    /// A claim, with its place in the report, and one of the documents' distances.
    Claim(usize, &'static claims::Claim, usize),
}

/// The outcome of a task, and how long it took.
enum Done {
    Figure {
        place: usize,
        figure: Box<FigureReport>,
        seconds: f64,
        drawing: f64,
        cells: CellCounts,
    },
    Claim {
        place: usize,
        distance: usize,
        verdict: Verdict,
        seconds: f64,
    },
}

/// Counts of cells.
#[derive(Clone, Copy, Default)]
struct CellCounts {
    all: usize,
    /// Not computed, but kept from an earlier run.
    kept: usize,
    failed: usize,
}

impl CellCounts {
    fn add(&mut self, more: Self) {
        self.all += more.all;
        self.kept += more.kept;
        self.failed += more.failed;
    }
}

/// All tasks with their predicted seconds, the longest first: short ones fill the gaps at the end.
fn tasks<'a>(planned: &'a [Planned], claims: &[&'static claims::Claim]) -> Vec<(Task<'a>, f64)> {
    let figures = planned
        .iter()
        .enumerate()
        .map(|(place, planned)| (Task::Figure(place, planned), planned.total.cpu_seconds));
    let claims = claims.iter().enumerate().flat_map(|(place, claim)| {
        let under = move |distance| (Task::Claim(place, claim, distance), claim.effort);
        (0..distance::DOCUMENTED.len()).map(under)
    });
    let mut tasks: Vec<_> = figures.chain(claims).collect();
    tasks.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    tasks
}

/// An experiment whose folder is open, until it is run.
type OpenJob<'a> = Mutex<Option<Job<'a>>>;

impl Task<'_> {
    fn carry_out(
        &self,
        args: &Reproduce,
        jobs: &[OpenJob],
        options: &RunOptions,
        progress: &Progress,
    ) -> Result<Done, Failure> {
        let clock = Instant::now();
        if interrupt::is_asked() {
            return Err(Failure::Interrupted(Continuation::Figures));
        }
        match *self {
            Task::Figure(place, Planned { config, experiment, forecast, .. }) => {
                let job = jobs[place].lock().unwrap_or_else(PoisonError::into_inner).take();
                let job = job.expect("every task is carried out once");
                // Cells that are kept count as done.
                let left = job.cpu_seconds() + job.writing_seconds();
                drop(progress.part((forecast.total(1).cpu_seconds - left).max(0.0)));
                let outcome = job.run(options, progress)?;
                let pen = Instant::now();
                let again = format!("dpbi run {config}{}", replaced(args));
                let figure = Box::new(figure(config, again, experiment, &outcome)?);
                let drawing = outcome.drawing + pen.elapsed().as_secs_f64();
                let seconds = clock.elapsed().as_secs_f64() - drawing;
                let failed = outcome.tables.failures.len();
                let cells = CellCounts { all: outcome.cells, kept: outcome.kept, failed };
                Ok(Done::Figure { place, figure, seconds, drawing, cells })
            }
            Task::Claim(place, claim, distance) => {
                let _part = progress.part(claim.effort);
                let verdict = judge(claim, distance::DOCUMENTED[distance]);
                let seconds = clock.elapsed().as_secs_f64();
                Ok(Done::Claim { place, distance, verdict, seconds })
            }
        }
    }
}

/// A claim under each of the documents' distances, as far as it has been judged.
type Verdicts = [Option<Verdict>; distance::DOCUMENTED.len()];

/// Collects the outcomes of tasks, which come in any order, for the report.
struct ReportBuilder<'a> {
    planned: &'a [Planned],
    claims: &'a [&'static claims::Claim],
    figures: Vec<Option<FigureReport>>,
    verdicts: Vec<Verdicts>,
    figure_seconds: Vec<f64>,
    claim_seconds: Vec<f64>,
    drawing: f64,
    cells: CellCounts,
}

impl<'a> ReportBuilder<'a> {
    fn new(planned: &'a [Planned], claims: &'a [&'static claims::Claim]) -> Self {
        Self {
            planned,
            claims,
            figures: planned.iter().map(|_| None).collect(),
            verdicts: claims.iter().map(|_| Verdicts::default()).collect(),
            figure_seconds: vec![0.0; planned.len()],
            claim_seconds: vec![0.0; claims.len()],
            drawing: 0.0,
            cells: CellCounts::default(),
        }
    }

    /// Keeps what was done, and says so when a figure or a claim is complete.
    fn take(&mut self, done: Done) -> Option<String> {
        match done {
            Done::Figure { place, figure, seconds, drawing, cells } => {
                self.cells.add(cells);
                let title = &figure.title;
                let done = 1 + self.figures.iter().flatten().count();
                let line = format!(
                    "[{done:>2}/{}] {}: {title}, {}\n",
                    self.figures.len(),
                    short_name(&self.planned[place].config),
                    duration(seconds + drawing),
                );
                self.figures[place] = Some(*figure);
                self.figure_seconds[place] = seconds;
                self.drawing += drawing;
                Some(line)
            }
            Done::Claim { place, distance, verdict, seconds } => {
                self.verdicts[place][distance] = Some(verdict);
                self.claim_seconds[place] += seconds;
                let [Some(defined), Some(printed)] = &self.verdicts[place] else { return None };
                let claim = self.claims[place];
                Some(format!(
                    "claim {:>2} ({}): as defined it {}, with the print distance it {}, {}\n",
                    claim.number,
                    claim.source,
                    defined.outcome.label(),
                    printed.outcome.label(),
                    duration(self.claim_seconds[place]),
                ))
            }
        }
    }

    /// Adds all outcomes to the report, in its order.
    fn fill(self, report: &mut Report) {
        let mut times = vec![("drawing".to_owned(), self.drawing)];
        for ((planned, figure), seconds) in
            self.planned.iter().zip(self.figures).zip(self.figure_seconds)
        {
            times.push((short_name(&planned.config), seconds));
            if let Some(figure) = figure {
                add(report, &planned.config, figure);
            }
        }
        for ((claim, verdicts), seconds) in
            self.claims.iter().zip(self.verdicts).zip(self.claim_seconds)
        {
            times.push((format!("claim {}", claim.number), seconds));
            if let [Some(defined), Some(printed)] = verdicts {
                report.claims.push(Claim {
                    number: claim.number,
                    source: claim.source.to_owned(),
                    statement: claim.statement.to_owned(),
                    defined,
                    printed,
                });
            }
        }
        report.times = times::shared(times);
    }
}

/// Writes the report, prints its summary, and fails if `--strict` asks for it.
fn finish(
    args: &Reproduce,
    mut report: Report,
    cells: CellCounts,
    clock: Instant,
    at_a_time: usize,
) -> Result<(), Failure> {
    let path = args.output.out.join("report.html");
    report.seconds = clock.elapsed().as_secs_f64();
    write_page(&path, report.html(), report::is_report)?;
    let whole = clock.elapsed().as_secs_f64();
    let mut parts: Vec<_> =
        report.times.into_iter().map(|stretch| (stretch.part, stretch.seconds)).collect();
    parts.push(("report".to_owned(), whole - report.seconds));
    report.times = times::shared(parts);
    report.seconds = whole;
    let summary = report.summary();
    if args.print.json {
        print_json(&report.json())?;
    } else if !args.talk.quiet {
        let times = times::text(&report, at_a_time);
        print(&format!("\n{summary}\n{times}\nwrote {}\n", path.display()))?;
    }
    let CellCounts { all, kept, failed } = cells;
    if kept > 0 && !args.talk.quiet {
        say(format!(
            "{kept} of {all} cells were kept from an earlier run (--fresh computes them again)"
        ));
    }
    if failed > 0 {
        return Err(WorkError::CellsOf { failed, all }.into());
    }
    let missed = summary.readings_beyond + summary.numbers - summary.numbers_agreeing;
    if args.strict && missed > 0 {
        let readings = summary.readings_beyond;
        let numbers = summary.numbers - summary.numbers_agreeing;
        return Err(VerdictError::Strict { readings, numbers, report: path }.into());
    }
    Ok(())
}

fn names(args: &Reproduce) -> String {
    args.names.iter().map(|name| format!(" {name}")).collect()
}

/// The options that replace values of the config, to be typed again.
fn replaced(args: &Reproduce) -> String {
    let seed = args.replace.seed.map_or(String::new(), |seed| format!(" --seed {seed}"));
    let runs = args.replace.runs.map_or(String::new(), |runs| format!(" --runs {runs}"));
    seed + &runs
}

/// The distance that the printed figures were drawn with.
const PRINT: &str = "print";

/// The configs of the named documents and figures, in the order of the report.
fn choose(names: &[String]) -> Result<Vec<String>, Diagnostic> {
    let all: Vec<String> = bundled_configs()
        .iter()
        .map(|path| config_name(path))
        .filter(|name| name.starts_with(PAPERS) || name.starts_with(QUESTIONS))
        .collect();
    let is = |named: &str, config: &String| {
        let config = short_name(config);
        config == named || config.split('/').next() == Some(named)
    };
    for named in names {
        if !all.iter().any(|config| is(named, config)) {
            let names = all.iter().map(|config| short_name(config));
            let documents = DOCUMENTS.map(|(id, _)| id.to_owned());
            let known: Vec<String> = names.chain(documents).chain([OPEN.to_owned()]).collect();
            return Err(Diagnostic::new(format!("no document or figure is called `{named}`"))
                .help(suggest(named, known.iter().map(String::as_str))));
        }
    }
    let mut chosen: Vec<String> = all
        .into_iter()
        .filter(|config| names.is_empty() || names.iter().any(|named| is(named, config)))
        .collect();
    chosen.sort_by_key(|config| order(&short_name(config)));
    Ok(chosen)
}

/// The place of a figure in the report: by document, figures first, by number, then by letter.
fn order(name: &str) -> (usize, bool, u32, String) {
    let (document, figure) = name.split_once('/').unwrap_or((name, ""));
    let rank = DOCUMENTS.iter().position(|(id, _)| *id == document).unwrap_or(DOCUMENTS.len());
    let number: String = figure.chars().filter(char::is_ascii_digit).collect();
    // "5a" stands before "5-priors".
    let suffix = figure.replace('-', "~");
    (rank, !figure.starts_with("fig"), number.parse().unwrap_or(0), suffix)
}

/// Puts a figure under its document, or among the open questions.
fn add(report: &mut Report, config: &str, figure: FigureReport) {
    if config.starts_with(QUESTIONS) {
        return report.questions.push(figure);
    }
    let id = config.trim_start_matches(PAPERS).split('/').next().unwrap_or_default();
    if report.documents.last().is_none_or(|document| document.id != id) {
        let title = DOCUMENTS.iter().find(|(known, _)| *known == id).map_or(id, |known| known.1);
        let document = Document { id: id.into(), title: title.into(), figures: Vec::new() };
        report.documents.push(document);
    }
    if let Some(document) = report.documents.last_mut() {
        document.figures.push(figure);
    }
}

fn figure(
    config: &str,
    command: String,
    experiment: &Experiment,
    outcome: &RunOutcome,
) -> Result<FigureReport, Failure> {
    let panels = experiment.panels.iter().zip(&outcome.figures);
    let own = config.starts_with(QUESTIONS);
    let panels = panels.map(|(one, figures)| panel(one, own, &outcome.tables, figures));
    let (answers, tables) = match own {
        true => (answers(experiment, &outcome.tables), overall(experiment, &outcome.tables)),
        false => Default::default(),
    };
    Ok(FigureReport {
        answers,
        tables,
        id: Path::new(config).file_name().map_or_else(String::new, |n| n.to_string_lossy().into()),
        name: experiment.name.clone(),
        title: experiment.title.clone(),
        source: experiment.source.clone().unwrap_or_default(),
        notes: experiment.notes.clone(),
        command,
        seconds: outcome.seconds,
        panels: panels.collect::<Result<_, _>>()?,
        files: outcome.files.clone(),
    })
}

fn panel(
    panel: &Panel,
    own: bool,
    tables: &Tables,
    figures: &[(String, Figure)],
) -> Result<PanelReport, Failure> {
    let drawing = |(name, figure): &(String, Figure)| {
        let svg = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let wide = figure::render(figure, Format::Svg, Width::Text)?;
        let narrow = figure::render(figure, Format::Svg, Width::Column)?;
        Ok(Drawing {
            name: name.clone(),
            alt: figure.description(),
            is_map: matches!(figure, Figure::Heat(_)),
            wide: svg(wide),
            narrow: svg(narrow),
        })
    };
    Ok(PanelReport {
        id: pair(&panel.id),
        title: panel.title.clone(),
        printed: panel.distance.id() == PRINT,
        own,
        drawings: figures.iter().map(drawing).collect::<Result<_, Failure>>()?,
        tables: titled_digests(panel, tables),
        readings: readings(panel, tables),
    })
}

/// The part of an id that a panel shares with its counterpart: `a` for `a-defined` and `a-printed`.
fn pair(id: &str) -> String {
    let words = id.split('-').filter(|word| !["defined", "printed", "print"].contains(word));
    words.collect::<Vec<_>>().join("-")
}

fn readings(panel: &Panel, tables: &Tables) -> Option<Readings> {
    let own = tables.readings.iter().filter(|row| row.panel == panel.id);
    let rows: Vec<ReadingRow> = own.cloned().collect();
    let boxes = rows.iter().any(|row| row.quantity == Quantity::Median.id());
    (!rows.is_empty()).then(|| Readings::new(panel.kind.criterion(boxes), rows))
}

fn number(number: &printed_numbers::PrintedNumber) -> Number {
    Number {
        place: number.place.to_owned(),
        what: number.what.clone(),
        printed: number.printed.to_owned(),
        computed: format!("{:.14}", number.computed),
        agrees: number.agrees(),
        note: number.note.clone(),
    }
}

/// Whether something at this place in the documents was asked for: all of it, or one of the
/// documents that the place names. A single figure has no numbers or claims of its own.
fn asked(names: &[String], place: &str) -> bool {
    names.is_empty()
        || names.iter().any(|name| !name.contains('/') && place.contains(name.as_str()))
}

fn judge(claim: &claims::Claim, distance: &'static dyn Distance) -> Verdict {
    let finding = (claim.judge)(&Lab::new(distance));
    verdict(finding, format!("dpbi claims {} --distance {}", claim.number, distance.id()))
}

fn verdict(finding: Finding, command: String) -> Verdict {
    use crate::face::report::Outcome;
    let (outcome, condition) = match finding.outcome() {
        claims::Outcome::Holds => (Outcome::Holds, String::new()),
        claims::Outcome::HoldsWhen(cases) => (Outcome::InPart, format!("when {cases}")),
        claims::Outcome::Fails(reason) => (Outcome::Fails, format!("because {reason}")),
    };
    let evidence = finding.parts.into_iter().map(|part| Evidence {
        what: if part.counts { part.name() } else { format!("read otherwise: {}", part.name()) },
        holds: part.holds,
        numbers: part.numbers,
    });
    Verdict { outcome, condition, evidence: evidence.collect(), remarks: finding.remarks, command }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_stand_in_the_order_of_the_documents() {
        let chosen = choose(&["arxiv".to_owned(), "icml/table1".to_owned()]).unwrap();
        let names: Vec<String> = chosen.iter().map(|name| short_name(name)).collect();
        let arxiv = "fig1 fig2 fig3 fig4 fig5a fig5b fig5-priors fig6 bounds".split(' ');
        let expected: Vec<String> = std::iter::once("icml/table1".to_owned())
            .chain(arxiv.map(|name| format!("arxiv/{name}")))
            .collect();
        assert_eq!(names, expected);
        let papers = |name: &&String| name.starts_with(PAPERS);
        let all = choose(&[]).unwrap();
        assert_eq!(all.iter().filter(papers).count(), 31);
        assert_eq!(choose(&["open".to_owned()]).unwrap().len(), all.len() - 31);
        assert_eq!(choose(&["open/optimum".to_owned()]).unwrap(), ["open_questions/optimum"]);
        assert!(choose(&["arxiv/fig9".to_owned()]).is_err());
    }

    #[test]
    fn panels_find_their_counterparts() {
        assert_eq!((pair("a-defined"), pair("a-printed")), ("a".into(), "a".into()));
        assert_eq!((pair("defined"), pair("print")), (String::new(), String::new()));
        assert_eq!(pair("large"), "large");
    }
}
