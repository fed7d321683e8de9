//! notes §4.4: what the theory curves of Figures 5 (b) to 8 (b) show for Laplace noise.

use engine::numeric::{exp_accurate, expm1};

/// The "probability" of a candidate r: Π over the first k − 1 counts of e^(−aε/2) − e^(−(a+1)ε/2), over
/// Γ(number of distinct a) · 2^(number of a ≠ 0), where a = |r_i − x_i|.
///
/// Each factor halves P[a <= |Lap(2/ε)| < a + 1] if a ≠ 0. The factor Γ has no justification: over all
/// candidates the values sum to less than 1, at (20, 20, 20, 20) to 0.744.
pub fn notes_laplace(epsilon: f64, x: &[u64], r: &[u64]) -> f64 {
    let moved = x.iter().zip(r).map(|(x, r)| x.abs_diff(*r)).take(x.len() - 1);
    let mut moved: Vec<u64> = moved.collect();
    let step = -expm1(-0.5 * epsilon);
    let factor = |&a: &u64| {
        let side = if a == 0 { 1.0 } else { 0.5 };
        side * step * exp_accurate(-0.5 * epsilon * a as f64)
    };
    let product: f64 = moved.iter().map(factor).product();
    moved.sort_unstable();
    moved.dedup();
    // Γ(m) = (m − 1)!
    let gamma: f64 = (1..moved.len()).map(|i| i as f64).product();
    product / gamma
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::posterior::simplex::list_compositions;

    #[test]
    fn the_values_do_not_sum_to_1() {
        let sum = |x: &[u64]| -> f64 {
            let all = list_compositions(x.iter().sum(), x.len());
            all.iter().map(|r| notes_laplace(0.8, x, r)).sum()
        };
        for (x, expected) in [
            (&[49, 49][..], 0.999_999_997_938_846),
            (&[20, 20, 20], 0.999_262_411_035_747),
            (&[20; 4], 0.743_817_324_527_366),
            (&[1, 1, 1, 77], 0.380_627_452_250_038),
        ] {
            let sum = sum(x);
            assert!((sum - expected).abs() < 1e-12, "{x:?}: {sum}");
        }
    }
}
