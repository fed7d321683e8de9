//! Draws of wide laws against the laws, where both are computed, and against limits.

use statrs::function::beta::beta_reg;

use super::brute::{method, seen};
use crate::release::posterior::law::Law;
use crate::release::posterior::wide::WideLaw;
use crate::release::posterior::{CountsLaw, Inferred, Published, PublishedNoise, Sampled};
use engine::posterior::model::Prior;
use engine::rng::{Stream, stream, uniform};

/// A standard normal number is further away in 6 of 10 million cases: of the 400 numbers below one is too far in one
/// of 4000 runs. A distribution function that is off by 0.01 is 7 errors away.
const ERRORS: f64 = 5.0;

/// Compares draws with a share's distribution function at its quantiles, and with its mean.
fn check(drawn: &Sampled, law: &CountsLaw, what: &str) {
    let all: Vec<usize> = (0..law.prior().k()).collect();
    for cell in &all {
        let share = law.share(&[*cell]);
        let (mean, _) = drawn.share(&[*cell], &all, 0.9);
        let z = (mean.value - share.mean()) / mean.error.max(1e-9);
        assert!(z.abs() < ERRORS, "{what}, cell {cell}: mean {mean:?}, not {}", share.mean());
        for level in [0.1, 0.6, 0.98] {
            let (_, limits) = drawn.share(&[*cell], &all, level);
            for (limit, p) in limits.into_iter().zip([0.5 - 0.5 * level, 0.5 + 0.5 * level]) {
                let error = (p * (1.0 - p) / drawn.draws() as f64).sqrt();
                // Shares that are 0 or 1 as doubles are not continuous.
                let (below, up_to) =
                    (share.below(limit.value.next_down()), share.below(limit.value.next_up()));
                let is_near = below - ERRORS * error < p && p < up_to + ERRORS * error;
                assert!(is_near, "{what}, cell {cell}: {p} is between {below} and {up_to}");
            }
        }
    }
}

const DRAWS: usize = 1 << 17;

fn between(low: f64, high: f64, rng: &mut Stream) -> f64 {
    low * (high / low).powf(uniform(rng))
}

/// Public and private numbers of records, all kinds of noise, and priors below and above 1.
#[test]
fn draws_have_the_law_that_is_computed() {
    let mut rng = stream(5, "wide laws");
    for number in 0..12 {
        let k = 2 + number % 3;
        let strength = between(0.02, 3.0, &mut rng);
        let prior: Vec<f64> = (0..k).map(|_| between(0.3, 3.0, &mut rng) * strength).collect();
        let scale = between(0.5, 12.0, &mut rng);
        let kinds = [
            "discrete-laplace(scale=S)",
            "discrete-gaussian(sigma=S)",
            "gaussian(sigma=S)",
            "-abs(t)/S",
        ];
        let text = kinds[number / 3 % 4].replace('S', &scale.to_string());
        let rounded = text.starts_with("gaussian");
        let noise = PublishedNoise::parse(&text, rounded, number % 2 == 0).unwrap();
        let values: Vec<f64> = (0..k).map(|_| (30.0 * (uniform(&mut rng) - 0.3)).round()).collect();
        let values: Vec<f64> = match number % 2 {
            0 => values.iter().map(|value| value.max(0.0)).collect(),
            _ => values,
        };
        let n = (number % 5 < 2).then_some(5 + (uniform(&mut rng) * 40.0) as u64);
        let published = [Published { noise: &noise, values: &values }];
        let prior = Prior::new(prior).unwrap();
        let what = format!("{number}: {text} {:?} n = {n:?} {values:?}", prior.alpha());
        let Law::Exact(law) = Inferred::new(&prior, n, &published).unwrap().law else {
            panic!("{what} is not computed")
        };
        let wide = WideLaw::of_published(&prior, n, &published).unwrap();
        check(&Sampled::of(&[Law::Wide(Box::new(wide))], DRAWS), &law, &what);
    }
}

/// Mechanism, prior, n, ε and released counts.
type Case = (&'static str, &'static [f64], u64, &'static str, &'static [u64]);

/// Releases of dpbi whose counts have some thousand values: their weights are not tabulated.
#[test]
fn draws_of_releases_have_the_law_that_is_computed() {
    let cases: [Case; 5] = [
        ("geometric", &[1.0, 1.0], 60_000, "0.003", &[20_000, 40_000]),
        ("geometric", &[0.05, 0.02], 60_000, "0.0001", &[0, 60_000]),
        ("lattice", &[1.0, 2.0, 0.5], 9000, "0.01", &[2000, 7000, 0]),
        ("lattice", &[0.05, 0.01, 0.02], 9000, "0.001", &[4000, 5000, 0]),
        ("geometric-all", &[3.0, 1.0, 40.0], 9000, "0.002", &[2000, 9000, 100]),
    ];
    for (id, alpha, n, epsilon, released) in cases {
        let method = method(id, alpha, n, epsilon);
        let seen = [seen(&method, released)];
        let wide = CountsLaw::wide(&seen, "a test asks for draws".to_owned()).unwrap();
        let drawn = Sampled::of(&[Law::Wide(Box::new(wide))], DRAWS);
        check(&drawn, &CountsLaw::given(&seen).unwrap(), &format!("{id} {alpha:?} {released:?}"));
    }
}

/// Draws depend on what is known of the cells, not on their order.
#[test]
fn the_order_of_cells_changes_no_draw() {
    let noise = PublishedNoise::geometric(1e-5).unwrap();
    let shares = |order: [usize; 3], n: Option<u64>| {
        let (alpha, values) = ([1.0, 0.5, 2.0], [400.0, 0.0, 90_000.0]);
        let prior = Prior::new(order.map(|cell| alpha[cell]).to_vec()).unwrap();
        let values = order.map(|cell| values[cell]);
        let published = [Published { noise: &noise, values: &values }];
        let drawn = Sampled::new(&[Inferred::new(&prior, n, &published).unwrap().law]);
        order.map(|cell| {
            let place = order.iter().position(|one| *one == cell).unwrap();
            let group: Vec<usize> =
                (0..3).map(|i| order.iter().position(|one| *one == i).unwrap()).collect();
            (cell, drawn.share(&[place], &group, 0.9))
        })
    };
    for n in [None, Some(80_000)] {
        let mut turned = shares([2, 0, 1], n);
        turned.sort_by_key(|one| one.0);
        assert_eq!(shares([0, 1, 2], n), turned, "{n:?}");
    }
}

/// Without a number of records and with zeros alone, noise that is wider than any prior tells nothing: shares have their
/// prior's law, and the number of records is exponential with the rate of the noise.
#[test]
fn at_a_tiny_epsilon_the_prior_is_left() {
    for alpha in [vec![1.0, 2.0, 0.5], vec![0.3, 0.2], vec![1.0; 40]] {
        for rate in [1e-9, 1e-6, 1e-4] {
            let noise = PublishedNoise::geometric(rate).unwrap();
            let values = vec![0.0; alpha.len()];
            let published = [Published { noise: &noise, values: &values }];
            let prior = Prior::new(alpha.clone()).unwrap();
            let found = Inferred::new(&prior, None, &published).unwrap();
            let drawn = Sampled::new(&[found.law]);
            let all: Vec<usize> = (0..alpha.len()).collect();
            let (mean, limits) = drawn.share(&[0], &all, 0.9);
            let (a, b) = (alpha[0], prior.total() - alpha[0]);
            assert!((mean.value - a / (a + b)).abs() < ERRORS * mean.error, "{alpha:?} {rate}");
            for (limit, p) in limits.into_iter().zip([0.05, 0.95]) {
                let error = (p * (1.0 - p) / drawn.draws() as f64).sqrt();
                let below = beta_reg(a, b, limit.value);
                assert!((below - p).abs() < ERRORS * error, "{alpha:?} {rate}: {below} {p}");
            }
            // The mean is 1/(e^rate − 1).
            let (records, _) = drawn.records(0.9);
            let mean = 1.0 / rate.exp_m1();
            assert!(
                (records.value - mean).abs() < ERRORS * records.error,
                "{alpha:?} {rate}: {records:?}"
            );
        }
    }
}

/// What a figure shows of draws is smooth, and near to the law: a twentieth of its standard deviation away.
#[test]
fn smoothed_draws_are_near_to_the_law() {
    let noise = PublishedNoise::geometric(0.05).unwrap();
    for (values, n) in [([90.0, 30.0, 0.0], None), ([2000.0, 900.0, 40.0], Some(2950))] {
        let published = [Published { noise: &noise, values: &values }];
        let prior = Prior::new(vec![1.0; 3]).unwrap();
        let found = Inferred::new(&prior, n, &published).unwrap();
        let share = found.law.exact().unwrap().share(&[1]);
        let deviation = share.moments().1.sqrt();
        let smoothed = Sampled::new(&[found.law]).smoothed(&[1], &[0, 1, 2]);
        for p in [0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99] {
            let (ours, theirs) = (smoothed.quantile(p), share.quantile(p));
            assert!((ours - theirs).abs() < 0.05 * deviation, "{n:?} {p}: {ours} {theirs}");
            let (ours, theirs) = (smoothed.density(theirs), share.density(theirs));
            assert!((ours / theirs - 1.0).abs() < 0.1, "{n:?} {p}: {ours} {theirs}");
        }
    }
}

/// The sum of a discrete Gaussian law's tail, by its integral and term by term.
#[test]
fn wide_sums_are_integrals() {
    let noise = |sigma: f64| {
        PublishedNoise::parse(&format!("discrete-gaussian(sigma={sigma})"), false, true).unwrap()
    };
    let sigma = 1000.0;
    let by_integral = noise(sigma).logs(0.0, 0, 6000).unwrap();
    let mut tail = 0.0;
    let mut sums: Vec<f64> = (0..40_000)
        .rev()
        .map(|z| {
            tail += (-0.5 * (f64::from(z) / sigma).powi(2)).exp();
            tail
        })
        .collect();
    sums.reverse();
    for x in [0, 1, 500, 2000, 6000] {
        let [ours, theirs] = [by_integral[x] - by_integral[0], (sums[x] / sums[0]).ln()];
        assert!((ours - theirs).abs() < 1e-11 * (1.0 + theirs.abs()), "{x}: {ours} {theirs}");
    }
}
