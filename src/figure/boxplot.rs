//! Notched box plots, one box per mechanism in every group.

use plotters::coord::combinators::{BuildNestedCoord, NestedValue};

use super::axis::{Axis, extent, linear_range};
use super::backend::Recording;
use super::element::{BoxLook, Element, Part, diamond, notched_box};
use super::labels::Labels;
use super::legend::{Entry, Legend, Mark};
use super::page::{Frame, Page};
use super::theme::{EDGE, INK, PAPER, PRINTED, SOFT, Theme};
use super::{FigureError, Head, Series, tip};

/// The five numbers of a box, its notch and what lies outside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoxStats {
    pub q1: f64,
    pub median: f64,
    pub q3: f64,
    /// End of the lower whisker.
    pub whisker_low: f64,
    /// End of the upper whisker.
    pub whisker_high: f64,
    /// Lower end of the notch; may lie below the lower quartile.
    pub notch_low: f64,
    /// Upper end of the notch; may lie above the upper quartile.
    pub notch_high: f64,
    /// Values beyond the whiskers, if they are to be shown.
    pub outliers: Vec<f64>,
    /// The exact mean, if known, drawn as a diamond.
    pub exact_mean: Option<f64>,
    /// The same box as far as it was read off a printed figure, drawn as the left half: lower
    /// whisker, lower quartile, median, upper quartile, upper whisker.
    pub printed: Option<[Option<f64>; 5]>,
}

impl BoxStats {
    /// Whether the box can be drawn at all.
    fn is_drawable(&self) -> bool {
        let numbers = [self.q1, self.median, self.q3, self.whisker_low, self.whisker_high];
        numbers.iter().all(|number| number.is_finite())
    }

    /// The box with its notch inside the bounds: no quantile lies beyond.
    fn within(&self, bounds: Option<(f64, f64)>) -> Self {
        let (low, high) = bounds.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        let inside = |end: f64| {
            let end = if end.is_finite() { end } else { self.median };
            end.max(low).min(high)
        };
        Self {
            notch_low: inside(self.notch_low),
            notch_high: inside(self.notch_high),
            ..self.clone()
        }
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        let numbers = [self.q1, self.q3, self.whisker_low, self.whisker_high];
        let notch = [self.notch_low, self.notch_high, self.exact_mean.unwrap_or(self.median)];
        let printed = self.printed.into_iter().flatten().flatten();
        let outside = self.outliers.iter().copied().chain(printed);
        numbers.into_iter().chain(notch).chain(outside)
    }
}

/// Boxes side by side under one label.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    pub label: String,
    /// A second line, such as counts.
    pub sublabel: Option<String>,
    /// One box per series of the figure, in the same order; `None` leaves its
    /// place empty.
    pub boxes: Vec<Option<BoxStats>>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoxFigure {
    /// Under the group labels.
    pub x_label: Option<String>,
    /// Beside the axis, with its unit if it has one.
    pub y_label: String,
    /// The mechanisms, in the order of the boxes.
    pub series: Vec<Series>,
    /// The groups, from left to right.
    pub groups: Vec<Group>,
    /// The least and greatest value there can be; notches are cut off there.
    pub bounds: Option<(f64, f64)>,
    /// The part of the vertical axis to show, if not what the boxes need.
    pub y_range: Option<(f64, f64)>,
    /// How many boxes a group has, if not one of every series: its label names one mechanism, of which
    /// two boxes are as defined and as printed.
    pub in_group: Option<usize>,
    /// It is one of several figures on a page, which have one legend.
    pub is_part: bool,
}

/// Height of the plot itself.
const HEIGHT: f64 = 250.0;
/// The greatest width of a box with the air beside it.
const WIDEST: f64 = 46.0;
/// Air between two groups, in places of boxes.
const APART: f64 = 1.0;
/// Less high boxes are drawn as bars of this height.
const LEAST_HEIGHT: f64 = 3.0;

/// The boxes of every group that can be drawn, each with its place.
pub(super) type Boxes = Vec<Vec<(usize, BoxStats)>>;

impl BoxFigure {
    /// The horizontal axis is a nested coordinate: boxes side by side in groups side by side.
    pub(super) fn draw(&self, head: &Head, theme: Theme) -> Result<Recording, FigureError> {
        let boxes = self.drawable();
        let x_label = self.x_label.as_deref().unwrap_or_default();
        let words = [&*head.title, &*head.note, x_label, &*self.y_label];
        let y = self.axis(&boxes);
        let mut frame = Frame::new(theme, words, y, HEIGHT, 2.0 * EDGE);
        let groups = self.groups.len().max(1);
        let slot = frame.plot.width / groups as f64;
        let places = self.in_group.unwrap_or(self.series.len());
        let pitch = (slot / (places as f64 + APART)).min(WIDEST);
        let names: Vec<(&str, Option<&str>)> =
            self.groups.iter().map(|group| (&*group.label, group.sublabel.as_deref())).collect();
        let labels = Labels::fit(theme, &names, slot);
        frame.floor = labels.height();
        let entries = if self.is_part { Vec::new() } else { self.entries(&boxes) };
        let legend = Legend::new(theme, entries);
        let bottom = frame.bottom(theme);
        let page = Page::new(theme, bottom + legend.height() + EDGE);
        // Within a group, boxes stand at whole numbers around the middle of them all.
        let middle = (places as f64 - 1.0) / 2.0;
        let reach = slot / pitch / 2.0;
        let x = (0..groups - 1).nested_coord(|_| Axis::bare((middle - reach, middle + reach)));
        let mut chart = frame.chart(&page, x)?;
        frame.draw(&page, &mut chart, (true, false), false)?;
        let centre = |group: usize| frame.plot.left + slot * (group as f64 + 0.5);
        let centres: Vec<f64> = (0..self.groups.len()).map(centre).collect();
        labels.draw(&page, &centres, frame.plot.bottom())?;
        let half = 0.38 * pitch;
        let (least, greatest) = self.bounds.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        let bounds = (least.max(frame.y.value(0.0)), greatest.min(frame.y.value(1.0)));
        let placed = || {
            boxes.iter().enumerate().flat_map(|(group, all)| {
                all.iter().map(move |(place, stats)| (group, *place, stats))
            })
        };
        let at = |group: usize, place: usize| {
            let place = place % places.max(1);
            move |value: f64| (NestedValue::Value(group, place as f64), value)
        };
        let radius = theme.units((0.5 * half).clamp(1.5, 3.6));
        let outline = theme.line(INK, (0.12 * half).clamp(0.35, 0.9));
        for (group, place, stats) in placed() {
            let series = self.series[place].full_label();
            page.describe(tip::of_box(&series, &self.groups[group].label, stats));
            chart.draw_series(stats.printed.map(|printed| {
                let (printed, whiskers) = as_printed(printed);
                let look = BoxLook { whiskers, ..self.look(theme, place, half, Part::Left) };
                printed.element(at(group, place), bounds, look)
            }))?;
            // Ours in full, or as the right half beside the printed box.
            let part = if stats.printed.is_some() { Part::Right } else { Part::Whole };
            let look = self.look(theme, place, half, part);
            chart.draw_series([stats.element(at(group, place), bounds, look)])?;
            let mean = stats.exact_mean.filter(|mean| mean.is_finite());
            chart.draw_series(mean.map(|mean| diamond(at(group, place)(mean), radius, outline)))?;
        }
        page.describe(String::new());
        legend.draw(&page, frame.plot.middle().0, bottom)?;
        drop(chart);
        Ok(page.finish())
    }

    /// Per group, the boxes there are and the place of each.
    pub(super) fn drawable(&self) -> Boxes {
        let in_group = |group: &Group| {
            let places = group.boxes.iter().take(self.series.len()).enumerate();
            let present = places.filter_map(|(i, stats)| Some((i, stats.as_ref()?)));
            let sound = present.filter(|(_, stats)| stats.is_drawable());
            sound.map(|(i, stats)| (i, stats.within(self.bounds))).collect()
        };
        self.groups.iter().map(in_group).collect()
    }

    pub(super) fn y_axis(&self) -> Axis {
        self.axis(&self.drawable())
    }

    fn axis(&self, boxes: &Boxes) -> Axis {
        let stats = boxes.iter().flatten();
        let (low, high) = extent(stats.flat_map(|(_, stats)| stats.values()));
        let range = match self.bounds {
            Some(bounds) if bounds.0 < bounds.1 && bounds.1.is_finite() && low <= high => {
                within_bounds((low, high), bounds)
            }
            _ => linear_range((low, high)),
        };
        Axis::upright(self.y_range.unwrap_or(range), false, HEIGHT)
    }

    /// How the boxes of a series look. Lines get thinner with the boxes.
    fn look(&self, theme: Theme, place: usize, half: f64, part: Part) -> BoxLook {
        let series = &self.series[place];
        let printed = part == Part::Left;
        let fill = if printed { series.colour.lighten(PRINTED) } else { series.colour };
        let median = if printed { INK } else { PAPER };
        BoxLook {
            part,
            half: theme.units(half),
            fill,
            hatching: (!series.private && !printed).then(|| theme.hatching(fill)),
            pen: theme.line(INK, (0.1 * half).clamp(0.35, 0.9)),
            median: theme.line(median, (0.22 * half).clamp(0.6, 2.0)),
            outlier: theme.line(series.colour.darken(0.25), 0.8),
            least_height: theme.units(LEAST_HEIGHT),
            whiskers: [true; 2],
        }
    }

    pub(super) fn entries(&self, boxes: &Boxes) -> Vec<Entry> {
        let named = if self.in_group.is_some() { &[][..] } else { &self.series };
        let mut entries: Vec<Entry> = named.iter().map(Entry::swatch).collect();
        if self.in_group == Some(2) {
            entries.push(Entry::new(Mark::Pair, "pairs: as defined, as printed"));
            let hatched = self.series.iter().find(|series| !series.private);
            entries.extend(hatched.map(|_| Entry::new(Mark::Swatch(SOFT, false), "not private")));
        }
        let any = |has: fn(&BoxStats) -> bool| boxes.iter().flatten().any(|(_, stats)| has(stats));
        if any(|stats| stats.exact_mean.is_some()) {
            entries.push(Entry::new(Mark::Diamond, "exact mean"));
        }
        if any(|stats| !stats.outliers.is_empty()) {
            entries.push(Entry::new(Mark::Ring, "outlier"));
        }
        if any(|stats| stats.printed.is_some()) {
            entries.push(Entry::new(Mark::HalfBox, "left half: read off the printed figure"));
        }
        entries
    }
}

impl BoxStats {
    /// The element at the place that `at` gives to values.
    fn element<C>(&self, at: impl Fn(f64) -> C, bounds: (f64, f64), look: BoxLook) -> Element<C> {
        let Self { q1, median, q3, notch_low, notch_high, .. } = *self;
        let numbers = [self.whisker_low, q1, notch_low, median, notch_high, q3, self.whisker_high];
        let outliers = self.outliers.iter().copied().filter(|value| value.is_finite());
        let outliers = outliers.map(&at).collect();
        notched_box(numbers.map(&at), [bounds.0, bounds.1].map(&at), outliers, look)
    }
}

/// A box without a notch, of as much as was read, and which whiskers were read.
fn as_printed([low, q1, median, q3, high]: [Option<f64>; 5]) -> (BoxStats, [bool; 2]) {
    let some = [median, q1, q3, low, high].into_iter().flatten().find(|v| v.is_finite());
    let or = |value: Option<f64>, other: f64| value.filter(|v| v.is_finite()).unwrap_or(other);
    let median = or(median, some.unwrap_or(0.0));
    let (q1, q3) = (or(q1, median), or(q3, median));
    let stats = BoxStats {
        q1,
        median,
        q3,
        whisker_low: or(low, q1),
        whisker_high: or(high, q3),
        notch_low: median,
        notch_high: median,
        ..BoxStats::default()
    };
    (stats, [low.is_some(), high.is_some()])
}

/// The range for values with natural bounds: up to a bound the values come
/// near, and past it only by some air, or to show a value that should not be
/// there.
fn within_bounds((low, high): (f64, f64), (least, greatest): (f64, f64)) -> (f64, f64) {
    let span = greatest - least;
    let near_least = low < least + 0.4 * span;
    let near_greatest = high > greatest - 0.2 * span;
    let low = if near_least { low.min(least) } else { low };
    let high = if near_greatest { high.max(greatest) } else { high };
    if high - low < 1e-9 * span {
        return (least - 0.02 * span, greatest + 0.02 * span);
    }
    let air = 0.02 * (high - low);
    (low - air, high + air)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Shape;
    use crate::{VERMILION, Width};

    #[test]
    fn printed_boxes_are_left_halves_and_on_the_axis() {
        let printed = [None, Some(0.5), None, Some(3.0), None];
        let stats = BoxStats {
            q1: 0.8,
            median: 0.9,
            q3: 1.0,
            whisker_high: 1.0,
            printed: Some(printed),
            ..BoxStats::default()
        };
        let series = Series { label: "EHD".to_owned(), colour: VERMILION, private: true };
        let groups = vec![Group { boxes: vec![Some(stats)], ..Group::default() }];
        let figure = BoxFigure { series: vec![series], groups, ..BoxFigure::default() };
        assert!(figure.axis(&figure.drawable()).shows(3.0));
        let drawing = figure.draw(&Head::default(), Theme::new(Width::Text)).expect("a drawing");
        let mut pieces = drawing.shapes.into_iter().filter_map(|shape| match shape {
            Shape::Polygon { points, colour } => Some((colour.lightness(), points)),
            _ => None,
        });
        let (pale, left) = pieces.next().expect("the printed half");
        let (full, right) = pieces.next_back().expect("our half");
        assert!(pale > full);
        assert_eq!(left.iter().map(|at| at.0).max(), right.iter().map(|at| at.0).min());
    }
}
