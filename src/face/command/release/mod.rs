//! `dpbi release`.

pub mod asked;
pub mod document;
mod dry_run;
pub mod figure;
mod flags;
mod plan;
mod prepare;
pub mod schema;
pub mod text;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{announce, threads, typed};
use crate::base::console::{self, say};
use crate::base::diagnostic::Diagnostic;
use crate::base::fault::caught;
use crate::base::filesystem::{is_same_path, is_taken};
use crate::face::cli::Release;
use crate::face::failure::{Failure, WorkError};
use crate::face::progress::Clock;
use crate::posterior::model::Counts;
use crate::posterior::privacy::Delta;
use crate::run::store::{utc, write_whole};
use crate::service::release::{
    self, Account, Amount, Budget, Entropy, Entry, Findings, Part, Posteriors, Released, Request,
    Table, Tally,
};

pub fn execute(args: &Release) -> Result<(), Failure> {
    let job = Job::new(args)?;
    let threads = threads(&args.threads)?;
    if args.dry_run {
        return dry_run::execute(&job, threads, args.print.json);
    }
    let files = Files { job: &job, out: args.out.as_deref(), figure: args.figure.as_deref() };
    files.check()?;
    let tables: Vec<&Table> = job.requests.iter().map(|request| &request.table).collect();
    let Tally { counts, hash } = release::count(job.data()?, &tables, job.delimiter)?;
    let n = counts[0].iter().sum();
    job.check_sizes(n)?;
    job.check_groups(&counts)?;
    let mut releases = job.prepare(n, threads)?;
    let mut entropy = Entropy::new().map_err(WorkError::Randomness)?;
    releases.iter_mut().for_each(|release| release.id = Released::new_id(&mut entropy));
    // From here on ε is spent.
    let account = job.enter(&releases, hash)?;
    let drawn = caught(|| {
        for (release, counts) in releases.iter_mut().zip(&counts) {
            release.counts = draw(release, counts, &mut entropy);
        }
    });
    drawn.map_err(WorkError::NothingReleased)?;
    drop(counts);
    let clock = announce_comparisons(releases.iter().map(|release| (&release.request, n)), threads);
    if clock.is_some() {
        // Whoever does not want to wait has what was paid for.
        releases.iter().for_each(|one| say(format!("released: {:?}", one.counts)));
    }
    // The release is paid for: if something fails from here on, the error shows it.
    let found = caught(|| {
        let findings = |one: &Released| Posteriors::new(&[one]).findings();
        releases.iter().map(findings).collect::<Vec<Findings>>()
    });
    let after = |cause| WorkError::AfterRelease {
        released: releases.iter().map(|one| one.counts.clone()).collect(),
        cause,
    };
    let found = found.map_err(after)?;
    drop(clock);
    let shown: Vec<(&Released, &Findings)> = releases.iter().zip(&found).collect();
    let text = match args.print.json {
        true => format!("{:#}\n", document::document(&shown, account.as_ref())),
        false => {
            // Several releases have one entry: the last one shows it.
            let (ledger, last) = (text::ledger(account.as_ref()), shown.len() - 1);
            let one = |(place, (release, findings)): (usize, &(&Released, &Findings))| {
                text::release(release, findings, (place == last).then_some(&ledger))
            };
            let texts: Vec<String> = shown.iter().enumerate().map(one).collect();
            console::fit(&(texts.join("\n") + text::FOOTER))
        }
    };
    // A file that cannot be written does not keep the release from being printed.
    let written = files.write(&shown, account.as_ref());
    let printed = console::emit_whole(&text);
    printed.map_err(|source| WorkError::Unprinted {
        source,
        spent: releases.iter().map(Released::spent).sum::<Amount>().to_string(),
        ledger: job.ledger.clone(),
        text,
    })?;
    written
}

/// Processor seconds of a comparison, for the square of the number of counts that noise makes possible:
/// measured with 4 and with 20 cells.
const COMPARISON: f64 = 9e-6;

/// Announces comparisons that take long. Noise makes about 160/ε counts of a cell possible.
pub fn announce_comparisons<'a>(
    requests: impl Iterator<Item = (&'a Request, u64)>,
    threads: usize,
) -> Option<Clock> {
    let seconds = |(request, n): (&Request, u64)| {
        let width = (160.0 / request.epsilon.to_f64()).min(n as f64 + 1.0);
        request.comparisons() as f64 * COMPARISON * width * width
    };
    announce(requests.map(seconds).sum::<f64>() / threads as f64)
}

/// Draws every histogram of a release.
fn draw(release: &Released, counts: &[u64], entropy: &mut Entropy) -> Counts {
    let histograms = release.request.histograms(release.n);
    let mut drawn = Vec::new();
    for (method, histogram) in release.methods.iter().zip(histograms) {
        drawn.extend(method.draw(&counts[histogram.cells], entropy));
    }
    drawn
}

/// All releases of a command.
struct Job {
    requests: Vec<Request>,
    data: Option<PathBuf>,
    ledger: Option<PathBuf>,
    budget: Option<Budget>,
    n: Option<u64>,
    delimiter: u8,
}

impl Job {
    fn new(args: &Release) -> Result<Self, Diagnostic> {
        let wrong = typed::flag;
        if args.seed.is_some() {
            let cause = "--seed: a release is drawn from the operating system's randomness only";
            return Err(Diagnostic::new(cause)
                .help("noise that can be drawn again protects nobody: leave --seed out"));
        }
        asked::check_level(args.level, &wrong)?;
        let planned = args.plan.as_deref().map(plan::read).transpose()?;
        let budget = args.budget.as_deref();
        let budget = budget.map(|text| asked::positive("budget", text, &wrong)).transpose()?;
        let delta = args.delta.map(|delta| asked::check_delta(delta, &wrong)).transpose()?;
        let job = match planned {
            None => Self {
                requests: vec![flags::request(args, &wrong)?],
                data: args.data.clone(),
                ledger: args.ledger.clone(),
                budget: joined(budget, delta, &wrong)?,
                n: args.n,
                delimiter: args.delimiter.unwrap_or(b','),
            },
            // What is typed comes before what the plan says.
            Some(plan) => Self {
                requests: plan.requests,
                data: args.data.clone().or(plan.data),
                ledger: args.ledger.clone().or(plan.ledger),
                budget: joined(budget.or(plan.budget), delta.or(plan.delta), &wrong)?,
                n: args.n.or(plan.n),
                delimiter: args.delimiter.or(plan.delimiter).unwrap_or(b','),
            },
        };
        if job.budget.is_some() && job.ledger.is_none() {
            return Err(wrong("budget", "without a ledger nobody counts what is spent")
                .help("give --ledger FILE"));
        }
        Ok(job)
    }

    fn data(&self) -> Result<&Path, Diagnostic> {
        self.data.as_deref().ok_or_else(|| {
            Diagnostic::new("nothing names the data")
                .help("give --data FILE; in a plan, data = \"FILE\"")
        })
    }

    /// Refuses sizes that do not add up to the number of records. All of them are public.
    fn check_sizes(&self, n: u64) -> Result<(), Diagnostic> {
        if let Some(planned) = self.n.filter(|&planned| planned != n) {
            let cause = format!("the data have {n} records, and the plan says {planned}");
            return Err(Diagnostic::new(cause).help("correct n in the plan, or leave it out"));
        }
        for request in &self.requests {
            let Some(sizes) = &request.fixed else { continue };
            let sum = sizes.iter().fold(0_u64, |sum, &size| sum.saturating_add(size));
            if sum != n {
                let cause =
                    format!("the fixed groups have {sum} records together, and the data have {n}");
                return Err(Diagnostic::new(cause).help(asked::WHY_FIXED));
            }
        }
        Ok(())
    }

    /// Refuses data whose groups do not have the sizes that are fixed.
    fn check_groups(&self, counts: &[Counts]) -> Result<(), Diagnostic> {
        for (request, counts) in self.requests.iter().zip(counts) {
            let (table, sizes) = (&request.table, request.fixed.iter().flatten());
            for (group, &size) in sizes.enumerate() {
                if counts[table.group(group)].iter().sum::<u64>() != size {
                    let name = table.group_name(group);
                    let cause = format!("group `{name}` does not have {size} records in the data");
                    return Err(Diagnostic::new(cause).help(asked::WHY_FIXED));
                }
            }
        }
        Ok(())
    }

    /// Makes all releases ready, if there are n records. Nothing is drawn yet, and they have no id.
    fn prepare(&self, n: u64, threads: usize) -> Result<Vec<Released>, Diagnostic> {
        let time = utc(SystemTime::now());
        let ready = |request: &Request| {
            let (methods, reason) = prepare::methods(request, n, threads)?;
            Ok(Released {
                id: String::new(),
                time: time.clone(),
                request: request.clone(),
                n,
                methods,
                reason: reason.to_string(),
                counts: Vec::new(),
            })
        };
        self.requests.iter().map(ready).collect()
    }

    /// The ledger's entry of all releases.
    fn entry(&self, releases: &[Released], data: String) -> Entry {
        let parts = releases.iter().map(Part::new).collect();
        let time = releases.first().map_or_else(String::new, |release| release.time.clone());
        Entry {
            budget: self.budget.map(|budget| budget.epsilon),
            delta: self.budget.and_then(|budget| budget.delta),
            ..Entry::new(parts, time, data)
        }
    }

    /// Enters all releases into the ledger at once, if there is one.
    fn enter(&self, releases: &[Released], data: String) -> Result<Option<Account>, Failure> {
        let Some(path) = &self.ledger else { return Ok(None) };
        Ok(Some(release::enter(path, self.entry(releases, data), &|line| say(line))?))
    }
}

/// A budget and its δ.
fn joined(
    epsilon: Option<Amount>,
    delta: Option<Delta>,
    wrong: asked::Wrong,
) -> Result<Option<Budget>, Diagnostic> {
    match (epsilon, delta) {
        (None, Some(_)) => {
            Err(wrong("delta", "this is the δ of a budget, and there is none")
                .help("give --budget E"))
        }
        (epsilon, delta) => Ok(epsilon.map(|epsilon| Budget { epsilon, delta })),
    }
}

/// The files of a release.
struct Files<'a> {
    job: &'a Job,
    out: Option<&'a Path>,
    figure: Option<&'a Path>,
}

impl Files<'_> {
    /// Refuses files that could not be written, before anything is spent.
    fn check(&self) -> Result<(), Diagnostic> {
        self.refuse_shared_ledger()?;
        if let Some(path) = self.figure {
            figure::format(path)?;
        }
        let outputs = [("out", self.out), ("figure", self.figure)];
        for (flag, path) in outputs.into_iter().filter_map(|(flag, path)| Some((flag, path?))) {
            if flag == "out" && is_taken(path) {
                let cause = format!("{} exists already", path.display());
                return Err(typed::wrong(flag, &cause)
                    .help("a release is paid for, and is not overwritten: use another name"));
            }
            typed::refuse_unwritable(flag, path)?;
        }
        Ok(())
    }

    /// Refuses a ledger that is also the data, the output, or another file of the release.
    fn refuse_shared_ledger(&self) -> Result<(), Diagnostic> {
        let Some(ledger) = &self.job.ledger else { return Ok(()) };
        let others = [
            (self.job.data.as_deref(), "the data"),
            (self.out, "where the release goes"),
            (self.figure, "where the figure goes"),
            (Some(Path::new("/dev/stdout")), "where the output goes"),
        ];
        let shared = |other: &Path| ledger == other || is_same_path(ledger, other);
        match others.into_iter().find(|(other, _)| other.is_some_and(shared)) {
            None => Ok(()),
            Some((_, what)) => Err(typed::wrong("ledger", &format!("this file is {what}"))
                .help("give the ledger a file of its own")),
        }
    }

    /// Writes the release and its figure.
    fn write(
        &self,
        shown: &[(&Released, &Findings)],
        account: Option<&Account>,
    ) -> Result<(), Failure> {
        if let Some(path) = self.out {
            let document = format!("{:#}\n", document::document(shown, account));
            write_whole(path, document.into_bytes())?;
        }
        for (release, path) in figure::paths(self.figure, shown) {
            figure::write(&path, &[release])?;
        }
        Ok(())
    }
}
