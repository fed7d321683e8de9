//! `dpbi reproduce`.

mod page;

use std::time::{Instant, SystemTime};

use rayon::prelude::*;

use super::run::{Job, RunOptions};
use super::{load, print, threads, write_page};
use crate::cli::{Replace, Reproduce};
use crate::failure::{Continuation, Failure, VerdictError, WorkError};
use crate::interrupt;
use crate::progress;
use crate::report::{self, JudgedClaim, Report, Verdict};
use engine::parallel;
use engine::posterior::distance::{self, Distance};
use engine::refusal::suggest;
use engine::words::duration;
use lab::experiment::Experiment;
use lab::run::size::ExperimentSize;
use lab::run::store::utc;
use paper::claims::{self, Finding};
use paper::printed_numbers;
use service::archaeology;
use system::console::{Hang, fold, say, width};
use system::diagnostic::Diagnostic;
use system::source::{OPEN, PAPERS, QUESTIONS, bundled_configs, config_name, short_name};

pub(super) use page::DOCUMENTS;

pub fn execute(args: &Reproduce) -> Result<(), Failure> {
    let clock = Instant::now();
    let threads = threads(&args.machine.threads)?;
    let options = RunOptions::new(&args.output, &args.talk, args.fresh);
    let planned = plan(args, &options, threads)?;
    let mut jobs = Vec::new();
    for Planned { experiment, size, .. } in &planned {
        jobs.push(Job::open(experiment, size, &args.output.out, &options)?);
    }
    let made = parallel::unless_cancelled(|| make(args, &planned, jobs, &options));
    let (mut report, cells) = made.unwrap_or(Err(Failure::Interrupted(Continuation::Figures)))?;
    report.seconds = clock.elapsed().as_secs_f64();
    finish(args, &report, cells)
}

/// Runs all experiments, and judges claims and prints.
fn make(
    args: &Reproduce,
    planned: &[Planned],
    jobs: Vec<Job>,
    options: &RunOptions,
) -> Result<(Report, CellCounts), Failure> {
    let claims = claims::ALL.iter().copied().filter(|claim| asked(&args.names, claim.source));
    let claims: Vec<&claims::Claim> = claims.collect();
    let is_planned = |figure: &str| planned.iter().any(|one| short_name(&one.config) == figure);
    let mut findings = archaeology::findings()?;
    findings.retain(|one| one.figures().iter().any(|name| is_planned(name)));
    let judging = |claim: &claims::Claim| claim.outputs * distance::DOCUMENTED.len() as f64;
    let trials = TRIAL * findings.iter().map(|one| one.trials.len()).sum::<usize>() as f64;
    let all = jobs.iter().map(Job::weight).sum::<f64>()
        + claims.iter().map(|claim| judging(claim)).sum::<f64>()
        + trials;
    let tell = |line: String| match args.talk.quiet || args.print.json {
        true => Ok(()),
        false => print(&fold(&line, width(), Hang(8))),
    };
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
    let mut cells = CellCounts::default();
    for (number, (Planned { config, experiment, .. }, job)) in (1..).zip(planned.iter().zip(jobs)) {
        if interrupt::is_asked() {
            return Err(Failure::Interrupted(Continuation::Figures));
        }
        let clock = Instant::now();
        progress::task(|| short_name(config));
        let _part = parallel::of_whole(job.weight() / all);
        let outcome = job.run(options)?;
        let again = format!("dpbi run {config}{}", replaced(args));
        let figure = page::figure(config, again, experiment, &outcome)?;
        cells.all += outcome.cells;
        cells.kept += outcome.kept;
        cells.failed += outcome.tables.failures.len();
        let (name, title) = (short_name(config), &figure.title);
        let seconds = duration(clock.elapsed().as_secs_f64());
        tell(format!("[{number:>2}/{}] {name}: {title}, {seconds}\n", planned.len()))?;
        page::add(&mut report, config, figure);
    }
    for claim in claims {
        let clock = Instant::now();
        progress::task(|| format!("claim {}: {}", claim.number, claim.title));
        let _part = parallel::of_whole(judging(claim) / all);
        let mut verdicts = judge(claim);
        let (Some(defined), Some(printed)) = (verdicts.next(), verdicts.next()) else { continue };
        let outcomes = [&defined, &printed].map(|one| one.stated.outcome.label());
        let verdict = match outcomes {
            [defined, printed] if defined == printed => format!("{defined} with both distances"),
            [defined, printed] => {
                format!("{defined} as defined, {printed} with the print distance")
            }
        };
        let (number, seconds) = (claim.number, duration(clock.elapsed().as_secs_f64()));
        tell(format!("claim {number:>2}, {}: {verdict}, {seconds}\n", claim.title))?;
        report.claims.push(JudgedClaim { claim, defined, printed });
    }
    progress::task(|| "findings about the prints".to_owned());
    let _part = parallel::of_whole(trials / all);
    let found = parallel::map(&findings, page::finding).into_iter();
    report.print_findings = found.collect::<Result<_, _>>()?;
    Ok((report, cells))
}

/// An experiment that is going to be run.
struct Planned {
    config: String,
    experiment: Experiment,
    size: ExperimentSize,
}

/// Reads everything that was asked for, and refuses what cannot be done before the first experiment
/// starts.
fn plan(args: &Reproduce, options: &RunOptions, threads: usize) -> Result<Vec<Planned>, Failure> {
    let chosen = choose(&args.names)?;
    let experiments = load(&chosen, &args.replace)?;
    let size = |(_, experiment): &(_, Experiment)| options.size(experiment, &args.output.out);
    let sizes: Vec<_> = experiments.par_iter().map(size).collect();
    let all = chosen.into_iter().zip(experiments).zip(sizes);
    all.map(|((config, (source, experiment)), size)| {
        size.admit(&source.to_string(), threads, args.machine.force)?;
        Ok(Planned { config, experiment, size })
    })
    .collect()
}

#[derive(Clone, Copy, Default)]
struct CellCounts {
    all: usize,
    /// Not computed, but kept from an earlier run.
    kept: usize,
    failed: usize,
}

/// To compare the readings of a figure with another setting takes as long as so many outputs.
const TRIAL: f64 = 1.5e7;

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

/// A claim under each of the documents' distances.
fn judge(claim: &claims::Claim) -> impl Iterator<Item = Verdict> {
    let distances = distance::DOCUMENTED;
    let under = |(distance, finding): (&&dyn Distance, Finding)| Verdict {
        stated: finding.as_stated(),
        as_meant: finding.as_meant(),
        evidence: finding.parts,
        remarks: finding.remarks,
        command: format!("dpbi claims {} --distance {}", claim.number, distance.id()),
    };
    distances.iter().zip(claim.judged(distances)).map(under)
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
