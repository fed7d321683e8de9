//! The weights of all candidates at one posterior, computed row by row.

use std::cell::RefCell;
use std::sync::Arc;

use super::constants::{Constants, not_a_number};
use super::names::Name;
use crate::expression::Expression;
use crate::mechanism::law::exponential::{Weigher, normalised};
use crate::mechanism::law::{LawAt, OutputSet, Outputs};
use crate::numeric::kernel;
use crate::posterior::distance::Distance;
use crate::posterior::error_field::{Field, Reach};
use crate::posterior::model::{Posterior, approximate_compositions, vector};
use crate::posterior::simplex::{BLOCK, Region, Row, Tail};
use crate::refusal::Refusal;

/// Whether a candidate's weight depends on its distance from the data alone, so that all candidates outside
/// of a ball have the same.
pub fn is_by_score(expression: &Expression<Name>, set: OutputSet) -> bool {
    let differing = |(name, _): &(Name, _)| name.differs_between_candidates();
    let mut names = expression.variables().into_iter().filter(differing);
    set == OutputSet::Simplex && names.all(|(name, _)| name == Name::H)
}

pub struct OwnWeigher {
    /// As the user wrote it.
    expression: Arc<Expression<Name>>,
    constants: Constants,
    posterior: Posterior,
    set: OutputSet,
    is_by_score: bool,
    /// The expression with every name known that is the same for all candidates.
    fixed: Expression<Name>,
    /// The names that are left in it.
    names: Vec<Name>,
    x: Vec<f64>,
    factor: f64,
    /// What is subtracted from a log weight before its exponential is taken.
    peak: f64,
}

thread_local! {
    /// Room for the values behind every name.
    static COLUMNS: RefCell<Vec<Vec<f64>>> = RefCell::default();
}

impl OwnWeigher {
    /// The weights, which are not examined yet: their peak is 0.
    pub fn new(
        expression: &Arc<Expression<Name>>,
        constants: Constants,
        posterior: &Posterior,
        set: OutputSet,
        factor: f64,
    ) -> Self {
        let fixed = expression.fix(&|name| constants.get(&name).copied());
        Self {
            expression: Arc::clone(expression),
            constants,
            posterior: posterior.clone(),
            set,
            is_by_score: is_by_score(expression, set),
            names: fixed.variables().into_iter().map(|(name, _)| name).collect(),
            fixed,
            x: posterior.counts().iter().map(|&x| x as f64).collect(),
            factor,
            peak: 0.0,
        }
    }

    /// The number r of e^(−r · v), if the weight is that (up to a constant factor) and v is `name`.
    pub fn rate(&self, name: Name) -> Option<f64> {
        let (slope, constant) = self.fixed.affine(name)?;
        let rate = -slope * self.factor;
        let is_rate = (0.0..f64::INFINITY).contains(&rate);
        (is_rate && constant.is_finite()).then_some(rate)
    }

    /// Finds the largest log weight. Refuses weights that are not numbers, and those that are all 0.
    pub fn examined(mut self, distance: &dyn Distance) -> Result<Self, Refusal> {
        if self.posterior.n() == 0 {
            return Ok(self);
        }
        let largest = self.largest(distance)?;
        if largest == f64::NEG_INFINITY {
            let x = shown(self.posterior.counts());
            let cause = format!("the weights of all candidates are 0 at the data {x}");
            return Err(Refusal::new(cause, "let log_weight be above −inf for some candidate"));
        }
        self.peak = self.factor * largest;
        Ok(self)
    }

    fn largest(&self, distance: &dyn Distance) -> Result<f64, Refusal> {
        let (n, k) = (self.posterior.n(), self.posterior.k());
        let reach = match self.is_by_score {
            true => Reach::ball(&self.posterior),
            false => Reach { windows: vec![(0, n); k], ball: false },
        };
        let needed = self.is_by_score || self.uses_score();
        let score = needed.then(|| distance.field(&self.posterior, &reach));
        let ball = score.as_ref().and_then(|field| field.ball());
        let whole = self.set.region(n, k);
        let near = self.largest_in(ball.as_ref().unwrap_or(&whole), score.as_deref())?;
        let is_all =
            |ball: Region| ball.blocks().outputs() as f64 == approximate_compositions(n, k);
        if ball.is_none_or(is_all) {
            return Ok(near);
        }
        // All candidates outside of the ball have the distance 1.
        let far = self.fixed.value(&|_| 1.0);
        if is_weight(far) { Ok(near.max(far)) } else { self.largest_in(&whole, score.as_deref()) }
    }

    /// The largest log weight of the candidates in a region.
    fn largest_in(&self, region: &Region, score: Option<&dyn Field>) -> Result<f64, Refusal> {
        let mut largest = f64::NEG_INFINITY;
        self.for_each_row(region, score, |row, scores, logs| {
            largest = logs.iter().copied().fold(largest, f64::max);
            match logs.iter().position(|&log| !is_weight(log)) {
                Some(t) => Err(self.refusal(&row.only(t), scores[t])),
                None => Ok(()),
            }
        })?;
        Ok(largest)
    }

    /// Calls `visit` with the rows of a region, their scores and their log weights, up to the first refusal.
    fn for_each_row(
        &self,
        region: &Region,
        score: Option<&dyn Field>,
        mut visit: impl FnMut(&Row, &[f64], &[f64]) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let blocks = region.blocks();
        let (mut scores, mut logs) = ([0.0; BLOCK], [0.0; BLOCK]);
        let mut visited = Ok(());
        for block in 0..blocks.len() {
            region.walk(&blocks, block, |row| {
                let (scores, logs) = (&mut scores[..row.len], &mut logs[..row.len]);
                if let Some(field) = score {
                    field.row(row, scores);
                }
                self.log_weights(row, scores, logs);
                if visited.is_ok() {
                    visited = visit(row, scores, logs);
                }
            });
            if visited.is_err() {
                break;
            }
        }
        visited
    }

    /// Why the log weight of a candidate is no number.
    fn refusal(&self, row: &Row, score: f64) -> Refusal {
        let mut candidate = vec![0; self.x.len()];
        row.output(0, &mut candidate);
        let (x, r) = (shown(self.posterior.counts()), shown(&candidate));
        let value = |name: Name| match name {
            Name::H => score,
            name if name.differs_between_candidates() => {
                let mut value = [0.0];
                self.fill(name, row, &mut value);
                value[0]
            }
            _ => self.constants.get(&name).copied().unwrap_or(f64::NAN),
        };
        let at = format!("at the data {x} and the candidate {r}");
        not_a_number(&self.expression, &value, &at)
    }

    /// Writes the log weight of every candidate of a row, given the scores.
    fn log_weights(&self, row: &Row, scores: &[f64], out: &mut [f64]) {
        if self.x.iter().all(|&x| x == 0.0) {
            return out.fill(0.0);
        }
        COLUMNS.with_borrow_mut(|columns| {
            if columns.len() < self.names.len() {
                columns.resize_with(self.names.len(), || vec![0.0; BLOCK]);
            }
            for (&name, column) in self.names.iter().zip(columns.iter_mut()) {
                if name != Name::H {
                    self.fill(name, row, &mut column[..row.len]);
                }
            }
            let values = |name: Name| match name {
                Name::H => scores,
                name => {
                    let index = self.names.iter().position(|other| *other == name);
                    &columns[index.expect("a name that is left")][..row.len]
                }
            };
            self.fixed.rows(&values, out);
        });
    }

    /// Writes the values of one variable.
    fn fill(&self, name: Name, row: &Row, out: &mut [f64]) {
        let index = row.head.len();
        match name {
            Name::R(i) if i < index => out.fill(row.head[i] as f64),
            Name::R(i) => {
                let running = i == index;
                for (value, v) in out.iter_mut().zip(row.start..) {
                    *value = if running { v as f64 } else { after(row.tail, v) };
                }
            }
            Name::D => self.fill_moves(row, out, f64::abs, |sum| 0.5 * sum),
            Name::L1 => self.fill_moves(row, out, f64::abs, |sum| sum),
            _ => self.fill_moves(row, out, |z| z * z, f64::sqrt),
        }
    }

    /// Writes finish(Σ size(r_i − x_i)).
    fn fill_moves(
        &self,
        row: &Row,
        out: &mut [f64],
        size: impl Fn(f64) -> f64,
        finish: impl Fn(f64) -> f64,
    ) {
        let index = row.head.len();
        let head: f64 = row.head.iter().zip(&self.x).map(|(&r, x)| size(r as f64 - x)).sum();
        let at_running = self.x[index];
        let last = |v| self.x.get(index + 1).map_or(0.0, |x| size(after(row.tail, v) - x));
        for (value, v) in out.iter_mut().zip(row.start..) {
            *value = finish(head + size(v as f64 - at_running) + last(v));
        }
    }
}

impl LawAt for OwnWeigher {
    fn region(&self) -> Option<Region> {
        (!self.is_by_score).then(|| self.set.region(self.posterior.n(), self.posterior.k()))
    }

    fn ln_probabilities(&self, _: Outputs, score: &dyn Field) -> Vec<f64> {
        let mut all = Vec::new();
        let whole = self.set.region(self.posterior.n(), self.posterior.k());
        let walked = self.for_each_row(&whole, self.uses_score().then_some(score), |_, _, logs| {
            all.extend(logs.iter().map(|log| self.factor * log));
            Ok(())
        });
        walked.expect("no row is refused");
        normalised(all)
    }

    fn weigher(&self) -> Option<&dyn Weigher> {
        Some(self)
    }
}

impl Weigher for OwnWeigher {
    fn set(&self) -> Option<OutputSet> {
        (!self.is_by_score).then_some(self.set)
    }

    fn uses_score(&self) -> bool {
        self.names.contains(&Name::H)
    }

    fn weigh(&self, row: &Row, scores: &[f64], masses: &mut [f64]) {
        self.log_weights(row, scores, masses);
        masses.iter_mut().for_each(|log| *log = self.factor * *log - self.peak);
        kernel::exponentials(row.weight, masses);
    }
}

/// The coordinate after the running one.
fn after(tail: Tail, running: u64) -> f64 {
    match tail {
        Tail::Complement(rest) => (rest - running) as f64,
        Tail::Zero | Tail::Free => 0.0,
    }
}

/// Whether this is the logarithm of a weight: −infinity is that of 0.
fn is_weight(log: f64) -> bool {
    log < f64::INFINITY
}

/// (1, 2, 3)
fn shown(counts: &[u64]) -> String {
    format!("({})", vector(counts))
}
