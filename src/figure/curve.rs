//! Curves: exact values as lines, sampled means as dots with error bars,
//! values read off printed figures as hollow circles.

use plotters::element::DashedPathElement;

use super::axis::{Axis, Scale, extent, linear_range, log_range};
use super::backend::Recording;
use super::labels::Labels;
use super::legend::{Entry, Legend, Mark};
use super::page::{Frame, Page};
use super::plot_labels::{GAP, Obstacles, PlacedLabel, draw_end_labels, end_margin, side_end};
use super::theme::{Dash, EDGE, Pen, SOFT, SPINE, Theme};
use super::trace::{Field, Trace, mark};
use super::{FigureError, Head, Series, Width, tip};

/// A mean estimated from runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Where on the horizontal axis.
    pub x: f64,
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
    /// Broad and pale, for a line that another one lies upon.
    Broad,
}

/// How the exact values of a curve are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Join {
    /// By straight lines.
    #[default]
    Lines,
    /// By steps: a value holds from its x up to the next, as in a cumulative distribution.
    Steps,
    /// Not at all: each value stands on a stem, as in a probability mass function.
    Stems,
    /// Not at all: dots only.
    Dots,
}

/// Where the names of curves stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NameAt {
    /// Beside the right end of the curve.
    #[default]
    End,
    /// At the greatest value of the curve.
    Peak,
}

/// One mechanism's line.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    pub series: Series,
    /// Exact values, from left to right; may be empty.
    pub exact: Vec<(f64, f64)>,
    /// Sampled values; may be empty.
    pub sampled: Vec<Sample>,
    /// Values read off a printed figure, as x and y; may be empty.
    pub readings: Vec<(f64, f64)>,
    /// How exact values are joined.
    pub style: LineStyle,
    pub name: LineName,
}

/// Where the name of a line stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineName {
    /// On the plot, if there is room; otherwise in the legend.
    OnPlot,
    InLegend,
    /// A title or an axis says it.
    Elsewhere,
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
            name: LineName::OnPlot,
        }
    }
}

/// A figure of curves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CurveFigure {
    /// Under the horizontal axis.
    pub x_label: String,
    /// Beside the vertical axis.
    pub y_label: String,
    /// The horizontal scale; ignored when there are categories.
    pub x_scale: Scale,
    pub y_scale: Scale,
    pub lines: Vec<Curve>,
    /// How exact values are joined.
    pub join: Join,
    /// Where the names of curves stand.
    pub name_at: NameAt,
    /// The part of the horizontal axis to show, if not all.
    pub x_range: Option<(f64, f64)>,
    /// The part of the vertical axis to show, if not all.
    pub y_range: Option<(f64, f64)>,
    /// The names of x = 0, 1, 2, …, when these are not numbers.
    pub categories: Option<Vec<String>>,
    /// Horizontal lines to compare with: their y and a short label.
    pub references: Vec<(f64, String)>,
    /// Places of interest on the horizontal axis: their x and a short label.
    pub landmarks: Vec<(f64, String)>,
    /// It is one of several figures on a page, which have one legend.
    pub is_part: bool,
}

const HEIGHT: f64 = 270.0;
/// Lines that data are compared with.
const REFERENCE: Pen = Pen { colour: SOFT, width: SPINE, dash: Dash::Dashed };

/// Labels on the plot, and entries of the legend for what found no place on it.
type Placed = (Vec<PlacedLabel>, Vec<Entry>);

impl CurveFigure {
    pub(super) fn draw(&self, head: &Head, theme: Theme) -> Result<Recording, FigureError> {
        // Names at the ends of curves that would take too much of the page go to the legend, all of
        // them, so that one need not look in two places.
        let named = || self.lines.iter().filter(|line| line.name == LineName::OnPlot);
        let margin = end_margin(theme, named().map(|line| &line.series));
        let ends = self.name_at == NameAt::End && margin <= theme.page_width() / 3.0;
        let margin = if ends { margin } else { 2.5 * EDGE };
        let height = if ends { HEIGHT.max(named().count() as f64 * GAP) } else { HEIGHT };
        let words = [&head.title, &head.note, &self.x_label, &self.y_label].map(String::as_str);
        let mut frame = Frame::new(theme, words, self.y_axis(height), height, margin);
        let (x, names) = self.x_axis(theme, frame.plot.width);
        frame.make_room_for(theme, &x);
        let plot = frame.plot;
        let slot = names.as_ref().map(|names| plot.width / names.len().max(1) as f64);
        let labels = names.as_ref().map(|names| {
            let names: Vec<(&str, Option<&str>)> = names.iter().map(|n| (&*n.1, None)).collect();
            Labels::fit(theme, &names, slot.unwrap_or(plot.width))
        });
        frame.floor = labels.as_ref().map_or(frame.floor, Labels::height);
        let field = Field { plot, x: x.clone(), y: frame.y.clone(), slot };
        let traces = self.traces(&field);
        let (on_plot, unplaced) = self.place_labels(theme, &field, &traces, ends);
        let entries = if self.is_part { Vec::new() } else { self.key(unplaced) };
        let legend = Legend::new(theme, entries);
        let bottom = frame.bottom(theme);
        let page = Page::new(theme, bottom + legend.height() + EDGE);
        let mut chart = frame.chart(&page, x)?;
        frame.draw(&page, &mut chart, (true, names.is_none()), names.is_none())?;
        if let (Some(names), Some(labels)) = (&names, &labels) {
            let centres: Vec<f64> = names.iter().filter_map(|(x, _)| field.across(*x)).collect();
            labels.draw(&page, &centres, plot.bottom())?;
        }
        let pen = theme.line(REFERENCE.colour, REFERENCE.width);
        let (dash, gap) = theme.dashes(REFERENCE).unwrap_or((1, 1));
        let (x, y) = (&field.x, &field.y);
        let levels = self.references.iter().map(|(at, _)| *at).filter(|at| y.shows(*at));
        let levels = levels.map(|at| [(x.value(0.0), at), (x.value(1.0), at)]);
        let uprights = self.landmarks.iter().map(|(at, _)| *at).filter(|at| x.shows(*at));
        let uprights = uprights.map(|at| [(at, y.value(0.0)), (at, y.value(1.0))]);
        let references = levels.chain(uprights);
        chart.draw_series(references.map(|ends| DashedPathElement::new(ends, dash, gap, pen)))?;
        for trace in &traces {
            page.describe(tip::of_curve(trace.curve));
            trace.draw_exact(theme, &mut chart)?;
        }
        for trace in &traces {
            page.describe(tip::of_curve(trace.curve));
            trace.draw_marks(theme, &mut chart)?;
        }
        page.describe(String::new());
        if ends {
            draw_end_labels(&page, plot, traces.iter())?;
        }
        on_plot.iter().try_for_each(|label| label.draw(&page))?;
        legend.draw(&page, plot.middle().0, bottom)?;
        drop(chart);
        Ok(page.finish())
    }

    /// The legend of all curves.
    pub(super) fn entries(&self) -> Vec<Entry> {
        let entry = |(i, line): (usize, &Curve)| {
            Entry::new(mark(line, self.join, i), line.series.full_label())
        };
        let all = self.lines.iter().enumerate();
        let named = all.filter(|(_, line)| line.name != LineName::Elsewhere);
        self.key(named.map(entry).collect())
    }

    fn traces<'a>(&'a self, field: &'a Field) -> Vec<Trace<'a>> {
        let sampled = self.lines.iter().any(|line| !line.sampled.is_empty());
        let count = self.lines.len();
        let trace = |(i, curve)| Trace::new(curve, field, self.join, sampled, (i, count));
        self.lines.iter().enumerate().map(trace).collect()
    }

    /// Finds places for the names of curves at their peaks and for the labels of references and
    /// landmarks.
    fn place_labels(&self, theme: Theme, field: &Field, traces: &[Trace], ends: bool) -> Placed {
        let plot = field.plot;
        let levels = self.references.iter().filter(|reference| field.y.shows(reference.0));
        let levels = levels.filter_map(|reference| Some((field.down(reference.0)?, reference)));
        let levels: Vec<(f64, &(f64, String))> = levels.collect();
        let uprights = self.landmarks.iter().filter(|landmark| field.x.shows(landmark.0));
        let uprights = uprights.filter_map(|landmark| Some((field.across(landmark.0)?, landmark)));
        let uprights: Vec<(f64, &(f64, String))> = uprights.collect();
        let across = levels.iter().map(|(y, ..)| vec![(plot.left, *y), (plot.right(), *y)]);
        let down = uprights.iter().map(|(x, ..)| vec![(*x, plot.top), (*x, plot.bottom())]);
        let mut free = Obstacles {
            plot,
            lines: traces.iter().flat_map(Trace::lines).chain(across).chain(down).collect(),
            dots: traces.iter().flat_map(Trace::dots).collect(),
            taken: Vec::new(),
        };
        let (mut placed, mut entries) = (Vec::new(), Vec::new());
        let mut sort = |label: Option<PlacedLabel>, otherwise: Entry| match label {
            Some(label) => placed.push(label),
            None => entries.push(otherwise),
        };
        let is_named = |trace: &Trace| {
            trace.curve.name != LineName::Elsewhere && !(ends && side_end(plot, trace).is_some())
        };
        for (i, trace) in traces.iter().enumerate().filter(|(_, trace)| is_named(trace)) {
            let series = &trace.curve.series;
            let mark = match self.join {
                Join::Stems => Mark::Stem(series.colour, series.private),
                Join::Dots => Mark::Swatch(series.colour, series.private),
                Join::Lines | Join::Steps => mark(trace.curve, self.join, i),
            };
            let named = match self.name_at {
                NameAt::Peak => trace.peak(),
                NameAt::End => trace.end().filter(|_| ends),
            };
            let named = named.filter(|_| trace.curve.name == LineName::OnPlot);
            let name = series.full_label();
            let look = (&*name, theme.tick, series.letters());
            sort(named.and_then(|point| free.label_point(look, point)), Entry::new(mark, &*name));
        }
        let entry = |(value, label): &(f64, String)| {
            Entry::new(Mark::Line(REFERENCE, None), legend_label(*value, label))
        };
        for (y, reference) in levels {
            sort(free.label_level(theme, y, &reference.1), entry(reference));
        }
        for (x, landmark) in uprights {
            sort(free.label_upright(theme, x, &landmark.1), entry(landmark));
        }
        (placed, entries)
    }

    /// The horizontal axis, and the names on it if it has any.
    fn x_axis(&self, theme: Theme, width: f64) -> (Axis, Option<Vec<(f64, String)>>) {
        if let Some(names) = &self.categories {
            let last = names.len().max(1) as f64 - 1.0;
            let names = names.iter().enumerate().map(|(i, label)| (i as f64, label.clone()));
            return (Axis::bare((-0.5, last + 0.5)), Some(names.collect()));
        }
        let points = self.lines.iter().flat_map(|line| line.exact.iter().chain(&line.readings));
        let samples = self.lines.iter().flat_map(|line| &line.sampled).map(|sample| sample.x);
        let values: Vec<f64> = points.map(|(x, _)| *x).chain(samples).collect();
        let (low, high) = extent(values.iter().copied());
        if self.x_range.is_none() && low == high {
            return (Axis::bare((low - 0.5, low + 0.5)), Some(vec![(low, low.to_string())]));
        }
        let log = self.x_scale.is_log(&values);
        let is_whole = values.iter().all(|value| value.fract() == 0.0);
        let air = 0.02 * (high - low);
        let fitted = match log {
            true => log_range(extent(values.into_iter().filter(|v| *v > 0.0))),
            false => (low - air, high + air),
        };
        let axis = Axis::level(self.x_range.unwrap_or(fitted), log, width, theme.tick);
        (if is_whole { axis.without_fractions() } else { axis }, None)
    }

    /// The horizontal axis, unless names stand on it.
    pub(super) fn level_axis(&self) -> Option<Axis> {
        let theme = Theme::new(Width::Screen);
        let (axis, names) = self.x_axis(theme, theme.page_width());
        names.is_none().then_some(axis)
    }

    pub(super) fn upright_axis(&self) -> Axis {
        self.y_axis(HEIGHT)
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
        let others: Vec<f64> = self.compared(shown_at).collect();
        // A reading of zero says little about the scale that suits the data.
        let log = self.y_scale.is_log(if values.is_empty() { &others } else { &values });
        // Bars may reach below zero; half the least value is low enough.
        let (least, _) = extent(values.iter().copied().filter(|v| *v > 0.0));
        let shown = |v: &f64| !log || *v >= least / 2.0;
        let bars = sampled.flat_map(|s| [s.mean - s.half_width, s.mean + s.half_width]);
        let data = values.iter().copied().chain(bars).filter(shown);
        let others = others.into_iter().filter(|v| !log || *v > 0.0);
        let range = extent(data.chain(others));
        let fitted = match (log, self.join) {
            (true, _) => log_range(range),
            // Stems stand on zero.
            (false, Join::Stems) => (0.0, linear_range(range).1),
            (false, _) => linear_range(range),
        };
        Axis::upright(self.y_range.unwrap_or(fitted), log, height)
    }

    /// The heights the curves are compared with: readings that are shown, and references.
    fn compared(&self, shown_at: impl Fn(f64) -> bool) -> impl Iterator<Item = f64> {
        let readings = self.lines.iter().flat_map(|line| &line.readings);
        let readings = readings.filter(move |(x, _)| shown_at(*x)).map(|(_, y)| *y);
        readings.chain(self.references.iter().map(|(y, _)| *y))
    }

    /// What has no label on the plot, and what lines and dots are, where there are dots.
    fn key(&self, mut entries: Vec<Entry>) -> Vec<Entry> {
        let samples = || self.lines.iter().flat_map(|line| &line.sampled);
        if samples().next().is_some() {
            if self.lines.iter().any(|line| !line.exact.is_empty()) {
                let line = Pen { colour: SOFT, width: 1.6, dash: Dash::None };
                entries.push(Entry::new(Mark::Line(line, None), "exact"));
            }
            let barred = samples().any(|sample| sample.half_width > 0.0);
            let label = if barred { "sampled mean ± 2 s.e." } else { "sampled mean" };
            entries.push(Entry::new(Mark::Sample(barred), label));
        }
        if self.lines.iter().any(|line| !line.readings.is_empty()) {
            entries.push(Entry::new(Mark::Reading, "read off the printed figure"));
        }
        entries
    }
}

/// The label for the legend, where the line it belongs to is told by its value.
fn legend_label(value: f64, label: &str) -> String {
    let number = tip::short(value);
    if label.contains(&number) { label.to_owned() } else { format!("{label} (at {number})") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Shape;
    use crate::{VERMILION, Width};

    fn figure(label: &str, name: LineName) -> CurveFigure {
        let series = Series { label: label.to_owned(), colour: VERMILION, private: true };
        let exact = vec![(0.0, 1.0), (10.0, 2.0)];
        let lines = vec![Curve { exact, name, ..Curve::new(series) }];
        CurveFigure { lines, y_scale: Scale::Linear, ..CurveFigure::default() }
    }

    /// How many rings there are, and how often a text.
    fn count(figure: &CurveFigure, width: Width, what: &str) -> (usize, usize) {
        let shapes = figure.draw(&Head::default(), Theme::new(width)).expect("a drawing").shapes;
        let ring = |shape: &&Shape| matches!(shape, Shape::Circle { ring: Some(_), .. });
        let says = |shape: &&Shape| matches!(shape, Shape::Text(text) if text.content == what);
        (shapes.iter().filter(ring).count(), shapes.iter().filter(says).count())
    }

    #[test]
    fn readings_widen_the_axes_and_are_in_the_legend() {
        let mut figure = figure("A", LineName::OnPlot);
        let of = |figure: &CurveFigure| count(figure, Width::Text, "read off the printed figure");
        assert_eq!(of(&figure), (0, 0));
        figure.lines[0].readings = vec![(5.0, 40.0), (90.0, 1.0), (f64::NAN, 1.0)];
        assert!(figure.y_axis(HEIGHT).shows(40.0));
        assert_eq!(of(&figure), (2 + 1, 1));
        figure.x_range = Some((0.0, 4.0));
        assert_eq!(of(&figure), (1, 1), "beyond a given range");
    }

    #[test]
    fn names_and_labels_stand_once() {
        use LineName::{InLegend, OnPlot};
        let long = "a bound with a rather long name that takes the page";
        for (label, end, width) in [
            ("A", OnPlot, Width::Text),
            ("A", InLegend, Width::Text),
            (long, OnPlot, Width::Column),
        ] {
            for name_at in [NameAt::End, NameAt::Peak] {
                let figure = CurveFigure { name_at, ..figure(label, end) };
                assert_eq!(count(&figure, width, label).1, 1, "{label} {end:?} {name_at:?}");
            }
        }
        let mut figure = figure("A", LineName::OnPlot);
        figure.references = vec![(7.0, "limit".to_owned()), (1.5, "x".repeat(200))];
        figure.landmarks = vec![(5.0, "truth".to_owned())];
        assert_eq!(count(&figure, Width::Text, "limit").1, 1);
        assert_eq!(count(&figure, Width::Text, "truth").1, 1);
        assert_eq!(legend_label(0.123_456, "limit"), "limit (at 0.123)");
    }
}
