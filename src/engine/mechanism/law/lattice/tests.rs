use std::collections::BTreeMap;

use super::super::{Outputs, Recipe};
use super::*;
use crate::posterior::model::{Counts, Prior};
use crate::posterior::simplex::BLOCK;

/// The clamped law from all noise vectors that matter.
fn brute_force(noise: LatticeNoise, x: &[u64]) -> BTreeMap<Counts, f64> {
    let (n, k) = (x.iter().sum::<u64>() as i64, x.len());
    let far = (0..).find(|&z| noise.factor(z) < 1e-20).unwrap() as i64;
    let mut masses = BTreeMap::new();
    let side = (2 * far + 1) as usize;
    for code in 0..side.pow(k as u32 - 1) {
        let digit = |i: usize| (code / side.pow(i as u32) % side) as i64 - far;
        let mut z: Vec<i64> = (0..k - 1).map(digit).collect();
        z.push(-z.iter().sum::<i64>());
        let weight: f64 = z.iter().map(|z| noise.factor(z.unsigned_abs())).product();
        let clamped = |(z, &x): (&i64, &u64)| (x as i64 + z).clamp(0, n) as u64;
        *masses.entry(z.iter().zip(x).map(clamped).collect()).or_default() += weight;
    }
    let total: f64 = masses.values().sum();
    masses.values_mut().for_each(|mass| *mass /= total);
    masses
}

fn noises() -> [LatticeNoise; 6] {
    [
        LatticeNoise::Geometric { rate: 1.3 },
        LatticeNoise::Truncated { rate: 1.3, radius: 2 },
        LatticeNoise::Truncated { rate: 0.4, radius: 7 },
        LatticeNoise::Gaussian { sigma: 0.6 },
        LatticeNoise::Gaussian { sigma: 2.0 },
        // Much wider than the data.
        LatticeNoise::Gaussian { sigma: 7.5 },
    ]
}

#[test]
fn laws_and_their_logarithms_by_brute_force() {
    let data: [&[u64]; 6] = [&[3, 0], &[2, 5], &[1, 0], &[1, 0, 3], &[0, 0, 4], &[2, 2, 1]];
    for noise in noises() {
        for counts in data {
            let prior = Prior::new(vec![1.0; counts.len()]).unwrap();
            let posterior = Posterior::new(prior, counts.to_vec());
            let direct = brute_force(noise, counts);
            let law = Lattice::new(&posterior, noise);
            let outputs = Outputs::of(Recipe::Lattice { noise }, posterior.n(), posterior.k());
            let list = outputs.list();
            let logs = ln_probabilities(noise, &posterior, &list);
            for (output, ln_p) in list.iter().zip(logs) {
                let expected = direct.get(output).copied().unwrap_or(0.0);
                let what = format!("{noise:?} {counts:?} {output:?}: {expected}");
                assert!((law.mass(output) / law.total - expected).abs() < 1e-14, "{what}");
                assert!((exp_accurate(ln_p) - expected).abs() < 1e-14, "{what} {ln_p}");
                if let LatticeNoise::Truncated { .. } = noise {
                    assert_eq!(ln_p == f64::NEG_INFINITY, expected == 0.0, "{what} {ln_p}");
                }
            }
            assert!((walked(&law) - 1.0).abs() < 1e-13, "{noise:?} {counts:?}");
            let exact = direct.get(counts).copied().unwrap_or(0.0);
            assert!((law.p_exact() - exact).abs() < 1e-14);
        }
    }
}

/// The probability of all outputs that are walked.
fn walked(law: &Lattice) -> f64 {
    let (mut whole, mut masses) = (0.0, [0.0; BLOCK]);
    let blocks = law.blocks().unwrap();
    for block in 0..blocks.len() {
        law.region().walk(blocks, block, |row| {
            let masses = &mut masses[..row.len];
            law.masses(row, masses);
            whole += masses.iter().sum::<f64>();
        });
    }
    whole / law.normaliser()
}

/// On both sides of the σ from which a sum is taken for an integral.
#[test]
fn totals_are_sums() {
    for k in [2, 3, 5] {
        for sigma in [SMOOTH, 6.5] {
            let noise = LatticeNoise::Gaussian { sigma };
            let reach = noise.reach(k).0;
            let direct = noise.sums(k, reach).get(0);
            assert!((noise.total(k) / direct - 1.0).abs() < 1e-13, "{k} {sigma}");
        }
        let truncated = LatticeNoise::Truncated { rate: 0.3, radius: 4 };
        let factors: Vec<f64> = (-4_i64..=4).map(|z| truncated.factor(z.unsigned_abs())).collect();
        let mut sums = Signed { first: 0, values: vec![1.0] };
        for _ in 0..k {
            sums = sums.convolved(&factors, -4);
        }
        assert!((truncated.total(k) / sums.get(0) - 1.0).abs() < 1e-14, "{k}");
    }
}

#[test]
fn convolutions_within_a_range_are_the_same() {
    let own = Signed { first: -3, values: vec![0.5, 2.0, 0.0, 1.0, 4.0] };
    let tail = [1.0, 0.25, 3.0, 0.5];
    let whole = own.convolved(&tail, 0);
    for furthest in [0, 1, 2, 3, 8, i64::MAX >> 1] {
        let part = own.convolved_within(&tail, furthest);
        for place in -9..9_i64 {
            let expected = if place.abs() <= furthest { whole.get(place) } else { 0.0 };
            assert_eq!(part.get(place), expected, "{furthest} {place}");
        }
    }
}
