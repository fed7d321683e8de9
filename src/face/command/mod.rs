//! The commands: each turns its arguments into calls of the library and prints the outcome.

mod account;
mod answer;
mod audit;
mod check;
mod choose;
mod claims;
mod copy;
mod drawing;
mod generate;
mod inspect;
mod list;
mod mechanisms;
mod merge;
mod optimum;
mod orientation;
mod paths;
mod plot;
mod posterior;
mod release;
mod reproduce;
mod run;
mod selftest;
mod summary;
mod typed;
mod verify;

use std::io::Read;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

pub use inspect::{ListedLaw, check_setting, law};

use crate::cli::{Cli, Command, MOST_THREADS, Replace, Threads};
use crate::failure::{Failure, WorkError};
use crate::interrupt;
use crate::progress;
use lab::experiment::Experiment;
use lab::experiment::config::{self, Overrides};
use lab::run::store::{Manifest, ManifestError, damaged_manifest, keep_aside, write_whole};
use system::console;
use system::diagnostic::Diagnostic;
use system::filesystem::{is_regular, open_regular};
use system::source::{Source, similar};

/// At most this many settings are printed; the tables hold all of them.
const MOST_PRINTED: usize = 24;

/// Prints on standard output, in lines that fit the terminal.
fn print(text: &str) -> Result<(), Failure> {
    Ok(progress::aside(|| console::emit(text)).map_err(WorkError::Print)?)
}

/// Prints on standard output as it is, for machines.
fn print_document(text: &str) -> Result<(), Failure> {
    Ok(progress::aside(|| console::emit_document(text)).map_err(WorkError::Print)?)
}

/// A document as a text.
fn json_text(document: &impl Serialize) -> Result<String, WorkError> {
    Ok(serde_json::to_string_pretty(document)? + "\n")
}

/// Prints a document. It has a schema: `dpbi generate schema` prints that.
fn print_json(document: &(impl Serialize + JsonSchema)) -> Result<(), Failure> {
    print_document(&console::harmless_json(json_text(document)?))
}

/// Carries out a command.
pub fn execute(cli: &Cli) -> Result<(), Failure> {
    let Some(command) = &cli.command else { return print(orientation::TEXT) };
    interrupt::listen().map_err(WorkError::Signals)?;
    let _progress = progress::show(is_quiet(command));
    match command {
        Command::Run(args) => run::execute(args),
        Command::Reproduce(args) => reproduce::execute(args),
        Command::Check(args) => check::execute(args),
        Command::Copy(args) => copy::execute(args),
        Command::Plot(args) => plot::execute(args),
        Command::Merge(args) => merge::execute(args),
        Command::Verify(args) => verify::execute(args),
        Command::Claims(args) => claims::execute(args),
        Command::Inspect(args) => inspect::execute(args),
        Command::Audit(args) => audit::execute(args),
        Command::Choose(args) => choose::execute(args),
        Command::Optimum(args) => optimum::execute(args),
        Command::Mechanisms(args) => mechanisms::execute(args),
        Command::Release(args) => release::execute(args),
        Command::Posterior(args) => posterior::execute(args),
        Command::Account(args) => account::execute(args),
        Command::Selftest(args) => selftest::execute(args),
        Command::List(args) => list::execute(args),
        Command::Generate(args) => generate::execute(args),
    }
}

/// Whether the user wants to see no progress.
fn is_quiet(command: &Command) -> bool {
    match command {
        Command::Run(args) => args.talk.quiet,
        Command::Reproduce(args) => args.talk.quiet,
        Command::Merge(args) => args.talk.quiet,
        Command::Verify(args) => args.talk.quiet,
        Command::Inspect(args) => args.calculation.quiet,
        Command::Audit(args) => args.calculation.quiet,
        Command::Choose(args) => args.calculation.quiet,
        Command::Optimum(args) => args.calculation.quiet,
        Command::Selftest(args) => args.talk.quiet,
        _ => false,
    }
}

/// Reads all configs before anything is done with the first.
fn load(configs: &[String], replace: &Replace) -> Result<Vec<(Source, Experiment)>, Diagnostic> {
    if replace.name.is_some() && configs.len() > 1 {
        return Err(Diagnostic::new("--name is the name of one experiment, and these are several")
            .help("run them one by one"));
    }
    let Replace { seed, runs, set, name } = replace;
    let (name, changes) = (name.clone(), set.clone());
    let overrides = Overrides { seed: *seed, runs: *runs, name, changes };
    let read = |named: &String| {
        let source = Source::config(named)?;
        let experiment = config::load(&source, &overrides)?;
        Ok((source, experiment))
    };
    // Of several bad configs the first one named is reported, whichever was read first.
    let all: Vec<Result<_, Diagnostic>> = configs.par_iter().map(read).collect();
    let mut experiments: Vec<(Source, Experiment)> = Vec::new();
    for one in all {
        let (source, experiment) = one?;
        if let Some((other, _)) = experiments.iter().find(|(_, e)| e.name == experiment.name) {
            let cause = format!("{other} and {source} are both named `{}`", experiment.name);
            return Err(Diagnostic::new(cause).help("give one of them another `name`"));
        }
        experiments.push((source, experiment));
    }
    let tuning = Arc::default();
    experiments.iter_mut().for_each(|(_, experiment)| experiment.share_tuning(&tuning));
    Ok(experiments)
}

/// The resolved config in a results folder.
const CONFIG: &str = "config.toml";

fn load_results(folder: &Path) -> Result<Experiment, Diagnostic> {
    let path = folder.join(CONFIG);
    if !is_regular(&path) {
        return Err(Diagnostic::new(format!("{} is not a regular file", path.display()))
            .help("run the experiment again"));
    }
    config::load(&Source::Disk(path), &Overrides::default())
}

/// The manifest of a results folder; `None` for any other folder.
fn read_manifest(folder: &Path) -> Result<Option<Manifest>, Diagnostic> {
    match Manifest::read(folder) {
        Ok(manifest) => Ok(Some(manifest)),
        Err(ManifestError::Damaged(cause)) => Err(damaged_manifest(folder, &cause)),
        Err(ManifestError::Absent | ManifestError::Foreign) => Ok(None),
    }
}

/// Writes a page. What stands at its place and is not an earlier page of the same kind is kept under
/// another name.
fn write_page(path: &Path, page: String, is_earlier: fn(&[u8]) -> bool) -> Result<(), Failure> {
    let is_ours = open_regular(path).is_ok_and(|file| {
        let mut head = Vec::new();
        file.take(LONGEST_HEAD).read_to_end(&mut head).is_ok() && is_earlier(&head)
    });
    if !is_ours && let Some(aside) = keep_aside(path)? {
        let (path, aside) = (path.display(), aside.display());
        console::say(format!("note: another file named {path} is kept as {aside}"));
    }
    Ok(write_whole(path, page.into_bytes())?)
}

/// At most this many bytes of an earlier page are read.
const LONGEST_HEAD: u64 = 1000;

/// The message about a folder that holds no results. If it does not exist, it names a folder that may
/// have been meant.
fn no_results(path: &Path, cause: &str, remedy: &str) -> Diagnostic {
    match similar(path).filter(|_| !path.exists()) {
        Some(near) => Diagnostic::new(format!("there is no folder {}", path.display()))
            .help(format!("did you mean `{}`?", near.display())),
        None => Diagnostic::new(format!("{} {cause}", path.display())).help(remedy),
    }
}

/// Sets the number of threads and returns it. The calling thread is one of them, so that none idles
/// while it works alone.
fn threads(asked: &Threads) -> Result<usize, Failure> {
    // One pool serves all commands of a process.
    static POOL: OnceLock<Result<(), String>> = OnceLock::new();
    if asked.threads.is_none() {
        THREADS_OF_RAYON.into_iter().try_for_each(refuse_many_threads)?;
    }
    let pool = rayon::ThreadPoolBuilder::new().use_current_thread();
    let pool = pool.num_threads(asked.threads.map_or(0, usize::from));
    let built = POOL.get_or_init(|| pool.build_global().map_err(|error| error.to_string()));
    built.clone().map_err(WorkError::Threads)?;
    Ok(rayon::current_num_threads())
}

/// The variables that tell rayon how many threads there are, unless `--threads` does.
const THREADS_OF_RAYON: [&str; 2] = ["RAYON_NUM_THREADS", "RAYON_RS_NUM_CPUS"];

/// Bounds a variable as `--threads` is bounded. A value that is not a number is ignored, as rayon does.
fn refuse_many_threads(variable: &str) -> Result<(), Diagnostic> {
    let asked = std::env::var(variable).ok().and_then(|text| text.parse::<u64>().ok());
    match asked.filter(|&asked| asked > MOST_THREADS as u64) {
        None => Ok(()),
        Some(asked) => Err(Diagnostic::new(format!("{variable}: {asked} threads are too many"))
            .help(format!("use at most {MOST_THREADS}, or leave it unset to use all processors"))),
    }
}
