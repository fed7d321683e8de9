//! Candidates with tight weights in whole-number arithmetic.

use std::cmp::Ordering;
use std::sync::Arc;

use super::super::coins::{Coins, ExactDraws, Ratio, falls, is_accepted, sum_zero};
use super::Tight;
use crate::posterior::amount::Amount;
use crate::posterior::model::Counts;
use crate::posterior::simplex::uniform_composition;

/// A candidate with P = w(r) e^(−2 rate · d): x plus noise that sums to 0, drawn again until it is a candidate,
/// and is accepted with probability w / max w.
pub struct Weighed {
    /// The rate of every coordinate.
    pub rate: Ratio,
    /// The weights; none was set to 0.
    pub weights: Arc<Tight>,
}

impl ExactDraws for Weighed {
    fn draw(&self, x: &[u64], coins: &mut dyn Coins) -> Counts {
        loop {
            if let Some(drawn) = self.try_draw(x, coins) {
                return drawn;
            }
        }
    }

    /// Without rounding, all normalisers of the weights are 1.
    fn price(&self) -> Amount {
        Amount::round_up(self.weights.shift)
    }

    fn can_draw(&self, _: &[u64], total: Ordering) -> bool {
        total.is_eq()
    }
}

/// If e to minus this is the least that noise contributes to a weight, candidates are proposed uniformly.
const WIDE: u64 = 3;

impl Weighed {
    /// One trial: x plus noise that sums to 0, or any candidate if the noise is so wide that it would rarely be
    /// one. A trial succeeds with a chance that is the same for all data: the number of trials tells nothing
    /// about them.
    fn try_draw(&self, x: &[u64], coins: &mut dyn Coins) -> Option<Counts> {
        let n: u64 = x.iter().sum();
        let proposed = if self.rate.times_is_at_most(2 * n, WIDE) {
            let mut proposed = x.to_vec();
            uniform_composition(n, &mut proposed, coins);
            let steps = proposed.iter().zip(x).map(|(v, x)| v.abs_diff(*x)).sum();
            falls(self.rate, steps, coins).then_some(proposed)?
        } else {
            let moved = |(&x, z): (&u64, i128)| u64::try_from(i128::from(x).saturating_add(z)).ok();
            let noise = sum_zero(self.rate, x.len(), coins);
            x.iter().zip(noise).map(moved).collect::<Option<Counts>>()?
        };
        let (weight, largest) = (self.weights.weight(&proposed), self.weights.largest);
        is_accepted(weight, largest, coins).then_some(proposed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;

    /// The chance of a trial is the same whatever the data: the centre, an edge and a corner, at 40 records
    /// (all weights) and at 1000 (a table).
    #[test]
    fn the_number_of_trials_does_not_depend_on_the_data() {
        let trials = 200_000;
        for (n, data) in [
            (40, [[14, 13, 13], [20, 20, 0], [40, 0, 0]]),
            (1000, [[333, 333, 334], [999, 1, 0], [0, 0, 1000]]),
        ] {
            let weights = Tight::find(3, n, 1.0).unwrap();
            let weighed = Weighed { rate: Ratio::new(1, 2).unwrap(), weights };
            // Far from all faces a trial succeeds with w∞ / max w.
            let far = Tight::find(3, 1_000_000, 1.0).unwrap().weight(&[333_333, 333_333, 333_334]);
            let p = far / weighed.weights.largest;
            for counts in data {
                let mut rng = stream(7, &format!("trials {counts:?}"));
                let tried = (0..trials).filter(|_| weighed.try_draw(&counts, &mut rng).is_some());
                let z = (tried.count() as f64 - f64::from(trials) * p)
                    / (f64::from(trials) * p * (1.0 - p)).sqrt();
                // Five standard deviations: 6e-7. A chance that is 2 % off is noticed.
                assert!(z.abs() < 5.0, "{counts:?}: {z}");
            }
        }
    }
}
