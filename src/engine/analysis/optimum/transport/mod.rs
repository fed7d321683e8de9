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
use space::{PIECE, Proof, Space};

use std::sync::Arc;

use super::columns;
use super::size::{factorial, order};
use super::{Method, OptimalMechanism, Optimum, OptimumError};
use crate::analysis::cost::{Work, rates};
use crate::mechanism::law::tight::{Effort, Tight, furthest, shell_size};
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
    fn new(space: &Space, tight: f64, feasible: &[f64]) -> Self {
        let lower = space.total(feasible) - ROUNDING * space.total(&absolute(feasible));
        Self { tight, lower: lower.max(0.0) }
    }

    /// Whether the tight mechanism, if none of its weights is negative, is proved to be optimal.
    pub fn is_tight_optimal(&self) -> bool {
        self.lower >= (1.0 - PROVED) * self.tight
    }
}

/// What flows for the y of the tight mechanism prove, at the prior, distance, ε and number of records of `template`:
/// its optimality, or a bound that is the weaker the further the mechanism is from it.
pub fn check(template: &Setting) -> Result<FlowBound, OptimumError> {
    let space = space(template)?;
    let y = space.invert();
    let tight = space.total(&y);
    Ok(FlowBound::new(&space, tight, &space.lowered(y, Proof::Prices)))
}

/// The optimality of the tight mechanism, or else a good lower bound.
pub fn bound(template: &Setting) -> Result<FlowBound, OptimumError> {
    prices(template).map(|(bound, _)| bound)
}

/// The same with its prices, by orbit.
fn prices(template: &Setting) -> Result<(FlowBound, Vec<f64>), OptimumError> {
    let space = space(template)?;
    let y = space.invert();
    let tight = space.total(&y);
    let first = space.lowered(y.clone(), Proof::Optimality);
    let found = FlowBound::new(&space, tight, &first);
    if found.is_tight_optimal() {
        return Ok((found, first));
    }
    let better = space.lowered(ascent::improved(&space, y), Proof::Bound);
    Ok((FlowBound::new(&space, tight, &better), better))
}

fn space(template: &Setting) -> Result<Space<'_>, OptimumError> {
    if !Losses::grow_outwards(template)
        && !columns::is_possible(template.epsilon.get(), template.posterior.n())
    {
        return Err(OptimumError::Solver("probabilities are too small for a double".to_owned()));
    }
    let space = Space::new(template);
    match space.costs.iter().all(|cost| cost.is_finite()) {
        true => Ok(space),
        false => Err(OptimumError::Solver("an error is infinite".to_owned())),
    }
}

/// The most data sets for which the tight mechanism is written down as a matrix.
const MOST_INPUTS: f64 = 6000.0;

/// Whether mechanisms can be written down as a matrix.
pub fn is_small(n: u64, k: usize) -> bool {
    approximate_compositions(n, k) <= MOST_INPUTS
}

/// The optimum, if the tight mechanism is proved to reach it.
pub fn optimum(template: &Setting) -> Option<Optimum> {
    let tight = tight(template).ok().filter(|tight| !tight.is_clipped())?;
    let found = check(template).ok().filter(FlowBound::is_tight_optimal)?;
    Some(between(template, &tight, found))
}

/// The optimum between a bound by flows and the error of the tight mechanism.
pub fn bracket(template: &Setting) -> Result<Optimum, OptimumError> {
    let tight = tight(template)?;
    Ok(between(template, &tight, bound(template)?))
}

fn tight(template: &Setting) -> Result<Arc<Tight>, Refusal> {
    let (n, k) = (template.posterior.n(), template.posterior.k());
    Tight::find(k, n, template.epsilon.get())
}

fn between(template: &Setting, tight: &Tight, found: FlowBound) -> Optimum {
    let (n, k) = (template.posterior.n(), template.posterior.k());
    let (relative, absolute) = template.distance.accuracy();
    let upper = match tight.is_clipped() {
        true => f64::INFINITY,
        false => (found.tight + absolute) * (1.0 + PROVED + relative),
    };
    let mechanism = (is_small(n, k) && !tight.is_clipped()).then(|| matrix(template, tight));
    let optimum = Optimum::new((found.lower, upper), mechanism, (Method::Flows, None));
    let value = if tight.is_clipped() { upper } else { found.tight };
    Optimum { value: value.clamp(optimum.lower, upper), ..optimum }
}

/// The tight mechanism as a matrix. Its rate is a little less than ε, so that no rounding of logarithms makes its loss
/// more.
fn matrix(template: &Setting, tight: &Tight) -> OptimalMechanism {
    let inputs = list_compositions(template.posterior.n(), template.posterior.k());
    let epsilon = template.epsilon.get();
    let largest = epsilon * (template.posterior.n() + 1) as f64 - ln(tight.smallest());
    let rate = epsilon - 2.0 * f64::EPSILON * largest;
    let row = |x: &Counts| {
        let probability = |r: &Counts| ln(tight.weight(r)) - rate * hamming_distance(x, r);
        inputs.iter().map(probability).collect()
    };
    let ln_probabilities = parallel::map(&inputs, row);
    OptimalMechanism { outputs: inputs.clone(), inputs, ln_probabilities }
}

/// What it takes to check the tight mechanism, or to find a good bound.
pub fn work(template: &Setting, n: u64, good: bool) -> Work {
    let (k, rate) = (template.posterior.k(), template.epsilon.get());
    let all = approximate_compositions(n, k);
    let orbits = (all / order(template.posterior.prior())).max(1.0);
    let reach = u64::from(reach(k, n, rate));
    let losses = match Losses::grow_outwards(template) {
        true => 16.0 * n as f64 * reach as f64,
        false => 8.0 * orbits * all,
    };
    let near = match Losses::grow_outwards(template) {
        // Needs reach further where one count is small: there the others can be moved at little cost.
        true => {
            let furthest = FURTHEST_NEED * (n as f64).sqrt() / (rate * rate.sqrt());
            let share = (k as f64 * furthest / n as f64).min(1.0);
            let ball = |need: f64| {
                let radius = (need as u64 + u64::from(beyond(rate))).min(reach);
                ball_size(k, radius).min(all)
            };
            share * ball(furthest) + (1.0 - share) * ball(USUAL_NEED)
        }
        false => all,
    };
    // Twice: for the weights, and for y, which has fewer categories that can be exchanged.
    let rows = Effort::new(k, n, rate).rows * (1.0 + factorial(k) * orbits / all);
    let ns_per_node = NS_PER_NODE * libm::pow(0.5 * (k as f64 - 1.0), GROWTH);
    let searches = if good {
        SEARCHED * (ascent::sweeps(orbits * near) + ascent::CLOSING) as f64
    } else {
        1.0
    };
    let ns = orbits
        * (NS_PER_LOSS * template.distance.effort() * ball_size(k, reach).min(all)
            + ns_per_node * searches * near)
        + rates::ns_per_tight_row(k) * rows;
    let bytes = losses + 16.0 * all + 12.0 * near * PIECE.min(orbits as usize) as f64;
    Work { outputs: orbits, passing: bytes, cpu_seconds: 1e-9 * ns, ..Work::default() }
}

/// Nanoseconds for a loss, and for a node of a flow in three categories and its growth with their number, measured with
/// k = 2 to 4 and up to 1000 records.
const NS_PER_LOSS: f64 = 60.0;
const NS_PER_NODE: f64 = 500.0;
const GROWTH: f64 = 4.5;
/// The usual radius of needs, and the largest one times sqrt(ε³ / n), as measured.
const USUAL_NEED: f64 = 5.0;
const FURTHEST_NEED: f64 = 0.6;
/// The part of the outputs that are looked at again in a sweep, times the searches for each.
const SEARCHED: f64 = 0.8;

/// How many vectors of k whole numbers with the sum 0 move at most `radius` records.
fn ball_size(k: usize, radius: u64) -> f64 {
    1.0 + (1..=radius).map(|d| shell_size(k, d)).sum::<f64>()
}

fn absolute(values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| value.abs()).collect()
}

/// How many records a candidate is away from a data set if those further away do not matter to its sum.
fn reach(k: usize, n: u64, rate: f64) -> u32 {
    furthest(k, rate, NEGLIGIBLE, n) as u32
}

/// How many records beyond all needs are looked at for what may serve them: few of what is further away would arrive.
fn beyond(rate: f64) -> u32 {
    (6.0 / rate).ceil().clamp(3.0, 1e6) as u32
}
