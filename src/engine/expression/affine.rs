//! Expressions that are straight lines in a variable or in its size.

use super::{Expression, Kind, Part};
use crate::numeric::rows::{Binary, Unary};

/// slope · v + constant, or slope · |v| + constant.
#[derive(Clone, Copy, Debug)]
struct Line {
    slope: f64,
    constant: f64,
    of_size: bool,
}

impl<V: Copy + Ord> Expression<V> {
    /// (slope, constant) if the expression is slope · v + constant in the variable and uses no other.
    pub fn affine(&self, variable: V) -> Option<(f64, f64)> {
        let line = self.whole.line(variable)?;
        (!line.of_size || line.slope == 0.0).then_some((line.slope, line.constant))
    }

    /// (slope, constant) if the expression is slope · |v| + constant in the variable and uses no other.
    pub fn affine_in_abs(&self, variable: V) -> Option<(f64, f64)> {
        let line = self.whole.line(variable)?;
        (line.of_size || line.slope == 0.0).then_some((line.slope, line.constant))
    }
}

impl<V: Copy + Ord> Part<V> {
    fn line(&self, variable: V) -> Option<Line> {
        match &self.kind {
            Kind::Number(constant) => Line::new(0.0, *constant, false),
            Kind::Variable(name) if *name == variable => Line::new(1.0, 0.0, false),
            Kind::Unary(operation, a) => unary(*operation, a.line(variable)?),
            Kind::Binary(operation, both) => {
                binary(*operation, both[0].line(variable)?, both[1].line(variable)?)
            }
            Kind::Variable(_) | Kind::If(_) => None,
        }
    }
}

impl Line {
    /// A line with finite coefficients.
    fn new(slope: f64, constant: f64, of_size: bool) -> Option<Self> {
        let finite = slope.is_finite() && constant.is_finite();
        finite.then_some(Self { slope, constant, of_size })
    }

    fn scaled(self, factor: f64) -> Option<Self> {
        Self::new(self.slope * factor, self.constant * factor, self.of_size)
    }

    fn plus(self, other: Self) -> Option<Self> {
        if self.slope != 0.0 && other.slope != 0.0 && self.of_size != other.of_size {
            return None;
        }
        let of_size = if self.slope == 0.0 { other.of_size } else { self.of_size };
        Self::new(self.slope + other.slope, self.constant + other.constant, of_size)
    }
}

fn unary(operation: Unary, a: Line) -> Option<Line> {
    match operation {
        Unary::Negate => a.scaled(-1.0),
        Unary::Abs if a.of_size && a.slope >= 0.0 && a.constant >= 0.0 => Some(a),
        Unary::Abs if !a.of_size && a.constant == 0.0 => Line::new(a.slope.abs(), 0.0, true),
        _ => None,
    }
}

fn binary(operation: Binary, a: Line, b: Line) -> Option<Line> {
    let opposite =
        !a.of_size && !b.of_size && a.constant == 0.0 && b.constant == 0.0 && a.slope == -b.slope;
    match operation {
        Binary::Add => a.plus(b),
        Binary::Subtract => a.plus(b.scaled(-1.0)?),
        Binary::Multiply if a.slope == 0.0 => b.scaled(a.constant),
        Binary::Multiply if b.slope == 0.0 => a.scaled(b.constant),
        Binary::Divide if b.slope == 0.0 && b.constant != 0.0 => {
            Line::new(a.slope / b.constant, a.constant / b.constant, a.of_size)
        }
        Binary::Max if opposite => Line::new(a.slope.abs(), 0.0, true),
        Binary::Min if opposite => Line::new(-a.slope.abs(), 0.0, true),
        _ => None,
    }
}
