//! Exact output laws: the probability of every output, its mean, spread and quantiles, and draws.
//!
//! A mechanism with its parameters is a [`Law`]: to every data set x of n records it gives a law P_x of the
//! output. [`Law::at`] is P_x as a formula; an [`OutputLaw`] is the same with its tables, made on a
//! [`Bench`], to be walked and drawn from. Laws are walked block by block (see
//! [`crate::posterior::simplex`]), never stored.
//!
//! Every law has a folder of its own: its formula, the outputs that matter, their masses, its draws, exact
//! coins for releases, what two neighbours tell apart, and its tests. Nothing outside asks which law it is:
//! what a law does not say for itself, the defaults of the trait answer from its probabilities.

mod bench;
pub mod coins;
mod distribution;
mod exact;
pub mod exponential;
pub mod hamming;
pub mod historical;
pub mod lattice;
pub mod listed;
pub mod mapped;
pub mod noise;
mod outputs;
pub mod pair;
mod product;
pub mod size;
mod survey;
pub mod synthetic;
pub mod tabled;
pub mod tight;

pub use bench::{Bench, BenchField};
pub use distribution::{Distribution, Level};
pub use exact::{ErrorSummary, Known, Summary, mean};
pub use mapped::Remap;
pub use outputs::{OutputSet, Outputs};
pub use pair::{Comparisons, Pair, PairComparison};
pub use product::{Factors, Product};
pub use size::{PairSize, Size};

use std::sync::Arc;

use crate::analysis::true_counts::CountNoise;
use crate::posterior::amount::Amount;
use crate::posterior::distance::Distance;
use crate::posterior::error_field::Field;
use crate::posterior::model::{Counts, Posterior, Prior};
use crate::posterior::setting::Setting;
use crate::posterior::simplex::{BLOCK, Blocks, Region, Row};
use crate::refusal::Refusal;
use crate::rng::Stream;
use coins::ExactDraws;
use exponential::Weigher;
use tight::TightLaw;

/// The law of a mechanism's output at all data sets of n records: x ↦ P_x.
pub trait Law: Send + Sync {
    /// The outputs. Nothing else says whether the last count restores the total.
    fn outputs(&self) -> OutputSet {
        OutputSet::Simplex
    }

    /// P_x, before anything large is made for it.
    fn at(&self, posterior: &Posterior) -> Result<Box<dyn LawAt + '_>, Refusal>;

    /// The same law with every exponent divided by `factor`: a wrong scale, against which a test is tried.
    fn widened(&self, factor: f64) -> Result<Arc<dyn Law>, Refusal>;

    /// Whether the score decides about an output.
    fn uses_score(&self) -> bool {
        false
    }

    /// Whether the score alone decides, so that only candidates near the data are walked.
    fn needs_ball(&self) -> bool {
        false
    }

    /// Groups of categories whose exchange, in data and output at once, changes no probability.
    fn exchangeable(&self, prior: &Prior) -> Vec<Vec<usize>> {
        self.noisy_counts(prior.k()).map(|noisy| (0..noisy).collect()).into_iter().collect()
    }

    /// How many counts, the first ones, have noise of one law that does not depend on the other counts; `None` for
    /// other laws. Two pairs of neighbours with the same changes of these counts are alike.
    fn noisy_counts(&self, _k: usize) -> Option<usize> {
        None
    }

    /// The number of outputs whose probability is not 0 at all data. Approximate if there are many.
    fn possible_outputs(&self, n: u64, k: usize) -> f64 {
        Outputs::new(self.outputs(), n, k).approximate_len()
    }

    /// The numbers that are kept in tables at one data set, beside one for every value of every count.
    fn table_entries(&self, _posterior: &Posterior) -> f64 {
        0.0
    }

    /// What it takes to compare the law at two adjacent data sets like these; `None` if they are compared output
    /// by output.
    fn pair_size(&self, _posterior: &Posterior, _distance: &dyn Distance) -> Option<PairSize> {
        None
    }

    /// The law at several data sets of n records, ready to be compared at any two of them.
    fn comparisons<'a>(
        &'a self,
        setting: &'a Setting,
        data: &[&Counts],
    ) -> Result<Box<dyn Comparisons + 'a>, Refusal> {
        tabled::comparisons(self, setting, data)
    }

    /// Whether ln P_x − ln P_x' is −c, 0 or c at all neighbours, with the same c.
    fn has_three_losses(&self) -> bool {
        false
    }

    /// Whether all pairs of neighbours are alike, wherever they are.
    fn is_uniform(&self) -> bool {
        false
    }

    /// How it is drawn in whole-number arithmetic, with this ε: only such draws release data. Refused, with
    /// the reason, if it is not.
    fn exact_draws(&self, _k: usize, _epsilon: Amount) -> Result<Box<dyn ExactDraws>, Refusal> {
        Err(Refusal::new(
            "what it draws tells little about the shares, or is private in few settings",
            "release with a mechanism that adds noise to the counts",
        ))
    }

    /// Weights of the candidates that do not depend on the data, if there are some.
    fn candidate_weights(&self) -> Option<&TightLaw> {
        None
    }

    /// P_x(output) as a product of noise on the counts, up to a factor that does not depend on x, if it has
    /// that form: then the true counts behind an output are known without enumeration.
    fn count_noise(&self, _k: usize) -> Option<CountNoise> {
        None
    }
}

/// A law at one data set, as a formula.
pub trait LawAt: Send + Sync {
    /// The outputs that carry all but a negligible part of the probability; `None` if the score decides,
    /// and candidates near the data are walked.
    fn region(&self) -> Option<Region>;

    /// ln P of every one of `outputs` (those of the law), also where the probability is too small for a
    /// double. Candidates are scored by `score`.
    fn ln_probabilities(&self, outputs: Outputs, score: &dyn Field) -> Vec<f64>;

    /// How candidates are weighed, if they are. Laws that weigh the same candidates share the passes over
    /// them, and need no [`Self::output_law`].
    fn weigher(&self) -> Option<&dyn Weigher> {
        None
    }

    /// The law with its tables. It takes work.
    ///
    /// # Panics
    /// If candidates are weighed.
    fn output_law(&self) -> Box<dyn OutputLaw + '_> {
        unreachable!("laws that weigh candidates are made by a bench")
    }

    /// What is made of that law, or of the one that the weigher gives.
    fn finished<'a>(
        &'a self,
        law: Box<dyn OutputLaw + 'a>,
        _score: &dyn Field,
    ) -> Box<dyn OutputLaw + 'a> {
        law
    }

    /// The number before the score in the logarithm of a probability, if the score decides.
    fn rate(&self) -> Option<f64> {
        None
    }
}

/// The exact law of an output at one data set, with its tables.
pub trait OutputLaw: Sync {
    /// The outputs that are walked; `None` if the law has too many.
    fn walked(&self) -> Option<&Walked>;

    /// Writes the mass of every output of a row, together with that of the outputs it stands for.
    fn masses(&self, row: &Row, masses: &mut [f64]);

    /// What masses must be divided by to be probabilities.
    fn normaliser(&self) -> f64;

    /// The mass of all outputs outside the region; there, distances are exactly 1.
    fn plateau(&self) -> f64 {
        0.0
    }

    /// An upper bound on the probability of all outputs that are neither in the region nor on the
    /// plateau.
    fn left_out(&self) -> f64 {
        0.0
    }

    /// How many outputs lie outside the region.
    fn plateau_outputs(&self) -> f64 {
        0.0
    }

    /// The probability of releasing the true counts.
    fn p_exact(&self) -> f64;

    /// What was found out about an error when the law was made.
    fn known(&self, _field: BenchField) -> Option<Known> {
        None
    }

    /// Draws the outputs of all batches, of k counts each.
    fn draw(&self, k: usize, batches: &mut [Batch]);
}

/// The largest law that is computed exactly; beyond, a mechanism is sampled only.
pub(super) const LARGEST_EXACT: f64 = 1e10;

/// Whether a law on this region is small enough to be walked.
pub fn is_walked(region: &Region) -> bool {
    // The outputs of the box around the region are counted at once; those of the region take longer.
    let side = |&(low, high): &(u64, u64)| (high - low) as f64 + 1.0;
    let around: f64 = region.windows().iter().map(side).product();
    around <= LARGEST_EXACT || region.size_bound() <= LARGEST_EXACT
}

/// Outputs that are walked, in blocks.
pub struct Walked {
    pub region: Region,
    pub blocks: Blocks,
}

impl Walked {
    pub fn new(region: Region) -> Self {
        Self { blocks: region.blocks(), region }
    }

    /// Calls `visit` with every row of one block.
    pub fn walk(&self, block: usize, visit: impl FnMut(&Row)) {
        self.region.walk(&self.blocks, block, visit);
    }
}

/// Releases that are drawn one after another from one stream.
pub struct Batch {
    pub rng: Stream,
    /// Where they are written: k counts for each.
    pub released: Vec<u64>,
}

impl Batch {
    /// Room for `runs` releases of k counts.
    pub fn new(rng: Stream, runs: usize, k: usize) -> Self {
        Self { rng, released: vec![0; runs * k] }
    }
}

/// The probability of one output whose total is n.
pub fn probability(law: &dyn OutputLaw, output: &[u64]) -> f64 {
    let mut mass = [0.0];
    law.masses(&Row::of(output), &mut mass);
    mass[0] / law.normaliser()
}

/// Calls `visit` with every row of one block, and its masses.
fn walk_block(
    law: &dyn OutputLaw,
    walked: &Walked,
    block: usize,
    mut visit: impl FnMut(&Row, &[f64]),
) {
    let mut masses = [0.0; BLOCK];
    walked.walk(block, |row| {
        law.masses(row, &mut masses[..row.len]);
        visit(row, &masses[..row.len]);
    });
}
