//! The exact laws of large settings (balls, plateaus, diamonds, histograms instead of sorting)
//! against a plain program that lists and sorts every output.

mod common;

use common::setting;
use dpbi::distance;
use dpbi::field::Reach;
use dpbi::law::{Exact, Recipe};
use dpbi::mechanism::{self, Variant};
use dpbi::numeric::sum::sum;
use dpbi::setting::Setting;
use dpbi::workbench::Workbench;

fn recipe(setting: &Setting, id: &str) -> Recipe {
    Variant::plain(mechanism::find(id).unwrap()).recipe(setting).unwrap()
}

fn ours(setting: &Setting, recipe: Recipe) -> Exact {
    let bench = Workbench::new(setting, &[recipe], &[]);
    Exact::new(bench.law(recipe).as_ref(), bench.fields().next().unwrap())
}

/// lnΓ at α_i + v/2, for v = 0, …, 2n.
fn half_steps(alpha: f64, n: u64) -> Vec<f64> {
    (0..=2 * n).map(|v| libm::lgamma(alpha + 0.5 * v as f64)).collect()
}

/// ln BC's terms D_i(v) from log-gammas: independent, and good enough at small n.
fn terms(setting: &Setting) -> Vec<Vec<f64>> {
    let posterior = &setting.posterior;
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

fn assert_same(ours: Exact, plain: [f64; 4], relative: f64, what: &str) {
    let error = ours.error.unwrap();
    let ours = [error.mean, error.std, error.median, error.q90];
    for (ours, plain) in ours.into_iter().zip(plain) {
        assert!((ours - plain).abs() <= relative * plain, "{what}: {ours} instead of {plain}");
    }
}

#[test]
fn exponential_mechanisms_in_balls_equal_full_enumeration() {
    let cases: [(&[f64], &[u64], f64, &str); 8] = [
        (&[1.0, 1.0], &[10_000, 10_000], 1.0, "hellinger"),
        (&[0.6, 2.3], &[1, 19_999], 1.0, "hellinger"),
        (&[1.0, 1.0], &[0, 15_000], 4.0, "hellinger"),
        (&[1.0, 1.0], &[3_000, 17_000], 1.0, "print"),
        (&[1.0, 1.0, 1.0], &[463, 247, 21], 1.0, "hellinger"),
        (&[1.0, 0.4, 2.0], &[1_400, 0, 600], 1.0, "hellinger"),
        (&[1.0, 1.0, 1.0], &[700, 700, 600], 3.0, "print"),
        (&[1.0, 1.0, 1.0], &[1, 1, 1_998], 1.0, "hellinger"),
    ];
    for (prior, counts, epsilon, distance) in cases {
        let setting = setting(prior, counts, epsilon, distance);
        let n = setting.posterior.n();
        // Full tables: no ball.
        let reach = Reach { windows: vec![(0, n); counts.len()], ball: false };
        let field = setting.distance.field(&setting.posterior, &reach);
        let errors: Vec<f64> = if counts.len() == 2 {
            (0..=n).map(|v| field.at(&[v, n - v])).collect()
        } else {
            let rows = (0..=n).flat_map(|a| (0..=n - a).map(move |b| (a, b)));
            rows.map(|(a, b)| field.at(&[a, b, n - a - b])).collect()
        };
        for id in ["ehd", "ehds", "ehdl"] {
            let recipe = recipe(&setting, id);
            let Recipe::Exponential { rate } = recipe else { panic!("{id}") };
            let law = errors.iter().map(|&h| (h, libm::exp(-rate * h))).collect();
            let what = format!("{} {id}", setting.key());
            assert_same(ours(&setting, recipe), plain_summary(law), 1e-12, &what);
        }
    }
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
    ] {
        let setting = setting(&prior, &counts, epsilon, "hellinger");
        let terms = terms(&setting);
        let n = setting.posterior.n() as usize;
        let alpha: f64 = prior.iter().sum();
        let total = |t: usize| {
            let (a, b) = (alpha + n as f64, alpha + t as f64);
            libm::lgamma(0.5 * (a + b)) - 0.5 * libm::lgamma(a) - 0.5 * libm::lgamma(b)
        };
        let totals: Vec<f64> = (0..=3 * n).map(total).collect();
        let recipe = recipe(&setting, "lszhang");
        let Recipe::Noise { scale, .. } = recipe else { panic!() };
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
        assert_same(ours(&setting, recipe), plain_summary(law), 1e-10, &setting.key());
    }
}

#[test]
fn the_hamming_mechanism_equals_full_enumeration() {
    let setting = setting(&[1.0, 0.5, 2.0], &[463, 247, 21], 0.2, "hellinger");
    let terms = terms(&setting);
    let recipe = recipe(&setting, "hamming");
    let Recipe::Hamming { rate } = recipe else { panic!() };
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
    assert_same(ours(&setting, recipe), plain_summary(law), 1e-10, "hamming");
}

/// Print is 1 only much further out than Hellinger: the ball must be the larger one.
#[test]
fn an_error_with_a_larger_ball_than_the_score_is_exact_too() {
    let setting = setting(&[1.0, 1.0], &[20_000, 20_000], 1.0, "hellinger");
    let n = 40_000;
    let full = Reach { windows: vec![(0, n); 2], ball: false };
    let score = setting.distance.field(&setting.posterior, &full);
    let print = distance::find("print").unwrap().field(&setting.posterior, &full);
    let recipe = recipe(&setting, "ehd");
    let Recipe::Exponential { rate } = recipe else { panic!() };
    let pair = |v: u64| (print.at(&[v, n - v]), libm::exp(-rate * score.at(&[v, n - v])));
    let metric = dpbi::metric::find("print").unwrap();
    let bench = Workbench::new(&setting, &[recipe], &[metric]);
    let ours = Exact::new(bench.law(recipe).as_ref(), bench.fields().nth(1).unwrap());
    assert_same(ours, plain_summary((0..=n).map(pair).collect()), 1e-12, "print under ehd");
}
