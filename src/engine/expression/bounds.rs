//! Bounds of all values of an expression, by interval arithmetic.
//!
//! Rounded sums, products, quotients and roots are monotone, so that the results at the ends enclose
//! all results, as they are computed. The exponential and the logarithm are not monotone in the last
//! digits: their bounds are widened.

use super::{Expression, Kind, Part};
use crate::numeric::rows::{Binary, Exponent, Unary};

/// All values between two ends, and possibly NaN.
#[derive(Clone, Copy, Debug)]
struct Interval {
    low: f64,
    high: f64,
    /// Whether the value may be NaN.
    nan: bool,
}

const ANYTHING: Interval = Interval { low: f64::NEG_INFINITY, high: f64::INFINITY, nan: true };

impl Expression {
    /// A finite or −infinite lower and a finite upper bound of all values if every variable lies in
    /// its range. None if the value may be NaN or +infinity, or if the contrary is not proved.
    pub fn bounds(&self, range: &dyn Fn(usize) -> (f64, f64)) -> Option<(f64, f64)> {
        let Interval { low, high, nan } = self.whole.interval(range);
        (!nan && high < f64::INFINITY).then_some((low, high))
    }
}

impl Part {
    fn interval(&self, range: &dyn Fn(usize) -> (f64, f64)) -> Interval {
        let interval = |part: &Self| part.interval(range);
        match &self.kind {
            Kind::Number(value) => Interval::between(*value, *value),
            Kind::Variable(name) => {
                let (low, high) = range(*name);
                Interval::between(low, high)
            }
            Kind::Unary(operation, a) => unary(*operation, interval(a)),
            Kind::Binary(operation, both) => {
                let [a, b] = both.each_ref().map(interval);
                binary(*operation, a, b)
            }
            Kind::If(all) => {
                let [c, a, b] = all.each_ref().map(interval);
                branch(c, a, b)
            }
        }
    }
}

impl Interval {
    /// Between two ends; anything if there is nothing between them, or they are NaN.
    fn between(low: f64, high: f64) -> Self {
        if low <= high { Self { low, high, nan: false } } else { ANYTHING }
    }

    fn contains(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }

    /// Whether a value may be infinite.
    fn infinite(self) -> bool {
        self.low == f64::NEG_INFINITY || self.high == f64::INFINITY
    }

    fn is_point(self) -> bool {
        self.low == self.high && !self.nan
    }

    /// The interval between the smallest and the largest of these; NaN stands for `otherwise`.
    fn around<const N: usize>(values: [f64; N], otherwise: f64, nan: bool) -> Self {
        let values = values.map(|value| if value.is_nan() { otherwise } else { value });
        let low = values.into_iter().fold(f64::INFINITY, f64::min);
        let high = values.into_iter().fold(f64::NEG_INFINITY, f64::max);
        Self { low, high, nan }
    }

    /// With both ends moved outwards by a part of their size.
    fn widened(self, part: f64) -> Self {
        let slack =
            |end: f64| if end.is_finite() { end.abs() * part + f64::MIN_POSITIVE } else { 0.0 };
        Self { low: self.low - slack(self.low), high: self.high + slack(self.high), ..self }
    }

    /// What is not below 0; below 0 lies NaN.
    fn nonnegative(self) -> Self {
        if self.high < 0.0 {
            return ANYTHING;
        }
        Self { low: self.low.max(0.0), high: self.high, nan: self.nan || self.low < 0.0 }
    }
}

/// A few units in the last place, by which the exponential and the logarithm may be off.
const FEW_UNITS: f64 = 8.0 * f64::EPSILON;

fn unary(operation: Unary, a: Interval) -> Interval {
    let ends = |a: Interval| Interval {
        low: operation.apply(a.low),
        high: operation.apply(a.high),
        nan: a.nan,
    };
    match operation {
        Unary::Negate => Interval { low: -a.high, high: -a.low, nan: a.nan },
        Unary::Abs if a.contains(0.0) => {
            Interval { low: 0.0, high: a.high.max(-a.low), nan: a.nan }
        }
        Unary::Abs => Interval::around([a.low.abs(), a.high.abs()], 0.0, a.nan),
        Unary::Floor => ends(a),
        Unary::Sqrt if a.high < 0.0 => ANYTHING,
        Unary::Sqrt => ends(a.nonnegative()),
        Unary::Ln if a.high < 0.0 => ANYTHING,
        Unary::Ln => ends(a.nonnegative()).widened(FEW_UNITS),
        Unary::Exp => {
            let wide = ends(a).widened(FEW_UNITS);
            Interval { low: wide.low.max(0.0), ..wide }
        }
    }
}

fn binary(operation: Binary, a: Interval, b: Interval) -> Interval {
    let nan = a.nan || b.nan;
    let truth = |always: bool, never: bool| Interval {
        low: f64::from(u8::from(always)),
        high: f64::from(u8::from(!never)),
        nan,
    };
    match operation {
        Binary::Add => {
            let opposite =
                |a: Interval, b: Interval| a.high == f64::INFINITY && b.low == f64::NEG_INFINITY;
            let (low, high) = (a.low + b.low, a.high + b.high);
            Interval {
                low: if low.is_nan() { f64::NEG_INFINITY } else { low },
                high: if high.is_nan() { f64::INFINITY } else { high },
                nan: nan || opposite(a, b) || opposite(b, a),
            }
        }
        Binary::Subtract => binary(Binary::Add, a, unary(Unary::Negate, b)),
        Binary::Multiply => {
            let undefined = |a: Interval, b: Interval| a.contains(0.0) && b.infinite();
            let products = [a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high];
            Interval::around(products, 0.0, nan || undefined(a, b) || undefined(b, a))
        }
        Binary::Divide if b.contains(0.0) => ANYTHING,
        Binary::Divide => {
            let quotients = [a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high];
            match a.infinite() && b.infinite() {
                true => ANYTHING,
                false => Interval::around(quotients, 0.0, nan),
            }
        }
        Binary::Power => power(a, b),
        Binary::Min => Interval { low: a.low.min(b.low), high: a.high.min(b.high), nan },
        Binary::Max => Interval { low: a.low.max(b.low), high: a.high.max(b.high), nan },
        Binary::Less => truth(a.high < b.low, a.low >= b.high),
        Binary::LessOrEqual => truth(a.high <= b.low, a.low > b.high),
        Binary::Greater => truth(a.low > b.high, a.high <= b.low),
        Binary::GreaterOrEqual => truth(a.low >= b.high, a.high < b.low),
        Binary::Equal => truth(same(a, b), apart(a, b)),
        Binary::Unequal => truth(apart(a, b), same(a, b)),
    }
}

fn same(a: Interval, b: Interval) -> bool {
    a.low == a.high && b.low == b.high && a.low == b.low
}

fn apart(a: Interval, b: Interval) -> bool {
    a.high < b.low || a.low > b.high
}

fn branch(c: Interval, a: Interval, b: Interval) -> Interval {
    let chosen = if !c.contains(0.0) {
        a
    } else if c.low == 0.0 && c.high == 0.0 {
        b
    } else {
        Interval { low: a.low.min(b.low), high: a.high.max(b.high), nan: a.nan || b.nan }
    };
    Interval { nan: chosen.nan || c.nan, ..chosen }
}

fn power(a: Interval, p: Interval) -> Interval {
    let at = |x: f64| Binary::Power.apply(x, p.low);
    if !p.is_point() {
        // Whole powers of negative numbers exist.
        if a.low < 0.0 {
            return ANYTHING;
        }
        return by_logarithm(a, p).widened(SEVERAL_WAYS);
    }
    match Exponent::of(p.low) {
        Exponent::Whole { size: 0, .. } => Interval { low: 1.0, high: 1.0, nan: a.nan },
        Exponent::Whole { negative: true, .. } if a.contains(0.0) => ANYTHING,
        Exponent::Whole { size, .. } if size % 2 == 0 => {
            let a = unary(Unary::Abs, a);
            Interval::around([at(a.low), at(a.high)], 0.0, a.nan)
        }
        Exponent::Whole { .. } => Interval::around([at(a.low), at(a.high)], 0.0, a.nan),
        Exponent::Half => unary(Unary::Sqrt, a),
        Exponent::Other(p) if !p.is_finite() => ANYTHING,
        Exponent::Other(_) => by_logarithm(a, p),
    }
}

/// How much a power by multiplications, up to the 64th, and one by logarithms, up to e^±745, may
/// differ.
const SEVERAL_WAYS: f64 = 1e-12;

/// e^(p ln a).
fn by_logarithm(a: Interval, p: Interval) -> Interval {
    let may_be_zero = a.contains(0.0);
    if a.high < 0.0 || may_be_zero && p.low <= 0.0 {
        return ANYTHING;
    }
    let ln = unary(Unary::Ln, a.nonnegative());
    unary(Unary::Exp, binary(Binary::Multiply, ln, p))
}
