//! Real expressions that users write, such as `-c * abs(r1 - x1)^1.5 + ln(1 + r1)`.
//!
//! A text is parsed into parts. With some of its variables known it becomes a program, which
//! evaluates whole rows of places at once. All functions are those of `numeric`, so that the bits are
//! the same on every processor, and the same one by one and in rows.
//!
//! Nothing here calls itself more than `DEEPEST` times: parts and steps lie in lists, operands
//! before the operations that use them.

mod affine;
mod blame;
mod bounds;
mod lexer;
mod parser;
mod program;
#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::numeric::rows::{Binary, Unary, choose};
use crate::text::legible;
pub use parser::is_reserved;
pub use program::{Program, Scratch};

/// A longer text is refused; in bytes.
const LONGEST: usize = 10_000;
/// Parentheses, signs and powers within each other.
const DEEPEST: usize = 64;
/// Numbers, names and operations.
const MOST_PARTS: usize = 1000;

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Symbol {
    /// A number.
    Constant(f64),
    /// The variable with this number.
    Variable(usize),
}

/// The names that an expression may use.
pub trait Names {
    /// What the name stands for, if it is known.
    fn find(&self, name: &str) -> Option<Symbol>;

    /// Names for the suggestion of the nearest one.
    fn known(&self) -> Vec<String>;
}

/// What is wrong with an expression, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// The bytes of the text that are at fault.
    pub span: Range<usize>,
    /// What is wrong.
    pub cause: String,
    /// What would be right.
    pub remedy: String,
}

impl Fault {
    fn new(span: Range<usize>, cause: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { span, cause: cause.into(), remedy: remedy.into() }
    }
}

/// An operation on operands of any kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Operation<T> {
    Unary(Unary, T),
    Binary(Binary, T, T),
    /// The condition, and the operands for true and false.
    If(T, T, T),
}

impl<T: Copy> Operation<T> {
    /// The same operation on other operands.
    fn map<U>(self, mut f: impl FnMut(T) -> U) -> Operation<U> {
        match self {
            Self::Unary(operation, a) => Operation::Unary(operation, f(a)),
            Self::Binary(operation, a, b) => Operation::Binary(operation, f(a), f(b)),
            Self::If(c, a, b) => Operation::If(f(c), f(a), f(b)),
        }
    }

    /// The operands in the order in which they are written.
    fn operands(self) -> impl Iterator<Item = T> {
        let all = match self {
            Self::Unary(_, a) => [Some(a), None, None],
            Self::Binary(_, a, b) => [Some(a), Some(b), None],
            Self::If(c, a, b) => [Some(c), Some(a), Some(b)],
        };
        all.into_iter().flatten()
    }
}

impl Operation<f64> {
    /// The result.
    fn value(self) -> f64 {
        match self {
            Self::Unary(operation, a) => operation.apply(a),
            Self::Binary(operation, a, b) => operation.apply(a, b),
            Self::If(c, a, b) => choose(c, a, b),
        }
    }
}

/// A number, a name, or an operation on parts that come before it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Number(f64),
    Variable(usize),
    Apply(Operation<usize>),
}

#[derive(Clone, Debug, PartialEq)]
struct Part {
    kind: Kind,
    span: Range<usize>,
}

/// A real expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    text: String,
    /// In the order of evaluation; the last part is the whole.
    parts: Vec<Part>,
}

impl Expression {
    /// Reads a text.
    pub fn parse(text: &str, names: &dyn Names) -> Result<Self, Fault> {
        Ok(Self { text: text.to_owned(), parts: parser::parse(text, names)? })
    }

    /// The text as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The distinct variables, in increasing order, each with the place of its first use.
    pub fn variables(&self) -> Vec<(usize, Range<usize>)> {
        let uses = self.parts.iter().filter_map(|part| match part.kind {
            Kind::Variable(variable) => Some((variable, part.span.clone())),
            _ => None,
        });
        let mut all: Vec<_> = uses.collect();
        // The sort is stable: the first use stays first.
        all.sort_by_key(|(variable, _)| *variable);
        all.dedup_by_key(|(variable, _)| *variable);
        all
    }

    /// The expression with some variables known: constants are folded.
    pub fn fix(&self, known: &dyn Fn(usize) -> Option<f64>) -> Program {
        Program::new(&self.parts, known)
    }

    /// Why the value is NaN or +infinity at these values: the first part, in the order of
    /// evaluation, that divides by zero, is no number or overflows, and on which the value depends.
    /// None if the value is finite or −infinity. Branches of `if` that are not taken are not looked
    /// at.
    pub fn fault(&self, value: &dyn Fn(usize) -> f64) -> Option<Fault> {
        blame::fault(&self.text, &self.parts, value)
    }
}

/// A piece of a text in a message, not too long.
fn quoted(text: &str) -> String {
    const LONGEST: usize = 40;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("`{}…`", legible(&text[..end])),
        None => format!("`{}`", legible(text)),
    }
}
