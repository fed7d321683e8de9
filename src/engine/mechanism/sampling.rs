//! Repeated draws from a law, in blocks of runs with streams of their own.

use std::ops::Range;

use super::law::{Batch, BenchField, OutputLaw};
use crate::parallel;
use crate::rng;

/// The number of runs that share a random stream. Every draw depends on it: it must never change.
const RUNS_PER_STREAM: u64 = 250;

/// The number of runs in a block, which is one cell.
pub const RUNS_PER_BLOCK: u64 = 4 * RUNS_PER_STREAM;

/// The number of blocks that are drawn together. Draws that fall into the same part of a law share one
/// walk through that part.
const BLOCKS_TOGETHER: usize = 16;

#[derive(Clone, Debug, PartialEq)]
pub struct Draws {
    k: usize,
    /// Released counts, k for each run.
    pub counts: Vec<u64>,
    /// For each field, the error of every run.
    pub errors: Vec<Vec<f64>>,
}

impl Draws {
    pub fn released(&self) -> impl Iterator<Item = &[u64]> {
        self.counts.chunks_exact(self.k)
    }
}

/// The runs of one block, out of `runs`.
pub fn runs_of(block: u64, runs: u64) -> Range<u64> {
    block * RUNS_PER_BLOCK..runs.min((block + 1) * RUNS_PER_BLOCK)
}

/// A law to draw from, and how its draws are called.
pub struct Sampler<'a> {
    pub law: &'a dyn OutputLaw,
    pub fields: &'a [BenchField<'a>],
    pub k: usize,
    pub runs: u64,
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
        parallel::for_each(together.len(), &|index| {
            if !stop() {
                let blocks = together[index];
                let drawn = self.draw_together(blocks);
                blocks.iter().zip(drawn).for_each(|(&block, draws)| hand_over(block, draws));
            }
        });
    }

    fn draw_together(&self, blocks: &[u64]) -> Vec<Draws> {
        let streams = |&block: &u64| {
            let Range { start, end } = runs_of(block, self.runs);
            let starts = (start..end).step_by(RUNS_PER_STREAM as usize);
            starts.map(move |start| (start / RUNS_PER_STREAM, (end - start).min(RUNS_PER_STREAM)))
        };
        let batch = |(stream, runs): (u64, u64)| {
            let name = format!("{} block={stream}", self.key);
            Batch::new(rng::stream(self.seed, &name), runs as usize, self.k)
        };
        let mut batches: Vec<Batch> = blocks.iter().flat_map(streams).map(batch).collect();
        self.law.draw(self.k, &mut batches);
        let mut batches = batches.into_iter();
        let draws = |block: &u64| {
            let own = batches.by_ref().take(streams(block).count());
            let counts: Vec<u64> = own.flat_map(|batch| batch.released).collect();
            let error =
                |field: &BenchField| counts.chunks_exact(self.k).map(|out| field.at(out)).collect();
            let errors = self.fields.iter().map(error).collect();
            Draws { k: self.k, errors, counts }
        };
        blocks.iter().map(draws).collect()
    }
}
