//! `dpbi verify`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::answer::as_shown;
use super::optimum;
use super::{CONFIG, load_results, no_results, print_json, threads};
use crate::cli::Verify;
use crate::failure::{Failure, VerdictError, WorkError};
use engine::parallel;
use engine::text::legible;
use figure::{self, Format};
use lab::experiment::Experiment;
use lab::run::sample::{self, Sample, entropy};
use lab::run::size::ExperimentSize;
use lab::run::store::{
    CellStore, Change, FileError, Holds, LOG, Manifest, ManifestError, hexadecimal, sha256,
};
use lab::run::sweep::{Output, Sweep};
use sha2::{Digest, Sha256};
use system::diagnostic::Diagnostic;
use table::{NUMERICS, Tables};

pub fn execute(args: &Verify) -> Result<(), Failure> {
    let _whole = parallel::of_whole(1.0);
    threads(&args.machine.threads)?;
    let seed = args.seed.unwrap_or_else(entropy);
    let (mut reports, mut first) = (Vec::new(), None);
    for place in parallel::steps(0..args.folders.len()) {
        let path = &args.folders[place];
        let mut check = FolderCheck::new(path, args, seed);
        check.verify()?;
        first = first.or_else(|| check.problems.first().cloned());
        let text = check.text();
        reports.extend(args.print.tell(args.talk.quiet, || check, || text)?);
    }
    if args.print.json {
        print_json(&reports)?;
    }
    first.map_or(Ok(()), |problem| Err(VerdictError::Difference(problem).into()))
}

/// A folder that is checked, and what was found out about it.
#[derive(Serialize, JsonSchema)]
pub struct FolderCheck<'a> {
    #[serde(rename = "folder", serialize_with = "as_shown")]
    #[schemars(with = "String")]
    path: &'a Path,
    #[serde(skip)]
    args: &'a Verify,
    /// Files that were hashed.
    files: usize,
    cells: usize,
    /// Cells that were computed again.
    sampled: usize,
    seed: u64,
    problems: Vec<String>,
}

impl<'a> FolderCheck<'a> {
    fn new(path: &'a Path, args: &'a Verify, seed: u64) -> Self {
        Self { path, args, files: 0, cells: 0, sampled: 0, seed, problems: Vec::new() }
    }

    /// Notes a difference. Control characters are written out: a terminal would obey them.
    fn note(&mut self, problem: impl AsRef<str>) {
        self.problems.push(legible(problem.as_ref()));
    }

    /// Notes a difference of one file of the folder.
    fn note_file(&mut self, name: &str, what: &str) {
        self.note(format!("{} {what}", self.path.join(name).display()));
    }

    fn text(&self) -> String {
        let Self { path, seed, files, cells, sampled, problems, .. } = self;
        let state = match problems.len() {
            0 => "as it was written".to_owned(),
            1 => "1 difference".to_owned(),
            many => format!("{many} differences"),
        };
        let mut text = format!(
            "{}: {state}\n  {files} files hashed; {sampled} of {cells} cells computed again \
             (--seed {seed})\n",
            path.display(),
        );
        problems.iter().for_each(|problem| text += &format!("  {problem}\n"));
        text
    }

    /// Hashes every file; if the config is as it was written, makes everything again from the cells.
    fn verify(&mut self) -> Result<(), Failure> {
        let manifest = match Manifest::read(self.path) {
            Ok(manifest) => manifest,
            Err(ManifestError::Damaged(cause)) => {
                self.note_file("manifest.json", &format!("is damaged: {cause}"));
                return Ok(());
            }
            Err(ManifestError::Absent | ManifestError::Foreign) => {
                let remedy =
                    "give a folder that `dpbi run` has written, such as results/beta_balanced";
                return Err(no_results(self.path, "holds no manifest.json of dpbi", remedy).into());
            }
        };
        self.files = manifest.files.len();
        let changes = manifest.changes(self.path);
        for (name, change) in &changes {
            self.note_file(
                name,
                match change {
                    Change::Missing => "is gone, or cannot be read",
                    Change::Altered => "is not as it was written",
                },
            );
        }
        if !manifest.complete {
            self.note(format!("{} is not complete", self.path.display()));
            return Ok(());
        }
        if manifest.files.is_empty() {
            self.note(format!("the manifest of {} lists no files", self.path.display()));
        }
        if manifest.holds == Holds::Optimum {
            // Its files are what a program found: they are not made again.
            for name in manifest.files.keys().filter(|name| !optimum::is_own_file(name.as_str())) {
                self.note_file(name.as_str(), "is not a file of `dpbi optimum`");
            }
            return Ok(());
        }
        // Without a config nothing can be made again.
        let has_config = manifest.files.contains_key(CONFIG);
        if !has_config {
            self.note_file(CONFIG, "is not in the manifest");
        }
        if changes.contains_key(CONFIG) || !has_config {
            return Ok(());
        }
        let experiment = load_results(self.path)?;
        refuse_other_version(self.path, &manifest)?;
        self.check_cells(&experiment, &manifest)
    }

    /// Makes the tables again from the cells, and computes a sample of the cells again.
    fn check_cells(&mut self, experiment: &Experiment, manifest: &Manifest) -> Result<(), Failure> {
        let store = CellStore::of(&[self.path])?;
        let mut size = ExperimentSize::new(experiment, &[], manifest.width);
        manifest.shard.iter().for_each(|&shard| size.take_part(experiment, shard));
        let sweep = Sweep::new(experiment, manifest.shard);
        if manifest.division != sweep.division() {
            let path = self.path.display();
            self.note(format!(
                "the division in the manifest of {path} is not the one that this dpbi makes"
            ));
        }
        let (all, listed) = (sweep.count(), manifest.cells.len());
        if all != listed as u64 {
            self.note_file(CONFIG, &format!("makes {all} cells, but the manifest has {listed}"));
            return Ok(());
        }
        let stock = sweep.take_stock(&store, |_, _, _| ());
        self.cells = stock.cells;
        if let Some(name) = sample::first_missing(&sweep, &store) {
            let (missing, log) = (stock.cells - stock.kept, self.path.join(LOG));
            self.note(format!("{missing} cells of {} cannot be read: {name}", log.display()));
        }
        if stock.kept == stock.cells {
            let _part = parallel::part(0.2);
            self.check_files(&sweep, &store, manifest)?;
        }
        let sample = Sample::draw(&sweep, &store, self.args.cells, self.seed);
        self.sampled = sample.size();
        size.keep_only(|panel, case| sample.holds(panel, case));
        let (path, threads) = (self.path.display().to_string(), rayon::current_num_threads());
        size.admit(&path, threads, self.args.machine.force).map_err(|error| {
            error.help(
                "choose fewer cells with --cells, or none: --cells 0; --force starts it all the same",
            )
        })?;
        let different = sample.compute_again(&sweep, &store)?;
        different.into_iter().for_each(|problem| self.note(problem));
        Ok(())
    }

    /// Makes the tables and figures again from the cells, and looks for files that are neither.
    fn check_files(
        &mut self,
        sweep: &Sweep,
        store: &CellStore,
        manifest: &Manifest,
    ) -> Result<(), Failure> {
        let mut made = BTreeSet::from([CONFIG, LOG].map(str::to_owned));
        if manifest.shard.is_none() {
            let mut tables = TableHashes::default();
            let all = sweep.assemble(store, &[], &mut tables, || true);
            let all = all.map_err(WorkError::from)?;
            for (name, hash) in tables.0 {
                if manifest.files.get(name.as_str()) != Some(&hexadecimal(&hash.finalize())) {
                    self.note_file(&name, "is not what the cells give");
                }
                made.insert(name);
            }
            for (name, bytes) in drawn_again(sweep.experiment, &all.tables, manifest)? {
                if manifest.files.get(name.as_str()) != Some(&sha256(&bytes)) {
                    self.note_file(&name, "is not what the tables give");
                }
                made.insert(name);
            }
        }
        for name in manifest.files.keys().filter(|name| !made.contains(name.as_str())) {
            self.note_file(name.as_str(), "is not a file of this experiment");
        }
        Ok(())
    }
}

/// Takes tables as they are made, and keeps only their SHA-256.
#[derive(Default)]
struct TableHashes(BTreeMap<String, Sha256>);

impl Output for TableHashes {
    fn write(&mut self, name: &str, bytes: Vec<u8>) -> Result<(), FileError> {
        // The records of the log have checksums of their own.
        if name != LOG {
            self.0.entry(name.to_owned()).or_default().update(bytes);
        }
        Ok(())
    }
}

/// Another version may compute other numbers.
fn refuse_other_version(path: &Path, manifest: &Manifest) -> Result<(), Diagnostic> {
    let own = env!("CARGO_PKG_VERSION");
    if manifest.numerics == NUMERICS && manifest.dpbi == own {
        return Ok(());
    }
    let cause = format!(
        "{} was written by dpbi {} (numerics {}), this is dpbi {own} (numerics {NUMERICS})",
        path.display(),
        manifest.dpbi,
        manifest.numerics,
    );
    Err(Diagnostic::new(cause).help("verify it with that version"))
}

/// The figures that the manifest lists, drawn from the tables.
fn drawn_again(
    experiment: &Experiment,
    tables: &Tables,
    manifest: &Manifest,
) -> Result<Vec<(String, Vec<u8>)>, Failure> {
    let mut drawn = Vec::new();
    for (name, figure) in experiment.figures(tables).into_iter().flatten() {
        for &format in Format::ALL {
            let file = format!("{name}.{}", format.extension());
            if manifest.files.contains_key(file.as_str()) {
                drawn.push((file, figure::render(&figure, format, manifest.width)?));
            }
        }
    }
    Ok(drawn)
}
