//! One curve on its plot: what of it can be seen, and the series and elements that draw it.

use plotters::element::Circle;
use plotters::series::{DashedLineSeries, LineSeries};
use plotters::style::Color;

use super::FigureError;
use super::axis::Axis;
use super::curve::{Curve, Join, LineStyle, Sample};
use super::element::{Marker, error_bar, stem};
use super::legend::Mark;
use super::page::{Chart, Place, Rect};
use super::theme::{BROAD, DOT, Dash, LINE, Pen, READING, THIN, Theme};

/// More dots than these would hide their line.
const MOST_DOTS: usize = 60;
/// Between the stems of two curves at the same place.
const STEM_GAP: f64 = 1.6;
/// In a column of the page so wide, no more than the outermost points of a line can be seen, and the
/// tallest stem hides the others.
const COLUMN: f64 = 0.8;
const STEM_COLUMN: f64 = 2.4;
/// A line with fewer points is drawn as it is.
const SHORT: usize = 600;
/// A line that leaves the plot more often keeps to its edge instead.
const MOST_PIECES: usize = 200;
/// A line of more dashes is drawn whole: nobody could tell them apart.
const MOST_DASHES: f64 = 400.0;

/// A place in the coordinates of the data.
type Point = (f64, f64);

/// The plot and the axes that place values on it.
pub struct Field {
    pub plot: Rect,
    pub x: Axis,
    pub y: Axis,
    /// Width of a name's place, if the horizontal axis has names.
    pub slot: Option<f64>,
}

impl Field {
    /// Where a value of the horizontal axis is on the page.
    pub fn across(&self, x: f64) -> Option<f64> {
        Some(self.plot.left + self.x.fraction(x)? * self.plot.width)
    }

    /// Where a value of the vertical axis is on the page.
    pub fn down(&self, y: f64) -> Option<f64> {
        Some(self.plot.bottom() - self.y.fraction(y)? * self.plot.height)
    }

    /// Where a point is on the page.
    pub fn at(&self, (x, y): Point) -> Option<Place> {
        Some((self.across(x)?, self.down(y)?))
    }

    /// Whether a point is on the plot.
    pub fn shows(&self, (x, y): &Point) -> bool {
        self.x.shows(*x) && self.y.shows(*y)
    }

    /// The pieces of a line that can be seen, cut at the sides of the plot, with no more points than
    /// show.
    pub fn visible(&self, path: &[Point]) -> Vec<Vec<Point>> {
        let square = Rect { left: 0.0, top: 0.0, width: 1.0, height: 1.0 };
        let place = |(x, y): &Point| Some((self.x.fraction(*x)?, self.y.fraction(*y)?));
        let back = |(x, y): Point| (self.x.value(x), self.y.value(y));
        let placed: Vec<Option<Point>> = path.iter().map(place).collect();
        let mut pieces: Vec<Vec<Point>> = Vec::new();
        for run in placed.split(Option::is_none) {
            let run: Vec<Point> = run.iter().flatten().copied().collect();
            let run = if run.len() > SHORT { thin(&run, COLUMN / self.plot.width) } else { run };
            let mut end = None;
            for pair in run.windows(2) {
                let cut = square.clip(pair[0], pair[1]);
                match (cut, pieces.last_mut()) {
                    (Some((from, to)), Some(piece)) if end == Some(from) => piece.push(back(to)),
                    (Some((from, to)), _) => pieces.push(vec![back(from), back(to)]),
                    (None, _) => {}
                }
                end = cut.map(|(_, to)| to);
            }
        }
        pieces
    }
}

/// Of each column of the page the first, lowest, highest and last point (Jugel et al., "M4", 2014).
fn thin(path: &[Point], column: f64) -> Vec<Point> {
    let outermost = |run: &[Point]| {
        let by_height = |a: &usize, b: &usize| run[*a].1.total_cmp(&run[*b].1);
        let low = (0..run.len()).min_by(by_height).unwrap_or(0);
        let high = (0..run.len()).max_by(by_height).unwrap_or(0);
        let mut kept = vec![0, low.min(high), low.max(high), run.len() - 1];
        kept.dedup();
        kept.into_iter().map(|i| run[i]).collect::<Vec<_>>()
    };
    let columns = path.chunk_by(|a, b| (a.0 / column).floor() == (b.0 / column).floor());
    columns.flat_map(outermost).collect()
}

/// How a legend shows a curve, the one with this number: its line, and its marker if dots may stand on it.
pub fn mark(curve: &Curve, join: Join, number: usize) -> Mark {
    let is_short = curve.style == LineStyle::Solid && curve.exact.len() <= MOST_DOTS;
    let has_dots = join == Join::Lines && is_short || !curve.sampled.is_empty();
    Mark::Line(pen(curve), has_dots.then(|| Marker::numbered(number)))
}

/// What the line of a curve is drawn with.
pub fn pen(curve: &Curve) -> Pen {
    let colour = curve.series.colour;
    let (colour, width, dash) = match curve.style {
        LineStyle::Solid if curve.series.private => (colour, LINE, Dash::None),
        LineStyle::Solid | LineStyle::Dashed => (colour, LINE, Dash::Dashed),
        LineStyle::Dotted => (colour, THIN, Dash::Dotted),
        LineStyle::Broad => (colour.lighten(0.45), BROAD, Dash::None),
    };
    Pen { colour, width, dash }
}

/// A curve on its plot. Curves that share places are moved aside.
pub struct Trace<'a> {
    pub curve: &'a Curve,
    field: &'a Field,
    join: Join,
    /// What of the exact curve can be seen as lines.
    pieces: Vec<Vec<Point>>,
    /// Its exact values that can be seen.
    heads: Vec<Point>,
    /// Whether dots mark exact values.
    dotted: bool,
    marker: Marker,
    sampled: Vec<Sample>,
    readings: Vec<Point>,
}

impl<'a> Trace<'a> {
    /// The `i`-th of `count` curves. Where there are samples, dots would pass for them.
    pub fn new(
        curve: &'a Curve,
        field: &'a Field,
        join: Join,
        samples: bool,
        (i, count): (usize, usize),
    ) -> Self {
        let middle = i as f64 - (count as f64 - 1.0) / 2.0;
        let aside = match (field.slot, join) {
            // Over a name there is room to set curves apart, at a number there is little.
            (Some(slot), Join::Lines | Join::Steps | Join::Stems) => {
                middle * (0.75 * slot / count.max(1) as f64).min(14.0)
            }
            (None, Join::Stems) => middle * STEM_GAP,
            _ => 0.0,
        };
        let moved = |x: f64| match field.x.fraction(x) {
            Some(at) if aside != 0.0 => field.x.value(at + aside / field.plot.width),
            _ => x,
        };
        let shown = |point: &Point| field.shows(point);
        let exact: Vec<Point> = curve.exact.iter().map(|(x, y)| (moved(*x), *y)).collect();
        let path = match join {
            Join::Lines => exact.clone(),
            Join::Steps => stairs(&exact, field),
            Join::Stems | Join::Dots => Vec::new(),
        };
        let mut pieces = field.visible(&path);
        if pieces.len() > MOST_PIECES {
            let inside = path.iter().map(|(x, y)| (*x, field.y.clamp(*y)));
            pieces = field.visible(&inside.collect::<Vec<_>>());
        }
        let mut heads: Vec<Point> = exact.into_iter().filter(shown).collect();
        if join == Join::Stems && heads.len() > MOST_DOTS {
            let column = |x: f64| field.across(x).map(|x| (x / STEM_COLUMN).floor());
            let columns = heads.chunk_by(|a, b| column(a.0) == column(b.0));
            heads = columns.filter_map(|run| run.iter().copied().max_by(by_height)).collect();
        }
        let solid = curve.style == LineStyle::Solid && heads.len() <= MOST_DOTS && !samples;
        let dotted = join == Join::Lines && (solid || field.slot.is_some() || heads.len() == 1);
        let sampled = curve.sampled.iter().map(|one| Sample { x: moved(one.x), ..*one });
        let sampled = sampled.filter(|one| field.shows(&(one.x, one.mean))).collect();
        let readings = curve.readings.iter().map(|(x, y)| (moved(*x), *y)).filter(shown).collect();
        let marker = Marker::numbered(i);
        Self { curve, field, join, pieces, heads, dotted, marker, sampled, readings }
    }

    pub fn draw_exact(&self, theme: Theme, chart: &mut Chart<Axis>) -> Result<(), FigureError> {
        let (series, pen) = (&self.curve.series, pen(self.curve));
        let step = |pair: &[Place]| libm::hypot(pair[1].0 - pair[0].0, pair[1].1 - pair[0].1);
        let length: f64 = self.lines().iter().flat_map(|line| line.windows(2).map(step)).sum();
        let style = theme.line(pen.colour, pen.width);
        for piece in self.pieces.iter().cloned() {
            match theme.dashes(pen).filter(|_| length < MOST_DASHES * 4.0 * pen.width) {
                None => chart.draw_series(LineSeries::new(piece, style))?,
                Some((dash, gap)) => {
                    chart.draw_series(DashedLineSeries::new(piece, dash, gap, style))?
                }
            };
        }
        let heads = self.heads.iter().copied();
        let radius = theme.units(0.8 * DOT) as u32;
        if self.join == Join::Stems {
            let few = self.heads.len() <= MOST_DOTS;
            let (width, radius) = if few { (1.3, radius) } else { (0.9, 0) };
            let (style, foot) = (theme.line(series.colour, width), self.field.y.value(0.0));
            let hollow = !series.private;
            let atom = |head: Point| stem([(head.0, foot), head], radius, style, hollow);
            chart.draw_series(heads.map(atom))?;
        } else if self.join == Join::Dots {
            let (line, filled) = (theme.line(series.colour, 0.9), series.colour.filled());
            let style = if series.private { filled } else { line };
            chart.draw_series(heads.map(|head| Circle::new(head, radius, style)))?;
        } else if self.dotted {
            let (marker, style) = (self.marker, series.colour.filled());
            let dot = |head: Point| error_bar([head; 3], marker, radius, style);
            chart.draw_series(heads.map(dot))?;
        }
        Ok(())
    }

    /// Sampled means, and over all lines and dots, which show through, the readings.
    pub fn draw_marks(&self, theme: Theme, chart: &mut Chart<Axis>) -> Result<(), FigureError> {
        let (colour, y) = (self.curve.series.colour, &self.field.y);
        // A bar that reaches below a logarithmic axis ends at its foot.
        let end = |value: f64| if y.fraction(value).is_some() { value } else { y.value(0.0) };
        let (style, radius) = (theme.line(colour.darken(0.12), 1.1), theme.units(DOT) as u32);
        chart.draw_series(self.sampled.iter().map(|Sample { x, mean, half_width }| {
            let heights = [end(mean - half_width), *mean, end(mean + half_width)];
            error_bar(heights.map(|y| (*x, y)), self.marker, radius, style)
        }))?;
        let (style, radius) = (theme.line(colour.darken(0.35), 1.1), theme.units(READING) as u32);
        chart.draw_series(self.readings.iter().map(|at| Circle::new(*at, radius, style)))?;
        Ok(())
    }

    /// The lines that labels should keep clear of, on the page.
    pub fn lines(&self) -> Vec<Vec<Place>> {
        let on_page = |points: &[Point]| points.iter().filter_map(|p| self.field.at(*p)).collect();
        let foot = self.field.y.value(0.0);
        let stems = self.heads.iter().filter(|_| self.join == Join::Stems);
        let stems = stems.map(|head| on_page(&[(head.0, foot), *head]));
        self.pieces.iter().map(|piece| on_page(piece)).chain(stems).collect()
    }

    /// The dots that labels should keep clear of, on the page: along a bar so many that no label fits
    /// between them.
    pub fn dots(&self) -> Vec<Place> {
        let bars = self.sampled.iter().flat_map(|one| {
            (-8..=8).map(|i| (one.x, one.mean + f64::from(i) / 8.0 * one.half_width))
        });
        let all = bars.chain(self.readings.iter().copied()).chain(self.heads.iter().copied());
        all.filter_map(|point| self.field.at(point)).collect()
    }

    /// The last point to be seen, where a name belongs.
    pub fn end(&self) -> Option<Place> {
        let rightmost = |a: &Point, b: &Point| a.0.total_cmp(&b.0);
        let exact = self.pieces.iter().flatten().chain(&self.heads).copied();
        let means = self.sampled.iter().map(|one| (one.x, one.mean));
        self.field.at(exact.max_by(rightmost).or_else(|| means.max_by(rightmost))?)
    }

    /// The highest point to be seen.
    pub fn peak(&self) -> Option<Place> {
        self.field.at(self.heads.iter().copied().rev().max_by(by_height)?)
    }
}

fn by_height(a: &Point, b: &Point) -> std::cmp::Ordering {
    a.1.total_cmp(&b.1)
}

/// Level from each point to the next, and from the last one on.
fn stairs(path: &[Point], field: &Field) -> Vec<Point> {
    let end = field.x.value(1.0);
    let next = path.iter().skip(1).map(|point| point.0).chain([end]);
    path.iter().zip(next).flat_map(|(&(x, y), to)| [(x, y), (to.max(x), y)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_at_the_sides_of_the_plot_and_thinned() {
        let plot = Rect { left: 0.0, top: 0.0, width: 300.0, height: 200.0 };
        let axis = |high: f64| Axis::over((0.0, high), false, 5.0);
        let field = Field { plot, x: axis(10.0), y: axis(1.0), slot: None };
        let pieces = field.visible(&[(1.0, 0.5), (2.0, 1.5), (3.0, 0.5), (20.0, 0.5)]);
        let near = |a: Point, b: Point| (a.0 - b.0).hypot(a.1 - b.1) < 1e-9;
        assert!(near(pieces[0][1], (1.5, 1.0)) && near(pieces[1][2], (10.0, 0.5)));
        assert!(field.visible(&[(f64::NAN, 0.0), (1.0, 0.2)]).is_empty());
        let jagged = |i: u32| (f64::from(i) / 1e5, f64::from(i.wrapping_mul(2_654_435_761) % 997));
        let path: Vec<Point> = (0..100_000).map(jagged).collect();
        let thinned = thin(&path, 0.01);
        assert!(thinned.len() <= 400, "{}", thinned.len());
        let reach = |path: &[Point]| path.iter().fold(0.0_f64, |high, point| high.max(point.1));
        assert_eq!(reach(&thinned), reach(&path));
    }
}
