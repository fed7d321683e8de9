//! Why a value is not usable, and which part is to blame.

use super::{Fault, Kind, Operation, Part, quoted};
use crate::numeric::rows::{Binary, Unary};
use crate::numeric::significant;

/// The part that makes the value NaN or +infinity.
pub fn fault(text: &str, parts: &[Part], value: &dyn Fn(usize) -> f64) -> Option<Fault> {
    let mut values: Vec<f64> = Vec::with_capacity(parts.len());
    for part in parts {
        values.push(match part.kind {
            Kind::Number(number) => number,
            Kind::Variable(variable) => value(variable),
            Kind::Apply(operation) => operation.map(|part| values[part]).value(),
        });
    }
    let whole = *values.last()?;
    if !whole.is_nan() && whole != f64::INFINITY {
        return None;
    }
    // From the whole down to the part whose operands are not to blame.
    let mut at = parts.len() - 1;
    while let Kind::Apply(operation) = parts[at].kind {
        let next = match operation {
            Operation::If(c, ..) if values[c].is_nan() => Some(c),
            Operation::If(c, a, b) => Some(if values[c] != 0.0 { a } else { b }),
            _ if values[at].is_nan() => operation.operands().find(|&part| values[part].is_nan()),
            _ => operation.operands().find(|&part| values[part].is_infinite()),
        };
        match next {
            Some(next) => at = next,
            None => break,
        }
    }
    let (cause, remedy) = describe(text, parts, &values, at);
    Some(Fault::new(parts[at].span.clone(), cause, remedy))
}

/// What is wrong with a part whose operands are numbers, and what would help.
fn describe(text: &str, parts: &[Part], values: &[f64], at: usize) -> (String, String) {
    let shown = |part: usize| quoted(&text[parts[part].span.clone()]);
    let whole = shown(at);
    let elsewhere = |condition: &str| {
        format!("give this case a value of its own, with `if({condition}, …, …)`")
    };
    let finite = "let the result be finite, or −infinity for weight 0".to_owned();
    let Kind::Apply(operation) = parts[at].kind else {
        return match values[at].is_nan() {
            true => (format!("{whole} is not a number"), "give it a value".into()),
            false => (format!("{whole} is infinite"), finite),
        };
    };
    let number = |part: usize| match values[part] {
        f64::INFINITY => "infinity".to_owned(),
        f64::NEG_INFINITY => "−infinity".to_owned(),
        value if value == value.floor() && value.abs() < 1e6 => format!("{value}"),
        value => significant(value, 6),
    };
    match operation {
        Operation::Binary(Binary::Divide, _, b) if values[b] == 0.0 => {
            let cause = format!("{whole} divides by zero: {} is 0", shown(b));
            (cause, elsewhere("divisor = 0"))
        }
        Operation::Binary(Binary::Power, a, b) if values[a] == 0.0 && values[b] < 0.0 => {
            let cause = format!("{whole} divides by zero: it is 0 to the power {}", number(b));
            (cause, elsewhere("base = 0"))
        }
        Operation::Binary(Binary::Power, a, b) if values[a] < 0.0 && values[at].is_nan() => {
            let cause =
                format!("{whole} is not a number: it is {} to the power {}", number(a), number(b));
            (cause, "only whole powers of negative numbers exist; `abs` removes the sign".into())
        }
        Operation::Unary(Unary::Ln | Unary::Sqrt, a) if values[a] < 0.0 => {
            let cause = format!("{whole} is not a number: {} is {}", shown(a), number(a));
            (cause, elsewhere("argument < 0"))
        }
        Operation::Unary(Unary::Ln, a) if values[a] == 0.0 => {
            let cause = format!("{whole} is −infinity: {} is 0", shown(a));
            (cause, finite)
        }
        _ if values[at].is_nan() => {
            let operands: Vec<String> = operation.operands().map(number).collect();
            let cause = format!("{whole} is not a number for {}", operands.join(" and "));
            (cause, "keep infinite values out of it".into())
        }
        _ => {
            let cause = format!("{whole} is larger than the largest double, 1.8e308");
            (cause, "make it smaller; `min` puts a limit to a value".into())
        }
    }
}
