//! Quantities in words.

/// 1234567 as "1.2 million".
pub fn number(value: f64) -> String {
    match value {
        v if v < 1e4 => format!("{v:.0}"),
        v if v < 1e6 => format!("{:.0} thousand", v / 1e3),
        v if v < 1e8 => format!("{:.1} million", v / 1e6),
        v if v < 1e9 => format!("{:.0} million", v / 1e6),
        v if v < 1e12 => format!("{:.1} billion", v / 1e9),
        v if v < f64::INFINITY => format!("{v:.1e}"),
        _ => "10^308 or more".to_owned(),
    }
}

/// Bytes in a unit that fits.
pub fn bytes(value: f64) -> String {
    match value {
        v if v < 1e6 => format!("{:.0} kB", (v / 1e3).ceil()),
        v if v < 1e9 => format!("{:.0} MB", v / 1e6),
        v if v < 1e12 => format!("{:.1} GB", v / 1e9),
        v if v < 1e16 => format!("{:.1} TB", v / 1e12),
        v if v < f64::INFINITY => format!("{:.1e} TB", v / 1e12),
        _ => "10^296 TB or more".to_owned(),
    }
}

/// Seconds in a unit that fits.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if s < 0.1 => "less than 0.1 s".to_owned(),
        s if s < 100.0 => format!("{s:.1} s"),
        s if s < 6000.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{} hours", (s / 360.0).round() / 10.0),
        s if s < 1e9 => format!("{:.0} days", s / 86_400.0),
        s if s < f64::INFINITY => format!("{:.1e} years", s / 31_557_600.0),
        _ => "10^300 years or more".to_owned(),
    }
}

/// Seconds, to an order of magnitude.
pub fn magnitude(seconds: f64) -> &'static str {
    match seconds {
        s if s < 20.0 => "seconds",
        s if s < 200.0 => "about a minute",
        s if s < 2_000.0 => "about ten minutes",
        s if s < 86_400.0 => "hours",
        _ => "days",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_in_words() {
        assert_eq!(number(36_361_101.0), "36.4 million");
        assert_eq!(bytes(1.6e9), "1.6 GB");
        assert_eq!(bytes(7.4e13), "74.0 TB");
        assert_eq!(duration(5_400.0), "90 min");
        assert_eq!(magnitude(60.0), "about a minute");
        assert_eq!(magnitude(f64::INFINITY), "days");
        assert_eq!(duration(0.01), "less than 0.1 s");
        let beyond = [number, bytes, duration].map(|words| words(f64::INFINITY));
        assert!(beyond.iter().all(|words| words.ends_with(" or more")), "{beyond:?}");
    }
}
