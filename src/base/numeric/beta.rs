//! The distribution function of a Beta law, for parameters from 10⁻¹⁰⁰ to 10⁷ and beyond.

use super::stirling::{FROM, tail};
use super::{exp_accurate, lgamma, ln, log1p};

/// ½ ln 2π.
const HALF_LN_TAU: f64 = 0.918_938_533_204_672_8;

/// The continued fraction has converged.
const CONVERGED: f64 = 1e-16;
/// A limit on its number of steps that is never reached: it takes about √(a + b).
const MOST_STEPS: u32 = 1_000_000;

/// `P[θ <= x]` and `P[θ > x]` for θ with the law Beta(a, b). Below about the mean the first is computed
/// to a relative 10⁻¹¹, above it the second; the other one is what is left to 1.
///
/// The continued fraction of Gauss, evaluated by Lentz's method, on the side where it converges fast.
pub fn beta_split(a: f64, b: f64, x: f64) -> (f64, f64) {
    if x <= 0.0 {
        return (0.0, 1.0);
    }
    if x >= 1.0 {
        return (1.0, 0.0);
    }
    if x <= (a + 1.0) / (a + b + 2.0) {
        let lower = (exp_accurate(ln_power(a, b, x)) / a * fraction(a, b, x)).min(1.0);
        (lower, 1.0 - lower)
    } else {
        let upper = (exp_accurate(ln_power(a, b, x)) / b * fraction(b, a, 1.0 - x)).min(1.0);
        (1.0 - upper, upper)
    }
}

/// ln of P[θ_{a,b} <= x] − P[θ_{a+1,b−1} <= x] = x^a (1−x)^(b−1) / (a B(a, b)), 0 < x < 1: by how much
/// one record that moves to the category lowers the distribution function.
pub fn ln_beta_step(a: f64, b: f64, x: f64) -> f64 {
    ln_power(a, b, x) - ln(a) - log1p(-x)
}

/// ln of x^a (1−x)^b / B(a, b).
///
/// With N = a + b this is a λ(Nx/a) + b λ(N(1−x)/b) + ½ ln(ab/2πN) + S(N) − S(a) − S(b), where
/// λ(t) = ln t − t + 1 is never positive (the linear parts cancel), and S is the tail of Stirling's
/// series (Loader 2000).
fn ln_power(a: f64, b: f64, x: f64) -> f64 {
    let total = a + b;
    if a >= FROM && b >= FROM {
        let gap = total * x - a;
        return a * log_excess(gap / a) + b * log_excess(-gap / b) + 0.5 * ln(a / total * b)
            - HALF_LN_TAU
            + tail(total)
            - tail(a)
            - tail(b);
    }
    let (small, large) = if a < b { (a, b) } else { (b, a) };
    let ln_beta = if large >= FROM {
        lgamma(small) - (large - 0.5) * log1p(small / large) - small * ln(total)
            + small
            + tail(large)
            - tail(total)
    } else {
        lgamma(a) + lgamma(b) - lgamma(total)
    };
    a * ln(x) + b * log1p(-x) - ln_beta
}

/// ln(1 + u) − u, u > −1. Its series has one term less than that in `gamma`, and other last bits.
fn log_excess(u: f64) -> f64 {
    if u.abs() > 0.1 {
        return log1p(u) - u;
    }
    // −u²/2 + u³/3 − …
    let mut sum = 0.0;
    for power in (2..=18).rev() {
        sum = 1.0 / f64::from(power) - u * sum;
    }
    -u * u * sum
}

/// The continued fraction of I_x(a, b) · a B(a, b) / (x^a (1−x)^b).
fn fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away = |value: f64| if value.abs() < TINY { TINY } else { value };
    let (mut c, mut d) = (1.0, 1.0 / away(1.0 - (a + b) * x / (a + 1.0)));
    let mut value = d;
    for step in 1..MOST_STEPS {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away(1.0 + even * d);
        c = away(1.0 + even / c);
        value *= c * d;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away(1.0 + odd * d);
        c = away(1.0 + odd / c);
        let factor = c * d;
        value *= factor;
        if (factor - 1.0).abs() <= CONVERGED {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_in_fifty_digits() {
        // Computed with 50 digits, the last five by quadrature.
        let cases = [
            (1.0, 1.0, 0.3, 0.3, 0.7),
            (0.5, 2.5, 0.01, 0.168_917_721_027_943_5, 0.831_082_278_972_056_6),
            (0.001, 4.0, 0.2, 0.999_681_022_786_634_6, 0.000_318_977_213_365_422_14),
            (3.0, 7.0, 0.9, 0.999_997_002, 2.997_999_999_999_995_7e-6),
            (300.0, 301.0, 0.5, 0.516_279_965_667_489_8, 0.483_720_034_332_510_15),
            (301.0, 301.0, 0.47, 0.070_394_769_702_716_78, 0.929_605_230_297_283_3),
            (9.5, 1_000.0, 0.02, 0.997_253_147_945_809, 0.002_746_852_054_191_046_3),
            (1_000.0, 9.5, 0.98, 0.002_746_852_054_191_016_4, 0.997_253_147_945_809),
            (2.0, 100_000.0, 1e-5, 0.264_244_796_466_855_5, 0.735_755_203_533_144_5),
            (7.9, 8.1, 0.6, 0.801_554_606_481_694_5, 0.198_445_393_518_305_48),
            (12.0, 1.0, 0.75, 0.031_676_352_024_078_37, 0.968_323_647_975_921_6),
            (1.0, 500.0, 0.001, 0.393_621_055_138_815, 0.606_378_944_861_185),
            (1e-50, 3.0, 0.1, 1.0, 9.975_850_929_940_456e-51),
            (50_001.0, 50_001.0, 0.497_5, 0.056_920_664_092_384_67, 0.943_079_335_907_615_3),
            (2_500.25, 7_500.5, 0.26, 0.989_044_763_797_213_2, 0.010_955_236_202_786_78),
            (2_500.25, 7_500.5, 0.3, 1.0, 5.870_051_133_314_096e-29),
            (5_000_001.0, 5_000_001.0, 0.499_7, 0.028_889_764_916_777_985, 0.971_110_235_083_222),
            (
                5_000_001.0,
                5_000_001.0,
                0.500_5,
                0.999_217_301_633_613_8,
                0.000_782_698_366_386_244_9,
            ),
        ];
        for (a, b, x, lower, upper) in cases {
            let (below, above) = beta_split(a, b, x);
            let computed_below = x <= (a + 1.0) / (a + b + 2.0);
            let (ours, theirs) = if computed_below { (below, lower) } else { (above, upper) };
            assert!((ours / theirs - 1.0_f64).abs() < 1e-11, "{a} {b} {x}: {ours} {theirs}");
            assert!((below + above - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn a_step_is_the_difference_of_two_distribution_functions() {
        for (a, b, x) in
            [(3.0, 7.0, 0.2), (40.5, 60.0, 0.37), (0.4, 1.5, 0.6), (9.0, 2000.0, 0.004)]
        {
            let difference = beta_split(a, b, x).0 - beta_split(a + 1.0, b - 1.0, x).0;
            let step = exp_accurate(ln_beta_step(a, b, x));
            assert!((step - difference).abs() < 1e-13, "{a} {b} {x}: {step} {difference}");
        }
    }

    #[test]
    fn the_ends() {
        assert_eq!(beta_split(2.0, 3.0, 0.0), (0.0, 1.0));
        assert_eq!(beta_split(2.0, 3.0, 1.0), (1.0, 0.0));
    }
}
