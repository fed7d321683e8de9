//! Operations on real numbers, one by one and on whole rows, with the same bits.
//!
//! A division by zero gives NaN, never an infinity. Comparisons, minima and maxima of a NaN are NaN.

use super::exp::exp;
use super::kernel::{combine, replace, vectorised};
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
    pub fn apply(self, a: f64) -> f64 {
        let mut row = [a];
        unary(self, &mut row);
        row[0]
    }
}

impl Binary {
    /// The result for two numbers.
    pub fn apply(self, a: f64, b: f64) -> f64 {
        let mut row = [a];
        binary(self, &mut row, &[b]);
        row[0]
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

/// Up to this size, whole exponents are multiplications.
const LARGEST_WHOLE: f64 = 64.0;

/// x^p.
fn power(x: f64, p: f64) -> f64 {
    let mut row = [x];
    powers(p, &mut row);
    row[0]
}

/// e^(p ln x) for an exponent that is no small whole number.
#[inline(always)]
fn other_power(x: f64, p: f64) -> f64 {
    let power = exp(p * vectorised_ln(x));
    if (x == 0.0) & (p < 0.0) { f64::NAN } else { power }
}

/// Replaces every number by the result of the operation.
pub fn unary(operation: Unary, row: &mut [f64]) {
    // A loop of its own for each operation, so that each is vectorised.
    match operation {
        Unary::Negate => replace(row, |a| -a),
        Unary::Exp => replace(row, exp),
        Unary::Ln => replace(row, vectorised_ln),
        Unary::Sqrt => replace(row, f64::sqrt),
        Unary::Abs => replace(row, f64::abs),
        Unary::Floor => replace(row, f64::floor),
    }
}

/// Replaces every number by the result of the operation on it and on its partner.
pub fn binary(operation: Binary, row: &mut [f64], partners: &[f64]) {
    let (min, max) = (
        |a: f64, b: f64| if (a < b) | a.is_nan() { a } else { b },
        |a: f64, b: f64| if (a > b) | a.is_nan() { a } else { b },
    );
    match operation {
        Binary::Add => combine(row, partners, |a, b| a + b),
        Binary::Subtract => combine(row, partners, |a, b| a - b),
        Binary::Multiply => combine(row, partners, |a, b| a * b),
        Binary::Divide => combine(row, partners, |a, b| if b == 0.0 { f64::NAN } else { a / b }),
        Binary::Power => combine(row, partners, power),
        Binary::Min => combine(row, partners, min),
        Binary::Max => combine(row, partners, max),
        Binary::Less => combine(row, partners, |a, b| truth(a < b, a, b)),
        Binary::LessOrEqual => combine(row, partners, |a, b| truth(a <= b, a, b)),
        Binary::Greater => combine(row, partners, |a, b| truth(a > b, a, b)),
        Binary::GreaterOrEqual => combine(row, partners, |a, b| truth(a >= b, a, b)),
        Binary::Equal => combine(row, partners, |a, b| truth(a == b, a, b)),
        Binary::Unequal => combine(row, partners, |a, b| truth(a != b, a, b)),
    }
}

/// Replaces every number by its power: by multiplications, the square root, or e^(p ln x).
pub fn powers(exponent: f64, row: &mut [f64]) {
    if exponent.abs() <= LARGEST_WHOLE && exponent.floor() == exponent {
        let (size, negative) = (exponent.abs() as u32, exponent < 0.0);
        vectorised(
            #[inline(always)]
            move || {
                // As many numbers at once as fill the widest registers twice.
                let (wide, rest) = row.as_chunks_mut::<16>();
                for x in wide {
                    *x = whole_powers(*x, size, negative);
                }
                for x in rest {
                    *x = whole_powers([*x], size, negative)[0];
                }
            },
        );
    } else if exponent == 0.5 {
        replace(row, f64::sqrt);
    } else {
        replace(
            row,
            #[inline(always)]
            move |x| other_power(x, exponent),
        );
    }
}

/// The powers of several numbers with a whole exponent, by squaring.
#[inline(always)]
fn whole_powers<const N: usize>(x: [f64; N], size: u32, negative: bool) -> [f64; N] {
    let mut square = x;
    // NaN to the power 0 stays NaN: what is no number must not become one. A power that is too small for a double
    // is no division by zero, but 0 is.
    let is_wrong = |x: f64| x.is_nan() | (negative & (x == 0.0));
    let mut product = x.map(|x| if is_wrong(x) { f64::NAN } else { 1.0 });
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
    if negative { product.map(|power| 1.0 / power) } else { product }
}

/// Replaces every number by the other one where its condition does not hold.
pub fn select(conditions: &[f64], row: &mut [f64], others: &[f64]) {
    vectorised(
        #[inline(always)]
        move || {
            for ((a, c), b) in row.iter_mut().zip(conditions).zip(others) {
                *a = choose(*c, *a, *b);
            }
        },
    );
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The bits of every operation on a row and on nasty numbers; all NaNs are the same.
    pub fn bits(values: &[f64]) -> Vec<u64> {
        use Binary::*;
        const NASTY: [f64; 12] = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            -2.5,
            700.0,
            -740.0,
            1e308,
            1e-310,
            1e-200,
            f64::INFINITY,
            f64::NAN,
        ];
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
        use Unary::*;
        for operation in [Negate, Exp, Ln, Sqrt, Abs, Floor] {
            keep(&|row| unary(operation, row));
        }
        for operation in [Add, Subtract, Multiply, Divide, Power, Min, Max] {
            keep(&|row| binary(operation, row, &b));
        }
        for comparison in [Less, LessOrEqual, Greater, GreaterOrEqual, Equal, Unequal] {
            keep(&|row| binary(comparison, row, &b));
        }
        for exponent in [0.0, 0.5, 0.7, 2.0, 3.0, -5.0, -1.5, f64::INFINITY] {
            keep(&|row| powers(exponent, row));
        }
        keep(&|row| select(&b, row, &b));
        all
    }
}
