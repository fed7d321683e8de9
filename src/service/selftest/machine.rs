//! Checks of this machine: the same bits with every instruction set and any number of threads, and
//! randomness from the operating system.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use rand::TryRng;
use rand::rngs::SysRng;
use schemars::JsonSchema;
use serde::Serialize;

use engine::numeric::kernel::{self, Path};
use engine::posterior::simplex::BLOCK;
use engine::rng;
use lab::experiment::config::{self, Overrides};
use lab::experiment::{Cell, Experiment, Keeper, Layout};
use system::source::Source;
use table::Content;

/// One check of the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Check {
    /// What should hold.
    pub name: &'static str,
    pub seen: String,
    pub passes: bool,
}

pub fn check_all(seed: u64, threads: usize) -> Vec<Check> {
    vec![paths(seed), few_threads(threads), randomness()]
}

/// Rows of random numbers of every length below this are tried.
const SHORT_ROWS: usize = 100;
/// The number of whole blocks that are tried.
const BLOCKS: usize = 400;

/// The numeric loops give the same bits in all versions that were compiled for different processors.
fn paths(seed: u64) -> Check {
    let paths = Path::all();
    let mut stream = rng::stream(seed, "selftest kernel");
    let mut numbers = 0;
    let mut differing = None;
    for len in (0..SHORT_ROWS).chain(std::iter::repeat_n(BLOCK, BLOCKS)) {
        let mut row = || (0..len).map(|_| rng::uniform(&mut stream)).collect::<Vec<f64>>();
        let (values, masses) = (row(), row());
        let portable = kernel::bits(paths[0], &values, &masses);
        numbers += portable.len();
        let differs = |path: &&Path| kernel::bits(**path, &values, &masses) != portable;
        differing = differing.or(paths[1..].iter().find(differs).map(|path| path.name()));
    }
    let names: Vec<&str> = paths.iter().map(|path| path.name()).collect();
    Check {
        name: "the same bits on every path of the processor",
        seen: match differing {
            None => format!("{}: {numbers} numbers alike", names.join(", ")),
            Some(name) => format!("{name} differs from {}", names[0]),
        },
        passes: differing.is_none(),
    }
}

/// Experiments with exact numbers and draws, quick enough to be run twice.
const EXPERIMENTS: &[&str] = &["configs/beta_balanced.toml", "configs/dirichlet_balanced.toml"];
const RUNS: u64 = 5_000;

/// One thread gives the same bytes as several: `threads`, but at least two.
fn few_threads(threads: usize) -> Check {
    let many = threads.max(2);
    let name = "the same bytes with any number of threads";
    match (computed(1), computed(many)) {
        (Ok(one), Ok(several)) => {
            let differing = one.iter().find(|(cell, bytes)| several.get(*cell) != Some(bytes));
            let passes = differing.is_none() && one.len() == several.len() && !one.is_empty();
            let seen = match differing {
                _ if passes => format!("1 and {many} threads: {} cells alike", one.len()),
                Some((cell, _)) => format!("1 and {many} threads differ at {cell}"),
                None => format!("{} cells, and {} of them", one.len(), several.len()),
            };
            Check { name, seen, passes }
        }
        (Err(cause), _) | (_, Err(cause)) => Check { name, seen: cause, passes: false },
    }
}

/// All cells of the experiments, computed with `threads` threads.
fn computed(threads: usize) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| error.to_string())?;
    let cells = EncodedCells::default();
    for &config in EXPERIMENTS {
        let overrides = Overrides { runs: Some(RUNS), ..Overrides::default() };
        let experiment: Experiment = config::load(&Source::Bundle(config.into()), &overrides)
            .map_err(|error| error.to_string())?;
        pool.install(|| {
            for panel in &experiment.panels {
                let cases: Vec<usize> = (0..panel.cases.len()).collect();
                Layout::new(panel).compute_cells(&cases, &cells);
            }
        });
    }
    let kept = cells.0.into_inner().unwrap_or_else(PoisonError::into_inner);
    kept.into_iter().map(|(cell, outcome)| Ok((cell, outcome?))).collect()
}

/// Keeps cells in memory.
#[derive(Default)]
struct EncodedCells(Mutex<BTreeMap<String, Result<Vec<u8>, String>>>);

impl Keeper for EncodedCells {
    fn has(&self, _: &Cell) -> bool {
        false
    }

    fn keep(&self, cell: &Cell, outcome: Result<Content, String>, _: f64) {
        let mut cells = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        cells.insert(cell.text.clone(), outcome.map(|content| content.encode()));
    }

    fn advance(&self, _: usize, _: usize, _: f64) {}

    fn is_stopped(&self) -> bool {
        false
    }
}

/// Two requests for random bytes of the operating system never agree.
fn randomness() -> Check {
    let request = || {
        let mut bytes = [0; 32];
        SysRng.try_fill_bytes(&mut bytes).map(|()| bytes).map_err(|error| error.to_string())
    };
    let (passes, seen) = match (request(), request()) {
        (Ok(one), Ok(other)) if one != other => (true, "two requests of 32 bytes".to_owned()),
        (Ok(_), Ok(_)) => (false, "the same 32 bytes twice".to_owned()),
        (Err(cause), _) | (_, Err(cause)) => (false, cause),
    };
    Check { name: "randomness of the operating system", seen, passes }
}

/// A seed that nobody knows beforehand, short enough to be typed again.
pub fn seed() -> Result<u64, String> {
    SysRng.try_next_u32().map(u64::from).map_err(|error| error.to_string())
}
