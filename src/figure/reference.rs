//! Lines across the plot that data are compared with.

use super::canvas::{Anchor, Canvas, Dash, Pen};
use super::curvemark::Field;
use super::font::Font;
use super::geometry::{Point, Rect};
use super::palette::SOFT;

const FONT: Font = Font::regular(10.0);
/// Between a label and its line, and the sides of the plot.
const AIR: f64 = 4.0;

/// What such a line is drawn with.
pub(super) const PEN: Pen = Pen { colour: SOFT, width: 0.9, dash: Dash::Mixed };

/// What labels should keep clear of.
pub(super) struct Obstacles {
    pub(super) lines: Vec<Vec<Point>>,
    pub(super) dots: Vec<Point>,
}

impl Obstacles {
    /// Whether a label here would cover any.
    fn is_under(&self, label: Rect) -> bool {
        let mut pairs = self.lines.iter().flat_map(|line| line.windows(2));
        pairs.any(|pair| label.clip(pair[0], pair[1]).is_some())
            || self.dots.iter().any(|dot| label.grown(AIR).contains(*dot))
    }
}

/// Horizontal lines at given values, those that are on the plot.
pub(super) struct References<'a> {
    field: &'a Field,
    /// Height on the page, value and label.
    shown: Vec<(f64, f64, &'a str)>,
}

impl<'a> References<'a> {
    pub(super) fn new(all: &'a [(f64, String)], field: &'a Field) -> Self {
        let place = |(value, label): &'a (f64, String)| {
            let y = field.side.y(field.plot, *value)?;
            let inside = (field.plot.top..=field.plot.bottom()).contains(&y);
            inside.then_some((y, *value, label.as_str()))
        };
        Self { field, shown: all.iter().filter_map(place).collect() }
    }

    pub(super) fn draw_lines(&self, canvas: &mut Canvas) {
        let plot = self.field.plot;
        for (y, ..) in &self.shown {
            canvas.trace(vec![(plot.left, *y), (plot.right(), *y)], PEN);
        }
    }

    /// Writes each label where it covers nothing; returns those for which
    /// there is no such place, with their values.
    pub(super) fn draw_labels(&self, canvas: &mut Canvas, data: &Obstacles) -> Vec<(f64, &'a str)> {
        let mut taken: Vec<Rect> = Vec::new();
        let mut left_over = Vec::new();
        for (i, (y, value, label)) in self.shown.iter().enumerate() {
            let free = |place: &Rect| {
                !taken.iter().any(|other| other.meets(*place))
                    && !self.is_crossed(i, *place)
                    && !data.is_under(place.grown(AIR / 2.0))
            };
            match self.places(*y, label).into_iter().find(free) {
                Some(place) => {
                    let baseline = place.bottom() - 0.2 * FONT.size;
                    canvas.text(label, FONT, SOFT, (place.left, baseline), Anchor::Start);
                    taken.push(place);
                }
                None => left_over.push((*value, *label)),
            }
        }
        left_over
    }

    /// Whether one of the other lines runs through.
    fn is_crossed(&self, own: usize, place: Rect) -> bool {
        let others = self.shown.iter().enumerate().filter(|(i, _)| *i != own);
        let mut levels = others.map(|(_, (y, ..))| *y);
        levels.any(|y| (place.top..=place.bottom()).contains(&y))
    }

    /// Above and below the line, from the sides inwards, the best first.
    fn places(&self, y: f64, label: &str) -> Vec<Rect> {
        const STEPS: u32 = 20;
        let plot = self.field.plot;
        let (width, height) = (FONT.width(label), FONT.size);
        let room = plot.width - 2.0 * AIR - width;
        let tops = [y - height - 0.6 * AIR, y + 0.6 * AIR];
        let at = |along: f64, top: f64| Rect {
            left: plot.left + AIR + along * room,
            top,
            width,
            height,
        };
        let inwards = (0..=STEPS).map(|step| f64::from(step) / f64::from(2 * STEPS));
        let along = inwards.flat_map(|step| [1.0 - step, step]);
        let all = along.flat_map(|along| tops.map(|top| at(along, top)));
        let inside = |place: &Rect| place.top >= plot.top && place.bottom() <= plot.bottom();
        all.filter(|place| room >= 0.0 && inside(place)).collect()
    }
}

/// The label for the legend, where the line it belongs to is told by its
/// value.
pub(super) fn legend_label(value: f64, label: &str) -> String {
    // Three digits, without trailing zeros.
    let short: f64 = format!("{value:.2e}").parse().unwrap_or(value);
    let number = short.to_string();
    if label.contains(&number) { label.to_owned() } else { format!("{label} (at {number})") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_in_the_legend_tell_their_line() {
        assert_eq!(legend_label(1.0, "ε = 1"), "ε = 1");
        assert_eq!(legend_label(0.123_456, "limit"), "limit (at 0.123)");
    }

    #[test]
    fn obstacles_are_lines_and_dots() {
        let label = Rect { left: 10.0, top: 10.0, width: 20.0, height: 10.0 };
        let data = |lines, dots| Obstacles { lines, dots };
        assert!(!data(vec![vec![(0.0, 0.0), (40.0, 5.0)]], vec![]).is_under(label));
        assert!(data(vec![vec![(0.0, 0.0), (40.0, 30.0)]], vec![]).is_under(label));
        assert!(data(vec![], vec![(31.0, 12.0)]).is_under(label), "dots have a size");
        assert!(!data(vec![], vec![(50.0, 12.0)]).is_under(label));
    }
}
