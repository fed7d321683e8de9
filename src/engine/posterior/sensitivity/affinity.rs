//! The distances sqrt(1 − BC^s) after one move, in closed form.

use std::sync::Arc;

use super::Moves;
use crate::memo::Memo;
use crate::numeric::expm1;
use crate::numeric::gamma::ln_phi;

/// These distances are metrics at equal totals, so the largest change is the move itself (icml Lemma 5.4):
/// sqrt(1 − (φ(α_i + p) φ(α_j + q))^s) if a record leaves category i, which keeps p, for category j, which had q
/// (s = 1 for Hellinger; s = 1/ln N for the print distance). φ increases, so it falls as p or q grows.
#[derive(Clone, Debug)]
pub struct AffinityMoves {
    /// For each category α_i, and ln φ(α_i + m) for small m.
    categories: Vec<(f64, Arc<[f64]>)>,
    power: f64,
}

/// So many values of ln φ are kept for each α: those that take long.
const KEPT: u64 = 30;

impl AffinityMoves {
    /// Moves of sqrt(1 − BC^power) under the prior Dir(α).
    pub fn new(alpha: &[f64], power: f64) -> Self {
        // Every data set asks for the same values.
        static KNOWN: Memo<u64, Arc<[f64]>> = Memo::new(1024);
        let kept = |&alpha: &f64| {
            let values = || (0..KEPT).map(|m| ln_phi(alpha + m as f64)).collect();
            (alpha, KNOWN.get(&alpha.to_bits(), values))
        };
        Self { categories: alpha.iter().map(kept).collect(), power }
    }

    fn ln_phi(&self, i: usize, m: u64) -> f64 {
        let (alpha, kept) = &self.categories[i];
        kept.get(m as usize).copied().unwrap_or_else(|| ln_phi(alpha + m as f64))
    }
}

impl Moves for AffinityMoves {
    fn change(&self, (i, p): (usize, u64), (j, q): (usize, u64)) -> f64 {
        (-expm1(self.power * (self.ln_phi(i, p) + self.ln_phi(j, q)))).sqrt()
    }
}
