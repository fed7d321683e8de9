//! Labels of what is on a plot: at the ends of curves, moved apart where these meet, or on the plot
//! where they cover nothing. plotters has neither; the layout is ours, the drawing goes through its
//! drawing area.

use plotters::style::text_anchor::HPos;

use super::font::Font;
use super::page::{Page, Place, Rect, centred};
use super::spread::spread;
use super::theme::{Colour, EDGE, SOFT, Theme};
use super::trace::Trace;
use super::{FigureError, LineName, Series};

/// Between the plot and the labels at its side, room for leaders.
const GUTTER: f64 = 18.0;
/// Least distance of two labels at the side.
pub const GAP: f64 = 14.0;
/// Between a label on the plot and what it belongs to.
const AIR: f64 = 4.0;

/// The margin that labels at the ends of these curves need.
pub fn end_margin<'a>(theme: Theme, series: impl Iterator<Item = &'a Series>) -> f64 {
    let widths = series.map(|one| theme.tick.width(&one.full_label()));
    widths.reduce(f64::max).map_or(2.5 * EDGE, |widest| GUTTER + widest.max(20.0) + EDGE)
}

/// The right end of a curve, if its name can stand beside it at the side of the plot.
pub fn side_end(plot: Rect, trace: &Trace) -> Option<Place> {
    trace
        .end()
        .filter(|end| trace.curve.name == LineName::OnPlot && plot.right() - end.0 <= 2.0 * GUTTER)
}

/// Draws the names of curves beside their right ends.
pub fn draw_end_labels<'a>(
    page: &Page,
    plot: Rect,
    traces: impl Iterator<Item = &'a Trace<'a>>,
) -> Result<(), FigureError> {
    let shown: Vec<(&Series, Place)> =
        traces.filter_map(|trace| Some((&trace.curve.series, side_end(plot, trace)?))).collect();
    let wanted: Vec<f64> = shown.iter().map(|(_, end)| end.1).collect();
    let placed = spread(&wanted, GAP, (plot.top + 4.0, plot.bottom() - 4.0));
    let (font, x) = (page.theme.tick, plot.right() + GUTTER);
    for ((series, end), y) in shown.into_iter().zip(placed) {
        let colour = series.letters();
        if (y - end.1).abs() > 1.0 {
            let start = (end.0 + 5.0, end.1);
            let turn = (plot.right().max(start.0) + 1.0, end.1);
            page.line(&[start, turn, (x - 3.0, y)], colour.lighten(0.35), 0.7)?;
        }
        let style = page.style(font, colour, HPos::Left);
        page.text(&series.full_label(), style, (x, centred(y, font)))?;
    }
    Ok(())
}

/// A label that has found its place on the plot.
pub struct PlacedLabel {
    text: String,
    font: Font,
    colour: Colour,
    pub place: Rect,
    /// What it belongs to, if that is not beside it.
    leader: Option<Place>,
}

impl PlacedLabel {
    pub fn draw(&self, page: &Page) -> Result<(), FigureError> {
        let place = self.place;
        if let Some(to) = self.leader {
            let beside = to.0.clamp(place.left, place.right());
            let y = match beside == to.0 {
                true => to.1.clamp(place.top, place.bottom()),
                false => place.middle().1,
            };
            page.line(&[(beside, y), to], self.colour.lighten(0.35), 0.7)?;
        }
        let at = (place.left, centred(place.middle().1, self.font));
        page.text(&self.text, page.style(self.font, self.colour, HPos::Left), at)
    }
}

/// What labels on the plot keep clear of.
pub struct Obstacles {
    pub plot: Rect,
    pub lines: Vec<Vec<Place>>,
    pub dots: Vec<Place>,
    pub taken: Vec<Rect>,
}

impl Obstacles {
    fn is_free(&self, place: Rect) -> bool {
        let around = place.grown(AIR / 2.0);
        let crosses = |pair: &[Place]| around.clip(pair[0], pair[1]).is_some();
        self.plot.contains((around.left, around.top))
            && self.plot.contains((around.right(), around.bottom()))
            && !self.taken.iter().any(|other| other.meets(around))
            && !self.lines.iter().any(|line| line.windows(2).any(crosses))
            && !self.dots.iter().any(|dot| place.grown(AIR).contains(*dot))
    }

    /// The first place that is free, its upper left corner among these.
    fn take(
        &mut self,
        (text, font, colour): (&str, Font, Colour),
        corners: impl Iterator<Item = Place>,
    ) -> Option<PlacedLabel> {
        let (width, height) = (font.width(text), font.size);
        let mut places = corners.map(|(left, top)| Rect { left, top, width, height });
        let place = places.find(|place| self.is_free(*place))?;
        self.taken.push(place);
        Some(PlacedLabel { text: text.to_owned(), font, colour, place, leader: None })
    }

    /// A label above a point, beside it, or further away with a leader.
    pub fn label_point(
        &mut self,
        (text, font, colour): (&str, Font, Colour),
        (x, y): Place,
    ) -> Option<PlacedLabel> {
        let (width, height) = (font.width(text), font.size);
        let around = (0..13).flat_map(|ring| {
            let reach = 5.0 + 6.0 * f64::from(ring);
            [0.0, -0.5, 0.5, -1.0, 1.0].into_iter().flat_map(move |turn| {
                let top = y - height / 2.0 + turn * reach.min(60.0);
                [(x + reach, top), (x - reach - width, top)]
            })
        });
        let above = (x - width / 2.0, y - height - 5.0);
        let label = self.take((text, font, colour), std::iter::once(above).chain(around))?;
        let apart = !label.place.grown(8.0).contains((x, y));
        Some(PlacedLabel { leader: apart.then_some((x, y)), ..label })
    }

    /// A label above or below the level line at `y`, from the sides inwards.
    pub fn label_level(&mut self, theme: Theme, y: f64, text: &str) -> Option<PlacedLabel> {
        let (font, plot) = (theme.small, self.plot);
        let room = (plot.width - 2.0 * AIR - font.width(text)).max(0.0);
        let along = (0..=20).map(|step| f64::from(step) / 40.0).flat_map(|step| [1.0 - step, step]);
        let lefts = along.map(|along| plot.left + AIR + along * room);
        let tops = [y - font.size - 0.7 * AIR, y + 0.7 * AIR];
        self.take((text, font, SOFT), lefts.flat_map(|left| tops.map(|top| (left, top))))
    }

    /// A label beside the upright line at `x`, from the top down.
    pub fn label_upright(&mut self, theme: Theme, x: f64, text: &str) -> Option<PlacedLabel> {
        let (font, plot) = (theme.small, self.plot);
        let tops = (0..40).map(|step| plot.top + 2.0 + f64::from(step) * 6.0);
        let lefts = [x + AIR, x - AIR - font.width(text)];
        self.take((text, font, SOFT), tops.flat_map(|top| lefts.map(|left| (left, top))))
    }
}
