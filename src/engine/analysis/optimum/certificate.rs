//! Bounds on the optimum that hold whatever the solver did.
//!
//! The solver's probabilities are repaired until they are a private mechanism: its error is an
//! upper bound on the optimum. The solver's dual variables (the prices of the constraints) are repaired
//! until they are feasible: the sum of the rows' prices is a lower bound.

use super::Goal;
use super::program::{Program, Unknown};
use super::slack;
use super::solver::Answer;
use crate::numeric::{exp_accurate, expm1, ln, log1p, sum::sum};

/// An output whose probability is smaller than this at every data set is an inaccuracy of the solver.
const NOISE: f64 = 1e-10;

/// ln P for every unknown, such that rows sum to one and neighbours differ by at most ε; or, with δ, every pair of
/// data sets misses ε by at most δ.
///
/// In three steps. First P(r|x) is raised to P(r|x') e^(−ε) wherever it is smaller, or to (P(r|x') − s) e^(−ε) with a
/// slack s. This gives the smallest private function above the solver's. Then all is divided by the largest row sum.
/// Finally one output r* gets what is missing in each row, and a share λ of every row. The share is just large
/// enough for these additions to be private. What rounding leaves with δ is mended by another share.
pub fn repair(program: &Program, answer: &Answer) -> Vec<f64> {
    let mut logs = released(program, answer);
    raise(program, &mut logs, &slack::within_budgets(program, answer));
    let probabilities: Vec<f64> = logs.iter().map(|&log| exp_accurate(log)).collect();
    let row = |unknown: usize| program.unknowns[unknown].row;
    let steps = program.steps.iter().map(|&(from, to)| (row(from), row(to)));
    let sums = program.row_sums(&probabilities, |_| 1.0);
    let (scale, gifts) = completion(&sums, program.epsilon, steps);
    let favourite = favourite(program, &answer.weights);
    give(program, &mut logs, favourite, ln(scale), &gifts);
    let share = slack::left(program, &logs);
    if share > 0.0 {
        give(program, &mut logs, favourite, log1p(-share), &vec![share; program.rows.len()]);
    }
    logs
}

/// How rows that sum to different numbers are completed: all are multiplied, and one output gets what is then missing in
/// each, with a share λ of every row: the least with which these additions are private. The factor, and what the output
/// gets in every row, for these sums of the rows, of which `steps` are neighbours.
pub(super) fn completion(
    sums: &[f64],
    epsilon: f64,
    steps: impl Iterator<Item = (usize, usize)>,
) -> (f64, Vec<f64>) {
    let most = sums.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let missing: Vec<f64> = sums.iter().map(|sum| (most - sum) / most).collect();
    // λ + (1−λ) missing(x) <= e^ε (λ + (1−λ) missing(x')): one value of λ / (1−λ) for each step.
    let growth = expm1(epsilon);
    let excess = steps.map(|(from, to)| (missing[from] - missing[to]) / growth - missing[to]);
    let odds = excess.fold(0.0, f64::max);
    let share = odds / (1.0 + odds);
    let gifts = missing.iter().map(|missing| share + (1.0 - share) * missing).collect();
    ((1.0 - share) / most, gifts)
}

/// ln P of the solver, without outputs that are an inaccuracy.
fn released(program: &Program, answer: &Answer) -> Vec<f64> {
    let pairs = || program.unknowns.iter().zip(&answer.probabilities);
    let mut largest = vec![0.0; program.families.len()];
    for (unknown, &probability) in pairs() {
        largest[unknown.family] = f64::max(largest[unknown.family], probability);
    }
    let log = |(unknown, &probability): (&Unknown, &f64)| {
        let is_large = program.delta.is_some() || largest[unknown.family] > NOISE;
        if probability > 0.0 && is_large { ln(probability) } else { f64::NEG_INFINITY }
    };
    pairs().map(log).collect()
}

/// The smallest function above e^`logs` that is private but for the slacks, if there are any.
fn raise(program: &Program, logs: &mut [f64], slacks: &[f64]) {
    let mut again = true;
    while again {
        again = false;
        let mut step = |index: usize| {
            let (from, to) = program.steps[index];
            let most = match slacks.get(index) {
                Some(&slack) if slack > 0.0 => ln((exp_accurate(logs[from]) - slack).max(0.0)),
                _ => logs[from],
            };
            if logs[to] < most - program.epsilon {
                logs[to] = most - program.epsilon;
                again = true;
            }
        };
        let forward = 0..program.steps.len();
        forward.clone().chain(forward.rev()).for_each(&mut step);
    }
}

/// The error of the mechanism with these ln P.
pub fn upper_bound(program: &Program, logs: &[f64], goal: Goal) -> f64 {
    let probabilities: Vec<f64> = logs.iter().map(|&log| exp_accurate(log)).collect();
    let errors = program.row_sums(&probabilities, |unknown| unknown.error);
    match goal {
        Goal::Bayes => sum(errors.iter().zip(&program.rows).map(|(e, row)| e * row.weight)),
        Goal::Minimax => errors.iter().copied().fold(0.0, f64::max),
    }
}

/// The orbit of outputs with the least mean error if the output ignores the data.
fn favourite(program: &Program, weights: &[f64]) -> usize {
    let mut errors = vec![0.0; program.families.len()];
    for unknown in &program.unknowns {
        let (family, weight) = (unknown.family, weights[unknown.row]);
        errors[family] += weight * unknown.multiplicity * unknown.error / program.families[family];
    }
    errors.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |least| least.0)
}

/// Adds `shift` to all `logs`, and what every row gives to an orbit of outputs.
fn give(program: &Program, logs: &mut [f64], family: usize, shift: f64, gifts: &[f64]) {
    for (log, unknown) in logs.iter_mut().zip(&program.unknowns) {
        *log += shift;
        if unknown.family == family {
            *log = ln(exp_accurate(*log) + gifts[unknown.row] / program.families[family]);
        }
    }
}

/// A lower bound on the optimum, from prices made feasible.
///
/// Prices y of the rows and z >= 0 of the steps are feasible if for every pair
/// w(x) error(x, r) − y(x) + Σ z(from here) − e^ε Σ z(to here) >= 0; then Σ y is a lower bound,
/// for any weights w that sum to one. For the solver's z, y(x) is set to the largest feasible value.
/// Rounding is allowed for, in the direction that lowers the bound.
///
/// With δ there are prices of the budgets too: see [`slack::paid`].
pub fn lower_bound(program: &Program, answer: &Answer) -> f64 {
    let weights: Vec<f64> = answer.weights.iter().map(|weight| weight.max(0.0)).collect();
    let total = sum(weights.iter().copied());
    let growth = exp_accurate(program.epsilon);
    let mut gains = vec![0.0; program.unknowns.len()];
    let mut sizes = vec![0.0; program.unknowns.len()];
    for (&(from, to), price) in program.steps.iter().zip(&answer.step_prices) {
        let price = price.max(0.0);
        gains[from] += price;
        gains[to] -= growth * price;
        sizes[from] += price;
        sizes[to] += growth * price;
    }
    let mut prices = vec![f64::INFINITY; program.rows.len()];
    for (index, unknown) in program.unknowns.iter().enumerate() {
        let cost = weights[unknown.row] / total * unknown.error * unknown.multiplicity;
        let rounding = ROUNDING * (cost + sizes[index]);
        let allowed = (cost + gains[index] - rounding) / unknown.multiplicity;
        prices[unknown.row] = prices[unknown.row].min(allowed);
    }
    sum(prices) - slack::paid(program, answer)
}

/// A bound on the relative rounding error of a sum of a few dozen terms of one pair.
const ROUNDING: f64 = 64.0 * f64::EPSILON;
