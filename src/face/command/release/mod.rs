//! `dpbi release`.

pub mod asked;
mod claim;
pub mod dry_run;
pub mod flags;
pub mod prepare;
pub mod text;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use claim::Claim;

use super::paths::Paths;
use super::{json_text, print, threads, typed};
use crate::cli::Release;
use crate::failure::{Continuation, Failure, WorkError};
use crate::progress;
use engine::parallel;
use lab::run::store::utc;
use service::release::document::ReleaseFile;
use service::release::{
    self, Account, Amount, Budget, Entropy, Entry, Part, Released, Request, Tally,
};
use system::console::{self, Output, say};
use system::diagnostic::Diagnostic;

pub fn execute(args: &Release) -> Result<(), Failure> {
    let job = Job::new(args)?;
    let _whole = parallel::of_whole(1.0);
    threads(&args.threads)?;
    if args.dry_run {
        return dry_run::execute(&job, &args.print);
    }
    job.check_epsilon(args.force)?;
    let out = args.out.as_deref();
    let file = claim(&job, args)?;
    refuse_lost_output(out)?;
    let private_n = job.is_n_private();
    let table = &job.request.table;
    let Tally { counts, hash } = release::count(job.data()?, table, job.delimiter, private_n)?;
    let n = (!private_n).then(|| counts.iter().sum());
    if let Some(n) = n {
        job.check_sizes(n)?;
        job.check_groups(&counts)?;
    }
    let mut release = job.prepare(n)?;
    job.warn();
    let mut entropy = Entropy::new().map_err(WorkError::Randomness)?;
    release.id = Released::new_id(&mut entropy);
    release.counts = release.draw(&counts, &mut entropy);
    drop(counts);
    let (entry, document) = (job.entry(&release, hash), json_text(&ReleaseFile::from(&release))?);
    // Its reader may have gone away meanwhile.
    refuse_lost_output(out)?;
    // Until here nothing has left the process. The entry spends ε and keeps the counts; after it they are written and
    // shown, before anything is computed from them.
    let account = job.enter(entry)?;
    let written = file.map_or(Ok(()), |file| file.write(document.clone()));
    let text = match args.print.json {
        true => console::harmless_json(document),
        false => console::fit(&text::drawn(&release, account.as_ref())),
    };
    let printed = progress::aside(|| console::emit_whole(&text));
    printed.map_err(|source| WorkError::Unprinted {
        source,
        spent: release.spent().to_string(),
        ledger: job.ledger.clone(),
        out: out.filter(|_| written.is_ok()).map(Path::to_owned),
        text,
    })?;
    written?;
    if args.print.json {
        return Ok(());
    }
    let released = || Failure::Interrupted(Continuation::Released);
    let told = parallel::unless_cancelled(|| text::told(&release, out)).ok_or_else(released)?;
    print(&told)
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

/// A release that is to be made.
struct Job {
    request: Request,
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
const LARGE: Amount = Amount::whole(10);

/// Above this ε nothing is protected.
const LARGEST: Amount = Amount::whole(30);

impl Job {
    fn new(args: &Release) -> Result<Self, Diagnostic> {
        let wrong = typed::flag;
        if args.seed.is_some() {
            let cause = "--seed: a release is drawn from the operating system's randomness only";
            return Err(Diagnostic::new(cause)
                .help("noise that can be drawn again protects nobody: leave --seed out"));
        }
        let budget = args.budget.as_deref();
        let budget = budget.map(|text| asked::budget(text, &wrong)).transpose()?;
        let mut job = Self {
            request: flags::request(args, &wrong)?,
            data: args.data.clone(),
            ledger: args.ledger.clone(),
            uncounted: false,
            budget,
            n: args.n,
            delimiter: args.delimiter,
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
        let epsilon = self.request.epsilon;
        if epsilon > LARGEST && !force {
            return Err(Diagnostic::new(format!("ε = {epsilon} protects nobody"))
                .help(format!("use an ε below {LARGE}; --force releases at any ε")));
        }
        Ok(())
    }

    /// Says before anything is drawn that an ε hardly protects, and that nobody counts, unless that is meant.
    fn warn(&self) {
        let epsilon = self.request.epsilon;
        if epsilon > LARGE {
            let guess = 1.0 / (1.0 + engine::numeric::exp_accurate(-epsilon.to_f64()));
            say(format!(
                "note: ε = {epsilon} is large: who knows all other records, and that the last one has one of two \
                 categories, may guess it with probability {}",
                release::sentences::probability(guess)
            ));
        }
        if self.ledger.is_none() && !self.uncounted {
            say(format!(
                "note: nobody counts what is spent (--ledger FILE does; --ledger {NO_LEDGER} says that this is \
                 meant)"
            ));
        }
    }

    fn data(&self) -> Result<&Path, Diagnostic> {
        let unnamed = || Diagnostic::new("nothing names the data").help("give --data FILE");
        self.data.as_deref().ok_or_else(unnamed)
    }

    /// Refuses sizes that do not add up to the number of records. All of them are public.
    fn check_sizes(&self, n: u64) -> Result<(), Diagnostic> {
        let Some(sizes) = &self.request.fixed else { return Ok(()) };
        let sum = sizes.iter().fold(0_u64, |sum, &size| sum.saturating_add(size));
        if sum != n {
            let cause =
                format!("the fixed groups have {sum} records together, and the data have {n}");
            return Err(Diagnostic::new(cause).help(asked::WHY_FIXED));
        }
        Ok(())
    }

    /// Refuses data whose groups do not have the sizes that are fixed.
    fn check_groups(&self, counts: &[u64]) -> Result<(), Diagnostic> {
        let (table, sizes) = (&self.request.table, self.request.fixed.iter().flatten());
        for (group, &size) in sizes.enumerate() {
            if counts[table.group(group)].iter().sum::<u64>() != size {
                let name = table.group_name(group);
                let cause = format!("group `{name}` does not have {size} records in the data");
                return Err(Diagnostic::new(cause).help(asked::WHY_FIXED));
            }
        }
        Ok(())
    }

    fn is_n_private(&self) -> bool {
        self.request.private_n
    }

    /// Makes the release ready, if there are n records. Nothing is drawn yet, and it has no id.
    fn prepare(&self, n: Option<u64>) -> Result<Released, Diagnostic> {
        Ok(Released {
            id: String::new(),
            time: utc(SystemTime::now()),
            dpbi: Some(env!("CARGO_PKG_VERSION").to_owned()),
            request: self.request.clone(),
            drawing: prepare::drawing(&self.request, n)?,
            counts: Vec::new(),
        })
    }

    /// The ledger's entry of the release.
    fn entry(&self, release: &Released, data: String) -> Entry {
        Entry {
            budget: self.budget.map(|budget| budget.epsilon),
            delta: self.budget.and_then(|budget| budget.delta),
            ..Entry::new(Part::new(release), release.time.clone(), data)
        }
    }

    /// Enters the release into the ledger, if there is one.
    fn enter(&self, entry: Entry) -> Result<Option<Account>, Failure> {
        let Some(path) = &self.ledger else { return Ok(None) };
        Ok(Some(release::enter(path, entry, &|line| say(line))?))
    }
}

/// Refuses files that could not be written, before anything is spent.
fn claim(job: &Job, args: &Release) -> Result<Option<Claim>, Diagnostic> {
    let file = args.out.as_deref().map(Claim::new).transpose()?;
    let lists = flags::lists(args);
    Paths::default()
        .read("the data", job.data.as_deref())
        .read("a list of categories", lists.iter().map(PathBuf::as_path))
        .extended("ledger", "the ledger", job.ledger.as_deref())
        .written("out", "where the release goes", args.out.as_deref())
        .check()?;
    Ok(file)
}
