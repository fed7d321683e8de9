//! As much complex arithmetic as the characteristic function of a log density ratio needs.

use std::ops::{Add, Mul, Sub};

use super::{ln, log1p};

/// re + i im.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Complex {
    /// The real part.
    pub re: f64,
    /// The imaginary part.
    pub im: f64,
}

impl Complex {
    /// 0.
    pub const ZERO: Self = Self::new(0.0, 0.0);
    /// 1.
    pub const ONE: Self = Self::new(1.0, 0.0);

    /// re + i im.
    pub const fn new(re: f64, im: f64) -> Self {
        Self { re, im }
    }

    /// re − i im.
    pub fn conjugate(self) -> Self {
        Self::new(self.re, -self.im)
    }

    /// |z|².
    pub fn norm(self) -> f64 {
        self.re * self.re + self.im * self.im
    }

    /// 1/z.
    pub fn reciprocal(self) -> Self {
        self.conjugate() * (1.0 / self.norm())
    }

    /// ln z, its argument in (−π, π].
    pub fn ln(self) -> Self {
        Self::new(0.5 * ln(self.norm()), libm::atan2(self.im, self.re))
    }

    /// ln(1 + z) with the digits of a small z.
    pub fn ln_1p(self) -> Self {
        let excess = self.re * (2.0 + self.re) + self.im * self.im;
        Self::new(0.5 * log1p(excess), libm::atan2(self.im, 1.0 + self.re))
    }
}

impl Add for Complex {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::new(self.re + other.re, self.im + other.im)
    }
}

impl Add<f64> for Complex {
    type Output = Self;

    fn add(self, other: f64) -> Self {
        Self::new(self.re + other, self.im)
    }
}

impl Sub for Complex {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self::new(self.re - other.re, self.im - other.im)
    }
}

impl Mul for Complex {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self::new(self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re)
    }
}

impl Mul<f64> for Complex {
    type Output = Self;

    fn mul(self, factor: f64) -> Self {
        Self::new(self.re * factor, self.im * factor)
    }
}
