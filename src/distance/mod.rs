//! Distances between posteriors: the score of the exponential mechanisms and the error of a
//! release. One file for each; adding one means one more file and one line in [`ALL`].

mod affinity;
mod hellinger;
mod print;

use crate::field::{Field, Reach};
use crate::model::{Posterior, Prior};
use crate::sensitivity::Sensitivity;

/// A distance between Dir(α + x) and Dir(α + c).
pub trait Distance: Sync {
    /// The name in a config, and of its column in a table.
    fn id(&self) -> &'static str;

    /// The name on an axis.
    fn title(&self) -> &'static str;

    /// The distance of every output from `posterior`.
    fn field(&self, posterior: &Posterior, reach: &Reach) -> Box<dyn Field>;

    /// s, where the distance at equal totals is sqrt(1 − BC^s).
    fn power(&self, posterior: &Posterior) -> f64;

    /// How far one record can move the posterior.
    fn sensitivity(&self, posterior: &Posterior) -> Sensitivity {
        Sensitivity::new(posterior, self.power(posterior))
    }

    /// Why the distance cannot be evaluated for mechanisms that leave the total open.
    fn refuses_open_totals(&self, _prior: &Prior) -> Option<String> {
        None
    }
}

/// The distance that the documents define; the default.
pub static HELLINGER: &dyn Distance = &hellinger::Hellinger;

/// Every distance.
pub static ALL: [&dyn Distance; 2] = [HELLINGER, &print::Print];

/// The distance called `id`.
#[must_use]
pub fn find(id: &str) -> Option<&'static dyn Distance> {
    ALL.into_iter().find(|distance| distance.id() == id)
}
