//! How many outputs are walked at one setting, without walking them.

use crate::analysis::ranking::Data;
use crate::mechanism::law::{Outputs, ROWS, Recipe, lengths, total_length};
use crate::memo::Memo;
use crate::posterior::distance::{Coarse, near};
use crate::posterior::metric::Metric;
use crate::posterior::model::{Posterior, approximate_compositions};
use crate::posterior::setting::Setting;
use crate::posterior::simplex::{Region, Size, estimate, measure};

/// With more records the near candidates are counted in units of several records: their tables would not
/// fit into memory, or take seconds.
const MANY: u64 = 100_000_000;

/// The entries of these tables.
const ENTRIES: f64 = 1e5;

/// The bits of the prior, the counts, and the bits of the power.
type Asked = (Vec<u64>, Vec<u64>, Option<u64>);

static KNOWN: Memo<Asked, Extent> = Memo::new(1 << 16);

/// What the exponential mechanisms of one setting walk; they share it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// |R|.
    pub candidates: f64,
    /// Candidates that are weighed one by one. Of candidates that differ by an exchange of equal
    /// categories one is weighed.
    pub walked: Size,
    /// The number of candidates that these stand for.
    pub near: f64,
    /// Entries of one table for every category.
    pub entries: f64,
}

impl Extent {
    /// For errors in the setting's distance and in `metrics`: the error with the widest ball decides.
    pub fn new(setting: &Setting, metrics: &[Metric]) -> Self {
        let posterior = &setting.posterior;
        let metrics = metrics.iter().map(|metric| metric.plateau(posterior));
        let plateaus: Option<Vec<f64>> =
            metrics.chain([setting.distance.plateau(posterior)]).collect();
        let power = plateaus.map(|plateaus| plateaus.into_iter().fold(f64::INFINITY, f64::min));
        Self::up_to(posterior, power)
    }

    /// Settings that differ in ε share it.
    fn up_to(posterior: &Posterior, power: Option<f64>) -> Self {
        let alpha = posterior.prior().alpha().iter().map(|alpha| alpha.to_bits()).collect();
        let key = (alpha, posterior.counts().to_vec(), power.map(f64::to_bits));
        KNOWN.get(&key, || match power {
            Some(power) if posterior.n() > MANY => Self::in_units(posterior, power, ENTRIES),
            power => Self::counted(posterior, power),
        })
    }

    /// As [`Self::counted`], in units of several records. The ball is less than half of all candidates.
    fn in_units(posterior: &Posterior, power: f64, entries: f64) -> Self {
        let Coarse { region, step, widths } = Coarse::new(posterior, power, entries);
        let units = lengths(region.windows());
        // A category whose counts are all within one unit has fewer than a unit.
        let filled = units.zip(&widths).map(|(units, width)| (width / (units * step)).min(1.0));
        let finer = libm::pow(step, posterior.k() as f64 - 1.0) * filled.product::<f64>();
        let near = (finer * measure(&region, ROWS).outputs).max(1.0);
        let walked = measure(&region.folded(&posterior.categories()), ROWS);
        let outputs = (finer * walked.outputs).max(1.0);
        let rows = (finer / step * walked.rows).clamp(1.0, outputs);
        let candidates = approximate_compositions(posterior.n(), posterior.k());
        Self { candidates, walked: Size { outputs, rows }, near, entries: widths.iter().sum() }
    }

    fn counted(posterior: &Posterior, power: Option<f64>) -> Self {
        let candidates = approximate_compositions(posterior.n(), posterior.k());
        let all = Region::simplex(posterior.n(), posterior.k());
        let ball = power.map(|power| near(posterior, power));
        let entries = total_length(ball.as_ref().unwrap_or(&all).windows());
        // A ball of more than half of them is not worth the trouble.
        let inside = ball.as_ref().map(|ball| estimate(ball, ROWS).outputs);
        let near = inside.filter(|inside| *inside <= 0.5 * candidates);
        let region = ball.filter(|_| near.is_some()).unwrap_or(all);
        let walked = estimate(&region.folded(&posterior.categories()), ROWS);
        Self { candidates, walked, near: near.unwrap_or(candidates), entries }
    }
}

/// The outputs that carry all but a negligible part of the probability at one data set, or at any.
pub fn likely_outputs(recipe: Recipe, posterior: &Posterior, data: Data) -> f64 {
    let possible = Outputs::of(recipe, posterior.n(), posterior.k()).possible(recipe);
    match data {
        Data::PriorPredictive => possible,
        Data::Given => {
            let region = recipe.region(posterior);
            region.map_or(possible, |region| measure(&region, ROWS).outputs.min(possible))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::posterior::model::Prior;

    /// In units of a hundred records or so, to within a factor of two.
    #[test]
    fn many_records_are_counted_in_units() {
        for (prior, counts) in [
            (vec![1.0, 1.0], vec![30_000_000, 50_000_000]),
            (vec![1.0, 1.0], vec![80_000_000, 0]),
            (vec![0.5, 1.0, 2.0], vec![40_000_000, 40_000_000, 20_000_000]),
            (vec![1.0, 1.0, 1.0], vec![40_000_000, 40_000_000, 2]),
        ] {
            let posterior = Posterior::new(Prior::new(prior).unwrap(), counts.clone());
            let exact = Extent::counted(&posterior, Some(1.0));
            let Coarse { step, .. } = Coarse::new(&posterior, 1.0, 4000.0);
            assert!(step > 1.0, "{counts:?}");
            let coarse = Extent::in_units(&posterior, 1.0, 4000.0);
            for (coarse, exact) in [
                (coarse.near, exact.near),
                (coarse.walked.outputs, exact.walked.outputs),
                (coarse.entries, exact.entries),
            ] {
                assert!((0.5..2.0).contains(&(coarse / exact)), "{counts:?}: {coarse} of {exact}");
            }
        }
    }
}
