//! The noise on counts that somebody else has released: how likely what was released is, for every true count.
//!
//! Probabilities are up to a factor that does not depend on the count.

use super::gauss;
use engine::expression::{Expression, Names, Symbol};
use engine::numeric::{exp_accurate, expm1, ln, ln_sum, log1p};

/// The law of the noise on one count.
#[derive(Clone, Debug, PartialEq)]
enum Law {
    /// e^(−rate |z|) for whole z.
    DiscreteLaplace { rate: f64 },
    /// e^(−z²/2σ²) for whole z.
    DiscreteGaussian { sigma: f64 },
    /// e^(−|z|/scale) for real z.
    Laplace { scale: f64 },
    /// e^(−z²/2σ²) for real z.
    Gaussian { sigma: f64 },
    /// The weights of whole numbers, whose logarithms are an expression less `largest`.
    Expression { expression: Expression<()>, largest: f64 },
}

/// The noise that each count got, and what was done with the sum.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedNoise {
    law: Law,
    words: String,
    /// Real numbers were rounded to the nearest whole one.
    rounded: bool,
    /// Numbers below 0 were replaced by 0.
    clamped: bool,
}

/// The laws that have a name, and how each is written.
pub const FORMS: [&str; 4] = [
    "discrete-laplace(epsilon=E)",
    "discrete-gaussian(sigma=S)",
    "laplace(scale=B)",
    "gaussian(sigma=S)",
];

/// The largest scale of noise, and the smallest.
const SCALES: std::ops::RangeInclusive<f64> = 1e-3..=1e9;

/// Weights that are smaller than others by a factor of e to this do not matter beside them.
const NEGLIGIBLE: f64 = 80.0;

/// The furthest step at which the weights of an expression are looked at to see that they vanish.
const FURTHEST: usize = 1 << 17;

/// From this scale on, sums of a discrete Gaussian law are computed as integrals.
const SMOOTH: f64 = 1e3;

/// Nodes of Gauss's rule for the integral over one step.
const NODES: usize = 24;

impl PublishedNoise {
    /// Reads `discrete-laplace(epsilon=0.5)` and the like, or an expression in t: the logarithm of the weight of
    /// the whole number t.
    pub fn parse(text: &str, rounded: bool, clamped: bool) -> Result<Self, String> {
        let text = text.trim();
        let law = match named(text) {
            Some(found) => found?,
            None => expression(text)?,
        };
        let noise = Self { law, words: text.to_owned(), rounded, clamped };
        match rounded && !noise.is_continuous() {
            true => Err(format!("`{text}` is on whole numbers, which are not rounded")),
            false => Ok(noise),
        }
    }

    /// e^(−rate |z|) for whole z; what is below 0 then becomes 0.
    pub fn geometric(rate: f64) -> Result<Self, String> {
        Self::parse(&format!("discrete-laplace(epsilon={rate})"), false, true)
    }

    /// Whether the logarithm of the law has no corner but at 0.
    pub fn is_smooth(&self) -> bool {
        !matches!(self.law, Law::Expression { .. })
    }

    fn is_continuous(&self) -> bool {
        matches!(self.law, Law::Laplace { .. } | Law::Gaussian { .. })
    }

    /// The law as the user wrote it.
    pub fn words(&self) -> &str {
        &self.words
    }

    pub fn is_rounded(&self) -> bool {
        self.rounded
    }

    pub fn is_clamped(&self) -> bool {
        self.clamped
    }

    /// Why `value` cannot have been released, if so.
    pub fn refuses(&self, value: f64) -> Option<String> {
        match () {
            () if !value.is_finite() || value.abs() > 1e15 => Some(format!("{value} is no count")),
            () if self.clamped && value < 0.0 => {
                Some(format!("{value} is below 0, and numbers below 0 are said to be replaced"))
            }
            () if (self.rounded || !self.is_continuous()) && value.fract() != 0.0 => {
                Some(format!("{value} is not a whole number, as `{}` would give", self.words))
            }
            () => None,
        }
    }

    /// Steps beyond which a weight is smaller than the largest by a factor of e^`drop`; infinite if an expression was
    /// not seen to fall so far.
    pub fn reach(&self, drop: f64) -> Result<f64, String> {
        let own = match &self.law {
            Law::DiscreteLaplace { rate } => drop / rate,
            Law::Laplace { scale } => drop * scale,
            Law::DiscreteGaussian { sigma } | Law::Gaussian { sigma } => {
                sigma * (2.0 * drop).sqrt()
            }
            Law::Expression { expression, .. } => {
                fall(expression, drop)?.map_or(f64::INFINITY, |(_, steps)| steps as f64)
            }
        };
        // Rounding and clamping add less than a step.
        Ok(own.ceil() + 2.0)
    }

    /// ln P[`value` | x] for every x from `low` to `high`.
    pub fn logs(&self, value: f64, low: u64, high: u64) -> Result<Vec<f64>, String> {
        if self.clamped && value <= 0.0 {
            return self.logs_of_clamped(low, high);
        }
        let rule = match self.rounded {
            true => gauss::legendre(NODES),
            false => Vec::new(),
        };
        let log = |x: u64| {
            let z = value - x as f64;
            match self.rounded {
                true => self.between(z - 0.5, z + 0.5, &rule),
                false => self.log(z),
            }
        };
        (low..=high).map(log).collect()
    }

    /// The largest value of [`Self::logs`] over all x.
    pub fn peak(&self, value: f64) -> Result<f64, String> {
        let nearest = match (&self.law, self.clamped && value <= 0.0) {
            (_, true) => 0,
            (Law::Expression { .. }, false) => return Ok(0.0),
            (_, false) => value.max(0.0).round() as u64,
        };
        Ok(self.logs(value, nearest, nearest)?[0])
    }

    /// The logarithm of the weight of z.
    fn log(&self, z: f64) -> Result<f64, String> {
        Ok(match &self.law {
            Law::DiscreteLaplace { rate } => -rate * z.abs(),
            Law::Laplace { scale } => -z.abs() / scale,
            Law::DiscreteGaussian { sigma } | Law::Gaussian { sigma } => {
                -0.5 * (z / sigma) * (z / sigma)
            }
            Law::Expression { expression, largest } => value(expression, z)? - largest,
        })
    }

    /// ln P[low < z < high] of a real law, one step wide.
    fn between(&self, low: f64, high: f64, rule: &[(f64, f64)]) -> Result<f64, String> {
        // Laws are symmetric: the end that is nearer to 0 comes first.
        let (near, far) = if low.abs() <= high.abs() { (low, high) } else { (-high, -low) };
        Ok(match &self.law {
            Law::Laplace { scale } => {
                let (a, b) = (near / scale, far / scale);
                match a >= 0.0 {
                    true => -a + ln(-expm1(a - b)),
                    false => ln(-expm1(a) - expm1(-b)),
                }
            }
            Law::Gaussian { sigma } if *sigma < 1.0 => {
                let tail = |z: f64| libm::erfc(z / sigma * std::f64::consts::FRAC_1_SQRT_2);
                let width = tail(near) - tail(far);
                if width > 0.0 { ln(width) } else { self.log(near)? - ln(near / sigma) }
            }
            _ => {
                let peak = self.log(if near < 0.0 { 0.0 } else { near })?;
                let mut sum = 0.0;
                for (u, weight) in rule {
                    sum += weight * exp_accurate(self.log(near + u * (far - near))? - peak);
                }
                peak + ln(sum)
            }
        })
    }

    /// ln P[x + z is at most 0, or rounds to that] for every x.
    fn logs_of_clamped(&self, low: u64, high: u64) -> Result<Vec<f64>, String> {
        let edge = |x: u64| x as f64 - if self.rounded { 0.5 } else { 0.0 };
        Ok(match &self.law {
            Law::DiscreteLaplace { rate } => (low..=high).map(|x| -rate * x as f64).collect(),
            Law::Laplace { scale } => {
                let log = |x: u64| match edge(x) / scale {
                    a if a >= 0.0 => -a - std::f64::consts::LN_2,
                    a => log1p(-0.5 * exp_accurate(a)),
                };
                (low..=high).map(log).collect()
            }
            Law::Gaussian { sigma } => {
                (low..=high).map(|x| ln_normal_tail(edge(x) / sigma)).collect()
            }
            // The sum is an integral from half a step earlier, and a part that the slope there adds: what is left out
            // is less by a factor of σ^−4.
            Law::DiscreteGaussian { sigma } if *sigma >= SMOOTH => {
                let log = |x: u64| {
                    let t = (x as f64 - 0.5) / sigma;
                    let tail = ln_normal_tail(t);
                    let density = -0.5 * t * t - 0.5 * ln(2.0 * std::f64::consts::PI);
                    tail + log1p(-t / (24.0 * sigma * sigma) * exp_accurate(density - tail))
                };
                (low..=high).map(log).collect()
            }
            Law::DiscreteGaussian { .. } | Law::Expression { .. } => {
                // Sums from the far end: what lies beyond does not matter beside the last weight.
                let last = -self.log(-(high as f64))?;
                let drop = NEGLIGIBLE + if last.is_finite() { last } else { 0.0 };
                let reach = self.reach(drop)?;
                if reach == f64::INFINITY {
                    return Err(endless(&self.words));
                }
                let mut sum = f64::NEG_INFINITY;
                let mut logs = Vec::new();
                for x in (low..=high.max(reach as u64)).rev() {
                    sum = ln_sum([sum, self.log(-(x as f64))?]);
                    logs.push(sum);
                }
                logs.reverse();
                logs.truncate((high - low) as usize + 1);
                logs
            }
        })
    }
}

/// ln P[z > t] of a standard normal number.
fn ln_normal_tail(t: f64) -> f64 {
    match libm::erfc(t * std::f64::consts::FRAC_1_SQRT_2) {
        tail if tail > 0.0 => ln(0.5 * tail),
        _ => -0.5 * t * t - ln(t) - 0.5 * ln(2.0 * std::f64::consts::PI),
    }
}

/// A law that has a name; `None` if the text is not of the form `name(…)`.
fn named(text: &str) -> Option<Result<Law, String>> {
    let (name, rest) = text.split_once('(')?;
    let (name, arguments) = (name.trim(), rest.strip_suffix(')')?);
    if !matches!(
        name,
        "discrete-laplace" | "geometric" | "discrete-gaussian" | "laplace" | "gaussian"
    ) {
        return None;
    }
    Some(with_arguments(name, arguments))
}

fn with_arguments(name: &str, arguments: &str) -> Result<Law, String> {
    let mut scale = None;
    let gaussian = name.ends_with("gaussian");
    for argument in arguments.split(',') {
        let (key, value) = argument
            .split_once('=')
            .ok_or_else(|| format!("`{}` is not of the form key=value", argument.trim()))?;
        let (key, value) = (key.trim(), value.trim());
        let number: f64 = value.parse().map_err(|_| format!("`{value}` is not a number"))?;
        if number.is_nan() || number <= 0.0 {
            return Err(format!("{key} must be above 0, not {value}"));
        }
        let found = match (key, gaussian) {
            ("epsilon", false) => 1.0 / number,
            ("scale", false) | ("sigma", true) => number,
            // A record changes one count by one: ρ = 1/2σ².
            ("rho", true) => (0.5 / number).sqrt(),
            _ => return Err(format!("`{name}` has no `{key}`: it is {}", keys(gaussian))),
        };
        if scale.replace(found).is_some() {
            return Err(format!("give one of {}", keys(gaussian)));
        }
    }
    let scale = scale.ok_or_else(|| format!("`{name}` needs {}", keys(gaussian)))?;
    if !SCALES.contains(&scale) {
        return Err(format!(
            "a scale of {scale:e} is not between {:e} and {:e}",
            SCALES.start(),
            SCALES.end()
        ));
    }
    Ok(match name {
        "discrete-laplace" | "geometric" => Law::DiscreteLaplace { rate: 1.0 / scale },
        "discrete-gaussian" => Law::DiscreteGaussian { sigma: scale },
        "laplace" => Law::Laplace { scale },
        _ => Law::Gaussian { sigma: scale },
    })
}

fn keys(gaussian: bool) -> &'static str {
    if gaussian { "sigma=… or rho=…" } else { "epsilon=… or scale=…" }
}

/// The only name in an expression.
struct Step;

impl Names for Step {
    type Variable = ();

    fn find(&self, name: &str) -> Option<Symbol<()>> {
        (name == "t").then_some(Symbol::Variable(()))
    }

    fn known(&self) -> Vec<String> {
        vec!["t".to_owned()]
    }
}

/// The law whose log weight at t is an expression.
fn expression(text: &str) -> Result<Law, String> {
    let expression = Expression::parse(text, &Step).map_err(|fault| fault.cause)?;
    let (largest, _) = fall(&expression, NEGLIGIBLE)?.ok_or_else(|| endless(text))?;
    Ok(Law::Expression { expression, largest })
}

/// The log weight at t.
fn value(expression: &Expression<()>, t: f64) -> Result<f64, String> {
    match expression.value(&|_| t) {
        value if value < f64::INFINITY => Ok(value),
        _ => {
            let fault = expression.fault(&|_| t).map_or_else(String::new, |fault| fault.cause);
            Err(format!("at t = {t}: {fault}"))
        }
    }
}

/// The largest log weight, and the step beyond which all are smaller by `drop`: those that are up to four times as
/// far are looked at. `None` if the weights do not fall so far.
fn fall(expression: &Expression<()>, drop: f64) -> Result<Option<(f64, usize)>, String> {
    let (mut logs, mut reach) = (Vec::new(), 16);
    while reach <= FURTHEST {
        for t in logs.len()..=reach {
            let t = t as f64;
            logs.push(value(expression, t)?.max(value(expression, -t)?));
        }
        let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let Some(steps) = logs.iter().rposition(|log| log - largest >= -drop) else {
            return Err("no number has a positive weight".to_owned());
        };
        if 4 * steps <= reach {
            return Ok(Some((largest, steps)));
        }
        reach *= 2;
    }
    Ok(None)
}

fn endless(words: &str) -> String {
    format!("the weights of `{words}` do not vanish up to t = {FURTHEST}")
}
