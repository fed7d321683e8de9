//! A pass over many outputs, for one error under one law or several.
//!
//! Laws that share their outputs (exponential mechanisms with one score) share the pass: every
//! error is evaluated once, and weighed by each law.

use super::Law;
use crate::numeric::scale::{self, BINS};
use crate::numeric::{Sum, kernel};
use crate::parallel;
use crate::posterior::error_field::Field;
use crate::posterior::simplex::{BLOCK, Blocks, Region, Row};

/// An error, and laws of what is released.
pub trait Surveyed: Sync {
    /// The outputs.
    fn region(&self) -> &Region;

    /// Their division into blocks.
    fn blocks(&self) -> &Blocks;

    /// How many laws there are.
    fn laws(&self) -> usize;

    /// For one law: the mass of the plateau, where the error is 1.
    fn plateau(&self, law: usize) -> f64;

    /// Writes the error of every output of a row.
    fn values(&self, row: &Row, values: &mut [f64]);

    /// Writes the masses of a row whose errors are `values`, law after law, and for every law the
    /// sums of the masses and of mass · value.
    fn masses(&self, row: &Row, values: &[f64], masses: &mut Masses);

    /// The mass of one output under one law, given its error.
    fn mass(&self, law: usize, row: &Row, value: f64) -> f64;
}

/// The masses of a row.
pub struct Masses {
    len: usize,
    masses: Vec<f64>,
    sums: Vec<(f64, f64)>,
}

impl Masses {
    fn new(laws: usize) -> Self {
        Self { len: 0, masses: vec![0.0; laws * BLOCK], sums: vec![(0.0, 0.0); laws] }
    }

    /// For every law, in order: where its masses and sums are written.
    pub fn laws(&mut self) -> impl Iterator<Item = (&mut [f64], &mut (f64, f64))> {
        let len = self.len;
        self.masses.chunks_exact_mut(BLOCK).map(move |law| &mut law[..len]).zip(&mut self.sums)
    }

    fn of(&self, law: usize) -> &[f64] {
        &self.masses[law * BLOCK..][..self.len]
    }
}

/// One law with one error.
pub struct Single<'a> {
    law: &'a dyn Law,
    blocks: &'a Blocks,
    field: &'a dyn Field,
}

impl<'a> Single<'a> {
    /// `None` if the law is too large to be walked.
    pub fn new(law: &'a dyn Law, field: &'a dyn Field) -> Option<Self> {
        Some(Self { law, blocks: law.blocks()?, field })
    }
}

impl Surveyed for Single<'_> {
    fn region(&self) -> &Region {
        self.law.region()
    }

    fn blocks(&self) -> &Blocks {
        self.blocks
    }

    fn laws(&self) -> usize {
        1
    }

    fn plateau(&self, _: usize) -> f64 {
        self.law.plateau()
    }

    fn values(&self, row: &Row, values: &mut [f64]) {
        self.field.row(row, values);
    }

    fn masses(&self, row: &Row, values: &[f64], masses: &mut Masses) {
        for (masses, sums) in masses.laws() {
            self.law.masses(row, masses);
            *sums = kernel::moments(values, masses);
        }
    }

    fn mass(&self, _: usize, row: &Row, _: f64) -> f64 {
        let mut mass = [0.0];
        self.law.masses(row, &mut mass);
        mass[0]
    }
}

/// How much a pass finds out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// Masses and means.
    Means,
    /// Also spreads.
    Spreads,
    /// Also histograms.
    Shapes,
}

/// What a pass found out.
pub struct Survey {
    /// For every law.
    pub laws: Vec<Tally>,
    /// How many outputs are in each bin of the error's [`scale`]; none if it was not asked for.
    pub outputs: Vec<u64>,
}

/// What a pass found out about one law.
#[derive(Clone)]
pub struct Tally {
    /// The mass of each block.
    pub blocks: Vec<f64>,
    /// The mass of all outputs, with the plateau.
    pub mass: Sum,
    /// The sum of mass · value.
    pub first: Sum,
    /// The sum of mass · (value − mean)².
    pub squares: f64,
    /// The mass in each bin; none if it was not asked for.
    pub bins: Vec<f64>,
}

/// The least number of blocks in a part of a pass, and the largest number of parts. They do not
/// depend on the number of threads, so neither does the order of any sum.
const LEAST_BLOCKS: usize = 32;
const MOST_PARTS: usize = 64;

/// The blocks of every part of a pass.
fn parts(blocks: &Blocks) -> Vec<std::ops::Range<usize>> {
    let size = blocks.len().div_ceil(MOST_PARTS).max(LEAST_BLOCKS);
    (0..blocks.len()).step_by(size).map(|from| from..(from + size).min(blocks.len())).collect()
}

/// Works on all parts, and returns the results in order.
pub fn for_parts<T: Send>(
    blocks: &Blocks,
    work: impl Fn(std::ops::Range<usize>) -> T + Sync + Send,
) -> Vec<T> {
    parallel::map(&parts(blocks), |part| work(part.clone()))
}

/// Passes over all outputs once.
pub fn survey(surveyed: &dyn Surveyed, depth: Depth) -> Survey {
    let parts = for_parts(surveyed.blocks(), |part| survey_part(surveyed, depth, part));
    let mut all = Survey::new(surveyed.laws(), depth);
    for part in parts {
        all.join(part);
    }
    for (index, law) in all.laws.iter_mut().enumerate() {
        let plateau = surveyed.plateau(index);
        if plateau > 0.0 {
            law.add(plateau, plateau, 0.0);
            if let Some(bin) = law.bins.get_mut(scale::bin(1.0)) {
                *bin += plateau;
            }
        }
    }
    all
}

fn survey_part(surveyed: &dyn Surveyed, depth: Depth, blocks: std::ops::Range<usize>) -> Survey {
    let mut found = Survey::new(surveyed.laws(), depth);
    let mut values = [0.0; BLOCK];
    let mut bins = [0; BLOCK];
    let mut masses = Masses::new(surveyed.laws());
    for block in blocks {
        found.laws.iter_mut().for_each(|law| law.blocks.push(0.0));
        surveyed.region().walk(surveyed.blocks(), block, |row| {
            let values = &mut values[..row.len];
            surveyed.values(row, values);
            debug_assert!(values.iter().all(|value| value.is_sign_positive()), "{row:?}");
            masses.len = row.len;
            surveyed.masses(row, values, &mut masses);
            for (index, law) in found.laws.iter_mut().enumerate() {
                let (mass, first) = masses.sums[index];
                let squares = match depth {
                    Depth::Means => 0.0,
                    _ if mass > 0.0 => kernel::spread(values, masses.of(index), first / mass),
                    _ => 0.0,
                };
                law.add(mass, first, squares);
                if let Some(sum) = law.blocks.last_mut() {
                    *sum += mass;
                }
            }
            if depth == Depth::Shapes {
                let bins = &mut bins[..row.len];
                kernel::bins(values, bins);
                for &bin in bins.iter() {
                    found.outputs[bin as usize] += 1;
                }
                for (index, law) in found.laws.iter_mut().enumerate() {
                    for (&bin, mass) in bins.iter().zip(masses.of(index)) {
                        law.bins[bin as usize] += mass;
                    }
                }
            }
        });
    }
    found
}

impl Survey {
    fn new(laws: usize, depth: Depth) -> Self {
        let bins = if depth == Depth::Shapes { BINS } else { 0 };
        let law = Tally {
            blocks: Vec::new(),
            mass: Sum::default(),
            first: Sum::default(),
            squares: 0.0,
            bins: vec![0.0; bins],
        };
        Self { laws: vec![law; laws], outputs: vec![0; bins] }
    }

    fn join(&mut self, part: Self) {
        for (law, more) in self.laws.iter_mut().zip(part.laws) {
            law.add(more.mass.value(), more.first.value(), more.squares);
            law.blocks.extend(more.blocks);
            law.bins.iter_mut().zip(more.bins).for_each(|(sum, mass)| *sum += mass);
        }
        self.outputs.iter_mut().zip(part.outputs).for_each(|(sum, outputs)| *sum += outputs);
    }
}

impl Tally {
    /// Adds outputs with these sums of masses, of mass · value and of mass · (value − mean)². When the
    /// squares are added up, the difference of the two means is taken into account, so that nothing
    /// cancels.
    fn add(&mut self, mass: f64, first: f64, squares: f64) {
        let before = self.mass.value();
        if before > 0.0 && mass > 0.0 {
            let off = first / mass - self.first.value() / before;
            self.squares += off * off * (before * mass / (before + mass));
        }
        self.squares += squares;
        self.mass.add(mass);
        self.first.add(first);
    }

    /// The mean error.
    pub fn mean(&self, total: f64) -> f64 {
        self.first.value() / total
    }
}
