//! Random texts: no panic, no hang, every fault has a place, and all ways to evaluate agree.

use super::*;
use crate::rng::{Stream, stream, uniform, uniform_below};

fn pick<T: Copy>(all: &[T], rng: &mut Stream) -> T {
    all[uniform_below(all.len() as u64, rng) as usize]
}

/// Values at which something happens.
const NASTY: [f64; 8] = [0.0, -0.0, 1.0, -3.0, 1e308, 1e-310, f64::INFINITY, f64::NAN];

/// The text of an expression with operations within each other up to `depth`.
fn expression(depth: usize, rng: &mut Stream) -> String {
    const LEAVES: [&str; 12] = ["x", "y", "z", "x", "y", "z", "c", "1", "2", "0.5", "0", "inf"];
    const SIGNS: [&str; 12] = ["+", "-", "*", "/", "^", "<", "<=", ">", ">=", "=", "!=", "·"];
    if depth == 0 || uniform(rng) < 0.1 {
        return pick(&LEAVES, rng).to_owned();
    }
    let mut inner = || expression(depth - 1, rng);
    let (a, b, c) = (inner(), inner(), inner());
    match uniform_below(10, rng) {
        0 => format!("-({a})"),
        1 => format!("{}({a})", pick(&["exp", "ln", "sqrt", "abs", "floor"], rng)),
        2 => format!("{}({a}, {b})", pick(&["min", "max"], rng)),
        3 => format!("max({a}, {b}, {c})"),
        4 => format!("if({a}, {b}, {c})"),
        5 => format!("({a})^{}", pick(&["2", "3", "0.5", "0.7", "-1", "-1.5", "0", "1"], rng)),
        6 | 7 => format!("({a}) {} ({b})", pick(&SIGNS[..4], rng)),
        _ => format!("({a}) {} ({b})", pick(&SIGNS, rng)),
    }
}

/// A value of a variable.
fn number(rng: &mut Stream) -> f64 {
    if uniform(rng) < 0.3 { pick(&NASTY, rng) } else { 10.0 * uniform(rng) - 3.0 }
}

fn assert_sound(text: &str, fault: &Refusal) {
    let Refusal { span, cause, remedy } = fault;
    let part = span.clone().and_then(|span| text.get(span));
    assert!(part.is_some(), "{text:?}: {span:?} of {}", text.len());
    assert!(!cause.is_empty() && !remedy.is_empty(), "{text:?}");
    assert!(!cause.contains(char::is_control), "{text:?}: {cause:?}");
}

/// Evaluates in all ways at rows of so many places.
fn assert_agreement(text: &str, length: usize, rng: &mut Stream) {
    let expression = parsed(text);
    let columns: [Vec<f64>; 3] =
        std::array::from_fn(|_| (0..length).map(|_| number(rng)).collect());
    let row = |variable: usize| match variable {
        3 => &columns[0][..],
        1 => &columns[1],
        _ => &columns[2],
    };
    let mut out = vec![0.25; length];
    expression.rows(&row, &mut out);
    let known = pick(&[&[3_usize][..], &[1], &[3, 4], &[1, 3, 4, 7]], rng);
    for (place, &value) in out.iter().enumerate() {
        let at = |variable: usize| row(variable)[place];
        assert!(same(expression.value(&at), value), "{text} in rows");
        let fixed = expression.fix(&|v| known.contains(&v).then(|| at(v)));
        assert!(fixed.variables().iter().all(|(variable, _)| !known.contains(variable)));
        assert!(same(fixed.value(&at), value), "{text} with {known:?} fixed");
        let fault = expression.fault(&at);
        assert_eq!(fault.is_some(), value.is_nan() || value == f64::INFINITY, "{text}");
        fault.iter().for_each(|fault| assert_sound(text, fault));
    }
}

/// Says whether the text can be read.
fn survives(text: &str, rng: &mut Stream) -> bool {
    let fault = Expression::parse(text, &Letters).err();
    fault.iter().for_each(|fault| assert_sound(text, fault));
    if fault.is_none() {
        assert_agreement(text, 2, rng);
    }
    fault.is_none()
}

#[test]
fn all_ways_to_evaluate_agree() {
    let mut rng = stream(1, "ways to evaluate");
    for round in 0..5_000 {
        let text = expression(1 + round % 5, &mut rng);
        let length = pick(&[0, 1, 3, 8, 17], &mut rng) + if round % 100 == 0 { 1020 } else { 0 };
        assert_agreement(&text, length, &mut rng);
    }
}

#[test]
fn expressions_that_are_called_straight_lines_are() {
    let mut rng = stream(5, "lines among expressions");
    let mut found = 0;
    for round in 0..20_000 {
        let text = expression(1 + round % 4, &mut rng);
        let expression = parsed(&text).fix(&|v| (v != 3).then_some(2.0));
        let lines = [expression.affine(3), expression.affine_in_abs(3)];
        for x in [-2.5_f64, 0.0, 1.0, 7.0] {
            let value = expression.value(&at(x, 2.0, 2.0));
            for (line, v) in lines.into_iter().zip([x, x.abs()]) {
                let Some((slope, constant)) = line else { continue };
                found += usize::from(slope != 0.0);
                let size = constant.abs() + (slope * v).abs();
                assert!((slope * v + constant - value).abs() <= 1e-12 * size, "{text} at {x}");
            }
        }
    }
    assert!(found > 2_000, "{found}");
}

/// Pieces without any order.
fn soup(rng: &mut Stream) -> String {
    const PIECES: &str = "x y c long_name foo exp ln min if pi inf 1 0 2.5 .5 1e-3 1e999 1.2.3 + - − * · / ^ \
                          < <= > = == != ( ( ( ) ) ) , $ é";
    let pieces: Vec<&str> = PIECES.split(' ').collect();
    (0..=uniform_below(20, rng)).map(|_| pick(&pieces, rng)).collect()
}

/// A valid text with a few characters changed.
fn mutation(rng: &mut Stream) -> String {
    let characters: Vec<char> = "xyz01.e+-−*·/^<>=!(),exiflnamqrt _\t\n\0€𝟙".chars().collect();
    let depth = 1 + uniform_below(3, rng) as usize;
    let mut text: Vec<char> = expression(depth, rng).chars().collect();
    for _ in 0..=uniform_below(3, rng) {
        let place = uniform_below(text.len() as u64 + 1, rng) as usize;
        match uniform_below(4, rng) {
            0 => text.insert(place, pick(&characters, rng)),
            1 if place < text.len() => text[place] = pick(&characters, rng),
            2 => text.truncate(place.max(1)),
            _ if place < text.len() && text.len() > 1 => drop(text.remove(place)),
            _ => {}
        }
    }
    text.into_iter().collect()
}

#[test]
fn no_text_does_harm() {
    let mut rng = stream(6, "fuzzed expressions");
    type Maker = fn(&mut Stream) -> String;
    let makers: [Maker; 2] = [soup, mutation];
    for maker in makers {
        let valid = (0..50_000).filter(|_| survives(&maker(&mut rng), &mut rng)).count();
        // Both kinds occur.
        assert!((1..50_000).contains(&valid), "{valid}");
    }
}
