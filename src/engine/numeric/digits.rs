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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_digits() {
        let shown = [0.0, 1.0, 0.140_54, 1234.56, 7.071e-9, 0.999_96].map(short);
        assert_eq!(shown, ["0", "1.000", "0.1405", "1235", "7.071e-9", "1.000"]);
    }

    #[test]
    fn six_digits() {
        let shown = [1.0, 0.999_999_7, 0.011_234_567, 1.175_168_2e-8, f64::INFINITY];
        let shown = shown.map(|value| significant(value, 6));
        assert_eq!(shown, ["1.00000", "1.00000", "0.0112346", "1.17517e-8", "inf"]);
    }
}
