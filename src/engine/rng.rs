//! The sole maker of random generators, and the few elementary draws that the samplers need.
//!
//! A stream is named, not numbered: its 256-bit seed is a hash of the user's seed and of a text
//! that says what is drawn. The order of work, the number of threads, or a setting added to a
//! config can therefore never change a draw. ChaCha is specified bit for bit, and the draws below
//! use integer operations and `libm` only, so that every machine gives the same bytes.

use std::convert::Infallible;

use rand::{Rng, SeedableRng, TryRng};
use rand_chacha::ChaCha8Rng;
use sha2::{Digest, Sha256};

use crate::numeric::ln;

/// A stream of random numbers. A type of its own, whose methods are not generic: they are compiled here, once
/// and optimised, and not in every crate that draws.
#[derive(Clone)]
pub struct Stream(ChaCha8Rng);

impl TryRng for Stream {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.0.try_next_u32()
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0.try_next_u64()
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.try_fill_bytes(bytes)
    }
}

/// The stream called `name` under the user's `seed`.
pub fn stream(seed: u64, name: &str) -> Stream {
    let mut hash = Sha256::new();
    hash.update(b"dpbi stream 1\0");
    hash.update(seed.to_le_bytes());
    hash.update(name.as_bytes());
    Stream(ChaCha8Rng::from_seed(hash.finalize().into()))
}

/// A uniform number in [0, 1), a multiple of 2⁻⁵³.
pub fn uniform(rng: &mut (impl Rng + ?Sized)) -> f64 {
    (rng.next_u64() >> 11) as f64 * (1.0 / (1_u64 << 53) as f64)
}

/// An index, with probabilities in proportion to weights of which these are the running sums.
pub fn draw_index(running: &[f64], rng: &mut (impl Rng + ?Sized)) -> usize {
    let last = running.len() - 1;
    let target = uniform(rng) * running[last];
    running.partition_point(|&sum| sum <= target).min(last)
}

/// A uniform whole number in [0, `bound`), without bias (by rejection).
pub fn uniform_below(bound: u64, rng: &mut (impl Rng + ?Sized)) -> u64 {
    let mask = u64::MAX >> (bound.max(2) - 1).leading_zeros();
    loop {
        let candidate = rng.next_u64() & mask;
        if candidate < bound {
            return candidate;
        }
    }
}

/// A standard exponential number.
pub fn standard_exponential(rng: &mut (impl Rng + ?Sized)) -> f64 {
    // A number in (0, 1] has a logarithm.
    -ln(1.0 - uniform(rng))
}

/// A standard normal number (Marsaglia's polar method; the second one is thrown away so that a
/// draw leaves no state behind).
fn standard_normal(rng: &mut (impl Rng + ?Sized)) -> f64 {
    loop {
        let (u, v) = (2.0 * uniform(rng) - 1.0, 2.0 * uniform(rng) - 1.0);
        let s = u * u + v * v;
        if s > 0.0 && s < 1.0 {
            return u * (-2.0 * ln(s) / s).sqrt();
        }
    }
}

/// The logarithm of a gamma number of the given shape and scale 1. In logarithms, because with a
/// small shape the number itself is often too small for a double: a shape below 1 is raised by one
/// and the number multiplied by U^(1/shape).
pub fn ln_standard_gamma(shape: f64, rng: &mut (impl Rng + ?Sized)) -> f64 {
    if shape < 1.0 {
        let ln_factor = -standard_exponential(rng) / shape;
        return ln(standard_gamma(shape + 1.0, rng)) + ln_factor;
    }
    ln(standard_gamma(shape, rng))
}

/// A gamma number of a shape of at least 1 (Marsaglia and Tsang, "A simple method for generating
/// gamma variables", 2000).
fn standard_gamma(shape: f64, rng: &mut (impl Rng + ?Sized)) -> f64 {
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    loop {
        let x = standard_normal(rng);
        let v = (1.0 + c * x) * (1.0 + c * x) * (1.0 + c * x);
        if v > 0.0 && standard_exponential(rng) > d * (v - 1.0 - ln(v)) - 0.5 * x * x {
            return d * v;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_never_changes() {
        let mut rng = stream(20_190_215, "pinned");
        let draws: Vec<u64> = (0..3).map(|_| rng.next_u64()).collect();
        let pinned =
            [1_126_433_025_531_664_643, 14_834_385_469_253_009_692, 11_469_168_293_427_163_257];
        assert_eq!(draws, pinned);
    }

    #[test]
    fn names_and_seeds_separate_streams() {
        let first = |seed, name| stream(seed, name).next_u64();
        assert_ne!(first(1, "a"), first(1, "b"));
        assert_ne!(first(1, "a"), first(2, "a"));
        assert_eq!(first(1, "a"), first(1, "a"));
    }

    #[test]
    fn whole_numbers_stay_below_their_bound() {
        let mut rng = stream(1, "below");
        let mut seen = [0; 5];
        for _ in 0..5_000 {
            seen[uniform_below(5, &mut rng) as usize] += 1;
        }
        assert!(seen.iter().all(|&count| (850..1150).contains(&count)), "{seen:?}");
        assert_eq!(uniform_below(1, &mut rng), 0);
        uniform_below(u64::MAX, &mut rng);
    }

    #[test]
    fn gamma_draws_have_their_mean_and_variance() {
        for shape in [0.3, 1.0, 4.5] {
            let mut rng = stream(3, "gamma");
            let draw = |_| libm::exp(ln_standard_gamma(shape, &mut rng));
            let draws: Vec<f64> = (0..50_000).map(draw).collect();
            let mean = draws.iter().sum::<f64>() / 5e4;
            let variance = draws.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / 5e4;
            // Mean and variance are both `shape`; five standard errors.
            assert!((mean - shape).abs() < 5.0 * (shape / 5e4_f64).sqrt(), "{shape}: {mean}");
            let error = ((2.0 * shape * shape + 6.0 * shape) / 5e4_f64).sqrt();
            assert!((variance - shape).abs() < 5.0 * error, "{shape}: {variance}");
        }
    }
}
