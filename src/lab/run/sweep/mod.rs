//! An experiment carried out cell by cell: which cells there are, which of them are stored, the
//! computation of the others, and the tables that are assembled from all of them.

mod shard;

pub use shard::{DIVISION, shard_sizes};

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use crate::experiment::{Cell, Experiment, Group, Keeper, Layout, groups};
use crate::run::store::{
    CellStore, CellTime, Division, FileError, Folder, Key, LARGEST_CONTENT, LOG, Shard, log_head,
    log_record,
};
use engine::parallel;
use engine::posterior::model::vector;
use system::fault::caught;
use table::{Content, ERRORS, FailureRow, Tables, distinct, error_rows, errors_head, is_sound};

/// About this many runs are assembled at a time.
const RUNS_AT_A_TIME: u64 = 100_000;

/// An experiment, or a part of it, laid out in cells.
pub struct Sweep<'a> {
    pub experiment: &'a Experiment,
    layouts: Vec<Layout<'a>>,
    /// Which part of it, if not the whole.
    pub shard: Option<Shard>,
    /// For every panel the cases that are part of it.
    cases: Vec<Vec<usize>>,
}

/// Where tables go.
pub trait Output {
    /// Takes the next piece of a file.
    fn write(&mut self, name: &str, bytes: Vec<u8>) -> Result<(), FileError>;
}

impl Output for Folder {
    fn write(&mut self, name: &str, bytes: Vec<u8>) -> Result<(), FileError> {
        Self::write(self, name, bytes)
    }
}

/// Is told how the work goes, and can end it.
pub trait Watcher: Sync {
    /// What a case is of the whole work, relative to other cases.
    fn weight(&self, panel: usize, case: usize) -> f64;
    /// A case is begun.
    fn begin(&self, panel: usize, case: usize);
    /// A cell was computed, or failed.
    fn done(&self, panel: usize, cell: &Cell, outcome: Result<f64, &str>);
    /// Whether no further cell should be begun.
    fn is_stopped(&self) -> bool;
}

/// Which cells of a sweep are stored, and which have to be computed.
pub struct Stock {
    pub cells: usize,
    /// How many of them are stored.
    pub kept: usize,
    /// For every panel and case whether something is missing.
    missing: Vec<Vec<bool>>,
}

impl Stock {
    /// Whether something of a case has to be computed.
    pub fn is_missing(&self, panel: usize, case: usize) -> bool {
        self.missing[panel][case]
    }
}

/// A cell that could not be computed.
#[derive(Clone, Debug)]
pub struct Failed {
    pub panel: usize,
    pub cell: Cell,
    pub cause: String,
}

/// All tables, and how long every cell took.
pub struct Assembly {
    /// The tables; single runs only where a figure shows them.
    pub tables: Tables,
    /// In the order of the log.
    pub times: Vec<CellTime>,
}

/// Why tables could not be put together.
#[derive(Debug, thiserror::Error)]
pub enum AssemblyError {
    /// A file could not be written or read.
    #[error(transparent)]
    Disk(#[from] FileError),
    /// The content of a cell of this setting has another form than it should.
    #[error("a cell of setting {0} is sound, but of another form")]
    Unreadable(usize),
    /// A cell gives this table something that is not a number.
    #[error("the cells give {0} something that is not a number")]
    Unsound(&'static str),
    /// The user asked for an end.
    #[error("interrupted")]
    Stopped,
}

impl AssemblyError {
    /// What a user can do about it.
    pub fn remedy(&self) -> Option<&'static str> {
        match self {
            Self::Unreadable(_) => Some("--fresh computes it again"),
            Self::Unsound(_) => Some("--fresh computes them again"),
            Self::Disk(_) | Self::Stopped => None,
        }
    }
}

impl<'a> Sweep<'a> {
    /// The name of a cell in messages.
    pub fn cell_name(&self, panel: usize, cell: &Cell) -> String {
        let layout = self.layout(panel);
        let panel = match layout.panel.id.as_str() {
            "" => self.experiment.name.clone(),
            id => format!("{} {id}", self.experiment.name),
        };
        let name = format!("{panel}, {}", layout.name(&layout.panel.cases[cell.case]));
        let Some(variant) = cell.variant else { return name };
        let label = &layout.panel.variants[variant].label;
        match cell.block {
            0 => format!("{name}: {label}"),
            block => format!("{name}: {label}, block {}", block + 1),
        }
    }

    pub fn whole(experiment: &'a Experiment) -> Self {
        Self::new(experiment, None)
    }

    /// One shard of an experiment, or the whole of it.
    pub fn new(experiment: &'a Experiment, shard: Option<Shard>) -> Self {
        let layouts = experiment.panels.iter().map(Layout::new).collect();
        let cases = match shard {
            Some(shard) => shard::divide(experiment, shard.count())
                .iter()
                .map(|of| (0..of.len()).filter(|&case| of[case] == shard.index()).collect())
                .collect(),
            None => experiment.panels.iter().map(|of| (0..of.cases.len()).collect()).collect(),
        };
        Self { experiment, layouts, shard, cases }
    }

    /// How the experiment was divided, if this is a shard.
    pub fn division(&self) -> Option<Division> {
        let cases = self.cases.iter().map(Vec::len).sum();
        self.shard.map(|_| Division { rule: DIVISION, cases })
    }

    /// Whether a case is part of it.
    pub fn has_case(&self, panel: usize, case: usize) -> bool {
        self.cases[panel].binary_search(&case).is_ok()
    }

    fn is_whole(&self) -> bool {
        self.shard.is_none()
    }

    /// A panel, laid out.
    pub fn layout(&self, panel: usize) -> &Layout<'a> {
        &self.layouts[panel]
    }

    pub fn cells(&self, panel: usize, case: usize) -> Vec<Cell> {
        self.layouts[panel].cells(case)
    }

    /// How many cells there are, without making them: a config from a stranger may ask for more cells
    /// than memory can hold.
    pub fn count(&self) -> u64 {
        let panels = self.layouts.iter().zip(&self.cases);
        panels.map(|(layout, cases)| cases.len() as u64 * layout.cells_per_case()).sum()
    }

    /// The keys of all cells.
    pub fn keys(&self) -> HashSet<Key> {
        let cells = self.cases().flat_map(|(panel, case)| self.cells(panel, case));
        cells.map(|cell| Key::new(&cell.text)).collect()
    }

    /// Every case, by panel.
    pub fn cases(&self) -> impl Iterator<Item = (usize, usize)> {
        let of_panel = |(panel, cases): (usize, &'_ Vec<usize>)| {
            cases.iter().map(move |&case| (panel, case)).collect::<Vec<_>>()
        };
        self.cases.iter().enumerate().flat_map(of_panel)
    }

    /// Finds out which cells are stored. `tell` is called for every cell, with whether it is.
    pub fn take_stock(&self, store: &CellStore, tell: impl Fn(usize, &Cell, bool)) -> Stock {
        let panels = self.layouts.iter().map(|layout| vec![false; layout.panel.cases.len()]);
        let mut stock = Stock { cells: 0, kept: 0, missing: panels.collect() };
        // A cell that two cases share is computed for the first one.
        let mut seen = HashSet::new();
        for (panel, case) in self.cases() {
            for cell in self.layouts[panel].cells(case) {
                let key = Key::new(&cell.text);
                let is_kept = store.has(key);
                tell(panel, &cell, is_kept);
                stock.cells += 1;
                stock.kept += usize::from(is_kept);
                stock.missing[panel][case] |= !is_kept && seen.insert(key);
            }
        }
        stock
    }

    /// Computes all cells that are not stored, and stores them. Returns those that failed.
    pub fn compute(&self, store: &CellStore, watcher: &dyn Watcher) -> Vec<Failed> {
        let failed = Mutex::default();
        let weights: Vec<f64> = (self.cases.iter().enumerate())
            .map(|(panel, cases)| cases.iter().map(|&case| watcher.weight(panel, case)).sum())
            .collect();
        let all: f64 = weights.iter().sum();
        for (panel, (layout, cases)) in self.layouts.iter().zip(&self.cases).enumerate() {
            let _part = parallel::part(weights[panel] / all);
            layout.compute_cells(cases, &CellSaver { panel, store, watcher, failed: &failed });
        }
        let mut failed: Vec<Failed> = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
        failed.sort_by_key(|one| (one.panel, one.cell.case, one.cell.variant, one.cell.block));
        failed
    }

    /// Assembles the files from the stored cells: the log of all cells, and the tables. A shard has no
    /// tables. It ends early if `go_on` is false.
    pub fn assemble(
        &self,
        store: &CellStore,
        failed: &[Failed],
        output: &mut impl Output,
        go_on: impl Fn() -> bool,
    ) -> Result<Assembly, AssemblyError> {
        let mut all = Assembly { tables: Tables::default(), times: Vec::new() };
        let errors = self.errors();
        output.write(LOG, log_head())?;
        if self.is_whole() && !errors.is_empty() {
            output.write(ERRORS, errors_head(&errors))?;
        }
        let causes: HashMap<&str, &str> =
            failed.iter().map(|one| (one.cell.text.as_str(), one.cause.as_str())).collect();
        for (panel, (layout, cases)) in self.layouts.iter().zip(&self.cases).enumerate() {
            if self.is_whole() {
                all.tables.append(layout.panel.rows());
            }
            let _part = parallel::part(1.0 / self.layouts.len() as f64);
            let chunks: Vec<&[usize]> = cases.chunks(cases_at_a_time(layout)).collect();
            for place in parallel::steps(0..chunks.len()) {
                let cases = chunks[place];
                let pieces = self.pieces(panel, cases, store, &errors)?;
                for piece in pieces {
                    if !go_on() {
                        return Err(AssemblyError::Stopped);
                    }
                    output.write(LOG, piece.log)?;
                    if !piece.errors.is_empty() {
                        output.write(ERRORS, piece.errors)?;
                    }
                    all.tables.append(piece.tables);
                    all.times.extend(piece.times);
                    let failures = piece.missing.iter().map(|cell| {
                        failure(layout, cell, causes.get(cell.text.as_str()).unwrap_or(&UNKNOWN))
                    });
                    all.tables.failures.extend(failures);
                }
            }
        }
        for (name, bytes) in all.tables.files() {
            if !is_sound(&bytes) {
                return Err(AssemblyError::Unsound(name));
            }
            output.write(name, bytes)?;
        }
        Ok(all)
    }

    /// The names of all errors, in the order of the panels.
    fn errors(&self) -> Vec<&'static str> {
        let errors = self.experiment.panels.iter().flat_map(|panel| panel.errors());
        distinct(errors.map(|metric| metric.id()))
    }

    /// What some cases of a panel add to the files, group by group.
    fn pieces(
        &self,
        panel: usize,
        cases: &[usize],
        store: &CellStore,
        errors: &[&str],
    ) -> Result<Vec<Piece>, AssemblyError> {
        let layout = &self.layouts[panel];
        let of_case = |&case: &usize| groups(&layout.cells(case));
        let groups: Vec<Group> = cases.par_iter().flat_map_iter(of_case).collect();
        let pieces = parallel::map(&groups, |group| self.piece(layout, group, store, errors));
        pieces.into_iter().collect()
    }

    fn piece(
        &self,
        layout: &Layout,
        group: &Group,
        store: &CellStore,
        errors: &[&str],
    ) -> Result<Piece, AssemblyError> {
        let panel = layout.panel;
        let setting = panel.first + group.case;
        let label = group.variant.map_or("", |variant| panel.variants[variant].label.as_str());
        let (mut piece, mut contents) = (Piece::default(), Vec::new());
        for cell in &group.cells {
            let key = Key::new(&cell.text);
            let Some((seconds, content)) = store.get(key)? else {
                piece.missing.push(cell.clone());
                continue;
            };
            piece.log.extend(log_record(key, &content));
            piece.times.push((setting, label.to_owned(), cell.block + 1, seconds));
            if self.is_whole() {
                let content = cell.decode(panel, &content);
                contents.push(content.ok_or(AssemblyError::Unreadable(setting))?);
            }
        }
        if self.is_whole() && piece.missing.is_empty() {
            // A stored cell may hold any values that its types allow, so that this may panic.
            piece.tables = caught(|| layout.assemble(group, contents))
                .map_err(|_| AssemblyError::Unreadable(setting))?;
            for block in &piece.tables.errors {
                piece.errors.extend(error_rows(block, errors));
            }
            if !panel.shows_runs() {
                piece.tables.errors.clear();
            }
        }
        Ok(piece)
    }
}

/// The cause of a missing cell for which no failure was reported.
const UNKNOWN: &str = "it was not computed";

/// The row of a failed cell.
fn failure(layout: &Layout, cell: &Cell, cause: &str) -> FailureRow {
    let panel = layout.panel;
    let setting = &panel.cases[cell.case].setting;
    FailureRow {
        setting: panel.first + cell.case,
        mechanism: cell.variant.map_or("", |variant| &*panel.variants[variant].label).to_owned(),
        block: cell.block + 1,
        prior: vector(setting.prior.alpha()),
        counts: vector(setting.counts()),
        epsilon: setting.epsilon.get(),
        delta: setting.delta.map(|delta| delta.get()),
        gamma: setting.gamma.get(),
        cause: cause.lines().next().unwrap_or_default().to_owned(),
    }
}

/// As many cases as make a good piece of work.
fn cases_at_a_time(layout: &Layout) -> usize {
    let panel = layout.panel;
    let runs = match panel.kind.runs() {
        Some(_) => panel.runs.saturating_mul(panel.variants.len() as u64),
        None => RUNS_AT_A_TIME / 64,
    };
    (RUNS_AT_A_TIME / runs.max(1)).max(1) as usize
}

/// What a group of cells adds to the files.
#[derive(Default)]
struct Piece {
    log: Vec<u8>,
    errors: Vec<u8>,
    tables: Tables,
    times: Vec<CellTime>,
    /// Cells that are not stored: they failed, for this case or for another one that shares them.
    missing: Vec<Cell>,
}

/// Stores the cells of one panel as they are computed.
struct CellSaver<'a> {
    panel: usize,
    store: &'a CellStore,
    watcher: &'a dyn Watcher,
    failed: &'a Mutex<Vec<Failed>>,
}

impl Keeper for CellSaver<'_> {
    fn has(&self, cell: &Cell) -> bool {
        self.store.has(Key::new(&cell.text))
    }

    fn keep(&self, cell: &Cell, outcome: Result<Content, String>, seconds: f64) {
        let content = outcome.map(|content| content.encode());
        let too_large = || "its content is larger than a record can be".to_owned();
        let content = content.and_then(|bytes| {
            if bytes.len() <= LARGEST_CONTENT { Ok(bytes) } else { Err(too_large()) }
        });
        match content {
            Ok(content) => {
                self.store.put(Key::new(&cell.text), seconds, &content);
                self.watcher.done(self.panel, cell, Ok(seconds));
            }
            Err(cause) => {
                self.watcher.done(self.panel, cell, Err(&cause));
                let failed = Failed { panel: self.panel, cell: cell.clone(), cause };
                self.failed.lock().unwrap_or_else(PoisonError::into_inner).push(failed);
            }
        }
    }

    fn weight(&self, case: usize) -> f64 {
        self.watcher.weight(self.panel, case)
    }

    fn begin(&self, case: usize) {
        self.watcher.begin(self.panel, case);
    }

    fn is_stopped(&self) -> bool {
        self.watcher.is_stopped() || self.store.failed()
    }
}
