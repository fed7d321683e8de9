//! From pieces to a tree.

use std::f64::consts::PI;
use std::ops::Range;

use super::lexer::{Lexer, Token};
use super::{DEEPEST, Kind, LONGEST, MOST_PARTS, Names, Part, Symbol, quoted};
use crate::numeric::rows::{Binary, Unary};
use crate::refusal::{Refusal, suggest};

/// What a function makes of its arguments.
#[derive(Clone, Copy)]
enum Function {
    One(Unary),
    /// Of two or more.
    Several(Binary),
    If,
}

const FUNCTIONS: [(&str, Function); 8] = [
    ("exp", Function::One(Unary::Exp)),
    ("ln", Function::One(Unary::Ln)),
    ("sqrt", Function::One(Unary::Sqrt)),
    ("abs", Function::One(Unary::Abs)),
    ("floor", Function::One(Unary::Floor)),
    ("min", Function::Several(Binary::Min)),
    ("max", Function::Several(Binary::Max)),
    ("if", Function::If),
];

const CONSTANTS: [(&str, f64); 2] = [("pi", PI), ("inf", f64::INFINITY)];

fn find<T: Copy>(table: &[(&str, T)], name: &str) -> Option<T> {
    table.iter().find(|(known, _)| *known == name).map(|(_, found)| *found)
}

/// Whether the language itself uses the name, for a function or a constant.
pub fn is_reserved(name: &str) -> bool {
    find(&FUNCTIONS, name).is_some() || find(&CONSTANTS, name).is_some()
}

/// The whole of the text.
pub fn parse<N: Names>(text: &str, names: &N) -> Parsed<N> {
    if text.len() > LONGEST {
        let start = (0..=LONGEST).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        let cause = format!("the expression is longer than {LONGEST} bytes");
        return Err(Refusal::at(start..text.len(), cause, "shorten it"));
    }
    if text.trim().is_empty() {
        return Err(Refusal::at(
            0..text.len(),
            "the expression is empty",
            "write one, such as `-H`",
        ));
    }
    let mut lexer = Lexer::new(text);
    let (token, span) = lexer.next()?;
    let mut parser = Parser { text, names, lexer, token, span, before: None, parts: 0, depth: 0 };
    let whole = parser.comparison()?;
    match parser.token {
        Token::End => Ok(whole),
        Token::Close => {
            Err(Refusal::at(parser.span, "this `)` closes nothing", "remove it, or add a `(`"))
        }
        _ => Err(parser.no_operator()),
    }
}

/// A part that was read, or what is wrong with the text.
type Parsed<N> = Result<Part<<N as Names>::Variable>, Refusal>;

struct Parser<'a, N> {
    text: &'a str,
    names: &'a N,
    lexer: Lexer<'a>,
    token: Token,
    span: Range<usize>,
    /// The piece before.
    before: Option<(Token, Range<usize>)>,
    /// How many parts there are so far.
    parts: usize,
    depth: usize,
}

impl<N: Names> Parser<'_, N> {
    fn advance(&mut self) -> Result<(), Refusal> {
        let (token, span) = self.lexer.next()?;
        self.before = Some((self.token, std::mem::replace(&mut self.span, span)));
        self.token = token;
        Ok(())
    }

    /// The piece that was read last.
    fn last(&self) -> Range<usize> {
        self.before.as_ref().map_or(0..0, |(_, span)| span.clone())
    }

    /// A part whose text begins at `start` and ends with the piece that was read last.
    fn add(&mut self, kind: Kind<N::Variable>, start: usize) -> Parsed<N> {
        let span = start..self.last().end;
        if self.parts == MOST_PARTS {
            let cause = format!("the expression has more than {MOST_PARTS} parts");
            let remedy = "simplify it: numbers, names and operations are its parts";
            return Err(Refusal::at(span, cause, remedy));
        }
        self.parts += 1;
        Ok(Part { kind, span })
    }

    /// Reads with `read` what stands one level deeper.
    fn deeper<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, Refusal>,
    ) -> Result<T, Refusal> {
        if self.depth == DEEPEST {
            let cause = format!("the expression is nested more than {DEEPEST} levels deep");
            let remedy = "use fewer parentheses, signs and powers within each other";
            return Err(Refusal::at(self.span.clone(), cause, remedy));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn comparison(&mut self) -> Parsed<N> {
        let start = self.span.start;
        let a = self.sum()?;
        let Some(operation) = self.sign(is_comparison) else {
            return Ok(a);
        };
        self.advance()?;
        let b = self.sum()?;
        if self.sign(is_comparison).is_some() {
            let remedy = "write `if(a < b, b < c, 0)` for a < b < c";
            let cause = "comparisons cannot be chained";
            return Err(Refusal::at(self.span.clone(), cause, remedy));
        }
        self.add(Kind::Binary(operation, Box::new([a, b])), start)
    }

    fn sum(&mut self) -> Parsed<N> {
        let start = self.span.start;
        let mut a = self.product()?;
        while let Some(operation) = self.sign(|s| matches!(s, Binary::Add | Binary::Subtract)) {
            self.advance()?;
            let b = self.product()?;
            a = self.add(Kind::Binary(operation, Box::new([a, b])), start)?;
        }
        Ok(a)
    }

    fn product(&mut self) -> Parsed<N> {
        let start = self.span.start;
        let mut a = self.signed()?;
        while let Some(operation) = self.sign(|s| matches!(s, Binary::Multiply | Binary::Divide)) {
            self.advance()?;
            let b = self.signed()?;
            a = self.add(Kind::Binary(operation, Box::new([a, b])), start)?;
        }
        Ok(a)
    }

    fn signed(&mut self) -> Parsed<N> {
        let Some(sign) = self.sign(|s| matches!(s, Binary::Add | Binary::Subtract)) else {
            return self.power();
        };
        let start = self.span.start;
        let a = self.deeper(|parser| {
            parser.advance()?;
            parser.signed()
        })?;
        match sign {
            Binary::Add => Ok(a),
            _ => self.add(Kind::Unary(Unary::Negate, Box::new(a)), start),
        }
    }

    fn power(&mut self) -> Parsed<N> {
        let start = self.span.start;
        let a = self.atom()?;
        if self.sign(|s| s == Binary::Power).is_none() {
            return Ok(a);
        }
        let b = self.deeper(|parser| {
            parser.advance()?;
            parser.signed()
        })?;
        self.add(Kind::Binary(Binary::Power, Box::new([a, b])), start)
    }

    fn atom(&mut self) -> Parsed<N> {
        let span = self.span.clone();
        match self.token {
            Token::Number(value) => {
                self.advance()?;
                self.add(Kind::Number(value), span.start)
            }
            Token::Name => self.named(),
            Token::Open => {
                let inner = self.deeper(|parser| {
                    parser.advance()?;
                    parser.comparison()
                })?;
                self.close(&span)?;
                Ok(inner)
            }
            _ => Err(self.no_operand()),
        }
    }

    /// A variable, a constant or a call.
    fn named(&mut self) -> Parsed<N> {
        let span = self.span.clone();
        let name = &self.text[span.clone()];
        let function = find(&FUNCTIONS, name);
        self.advance()?;
        let called = self.token == Token::Open;
        if let (Some(function), true) = (function, called) {
            return self.call(name, function, span.start);
        }
        if function.is_some() {
            let cause = format!("`{name}` is a function");
            return Err(Refusal::at(span, cause, format!("write its arguments: `{name}(…)`")));
        }
        let constant = find(&CONSTANTS, name).map(Symbol::Constant);
        let symbol = constant.or_else(|| self.names.find(name));
        match symbol {
            Some(_) if called => {
                let cause = format!("{} is not a function", quoted(name));
                Err(Refusal::at(
                    span,
                    cause,
                    format!("write {} for a product", quoted(&format!("{name} * (…)"))),
                ))
            }
            Some(Symbol::Constant(value)) => self.add(Kind::Number(value), span.start),
            Some(Symbol::Variable(variable)) => self.add(Kind::Variable(variable), span.start),
            None if called => {
                let remedy = match name {
                    "log" => "`ln` is the natural logarithm".into(),
                    "pow" => "write `a^b`".into(),
                    _ => suggest(name, FUNCTIONS.map(|(known, _)| known)),
                };
                Err(Refusal::at(span, format!("unknown function {}", quoted(name)), remedy))
            }
            None => {
                let known = self.names.known();
                let constants = CONSTANTS.map(|(constant, _)| constant);
                let remedy = suggest(name, known.iter().map(String::as_str).chain(constants));
                Err(Refusal::at(span, format!("unknown name {}", quoted(name)), remedy))
            }
        }
    }

    fn call(&mut self, name: &str, f: Function, start: usize) -> Parsed<N> {
        let open = self.span.clone();
        let mut parts = self.deeper(|parser| parser.arguments())?;
        self.close(&open)?;
        let number = parts.len();
        let wanted = match f {
            Function::One(operation) => match <[Part<N::Variable>; 1]>::try_from(parts) {
                Ok([a]) => return self.add(Kind::Unary(operation, Box::new(a)), start),
                Err(_) => "1 argument",
            },
            Function::If => match <[Part<N::Variable>; 3]>::try_from(parts) {
                Ok(all) => return self.add(Kind::If(Box::new(all)), start),
                Err(_) => "3 arguments",
            },
            Function::Several(_) if number < 2 => "2 or more arguments",
            Function::Several(operation) => {
                let mut all = parts.remove(0);
                for next in parts {
                    all = self.add(Kind::Binary(operation, Box::new([all, next])), start)?;
                }
                return Ok(all);
            }
        };
        let cause = format!("`{name}` takes {wanted}, not {number}");
        let example = match f {
            Function::One(_) => format!("{name}(a)"),
            Function::Several(_) => format!("{name}(a, b)"),
            Function::If => "if(condition, a, b)".into(),
        };
        Err(Refusal::at(start..self.last().end, cause, format!("write `{example}`")))
    }

    /// The arguments of a function, up to the closing parenthesis.
    fn arguments(&mut self) -> Result<Vec<Part<N::Variable>>, Refusal> {
        self.advance()?;
        let mut all = Vec::new();
        if self.token == Token::Close {
            return Ok(all);
        }
        loop {
            all.push(self.comparison()?);
            if self.token != Token::Comma {
                return Ok(all);
            }
            self.advance()?;
        }
    }

    /// Reads the parenthesis that closes the one at `open`.
    fn close(&mut self, open: &Range<usize>) -> Result<(), Refusal> {
        match self.token {
            Token::Close => self.advance(),
            Token::End => Err(unclosed(open.clone())),
            _ => Err(self.no_operator()),
        }
    }

    fn sign(&self, wanted: impl Fn(Binary) -> bool) -> Option<Binary> {
        match self.token {
            Token::Sign(sign) if wanted(sign) => Some(sign),
            _ => None,
        }
    }

    /// An operand has ended, and the next piece does not go on.
    fn no_operator(&self) -> Refusal {
        let here = self.span.clone();
        let (previous, next) = (&self.text[self.last()], &self.text[here.clone()]);
        if self.token != Token::Comma {
            let cause = format!("an operator is missing before {}", quoted(next));
            let product = quoted(&format!("{previous} * {next}"));
            return Refusal::at(here, cause, format!("write {product} for a product"));
        }
        let cause = "this `,` does not stand between the arguments of a function";
        Refusal::at(here, cause, "remove it; the decimal sign is a point, as in 0.5")
    }

    /// An operand should begin here, but something else does.
    fn no_operand(&self) -> Refusal {
        let here = self.span.clone();
        let next = quoted(&self.text[here.clone()]);
        let missing = |at: &Range<usize>, side: &str, sign: &str| {
            let remedy = format!("write a number, a name or a function {side} it");
            Refusal::at(at.clone(), format!("an operand is missing {side} {sign}"), remedy)
        };
        let Some((before, at)) = self.before.clone() else {
            return match self.token {
                Token::Close => Refusal::at(here, "this `)` closes nothing", "remove it"),
                _ => missing(&here, "before", &next),
            };
        };
        let previous = quoted(&self.text[at.clone()]);
        match (before, self.token) {
            (Token::Open, Token::End) => unclosed(at),
            (Token::Open, Token::Close) => Refusal::at(
                at.start..here.end,
                "there is nothing between these parentheses",
                "write an expression between them, or remove them",
            ),
            (Token::Sign(Binary::Multiply), Token::Sign(Binary::Multiply)) => {
                Refusal::at(at.start..here.end, "`**` is not an operator", "write `^` for a power")
            }
            (Token::Comma, _) | (Token::Open, Token::Comma) => {
                let (side, span, sign) = match before {
                    Token::Comma => ("after", at, previous),
                    _ => ("before", here, next),
                };
                let cause = format!("an argument is missing {side} {sign}");
                Refusal::at(span, cause, "write the argument, or remove the `,`")
            }
            (Token::Open, _) => missing(&here, "before", &next),
            _ => missing(&at, "after", &previous),
        }
    }
}

fn is_comparison(sign: Binary) -> bool {
    use Binary::*;
    matches!(sign, Less | LessOrEqual | Greater | GreaterOrEqual | Equal | Unequal)
}

fn unclosed(open: Range<usize>) -> Refusal {
    Refusal::at(open, "this `(` is not closed", "add a `)`")
}
