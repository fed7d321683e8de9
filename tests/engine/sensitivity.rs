//! Sensitivities against brute force over all data sets and candidates.

use engine::posterior::distance;
use engine::posterior::model::{Posterior, Prior, hamming_distance, neighbours};
use engine::posterior::simplex::list_compositions;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// The distance between Dir(α + x) and Dir(α + y) from plain log-gammas, `power` = 1 or 1/ln N.
fn naive_distance(alpha: &[f64], x: &[u64], y: &[u64], power: f64) -> f64 {
    let ln_bc: f64 = alpha
        .iter()
        .zip(x.iter().zip(y))
        .map(|(a, (x, y))| {
            let (a, b) = (a + *x as f64, a + *y as f64);
            libm::lgamma(0.5 * (a + b)) - 0.5 * libm::lgamma(a) - 0.5 * libm::lgamma(b)
        })
        .sum();
    (-libm::expm1((power * ln_bc).min(0.0))).sqrt()
}

/// Priors whole and not, small and large; counts with empty categories among them.
fn case() -> impl Strategy<Value = (Vec<f64>, Vec<u64>)> {
    let parameter =
        prop_oneof![Just(1.0), (1..9_u32).prop_map(f64::from), 0.05..3.0_f64, 3.0..40.0_f64,];
    (2..=5_usize).prop_flat_map(move |k| {
        let most: u64 = [24, 10, 5, 4][k - 2];
        let count = prop_oneof![1 => Just(0), 2 => 0..=most];
        (
            prop::collection::vec(parameter.clone(), k),
            prop::collection::vec(count, k).prop_filter("no data", |x| x.iter().sum::<u64>() > 0),
        )
    })
}

/// The same 2000 cases at every run.
fn config() -> ProptestConfig {
    let rng_seed = RngSeed::Fixed(20_190_215);
    ProptestConfig {
        cases: 2_000,
        rng_seed,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn smooth_sensitivities_equal_brute_force(
        (alpha, counts) in case(),
        gamma in prop_oneof![Just(0.0), 0.01..3.0_f64],
        beta in prop_oneof![Just(0.0), 0.005..1.5_f64],
        print in any::<bool>(),
    ) {
        let n: u64 = counts.iter().sum();
        let total = n as f64 + alpha.iter().sum::<f64>();
        let power = if print { 1.0 / libm::log(total) } else { 1.0 };
        let distance = distance::find(if print { "print" } else { "hellinger" }).unwrap();
        let posterior = Posterior::new(Prior::new(alpha.clone()).unwrap(), counts.clone());
        let ours = distance.sensitivity(&posterior);

        let local = |x: &Vec<u64>| {
            let moves = neighbours(x).map(|y| naive_distance(&alpha, x, &y, power));
            moves.fold(0.0, f64::max)
        };
        let all: Vec<(Vec<u64>, f64)> = list_compositions(n, alpha.len())
            .into_iter()
            .map(|x| {
                let local = local(&x);
                (x, local)
            })
            .collect();
        let maximum = |value: &dyn Fn(f64, f64) -> f64| {
            all.iter().map(|(x, local)| value(*local, hamming_distance(&counts, x))).fold(0.0, f64::max)
        };
        // Plain log-gammas carry errors of about 1e-14 in ln BC: 1e-11 relative in a small h.
        let close = |ours: f64, brute: f64| (ours - brute).abs() <= 1e-11 * brute;
        prop_assert!(close(ours.local(), local(&counts)));
        prop_assert!(close(ours.global(), maximum(&|h, _| h)));
        prop_assert!(close(ours.gamma_smooth(gamma), maximum(&|h, d| 1.0 / (1.0 / h + gamma * d))));
        prop_assert!(close(ours.beta_smooth(beta), maximum(&|h, d| h * libm::exp(-beta * d))));
    }

    /// icml Lemma 5.4: no candidate sees a larger change of score than the old posterior itself.
    #[test]
    fn the_local_sensitivity_is_the_largest_change_of_score((alpha, counts) in case()) {
        let posterior = Posterior::new(Prior::new(alpha.clone()).unwrap(), counts.clone());
        let local = distance::HELLINGER.sensitivity(&posterior).local();
        let candidates = list_compositions(counts.iter().sum(), alpha.len());
        for y in neighbours(&counts) {
            for r in &candidates {
                let change = naive_distance(&alpha, &counts, r, 1.0) - naive_distance(&alpha, &y, r, 1.0);
                prop_assert!(change.abs() <= local * (1.0 + 1e-10));
            }
        }
    }
}
