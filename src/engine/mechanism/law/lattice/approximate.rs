//! δ of lattice noise at ε, exactly, and the least noise that has a given δ.
//!
//! The noise z does not depend on the data. If a record moves from category i to category j, then z becomes
//! z + e_i − e_j: only the coordinates (p, q) = (z_i, z_j) count. δ at ε is the sum of
//! P[p, q] max(0, 1 − e^(ε − ratio)) over all (p, q), the ratio being that of f(p) f(q) to f(p+1) f(q−1).
//! Clamping is done afterwards, so this δ holds for every number of records.

use std::f64::consts::PI;

use super::LatticeNoise;
use crate::memo::Memo;
use crate::numeric::exp::one_minus_exp;
use crate::numeric::{Sum, exp_accurate, expm1, first_where, ln, typed_around};
use crate::refusal::Refusal;

/// Found values of σ and radii are accepted if their δ is below the one asked for by this part of it, which
/// is more than its rounding error.
const MARGIN: f64 = 1e-12;

/// The largest σ and the largest radius, for two categories and for more.
const WIDEST: [f64; 2] = [1e5, 2e3];

/// The noise that was found, by whether it is Gaussian, k, and the bits of ε and δ. It is needed at every data
/// set.
static KNOWN: Memo<(bool, usize, u64, u64), LatticeNoise> = Memo::new(4096);

/// The most categories: with more, the convolutions of their noise take long.
const MOST_CATEGORIES: usize = 50;

/// Gaussian noise on k counts with the least σ, rounded up to 12 digits, whose δ at ε is at most `delta`.
pub fn least_gaussian(k: usize, epsilon: f64, delta: f64) -> Result<LatticeNoise, Refusal> {
    find(true, k, epsilon, delta)
}

/// Geometric noise of rate ε on k counts, cut off at the least radius whose δ at ε is at most `delta`.
pub fn least_truncated(k: usize, epsilon: f64, delta: f64) -> Result<LatticeNoise, Refusal> {
    find(false, k, epsilon, delta)
}

fn find(gaussian: bool, k: usize, epsilon: f64, delta: f64) -> Result<LatticeNoise, Refusal> {
    if k > MOST_CATEGORIES {
        let cause = format!("noise at an exact δ is for at most {MOST_CATEGORIES} categories");
        return Err(Refusal::new(cause, "use lattice, or geometric"));
    }
    KNOWN.try_get(&(gaussian, k, epsilon.to_bits(), delta.to_bits()), || {
        let search = if gaussian { least_sigma } else { least_radius };
        search(k, epsilon, delta).ok_or_else(|| too_wide(gaussian, k, epsilon, delta))
    })
}

fn too_wide(gaussian: bool, k: usize, epsilon: f64, delta: f64) -> Refusal {
    let (id, what) = match gaussian {
        true => ("gaussian", "σ"),
        false => ("geometric-truncated", "radius"),
    };
    let cause = format!(
        "the {what} of `{id}` at ε = {epsilon:?} and δ = {delta:?} for {k} categories is beyond {}",
        WIDEST[usize::from(k > 2)]
    );
    Refusal::new(
        cause,
        "use a larger ε or δ, fewer categories, or a mechanism without δ (geometric)",
    )
}

/// The least σ: δ falls as σ grows.
fn least_sigma(k: usize, epsilon: f64, delta: f64) -> Option<LatticeNoise> {
    let widest = WIDEST[usize::from(k > 2)];
    let suffices = |sigma: f64| gaussian_delta(k, sigma, epsilon) <= delta * (1.0 - MARGIN);
    // σ = ε^(−1/2) is where even no noise has a loss of ε.
    let mut high = (1.0 / epsilon.sqrt()).min(widest);
    while !suffices(high) {
        high *= 2.0;
        if high > 2.0 * widest {
            return None;
        }
    }
    // Doubles that are not negative have the order of their bits.
    let least = first_where(0, high.to_bits(), |bits| suffices(f64::from_bits(bits)));
    let (mut sigma, _) = typed_around(f64::from_bits(least), 12);
    while !suffices(sigma) {
        (_, sigma) = typed_around(sigma, 12);
    }
    (sigma <= widest).then_some(LatticeNoise::Gaussian { sigma })
}

/// δ at ε of Gaussian noise on k counts.
///
/// With D = p − q the ratio is (D + 1) / σ², and P\[D\] ∝ e^(−D²/4σ²) times a number that depends only on
/// whether D is even.
pub fn gaussian_delta(k: usize, sigma: f64, epsilon: f64) -> f64 {
    let parities = parities(k, sigma);
    let variance = sigma * sigma;
    let mass =
        |d: f64, parity: usize| parities[parity] * exp_accurate(-0.25 * (d / sigma) * (d / sigma));
    let mut total = Sum::default();
    total.add(mass(0.0, 0));
    for d in 1_u64.. {
        let (even, odd) = (mass(d as f64, 0), mass(d as f64, 1));
        total.add(2.0 * if d % 2 == 0 { even } else { odd });
        if even.max(odd) <= 1e-18 * total.value() {
            break;
        }
    }
    // The first D with a ratio above ε; it may be negative if σ is small.
    let first = libm::floor(epsilon * variance - 1.0) + 1.0;
    let mut sum = Sum::default();
    for steps in 0_u64.. {
        let d = first + steps as f64;
        let parity = usize::from((d * 0.5).fract() != 0.0);
        let part = one_minus_exp((epsilon - (d + 1.0) / variance).min(0.0));
        sum.add(mass(d, parity) * part);
        // What follows falls faster than a geometric series once D is beyond σ.
        let largest = mass(d, 0).max(mass(d, 1));
        let rest = largest * (1.0 + 2.0 * variance / d);
        if d > 0.0 && (rest <= 1e-17 * sum.value() || largest == 0.0) {
            break;
        }
    }
    sum.value() / total.value()
}

/// What P[D] / e^(−D²/4σ²) is proportional to for even D, and for odd D.
///
/// It is Σ e^(−s²/4σ²) S(−s) over the s = p + q of the same parity, S being the sums over the other
/// coordinates. By Poisson's formula even and odd differ by a factor of about 1 + 4 e^(−π²σ²(k−2)/k).
fn parities(k: usize, sigma: f64) -> [f64; 2] {
    if k == 2 {
        return [1.0, 0.0];
    }
    let others = (k - 2) as f64;
    if PI * PI * sigma * sigma * others / k as f64 > 42.0 {
        return [1.0, 1.0];
    }
    let noise = LatticeNoise::Gaussian { sigma };
    let (reach, _) = noise.reach(k);
    let sums = noise.sums(k - 2, reach);
    let mut parities = [Sum::default(), Sum::default()];
    for s in -2 * reach as i64..=2 * reach as i64 {
        let scaled = s as f64 / sigma;
        let parity = (s.unsigned_abs() % 2) as usize;
        parities[parity].add(exp_accurate(-0.25 * scaled * scaled) * sums.get(-s));
    }
    parities.map(|sum| sum.value())
}

/// The least radius: δ falls as the radius grows.
fn least_radius(k: usize, epsilon: f64, delta: f64) -> Option<LatticeNoise> {
    let widest = WIDEST[usize::from(k > 2)] as u64;
    let suffices = |radius| truncated_delta(k, epsilon, radius) <= delta * (1.0 - MARGIN);
    // The sum is 0 at radius 0: that noise has δ = 1.
    let radius = first_where(1, widest + 1, suffices);
    (radius <= widest).then_some(LatticeNoise::Geometric { rate: epsilon, radius })
}

/// δ at ε of geometric noise of rate ε on k counts, cut off at a radius.
///
/// Ratios are at most ε, but for p = radius and for q = −radius, where they are infinite. So δ is
/// P[p = radius or q = −radius].
pub fn truncated_delta(k: usize, epsilon: f64, radius: u64) -> f64 {
    let noise = LatticeNoise::Geometric { rate: epsilon, radius };
    let edge = noise.factor(radius);
    if k == 2 {
        // P[z] ∝ a^|z|: the sum is 1 + 2a (1 − a^radius) / (1 − a).
        let series = expm1(-epsilon * radius as f64) / expm1(-epsilon);
        return edge * edge / (1.0 + 2.0 * exp_accurate(-epsilon) * series);
    }
    let others = noise.sums(k - 2, radius);
    let all_but_one = noise.with_one_more(&others, radius);
    let total = noise.with_one_more(&all_but_one, radius).get(0);
    let one = edge * all_but_one.get(-(radius as i64));
    let both = edge * edge * others.get(0);
    (2.0 * one - both) / total
}

/// ln Σ_{z >= m} f(z)²: the noise on one of two counts, from m on.
pub fn ln_tail(noise: LatticeNoise, m: u64) -> f64 {
    let first = 2.0 * noise.ln_factor(m);
    match noise {
        _ if first == f64::NEG_INFINITY => first,
        LatticeNoise::Geometric { rate, radius } => {
            first + ln(expm1(-rate * ((radius - m) as f64 + 1.0)) / expm1(-rate))
        }
        LatticeNoise::Gaussian { sigma } => {
            let mut sum = Sum::default();
            for u in 0_u64.. {
                // f(m + u)² / f(m)².
                let (m, u) = (m as f64, u as f64);
                let term = exp_accurate(-(u / sigma) * ((2.0 * m + u) / sigma));
                sum.add(term);
                if term <= 1e-18 * sum.value() {
                    break;
                }
            }
            first + ln(sum.value())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::vectors;
    use super::*;

    /// δ from the definition, over all noise vectors that matter.
    fn brute_force(noise: LatticeNoise, k: usize, epsilon: f64) -> f64 {
        let factor = |z: i64| noise.factor(z.unsigned_abs());
        let (mut sum, mut total) = (0.0, 0.0);
        for (z, weight) in vectors(noise, k).filter(|(_, weight)| *weight > 0.0) {
            let (first, last) = (z[0], z[k - 1]);
            let step = factor(first + 1) * factor(last - 1) / (factor(first) * factor(last));
            total += weight;
            sum += (weight - libm::exp(epsilon) * (weight * step)).max(0.0);
        }
        sum / total
    }

    #[test]
    fn deltas_are_those_of_the_definition() {
        let gaussians = [(2, 0.7, 1.0), (2, 3.0, 0.5), (3, 0.6, 1.0), (3, 1.7, 0.8), (3, 4.5, 0.3)];
        for (k, sigma, epsilon) in gaussians.into_iter().chain([(4, 1.1, 2.0)]) {
            let ours = gaussian_delta(k, sigma, epsilon);
            let direct = brute_force(LatticeNoise::Gaussian { sigma }, k, epsilon);
            assert!((ours / direct - 1.0).abs() < 1e-9, "{k} {sigma} {epsilon}: {ours} {direct}");
        }
        for (k, radius, epsilon) in
            [(2, 1, 1.0), (2, 5, 0.5), (3, 1, 0.7), (3, 4, 1.0), (4, 3, 2.0)]
        {
            let ours = truncated_delta(k, epsilon, radius);
            let noise = LatticeNoise::Geometric { rate: epsilon, radius };
            // Ratios of exactly e^ε leave something to rounding.
            let direct = brute_force(noise, k, epsilon * (1.0 + 1e-14));
            assert!((ours / direct - 1.0).abs() < 1e-11, "{k} {radius} {epsilon}: {ours} {direct}");
        }
    }

    #[test]
    fn the_least_noise_suffices_and_less_does_not() {
        for k in [2, 3, 6] {
            for epsilon in [0.05, 0.5, 1.0, 4.0] {
                for delta in [1e-12, 1e-8, 1e-4, 1e-2, 0.3] {
                    let what = format!("{k} {epsilon} {delta}");
                    let gaussian = least_gaussian(k, epsilon, delta).unwrap();
                    let LatticeNoise::Gaussian { sigma } = gaussian else { panic!("{what}") };
                    let at = |sigma: f64| gaussian_delta(k, sigma, epsilon);
                    let found = at(sigma);
                    assert!(found <= delta && found > delta * (1.0 - 1e-8), "{what}: {sigma}");
                    assert!(at(sigma * (1.0 - 2e-11)) > delta, "{what}: {sigma}");
                    assert!(format!("{sigma:e}").len() <= 17, "{sigma:e}");
                    let cut_off = least_truncated(k, epsilon, delta).unwrap();
                    let LatticeNoise::Geometric { radius, .. } = cut_off else { panic!("{what}") };
                    let at = |radius: u64| truncated_delta(k, epsilon, radius);
                    assert!(at(radius) <= delta, "{what}");
                    assert!(radius == 1 || at(radius - 1) > delta, "{what}");
                }
            }
        }
    }

    #[test]
    fn noise_that_is_too_wide_is_refused() {
        for (k, epsilon, delta) in [(2, 1e-7, 1e-8), (3, 1e-4, 1e-8), (2, 1e-100, 1e-300)] {
            assert!(least_gaussian(k, epsilon, delta).is_err());
            assert!(least_truncated(k, epsilon, delta).is_err());
        }
        assert!(least_truncated(100_000, 1.0, 1e-6).is_err());
        // Much ε: hardly any noise.
        for k in [2, 3, 50] {
            let sigma = least_gaussian(k, 4000.0, 1e-3).unwrap();
            assert!(matches!(sigma, LatticeNoise::Gaussian { sigma } if sigma < 0.02));
            let cut_off = least_truncated(k, 4000.0, 1e-3).unwrap();
            assert_eq!(cut_off, LatticeNoise::Geometric { rate: 4000.0, radius: 1 });
        }
    }
}
