//! Post-processing: a law whose outputs are replaced by candidates of R.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use super::{Batch, Law, Outputs, Recipe};
use crate::numeric::{Sum, exp_accurate, ln};
use crate::operations::{Operation, count};
use crate::parallel;
use crate::posterior::model::Counts;
use crate::posterior::simplex::{BLOCK, Blocks, Region, Row, Shape, Window, rank};

/// Finds the candidate of R that replaces an output.
type Search = Box<dyn Fn(&[u64]) -> Counts + Send + Sync>;

/// What is released in place of every output: a candidate of R.
///
/// Whatever the map, privacy is kept: it knows the output only, not the data.
pub struct Remap {
    outputs: Outputs,
    map: Map,
}

enum Map {
    /// For each output its candidate, and the place of that among all.
    Listed { to: Vec<Counts>, places: Vec<usize> },
    /// Each candidate is found when it is asked for.
    Searched(Search),
}

impl Remap {
    /// The map that replaces the outputs, in their order, by `to`.
    ///
    /// # Panics
    /// If there are not as many candidates as outputs.
    pub fn new(outputs: Outputs, to: Vec<Counts>) -> Self {
        assert_eq!(outputs.len(), to.len(), "one candidate for every output");
        let places = parallel::map(&to, |candidate| rank(candidate));
        Self { outputs, map: Map::Listed { to, places } }
    }

    /// The map that replaces every output by what `search` finds.
    pub fn searched(outputs: Outputs, search: Search) -> Self {
        Self { outputs, map: Map::Searched(search) }
    }

    /// The outputs that are replaced.
    pub fn outputs(&self) -> Outputs {
        self.outputs
    }

    /// Whether the candidates of all outputs are known already.
    pub fn is_listed(&self) -> bool {
        matches!(self.map, Map::Listed { .. })
    }

    /// What is released in place of `output`.
    pub fn replace(&self, output: &[u64]) -> Cow<'_, [u64]> {
        match &self.map {
            Map::Listed { to, .. } => Cow::Borrowed(&to[self.outputs.index(output)]),
            Map::Searched(search) => Cow::Owned(search(output)),
        }
    }

    /// ln P of every candidate, from ln P of every output; −∞ where nothing is mapped.
    pub fn fold(&self, ln_outputs: &[f64]) -> Vec<f64> {
        count(Operation::Replaced, ln_outputs.len());
        let candidates = self.outputs.candidates();
        let mut highest = vec![f64::NEG_INFINITY; candidates];
        let places: Cow<[usize]> = match &self.map {
            Map::Listed { places, .. } => Cow::Borrowed(places),
            Map::Searched(search) => {
                Cow::Owned(parallel::map(&self.outputs.list(), |output| rank(&search(output))))
            }
        };
        for (&place, &value) in places.iter().zip(ln_outputs) {
            highest[place] = f64::max(highest[place], value);
        }
        let mut sums = vec![Sum::default(); candidates];
        for (&place, &value) in places.iter().zip(ln_outputs) {
            if value > f64::NEG_INFINITY {
                sums[place].add(exp_accurate(value - highest[place]));
            }
        }
        let folded = |(highest, sum): (f64, Sum)| match highest {
            f64::NEG_INFINITY => highest,
            _ => highest + ln(sum.value()),
        };
        highest.into_iter().zip(sums).map(folded).collect()
    }
}

impl fmt::Debug for Remap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remap").field("outputs", &self.outputs).finish_non_exhaustive()
    }
}

impl PartialEq for Remap {
    fn eq(&self, other: &Self) -> bool {
        match (&self.map, &other.map) {
            (Map::Listed { to, .. }, Map::Listed { to: other_to, .. }) => {
                self.outputs == other.outputs && to == other_to
            }
            _ => std::ptr::eq(self, other),
        }
    }
}

/// A recipe, and what is done to its output.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// How an output is made.
    pub recipe: Recipe,
    /// What is released in its place, if it is not released itself.
    pub remap: Option<Arc<Remap>>,
}

impl From<Recipe> for Plan {
    fn from(recipe: Recipe) -> Self {
        Self { recipe, remap: None }
    }
}

impl From<&Plan> for Plan {
    fn from(plan: &Self) -> Self {
        plan.clone()
    }
}

/// A law whose outputs are replaced.
pub struct Remapped<'a> {
    inner: Box<dyn Law + 'a>,
    remap: Arc<Remap>,
    region: Region,
    blocks: Blocks,
    /// The probability of every candidate, in lexicographic order.
    masses: Vec<f64>,
    truth: usize,
}

impl<'a> Remapped<'a> {
    /// The law `inner`, whose outputs have the logarithms of probabilities `ln_outputs` at the data
    /// `x`.
    pub fn new(inner: Box<dyn Law + 'a>, remap: Arc<Remap>, ln_outputs: &[f64], x: &[u64]) -> Self {
        let masses = remap.fold(ln_outputs).into_iter().map(exp_accurate).collect();
        let region = Region::simplex(x.iter().sum(), x.len());
        let blocks = region.blocks();
        Self { inner, remap, region, blocks, masses, truth: rank(x) }
    }
}

impl Law for Remapped<'_> {
    fn region(&self) -> &Region {
        &self.region
    }

    fn blocks(&self) -> Option<&Blocks> {
        Some(&self.blocks)
    }

    fn masses(&self, row: &Row, masses: &mut [f64]) {
        let mut first = vec![0; row.head.len() + 2];
        row.output(0, &mut first);
        let first = rank(&first);
        masses.copy_from_slice(&self.masses[first..first + row.len]);
    }

    fn normaliser(&self) -> f64 {
        1.0
    }

    fn p_exact(&self) -> f64 {
        self.masses[self.truth]
    }

    fn draw(&self, k: usize, batches: &mut [Batch]) {
        self.inner.draw(k, batches);
        replace_all(&self.remap, k, batches);
    }
}

/// The probability of all outputs for which no candidate is searched.
const UNREPLACED: f64 = 1e-13;

/// A law whose outputs are replaced by candidates that are searched for: only those that replace likely
/// outputs are known.
pub struct RemappedNear<'a> {
    inner: Box<dyn Law + 'a>,
    remap: Arc<Remap>,
    region: Region,
    blocks: Option<Blocks>,
    masses: HashMap<Counts, f64>,
    truth: Counts,
}

impl<'a> RemappedNear<'a> {
    /// The law `inner` at the data x, whose likely outputs are those of `region`.
    pub fn new(inner: Box<dyn Law + 'a>, remap: Arc<Remap>, region: &Region, x: &[u64]) -> Self {
        let (k, truth) = (x.len(), x.to_vec());
        let mut law = Self {
            region: Region::new(
                x.iter().sum(),
                Shape::Simplex,
                x.iter().map(|&x| (x, x)).collect(),
            ),
            blocks: None,
            inner,
            remap,
            masses: HashMap::new(),
            truth,
        };
        if law.inner.blocks().is_none() {
            return law;
        }
        let mut outputs: Vec<(Counts, f64)> = Vec::new();
        let (blocks, mut masses) = (region.blocks(), [0.0; BLOCK]);
        for block in 0..blocks.len() {
            region.walk(&blocks, block, |row| {
                let masses = &mut masses[..row.len];
                law.inner.masses(row, masses);
                for (t, &mass) in masses.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
                    let mut output = vec![0; k];
                    row.output(t, &mut output);
                    outputs.push((output, mass));
                }
            });
        }
        count(Operation::Replaced, outputs.len());
        // The least likely outputs, of a negligible probability in all, are not replaced.
        outputs.sort_by(|a, b| a.1.total_cmp(&b.1).then_with(|| a.0.cmp(&b.0)));
        let (mut left_out, negligible) = (0.0, UNREPLACED * law.inner.normaliser());
        outputs.retain(|(_, mass)| {
            left_out += mass;
            left_out > negligible
        });
        let replaced: Vec<(Counts, f64)> = parallel::map(&outputs, |(output, mass)| {
            (law.remap.replace(output).into_owned(), mass / law.inner.normaliser())
        });
        let mut sums: BTreeMap<Counts, Sum> = BTreeMap::new();
        for (candidate, mass) in replaced {
            sums.entry(candidate).or_default().add(mass);
        }
        let join = |windows: Vec<Window>, r: &Counts| -> Vec<Window> {
            windows.iter().zip(r).map(|(w, &v)| (w.0.min(v), w.1.max(v))).collect()
        };
        let start = x.iter().map(|&x| (x, x)).collect();
        let windows = sums.keys().fold(start, join);
        law.region = Region::new(x.iter().sum(), Shape::Simplex, windows);
        law.blocks = Some(law.region.blocks());
        law.masses = sums.into_iter().map(|(r, mass)| (r, mass.value())).collect();
        law
    }

    fn mass(&self, candidate: &[u64]) -> f64 {
        self.masses.get(candidate).copied().unwrap_or(0.0)
    }
}

impl Law for RemappedNear<'_> {
    fn region(&self) -> &Region {
        &self.region
    }

    fn blocks(&self) -> Option<&Blocks> {
        self.blocks.as_ref()
    }

    fn masses(&self, row: &Row, masses: &mut [f64]) {
        let mut candidate = vec![0; self.truth.len()];
        for (t, mass) in masses.iter_mut().enumerate() {
            row.output(t, &mut candidate);
            *mass = self.mass(&candidate);
        }
    }

    fn normaliser(&self) -> f64 {
        1.0
    }

    fn left_out(&self) -> f64 {
        self.inner.left_out() + UNREPLACED
    }

    fn p_exact(&self) -> f64 {
        self.mass(&self.truth)
    }

    fn draw(&self, k: usize, batches: &mut [Batch]) {
        self.inner.draw(k, batches);
        replace_all(&self.remap, k, batches);
    }
}

/// Replaces every drawn output.
fn replace_all(remap: &Remap, k: usize, batches: &mut [Batch]) {
    for out in batches.iter_mut().flat_map(|batch| batch.released.chunks_exact_mut(k)) {
        let released = remap.replace(out).into_owned();
        out.copy_from_slice(&released);
    }
}
