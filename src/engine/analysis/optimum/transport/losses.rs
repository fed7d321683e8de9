//! L(x, r), the error of releasing r when the data are x, for any two candidates that are near each other.

use crate::analysis::optimum::program::errors;
use crate::mechanism::law::tight::Orbits;
use crate::numeric::expm1;
use crate::numeric::log_affinity::log_affinity;
use crate::parallel;
use crate::posterior::model::Counts;
use crate::posterior::setting::Setting;
use crate::posterior::simplex::list_compositions;

/// The losses, rounded down by as much as they may be too large.
pub struct Losses {
    values: Values,
    relative: f64,
    absolute: f64,
}

enum Values {
    /// sqrt(1 − BC^power), where ln BC is a sum over the categories: for each the terms of x and x + j, where
    /// |j| is at most `reach`, at x (2 reach + 1) + reach + j.
    Affinity { power: f64, reach: u32, terms: Vec<Vec<f64>>, table_of: Vec<usize> },
    /// For every orbit of r those of all x.
    Matrix(Vec<Vec<f64>>),
}

impl Losses {
    /// For candidates at most `reach` records apart.
    pub fn new(template: &Setting, orbits: &Orbits, reach: u32) -> Self {
        let (relative, absolute) = template.distance.accuracy();
        let values = match template.distance.power(&template.posterior) {
            Some(power) => Self::affinity(template, power, reach),
            None => Values::Matrix(matrix(template, orbits)),
        };
        Self { values, relative, absolute }
    }

    /// Whether they grow along every shortest way away from x. The terms of the affinity do: each is a gap of
    /// Jensen's inequality.
    pub fn grow_outwards(template: &Setting) -> bool {
        template.distance.power(&template.posterior).is_some()
    }

    fn affinity(template: &Setting, power: f64, reach: u32) -> Values {
        let (alpha, n) = (template.posterior.prior().alpha(), template.posterior.n());
        let mut distinct: Vec<f64> = Vec::new();
        let mut table_of = Vec::new();
        for value in alpha {
            let place = distinct.iter().position(|known| known == value).unwrap_or_else(|| {
                distinct.push(*value);
                distinct.len() - 1
            });
            table_of.push(place);
        }
        let reach = reach.min(n as u32);
        let row = |alpha: f64, x: u64| {
            let first = x as i64 - i64::from(reach);
            let term = move |v: i64| match u64::try_from(v) {
                Ok(v) if v <= n => log_affinity(alpha, x, v),
                _ => f64::NEG_INFINITY,
            };
            (first..=x as i64 + i64::from(reach)).map(term).collect::<Vec<f64>>()
        };
        let table = |&alpha: &f64| {
            parallel::map_range(0..n as usize + 1, |x| row(alpha, x as u64)).concat()
        };
        Values::Affinity { power, reach, terms: distinct.iter().map(table).collect(), table_of }
    }

    /// At x, whose place is `rank`, and the candidate r that stands for `orbit`.
    pub fn at(&self, x: &[u32], rank: usize, r: &[u32], orbit: usize) -> f64 {
        let loss = match &self.values {
            Values::Affinity { power, reach, terms, table_of } => {
                let width = 2 * *reach as usize + 1;
                let term = |i: usize| {
                    let place = x[i] as usize * width + (*reach + r[i] - x[i]) as usize;
                    terms[table_of[i]][place]
                };
                (-expm1(power * (0..x.len()).map(term).sum::<f64>())).max(0.0).sqrt()
            }
            Values::Matrix(errors) => errors[orbit][rank],
        };
        (loss * (1.0 - self.relative) - self.absolute).max(0.0)
    }
}

fn matrix(template: &Setting, orbits: &Orbits) -> Vec<Vec<f64>> {
    let counts = |orbit| orbits.member(orbit).iter().map(|&count| u64::from(count)).collect();
    let outputs: Vec<Counts> = (0..orbits.len()).map(counts).collect();
    let inputs = list_compositions(template.posterior.n(), template.posterior.k());
    errors(template, &inputs, &outputs)
}
