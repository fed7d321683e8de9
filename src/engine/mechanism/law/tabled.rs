//! A law at two adjacent data sets, output by output: the default.

use super::pair::{Class, Comparisons, Pair, PairComparison, Witness};
use super::{Law, Outputs};
use crate::parallel;
use crate::posterior::error_field::Reach;
use crate::posterior::model::Counts;
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;

/// The most outputs whose probabilities are tabled.
const MOST_TABLED: f64 = 2e5;

/// Why not every output is compared, if they are too many.
pub fn refusal(outputs: Outputs) -> Option<Refusal> {
    let many = outputs.approximate_len();
    (many > MOST_TABLED).then(|| {
        let cause = format!(
            "its law is compared output by output, and has {many:.1e} outputs here ({MOST_TABLED:.0e} at most)"
        );
        Refusal::new(cause, "use fewer records or categories")
    })
}

/// A law at several data sets.
pub fn comparisons<'a, L: Law + ?Sized>(
    law: &L,
    setting: &Setting,
    data: &[&Counts],
) -> Result<Box<dyn Comparisons + 'a>, Refusal> {
    let tabled = parallel::map(data, |x| Tabled::new(law, setting, x)).into_iter();
    Ok(Box::new(tabled.collect::<Result<Vec<Tabled>, Refusal>>()?))
}

impl Comparisons for Vec<Tabled> {
    fn between<'a>(&'a self, _: &'a Pair, at: [usize; 2]) -> Box<dyn PairComparison + 'a> {
        let [at_x, at_neighbour] = at.map(|index| &self[index]);
        Box::new(TabledPair { at_x, at_neighbour })
    }
}

/// ln P of every output at one data set, in order.
struct Tabled {
    outputs: Outputs,
    /// An upper bound on the rounding error of a logarithm.
    rounding: f64,
    logs: Vec<f64>,
}

impl Tabled {
    fn new<L: Law + ?Sized>(law: &L, setting: &Setting, x: &Counts) -> Result<Self, Refusal> {
        let posterior = setting.at(x.clone());
        let at_x = law.at(&posterior)?;
        let score = setting.distance.field(&posterior, &Reach::ball(&posterior));
        let outputs = Outputs::new(law.outputs(), posterior.n(), posterior.k());
        let logs = at_x.ln_probabilities(outputs, score.as_ref());
        let (relative, absolute) = setting.distance.accuracy();
        let finite = logs.iter().filter(|log| log.is_finite());
        let largest = finite.fold(0.0, |largest: f64, log| largest.max(-log));
        let rate = at_x.rate().unwrap_or(0.0);
        let rounding = 2.0 * (relative * largest + absolute * rate) + 3e-13 + 2e-15 * largest;
        Ok(Self { outputs, rounding, logs })
    }
}

struct TabledPair<'a> {
    at_x: &'a Tabled,
    at_neighbour: &'a Tabled,
}

impl TabledPair<'_> {
    /// The indices of the outputs that are possible at one of the two data sets, with their ratios. A ratio
    /// is infinite if the output is not possible at the other.
    fn ratios(&self) -> impl Iterator<Item = (usize, f64)> {
        let logs = self.at_x.logs.iter().zip(&self.at_neighbour.logs).enumerate();
        let possible = logs.filter(|(_, (x, neighbour))| x.max(**neighbour) > f64::NEG_INFINITY);
        possible.map(|(r, (x, neighbour))| (r, x - neighbour))
    }

    fn largest(&self) -> Option<(usize, f64)> {
        self.ratios().reduce(|best, next| if next.1.abs() > best.1.abs() { next } else { best })
    }
}

impl PairComparison for TabledPair<'_> {
    fn loss(&self) -> f64 {
        self.largest().map_or(0.0, |(_, ratio)| ratio.abs())
    }

    fn rounding(&self) -> f64 {
        self.at_x.rounding + self.at_neighbour.rounding
    }

    fn classes(&self) -> Vec<Class> {
        let class = |(r, _)| Class::new(self.at_x.logs[r], self.at_neighbour.logs[r], 1.0);
        self.ratios().map(class).collect()
    }

    fn witness(&self) -> Witness {
        let (index, ratio) = self.largest().unwrap_or_default();
        Witness { output: self.at_x.outputs.list().swap_remove(index), forward: ratio >= 0.0 }
    }
}
