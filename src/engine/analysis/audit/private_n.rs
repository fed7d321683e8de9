//! The privacy of noise on counts whose sum is private, over all data sets of at most n records.
//!
//! Neighbours differ by one record more or less. Every count x gets noise z with P ∝ e^(−ε|z|), and becomes 0 if it
//! is negative then. All counts but one are equal, and their probabilities cancel: what matters is how the law of one
//! count changes from x to x + 1. An output above x is likelier by e^ε then, and any other one is less likely by e^ε:
//! the noise that a clamped output stands for reaches one step further. P\[output > x\] does not depend on x, so that
//! x = 0 stands for all.

use super::{DeltaAt, Findings, Loss};
use crate::numeric::{exp_accurate, expm1};
use crate::posterior::model::compositions;
use crate::posterior::privacy::Epsilon;

/// What such an audit finds.
#[derive(Clone, Debug, PartialEq)]
pub struct PrivateN {
    /// If one record is added or removed.
    pub findings: Findings,
    /// The largest loss if one record is replaced by another one.
    pub replaced: f64,
}

/// Each probability is a quotient of functions that are accurate to two units in the last place.
const ROUNDING: f64 = 1e-15;

/// Audits noise of rate ε on k counts, and finds δ at each of `epsilons`.
pub fn examine_private_n(epsilon: Epsilon, k: usize, n: u64, epsilons: &[f64]) -> PrivateN {
    let none = vec![0; k];
    let mut one = none.clone();
    one[0] = u64::from(n > 0);
    // With at most n − 1 records, each count may grow.
    let fewer = n.checked_sub(1).and_then(|most| compositions(most, k + 1)).unwrap_or(0);
    let loss = if n > 0 { epsilon.get() } else { 0.0 };
    let delta = |&at: &f64| {
        // P[output > 0] from one record, less e^at times that from none.
        let delta = (-expm1(at - loss)).max(0.0) / (1.0 + exp_accurate(-loss));
        DeltaAt { epsilon: at, delta, from: one.clone(), to: none.clone() }
    };
    let findings = Findings {
        deltas: epsilons.iter().map(delta).collect(),
        loss: Loss {
            loss,
            bound: loss,
            from: one.clone(),
            output: one.clone(),
            to: none.clone(),
            pairs: u64::try_from(fewer.saturating_mul(k as u128)).unwrap_or(u64::MAX),
        },
        rounding: ROUNDING,
    };
    // One count grows, and another one falls.
    PrivateN { findings, replaced: if k > 1 { 2.0 * loss } else { 0.0 } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::posterior::model::Counts;
    use crate::posterior::simplex::list_compositions;

    /// The probability of every output up to `most` in each count, from a sum over the noise.
    fn law(rate: f64, counts: &[u64], most: u64) -> Vec<f64> {
        let total = |z: i64| (-rate * z.abs() as f64).exp() * (rate / 2.0).tanh();
        let one = |x: u64, output: u64| match output {
            0 => (-2000..=-(x as i64)).map(total).sum(),
            _ => total(output as i64 - x as i64),
        };
        counts.iter().fold(vec![1.0], |law: Vec<f64>, &x| {
            law.iter().flat_map(|p| (0..=most).map(move |output| p * one(x, output))).collect()
        })
    }

    /// All pairs of neighbours of at most 8 records.
    #[test]
    fn the_loss_and_deltas_are_those_of_all_pairs() {
        const AT: [f64; 3] = [0.0, 0.2, 0.7];
        for (rate, k, n) in [(1.0, 2, 8), (0.3, 3, 5), (2.5, 2, 6), (0.1, 2, 8)] {
            let most = 20;
            let (mut largest, mut replaced, mut pairs) = (0.0_f64, 0.0_f64, 0);
            let mut deltas = [0.0_f64; AT.len()];
            let all: Vec<Counts> = (0..=n).flat_map(|n| list_compositions(n, k)).collect();
            let laws: Vec<Vec<f64>> = all.iter().map(|x| law(rate, x, most)).collect();
            for (x, p) in all.iter().zip(&laws) {
                for (y, q) in all.iter().zip(&laws) {
                    let apart: u64 = x.iter().zip(y).map(|(a, b)| a.abs_diff(*b)).sum();
                    let (n_x, n_y): (u64, u64) = (x.iter().sum(), y.iter().sum());
                    let loss = || p.iter().zip(q).map(|(p, q)| (p / q).ln()).fold(0.0, f64::max);
                    match (apart, n_x == n_y) {
                        (1, _) => {
                            largest = largest.max(loss());
                            for (largest, at) in deltas.iter_mut().zip(AT) {
                                let delta =
                                    p.iter().zip(q).map(|(p, q)| (p - at.exp() * q).max(0.0)).sum();
                                *largest = largest.max(delta);
                            }
                            pairs += u64::from(n_x < n_y);
                        }
                        (2, true) => replaced = replaced.max(loss()),
                        _ => {}
                    }
                }
            }
            let found = examine_private_n(Epsilon::new(rate).unwrap(), k, n, &AT);
            assert!(largest <= rate + 1e-9 && (found.findings.loss.loss - largest).abs() < 1e-9);
            assert!(replaced <= 2.0 * rate + 1e-9 && (found.replaced - replaced).abs() < 1e-9);
            assert_eq!(found.findings.loss.pairs, pairs);
            // Outputs above 20 are missing from the sum.
            let missing = (-rate * (most - n) as f64).exp();
            for (found, delta) in found.findings.deltas.iter().zip(deltas) {
                assert!((found.delta - delta).abs() <= 2.0 * missing + 1e-12, "{found:?} {delta}");
            }
        }
    }

    #[test]
    fn without_records_nothing_is_lost() {
        let found = examine_private_n(Epsilon::new(1.0).unwrap(), 2, 0, &[0.0]);
        assert_eq!(
            (found.findings.loss.loss, found.replaced, found.findings.loss.pairs),
            (0.0, 0.0, 0)
        );
        assert_eq!(found.findings.deltas[0].delta, 0.0);
    }
}
