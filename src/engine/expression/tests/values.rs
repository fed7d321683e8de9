//! Values that are computed by hand.

use super::*;
use crate::numeric::exp_accurate;

const INF: f64 = f64::INFINITY;

#[test]
fn operators_bind_as_in_mathematics() {
    for (text, expected) in [
        ("1 + 2 * 3", 7.0),
        ("(1 + 2) * 3", 9.0),
        ("10 - 4 - 3", 3.0),
        ("48 / 4 / 3", 4.0),
        ("2 ^ 3 ^ 2", 512.0),
        ("-x^2", -9.0),
        ("(-x)^2", 9.0),
        ("2^-1", 0.5),
        ("2^-1^2", 0.5),
        ("2 * -3", -6.0),
        ("2 - -3", 5.0),
        ("-+-x", 3.0),
        ("+x", 3.0),
        ("-2 * -x^2 / 3", 6.0),
        ("1 + x < y + 7", 1.0),
        ("x = 3", 1.0),
        ("x == 3", 1.0),
        ("x != 3", 0.0),
        ("(1 < 2) + (2 <= 2) + (3 > 4) + (4 >= 4)", 3.0),
        ("if(x > y, 10, 20)", 10.0),
        ("if(x < y, 10, 20)", 20.0),
        ("if(-0.5, 10, 20)", 10.0),
        ("min(3, 1, 2) + 10 * max(3, 1, 2, 7)", 71.0),
        ("abs(-4) + floor(-1.5) + sqrt(16)", 6.0),
        ("x − 1", 2.0),
        ("2·x×2", 12.0),
        (" 1e-3 + .5 + 2. + 1E+2 ", 102.501),
        ("c * 2", 5.0),
        ("2^0.5", std::f64::consts::SQRT_2),
        ("pi", std::f64::consts::PI),
        ("long_name", 0.0),
        ("-inf", -INF),
        ("exp(0) + ln(1)", 1.0),
        ("exp(1)", exp_accurate(1.0)),
    ] {
        let found = value(text, 3.0, 2.0, 5.0);
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn numbers_that_do_not_exist() {
    for text in [
        "1 / 0",
        "x / y",
        "0^-1",
        "y^-2",
        "y^-0.5",
        "y^-70",
        "ln(-1)",
        "sqrt(-1)",
        "(-1)^0.5",
        "0 * inf",
        "inf - inf",
        "min(1 / 0, 2)",
        "max(1 / 0, 2)",
        "1 / 0 < 1",
        "1 != 1 / 0",
        "(1 / 0)^0",
        "if(1 / 0, 1, 2)",
        "abs(1 / 0)",
    ] {
        assert!(value(text, 1.0, 0.0, 0.0).is_nan(), "{text}");
        let faults = parsed(text).fault(&at(1.0, 0.0, 0.0));
        assert!(faults.is_some(), "{text}");
    }
}

#[test]
fn values_at_the_edges() {
    for (text, expected) in [
        ("if(y = 0, 7, 1 / y)", 7.0),
        ("if(y != 0, 1 / y, 7)", 7.0),
        ("ln(0)", -INF),
        ("ln(inf)", INF),
        ("exp(-inf)", 0.0),
        ("exp(1000)", INF),
        ("0^0", 1.0),
        ("0^0.3", 0.0),
        ("0^70", 0.0),
        ("inf^-1", 0.0),
        ("inf^-1.5", 0.0),
        ("inf^0.7", INF),
        ("(-2)^3", -8.0),
        ("(-2)^-3", -0.125),
        ("2^64", 18_446_744_073_709_551_616.0),
        ("(1e-200)^-2", INF),
        ("1 / inf", 0.0),
    ] {
        assert_eq!(value(text, 1.0, 0.0, 0.0), expected, "{text}");
    }
}

#[test]
fn powers_are_those_of_libm_to_a_few_digits() {
    for p in [-64.0, -65.0, -1.5, -0.3, 0.7, 1.5, 3.0, 17.0, 64.0, 65.0, 100.5] {
        for x in [1e-3, 0.3, 0.999, 1.0, 1.7, 12.5, 900.0] {
            let (ours, theirs) = (value("x^y", x, p, 0.0), libm::pow(x, p));
            // Up to 700 units: those of p ln x.
            assert!((ours - theirs).abs() <= 1.6e-13 * theirs, "{x}^{p}: {ours} {theirs}");
        }
    }
}

#[test]
fn variables_come_in_order_with_their_first_use() {
    let expression = parsed("x + y * x - 2 * y");
    assert_eq!(expression.text(), "x + y * x - 2 * y");
    assert_eq!(expression.variables(), [(1, 4..5), (3, 0..1)]);
    assert_eq!(expression.fix(&|v| (v == 1).then_some(2.0)).variables(), [(3, 0..1)]);
    assert!(expression.fix(&|_| Some(1.0)).variables().is_empty());
    let branch = parsed("if(y > 0, x, z)").fix(&|v| (v == 1).then_some(1.0));
    assert_eq!(branch.variables(), [(3, 10..11)]);
}

#[test]
fn reserved_names() {
    assert!(["exp", "if", "pi", "inf"].into_iter().all(is_reserved));
    assert!(!["x", "Exp", "log", ""].into_iter().any(is_reserved));
}

#[test]
fn straight_lines_are_recognised() {
    let line = |text: &str| parsed(text).fix(&|_| None).affine(3);
    assert_eq!(line("-c * x / 2 + 1"), Some((-1.25, 1.0)));
    assert_eq!(line("(x + 1) * 3 - x"), Some((2.0, 3.0)));
    assert_eq!(line("2 * x^1"), Some((2.0, 0.0)));
    assert_eq!(line("7"), Some((0.0, 7.0)));
    for text in ["x^2", "x * x", "1 / x", "abs(x)", "x + y", "x / 0", "if(x > 0, x, x)", "x * inf"]
    {
        assert_eq!(line(text), None, "{text}");
    }
    let size = |text: &str| parsed(text).fix(&|_| None).affine_in_abs(3);
    assert_eq!(size("-c * abs(x) / 2 + 1"), Some((-1.25, 1.0)));
    assert_eq!(size("3 - abs(-x) + max(x, -x)"), Some((0.0, 3.0)));
    assert_eq!(size("-abs(2 * x)^1"), Some((-2.0, 0.0)));
    assert_eq!(size("min(-x, x)"), Some((-1.0, 0.0)));
    assert_eq!(size("abs(abs(x))"), Some((1.0, 0.0)));
    assert_eq!(size("7"), Some((0.0, 7.0)));
    for text in ["x", "abs(x) + x", "abs(x + 1)", "abs(x)^2", "max(x, -2 * x)", "abs(y)"] {
        assert_eq!(size(text), None, "{text}");
    }
}
