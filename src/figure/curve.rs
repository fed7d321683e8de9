//! Curves: exact values as lines, sampled means as dots with error bars,
//! values read off printed figures as hollow circles.

use super::Series;
use super::axis::{Axis, Scale, extent, linear_range, log_range};
use super::canvas::Canvas;
use super::curvemark::{Field, Trace, pen};
use super::endlabel::EndLabels;
use super::floor::Floor;
use super::frame::{EDGE, Header, Side, draw_floor_label, tick_target};
use super::geometry::Rect;
use super::legend::{Entry, Legend, Mark, reading_entry};
use super::page::Page;
use super::reference::{self, Obstacles, References, legend_label};

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

/// How a line is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineStyle {
    /// In one go; broken all the same if the series is not private.
    #[default]
    Solid,
    /// Broken.
    Dashed,
    /// Thin dots, for bounds and formulas beside what they are about.
    Dotted,
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
    /// Values read off a printed figure, as x and y; may be empty.
    pub readings: Vec<(f64, f64)>,
    /// How exact values are joined.
    pub style: LineStyle,
    /// Whether its name stands at the end of the line, if there is room,
    /// rather than in the legend.
    pub label_end: bool,
}

impl Curve {
    /// A solid line named at its end, without values yet.
    pub fn new(series: Series) -> Self {
        Self {
            series,
            exact: Vec::new(),
            sampled: Vec::new(),
            readings: Vec::new(),
            style: LineStyle::Solid,
            label_end: true,
        }
    }
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
    /// Horizontal lines to compare with: their y and a short label.
    pub references: Vec<(f64, String)>,
}

const WIDTH: f64 = 640.0;
const GREATEST_WIDTH: f64 = 1200.0;
const HEIGHT: f64 = 270.0;
/// Width a category needs, dodging and all.
const CATEGORY: f64 = 30.0;

impl CurveFigure {
    pub(super) fn draw(&self, page: Page) -> Canvas {
        let ends = self.has_end_labels(page);
        let labels = EndLabels::new(self.named_at_end(ends).map(|line| &line.series));
        let height = HEIGHT.max(labels.len() as f64 * EndLabels::GAP);
        let side = Side::new(self.y_axis(height), &self.y_label, height);
        let left = side.width();
        let mut canvas = Canvas::new(page.width(self.width(left + labels.width())));
        let width = canvas.width - left - labels.width();
        let start = page.title_start(left);
        let header = Header::new(&self.title, &self.note, canvas.width - start - EDGE);
        header.draw(&mut canvas, start);
        let plot = Rect { left, top: header.height(), width, height };
        let floor = Floor::new(self, width);
        let field = Field { plot, floor, side };
        let left_over = self.draw_data(&mut canvas, &field, &labels);
        let top = field.floor.draw(&mut canvas, plot) + 4.0;
        let top = top + draw_floor_label(&mut canvas, &self.x_label, plot, top);
        let key = Legend::new(self.key(ends, &left_over), canvas.width - 4.0 * EDGE);
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

    /// Names that would take too much of the page go to the legend, all of
    /// them, so that one need not look in two places.
    fn has_end_labels(&self, page: Page) -> bool {
        let labels = EndLabels::new(self.named_at_end(true).map(|line| &line.series));
        labels.width() <= page.width(WIDTH) / 3.0
    }

    fn named_at_end(&self, ends: bool) -> impl Iterator<Item = &Curve> {
        self.lines.iter().filter(move |line| ends && line.label_end)
    }

    /// Returns the labels of references that found no place.
    fn draw_data<'a>(
        &'a self,
        canvas: &mut Canvas,
        field: &'a Field,
        labels: &EndLabels,
    ) -> Vec<(f64, &'a str)> {
        let references = References::new(&self.references, field);
        field.draw_grid(canvas);
        references.draw_lines(canvas);
        // Before the data, or it would cut points on the axis in half.
        field.side.draw(canvas, field.plot);
        let traces = self.traces(field);
        traces.iter().for_each(|trace| trace.draw_exact(canvas));
        traces.iter().for_each(|trace| trace.draw_sampled(canvas));
        traces.iter().for_each(|trace| trace.draw_readings(canvas));
        if labels.len() > 0 {
            let named = traces.iter().filter(|trace| trace.is_named_at_end());
            let ends: Vec<_> = named.map(Trace::end).collect();
            labels.draw(canvas, field.plot, &ends);
        }
        let mut data = Obstacles { lines: Vec::new(), dots: Vec::new() };
        if !self.references.is_empty() {
            traces.iter().for_each(|trace| trace.obstruct(&mut data));
        }
        references.draw_labels(canvas, &data)
    }

    fn traces<'a>(&'a self, field: &'a Field) -> Vec<Trace<'a>> {
        let sampled = self.lines.iter().any(|line| !line.sampled.is_empty());
        let trace = |(i, curve)| {
            let trace = Trace::new(curve, field, (i, self.lines.len()));
            match (self.steps, sampled) {
                (true, _) => trace.in_steps(),
                // With samples about, dots on the line would pass for some.
                (false, true) => trace,
                (false, false) => trace.with_dots(),
            }
        };
        self.lines.iter().enumerate().map(trace).collect()
    }

    fn y_axis(&self, height: f64) -> Axis {
        // What lies beside the part that is shown does not matter.
        let (left, right) = self.x_range.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        let shown_at = |x: f64| (left..=right).contains(&x);
        let exact = self.lines.iter().flat_map(|line| &line.exact).filter(|(x, _)| shown_at(*x));
        let sampled = self.lines.iter().flat_map(|line| &line.sampled);
        let sampled = sampled.filter(|sample| shown_at(sample.x));
        let means = sampled.clone().map(|sample| sample.mean);
        let values: Vec<f64> = exact.map(|(_, y)| *y).chain(means).collect();
        let others: Vec<f64> = self.compared().collect();
        // A reading of zero says little about the scale that suits the data.
        let log = self.y_scale.is_log(if values.is_empty() { &others } else { &values });
        // Bars may reach below zero; half the least value is low enough.
        let (least, _) = extent(values.iter().copied().filter(|v| *v > 0.0));
        let shown = |v: &f64| !log || *v >= least / 2.0;
        let bars = sampled.flat_map(|s| [s.mean - s.half_width, s.mean + s.half_width]);
        let data = values.iter().copied().chain(bars).filter(shown);
        let others = others.into_iter().filter(|v| !log || *v > 0.0);
        let range = extent(data.chain(others));
        let fitted = if log { log_range(range) } else { linear_range(range) };
        Axis::over(self.y_range.unwrap_or(fitted), log, tick_target(height))
    }

    /// The heights the curves are compared with: readings and references.
    fn compared(&self) -> impl Iterator<Item = f64> {
        let readings = self.lines.iter().flat_map(|line| &line.readings);
        readings.map(|(_, y)| *y).chain(self.references.iter().map(|(y, _)| *y))
    }

    /// Names the lines without a name at their end, says what lines and dots
    /// are, where there are dots, and what has no label on the plot.
    fn key(&self, ends: bool, references: &[(f64, &str)]) -> Vec<Entry> {
        let unnamed = self.lines.iter().filter(|line| !(ends && line.label_end));
        let mut entries: Vec<Entry> = unnamed
            .map(|line| Entry::new(Mark::Trace(pen(line)), &line.series.full_label()))
            .collect();
        let exact = self.lines.iter().any(|line| !line.exact.is_empty());
        let samples = || self.lines.iter().flat_map(|line| &line.sampled);
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
        if self.lines.iter().any(|line| !line.readings.is_empty()) {
            entries.push(reading_entry());
        }
        let reference = |(value, label): &(f64, &str)| {
            Entry::new(Mark::Trace(reference::PEN), &legend_label(*value, label))
        };
        entries.extend(references.iter().map(reference));
        entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::canvas::{Dash, Shape};
    use crate::figure::colour;
    use crate::figure::testing::texts;

    fn curve(label: &str) -> Curve {
        let series = Series { label: label.to_owned(), colour: colour("ehd"), private: true };
        Curve { exact: vec![(0.0, 1.0), (10.0, 2.0)], ..Curve::new(series) }
    }

    fn figure(line: Curve) -> CurveFigure {
        CurveFigure { lines: vec![line], y_scale: Scale::Linear, ..CurveFigure::default() }
    }

    fn rings(canvas: &Canvas) -> usize {
        let ring = |shape: &&Shape| matches!(shape, Shape::Circle { ring: Some(_), .. });
        canvas.shapes.iter().filter(ring).count()
    }

    fn says(canvas: &Canvas, what: &str) -> bool {
        texts(canvas).iter().any(|text| text.content == what)
    }

    #[test]
    fn readings_widen_the_axes_and_are_in_the_legend() {
        let mut figure = figure(curve("A"));
        let bare = figure.draw(Page::Wide);
        assert_eq!(rings(&bare), 0);
        figure.lines[0].readings = vec![(5.0, 40.0), (90.0, 1.0), (f64::NAN, 1.0)];
        let axis = figure.y_axis(HEIGHT);
        assert!(axis.fraction(40.0).is_some_and(|at| at < 1.0));
        let canvas = figure.draw(Page::Wide);
        assert_eq!(rings(&canvas), 2 + 1);
        assert!(says(&canvas, "read off the printed figure"));
    }

    #[test]
    fn readings_beyond_a_given_range_are_left_out() {
        let mut figure = figure(curve("A"));
        figure.lines[0].readings = vec![(5.0, 40.0), (90.0, 1.0), (4.0, 1.5)];
        figure.y_range = Some((0.0, 3.0));
        figure.x_range = Some((0.0, 10.0));
        assert_eq!(rings(&figure.draw(Page::Wide)), 1 + 1);
    }

    #[test]
    fn a_reading_of_zero_leaves_the_scale() {
        let mut figure = figure(curve("A"));
        figure.y_scale = Scale::Auto;
        figure.lines[0].exact = vec![(0.0, 0.01), (1.0, 1.0)];
        figure.lines[0].readings = vec![(0.5, 0.0), (0.5, 30.0)];
        let axis = figure.y_axis(HEIGHT);
        assert_eq!(axis.fraction(0.0), None, "logarithmic");
        assert!(axis.fraction(30.0).is_some_and(|at| at < 1.0));
    }

    #[test]
    fn styles_have_pens_of_their_own() {
        let mut line = curve("A");
        assert_eq!(pen(&line).dash, Dash::None);
        line.series.private = false;
        assert_eq!(pen(&line).dash, Dash::Dashed);
        let solid = pen(&line).width;
        line.style = LineStyle::Dotted;
        assert_eq!(pen(&line).dash, Dash::Dotted);
        assert!(pen(&line).width < solid);
    }

    #[test]
    fn names_stand_once_at_the_end_or_in_the_legend() {
        let long = "a bound with a rather long name that takes the page";
        for (label, end, page) in
            [("A", true, Page::Wide), ("A", false, Page::Wide), (long, true, Page::Narrow)]
        {
            let mut line = curve(label);
            line.label_end = end;
            let canvas = figure(line).draw(page);
            let count = texts(&canvas).iter().filter(|text| text.content == label).count();
            assert_eq!(count, 1, "{label} {end}");
            let legend = figure(curve(label)).has_end_labels(page) && end;
            assert_eq!(legend, label == "A" && end);
        }
    }

    #[test]
    fn references_are_on_the_axis_and_labelled() {
        let mut figure = figure(curve("A"));
        figure.references = vec![(7.0, "limit".to_owned()), (1.5, "x".repeat(200))];
        assert!(figure.y_axis(HEIGHT).fraction(7.0).is_some_and(|at| at < 1.0));
        let canvas = figure.draw(Page::Wide);
        assert!(says(&canvas, "limit"));
        let broken =
            |shape: &&Shape| matches!(shape, Shape::Stroke { pen, .. } if pen.dash == Dash::Mixed);
        // Two lines and, for the label without room, an entry of the legend.
        assert_eq!(canvas.shapes.iter().filter(broken).count(), 3);
        figure.y_range = Some((0.0, 1.0));
        assert!(!says(&figure.draw(Page::Wide), "limit"));
    }
}
