//! L(x, r), the error of releasing r when the data are x, for any two candidates that are near each other.

use crate::analysis::optimum::program::errors;
use crate::numeric::expm1;
use crate::numeric::log_affinity::log_affinity;
use crate::orbits::Orbits;
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
    Affinity { power: f64, reach: u64, terms: Vec<Vec<f64>> },
    /// For every orbit of r those of all x.
    Matrix(Vec<Vec<f64>>),
}

impl Losses {
    /// For candidates at most `reach` records apart.
    pub fn new(setting: &Setting, orbits: &Orbits, reach: u64) -> Self {
        let (relative, absolute) = setting.distance.accuracy();
        let values = match setting.distance.power(&setting.prior, setting.n) {
            Some(power) => Self::affinity(setting, power, reach),
            None => {
                let inputs = list_compositions(setting.n, setting.k());
                let outputs: Vec<Counts> =
                    (0..orbits.len()).map(|r| orbits.member(r).to_vec()).collect();
                Values::Matrix(errors(setting, &inputs, &outputs))
            }
        };
        Self { values, relative, absolute }
    }

    /// Whether they grow along every shortest way away from x. The terms of the affinity do: each is a gap of
    /// Jensen's inequality.
    pub fn grow_outwards(setting: &Setting) -> bool {
        setting.distance.power(&setting.prior, setting.n).is_some()
    }

    fn affinity(setting: &Setting, power: f64, reach: u64) -> Values {
        let (alpha, n) = (setting.prior.alpha(), setting.n);
        let reach = reach.min(n) as i64;
        let row = |alpha: f64, x: u64| {
            let first = x as i64 - reach;
            let term = move |v: i64| match u64::try_from(v) {
                Ok(v) if v <= n => log_affinity(alpha, x, v),
                _ => f64::NEG_INFINITY,
            };
            (first..=x as i64 + reach).map(term).collect::<Vec<f64>>()
        };
        let table = |&alpha: &f64| {
            parallel::map_range(0..n as usize + 1, |x| row(alpha, x as u64)).concat()
        };
        Values::Affinity { power, reach: reach as u64, terms: alpha.iter().map(table).collect() }
    }

    /// At x, whose index is `rank`, and the candidate r that stands for `orbit`.
    pub fn at(&self, x: &[u64], rank: usize, r: &[u64], orbit: usize) -> f64 {
        let loss = match &self.values {
            Values::Affinity { power, reach, terms } => {
                let width = 2 * *reach as usize + 1;
                let term = |i: usize| {
                    let index = x[i] as usize * width + (*reach + r[i] - x[i]) as usize;
                    terms[i][index]
                };
                (-expm1(power * (0..x.len()).map(term).sum::<f64>())).max(0.0).sqrt()
            }
            Values::Matrix(errors) => errors[orbit][rank],
        };
        (loss * (1.0 - self.relative) - self.absolute).max(0.0)
    }
}
