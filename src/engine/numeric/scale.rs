//! A scale of bins for numbers that are not negative, fine near 0, near 1 and far out.
//!
//! Errors crowd where a distance is nearly 0 or nearly 1; 32 bins for each power of two, counted
//! from either end, tell them apart everywhere. The bins ascend with the numbers.

use super::first_where;

/// The mantissa bits that are dropped: 5 of 52 are left, for 32 bins in a power of two.
const DROPPED: u32 = 47;

/// The shortened bit pattern of 2^`exponent`.
#[inline]
const fn key(exponent: i64) -> i64 {
    (1023 + exponent) << (52 - DROPPED)
}

/// Smaller numbers are in the first bin.
const LEAST: i64 = key(-32) - 1;
/// The bins below ½, and from ½ to 1, where they count the distance from 1; 1 itself has one.
const BELOW_HALF: i64 = key(-1) - LEAST;
const NEXT_TO_ONE: i64 = key(-53) - 1;
const UP_TO_ONE: i64 = BELOW_HALF + key(-1) - NEXT_TO_ONE + 1;
/// Numbers of this size or more are in the last bin.
const MOST: i64 = key(64) - key(0);

/// The number of bins.
pub const BINS: usize = (UP_TO_ONE + MOST + 1) as usize;

/// The bin of a number.
#[inline(always)]
pub fn bin(value: f64) -> usize {
    let shortened = |value: f64| (value.to_bits() >> DROPPED) as i64;
    let low = shortened(value).max(LEAST) - LEAST;
    let middle = BELOW_HALF + key(-1) - shortened(1.0 - value).max(NEXT_TO_ONE);
    let high = UP_TO_ONE + (shortened(value) - key(0)).min(MOST);
    let upper = if value <= 1.0 { middle } else { high };
    (if value < 0.5 { low } else { upper }) as usize
}

/// The bit patterns of the numbers in a bin: from the first up to, but without, the second.
#[inline]
pub fn patterns(index: usize) -> (u64, u64) {
    (first_pattern(index), first_pattern(index + 1))
}

/// The least bit pattern of a number in this bin or above; one past infinity if there is none.
#[inline]
fn first_pattern(index: usize) -> u64 {
    first_where(0, f64::INFINITY.to_bits() + 1, |bits| bin(f64::from_bits(bits)) >= index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_ascend_with_the_numbers() {
        let mut values = vec![0.0, 1e-300, 0.5, 1.0, f64::INFINITY, 1e300];
        for i in 0..200_000_u32 {
            let x = libm::exp(-f64::from(i) * 3e-4);
            values.extend([x, 1.0 - x, 1.0 + x, 1.0 / x]);
        }
        values.sort_by(f64::total_cmp);
        let bins: Vec<usize> = values.iter().map(|&value| bin(value)).collect();
        assert!(bins.is_sorted());
        assert_eq!((bins[0], bins[bins.len() - 1]), (0, BINS - 1));
    }

    #[test]
    fn patterns_are_those_of_the_bin() {
        let one = 1.0 - 2.0_f64.powi(-53);
        for value in [0.0, 1e-300, 1e-5, 0.3, 0.5, 0.75, one, 1.0, 1.5, 1e12, 1e300, f64::INFINITY]
        {
            let (low, high) = patterns(bin(value));
            assert!((low..high).contains(&value.to_bits()), "{value}");
            assert_eq!(bin(f64::from_bits(low)), bin(value));
            assert_eq!(bin(f64::from_bits(high - 1)), bin(value));
        }
        assert_eq!(patterns(bin(1.0)), (1.0_f64.to_bits(), 1.0_f64.to_bits() + 1));
    }

    #[test]
    fn a_bin_is_narrow_at_both_ends() {
        let width = |value: f64| {
            let (low, high) = patterns(bin(value));
            f64::from_bits(high - 1) - f64::from_bits(low)
        };
        assert!(width(1e-6) < 1e-6 / 16.0);
        assert!(width(1.0 - 1e-9) < 1e-9 / 16.0);
        assert!(width(1e6) < 1e6 / 16.0);
    }
}
