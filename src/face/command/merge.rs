//! `dpbi merge`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::run::{Job, RunOptions};
use super::{load_results, no_results, read_manifest, threads};
use crate::cli::Merge;
use crate::failure::Failure;
use engine::parallel;
use lab::experiment::Experiment;
use lab::run::store::{CellStore, Folder, Manifest, Shard};
use lab::run::sweep::{DIVISION, shard_sizes};
use system::diagnostic::Diagnostic;

pub fn execute(args: &Merge) -> Result<(), Failure> {
    let _whole = parallel::of_whole(1.0);
    threads(&args.threads)?;
    let parts =
        args.folders.iter().map(|path| ShardFolder::find(path)).collect::<Result<Vec<_>, _>>()?;
    let first = check(&parts)?;
    let experiment = load_results(&first.path)?;
    let options = RunOptions {
        figures: args.output.figures.clone(),
        quiet: args.talk.quiet,
        verbose: false,
        fresh: false,
        shard: None,
    };
    refuse_other_cells(&experiment, &parts)?;
    let size = options.size(&experiment, &args.output.out);
    let folder = Folder::open(&args.output.out, &experiment.name)?;
    let paths: Vec<&Path> = parts.iter().map(|part| part.path.as_path()).collect();
    let store = CellStore::of(&paths)?;
    let outcome = Job::join(&experiment, &size, folder, store, &options)?;
    args.print.answer_unless(
        args.talk.quiet,
        || outcome.document(&experiment, false),
        || outcome.text(&experiment),
    )
}

/// Refuses shards whose manifests do not list exactly the cells that their config makes. Otherwise the
/// search for missing cells could take forever.
fn refuse_other_cells(experiment: &Experiment, parts: &[ShardFolder]) -> Result<(), Diagnostic> {
    let sizes = shard_sizes(experiment, parts.len());
    let all: u64 = sizes.iter().map(|(_, cells)| cells).sum();
    let listed: usize = parts.iter().map(|part| part.manifest.cells.len()).sum();
    if all != listed as u64 {
        let cause = format!("the shards hold {listed} cells, but their config makes {all}");
        return Err(Diagnostic::new(cause)
            .help("run the shards again; `dpbi verify` tells which one is damaged"));
    }
    parts.iter().try_for_each(|part| part.check_size(&sizes))
}

/// A results folder that should hold a shard.
struct ShardFolder {
    path: PathBuf,
    manifest: Manifest,
}

impl ShardFolder {
    /// The results folder of a shard: the folder at `path`, or the only one inside it.
    fn find(path: &Path) -> Result<Self, Diagnostic> {
        if let Some(found) = Self::read(path)? {
            return Ok(found);
        }
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        let mut within = Vec::new();
        for entry in entries {
            within.extend(Self::read(&entry.path())?);
        }
        match (within.pop(), within.is_empty()) {
            (Some(only), true) => Ok(only),
            (None, _) => {
                let remedy = "give the folders that `dpbi run --shard I/N` has written";
                Err(no_results(path, "holds no results of dpbi", remedy))
            }
            _ => Err(Diagnostic::new(format!("{} holds several results", path.display()))
                .help("name the results folder of the shard, such as part1/sweep")),
        }
    }

    /// The results folder at a path, if it is one.
    fn read(path: &Path) -> Result<Option<Self>, Diagnostic> {
        let manifest = read_manifest(path)?;
        Ok(manifest.map(|manifest| Self { path: path.to_owned(), manifest }))
    }

    fn shard(&self) -> Result<Shard, Diagnostic> {
        self.manifest.shard.ok_or_else(|| {
            let cause = format!(
                "{} holds all of `{}`, not a shard",
                self.path.display(),
                self.manifest.name
            );
            Diagnostic::new(cause).help("leave it out: it is complete")
        })
    }

    /// Refuses a shard that is not finished, or whose files were changed.
    fn check(&self) -> Result<(), Diagnostic> {
        let (shard, path) = (self.shard()?, self.path.display());
        if !self.manifest.complete {
            let failures = match self.manifest.failures {
                0 => String::new(),
                some => format!(": {some} of its cells failed"),
            };
            return Err(Diagnostic::new(format!("{shard} in {path} is not finished{failures}"))
                .help(format!("continue it with {}", self.manifest.command.join(" "))));
        }
        match self.manifest.changes(&self.path).keys().next() {
            None => Ok(()),
            Some(name) => {
                let cause = format!("{path}/{name} of {shard} is not as it was written");
                Err(Diagnostic::new(cause)
                    .help(format!("run it again: {}", self.manifest.command.join(" "))))
            }
        }
    }

    /// Refuses a shard that was divided by another rule than that of this dpbi.
    fn check_rule(&self) -> Result<(), Diagnostic> {
        if self.manifest.division.is_some_and(|division| division.rule == DIVISION) {
            return Ok(());
        }
        let (path, rule) = (self.path.display(), rule(&self.manifest));
        let cause = format!("{path} was divided by {rule}, this dpbi divides by rule {DIVISION}");
        Err(Diagnostic::new(cause)
            .help("join all shards with the dpbi that made them, or run them again with this one"))
    }

    /// Refuses a shard that has more or fewer cases and cells than its config gives to it.
    fn check_size(&self, sizes: &[(usize, u64)]) -> Result<(), Diagnostic> {
        let (shard, path) = (self.shard()?, self.path.display());
        let cases = self.manifest.division.map_or(0, |division| division.cases);
        let own = (cases, self.manifest.cells.len() as u64);
        let right = sizes[shard.index() - 1];
        if own == right {
            return Ok(());
        }
        let size = |(cases, cells): (usize, u64)| format!("{cases} cases with {cells} cells");
        let cause = format!("{path} has {}, but {shard} has {}", size(own), size(right));
        Err(Diagnostic::new(cause)
            .help(format!("run it again: {}", self.manifest.command.join(" "))))
    }

    /// Refuses a shard that does not fit the first one.
    fn check_beside(&self, first: &Self) -> Result<(), Diagnostic> {
        let (own, other) = (&self.manifest, &first.manifest);
        let difference = if own.name != other.name {
            format!("`{}`, not of `{}`", own.name, other.name)
        } else if (own.numerics, &own.dpbi) != (other.numerics, &other.dpbi) {
            let version = |of: &Manifest| format!("dpbi {} (numerics {})", of.dpbi, of.numerics);
            format!("{}, not of {}", version(own), version(other))
        } else if own.config != other.config {
            format!("another config: `{}` is different", different_key(&own.config, &other.config))
        } else if own.shard.map(Shard::count) != other.shard.map(Shard::count) {
            let count = |of: &Manifest| of.shard.map_or(0, Shard::count);
            format!("another division: into {}, not into {}", count(own), count(other))
        } else if own.division.map(|of| of.rule) != other.division.map(|of| of.rule) {
            format!("another division: by {}, not by {}", rule(own), rule(other))
        } else {
            return Ok(());
        };
        let (own, other) = (self.path.display(), first.path.display());
        Err(Diagnostic::new(format!("{own} is of {difference} (compared with {other})"))
            .help("join only shards of one config, made by one version, with one N"))
    }
}

/// The rule by which a shard was divided, in words.
fn rule(of: &Manifest) -> String {
    let unknown = || "the rule of an older dpbi".to_owned();
    of.division.map_or_else(unknown, |division| format!("rule {}", division.rule))
}

/// The first key that two configs do not share.
fn different_key(a: &serde_json::Value, b: &serde_json::Value) -> String {
    let keys = |of: &serde_json::Value| of.as_object().cloned().unwrap_or_default();
    let (a, b) = (keys(a), keys(b));
    let mut all = a.keys().chain(b.keys());
    all.find(|key| a.get(*key) != b.get(*key)).cloned().unwrap_or_default()
}

/// Every shard once, all of the same work. Returns the first.
fn check(parts: &[ShardFolder]) -> Result<&ShardFolder, Diagnostic> {
    let first = &parts[0];
    let count = first.shard()?.count();
    for part in parts {
        part.shard()?;
        part.check_beside(first)?;
    }
    first.check_rule()?;
    let mut seen: BTreeMap<usize, &ShardFolder> = BTreeMap::new();
    for part in parts {
        let shard = part.shard()?;
        part.check()?;
        if let Some(other) = seen.insert(shard.index(), part) {
            let (one, other) = (part.path.display(), other.path.display());
            return Err(Diagnostic::new(format!("{other} and {one} are both {shard}"))
                .help("give every shard once"));
        }
    }
    let missing: Vec<String> =
        (1..=count).filter(|index| !seen.contains_key(index)).map(|i| i.to_string()).collect();
    match missing.as_slice() {
        [] => Ok(first),
        [one] => Err(Diagnostic::new(format!("shard {one} of {count} is missing"))
            .help("give the folders of all shards")),
        _ => Err(Diagnostic::new(format!("shards {} of {count} are missing", missing.join(", ")))
            .help("give the folders of all shards")),
    }
}
