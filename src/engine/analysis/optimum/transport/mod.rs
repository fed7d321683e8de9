//! A lower bound on the optimum by flows, for any number of records.
//!
//! Let a = e^(−ε), d the number of records between two data sets, π the prior predictive distribution and
//! L(x, r) the error. A column v of an ε-private mechanism has v(p) >= a^(d(p, q)) v(q). If for every output r
//! there are amounts t(p, q) >= 0 with q on a shortest way from p to r,
//!
//!   Σ_q t(p, q) <= π(p) L(p, r) a^(d(p, r))   and   Σ_p t(p, q) >= y(q) a^(d(q, r)),
//!
//! then Σ_p π(p) L(p, r) v(p) >= Σ_q y(q) v(q) for every column, and no mechanism with these outputs has an
//! error below Σ y. For the weights w of the tight mechanism, Σ_r w(r) a^(d(x, r)) = 1, its error is
//! Σ_r w(r) c(r) with c(r) = Σ_x π(x) L(x, r) a^(d(x, r)). This is Σ y for the y with
//! Σ_x y(x) a^(d(x, r)) = c(r). So the tight mechanism is optimal if there are such amounts for this y.
//!
//! The amounts are a flow towards r. Below some ε there are none for this y. But any prices y give a bound if for
//! every output there is a flow with losses: amounts go to adjacent data sets in any direction, the part a of each
//! arrives, and in the end every data set has its price (see `search`). Such prices are looked for in `ascent`.
//! What a flow still lacks at a data set is subtracted from its price in the end.
//!
//! Only what π(q) L(q, r) does not cover at q itself must come from elsewhere. So it is enough to look at a ball around
//! r that has all q with y(q) > π(q) L(q, r). Those outside send what they have beyond their prices straight to r; the
//! amount that arrives is a difference of sums over all data sets.
//!
//! Nothing rests on y being exact. Losses are rounded down, needs up; the residual of y and all rounding are
//! subtracted.

mod ascent;
mod ball;
mod certificate;
mod losses;
mod space;

pub use certificate::{FlowCertificate, MOST_CERTIFIED, certificate};
use losses::Losses;
use space::{DataSets, PIECE, Proof};

use std::sync::Arc;

use super::columns;
use super::size::Shape;
use super::{Method, OptimalMechanism, Optimum, OptimumError};
use crate::analysis::size::Size;
use crate::mechanism::law::OutputSet;
use crate::mechanism::law::tight::{Extent, Tight, furthest, shell_size};
use crate::numeric::ln;
use crate::parallel;
use crate::posterior::model::{Counts, approximate_compositions, hamming_distance};
use crate::posterior::setting::Setting;
use crate::posterior::simplex::list_compositions;
use crate::refusal::Refusal;

/// A lower bound by flows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowBound {
    /// Σ y: the error of the tight mechanism, if none of its weights is negative.
    pub tight: f64,
    /// No ε-private mechanism whose outputs are the data sets has a smaller error.
    pub lower: f64,
}

/// What candidates contribute that are too far away to matter.
const NEGLIGIBLE: f64 = 1e-18;

/// The residual of y, relative to the largest cost.
const PRECISION: f64 = 1e-14;

/// A bound on the relative rounding error of a sum.
const ROUNDING: f64 = 64.0 * f64::EPSILON;

/// A wider ball helps if it leaves no more than this part of what is missing.
const HELPS: f64 = 0.999;

/// A relative shortfall below this is a rounding error.
const SHORT: f64 = 1e-11;

/// Nearer to its error than this, relatively, a lower bound proves that the tight mechanism is optimal. Rounding
/// takes less than a tenth of it.
const PROVED: f64 = 1e-11;

impl FlowBound {
    fn new(space: &DataSets, tight: f64, feasible: &[f64]) -> Self {
        let lower = space.total(feasible) - ROUNDING * space.total(&absolute(feasible));
        Self { tight, lower: lower.max(0.0) }
    }

    /// Whether the tight mechanism, if none of its weights is negative, is proved to be optimal.
    pub fn is_tight_optimal(&self) -> bool {
        self.lower >= (1.0 - PROVED) * self.tight
    }
}

/// What flows for the y of the tight mechanism prove, at the prior, distance, ε and number of records of `setting`:
/// its optimality, or a bound that is the weaker the further the mechanism is from it.
pub fn check(setting: &Setting) -> Result<FlowBound, OptimumError> {
    let (space, y) = first(setting)?;
    let tight = space.total(&y);
    Ok(FlowBound::new(&space, tight, &space.lowered(y, Proof::Prices)))
}

/// The optimality of the tight mechanism, or else a good lower bound; with its prices, by orbit.
pub fn bound(setting: &Setting) -> Result<(FlowBound, Vec<f64>), OptimumError> {
    let (space, y) = first(setting)?;
    let tight = space.total(&y);
    let part = parallel::part(0.1);
    let first = space.lowered(y.clone(), Proof::Optimality);
    drop(part);
    let found = FlowBound::new(&space, tight, &first);
    if found.is_tight_optimal() {
        return Ok((found, first));
    }
    let part = parallel::part(0.6);
    let improved = ascent::improved(&space, y);
    drop(part);
    let better = space.lowered(improved, Proof::Bound);
    Ok((FlowBound::new(&space, tight, &better), better))
}

/// The data sets, and the y of the tight mechanism.
fn first(setting: &Setting) -> Result<(DataSets<'_>, Vec<f64>), OptimumError> {
    setting.distance.refuses_scores(&setting.prior, setting.n).map_or(Ok(()), Err)?;
    if !Losses::grow_outwards(setting) && !columns::is_possible(setting) {
        return Err(OptimumError::Solver("probabilities are too small for a double".to_owned()));
    }
    let part = parallel::part(0.1);
    let space = DataSets::new(setting, &setting.prior.exchangeable());
    drop(part);
    if !space.costs.iter().all(|cost| cost.is_finite()) {
        return Err(OptimumError::Solver("an error is infinite".to_owned()));
    }
    let _part = parallel::part(0.1);
    let y = space.invert();
    Ok((space, y))
}

/// The most data sets for which the tight mechanism is written down as a matrix.
const MOST_INPUTS: f64 = 6000.0;

/// Whether mechanisms can be written down as a matrix.
pub fn is_small(setting: &Setting) -> bool {
    approximate_compositions(setting.n, setting.k()) <= MOST_INPUTS
}

/// The optimum, if the tight mechanism is proved to reach it.
pub fn optimum(setting: &Setting) -> Option<Optimum> {
    let tight = tight(setting).ok().filter(|tight| !tight.is_clipped())?;
    let found = check(setting).ok().filter(FlowBound::is_tight_optimal)?;
    Some(between(setting, &tight, found))
}

/// The optimum between a bound by flows and the error of the tight mechanism.
pub fn bracket(setting: &Setting) -> Result<Optimum, OptimumError> {
    let part = parallel::part(0.1);
    let tight = tight(setting)?;
    drop(part);
    Ok(between(setting, &tight, bound(setting)?.0))
}

fn tight(setting: &Setting) -> Result<Arc<Tight>, Refusal> {
    let (n, k) = (setting.n, setting.k());
    Tight::find(k, n, setting.epsilon.get())
}

fn between(setting: &Setting, tight: &Tight, found: FlowBound) -> Optimum {
    let (relative, absolute) = setting.distance.accuracy();
    let upper = match tight.is_clipped() {
        true => f64::INFINITY,
        false => (found.tight + absolute) * (1.0 + PROVED + relative),
    };
    let mechanism = (is_small(setting) && !tight.is_clipped()).then(|| matrix(setting, tight));
    let optimum = Optimum::new((found.lower, upper), mechanism, (Method::Flows, None));
    let value = if tight.is_clipped() { upper } else { found.tight };
    Optimum { value: value.clamp(optimum.lower, upper), ..optimum }
}

/// The tight mechanism as a matrix. Its rate is a little less than ε, so that no rounding of logarithms makes its loss
/// more.
fn matrix(setting: &Setting, tight: &Tight) -> OptimalMechanism {
    let inputs = list_compositions(setting.n, setting.k());
    let epsilon = setting.epsilon.get();
    let largest = epsilon * (setting.n + 1) as f64 - ln(tight.smallest());
    let rate = epsilon - 2.0 * f64::EPSILON * largest;
    let row = |x: &Counts| {
        let probability = |r: &Counts| ln(tight.weight(r)) - rate * hamming_distance(x, r);
        inputs.iter().map(probability).collect()
    };
    let ln_probabilities = parallel::map(&inputs, row);
    OptimalMechanism { outputs: inputs.clone(), inputs, ln_probabilities }
}

/// How large a check of the tight mechanism is, or the search for a good bound.
pub fn size(setting: &Setting, good: bool) -> Size {
    let (n, k, rate) = (setting.n, setting.k(), setting.epsilon.get());
    let all = approximate_compositions(n, k);
    let orbits = Shape::new(setting, OutputSet::Simplex).rows;
    let reach = reach(k, n, rate);
    let ball = |radius: u64| ball_size(k, radius.min(reach)).min(all);
    let (losses, near) = match Losses::grow_outwards(setting) {
        true => (16.0 * (k as f64) * n as f64 * reach as f64, ball(USUAL_NEED + beyond(rate))),
        false => (8.0 * orbits * all, all),
    };
    let sweeps = if good { (ascent::sweeps(orbits * near) + ascent::CLOSING) as f64 } else { 1.0 };
    let each = 6.0 * setting.distance.steps() * ball(reach) + VISITS * sweeps * near;
    Size {
        outputs: orbits * each + 2.0 * Extent::new(k, n, rate).rows,
        bytes: losses + 16.0 * all + 12.0 * near * orbits.min(PIECE as f64),
    }
}

/// A data set of a flow takes as long as so many outputs.
const VISITS: f64 = 50.0;

/// The usual radius of needs.
const USUAL_NEED: u64 = 5;

/// How many vectors of k whole numbers with the sum 0 move at most `radius` records.
fn ball_size(k: usize, radius: u64) -> f64 {
    1.0 + (1..=radius).map(|d| shell_size(k, d)).sum::<f64>()
}

fn absolute(values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| value.abs()).collect()
}

/// How many records a candidate is away from a data set if those further away do not matter to its sum.
fn reach(k: usize, n: u64, rate: f64) -> u64 {
    furthest(k, rate, NEGLIGIBLE, n)
}

/// How many records beyond all needs are looked at for what may serve them: few of what is further away would arrive.
fn beyond(rate: f64) -> u64 {
    (6.0 / rate).ceil().clamp(3.0, 1e6) as u64
}
