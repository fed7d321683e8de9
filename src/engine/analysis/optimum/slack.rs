//! What δ changes in the bounds.

use super::certificate::{Completion, favourite};
use super::program::Program;
use super::solver::Answer;
use crate::numeric::sum::{Sum, sum};
use crate::numeric::{exp_accurate, ln};

/// A bound on the relative rounding error of a sum of some hundred terms.
const ROUNDING: f64 = 1e-13;

/// ln P for every unknown, such that rows sum to one and every pair of data sets misses ε by at most δ.
///
/// As without δ (see `certificate.rs`), but P(r|x) is raised to (P(r|x') − s) e^(−ε) only, s the solver's
/// slack, made smaller where the slacks of a pair sum to more than δ. What rounding leaves is mended by
/// a share of all rows for one output.
pub fn repair(program: &Program, answer: &Answer, delta: f64) -> Vec<f64> {
    let slacks = within_budgets(program, answer, delta);
    let mut probabilities: Vec<f64> = answer.probabilities.iter().map(|p| p.max(0.0)).collect();
    raise(program, &mut probabilities, &slacks);
    let Completion { most, missing, share } = Completion::of_program(program, &probabilities);
    let (favourite, members) = favourite(program, &answer.weights);
    for (value, unknown) in probabilities.iter_mut().zip(&program.unknowns) {
        *value *= (1.0 - share) / most;
        if unknown.family == favourite {
            *value += (share + (1.0 - share) * missing[unknown.row]) / members;
        }
    }
    // If a share of 1 − δ / δ' goes to one output, then at most the rest of δ' remains.
    let missed = missed(program, &probabilities) * (1.0 + ROUNDING);
    if missed > delta {
        let share = 1.0 - delta / missed;
        for (value, unknown) in probabilities.iter_mut().zip(&program.unknowns) {
            *value *= 1.0 - share;
            if unknown.family == favourite {
                *value += share / members;
            }
        }
    }
    probabilities.into_iter().map(ln).collect()
}

/// The solver's slacks, scaled such that no budget exceeds δ.
fn within_budgets(program: &Program, answer: &Answer, delta: f64) -> Vec<f64> {
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

/// The smallest function above these probabilities that is private but for the slacks.
fn raise(program: &Program, probabilities: &mut [f64], slacks: &[f64]) {
    let decay = exp_accurate(-program.epsilon);
    let mut again = true;
    while again {
        again = false;
        for (&(from, to), slack) in program.steps.iter().zip(slacks) {
            let least = (probabilities[from] - slack) * decay;
            if probabilities[to] < least {
                probabilities[to] = least;
                again = true;
            }
        }
    }
}

/// The largest Σ_r max(0, P(r|x) − e^ε P(r|x')) over all pairs of data sets.
fn missed(program: &Program, probabilities: &[f64]) -> f64 {
    let growth = exp_accurate(program.epsilon);
    let slack = |step: usize| {
        let (from, to) = program.steps[step];
        (probabilities[from] - growth * probabilities[to]).max(0.0)
    };
    let of_pair = |budget: &Vec<(usize, f64)>| {
        let mut sum = Sum::default();
        budget.iter().for_each(|&(step, count)| sum.add(count * slack(step)));
        sum.value()
    };
    program.budgets.iter().map(of_pair).fold(0.0, f64::max)
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
    for (place, budget) in program.budgets.iter().enumerate() {
        for &(step, count) in budget {
            covered[step] += count * price(place);
            counted[step] += count;
        }
    }
    let short = |step: usize| {
        let most = answer.step_prices[step].max(0.0) * (1.0 + ROUNDING);
        (most - covered[step] * (1.0 - ROUNDING)).max(0.0) / counted[step]
    };
    let raised = program.budgets.iter().enumerate().map(|(place, budget)| {
        price(place) + budget.iter().map(|&(step, _)| short(step)).fold(0.0, f64::max)
    });
    delta * sum(raised) * (1.0 + ROUNDING)
}
