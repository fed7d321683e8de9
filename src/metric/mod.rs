//! Errors of a release: every distance, and the other ways to say how far off it is.
//!
//! One file for each family; adding a metric means one more file and one line in [`all`].

mod kullback_leibler;
mod norm;
mod total_variation;

use crate::distance::{self, Distance};
use crate::field::{Field, Reach};
use crate::model::Posterior;

type Make = fn(&Posterior, &Reach) -> Box<dyn Field>;

/// An error of a release.
#[derive(Clone, Copy)]
pub struct Metric {
    /// The name in a config, and of its column in a table.
    pub id: &'static str,
    /// The name on an axis.
    pub title: &'static str,
    /// The largest possible value, where there is one.
    pub bound: Option<f64>,
    source: Source,
}

#[derive(Clone, Copy)]
enum Source {
    Distance(&'static dyn Distance),
    /// A function of the Hellinger distance.
    OfHellinger(Make),
    Other(Make),
}

impl Metric {
    /// A distance as a metric.
    #[must_use]
    pub fn from_distance(distance: &'static dyn Distance) -> Self {
        let source = Source::Distance(distance);
        Self { id: distance.id(), title: distance.title(), bound: Some(1.0), source }
    }

    /// The name on the axis of an error.
    #[must_use]
    pub fn error_title(&self) -> String {
        match self.source {
            Source::Distance(_) => format!("{} from the true posterior", self.title),
            _ => self.title.to_owned(),
        }
    }

    /// s, where the metric is 1 to the last bit as soon as BC^s is negligible; `None` if it never
    /// is.
    #[must_use]
    pub fn power(&self, posterior: &Posterior) -> Option<f64> {
        match self.source {
            Source::Distance(distance) => Some(distance.power(posterior)),
            Source::OfHellinger(_) => Some(distance::HELLINGER.power(posterior)),
            Source::Other(_) => None,
        }
    }

    /// The error of every output for one posterior; `reach` as in
    /// [`Distance::field`].
    #[must_use]
    pub fn field(&self, posterior: &Posterior, reach: &Reach) -> Box<dyn Field> {
        match self.source {
            Source::Distance(distance) => distance.field(posterior, reach),
            Source::OfHellinger(make) | Source::Other(make) => make(posterior, reach),
        }
    }
}

impl std::fmt::Debug for Metric {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.id)
    }
}

impl PartialEq for Metric {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

/// Every metric.
#[must_use]
pub fn all() -> Vec<Metric> {
    let unbounded =
        |id, title, make| Metric { id, title, bound: None, source: Source::Other(make) };
    let of_hellinger =
        |id, title, make| Metric { id, title, bound: Some(1.0), source: Source::OfHellinger(make) };
    let mut metrics: Vec<_> = distance::ALL.into_iter().map(Metric::from_distance).collect();
    metrics.extend([
        unbounded("l1", "ℓ1 distance of the parameters", norm::l1),
        unbounded("l2", "ℓ2 distance of the parameters", norm::l2),
        unbounded("steps", "steps (half the ℓ1 distance)", norm::steps),
        of_hellinger("tv_lower", "lower bound on total variation", total_variation::lower),
        of_hellinger("tv_upper", "upper bound on total variation", total_variation::upper),
        unbounded("kl", "KL divergence, truth to release", kullback_leibler::forward),
        unbounded("kl_reverse", "KL divergence, release to truth", kullback_leibler::reverse),
    ]);
    metrics
}

/// The metric called `id`.
#[must_use]
pub fn find(id: &str) -> Option<Metric> {
    all().into_iter().find(|metric| metric.id == id)
}
