//! Releases that keep the number of records private.
//!
//! Neighbouring data sets differ by one record more or less, so that one count changes by 1. Every count gets
//! noise z with P ∝ e^(−ε|z|), and becomes 0 if it is negative then. One count changes the probability of an
//! output by a factor of at most e^ε: the release is ε-private. If a record is replaced, two counts change, and it
//! is 2ε-private. Nothing else depends on the data.

use super::Amount;
use super::posterior::{Inferred, Published, PublishedNoise};
use engine::mechanism::law::coins::{Coins, Ratio, noisy};
use engine::posterior::model::{Counts, MOST_RECORDS, Prior};
use engine::refusal::Refusal;

/// The name of the mechanism.
pub const MECHANISM: &str = "geometric";

/// Noise for counts whose sum is private.
#[derive(Clone, Debug)]
pub struct PrivateN {
    rate: Ratio,
    noise: PublishedNoise,
}

impl PrivateN {
    /// Noise of rate ε.
    pub fn new(epsilon: Amount) -> Result<Self, Refusal> {
        let (numerator, denominator) = epsilon.fraction();
        let noise = PublishedNoise::geometric(epsilon.to_f64());
        match (Ratio::new(numerator, denominator), noise) {
            (Some(rate), Ok(noise)) => Ok(Self { rate, noise }),
            _ => {
                let cause = format!("noise for ε = {epsilon} is not drawn exactly");
                Err(Refusal::new(cause, "use an ε between 1e-9 and 1000, with fewer digits"))
            }
        }
    }

    pub(super) fn draw(&self, counts: &[u64], rng: &mut dyn Coins) -> Counts {
        // No noise reaches the upper end: its probability is below e^(−8,000,000).
        let released = |&x: &u64| noisy(self.rate, x, MOST_RECORDS, rng);
        counts.iter().map(released).collect()
    }

    /// The law of the true counts, given releases of the same data.
    pub(super) fn inferred(
        prior: &Prior,
        releases: &[(&Self, &[u64])],
    ) -> Result<Inferred, String> {
        let values: Vec<Vec<f64>> = (releases.iter())
            .map(|(_, counts)| counts.iter().map(|&count| count as f64).collect())
            .collect();
        let published: Vec<Published> = (releases.iter().zip(&values))
            .map(|((one, _), values)| Published { noise: &one.noise, values })
            .collect();
        Inferred::new(prior, None, &published)
    }
}
