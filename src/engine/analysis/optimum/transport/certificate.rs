//! A bound that anybody can check: prices and, for every output, a flow that proves them.

use super::space::{DataSets, Prices};
use super::{FlowBound, OptimumError, bound, tight};
use crate::numeric::sum::sum;
use crate::orbits::Orbits;
use crate::parallel;
use crate::posterior::model::Counts;
use crate::posterior::setting::Setting;
use crate::posterior::simplex::list_compositions;

/// Prices, and a flow for every output, over all data sets.
pub struct FlowCertificate {
    /// The data sets, which are the outputs too.
    pub data_sets: Vec<Counts>,
    /// The weights of the tight mechanism.
    pub weights: Vec<f64>,
    /// The price of every data set.
    pub prices: Vec<f64>,
    /// For every output what is sent from a data set to an adjacent one: both by their indices, and the amount that
    /// leaves. Of it the part e^(−ε) arrives.
    pub flows: Vec<Vec<(u32, u32, f64)>>,
    pub bound: FlowBound,
}

/// The most data sets of a certificate.
pub const MOST_CERTIFIED: f64 = 1000.0;

/// The certificate of the bound at the prior, distance, ε and number of records of `setting`.
pub fn certificate(setting: &Setting) -> Result<FlowCertificate, OptimumError> {
    let part = parallel::part(0.3);
    let (found, feasible) = bound(setting)?;
    drop(part);
    let (n, k) = (setting.n, setting.k());
    let folded = Orbits::new(k, n, &setting.prior.exchangeable());
    let y = folded.unfold(&feasible);
    // Without exchanges, and with all data sets around every output: nothing rests on symmetry or distance.
    let space = DataSets::new(setting, &[]);
    let given = Prices::new(&space, y);
    let flow = |output: usize| {
        let near = space.around(output, n);
        let (search, costs, _) = space.search(&near, output, &given, 1.0);
        (search.moves(), search.allowed(&costs))
    };
    let found_flows = parallel::map_range(0..given.y.len(), flow);
    let mut prices = given.y;
    let mut flows = Vec::with_capacity(found_flows.len());
    for (flow, allowed) in found_flows {
        prices.iter_mut().zip(allowed).for_each(|(price, most)| *price = price.min(most));
        flows.push(flow);
    }
    let lower = sum(prices.iter().copied());
    let bound = FlowBound { lower: lower - 4.0 * f64::EPSILON * lower.abs(), ..found };
    let tight = tight(setting)?;
    let data_sets = list_compositions(n, k);
    let weights = data_sets.iter().map(|r| tight.weight(r)).collect();
    Ok(FlowCertificate { data_sets, weights, prices, flows, bound })
}
