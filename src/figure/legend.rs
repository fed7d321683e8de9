//! The key below a plot: centred rows of marks and their meaning.

use super::canvas::{Anchor, Canvas, Pen, centred};
use super::font::Font;
use super::geometry::Point;
use super::palette::{Colour, INK, SOFT, TEXT};
use super::text::shorten;

const FONT: Font = Font::regular(11.0);
const ROW: f64 = 19.0;
const MARK: f64 = 22.0;
const PAD: f64 = 6.0;
const BETWEEN: f64 = 20.0;

/// The sign an entry explains.
#[derive(Clone, Copy, Debug)]
pub(super) enum Mark {
    /// A box of this colour, hatched when not private.
    Swatch(Colour, bool),
    /// A box of three colours, for what all of them have in common.
    Stripes([Colour; 3]),
    /// The exact mean in a box plot.
    Diamond,
    /// An outlier.
    Ring,
    /// An exact curve.
    Line,
    /// A sampled mean with its error bar.
    DotBar,
    /// A sampled mean without one.
    Dot,
    /// A value read off a printed figure.
    Reading,
    /// A line drawn with this pen.
    Trace(Pen),
}

/// A mark and its meaning.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) mark: Mark,
    pub(super) label: String,
}

impl Entry {
    pub(super) fn new(mark: Mark, label: &str) -> Self {
        Self { mark, label: label.to_owned() }
    }

    fn width(&self) -> f64 {
        MARK + PAD + FONT.width(&self.label)
    }
}

/// Entries arranged in rows.
pub(super) struct Legend {
    rows: Vec<Vec<Entry>>,
}

impl Legend {
    /// The fewest rows no wider than `width`, of about equal length.
    pub(super) fn new(mut entries: Vec<Entry>, width: f64) -> Self {
        for entry in &mut entries {
            entry.label = shorten(&entry.label, FONT, width - MARK - PAD);
        }
        let fewest = arrange(&entries, width).len();
        let mut narrow = width;
        while arrange(&entries, narrow - 4.0).len() == fewest && narrow > 8.0 {
            narrow -= 4.0;
        }
        Self { rows: arrange(&entries, narrow) }
    }

    pub(super) fn height(&self) -> f64 {
        self.rows.len() as f64 * ROW
    }

    /// Draws the rows centred on `centre`, but all of them on the page.
    pub(super) fn draw(&self, canvas: &mut Canvas, centre: f64, top: f64) {
        let mut middle = top + ROW / 2.0;
        for row in &self.rows {
            let width = row_width(row);
            let rightmost = (canvas.width - width - 4.0).max(4.0);
            let mut x = (centre - width / 2.0).clamp(4.0, rightmost);
            for entry in row {
                draw_mark(canvas, entry.mark, (x, middle));
                let at = (x + MARK + PAD, centred(middle, FONT));
                canvas.text(&entry.label, FONT, TEXT, at, Anchor::Start);
                x += entry.width() + BETWEEN;
            }
            middle += ROW;
        }
    }
}

fn row_width(row: &[Entry]) -> f64 {
    let entries: f64 = row.iter().map(Entry::width).sum();
    entries + BETWEEN * row.len().saturating_sub(1) as f64
}

/// Fills row after row up to `width`.
fn arrange(entries: &[Entry], width: f64) -> Vec<Vec<Entry>> {
    let mut rows: Vec<Vec<Entry>> = Vec::new();
    for entry in entries {
        match rows.last_mut() {
            Some(row) if row_width(row) + BETWEEN + entry.width() <= width => {
                row.push(entry.clone());
            }
            _ => rows.push(vec![entry.clone()]),
        }
    }
    rows
}

/// Draws a mark whose box starts at `x` and is centred on `y`.
fn draw_mark(canvas: &mut Canvas, mark: Mark, (x, y): Point) {
    let middle = x + MARK / 2.0;
    let (start, end) = ((x, y), (x + MARK, y));
    match mark {
        Mark::Swatch(colour, private) => {
            let (left, right, top, bottom) = (x + 3.0, x + MARK, y - 5.0, y + 5.0);
            let path = [(left, top), (right, top), (right, bottom), (left, bottom)];
            if private {
                canvas.polygon(&path, colour, 0.8);
            } else {
                canvas.hatched(&path, colour, 0.8);
            }
        }
        Mark::Stripes(colours) => {
            let (left, top, bottom) = (x + 3.0, y - 5.0, y + 5.0);
            let part = (x + MARK - left) / 3.0;
            let rectangle =
                |from: f64, to: f64| [(from, top), (to, top), (to, bottom), (from, bottom)];
            for (i, colour) in (0..).zip(colours) {
                let from = left + part * f64::from(i);
                canvas.fill(rectangle(from, from + part).to_vec(), colour);
            }
            let [a, b, c, d] = rectangle(left, x + MARK);
            canvas.stroke(vec![a, b, c, d, a], INK, 0.8);
        }
        Mark::Diamond => diamond(canvas, (middle, y), 4.0),
        Mark::Ring => canvas.ring((middle, y), 2.2, INK, 0.8),
        Mark::Line => canvas.line(start, end, SOFT, 1.6),
        Mark::Reading => reading(canvas, (middle, y), SOFT),
        Mark::Trace(pen) => canvas.trace(vec![start, end], pen),
        Mark::Dot => canvas.disc((middle, y), 2.7, SOFT),
        Mark::DotBar => {
            canvas.line((middle, y - 7.0), (middle, y + 7.0), SOFT, 1.1);
            canvas.disc((middle, y), 2.7, SOFT);
        }
    }
}

/// What readings are called in every figure.
pub(super) fn reading_entry() -> Entry {
    Entry::new(Mark::Reading, "read off the printed figure")
}

/// The marker of a value read off a printed figure: hollow, to show what it
/// is compared with.
pub(super) fn reading(canvas: &mut Canvas, at: Point, colour: Colour) {
    canvas.ring(at, 3.2, colour, 1.1);
}

/// The marker of an exact mean: white, to show on every box colour.
pub(super) fn diamond(canvas: &mut Canvas, (x, y): Point, radius: f64) {
    let path = [(x - radius, y), (x, y - radius), (x + radius, y), (x, y + radius)];
    canvas.polygon(&path, super::palette::WHITE, 0.9);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(count: usize) -> Vec<Entry> {
        let label = |i: usize| format!("mechanism {}", "x".repeat(i * 3));
        (0..count).map(|i| Entry::new(Mark::Line, &label(i))).collect()
    }

    #[test]
    fn rows_fit_and_lose_nothing() {
        for count in 0..14 {
            let legend = Legend::new(entries(count), 400.0);
            assert_eq!(legend.rows.iter().flatten().count(), count);
            assert!(legend.rows.iter().all(|row| row_width(row) <= 400.0));
        }
    }

    #[test]
    fn overlong_labels_are_shortened() {
        let long = Entry::new(Mark::Ring, &"very long ".repeat(50));
        let legend = Legend::new(vec![long], 300.0);
        assert!(row_width(&legend.rows[0]) <= 300.0);
    }
}
