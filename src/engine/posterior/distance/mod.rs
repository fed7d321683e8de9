//! Distances between posteriors: the score of the exponential mechanisms and the error of a
//! release. One file for each; adding one means one more file and one line in [`NAMED`].
//!
//! The documents use the Hellinger distance; the others answer arxiv §8.3, which asks what changes
//! under another distance. A divergence leads from the truth to the release; one that leads from the
//! release to the truth has a name that ends in `_reverse`.
//!
//! ```
//! use dpbi_engine::posterior::distance;
//! use dpbi_engine::posterior::error_field::Reach;
//! use dpbi_engine::posterior::model::{Posterior, Prior};
//!
//! // The distances between Beta(2, 1) and Beta(1, 2), whose densities are 2θ and 2(1 − θ).
//! let posterior = Posterior::new(Prior::new(vec![1.0, 1.0])?, vec![1, 0]);
//! let between = |id: &str| {
//!     let field = distance::find(id)?.field(&posterior, &Reach::ball(&posterior));
//!     Ok::<f64, dpbi_engine::refusal::Refusal>(field.at(&[0, 1]))
//! };
//! let hellinger = between("hellinger")?;
//! assert!((hellinger - (1.0 - std::f64::consts::FRAC_PI_4).sqrt()).abs() < 1e-14);
//! let total_variation = between("tv")?;
//! assert!((total_variation - 0.5).abs() < 1e-11);
//! # Ok::<(), dpbi_engine::refusal::Refusal>(())
//! ```

mod affinity;
mod divergence;
mod hellinger;
mod near;
mod print;
mod total_variation;

pub use divergence::RENYI;
pub use near::{furthest, near_widths};

use std::sync::Arc;

use crate::posterior::error_field::{Field, Reach};
use crate::posterior::model::{Posterior, Prior};
use crate::posterior::sensitivity::{AffinityMoves, Moves, Sensitivity};
use crate::refusal::{Refusal, suggest};

/// A distance between Dir(α + x) and Dir(α + c).
pub trait Distance: Sync {
    /// The name in a config, and of its column in a table.
    fn id(&self) -> &str;

    /// The name on an axis.
    fn title(&self) -> &str;

    /// The name on the axis of an error.
    fn error_title(&self) -> String {
        match self.bound() {
            Some(_) => format!("{} from the true posterior", self.title()),
            // The title of a divergence says what it leads from and to.
            None => self.title().to_owned(),
        }
    }

    /// The largest possible value, where there is one.
    fn bound(&self) -> Option<f64> {
        Some(1.0)
    }

    /// The distance of every output from `posterior`.
    fn field(&self, posterior: &Posterior, reach: &Reach) -> Box<dyn Field>;

    /// The power s, if the distance at equal totals is sqrt(1 − BC^s).
    fn power(&self, _prior: &Prior, _n: u64) -> Option<f64> {
        None
    }

    /// The power s for which the distance is 1 to the last bit as soon as BC^s is negligible; `None`
    /// if there is none.
    fn plateau(&self, prior: &Prior, n: u64) -> Option<f64> {
        self.power(prior, n)
    }

    /// The largest error of a value within R: relative, and absolute.
    fn accuracy(&self) -> (f64, f64) {
        (1e-12, 0.0)
    }

    /// A value takes as long as so many of the Hellinger distance.
    fn steps(&self) -> f64 {
        1.0
    }

    /// How far one record can change the distance; `None` if that has no limit.
    fn moves(&self, prior: &Prior, n: u64) -> Option<Arc<dyn Moves>> {
        let power = self.power(prior, n)?;
        Some(Arc::new(AffinityMoves::new(prior.alpha(), power)))
    }

    /// The sensitivities of the distance as a score.
    fn sensitivity(&self, posterior: &Posterior) -> Sensitivity {
        Sensitivity::new(posterior, self.moves(posterior.prior(), posterior.n()))
    }

    /// Why the distance cannot be the score of a mechanism for data of n records.
    fn refuses_scores(&self, _prior: &Prior, _n: u64) -> Option<Refusal> {
        None
    }

    /// Why the distance cannot be evaluated for mechanisms that leave the total open.
    fn refuses_open_totals(&self, _prior: &Prior) -> Option<String> {
        None
    }
}

impl std::fmt::Debug for dyn Distance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.id())
    }
}

/// The distance that the documents define; the default.
pub static HELLINGER: &dyn Distance = &hellinger::Hellinger;

/// The distances of the documents: as defined, and as printed. What they claim is judged by these.
pub static DOCUMENTED: &[&dyn Distance] = &[HELLINGER, &print::Print];

/// Every distance but the Rényi divergences, which are named by their order: `renyi:0.5`.
pub static NAMED: &[&dyn Distance] = &[
    HELLINGER,
    &print::Print,
    &total_variation::TotalVariation,
    &divergence::KL,
    &divergence::KL_REVERSE,
    &divergence::CHI2,
    &divergence::CHI2_REVERSE,
];

/// The names by which distances are found, with an example of a Rényi divergence.
pub fn names() -> impl Iterator<Item = &'static str> {
    NAMED.iter().map(|distance| distance.id()).chain(["renyi:0.5"])
}

/// The distance called `id`, or what is wrong with the name.
pub fn find(id: &str) -> Result<&'static dyn Distance, Refusal> {
    if let Some(order) = id.strip_prefix(RENYI) {
        return divergence::named(order);
    }
    NAMED
        .iter()
        .copied()
        .find(|distance| distance.id() == id)
        .ok_or_else(|| Refusal::new(format!("unknown distance `{id}`"), suggest(id, names())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With an unlimited sensitivity a mechanism would draw any candidate alike.
    #[test]
    fn every_distance_has_a_sensitivity_or_says_why_it_is_no_score() {
        let posterior = Posterior::new(Prior::new(vec![1.0, 2.0]).unwrap(), vec![2, 3]);
        for distance in names().map(|name| find(name).expect("a distance")) {
            let is_refused = distance.refuses_scores(posterior.prior(), posterior.n()).is_some();
            let local = distance.sensitivity(&posterior).local();
            assert!(is_refused || local.is_finite(), "{}: {local}", distance.id());
        }
    }
}
