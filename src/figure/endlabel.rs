//! Labels at the ends of curves, moved apart where these meet.

use super::Series;
use super::canvas::{Anchor, Canvas, centred};
use super::font::Font;
use super::frame::EDGE;
use super::geometry::{Point, Rect};
use super::palette::Colour;
use super::spread::spread;

const FONT: Font = Font::regular(11.0);
/// Between the plot and the labels, room for leaders.
const GUTTER: f64 = 18.0;
/// A label less far from its curve needs no leader.
const NEAR: f64 = 1.0;

/// The labels of all curves of a figure.
pub(super) struct EndLabels {
    labels: Vec<(String, Colour)>,
}

impl EndLabels {
    /// Least distance of two labels.
    pub(super) const GAP: f64 = 14.0;

    pub(super) fn new<'a>(series: impl Iterator<Item = &'a Series>) -> Self {
        let label = |series: &Series| {
            // Letters are thinner than lines and need more contrast.
            (series.full_label(), series.colour.darken(0.22))
        };
        Self { labels: series.map(label).collect() }
    }

    pub(super) fn len(&self) -> usize {
        self.labels.len()
    }

    /// The margin they need.
    pub(super) fn width(&self) -> f64 {
        let widths = self.labels.iter().map(|(label, _)| FONT.width(label));
        if self.labels.is_empty() {
            return 2.5 * EDGE;
        }
        GUTTER + widths.fold(20.0, f64::max) + EDGE
    }

    /// Draws the labels of the curves that have an end to be seen.
    pub(super) fn draw(&self, canvas: &mut Canvas, plot: Rect, ends: &[Option<Point>]) {
        let shown = self.labels.iter().zip(ends);
        let shown: Vec<_> = shown.filter_map(|(label, end)| Some((label, (*end)?))).collect();
        let wanted: Vec<f64> = shown.iter().map(|(_, end)| end.1).collect();
        let range = (plot.top + 4.0, plot.bottom() - 4.0);
        let placed = spread(&wanted, Self::GAP, range);
        for (((text, colour), end), y) in shown.into_iter().zip(placed) {
            let x = plot.right() + GUTTER;
            draw_leader(canvas, plot, end, (x - 3.0, y), *colour);
            canvas.text(text, FONT, *colour, (x, centred(y, FONT)), Anchor::Start);
        }
    }
}

/// A thin line from the end of the curve to its label, unless they are near.
fn draw_leader(canvas: &mut Canvas, plot: Rect, end: Point, label: Point, colour: Colour) {
    let far = plot.right() - end.0 > 2.0 * GUTTER;
    if far || (label.1 - end.1).abs() > NEAR {
        let start = (end.0 + 5.0, end.1);
        let turn = (plot.right().max(start.0) + 1.0, end.1);
        canvas.stroke(vec![start, turn, label], colour.lighten(0.35), 0.7);
    }
}
