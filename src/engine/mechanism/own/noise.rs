//! Whole noise on the counts whose law is an expression in t: P[t] ∝ e^(factor · log weight).

use super::constants::Constants;
use super::names::Name;
use crate::expression::Expression;
use crate::named;
use crate::numeric::{Sum, Table, exp_accurate, ln, ln_sum};
use crate::posterior::simplex::Window;
use crate::refusal::Refusal;
use crate::rng::{Stream, draw_index};

named! {
    /// Which counts get noise.
    #[derive(Default)]
    pub enum Noisy {
        /// Every count; the total is left open.
        All = "all",
        /// The first k − 1; the last restores the total.
        #[default]
        First = "first",
    }
}

/// ln of the part of the probability that may lie beyond the reach: it is far below every rounding error.
const LN_BEYOND: f64 = -52.0;

/// The most records: the probabilities of all steps from one count to another are listed.
const MOST_RECORDS: u64 = 1_000_000;

/// The furthest step that is tried.
const FURTHEST: i64 = 1 << 20;

/// The weights of the noise.
#[derive(Clone, Copy, Debug)]
pub struct OwnNoise {
    expression: &'static Expression,
    constants: Constants,
    n: u64,
    k: usize,
    factor: f64,
    /// No step is longer, but for a negligible part of the probability.
    reach: u64,
    /// The largest factor · log weight.
    peak: f64,
}

impl PartialEq for OwnNoise {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.expression, other.expression)
            && (self.constants, self.n, self.k) == (other.constants, other.n, other.k)
            && self.factor == other.factor
    }
}

impl OwnNoise {
    /// The noise on data of n records in k categories, before it is measured.
    pub fn new(
        expression: &'static Expression,
        constants: Constants,
        (n, k): (u64, usize),
        factor: f64,
    ) -> Self {
        Self { expression, constants, n, k, factor, reach: 0, peak: 0.0 }
    }

    /// The same noise, its weights to another power and measured again. Wider noise may reach too far.
    pub fn to_the(self, power: f64) -> Result<Self, Refusal> {
        Self { factor: self.factor * power, ..self }.measured()
    }

    /// The rate r of e^(−r |t|), if the weight is that, up to a constant factor.
    pub fn geometric_rate(&self) -> Option<f64> {
        let (slope, constant) = self.fixed().affine_in_abs(Name::T.variable())?;
        let rate = -slope * self.factor;
        (rate > 0.0 && rate < f64::INFINITY && constant.is_finite()).then_some(rate)
    }

    /// No step is longer, but for a negligible part of the probability.
    pub fn reach(&self) -> u64 {
        self.reach
    }

    /// The longest step that leads from a count to another one, or that a clamped count stands for.
    fn furthest(&self) -> i64 {
        (self.n + self.reach) as i64
    }

    /// The expression with every name known but t.
    fn fixed(&self) -> Expression {
        self.expression.fix(&|variable| self.constant(variable))
    }

    /// The number behind every name but t.
    fn constant(&self, variable: usize) -> Option<f64> {
        match Name::of(variable) {
            Name::N => Some(self.n as f64),
            Name::K => Some(self.k as f64),
            name => self.constants.public(name),
        }
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
                self.peak = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
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
    fn both_sides(&self, expression: &Expression, from: i64, to: i64) -> Result<Vec<f64>, Refusal> {
        let steps: Vec<f64> = (from..=to)
            .flat_map(|t| if t == 0 { vec![0.0] } else { vec![t as f64, -t as f64] })
            .collect();
        let logs = self.log_weights(expression, &steps);
        let wrong = logs.iter().position(|log| log.is_nan() || *log == f64::INFINITY);
        match wrong {
            None => Ok(logs),
            Some(place) => Err(self.refusal(steps[place])),
        }
    }

    /// factor · log weight of every step.
    fn log_weights(&self, expression: &Expression, steps: &[f64]) -> Vec<f64> {
        let mut logs = vec![0.0; steps.len()];
        expression.rows(&|_| steps, &mut logs);
        logs.iter_mut().for_each(|log| *log *= self.factor);
        logs
    }

    fn refusal(&self, t: f64) -> Refusal {
        let value = |variable: usize| self.constant(variable).unwrap_or(t);
        match self.expression.fault(&value) {
            Some(fault) => Refusal::new(format!("{} at t = {t}", fault.cause), fault.remedy)
                .within(Some(fault.span)),
            None => Refusal::new(
                format!("the log weight is not a number at t = {t}"),
                "let it be finite, or −inf for a weight of 0",
            ),
        }
    }

    /// Why the weights cannot be normalised.
    fn endless(&self, parts: &[(i64, f64)], total: f64) -> Refusal {
        let whole = 0..self.expression.text().len();
        if total == f64::NEG_INFINITY {
            let cause = format!("the weights of all |t| up to {FURTHEST} are 0");
            return Refusal::new(cause, "let log_weight be above −inf for some t")
                .within(Some(whole));
        }
        let share = |place: usize| exp_accurate(parts[place].1 - total);
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
        Refusal::new(cause, remedy).within(Some(whole))
    }

    /// The probabilities of all steps that lead from a count to another one.
    pub fn table(&self) -> NoiseTable {
        let furthest = self.furthest();
        let steps: Vec<f64> = (-furthest..=furthest).map(|t| t as f64).collect();
        let mut logs = self.log_weights(&self.fixed(), &steps);
        let total = self.peak
            + ln(logs.iter().map(|log| exp_accurate(log - self.peak)).collect::<Sum>().value());
        logs.iter_mut().for_each(|log| *log -= total);
        let mut below = logs.clone();
        for i in 1..below.len() {
            below[i] = ln_sum([below[i - 1], below[i]]);
        }
        let mut above = logs.clone();
        for i in (0..above.len() - 1).rev() {
            above[i] = ln_sum([above[i + 1], above[i]]);
        }
        NoiseTable { n: self.n, furthest, logs, below, above }
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
    fn place(&self, t: i64) -> usize {
        (t + self.furthest) as usize
    }

    /// ln P[⌊x + t⌋₀ⁿ = v].
    pub fn ln_probability(&self, x: u64, v: u64) -> f64 {
        let place = self.place(v as i64 - x as i64);
        match v {
            _ if self.n == 0 => 0.0,
            0 => self.below[place],
            v if v == self.n => self.above[place],
            _ => self.logs[place],
        }
    }

    /// P[⌊x + t⌋₀ⁿ = v] for v in the window.
    pub fn marginal(&self, x: u64, (low, high): Window) -> Table {
        let values = (low..=high).map(|v| exp_accurate(self.ln_probability(x, v))).collect();
        Table::new(low, values)
    }

    /// P[<= t] for every step, to draw from.
    pub fn sampler(&self) -> NoiseSampler {
        let mut sum = Sum::default();
        let running = self.logs.iter().map(|log| {
            sum.add(exp_accurate(*log));
            sum.value()
        });
        NoiseSampler { n: self.n, furthest: self.furthest, running: running.collect() }
    }
}

/// Draws of the noise.
pub struct NoiseSampler {
    n: u64,
    furthest: i64,
    running: Vec<f64>,
}

impl NoiseSampler {
    /// Draws ⌊x + t⌋₀ⁿ.
    pub fn draw(&self, x: u64, rng: &mut Stream) -> u64 {
        let t = draw_index(&self.running, rng) as i64 - self.furthest;
        x.saturating_add_signed(t).min(self.n)
    }
}

#[cfg(test)]
mod tests {
    use crate::mechanism::Variant;
    use crate::mechanism::law::Recipe;
    use crate::mechanism::own::{self, Noisy};

    use crate::posterior::model::Prior;
    use crate::posterior::privacy::Epsilon;
    use crate::posterior::setting::Setting;

    /// It is not silently the noise as it was.
    #[test]
    fn noise_that_would_reach_too_far_is_refused() {
        let noise = own::noise("-0.003 * abs(t)^0.8", Noisy::First, Vec::new()).unwrap();
        let prior = Prior::new(vec![1.0, 1.0]).unwrap();
        let setting = Setting::new(prior, vec![3, 4], Epsilon::new(1.0).unwrap());
        let Recipe::OwnNoise { noise, .. } = Variant::plain(noise).recipe(&setting).unwrap() else {
            panic!("noise of one's own");
        };
        assert!(noise.to_the(2.0).unwrap().reach() < noise.reach());
        assert!(noise.to_the(0.5).unwrap_err().cause.contains("fall too slowly"));
    }
}
