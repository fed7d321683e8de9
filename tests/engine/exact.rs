//! The exact laws of large settings (balls, plateaus, diamonds, histograms instead of sorting)
//! against a plain program that lists and sorts every output.

use std::sync::Arc;

use crate::settings::setting;
use engine::mechanism::Mechanism;
use engine::mechanism::law::{Batch, Bench, ErrorSummary, Law};
use engine::numeric::sum::sum;
use engine::posterior::distance;
use engine::posterior::error_field::Reach;
use engine::posterior::setting::SettingWithData;
use engine::posterior::simplex::list_compositions;
use engine::rng;
use rayon::prelude::*;
use statrs::distribution::{ChiSquared, ContinuousCDF};

fn law(setting: &SettingWithData, id: &str) -> Arc<dyn Law> {
    Mechanism::parse(id).unwrap().law(setting).unwrap()
}

/// The number before the score.
fn rate(law: &dyn Law, setting: &SettingWithData) -> f64 {
    law.at(setting.posterior()).unwrap().rate().unwrap()
}

fn ours(setting: &SettingWithData, law: &dyn Law) -> ErrorSummary {
    let bench = Bench::with_summaries(setting.posterior(), setting.distance, [law], &[]).unwrap();
    ErrorSummary::new(bench.law(0).as_ref(), bench.distance())
}

/// lnΓ at α_i + v/2, for v = 0, …, 2n.
fn half_steps(alpha: f64, n: u64) -> Vec<f64> {
    (0..=2 * n).map(|v| libm::lgamma(alpha + 0.5 * v as f64)).collect()
}

/// ln BC's terms D_i(v) from log-gammas: independent, and good enough at small n.
fn terms(setting: &SettingWithData) -> Vec<Vec<f64>> {
    let posterior = setting.posterior();
    let n = posterior.n();
    (0..posterior.k())
        .map(|i| {
            let x = posterior.counts()[i] as usize;
            let g = half_steps(posterior.alpha(i), n);
            (0..=n as usize).map(|v| g[x + v] - 0.5 * g[2 * x] - 0.5 * g[2 * v]).collect()
        })
        .collect()
}

/// Mean, standard deviation, median and 90 % quantile of a list of (error, weight).
fn plain_summary(mut law: Vec<(f64, f64)>) -> [f64; 4] {
    // A plain running sum of millions of terms would be the least accurate number here.
    let total = sum(law.iter().map(|l| l.1));
    let mean = sum(law.iter().map(|l| l.0 * l.1)) / total;
    let variance = sum(law.iter().map(|l| (l.0 - mean).powi(2) * l.1)) / total;
    law.sort_by(|a, b| a.0.total_cmp(&b.0));
    let quantile = |q: f64| {
        let mut running = 0.0;
        let reached = law.iter().find(|l| {
            running += l.1;
            running >= (q - 1e-12) * total
        });
        reached.unwrap().0
    };
    [mean, variance.sqrt(), quantile(0.5), quantile(0.9)]
}

fn assert_same(ours: ErrorSummary, plain: [f64; 4], relative: f64, what: &str) {
    let error = ours.error.unwrap();
    let ours = [error.mean, error.std, error.median, error.q90];
    for (ours, plain) in ours.into_iter().zip(plain) {
        assert!((ours - plain).abs() <= relative * plain, "{what}: {ours} instead of {plain}");
    }
}

/// Balanced and not, priors that are not whole, (1, n − 1), empty categories, categories that can be
/// exchanged (next to each other and apart), for both distances of the documents.
const BALLS: [(&[f64], &[u64], f64, &str); 18] = [
    (&[1.0, 1.0], &[10_000, 10_000], 1.0, "hellinger"),
    (&[1.0, 1.0], &[10_000, 10_000], 1.0, "print"),
    (&[0.6, 2.3], &[1, 19_999], 1.0, "hellinger"),
    (&[0.6, 2.3], &[1, 19_999], 1.0, "print"),
    (&[1.0, 1.0], &[0, 15_000], 4.0, "hellinger"),
    (&[1.0, 1.0], &[0, 15_000], 4.0, "print"),
    (&[1.0, 1.0], &[3_000, 17_000], 1.0, "print"),
    (&[1.0, 1.0, 1.0], &[463, 247, 21], 1.0, "hellinger"),
    (&[1.0, 0.4, 2.0], &[1_400, 0, 600], 1.0, "hellinger"),
    (&[1.0, 0.4, 2.0], &[1_400, 0, 600], 1.0, "print"),
    (&[1.0, 1.0, 1.0], &[700, 700, 600], 3.0, "print"),
    (&[1.0, 1.0, 1.0], &[500, 500, 500], 1.0, "hellinger"),
    (&[2.5, 1.0, 2.5], &[500, 400, 500], 1.0, "hellinger"),
    (&[1.0, 1.0, 1.0], &[1, 1, 1_998], 1.0, "hellinger"),
    (&[1.0, 1.0, 1.0], &[1, 0, 1_499], 1.0, "print"),
    (&[1.0, 1.0, 1.0, 1.0], &[50, 50, 50, 50], 1.0, "hellinger"),
    (&[0.7, 1.0, 0.7, 3.0], &[90, 40, 90, 0], 2.0, "hellinger"),
    (&[1.0, 1.0, 1.0, 1.0], &[0, 0, 1, 199], 1.0, "print"),
];

/// The error of every candidate, from full tables: no ball, no symmetry.
fn all_errors(setting: &SettingWithData) -> Vec<(Vec<u64>, f64)> {
    let (n, k) = (setting.n, setting.k());
    let reach = Reach { windows: vec![(0, n); k], ball: false };
    let field = setting.distance.field(setting.posterior(), &reach);
    let with_error = |candidate: Vec<u64>| (candidate.clone(), field.at(&candidate));
    list_compositions(n, k).into_iter().map(with_error).collect()
}

#[test]
fn exponential_mechanisms_in_balls_equal_full_enumeration() {
    for (prior, counts, epsilon, distance) in BALLS {
        let setting = setting(prior, counts, epsilon, distance);
        let errors = all_errors(&setting);
        let laws = ["ehd", "ehds", "ehdl"].map(|id| law(&setting, id));
        // All three in one pass.
        let all = laws.iter().map(|law| law.as_ref());
        let bench = Bench::with_summaries(setting.posterior(), setting.distance, all, &[]).unwrap();
        for place in 0..laws.len() {
            let rate = bench.at(place).rate().unwrap();
            let what = format!("{} {rate}", setting.key());
            let law: Vec<_> = errors.iter().map(|&(_, h)| (h, libm::exp(-rate * h))).collect();
            let normaliser = sum(law.iter().map(|(_, mass)| *mass));
            let ours = bench.law(place);
            let off = ours.normaliser() / normaliser - 1.0;
            assert!(off.abs() <= 1e-13, "{what}: {off:e}");
            let exact = ErrorSummary::new(ours.as_ref(), bench.distance());
            assert_same(exact, plain_summary(law), 1e-12, &what);
        }
    }
}

/// The number of equally likely classes of draws, and draws.
const CLASSES: usize = 40;
const DRAWS: usize = 20_000;
/// A false alarm in one of the comparisons below has this probability, divided among them.
const FALSE_ALARMS: f64 = 1e-6;

/// What candidates are ordered by.
type Order<'a> = &'a dyn Fn(&[u64]) -> f64;

/// Draws from the ball and its plateau against the law of full enumeration, by χ²: candidates are
/// ordered by their error, and by their first and their last count, and divided into classes.
/// Returns the smallest probability of so large a χ² for each pair of what is drawn and the rate that is
/// expected.
fn worst_fits(setting: &SettingWithData, pairs: &[(Arc<dyn Law>, f64)]) -> Vec<f64> {
    let k = setting.k();
    let field = setting.distance.field(setting.posterior(), &Reach::ball(setting.posterior()));
    let all = all_errors(setting);
    let draws: Vec<Vec<u64>> = (pairs.iter())
        .map(|(drawn, expected)| {
            let bench =
                Bench::new(setting.posterior(), setting.distance, [drawn.as_ref()], &[]).unwrap();
            let name = format!("{} {expected}", setting.key());
            let mut batches = [Batch::new(rng::stream(3, &name), DRAWS, k)];
            bench.law(0).draw(k, &mut batches);
            std::mem::take(&mut batches[0].released)
        })
        .collect();
    let by_error = |c: &[u64]| field.at(c);
    let by_first = |c: &[u64]| c[0] as f64;
    let by_last = |c: &[u64]| c[k - 1] as f64;
    let orders: [Order; 3] = [&by_error, &by_first, &by_last];
    let mut worst = vec![1.0_f64; pairs.len()];
    for order in orders {
        let mut sorted: Vec<(f64, f64)> = all.iter().map(|(c, h)| (order(c), *h)).collect();
        sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        for (((_, rate), draws), worst) in pairs.iter().zip(&draws).zip(&mut worst) {
            let law: Vec<(f64, f64)> =
                sorted.iter().map(|&(value, h)| (value, libm::exp(-rate * h))).collect();
            *worst = worst.min(fit(&law, draws.chunks_exact(k).map(order).collect()));
        }
    }
    worst
}

/// P[χ² as large as that of these draws] under a sorted law, in classes of equal probability.
fn fit(law: &[(f64, f64)], mut draws: Vec<f64>) -> f64 {
    draws.sort_by(f64::total_cmp);
    let total = sum(law.iter().map(|l| l.1));
    let (mut chi2, mut classes, mut mass, mut before) = (0.0, 0.0_f64, 0.0, 0);
    for (index, &(value, weight)) in law.iter().enumerate() {
        mass += weight / total;
        let last = index + 1 == law.len();
        // A class ends where enough is expected, at a value that no other class shares.
        let ends = last || law[index + 1].0 - value > 1e-9 * value;
        if last || (ends && mass >= 1.0 / CLASSES as f64) {
            let upto = draws.partition_point(|&v| v <= value * (1.0 + 1e-10));
            let upto = if last { draws.len() } else { upto };
            let expected = mass * DRAWS as f64;
            chi2 += ((upto - before) as f64 - expected).powi(2) / expected;
            (before, mass, classes) = (upto, 0.0, classes + 1.0);
        }
    }
    if classes < 2.0 { 1.0 } else { ChiSquared::new(classes - 1.0).unwrap().sf(chi2) }
}

#[test]
fn draws_from_balls_follow_full_enumeration() {
    BALLS.par_iter().for_each(|&(prior, counts, epsilon, distance)| {
        let setting = setting(prior, counts, epsilon, distance);
        let pairs = ["ehd", "ehds", "ehdl"].map(|id| {
            let law = law(&setting, id);
            let rate = rate(law.as_ref(), &setting);
            (law, rate)
        });
        let level = FALSE_ALARMS / (3 * 3 * BALLS.len()) as f64;
        for (p, (_, rate)) in worst_fits(&setting, &pairs).into_iter().zip(pairs) {
            assert!(p > level, "{} {rate}: {p:e}", setting.key());
        }
    });
}

#[test]
fn a_rate_ten_per_cent_off_is_noticed() {
    let (prior, counts, epsilon, distance) = BALLS[0];
    let setting = setting(prior, counts, epsilon, distance);
    let right = law(&setting, "ehdl");
    let wrong = right.widened(1.0 / 1.1).unwrap();
    assert!(worst_fits(&setting, &[(wrong, rate(right.as_ref(), &setting))])[0] < 1e-9);
}

/// P[⌊x + Lap(b)⌋ = v], clamped to [0, n], from differences of the distribution function.
fn laplace_marginal(scale: f64, x: u64, n: u64) -> Vec<f64> {
    let cdf = |t: f64| {
        if t < 0.0 { 0.5 * libm::exp(t / scale) } else { 1.0 - 0.5 * libm::exp(-t / scale) }
    };
    (0..=n)
        .map(|v| {
            let t = v as f64 - x as f64;
            let below = if v == 0 { 0.0 } else { cdf(t) };
            let above = if v == n { 1.0 } else { cdf(t + 1.0) };
            above - below
        })
        .collect()
}

#[test]
fn open_totals_equal_a_full_grid() {
    for (prior, counts, epsilon) in [
        ([1.0, 1.0, 1.0], [40, 25, 15], 0.5),
        ([0.5, 3.0, 1.25], [60, 0, 20], 1.0),
        ([1.0, 1.0, 1.0], [1, 1, 78], 0.1),
        ([1.0, 1.0, 1.0], [25, 25, 25], 0.5),
    ] {
        let setting = setting(&prior, &counts, epsilon, "hellinger");
        let terms = terms(&setting);
        let n = setting.n as usize;
        let alpha: f64 = prior.iter().sum();
        let total = |t: usize| {
            let (a, b) = (alpha + n as f64, alpha + t as f64);
            libm::lgamma(0.5 * (a + b)) - 0.5 * libm::lgamma(a) - 0.5 * libm::lgamma(b)
        };
        let totals: Vec<f64> = (0..=3 * n).map(total).collect();
        let law_of_outputs = law(&setting, "lszhang");
        let scale = 2.0 / epsilon;
        let marginals: Vec<_> =
            counts.iter().map(|&x| laplace_marginal(scale, x, n as u64)).collect();
        let mut law = Vec::new();
        for a in 0..=n {
            for b in 0..=n {
                for c in 0..=n {
                    let ln_bc = terms[0][a] + terms[1][b] + terms[2][c] - totals[a + b + c];
                    let error = (-libm::expm1(ln_bc.min(0.0))).sqrt();
                    law.push((error, marginals[0][a] * marginals[1][b] * marginals[2][c]));
                }
            }
        }
        let ours = ours(&setting, law_of_outputs.as_ref());
        assert_same(ours, plain_summary(law), 1e-10, &setting.key());
    }
}

#[test]
fn the_hamming_mechanism_equals_full_enumeration() {
    let setting = setting(&[1.0, 0.5, 2.0], &[463, 247, 21], 0.2, "hellinger");
    let terms = terms(&setting);
    let hamming = law(&setting, "hamming");
    let rate = 0.1;
    let n: usize = 731;
    let mut law = Vec::new();
    for a in 0..=n {
        for b in 0..=n - a {
            let c = n - a - b;
            let steps = a.abs_diff(463) + b.abs_diff(247) + c.abs_diff(21);
            let ln_bc = terms[0][a] + terms[1][b] + terms[2][c];
            let error = (-libm::expm1(ln_bc.min(0.0))).sqrt();
            law.push((error, libm::exp(-rate * 0.5 * steps as f64)));
        }
    }
    assert_same(ours(&setting, hamming.as_ref()), plain_summary(law), 1e-10, "hamming");
}

/// Print is 1 only much further out than Hellinger: the ball must be the larger one.
#[test]
fn an_error_with_a_larger_ball_than_the_score_is_exact_too() {
    let setting = setting(&[1.0, 1.0], &[20_000, 20_000], 1.0, "hellinger");
    let n = 40_000;
    let full = Reach { windows: vec![(0, n); 2], ball: false };
    let score = setting.distance.field(setting.posterior(), &full);
    let print = distance::find("print").unwrap().field(setting.posterior(), &full);
    let ehd = law(&setting, "ehd");
    let rate = rate(ehd.as_ref(), &setting);
    let pair = |v: u64| (print.at(&[v, n - v]), libm::exp(-rate * score.at(&[v, n - v])));
    let metric = engine::posterior::metric::find("print").unwrap();
    // Found in a pass of its own, and with the others.
    for bench in [
        Bench::new(setting.posterior(), setting.distance, [ehd.as_ref()], &[metric]),
        Bench::with_summaries(setting.posterior(), setting.distance, [ehd.as_ref()], &[metric]),
    ] {
        let bench = bench.unwrap();
        let ours = ErrorSummary::new(bench.law(0).as_ref(), bench.fields().nth(1).unwrap());
        assert_same(ours, plain_summary((0..=n).map(pair).collect()), 1e-12, "print under ehd");
    }
}
