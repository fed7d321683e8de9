//! Operations on real numbers, one by one and on whole rows, with the same bits.
//!
//! A division by zero gives NaN, never an infinity. Comparisons, minima and maxima of a NaN are NaN.

use pulp::{Arch, NullaryFnOnce};

use super::exp::exp;
use super::kernel::{ARCH, kernels};
use super::ln::vectorised_ln;

/// An operation on one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    Negate,
    Exp,
    Ln,
    Sqrt,
    Abs,
    Floor,
}

/// An operation on two numbers. A comparison gives 1 or 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Min,
    Max,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    Unequal,
}

impl Unary {
    /// The result for one number.
    #[inline(always)]
    pub fn apply(self, a: f64) -> f64 {
        match self {
            Self::Negate => -a,
            Self::Exp => exp(a),
            Self::Ln => vectorised_ln(a),
            Self::Sqrt => a.sqrt(),
            Self::Abs => a.abs(),
            Self::Floor => a.floor(),
        }
    }
}

impl Binary {
    /// The result for two numbers.
    #[inline(always)]
    pub fn apply(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Add => a + b,
            Self::Subtract => a - b,
            Self::Multiply => a * b,
            Self::Divide if b == 0.0 => f64::NAN,
            Self::Divide => a / b,
            Self::Power => power(a, b),
            Self::Min if (a < b) | a.is_nan() => a,
            Self::Max if (a > b) | a.is_nan() => a,
            Self::Min | Self::Max => b,
            Self::Less => truth(a < b, a, b),
            Self::LessOrEqual => truth(a <= b, a, b),
            Self::Greater => truth(a > b, a, b),
            Self::GreaterOrEqual => truth(a >= b, a, b),
            Self::Equal => truth(a == b, a, b),
            Self::Unequal => truth(a != b, a, b),
        }
    }
}

/// 1 or 0; NaN if one of the compared numbers is.
#[inline(always)]
fn truth(holds: bool, a: f64, b: f64) -> f64 {
    let number = if holds { 1.0 } else { 0.0 };
    if a.is_nan() | b.is_nan() { f64::NAN } else { number }
}

/// `a` where the condition is not 0, otherwise `b`; NaN if the condition is NaN.
#[inline(always)]
pub fn choose(condition: f64, a: f64, b: f64) -> f64 {
    let chosen = if condition != 0.0 { a } else { b };
    if condition.is_nan() { condition } else { chosen }
}

/// How a power is computed.
enum Exponent {
    /// A whole number, at most `LARGEST_WHOLE` in size: by multiplications.
    Whole { size: u32, negative: bool },
    /// ½: the square root.
    Half,
    /// e^(p ln x).
    Other(f64),
}

/// Up to this size, whole exponents are multiplications.
const LARGEST_WHOLE: f64 = 64.0;

impl Exponent {
    /// The way for this exponent.
    #[inline(always)]
    fn of(p: f64) -> Self {
        if p.abs() <= LARGEST_WHOLE && p.floor() == p {
            Self::Whole { size: p.abs() as u32, negative: p < 0.0 }
        } else if p == 0.5 {
            Self::Half
        } else {
            Self::Other(p)
        }
    }
}

/// x^p.
fn power(x: f64, p: f64) -> f64 {
    match Exponent::of(p) {
        Exponent::Whole { size, negative } => whole_powers([x], size, negative)[0],
        Exponent::Half => x.sqrt(),
        Exponent::Other(p) => other_power(x, p),
    }
}

/// The powers of several numbers with a whole exponent, by squaring.
#[inline(always)]
fn whole_powers<const N: usize>(x: [f64; N], size: u32, negative: bool) -> [f64; N] {
    let mut square = x;
    let mut product = [1.0; N];
    for i in 0..N {
        // NaN to the power 0 stays NaN: what is no number must not become one.
        product[i] = if x[i].is_nan() { x[i] } else { 1.0 };
    }
    let mut left = size;
    while left > 0 {
        if left % 2 == 1 {
            for i in 0..N {
                product[i] *= square[i];
            }
        }
        left /= 2;
        for square in &mut square {
            *square *= *square;
        }
    }
    if negative {
        // A power that is too small for a double is no division by zero.
        for i in 0..N {
            product[i] = if x[i] == 0.0 { f64::NAN } else { 1.0 / product[i] };
        }
    }
    product
}

/// e^(p ln x) for an exponent that is no small whole number.
#[inline(always)]
fn other_power(x: f64, p: f64) -> f64 {
    let power = exp(p * vectorised_ln(x));
    if (x == 0.0) & (p < 0.0) { f64::NAN } else { power }
}

/// Runs a loop of its own for each operation, so that each is vectorised.
macro_rules! for_each_operation {
    ($operation:expr, $kind:ident [$($variant:ident)*], |$one:ident| $run:expr) => {
        match $operation {
            $($kind::$variant => {
                const $one: $kind = $kind::$variant;
                $run
            })*
        }
    };
}

kernels! {
    /// Replaces every number by the result of the operation.
    pub fn unary<'a>(operation: Unary, row: &'a mut [f64]) -> () {
        for_each_operation!(operation, Unary [Negate Exp Ln Sqrt Abs Floor], |ONE| {
            for a in row {
                *a = ONE.apply(*a);
            }
        });
    }

    /// Replaces every number by the result of the operation on it and on its partner.
    pub fn binary<'a>(operation: Binary, row: &'a mut [f64], partners: &'a [f64]) -> () {
        for_each_operation!(operation, Binary [
            Add Subtract Multiply Divide Power Min Max
            Less LessOrEqual Greater GreaterOrEqual Equal Unequal
        ], |ONE| {
            for (a, b) in row.iter_mut().zip(partners) {
                *a = ONE.apply(*a, *b);
            }
        });
    }

    /// Replaces every number by its power.
    pub fn powers<'a>(exponent: f64, row: &'a mut [f64]) -> () {
        match Exponent::of(exponent) {
            Exponent::Whole { size, negative } => {
                // As many numbers at once as fill the widest registers twice.
                let (wide, rest) = row.as_chunks_mut::<16>();
                for x in wide {
                    *x = whole_powers(*x, size, negative);
                }
                for x in rest {
                    *x = whole_powers([*x], size, negative)[0];
                }
            }
            Exponent::Half => {
                for x in row {
                    *x = x.sqrt();
                }
            }
            Exponent::Other(p) => {
                for x in row {
                    *x = other_power(*x, p);
                }
            }
        }
    }

    /// Replaces every number by the other one where its condition does not hold.
    pub fn select<'a>(conditions: &'a [f64], row: &'a mut [f64], others: &'a [f64]) -> () {
        for ((a, c), b) in row.iter_mut().zip(conditions).zip(others) {
            *a = choose(*c, *a, *b);
        }
    }
}

/// The bits of every operation on a row and on nasty numbers, on one path; all NaNs are the same.
#[cfg(test)]
pub(super) fn bits(arch: Arch, values: &[f64]) -> Vec<u64> {
    use Binary::*;
    const NASTY: [f64; 12] =
        [0.0, -0.0, 1.0, -1.0, -2.5, 700.0, -740.0, 1e308, 1e-310, 1e-200, f64::INFINITY, f64::NAN];
    let spread = |(i, v): (usize, &f64)| match i % 5 {
        0 => NASTY[i / 5 % NASTY.len()],
        1 => -v,
        2 => 1000.0 * v,
        _ => *v,
    };
    let a: Vec<f64> = values.iter().enumerate().map(spread).collect();
    let b: Vec<f64> = a.iter().rev().copied().collect();
    let mut all = Vec::new();
    let mut keep = |change: &dyn Fn(&mut [f64])| {
        let mut row = a.clone();
        change(&mut row);
        all.extend(row.iter().map(|v| if v.is_nan() { u64::MAX } else { v.to_bits() }));
    };
    for operation in [Unary::Negate, Unary::Exp, Unary::Ln, Unary::Sqrt, Unary::Abs, Unary::Floor] {
        keep(&|row| on::unary(arch, operation, row));
    }
    for operation in [
        Add,
        Subtract,
        Multiply,
        Divide,
        Power,
        Min,
        Max,
        Less,
        LessOrEqual,
        Greater,
        GreaterOrEqual,
        Equal,
        Unequal,
    ] {
        keep(&|row| on::binary(arch, operation, row, &b));
    }
    for exponent in [0.0, 0.5, 0.7, 2.0, 3.0, -5.0, -1.5, f64::INFINITY] {
        keep(&|row| on::powers(arch, exponent, row));
    }
    keep(&|row| on::select(arch, &b, row, &b));
    all
}
