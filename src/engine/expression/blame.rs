//! Why a value is not usable, and which part is to blame.

use super::{Kind, Part, quoted};
use crate::numeric::rows::{Binary, Unary};
use crate::numeric::significant;
use crate::refusal::Refusal;

/// The part that makes the value NaN or +infinity.
pub fn fault<V: Copy>(text: &str, whole: &Part<V>, variable: &dyn Fn(V) -> f64) -> Option<Refusal> {
    let mut at = whole;
    let mut value = at.value(variable);
    if !value.is_nan() && value != f64::INFINITY {
        return None;
    }
    // From the whole down to the part whose operands are not to blame.
    loop {
        let operands: Vec<f64> = at.operands().iter().map(|part| part.value(variable)).collect();
        let next = match at.kind {
            Kind::If(_) if operands[0].is_nan() => Some(0),
            Kind::If(_) => Some(if operands[0] != 0.0 { 1 } else { 2 }),
            _ if value.is_nan() => operands.iter().position(|operand| operand.is_nan()),
            _ => operands.iter().position(|operand| operand.is_infinite()),
        };
        let Some(next) = next else {
            let (cause, remedy) = describe(text, at, value, &operands);
            return Some(Refusal::at(at.span.clone(), cause, remedy));
        };
        (at, value) = (&at.operands()[next], operands[next]);
    }
}

/// What is wrong with a part whose operands are numbers, and what would help.
fn describe<V>(text: &str, part: &Part<V>, value: f64, operands: &[f64]) -> (String, String) {
    let shown = |part: &Part<V>| quoted(&text[part.span.clone()]);
    let whole = shown(part);
    let elsewhere = |condition: &str| {
        format!("give this case a value of its own, with `if({condition}, …, …)`")
    };
    let finite = "let the result be finite, or −infinity for weight 0".to_owned();
    let number = |value: f64| match value {
        f64::INFINITY => "infinity".to_owned(),
        f64::NEG_INFINITY => "−infinity".to_owned(),
        value if value == value.floor() && value.abs() < 1e6 => format!("{value}"),
        value => significant(value, 6),
    };
    match (&part.kind, operands) {
        (Kind::Number(_) | Kind::Variable(_), _) if value.is_nan() => {
            (format!("{whole} is not a number"), "give it a value".into())
        }
        (Kind::Number(_) | Kind::Variable(_), _) => (format!("{whole} is infinite"), finite),
        (Kind::Binary(Binary::Divide, both), [_, 0.0]) => {
            let cause = format!("{whole} divides by zero: {} is 0", shown(&both[1]));
            (cause, elsewhere("divisor = 0"))
        }
        (Kind::Binary(Binary::Power, _), &[0.0, p]) if p < 0.0 => {
            let cause = format!("{whole} divides by zero: it is 0 to the power {}", number(p));
            (cause, elsewhere("base = 0"))
        }
        (Kind::Binary(Binary::Power, _), &[a, p]) if a < 0.0 && value.is_nan() => {
            let cause =
                format!("{whole} is not a number: it is {} to the power {}", number(a), number(p));
            (cause, "only whole powers of negative numbers exist; `abs` removes the sign".into())
        }
        (Kind::Unary(Unary::Ln | Unary::Sqrt, inner), &[a]) if a < 0.0 => {
            let cause = format!("{whole} is not a number: {} is {}", shown(inner), number(a));
            (cause, elsewhere("argument < 0"))
        }
        (Kind::Unary(Unary::Ln, inner), [0.0]) => {
            let cause = format!("{whole} is −infinity: {} is 0", shown(inner));
            (cause, finite)
        }
        _ if value.is_nan() => {
            let operands: Vec<String> = operands.iter().copied().map(number).collect();
            let cause = format!("{whole} is not a number for {}", operands.join(" and "));
            (cause, "keep infinite values out of it".into())
        }
        _ => {
            let cause = format!("{whole} is larger than the largest double, 1.8e308");
            (cause, "make it smaller; `min` puts a limit to a value".into())
        }
    }
}
