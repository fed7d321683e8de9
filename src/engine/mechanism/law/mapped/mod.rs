//! Post-processing: a law whose outputs are replaced by candidates of R.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::coins::ExactDraws;
use super::exponential::Weigher;
use super::listed::ListedRow;
use super::tight::TightLaw;
use super::{Batch, Law, LawAt, OutputLaw, Outputs, PairSize, Walked, walk_block};
use crate::numeric::{Sum, exp_accurate, ln};
use crate::parallel;
use crate::posterior::amount::Amount;
use crate::posterior::distance::Distance;
use crate::posterior::error_field::Field;
use crate::posterior::model::{Counts, Posterior};
use crate::posterior::simplex::{Region, Row, Shape, Window, list_compositions, rank};
use crate::refusal::Refusal;

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
    pub fn new(outputs: Outputs, to: Vec<Counts>) -> Self {
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

/// A law whose outputs are replaced.
#[derive(Clone)]
pub struct Mapped {
    pub inner: Arc<dyn Law>,
    /// What is released in place of its outputs.
    pub remap: Arc<Remap>,
}

impl Law for Mapped {
    fn at(&self, posterior: &Posterior) -> Result<Box<dyn LawAt + '_>, Refusal> {
        let inner = self.inner.at(posterior)?;
        Ok(Box::new(MappedAt { inner, remap: &self.remap, posterior: posterior.clone() }))
    }

    fn widened(&self, factor: f64) -> Result<Arc<dyn Law>, Refusal> {
        let inner = self.inner.widened(factor)?;
        Ok(Arc::new(Self { inner, remap: Arc::clone(&self.remap) }))
    }

    fn uses_score(&self) -> bool {
        self.inner.uses_score()
    }

    fn needs_ball(&self) -> bool {
        self.inner.needs_ball()
    }

    fn exact_draws(&self, _: usize, _: Amount) -> Result<Box<dyn ExactDraws>, Refusal> {
        Err(Refusal::new(
            "what is said about a release knows its noise, and a remap adds nothing to that",
            "leave +remap out",
        ))
    }

    fn candidate_weights(&self) -> Option<&TightLaw> {
        self.inner.candidate_weights()
    }

    /// Who searched for a map has looked at all outputs: they are not too many.
    fn pair_size(&self, posterior: &Posterior, distance: &dyn Distance) -> Option<PairSize> {
        Some(PairSize::of(self.inner.as_ref(), posterior, distance))
    }
}

struct MappedAt<'a> {
    inner: Box<dyn LawAt + 'a>,
    remap: &'a Remap,
    posterior: Posterior,
}

impl LawAt for MappedAt<'_> {
    fn region(&self) -> Option<Region> {
        match self.remap.is_listed() {
            true => Some(Region::simplex(self.posterior.n(), self.posterior.k())),
            false => self.inner.region(),
        }
    }

    fn ln_probabilities(&self, _: Outputs, score: &dyn Field) -> Vec<f64> {
        self.remap.fold(&self.inner.ln_probabilities(self.remap.outputs(), score))
    }

    fn weigher(&self) -> Option<&dyn Weigher> {
        self.inner.weigher()
    }

    fn output_law(&self) -> Box<dyn OutputLaw + '_> {
        self.inner.output_law()
    }

    fn finished<'a>(
        &'a self,
        law: Box<dyn OutputLaw + 'a>,
        score: &dyn Field,
    ) -> Box<dyn OutputLaw + 'a> {
        let (remap, x) = (self.remap, self.posterior.counts());
        let (n, k) = (self.posterior.n(), self.posterior.k());
        let (likely, left_out) = match self.inner.region().filter(|_| !remap.is_listed()) {
            Some(region) => (near(law.as_ref(), remap, region, x), law.left_out() + UNREPLACED),
            None => {
                let ln_candidates = self.ln_probabilities(remap.outputs(), score);
                let candidates = list_compositions(n, k).into_iter().zip(ln_candidates);
                let candidates = candidates.map(|(r, ln_p)| (r, exp_accurate(ln_p))).collect();
                (ListedRow::new(candidates, Region::simplex(n, k), x), 0.0)
            }
        };
        Box::new(MappedLaw { inner: law, remap, likely, left_out })
    }

    fn rate(&self) -> Option<f64> {
        self.inner.rate()
    }
}

/// The probability of all outputs for which no candidate is searched.
const UNREPLACED: f64 = 1e-13;

/// The law at one data set.
struct MappedLaw<'a> {
    inner: Box<dyn OutputLaw + 'a>,
    remap: &'a Remap,
    /// The candidates that are likely.
    likely: ListedRow,
    /// An upper bound on the probability of all others.
    left_out: f64,
}

/// The candidates that replace the outputs of `region`, which are the likely ones of a law at the data x.
fn near(law: &dyn OutputLaw, remap: &Remap, region: Region, x: &[u64]) -> ListedRow {
    let mut windows: Vec<Window> = x.iter().map(|&x| (x, x)).collect();
    let mut sums: BTreeMap<Counts, Sum> = BTreeMap::new();
    if law.walked().is_some() {
        for (candidate, mass) in replaced(law, remap, region) {
            let joined = windows.iter_mut().zip(&candidate);
            joined.for_each(|(window, &v)| *window = (window.0.min(v), window.1.max(v)));
            sums.entry(candidate).or_default().add(mass);
        }
    }
    let likely = sums.into_iter().map(|(r, mass)| (r, mass.value())).collect();
    ListedRow::new(likely, Region::new(x.iter().sum(), Shape::Simplex, windows), x)
}

/// The candidates that replace the likely outputs of a law, those of `region`, and the probability of each.
fn replaced(law: &dyn OutputLaw, remap: &Remap, region: Region) -> Vec<(Counts, f64)> {
    let mut outputs: Vec<(Counts, f64)> = Vec::new();
    let walked = Walked::new(region);
    for block in 0..walked.blocks.len() {
        walk_block(law, &walked, block, |row, masses| {
            for (t, &mass) in masses.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
                let mut output = vec![0; walked.region.windows().len()];
                row.output(t, &mut output);
                outputs.push((output, mass));
            }
        });
    }
    // The least likely outputs, of a negligible probability in all, are not replaced.
    outputs.sort_by(|a, b| a.1.total_cmp(&b.1).then_with(|| a.0.cmp(&b.0)));
    let (mut left_out, negligible) = (0.0, UNREPLACED * law.normaliser());
    outputs.retain(|(_, mass)| {
        left_out += mass;
        left_out > negligible
    });
    parallel::map(&outputs, |(output, mass)| {
        (remap.replace(output).into_owned(), mass / law.normaliser())
    })
}

impl OutputLaw for MappedLaw<'_> {
    fn walked(&self) -> Option<&Walked> {
        self.likely.walked().filter(|_| self.inner.walked().is_some())
    }

    fn masses(&self, row: &Row, masses: &mut [f64]) {
        self.likely.masses(row, masses);
    }

    fn normaliser(&self) -> f64 {
        1.0
    }

    fn left_out(&self) -> f64 {
        self.left_out
    }

    fn p_exact(&self) -> f64 {
        self.likely.p_exact()
    }

    fn draw(&self, k: usize, batches: &mut [Batch]) {
        self.inner.draw(k, batches);
        for out in batches.iter_mut().flat_map(|batch| batch.released.chunks_exact_mut(k)) {
            let released = self.remap.replace(out).into_owned();
            out.copy_from_slice(&released);
        }
    }
}
