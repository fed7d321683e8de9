//! What δ changes in the bounds.

use super::program::Program;
use super::solver::Answer;
use crate::numeric::exp_accurate;
use crate::numeric::sum::sum;

/// A bound on the relative rounding error of a sum of some hundred terms.
const ROUNDING: f64 = 1e-13;

/// The solver's slacks, scaled such that no budget exceeds δ; none without δ.
pub fn within_budgets(program: &Program, answer: &Answer) -> Vec<f64> {
    let Some(delta) = program.delta else { return Vec::new() };
    let mut slacks: Vec<f64> = answer.slacks.iter().map(|slack| slack.max(0.0)).collect();
    let mut scales = vec![1.0; slacks.len()];
    for budget in &program.budgets {
        let used = sum(budget.iter().map(|&(step, count)| count * slacks[step]));
        if used > delta {
            for &(step, _) in budget {
                scales[step] = f64::min(scales[step], delta / used);
            }
        }
    }
    slacks.iter_mut().zip(scales).for_each(|(slack, scale)| *slack *= scale);
    slacks
}

/// If the pairs of data sets miss ε by δ' > δ: the share 1 − δ / δ' of every row that one output has to get, so that at
/// most the rest of δ' remains. Else 0.
pub fn left(program: &Program, logs: &[f64]) -> f64 {
    let Some(delta) = program.delta else { return 0.0 };
    let probabilities: Vec<f64> = logs.iter().map(|&log| exp_accurate(log)).collect();
    let growth = exp_accurate(program.epsilon);
    let slack = |step: usize| {
        let (from, to) = program.steps[step];
        (probabilities[from] - growth * probabilities[to]).max(0.0)
    };
    let of_pair =
        |budget: &Vec<(usize, f64)>| sum(budget.iter().map(|&(step, count)| count * slack(step)));
    let missed = program.budgets.iter().map(of_pair).fold(0.0, f64::max) * (1.0 + ROUNDING);
    if missed > delta { 1.0 - delta / missed } else { 0.0 }
}

/// What the budgets cost. With prices v >= 0 of the budgets, the price of a step is at most Σ v over the
/// budgets that it counts in, and δ Σ v is paid. So the solver's v are raised until they are at least as
/// large as the prices of the steps. Without δ nothing is paid.
pub fn paid(program: &Program, answer: &Answer) -> f64 {
    let Some(delta) = program.delta else { return 0.0 };
    let price = |budget: usize| answer.budget_prices[budget].max(0.0);
    // By how much the budgets fall short of every step, for each time it counts.
    let mut covered = vec![0.0; program.steps.len()];
    let mut counted = vec![0.0; program.steps.len()];
    for (index, budget) in program.budgets.iter().enumerate() {
        for &(step, count) in budget {
            covered[step] += count * price(index);
            counted[step] += count;
        }
    }
    let short = |step: usize| {
        let most = answer.step_prices[step].max(0.0) * (1.0 + ROUNDING);
        (most - covered[step] * (1.0 - ROUNDING)).max(0.0) / counted[step]
    };
    let raised = program.budgets.iter().enumerate().map(|(index, budget)| {
        price(index) + budget.iter().map(|&(step, _)| short(step)).fold(0.0, f64::max)
    });
    delta * sum(raised) * (1.0 + ROUNDING)
}
