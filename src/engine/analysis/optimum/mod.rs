//! The least expected error that any private mechanism can have.
//!
//! For given prior, number of records n and ε, a mechanism is a matrix P(r|x): one row for each data
//! set, one column for each output. Privacy, P(r|x) <= e^ε P(r|x') for adjacent x and x', and the
//! expected error are linear in it, so the best mechanism solves a linear program.
//!
//! A small program is solved as a whole by an interior-point method, but the reported bounds do not rest
//! on the solver. Its probabilities are repaired until they are a private mechanism, whose error is an
//! upper bound. Its dual variables are repaired until they are feasible, and their value is a lower
//! bound. The optimum lies between the two. A large program is solved by column generation, with bounds
//! of the same kind (see `columns`). No program is needed where flows prove that the tight mechanism is
//! optimal. Where a program would take too long, flows give a lower bound, and the error of the tight
//! mechanism is an upper one (see `transport`).
//!
//! With a δ the constraints are P(r|x) <= e^ε P(r|x') + s with slacks s >= 0, whose sum over r is at
//! most δ for every x and x'. This program is always solved as a whole.

mod certificate;
mod columns;
mod edge;
mod mechanism;
mod program;
mod search;
mod size;
mod slack;
mod solver;
mod transport;

pub use columns::Bracket;
pub use mechanism::OptimalMechanism;
pub use size::ProgramSize;
use size::Shape;
pub use solver::Account;
pub use transport::size as size_of_flows;
pub use transport::{FlowBound, FlowCertificate, MOST_CERTIFIED};
pub use transport::{certificate as certificate_by_flows, check as check_by_flows};

use program::Program;
pub(crate) use program::full_field;

use crate::mechanism::law::OutputSet;
use crate::mechanism::law::tight::Tight;
use crate::parallel;
use crate::posterior::privacy::Delta;
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

/// Whose error is minimised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    /// The mean over data sets, under the prior predictive distribution.
    Bayes,
    /// The largest over data sets.
    Minimax,
}

/// Which optimum is wanted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Question {
    /// Whose error is minimised.
    pub goal: Goal,
    /// Which outputs may be released.
    pub set: OutputSet,
    /// δ, if the release need only be (ε, δ)-private.
    pub delta: Option<Delta>,
}

impl Question {
    /// The optimum of ε-private releases.
    pub fn pure(goal: Goal, set: OutputSet) -> Self {
        Self { goal, set, delta: None }
    }
}

/// Why there is no optimum to report.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OptimumError {
    /// The setting does not allow the question.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The solver could not start.
    #[error("the solver cannot be used: {0}")]
    Solver(String),
    /// The solver's answer is not accurate enough.
    #[error(
        "the solver's answer ({status}) is not accurate enough: the optimum is only known to lie \
         between {lower} and {upper}"
    )]
    Loose {
        /// A lower bound on the optimum.
        lower: f64,
        upper: f64,
        /// How the solver ended.
        status: String,
    },
}

/// How an optimum was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Formula,
    /// Flows: they prove that the tight mechanism is optimal, or how far from it it is at most.
    Flows,
    /// The whole linear program.
    Program,
    Columns,
}

impl Method {
    /// In words, after "by".
    pub fn words(self) -> &'static str {
        match self {
            Self::Formula => "a formula",
            Self::Flows => "flows",
            Self::Program => "the whole program",
            Self::Columns => "columns",
        }
    }
}

/// The optimum, between certified bounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Optimum {
    /// The solver's value, or the error of the mechanism that a formula or flows speak of, within the bounds.
    pub value: f64,
    /// No private mechanism has a smaller error.
    pub lower: f64,
    /// The error of a private mechanism: the optimum is at most this. Infinite if none was computed.
    pub upper: f64,
    /// That mechanism, if it is small enough to be written down.
    pub mechanism: Option<OptimalMechanism>,
    /// How it was found.
    pub method: Method,
    /// What the solver says; `None` where no program was solved.
    pub account: Option<Account>,
}

/// An optimum is known well enough if its bounds differ by this part at most.
const KNOWN: f64 = 1e-3;

impl Optimum {
    /// The least mean error over all data sets that an ε-private mechanism with candidates as outputs can
    /// have.
    pub fn of(setting: &Setting) -> Result<Self, OptimumError> {
        answer(setting, Question::pure(Goal::Bayes, OutputSet::Simplex), &|_| ())
    }

    fn new(
        bounds: (f64, f64),
        mechanism: Option<OptimalMechanism>,
        (method, account): (Method, Option<Account>),
    ) -> Self {
        let (lower, upper) = (bounds.0.clamp(0.0, bounds.1), bounds.1);
        let value = account.as_ref().map_or(upper, |account| account.primal);
        Self { value: value.clamp(lower, upper), lower, upper, mechanism, method, account }
    }

    /// The least error, if it is known well enough to say.
    pub fn known(&self) -> Option<f64> {
        // What a program has found is narrow, and may be near 0.
        let is_narrow = self.upper - self.lower <= (KNOWN * self.lower).max(WIDEST);
        is_narrow.then_some(self.value)
    }

    /// `error` as a multiple of the optimum, where that is known well enough to say. Within the bounds it is that of
    /// an optimal mechanism: only what is below all of them, and so outside of the release set, has less than 1.
    pub fn multiple(&self, error: f64) -> Option<f64> {
        let known = self.upper - self.lower <= KNOWN * self.lower;
        let least = if error >= self.lower { 1.0 } else { 0.0 };
        (known && self.value > 0.0).then(|| (error / self.value).max(least))
    }

    /// The largest multiple of the optimum that `error` can be.
    pub fn largest_multiple(&self, error: f64) -> Option<f64> {
        (self.lower > 0.0 && error.is_finite()).then(|| error / self.lower)
    }
}

/// The widest interval that is reported as an optimum. Most intervals are narrower than 1e-9; with an ε
/// near 0 they can be wider.
const WIDEST: f64 = 1e-5;

/// The least error of any private mechanism at the prior, distance, ε and number of records of `setting`. `report` is
/// told what is known after each round of a program that is solved in rounds.
///
/// Time and memory grow fast with n and k: see [`ProgramSize`].
pub fn answer(
    setting: &Setting,
    question: Question,
    report: &dyn Fn(Bracket),
) -> Result<Optimum, OptimumError> {
    refuse(setting, question.set)?;
    if transport::is_small(setting)
        && let Some(optimum) = edge::optimum(setting, question)
    {
        return Ok(optimum);
    }
    if may_be_tight(setting, question) {
        let _part = parallel::part(CHECKED);
        if let Some(optimum) = transport::optimum(setting) {
            return Ok(optimum);
        }
    }
    let columns = match ProgramSize::way(setting, question).0 {
        Method::Columns => columns::solve(setting, question.set, report),
        Method::Flows => return transport::bracket(setting),
        _ => return solve_whole(setting, question),
    };
    match columns {
        // Columns may take too many rounds where ε is small and no two categories are alike.
        Err(OptimumError::Loose { .. })
            if Shape::new(setting, question.set).whole(false).fits() =>
        {
            solve_whole(setting, question)
        }
        Err(OptimumError::Loose { .. }) if question.set == OutputSet::Simplex => {
            transport::bracket(setting)
        }
        found => found,
    }
}

/// The part of the time in which flows are tried, if a program is solved after them.
const CHECKED: f64 = 0.1;

/// Whether flows may prove that the tight mechanism is optimal, where it can be written down. Few records in very many
/// categories make small programs.
fn may_be_tight(setting: &Setting, question: Question) -> bool {
    let k = setting.k();
    question == Question::pure(Goal::Bayes, OutputSet::Simplex)
        && (3..=MOST_BY_CHECK).contains(&k)
        && transport::is_small(setting)
        && !Tight::may_be_clipped(k, setting.n, setting.epsilon.get())
        && columns::is_possible(setting)
}

/// With more categories than this, programs that are small enough to be solved are solved as soon as flows are found.
const MOST_BY_CHECK: usize = 7;

/// Refuses a distance that two posteriors may not have.
fn refuse(setting: &Setting, set: OutputSet) -> Result<(), Refusal> {
    let prior = &setting.prior;
    if let Some(cause) = setting.distance.refuses_open_totals(prior)
        && set != OutputSet::Simplex
    {
        let remedy = "use a prior whose parameters sum to more than 1, another distance, or the \
                      release set `same`";
        return Err(Refusal::new(cause, remedy));
    }
    setting.distance.refuses_scores(&setting.prior, setting.n).map_or(Ok(()), Err)
}

/// The optimum by the whole program.
fn solve_whole(setting: &Setting, question: Question) -> Result<Optimum, OptimumError> {
    let Question { goal, set, delta } = question;
    let program = Program::new(setting, set, delta.map(Delta::get));
    let answer = solver::solve(&program, goal)?;
    let repaired = certificate::repair(&program, &answer);
    let upper = certificate::upper_bound(&program, &repaired, goal);
    // Errors are not negative, whatever the dual variables say.
    let lower = certificate::lower_bound(&program, &answer).max(0.0);
    let account = answer.account;
    // A bound that is not a number is no bound.
    let width = upper - lower;
    if width.is_nan() || width > WIDEST {
        // With an ε near 0 the solver fails, but then a single output is nearly optimal.
        let blind = goal == Goal::Bayes && delta.is_none();
        let constant = blind.then(|| edge::without_data(setting, set, WIDEST));
        let loose = OptimumError::Loose { lower, upper, status: account.status };
        return constant.flatten().ok_or(loose);
    }
    let mechanism = OptimalMechanism::unfold(program, &repaired);
    Ok(Optimum::new((lower, upper), Some(mechanism), (Method::Program, Some(account))))
}

#[cfg(test)]
mod tests;
