//! What every figure has around its data: title, note, axes.

use super::axis::{Axis, Tick};
use super::canvas::{Anchor, Canvas, centred};
use super::font::Font;
use super::geometry::Rect;
use super::palette::{FAINT, GRID, SOFT, TEXT};
use super::text::wrap;

const TITLE: Font = Font::bold(13.0);
const NOTE: Font = Font::regular(9.5);
const LABEL: Font = Font::regular(11.5);
const TICK: Font = Font::regular(11.0);
/// Between the edge of the page and what is on it.
pub(super) const EDGE: f64 = 10.0;
/// Between an axis and its labels, over the tick.
pub(super) const TICK_GAP: f64 = 8.0;
const TICK_LENGTH: f64 = 4.5;
/// There is about one labelled tick for this many points of height.
const TICK_EVERY: f64 = 36.0;

/// How many ticks suit an axis of this height.
pub(super) fn tick_target(height: f64) -> f64 {
    (height / TICK_EVERY).max(2.0)
}

/// Title and note, broken into lines.
pub(super) struct Header {
    title: Vec<String>,
    note: Vec<String>,
}

impl Header {
    pub(super) fn new(title: &str, note: &str, width: f64) -> Self {
        Self { title: wrap(title, TITLE, width, 6), note: wrap(note, NOTE, width, 10) }
    }

    /// From the edge of the page down to the plot.
    pub(super) fn height(&self) -> f64 {
        let title = self.title.len() as f64 * TITLE.line_height();
        let note = self.note.len() as f64 * NOTE.line_height();
        EDGE + title + note + 12.0
    }

    pub(super) fn draw(&self, canvas: &mut Canvas, left: f64) {
        let mut top = EDGE;
        let lines = [(&self.title, TITLE, TEXT), (&self.note, NOTE, FAINT)];
        for (lines, font, colour) in lines {
            for line in lines {
                let at = (left, top + 0.85 * font.size);
                canvas.text(line, font, colour, at, Anchor::Start);
                top += font.line_height();
            }
        }
    }
}

/// The vertical axis with its label, and the room both take.
pub(super) struct Side {
    pub(super) axis: Axis,
    label: Vec<String>,
}

impl Side {
    pub(super) fn new(axis: Axis, label: &str, height: f64) -> Self {
        Self { axis, label: wrap(label, LABEL, height, 2) }
    }

    /// From the edge of the page to the plot.
    pub(super) fn width(&self) -> f64 {
        let ticks = self.axis.ticks.iter().map(|tick| TICK.width(&tick.label));
        let label = self.label.len() as f64 * LABEL.line_height();
        EDGE + label + 5.0 + ticks.fold(0.0, f64::max) + TICK_GAP
    }

    /// Where a value is on the page.
    pub(super) fn y(&self, plot: Rect, value: f64) -> Option<f64> {
        let fraction = self.axis.fraction(value)?;
        Some(plot.bottom() - fraction * plot.height)
    }

    /// Grid lines, to be drawn before the data.
    pub(super) fn draw_grid(&self, canvas: &mut Canvas, plot: Rect) {
        for tick in &self.axis.ticks {
            if let Some(y) = self.y(plot, tick.value) {
                canvas.line((plot.left, y), (plot.right(), y), GRID, 0.8);
            }
        }
    }

    /// Spine, ticks and labels.
    pub(super) fn draw(&self, canvas: &mut Canvas, plot: Rect) {
        let left = plot.left;
        for y in self.axis.minor.iter().filter_map(|v| self.y(plot, *v)) {
            canvas.line((left - 2.5, y), (left, y), SOFT, 0.6);
        }
        for tick in &self.axis.ticks {
            let Some(y) = self.y(plot, tick.value) else {
                continue;
            };
            canvas.line((left - TICK_LENGTH, y), (left, y), SOFT, 0.9);
            let at = (left - TICK_GAP, centred(y, TICK));
            canvas.text(&tick.label, TICK, SOFT, at, Anchor::End);
        }
        canvas.line((left, plot.top), (left, plot.bottom()), SOFT, 0.9);
        self.draw_label(canvas, plot);
    }

    fn draw_label(&self, canvas: &mut Canvas, plot: Rect) {
        let middle = plot.top + plot.height / 2.0;
        for (i, line) in self.label.iter().enumerate() {
            let x = EDGE + 0.8 * LABEL.size + i as f64 * LABEL.line_height();
            canvas.upwards(line, LABEL, TEXT, (x, middle), Anchor::Middle);
        }
    }
}

/// The horizontal spine with ticks at the given places.
pub(super) fn draw_floor(canvas: &mut Canvas, plot: Rect, ticks: &[f64]) {
    let bottom = plot.bottom();
    for x in ticks {
        canvas.line((*x, bottom), (*x, bottom + TICK_LENGTH), SOFT, 0.9);
    }
    // From the middle of the vertical spine, so that the corner closes.
    canvas.line((plot.left - 0.45, bottom), (plot.right(), bottom), SOFT, 0.9);
}

/// The label under the horizontal axis; returns its height.
pub(super) fn draw_floor_label(canvas: &mut Canvas, label: &str, plot: Rect, top: f64) -> f64 {
    let lines = wrap(label, LABEL, plot.width, 2);
    let middle = plot.left + plot.width / 2.0;
    for (i, line) in lines.iter().enumerate() {
        let y = top + 0.85 * LABEL.size + i as f64 * LABEL.line_height();
        canvas.text(line, LABEL, TEXT, (middle, y), Anchor::Middle);
    }
    lines.len() as f64 * LABEL.line_height()
}

/// The horizontal axis over `range` with as many ticks as have room.
pub(super) fn fitting_axis(range: (f64, f64), log: bool, width: f64) -> Axis {
    let targets = [10.0, 8.0, 6.0, 5.0, 4.0, 3.0];
    let mut tried = targets.map(|target| Axis::over(range, log, target)).into_iter();
    let fits = |axis: &Axis| roomy(axis, width).iter().all(|keep| *keep);
    tried.find(fits).unwrap_or_else(|| {
        let mut axis = Axis::over(range, log, 2.0);
        let mut keep = roomy(&axis, width).into_iter();
        axis.ticks.retain(|_| keep.next().unwrap_or(false));
        axis
    })
}

/// Which tick labels have room beside those kept before them.
fn roomy(axis: &Axis, width: f64) -> Vec<bool> {
    let mut end = f64::NEG_INFINITY;
    let mut keep = |tick: &Tick| {
        let middle = axis.fraction(tick.value).unwrap_or(0.0) * width;
        let half = TICK.width(&tick.label) / 2.0 + 5.0;
        let free = middle - half >= end;
        end = if free { middle + half } else { end };
        free
    };
    axis.ticks.iter().map(&mut keep).collect()
}

/// The labels under a horizontal axis; returns their height.
pub(super) fn draw_floor_ticks(canvas: &mut Canvas, axis: &Axis, plot: Rect) -> f64 {
    let top = plot.bottom() + TICK_GAP;
    for tick in &axis.ticks {
        if let Some(fraction) = axis.fraction(tick.value) {
            // A long number at the end of the axis keeps to the page.
            let rightmost = canvas.width - TICK.width(&tick.label) / 2.0 - 2.0;
            let middle = (plot.left + fraction * plot.width).min(rightmost);
            let at = (middle, top + 0.8 * TICK.size);
            canvas.text(&tick.label, TICK, SOFT, at, Anchor::Middle);
        }
    }
    TICK.line_height()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tick_labels_below_have_room() {
        for width in [60.0, 150.0, 300.0, 900.0] {
            for range in [(0.0, 9e-9), (1e5, 9.7e5), (-1e8, 1e8), (1.0, 90.0), (1e-9, 1e6)] {
                for log in [false, range.0 > 0.0] {
                    let axis = fitting_axis(range, log, width);
                    assert!(!axis.ticks.is_empty());
                    assert!(roomy(&axis, width).iter().all(|free| *free));
                }
            }
        }
    }

    #[test]
    fn headers_grow_with_their_lines() {
        let short = Header::new("title", "note", 300.0);
        let long = Header::new(&"title ".repeat(30), &"note ".repeat(90), 300.0);
        assert!(Header::new("", "", 300.0).height() < short.height());
        assert!(short.height() < long.height());
    }
}
