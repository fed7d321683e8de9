//! Repeated draws from a law, in blocks with streams of their own.

use rayon::prelude::*;

use crate::field::Field;
use crate::law::{Batch, Law};
use crate::rng;

/// So many runs share a random stream. Part of the definition of the results: never change it
/// without saying so, since every draw depends on it.
const RUNS_PER_STREAM: u64 = 250;

/// So many streams are drawn from at one time: draws that fall into one block share the walk of it.
const STREAMS_TOGETHER: usize = 64;

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
    let streams: Vec<u64> = (0..runs.div_ceil(RUNS_PER_STREAM)).collect();
    let together = |streams: &[u64]| {
        let batch = |&stream: &u64| {
            let runs = RUNS_PER_STREAM.min(runs - stream * RUNS_PER_STREAM) as usize;
            Batch::new(rng::stream(seed, &format!("{key} block={stream}")), runs, k)
        };
        let mut batches: Vec<Batch> = streams.iter().map(batch).collect();
        law.draw(k, &mut batches);
        let released: Vec<u64> = batches.into_iter().flat_map(|batch| batch.released).collect();
        let error =
            |field: &&dyn Field| released.chunks_exact(k).map(|out| field.at(out)).collect();
        let errors = fields.iter().map(error).collect();
        Draws { k, released, errors }
    };
    let blocks: Vec<Draws> = streams.par_chunks(STREAMS_TOGETHER).map(together).collect();
    let mut all = Draws { k, released: Vec::new(), errors: vec![Vec::new(); fields.len()] };
    for block in blocks {
        all.released.extend(block.released);
        for (errors, more) in all.errors.iter_mut().zip(block.errors) {
            errors.extend(more);
        }
    }
    all
}
