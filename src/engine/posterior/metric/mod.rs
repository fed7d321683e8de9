//! The error metrics of a release: every distance, and other measures.
//!
//! One file for each family; adding a metric means one more file and one line in [`all`].

mod norm;
mod total_variation;

use crate::posterior::distance::{self, Distance};
use crate::posterior::error_field::{Field, Reach};
use crate::posterior::model::Posterior;
use crate::refusal::{Refusal, suggest};

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
    pub fn from_distance(distance: &'static dyn Distance) -> Self {
        let source = Source::Distance(distance);
        Self { id: distance.id(), title: distance.title(), bound: distance.bound(), source }
    }

    /// The name on the axis of an error.
    pub fn error_title(&self) -> String {
        match self.source {
            Source::Distance(distance) => distance.error_title(),
            _ => self.title.to_owned(),
        }
    }

    /// The power s for which the metric is 1 to the last bit as soon as BC^s is negligible; `None` if
    /// there is none.
    pub fn plateau(&self, posterior: &Posterior) -> Option<f64> {
        match self.source {
            Source::Distance(distance) => distance.plateau(posterior),
            Source::OfHellinger(_) => distance::HELLINGER.plateau(posterior),
            Source::Other(_) => None,
        }
    }

    /// The time for one value, relative to the Hellinger distance.
    pub fn effort(&self) -> f64 {
        match self.source {
            Source::Distance(distance) => distance.effort(),
            Source::OfHellinger(_) | Source::Other(_) => 1.0,
        }
    }

    /// The error of every output for one posterior; `reach` as in
    /// [`Distance::field`].
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

/// Every metric, but for the Rényi divergences, which are named by their order.
pub fn all() -> Vec<Metric> {
    let unbounded =
        |id, title, make| Metric { id, title, bound: None, source: Source::Other(make) };
    let of_hellinger =
        |id, title, make| Metric { id, title, bound: Some(1.0), source: Source::OfHellinger(make) };
    let mut metrics: Vec<_> = distance::NAMED.iter().copied().map(Metric::from_distance).collect();
    metrics.extend([
        unbounded("l1", "ℓ1 distance of the parameters", norm::l1),
        unbounded("l2", "ℓ2 distance of the parameters", norm::l2),
        unbounded("steps", "steps (half the ℓ1 distance)", norm::steps),
        of_hellinger("tv_lower", "lower bound on total variation", total_variation::lower),
        of_hellinger("tv_upper", "upper bound on total variation", total_variation::upper),
    ]);
    metrics
}

/// The metric called `id`.
pub fn find(id: &str) -> Option<Metric> {
    named(id).ok()
}

/// The metric called `id`, or what is wrong with the name.
pub fn named(id: &str) -> Result<Metric, Refusal> {
    let all = all();
    if let Some(metric) = all.iter().find(|metric| metric.id == id) {
        return Ok(*metric);
    }
    let is_known = |name: &&str| all.iter().any(|metric| metric.id == *name);
    let others = distance::names().filter(|name| !is_known(name));
    let names = all.iter().map(|metric| metric.id).chain(others);
    match id.contains(':') {
        true => distance::named(id).map(Metric::from_distance),
        false => Err(Refusal::new(format!("unknown metric `{id}`"), suggest(id, names))),
    }
}
