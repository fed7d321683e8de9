//! Geometric noise on the counts in whole-number arithmetic.

use std::cmp::Ordering;

use super::super::OutputSet;
use super::super::coins::{Coins, ExactDraws, Ratio, noisy};
use crate::posterior::model::Counts;

/// Independent noise of this rate on every count that is noisy.
pub struct NoisyCounts {
    pub rate: Ratio,
    pub outputs: OutputSet,
}

impl ExactDraws for NoisyCounts {
    fn draw(&self, x: &[u64], coins: &mut dyn Coins) -> Counts {
        let n: u64 = x.iter().sum();
        let mut released = x.to_vec();
        let free = self.outputs.noisy(x.len());
        released[..free].iter_mut().for_each(|v| *v = noisy(self.rate, *v, n, coins));
        self.outputs.complete(n, &mut released);
        released
    }

    /// A last count that restores the total is what the others leave, and 0 if they leave nothing.
    fn can_draw(&self, released: &[u64], total: Ordering) -> bool {
        match self.outputs {
            OutputSet::Restored => total.is_eq() || (total.is_gt() && released.ends_with(&[0])),
            _ => true,
        }
    }
}
