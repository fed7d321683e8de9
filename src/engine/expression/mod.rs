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
use crate::refusal::Refusal;
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
pub enum Symbol<V> {
    Constant(f64),
    Variable(V),
}

/// The names that an expression may use.
pub trait Names {
    /// What tells variables apart.
    type Variable: Copy + Ord;

    /// What the name stands for, if it is known.
    fn find(&self, name: &str) -> Option<Symbol<Self::Variable>>;

    /// Names for the suggestion of the nearest one.
    fn known(&self) -> Vec<String>;
}

/// A number, a name, or an operation on other parts.
#[derive(Clone, Debug, PartialEq)]
enum Kind<V> {
    Number(f64),
    Variable(V),
    Unary(Unary, Box<Part<V>>),
    Binary(Binary, Box<[Part<V>; 2]>),
    /// The condition, and the parts for true and false.
    If(Box<[Part<V>; 3]>),
}

/// A part of an expression, and its place in the text.
#[derive(Clone, Debug, PartialEq)]
struct Part<V> {
    kind: Kind<V>,
    span: Range<usize>,
}

impl<V: Copy> Part<V> {
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
    fn add_variables(&self, all: &mut Vec<(V, Range<usize>)>) {
        if let Kind::Variable(variable) = self.kind {
            all.push((variable, self.span.clone()));
        }
        self.operands().iter().for_each(|part| part.add_variables(all));
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Expression<V> {
    text: String,
    whole: Part<V>,
}

impl<V: Copy + Ord> Expression<V> {
    pub fn parse(text: &str, names: &impl Names<Variable = V>) -> Result<Self, Refusal> {
        Ok(Self { text: text.to_owned(), whole: parser::parse(text, names)? })
    }

    /// The text as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The distinct variables, in increasing order, each with the place of its first use.
    pub fn variables(&self) -> Vec<(V, Range<usize>)> {
        let mut all = Vec::new();
        self.whole.add_variables(&mut all);
        // The sort is stable: the first use stays first.
        all.sort_by_key(|(variable, _)| *variable);
        all.dedup_by_key(|(variable, _)| *variable);
        all
    }

    /// Whether the variable is among them.
    pub fn uses(&self, variable: V) -> bool {
        self.variables().iter().any(|(used, _)| *used == variable)
    }

    /// Why the value is NaN or +infinity at these values: the first part, in the order of
    /// evaluation, that divides by zero, is no number or overflows, and on which the value depends.
    /// None if the value is finite or −infinity. Branches of `if` that are not taken are not looked
    /// at.
    pub fn fault(&self, value: &dyn Fn(V) -> f64) -> Option<Refusal> {
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
