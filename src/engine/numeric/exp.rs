//! e^x, and 1 − e^x for x <= 0, written so that a loop over a slice is vectorised.
//!
//! No branch, no table, no fused multiply-add: the same bits on every processor, at two to four
//! times the speed of a call into `libm`.

use std::f64::consts::LOG2_E;

/// Adding and subtracting 1.5 · 2⁵² rounds to the nearest integer and leaves it in the low bits.
const ROUND: f64 = 6_755_399_441_055_744.0;
/// ln 2 in two parts; the first has 32 trailing zero bits, so its product with |k| < 1100 is exact.
pub(super) const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
pub(super) const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// Below this, e^x is less than 2.3e-308 (the smallest normal number) and is taken as 0.
const UNDERFLOW: f64 = -708.0;

/// x = k ln 2 + r with |r| <= ½ ln 2: returns (k + ROUND, e^r − 1).
#[inline(always)]
fn reduce(x: f64) -> (f64, f64) {
    let shifted = x * LOG2_E + ROUND;
    let k = shifted - ROUND;
    let r = (x - k * LN_2_HIGH) - k * LN_2_LOW;
    (shifted, r + r * r * exp_tail(r))
}

/// 2^k for k + ROUND, where −1023 < k < 1024.
#[inline(always)]
fn power_of_two(shifted: f64) -> f64 {
    f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52)
}

/// (e^r − 1 − r) / r² by the polynomial of degree 9 that comes nearest for |r| <= ½ ln 2 (found by
/// Remez' algorithm): e^r is off by less than 3.7e-18 of itself. Even and odd terms are summed
/// apart to shorten the chain of operations.
#[inline(always)]
fn exp_tail(r: f64) -> f64 {
    const C: [f64; 10] = [
        0.500_000_000_000_001_1,
        0.166_666_666_666_664_13,
        0.041_666_666_666_530_267,
        0.008_333_333_333_494_333,
        0.001_388_888_894_359_772_2,
        0.000_198_412_695_067_794_63,
        2.480_149_313_615_996_7e-5,
        2.755_758_626_651_590_3e-6,
        2.763_023_392_942_218_4e-7,
        2.500_007_228_146_254_5e-8,
    ];
    let s = r * r;
    let even = C[0] + s * (C[2] + s * (C[4] + s * (C[6] + s * C[8])));
    let odd = C[1] + s * (C[3] + s * (C[5] + s * (C[7] + s * C[9])));
    even + r * odd
}

/// e^x for x <= 0, to one unit in the last place; 0 below −708.
#[inline(always)]
pub fn exp_nonpositive(x: f64) -> f64 {
    let (shifted, rest) = reduce(x.max(UNDERFLOW));
    let power = power_of_two(shifted);
    if x < UNDERFLOW { 0.0 } else { power + power * rest }
}

/// e^x for every x, to one unit in the last place (of the smallest normal number, below it). NaN
/// stays NaN.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    // Beyond these, the result is 0 or infinite. `max` and `min` would lose a NaN.
    let x = if x < -746.0 { -746.0 } else { x };
    let x = if x > 710.0 { 710.0 } else { x };
    let (shifted, rest) = reduce(x);
    // 2^k itself may be out of range: it is the product of two powers that are not.
    let k = shifted - ROUND;
    let half = 0.5 * k + ROUND;
    let other = (k - (half - ROUND)) + ROUND;
    (1.0 + rest) * power_of_two(half) * power_of_two(other)
}

/// 1 − e^x for x <= 0, with full relative accuracy also where x is tiny.
#[inline(always)]
pub fn one_minus_exp(x: f64) -> f64 {
    let (shifted, rest) = reduce(x.max(UNDERFLOW));
    let power = power_of_two(shifted);
    (1.0 - power) - power * rest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Deterministic points that cover [−700, 0] densely and small arguments on a log scale.
    fn arguments() -> impl Iterator<Item = f64> {
        let dense = (0..700_000).map(|i| -f64::from(i) * 1e-3 * 1.000_123);
        let tiny = (0..3_000).map(|i| -libm::exp(-f64::from(i) * 0.2));
        dense.chain(tiny).filter(|&x| x > -700.0)
    }

    #[test]
    fn exp_of_any_sign_is_within_one_and_a_half_units_in_the_last_place() {
        for x in arguments().flat_map(|x| [x, -x]).filter(|x| x.abs() < 745.0) {
            let (ours, theirs) = (exp(x), libm::exp(x));
            let unit = f64::EPSILON * theirs.max(f64::MIN_POSITIVE);
            // libm itself is good to 0.5 ulp and a little: 1 ulp of ours makes at most 1.5.
            assert!((ours - theirs).abs() <= 1.5 * unit, "{x}: {ours} {theirs}");
            assert!(!(-708.0..=0.0).contains(&x) || exp_nonpositive(x) == ours, "{x}");
        }
        for x in (-745_200..-700_000).chain(700_000..709_790).map(|i| f64::from(i) * 1e-3) {
            let (ours, theirs) = (exp(x), libm::exp(x));
            let unit = f64::EPSILON * theirs.max(f64::MIN_POSITIVE);
            let near = (ours - theirs).abs() <= 1.5 * unit;
            assert!(near || ours == theirs, "{x}: {ours} {theirs}");
        }
    }

    #[test]
    fn exp_at_the_ends_of_the_range() {
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(-0.0), 1.0);
        assert_eq!(exp(f64::INFINITY), f64::INFINITY);
        assert_eq!(exp(f64::NEG_INFINITY), 0.0);
        assert_eq!((exp(1e308), exp(-1e308)), (f64::INFINITY, 0.0));
        assert_eq!((exp(709.8), exp(-745.2)), (f64::INFINITY, 0.0));
        assert!(exp(709.78) < f64::INFINITY && exp(-745.1) > 0.0);
        assert!(exp(f64::NAN).is_nan());
    }

    #[test]
    fn one_minus_exp_keeps_relative_accuracy() {
        for x in arguments().filter(|&x| x < 0.0 && x > -1e300) {
            let (ours, theirs) = (one_minus_exp(x), -libm::expm1(x));
            assert!((ours - theirs).abs() <= 2.0 * f64::EPSILON * theirs, "{x}: {ours} {theirs}");
        }
    }

    #[test]
    fn ends_of_the_range() {
        assert_eq!(exp_nonpositive(0.0), 1.0);
        assert_eq!(exp_nonpositive(-709.0), 0.0);
        assert_eq!(exp_nonpositive(f64::NEG_INFINITY), 0.0);
        assert!(exp_nonpositive(-708.0) > 0.0);
        assert_eq!(one_minus_exp(0.0), 0.0);
        assert_eq!(one_minus_exp(f64::NEG_INFINITY), 1.0);
    }
}
