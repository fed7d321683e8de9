//! Geometric noise that sums to 0 in whole-number arithmetic.

use std::cmp::Ordering;

use super::super::coins::{Coins, ExactDraws, Ratio, sum_zero};
use crate::posterior::model::Counts;

/// x plus noise that sums to 0, clamped to [0, n].
pub struct Clamped {
    /// The rate of every coordinate.
    pub rate: Ratio,
}

impl ExactDraws for Clamped {
    fn draw(&self, x: &[u64], coins: &mut dyn Coins) -> Counts {
        let n: u64 = x.iter().sum();
        let noise = sum_zero(self.rate, x.len(), coins);
        let clamped =
            |(&x, z): (&u64, i128)| i128::from(x).saturating_add(z).clamp(0, i128::from(n));
        x.iter().zip(noise).map(clamped).map(|v| v as u64).collect()
    }

    /// Only counts that would be negative, and become 0, add to the total.
    fn can_draw(&self, released: &[u64], total: Ordering) -> bool {
        total.is_eq() || (total.is_gt() && released.contains(&0))
    }
}
