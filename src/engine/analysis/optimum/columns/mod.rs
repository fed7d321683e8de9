//! The optimum by column generation, for programs too large to be solved as a whole.
//!
//! A mechanism is a sum of columns, one or more for each output r: functions p of the data set with
//! p(x) <= e^ε p(x') for adjacent x and x'. The best mechanism needs only columns of the form
//! c e^(−ε f), with f in whole numbers. The program over a few of them is small (see `master.rs`). Its
//! prices tell which other columns would make it better (see `search.rs`): these are added, until none
//! is left. The first columns are those with f the distance to one data set; often few more are needed.
//!
//! The bounds do not rest on the simplex method, nor on the search. The columns in use are repaired
//! until they are a mechanism (see `repair.rs`). The flow that the search has found for every output is
//! a feasible solution of the dual, whose value is a lower bound.

mod master;
mod repair;
mod space;

use self::master::{Column, Master};
use self::repair::Repair;
use self::space::OrbitGraph;
use super::search::Search;
use super::{Account, Method, Optimum, OptimumError, WIDEST};
use crate::mechanism::law::OutputSet;
use crate::numeric::{exp_accurate, sum::sum};
use crate::parallel;
use crate::posterior::setting::Setting;

/// Bounds nearer than this are as good as equal.
const NEAR: f64 = 1e-10;
/// Rounds after which the bounds are reported as they are.
const MOST_ROUNDS: u32 = 400;
/// The largest ε n: p = e^(−ε f) and its reciprocal must not leave the range of a double.
const LARGEST_EXPONENT: f64 = 600.0;
/// What the best feasible prices count for, beside the prices of the program. These jump from one round
/// to the next, and a column that is best at prices in between is often more useful.
const DAMPING: f64 = 0.5;
/// A round that leaves more than this part of the gap was not good, and the next one is damped.
const GOOD: f64 = 0.25;
/// A column must be worth this much more than its cost, as a part of it.
const WORTHWHILE: f64 = 1e-13;
/// If there are more columns than this for each row of the program, those that are too dear are forgotten.
const MOST_COLUMNS: usize = 8;
/// A column is too dear if it costs more than it is worth by this part.
const DEAR: f64 = 0.02;
/// Outputs that are priced at a time.
const PIECE: usize = 256;

/// What is known after a round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bracket {
    /// The number of the round.
    pub round: u32,
    /// A lower bound on the optimum.
    pub lower: f64,
    pub upper: f64,
}

/// Whether numbers stay within the range of a double.
pub fn is_possible(setting: &Setting) -> bool {
    setting.epsilon.get() * setting.n as f64 <= LARGEST_EXPONENT
}

/// The least mean error at the prior, distance, ε and number of records of `setting`, with outputs of the same
/// total or also of smaller ones.
pub fn solve(
    setting: &Setting,
    set: OutputSet,
    report: &dyn Fn(Bracket),
) -> Result<Optimum, OptimumError> {
    let space = OrbitGraph::new(setting, set);
    let rows = space.orbits.len();
    let sizes = &space.orbits.sizes;
    let dependent = || OptimumError::Solver("the columns are dependent".to_owned());
    let dearest = 1e3 * space.errors.iter().flatten().copied().fold(0.0, f64::max);
    if !dearest.is_finite() {
        return Err(OptimumError::Solver("an error is infinite".to_owned()));
    }
    let first = {
        let _part = parallel::part(0.05);
        first_columns(&space)
    };
    let mut master = Master::new(first, dearest).ok_or_else(dependent)?;
    let mut bracket = Bracket { round: 0, lower: 0.0, upper: f64::INFINITY };
    // Feasible prices and their part in those of the next round.
    let mut feasible = vec![0.0; rows];
    let mut damping = 0.0;
    let (mut widest, mut nearing) = (f64::NAN, None);
    let repair = loop {
        bracket.round += 1;
        master.solve(20 * rows).ok_or_else(dependent)?;
        let repair = Repair::new(&space, &master);
        let gap = bracket.upper - bracket.lower;
        bracket.upper = bracket.upper.min(repair.error);
        let own = master.prices.iter().zip(sizes).map(|(price, size)| price / size);
        let damp = |(own, feasible): (f64, &f64)| damping * feasible + (1.0 - damping) * own;
        let prices: Vec<f64> = own.zip(&feasible).map(damp).collect();
        // The first round is measured; from then on the gap tells how far it is.
        let part = parallel::part(if nearing.is_none() { 0.2 } else { 0.0 });
        let (allowed, found) = price_all(&space, &master, &prices);
        drop(part);
        let lower = sum(allowed.iter().zip(sizes).map(|(price, size)| price * size));
        if lower > bracket.lower {
            bracket.lower = lower;
            feasible = allowed;
        }
        report(bracket);
        let left = bracket.upper - bracket.lower;
        nearing.get_or_insert_with(parallel::nearing);
        widest = if widest.is_nan() { left } else { widest };
        parallel::reached(parallel::fallen(widest, left, NEAR));
        let stuck = found.is_empty() && damping == 0.0;
        if left <= NEAR || stuck || bracket.round == MOST_ROUNDS {
            break repair;
        }
        let good = found.is_empty() || left <= GOOD * gap;
        damping = if good { 0.0 } else { DAMPING };
        if master.columns.len() + found.len() > MOST_COLUMNS * rows {
            master.forget(DEAR);
        }
        master.columns.extend(found);
    };
    let Bracket { round, lower, upper } = bracket;
    let rounds = if round == 1 { "round" } else { "rounds" };
    let status = format!("column generation, {round} {rounds}");
    // A bound that is not a number is no bound.
    let width = upper - lower;
    if width.is_nan() || width > WIDEST {
        return Err(OptimumError::Loose { lower, upper, status });
    }
    let account = Account {
        primal: master.objective(),
        dual: lower,
        iterations: round,
        unknowns: master.columns.len(),
        constraints: rows,
        status,
    };
    let upper = repair.error;
    let mechanism = repair.mechanism(space, &master);
    Ok(Optimum::new((lower, upper), Some(mechanism), (Method::Columns, Some(account))))
}

/// The prices that every output allows, and the columns that are worth more than their cost.
fn price_all(space: &OrbitGraph, master: &Master, prices: &[f64]) -> (Vec<f64>, Vec<Column>) {
    let outputs = space.output_orbits.len();
    let mut allowed = vec![f64::INFINITY; space.orbits.len()];
    let mut columns = Vec::new();
    let unfolded = space.orbits.unfold(prices);
    let one = |orbit: usize| {
        let home = space.home(orbit);
        let pairs = space.weights.iter().zip(&space.errors[orbit]);
        let costs: Vec<f64> = pairs.map(|(weight, error)| weight * error).collect();
        let from = (home, space.distances(home));
        let search = Search::run(&space.graph, from, space.epsilon, (&costs, &unfolded));
        let allowed = search.allowed(&costs);
        let output = space.output_orbits.firsts[orbit] as usize;
        let column = with_best_output(space, output, &search.f);
        let worthwhile = column.reduced_cost(&master.prices) < -WORTHWHILE * column.cost;
        (allowed, worthwhile.then_some(column))
    };
    for piece in parallel::steps(0..outputs.div_ceil(PIECE)) {
        let first = piece * PIECE;
        let piece: Vec<(Vec<f64>, Option<Column>)> =
            parallel::map_range(first..outputs.min(first + PIECE), one);
        for (prices, column) in piece {
            for (&orbit, price) in space.orbits.of.iter().zip(prices) {
                allowed[orbit as usize] = allowed[orbit as usize].min(price);
            }
            columns.extend(column);
        }
    }
    (allowed, columns)
}

/// The columns e^(−ε distance to c), for one c of every orbit, each with its best output.
fn first_columns(space: &OrbitGraph) -> Vec<Column> {
    let one = |&first: &u32| {
        let centre = first as usize;
        let output = space.output_orbits.places.of(&space.inputs[centre]);
        with_best_output(space, output, &space.distances(centre))
    };
    parallel::map(&space.orbits.firsts, one)
}

/// The column e^(−ε f), scaled to a largest value of 1, with an output of small cost: the one that is
/// reached from `start` by steps to the best neighbour. Its categories are permuted such that the output
/// represents its orbit.
fn with_best_output(space: &OrbitGraph, start: usize, f: &[i32]) -> Column {
    let least = f.iter().copied().min().unwrap_or(0);
    let p: Vec<f64> =
        f.iter().map(|f| exp_accurate(-space.epsilon * f64::from(f - least))).collect();
    let cost = |output: usize| {
        let errors = &space.errors[space.output_orbits.of[output] as usize];
        let places = space.to_representative(output).iter().zip(&p).zip(&space.weights);
        places.map(|((&x, p), weight)| weight * errors[x as usize] * p).sum::<f64>()
    };
    let (mut best, mut smallest) = (start, cost(start));
    loop {
        let near = space.output_graph.arcs_of(best).iter().map(|arc| arc.to as usize);
        let steps = near.map(|output| (output, cost(output)));
        match steps.min_by(|a, b| a.1.total_cmp(&b.1)).filter(|found| found.1 < smallest) {
            Some(found) => (best, smallest) = found,
            None => break,
        }
    }
    let output = space.output_orbits.of[best] as usize;
    let (mut own_f, mut own_p) = (vec![0; f.len()], vec![0.0; f.len()]);
    for ((&x, f), p) in space.to_representative(best).iter().zip(f).zip(&p) {
        own_f[x as usize] = (f - least) as i16;
        own_p[x as usize] = *p;
    }
    Column {
        fold: space.fold(&own_p),
        cost: space.cost(output, &own_p),
        f: own_f,
        output,
        artificial: false,
        is_basic: false,
    }
}
