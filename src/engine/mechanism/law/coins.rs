//! Whole-number noise drawn in whole-number arithmetic, after Canonne, Kamath and Steinke, "The
//! Discrete Gaussian for Differential Privacy" (2020), Algorithms 1 and 2.
//!
//! Noise computed with doubles loses more privacy than its formula says: some values never occur,
//! others occur too often, and which ones depends on the data (Mironov 2012). Here ε is the fraction
//! that the user typed. Every decision compares whole numbers with uniform random whole numbers, so
//! that the laws are exact.

use rand::Rng;

use crate::posterior::amount::Amount;
use crate::posterior::model::Counts;
use crate::refusal::Refusal;
use crate::rng::Stream;

/// Where randomness comes from, and whether the time of a draw must not tell what was drawn.
///
/// If it is secret, every draw takes the same number of steps whatever comes out, but for repetitions that do not
/// depend on the outcome. With a probability below 2⁻⁶⁰ more steps are needed: then the law stays exact, and the
/// time is longer.
pub trait Coins: Rng {
    /// Whether the time of a draw must not tell what was drawn.
    fn is_secret(&self) -> bool;
}

/// Experiments and tests, whose draws are public.
impl Coins for Stream {
    fn is_secret(&self) -> bool {
        false
    }
}

/// How a law is drawn in whole-number arithmetic.
pub trait ExactDraws: Send + Sync {
    /// Draws an output at the data x.
    fn draw(&self, x: &[u64], coins: &mut dyn Coins) -> Counts;

    /// The part of ε that pays for rounding errors of the law's numbers.
    fn price(&self) -> Amount {
        Amount::ZERO
    }

    /// Whether data of n records can have this output, none of whose counts is above n. `Equal` says that its
    /// total is n.
    fn can_draw(&self, released: &[u64], total: std::cmp::Ordering) -> bool;
}

/// Coins that are tossed in any case: all show heads with probability 1/20! < 2⁻⁶⁰ at most.
const COINS: u128 = 20;

/// 20!/k! for k = 1, …, 20: of the whole numbers below 20!, the part 1/k! is below it. This is the probability that
/// coins of bias 1, 1/2, …, 1/k all show heads.
const HEADS: [u64; COINS as usize] = {
    let mut heads = [1; COINS as usize];
    let mut k = COINS as usize - 1;
    while k > 0 {
        heads[k - 1] = heads[k] * (k as u64 + 1);
        k -= 1;
    }
    heads
};

/// Trials that are made in any case: all of 42 succeed with probability e⁻⁴² < 2⁻⁶⁰.
const TRIALS: u128 = 42;

/// A fraction of at least 0, reduced. Both parts are below 2⁹⁶, so that products fit into 128 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio {
    numerator: u128,
    denominator: u128,
}

/// The bits of a numerator or denominator.
const BITS: u32 = 96;

impl Ratio {
    /// The fraction; `None` if it needs too many digits.
    pub fn new(numerator: u128, denominator: u128) -> Option<Self> {
        let common = gcd(numerator, denominator);
        let (numerator, denominator) =
            (numerator.checked_div(common)?, denominator.checked_div(common)?);
        let fits = |part: u128| part >> BITS == 0;
        (denominator > 0 && fits(numerator) && fits(denominator))
            .then_some(Self { numerator, denominator })
    }

    /// ε divided by a whole number.
    pub fn of(epsilon: Amount, divisor: u64) -> Option<Self> {
        let (numerator, denominator) = epsilon.fraction();
        Self::new(numerator, denominator)?.over(divisor)
    }

    /// The fraction divided by a whole number.
    pub fn over(self, divisor: u64) -> Option<Self> {
        Self::new(self.numerator, self.denominator.checked_mul(u128::from(divisor))?)
    }

    /// Whether this times `factor` is at most `bound`.
    pub fn times_is_at_most(self, factor: u64, bound: u64) -> bool {
        let product = self.numerator.checked_mul(u128::from(factor));
        product.is_some_and(|product| product <= self.denominator.saturating_mul(u128::from(bound)))
    }
}

/// Why a law is not drawn exactly with some ε.
pub fn not_exact() -> Refusal {
    Refusal::new(
        "it cannot be drawn exactly with this ε",
        "use an ε that is not so small, or has fewer digits",
    )
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// A uniform whole number in [0, `bound`), by rejection.
fn uniform_below(bound: u128, rng: &mut dyn Coins) -> u128 {
    debug_assert!(bound > 0);
    let mask = u128::MAX.checked_shr((bound - 1).leading_zeros()).unwrap_or(0);
    loop {
        let low = u128::from(rng.next_u64());
        let high = if mask >> 64 == 0 { 0 } else { u128::from(rng.next_u64()) << 64 };
        let candidate = (high | low) & mask;
        if candidate < bound {
            return candidate;
        }
    }
}

/// True with probability e^(−a/b), a <= b. Coins with bias a/(bK) are tossed for K = 1, 2, … until one
/// shows tails; the answer is whether this K is odd.
fn falls_within_one(a: u128, b: u128, rng: &mut dyn Coins) -> bool {
    let mut k: u128 = 1;
    if rng.is_secret() {
        // A coin of bias a/(bK) shows heads if one of bias 1/K and one of bias a/b do. All are tossed; k stays where
        // the first tails are.
        let drawn = uniform_below(u128::from(HEADS[0]), rng) as u64;
        if a == b {
            k += HEADS.iter().map(|most| u64::from(drawn < *most)).sum::<u64>() as u128;
        } else {
            let mut heads = 1;
            for most in &HEADS {
                heads &= u128::from(drawn < *most) & u128::from(uniform_below(b, rng) < a);
                k += heads;
            }
        }
        if k <= COINS {
            return k % 2 == 1;
        }
    }
    while uniform_below(b * k, rng) < a {
        k += 1;
    }
    k % 2 == 1
}

/// How often in a row an event of probability e⁻¹ happens.
fn successes(rng: &mut dyn Coins) -> u128 {
    let mut times: u128 = 0;
    if rng.is_secret() {
        let mut going = 1;
        for _ in 0..TRIALS {
            going &= u128::from(falls_within_one(1, 1, rng));
            times += going;
        }
        if times < TRIALS {
            return times;
        }
    }
    while falls_within_one(1, 1, rng) {
        times += 1;
    }
    times
}

/// True with probability e^(−ratio · times).
pub fn falls(ratio: Ratio, times: u64, rng: &mut dyn Coins) -> bool {
    let Ratio { numerator, denominator } = ratio;
    // The exponent as whole + rest / denominator, without leaving 128 bits.
    let (mut whole, mut rest) = (0_u128, 0_u128);
    let (ones, part) = (numerator / denominator, numerator % denominator);
    // From the highest digits of `times` on, 16 bits at a time.
    for shift in [48, 32, 16, 0] {
        let digits = u128::from(times >> shift & 0xFFFF);
        let next = (rest << 16) + part * digits;
        whole = (whole << 16) + next / denominator;
        rest = next % denominator;
    }
    whole = whole.saturating_add(ones.saturating_mul(u128::from(times)));
    // If as many trials are not enough, nothing is accepted anyway, but for a probability below 2⁻⁶⁰.
    if rng.is_secret() && whole <= TRIALS {
        let mut accepted = falls_within_one(rest, denominator, rng);
        for trial in 0..TRIALS {
            accepted &= falls_within_one(1, 1, rng) | (trial >= whole);
        }
        return accepted;
    }
    for _ in 0..whole {
        if !falls_within_one(1, 1, rng) {
            return false;
        }
    }
    falls_within_one(rest, denominator, rng)
}

/// A number with P[m] = (1 − e^(−rate)) e^(−rate · m), m = 0, 1, …
///
/// Let rate = p/q. A number with P ∝ e^(−m/q) is drawn as its remainder modulo q and its quotient by q.
/// Divided by p and rounded down, it has the rate p/q.
fn geometric(rate: Ratio, rng: &mut dyn Coins) -> u128 {
    let Ratio { numerator, denominator } = rate;
    let rest = loop {
        let rest = uniform_below(denominator, rng);
        if falls_within_one(rest, denominator, rng) {
            break rest;
        }
    };
    rest.saturating_add(denominator.saturating_mul(successes(rng))) / numerator
}

fn coin(rng: &mut dyn Coins) -> bool {
    rng.next_u64() >> 63 == 1
}

/// The noise: P[η = t] ∝ e^(−rate·|t|).
fn noise(rate: Ratio, rng: &mut dyn Coins) -> i128 {
    loop {
        let (below, magnitude) = (coin(rng), geometric(rate, rng).min(i128::MAX as u128) as i128);
        match below {
            false => return magnitude,
            // 0 would be drawn twice as often, with both signs.
            true if magnitude == 0 => {}
            true => return -magnitude,
        }
    }
}

/// x plus noise, clamped to [0, n].
pub fn noisy(rate: Ratio, x: u64, n: u64, rng: &mut dyn Coins) -> u64 {
    let value = i128::from(x).saturating_add(noise(rate, rng));
    value.clamp(0, i128::from(n)) as u64
}

/// Whole numbers with P ∝ e^(−rate · Σ |z_i|) and Σ z_i = 0: all but the last are drawn independently, and
/// the last is accepted with the probability of its own factor.
pub fn sum_zero(rate: Ratio, k: usize, rng: &mut dyn Coins) -> Vec<i128> {
    loop {
        let mut drawn: Vec<i128> = (1..k).map(|_| noise(rate, rng)).collect();
        let sum = drawn.iter().fold(0_i128, |sum, &z| sum.saturating_add(z));
        // A factor too small for 64 bits of steps is never accepted.
        if u64::try_from(sum.unsigned_abs()).is_ok_and(|steps| falls(rate, steps, rng)) {
            drawn.push(-sum);
            return drawn;
        }
    }
}

/// True with probability `weight` / `largest`, exactly: both are whole numbers of the last binary digit of the
/// weight. No weight but 0 is smaller than the largest by a factor of 2⁷⁰, so that these have 128 bits at most.
pub fn is_accepted(weight: f64, largest: f64, rng: &mut dyn Coins) -> bool {
    let (_, exponent) = libm::frexp(weight);
    let whole = |value: f64| libm::ldexp(value, 53 - exponent) as u128;
    weight > 0.0 && uniform_below(whole(largest), rng) < whole(weight)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::stream;
    use rand::TryRng;
    use statrs::statistics::Statistics;
    use std::convert::Infallible;

    fn ratio(a: u128, b: u128) -> Ratio {
        Ratio::new(a, b).unwrap()
    }

    #[test]
    fn fractions_are_reduced_and_exact() {
        assert_eq!(ratio(500, 1000), ratio(1, 2));
        assert_eq!(Ratio::new(1, 0), None);
        assert_eq!(Ratio::new(1 << 100, (1 << 100) + 1), None);
        assert_eq!(ratio(3, 4).over(6), Some(ratio(1, 8)));
    }

    /// Counts the numbers that are taken from a stream.
    struct Counted {
        stream: Stream,
        taken: u64,
        is_secret: bool,
    }

    impl Counted {
        fn new(name: &str, is_secret: bool) -> Self {
            Self { stream: stream(1, name), taken: 0, is_secret }
        }
    }

    impl TryRng for Counted {
        type Error = Infallible;

        fn try_next_u32(&mut self) -> Result<u32, Infallible> {
            self.stream.try_next_u32()
        }

        fn try_next_u64(&mut self) -> Result<u64, Infallible> {
            self.taken += 1;
            self.stream.try_next_u64()
        }

        fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
            self.stream.try_fill_bytes(out)
        }
    }

    impl Coins for Counted {
        fn is_secret(&self) -> bool {
            self.is_secret
        }
    }

    #[test]
    fn coins_fall_as_often_as_the_exponential_says() {
        falls_as_often(&mut stream(1, "falls"));
        falls_as_often(&mut Counted::new("falls in secret", true));
    }

    fn falls_as_often(rng: &mut dyn Coins) {
        let large = ratio((1 << 95) + 12_345, (1 << 95) - 1);
        for (rate, times) in [
            (ratio(1, 3), 1),
            (ratio(1, 1), 1),
            (ratio(7, 10), 4),
            (ratio(3, 1000), 500),
            (large, 2),
        ] {
            let draws = 200_000;
            let fell = (0..draws).filter(|_| falls(rate, times, rng)).count() as f64;
            let exponent = rate.numerator as f64 / rate.denominator as f64 * times as f64;
            let p = libm::exp(-exponent);
            let z = (fell - f64::from(draws) * p) / (f64::from(draws) * p * (1.0 - p)).sqrt();
            // Five standard deviations: 6e-7.
            assert!(z.abs() < 5.0, "{rate:?} {times}: {z}");
        }
        assert!(!falls(ratio(u128::MAX >> 32, 1), u64::MAX, rng));
        assert!(falls(ratio(1, 2), 0, rng));
    }

    /// The correlation of |t| and the numbers that a draw takes, times the root of the number of draws. The mean of
    /// |t| is what it should be. Five standard errors: 6e-7.
    fn correlation(rate: Ratio, is_secret: bool) -> f64 {
        let (mut rng, draws) = (Counted::new("steps", is_secret), 30_000);
        let (mut sizes, mut steps) = (Vec::new(), Vec::new());
        for _ in 0..draws {
            let before = rng.taken;
            sizes.push(noise(rate, &mut rng).unsigned_abs() as f64);
            steps.push((rng.taken - before) as f64);
        }
        let a = libm::exp(-(rate.numerator as f64) / rate.denominator as f64);
        let off = (&sizes).mean() - 2.0 * a / (1.0 - a * a);
        let error = (&sizes).std_dev() / f64::from(draws).sqrt();
        assert!(off.abs() < 5.0 * error, "{rate:?} {is_secret}: {off}");
        let covariance = (&sizes).covariance(&steps);
        covariance / ((&sizes).std_dev() * (&steps).std_dev()) * f64::from(draws).sqrt()
    }

    #[test]
    fn the_steps_of_a_secret_draw_do_not_tell_its_size() {
        for rate in [ratio(1, 1), ratio(1, 10), ratio(1, 1000), ratio(333, 1000)] {
            let [secret, public] = [true, false].map(|is_secret| correlation(rate, is_secret));
            assert!(secret.abs() < 5.0 && public > 34.7, "{rate:?}: {secret} {public}");
        }
    }
}
