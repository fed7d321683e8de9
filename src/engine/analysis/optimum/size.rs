//! How large the linear program is, counted before it is made, and which theorem answers a question.

use super::{Goal, Method, Question, columns, transport};
use crate::analysis::size::{LARGE_BUDGET, Size};
use crate::mechanism::law::{OutputSet, Outputs};
use crate::orbits::orders;
use crate::posterior::model::approximate_compositions;
use crate::posterior::setting::Setting;

/// The bytes of memory that a usual machine has free. What is solved must not depend on the machine.
const USUAL_MEMORY: f64 = 4e9;

/// Programs with more constraints are solved by column generation, where it is possible; or with a fifth of them, if
/// outputs have any total, since the solver then takes so many times as many iterations. What takes longer than
/// [`LARGE_BUDGET`] is not solved if flows answer.
const MOST_CONSTRAINTS: f64 = 3e4;
const MORE_OUTPUTS: f64 = 5.0;

/// How large a program is, to a factor of two or so.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProgramSize {
    /// Orbits of pairs (x, r), with slacks if there is a δ; columns in column generation; none with flows.
    pub unknowns: f64,
    /// Constraints; with flows, outputs.
    pub constraints: f64,
    /// What solving it takes as long as, and needs.
    pub size: Size,
}

impl ProgramSize {
    /// The program at the prior and number of records of `setting`, as it will be solved.
    pub fn new(setting: &Setting, question: Question) -> Self {
        Self::way(setting, question).1
    }

    /// How a question is answered, and how large that is.
    pub(super) fn way(setting: &Setting, question: Question) -> (Method, Self) {
        let shape = Shape::new(setting, question.set);
        let whole = shape.whole(question.delta.is_some());
        let is_small = whole.constraints * shape.iterations() <= MOST_CONSTRAINTS;
        if question.goal == Goal::Minimax || question.delta.is_some() || is_small {
            return (Method::Program, whole);
        }
        let columns = shape.columns(setting);
        // Flows are for outputs of the same total.
        let has_flows = question.set == OutputSet::Simplex;
        let most = match has_flows {
            true => LARGE_BUDGET,
            false if whole.fits() => whole.size.outputs,
            false => f64::INFINITY,
        };
        let is_possible = columns::is_possible(setting) && columns.fits();
        if is_possible && columns.size.outputs <= most {
            return (Method::Columns, columns);
        }
        if !has_flows || whole.size.outputs <= LARGE_BUDGET && whole.fits() {
            return (Method::Program, whole);
        }
        let size = transport::size(setting, true);
        (Method::Flows, Self { unknowns: 0.0, constraints: shape.rows, size })
    }

    /// This program and then another one.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        Self {
            unknowns: self.unknowns.max(next.unknowns),
            constraints: self.constraints.max(next.constraints),
            size: self.size.then(next.size),
        }
    }

    /// Whether it fits into the memory of a usual machine.
    pub(super) fn fits(&self) -> bool {
        self.size.bytes <= USUAL_MEMORY
    }
}

/// What there is of a program.
pub(super) struct Shape {
    /// Categories.
    k: usize,
    /// Data sets.
    inputs: f64,
    outputs: f64,
    /// Permutations of categories that leave the program unchanged.
    order: f64,
    /// Orbits of data sets.
    pub rows: f64,
    /// The mean number of neighbours of a data set.
    neighbours: f64,
}

impl Shape {
    pub fn new(setting: &Setting, set: OutputSet) -> Self {
        let (prior, n, k) = (&setting.prior, setting.n, setting.k());
        let inputs = approximate_compositions(n, k);
        let order = orders(&prior.exchangeable());
        let pairs = (k * (k - 1)) as f64;
        Self {
            k,
            inputs,
            outputs: Outputs::new(set, n, k).approximate_len(),
            order,
            rows: (inputs / order).max(1.0),
            neighbours: pairs * n as f64 / (n as f64 + k as f64 - 1.0),
        }
    }

    /// How many times as many iterations the solver takes as with outputs of the same total.
    fn iterations(&self) -> f64 {
        if self.outputs > self.inputs { MORE_OUTPUTS } else { 1.0 }
    }

    pub fn whole(&self, has_delta: bool) -> ProgramSize {
        let mut unknowns = (self.inputs.max(1.0) * self.outputs / self.order).max(1.0);
        let mut constraints = self.rows + unknowns * self.neighbours;
        let mut filled = unknowns * self.rows;
        if has_delta {
            // A slack for every step, no negative number, and a budget for every pair of data sets.
            let slacks = 1.0 + self.neighbours;
            constraints += unknowns * slacks + self.rows * self.neighbours;
            unknowns *= slacks;
            filled *= slacks * slacks;
        }
        // Data sets are points of a simplex of k − 1 dimensions; what is eliminated together has one dimension less.
        let front = libm::pow(self.rows, (self.k as f64 - 2.0) / (self.k as f64 - 1.0));
        let size = Size {
            outputs: self.iterations() * (5.0 * filled * front + 1e3 * constraints),
            bytes: 8.0 * filled + 700.0 * constraints + 12.0 * self.inputs * self.outputs,
        };
        ProgramSize { unknowns, constraints, size }
    }

    /// Column generation: some columns for every orbit of data sets. The first ones are the nearer to the best ones,
    /// the larger ε is and the more categories are alike; those of two categories are nearly the best ones.
    fn columns(&self, setting: &Setting) -> ProgramSize {
        let groups = setting.prior.exchangeable();
        let alike: usize = groups.iter().map(|group| group.len() - 1).sum();
        let distinct = if self.k == 2 { 1.0 } else { (self.k - alike) as f64 };
        let freedom = (self.k as f64 - 2.0).max(1.0);
        let stretch = freedom * (1.0 / setting.epsilon.get()).clamp(1.0, 20.0);
        let pivots = if self.k == 2 { 1.0 } else { stretch * stretch * freedom };
        let rounds = 16.0 * (distinct * stretch) * (distinct * stretch);
        let edges = self.inputs * self.neighbours;
        let cubed = self.rows * self.rows * self.rows;
        let size = Size {
            outputs: rounds * edges * self.outputs / self.order + pivots * cubed,
            // The errors, the columns and the inverse; the mechanism by columns and by rows.
            bytes: 8.0 * self.inputs * (self.outputs / self.order + 2.0 * self.outputs)
                + (80.0 * self.rows + 16.0 * self.inputs) * self.rows,
        };
        ProgramSize { unknowns: 2.5 * self.rows, constraints: self.rows, size }
    }
}
