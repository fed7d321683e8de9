//! Settings in which a formula gives the optimum, so that no solver is needed.

use super::program::{errors, weights};
use super::{Goal, Method, OptimalMechanism, Optimum, Question, WIDEST};
use crate::mechanism::law::{OutputSet, Outputs};
use crate::numeric::sum::{Sum, sum};
use crate::numeric::{exp_accurate, ln, log1p};
use crate::posterior::model::{Counts, approximate_compositions};
use crate::posterior::setting::Setting;
use crate::posterior::simplex::list_compositions;

/// The probability of a wrong output below which the truth is released.
const NEGLIGIBLE: f64 = 1e-13;
/// The widest interval that is accepted if ε is near 0.
const NARROW: f64 = 1e-8;

/// The optimum if there are no records, if ε is so large that the truth is released, or if ε is so small
/// that the output does not depend on the data.
pub fn optimum(setting: &Setting, question: Question) -> Option<Optimum> {
    let Question { goal, set, delta } = question;
    let (n, k) = (setting.n, setting.k());
    let others = approximate_compositions(n, k) - 1.0;
    if others * exp_accurate(-setting.epsilon.get()) <= NEGLIGIBLE {
        let truthful = truthful(setting, goal, set);
        // An unbounded distance can make the error large all the same.
        if truthful.upper <= WIDEST {
            return Some(truthful);
        }
    }
    let blind = goal == Goal::Bayes && delta.is_none();
    if blind { without_data(setting, set, NARROW) } else { None }
}

/// The best single output r*, if no private mechanism is better by more than `narrow`.
///
/// Under a private mechanism the probability of an output at any data set is at least e^(−nε) times
/// its probability at any other. So the error of the mechanism is at least e^(−nε) times that of r*.
/// For any other output r let a(x) = w(x) (error(x, r) − error(x, r*)). If the positive a(x) sum to at
/// least e^(nε) times the negative ones, then moving all of r's probability to r* does not raise the
/// error. If that is so for every r, then r* is optimal.
pub fn without_data(setting: &Setting, set: OutputSet, narrow: f64) -> Option<Optimum> {
    let (n, k) = (setting.n, setting.k());
    // For larger exponents the best output does depend on the data, and the table would take long.
    let exponent = setting.epsilon.get() * n as f64;
    if exponent > 1.0 {
        return None;
    }
    let inputs = list_compositions(n, k);
    let weights = weights(setting, &inputs);
    let errors = errors(setting, &inputs, &Outputs::new(set, n, k).list());
    let weighted = |r: usize| weights.iter().zip(&errors[r]).map(|(weight, error)| weight * error);
    let totals = (0..errors.len()).map(|r| sum(weighted(r)));
    let (best, error) = totals.enumerate().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let beaten = |r: usize| {
        let (mut more, mut less) = (Sum::default(), Sum::default());
        for difference in weighted(r).zip(weighted(best)).map(|(here, there)| here - there) {
            if difference > 0.0 { more.add(difference) } else { less.add(-difference) }
        }
        more.value() * (1.0 - ROUNDING) >= exp_accurate(exponent) * less.value()
    };
    let optimal = (0..errors.len()).all(|r| r == best || beaten(r));
    let lower = if optimal { error } else { exp_accurate(-exponent) * error };
    // The mechanism that always releases this output.
    let ln_probability =
        |_: &Counts, (r, _): (usize, &Counts)| if r == best { 0.0 } else { f64::NEG_INFINITY };
    (error - lower <= narrow).then(|| by_formula(setting, set, (lower, error), ln_probability))
}

/// The relative accuracy of differences of errors.
const ROUNDING: f64 = 1e-9;

/// Σ_r error(x, r) over all candidates r: its mean over data sets, or its maximum.
fn summed_errors(setting: &Setting, goal: Goal) -> f64 {
    let inputs = &list_compositions(setting.n, setting.k());
    let errors = errors(setting, inputs, inputs);
    let sums = (0..inputs.len()).map(|x| sum(errors.iter().map(|errors| errors[x])));
    match goal {
        Goal::Bayes => sum(sums.zip(weights(setting, inputs)).map(|(sum, weight)| sum * weight)),
        Goal::Minimax => sums.fold(0.0, f64::max),
    }
}

/// The mechanism that releases the truth, or any other candidate with a probability e^ε times smaller.
fn truthful(setting: &Setting, goal: Goal, set: OutputSet) -> Optimum {
    let (n, k) = (setting.n, setting.k());
    let epsilon = setting.epsilon.get();
    let others = approximate_compositions(n, k) - 1.0;
    let truth = -log1p(others * exp_accurate(-epsilon));
    let ln_probability = |x: &Counts, (_, r): (usize, &Counts)| match r {
        r if r == x => truth,
        r if r.iter().sum::<u64>() == n => truth - epsilon,
        _ => f64::NEG_INFINITY,
    };
    // All other candidates have the same probability, so their distances are summed.
    let error = match setting.distance.bound() {
        Some(bound) => bound * exp_accurate(truth - epsilon + ln(others)),
        None => exp_accurate(truth - epsilon) * summed_errors(setting, goal),
    };
    by_formula(setting, set, (0.0, error), ln_probability)
}

/// The mechanism with these probabilities: ln P of an output, and its index, at a data set.
fn by_formula(
    setting: &Setting,
    set: OutputSet,
    bounds: (f64, f64),
    ln_probability: impl Fn(&Counts, (usize, &Counts)) -> f64,
) -> Optimum {
    let (n, k) = (setting.n, setting.k());
    let (inputs, outputs) = (list_compositions(n, k), Outputs::new(set, n, k).list());
    let row = |x| outputs.iter().enumerate().map(|r| ln_probability(x, r)).collect();
    let ln_probabilities = inputs.iter().map(row).collect();
    let mechanism = OptimalMechanism { inputs, outputs, ln_probabilities };
    Optimum::new(bounds, Some(mechanism), (Method::Formula, None))
}
