//! Texts cut into numbers, names and signs.

use std::ops::Range;

use super::quoted;
use crate::numeric::rows::Binary;
use crate::refusal::Refusal;
use crate::text::legible;

/// The smallest piece of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Token {
    Number(f64),
    Name,
    /// An arithmetic operation or a comparison.
    Sign(Binary),
    Open,
    Close,
    Comma,
    End,
}

/// Where the next piece begins.
pub struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The next piece and its place.
    pub fn next(&mut self) -> Result<(Token, Range<usize>), Refusal> {
        let rest = self.text[self.at..].trim_start();
        let start = self.text.len() - rest.len();
        let Some(first) = rest.chars().next() else {
            return Ok((Token::End, start..start));
        };
        let (token, length) = match first {
            'A'..='Z' | 'a'..='z' | '_' => (Token::Name, name_length(rest)),
            '0'..='9' | '.' => {
                let length = number_length(rest);
                (Token::Number(number(&rest[..length], start)?), length)
            }
            _ => sign(rest).ok_or_else(|| unexpected(first, start))?,
        };
        self.at = start + length;
        Ok((token, start..self.at))
    }
}

fn name_length(rest: &str) -> usize {
    rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len())
}

/// Digits and points, and an exponent if it has digits.
fn number_length(rest: &str) -> usize {
    let digits = |from: usize, point: bool| {
        let other = |c: char| !(c.is_ascii_digit() || point && c == '.');
        rest[from..].find(other).map_or(rest.len(), |length| from + length)
    };
    let mantissa = digits(0, true);
    let Some(after) = rest[mantissa..].strip_prefix(['e', 'E']) else {
        return mantissa;
    };
    let exponent = mantissa + 1 + usize::from(after.starts_with(['+', '-']));
    match digits(exponent, false) {
        end if end > exponent => end,
        _ => mantissa,
    }
}

fn number(text: &str, start: usize) -> Result<f64, Refusal> {
    let fault = |cause: &str, remedy: &str| {
        Refusal::at(start..start + text.len(), format!("{} {cause}", quoted(text)), remedy)
    };
    let value: f64 = text
        .parse()
        .map_err(|_| fault("is not a number", "numbers look like 1, 0.5, .5 or 1e-3"))?;
    let mantissa = text.split(['e', 'E']).next().unwrap_or(text);
    let nonzero = mantissa.contains(|c: char| matches!(c, '1'..='9'));
    match value {
        _ if value.is_infinite() => {
            Err(fault("is too large for a double", "the largest is about 1.8e308; or write `inf`"))
        }
        0.0 if nonzero => {
            Err(fault("is too small for a double", "the smallest is about 4.9e-324; or write 0"))
        }
        _ => Ok(value),
    }
}

fn sign(rest: &str) -> Option<(Token, usize)> {
    let signs = [
        ("+", Token::Sign(Binary::Add)),
        ("-", Token::Sign(Binary::Subtract)),
        ("−", Token::Sign(Binary::Subtract)),
        ("*", Token::Sign(Binary::Multiply)),
        ("·", Token::Sign(Binary::Multiply)),
        ("×", Token::Sign(Binary::Multiply)),
        ("/", Token::Sign(Binary::Divide)),
        ("^", Token::Sign(Binary::Power)),
        ("<=", Token::Sign(Binary::LessOrEqual)),
        ("<", Token::Sign(Binary::Less)),
        (">=", Token::Sign(Binary::GreaterOrEqual)),
        (">", Token::Sign(Binary::Greater)),
        ("==", Token::Sign(Binary::Equal)),
        ("=", Token::Sign(Binary::Equal)),
        ("!=", Token::Sign(Binary::Unequal)),
        ("(", Token::Open),
        (")", Token::Close),
        (",", Token::Comma),
    ];
    let (text, token) = signs.into_iter().find(|(text, _)| rest.starts_with(text))?;
    Some((token, text.len()))
}

fn unexpected(c: char, start: usize) -> Refusal {
    let shown = match c {
        _ if c.is_control() => legible(c.encode_utf8(&mut [0; 4])),
        c if c.is_ascii() => format!("`{c}`"),
        // Some letters look like others.
        c => format!("`{}` (U+{:04X})", c.escape_debug(), c as u32),
    };
    let remedy = match c {
        '[' | '{' => "write `(`".into(),
        ']' | '}' => "write `)`".into(),
        '≤' => "write `<=`".into(),
        '≥' => "write `>=`".into(),
        '≠' | '!' => "write `!=`, or `x = 0` for 'not x'".into(),
        '÷' | ':' => "write `/`".into(),
        '–' | '—' => "write `-`".into(),
        '∗' | '⋅' | '•' => "write `*`".into(),
        ';' => "write `,`".into(),
        '&' => "write `a * b` for 'a and b'".into(),
        '|' => "write `abs(a)` for a size, and `max(a, b)` for 'a or b'".into(),
        '√' => "write `sqrt(…)`".into(),
        '∞' => "write `inf`".into(),
        'π' => "write `pi`".into(),
        c if c.is_alphabetic() => "names consist of the letters A to Z, digits and _".into(),
        _ => "an expression consists of numbers, names, + - * / ^ ( ) , < <= > >= = !=".to_owned(),
    };
    Refusal::at(start..start + c.len_utf8(), format!("unexpected character {shown}"), remedy)
}
