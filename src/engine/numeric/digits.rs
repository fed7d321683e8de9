//! Numbers as people read them.

/// A number with four significant digits.
pub fn short(value: f64) -> String {
    significant(value, 4)
}

/// A number with four significant digits, or a dash if it is missing.
pub fn short_or_dash(value: Option<f64>) -> String {
    value.map_or("–".into(), short)
}

/// A number with this many significant digits.
pub fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let after = digits.max(1) - 1;
    // The magnitude of the number as it will be shown: 0.99999 is 1.000.
    let shown: f64 = format!("{value:.after$e}").parse().unwrap_or(value);
    let magnitude = libm::log10(shown.abs()).floor();
    if (-4.0..6.0).contains(&magnitude) {
        format!("{value:.*}", (after as f64 - magnitude).max(0.0) as usize)
    } else {
        format!("{value:.after$e}")
    }
}

/// The numbers of this many significant digits around a positive `value`, as they would be typed: the largest that
/// is not above it, and the one that follows.
pub fn typed_around(value: f64, digits: usize) -> (f64, f64) {
    // All digits, so that none is rounded up.
    let all = format!("{value:e}").replace('.', "");
    let first = |all: &str| format!("{all:0<digits$}")[..digits].parse();
    let parts = all.split_once('e').map(|(all, power)| (first(all), power.parse()));
    let Some((Ok::<i64, _>(mut units), Ok::<i64, _>(power))) = parts else { return (value, value) };
    let place = power + 1 - digits as i64;
    let typed = |units: i64| format!("{units}e{place}").parse().unwrap_or(value);
    while typed(units + 1) <= value {
        units += 1;
    }
    (typed(units), typed(units + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_and_six_digits() {
        let shown = [0.0, 1.0, 0.140_54, 1234.56, 7.071e-9, 0.999_96, f64::INFINITY].map(short);
        assert_eq!(shown, ["0", "1.000", "0.1405", "1235", "7.071e-9", "1.000", "inf"]);
        let shown = [1.0, 0.999_999_7, 0.011_234_567].map(|value| significant(value, 6));
        assert_eq!(shown, ["1.00000", "1.00000", "0.0112346"]);
    }

    #[test]
    fn typed_numbers_on_both_sides_and_none_is_skipped() {
        for (value, digits, around) in [
            (0.123_41, 4, (0.1234, 0.1235)),
            (12_345.0, 4, (12_340.0, 12_350.0)),
            (1.0, 4, (1.0, 1.001)),
            (5e-5, 4, (5e-5, 5.001e-5)),
            (0.729_173_501_075_37, 11, (0.729_173_501_07, 0.729_173_501_08)),
            (3.999_999_999_999_999_6, 11, (3.999_999_999_9, 4.0)),
            (9.99e-7, 11, (9.99e-7, 9.990_000_000_1e-7)),
            (9.991e-6, 3, (9.99e-6, 1e-5)),
            (3.001e-300, 3, (3e-300, 3.01e-300)),
            (5e-324, 3, (5e-324, 1e-323)),
            (0.999_999, 4, (0.9999, 1.0)),
            (0.0, 1, (0.0, 1.0)),
        ] {
            assert_eq!(typed_around(value, digits), around, "{value}");
        }
        let mut value = 0.9;
        for step in 1..=2000 {
            value = typed_around(value, 4).1;
            let expected =
                if step <= 1000 { 0.9 + 1e-4 * f64::from(step) } else { f64::from(step) * 1e-3 };
            assert!((value - expected).abs() < 1e-12, "{step}: {value} {expected}");
        }
    }
}
