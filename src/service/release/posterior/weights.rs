//! Weights of whole numbers, their logarithms, and their convolutions.

use engine::numeric::exp_accurate;

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
        let logs = || self.logs.iter().enumerate().map(|(place, log)| log + tilt * place as f64);
        let largest = logs().fold(f64::NEG_INFINITY, f64::max);
        let values = logs().map(|log| exp_accurate(log - largest)).collect();
        Weights { first: self.first, values }
    }

    /// The tilt at which the means of independent counts sum to n.
    pub fn tilt(all: &[Self], n: u64) -> f64 {
        let mean = |one: &Self, tilt: f64| {
            let Weights { first, values } = one.tilted(tilt);
            let places = values.iter().enumerate().map(|(place, weight)| place as f64 * weight);
            first as f64 + places.sum::<f64>() / values.iter().sum::<f64>()
        };
        let is_below = |tilt: f64| all.iter().map(|one| mean(one, tilt)).sum::<f64>() < n as f64;
        let mut end = if is_below(0.0) { 1.0 } else { -1.0 };
        while is_below(end) == (end > 0.0) && end.abs() < STEEPEST {
            end *= 2.0;
        }
        let (mut low, mut high) = (f64::min(end, 0.0), f64::max(end, 0.0));
        for _ in 0..HALVINGS {
            let middle = low.midpoint(high);
            if is_below(middle) { low = middle } else { high = middle }
        }
        low.midpoint(high)
    }
}

/// No tilt is larger.
const STEEPEST: f64 = 1e12;

/// The tilt is found so precisely.
const HALVINGS: usize = 60;
