//! How good could a release be? The least expected error of any ε-private mechanism.
//!
//! For given prior, number of records n and ε, a mechanism is a matrix P(r|x): one row for each data
//! set, one column for each output. Privacy, P(r|x) <= e^ε P(r|x') for adjacent x and x', and the
//! expected error are linear in it, so the best mechanism solves a linear program.
//!
//! It is solved by interior points, but what is reported does not rest on the solver: its answer is
//! made into a mechanism that is really private, whose error is an upper bound, and into prices that
//! are really dual feasible, whose sum is a lower bound. The optimum lies between the two.

mod certificate;
mod edge;
mod mechanism;
mod program;
mod size;
mod solver;

pub use mechanism::OptimalMechanism;
pub use size::Size;
pub use solver::Account;

use program::Program;

use crate::mechanism::Refusal;
use crate::posterior::model::Counts;
use crate::posterior::setting::Setting;
use crate::posterior::simplex::list_compositions;

/// Whose error is minimised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// The mean over data sets, weighted by the prior's predictive law.
    Bayes,
    /// The largest over data sets.
    Minimax,
}

/// Which outputs may be released.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReleaseSet {
    /// Counts with the same total as the data: the candidates R.
    #[default]
    Same,
    /// Counts with any total up to that of the data.
    Below,
}

impl ReleaseSet {
    /// Every set.
    pub const ALL: &[Self] = &[Self::Same, Self::Below];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Below => "below",
        }
    }

    /// The outputs for n records in k categories.
    fn outputs(self, n: u64, k: usize) -> Vec<Counts> {
        match self {
            Self::Same => list_compositions(n, k),
            Self::Below => {
                // What is missing from n is one more category.
                let mut all = list_compositions(n, k + 1);
                all.iter_mut().for_each(|counts| counts.truncate(k));
                all
            }
        }
    }
}

/// Why there is no optimum to report.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OptimumError {
    /// The question makes no sense.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The solver could not start.
    #[error("the solver cannot be used: {0}")]
    Solver(String),
    /// The solver's answer is worth too little.
    #[error(
        "the solver's answer ({status}) is worth too little: the optimum is only known to lie between \
         {lower} and {upper}"
    )]
    Loose {
        /// A lower bound on the optimum.
        lower: f64,
        /// An upper bound.
        upper: f64,
        /// How the solver ended.
        status: String,
    },
}

/// The optimum, with what vouches for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Optimum {
    /// The least error: the solver's value, within the bounds.
    pub value: f64,
    /// No private mechanism has a smaller error.
    pub lower: f64,
    /// The error of the mechanism below.
    pub upper: f64,
    /// A private mechanism with nearly the least error.
    pub mechanism: OptimalMechanism,
    /// What the solver says; `None` where a formula gives the answer.
    pub account: Option<Account>,
}

impl Optimum {
    fn new(bounds: (f64, f64), mechanism: OptimalMechanism, account: Option<Account>) -> Self {
        let (lower, upper) = (bounds.0.clamp(0.0, bounds.1), bounds.1);
        let value = account.as_ref().map_or(upper, |account| account.primal);
        Self { value: value.clamp(lower, upper), lower, upper, mechanism, account }
    }
}

impl Optimum {
    /// `error` as a multiple of the optimum, where that is known well enough to say.
    #[must_use]
    pub fn multiple(&self, error: f64) -> Option<f64> {
        let known = self.upper - self.lower <= 1e-3 * self.lower;
        (known && self.value > 0.0).then(|| error / self.value)
    }
}

/// The widest interval that is reported as an optimum. Mostly it is narrower than 1e-9; with an ε near
/// 0, where the data hardly matter, it can be wider.
const WIDEST: f64 = 1e-5;

/// The least error of any private mechanism at the prior, distance, ε and number of records of
/// `template`, whose counts do not matter otherwise.
///
/// Time and memory grow fast with n and k: see [`Size`].
pub fn solve(template: &Setting, goal: Goal, set: ReleaseSet) -> Result<Optimum, OptimumError> {
    solve_with(template, goal, set, true)
}

/// As [`solve`], and without `symmetry` blind to categories that can be exchanged: slower, with the
/// same result.
pub fn solve_with(
    template: &Setting,
    goal: Goal,
    set: ReleaseSet,
    symmetry: bool,
) -> Result<Optimum, OptimumError> {
    let prior = template.posterior.prior();
    if let Some(cause) = template.distance.refuses_open_totals(prior)
        && set == ReleaseSet::Below
    {
        let remedy = "use a prior whose parameters sum to more than 1, another distance, or the \
                      release set `same`";
        return Err(Refusal { cause, remedy: remedy.to_owned() }.into());
    }
    if let Some(unfit) = template.distance.refuses_scores(&template.posterior) {
        return Err(Refusal { cause: unfit.cause, remedy: unfit.remedy }.into());
    }
    if let Some(optimum) = edge::optimum(template, goal, set) {
        return Ok(optimum);
    }
    let program = Program::new(template, set, symmetry);
    let answer = solver::solve(&program, goal)?;
    let repaired = certificate::repair(&program, &answer);
    let upper = certificate::upper_bound(&program, &repaired, goal);
    // Errors are not negative, whatever the prices say.
    let lower = certificate::lower_bound(&program, &answer).max(0.0);
    let account = answer.account;
    // A bound that is not a number is no bound.
    let width = upper - lower;
    if width.is_nan() || width > WIDEST {
        // With an ε near 0 the solver is at a loss, but the data hardly matter.
        let blind = (goal == Goal::Bayes).then(|| edge::without_data(template, set, WIDEST));
        let loose = OptimumError::Loose { lower, upper, status: account.status };
        return blind.flatten().ok_or(loose);
    }
    let mechanism = OptimalMechanism::unfold(program, &repaired);
    Ok(Optimum::new((lower, upper), mechanism, Some(account)))
}

#[cfg(test)]
mod tests;
