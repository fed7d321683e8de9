//! Cells that are computed again.

use std::collections::BTreeMap;
use std::hash::{BuildHasher, RandomState};

use crate::experiment::{Cell, InMemory};
use crate::run::store::{CellStore, FileError, Key};
use crate::run::sweep::Sweep;
use engine::parallel;
use engine::rng;

/// A random seed.
pub fn entropy() -> u64 {
    RandomState::new().hash_one("sample") >> 32
}

/// The name of the first cell that is not stored.
pub fn first_missing(sweep: &Sweep, store: &CellStore) -> Option<String> {
    sweep.cases().find_map(|(panel, case)| {
        let cells = sweep.cells(panel, case);
        let missing = cells.iter().find(|cell| !store.has(Key::new(&cell.text)));
        missing.map(|cell| sweep.cell_name(panel, cell))
    })
}

/// Cells chosen by chance, by panel.
pub struct Sample {
    cells: BTreeMap<usize, Vec<Cell>>,
}

impl Sample {
    /// At most `size` of the stored cells, each with the same probability.
    pub fn draw(sweep: &Sweep, store: &CellStore, size: usize, seed: u64) -> Self {
        let mut stream = rng::stream(seed, "verify");
        let mut chosen: Vec<(usize, Cell)> = Vec::new();
        let mut seen = 0;
        for (panel, case) in sweep.cases() {
            for cell in sweep.cells(panel, case) {
                if !store.has(Key::new(&cell.text)) {
                    continue;
                }
                // Reservoir sampling (Vitter's algorithm R).
                seen += 1;
                let place = rng::uniform_below(seen, &mut stream) as usize;
                if chosen.len() < size {
                    chosen.push((panel, cell));
                } else if place < size {
                    chosen[place] = (panel, cell);
                }
            }
        }
        let mut cells: BTreeMap<usize, Vec<Cell>> = BTreeMap::new();
        chosen.into_iter().for_each(|(panel, cell)| cells.entry(panel).or_default().push(cell));
        Self { cells }
    }

    /// Whether there is a cell of this case.
    pub fn holds(&self, panel: usize, case: usize) -> bool {
        self.cells.get(&panel).is_some_and(|cells| cells.iter().any(|cell| cell.case == case))
    }

    /// How many there are.
    pub fn size(&self) -> usize {
        self.cells.values().map(Vec::len).sum()
    }

    /// Computes the cells again, and names the first one that is different.
    pub fn compute_again(
        &self,
        sweep: &Sweep,
        store: &CellStore,
    ) -> Result<Option<String>, FileError> {
        let panels: Vec<_> = self.cells.iter().collect();
        for place in parallel::steps(0..panels.len()) {
            let (&panel, cells) = panels[place];
            let again = InMemory::only(cells);
            let mut cases: Vec<usize> = cells.iter().map(|cell| cell.case).collect();
            cases.sort_unstable();
            cases.dedup();
            sweep.layout(panel).compute_cells(&cases, &again);
            let found = again.into_found();
            for cell in cells {
                let kept = store.get(Key::new(&cell.text))?.map(|(_, content)| content);
                let name = || sweep.cell_name(panel, cell);
                // Two settings may share a cell.
                match found.get(&cell.text) {
                    Some(Ok(content)) if kept == Some(content.encode()) => {}
                    Some(Err(cause)) => {
                        return Ok(Some(format!("{}: computed again it fails: {cause}", name())));
                    }
                    _ => return Ok(Some(format!("{}: computed again it is different", name()))),
                }
            }
        }
        Ok(None)
    }
}
