//! The data sets, what they cost, and the neighbourhoods of outputs.

use super::ball::ball;
use super::losses::Losses;
use super::{HELPS, NEGLIGIBLE, PRECISION, ROUNDING, SHORT, USUAL_NEED};
use super::{absolute, ball_size, beyond, reach};
use std::sync::Arc;

use crate::analysis::optimum::search::{Graph, Search};
use crate::mechanism::law::tight::{Decay, Rows, shell_size, solve};
use crate::memo::Memo;
use crate::numeric::sum::sum;
use crate::numeric::{Sum, exp_accurate};
use crate::orbits::Orbits;
use crate::parallel;
use crate::posterior::model::{Counts, Predictive};
use crate::posterior::setting::Setting;

/// The data sets, up to the order of categories that can be exchanged.
pub struct DataSets<'a> {
    setting: &'a Setting,
    n: u64,
    pub orbits: Orbits,
    /// The prior predictive probability of every orbit's members.
    weights: Vec<f64>,
    losses: Losses,
    /// c(r) = Σ_x π(x) L(x, r) a^(d(x, r)), not too large.
    pub costs: Vec<f64>,
    /// a^d.
    powers: Vec<f64>,
    decay: Decay,
    /// Candidates further away do not matter to a sum.
    pub reach: u64,
    /// Graphs of neighbourhoods: all outputs that are equally far from the edges have the same one.
    graphs: Memo<Shape, Arc<Graph>>,
}

/// The radius of a neighbourhood and the counts of its output, as far as they are below it.
type Shape = (u64, Vec<u64>);

impl<'a> DataSets<'a> {
    /// The data sets up to exchanges of categories within `groups`.
    pub fn new(setting: &'a Setting, groups: &[Vec<usize>]) -> Self {
        let prior = &setting.prior;
        let (n, k, rate) = (setting.n, prior.k(), setting.epsilon.get());
        let orbits = Orbits::new(k, n, groups);
        let predictive = Predictive::new(prior, n);
        let weight = |orbit| exp_accurate(predictive.ln_probability(orbits.member(orbit)));
        let weights = (0..orbits.len()).map(weight).collect();
        let reach = reach(k, n, rate);
        let usual = (k * (k - 1)) as f64 * ball_size(k, USUAL_NEED + beyond(rate));
        let mut space = Self {
            setting,
            n,
            costs: Vec::new(),
            weights,
            losses: Losses::new(setting, &orbits, reach),
            powers: (0..=n).map(|d| exp_accurate(-rate * d as f64)).collect(),
            decay: Decay::new(rate, reach),
            reach,
            graphs: Memo::new((MOST_ARCS / usual) as usize),
            orbits,
        };
        space.costs = space.total_costs();
        space
    }

    /// Σ over all members.
    pub fn total(&self, values: &[f64]) -> f64 {
        sum(values.iter().zip(&self.orbits.sizes).map(|(value, size)| value * size))
    }

    fn total_costs(&self) -> Vec<f64> {
        parallel::map_range(0..self.orbits.len(), |orbit| {
            let (r, mut sum) = (self.orbits.member(orbit), Sum::default());
            ball(&self.orbits, orbit, self.reach, &mut |x, rank, away| {
                sum.add(self.supply(x, rank, r, orbit) * self.powers[away as usize]);
            });
            sum.value() * (1.0 - ROUNDING)
        })
    }

    /// π(x) L(x, r).
    fn supply(&self, x: &[u64], rank: usize, r: &[u64], orbit: usize) -> f64 {
        let weight = self.weights[self.orbits.of[rank] as usize];
        weight * self.losses.at(x, rank, r, orbit)
    }

    /// y with Σ_x y(x) a^(d(x, r)) = c(r), nearly.
    pub fn invert(&self) -> Vec<f64> {
        let largest = self.costs.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        let target: Vec<f64> = self.costs.iter().map(|cost| cost / largest).collect();
        let rate = self.setting.epsilon.get();
        let y = solve(&self.orbits, &self.decay, rate, &target, target.clone(), PRECISION);
        y.into_iter().map(|value| value * largest).collect()
    }

    /// Σ_x y(x) a^(d(x, r)) for every r, not too small.
    fn worth(&self, y: &[f64]) -> Vec<f64> {
        let sums = |values: &[f64]| Rows::new(&self.orbits, &self.decay, values).sums();
        let far = NEGLIGIBLE * y.iter().fold(0.0, |largest, y| f64::max(largest, y.abs()));
        let sizes = sums(&absolute(y));
        sums(y).iter().zip(&sizes).map(|(sum, size)| sum + ROUNDING * size + far).collect()
    }

    /// For every output a radius with all needs in it, and a little more: further away π(q) L(q, r) covers y(q).
    /// Where none within reach would do, y(q) becomes 0.
    pub fn radii(&self, y: &mut [f64]) -> Vec<u64> {
        if !Losses::grow_outwards(self.setting) {
            return vec![self.n; y.len()];
        }
        let covered_from = |orbit: usize| {
            let q = self.orbits.member(orbit);
            let rank = self.orbits.places.of(q);
            let enough = y[orbit] / self.weights[orbit] * (1.0 + 4.0 * ROUNDING);
            // Losses grow along all ways from q: if all at one distance suffice, those beyond do too.
            (1..=self.reach).find(|&radius| {
                let mut covered = true;
                ball(&self.orbits, orbit, radius, &mut |r, _, away| {
                    if away == radius {
                        covered &= self.losses.at(q, rank, r, orbit) >= enough;
                    }
                });
                covered
            })
        };
        let covered_from = parallel::map_range(0..y.len(), covered_from);
        let end = |(from, y): (Option<u64>, &mut f64)| match from {
            None if self.reach < self.n => {
                *y = y.min(0.0);
                0
            }
            from => from.unwrap_or(self.n + 1),
        };
        let covered_from: Vec<u64> = covered_from.into_iter().zip(y).map(end).collect();
        let furthest = covered_from.iter().copied().max().unwrap_or(0).min(self.reach);
        let beyond = beyond(self.setting.epsilon.get());
        let radius = |output: usize| {
            let mut radius = 0;
            ball(&self.orbits, output, furthest, &mut |_, rank, away| {
                if away > radius && away < covered_from[self.orbits.of[rank] as usize] {
                    radius = away;
                }
            });
            self.reach.min(radius + beyond)
        };
        parallel::map_range(0..covered_from.len(), radius)
    }

    /// How many data sets are at most `radius` records from one that is far from the edges.
    pub fn ball_size(&self, radius: u64) -> f64 {
        ball_size(self.orbits.places.k, radius).min(self.orbits.of.len() as f64)
    }

    /// Lowers prices that are much larger than the error at a usual distance: those of data sets that are less
    /// likely than their neighbours. Nothing would be released for them alone.
    pub fn cap(&self, y: &mut [f64]) {
        if !Losses::grow_outwards(self.setting) {
            return;
        }
        let k = self.orbits.places.k;
        let shell = |d: u64| shell_size(k, d) * self.powers[d as usize];
        let moved: f64 = (1..=self.reach).map(|d| d as f64 * shell(d)).sum();
        let usual = moved / (1..=self.reach).map(shell).sum::<f64>();
        let usual = (usual.ceil() as u64).clamp(1, self.reach);
        let largest = |orbit: usize| {
            let q = self.orbits.member(orbit);
            let (rank, mut largest) = (self.orbits.places.of(q), 0.0);
            ball(&self.orbits, orbit, usual, &mut |r, _, away| {
                if away == usual {
                    largest = f64::max(largest, self.losses.at(q, rank, r, orbit));
                }
            });
            largest
        };
        let largest = parallel::map_range(0..y.len(), largest);
        for ((y, largest), weight) in y.iter_mut().zip(largest).zip(&self.weights) {
            *y = y.min(CAP * weight * largest);
        }
    }

    /// The column a^d of an output, as far as `radius`.
    pub fn cone(&self, output: usize, radius: u64) -> Vec<(u32, f64)> {
        let mut column = Vec::new();
        ball(&self.orbits, output, radius, &mut |_, rank, away| {
            column.push((self.orbits.of[rank], self.powers[away as usize]));
        });
        column
    }

    /// The neighbourhood of the output that stands for `output`.
    pub fn around(&self, output: usize, radius: u64) -> Neighbourhood {
        let r = self.orbits.member(output);
        let mut found = Neighbourhood::default();
        ball(&self.orbits, output, radius, &mut |x, rank, away| {
            if away == 0 {
                found.home = found.orbits.len();
            }
            found.orbits.push(self.orbits.of[rank]);
            found.away.push(away as i32);
            found.costs.push(self.supply(x, rank, r, output) * (1.0 - ROUNDING));
        });
        // Which of them are adjacent.
        let shape = (radius, r.iter().map(|&count| count.min(radius)).collect());
        found.graph = self.graphs.get(&shape, || {
            let (mut list, mut ranks) = (Vec::<Counts>::new(), Vec::new());
            ball(&self.orbits, output, radius, &mut |x, rank, _| {
                list.push(x.to_vec());
                ranks.push(rank);
            });
            let place_of = |x: &[u64]| ranks.binary_search(&self.orbits.places.of(x)).ok();
            Arc::new(Graph::new(&list, place_of))
        });
        found
    }

    /// The prices that the flow of one output allows.
    fn allowed(&self, output: usize, prices: &Prices, mut radius: u64) -> Vec<(u32, f64)> {
        let lacks = |allowed: &[(u32, f64)]| -> f64 {
            let lack = |&(orbit, most): &(u32, f64)| {
                let price = prices.y[orbit as usize];
                let lack = price - most;
                if lack > SHORT * price.abs() {
                    lack * self.orbits.sizes[orbit as usize]
                } else {
                    0.0
                }
            };
            allowed.iter().map(lack).sum()
        };
        let mut found = self.allowed_within(output, prices, radius);
        while lacks(&found) > 0.0 && radius < self.reach {
            radius = self.reach.min(2 * radius);
            let wider = self.allowed_within(output, prices, radius);
            let helps = lacks(&wider) < HELPS * lacks(&found);
            found = wider;
            if !helps {
                break;
            }
        }
        found
    }

    fn allowed_within(&self, output: usize, prices: &Prices, radius: u64) -> Vec<(u32, f64)> {
        let near = self.around(output, radius);
        let (search, costs, _) = self.search(&near, output, prices, 1.0);
        near.orbits.iter().copied().zip(search.allowed(&costs)).collect()
    }

    /// The best column of an output if all prices are multiplied by `scale`, and the ratio of its cost and worth.
    pub fn best_column<'b>(
        &self,
        near: &'b Neighbourhood,
        output: usize,
        prices: &Prices,
        scale: f64,
    ) -> (Search<'b>, f64) {
        let (search, _, outside) = self.search(near, output, prices, scale);
        let cost: f64 = near.costs.iter().zip(&search.p).map(|(cost, p)| cost * p).sum();
        let worth = |(&orbit, p): (&u32, &f64)| prices.y[orbit as usize] * p;
        let worth: f64 = near.orbits.iter().zip(&search.p).map(worth).sum();
        let worth = worth + outside.1;
        let ratio = if worth > 0.0 { (cost + outside.0) / worth } else { f64::INFINITY };
        (search, ratio)
    }

    /// The same search. With it the costs, where the output has what those outside send to it, and the costs and
    /// worth of those outside.
    pub fn search<'b>(
        &self,
        near: &'b Neighbourhood,
        output: usize,
        prices: &Prices,
        scale: f64,
    ) -> (Search<'b>, Vec<f64>, (f64, f64)) {
        let own: Vec<f64> = near.orbits.iter().map(|&orbit| prices.y[orbit as usize]).collect();
        let total = |values: &[f64]| {
            let term = |(value, &away): (&f64, &i32)| value * self.powers[away as usize];
            sum(values.iter().zip(&near.away).map(term))
        };
        let (cost, worth) = (self.costs[output], prices.worth[output]);
        let outside = (cost - total(&near.costs), worth - total(&own));
        let mut costs = near.costs.clone();
        let beyond = outside.0 - scale * outside.1 - ROUNDING * (cost + scale * worth.abs());
        costs[near.home] += beyond.max(0.0);
        let own: Vec<f64> = own.iter().map(|y| scale * y).collect();
        let from = (near.home, near.away.clone());
        let search = Search::run(&near.graph, from, self.setting.epsilon.get(), (&costs, &own));
        (search, costs, outside)
    }

    /// The largest prices that the flows of all outputs allow, at most y. They are feasible, unless a proof of
    /// optimality was given up.
    pub fn lowered(&self, mut y: Vec<f64>, proof: Proof) -> Vec<f64> {
        let radii = self.radii(&mut y);
        let prices = Prices::new(self, y);
        let enough = self.total(&prices.y) * (1.0 - HOPELESS);
        let mut lowered = prices.y.clone();
        for piece in parallel::steps(0..radii.len().div_ceil(PIECE)) {
            let piece = piece * PIECE..radii.len().min((piece + 1) * PIECE);
            let allowed: Vec<Vec<(u32, f64)>> = parallel::map_range(piece, |output| match proof {
                Proof::Bound => self.allowed_within(output, &prices, radii[output]),
                _ => self.allowed(output, &prices, radii[output]),
            });
            for (orbit, most) in allowed.into_iter().flatten() {
                lowered[orbit as usize] = lowered[orbit as usize].min(most);
            }
            if proof == Proof::Optimality && self.total(&lowered) < enough {
                break;
            }
        }
        lowered
    }
}

/// What is to be proved by flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// That these prices are feasible; how far they are from it is of no interest.
    Optimality,
    /// As near to these prices as possible.
    Prices,
    /// A bound that is good enough.
    Bound,
}

/// Prices y of the data sets, and Σ_x y(x) a^(d(x, r)) for every output r.
pub struct Prices {
    pub y: Vec<f64>,
    pub worth: Vec<f64>,
}

impl Prices {
    pub fn new(space: &DataSets, y: Vec<f64>) -> Self {
        Self { worth: space.worth(&y), y }
    }
}

/// The data sets around an output, in the order of their places.
#[derive(Default)]
pub struct Neighbourhood {
    home: usize,
    orbits: Vec<u32>,
    /// How many records each is away from the output.
    away: Vec<i32>,
    /// π(x) L(x, r).
    costs: Vec<f64>,
    graph: Arc<Graph>,
}

/// Prices that are too large in sum by this part are not those of an optimum.
const HOPELESS: f64 = 1e-7;

/// A price is at most this multiple of the largest error at a usual distance.
const CAP: f64 = 0.8;

/// All graphs that are kept have about so many arcs.
const MOST_ARCS: f64 = 1e7;

/// Outputs that are looked at together.
pub const PIECE: usize = 4096;
