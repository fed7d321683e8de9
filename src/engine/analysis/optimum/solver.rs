//! The program in the form of the interior-point solver, and its answer in our units.

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultInfo, DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, ZeroConeT,
};

use super::program::Program;
use super::{Goal, OptimumError};
use crate::numeric::exp_accurate;
use crate::parallel;

/// What the solver found; nothing rests on it before it is repaired.
pub struct Answer {
    /// The probabilities, one for each unknown.
    pub probabilities: Vec<f64>,
    /// The weight of each row: its prior predictive probability, or its least favourable one.
    pub weights: Vec<f64>,
    /// The dual variable of each privacy constraint P(r|x) − e^ε P(r|x') <= 0.
    pub step_prices: Vec<f64>,
    /// With δ the slack of each privacy constraint, and the dual variable of each budget.
    pub slacks: Vec<f64>,
    pub budget_prices: Vec<f64>,
    /// The solver's own report.
    pub account: Account,
}

/// What the solver says about its own work.
#[derive(Clone, Debug, PartialEq)]
pub struct Account {
    /// The error of its solution.
    pub primal: f64,
    /// Its lower bound on the error.
    pub dual: f64,
    /// Its iterations, or rounds.
    pub iterations: u32,
    /// The unknowns it was given: one for each orbit of pairs (x, r), and with δ one for each slack. In
    /// column generation: the columns.
    pub unknowns: usize,
    /// The constraints it was given.
    pub constraints: usize,
    /// How it ended, in its own words.
    pub status: String,
}

/// The solver's tolerances. With smaller ones it mostly stalls. Nothing rests on them: the bounds are
/// certified afterwards.
const TOLERANCE: f64 = 1e-11;

/// P(r|x) falls like e^(−ε steps) or slower, and the solver works best with unknowns of similar size.
/// But scaling the unknowns makes the dual variables less accurate. With scales of at least e⁻³, both
/// are accurate to 1e-8 or much better for ε from 1e-3 to 20 and more.
const LARGEST_SCALING: f64 = 3.0;

/// Solves the program. Any end is accepted here; the certified bounds show how good the answer is.
pub fn solve(program: &Program, goal: Goal) -> Result<Answer, OptimumError> {
    let form = Form::new(program, goal);
    let (rows, constraints) = (program.rows.len(), form.bounds.len());
    let quadratic = CscMatrix::zeros((form.objective.len(), form.objective.len()));
    let (indices, unknowns, values) = form.entries.into_iter().collect();
    let matrix =
        CscMatrix::new_from_triplets(constraints, form.objective.len(), indices, unknowns, values);
    let cones = [ZeroConeT(rows), NonnegativeConeT(constraints - rows)];
    let mut solver =
        DefaultSolver::new(&quadratic, &form.objective, &matrix, &form.bounds, &cones, settings())
            .map_err(|error| OptimumError::Solver(error.to_string()))?;
    // An iteration is one elimination, which the solver does not divide. The gap falls by orders of magnitude.
    let _nearing = parallel::nearing();
    let mut first = f64::NAN;
    solver.set_termination_callback(move |info: &DefaultInfo<f64>| {
        parallel::checkpoint();
        first = if first > info.gap_rel { first } else { info.gap_rel };
        parallel::reached(parallel::fallen(first, info.gap_rel, TOLERANCE));
        false
    });
    solver.solve();

    let found = &solver.solution;
    let scaled = |values: &[f64]| values.iter().map(|z| z / form.scale).collect::<Vec<f64>>();
    let weights = match goal {
        Goal::Bayes => program.rows.iter().map(|row| row.weight).collect(),
        Goal::Minimax => scaled(&found.z[rows..2 * rows]),
    };
    let (first_step, steps) = (form.first_step, program.steps.len());
    let step_prices = scaled(&found.z[first_step..][..steps]);
    let delta = program.delta.unwrap_or(1.0);
    let unscaled = step_prices.iter().zip(&form.divisors).map(|(z, divisor)| z / divisor);
    Ok(Answer {
        probabilities: found.x.iter().zip(&form.units).map(|(x, unit)| x * unit).collect(),
        weights,
        step_prices: unscaled.collect(),
        slacks: found.x[form.first_slack..].iter().map(|share| share * delta).collect(),
        budget_prices: found.z[form.first_budget..]
            .iter()
            .map(|z| z / form.scale / delta)
            .collect(),
        account: Account {
            primal: found.obj_val / form.scale,
            dual: found.obj_val_dual / form.scale,
            iterations: found.iterations,
            unknowns: program.unknowns.len() + found.x[form.first_slack..].len(),
            constraints,
            status: format!("{:?}", found.status),
        },
    })
}

/// One thread and plain arithmetic: the same bytes on every machine.
fn settings() -> DefaultSettings<f64> {
    DefaultSettings {
        verbose: false,
        max_threads: 1,
        direct_solve_method: "qdldl".to_owned(),
        tol_gap_abs: TOLERANCE,
        tol_gap_rel: TOLERANCE,
        tol_feas: TOLERANCE,
        ..DefaultSettings::default()
    }
}

/// The program as the solver needs it: minimise objective · u with matrix · u + slack = bounds. The
/// normalisations of the rows come first and have slack 0; all others have slack >= 0.
#[derive(Default)]
struct Form {
    objective: Vec<f64>,
    /// The matrix: constraint, unknown, coefficient.
    entries: Vec<(usize, usize, f64)>,
    bounds: Vec<f64>,
    /// P(r|x) = unit · u.
    units: Vec<f64>,
    /// The first privacy constraint, and what each was divided by.
    first_step: usize,
    divisors: Vec<f64>,
    /// With δ the first slack among the unknowns, each a part of δ, and the first budget among the
    /// constraints.
    first_slack: usize,
    first_budget: usize,
    /// What the objective was multiplied by.
    scale: f64,
}

impl Form {
    fn new(program: &Program, goal: Goal) -> Self {
        let unit = |steps: f64| exp_accurate(-(program.epsilon * steps).min(LARGEST_SCALING));
        let units: Vec<f64> = program.unknowns.iter().map(|known| unit(known.steps)).collect();
        let mut form = Self {
            objective: vec![0.0; units.len()],
            bounds: vec![1.0; program.rows.len()],
            units,
            scale: 1.0,
            ..Self::default()
        };
        for (index, unknown) in program.unknowns.iter().enumerate() {
            form.entries.push((unknown.row, index, unknown.multiplicity * form.units[index]));
        }
        match goal {
            Goal::Bayes => form.minimise_mean(program),
            Goal::Minimax => form.minimise_largest(program),
        }
        form.keep_private(program);
        (form.first_slack, form.first_budget) = (form.objective.len(), form.bounds.len());
        if let Some(delta) = program.delta {
            form.allow_slack(program, delta);
        }
        form
    }

    /// The objective is the mean error; it is scaled to numbers of size 1.
    fn minimise_mean(&mut self, program: &Program) {
        for (index, unknown) in program.unknowns.iter().enumerate() {
            let weight = program.rows[unknown.row].weight * unknown.multiplicity;
            self.objective[index] = weight * unknown.error * self.units[index];
        }
        let largest = self.objective.iter().copied().fold(0.0, f64::max);
        if largest > 0.0 {
            self.scale = 1.0 / largest;
            self.objective.iter_mut().for_each(|cost| *cost *= self.scale);
        }
    }

    /// The objective is one more unknown, and no row's error is larger.
    fn minimise_largest(&mut self, program: &Program) {
        let rows = program.rows.len();
        for (index, unknown) in program.unknowns.iter().enumerate() {
            let error = unknown.multiplicity * unknown.error * self.units[index];
            self.entries.push((rows + unknown.row, index, error));
        }
        self.entries.extend((rows..2 * rows).map(|row| (row, self.objective.len(), -1.0)));
        self.objective.push(1.0);
        self.bounds.resize(2 * rows, 0.0);
    }

    /// P(r|x) <= e^ε P(r|x'), with coefficients of size 1. It follows that no probability is negative:
    /// P(r|x) <= e^ε P(r|x') <= e^2ε P(r|x).
    fn keep_private(&mut self, program: &Program) {
        let growth = exp_accurate(program.epsilon);
        self.first_step = self.bounds.len();
        for &(from, to) in &program.steps {
            let (here, there) = (self.units[from], growth * self.units[to]);
            let divisor = here.max(there);
            let row = self.bounds.len();
            if from == to {
                self.entries.push((row, from, (here - there) / divisor));
            } else {
                self.entries.push((row, from, here / divisor));
                self.entries.push((row, to, -there / divisor));
            }
            self.divisors.push(divisor);
            self.bounds.push(0.0);
        }
    }

    /// Every privacy constraint may be missed by a slack, and the slacks of each pair of data sets sum to
    /// at most δ. That probabilities are not negative no longer follows, so it is demanded.
    fn allow_slack(&mut self, program: &Program, delta: f64) {
        let first = self.first_slack;
        for (step, divisor) in self.divisors.iter().enumerate() {
            self.entries.push((self.first_step + step, first + step, -delta / divisor));
        }
        self.objective.resize(first + program.steps.len(), 0.0);
        for unknown in (0..program.unknowns.len()).chain(first..self.objective.len()) {
            self.entries.push((self.bounds.len(), unknown, -1.0));
            self.bounds.push(0.0);
        }
        self.first_budget = self.bounds.len();
        for budget in &program.budgets {
            let here = self.bounds.len();
            self.entries.extend(budget.iter().map(|&(step, count)| (here, first + step, count)));
            self.bounds.push(1.0);
        }
    }
}
