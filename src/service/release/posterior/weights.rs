//! Weights of whole numbers, their logarithms, and their convolutions.

use engine::numeric::relative;

/// Weights of the counts from `first` on.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    pub first: u64,
    pub values: Vec<f64>,
}

impl Weights {
    /// The weight 1 at `count`.
    pub fn certain(count: u64) -> Self {
        Self { first: count, values: vec![1.0] }
    }

    /// The largest count.
    pub fn last(&self) -> u64 {
        self.first + self.values.len() as u64 - 1
    }

    pub fn get(&self, count: u64) -> f64 {
        let place = count.checked_sub(self.first).map(|place| place as usize);
        place.and_then(|place| self.values.get(place)).copied().unwrap_or(0.0)
    }

    /// The weights of sums of two counts, up to `most`, divided by the largest.
    pub fn plus(&self, other: &Self, most: u64) -> Self {
        let first = self.first + other.first;
        let length = self.values.len() + other.values.len() - 1;
        let length = length.min(most.saturating_sub(first) as usize + 1);
        // The inner loop runs over the longer one.
        let (outer, inner) = match self.values.len() < other.values.len() {
            true => (&self.values, &other.values),
            false => (&other.values, &self.values),
        };
        let mut values = vec![0.0; length];
        for (i, a) in outer.iter().enumerate().take(length) {
            for (value, b) in values[i..].iter_mut().zip(inner) {
                *value += a * b;
            }
        }
        let largest = values.iter().copied().fold(0.0, f64::max);
        if largest > 0.0 {
            values.iter_mut().for_each(|value| *value /= largest);
        }
        Self { first, values }
    }
}

/// The logarithms of the weights of the counts from `first` on, up to a constant.
#[derive(Clone, Debug)]
pub struct LogWeights {
    pub first: u64,
    pub logs: Vec<f64>,
}

impl LogWeights {
    /// The weights of all x times e^(tilt x), relative to the largest.
    pub fn tilted(&self, tilt: f64) -> Weights {
        let logs = self.logs.iter().enumerate().map(|(place, log)| log + tilt * place as f64);
        Weights { first: self.first, values: relative(logs) }
    }

    /// The tilt at which the means of independent counts sum to n.
    pub fn tilt(all: &[Self], n: u64) -> f64 {
        let mean = |one: &Self, at: f64| {
            let Weights { first, values } = one.tilted(at);
            let places = values.iter().enumerate().map(|(place, weight)| place as f64 * weight);
            first as f64 + places.sum::<f64>() / values.iter().sum::<f64>()
        };
        tilt(|at| all.iter().map(|one| mean(one, at)).sum(), n)
    }
}

/// The tilt at which a mean, which grows with the tilt, is n.
pub fn tilt(mean: impl Fn(f64) -> f64, n: u64) -> f64 {
    let is_below = |tilt: f64| mean(tilt) < n as f64;
    let sign = if is_below(0.0) { 1.0 } else { -1.0 };
    let is_short = |size: f64| is_below(sign * size) == (sign > 0.0);
    let mut end = FLATTEST;
    while is_short(end) && end < STEEPEST {
        end *= 4.0;
    }
    let (mut low, mut high) = (0.0, end);
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if is_short(middle) { low = middle } else { high = middle }
    }
    sign * f64::midpoint(low, high)
}

/// No tilt that matters is smaller.
const FLATTEST: f64 = 1e-18;

/// No tilt is larger.
const STEEPEST: f64 = 1e12;

/// The tilt is found so precisely.
const HALVINGS: usize = 60;
