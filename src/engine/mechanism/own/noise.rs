//! Whole noise on the counts whose law is an expression in t: P[t] ∝ e^(factor · log weight).

use std::sync::{Arc, OnceLock};

use super::constants::{Constants, not_a_number};
use super::names::Name;
use crate::expression::Expression;
use crate::mechanism::law::exponential::normalised;
use crate::mechanism::law::noise::NoiseAt;
use crate::mechanism::law::noise::pair::NoiseData;
use crate::mechanism::law::{Comparisons, Law, LawAt, OutputSet, PairSize};
use crate::named;
use crate::numeric::sum::running;
use crate::numeric::{exp_accurate, ln_sum};
use crate::posterior::distance::Distance;
use crate::posterior::model::{Counts, Posterior};
use crate::posterior::setting::Setting;
use crate::refusal::Refusal;
use crate::rng::{Stream, draw_index};

named! {
    /// Which counts get noise.
    #[derive(Default)]
    pub enum NoisyCounts {
        /// Every count; the total is left open.
        All = "all",
        /// The first k − 1; the last restores the total.
        #[default]
        First = "first",
    }
}

impl NoisyCounts {
    pub fn outputs(self) -> OutputSet {
        match self {
            Self::All => OutputSet::Open,
            Self::First => OutputSet::Restored,
        }
    }
}

impl Law for OwnNoise {
    fn outputs(&self) -> OutputSet {
        self.outputs
    }

    fn at(&self, posterior: &Posterior) -> Result<Box<dyn LawAt + '_>, Refusal> {
        let (reach, outputs) = (self.reach, self.outputs);
        let noisy = outputs.noisy(posterior.k()) as u64;
        let ln_probability = |x, v| self.table().ln_probability(x, v);
        let sums = OnceLock::new();
        let draw = move |x: u64, rng: &mut Stream| {
            let table = self.table();
            let sums =
                sums.get_or_init(|| running(table.logs.iter().map(|log| exp_accurate(*log))));
            let t = draw_index(sums, rng) as i64;
            x.saturating_add_signed(t - table.furthest).min(table.n)
        };
        Ok(Box::new(NoiseAt {
            posterior: posterior.clone(),
            outputs,
            steps: (reach, reach.saturating_mul(noisy)),
            probability: Box::new(move |x, v| exp_accurate(ln_probability(x, v))),
            ln_probability: Box::new(ln_probability),
            draw: Box::new(draw),
        }))
    }

    /// The weights to another power, measured again: wider noise may reach too far.
    fn widened(&self, factor: f64) -> Result<Arc<dyn Law>, Refusal> {
        let (expression, constants) = (Arc::clone(&self.expression), self.constants.clone());
        let wider = Self::new(expression, constants, self.n, self.factor / factor, self.outputs);
        Ok(Arc::new(wider.measured()?))
    }

    fn noisy_counts(&self, k: usize) -> Option<usize> {
        Some(self.outputs.noisy(k))
    }

    /// Every step from a count to another, and the tails.
    fn table_entries(&self, posterior: &Posterior) -> f64 {
        4.0 * (posterior.n() as f64 + self.reach as f64)
    }

    fn pair_size(&self, posterior: &Posterior, _: &dyn Distance) -> Option<PairSize> {
        let values = posterior.n() as f64 + 1.0;
        let classes = values * if posterior.k() == 2 { 1.0 } else { values };
        let compared = PairSize::CLOSED.compared + values;
        Some(PairSize { compared, classes, bytes: 100.0 * classes, ..PairSize::CLOSED })
    }

    fn comparisons<'a>(
        &'a self,
        setting: &'a Setting,
        _: &[&Counts],
    ) -> Result<Box<dyn Comparisons + 'a>, Refusal> {
        let noisy = self.outputs.noisy(setting.k());
        Ok(Box::new(NoiseData::listed(self.table(), setting.n, noisy)))
    }
}

/// ln of the part of the probability that may lie beyond the reach: it is far below every rounding error.
const LN_BEYOND: f64 = -52.0;

/// The most records: the probabilities of all steps from one count to another are listed.
const MOST_RECORDS: u64 = 1_000_000;

/// The furthest step that is tried.
const FURTHEST: i64 = 1 << 20;

/// The noise on the counts of all data of one size.
pub struct OwnNoise {
    expression: Arc<Expression<Name>>,
    constants: Constants,
    n: u64,
    factor: f64,
    outputs: OutputSet,
    /// No step is longer, but for a negligible part of the probability.
    reach: u64,
    table: OnceLock<NoiseTable>,
}

impl OwnNoise {
    /// The noise on data of n records, before it is measured.
    pub fn new(
        expression: Arc<Expression<Name>>,
        constants: Constants,
        n: u64,
        factor: f64,
        outputs: OutputSet,
    ) -> Self {
        Self { expression, constants, n, factor, outputs, reach: 0, table: OnceLock::new() }
    }

    /// The rate r of e^(−r |t|), if the weight is that, up to a constant factor.
    pub fn geometric_rate(&self) -> Option<f64> {
        let (slope, constant) = self.fixed().affine_in_abs(Name::T)?;
        let rate = -slope * self.factor;
        (rate > 0.0 && rate < f64::INFINITY && constant.is_finite()).then_some(rate)
    }

    /// The longest step that leads from a count to another one, or that a clamped count stands for.
    fn furthest(&self) -> i64 {
        (self.n + self.reach) as i64
    }

    /// The expression with every name known but t.
    fn fixed(&self) -> Expression<Name> {
        self.expression.fix(&|name| self.constants.get(&name).copied())
    }

    /// Finds the reach by the mass of the weights. Refuses weights that cannot be normalised, and more
    /// records than are tabled.
    pub fn measured(mut self) -> Result<Self, Refusal> {
        if self.n > MOST_RECORDS {
            return Err(Refusal::new(
                format!("noise of your own is for at most {MOST_RECORDS} records"),
                "use fewer records, or a log weight of the form -a * abs(t)",
            ));
        }
        let expression = self.fixed();
        let mut parts: Vec<(i64, f64)> = Vec::new();
        let mut all: Vec<f64> = Vec::new();
        let (mut from, mut to) = (0, 16);
        loop {
            let added = self.both_sides(&expression, from, to)?;
            let part = ln_sum(added.iter().copied());
            all.extend(added);
            parts.push((to, part));
            let total = ln_sum(all.iter().copied());
            let negligible = |part: &f64| *part < total + LN_BEYOND;
            // Twice as far there is nothing, nor was there in the last part.
            let ended =
                parts.iter().rev().take(2).filter(|(_, part)| negligible(part)).count() == 2;
            if ended {
                let last = parts.iter().rev().find(|(_, part)| !negligible(part));
                self.reach = last.map_or(0, |(to, _)| *to as u64);
                // Unlikely steps count, too: their probabilities decide about the privacy loss.
                self.both_sides(&expression, to + 1, self.furthest())?;
                return Ok(self);
            }
            if to >= FURTHEST {
                return Err(self.endless(&parts, total));
            }
            (from, to) = (to + 1, 2 * to);
        }
    }

    /// factor · log weight of t and −t, for all t from `from` to `to`.
    fn both_sides(
        &self,
        expression: &Expression<Name>,
        from: i64,
        to: i64,
    ) -> Result<Vec<f64>, Refusal> {
        let steps: Vec<f64> = (from..=to)
            .flat_map(|t| if t == 0 { vec![0.0] } else { vec![t as f64, -t as f64] })
            .collect();
        let logs = self.log_weights(expression, &steps);
        let wrong = logs.iter().position(|log| log.is_nan() || *log == f64::INFINITY);
        let Some(t) = wrong.map(|index| steps[index]) else { return Ok(logs) };
        let value = |name: Name| self.constants.get(&name).copied().unwrap_or(t);
        Err(not_a_number(&self.expression, &value, &format!("at t = {t}")))
    }

    /// factor · log weight of every step.
    fn log_weights(&self, expression: &Expression<Name>, steps: &[f64]) -> Vec<f64> {
        let mut logs = vec![0.0; steps.len()];
        expression.rows(&|_| steps, &mut logs);
        logs.iter_mut().for_each(|log| *log *= self.factor);
        logs
    }

    /// Why the weights cannot be normalised.
    fn endless(&self, parts: &[(i64, f64)], total: f64) -> Refusal {
        let whole = 0..self.expression.text().len();
        if total == f64::NEG_INFINITY {
            let cause = format!("the weights of all |t| up to {FURTHEST} are 0");
            return Refusal::at(whole, cause, "let log_weight be above −inf for some t");
        }
        let share = |index: usize| exp_accurate(parts[index].1 - total);
        let last = parts.len() - 1;
        let beyond = format!("|t| from {} to {FURTHEST}", parts[last - 1].0 + 1);
        let (cause, remedy) = match parts[last].1 >= parts[last - 1].1 - 1e-3 {
            true => (
                format!(
                    "the law cannot be normalised: the weights do not fall; {beyond} has {:.1} % of the mass",
                    100.0 * share(last)
                ),
                "let log_weight fall as |t| grows, as in -epsilon * abs(t)",
            ),
            false => (
                format!(
                    "the weights fall too slowly: {beyond} still has {:.1e} of the mass, and only what is \
                     below 1e-22 can be left out",
                    share(last)
                ),
                "let log_weight fall faster as |t| grows, as in -epsilon * abs(t)",
            ),
        };
        Refusal::at(whole, cause, remedy)
    }

    /// The probabilities of all steps that lead from a count to another one.
    fn table(&self) -> &NoiseTable {
        self.table.get_or_init(|| {
            let furthest = self.furthest();
            let steps: Vec<f64> = (-furthest..=furthest).map(|t| t as f64).collect();
            let logs = normalised(self.log_weights(&self.fixed(), &steps));
            let mut below = logs.clone();
            for i in 1..below.len() {
                below[i] = ln_sum([below[i - 1], below[i]]);
            }
            let mut above = logs.clone();
            for i in (0..above.len() - 1).rev() {
                above[i] = ln_sum([above[i + 1], above[i]]);
            }
            NoiseTable { n: self.n, furthest, logs, below, above }
        })
    }
}

/// The law of the noise at data of one size.
pub struct NoiseTable {
    n: u64,
    furthest: i64,
    /// ln P[t], from −furthest on.
    logs: Vec<f64>,
    /// ln P[<= t].
    below: Vec<f64>,
    /// ln P[>= t].
    above: Vec<f64>,
}

impl NoiseTable {
    /// ln P[⌊x + t⌋₀ⁿ = v].
    pub fn ln_probability(&self, x: u64, v: u64) -> f64 {
        let index = (v as i64 - x as i64 + self.furthest) as usize;
        match v {
            _ if self.n == 0 => 0.0,
            0 => self.below[index],
            v if v == self.n => self.above[index],
            _ => self.logs[index],
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::mechanism::Mechanism;
    use crate::mechanism::own::{self, NoisyCounts};
    use crate::posterior::model::Prior;
    use crate::posterior::privacy::Epsilon;
    use crate::posterior::setting::Setting;

    /// It is not silently the noise as it was.
    #[test]
    fn noise_that_would_reach_too_far_is_refused() {
        let noise = own::noise("-0.003 * abs(t)^0.8", NoisyCounts::First, Vec::new()).unwrap();
        let prior = Prior::new(vec![1.0, 1.0]).unwrap();
        let setting = Setting::new(prior, 7, Epsilon::new(1.0).unwrap());
        let law = Mechanism::plain(noise).law(&setting).unwrap();
        let widened = |factor| law.widened(factor).map(drop);
        assert!(widened(0.5).is_ok());
        assert!(widened(2.0).unwrap_err().cause.contains("fall too slowly"));
    }
}
