//! Heat maps: a number, or the mechanism that is best, for every cell of a grid.

use plotters::element::{Circle, Rectangle};
use plotters::style::text_anchor::HPos;
use plotters::style::{Color, FontTransform};
use plotters_backend::DrawingBackend;

use super::axis::{Axis, Scale, extent};
use super::backend::Recording;
use super::element::Element;
use super::legend::{Entry, Legend, Mark};
use super::page::{Chart, Frame, Page, Rect, centred};
use super::plot_labels::Obstacles;
use super::regions::{Grid, draw_borders, name_places, runs};
use super::theme::{Colour, EDGE, INK, PAPER, SOFT, SPINE, TEXT, TICK, Theme, colour_along};
use super::trace::Field;
use super::{FigureError, Head, Series, Width};

/// What the cells of a heat map say, row by row from the first y; `None`
/// leaves a cell white, as does a row that is too short.
#[derive(Clone, Debug, PartialEq)]
pub enum HeatValues {
    /// Numbers on a scale of colours.
    Numbers {
        /// One row per y, one value per x.
        values: Vec<Vec<Option<f64>>>,
        /// What the numbers are, beside the colour bar.
        label: String,
        /// How numbers become colours.
        scale: Scale,
        /// The numbers at the ends of the colours, if not the least and the
        /// greatest; what lies beyond has the colour of the end.
        range: Option<(f64, f64)>,
    },
    /// One of several mechanisms.
    Categories {
        /// The mechanisms, for the legend.
        series: Vec<Series>,
        /// One row per y, one index of a mechanism per x.
        values: Vec<Vec<Option<usize>>>,
        /// How strong each cell's colour is, from 0 (pale) to 1 (full).
        strength: Option<Vec<Vec<f64>>>,
        /// What some strengths mean, for the legend.
        key: Vec<(f64, String)>,
    },
}

impl Default for HeatValues {
    fn default() -> Self {
        Self::Numbers {
            values: Vec::new(),
            label: String::new(),
            scale: Scale::Linear,
            range: None,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatFigure {
    /// Under the horizontal axis.
    pub x_label: String,
    /// Beside the vertical axis.
    pub y_label: String,
    /// The middles of the columns.
    pub x: Vec<f64>,
    /// The middles of the rows.
    pub y: Vec<f64>,
    /// The horizontal scale; automatic is the one on which the columns are
    /// more alike in width.
    pub x_scale: Scale,
    /// The vertical scale, likewise.
    pub y_scale: Scale,
    pub values: HeatValues,
    /// Places of interest: x, y and a label.
    pub marks: Vec<(f64, f64, String)>,
}

/// Height of the plot by the width of the page.
const ASPECT: f64 = 0.55;
/// Between the plot and the colour bar, and the width of the bar.
const BAR_GAP: f64 = 16.0;
const BAR: f64 = 12.0;
const BAR_STEPS: u32 = 128;
/// The same on a screen, where many drawings are on one page.
const SCREEN_BAR_STEPS: u32 = 48;
/// With more rectangles than these, files would be large.
const MOST_CELLS: usize = 2400;
/// How far a cell reaches under its neighbours.
const UNDER: f64 = 0.6;

/// A cell as it is drawn: its colour, and whether it is hatched.
type Look = (Colour, bool);

impl HeatFigure {
    pub(super) fn draw(&self, head: &Head, theme: Theme) -> Result<Recording, FigureError> {
        let height = ASPECT * theme.page_width();
        let scale = self.colour_scale(height);
        let margin = scale.as_ref().map_or(2.5 * EDGE, |(axis, label)| {
            let lines = theme.label.wrap(label, height, 2).len() as f64;
            let labels = axis.label_width(theme.tick) + 5.0 + lines * theme.label.line_height();
            BAR_GAP + BAR + 2.0 * TICK + labels + EDGE
        });
        let columns = Strips::new(&self.x, self.x_scale);
        let rows = Strips::new(&self.y, self.y_scale);
        let words = [&head.title, &head.note, &self.x_label, &self.y_label].map(String::as_str);
        let y = Axis::upright(rows.range(), rows.log, height);
        let mut frame = Frame::new(theme, words, y, height, margin);
        let x = Axis::level(columns.range(), columns.log, frame.plot.width, theme.tick);
        frame.make_room_for(theme, &x);
        let legends = [self.entries(), self.shades()].map(|entries| Legend::new(theme, entries));
        let mut bottom = frame.bottom(theme);
        let below: f64 = legends.iter().map(Legend::height).sum();
        let page = Page::new(theme, bottom + below + EDGE);
        let mut chart = frame.chart(&page, x.clone())?;
        let field = Field { plot: frame.plot, x, y: frame.y.clone(), slot: None };
        let axis = scale.as_ref().map(|(axis, _)| axis);
        self.draw_cells(theme, &mut chart, (&columns, &rows), axis)?;
        self.draw_regions(&page, &field, (&columns, &rows))?;
        frame.draw(&page, &mut chart, (false, false), true)?;
        self.draw_marks(&page, &field, &mut chart)?;
        if let Some((axis, label)) = &scale {
            draw_bar(&page, frame.plot, axis, label)?;
        }
        for legend in &legends {
            legend.draw(&page, frame.plot.middle().0, bottom)?;
            bottom += legend.height();
        }
        drop(chart);
        Ok(page.finish())
    }

    /// The axis of the colour bar; none for categories.
    pub(super) fn colour_axis(&self) -> Option<Axis> {
        self.colour_scale(ASPECT * Theme::new(Width::Screen).page_width()).map(|(axis, _)| axis)
    }

    /// The axis of the colour bar with what it shows; none for categories.
    fn colour_scale(&self, height: f64) -> Option<(Axis, &str)> {
        let HeatValues::Numbers { values, label, scale, range } = &self.values else {
            return None;
        };
        let numbers: Vec<f64> = values.iter().flatten().copied().flatten().collect();
        let log = scale.is_log(&numbers);
        let (low, high) = extent(numbers.into_iter().filter(|v| !log || *v > 0.0));
        // From zero if that is near.
        let near_zero = !log && low > 0.0 && low < 0.1 * high;
        let range = range.unwrap_or((if near_zero { 0.0 } else { low }, high));
        Some((Axis::upright(range, log, height), label))
    }

    /// Neighbours in a row that look the same are one rectangle. Rows are drawn from the top left:
    /// the right and lower neighbours cover what reaches under them.
    fn draw_cells(
        &self,
        theme: Theme,
        chart: &mut Chart<Axis>,
        (columns, rows): (&Strips, &Strips),
        scale: Option<&Axis>,
    ) -> Result<(), FigureError> {
        let shades = [255.0, 127.0, 63.0, 31.0, 15.0];
        let mut tried = shades.iter().map(|shades| self.looks(columns, rows, scale, *shades));
        let few = |grid: &Vec<Vec<Option<Look>>>| {
            grid.iter().map(|row| runs(row).len()).sum::<usize>() <= MOST_CELLS
        };
        let grid = tried.find(few).unwrap_or_else(|| self.looks(columns, rows, scale, 15.0));
        let is_filled = |row: usize, column: usize| {
            grid.get(row).and_then(|cells| *cells.get(column)?).is_some()
        };
        let tops: Vec<f64> = rows.edges.iter().rev().copied().collect();
        // On a screen the edges of cells are crisp.
        let overlap = if theme.width == Width::Screen { 0.0 } else { UNDER };
        let reach = |under: bool| if under { theme.units(overlap) } else { 0 };
        let (mut cells, mut hatched_cells) = (Vec::new(), Vec::new());
        for (row, looks) in grid.iter().enumerate() {
            for (from, to, look) in runs(looks) {
                let Some((colour, hatched)) = look else { continue };
                let points = [(columns.edges[from], tops[row]), (columns.edges[to], tops[row + 1])];
                let covered = (from..to).all(|column| is_filled(row + 1, column));
                let under = (reach(is_filled(row, to)), reach(covered));
                // It reaches under its right and its lower neighbour, which are drawn later: viewers that smooth
                // each edge would let the page shine through between them.
                cells.push(Element::new(points, move |[from, to], drawing| {
                    let reach = (to.0 + under.0, to.1 + under.1);
                    drawing.draw_rect(from, reach, &colour.filled(), true)
                }));
                if hatched {
                    let hatching = theme.hatching(colour);
                    hatched_cells.push(Element::new(points, move |[from, to], drawing| {
                        hatching.draw(drawing, &[from, (to.0, from.1), to, (from.0, to.1)])
                    }));
                }
            }
        }
        chart.draw_series(cells)?;
        chart.draw_series(hatched_cells)?;
        Ok(())
    }

    /// What there is to see in every cell, as they lie on the page, rounded to so many shades.
    fn looks(
        &self,
        columns: &Strips,
        rows: &Strips,
        scale: Option<&Axis>,
        shades: f64,
    ) -> Vec<Vec<Option<Look>>> {
        let look = |column: usize, row: usize| match (&self.values, scale) {
            (HeatValues::Numbers { values, .. }, Some(axis)) => {
                let value = (*values.get(row)?.get(column)?)?;
                let at = axis.fraction(value)?.clamp(0.0, 1.0);
                Some((colour_along((at * shades).round() / shades), false))
            }
            _ => self.category(column, row),
        };
        let row = |row: &usize| columns.order.iter().map(|column| look(*column, *row)).collect();
        rows.order.iter().rev().map(row).collect()
    }

    /// Lines between the mechanisms, and their names where no mark is in the way.
    fn draw_regions(
        &self,
        page: &Page,
        field: &Field,
        (columns, rows): (&Strips, &Strips),
    ) -> Result<(), FigureError> {
        let HeatValues::Categories { series, .. } = &self.values else {
            return Ok(());
        };
        let winners =
            |row: &usize| columns.order.iter().map(|column| self.winner(*column, *row)).collect();
        let grid: Grid = rows.order.iter().rev().map(winners).collect();
        // Edges are within the range of their axis.
        let lefts: Vec<f64> = columns.edges.iter().filter_map(|x| field.across(*x)).collect();
        let tops: Vec<f64> = rows.edges.iter().rev().filter_map(|y| field.down(*y)).collect();
        draw_borders(page, &lefts, &tops, &grid)?;
        let font = page.theme.tick;
        let label = |category: usize| series.get(category).map_or("", |one| one.label.as_str());
        let size = |category: usize| (font.width(label(category)), font.size);
        for (category, (column, row), (x, y)) in name_places(&lefts, &tops, &grid, size) {
            if self.marks.is_empty() {
                let place = (columns.order[column], rows.order[rows.order.len() - 1 - row]);
                let behind = self.category(place.0, place.1).map_or(PAPER, |(colour, _)| colour);
                let style = page.style(font, behind.ink_upon(), HPos::Center);
                page.text(label(category), style, (x, centred(y, font)))?;
            }
        }
        Ok(())
    }

    /// The marks and, where there is room, their labels in white boxes, legible on every colour.
    fn draw_marks(
        &self,
        page: &Page,
        field: &Field,
        chart: &mut Chart<Axis>,
    ) -> Result<(), FigureError> {
        let (theme, font) = (page.theme, page.theme.small);
        let shown = || self.marks.iter().filter(|mark| field.shows(&(mark.0, mark.1)));
        for (colour, width) in [(PAPER, 3.4), (INK, 1.3)] {
            let (radius, style) = (theme.units(4.2) as u32, theme.line(colour, width));
            chart.draw_series(shown().map(|mark| Circle::new((mark.0, mark.1), radius, style)))?;
        }
        let place = |mark: &(f64, f64, String)| field.at((mark.0, mark.1));
        let (plot, dots) = (field.plot, shown().filter_map(place).collect());
        let mut free = Obstacles { plot, lines: Vec::new(), dots, taken: Vec::new() };
        for mark in shown() {
            let text = font.shorten(&mark.2, plot.width / 2.0);
            let label = place(mark).and_then(|at| free.label_point((&text, font, TEXT), at));
            if let Some(label) = label.filter(|_| !text.is_empty()) {
                let plate = label.place.grown(2.0);
                let corner = (plate.right(), plate.bottom());
                let corners = [page.at((plate.left, plate.top)), page.at(corner)];
                page.area.draw(&Rectangle::new(corners, PAPER.filled()))?;
                label.draw(page)?;
            }
        }
        Ok(())
    }

    /// The colour of the cell's mechanism and whether it is hatched.
    fn category(&self, column: usize, row: usize) -> Option<(Colour, bool)> {
        let HeatValues::Categories { series, strength, .. } = &self.values else {
            return None;
        };
        let winner = series.get(self.winner(column, row)?)?;
        let strength = strength.as_ref().and_then(|all| all.get(row)?.get(column).copied());
        let strength = strength.filter(|s| !s.is_nan()).unwrap_or(1.0).clamp(0.0, 1.0);
        Some((faded(winner.colour, strength), !winner.private))
    }

    /// The index of the cell's mechanism.
    fn winner(&self, column: usize, row: usize) -> Option<usize> {
        let HeatValues::Categories { values, .. } = &self.values else {
            return None;
        };
        *values.get(row)?.get(column)?
    }

    fn entries(&self) -> Vec<Entry> {
        let HeatValues::Categories { series, .. } = &self.values else {
            return Vec::new();
        };
        series.iter().map(Entry::swatch).collect()
    }

    /// What strengths of colour mean, shown in the colours of the map.
    fn shades(&self) -> Vec<Entry> {
        let HeatValues::Categories { series, key, .. } = &self.values else {
            return Vec::new();
        };
        let colours: Vec<Colour> = series.iter().map(|one| one.colour).collect();
        if colours.is_empty() {
            return Vec::new();
        }
        // Three stripes, of fewer colours by turns.
        let stripes =
            |strength: f64| [0, 1, 2].map(|i| faded(colours[i % colours.len()], strength));
        let entry = |(strength, text): &(f64, String)| {
            Entry::new(Mark::Stripes(stripes(*strength)), text.clone())
        };
        key.iter().map(entry).collect()
    }
}

fn faded(colour: Colour, strength: f64) -> Colour {
    colour.lighten(0.8 * (1.0 - strength))
}

/// The key to a scale of colours, beside the plot.
fn draw_bar(page: &Page, plot: Rect, axis: &Axis, label: &str) -> Result<(), FigureError> {
    let theme = page.theme;
    let (left, right) = (plot.right() + BAR_GAP, plot.right() + BAR_GAP + BAR);
    let level = |fraction: f64| plot.bottom() - fraction * plot.height;
    let steps = if theme.width == Width::Screen { SCREEN_BAR_STEPS } else { BAR_STEPS };
    for step in (0..steps).map(f64::from) {
        // Into the next step, which covers it again: no seams.
        let [low, middle, high] =
            [0.0, 0.5, 2.0].map(|more| ((step + more) / f64::from(steps)).min(1.0));
        let corners = [page.at((left, level(high))), page.at((right, level(low)))];
        page.area.draw(&Rectangle::new(corners, colour_along(middle).filled()))?;
    }
    for (value, label) in &axis.ticks {
        let Some(y) = axis.fraction(*value).map(level) else { continue };
        page.line(&[(right, y), (right + 0.7 * TICK, y)], SOFT, SPINE)?;
        let at = (right + 1.6 * TICK, centred(y, theme.tick));
        page.text(label, page.style(theme.tick, SOFT, HPos::Left), at)?;
    }
    let start = right + 2.0 * TICK + axis.label_width(theme.tick) + 5.0 + 0.8 * theme.label.size;
    let style = page.style(theme.label, TEXT, HPos::Center).transform(FontTransform::Rotate270);
    for (i, line) in (0..).zip(theme.label.wrap(label, plot.height, 2)) {
        let x = start + f64::from(i) * theme.label.line_height();
        page.text(&line, style.clone(), (x, plot.middle().1))?;
    }
    Ok(())
}

/// The columns or the rows, in order of their middles.
struct Strips {
    /// The place of each in the figure's data.
    order: Vec<usize>,
    /// Half-way between the middles, and as far beyond the first and the last.
    edges: Vec<f64>,
    log: bool,
}

impl Strips {
    fn new(middles: &[f64], scale: Scale) -> Self {
        let drawable =
            |i: &usize| middles[*i].abs() < 1e100 && (scale != Scale::Log || middles[*i] > 0.0);
        let mut order: Vec<usize> = (0..middles.len()).filter(drawable).collect();
        order.sort_by(|a, b| middles[*a].total_cmp(&middles[*b]));
        order.dedup_by(|a, b| middles[*a] == middles[*b]);
        let sorted: Vec<f64> = order.iter().map(|i| middles[*i]).collect();
        let log = match scale {
            Scale::Linear => false,
            Scale::Log => !sorted.is_empty(),
            Scale::Auto => grows_by_factors(&sorted),
        };
        let along = |v: &f64| if log { libm::log(*v) } else { *v };
        let at: Vec<f64> = sorted.iter().map(along).collect();
        let mut edges: Vec<f64> = at.windows(2).map(|pair| pair[0].midpoint(pair[1])).collect();
        if let (Some(first), Some(last)) = (at.first(), at.last()) {
            let reach =
                |end: f64, edge: Option<&f64>| end + edge.map_or(0.5, |edge| (end - edge).abs());
            let below = 2.0 * first - reach(*first, edges.first());
            let above = reach(*last, edges.last());
            edges.insert(0, below);
            edges.push(above);
        }
        let back = |at: &f64| if log { libm::exp(*at) } else { *at };
        Self { order, edges: edges.iter().map(back).collect(), log }
    }

    fn range(&self) -> (f64, f64) {
        extent(self.edges.iter().copied())
    }
}

/// Whether quotients of neighbours are more alike than their differences.
fn grows_by_factors(sorted: &[f64]) -> bool {
    let unlike = |step: fn(f64, f64) -> f64| {
        let (least, greatest) = extent(sorted.windows(2).map(|pair| step(pair[0], pair[1])));
        greatest / least
    };
    let positive = sorted.first().is_some_and(|least| *least > 0.0);
    positive && sorted.len() > 2 && unlike(|a, b| libm::log(b / a)) < 0.999 * unlike(|a, b| b - a)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strips_are_sorted_with_their_data_between_edges() {
        let strips = Strips::new(&[4.0, f64::NAN, 1.0, 2.0, 1.0], Scale::Linear);
        assert_eq!((strips.order, strips.edges), (vec![2, 3, 0], vec![0.5, 1.5, 3.0, 5.0]));
        let log = Strips::new(&[0.01, 1.0, 100.0], Scale::Auto);
        assert!(log.log && (log.edges[1] - 0.1).abs() < 1e-12);
        assert!(!Strips::new(&[0.0, 1.0, 10.0], Scale::Auto).log);
    }

    #[test]
    fn weak_winners_are_pale() {
        let series = Series { label: "A".into(), colour: Colour::hex(0x00_72B2), private: false };
        let values = HeatValues::Categories {
            series: vec![series],
            values: vec![vec![Some(0), Some(0), None, Some(9)]],
            strength: Some(vec![vec![0.0, 1.0]]),
            key: Vec::new(),
        };
        let figure = HeatFigure { values, ..HeatFigure::default() };
        let lightness = |column| figure.category(column, 0).map(|(colour, _)| colour.lightness());
        assert!(lightness(0) > lightness(1) && lightness(2).is_none() && lightness(3).is_none());
    }
}
