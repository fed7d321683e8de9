//! The key below a plot: centred rows of marks and their meaning.

use plotters::element::{Circle, Polygon};
use plotters::style::Color;
use plotters::style::text_anchor::HPos;

use super::element::{Marker, diamond, error_bar, hatched_bar, stem};
use super::font::Font;
use super::page::{Page, Place, centred};
use super::theme::{Colour, DOT, EDGE, INK, PRINTED, Pen, READING, SOFT, TEXT, THIN, Theme};
use super::{FigureError, Series};

const ROW: f64 = 19.0;
const MARK: f64 = 22.0;
const PAD: f64 = 6.0;
const BETWEEN: f64 = 20.0;

/// The outline of a density, as parts of the width and the height of its mark.
const HILL: [Place; 9] = [
    (0.0, 0.0),
    (0.14, 0.07),
    (0.26, 0.3),
    (0.38, 0.8),
    (0.48, 1.0),
    (0.58, 0.84),
    (0.72, 0.36),
    (0.86, 0.09),
    (1.0, 0.0),
];

/// The sign an entry explains.
#[derive(Clone, Copy, Debug)]
pub enum Mark {
    /// A box of this colour, hatched when not private.
    Swatch(Colour, bool),
    /// A box of three colours, for what all of them have in common.
    Stripes([Colour; 3]),
    /// The left half of a box, as printed.
    HalfBox,
    /// Two boxes side by side.
    Pair,
    /// The exact mean in a box plot.
    Diamond,
    /// An outlier.
    Ring,
    /// A sampled mean, with its error bar or without.
    Sample(bool),
    /// A value read off a printed figure.
    Reading,
    /// A line, with a dot on it or without.
    Line(Pen, Option<Marker>),
    /// A stem; its colour and whether it is private.
    Stem(Colour, bool),
    /// The density of a distribution: its area and its line.
    Density { fill: Colour, pen: Pen },
    /// An interval, with a dot at the mean.
    Interval(Pen),
}

/// A mark and its meaning.
#[derive(Clone, Debug)]
pub struct Entry {
    mark: Mark,
    label: String,
}

impl Entry {
    pub fn new(mark: Mark, label: impl Into<String>) -> Self {
        Self { mark, label: label.into() }
    }

    /// A mechanism that is shown as an area.
    pub fn swatch(series: &Series) -> Self {
        Self::new(Mark::Swatch(series.colour, series.private), series.full_label())
    }

    fn width(&self, font: Font) -> f64 {
        MARK + PAD + font.width(&self.label)
    }
}

/// Entries arranged in rows.
pub struct Legend {
    font: Font,
    rows: Vec<Vec<Entry>>,
}

impl Legend {
    /// The fewest rows that fit on the page, of about equal length.
    pub fn new(theme: Theme, mut entries: Vec<Entry>) -> Self {
        let (font, width) = (theme.tick, theme.page_width() - 4.0 * EDGE);
        for entry in &mut entries {
            entry.label = font.shorten(&entry.label, width - MARK - PAD);
        }
        let fewest = arrange(&entries, font, width).len();
        let mut narrow = width;
        while arrange(&entries, font, narrow - 4.0).len() == fewest && narrow > 8.0 {
            narrow -= 4.0;
        }
        Self { font, rows: arrange(&entries, font, narrow) }
    }

    /// Its height, with some air above it if there is anything in it.
    pub fn height(&self) -> f64 {
        let air = if self.rows.is_empty() { 0.0 } else { 6.0 };
        air + self.rows.len() as f64 * ROW
    }

    /// Draws the rows centred on `centre`, but all of them on the page.
    pub fn draw(&self, page: &Page, centre: f64, top: f64) -> Result<(), FigureError> {
        for (row, middle) in
            self.rows.iter().zip((0..).map(|i| top + 6.0 + ROW * (f64::from(i) + 0.5)))
        {
            let width = row_width(row, self.font);
            let rightmost = (page.theme.page_width() - width - 4.0).max(4.0);
            let mut x = (centre - width / 2.0).clamp(4.0, rightmost);
            for entry in row {
                draw_mark(page, entry.mark, (x, middle))?;
                let at = (x + MARK + PAD, centred(middle, self.font));
                page.text(&entry.label, page.style(self.font, TEXT, HPos::Left), at)?;
                x += entry.width(self.font) + BETWEEN;
            }
        }
        Ok(())
    }
}

fn row_width(row: &[Entry], font: Font) -> f64 {
    let entries: f64 = row.iter().map(|entry| entry.width(font)).sum();
    entries + BETWEEN * row.len().saturating_sub(1) as f64
}

/// Fills row after row up to `width`.
fn arrange(entries: &[Entry], font: Font, width: f64) -> Vec<Vec<Entry>> {
    let mut rows: Vec<Vec<Entry>> = Vec::new();
    for entry in entries {
        match rows.last_mut() {
            Some(row) if row_width(row, font) + BETWEEN + entry.width(font) <= width => {
                row.push(entry.clone());
            }
            _ => rows.push(vec![entry.clone()]),
        }
    }
    rows
}

/// Draws a mark whose box starts at `x` and is centred on `y`.
fn draw_mark(page: &Page, mark: Mark, (x, y): Place) -> Result<(), FigureError> {
    let Page { theme, area, .. } = page;
    let outline = theme.line(INK, 0.8);
    let radius = |steps: f64| theme.units(steps) as u32;
    let at = |dx: f64, dy: f64| page.at((x + dx, y + dy));
    let middle = at(MARK / 2.0, 0.0);
    let bar = |from: f64, to: f64, colour: Colour, private: bool| {
        let hatching = (!private).then(|| theme.hatching(colour));
        area.draw(&hatched_bar([at(from, -5.0), at(to, 5.0)], colour, hatching, outline))
    };
    match mark {
        Mark::Swatch(colour, private) => bar(3.0, MARK, colour, private)?,
        Mark::Stripes([a, b, c]) => {
            let part = (MARK - 3.0) / 3.0;
            for (i, colour) in [(0.0, a), (1.0, b), (2.0, c)] {
                bar(3.0 + i * part, 3.0 + (i + 1.0) * part, colour, true)?;
            }
        }
        Mark::Pair => {
            bar(3.0, 11.0, SOFT, true)?;
            bar(14.0, MARK, SOFT, true)?;
        }
        Mark::HalfBox => bar(6.0, 12.0, SOFT.lighten(PRINTED), true)?,
        Mark::Diamond => area.draw(&diamond(middle, theme.units(4.0), outline))?,
        Mark::Ring => area.draw(&Circle::new(middle, radius(2.2), outline))?,
        Mark::Reading => area.draw(&Circle::new(middle, radius(READING), theme.line(SOFT, 1.1)))?,
        Mark::Sample(barred) => {
            let reach = if barred { 7.0 } else { 0.0 };
            let points = [at(MARK / 2.0, reach), middle, at(MARK / 2.0, -reach)];
            let (radius, style) = (radius(DOT), theme.line(SOFT, 1.1));
            area.draw(&error_bar(points, Marker::Disc, radius, style))?;
        }
        Mark::Stem(colour, private) => {
            let points = [at(MARK / 2.0, 6.0), at(MARK / 2.0, -4.0)];
            let (radius, style) = (radius(0.8 * DOT), theme.line(colour, THIN));
            area.draw(&stem(points, radius, style, !private))?;
        }
        Mark::Line(pen, marker) => {
            page.stroke(&[(x, y), (x + MARK, y)], pen)?;
            if let Some(marker) = marker {
                let (radius, style) = (radius(DOT), pen.colour.filled());
                area.draw(&error_bar([middle; 3], marker, radius, style))?;
            }
        }
        Mark::Density { fill, pen } => {
            let hill = HILL.map(|(across, up)| (x + across * MARK, y + 6.0 - 11.0 * up));
            area.draw(&Polygon::new(hill.map(|at| page.at(at)), fill.filled()))?;
            page.stroke(&hill, pen)?;
        }
        Mark::Interval(pen) => {
            page.interval((x, x + MARK), y, pen)?;
            area.draw(&Circle::new(middle, radius(DOT), pen.colour.filled()))?;
        }
    }
    Ok(())
}
