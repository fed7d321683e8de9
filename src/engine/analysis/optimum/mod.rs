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
//!
//! Under a flat prior geometric noise is optimal:
//!
//! ```
//! use dpbi_engine::analysis::optimum::{self, Goal};
//! use dpbi_engine::analysis::predictive_error::over_all_data;
//! use dpbi_engine::mechanism::law::OutputSet;
//! use dpbi_engine::mechanism::{self, Variant};
//! use dpbi_engine::posterior::distance::HELLINGER;
//! use dpbi_engine::posterior::metric::Metric;
//! use dpbi_engine::posterior::model::Prior;
//! use dpbi_engine::posterior::privacy::Epsilon;
//! use dpbi_engine::posterior::setting::Setting;
//!
//! let setting = Setting::new(Prior::new(vec![1.0, 1.0])?, vec![10, 0], Epsilon::new(1.0)?);
//! let best = optimum::solve(&setting, Goal::Bayes, OutputSet::Simplex)?;
//! let geometric = Variant::plain(mechanism::find("geometric").ok_or("no such mechanism")?);
//! let errors = over_all_data(&geometric, &setting, Metric::from_distance(HELLINGER))?;
//! let errors = errors.ok_or("a law that is too large")?;
//! assert!(best.lower <= errors.mean && errors.mean < best.upper + 1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
pub use size::Size;
use size::Way;
pub use solver::Account;
pub use transport::{FlowBound, FlowCertificate, MOST_CERTIFIED};

use program::Program;

use crate::analysis::cost::Work;
use crate::mechanism::law::OutputSet;
use crate::mechanism::law::tight::Tight;
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
        /// An upper bound.
        upper: f64,
        /// How the solver ended.
        status: String,
    },
}

/// How an optimum was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// A formula.
    Formula,
    /// Flows: they prove that the tight mechanism is optimal, or how far from it it is at most.
    Flows,
    /// The whole linear program.
    Program,
    /// Column generation.
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

/// The least error of any ε-private mechanism at the prior, distance, ε and number of records of
/// `template`, whose counts and δ do not matter otherwise.
///
/// Time and memory grow fast with n and k: see [`Size`].
pub fn solve(template: &Setting, goal: Goal, set: OutputSet) -> Result<Optimum, OptimumError> {
    answer(template, Question::pure(goal, set), &|_| ())
}

/// As [`solve`], for any question. `report` is told what is known after each round of a program that is
/// solved in rounds.
pub fn answer(
    template: &Setting,
    question: Question,
    report: &dyn Fn(Bracket),
) -> Result<Optimum, OptimumError> {
    if let Some(optimum) = by_check(template, question)? {
        return Ok(optimum);
    }
    let (way, _) = Size::way(template, question, template.posterior.n());
    if way == Way::Whole {
        return solve_whole(template, question, true);
    }
    if let Some(optimum) = without_program(template, question)? {
        return Ok(optimum);
    }
    if way == Way::Flows {
        return transport::bracket(template);
    }
    match columns::solve(template, question.set, report) {
        // Columns may take too many rounds where ε is small and no two categories are alike.
        Err(loose @ OptimumError::Loose { .. }) => {
            match Size::of_whole(template, question, template.posterior.n()) {
                whole if whole.fits() => solve_whole(template, question, true),
                _ if question.set == OutputSet::Simplex => transport::bracket(template),
                _ => Err(loose),
            }
        }
        found => found,
    }
}

/// The optimum if flows prove that the tight mechanism reaches it, where they take less time than the whole program
/// and the mechanism can be written down.
fn by_check(template: &Setting, question: Question) -> Result<Option<Optimum>, OptimumError> {
    let (n, k) = (template.posterior.n(), template.posterior.k());
    let whole = Size::of_whole(template, question, n);
    let is_possible = question == Question::pure(Goal::Bayes, OutputSet::Simplex)
        && k > 2
        && transport::is_small(n, k)
        && !Tight::is_likely_clipped(k, n, template.epsilon.get())
        && work_of_flows(template).cpu_seconds < whole.work.cpu_seconds
        && columns::is_possible(template.epsilon.get(), n);
    if !is_possible {
        return Ok(None);
    }
    let without = without_program(template, question)?;
    Ok(without.or_else(|| transport::optimum(template)))
}

/// A lower bound on the optimum of ε-private releases whose outputs are the data sets, for any number of records:
/// see `transport`.
pub fn bound_by_flows(template: &Setting) -> Result<FlowBound, OptimumError> {
    admit_flows(template)?;
    transport::bound(template)
}

/// Whether flows prove the tight mechanism optimal, and else how much they lack: see `transport`.
pub fn check_by_flows(template: &Setting) -> Result<FlowBound, OptimumError> {
    admit_flows(template)?;
    transport::check(template)
}

/// The bound by flows with all that proves it, for few data sets.
pub fn certificate_by_flows(template: &Setting) -> Result<FlowCertificate, OptimumError> {
    admit_flows(template)?;
    transport::certificate(template)
}

/// Refuses a distance that two posteriors may not have.
fn admit_flows(template: &Setting) -> Result<(), OptimumError> {
    let refusal = template.distance.refuses_scores(&template.posterior);
    refusal.map_or(Ok(()), |refusal| Err(refusal.into()))
}

/// What [`check_by_flows`] takes.
pub fn work_of_flows(template: &Setting) -> Work {
    transport::work(template, template.posterior.n(), false)
}

/// The answer if a formula gives it.
fn without_program(
    template: &Setting,
    question: Question,
) -> Result<Option<Optimum>, OptimumError> {
    let prior = template.posterior.prior();
    if let Some(cause) = template.distance.refuses_open_totals(prior)
        && question.set != OutputSet::Simplex
    {
        let remedy = "use a prior whose parameters sum to more than 1, another distance, or the \
                      release set `same`";
        return Err(Refusal::new(cause, remedy).into());
    }
    if let Some(refusal) = template.distance.refuses_scores(&template.posterior) {
        return Err(refusal.into());
    }
    let is_small = transport::is_small(template.posterior.n(), template.posterior.k());
    Ok(if is_small { edge::optimum(template, question) } else { None })
}

/// The optimum by the whole program. Without `symmetry` categories that can be exchanged are not used to
/// make it smaller: slower, with the same result.
fn solve_whole(
    template: &Setting,
    question: Question,
    symmetry: bool,
) -> Result<Optimum, OptimumError> {
    if let Some(optimum) = without_program(template, question)? {
        return Ok(optimum);
    }
    let Question { goal, set, delta } = question;
    let program = Program::new(template, set, delta.map(Delta::get), symmetry);
    let answer = solver::solve(&program, goal)?;
    let repaired = match program.delta {
        None => certificate::repair(&program, &answer),
        Some(delta) => slack::repair(&program, &answer, delta),
    };
    let upper = certificate::upper_bound(&program, &repaired, goal);
    // Errors are not negative, whatever the dual variables say.
    let lower = certificate::lower_bound(&program, &answer).max(0.0);
    let account = answer.account;
    // A bound that is not a number is no bound.
    let width = upper - lower;
    if width.is_nan() || width > WIDEST {
        // With an ε near 0 the solver fails, but then a single output is nearly optimal.
        let blind = goal == Goal::Bayes && delta.is_none();
        let constant = blind.then(|| edge::without_data(template, set, WIDEST));
        let loose = OptimumError::Loose { lower, upper, status: account.status };
        return constant.flatten().ok_or(loose);
    }
    let mechanism = OptimalMechanism::unfold(program, &repaired);
    Ok(Optimum::new((lower, upper), Some(mechanism), (Method::Program, Some(account))))
}

#[cfg(test)]
mod tests;
