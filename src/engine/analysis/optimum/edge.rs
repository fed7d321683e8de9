//! Settings in which a formula gives the optimum, so that no solver is needed.

use super::program::full_field;
use super::{Goal, Method, OptimalMechanism, Optimum, Question, WIDEST};
use crate::mechanism::law::{OutputSet, Outputs};
use crate::numeric::sum::{Sum, sum};
use crate::numeric::{exp_accurate, ln, log1p};
use crate::posterior::model::{Counts, Predictive, approximate_compositions};
use crate::posterior::setting::Setting;
use crate::posterior::simplex::list_compositions;

/// The probability of a wrong output below which the truth is released.
const NEGLIGIBLE: f64 = 1e-13;
/// The widest interval that is accepted if ε is near 0.
const NARROW: f64 = 1e-8;

/// The optimum if there are no records, if ε is so large that the truth is released, or if ε is so small
/// that the output does not depend on the data.
pub fn optimum(template: &Setting, question: Question) -> Option<Optimum> {
    let Question { goal, set, delta } = question;
    let (n, k) = (template.posterior.n(), template.posterior.k());
    if n == 0 {
        return Some(constant(template, set, 0, (0.0, 0.0)));
    }
    let others = approximate_compositions(n, k) - 1.0;
    if others * exp_accurate(-template.epsilon.get()) <= NEGLIGIBLE {
        let truthful = truthful(template, goal, set);
        // An unbounded distance can make the error large all the same.
        if truthful.upper <= WIDEST {
            return Some(truthful);
        }
    }
    let blind = goal == Goal::Bayes && delta.is_none();
    if blind { without_data(template, set, NARROW) } else { None }
}

/// The best single output r*, if no private mechanism is better by more than `narrow`.
///
/// Under a private mechanism the probability of an output at any data set is at least e^(−nε) times
/// its probability at any other. So the error of the mechanism is at least e^(−nε) times that of r*.
/// For any other output r let a(x) = w(x) (error(x, r) − error(x, r*)). If the positive a(x) sum to at
/// least e^(nε) times the negative ones, then moving all of r's probability to r* does not raise the
/// error. If that is so for every r, then r* is optimal.
pub fn without_data(template: &Setting, set: OutputSet, narrow: f64) -> Option<Optimum> {
    let (n, k) = (template.posterior.n(), template.posterior.k());
    // For larger exponents the best output does depend on the data, and the table would take long.
    let exponent = template.epsilon.get() * n as f64;
    if exponent > 1.0 {
        return None;
    }
    let outputs = Outputs::new(set, n, k).list();
    let weighted = weighted_errors(template, &outputs);
    let total = |r: usize| sum(weighted.iter().map(|row| row[r]));
    let totals: Vec<f64> = (0..outputs.len()).map(total).collect();
    let (best, &error) = totals.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1))?;
    let beaten = |r: usize| {
        let (mut more, mut less) = (Sum::default(), Sum::default());
        for row in &weighted {
            let difference = row[r] - row[best];
            if difference > 0.0 { more.add(difference) } else { less.add(-difference) }
        }
        more.value() * (1.0 - ROUNDING) >= exp_accurate(exponent) * less.value()
    };
    let optimal = (0..outputs.len()).all(|r| r == best || beaten(r));
    let lower = if optimal { error } else { exp_accurate(-exponent) * error };
    (error - lower <= narrow).then(|| constant(template, set, best, (lower, error)))
}

/// The relative accuracy of differences of errors.
const ROUNDING: f64 = 1e-9;

/// w(x) error(x, r): one row for each data set.
fn weighted_errors(template: &Setting, outputs: &[Counts]) -> Vec<Vec<f64>> {
    let (n, k) = (template.posterior.n(), template.posterior.k());
    let predictive = Predictive::new(template.posterior.prior(), n);
    let row = |x: Counts| {
        let weight = exp_accurate(predictive.ln_probability(&x));
        let field = full_field(template, x);
        outputs.iter().map(|r| weight * field.at(r)).collect()
    };
    list_compositions(n, k).into_iter().map(row).collect()
}

/// Σ_r error(x, r) over all candidates r: its mean over data sets, or its maximum.
fn summed_distances(template: &Setting, goal: Goal) -> f64 {
    let (n, k) = (template.posterior.n(), template.posterior.k());
    let inputs = list_compositions(n, k);
    let predictive = Predictive::new(template.posterior.prior(), n);
    let at = |x: &Counts| {
        let field = full_field(template, x.clone());
        sum(inputs.iter().map(|r| field.at(r)))
    };
    let sums = inputs.iter().map(|x| (x, at(x)));
    match goal {
        Goal::Bayes => sum(sums.map(|(x, s)| exp_accurate(predictive.ln_probability(x)) * s)),
        Goal::Minimax => sums.map(|(_, s)| s).fold(0.0, f64::max),
    }
}

/// The mechanism that always releases the same output.
fn constant(template: &Setting, set: OutputSet, chosen: usize, bounds: (f64, f64)) -> Optimum {
    let (n, k) = (template.posterior.n(), template.posterior.k());
    let (inputs, outputs) = (list_compositions(n, k), Outputs::new(set, n, k).list());
    let mut row = vec![f64::NEG_INFINITY; outputs.len()];
    row[chosen] = 0.0;
    let ln_probabilities = vec![row; inputs.len()];
    Optimum::new(
        bounds,
        Some(OptimalMechanism { inputs, outputs, ln_probabilities }),
        (Method::Formula, None),
    )
}

/// The mechanism that releases the truth, or any other candidate with a probability e^ε times smaller.
fn truthful(template: &Setting, goal: Goal, set: OutputSet) -> Optimum {
    let (n, k) = (template.posterior.n(), template.posterior.k());
    let (inputs, outputs) = (list_compositions(n, k), Outputs::new(set, n, k).list());
    let epsilon = template.epsilon.get();
    let others = inputs.len() as f64 - 1.0;
    let truth = -log1p(others * exp_accurate(-epsilon));
    let ln_probability = |x: &Counts, r: &Counts| match r {
        r if r == x => truth,
        r if r.iter().sum::<u64>() == n => truth - epsilon,
        _ => f64::NEG_INFINITY,
    };
    let row = |x: &Counts| outputs.iter().map(|r| ln_probability(x, r)).collect();
    let ln_probabilities = inputs.iter().map(row).collect();
    // All other candidates have the same probability, so their distances are summed.
    let error = match template.distance.bound() {
        Some(bound) => bound * exp_accurate(truth - epsilon + ln(others)),
        None => exp_accurate(truth - epsilon) * summed_distances(template, goal),
    };
    let mechanism = OptimalMechanism { inputs, outputs, ln_probabilities };
    Optimum::new((0.0, error), Some(mechanism), (Method::Formula, None))
}
