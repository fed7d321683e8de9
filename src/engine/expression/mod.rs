//! Real expressions that users write, such as `-c * abs(r1 - x1)^1.5 + ln(1 + r1)`.
//!
//! A text is parsed into a tree, which evaluates whole rows of places at once: every part of it computes a
//! slice of values at a time. All functions are those of `numeric`, so that the bits are the same on
//! every processor, and the same one by one and in rows.
//!
//! Nothing here calls itself more often than there are parts, at most `MOST_PARTS` times.

mod affine;
mod blame;
mod evaluation;
mod lexer;
mod parser;
#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::numeric::rows::{Binary, Unary};
use crate::text::legible;
pub use parser::is_reserved;

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

/// A number, a name, or an operation on other parts.
#[derive(Clone, Debug, PartialEq)]
enum Kind {
    Number(f64),
    Variable(usize),
    Unary(Unary, Box<Part>),
    Binary(Binary, Box<[Part; 2]>),
    /// The condition, and the parts for true and false.
    If(Box<[Part; 3]>),
}

/// A part of an expression, and its place in the text.
#[derive(Clone, Debug, PartialEq)]
struct Part {
    kind: Kind,
    span: Range<usize>,
}

impl Part {
    /// The operands in the order in which they are written.
    fn operands(&self) -> &[Self] {
        match &self.kind {
            Kind::Number(_) | Kind::Variable(_) => &[],
            Kind::Unary(_, a) => std::slice::from_ref(a),
            Kind::Binary(_, both) => &both[..],
            Kind::If(all) => &all[..],
        }
    }

    /// Adds every use of a variable, in the order in which they are written.
    fn add_variables(&self, all: &mut Vec<(usize, Range<usize>)>) {
        if let Kind::Variable(variable) = self.kind {
            all.push((variable, self.span.clone()));
        }
        self.operands().iter().for_each(|part| part.add_variables(all));
    }
}

/// A real expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    text: String,
    whole: Part,
}

impl Expression {
    /// Reads a text.
    pub fn parse(text: &str, names: &dyn Names) -> Result<Self, Fault> {
        Ok(Self { text: text.to_owned(), whole: parser::parse(text, names)? })
    }

    /// The text as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The distinct variables, in increasing order, each with the place of its first use.
    pub fn variables(&self) -> Vec<(usize, Range<usize>)> {
        let mut all = Vec::new();
        self.whole.add_variables(&mut all);
        // The sort is stable: the first use stays first.
        all.sort_by_key(|(variable, _)| *variable);
        all.dedup_by_key(|(variable, _)| *variable);
        all
    }

    /// Why the value is NaN or +infinity at these values: the first part, in the order of
    /// evaluation, that divides by zero, is no number or overflows, and on which the value depends.
    /// None if the value is finite or −infinity. Branches of `if` that are not taken are not looked
    /// at.
    pub fn fault(&self, value: &dyn Fn(usize) -> f64) -> Option<Fault> {
        blame::fault(&self.text, &self.whole, value)
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
