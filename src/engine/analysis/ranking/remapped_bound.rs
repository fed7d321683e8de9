//! An upper bound on the mean error of a remapped mechanism at given data, for all ε of an interval.
//!
//! The error is Σ_o P_x(o) h(x, M(o)), where the map M sends an output to the candidate with the least
//! expected error. Both P and M depend on ε, and M jumps. Over an interval of ε:
//!
//! - For every kind of recipe ln P_x(o) is a concave function of the rate before the score, the number
//!   of moved records or the noise (rate = 1/scale). The exponential and Hamming mechanisms are
//!   exponential families, whose normalisers are log-convex. Noise gives −steps · rate plus a
//!   logarithm of 1 − e^(−rate), 1/(1 + e^(−rate)) or 1 − ½e^(−rate), each concave. So ln P is at least
//!   the smaller of its values at the ends, and at most what the secants beyond the ends meet at.
//! - A candidate r cannot be what M chooses if another one, s, is better for all joint probabilities
//!   between these bounds: Σ_y w(y) P_y(o) (h(y, r) − h(y, s)) > 0, with the lower bound of P_y(o)
//!   where the difference is positive and the upper bound where it is negative. A factor of P_y(o)
//!   that does not depend on y is left out beforehand.
//! - The mean is at most that of the worst candidate left for each output, and of the worst
//!   probabilities between the bounds that sum to 1.
//!
//! Candidates that are equally good to [`SAME`] in the middle of the interval are taken to be equally
//! good in all of it: symmetric priors make such ties, and a map always decides them the same way.
//! The rate is taken to grow with ε. It is proportional to ε unless the mechanism is calibrated or
//! its sensitivity depends on ε.

use crate::analysis::tuning::TuningCache;
use crate::mechanism::Variant;
use crate::mechanism::law::{CandidateWeights, Outputs, Recipe, ln_probabilities};
use crate::numeric::{Sum, exp_accurate, ln};
use crate::parallel;
use crate::posterior::error_field::{Field, Reach};
use crate::posterior::model::{Counts, Posterior, Predictive};
use crate::posterior::privacy::Epsilon;
use crate::posterior::setting::Setting;
use crate::posterior::simplex::{list_compositions, rank};
use crate::refusal::Refusal;

/// Expected errors that differ by less than this, relatively, are equal: as for the map itself.
const SAME: f64 = 1e-12;
/// Joint probabilities below this, relative to the largest, are left out of a comparison.
const NEGLIGIBLE: f64 = 1e-30;
/// How far beyond the ends of an interval a secant begins, relative to its length.
const BEYOND: f64 = 0.125;

/// What the bounds of one mechanism at one data set have in common.
pub struct RemappedBound<'a> {
    variant: &'a Variant,
    setting: &'a Setting,
    tuning: &'a TuningCache,
    data_sets: Vec<DataSet>,
    outputs: Outputs,
    list: Vec<Counts>,
    /// The place of the given data.
    truth: usize,
    /// The largest distance.
    largest: f64,
}

/// A possible data set y.
struct DataSet {
    posterior: Posterior,
    ln_weight: f64,
    field: Box<dyn Field>,
    /// h(y, r) for every candidate r.
    distances: Vec<f64>,
}

/// The least and the largest logarithm of a probability over an interval, and that in its middle.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Span {
    low: f64,
    middle: f64,
    high: f64,
}

impl<'a> RemappedBound<'a> {
    /// `None` if nothing is known about how the probabilities depend on ε, or a distance is infinite.
    pub fn new(
        variant: &'a Variant,
        setting: &'a Setting,
        tuning: &'a TuningCache,
    ) -> Result<Option<Self>, Refusal> {
        let (prior, n) = (setting.posterior.prior(), setting.posterior.n());
        let recipe = variant.recipe(setting)?;
        if rate(recipe).is_none() {
            return Ok(None);
        }
        let outputs = Outputs::of(recipe, n, prior.k());
        let predictive = Predictive::new(prior, n);
        let candidates = list_compositions(n, prior.k());
        let data_set = |y: &Counts| {
            let posterior = Posterior::new(prior.clone(), y.clone());
            let reach = Reach { windows: vec![(0, n); y.len()], ball: false };
            let field = setting.distance.field(&posterior, &reach);
            let distances = candidates.iter().map(|r| field.at(r)).collect();
            DataSet { posterior, ln_weight: predictive.ln_probability(y), field, distances }
        };
        let data_sets: Vec<DataSet> = parallel::map(&candidates, data_set);
        let distances = data_sets.iter().flat_map(|y| &y.distances);
        let largest = distances.copied().fold(0.0, f64::max);
        let truth = rank(setting.posterior.counts());
        let list = outputs.list();
        let bound = Self { variant, setting, tuning, data_sets, outputs, list, truth, largest };
        Ok((largest < f64::INFINITY).then_some(bound))
    }

    /// A number that the mean error exceeds for no ε from `a` to `b`. `middle` lies between them.
    pub fn over(&self, a: f64, middle: f64, b: f64) -> Result<f64, Refusal> {
        let rates = [self.rates(a)?, self.rates(middle)?, self.rates(b)?];
        let spans = |y: usize| self.spans(y, [rates[0][y], rates[1][y], rates[2][y]]);
        let kernels = parallel::map_range(0..self.data_sets.len(), |y| spans(y).0);
        let at_truth = spans(self.truth).1;
        let chosen = self.tuned(middle)?.remap;
        let worst = |o: usize| -> f64 {
            let chosen = chosen.as_ref().map_or(0, |remap| rank(&remap.replace(&self.list[o])));
            self.worst_candidate(&kernels, o, chosen)
        };
        let worst: Vec<f64> = parallel::map_range(0..self.list.len(), worst);
        Ok(largest_mean(&worst, &at_truth))
    }

    fn tuned(&self, epsilon: f64) -> Result<Variant, Refusal> {
        let at = Setting { epsilon: Epsilon::new(epsilon)?, ..self.setting.clone() };
        Ok(self.tuning.tune(self.variant, &at)?.variant)
    }

    /// The recipe at every data set.
    fn rates(&self, epsilon: f64) -> Result<Vec<Recipe>, Refusal> {
        let variant = self.tuned(epsilon)?;
        let epsilon = Epsilon::new(epsilon)?;
        let at = |y: &DataSet| {
            let posterior = y.posterior.clone();
            variant.recipe(&Setting { posterior, epsilon, ..self.setting.clone() })
        };
        parallel::map(&self.data_sets, at).into_iter().collect()
    }

    /// For every output the bounds of ln P_y up to a term that is the same for all y, and of ln P_y
    /// itself.
    fn spans(&self, y: usize, [a, middle, b]: [Recipe; 3]) -> (Vec<Span>, Vec<Span>) {
        let at = |recipe: Recipe| rate(recipe).unwrap_or(0.0);
        let (low, high) = (at(a).min(at(b)), at(a).max(at(b)));
        let width = high - low;
        let below = low - (BEYOND * width).min(0.5 * low);
        let above = high + BEYOND * width;
        let rates = [below, low, at(middle), high, above];
        let values = rates.map(|rate| self.ln_probabilities(y, with_rate(a, rate)));
        let bounded = |values: [&[f64]; 5]| -> Vec<Span> {
            let [f0, f1, middle, f2, f3] = values;
            let places = 0..middle.len();
            let span = |o: usize| {
                let left = (f1[o] - f0[o]) / (low - below);
                let right = (f3[o] - f2[o]) / (above - high);
                let (least, most) = (f1[o].min(f2[o]), f1[o].max(f2[o]));
                let met = match left > 0.0 && right < 0.0 {
                    true => {
                        let u = (f2[o] - f1[o] - right * width) / (left - right);
                        f1[o] + left * u.clamp(0.0, width)
                    }
                    false => most,
                };
                // Rounding errors of the logarithms.
                let slack = 1e-13 * (1.0 + least.abs());
                Span { low: least - slack, middle: middle[o], high: met.max(most) + slack }
            };
            places.map(span).collect()
        };
        let pick = |kernel: bool| -> [&[f64]; 5] {
            std::array::from_fn(|i| if kernel { &values[i].0[..] } else { &values[i].1[..] })
        };
        (bounded(pick(true)), bounded(pick(false)))
    }

    /// ln P_y of every output, without and with the term that is the same for all y.
    fn ln_probabilities(&self, y: usize, recipe: Recipe) -> (Vec<f64>, Vec<f64>) {
        let DataSet { posterior, field, distances, .. } = &self.data_sets[y];
        let whole = match recipe {
            // As `ln_probabilities`, from the distances that are there.
            Recipe::Exponential { rate } => {
                let weights: Sum = distances.iter().map(|h| exp_accurate(-rate * h)).collect();
                let ln_normaliser = ln(weights.value());
                distances.iter().map(|h| -rate * h - ln_normaliser).collect()
            }
            _ => ln_probabilities(recipe, posterior, field.as_ref(), self.outputs),
        };
        let Recipe::Noise { noise, scale, restored } = recipe else {
            return (whole.clone(), whole);
        };
        let n = posterior.n();
        let free = posterior.k() - usize::from(restored);
        // Of noise without a step P is the common factor; at 0 that is noise that falls by one.
        let common = |v: u64| noise.ln_probability(scale, v.max(1).min(n), n, v);
        let common: Vec<f64> = (0..=n).map(common).collect();
        let term = |o: &Counts| o[..free].iter().map(|&v| common[v as usize]).sum::<f64>();
        let kernel = whole.iter().zip(&self.list).map(|(ln_p, o)| ln_p - term(o)).collect();
        (kernel, whole)
    }

    /// The largest distance, from the given data, of a candidate that may be the best for output `o`.
    /// `chosen` is the best in the middle of the interval.
    fn worst_candidate(&self, kernels: &[Vec<Span>], o: usize, chosen: usize) -> f64 {
        let joint =
            |y: usize, ln_p: fn(&Span) -> f64| self.data_sets[y].ln_weight + ln_p(&kernels[y][o]);
        let all = 0..self.data_sets.len();
        let most = |ln_p: fn(&Span) -> f64| {
            all.clone().map(|y| joint(y, ln_p)).fold(f64::NEG_INFINITY, f64::max)
        };
        let (highest, central) = (most(|span| span.high), most(|span| span.middle));
        let mut gaps = vec![(0.0, 0.0); self.data_sets.len()];
        let (mut expected, mut neglected) = (0.0, 0.0);
        for y in all {
            let low = exp_accurate(joint(y, |span| span.low) - highest);
            let high = exp_accurate(joint(y, |span| span.high) - highest);
            let middle = exp_accurate(joint(y, |span| span.middle) - central);
            if high < NEGLIGIBLE && middle < NEGLIGIBLE {
                neglected += NEGLIGIBLE * self.largest;
                continue;
            }
            let distances = &self.data_sets[y].distances;
            let own = distances[chosen];
            expected += middle * own;
            neglected += SAME * high * own;
            for ((gap, tie), h) in gaps.iter_mut().zip(distances) {
                let more = h - own;
                *gap += if more > 0.0 { low * more } else { high * more };
                *tie += middle * more;
            }
        }
        let may_be_best = |&(gap, tie): &(f64, f64)| gap <= neglected && tie > SAME * expected;
        let errors = &self.data_sets[self.truth].distances;
        let left = gaps.iter().zip(errors).filter(|(gaps, _)| may_be_best(gaps));
        left.map(|(_, &error)| error).fold(errors[chosen], f64::max)
    }
}

/// The largest Σ p_o · error_o for p between its bounds with Σ p = 1: what is left above the lower
/// bounds goes to the largest errors.
fn largest_mean(errors: &[f64], spans: &[Span]) -> f64 {
    let mut order: Vec<usize> = (0..errors.len()).collect();
    order.sort_by(|&i, &j| errors[j].total_cmp(&errors[i]));
    let low = |o: usize| exp_accurate(spans[o].low);
    let mut left = 1.0 - order.iter().map(|&o| low(o)).collect::<Sum>().value();
    let mut mean = Sum::default();
    for o in order {
        let more = (exp_accurate(spans[o].high.min(0.0)) - low(o)).min(left).max(0.0);
        left -= more;
        mean.add((low(o) + more) * errors[o]);
    }
    mean.value() * (1.0 + SAME)
}

/// The rate in which the logarithms of probabilities are concave, if that is proved.
fn rate(recipe: Recipe) -> Option<f64> {
    match recipe {
        Recipe::Exponential { rate }
        | Recipe::Hamming { rate, weights: CandidateWeights::Flat } => Some(rate),
        Recipe::Noise { scale, .. } => Some(1.0 / scale),
        Recipe::Hamming { .. }
        | Recipe::Weighed { .. }
        | Recipe::OwnNoise { .. }
        | Recipe::Lattice { .. }
        | Recipe::Historical { .. }
        | Recipe::Table { .. } => None,
    }
}

fn with_rate(recipe: Recipe, rate: f64) -> Recipe {
    match recipe {
        Recipe::Exponential { .. } => Recipe::Exponential { rate },
        Recipe::Hamming { weights, .. } => Recipe::Hamming { rate, weights },
        Recipe::Noise { noise, restored, .. } => {
            Recipe::Noise { noise, scale: 1.0 / rate, restored }
        }
        Recipe::Weighed { .. }
        | Recipe::OwnNoise { .. }
        | Recipe::Lattice { .. }
        | Recipe::Historical { .. }
        | Recipe::Table { .. } => recipe,
    }
}
