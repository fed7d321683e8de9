//! `dpbi release`.

mod allocate;
pub mod asked;
mod claim;
pub mod dry_run;
pub mod figure;
pub mod flags;
mod notice;
mod plan;
mod prepare;
pub mod read;
pub mod text;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use allocate::Share;
use claim::Claim;
use figure::FigureFiles;
use notice::Notice;

use super::paths::Paths;
use super::{json_text, threads, typed};
use crate::cli::Release;
use crate::failure::{Failure, WorkError};
use engine::posterior::model::Counts;
use lab::run::store::utc;
use service::release::document::Document;
use service::release::{
    self, Account, Amount, Budget, Entropy, Entry, Findings, Part, Posteriors, Reason, Released,
    Request, Table, Tally,
};
use system::console::{self, Output, say};
use system::diagnostic::Diagnostic;
use system::fault::caught;

pub fn execute(args: &Release) -> Result<(), Failure> {
    let mut job = Job::new(args)?;
    let threads = threads(&args.threads)?;
    if args.dry_run {
        return dry_run::execute(&mut job, threads, &args.print);
    }
    // If the plan says n, this is done before the data are opened.
    let is_allocated = job.n.is_some() || job.is_n_private();
    if is_allocated {
        job.allocate(job.n, threads)?;
    }
    job.check_epsilon(args.force)?;
    let files = Files::new(&job, args)?;
    refuse_lost_output(files.out)?;
    let tables: Vec<&Table> = job.requests.iter().map(|request| &request.table).collect();
    let private_n = job.is_n_private();
    let Tally { counts, hash } = release::count(job.data()?, &tables, job.delimiter, private_n)?;
    let n = (!private_n).then(|| counts[0].iter().sum());
    if let Some(n) = n {
        job.check_sizes(n)?;
        job.check_groups(&counts)?;
    }
    if !is_allocated {
        job.allocate(n, threads)?;
        job.check_epsilon(args.force)?;
    }
    let (mut releases, _) = job.prepare(n, threads)?;
    job.warn();
    let mut entropy = Entropy::new().map_err(WorkError::Randomness)?;
    // Nothing leaves the process before the entry: if it ends here, nothing was released.
    let drawn = caught(|| {
        for (release, counts) in releases.iter_mut().zip(&counts) {
            release.id = Released::new_id(&mut entropy);
            release.counts = release.draw(counts, &mut entropy);
        }
    });
    drawn.map_err(WorkError::NothingReleased)?;
    drop(counts);
    let entry = job.entry(&releases, hash);
    let mut out = files.out.map(Claim::new).transpose()?;
    // Its reader may have gone away meanwhile.
    refuse_lost_output(files.out)?;
    // From here on ε is spent. The entry has the counts, and nothing that takes long or can fail comes
    // before they are written and, after a moment, said.
    let account = job.enter(entry)?;
    let mut keep = |findings: Option<&[Findings]>| -> Result<(), Failure> {
        let Some(out) = &mut out else { return Ok(()) };
        Ok(out.write(json_text(&Document::new(&releases, findings, account.as_ref()))?)?)
    };
    let kept = keep(None);
    let notice = Notice::new(&releases);
    // If something fails from here on, the error shows what was released.
    let found = caught(|| {
        let findings = |one: &Released| Posteriors::new(&[one]).findings();
        releases.iter().map(findings).collect::<Vec<Findings>>()
    });
    let after = |cause| WorkError::AfterRelease {
        released: releases.iter().map(|one| one.counts.clone()).collect(),
        cause,
    };
    let found = found.map_err(after)?;
    drop(notice);
    let text = match args.print.json {
        true => {
            let document = Document::new(&releases, Some(&found), account.as_ref());
            console::harmless_json(json_text(&document)?)
        }
        false => {
            // Several releases have one entry: the last one shows it.
            let (ledger, last) = (text::ledger(account.as_ref()), releases.len() - 1);
            let one = |(place, (release, findings)): (usize, (&Released, &Findings))| {
                let findings = text::shown_findings(findings, args.naive);
                text::release(release, &findings, (place == last).then_some(&ledger))
            };
            let texts: Vec<String> = releases.iter().zip(&found).enumerate().map(one).collect();
            console::fit(&(texts.join("\n") + &text::footer(private_n)))
        }
    };
    // A file that cannot be written does not keep the release from being printed.
    let kept = keep(Some(&found)).or_else(|error| kept.and(Err(error)));
    let drawn = files.draw(&releases, args.naive);
    let printed = console::emit_whole(&text);
    printed.map_err(|source| WorkError::Unprinted {
        source,
        spent: releases.iter().map(Released::spent).sum::<Amount>().to_string(),
        ledger: job.ledger.clone(),
        out: files.out.filter(|_| kept.is_ok()).map(Path::to_owned),
        text,
    })?;
    kept?;
    drawn
}

/// Refuses an output that reaches nobody, before anything is spent.
fn refuse_lost_output(out: Option<&Path>) -> Result<(), Diagnostic> {
    let cause = match (console::output(), out) {
        (Output::ReaderGone, _) => "nobody reads what is printed: the reader has gone away",
        (Output::Discarded, None) => {
            "nobody would see the release: standard output is closed, or leads to /dev/null"
        }
        _ => return Ok(()),
    };
    Err(Diagnostic::new(cause).help("print it, or keep it with --out FILE; nothing was spent"))
}

/// All releases of a command.
struct Job {
    requests: Vec<Request>,
    /// How the ε of each is found.
    shares: Vec<Share>,
    data: Option<PathBuf>,
    ledger: Option<PathBuf>,
    /// The user said that there is to be no ledger.
    uncounted: bool,
    budget: Option<Budget>,
    n: Option<u64>,
    delimiter: u8,
}

/// In place of a ledger: nobody is to count.
const NO_LEDGER: &str = "none";

/// Above this ε a guess about a record is nearly certain: a warning.
const LARGE: f64 = 10.0;

/// Above this ε nothing is protected.
const LARGEST: f64 = 30.0;

impl Job {
    fn new(args: &Release) -> Result<Self, Diagnostic> {
        let wrong = typed::flag;
        if args.seed.is_some() {
            let cause = "--seed: a release is drawn from the operating system's randomness only";
            return Err(Diagnostic::new(cause)
                .help("noise that can be drawn again protects nobody: leave --seed out"));
        }
        let level = args.level.map(|level| asked::check_level(level, &wrong)).transpose()?;
        let planned = args.plan.as_deref().map(|path| plan::read(path, level)).transpose()?;
        let budget = args.budget.as_deref();
        let budget = budget.map(|text| asked::budget(text, &wrong)).transpose()?;
        let mut job = match planned {
            None => Self {
                requests: vec![flags::request(args, &wrong)?],
                shares: vec![Share::Given],
                data: args.data.clone(),
                ledger: args.ledger.clone(),
                uncounted: false,
                budget,
                n: args.n,
                delimiter: args.delimiter.unwrap_or(b','),
            },
            // What is typed comes before what the plan says.
            Some(plan) => Self {
                requests: plan.requests,
                shares: plan.shares,
                data: args.data.clone().or(plan.data),
                ledger: args.ledger.clone().or(plan.ledger),
                uncounted: false,
                budget: budget.or(plan.budget),
                n: args.n.or(plan.n),
                delimiter: args.delimiter.or(plan.delimiter).unwrap_or(b','),
            },
        };
        job.uncounted = job.ledger.take_if(|path| path.as_os_str() == NO_LEDGER).is_some();
        if job.budget.is_some() && job.ledger.is_none() {
            return Err(wrong("budget", "without a ledger nobody counts what is spent")
                .help("give --ledger FILE"));
        }
        Ok(job)
    }

    /// Refuses an ε that protects nobody, unless it is forced.
    fn check_epsilon(&self, force: bool) -> Result<(), Diagnostic> {
        let mut all = self.requests.iter().map(|request| request.epsilon);
        match all.find(|epsilon| epsilon.to_f64() > LARGEST && !force) {
            Some(epsilon) => Err(Diagnostic::new(format!("ε = {epsilon} protects nobody"))
                .help(format!("use an ε below {LARGE}; --force releases at any ε"))),
            None => Ok(()),
        }
    }

    /// Says before anything is drawn that an ε hardly protects, and that nobody counts, unless that is meant.
    fn warn(&self) {
        for epsilon in self.requests.iter().map(|request| request.epsilon) {
            let value = epsilon.to_f64();
            if value > LARGE {
                let guess = 1.0 / (1.0 + engine::numeric::exp_accurate(-value));
                say(format!(
                    "note: ε = {epsilon} is large: who knows all other records, and that the last one has one of \
                     two categories, may guess it with probability {}",
                    release::sentences::probability(guess)
                ));
            }
        }
        if self.ledger.is_none() && !self.uncounted {
            say(format!(
                "note: nobody counts what is spent (--ledger FILE does; --ledger {NO_LEDGER} says that this is \
                 meant)"
            ));
        }
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

    /// Whether the number of records is private. All releases of a command agree on that.
    fn is_n_private(&self) -> bool {
        self.requests.iter().any(|request| request.private_n.is_some())
    }

    /// Makes all releases ready, if there are n records, and says why their mechanisms were taken. Nothing
    /// is drawn yet, and they have no id.
    fn prepare(
        &self,
        n: Option<u64>,
        threads: usize,
    ) -> Result<(Vec<Released>, Vec<Reason>), Diagnostic> {
        let time = utc(SystemTime::now());
        let ready = |(request, share): (&Request, &Share)| {
            let (drawing, mut reason) = prepare::drawing(request, n, threads)?;
            if let (Reason::Named, Share::Error(_) | Share::Width(_)) = (&reason, share) {
                reason = Reason::Target;
            }
            let release = Released {
                id: String::new(),
                time: time.clone(),
                dpbi: Some(env!("CARGO_PKG_VERSION").to_owned()),
                request: request.clone(),
                drawing,
                reason: reason.to_string(),
                counts: Vec::new(),
            };
            Ok((release, reason))
        };
        self.requests.iter().zip(&self.shares).map(ready).collect()
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
    fn enter(&self, entry: Entry) -> Result<Option<Account>, Failure> {
        let Some(path) = &self.ledger else { return Ok(None) };
        Ok(Some(release::enter(path, entry, &|line| say(line))?))
    }
}

/// The files of a release.
struct Files<'a> {
    out: Option<&'a Path>,
    /// The figure of every release, if figures are wanted.
    figures: Vec<FigureFiles>,
}

impl<'a> Files<'a> {
    /// Refuses files that could not be written, before anything is spent.
    fn new(job: &Job, args: &'a Release) -> Result<Self, Diagnostic> {
        let titles: Vec<String> = job.requests.iter().map(Request::title).collect();
        let figures = FigureFiles::new(&args.figure, &titles)?;
        if let Some(out) = &args.out {
            drop(Claim::new(out)?);
        }
        let lists = flags::lists(args);
        Paths::default()
            .read("the data", job.data.as_deref())
            .read("the plan", args.plan.as_deref())
            .read("a list of categories", lists.iter().map(PathBuf::as_path))
            .extended("ledger", "the ledger", job.ledger.as_deref())
            .written("out", "where the release goes", args.out.as_deref())
            .written("figure", "where a figure goes", figures.iter().flat_map(FigureFiles::paths))
            .check()?;
        Ok(Self { out: args.out.as_deref(), figures })
    }

    /// Draws the figures.
    fn draw(&self, releases: &[Released], naive: bool) -> Result<(), Failure> {
        let mut all = releases.iter().zip(&self.figures);
        all.try_for_each(|(release, files)| files.write(&figure::figure(&[release], naive)))
    }
}
