//! Errors of a release: every distance, and the other ways to say how far off it is.
//!
//! One file for each family; adding a metric means one more file and one line in [`all`].

mod kullback_leibler;
mod norm;
mod total_variation;

use crate::distance;
use crate::field::Field;
use crate::model::Posterior;
use crate::simplex::Window;

type Make = fn(&Posterior, &[Window]) -> Box<dyn Field>;

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
    Distance(&'static dyn distance::Distance),
    Made(Make),
}

impl Metric {
    /// A distance as a metric.
    #[must_use]
    pub fn from_distance(distance: &'static dyn distance::Distance) -> Self {
        let source = Source::Distance(distance);
        Self { id: distance.id(), title: distance.title(), bound: Some(1.0), source }
    }

    /// The error of every output for one posterior; `reach` as in
    /// [`distance::Distance::field`].
    #[must_use]
    pub fn field(&self, posterior: &Posterior, reach: &[Window]) -> Box<dyn Field> {
        match self.source {
            Source::Distance(distance) => distance.field(posterior, reach),
            Source::Made(make) => make(posterior, reach),
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
    let made =
        |id, title, bound, make: Make| Metric { id, title, bound, source: Source::Made(make) };
    let mut metrics: Vec<_> = distance::ALL.into_iter().map(Metric::from_distance).collect();
    metrics.extend([
        made("l1", "ℓ1 distance of the parameters", None, norm::l1),
        made("l2", "ℓ2 distance of the parameters", None, norm::l2),
        made("steps", "steps (half the ℓ1 distance)", None, norm::steps),
        made("tv_lower", "lower bound on total variation", Some(1.0), total_variation::lower),
        made("tv_upper", "upper bound on total variation", Some(1.0), total_variation::upper),
        made("kl", "KL divergence, truth to release", None, kullback_leibler::forward),
        made("kl_reverse", "KL divergence, release to truth", None, kullback_leibler::reverse),
    ]);
    metrics
}

/// The metric called `id`.
#[must_use]
pub fn find(id: &str) -> Option<Metric> {
    all().into_iter().find(|metric| metric.id == id)
}
