//! Repeated draws from a law, in blocks with streams of their own.

use rayon::prelude::*;

use crate::field::Field;
use crate::law::Law;
use crate::rng;

/// So many runs share a random stream. Part of the definition of the results: never change it
/// without saying so, since every draw depends on it.
const RUNS_PER_STREAM: u64 = 250;

/// Sampled releases and their errors.
#[derive(Clone, Debug, PartialEq)]
pub struct Draws {
    k: usize,
    /// Released counts, k for each run.
    released: Vec<u64>,
    /// For each field, the error of every run.
    pub errors: Vec<Vec<f64>>,
}

impl Draws {
    /// The counts released in each run.
    pub fn released(&self) -> impl Iterator<Item = &[u64]> {
        self.released.chunks_exact(self.k)
    }
}

/// Draws `runs` releases. `key` says everything about the cell; the stream of a block is named by
/// it and by the block's number, so nothing else can change a draw.
#[must_use]
pub fn draw(
    law: &dyn Law,
    fields: &[&dyn Field],
    k: usize,
    runs: u64,
    seed: u64,
    key: &str,
) -> Draws {
    let blocks: Vec<Draws> = (0..runs.div_ceil(RUNS_PER_STREAM))
        .into_par_iter()
        .map(|block| {
            let runs = RUNS_PER_STREAM.min(runs - block * RUNS_PER_STREAM) as usize;
            let mut rng = rng::stream(seed, &format!("{key} block={block}"));
            let mut released = vec![0; runs * k];
            for out in released.chunks_exact_mut(k) {
                law.draw(&mut rng, out);
            }
            let error =
                |field: &&dyn Field| released.chunks_exact(k).map(|out| field.at(out)).collect();
            let errors = fields.iter().map(error).collect();
            Draws { k, released, errors }
        })
        .collect();
    let mut all = Draws { k, released: Vec::new(), errors: vec![Vec::new(); fields.len()] };
    for block in blocks {
        all.released.extend(block.released);
        for (errors, more) in all.errors.iter_mut().zip(block.errors) {
            errors.extend(more);
        }
    }
    all
}
