//! Cells: what is computed, kept, and computed again as one.
//!
//! A kind that samples has a cell for every block of runs of one mechanism at one case; the first
//! block also holds what is exact about the mechanism. For all other kinds a cell is a case. The key
//! of a cell names everything that its content depends on, so that a finished cell is found again, by
//! whichever run of whichever config.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use rayon::prelude::*;

use super::fault;
use super::{Case, Naming, Panel, PlacedReadings};
use engine::analysis::tuning;
use engine::mechanism::Mechanism;
use engine::mechanism::sampling::runs_of;
use engine::parallel;
use engine::posterior::metric::Metric;
use engine::posterior::setting::Setting;
use engine::refusal::Refusal;
use system::fault::caught;
use table::{Block, CalibrationRow, Content, NUMERICS, Tables};

/// The part of the time of a wave in which mechanisms are calibrated and remapped, roughly.
const TUNED: f64 = 0.7;

/// About this many cells are laid out at a time.
const CELLS_PER_WAVE: usize = 20_000;

/// In a cell, settings have no number: they are counted when it is put beside others.
pub(super) const UNNUMBERED: usize = 0;

/// One cell of a panel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The place of its case in the panel.
    pub case: usize,
    /// The place of its mechanism; `None` if it is about all of them.
    pub variant: Option<usize>,
    /// The number of the block of runs, from 0.
    pub block: u64,
    /// Its key: all that it depends on.
    pub text: String,
}

impl Cell {
    /// The content in these bytes; `None` if they are not the content of such a cell.
    pub fn decode(&self, panel: &Panel, bytes: &[u8]) -> Option<Content> {
        let content = Content::decode(bytes)?;
        let fits = match &content {
            Content::Runs(block) => {
                let runs = runs_of(self.block, panel.runs).count();
                let k = panel.cases[self.case].setting.k();
                self.variant.is_some() && block.fits(runs, k, panel.errors().len(), self.block == 0)
            }
            Content::Rows(_) => self.variant.is_none(),
        };
        fits.then_some(content)
    }
}

/// Who keeps finished cells, and knows when to stop.
pub trait Keeper: Sync {
    /// Whether a cell need not be computed.
    fn has(&self, cell: &Cell) -> bool;
    /// Keeps a cell, or the reason why it failed. Called from any thread.
    fn keep(&self, cell: &Cell, outcome: Result<Content, String>, seconds: f64);
    /// What a case is of the whole work, relative to other cases.
    fn weight(&self, _case: usize) -> f64 {
        1.0
    }
    /// A case is begun. Called from any thread.
    fn begin(&self, _case: usize) {}
    /// Whether no further cell should be begun.
    fn is_stopped(&self) -> bool;
}

/// The key of a cell: names and values, one after the other. Every value is put in by name, so that a
/// new field of some type changes no key by itself.
#[derive(Clone)]
pub struct CellKey(String);

impl CellKey {
    /// The beginning of every key.
    pub(super) fn new(panel: &Panel) -> Self {
        let kind = &panel.kind;
        Self(format!("numerics={NUMERICS} kind={} version={}", kind.id(), kind.version()))
    }

    /// Adds a text that names its own values.
    pub(super) fn join(&mut self, part: &str) -> &mut Self {
        self.0 += " ";
        self.0 += part;
        self
    }

    /// Adds a value. It is quoted, so that none can be taken for another.
    pub(super) fn put(&mut self, name: &str, value: impl ToString) -> &mut Self {
        let value = value.to_string().replace('\\', "\\\\").replace('"', "\\\"");
        self.0 += &format!(" {name}=\"{value}\"");
        self
    }

    /// Adds several values of the same name.
    pub(super) fn put_all<T: ToString>(
        &mut self,
        name: &str,
        values: impl IntoIterator<Item = T>,
    ) -> &mut Self {
        for value in values {
            self.put(name, value);
        }
        self
    }

    pub(super) fn finish(self) -> String {
        self.0
    }
}

/// How a kind that samples works: its cells are blocks of runs of one mechanism at one case.
pub trait Runs: Sync {
    /// The errors of its releases.
    fn errors(&self, panel: &Panel) -> Vec<Metric>;
    /// How many blocks the runs of one mechanism at one case are divided into.
    fn blocks(&self, panel: &Panel) -> u64;
    /// The cells of one case, in the order of the tables.
    fn cells(&self, layout: &Layout, case: usize) -> Vec<Cell>;
    /// Computes some cells of one case.
    fn compute(&self, layout: &Layout, wanted: &[Cell], keeper: &dyn Keeper);
    /// The rows of one mechanism at one case, from all its blocks; none if one is missing.
    fn assemble(&self, panel: &Panel, group: &Group, blocks: Vec<Block>) -> Tables;
    /// Whether some figure shows single runs, and not only their summaries.
    fn are_shown(&self) -> bool;
}

/// The computation of one case.
pub struct Task<'a> {
    /// The panel, laid out.
    pub layout: &'a Layout<'a>,
    pub panel: &'a Panel,
    pub case: &'a Case,
    pub setting: usize,
}

/// A panel and what its cases are called: cells are told apart, computed and put together here.
pub struct Layout<'a> {
    pub panel: &'a Panel,
    pub(super) naming: Naming,
    pub(super) placed: PlacedReadings<'a>,
}

impl<'a> Layout<'a> {
    /// Lays a panel out.
    pub fn new(panel: &'a Panel) -> Self {
        Self { panel, naming: Naming::new(&panel.cases), placed: panel.placed_readings() }
    }

    /// What a case is called.
    pub fn name(&self, case: &Case) -> String {
        self.naming.name(case)
    }

    /// The cells of one case, in the order of the tables.
    pub fn cells(&self, case: usize) -> Vec<Cell> {
        match self.panel.kind.runs() {
            Some(runs) => runs.cells(self, case),
            None => vec![Cell { case, variant: None, block: 0, text: self.key(case) }],
        }
    }

    /// The key of a cell that is a case.
    fn key(&self, case: usize) -> String {
        let Self { panel, placed, .. } = self;
        let case = &panel.cases[case];
        let mut key = CellKey::new(panel);
        key.join(&case.setting.key())
            .put("gamma", case.setting.gamma.get())
            .put("panel", &panel.id)
            .put_all("at", case.at);
        for variant in &panel.variants {
            key.put("label", &variant.label).put("mechanism", variant.key(&case.setting));
            key.put_all("reading", placed.of(&variant.label, case).map(|reading| reading.key()));
        }
        panel.kind.complete_key(self, case, &mut key);
        key.finish()
    }

    /// Computes the cells of some cases that `keeper` does not have.
    pub fn compute_cells(&self, cases: &[usize], keeper: &dyn Keeper) {
        let has_tuned = self.panel.variants.iter().any(tuning::needs_tuning);
        // Where mechanisms have to be calibrated or remapped, no cell is finished before all of a
        // wave are.
        let few = 2 * rayon::current_num_threads();
        let wave = if has_tuned { few } else { self.cases_per_wave() };
        let weight = |cases: &[usize]| cases.iter().map(|&case| keeper.weight(case)).sum::<f64>();
        let all = weight(cases);
        for cases in cases.chunks(wave) {
            let _wave = parallel::part(weight(cases) / all);
            let mut wanted = self.wanted(cases, keeper);
            wanted.retain(|wanted| !wanted.is_empty());
            if keeper.is_stopped() {
                return;
            }
            if has_tuned {
                let _part = parallel::part(TUNED);
                self.tune(&wanted, keeper);
            }
            let weights: Vec<f64> =
                wanted.iter().map(|wanted| keeper.weight(wanted[0].case)).collect();
            parallel::for_each_weighed(&weights, &|place| {
                if !keeper.is_stopped() {
                    keeper.begin(wanted[place][0].case);
                    self.compute_case(&wanted[place], keeper);
                }
            });
        }
    }

    fn cases_per_wave(&self) -> usize {
        let blocks = self.panel.kind.runs().map_or(1, |runs| runs.blocks(self.panel) as usize);
        (CELLS_PER_WAVE / (self.panel.variants.len() * blocks).max(1)).max(1)
    }

    /// How many cells a case has, without making them.
    pub fn cells_per_case(&self) -> u64 {
        let blocks = |runs: &dyn Runs| self.panel.variants.len() as u64 * runs.blocks(self.panel);
        self.panel.kind.runs().map_or(1, blocks)
    }

    /// For each case the cells that `keeper` does not have. Two cases may share a cell: where a
    /// mechanism does not use γ, all γ do.
    fn wanted(&self, cases: &[usize], keeper: &dyn Keeper) -> Vec<Vec<Cell>> {
        let of_case = |&case: &usize| {
            let mut cells = self.cells(case);
            cells.retain(|cell| !keeper.has(cell));
            cells
        };
        let mut wanted: Vec<Vec<Cell>> = cases.par_iter().map(of_case).collect();
        let mut seen = HashSet::new();
        wanted.iter_mut().for_each(|cells| cells.retain(|cell| seen.insert(cell.text.clone())));
        wanted
    }

    /// Calibrates and remaps what these cells need. One that fails will fail again in its cell.
    fn tune(&self, wanted: &[Vec<Cell>], keeper: &dyn Keeper) {
        let needed = wanted.iter().flatten().flat_map(|cell| {
            let setting: &Setting = &self.panel.cases[cell.case].setting;
            self.variants_of(cell).iter().map(move |variant| (variant, setting))
        });
        let _ = caught(|| self.panel.tuning.prepare_all(needed, || keeper.is_stopped()));
    }

    /// The mechanisms that a cell is about.
    fn variants_of(&self, cell: &Cell) -> &'a [Mechanism] {
        match cell.variant {
            Some(variant) => &self.panel.variants[variant..=variant],
            None => &self.panel.variants,
        }
    }

    /// Computes cells of one case.
    fn compute_case(&self, wanted: &[Cell], keeper: &dyn Keeper) {
        if let Some(runs) = self.panel.kind.runs() {
            return runs.compute(self, wanted, keeper);
        }
        for cell in wanted {
            let clock = Instant::now();
            let outcome = caught(|| {
                fault::strike(self.panel.first + cell.case, "");
                self.rows(cell).map_err(|refusal| refusal.to_string())
            });
            let content = outcome.flatten().map(|rows| Content::Rows(Box::new(rows)));
            keeper.keep(cell, content, clock.elapsed().as_secs_f64());
        }
    }

    /// The rows of a cell that is a case.
    fn rows(&self, cell: &Cell) -> Result<Tables, Refusal> {
        let panel = self.panel;
        let case = &panel.cases[cell.case];
        let setting = panel.first + cell.case;
        let mut tables = panel.kind.rows(&Task { layout: self, panel, case, setting })?;
        for variant in &panel.variants {
            let certificate = panel.prepared(variant, case)?.certificate;
            let row = |found| CalibrationRow::new(setting, &variant.label, &found);
            tables.calibration.extend(certificate.map(row));
        }
        tables.renumber(UNNUMBERED);
        Ok(tables)
    }

    /// The rows that a mechanism at a case, or a whole case, adds to the tables, from all its cells;
    /// none if a cell is missing.
    pub fn assemble(&self, group: &Group, cells: Vec<Content>) -> Tables {
        let mut tables = Tables::default();
        let mut blocks = Vec::new();
        for cell in cells {
            match cell {
                Content::Rows(rows) => tables.append(*rows),
                Content::Runs(block) => blocks.push(*block),
            }
        }
        if let Some(runs) = self.panel.kind.runs() {
            tables.append(runs.assemble(self.panel, group, blocks));
        }
        tables.renumber(self.panel.first + group.case);
        tables
    }
}

impl Panel {
    /// Computes all its tables, in memory.
    ///
    /// # Panics
    /// If a cell fails.
    pub fn compute(&self) -> Tables {
        let (layout, kept) = (Layout::new(self), InMemory::default());
        let cases: Vec<usize> = (0..self.cases.len()).collect();
        layout.compute_cells(&cases, &kept);
        let kept = kept.into_found();
        let of_group = |group: Group| {
            let content = |cell: &Cell| match &kept[&cell.text] {
                Ok(content) => content.clone(),
                Err(cause) => panic!("{}: {cause}", cell.text),
            };
            layout.assemble(&group, group.cells.iter().map(content).collect())
        };
        let groups = cases.par_iter().flat_map_iter(|&case| groups(&layout.cells(case)));
        let parts: Vec<Tables> = groups.map(of_group).collect();
        let mut tables = self.rows();
        parts.into_iter().for_each(|part| tables.append(part));
        tables
    }
}

/// Cells that make the same rows: all blocks of a mechanism at a case, or a case.
#[derive(Clone, Debug)]
pub struct Group {
    pub case: usize,
    /// The place of the mechanism.
    pub variant: Option<usize>,
    /// The cells, at least one.
    pub cells: Vec<Cell>,
}

/// The groups of a case's cells.
pub fn groups(cells: &[Cell]) -> Vec<Group> {
    let group = |cells: &[Cell]| {
        let Cell { case, variant, .. } = cells[0];
        Group { case, variant, cells: cells.to_vec() }
    };
    cells.chunk_by(|a, b| a.variant == b.variant).map(group).collect()
}

/// What cells hold, or why they failed, by their keys.
type Found = HashMap<String, Result<Content, String>>;

/// Keeps cells in memory: all, or only some, and then has the others.
#[derive(Default)]
pub struct InMemory {
    only: Option<HashSet<String>>,
    found: Mutex<Found>,
}

impl InMemory {
    /// Of these cells only.
    pub fn only(cells: &[Cell]) -> Self {
        let only = cells.iter().map(|cell| cell.text.clone()).collect();
        Self { only: Some(only), found: Mutex::default() }
    }

    /// What was kept.
    pub fn into_found(self) -> Found {
        self.found.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Keeper for InMemory {
    fn has(&self, cell: &Cell) -> bool {
        self.only.as_ref().is_some_and(|only| !only.contains(&cell.text))
    }

    fn keep(&self, cell: &Cell, outcome: Result<Content, String>, _: f64) {
        self.found
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(cell.text.clone(), outcome);
    }

    fn is_stopped(&self) -> bool {
        false
    }
}
