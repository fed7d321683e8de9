//! The error metrics of a release: every distance, and other measures that cannot be scores.
//!
//! One file for each family; adding a metric means one more value and one line in [`all`].

mod norm;
mod total_variation;

use crate::posterior::distance::{self, Distance};
use crate::refusal::{Refusal, suggest};

/// An error of a release.
pub type Metric = &'static dyn Distance;

/// Every metric, but for the Rényi divergences, which are named by their order.
pub fn all() -> Vec<Metric> {
    let others: [Metric; 5] =
        [&norm::L1, &norm::L2, &norm::STEPS, &total_variation::LOWER, &total_variation::UPPER];
    distance::NAMED.iter().copied().chain(others).collect()
}

/// The metric called `id`, or what is wrong with the name.
pub fn find(id: &str) -> Result<Metric, Refusal> {
    let all = all();
    if let Some(metric) = all.iter().find(|metric| metric.id() == id) {
        return Ok(*metric);
    }
    let names = all.iter().map(|metric| metric.id()).chain(["renyi:0.5"]);
    match id.contains(':') {
        true => distance::find(id),
        false => Err(Refusal::new(format!("unknown metric `{id}`"), suggest(id, names))),
    }
}
