//! All tables with their weights, one by one, and Beta laws from another library.

use statrs::function::beta::{beta_reg, ln_beta};
use statrs::function::gamma::ln_gamma;

pub use crate::release::method::tests::method;
use crate::release::{Method, Seen};
use engine::analysis::true_counts::CountNoise;
use engine::numeric::{Sum, exp_accurate, ln};
use engine::posterior::model::Counts;
use engine::posterior::simplex::list_compositions;

/// A release of a method.
pub fn seen<'a>(method: &'a Method, released: &'a [u64]) -> Seen<'a> {
    Seen { law: method.law(), setting: method.setting(), released }
}

/// P[released | x], up to a factor that does not depend on x.
fn likelihood(method: &Method, x: &[u64], released: &[u64]) -> f64 {
    let setting = method.setting();
    let n = setting.n;
    match method.law().count_noise(x.len()) {
        Some(CountNoise { noise, scale, noisy })
            if method.law().noisy_counts(x.len()).is_some() =>
        {
            let seen = x[..noisy].iter().zip(released);
            seen.map(|(&x, &v)| noise.probability(scale, x, n, v)).product()
        }
        // `tight` and `lattice`: e^(−ε d), where d is half the sum of all differences.
        _ => {
            let apart: u64 = x.iter().zip(released).map(|(x, r)| x.abs_diff(*r)).sum();
            exp_accurate(-0.5 * setting.epsilon.get() * apart as f64)
        }
    }
}

/// Every table with w(x), which sum to 1.
pub fn tables(releases: &[(&Method, &[u64])]) -> Vec<(Counts, f64)> {
    let setting = releases[0].0.setting();
    let alpha = setting.prior.alpha();
    let weigh = |x: Counts| {
        // The Dirichlet-multinomial probability, up to a constant.
        let terms = x.iter().zip(alpha).map(|(&x, &alpha)| {
            ln_gamma(alpha + x as f64) - ln_gamma(alpha) - ln_gamma(x as f64 + 1.0)
        });
        let predictive = exp_accurate(terms.sum());
        let seen: f64 = releases.iter().map(|(method, r)| likelihood(method, &x, r)).product();
        (x, predictive * seen)
    };
    let mut all: Vec<(Counts, f64)> =
        list_compositions(setting.n, setting.k()).into_iter().map(weigh).collect();
    let sum = all.iter().map(|(_, weight)| *weight).collect::<Sum>().value();
    all.iter_mut().for_each(|(_, weight)| *weight /= sum);
    all
}

/// Σ_x w(x) f(x).
pub fn average(tables: &[(Counts, f64)], mut f: impl FnMut(&[u64]) -> f64) -> f64 {
    tables.iter().map(|(x, weight)| weight * f(x)).collect::<Sum>().value()
}

/// The parameters of the share of some cells within a group.
pub fn parameters(alpha: &[f64], x: &[u64], cells: &[usize], group: &[usize]) -> (f64, f64) {
    let sum = |inside: bool| -> f64 {
        let chosen = group.iter().filter(|i| cells.contains(i) == inside);
        chosen.map(|&i| alpha[i] + x[i] as f64).sum()
    };
    (sum(true), sum(false))
}

/// P[θ <= x] of Beta(a, b).
pub fn beta_below((a, b): (f64, f64), x: f64) -> f64 {
    beta_reg(a, b, x)
}

/// The density of Beta(a, b).
pub fn beta_density((a, b): (f64, f64), x: f64) -> f64 {
    exp_accurate((a - 1.0) * ln(x) + (b - 1.0) * ln(1.0 - x) - ln_beta(a, b))
}

/// ∫ f over [low, high], f(x − low, high − x): the tanh-sinh rule, for functions that may be infinite at
/// the ends.
pub fn integral(low: f64, high: f64, f: impl Fn(f64, f64) -> f64) -> f64 {
    let h = 1.0 / 32.0;
    let term = |i: i32| {
        let t = h * f64::from(i);
        let u = std::f64::consts::FRAC_PI_2 * libm::sinh(t);
        let width = high - low;
        // (1 + tanh u)/2 and (1 − tanh u)/2.
        let (left, right) =
            (1.0 / (1.0 + exp_accurate(-2.0 * u)), 1.0 / (1.0 + exp_accurate(2.0 * u)));
        let weight = std::f64::consts::PI * libm::cosh(t) * left * right;
        if left * width < 1e-290 || right * width < 1e-290 {
            return 0.0;
        }
        weight * width * h * f(left * width, right * width)
    };
    (-200..=200).map(term).collect::<Sum>().value()
}
