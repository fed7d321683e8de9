//! From pieces to a tree.

use std::f64::consts::PI;
use std::ops::Range;

use super::lexer::{Lexer, Token};
use super::{DEEPEST, Fault, Kind, LONGEST, MOST_PARTS, Names, Part, Symbol, quoted};
use crate::numeric::rows::{Binary, Unary};
use crate::refusal::suggest;

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
pub fn parse(text: &str, names: &dyn Names) -> Result<Part, Fault> {
    if text.len() > LONGEST {
        let start = (0..=LONGEST).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        let cause = format!("the expression is longer than {LONGEST} bytes");
        return Err(Fault::new(start..text.len(), cause, "shorten it"));
    }
    if text.trim().is_empty() {
        return Err(Fault::new(
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
        Token::End => Ok(whole.part),
        Token::Close => {
            Err(Fault::new(parser.span, "this `)` closes nothing", "remove it, or add a `(`"))
        }
        _ => Err(parser.no_operator()),
    }
}

/// A part, and the place of all of its text: with parentheses around it.
struct Parsed {
    part: Part,
    span: Range<usize>,
}

struct Parser<'a> {
    text: &'a str,
    names: &'a dyn Names,
    lexer: Lexer<'a>,
    token: Token,
    span: Range<usize>,
    /// The piece before.
    before: Option<(Token, Range<usize>)>,
    /// How many parts there are so far.
    parts: usize,
    depth: usize,
}

impl Parser<'_> {
    fn advance(&mut self) -> Result<(), Fault> {
        let (token, span) = self.lexer.next()?;
        self.before = Some((self.token, std::mem::replace(&mut self.span, span)));
        self.token = token;
        Ok(())
    }

    /// The piece that was read last.
    fn last(&self) -> Range<usize> {
        self.before.as_ref().map_or(0..0, |(_, span)| span.clone())
    }

    fn add(&mut self, kind: Kind, span: Range<usize>) -> Result<Parsed, Fault> {
        if self.parts == MOST_PARTS {
            let cause = format!("the expression has more than {MOST_PARTS} parts");
            let remedy = "simplify it: numbers, names and operations are its parts";
            return Err(Fault::new(span, cause, remedy));
        }
        self.parts += 1;
        Ok(Parsed { part: Part { kind, span: span.clone() }, span })
    }

    fn join(&mut self, operation: Binary, a: Parsed, b: Parsed) -> Result<Parsed, Fault> {
        let span = a.span.start..b.span.end;
        self.add(Kind::Binary(operation, Box::new([a.part, b.part])), span)
    }

    /// Reads with `read` what stands one level deeper.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        if self.depth == DEEPEST {
            let cause = format!("the expression is nested more than {DEEPEST} levels deep");
            let remedy = "use fewer parentheses, signs and powers within each other";
            return Err(Fault::new(self.span.clone(), cause, remedy));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn comparison(&mut self) -> Result<Parsed, Fault> {
        let a = self.sum()?;
        let Some(operation) = self.sign(is_comparison) else {
            return Ok(a);
        };
        self.advance()?;
        let b = self.sum()?;
        if self.sign(is_comparison).is_some() {
            let remedy = "write `if(a < b, b < c, 0)` for a < b < c";
            let cause = "comparisons cannot be chained";
            return Err(Fault::new(self.span.clone(), cause, remedy));
        }
        self.join(operation, a, b)
    }

    fn sum(&mut self) -> Result<Parsed, Fault> {
        let mut a = self.product()?;
        while let Some(operation) = self.sign(|s| matches!(s, Binary::Add | Binary::Subtract)) {
            self.advance()?;
            let b = self.product()?;
            a = self.join(operation, a, b)?;
        }
        Ok(a)
    }

    fn product(&mut self) -> Result<Parsed, Fault> {
        let mut a = self.signed()?;
        while let Some(operation) = self.sign(|s| matches!(s, Binary::Multiply | Binary::Divide)) {
            self.advance()?;
            let b = self.signed()?;
            a = self.join(operation, a, b)?;
        }
        Ok(a)
    }

    fn signed(&mut self) -> Result<Parsed, Fault> {
        let Some(sign) = self.sign(|s| matches!(s, Binary::Add | Binary::Subtract)) else {
            return self.power();
        };
        let start = self.span.start;
        let a = self.deeper(|parser| {
            parser.advance()?;
            parser.signed()
        })?;
        let span = start..a.span.end;
        match sign {
            Binary::Add => Ok(Parsed { part: a.part, span }),
            _ => self.add(Kind::Unary(Unary::Negate, Box::new(a.part)), span),
        }
    }

    fn power(&mut self) -> Result<Parsed, Fault> {
        let a = self.atom()?;
        if self.sign(|s| s == Binary::Power).is_none() {
            return Ok(a);
        }
        let b = self.deeper(|parser| {
            parser.advance()?;
            parser.signed()
        })?;
        self.join(Binary::Power, a, b)
    }

    fn atom(&mut self) -> Result<Parsed, Fault> {
        let span = self.span.clone();
        match self.token {
            Token::Number(value) => {
                self.advance()?;
                self.add(Kind::Number(value), span)
            }
            Token::Name => self.named(),
            Token::Open => {
                let inner = self.deeper(|parser| {
                    parser.advance()?;
                    parser.comparison()
                })?;
                self.close(&span)?;
                Ok(Parsed { part: inner.part, span: span.start..self.last().end })
            }
            _ => Err(self.no_operand()),
        }
    }

    /// A variable, a constant or a call.
    fn named(&mut self) -> Result<Parsed, Fault> {
        let span = self.span.clone();
        let name = &self.text[span.clone()];
        let function = find(&FUNCTIONS, name);
        self.advance()?;
        let called = self.token == Token::Open;
        if let (Some(function), true) = (function, called) {
            return self.call(name, function, span);
        }
        if function.is_some() {
            let cause = format!("`{name}` is a function");
            return Err(Fault::new(span, cause, format!("write its arguments: `{name}(…)`")));
        }
        let constant = find(&CONSTANTS, name).map(Symbol::Constant);
        let symbol = constant.or_else(|| self.names.find(name));
        match symbol {
            Some(_) if called => {
                let cause = format!("{} is not a function", quoted(name));
                Err(Fault::new(
                    span,
                    cause,
                    format!("write {} for a product", quoted(&format!("{name} * (…)"))),
                ))
            }
            Some(Symbol::Constant(value)) => self.add(Kind::Number(value), span),
            Some(Symbol::Variable(variable)) => self.add(Kind::Variable(variable), span),
            None if called => {
                let remedy = match name {
                    "log" => "`ln` is the natural logarithm".into(),
                    "pow" => "write `a^b`".into(),
                    _ => suggest(name, FUNCTIONS.map(|(known, _)| known)),
                };
                Err(Fault::new(span, format!("unknown function {}", quoted(name)), remedy))
            }
            None => {
                let known = self.names.known();
                let constants = CONSTANTS.map(|(constant, _)| constant);
                let remedy = suggest(name, known.iter().map(String::as_str).chain(constants));
                Err(Fault::new(span, format!("unknown name {}", quoted(name)), remedy))
            }
        }
    }

    fn call(&mut self, name: &str, f: Function, at: Range<usize>) -> Result<Parsed, Fault> {
        let open = self.span.clone();
        let arguments = self.deeper(|parser| parser.arguments())?;
        self.close(&open)?;
        let span = at.start..self.last().end;
        let mut parts: Vec<Part> = arguments.into_iter().map(|argument| argument.part).collect();
        let number = parts.len();
        let wanted = match f {
            Function::One(operation) => match <[Part; 1]>::try_from(parts) {
                Ok([a]) => return self.add(Kind::Unary(operation, Box::new(a)), span),
                Err(_) => "1 argument",
            },
            Function::If => match <[Part; 3]>::try_from(parts) {
                Ok(all) => return self.add(Kind::If(Box::new(all)), span),
                Err(_) => "3 arguments",
            },
            Function::Several(_) if number < 2 => "2 or more arguments",
            Function::Several(operation) => {
                let mut all = Parsed { part: parts.remove(0), span: span.clone() };
                for next in parts {
                    let both = Box::new([all.part, next]);
                    all = self.add(Kind::Binary(operation, both), span.clone())?;
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
        Err(Fault::new(span, cause, format!("write `{example}`")))
    }

    /// The arguments of a function, up to the closing parenthesis.
    fn arguments(&mut self) -> Result<Vec<Parsed>, Fault> {
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
    fn close(&mut self, open: &Range<usize>) -> Result<(), Fault> {
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
    fn no_operator(&self) -> Fault {
        let here = self.span.clone();
        let (previous, next) = (&self.text[self.last()], &self.text[here.clone()]);
        if self.token != Token::Comma {
            let cause = format!("an operator is missing before {}", quoted(next));
            let product = quoted(&format!("{previous} * {next}"));
            return Fault::new(here, cause, format!("write {product} for a product"));
        }
        let cause = "this `,` does not stand between the arguments of a function";
        Fault::new(here, cause, "remove it; the decimal sign is a point, as in 0.5")
    }

    /// An operand should begin here, but something else does.
    fn no_operand(&self) -> Fault {
        let here = self.span.clone();
        let next = quoted(&self.text[here.clone()]);
        let Some((before, at)) = self.before.clone() else {
            return match self.token {
                Token::Close => Fault::new(here, "this `)` closes nothing", "remove it"),
                _ => Fault::new(
                    here,
                    format!("an operand is missing before {next}"),
                    "write a number, a name or a function before it",
                ),
            };
        };
        let previous = quoted(&self.text[at.clone()]);
        match (before, self.token) {
            (Token::Open, Token::End) => unclosed(at),
            (Token::Open, Token::Close) => Fault::new(
                at.start..here.end,
                "there is nothing between these parentheses",
                "write an expression between them, or remove them",
            ),
            (Token::Sign(Binary::Multiply), Token::Sign(Binary::Multiply)) => {
                Fault::new(at.start..here.end, "`**` is not an operator", "write `^` for a power")
            }
            (Token::Comma, _) | (Token::Open, Token::Comma) => {
                let (side, span, sign) = match before {
                    Token::Comma => ("after", at, previous),
                    _ => ("before", here, next),
                };
                let cause = format!("an argument is missing {side} {sign}");
                Fault::new(span, cause, "write the argument, or remove the `,`")
            }
            (Token::Open, _) => Fault::new(
                here,
                format!("an operand is missing before {next}"),
                "write a number, a name or a function before it",
            ),
            _ => Fault::new(
                at,
                format!("an operand is missing after {previous}"),
                "write a number, a name or a function after it",
            ),
        }
    }
}

fn is_comparison(sign: Binary) -> bool {
    use Binary::*;
    matches!(sign, Less | LessOrEqual | Greater | GreaterOrEqual | Equal | Unequal)
}

fn unclosed(open: Range<usize>) -> Fault {
    Fault::new(open, "this `(` is not closed", "add a `)`")
}
