//! Pictures made of block characters.

/// A bar of `width` · `value` / `largest` characters, rounded to eighths of a character.
pub fn bar(value: f64, largest: f64, width: usize) -> String {
    const PARTS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let share = if largest > 0.0 { (value / largest).clamp(0.0, 1.0) } else { 0.0 };
    let eighths = (share * 8.0 * width as f64).round() as usize;
    // A value above 0 has a visible bar.
    let eighths = if value > 0.0 { eighths.max(1) } else { eighths };
    "█".repeat(eighths / 8) + PARTS[eighths % 8]
}

/// One column for each value, scaled from 0 to `largest`; a missing value leaves a gap.
pub fn columns(values: &[Option<f64>], largest: f64) -> String {
    const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let column = |value: &Option<f64>| match value {
        Some(value) if value.is_finite() && largest > 0.0 => {
            let level = (value / largest).clamp(0.0, 1.0) * LEVELS.len() as f64;
            LEVELS[(level.round() as usize).clamp(1, LEVELS.len()) - 1]
        }
        Some(value) if value.is_finite() => LEVELS[0],
        _ => ' ',
    };
    values.iter().map(column).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_begin_at_0() {
        let bars = [0.0, 1e-9, 0.25, 0.5, 0.9999, 1.0].map(|value| bar(value, 1.0, 4));
        assert_eq!(bars, ["", "▏", "█", "██", "████", "████"]);
        assert_eq!((bar(3.0, 8.0, 1), bar(0.0, 0.0, 4)), ("▍".to_owned(), String::new()));
        let values = [Some(0.0), Some(0.5), None, Some(1.0), Some(f64::INFINITY)];
        assert_eq!(columns(&values, 1.0), "▁▄ █ ");
        assert_eq!(columns(&[Some(0.0)], 0.0), "▁");
    }
}
