//! Weights of whole numbers, and their convolutions.

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

    /// The weights with these logarithms, relative to the largest.
    pub fn from_logs(first: u64, logs: &[f64]) -> Self {
        let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Self { first, values: logs.iter().map(|log| exp_accurate(log - largest)).collect() }
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
