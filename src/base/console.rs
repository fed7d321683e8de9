//! Tables and texts for a terminal.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

/// Prints on standard output. It is an error if the reader goes away before the end.
pub fn emit_whole(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(printable(text).as_bytes()).and_then(|()| out.flush())
}

/// The text with control characters written out: a terminal would obey them, and the names of files
/// may contain any.
fn printable(text: &str) -> Cow<'_, str> {
    let obeyed = |c: char| c.is_control() && !['\n', '\t'].contains(&c);
    if !text.contains(obeyed) {
        return Cow::Borrowed(text);
    }
    let written_out = |c: char| match obeyed(c) {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    };
    Cow::Owned(text.chars().map(written_out).collect())
}

/// Prints on standard output. A reader that has gone away (`dpbi list | head`) is not an error.
pub fn emit(text: &str) -> io::Result<()> {
    match emit_whole(text) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

/// Prints a line on standard error. A failure to print it is ignored.
pub fn say(line: impl std::fmt::Display) {
    let _ = writeln!(io::stderr().lock(), "{}", printable(&line.to_string()));
}

/// Prints a line on standard error after a word, which is red on a terminal unless `NO_COLOR` is set.
pub fn say_in_red(word: &str, line: impl std::fmt::Display) {
    let colour = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let (red, plain) = if colour { ("\x1b[1;31m", "\x1b[0m") } else { ("", "") };
    let _ = writeln!(io::stderr().lock(), "{red}{word}{plain} {}", printable(&line.to_string()));
}

/// Rows of cells; the first `left` columns are aligned left, the others right.
pub struct Grid {
    left: usize,
    rows: Vec<Vec<String>>,
}

impl Grid {
    /// An empty table.
    pub fn new(left: usize) -> Self {
        Self { left, rows: Vec::new() }
    }

    /// Appends a row.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// The table, two spaces between its columns and before each line.
    pub fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let pad = " ".repeat(widths[column] - cell.chars().count());
                let (before, after) = if column < self.left { ("", &*pad) } else { (&*pad, "") };
                line += &format!("  {before}{cell}{after}");
            }
            text += line.trim_end();
            text.push('\n');
        }
        text
    }
}

/// A number with four significant digits.
pub fn short(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    // The magnitude of the number as it will be shown: 0.99999 is 1.000.
    let shown: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    let magnitude = libm::log10(shown.abs()).floor();
    if (-4.0..6.0).contains(&magnitude) {
        format!("{value:.*}", (3.0 - magnitude).max(0.0) as usize)
    } else {
        format!("{value:.3e}")
    }
}

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

/// A number with four significant digits, or a dash if it is missing.
pub fn short_or_dash(value: Option<f64>) -> String {
    value.map_or("–".into(), short)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_written_out() {
        assert_eq!(printable("ε\t1\n"), "ε\t1\n");
        assert_eq!(printable("a\u{1b}[31m\r\u{9b}b\n"), "a\\u{1b}[31m\\r\\u{9b}b\n");
    }

    #[test]
    fn columns_line_up() {
        let mut grid = Grid::new(1);
        grid.row(["ε", "10", "x"]);
        grid.row(["long", "5"]);
        assert_eq!(grid.render(), "  ε     10  x\n  long   5\n");
    }

    #[test]
    fn bars_begin_at_0() {
        let bars = [0.0, 1e-9, 0.25, 0.5, 0.9999, 1.0].map(|value| bar(value, 1.0, 4));
        assert_eq!(bars, ["", "▏", "█", "██", "████", "████"]);
        assert_eq!((bar(3.0, 8.0, 1), bar(0.0, 0.0, 4)), ("▍".to_owned(), String::new()));
        let values = [Some(0.0), Some(0.5), None, Some(1.0), Some(f64::INFINITY)];
        assert_eq!(columns(&values, 1.0), "▁▄ █ ");
        assert_eq!(columns(&[Some(0.0)], 0.0), "▁");
    }

    #[test]
    fn four_digits() {
        let shown = [0.0, 1.0, 0.140_54, 1234.56, 7.071e-9, 0.999_96].map(short);
        assert_eq!(shown, ["0", "1.000", "0.1405", "1235", "7.071e-9", "1.000"]);
    }
}
