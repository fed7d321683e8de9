//! The distribution of the privacy loss of a dominating pair.
//!
//! Losses are whole multiples of a step. If all losses are multiples of one amount that is not too small,
//! this is the step, and nothing is rounded. Otherwise a loss between two multiples is divided between
//! both, so that δ(ε) is the chord between its values there: it keeps its value at the multiples, and is
//! larger between them, because it is convex in e^ε ("connect the dots", Doroshenko et al. 2022).
//!
//! Probabilities that are too small to count are not dropped: at the lower end they are moved to a larger
//! loss, at the upper end to an infinite one.

use super::Profile;
use crate::numeric::{Sum, exp_accurate, expm1, first_where};
use crate::posterior::amount::Amount;

/// The distribution of a privacy loss.
#[derive(Clone, Debug)]
pub struct LossDistribution {
    /// The step, in units of [`Amount`].
    step: i128,
    /// The first loss, in steps.
    pub first: i128,
    /// The probabilities of the losses. With the relative `error` they are upper bounds.
    pub masses: Vec<f64>,
    /// The probability of an infinite loss.
    pub infinite: f64,
    /// An upper bound on the relative rounding error of the masses.
    pub error: f64,
}

/// About so many losses are kept.
const MOST: i128 = 8192;

/// Losses beyond so many standard deviations from the mean need no place of their own.
const DEVIATIONS: f64 = 12.0;

/// So much probability at each end is moved upwards at a time.
const NEGLIGIBLE: f64 = 1e-32;

/// One unit of [`Amount`].
const UNIT: f64 = 1e-18;

/// Half a unit in the last place of 1.
const ROUNDING: f64 = 0.5 * f64::EPSILON;

/// Products that are too small for a double count as this much, all together.
const UNDERFLOW: f64 = 1e-300;

impl LossDistribution {
    /// The distribution of the sum of independent losses, each profile as often as its number says.
    pub(super) fn of_all(profiles: &[(&Profile, u64)]) -> Self {
        let step = step(profiles);
        profiles.iter().fold(Self::nothing(step), |product, (profile, times)| {
            product.convolved(&Self::new(profile, step).power(*times))
        })
    }

    /// Of no loss.
    fn nothing(step: i128) -> Self {
        Self { step, first: 0, masses: vec![1.0], infinite: 0.0, error: 0.0 }
    }

    fn new(profile: &Profile, step: i128) -> Self {
        let last = i128::try_from(profile.last().units()).unwrap_or(i128::MAX);
        let reach = last.div_euclid(step) + 1;
        let masses = vec![0.0; 2 * reach as usize + 1];
        let mut distribution = Self { first: -reach, masses, ..Self::nothing(step) };
        for (loss, mass) in profile.losses() {
            distribution.add(loss, mass);
        }
        distribution.trimmed()
    }

    /// Adds the probability of one loss.
    fn add(&mut self, loss: i128, mass: f64) {
        let (place, above) = (loss.div_euclid(self.step), loss.rem_euclid(self.step));
        let index = (place - self.first) as usize;
        if above == 0 {
            self.masses[index] += mass;
            return;
        }
        let (above, step) = (above as f64 * UNIT, self.step as f64 * UNIT);
        let part = mass * (1.0 + 16.0 * f64::EPSILON) / -expm1(-step);
        self.masses[index] += part * -exp_accurate(-above) * expm1(above - step);
        self.masses[index + 1] += part * -expm1(-above);
    }

    /// The distribution of the sum of both losses.
    fn convolved(&self, other: &Self) -> Self {
        let used = |one: &Self| one.masses.iter().filter(|&&mass| mass > 0.0).count();
        let (short, long) = if used(self) <= used(other) { (self, other) } else { (other, self) };
        let mut masses = vec![0.0; self.masses.len() + other.masses.len() - 1];
        for (i, &a) in short.masses.iter().enumerate().filter(|(_, a)| **a > 0.0) {
            for (sum, b) in masses[i..].iter_mut().zip(&long.masses) {
                *sum += a * b;
            }
        }
        // A sum of positive products: each operation adds a relative error.
        let rounded = (used(short) + 2) as f64 * ROUNDING;
        let error = (self.error + other.error + rounded) * (1.0 + 1e-6);
        let (first, mut infinite) = (self.first + other.first, self.infinite + other.infinite);
        if masses.last().is_some_and(|&last| last == 0.0) {
            // The product of the largest losses is too small for a double.
            infinite += UNDERFLOW;
        }
        Self { step: self.step, first, masses, infinite, error }.trimmed()
    }

    /// The distribution of the sum of so many losses.
    fn power(self, times: u64) -> Self {
        let mut product = Self::nothing(self.step);
        let mut square = self;
        for bit in 0..u64::BITS - times.leading_zeros() {
            if bit > 0 {
                square = square.convolved(&square);
            }
            if times >> bit & 1 == 1 {
                product = product.convolved(&square);
            }
        }
        product
    }

    /// Moves what is negligible at both ends upwards.
    fn trimmed(mut self) -> Self {
        let ends = |masses: &mut dyn Iterator<Item = &f64>| {
            let (mut count, mut sum) = (0, 0.0);
            for mass in masses {
                if sum + mass > NEGLIGIBLE {
                    break;
                }
                (count, sum) = (count + 1, sum + mass);
            }
            (count, sum * (1.0 + 1e-9))
        };
        let (above, lost) = ends(&mut self.masses.iter().rev());
        if above < self.masses.len() {
            self.masses.truncate(self.masses.len() - above);
            self.infinite += lost;
        }
        let (below, moved) = ends(&mut self.masses.iter());
        if below < self.masses.len() {
            self.masses.drain(..below);
            self.first += below as i128;
            self.masses[0] += moved;
        }
        self
    }

    /// δ at this ε, an upper bound: Σ P\[loss\] (1 − e^(ε − loss)) over all larger losses.
    pub fn delta(&self, epsilon: Amount) -> f64 {
        let epsilon = i128::try_from(epsilon.units()).unwrap_or(i128::MAX);
        let place = (epsilon.div_euclid(self.step) + 1).max(self.first);
        let from = usize::try_from(place - self.first).unwrap_or(usize::MAX);
        let above = self.masses.iter().enumerate().skip(from);
        let sum: Sum = above
            .map(|(i, mass)| {
                let loss = (self.first + i as i128) * self.step;
                mass * -expm1((epsilon - loss) as f64 * UNIT)
            })
            .collect();
        let lost = if from < self.masses.len() { UNDERFLOW } else { 0.0 };
        let outwards = 1.0 + self.error + 16.0 * f64::EPSILON;
        (((sum.value() + lost) * outwards + self.infinite) * outwards).min(1.0)
    }

    /// The least ε whose δ is at most `delta`, rounded up to a multiple of 10⁻⁹; `None` if δ is larger at
    /// every ε.
    pub fn epsilon(&self, delta: f64) -> Option<Amount> {
        const FINE: u128 = 1_000_000_000;
        let at = |steps: u64| Amount::from_units(u128::from(steps) * FINE);
        let is_enough = |steps: u64| self.delta(at(steps)) <= delta;
        let last = (self.first + self.masses.len() as i128 - 1) * self.step;
        let last = u128::try_from(last).unwrap_or(0).div_ceil(FINE);
        let least = first_where(0, u64::try_from(last).unwrap_or(u64::MAX), is_enough);
        is_enough(least).then(|| at(least))
    }

    /// The distance between neighbouring losses.
    pub fn step(&self) -> Amount {
        Amount::from_units(self.step.unsigned_abs())
    }
}

/// The step for the sum of all these losses: the largest amount of which all are multiples, or one that
/// gives about [`MOST`] of them.
fn step(profiles: &[(&Profile, u64)]) -> i128 {
    let (mut divisor, mut widest) = (0, 0.0_f64);
    let (mut mean, mut variance, mut sum) = (0.0, 0.0, 0.0);
    for (profile, times) in profiles {
        let losses = profile.losses();
        let (mut first, mut second) = (0.0, 0.0);
        for (loss, mass) in &losses {
            let loss = *loss as f64 * UNIT;
            (first, second) = (first + mass * loss, second + mass * loss * loss);
        }
        let times = *times as f64;
        mean += times * first;
        variance += times * (second - first * first).max(0.0);
        let last = profile.last().to_f64();
        (widest, sum) = (widest.max(last), sum + times * last);
        divisor = losses.iter().fold(divisor, |divisor, (loss, _)| {
            greatest_common_divisor(divisor, loss.unsigned_abs())
        });
    }
    let reach = DEVIATIONS * variance.sqrt() + widest;
    let range = (mean + reach).min(sum) - (mean - reach).max(-sum);
    let least = (range / UNIT / MOST as f64).ceil() as i128;
    (divisor as i128).max(least).max(1)
}

fn greatest_common_divisor(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}
