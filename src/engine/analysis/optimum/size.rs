//! The size of the linear program, predicted before it is made.

use super::{Goal, Question, columns, transport};
use crate::analysis::cost::{LONGEST, Work};
use crate::mechanism::law::{OutputSet, Outputs};
use crate::posterior::model::{Prior, approximate_compositions};
use crate::posterior::setting::Setting;

/// The bytes of memory that a usual machine has free.
const USUAL_MEMORY: f64 = 4e9;

/// Nanoseconds and bytes, measured on programs of 20 to 50 thousand unknowns with k = 2, 3 and 4:
/// for each unknown, row and the width of the front that eliminates them, and for each constraint,
/// in every iteration.
const NS_PER_FILL: f64 = 12.0;
const NS_PER_CONSTRAINT: f64 = 1_000.0;
const BYTES_PER_FILL: f64 = 8.0;
const BYTES_PER_CONSTRAINT: f64 = 700.0;
/// Iterations of such programs, some of which take three times as many.
const ITERATIONS: f64 = 10.0;

/// Programs that take longer than this are solved by column generation, where it is possible.
const MOMENT: f64 = 0.5;
/// A program that takes longer than this is not solved if flows are quicker, in seconds.
const LONG: f64 = 60.0;
/// Column generation: nanoseconds for each error, for each output and edge of the graph of data sets in
/// a round, for each row and each entry of the inverse or of the columns in a pivot, for each
/// probability at the end; rounds at ε = 1. Measured with k = 3 and 4, up to 5 456 data sets, and ε from
/// 0.1 to 2.
const NS_PER_ERROR: f64 = 100.0;
const NS_PER_FLOW: f64 = 22.0;
const NS_PER_PIVOT: f64 = 1.7;
const NS_PER_PROBABILITY: f64 = 60.0;
const ROUNDS: f64 = 7.0;

/// How a question is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// By the whole program.
    Whole,
    /// By column generation.
    Columns,
    /// By flows, which may leave a gap.
    Flows,
}

/// A prediction of the program's size, good to a factor of two or so.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    /// Orbits of pairs (x, r), with slacks if there is a δ; columns in column generation.
    pub unknowns: f64,
    /// Constraints.
    pub constraints: f64,
    /// What solving it once takes.
    pub work: Work,
}

impl Size {
    /// The size of the program at the prior and number of records of `template`, as it will be solved.
    pub fn new(template: &Setting, question: Question) -> Self {
        Self::at(template, question, template.posterior.n())
    }

    /// The same with another number of records.
    pub fn at(template: &Setting, question: Question, n: u64) -> Self {
        Self::way(template, question, n).1
    }

    /// How a question is answered, and what that takes. This depends on forecasts alone, not on the machine.
    pub(super) fn way(template: &Setting, question: Question, n: u64) -> (Way, Self) {
        let whole = Self::of_whole(template, question, n);
        let columns = match question {
            Question { goal: Goal::Bayes, set, delta: None } if whole.work.cpu_seconds > MOMENT => {
                Self::of_columns(template, set, n)
            }
            _ => return (Way::Whole, whole),
        };
        let is_possible = match question.set {
            OutputSet::Simplex | OutputSet::Below => {
                columns::is_possible(template.epsilon.get(), n)
            }
            OutputSet::Restored | OutputSet::Open => false,
        };
        let by_columns = |patience: f64| {
            is_possible
                && columns.work.cpu_seconds <= patience
                && columns.work.bytes() <= USUAL_MEMORY
        };
        // Flows are for outputs of the same total.
        if question.set != OutputSet::Simplex {
            return match by_columns(whole.work.cpu_seconds) || !whole.fits() && by_columns(LONGEST)
            {
                true => (Way::Columns, columns),
                false => (Way::Whole, whole),
            };
        }
        let flows = Self::of_flows(template, n);
        let patience = LONG.max(flows.work.cpu_seconds);
        if by_columns(patience) {
            return (Way::Columns, columns);
        }
        // A program that is larger than it takes long.
        match whole.work.cpu_seconds <= patience && whole.fits() {
            true => (Way::Whole, whole),
            false => (Way::Flows, flows),
        }
    }

    /// This program and then another one.
    pub fn and(self, other: Self) -> Self {
        let mut work = self.work;
        work.add(other.work);
        Self {
            unknowns: self.unknowns.max(other.unknowns),
            constraints: self.constraints.max(other.constraints),
            work,
        }
    }

    /// Whether a usual machine can do it in a day. (What is solved must not depend on the machine.)
    pub(super) fn fits(&self) -> bool {
        self.work.cpu_seconds <= LONGEST && self.work.bytes() <= USUAL_MEMORY
    }

    /// The size of the whole program.
    pub(super) fn of_whole(template: &Setting, question: Question, n: u64) -> Self {
        let prior = template.posterior.prior();
        let k = prior.k();
        let inputs = approximate_compositions(n, k);
        let outputs = Outputs::new(question.set, n, k).approximate_len();
        let order = order(prior);
        let rows = (inputs / order).max(1.0);
        let mut unknowns = (inputs * outputs / order).max(outputs / order).max(1.0);
        let (kf, nf) = (k as f64, n as f64);
        let pairs = kf * (kf - 1.0) * nf / (nf + kf - 1.0).max(1.0);
        let mut constraints = rows + unknowns * pairs;
        // Data sets are points of a simplex of k − 1 dimensions; fronts have one dimension less.
        let mut front = (0.4 * libm::pow(rows, (kf - 2.0) / (kf - 1.0))).max(1.0);
        let mut fill = unknowns * rows;
        if question.delta.is_some() {
            // A slack for every step, no negative number, and a budget for every pair of data sets.
            // It also takes twice as many iterations.
            fill *= 2.0 * (1.0 + pairs);
            front *= 1.0 + pairs;
            constraints += unknowns * (1.0 + pairs) + rows * pairs;
            unknowns *= 1.0 + pairs;
        }
        // With more outputs than data sets it takes more iterations, and each takes longer, as measured.
        let iterations = ITERATIONS * if outputs > inputs { 5.0 } else { 1.0 };
        let ns = iterations * (NS_PER_FILL * fill * front + NS_PER_CONSTRAINT * constraints);
        let bytes =
            BYTES_PER_FILL * fill + BYTES_PER_CONSTRAINT * constraints + 12.0 * inputs * outputs;
        Self {
            unknowns,
            constraints,
            work: Work {
                outputs: unknowns,
                passing: bytes,
                cpu_seconds: 1e-9 * ns,
                ..Work::default()
            },
        }
    }

    /// The size of a bound by flows: there is no program.
    fn of_flows(template: &Setting, n: u64) -> Self {
        let work = transport::work(template, n, true);
        Self { unknowns: 0.0, constraints: work.outputs, work }
    }

    /// The size of column generation: some columns for every orbit of data sets.
    fn of_columns(template: &Setting, set: OutputSet, n: u64) -> Self {
        let prior = template.posterior.prior();
        let inputs = approximate_compositions(n, prior.k());
        let outputs = Outputs::new(set, n, prior.k()).approximate_len();
        let rows = (inputs / order(prior)).max(1.0);
        let priced = (outputs / order(prior)).max(1.0);
        let (kf, nf) = (prior.k() as f64, n as f64);
        let edges = inputs * kf * (kf - 1.0) * nf / (nf + kf - 1.0).max(1.0);
        // The larger ε, the nearer are the first columns to the best ones.
        let stretch = (1.0 / template.epsilon.get()).clamp(0.5, 20.0);
        let rounds = ROUNDS * stretch;
        let columns = rows * (1.0 + 1.5 * stretch).min(8.0);
        let freedom = (kf - 2.0).max(1.0);
        // Where categories differ, the first columns are further from the best ones.
        let distinct = match prior.k() {
            2 => 1.0,
            k => {
                let groups = prior.exchangeable();
                (k + groups.len() - groups.iter().map(Vec::len).sum::<usize>()) as f64
            }
        };
        let odd = distinct * distinct * freedom * freedom;
        // The first columns of two categories, remapped geometric noise, are nearly the best ones unless ε
        // is large, as measured.
        let few = if prior.k() == 2 && template.epsilon.get() < 1.0 { 0.01 } else { 1.0 };
        let pivots = few * rows * (stretch * stretch).max(1.0) * freedom * freedom * freedom;
        let ns = NS_PER_ERROR * inputs * priced
            + NS_PER_FLOW * odd * rounds * stretch.max(1.0) * priced * edges
            + NS_PER_PIVOT * pivots * rows * (rows + columns)
            + NS_PER_PROBABILITY * inputs * outputs;
        // The errors, the inverse and its matrix, the columns; the mechanism by columns and by rows.
        let bytes = 8.0 * inputs * priced
            + 16.0 * rows * rows
            + columns * (8.0 * rows + 2.0 * inputs)
            + 16.0 * inputs * outputs;
        Self {
            unknowns: columns,
            constraints: rows,
            work: Work {
                outputs: columns,
                passing: bytes,
                cpu_seconds: 1e-9 * ns,
                ..Work::default()
            },
        }
    }
}

/// m!
pub(super) fn factorial(m: usize) -> f64 {
    (1..=m).map(|i| i as f64).product()
}

/// The number of permutations that leave the program unchanged.
pub(super) fn order(prior: &Prior) -> f64 {
    prior.exchangeable().iter().map(|group| factorial(group.len())).product()
}
