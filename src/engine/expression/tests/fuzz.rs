//! Texts that nobody should write: no panic, no hang, and every fault has a place.

use rand::Rng;

use super::random::{NASTY, expression, pick};
use super::*;
use crate::rng::{Stream, stream, uniform_below};

/// Parses, and if that succeeds evaluates in all ways. Says whether it did.
fn survives(text: &str, evaluate: bool, rng: &mut Stream) -> bool {
    let expression = match Expression::parse(text, &Letters) {
        Ok(expression) => expression,
        Err(fault) => {
            assert_sound(text, &fault);
            return false;
        }
    };
    if evaluate {
        let [x, y, z] = std::array::from_fn(|_| pick(&NASTY, rng));
        let value = expression.value(&at(x, y, z));
        let fixed = expression.fix(&|variable| (variable != 3).then(|| at(x, y, z)(variable)));
        assert!(same(fixed.value(&at(x, y, z)), value), "{text}");
        let fault = expression.fault(&at(x, y, z));
        assert_eq!(fault.is_some(), value.is_nan() || value == f64::INFINITY, "{text}");
        fault.iter().for_each(|fault| assert_sound(text, fault));
        let _ = (fixed.affine(3), fixed.affine_in_abs(3));
        expression.rows(&|_| &[1.0, 0.0, f64::NAN], &mut [0.0; 3]);
    }
    true
}

fn assert_sound(text: &str, fault: &Fault) {
    let Fault { span, cause, remedy } = fault;
    assert!(text.get(span.clone()).is_some(), "{text:?}: {span:?} of {}", text.len());
    assert!(!cause.is_empty() && !remedy.is_empty(), "{text:?}");
    assert!(!cause.contains(char::is_control), "{text:?}: {cause:?}");
}

/// Pieces without any order.
fn soup(rng: &mut Stream) -> String {
    const PIECES: [&str; 48] = [
        "x",
        "y",
        "z",
        "c",
        "long_name",
        "foo",
        "exp",
        "ln",
        "sqrt",
        "abs",
        "min",
        "max",
        "floor",
        "if",
        "pi",
        "inf",
        "1",
        "0",
        "2.5",
        ".5",
        "1e-3",
        "1e999",
        "1.2.3",
        "+",
        "-",
        "−",
        "*",
        "·",
        "×",
        "/",
        "^",
        "<",
        "<=",
        ">",
        ">=",
        "=",
        "==",
        "!=",
        "(",
        "(",
        "(",
        ")",
        ")",
        ")",
        ",",
        " ",
        "$",
        "é",
    ];
    let length = 1 + uniform_below(20, rng);
    (0..length).map(|_| pick(&PIECES, rng)).collect()
}

/// A valid text with a few characters changed.
fn mutation(rng: &mut Stream) -> String {
    const CHARACTERS: &str = "xyz01.e+-−*·/^<>=!(),exiflnamqrt _\t\n\0€𝟙";
    let characters: Vec<char> = CHARACTERS.chars().collect();
    let depth = 1 + uniform_below(3, rng) as usize;
    let mut text: Vec<char> = expression(depth, rng).chars().collect();
    for _ in 0..=uniform_below(3, rng) {
        let place = uniform_below(text.len() as u64 + 1, rng) as usize;
        match uniform_below(4, rng) {
            0 => text.insert(place, pick(&characters, rng)),
            1 if place < text.len() => text[place] = pick(&characters, rng),
            2 => text.truncate(place.max(1)),
            _ if place < text.len() && text.len() > 1 => {
                text.remove(place);
            }
            _ => {}
        }
    }
    text.into_iter().collect()
}

/// Bytes, or characters of all kinds.
fn noise(rng: &mut Stream) -> String {
    let length = uniform_below(40, rng);
    match uniform_below(3, rng) {
        0 => {
            let bytes: Vec<u8> = (0..length).map(|_| rng.next_u32() as u8).collect();
            String::from_utf8_lossy(&bytes).into_owned()
        }
        1 => (0..length).map(|_| char::from(uniform_below(128, rng) as u8)).collect(),
        _ => {
            let mut character = || char::from_u32(uniform_below(0x11_0000, rng) as u32);
            (0..length).filter_map(|_| character()).collect()
        }
    }
}

/// The same piece over and over, up to the greatest length and beyond.
fn repetition(rng: &mut Stream) -> String {
    const PIECES: [&str; 18] = [
        "(", "-", "+", "2^", "abs(", "if(x,", "min(1,", "1+", "x*", "((", ")", "-(", "2^-(", "9",
        "q", "x<", " ", "é",
    ];
    let piece = pick(&PIECES, rng);
    let times = pick(&[10, 63, 64, 65, 66, 400, 600, 5_000, 11_000], rng);
    let end = pick(&["", "x", "1)", "))))", "/0"], rng);
    let closed = if uniform_below(2, rng) == 0 { ")".repeat(times.min(70)) } else { String::new() };
    format!("{}{end}{closed}", piece.repeat(times))
}

#[test]
fn no_text_does_harm() {
    let mut rng = stream(6, "fuzzed expressions");
    type Maker = fn(&mut Stream) -> String;
    let makers: [(usize, Maker); 4] =
        [(45_000, soup), (45_000, mutation), (20_000, noise), (3_000, repetition)];
    for (times, maker) in makers {
        let mut valid = 0;
        for round in 0..times {
            let text = maker(&mut rng);
            valid += usize::from(survives(&text, round % 2 == 0, &mut rng));
        }
        // Both kinds occur.
        assert!(valid > 0 && valid < times, "{valid} of {times}");
    }
}
