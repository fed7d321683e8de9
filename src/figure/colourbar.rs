//! The key to a scale of colours, beside the plot.

use super::axis::Axis;
use super::canvas::{Anchor, Canvas, centred};
use super::font::Font;
use super::frame::{EDGE, tick_target};
use super::geometry::Rect;
use super::palette::{SOFT, TEXT};
use super::ramp::{self, Ramp};
use super::text::wrap;

const TICK: Font = Font::regular(10.5);
const LABEL: Font = Font::regular(11.0);
/// Between the plot and the bar.
const GAP: f64 = 16.0;
const BAR: f64 = 12.0;
/// Between the bar and its tick labels, over the ticks.
const TICK_GAP: f64 = 6.0;
const STEPS: u32 = 128;

/// The bar, its ticks and its label.
pub(super) struct ColourBar {
    axis: Axis,
    label: Vec<String>,
}

impl ColourBar {
    pub(super) fn new(ramp: &Ramp, label: &str, height: f64) -> Self {
        let axis = Axis::over(ramp.range, ramp.log, tick_target(height));
        Self { axis, label: wrap(label, LABEL, height, 2) }
    }

    /// From the plot to the edge of the page.
    pub(super) fn width(&self) -> f64 {
        let label = self.label.len() as f64 * LABEL.line_height();
        GAP + BAR + TICK_GAP + self.widest_tick() + 5.0 + label + EDGE
    }

    fn widest_tick(&self) -> f64 {
        let ticks = self.axis.ticks.iter().map(|tick| TICK.width(&tick.label));
        ticks.fold(0.0, f64::max)
    }

    pub(super) fn draw(&self, canvas: &mut Canvas, plot: Rect) {
        let (left, right) = (plot.right() + GAP, plot.right() + GAP + BAR);
        let level = |fraction: f64| plot.bottom() - fraction * plot.height;
        for step in 0..STEPS {
            let [low, middle, high] =
                [0.0, 0.5, 2.0].map(|more| ((f64::from(step) + more) / f64::from(STEPS)).min(1.0));
            // Into the next step, which covers it again: no seams.
            let (bottom, top) = (level(low), level(high));
            let path = vec![(left, top), (right, top), (right, bottom), (left, bottom)];
            canvas.fill(path, ramp::along(middle));
        }
        for tick in &self.axis.ticks {
            let Some(y) = self.axis.fraction(tick.value).map(level) else {
                continue;
            };
            canvas.line((right, y), (right + 3.0, y), SOFT, 0.9);
            let at = (right + TICK_GAP, centred(y, TICK));
            canvas.text(&tick.label, TICK, SOFT, at, Anchor::Start);
        }
        let middle = plot.top + plot.height / 2.0;
        let start = right + TICK_GAP + self.widest_tick() + 5.0;
        for (i, line) in self.label.iter().enumerate() {
            let x = start + 0.8 * LABEL.size + i as f64 * LABEL.line_height();
            canvas.upwards(line, LABEL, TEXT, (x, middle), Anchor::Middle);
        }
    }
}
