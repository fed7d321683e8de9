//! The tail of Stirling's series, S(z) = lnΓ(z) − (z − ½) ln z + z − ½ ln 2π, for |z| >= 8.

use num_complex::Complex64;

/// From here on nine terms reach the last bit.
pub const FROM: f64 = 8.0;

/// ½ ln 2π.
pub const HALF_LN_TAU: f64 = 0.918_938_533_204_672_8;

/// B_2n / (2n (2n−1)), n = 1, …, 9.
const COEFFICIENTS: [f64; 9] = [
    1.0 / 12.0,
    -1.0 / 360.0,
    1.0 / 1_260.0,
    -1.0 / 1_680.0,
    1.0 / 1_188.0,
    -691.0 / 360_360.0,
    1.0 / 156.0,
    -3_617.0 / 122_400.0,
    43_867.0 / 244_188.0,
];

/// S(z) for real z >= [`FROM`].
pub fn tail(z: f64) -> f64 {
    let w = 1.0 / (z * z);
    COEFFICIENTS.iter().rev().fold(0.0, |sum, c| c + w * sum) / z
}

/// S(z) for complex z with |z| >= [`FROM`], off the negative axis.
pub fn complex_tail(z: Complex64) -> Complex64 {
    let reciprocal = reciprocal(z);
    let w = reciprocal * reciprocal;
    let sum = COEFFICIENTS.iter().rev().fold(Complex64::ZERO, |sum, &c| w * sum + c);
    sum * reciprocal
}

/// 1/z, by one division.
pub fn reciprocal(z: Complex64) -> Complex64 {
    z.conj() * (1.0 / z.norm_sqr())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gamma_function_of_whole_numbers() {
        // lnΓ(8) = ln 5040, lnΓ(30) = ln 29!.
        let ln_gamma = |z: f64| (z - 0.5) * libm::log(z) - z + HALF_LN_TAU + tail(z);
        assert!((ln_gamma(8.0) - 8.525_161_361_065_415).abs() < 4e-15);
        assert!((ln_gamma(30.0) - 71.257_038_967_168_01).abs() < 3e-14);
        let complex = complex_tail(Complex64::new(9.5, 0.0));
        assert_eq!((complex.re, complex.im), (tail(9.5), 0.0));
    }
}
