//! Walking the outputs of a mechanism, row by row and block by block.
//!
//! A [`Region`] is a set of outputs: all compositions of n, those near the data, or a box around
//! it. It is cut into blocks of about [`BLOCK`] outputs whose order and borders depend on nothing
//! but the region. Work is done block by block, in parallel, and reduced in the order of the
//! blocks; a draw finds its block by the blocks' sums and walks that one again. Memory grows with
//! the number of blocks, not of outputs.

mod count;
mod region;
mod uniform;

use crate::posterior::model::{Counts, compositions};

pub use count::measure;
pub use region::{Region, Shape, Window};
pub use uniform::uniform_composition;

/// The number of outputs in a block, give or take a row's end.
pub const BLOCK: usize = 1024;

/// What follows the running coordinate of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// One more coordinate: this number minus the running one, so that the total is n.
    Complement(u64),
    /// One more coordinate, which is 0: the others already exceed n.
    Zero,
    /// Nothing: the running coordinate is the last.
    Free,
}

/// Outputs that differ in one running coordinate only (and in what it determines).
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// The coordinates before the running one.
    pub head: &'a [u64],
    /// The running coordinate of the first output.
    pub start: u64,
    /// The number of outputs.
    pub len: usize,
    /// The coordinate after the running one.
    pub tail: Tail,
    /// How many outputs each of them stands for: itself, and those that differ from it by exchanging
    /// interchangeable coordinates.
    pub weight: f64,
}

impl<'a> Row<'a> {
    /// The row of one candidate.
    #[inline]
    pub fn of(candidate: &'a [u64]) -> Self {
        let index = candidate.len() - 2;
        let tail = Tail::Complement(candidate[index] + candidate[index + 1]);
        Self { head: &candidate[..index], start: candidate[index], len: 1, tail, weight: 1.0 }
    }

    /// The row that consists of the output at position `t` only.
    #[inline]
    pub fn only(&self, t: usize) -> Self {
        Self { start: self.start + t as u64, len: 1, ..*self }
    }

    /// Writes the output at position `t` of the row into `out` (of length k).
    #[inline]
    pub fn output(&self, t: usize, out: &mut [u64]) {
        let running = self.start + t as u64;
        let index = self.head.len();
        out[..index].copy_from_slice(self.head);
        out[index] = running;
        match self.tail {
            Tail::Complement(rest) => out[index + 1] = rest - running,
            Tail::Zero => out[index + 1] = 0,
            Tail::Free => {}
        }
    }
}

/// All compositions of n into k parts, one by one: for small n.
#[inline]
pub fn list_compositions(n: u64, k: usize) -> Vec<Counts> {
    Region::simplex(n, k).list().into_iter().map(|(counts, _)| counts).collect()
}

/// The number of compositions of n into k parts.
///
/// # Panics
/// If they are more than a `usize` can count. Compositions are numbered only where they are listed, and
/// such lists are refused when they are long.
pub fn count_compositions(n: u64, k: usize) -> usize {
    let count = compositions(n, k).and_then(|count| usize::try_from(count).ok());
    count.expect("compositions are numbered only if they are few")
}

/// The index of a composition in [`list_compositions`].
///
/// Before (c_1, …, c_k) stand, for every i, the compositions that agree up to i − 1 and have less
/// than c_i in place i; with m records left for k − i + 1 places these are
/// C(m + k − i, k − i) − C(m − c_i + k − i, k − i).
#[inline]
pub fn rank(composition: &[u64]) -> usize {
    let mut left: u64 = composition.iter().sum();
    let mut rank = 0;
    for (i, &c) in composition.iter().enumerate() {
        let indices = composition.len() - i;
        let of = |records: u64| count_compositions(records, indices);
        rank += of(left) - of(left - c);
        left -= c;
    }
    rank
}

/// The borders of a region's blocks.
#[derive(Clone, Debug)]
pub struct Blocks {
    depth: usize,
    /// For each block its first output: the head and the running coordinate, `depth` numbers.
    starts: Vec<u64>,
    /// For each block its number of outputs.
    sizes: Vec<u32>,
    /// How many outputs all of them stand for.
    represented: f64,
}

impl Blocks {
    /// The number of blocks.
    #[inline]
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Whether there is no block.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// How many outputs those in all blocks stand for.
    #[inline]
    pub fn represented(&self) -> f64 {
        self.represented
    }

    /// The number of outputs in all blocks.
    #[inline]
    pub fn outputs(&self) -> u64 {
        self.sizes.iter().map(|&size| u64::from(size)).sum()
    }

    #[inline]
    fn start(&self, block: usize) -> &[u64] {
        &self.starts[block * self.depth..][..self.depth]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compositions_are_ranked_as_they_are_listed() {
        for (n, k) in [(0, 2), (5, 2), (0, 4), (6, 3), (4, 5)] {
            for (index, composition) in list_compositions(n, k).iter().enumerate() {
                assert_eq!(rank(composition), index, "{composition:?}");
            }
        }
    }
}
