//! Heat maps: a number, or the mechanism that is best, for every cell of a grid.

use super::Series;
use super::axis::{Axis, Scale, extent};
use super::borders::draw_borders;
use super::canvas::Canvas;
use super::cells::{Cell, Cells};
use super::colourbar::ColourBar;
use super::frame::{
    EDGE, Header, Side, TICK_GAP, draw_floor, draw_floor_label, draw_floor_ticks, fitting_axis,
    tick_target,
};
use super::geometry::Rect;
use super::landmark::draw_landmarks;
use super::legend::{Entry, Legend, Mark};
use super::page::Page;
use super::palette::Colour;
use super::ramp::Ramp;
use super::regionlabel::Regions;

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

/// A heat map.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatFigure {
    /// Bold, above the plot.
    pub title: String,
    /// The settings, in small type under the title.
    pub note: String,
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
    /// The cells.
    pub values: HeatValues,
    /// Places of interest: x, y and a label.
    pub marks: Vec<(f64, f64, String)>,
}

const WIDTH: f64 = 520.0;
/// Height of the plot by the width of the page: about as high as wide, beside
/// a colour bar.
const ASPECT: f64 = 0.65;

impl HeatFigure {
    pub(super) fn draw(&self, page: Page) -> Canvas {
        let mut canvas = Canvas::new(page.width(WIDTH));
        let ramp = self.ramp();
        let height = ASPECT * canvas.width;
        let bar = ramp.as_ref().map(|(ramp, label)| ColourBar::new(ramp, label, height));
        let right = bar.as_ref().map_or(2.5 * EDGE, ColourBar::width);
        let columns = Strips::new(&self.x, self.x_scale);
        let rows = Strips::new(&self.y, self.y_scale);
        let side = Side::new(rows.axis(height), &self.y_label, height);
        let left = side.width();
        let width = canvas.width - left - right;
        let start = page.title_start(left);
        let header = Header::new(&self.title, &self.note, canvas.width - start - EDGE);
        header.draw(&mut canvas, start);
        let plot = Rect { left, top: header.height(), width, height };
        let floor = fitting_axis(columns.range(), columns.log, width);
        let cells = self.cells(plot, (&columns, &floor), (&rows, &side.axis), ramp.as_ref());
        cells.draw(&mut canvas);
        self.draw_regions(&mut canvas, &cells, &columns, &rows);
        side.draw(&mut canvas, plot);
        draw_landmarks(&mut canvas, plot, &self.landmarks(plot, &floor, &side.axis));
        if let Some(bar) = &bar {
            bar.draw(&mut canvas, plot);
        }
        let top = draw_x_axis(&mut canvas, &floor, plot) + 4.0;
        let top = top + draw_floor_label(&mut canvas, &self.x_label, plot, top);
        let mut bottom = top;
        for entries in [self.entries(), self.shades()].into_iter().filter(|all| !all.is_empty()) {
            let legend = Legend::new(entries, canvas.width - 4.0 * EDGE);
            legend.draw(&mut canvas, left + width / 2.0, bottom + 6.0);
            bottom += 6.0 + legend.height();
        }
        canvas.height = bottom + EDGE;
        canvas
    }

    /// The colours of numbers with what these are; none for categories.
    fn ramp(&self) -> Option<(Ramp, &str)> {
        let HeatValues::Numbers { values, label, scale, range } = &self.values else {
            return None;
        };
        let numbers: Vec<f64> = values.iter().flatten().copied().flatten().collect();
        let log = scale.is_log(&numbers);
        let shown = numbers.into_iter().filter(|v| !log || *v > 0.0);
        let fitted = || Ramp::fitting(extent(shown), log);
        Some((range.map_or_else(fitted, |range| Ramp::over(range, log)), label))
    }

    fn cells(
        &self,
        plot: Rect,
        (columns, floor): (&Strips, &Axis),
        (rows, side): (&Strips, &Axis),
        ramp: Option<&(Ramp, &str)>,
    ) -> Cells {
        let x = |edge: f64| plot.left + floor.fraction(edge).unwrap_or(0.0) * plot.width;
        let y = |edge: f64| plot.bottom() - side.fraction(edge).unwrap_or(0.0) * plot.height;
        let row = |row: &usize| {
            let cell = |column: &usize| self.cell(*column, *row, ramp);
            columns.order.iter().map(cell).collect()
        };
        Cells {
            lefts: columns.edges.iter().map(|edge| x(*edge)).collect(),
            tops: rows.edges.iter().rev().map(|edge| y(*edge)).collect(),
            grid: rows.order.iter().rev().map(row).collect(),
        }
    }

    /// Lines between the mechanisms, and their names where no mark is in the way.
    fn draw_regions(&self, canvas: &mut Canvas, cells: &Cells, columns: &Strips, rows: &Strips) {
        let HeatValues::Categories { series, .. } = &self.values else {
            return;
        };
        let grid = self.winners(columns, rows);
        draw_borders(canvas, &cells.lefts, &cells.tops, &grid);
        if !self.marks.is_empty() {
            return;
        }
        let names: Vec<String> = series.iter().map(|one| one.label.clone()).collect();
        let regions = Regions { lefts: &cells.lefts, tops: &cells.tops, grid: &grid };
        let colour = |(column, row): (usize, usize)| {
            let row = rows.order.iter().rev().nth(row)?;
            self.category(*columns.order.get(column)?, *row).map(|(colour, _)| colour)
        };
        regions.label(canvas, &names, colour);
    }

    /// The mechanism of every cell, as they lie on the page.
    fn winners(&self, columns: &Strips, rows: &Strips) -> Vec<Vec<Option<usize>>> {
        let row = |row: &usize| columns.order.iter().map(|c| self.winner(*c, *row)).collect();
        rows.order.iter().rev().map(row).collect()
    }

    /// What there is to see at this place of the data, if anything.
    fn cell(&self, column: usize, row: usize, ramp: Option<&(Ramp, &str)>) -> Option<Cell> {
        match (&self.values, ramp) {
            (HeatValues::Numbers { values, .. }, Some((ramp, _))) => {
                let value = (*values.get(row)?.get(column)?)?;
                ramp.position(value).map(Cell::Number)
            }
            _ => self.category(column, row).map(|(colour, hatched)| Cell::Flat(colour, hatched)),
        }
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

    /// The marks that are on the plot, in points.
    fn landmarks(&self, plot: Rect, floor: &Axis, side: &Axis) -> Vec<((f64, f64), &str)> {
        let place = |x: f64, y: f64| {
            let x = plot.left + floor.fraction(x)? * plot.width;
            let y = plot.bottom() - side.fraction(y)? * plot.height;
            plot.contains((x, y)).then_some((x, y))
        };
        let marks = self.marks.iter();
        marks.filter_map(|(x, y, label)| Some((place(*x, *y)?, label.as_str()))).collect()
    }

    fn entries(&self) -> Vec<Entry> {
        let HeatValues::Categories { series, .. } = &self.values else {
            return Vec::new();
        };
        let swatch = |series: &Series| {
            Entry::new(Mark::Swatch(series.colour, series.private), &series.full_label())
        };
        series.iter().map(swatch).collect()
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
        let entry =
            |(strength, text): &(f64, String)| Entry::new(Mark::Stripes(stripes(*strength)), text);
        key.iter().map(entry).collect()
    }
}

/// A colour of this strength.
fn faded(colour: Colour, strength: f64) -> Colour {
    colour.lighten(0.8 * (1.0 - strength))
}

/// Spine, ticks and their labels; returns where these end.
fn draw_x_axis(canvas: &mut Canvas, axis: &Axis, plot: Rect) -> f64 {
    let fractions = axis.ticks.iter().filter_map(|tick| axis.fraction(tick.value));
    let places: Vec<f64> = fractions.map(|at| plot.left + at * plot.width).collect();
    draw_floor(canvas, plot, &places);
    plot.bottom() + TICK_GAP + draw_floor_ticks(canvas, axis, plot)
}

/// The columns or the rows, in order of their middles.
struct Strips {
    /// The place of each in the figure's data.
    order: Vec<usize>,
    /// One more than there are strips.
    edges: Vec<f64>,
    log: bool,
}

impl Strips {
    fn new(middles: &[f64], scale: Scale) -> Self {
        let mut order: Vec<usize> = (0..middles.len()).collect();
        let drawable = |v: f64| v.abs() < 1e100 && (scale != Scale::Log || v > 0.0);
        order.retain(|i| drawable(middles[*i]));
        order.sort_by(|a, b| middles[*a].total_cmp(&middles[*b]));
        order.dedup_by(|a, b| middles[*a] == middles[*b]);
        let sorted: Vec<f64> = order.iter().map(|i| middles[*i]).collect();
        let log = match scale {
            Scale::Linear => false,
            Scale::Log => !sorted.is_empty(),
            Scale::Auto => grows_by_factors(&sorted),
        };
        Self { order, edges: edges(&sorted, log), log }
    }

    fn range(&self) -> (f64, f64) {
        extent(self.edges.iter().copied())
    }

    fn axis(&self, length: f64) -> Axis {
        Axis::over(self.range(), self.log, tick_target(length))
    }
}

/// Whether quotients of neighbours are more alike than their differences.
fn grows_by_factors(sorted: &[f64]) -> bool {
    let unlike = |step: fn(f64, f64) -> f64| {
        let steps = sorted.windows(2).map(|pair| step(pair[0], pair[1]));
        let (least, greatest) = extent(steps);
        greatest / least
    };
    let positive = sorted.first().is_some_and(|least| *least > 0.0);
    positive && sorted.len() > 2 && unlike(|a, b| (b / a).ln()) < 0.999 * unlike(|a, b| b - a)
}

/// Half-way between the middles, and as far beyond the first and the last.
fn edges(sorted: &[f64], log: bool) -> Vec<f64> {
    let along = |v: &f64| if log { v.ln() } else { *v };
    let back = |at: f64| if log { at.exp() } else { at };
    let at: Vec<f64> = sorted.iter().map(along).collect();
    let (Some(first), Some(last)) = (at.first(), at.last()) else {
        return Vec::new();
    };
    let half = |a: usize, b: usize| match (at.get(a), at.get(b)) {
        (Some(a), Some(b)) => (b - a) / 2.0,
        _ => 0.5,
    };
    let mut edges = vec![first - half(0, 1)];
    edges.extend(at.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0));
    edges.push(last + half(at.len().wrapping_sub(2), at.len() - 1));
    edges.into_iter().map(back).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edges_lie_between_the_middles() {
        assert_eq!(edges(&[1.0, 2.0, 4.0], false), [0.5, 1.5, 3.0, 5.0]);
        assert_eq!(edges(&[3.0], false), [2.5, 3.5]);
        assert!(edges(&[], true).is_empty());
        let log = edges(&[0.01, 1.0, 100.0], true);
        assert!((log[1] - 0.1).abs() < 1e-12 && (log[3] - 1000.0).abs() < 1e-9);
    }

    #[test]
    fn grids_of_powers_are_logarithmic() {
        assert!(Strips::new(&[0.1, 0.2, 0.4, 0.8, 1.6], Scale::Auto).log);
        assert!(!Strips::new(&[1.0, 2.0, 3.0, 50.0, 51.0], Scale::Linear).log);
        let even: Vec<f64> = (1..=61).map(f64::from).collect();
        assert!(!Strips::new(&even, Scale::Auto).log);
        assert!(!Strips::new(&[0.0, 1.0, 10.0], Scale::Auto).log);
    }

    #[test]
    fn strips_are_sorted_with_their_data() {
        let strips = Strips::new(&[3.0, f64::NAN, 1.0, 2.0, 1.0], Scale::Auto);
        assert_eq!(strips.order, [2, 3, 0]);
        assert_eq!(strips.edges.len(), 4);
    }

    #[test]
    fn weak_winners_are_pale() {
        let series = Series { label: "A".into(), colour: Colour::hex(0x00_72B2), private: false };
        let figure = HeatFigure {
            values: HeatValues::Categories {
                series: vec![series],
                values: vec![vec![Some(0), Some(0), None, Some(9)]],
                strength: Some(vec![vec![0.0, 1.0]]),
                key: Vec::new(),
            },
            ..HeatFigure::default()
        };
        let lightness = |column| figure.category(column, 0).map(|(colour, _)| colour.lightness());
        assert!(lightness(0) > lightness(1));
        assert_eq!((lightness(2), lightness(3)), (None, None));
        assert_eq!(figure.category(1, 0), Some((Colour::hex(0x00_72B2), true)));
    }
}
