//! Repeated draws from a law, in blocks of runs with streams of their own.

use std::ops::Range;

use super::law::{Batch, Law, PreparedField};
use crate::parallel;
use crate::rng;

/// The number of runs that share a random stream. Every draw depends on it: it must never change.
const RUNS_PER_STREAM: u64 = 250;

/// The number of runs in a block, which is one cell.
pub const RUNS_PER_BLOCK: u64 = 4 * RUNS_PER_STREAM;

/// The number of blocks that are drawn together. Draws that fall into the same part of a law share one
/// walk through that part.
const BLOCKS_TOGETHER: usize = 16;

/// Sampled releases and their errors.
#[derive(Clone, Debug, PartialEq)]
pub struct Draws {
    k: usize,
    /// Released counts, k for each run.
    pub counts: Vec<u64>,
    /// For each field, the error of every run.
    pub errors: Vec<Vec<f64>>,
}

impl Draws {
    /// The counts released in each run.
    pub fn released(&self) -> impl Iterator<Item = &[u64]> {
        self.counts.chunks_exact(self.k)
    }

    fn append(&mut self, more: Self) {
        self.counts.extend(more.counts);
        for (errors, more) in self.errors.iter_mut().zip(more.errors) {
            errors.extend(more);
        }
    }
}

/// The runs of one block, out of `runs`.
pub fn runs_of(block: u64, runs: u64) -> Range<u64> {
    block * RUNS_PER_BLOCK..runs.min((block + 1) * RUNS_PER_BLOCK)
}

/// A law to draw from, and how its draws are called.
pub struct Sampler<'a> {
    /// The law.
    pub law: &'a dyn Law,
    /// The errors of interest.
    pub fields: &'a [PreparedField<'a>],
    /// The number of categories.
    pub k: usize,
    /// How many runs there are in all.
    pub runs: u64,
    /// The user's seed.
    pub seed: u64,
    /// Everything about the cell. A stream is named by it and by its own number, so nothing else can
    /// change a draw.
    pub key: &'a str,
}

impl Sampler<'_> {
    /// Draws some blocks, several at a time and in any order, and hands each over. `stop` is asked on
    /// the way.
    pub fn draw(
        &self,
        blocks: &[u64],
        stop: impl Fn() -> bool + Sync,
        hand_over: impl Fn(u64, Draws) + Sync,
    ) {
        let together: Vec<&[u64]> = blocks.chunks(BLOCKS_TOGETHER).collect();
        parallel::for_each(together.len(), &|place| {
            if !stop() {
                let blocks = together[place];
                let drawn = self.draw_together(blocks);
                blocks.iter().zip(drawn).for_each(|(&block, draws)| hand_over(block, draws));
            }
        });
    }

    fn draw_together(&self, blocks: &[u64]) -> Vec<Draws> {
        let streams = |&block: &u64| {
            let Range { start, end } = runs_of(block, self.runs);
            let starts = (start..end).step_by(RUNS_PER_STREAM as usize);
            starts.map(move |start| {
                (block, start / RUNS_PER_STREAM, (end - start).min(RUNS_PER_STREAM))
            })
        };
        let streams: Vec<(u64, u64, u64)> = blocks.iter().flat_map(streams).collect();
        let batch = |&(_, stream, runs): &(u64, u64, u64)| {
            let name = format!("{} block={stream}", self.key);
            Batch::new(rng::stream(self.seed, &name), runs as usize, self.k)
        };
        let mut batches: Vec<Batch> = streams.iter().map(batch).collect();
        self.law.draw(self.k, &mut batches);
        let mut drawn: Vec<Draws> = blocks.iter().map(|_| self.none()).collect();
        let mut place = 0;
        for ((block, ..), batch) in streams.iter().zip(batches) {
            place += usize::from(blocks[place] != *block);
            drawn[place].counts.extend(batch.released);
        }
        for draws in &mut drawn {
            let error = |field: &PreparedField| {
                draws.counts.chunks_exact(self.k).map(|out| field.at(out)).collect()
            };
            draws.errors = self.fields.iter().map(error).collect();
        }
        drawn
    }

    fn none(&self) -> Draws {
        Draws { k: self.k, counts: Vec::new(), errors: vec![Vec::new(); self.fields.len()] }
    }

    /// Draws all runs.
    pub fn draw_all(&self) -> Draws {
        let blocks: Vec<u64> = (0..self.runs.div_ceil(RUNS_PER_BLOCK)).collect();
        let together: Vec<&[u64]> = blocks.chunks(BLOCKS_TOGETHER).collect();
        let parts = parallel::map(&together, |blocks| self.draw_together(blocks));
        parts.into_iter().flatten().fold(self.none(), |mut all, part| {
            all.append(part);
            all
        })
    }
}
