//! Candidates weighed by an expression: P(r|x) ∝ e^(factor · log weight).

use std::collections::BTreeMap;

use super::constants::Constants;
use super::names::Name;
use super::weigher::OwnWeigher;
use crate::expression::Expression;
use crate::mechanism::law::{Effort, OutputSet};
use crate::posterior::error_field::{Field, Reach};
use crate::posterior::model::{Posterior, approximate_compositions, vector};
use crate::posterior::setting::Setting;
use crate::posterior::simplex::{BLOCK, Region};
use crate::refusal::Refusal;

/// The sets of candidates that can be weighed.
pub const CANDIDATE_SETS: [OutputSet; 2] = [OutputSet::Simplex, OutputSet::Below];

/// The weights of all candidates at one data set.
#[derive(Clone, Copy, Debug)]
pub struct OwnWeight {
    expression: &'static Expression,
    constants: Constants,
    set: OutputSet,
    factor: f64,
    /// What is subtracted from a log weight before its exponential is taken.
    peak: f64,
}

impl PartialEq for OwnWeight {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.expression, other.expression)
            && (self.constants, self.set, self.factor) == (other.constants, other.set, other.factor)
    }
}

impl OwnWeight {
    /// The weights at the data of some setting, before they are examined.
    pub fn new(
        expression: &'static Expression,
        constants: Constants,
        set: OutputSet,
        factor: f64,
    ) -> Self {
        Self { expression, constants, set, factor, peak: 0.0 }
    }

    /// The candidates that are weighed.
    pub fn set(&self) -> OutputSet {
        self.set
    }

    /// The same weights to another power.
    pub fn to_the(self, power: f64) -> Self {
        Self { factor: self.factor * power, peak: self.peak * power, ..self }
    }

    /// Whether a candidate's weight depends on its distance from the data alone, so that all candidates
    /// outside of a ball have the same.
    pub fn is_by_score(&self) -> bool {
        let differing = |(v, _): &(usize, _)| Name::of(*v).differs_between_candidates();
        let mut names = self.expression.variables().into_iter().filter(differing);
        self.set == OutputSet::Simplex && names.all(|(v, _)| v == Name::H.variable())
    }

    /// What the law takes: the expression is evaluated at every candidate, and before that once more to find
    /// the largest weight.
    pub fn effort(&self, posterior: &Posterior) -> Effort {
        let mut effort = Effort::walk::<()>(self.set.region(posterior.n(), posterior.k()), &[]);
        effort.evaluated += effort.walked.map_or(0.0, |walked| 2.0 * walked.outputs);
        effort
    }

    /// Whether the distance from the data is used.
    pub fn uses_score(&self) -> bool {
        self.expression.variables().iter().any(|(v, _)| *v == Name::H.variable())
    }

    /// The number r of e^(−r · v), if the weight is that (up to a constant factor) and v is `name`.
    pub fn rate(&self, posterior: &Posterior, name: Name) -> Option<f64> {
        let (slope, constant) = self.fixed(posterior).affine(name.variable())?;
        let rate = -slope * self.factor;
        let is_rate = (0.0..f64::INFINITY).contains(&rate);
        (is_rate && constant.is_finite()).then_some(rate)
    }

    /// The expression with every name known that is the same for all candidates.
    fn fixed(&self, posterior: &Posterior) -> Expression {
        self.expression.fix(&|variable| self.constants.get(Name::of(variable), posterior))
    }

    /// The weights, ready to be computed row by row.
    pub fn bind(&self, posterior: &Posterior) -> OwnWeigher {
        let expression = self.fixed(posterior);
        let names = expression.variables().into_iter().map(|(v, _)| Name::of(v)).collect();
        let x = posterior.counts().iter().map(|&x| x as f64).collect();
        OwnWeigher { expression, names, x, factor: self.factor, peak: self.peak }
    }

    /// Finds the largest log weight. Refuses weights that are not numbers, and those that are all 0.
    pub fn examined(mut self, setting: &Setting) -> Result<Self, Refusal> {
        let posterior = &setting.posterior;
        if posterior.n() == 0 {
            return Ok(self);
        }
        let largest = self.largest(setting)?;
        if largest == f64::NEG_INFINITY {
            let cause = format!(
                "the weights of all candidates are 0 at the data {}",
                shown(posterior.counts())
            );
            return Err(Refusal::new(cause, "let log_weight be above −inf for some candidate"));
        }
        self.peak = self.factor * largest;
        Ok(self)
    }

    /// The largest log weight of all candidates.
    fn largest(&self, setting: &Setting) -> Result<f64, Refusal> {
        let posterior = &setting.posterior;
        let (n, k) = (posterior.n(), posterior.k());
        let by_score = self.is_by_score();
        let reach = match by_score {
            true => Reach::ball(posterior),
            false => Reach { windows: vec![(0, n); k], ball: false },
        };
        let score =
            (by_score || self.uses_score()).then(|| setting.distance.field(posterior, &reach));
        let ball = score.as_ref().and_then(|field| field.ball());
        let whole = self.set.region(n, k);
        let largest_in = |region: &Region| self.largest_in(region, posterior, score.as_deref());
        let near = largest_in(ball.as_ref().unwrap_or(&whole))?;
        let is_all =
            |ball: Region| ball.blocks().outputs() as f64 == approximate_compositions(n, k);
        if ball.is_none_or(is_all) {
            return Ok(near);
        }
        // All candidates outside of the ball have the distance 1.
        let far = self.fixed(posterior).value(&|_| 1.0);
        if is_weight(far) { Ok(near.max(far)) } else { largest_in(&whole) }
    }

    /// The largest log weight of the candidates in a region.
    fn largest_in(
        &self,
        region: &Region,
        posterior: &Posterior,
        score: Option<&dyn Field>,
    ) -> Result<f64, Refusal> {
        let bound = OwnWeigher { factor: 1.0, peak: 0.0, ..self.bind(posterior) };
        let blocks = region.blocks();
        let (mut scores, mut logs) = ([0.0; BLOCK], [0.0; BLOCK]);
        let (mut largest, mut wrong) = (f64::NEG_INFINITY, None);
        for block in 0..blocks.len() {
            region.walk(&blocks, block, |row| {
                let (scores, logs) = (&mut scores[..row.len], &mut logs[..row.len]);
                if let Some(field) = score {
                    field.row(row, scores);
                }
                bound.log_weights(row, scores, logs);
                for (t, &log) in logs.iter().enumerate() {
                    if !is_weight(log) && wrong.is_none() {
                        let mut output = vec![0; posterior.k()];
                        row.output(t, &mut output);
                        wrong = Some((output, scores[t]));
                    }
                    largest = largest.max(log);
                }
            });
            if let Some((output, score)) = wrong {
                return Err(self.refusal(posterior, &output, score));
            }
        }
        Ok(largest)
    }

    /// Why the log weight of a candidate is no number.
    fn refusal(&self, posterior: &Posterior, candidate: &[u64], score: f64) -> Refusal {
        let at = format!(
            "at the data {} and the candidate {}",
            shown(posterior.counts()),
            shown(candidate)
        );
        let value = |v: usize| self.value(Name::of(v), posterior, candidate, score);
        match self.expression.fault(&value) {
            Some(fault) => {
                Refusal::new(format!("{} {at}", fault.cause), fault.remedy).within(Some(fault.span))
            }
            None => Refusal::new(
                format!("the log weight is not a number {at}"),
                "let it be finite, or −inf for a weight of 0",
            ),
        }
    }

    fn value(&self, name: Name, posterior: &Posterior, candidate: &[u64], score: f64) -> f64 {
        let moves = || candidate.iter().zip(posterior.counts()).map(|(r, x)| *r as f64 - *x as f64);
        let l1 = || moves().map(f64::abs).sum::<f64>();
        match name {
            Name::H => score,
            Name::D => 0.5 * l1(),
            Name::L1 => l1(),
            Name::L2 => moves().map(|z| z * z).sum::<f64>().sqrt(),
            Name::R(i) => candidate[i] as f64,
            other => self.constants.get(other, posterior).unwrap_or(f64::NAN),
        }
    }

    /// factor · log weight of every one of `candidates`, with their scores.
    pub fn log_weights(
        &self,
        posterior: &Posterior,
        candidates: &[Vec<u64>],
        score: &dyn Field,
    ) -> Vec<f64> {
        if posterior.n() == 0 {
            return vec![0.0; candidates.len()];
        }
        let expression = self.fixed(posterior);
        let column = |variable: usize| -> Vec<f64> {
            let name = Name::of(variable);
            let value = |r: &Vec<u64>| match name {
                Name::H => score.at(r),
                name => self.value(name, posterior, r, 0.0),
            };
            candidates.iter().map(value).collect()
        };
        let variables = expression.variables().into_iter();
        let columns: BTreeMap<usize, Vec<f64>> = variables.map(|(v, _)| (v, column(v))).collect();
        let mut logs = vec![0.0; candidates.len()];
        expression.rows(&|variable| &columns[&variable], &mut logs);
        logs.iter_mut().for_each(|log| *log *= self.factor);
        logs
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
