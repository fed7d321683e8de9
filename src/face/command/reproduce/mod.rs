//! `dpbi reproduce`.

mod page;

use std::sync::{Mutex, PoisonError};
use std::time::{Instant, SystemTime};

use rayon::prelude::*;

use super::run::{Job, RunOptions};
use super::task_pools::TaskPools;
use super::{load, print, threads, write_page};
use crate::cli::{Replace, Reproduce};
use crate::failure::{Continuation, Failure, VerdictError, WorkError};
use crate::interrupt;
use crate::progress::{Ahead, Progress};
use crate::report::{self, FigureReport, JudgedClaim, PrintFinding, Report, Verdict};
use engine::analysis::cost::{Work, duration};
use engine::posterior::distance::{self, Distance};
use engine::refusal::suggest;
use lab::experiment::Experiment;
use lab::run::forecast::Forecast;
use lab::run::store::utc;
use paper::claims::{self, Lab};
use paper::printed_numbers;
use service::archaeology;
use system::console::{Hang, fold, say, width};
use system::diagnostic::Diagnostic;
use system::platform::available_memory;
use system::source::{OPEN, PAPERS, QUESTIONS, bundled_configs, config_name, short_name};

pub(super) use page::DOCUMENTS;

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
    let ahead: Vec<Ahead> = jobs.iter().map(ahead).collect();
    let is_planned = |figure: &str| planned.iter().any(|one| short_name(&one.config) == figure);
    let mut findings = archaeology::findings()?;
    findings.retain(|one| one.figures().iter().any(|name| is_planned(name)));
    let tasks = tasks(&planned, &ahead, &claims, &findings);
    let pools = TaskPools::new(threads, at_a_time(&planned, threads))?;
    let ahead = Ahead {
        cpu_seconds: tasks.iter().map(|(_, seconds)| seconds).sum(),
        cells: ahead.iter().map(|ahead| ahead.cells).sum(),
    };
    let progress = Progress::new(ahead, threads, args.talk.quiet);
    let talk = !args.talk.quiet && !args.print.json;
    let mut builder = ReportBuilder::new(&planned, &claims, findings.len());
    let done = pools.carry_out(
        &tasks,
        |(task, _)| task.carry_out(args, &jobs, &options, &progress),
        |done| {
            let told = fold(&builder.take(done?), width(), Hang(8));
            match talk && !told.is_empty() {
                true => progress.aside(|| print(&told)),
                false => Ok(()),
            }
        },
    );
    progress.finish();
    done?;
    let mut report = Report {
        version: env!("CARGO_PKG_VERSION").into(),
        generated: utc(SystemTime::now()),
        command: format!("dpbi reproduce{}{}", names(args), replaced(args)),
        partial: !args.names.is_empty(),
        numbers: (printed_numbers::all().into_iter())
            .filter(|one| asked(&args.names, one.place))
            .collect(),
        ..Report::default()
    };
    let cells = builder.cells;
    builder.fill(&mut report);
    report.seconds = clock.elapsed().as_secs_f64();
    finish(args, &report, cells)
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
    let forecast =
        |(_, experiment): &(_, Experiment)| options.forecast(experiment, &args.output.out);
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
    let free = available_memory();
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
    /// What a print teaches, with its place in the report.
    Finding(usize, &'a archaeology::Finding),
}

/// The outcome of a task, and how long it took.
enum Done {
    Figure { place: usize, figure: Box<FigureReport>, seconds: f64, cells: CellCounts },
    Claim { place: usize, distance: usize, verdict: Verdict, seconds: f64 },
    Finding { place: usize, finding: PrintFinding },
}

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

/// About the seconds that it takes to compare the readings of a figure with another setting.
const SECONDS_PER_TRIAL: f64 = 0.15;

/// All tasks with their predicted seconds. The documents' figures come first, in their order, since they are
/// what is said first; of the others the longest, so that short ones fill the gaps at the end.
fn tasks<'a>(
    planned: &'a [Planned],
    ahead: &[Ahead],
    claims: &[&'static claims::Claim],
    findings: &'a [archaeology::Finding],
) -> Vec<(Task<'a>, f64)> {
    let figures = (planned.iter().zip(ahead).enumerate())
        .map(|(place, (planned, ahead))| (Task::Figure(place, planned), ahead.cpu_seconds));
    let claims = claims.iter().enumerate().flat_map(|(place, claim)| {
        let under = move |distance| (Task::Claim(place, claim, distance), claim.effort);
        (0..distance::DOCUMENTED.len()).map(under)
    });
    let findings = findings.iter().enumerate().map(|(place, finding)| {
        (Task::Finding(place, finding), SECONDS_PER_TRIAL * finding.trials.len() as f64)
    });
    let is_shown_first =
        |task: &Task| matches!(task, Task::Figure(_, one) if one.config.starts_with(PAPERS));
    let (mut tasks, mut others): (Vec<_>, Vec<_>) =
        figures.chain(claims).chain(findings).partition(|(task, _)| is_shown_first(task));
    others.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    tasks.append(&mut others);
    tasks
}

/// An experiment whose folder is open, until it is run.
type OpenJob<'a> = Mutex<Option<Job<'a>>>;

/// What is left to do of an experiment that has not been run.
fn ahead(job: &OpenJob) -> Ahead {
    let job = job.lock().unwrap_or_else(PoisonError::into_inner);
    job.as_ref().map_or_else(Ahead::default, Job::ahead)
}

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
            Task::Figure(place, Planned { config, experiment, .. }) => {
                progress.task(|| short_name(config));
                let job = jobs[place].lock().unwrap_or_else(PoisonError::into_inner).take();
                let job = job.expect("every task is carried out once");
                let outcome = job.run(options, progress)?;
                let again = format!("dpbi run {config}{}", replaced(args));
                let figure = Box::new(page::figure(config, again, experiment, &outcome)?);
                let seconds = clock.elapsed().as_secs_f64();
                let failed = outcome.tables.failures.len();
                let cells = CellCounts { all: outcome.cells, kept: outcome.kept, failed };
                Ok(Done::Figure { place, figure, seconds, cells })
            }
            Task::Claim(place, claim, distance) => {
                progress.task(|| format!("claim {}: {}", claim.number, claim.title));
                let _part = progress.part(claim.effort);
                let verdict = judge(claim, distance::DOCUMENTED[distance]);
                let seconds = clock.elapsed().as_secs_f64();
                Ok(Done::Claim { place, distance, verdict, seconds })
            }
            Task::Finding(place, found) => {
                progress.task(|| "findings about the prints".to_owned());
                let _part = progress.part(SECONDS_PER_TRIAL * found.trials.len() as f64);
                let finding = page::finding(found)?;
                Ok(Done::Finding { place, finding })
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
    findings: Vec<Option<PrintFinding>>,
    claim_seconds: Vec<f64>,
    cells: CellCounts,
    /// What is said of every figure, then of every claim. Nothing is left of what was said.
    lines: Vec<Option<String>>,
    said: usize,
}

impl<'a> ReportBuilder<'a> {
    fn new(planned: &'a [Planned], claims: &'a [&'static claims::Claim], findings: usize) -> Self {
        Self {
            planned,
            claims,
            figures: planned.iter().map(|_| None).collect(),
            verdicts: claims.iter().map(|_| Verdicts::default()).collect(),
            findings: vec![None; findings],
            claim_seconds: vec![0.0; claims.len()],
            cells: CellCounts::default(),
            lines: vec![None; planned.len() + claims.len()],
            said: 0,
        }
    }

    /// Keeps what was done, and says so in the order of the documents: of a figure or a claim when it and
    /// all before it are complete.
    fn take(&mut self, done: Done) -> String {
        self.keep(done);
        let mut text = String::new();
        while let Some(line) = self.lines.get_mut(self.said).and_then(Option::take) {
            text += &line;
            self.said += 1;
        }
        text
    }

    fn keep(&mut self, done: Done) {
        match done {
            Done::Figure { place, figure, seconds, cells } => {
                self.cells.add(cells);
                self.lines[place] = Some(format!(
                    "[{:>2}/{}] {}: {}, {}\n",
                    place + 1,
                    self.figures.len(),
                    short_name(&self.planned[place].config),
                    figure.title,
                    duration(seconds),
                ));
                self.figures[place] = Some(*figure);
            }
            Done::Finding { place, finding } => self.findings[place] = Some(finding),
            Done::Claim { place, distance, verdict, seconds } => {
                self.verdicts[place][distance] = Some(verdict);
                self.claim_seconds[place] += seconds;
                let [Some(defined), Some(printed)] = &self.verdicts[place] else { return };
                let claim = self.claims[place];
                let [defined, printed] = [defined, printed].map(|one| one.stated.outcome.label());
                let verdict = match defined == printed {
                    true => format!("{defined} with both distances"),
                    false => format!("{defined} as defined, {printed} with the print distance"),
                };
                self.lines[self.planned.len() + place] = Some(format!(
                    "claim {:>2}, {}: {verdict}, {}\n",
                    claim.number,
                    claim.title,
                    duration(self.claim_seconds[place]),
                ));
            }
        }
    }

    /// Adds all outcomes to the report, in its order.
    fn fill(self, report: &mut Report) {
        report.print_findings = self.findings.into_iter().flatten().collect();
        for (planned, figure) in self.planned.iter().zip(self.figures) {
            if let Some(figure) = figure {
                page::add(report, &planned.config, figure);
            }
        }
        for (claim, verdicts) in self.claims.iter().zip(self.verdicts) {
            if let [Some(defined), Some(printed)] = verdicts {
                report.claims.push(JudgedClaim { claim, defined, printed });
            }
        }
    }
}

/// Writes the report, prints its summary, and fails if `--strict` asks for it.
fn finish(args: &Reproduce, report: &Report, cells: CellCounts) -> Result<(), Failure> {
    let path = args.output.out.join(page::file_name(&args.names, &args.replace));
    write_page(&path, report.html(), report::is_report)?;
    let summary = report.summary();
    let text = || format!("\n{summary}\nwrote {}\n", path.display());
    args.print.answer_unless(args.talk.quiet, || report.document(), text)?;
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
    let Replace { seed, runs, set, name } = &args.replace;
    let seed = seed.map(|seed| format!(" --seed {seed}"));
    let runs = runs.map(|runs| format!(" --runs {runs}"));
    let name = name.as_ref().map(|name| format!(" --name {name}"));
    let set =
        set.iter().map(|change| format!(" --set '{}'", change.to_string().replace('\'', "'\\''")));
    seed.into_iter().chain(runs).chain(name).chain(set).collect()
}

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

/// Whether something at this place in the documents was asked for: all of it, or one of the
/// documents that the place names. A single figure has no numbers or claims of its own.
fn asked(names: &[String], place: &str) -> bool {
    names.is_empty()
        || names.iter().any(|name| !name.contains('/') && place.contains(name.as_str()))
}

fn judge(claim: &claims::Claim, distance: &'static dyn Distance) -> Verdict {
    let finding = (claim.judge)(&Lab::new(distance));
    Verdict {
        stated: finding.as_stated(),
        as_meant: finding.as_meant(),
        evidence: finding.parts,
        remarks: finding.remarks,
        command: format!("dpbi claims {} --distance {}", claim.number, distance.id()),
    }
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
}
