//! What is drawn: a list of shapes in points, independent of the format.
//!
//! All formats replay the same list, and tests can look at it: where the
//! text is, whether it overlaps, whether it leaves the page.

use super::font::Font;
#[cfg(test)]
use super::geometry::Rect;
use super::geometry::{Point, hatch};
use super::palette::{Colour, INK};

/// Which point of a text is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// One line of text on its baseline.
#[derive(Clone, Debug)]
pub(super) struct Text {
    pub(super) content: String,
    pub(super) font: Font,
    pub(super) colour: Colour,
    /// A point of the baseline; which one, the anchor says.
    pub(super) at: Point,
    pub(super) anchor: Anchor,
    /// Reads upwards instead of rightwards.
    pub(super) upwards: bool,
}

impl Text {
    /// How far before its anchor the text starts.
    pub(super) fn lead(&self) -> f64 {
        let width = self.font.width(&self.content);
        match self.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => width / 2.0,
            Anchor::End => width,
        }
    }

    /// The box the ink stays in.
    #[cfg(test)]
    pub(super) fn bounds(&self) -> Rect {
        let (x, y) = self.at;
        let length = self.font.width(&self.content);
        let (ascent, height) = (0.78 * self.font.size, self.font.size);
        let (left, top, width, height) = if self.upwards {
            (x - ascent, y + self.lead() - length, height, length)
        } else {
            (x - self.lead(), y - ascent, length, height)
        };
        Rect { left, top, width, height }
    }
}

/// Whether a line is broken, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dash {
    None,
    Dashed,
    Dotted,
    /// Dashes and dots by turns.
    Mixed,
}

/// What a line is drawn with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pen {
    pub(super) colour: Colour,
    pub(super) width: f64,
    pub(super) dash: Dash,
}

impl Pen {
    /// Lengths drawn and left out by turns, longer for wider lines; empty for
    /// a line that is whole. Each format breaks the line itself: as pieces a
    /// long line would fill megabytes.
    pub(super) fn pattern(self) -> Vec<f64> {
        let lengths: &[f64] = match self.dash {
            Dash::None => &[],
            Dash::Dashed => &[3.4, 1.9],
            Dash::Dotted => &[1.1, 1.7],
            Dash::Mixed => &[8.0, 3.0, 1.5, 3.0],
        };
        lengths.iter().map(|length| length * self.width).collect()
    }
}

/// A thing to draw.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    /// A polyline.
    Stroke {
        path: Vec<Point>,
        pen: Pen,
    },
    /// A filled polygon.
    Fill {
        path: Vec<Point>,
        colour: Colour,
    },
    /// A disc, or a ring of the given line width.
    Circle {
        centre: Point,
        radius: f64,
        colour: Colour,
        ring: Option<f64>,
    },
    Text(Text),
}

/// The page: its size in points and what is on it, bottom first.
#[derive(Clone, Debug, Default)]
pub(super) struct Canvas {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) shapes: Vec<Shape>,
}

impl Canvas {
    /// A page whose height is set once all is laid out.
    pub(super) fn new(width: f64) -> Self {
        Self { width, ..Self::default() }
    }

    pub(super) fn line(&mut self, from: Point, to: Point, colour: Colour, width: f64) {
        self.stroke(vec![from, to], colour, width);
    }

    pub(super) fn stroke(&mut self, path: Vec<Point>, colour: Colour, width: f64) {
        self.trace(path, Pen { colour, width, dash: Dash::None });
    }

    /// A line drawn with any pen.
    pub(super) fn trace(&mut self, path: Vec<Point>, pen: Pen) {
        self.shapes.push(Shape::Stroke { path, pen });
    }

    /// Fills and outlines a polygon.
    pub(super) fn polygon(&mut self, path: &[Point], fill: Colour, outline: f64) {
        self.fill(path.to_vec(), fill);
        self.outline(path, outline);
    }

    /// A polygon of something that is not private.
    pub(super) fn hatched(&mut self, path: &[Point], fill: Colour, outline: f64) {
        self.fill(path.to_vec(), fill);
        let ink = if fill.lightness() < 0.4 { fill.lighten(0.7) } else { INK };
        for (from, to) in hatch(path, 4.2) {
            self.line(from, to, ink, 1.0);
        }
        self.outline(path, outline);
    }

    pub(super) fn fill(&mut self, path: Vec<Point>, colour: Colour) {
        self.shapes.push(Shape::Fill { path, colour });
    }

    fn outline(&mut self, path: &[Point], width: f64) {
        // Past the start again, or the first corner would stay open.
        let closed = path.iter().chain(path.iter().take(2)).copied().collect();
        self.stroke(closed, INK, width);
    }

    pub(super) fn disc(&mut self, centre: Point, radius: f64, colour: Colour) {
        self.shapes.push(Shape::Circle { centre, radius, colour, ring: None });
    }

    pub(super) fn ring(&mut self, centre: Point, radius: f64, colour: Colour, width: f64) {
        self.shapes.push(Shape::Circle { centre, radius, colour, ring: Some(width) });
    }

    /// A line of text on the baseline through `at`.
    pub(super) fn text(
        &mut self,
        content: &str,
        font: Font,
        colour: Colour,
        at: Point,
        anchor: Anchor,
    ) {
        self.push_text(content, font, colour, at, anchor, false);
    }

    /// As `text`, reading upwards.
    pub(super) fn upwards(
        &mut self,
        content: &str,
        font: Font,
        colour: Colour,
        at: Point,
        anchor: Anchor,
    ) {
        self.push_text(content, font, colour, at, anchor, true);
    }

    fn push_text(
        &mut self,
        content: &str,
        font: Font,
        colour: Colour,
        at: Point,
        anchor: Anchor,
        upwards: bool,
    ) {
        if content.is_empty() {
            return;
        }
        self.shapes.push(Shape::Text(Text {
            content: content.replace(char::is_control, " "),
            font,
            colour,
            at,
            anchor,
            upwards,
        }));
    }

    /// The size in whole points.
    pub(super) fn size(&self) -> (u32, u32) {
        let whole = |length: f64| length.ceil().clamp(1.0, 8192.0) as u32;
        (whole(self.width), whole(self.height))
    }
}

/// The baseline that centres capitals on `y`.
pub(super) fn centred(y: f64, font: Font) -> f64 {
    y + 0.36 * font.size
}
