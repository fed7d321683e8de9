//! The values of an expression, one by one and in rows.

use super::{Expression, Kind, Part};
use crate::numeric::rows::{self, Binary, choose};

/// So many places are worked on at once: the values of all parts of a usual expression stay in the fastest cache.
const SLICE: usize = 256;

impl<V: Copy> Expression<V> {
    /// The expression with some variables known. Parts that are then the same at all places are computed.
    pub fn fix(&self, known: &dyn Fn(V) -> Option<f64>) -> Self {
        Self { text: self.text.clone(), whole: self.whole.fixed(known) }
    }

    /// The value, with the same bits as `rows`.
    pub fn value(&self, variable: &dyn Fn(V) -> f64) -> f64 {
        self.whole.value(variable)
    }

    /// The values at the places of a row. `variable` gives the values of each variable, as many as `out` has
    /// places.
    pub fn rows<'a>(&self, variable: &dyn Fn(V) -> &'a [f64], out: &mut [f64]) {
        for (slice, out) in out.chunks_mut(SLICE).enumerate() {
            let (start, end) = (slice * SLICE, slice * SLICE + out.len());
            self.whole.fill(&|name| &variable(name)[start..end], out);
        }
    }
}

impl<V: Copy> Part<V> {
    fn fixed(&self, known: &dyn Fn(V) -> Option<f64>) -> Self {
        let fixed = |part: &Self| part.fixed(known);
        let kind = match &self.kind {
            Kind::Number(value) => Kind::Number(*value),
            Kind::Variable(name) => known(*name).map_or(Kind::Variable(*name), Kind::Number),
            Kind::Unary(operation, a) => Kind::Unary(*operation, Box::new(fixed(a))),
            Kind::Binary(operation, both) => {
                Kind::Binary(*operation, Box::new(both.each_ref().map(fixed)))
            }
            Kind::If(all) => Kind::If(Box::new(all.each_ref().map(fixed))),
        };
        Self { kind, span: self.span.clone() }.simplified()
    }

    /// The same without operations that need not be carried out at every place.
    fn simplified(self) -> Self {
        let operands = self.operands();
        let has_numbers =
            !operands.is_empty() && operands.iter().all(|part| part.number().is_some());
        if has_numbers {
            return Self { kind: Kind::Number(self.value(&|_| f64::NAN)), span: self.span };
        }
        match self.kind {
            Kind::If(all) if all[0].number().is_some() => {
                let [c, a, b] = *all;
                match c.number() {
                    Some(condition) if condition.is_nan() => c,
                    Some(0.0) => b,
                    _ => a,
                }
            }
            Kind::Binary(Binary::Power, both) if both[1].number() == Some(1.0) => {
                let [a, _] = *both;
                a
            }
            kind => Self { kind, span: self.span },
        }
    }

    fn number(&self) -> Option<f64> {
        match self.kind {
            Kind::Number(value) => Some(value),
            _ => None,
        }
    }

    pub(super) fn value(&self, variable: &dyn Fn(V) -> f64) -> f64 {
        let value = |part: &Self| part.value(variable);
        match &self.kind {
            Kind::Number(value) => *value,
            Kind::Variable(name) => variable(*name),
            Kind::Unary(operation, a) => operation.apply(value(a)),
            Kind::Binary(operation, both) => {
                let [a, b] = both.each_ref().map(value);
                operation.apply(a, b)
            }
            Kind::If(all) => {
                let [c, a, b] = all.each_ref().map(value);
                choose(c, a, b)
            }
        }
    }

    /// Writes the values at the places of a slice.
    fn fill<'a>(&self, variable: &dyn Fn(V) -> &'a [f64], out: &mut [f64]) {
        match &self.kind {
            Kind::Number(value) => out.fill(*value),
            Kind::Variable(name) => out.copy_from_slice(variable(*name)),
            Kind::Unary(operation, a) => {
                a.fill(variable, out);
                rows::unary(*operation, out);
            }
            Kind::Binary(operation, both) => {
                let [a, b] = &**both;
                a.fill(variable, out);
                match (operation, b.number()) {
                    (Binary::Power, Some(exponent)) => rows::powers(exponent, out),
                    _ => b.values(variable, out.len(), |b| rows::binary(*operation, out, b)),
                }
            }
            Kind::If(all) => {
                let [c, a, b] = &**all;
                a.fill(variable, out);
                c.values(variable, out.len(), |c| {
                    b.values(variable, c.len(), |b| rows::select(c, out, b));
                });
            }
        }
    }

    /// Calls `then` with the values at the places of a slice. It is not inlined: only parts that need room
    /// of their own take it from the stack.
    #[inline(never)]
    fn values<'a>(
        &self,
        variable: &dyn Fn(V) -> &'a [f64],
        length: usize,
        then: impl FnOnce(&[f64]),
    ) {
        if let Kind::Variable(name) = self.kind {
            return then(variable(name));
        }
        let mut values = [0.0; SLICE];
        self.fill(variable, &mut values[..length]);
        then(&values[..length]);
    }
}
