//! The posterior of a table, given released counts. It knows the noise.
//!
//! A posterior that takes released counts for the true ones is too narrow. The noise-aware posterior
//! takes the mechanism into account. Before the release the counts x have the prior predictive
//! probability P\[x\]. Given the releases r they have the probability w(x) ∝ P\[x\] · Π_r P\[r | x\],
//! and the posterior of the cells' probabilities is the mixture Σ_x w(x) Dir(α + x). It is computed from
//! the releases alone, and costs no privacy.
//!
//! ```text
//! releases ──► Law: CountsLaw or, where noise is too wide for it, WideLaw (draws of the true counts)
//!              CountsLaw (the true counts) ──► BetaMixture (a share of some cells)
//!                                          ──► Comparison (the same share in two groups)
//!                                          ──► draws (the shares of all cells) ──► Means (of several groups)
//!                                                                             ──► Joint (intervals at one level)
//!              either of both              ──► Sampled (draws for what takes long: shares, Means, Joint)
//! ```

mod beta_mixture;
mod beta_row;
mod comparison;
mod counts_law;
mod deviation;
mod draws;
mod gauss;
mod joint;
mod law;
mod means;
mod noise;
mod pieces;
mod published;
mod sampled;
mod weights;
mod wide;

#[cfg(test)]
mod tests;

pub use beta_mixture::{BetaMixture, Interval};
pub use comparison::Comparison;
pub use counts_law::{CountsLaw, Seen, Within};
pub use deviation::{Estimated, share_deviation};
pub use draws::{Drawn, draws};
pub use law::Law;
pub use means::Means;
pub use noise::{FORMS, PublishedNoise};
pub use published::{Inferred, MOST_PRIVATE_RECORDS, Published};
pub use sampled::Sampled;
