//! ln x, written so that a loop over a slice is vectorised.
//!
//! The formula is that of `libm`, without its branches, so that the bits are the same as those of
//! `libm::log`: to one unit in the last place.

use super::exp::{LN_2_HIGH, LN_2_LOW};

/// The bits of 1, and those of √½ without the lower half.
const ONE: u64 = 0x3ff0_0000 << 32;
const ROOT_HALF: u64 = 0x3fe6_a09e << 32;
/// A whole number below 2⁵² in the low bits of 2⁵² is added to it.
const TWO_52: f64 = 4_503_599_627_370_496.0;
const TWO_54: f64 = 4.0 * TWO_52;

/// ln x: −∞ at 0, NaN below.
#[inline(always)]
pub fn vectorised_ln(x: f64) -> f64 {
    // A subnormal number is made normal.
    let subnormal = x < f64::MIN_POSITIVE;
    let (scaled, bias) = if subnormal { (x * TWO_54, 1023.0 + 54.0) } else { (x, 1023.0) };
    // x = 2^k (1 + f) with √½ <= 1 + f < √2.
    let bits = scaled.to_bits().wrapping_add(ONE - ROOT_HALF);
    let k = (f64::from_bits((bits >> 52) | TWO_52.to_bits()) - TWO_52) - bias;
    let f = f64::from_bits((bits & ((1 << 52) - 1)) + ROOT_HALF) - 1.0;
    let finite = {
        let half_square = 0.5 * f * f;
        let s = f / (2.0 + f);
        s * (half_square + tail(s * s)) + k * LN_2_LOW - half_square + f + k * LN_2_HIGH
    };
    let special = if x < 0.0 { f64::NAN } else { x };
    let special = if x == 0.0 { f64::NEG_INFINITY } else { special };
    if x > 0.0 && x < f64::INFINITY { finite } else { special }
}

/// The terms of ln(1 + f) = ln(1 + s) − ln(1 − s) beyond the first, divided by s; z = s².
#[inline(always)]
fn tail(z: f64) -> f64 {
    const C: [f64; 7] = [
        6.666_666_666_666_735e-1,
        3.999_999_999_940_942e-1,
        2.857_142_874_366_239e-1,
        2.222_219_843_214_978_4e-1,
        1.818_357_216_161_805e-1,
        1.531_383_769_920_937_3e-1,
        1.479_819_860_511_658_6e-1,
    ];
    let w = z * z;
    let even = w * (C[1] + w * (C[3] + w * C[5]));
    let odd = z * (C[0] + w * (C[2] + w * (C[4] + w * C[6])));
    odd + even
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bit patterns from 0 to infinity, subnormal numbers too, and numbers around 1.
    #[test]
    fn the_bits_are_those_of_libm() {
        let all = (0..f64::INFINITY.to_bits()).step_by(9_000_000_000_001).map(f64::from_bits);
        let near_one = (1..200_000).map(|i| f64::from(i) * 1e-5);
        let nearest = (0..2000).map(|i| f64::from_bits(ONE - 1000 + i));
        let subnormal = (0..52).map(|i| f64::from_bits(3 << i >> 1));
        for x in all.chain(near_one).chain(nearest).chain(subnormal) {
            assert_eq!(vectorised_ln(x).to_bits(), libm::log(x).to_bits(), "{x:e}");
        }
    }

    #[test]
    fn ends_of_the_range() {
        assert_eq!(vectorised_ln(1.0).to_bits(), 0);
        assert_eq!([vectorised_ln(0.0), vectorised_ln(-0.0)], [f64::NEG_INFINITY; 2]);
        assert_eq!(vectorised_ln(f64::INFINITY), f64::INFINITY);
        assert!(
            [-1.0, -1e-320, f64::NEG_INFINITY, f64::NAN].iter().all(|&x| vectorised_ln(x).is_nan())
        );
    }
}
