//! Operations on real numbers, one by one and on whole rows, with the same bits.
//!
//! A division by zero gives NaN, never an infinity. Comparisons, minima and maxima of a NaN are NaN.

use pulp::{Arch, NullaryFnOnce};

use super::exp::exp;
use super::kernel::{ARCH, kernels};
use super::ln::vectorised_ln;

/// An operation on one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    Negate,
    Exp,
    Ln,
    Sqrt,
    Abs,
    Floor,
}

/// An operation on two numbers. A comparison gives 1 or 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

/// What an operation reads at the places of a row.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// The same number at every place.
    Constant(f64),
    /// A number for each place.
    Row(&'a [f64]),
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
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Exponent {
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
    pub fn of(p: f64) -> Self {
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
    power_of_logarithm(x, p, p * vectorised_ln(x))
}

/// x^p from p ln x.
#[inline(always)]
fn power_of_logarithm(x: f64, p: f64, logarithm: f64) -> f64 {
    let power = exp(logarithm);
    if (x == 0.0) & (p < 0.0) { f64::NAN } else { power }
}

// The loops are macros: the body of a closure is not always compiled for the features of the
// processor.

/// Writes a value for every place of one row.
macro_rules! map {
    ($out:expr, |$x:ident of $row:ident| $value:expr) => {
        for (out, &$x) in $out.iter_mut().zip($row) {
            *out = $value;
        }
    };
}

/// Writes a value for every place of two sources.
macro_rules! combine {
    ($out:expr, |$x:ident of $a:ident, $y:ident of $b:ident| $value:expr) => {
        match ($a, $b) {
            (Source::Row(a), Source::Row(b)) => {
                for ((out, &$x), &$y) in $out.iter_mut().zip(a).zip(b) {
                    *out = $value;
                }
            }
            (Source::Row(a), Source::Constant($y)) => map!($out, |$x of a| $value),
            (Source::Constant($x), Source::Row(b)) => map!($out, |$y of b| $value),
            (Source::Constant($x), Source::Constant($y)) => $out.fill($value),
        }
    };
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
    /// The operation at every place.
    pub fn unary<'a>(operation: Unary, a: Source<'a>, out: &'a mut [f64]) -> () {
        for_each_operation!(operation, Unary [Negate Exp Ln Sqrt Abs Floor], |ONE| match a {
            Source::Row(a) => map!(out, |x of a| ONE.apply(x)),
            Source::Constant(a) => out.fill(ONE.apply(a)),
        });
    }

    /// The operation at every place.
    pub fn binary<'a>(
        operation: Binary,
        a: Source<'a>,
        b: Source<'a>,
        out: &'a mut [f64],
    ) -> () {
        if let (Binary::Power, Source::Row(a), Source::Constant(p)) = (operation, a, b) {
            return powers(a, p, out);
        }
        for_each_operation!(operation, Binary [
            Add Subtract Multiply Divide Power Min Max
            Less LessOrEqual Greater GreaterOrEqual Equal Unequal
        ], |ONE| combine!(out, |x of a, y of b| ONE.apply(x, y)));
    }

    /// `a` or `b` at every place, as the condition is.
    pub fn select<'a>(
        condition: Source<'a>,
        a: Source<'a>,
        b: Source<'a>,
        out: &'a mut [f64],
    ) -> () {
        match (condition, a, b) {
            (Source::Constant(c), a, b) => combine!(out, |x of a, y of b| choose(c, x, y)),
            (c, Source::Constant(x), b) => combine!(out, |c of c, y of b| choose(c, x, y)),
            (c, a, Source::Constant(y)) => combine!(out, |c of c, x of a| choose(c, x, y)),
            (Source::Row(c), Source::Row(a), Source::Row(b)) => {
                for (((out, &c), &x), &y) in out.iter_mut().zip(c).zip(a).zip(b) {
                    *out = choose(c, x, y);
                }
            }
        }
    }
}

/// The powers of a row with one exponent.
#[inline(always)]
fn powers(a: &[f64], p: f64, out: &mut [f64]) {
    match Exponent::of(p) {
        Exponent::Whole { size: 2, negative: false } => map!(out, |x of a| x * x),
        Exponent::Whole { size, negative } => {
            // As many numbers at once as fill the widest registers twice.
            let (wide, rest) = a.as_chunks::<16>();
            let (wide_out, rest_out) = out.as_chunks_mut::<16>();
            for (out, x) in wide_out.iter_mut().zip(wide) {
                *out = whole_powers(*x, size, negative);
            }
            map!(rest_out, |x of rest| whole_powers([x], size, negative)[0]);
        }
        Exponent::Half => map!(out, |x of a| x.sqrt()),
        Exponent::Other(p) => {
            // Two loops: one would need more registers than there are.
            map!(out, |x of a| p * vectorised_ln(x));
            for (out, &x) in out.iter_mut().zip(a) {
                *out = power_of_logarithm(x, p, *out);
            }
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
    let mut out = vec![0.0; a.len()];
    let mut all = Vec::new();
    let mut keep = |out: &[f64]| {
        all.extend(out.iter().map(|v| if v.is_nan() { u64::MAX } else { v.to_bits() }));
    };
    for operation in [Unary::Negate, Unary::Exp, Unary::Ln, Unary::Sqrt, Unary::Abs, Unary::Floor] {
        for source in [Source::Row(&a), Source::Constant(0.7)] {
            on::unary(arch, operation, source, &mut out);
            keep(&out);
        }
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
        let (a, b) = (Source::Row(&a), Source::Row(&b));
        on::binary(arch, operation, a, b, &mut out);
        keep(&out);
        for constant in [0.0, 0.5, 0.7, 2.0, 3.0, -5.0, -1.5, f64::INFINITY] {
            on::binary(arch, operation, a, Source::Constant(constant), &mut out);
            keep(&out);
            on::binary(arch, operation, Source::Constant(constant), b, &mut out);
            keep(&out);
            let both = [constant, 1.3].map(Source::Constant);
            on::binary(arch, operation, both[0], both[1], &mut out);
            keep(&out);
        }
    }
    let (a, b) = (Source::Row(&a), Source::Row(&b));
    let two = Source::Constant(2.0);
    for (condition, a, b) in [(a, b, a), (b, a, two), (a, two, b), (two, a, b), (a, two, two)] {
        on::select(arch, condition, a, b, &mut out);
        keep(&out);
    }
    all
}
