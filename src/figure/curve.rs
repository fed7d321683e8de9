//! Curves: exact values as lines, sampled means as dots with error bars.

use super::Series;
use super::axis::{Axis, Scale, extent, linear_range, log_range};
use super::canvas::Canvas;
use super::curvemark::{Field, Trace};
use super::endlabel::EndLabels;
use super::floor::Floor;
use super::frame::{EDGE, Header, Side, draw_floor_label, tick_target};
use super::geometry::Rect;
use super::legend::{Entry, Legend, Mark};

/// A mean estimated from runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Where on the horizontal axis.
    pub x: f64,
    /// The estimate.
    pub mean: f64,
    /// Half the length of its error bar, two standard errors.
    pub half_width: f64,
}

/// One mechanism's line.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The mechanism.
    pub series: Series,
    /// Exact values, from left to right; may be empty.
    pub exact: Vec<(f64, f64)>,
    /// Sampled values; may be empty.
    pub sampled: Vec<Sample>,
}

/// A figure of curves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CurveFigure {
    /// Bold, above the plot.
    pub title: String,
    /// The settings, in small type under the title.
    pub note: String,
    /// Under the horizontal axis.
    pub x_label: String,
    /// Beside the vertical axis.
    pub y_label: String,
    /// The horizontal scale; ignored when there are categories.
    pub x_scale: Scale,
    /// The vertical scale.
    pub y_scale: Scale,
    /// The lines.
    pub lines: Vec<Curve>,
    /// Whether exact values hold from their x up to the next, as those of a
    /// cumulative distribution do.
    pub steps: bool,
    /// The part of the horizontal axis to show, if not all.
    pub x_range: Option<(f64, f64)>,
    /// The part of the vertical axis to show, if not all.
    pub y_range: Option<(f64, f64)>,
    /// The names of x = 0, 1, 2, …, when these are not numbers.
    pub categories: Option<Vec<String>>,
}

const WIDTH: f64 = 640.0;
const GREATEST_WIDTH: f64 = 1200.0;
const HEIGHT: f64 = 270.0;
/// Width a category needs, dodging and all.
const CATEGORY: f64 = 30.0;

impl CurveFigure {
    pub(super) fn draw(&self) -> Canvas {
        let height = HEIGHT.max(self.lines.len() as f64 * EndLabels::GAP);
        let side = Side::new(self.y_axis(height), &self.y_label, height);
        let labels = EndLabels::new(self.lines.iter().map(|line| &line.series));
        let left = side.width();
        let mut canvas = Canvas::new(self.width(left + labels.width()));
        let width = canvas.width - left - labels.width();
        let header = Header::new(&self.title, &self.note, canvas.width - left - EDGE);
        header.draw(&mut canvas, left);
        let plot = Rect { left, top: header.height(), width, height };
        let floor = Floor::new(self, width);
        let field = Field { plot, floor, side };
        self.draw_data(&mut canvas, &field, &labels);
        let top = field.floor.draw(&mut canvas, plot) + 4.0;
        let top = top + draw_floor_label(&mut canvas, &self.x_label, plot, top);
        let key = Legend::new(self.key(), canvas.width - 4.0 * EDGE);
        let air = if key.height() > 0.0 { 6.0 } else { 0.0 };
        key.draw(&mut canvas, left + width / 2.0, top + air);
        canvas.height = top + air + key.height() + EDGE;
        canvas
    }

    /// The usual width, or more where categories need it.
    fn width(&self, margins: f64) -> f64 {
        let places = self.categories.as_ref().map_or(0, Vec::len) as f64;
        let plot = (places * CATEGORY).max(320.0);
        (margins + plot).clamp(WIDTH, GREATEST_WIDTH)
    }

    fn draw_data(&self, canvas: &mut Canvas, field: &Field, labels: &EndLabels) {
        field.draw_grid(canvas);
        // Before the data, or it would cut points on the axis in half.
        field.side.draw(canvas, field.plot);
        let sampled = self.lines.iter().any(|line| !line.sampled.is_empty());
        let traces: Vec<Trace<'_>> = (0..self.lines.len())
            .map(|i| Trace {
                curve: &self.lines[i],
                field,
                steps: self.steps,
                // With samples about, dots on the line would pass for some.
                dotted: !sampled && !self.steps,
                dodge: field.dodge(i, self.lines.len()),
            })
            .collect();
        for trace in &traces {
            trace.draw_exact(canvas);
        }
        for trace in &traces {
            trace.draw_sampled(canvas);
        }
        let ends: Vec<_> = traces.iter().map(Trace::end).collect();
        labels.draw(canvas, field.plot, &ends);
    }

    fn y_axis(&self, height: f64) -> Axis {
        let exact = self.lines.iter().flat_map(|line| &line.exact);
        let sampled = self.lines.iter().flat_map(|line| &line.sampled);
        let means = sampled.clone().map(|sample| sample.mean);
        let values: Vec<f64> = exact.map(|(_, y)| *y).chain(means).collect();
        let log = self.y_scale.is_log(&values);
        // Bars may reach below zero; half the least value is low enough.
        let (least, _) = extent(values.iter().copied().filter(|v| *v > 0.0));
        let shown = |v: &f64| !log || *v >= least / 2.0;
        let bars = sampled.flat_map(|s| [s.mean - s.half_width, s.mean + s.half_width]);
        let range = extent(values.iter().copied().chain(bars).filter(shown));
        let fitted = if log { log_range(range) } else { linear_range(range) };
        Axis::over(self.y_range.unwrap_or(fitted), log, tick_target(height))
    }

    /// Says what lines and dots are, where there are dots.
    fn key(&self) -> Vec<Entry> {
        let exact = self.lines.iter().any(|line| !line.exact.is_empty());
        let samples = || self.lines.iter().flat_map(|line| &line.sampled);
        let mut entries = Vec::new();
        if samples().next().is_some() {
            if exact {
                entries.push(Entry::new(Mark::Line, "exact"));
            }
            let barred = samples().any(|sample| sample.half_width > 0.0);
            entries.push(if barred {
                Entry::new(Mark::DotBar, "sampled mean ± 2 s.e.")
            } else {
                Entry::new(Mark::Dot, "sampled mean")
            });
        }
        entries
    }
}
