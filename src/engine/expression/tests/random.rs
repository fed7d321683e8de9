//! Random expressions: all ways to evaluate agree, and what is proved is true.

use super::*;
use crate::rng::{Stream, stream, uniform, uniform_below};

/// One of these.
pub fn pick<T: Copy>(all: &[T], rng: &mut Stream) -> T {
    all[uniform_below(all.len() as u64, rng) as usize]
}

/// Values at which something happens.
pub const NASTY: [f64; 14] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    2.0,
    -3.0,
    1e308,
    -1e308,
    1e-310,
    800.0,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

/// The text of an expression with operations within each other up to `depth`.
pub fn expression(depth: usize, rng: &mut Stream) -> String {
    const LEAVES: [&str; 14] =
        ["x", "y", "z", "x", "y", "z", "c", "1", "2", "0.5", "3", "0", "pi", "inf"];
    const SIGNS: [&str; 17] =
        ["+", "-", "*", "/", "+", "-", "*", "/", "^", "^", "<", "<=", ">", ">=", "=", "!=", "·"];
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
        _ => format!("({a}) {} ({b})", pick(&SIGNS, rng)),
    }
}

/// Rows of the variables x, y and z.
fn rows(len: usize, rng: &mut Stream) -> [Vec<f64>; 3] {
    std::array::from_fn(|_| {
        let mut value = || match uniform(rng) < 0.3 {
            true => pick(&NASTY, rng),
            false => 10.0 * uniform(rng) - 3.0,
        };
        (0..len).map(|_| value()).collect()
    })
}

#[test]
fn rows_have_the_bits_of_single_values() {
    let mut rng = stream(1, "rows of expressions");
    for round in 0..3_000 {
        let text = expression(1 + round % 5, &mut rng);
        let expression = parsed(&text);
        let len = pick(&[0, 1, 3, 8, 17, 33], &mut rng) + if round % 50 == 0 { 1020 } else { 0 };
        let [x, y, z] = rows(len, &mut rng);
        let row = |variable: usize| match variable {
            3 => &x[..],
            1 => &y[..],
            _ => &z[..],
        };
        let mut out = vec![0.25; len];
        expression.rows(&row, &mut out);
        for place in 0..len {
            let single = expression.value(&at(x[place], y[place], z[place]));
            assert!(same(out[place], single), "{text}: {} {single}", out[place]);
        }
    }
}

#[test]
fn known_variables_change_no_bit() {
    let mut rng = stream(2, "fixed variables");
    for round in 0..5_000 {
        let text = expression(1 + round % 5, &mut rng);
        let expression = parsed(&text);
        let [x, y, z] = rows(1, &mut rng).map(|row| row[0]);
        let open = expression.value(&at(x, y, z));
        for known in [&[3_usize][..], &[1], &[3, 4], &[1, 3, 4]] {
            let fixed = expression.fix(&|v| known.contains(&v).then(|| at(x, y, z)(v)));
            assert!(fixed.variables().iter().all(|(variable, _)| !known.contains(variable)));
            let value = fixed.value(&at(x, y, z));
            assert!(same(value, open), "{text} at {x}, {y}, {z}: {value} {open}");
        }
        let faulty = open.is_nan() || open == f64::INFINITY;
        assert_eq!(expression.fault(&at(x, y, z)).is_some(), faulty, "{text} at {x}, {y}, {z}");
    }
}

#[test]
fn straight_lines_are_the_expression() {
    /// Sums and multiples of `leaf`; all numbers are exact in binary.
    fn line(leaf: &str, depth: usize, rng: &mut Stream) -> String {
        let number = pick(&["1", "2", "0.5", "-3", "4", "c"], rng);
        if depth == 0 {
            return if uniform(rng) < 0.6 { leaf.to_owned() } else { number.to_owned() };
        }
        let (a, b) = (line(leaf, depth - 1, rng), line(leaf, depth - 1, rng));
        match uniform_below(6, rng) {
            0 => format!("({a}) * {number}"),
            1 => format!("{number} * ({a})"),
            2 => format!("({a}) / {}", pick(&["2", "-4", "0.5"], rng)),
            3 => format!("-({a})^1"),
            4 => format!("({a}) - ({b})"),
            _ => format!("{a} + ({b})"),
        }
    }
    let mut rng = stream(4, "straight lines");
    for round in 0..2_000 {
        let leaf = pick(&["x", "abs(x)", "abs(-x)", "max(x, -x)", "max(-2 * x, 2 * x)"], &mut rng);
        let text = line(leaf, round % 5, &mut rng);
        let expression = parsed(&text).fix(&|_| None);
        let found = if leaf == "x" { expression.affine(3) } else { expression.affine_in_abs(3) };
        let (slope, constant) = found.unwrap_or_else(|| panic!("{text}"));
        for x in [-2.0_f64, -0.75, 0.0, 1.0, 8.5] {
            let v = if leaf == "x" { x } else { x.abs() };
            assert_eq!(slope * v + constant, expression.value(&at(x, 0.0, 0.0)), "{text} at {x}");
        }
    }
}

#[test]
fn random_expressions_that_are_called_straight_lines_are() {
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
