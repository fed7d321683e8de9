use std::collections::BTreeMap;

use super::super::product::total_mass;
use super::*;
use crate::posterior::model::{Counts, Prior};

/// All noise vectors that matter, with their weights.
pub(super) fn vectors(noise: LatticeNoise, k: usize) -> impl Iterator<Item = (Vec<i64>, f64)> {
    let far = (0..).find(|&z| noise.factor(z) < 1e-22).unwrap() as i64;
    let side = (2 * far + 1) as usize;
    (0..side.pow(k as u32 - 1)).map(move |code| {
        let digit = |i: u32| (code / side.pow(i) % side) as i64 - far;
        let mut z: Vec<i64> = (0..k as u32 - 1).map(digit).collect();
        z.push(-z.iter().sum::<i64>());
        let weight = z.iter().map(|z| noise.factor(z.unsigned_abs())).product();
        (z, weight)
    })
}

/// The clamped law from all noise vectors that matter.
fn brute_force(noise: LatticeNoise, x: &[u64]) -> BTreeMap<Counts, f64> {
    let n = x.iter().sum::<u64>() as i64;
    let mut masses = BTreeMap::new();
    for (z, weight) in vectors(noise, x.len()) {
        let clamped = |(z, &x): (&i64, &u64)| (x as i64 + z).clamp(0, n) as u64;
        *masses.entry(z.iter().zip(x).map(clamped).collect()).or_default() += weight;
    }
    let total: f64 = masses.values().sum();
    masses.values_mut().for_each(|mass| *mass /= total);
    masses
}

#[test]
fn laws_and_their_logarithms_by_brute_force() {
    let data: [&[u64]; 6] = [&[3, 0], &[2, 5], &[1, 0], &[1, 0, 3], &[0, 0, 4], &[2, 2, 1]];
    for noise in [
        LatticeNoise::geometric(1.3),
        LatticeNoise::Geometric { rate: 1.3, radius: 2 },
        LatticeNoise::Geometric { rate: 0.4, radius: 7 },
        LatticeNoise::Gaussian { sigma: 0.6 },
        LatticeNoise::Gaussian { sigma: 2.0 },
        // Much wider than the data.
        LatticeNoise::Gaussian { sigma: 7.5 },
    ] {
        for counts in data {
            let prior = Prior::new(vec![1.0; counts.len()]).unwrap();
            let posterior = Posterior::new(prior, counts.to_vec());
            let direct = brute_force(noise, counts);
            let law = Clamping::new(&posterior, noise);
            let outputs = Outputs::new(OutputSet::Open, posterior.n(), posterior.k());
            let list = outputs.list();
            let logs = ln_probabilities(noise, &posterior, &list);
            for (output, ln_p) in list.iter().zip(logs) {
                let expected = direct.get(output).copied().unwrap_or(0.0);
                let what = format!("{noise:?} {counts:?} {output:?}: {expected}");
                assert!((law.mass(output) / law.total - expected).abs() < 1e-14, "{what}");
                assert!((exp_accurate(ln_p) - expected).abs() < 1e-14, "{what} {ln_p}");
                if let LatticeNoise::Geometric { .. } = noise {
                    assert_eq!(ln_p == f64::NEG_INFINITY, expected == 0.0, "{what} {ln_p}");
                }
            }
            let walked = total_mass(&law).unwrap() / law.normaliser();
            assert!((walked - 1.0).abs() < 1e-13, "{noise:?} {counts:?}");
            let exact = direct.get(counts).copied().unwrap_or(0.0);
            assert!((law.p_exact() - exact).abs() < 1e-14);
        }
    }
}
