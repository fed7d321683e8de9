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
//! The amounts are a flow towards r. Only what π(q) L(q, r) does not cover at q itself must come from elsewhere,
//! and r itself gets what the others leave: exactly y(r), since what they have is c(r) in all. So it is enough to
//! look at a ball around r that has all q ≠ r with y(q) > π(q) L(q, r). Where a flow falls short at q, y(q) is
//! lowered, and Σ y is still a lower bound.
//!
//! Nothing rests on y being exact: any y with such flows gives a bound. Losses are rounded down, needs up; the
//! residual of y and all rounding are subtracted.

mod ball;
mod flow;
mod losses;

use ball::Lattice;
use flow::Flow;
use losses::Losses;

use super::columns;
use super::size::{factorial, order};
use super::{Method, OptimalMechanism, Optimum, OptimumError};
use crate::analysis::cost::{Work, rates};
use crate::mechanism::law::tight::{
    Decay, Effort, Orbits, Rows, Tight, furthest, shell_size, solve,
};
use crate::numeric::{Sum, exp_accurate, ln};
use crate::parallel;
use crate::posterior::model::{Counts, Predictive, approximate_compositions, hamming_distance};
use crate::posterior::setting::Setting;
use crate::posterior::simplex::list_compositions;

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

/// So many records beyond all needs are looked at for supplies at first, and further, if some are missing.
const BEYOND: u32 = 3;

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
    /// Whether the tight mechanism, if none of its weights is negative, is proved to be optimal.
    pub fn is_tight_optimal(&self) -> bool {
        self.lower >= (1.0 - PROVED) * self.tight
    }
}

/// The lower bound at the prior, distance, ε and number of records of `template`.
pub fn bound(template: &Setting) -> Result<FlowBound, OptimumError> {
    if !Losses::grow_outwards(template) && !columns::is_possible(template) {
        return Err(OptimumError::Solver("probabilities are too small for a double".to_owned()));
    }
    let space = Space::new(template);
    let costs = space.costs();
    if !costs.iter().all(|cost| cost.is_finite()) {
        return Err(OptimumError::Solver("an error is infinite".to_owned()));
    }
    let y = space.invert(&costs);
    let tight = space.total(&y);
    let mut y = space.below_costs(y, &costs);
    let radius = space.radius(&mut y);
    let lowered = space.lowered(&y, radius);
    let lower = space.total(&lowered) - ROUNDING * space.total(&absolute(&lowered));
    Ok(FlowBound { tight, lower: lower.max(0.0) })
}

/// The optimum, if the tight mechanism is proved to reach it.
pub fn optimum(template: &Setting) -> Option<Optimum> {
    let (n, k, rate) = (template.posterior.n(), template.posterior.k(), template.epsilon.get());
    let tight = Tight::find(k, n, rate).ok().filter(|tight| !tight.is_clipped())?;
    let found = bound(template).ok().filter(FlowBound::is_tight_optimal)?;
    let (relative, absolute) = template.distance.accuracy();
    let upper = (found.tight + absolute) * (1.0 + PROVED + relative);
    let inputs = list_compositions(n, k);
    let row = |x: &Counts| {
        let probability = |r: &Counts| ln(tight.weight(r)) - rate * hamming_distance(x, r);
        inputs.iter().map(probability).collect()
    };
    let ln_probabilities = parallel::map(&inputs, row);
    let mechanism = OptimalMechanism { outputs: inputs.clone(), inputs, ln_probabilities };
    Some(Optimum::new((found.lower, upper), mechanism, (Method::Flows, None)))
}

/// What the bound takes.
pub fn work(template: &Setting) -> Work {
    let (n, k, rate) = (template.posterior.n(), template.posterior.k(), template.epsilon.get());
    let all = approximate_compositions(n, k);
    let orbits = (all / order(template.posterior.prior())).max(1.0);
    let ball = |radius: u64| ball_size(k, radius.min(n)).min(all);
    let reach = u64::from(reach(k, n, rate));
    let (losses, near) = match Losses::grow_outwards(template) {
        true => (16.0 * n as f64 * reach as f64, ball(USUAL_RADIUS)),
        false => (8.0 * orbits * all, all),
    };
    // Twice: for the weights, and for y, which has fewer categories that can be exchanged.
    let rows = Effort::new(k, n, rate).rows * (1.0 + factorial(k) * orbits / all);
    let ns = orbits * (NS_PER_LOSS * template.distance.effort() * ball(reach) + NS_PER_NODE * near)
        + rates::ns_per_tight_row(k) * rows;
    let bytes = losses + 16.0 * all;
    Work { outputs: orbits, passing: bytes, cpu_seconds: 1e-9 * ns, ..Work::default() }
}

/// Nanoseconds for a loss, and for a node of a flow, measured with k = 3 and 4 and up to 100 records.
const NS_PER_LOSS: f64 = 60.0;
const NS_PER_NODE: f64 = 250.0;
/// The usual radius.
const USUAL_RADIUS: u64 = 7;

/// How many vectors of k whole numbers with the sum 0 move at most `radius` records.
fn ball_size(k: usize, radius: u64) -> f64 {
    1.0 + (1..=radius).map(|d| shell_size(k, d)).sum::<f64>()
}

fn absolute(values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| value.abs()).collect()
}

/// The data sets, up to the order of categories that can be exchanged.
struct Space<'a> {
    template: &'a Setting,
    n: u32,
    lattice: Lattice,
    orbits: Orbits,
    /// The prior predictive probability of every orbit's members.
    weights: Vec<f64>,
    losses: Losses,
    /// a^d.
    powers: Vec<f64>,
    decay: Decay,
    /// Candidates further away do not matter to a sum.
    reach: u32,
}

/// How many records a candidate is away from a data set if those further away do not matter to its sum.
fn reach(k: usize, n: u64, rate: f64) -> u32 {
    // Nobody is that far away if the last one counts.
    let is_far = exp_accurate(-rate * n as f64) < NEGLIGIBLE;
    (if is_far { n.min(furthest(k, rate, NEGLIGIBLE)) } else { n }) as u32
}

impl<'a> Space<'a> {
    fn new(template: &'a Setting) -> Self {
        let prior = template.posterior.prior();
        let (n, k, rate) = (template.posterior.n(), prior.k(), template.epsilon.get());
        let lattice = Lattice::new(k, n);
        let orbits = Orbits::under(k, n, &prior.exchangeable());
        let predictive = Predictive::new(prior, n);
        let weight = |orbit: usize| {
            let counts: Vec<u64> = orbits.member(orbit).iter().map(|&c| u64::from(c)).collect();
            exp_accurate(predictive.ln_probability(&counts))
        };
        let weights = (0..orbits.len()).map(weight).collect();
        let reach = reach(k, n, rate);
        Self {
            template,
            n: n as u32,
            weights,
            losses: Losses::new(template, &orbits, &lattice, reach),
            powers: (0..=n).map(|d| exp_accurate(-rate * d as f64)).collect(),
            decay: Decay::new(rate, u64::from(reach)),
            reach,
            lattice,
            orbits,
        }
    }

    /// Σ over all members.
    fn total(&self, values: &[f64]) -> f64 {
        values
            .iter()
            .zip(&self.orbits.sizes)
            .map(|(value, size)| value * size)
            .collect::<Sum>()
            .value()
    }

    /// c(r) = Σ_x π(x) L(x, r) a^(d(x, r)), not too large.
    fn costs(&self) -> Vec<f64> {
        parallel::map_range(0..self.orbits.len(), |orbit| {
            let (r, mut sum) = (self.orbits.member(orbit), Sum::default());
            self.lattice.ball(r, self.reach, &mut |x, rank, away| {
                sum.add(self.supply(x, rank, r, orbit) * self.powers[away as usize]);
            });
            sum.value() * (1.0 - ROUNDING)
        })
    }

    /// π(x) L(x, r).
    fn supply(&self, x: &[u32], rank: usize, r: &[u32], orbit: usize) -> f64 {
        let weight = self.weights[self.orbits.orbit_of()[rank] as usize];
        weight * self.losses.at(x, rank, r, orbit)
    }

    /// y with Σ_x y(x) a^(d(x, r)) = c(r), nearly.
    fn invert(&self, costs: &[f64]) -> Vec<f64> {
        let largest = costs.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let target: Vec<f64> = costs.iter().map(|cost| cost / largest).collect();
        let rate = self.template.epsilon.get();
        let y = solve(&self.orbits, &self.decay, rate, &target, target.clone(), PRECISION);
        y.into_iter().map(|value| value * largest).collect()
    }

    /// y, less the same for all, so that Σ_x y(x) a^(d(x, r)) is at most c(r) whatever the rounding.
    fn below_costs(&self, y: Vec<f64>, costs: &[f64]) -> Vec<f64> {
        let sums = |values: &[f64]| Rows::new(&self.orbits, &self.decay, values).sums();
        let (is, size) = (sums(&y), sums(&absolute(&y)));
        let far = NEGLIGIBLE * y.iter().fold(0.0, |largest, y| f64::max(largest, y.abs()));
        let above = is.iter().zip(&size).zip(costs);
        let above = above.map(|((is, size), cost)| is + ROUNDING * size + far - cost);
        let most = above.fold(0.0, f64::max);
        y.into_iter().map(|value| value - most).collect()
    }

    /// A radius with all needs in it: further away π(q) L(q, r) covers y(q). Where no radius below that of all data
    /// sets would do, y(q) becomes 0.
    fn radius(&self, y: &mut [f64]) -> u32 {
        if !Losses::grow_outwards(self.template) {
            return self.n;
        }
        let furthest_need = |orbit: usize| {
            let q = self.orbits.member(orbit);
            let rank = self.lattice.rank(q);
            let enough = y[orbit] / self.weights[orbit] * (1.0 + 4.0 * ROUNDING);
            // Losses grow along all ways from q: if all at one distance suffice, those beyond do too.
            (1..=self.reach).find(|&radius| {
                let mut covered = true;
                self.lattice.ball(q, radius, &mut |r, _, away| {
                    if away == radius {
                        covered &= self.losses.at(q, rank, r, orbit) >= enough;
                    }
                });
                covered
            })
        };
        let needs = parallel::map_range(0..self.orbits.len(), furthest_need);
        if self.reach < self.n {
            let endless = needs.iter().zip(y).filter(|(need, _)| need.is_none());
            endless.for_each(|(_, y)| *y = y.min(0.0));
        }
        let furthest = needs.iter().map(|need| need.unwrap_or(self.reach)).max().unwrap_or(0);
        self.reach.min(furthest + BEYOND)
    }

    /// y lowered until there is a flow for every output.
    fn lowered(&self, y: &[f64], radius: u32) -> Vec<f64> {
        let mut lowered = y.to_vec();
        for first in (0..self.orbits.len()).step_by(PIECE) {
            let piece = first..self.orbits.len().min(first + PIECE);
            let lacks: Vec<Vec<(u32, f64)>> =
                parallel::map_range(piece, |orbit| self.lacks(orbit, y, radius));
            for (orbit, lack) in lacks.into_iter().flatten() {
                let value = &mut lowered[orbit as usize];
                *value = value.min(y[orbit as usize] - lack);
            }
        }
        lowered
    }

    /// By how much y is too large at some orbits for the output that stands for `output`. As long as it helps,
    /// supplies are looked for further away.
    fn lacks(&self, output: usize, y: &[f64], mut radius: u32) -> Vec<(u32, f64)> {
        let missing = |lacks: &[(u32, f64)]| -> f64 {
            let short = lacks.iter().filter(|(at, lack)| *lack > SHORT * y[*at as usize].abs());
            short.map(|(at, lack)| lack * self.orbits.sizes[*at as usize]).sum()
        };
        let mut found = self.lacks_within(output, y, radius);
        while missing(&found) > 0.0 && radius < self.reach {
            radius = self.reach.min(2 * radius);
            let wider = self.lacks_within(output, y, radius);
            let helps = missing(&wider) < HELPS * missing(&found);
            found = wider;
            if !helps {
                break;
            }
        }
        found
    }

    fn lacks_within(&self, output: usize, y: &[f64], radius: u32) -> Vec<(u32, f64)> {
        let r = self.orbits.member(output);
        let (mut nodes, mut counts) = (Vec::new(), Vec::new());
        let (mut away, mut excess) = (Vec::new(), Vec::new());
        self.lattice.ball(r, radius, &mut |x, rank, distance| {
            let orbit = self.orbits.orbit_of()[rank];
            let has = match distance {
                0 => 0.0,
                _ => self.supply(x, rank, r, output) * (1.0 - ROUNDING) - y[orbit as usize],
            };
            nodes.push((rank, orbit));
            counts.extend_from_slice(x);
            away.push(distance);
            excess.push(has * self.powers[distance as usize]);
        });
        if excess.iter().all(|&has| has >= 0.0) {
            return Vec::new();
        }
        let (first, nearer) = self.steps(r, &nodes, &counts);
        let lacks = Flow::new(away.clone(), excess, first, nearer).run();
        let lack = |((lack, (_, orbit)), away): ((f64, &(usize, u32)), &u32)| {
            let lowered = lack / self.powers[*away as usize] * (1.0 + ROUNDING);
            (*away > 0 && lack > 0.0).then_some((*orbit, lowered))
        };
        lacks.into_iter().zip(&nodes).zip(&away).filter_map(lack).collect()
    }

    /// For every node the nodes that are one step nearer to r.
    fn steps(&self, r: &[u32], nodes: &[(usize, u32)], counts: &[u32]) -> (Vec<u32>, Vec<u32>) {
        let k = r.len();
        let (mut first, mut nearer) = (vec![0], Vec::new());
        let mut moved = vec![0; k];
        for x in counts.chunks_exact(k) {
            for from in (0..k).filter(|&i| x[i] > r[i]) {
                for to in (0..k).filter(|&i| x[i] < r[i]) {
                    moved.copy_from_slice(x);
                    moved[from] -= 1;
                    moved[to] += 1;
                    let rank = self.lattice.rank(&moved);
                    // Nodes are in the order of their places.
                    let place = nodes.binary_search_by_key(&rank, |node| node.0);
                    nearer.push(place.expect("a node of the ball") as u32);
                }
            }
            first.push(nearer.len() as u32);
        }
        (first, nearer)
    }
}

/// Outputs that are looked at together.
const PIECE: usize = 4096;
