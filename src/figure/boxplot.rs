//! Notched box plots, one box per mechanism in every group.

use super::Series;
use super::axis::{Axis, extent, linear_range};
use super::boxmark::Marker;
use super::canvas::Canvas;
use super::frame::{EDGE, Header, Side, TICK_GAP, draw_floor, draw_floor_label, tick_target};
use super::geometry::Rect;
use super::labels::{Labels, Name};
use super::legend::{Entry, Legend, Mark, reading_entry};
use super::page::Page;

/// The five numbers of a box, its notch and what lies outside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoxStats {
    /// Lower quartile.
    pub q1: f64,
    /// Median.
    pub median: f64,
    /// Upper quartile.
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
    /// Quartiles and ends of whiskers as read off a printed figure; may be
    /// empty.
    pub readings: Vec<f64>,
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
        let ends = [self.q1, self.q3, self.whisker_low, self.whisker_high];
        let notch = [self.notch_low, self.notch_high];
        let outside = self.outliers.iter().copied().chain(self.exact_mean);
        ends.into_iter().chain(notch).chain(outside).chain(self.readings.iter().copied())
    }
}

/// Boxes side by side under one label.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Group {
    /// What the group is.
    pub label: String,
    /// A second line, such as counts.
    pub sublabel: Option<String>,
    /// One box per series of the figure, in the same order; `None` leaves its
    /// place empty.
    pub boxes: Vec<Option<BoxStats>>,
}

/// A box plot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoxFigure {
    /// Bold, above the plot.
    pub title: String,
    /// The settings, in small type under the title.
    pub note: String,
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
}

/// Height of the plot itself.
const HEIGHT: f64 = 250.0;
/// Width per box where there is plenty of room, and where there is little.
const ROOMY: f64 = 30.0;
const TIGHT: f64 = 9.0;
/// Air between two groups, in widths of a box.
const APART: f64 = 1.0;
const USUAL_WIDTH: f64 = 720.0;
const LEAST_WIDTH: f64 = 460.0;
const GREATEST_WIDTH: f64 = 1200.0;

impl BoxFigure {
    pub(super) fn draw(&self, page: Page) -> Canvas {
        let boxes = self.drawable();
        let mut canvas = Canvas::new(page.width(self.width()));
        let side = Side::new(self.axis(&boxes), &self.y_label, HEIGHT);
        let left = side.width();
        let width = canvas.width - left - 2.0 * EDGE;
        let start = page.title_start(left);
        let header = Header::new(&self.title, &self.note, canvas.width - start - 2.0 * EDGE);
        header.draw(&mut canvas, start);
        let plot = Rect { left, top: header.height(), width, height: HEIGHT };
        side.draw_grid(&mut canvas, plot);
        self.draw_boxes(&mut canvas, &side, plot, &boxes);
        side.draw(&mut canvas, plot);
        let top = self.draw_groups(&mut canvas, plot);
        let legend = Legend::new(self.entries(&boxes), canvas.width - 4.0 * EDGE);
        legend.draw(&mut canvas, left + width / 2.0, top + EDGE);
        canvas.height = top + EDGE + legend.height() + EDGE;
        canvas
    }

    /// Per group, the boxes there are and the place of each.
    fn drawable(&self) -> Vec<Vec<(usize, BoxStats)>> {
        let in_group = |group: &Group| {
            let places = group.boxes.iter().take(self.series.len()).enumerate();
            let present = places.filter_map(|(i, stats)| Some((i, stats.as_ref()?)));
            let sound = present.filter(|(_, stats)| stats.is_drawable());
            sound.map(|(i, stats)| (i, stats.within(self.bounds))).collect()
        };
        self.groups.iter().map(in_group).collect()
    }

    /// Wide enough for the boxes, within reason.
    fn width(&self) -> f64 {
        let places = self.groups.len() as f64 * (self.series.len() as f64 + APART);
        let margins = 90.0;
        let least = places * TIGHT + margins;
        let ample = places * ROOMY + margins;
        if least > USUAL_WIDTH {
            least.min(GREATEST_WIDTH)
        } else {
            ample.clamp(LEAST_WIDTH, USUAL_WIDTH)
        }
    }

    fn axis(&self, boxes: &[Vec<(usize, BoxStats)>]) -> Axis {
        let stats = boxes.iter().flatten();
        let (low, high) = extent(stats.flat_map(|(_, stats)| stats.values()));
        let range = match self.bounds {
            Some(bounds) if bounds.0 < bounds.1 && bounds.1.is_finite() && low <= high => {
                within_bounds((low, high), bounds)
            }
            _ => linear_range((low, high)),
        };
        Axis::over(range, false, tick_target(HEIGHT))
    }

    fn draw_boxes(
        &self,
        canvas: &mut Canvas,
        side: &Side,
        plot: Rect,
        boxes: &[Vec<(usize, BoxStats)>],
    ) {
        let slot = plot.width / self.groups.len().max(1) as f64;
        let pitch = (slot / (self.series.len() as f64 + APART)).min(46.0);
        let middle = (self.series.len() as f64 - 1.0) / 2.0;
        for (g, group) in boxes.iter().enumerate() {
            let centre = plot.left + slot * (g as f64 + 0.5);
            for (i, stats) in group {
                let marker = Marker {
                    series: &self.series[*i],
                    side,
                    plot,
                    centre: centre + (*i as f64 - middle) * pitch,
                    half: 0.38 * pitch,
                    bounds: self.bounds,
                };
                marker.draw(canvas, stats);
            }
        }
    }

    /// The horizontal axis with all below it; returns where that ends.
    fn draw_groups(&self, canvas: &mut Canvas, plot: Rect) -> f64 {
        let slot = plot.width / self.groups.len().max(1) as f64;
        let centre = |g: usize| plot.left + slot * (g as f64 + 0.5);
        let centres: Vec<f64> = (0..self.groups.len()).map(centre).collect();
        draw_floor(canvas, plot, &centres);
        let name =
            |group: &Group| Name { label: group.label.clone(), sublabel: group.sublabel.clone() };
        let names: Vec<Name> = self.groups.iter().map(name).collect();
        let labels = Labels::fit(&names, slot);
        let top = plot.bottom() + TICK_GAP;
        labels.draw(canvas, &centres, top);
        let below = top + labels.height();
        let Some(label) = &self.x_label else {
            return below;
        };
        below + 4.0 + draw_floor_label(canvas, label, plot, below + 4.0)
    }

    fn entries(&self, boxes: &[Vec<(usize, BoxStats)>]) -> Vec<Entry> {
        let swatch = |series: &Series| {
            Entry::new(Mark::Swatch(series.colour, series.private), &series.full_label())
        };
        let mut entries: Vec<Entry> = self.series.iter().map(swatch).collect();
        let any = |has: fn(&BoxStats) -> bool| boxes.iter().flatten().any(|(_, stats)| has(stats));
        if any(|stats| stats.exact_mean.is_some()) {
            entries.push(Entry::new(Mark::Diamond, "exact mean"));
        }
        if any(|stats| !stats.outliers.is_empty()) {
            entries.push(Entry::new(Mark::Ring, "outlier"));
        }
        if any(|stats| !stats.readings.is_empty()) {
            entries.push(reading_entry());
        }
        entries
    }
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
    use crate::figure::canvas::Shape;
    use crate::figure::colour;

    fn folded(bounds: Option<(f64, f64)>) -> BoxFigure {
        let stats = BoxStats {
            q1: 0.8,
            median: 0.99,
            q3: 1.0,
            whisker_low: 0.5,
            whisker_high: 1.0,
            notch_low: 0.93,
            notch_high: 1.05,
            ..BoxStats::default()
        };
        let series = Series { label: "EHD".to_owned(), colour: colour("ehd"), private: true };
        BoxFigure {
            series: vec![series],
            groups: vec![Group { boxes: vec![Some(stats)], ..Group::default() }],
            bounds,
            ..BoxFigure::default()
        }
    }

    #[test]
    fn notches_stay_within_the_bounds() {
        let notch = |bounds| folded(bounds).drawable()[0][0].1.notch_high;
        assert_eq!(notch(Some((0.0, 1.0))), 1.0);
        assert_eq!(notch(None), 1.05);
    }

    #[test]
    fn the_axis_shows_all_of_every_box() {
        for bounds in [None, Some((0.0, 1.0)), Some((0.0, 0.7))] {
            let figure = folded(bounds);
            let boxes = figure.drawable();
            let axis = figure.axis(&boxes);
            for value in boxes[0][0].1.values() {
                let at = axis.fraction(value).expect("a place on the axis");
                assert!((0.0..=1.0).contains(&at), "{value} at {at}");
            }
        }
    }

    #[test]
    fn readings_are_on_the_axis_and_in_the_legend() {
        let mut figure = folded(None);
        let Some(stats) = &mut figure.groups[0].boxes[0] else { panic!("a box") };
        stats.readings = vec![3.0, 0.5, f64::NAN];
        let boxes = figure.drawable();
        assert!(figure.axis(&boxes).fraction(3.0).is_some_and(|at| at < 1.0));
        let canvas = figure.draw(Page::Wide);
        let ring = |shape: &&Shape| matches!(shape, Shape::Circle { ring: Some(_), .. });
        assert_eq!(canvas.shapes.iter().filter(ring).count(), 2 + 1);
    }

    #[test]
    fn pages_grow_with_the_boxes_to_a_limit() {
        let mut figure = folded(None);
        assert_eq!(figure.width(), LEAST_WIDTH);
        figure.groups = vec![Group::default(); 45];
        figure.series = vec![figure.series[0].clone(); 12];
        assert_eq!(figure.width(), GREATEST_WIDTH);
    }
}
