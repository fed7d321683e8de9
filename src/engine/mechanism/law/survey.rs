//! A pass over many outputs, for one error under one law or several.
//!
//! Laws that share their outputs (exponential mechanisms with one score) share the pass: every
//! error is evaluated once, and weighed by each law.

use super::{OutputLaw, Walked};
use crate::numeric::scale::{self, BINS};
use crate::numeric::{Sum, kernel};
use crate::parallel::{self, Steps};
use crate::posterior::error_field::Field;
use crate::posterior::simplex::{BLOCK, Blocks, Row};

/// An error, and laws of what is released.
pub struct Surveyed<'a> {
    /// The outputs, which all laws share.
    pub walked: &'a Walked,
    /// The error.
    pub field: &'a dyn Field,
    /// The score that decides about masses, if it is not the error itself.
    pub score: Option<&'a dyn Field>,
    pub laws: Vec<SurveyedLaw<'a>>,
}

type Weigh<'a> = Box<dyn Fn(&Row, &[f64], &mut [f64]) + Sync + 'a>;

/// One of several laws that share a pass.
pub struct SurveyedLaw<'a> {
    /// Writes the masses of a row whose scores are given.
    pub weigh: Weigh<'a>,
    /// The mass of the plateau, where the error is 1.
    pub plateau: f64,
}

impl<'a> Surveyed<'a> {
    /// One law with one error; `None` if the law is too large to be walked.
    pub fn single(law: &'a dyn OutputLaw, field: &'a dyn Field) -> Option<Self> {
        let weigh = |row: &Row, _: &[f64], masses: &mut [f64]| law.masses(row, masses);
        let laws = vec![SurveyedLaw { weigh: Box::new(weigh), plateau: law.plateau() }];
        Some(Self { walked: law.walked()?, field, score: None, laws })
    }

    /// The mass of one output under one law, given its error.
    pub fn mass(&self, law: usize, row: &Row, value: f64) -> f64 {
        let (mut score, mut mass) = ([value], [0.0]);
        if let Some(field) = self.score {
            field.row(row, &mut score);
        }
        (self.laws[law].weigh)(row, &score, &mut mass);
        mass[0]
    }
}

/// How much a pass finds out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Depth {
    /// Masses and means.
    Means,
    Spreads,
    Shapes,
}

pub struct Survey {
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
pub fn for_parts<T: Send>(blocks: &Blocks, work: impl Fn(Steps) -> T + Sync + Send) -> Vec<T> {
    parallel::map(&parts(blocks), |part| work(parallel::steps(part.clone())))
}

/// Passes over all outputs once.
pub fn survey(surveyed: &Surveyed, depth: Depth) -> Survey {
    let parts = for_parts(&surveyed.walked.blocks, |part| survey_part(surveyed, depth, part));
    let mut all = Survey::new(surveyed.laws.len(), depth);
    for part in parts {
        all.join(part);
    }
    for (tally, law) in all.laws.iter_mut().zip(&surveyed.laws) {
        if law.plateau > 0.0 {
            tally.add(law.plateau, law.plateau, 0.0);
            if let Some(bin) = tally.bins.get_mut(scale::bin(1.0)) {
                *bin += law.plateau;
            }
        }
    }
    all
}

fn survey_part(surveyed: &Surveyed, depth: Depth, blocks: Steps) -> Survey {
    let mut found = Survey::new(surveyed.laws.len(), depth);
    let (mut values, mut scores, mut masses) = ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
    let mut bins = [0; BLOCK];
    for block in blocks {
        found.laws.iter_mut().for_each(|law| law.blocks.push(0.0));
        surveyed.walked.walk(block, |row| {
            let (values, masses) = (&mut values[..row.len], &mut masses[..row.len]);
            surveyed.field.row(row, values);
            debug_assert!(values.iter().all(|value| value.is_sign_positive()), "{row:?}");
            let scores = match surveyed.score {
                None => &*values,
                Some(score) => {
                    score.row(row, &mut scores[..row.len]);
                    &scores[..row.len]
                }
            };
            let bins = &mut bins[..if depth == Depth::Shapes { row.len } else { 0 }];
            kernel::bins(&values[..bins.len()], bins);
            bins.iter().for_each(|&bin| found.outputs[bin as usize] += 1);
            for (tally, law) in found.laws.iter_mut().zip(&surveyed.laws) {
                (law.weigh)(row, scores, masses);
                let (mass, first) = kernel::moments(values, masses);
                let squares = match depth {
                    Depth::Means => 0.0,
                    _ if mass > 0.0 => kernel::spread(values, masses, first / mass),
                    _ => 0.0,
                };
                tally.add(mass, first, squares);
                if let Some(sum) = tally.blocks.last_mut() {
                    *sum += mass;
                }
                for (&bin, mass) in bins.iter().zip(&*masses) {
                    tally.bins[bin as usize] += mass;
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

    pub fn mean(&self, total: f64) -> f64 {
        self.first.value() / total
    }
}
