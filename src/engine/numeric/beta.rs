//! The distribution function of a Beta law, for parameters from 10⁻¹⁰⁰ to 10⁷ and beyond.

use super::gamma::excess_over_log1p;
use super::stirling::{FROM, HALF_LN_TAU, tail};
use super::{exp_accurate, lgamma, ln, log1p};

/// The continued fraction has converged.
const CONVERGED: f64 = 1e-16;
/// A limit on its number of steps that is never reached: it takes about √(a + b).
const MOST_STEPS: u32 = 1_000_000;

/// A place in [0, 1], so that digits are kept near both ends and beyond the smallest double.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    pub x: f64,
    /// 1 − x.
    pub rest: f64,
    ln_x: f64,
    ln_rest: f64,
}

impl Place {
    /// The place `x`.
    pub fn at(x: f64) -> Self {
        Self { x, rest: 1.0 - x, ln_x: ln(x), ln_rest: log1p(-x) }
    }

    /// The place whose logit ln(x / (1 − x)) is `z`.
    pub fn at_logit(z: f64) -> Self {
        let small = exp_accurate(-z.abs());
        let (near, ln_near) = (1.0 / (1.0 + small), -log1p(small));
        let (far, ln_far) = (small * near, ln_near - z.abs());
        if z <= 0.0 {
            Self { x: far, rest: near, ln_x: ln_far, ln_rest: ln_near }
        } else {
            Self { x: near, rest: far, ln_x: ln_near, ln_rest: ln_far }
        }
    }

    /// x times `factor`, which lies in [0, 1].
    pub fn times(self, factor: f64) -> Self {
        let x = self.x * factor;
        // 1 − x·f = (1 − x) + x (1 − f).
        let rest = self.rest + self.x * (1.0 - factor);
        let ln_rest = if x <= 0.5 { log1p(-x) } else { ln(rest) };
        Self { x, rest, ln_x: self.ln_x + ln(factor), ln_rest }
    }

    /// 1 − x.
    pub fn mirrored(self) -> Self {
        Self { x: self.rest, rest: self.x, ln_x: self.ln_rest, ln_rest: self.ln_x }
    }
}

/// `P[θ <= x]` and `P[θ > x]` for θ with the law Beta(a, b). Below about the mean the first is computed
/// to a relative 10⁻¹¹, above it the second; the other one is what is left to 1.
///
/// The continued fraction of Gauss, evaluated by Lentz's method, on the side where it converges fast.
pub fn beta_split(a: f64, b: f64, place: Place) -> (f64, f64) {
    if place.x <= (a + 1.0) / (a + b + 2.0) {
        let lower = exp_accurate(ln_logit_density(a, b, place)) / a * fraction(a, b, place.x);
        (lower.min(1.0), 1.0 - lower.min(1.0))
    } else {
        let upper = exp_accurate(ln_logit_density(a, b, place)) / b * fraction(b, a, place.rest);
        (1.0 - upper.min(1.0), upper.min(1.0))
    }
}

/// ln of x^a (1−x)^b / B(a, b): the density of the logit of x.
///
/// With N = a + b this is a λ(Nx/a) + b λ(N(1−x)/b) + ½ ln(ab/2πN) + S(N) − S(a) − S(b), where
/// λ(t) = ln t − t + 1 is never positive (the linear parts cancel), and S is the tail of Stirling's
/// series (Loader 2000).
pub fn ln_logit_density(a: f64, b: f64, place: Place) -> f64 {
    let total = a + b;
    if a >= FROM && b >= FROM {
        let gap = if place.x <= 0.5 { total * place.x - a } else { b - total * place.rest };
        return -a * excess_over_log1p(gap / a) - b * excess_over_log1p(-gap / b)
            + 0.5 * ln(a / total * b)
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
    a * place.ln_x + b * place.ln_rest - ln_beta
}

/// F in I_x(a, b) = F x^a (1−x)^b / (a B(a, b)), which is a continued fraction.
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
            let (below, above) = beta_split(a, b, Place::at(x));
            let computed_below = x <= (a + 1.0) / (a + b + 2.0);
            let (ours, theirs) = if computed_below { (below, lower) } else { (above, upper) };
            assert!((ours / theirs - 1.0_f64).abs() < 1e-11, "{a} {b} {x}: {ours} {theirs}");
            assert!((below + above - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn near_both_ends() {
        // P[θ <= x] of Beta(a, 1) is x^a, also where x is no double.
        let (below, _) = beta_split(0.01, 1.0, Place::at_logit(-2000.0));
        assert!((below / exp_accurate(-20.0) - 1.0).abs() < 1e-13, "{below}");
        let (_, above) = beta_split(1.0, 0.01, Place::at_logit(2000.0));
        assert!((above / exp_accurate(-20.0) - 1.0).abs() < 1e-13, "{above}");
        assert_eq!(beta_split(20.0, 30.0, Place::at_logit(-2000.0)), (0.0, 1.0));
        assert_eq!(beta_split(20.0, 30.0, Place::at_logit(2000.0)), (1.0, 0.0));
        for z in [-40.0, -1.5, 0.0, 0.3, 30.0] {
            let (place, half) = (Place::at_logit(z), Place::at_logit(z).times(0.5));
            let density = ln_logit_density(3.0, 0.5, place);
            let mirrored = ln_logit_density(0.5, 3.0, place.mirrored());
            assert!((density - mirrored).abs() < 1e-13, "{z}");
            assert!((half.x + half.rest - 1.0).abs() < 1e-15 && half.x == 0.5 * place.x, "{z}");
        }
    }

    #[test]
    fn the_density_is_the_derivative() {
        for (a, b, z) in
            [(3.0, 7.0, -1.4), (40.5, 60.0, -0.5), (0.4, 1.5, 0.6), (9.0, 2000.0, -5.5)]
        {
            let h = 1e-3;
            let below = |steps: f64| beta_split(a, b, Place::at_logit(z + steps * h)).0;
            let slope =
                (8.0 * (below(1.0) - below(-1.0)) - (below(2.0) - below(-2.0))) / (12.0 * h);
            let density = exp_accurate(ln_logit_density(a, b, Place::at_logit(z)));
            assert!((slope / density - 1.0).abs() < 1e-7, "{a} {b} {z}: {slope} {density}");
        }
    }
}
