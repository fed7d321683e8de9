//! Exact output laws: the probability of every output, its mean, spread and quantiles, and draws.
//!
//! A mechanism is described by a [`Recipe`]; at one posterior the recipe becomes a [`Law`]. Laws
//! are walked block by block (see [`crate::posterior::simplex`]), never stored.
//!
//! ```
//! use dpbi_engine::mechanism::law::{Exact, probability};
//! use dpbi_engine::mechanism::prepared::PreparedSetting;
//! use dpbi_engine::mechanism::{self, Variant};
//! use dpbi_engine::posterior::model::Prior;
//! use dpbi_engine::posterior::privacy::Epsilon;
//! use dpbi_engine::posterior::setting::Setting;
//!
//! // 600 records, half of them in the first category, under a uniform prior.
//! let setting = Setting::new(Prior::new(vec![1.0, 1.0])?, vec![300, 300], Epsilon::new(1.0)?);
//! let lshist = Variant::plain(mechanism::find("lshist").expect("a mechanism"));
//! let plan = lshist.plan(&setting)?;
//! let prepared = PreparedSetting::new(&setting, &[plan.clone()], &[]);
//! let law = prepared.law(&plan);
//!
//! // Rounded Laplace noise of scale 1 is 0 with probability (1 − 1/e) / 2.
//! let unchanged = probability(law.as_ref(), &[300, 300]);
//! assert!((unchanged - 0.316_060_279_414).abs() < 1e-12);
//!
//! let hellinger = prepared.distance();
//! let error = Exact::new(law.as_ref(), hellinger).error.expect("a law that is walked");
//! println!("the mean Hellinger distance from the true posterior is {}", error.mean);
//! assert!(error.mean > 0.0 && error.mean < error.q90);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod approximate;
mod distribution;
mod effort;
mod exact;
mod exponential;
mod exponential_steps;
mod hamming;
mod historical;
mod lattice;
mod listed;
mod logs;
mod noise;
mod outputs;
mod prepared_field;
mod product;
mod remapped;
mod survey;
pub mod tight;
mod weighting;

pub use distribution::{Distribution, Level};
pub use effort::{Effort, ROWS, lengths, total_length};
pub use exact::{Exact, Known, Summary, mean};
pub(super) use exponential::{Detail, Family};
pub use hamming::{CandidateWeights, normaliser as hamming_normaliser};
pub use historical::HistoricalNoise;
pub(super) use lattice::Lattice;
pub use lattice::LatticeNoise;
pub(super) use listed::Listed;
pub use logs::ln_probabilities;
pub use noise::Noise;
pub use outputs::{OutputSet, Outputs};
pub use prepared_field::PreparedField;
pub(super) use product::Product;
pub use product::is_walked;
pub use remapped::{Plan, Remap};
pub(super) use remapped::{Remapped, RemappedNear};
use weighting::Walk;
pub(super) use weighting::Weighting;

use crate::mechanism::own::{OwnNoise, OwnWeight, ProbabilityTable};
use crate::posterior::model::Posterior;
use crate::posterior::simplex::{Blocks, Region, Row, Tail};
use crate::rng::Stream;

/// How a mechanism makes its output at one posterior.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Recipe {
    /// A candidate in R with probability proportional to e^(−rate · score).
    Exponential {
        /// The number before the score.
        rate: f64,
    },
    /// Noise on the counts.
    Noise {
        /// Its law.
        noise: Noise,
        /// Its scale b: the law falls by 1/e in b steps.
        scale: f64,
        /// Whether the last coordinate is n minus the others (clamped to [0, n]) or noisy too.
        restored: bool,
    },
    /// A candidate in R with probability proportional to w(r) e^(−rate · d(x, r)).
    Hamming {
        /// The number before the Hamming distance.
        rate: f64,
        /// w.
        weights: CandidateWeights,
    },
    /// Noise on all counts that sums to 0, clamped.
    Lattice {
        /// Its law.
        noise: LatticeNoise,
    },
    /// Noise that only printed figures used.
    Historical {
        /// Its law.
        noise: HistoricalNoise,
    },
    /// A candidate with a weight that the user wrote.
    Weighed {
        /// The weight.
        weight: OwnWeight,
    },
    /// Noise on the counts that the user wrote.
    OwnNoise {
        /// Its law.
        noise: OwnNoise,
        /// As for [`Self::Noise`].
        restored: bool,
    },
    /// Outputs with probabilities that the user listed.
    Table {
        /// The probabilities.
        table: &'static ProbabilityTable,
        /// Probabilities are raised to this power and normalised again: 1, unless the table is calibrated.
        power: f64,
    },
}

impl Recipe {
    /// The outputs that carry all but a negligible part of the probability; `None` for an
    /// exponential mechanism, whose score decides.
    pub fn region(&self, posterior: &Posterior) -> Option<Region> {
        match *self {
            Self::Exponential { .. } => None,
            Self::Noise { scale, restored, .. } => {
                Some(product::noise_region(posterior, scale, restored))
            }
            Self::Hamming { rate, .. } => Some(hamming::region(posterior, rate)),
            Self::Lattice { noise } => Some(noise.region(posterior)),
            Self::Historical { noise } => Some(noise.region(posterior)),
            Self::Weighed { weight } if weight.is_by_score() => None,
            Self::Weighed { weight } => Some(weight.set().region(posterior.n(), posterior.k())),
            Self::OwnNoise { noise, restored } => {
                Some(product::own_noise_region(posterior, noise, restored))
            }
            Self::Table { table, .. } => Some(table.region(posterior)),
        }
    }

    /// Whether candidates are weighed by their score alone.
    pub fn needs_ball(&self) -> bool {
        self.weighting().is_some_and(|weighting| weighting.walk() == Walk::Near)
    }

    /// Whether the score decides about an output.
    pub fn uses_score(&self) -> bool {
        self.weighting().is_some_and(|weighting| weighting.uses_score())
    }

    /// How candidates are weighed, if they are.
    pub(super) fn weighting(&self) -> Option<Weighting> {
        match *self {
            Self::Exponential { rate } => Some(Weighting::Score { rate }),
            Self::Weighed { weight } => Some(Weighting::Own(weight)),
            Self::Noise { .. }
            | Self::OwnNoise { .. }
            | Self::Hamming { .. }
            | Self::Lattice { .. }
            | Self::Historical { .. }
            | Self::Table { .. } => None,
        }
    }

    /// The number before the score, if e^(−rate · score) is the weight of a candidate.
    pub fn rate(&self) -> Option<f64> {
        match self.weighting()? {
            Weighting::Score { rate } => Some(rate),
            Weighting::Own(_) => None,
        }
    }

    /// How many of k counts, the first ones, have noise that does not depend on the other counts; `None`
    /// for other laws.
    pub fn noisy_counts(&self, k: usize) -> Option<usize> {
        match self {
            Self::Noise { restored, .. } | Self::OwnNoise { restored, .. } => {
                Some(k - usize::from(*restored))
            }
            Self::Exponential { .. }
            | Self::Weighed { .. }
            | Self::Hamming { .. }
            | Self::Lattice { .. }
            | Self::Historical { .. }
            | Self::Table { .. } => None,
        }
    }

    /// Whether the last count has no noise of its own, and restores the total.
    pub fn restores_total(&self) -> bool {
        self.output_set() == OutputSet::Restored
    }

    /// Whether outputs may have any total, below or above n.
    pub fn leaves_total_open(&self) -> bool {
        matches!(self.output_set(), OutputSet::Below | OutputSet::Open)
    }
}

/// The largest law that is computed exactly; beyond, a mechanism is sampled only.
pub(super) const LARGEST_EXACT: f64 = 1e10;

/// The exact law of an output.
pub trait Law: Sync {
    /// The outputs that are walked.
    fn region(&self) -> &Region;

    /// The region's blocks; `None` if the law has too many outputs to be walked.
    fn blocks(&self) -> Option<&Blocks>;

    /// Writes the mass of every output of a row, together with that of the outputs it stands for.
    fn masses(&self, row: &Row, masses: &mut [f64]);

    /// Writes, for every output of a row, its error by `field` and its mass.
    fn row(&self, row: &Row, field: PreparedField, values: &mut [f64], masses: &mut [f64]) {
        field.row(row, values);
        self.masses(row, masses);
    }

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
    fn known(&self, _field: PreparedField) -> Option<Known> {
        None
    }

    /// Draws the outputs of all batches, of k counts each.
    fn draw(&self, k: usize, batches: &mut [Batch]);
}

/// Releases that are drawn one after another from one stream.
pub struct Batch {
    /// The stream.
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
pub fn probability(law: &dyn Law, output: &[u64]) -> f64 {
    let place = output.len() - 2;
    let row = Row {
        head: &output[..place],
        start: output[place],
        len: 1,
        tail: Tail::Complement(output[place] + output[place + 1]),
        weight: 1.0,
    };
    let mut mass = [0.0];
    law.masses(&row, &mut mass);
    mass[0] / law.normaliser()
}

/// Calls `visit` with every row of one block, its values and its masses.
fn walk_block(
    law: &dyn Law,
    blocks: &Blocks,
    block: usize,
    field: PreparedField,
    mut visit: impl FnMut(&Row, &[f64], &[f64]),
) {
    let mut values = [0.0; crate::posterior::simplex::BLOCK];
    let mut masses = [0.0; crate::posterior::simplex::BLOCK];
    law.region().walk(blocks, block, |row| {
        let (values, masses) = (&mut values[..row.len], &mut masses[..row.len]);
        law.row(row, field, values, masses);
        visit(row, values, masses);
    });
}
