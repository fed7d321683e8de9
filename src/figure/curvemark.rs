//! Drawing one curve.

use super::canvas::{Canvas, Dash, Pen};
use super::curve::{Curve, LineStyle, Sample};
use super::floor::Floor;
use super::frame::Side;
use super::geometry::{Point, Rect};
use super::legend::reading;
use super::palette::GRID;
use super::reference::Obstacles;
use super::thin::thin;

const LINE: f64 = 1.7;
/// Bounds and formulas.
const THIN: f64 = 1.2;
const DOT: f64 = 2.5;
/// More dots than these would hide their line.
const MOST_DOTS: usize = 60;
/// Half the length of the mark of a lone exact value.
const STUB: f64 = 5.5;

/// The plot and the axes that place values on it.
pub(super) struct Field {
    pub(super) plot: Rect,
    pub(super) floor: Floor,
    pub(super) side: Side,
}

impl Field {
    fn at(&self, (x, y): Point) -> Option<Point> {
        Some((self.floor.x(self.plot, x)?, self.side.y(self.plot, y)?))
    }

    pub(super) fn draw_grid(&self, canvas: &mut Canvas) {
        let (top, bottom) = (self.plot.top, self.plot.bottom());
        let ticks = self.floor.axis.ticks.iter();
        for x in ticks.filter_map(|tick| self.floor.x(self.plot, tick.value)) {
            canvas.line((x, top), (x, bottom), GRID, 0.8);
        }
        self.side.draw_grid(canvas, self.plot);
    }

    /// How far the `i`-th of `count` curves is moved sideways: over a name
    /// there is room to set them apart, at a number there is not.
    pub(super) fn dodge(&self, i: usize, count: usize) -> f64 {
        let Some(slot) = self.floor.slot(self.plot.width) else {
            return 0.0;
        };
        let step = (0.75 * slot / count.max(1) as f64).min(2.6 * STUB);
        (i as f64 - (count as f64 - 1.0) / 2.0) * step
    }
}

/// What the line of a curve is drawn with.
pub(super) fn pen(curve: &Curve) -> Pen {
    let (width, dash) = match curve.style {
        LineStyle::Solid if curve.series.private => (LINE, Dash::None),
        LineStyle::Solid | LineStyle::Dashed => (LINE, Dash::Dashed),
        LineStyle::Dotted => (THIN, Dash::Dotted),
    };
    Pen { colour: curve.series.colour, width, dash }
}

/// A curve on its plot.
pub(super) struct Trace<'a> {
    curve: &'a Curve,
    field: &'a Field,
    /// Whether exact values get dots of their own.
    dotted: bool,
    dodge: f64,
    /// What of the exact curve can be seen.
    pieces: Vec<Vec<Point>>,
}

impl<'a> Trace<'a> {
    /// The `i`-th of `count` curves.
    pub(super) fn new(curve: &'a Curve, field: &'a Field, (i, count): (usize, usize)) -> Self {
        let dodge = field.dodge(i, count);
        let mut trace = Self { curve, field, dotted: false, dodge, pieces: Vec::new() };
        trace.pieces = trace.clipped(trace.paths());
        trace
    }

    /// The same with values that hold up to the next.
    pub(super) fn in_steps(mut self) -> Self {
        let stairs: Vec<Vec<Point>> = self.paths().iter().map(|path| self.stairs(path)).collect();
        self.pieces = self.clipped(stairs);
        self
    }

    /// The same with dots on the exact values, if these are not too many.
    pub(super) fn with_dots(self) -> Self {
        Self { dotted: self.curve.style == LineStyle::Solid, ..self }
    }

    pub(super) fn is_named_at_end(&self) -> bool {
        self.curve.label_end
    }

    pub(super) fn draw_exact(&self, canvas: &mut Canvas) {
        for piece in &self.pieces {
            self.draw_line(canvas, piece.clone());
        }
        if self.dodge_or_lone() {
            self.draw_stubs(canvas);
        } else if self.dotted {
            self.draw_dots(canvas);
        }
    }

    /// Over names, or of one value only, a line says little: mark the values.
    fn dodge_or_lone(&self) -> bool {
        self.field.floor.slot(1.0).is_some() || self.curve.exact.len() == 1
    }

    fn draw_line(&self, canvas: &mut Canvas, path: Vec<Point>) {
        let pen = pen(self.curve);
        let pale = Pen { colour: pen.colour.lighten(0.45), width: 0.6 * pen.width, ..pen };
        canvas.trace(path, if self.dodge_or_lone() { pale } else { pen });
    }

    fn draw_stubs(&self, canvas: &mut Canvas) {
        for (x, y) in self.visible() {
            let half = self.stub();
            canvas.line((x - half, y), (x + half, y), self.curve.series.colour, 2.2);
        }
    }

    /// Short enough not to touch the neighbour's.
    fn stub(&self) -> f64 {
        let crowd = self.field.floor.slot(self.field.plot.width);
        crowd.map_or(STUB, |slot| STUB.min(0.12 * slot).max(1.5))
    }

    fn draw_dots(&self, canvas: &mut Canvas) {
        let dots: Vec<Point> = self.visible().take(MOST_DOTS + 1).collect();
        if dots.len() <= MOST_DOTS {
            for dot in dots {
                canvas.disc(dot, 0.8 * DOT, self.curve.series.colour);
            }
        }
    }

    pub(super) fn draw_sampled(&self, canvas: &mut Canvas) {
        for sample in &self.curve.sampled {
            self.draw_sample(canvas, sample);
        }
    }

    /// Over all lines and dots, which show through.
    pub(super) fn draw_readings(&self, canvas: &mut Canvas) {
        for at in self.readings() {
            reading(canvas, at, self.curve.series.colour.darken(0.35));
        }
    }

    fn readings(&self) -> impl Iterator<Item = Point> {
        let placed = self.curve.readings.iter().filter_map(|value| self.place(*value));
        placed.filter(|at| self.field.plot.contains(*at))
    }

    /// Adds what of this curve can be seen.
    pub(super) fn obstruct(&self, obstacles: &mut Obstacles) {
        obstacles.lines.extend(self.pieces.iter().cloned());
        let means = self.curve.sampled.iter().map(|sample| (sample.x, sample.mean));
        obstacles.dots.extend(means.filter_map(|mean| self.place(mean)));
        obstacles.dots.extend(self.readings());
    }

    fn draw_sample(&self, canvas: &mut Canvas, sample: &Sample) {
        let (plot, colour) = (self.field.plot, self.curve.series.colour);
        let Some(dot) = self.place((sample.x, sample.mean)) else {
            return;
        };
        // A bar that reaches below a logarithmic axis ends at its foot.
        let end = |y: f64| self.field.side.y(plot, y).unwrap_or(plot.bottom());
        let (low, high) = (sample.mean - sample.half_width, sample.mean + sample.half_width);
        if let Some((from, to)) = plot.clip((dot.0, end(low)), (dot.0, end(high))) {
            canvas.line(from, to, colour.darken(0.12), 1.1);
        }
        if plot.contains(dot) {
            canvas.disc(dot, DOT, colour.darken(0.12));
        }
    }

    fn place(&self, value: Point) -> Option<Point> {
        let (x, y) = self.field.at(value)?;
        Some((x + self.dodge, y))
    }

    fn visible(&self) -> impl Iterator<Item = Point> {
        let placed = self.curve.exact.iter().filter_map(|value| self.place(*value));
        placed.filter(|point| self.field.plot.contains(*point))
    }

    /// The exact curve on the page, in pieces where values have no place.
    fn paths(&self) -> Vec<Vec<Point>> {
        let placed: Vec<Option<Point>> = self.curve.exact.iter().map(|v| self.place(*v)).collect();
        let pieces = placed.split(Option::is_none);
        let pieces = pieces.map(|piece| piece.iter().flatten().copied().collect::<Vec<_>>());
        pieces.filter(|piece| !piece.is_empty()).collect()
    }

    /// What of these paths is on the plot, with no more points than show.
    fn clipped(&self, paths: Vec<Vec<Point>>) -> Vec<Vec<Point>> {
        let plot = self.field.plot;
        paths.into_iter().flat_map(|path| plot.clip_path(&thin(path, plot.width))).collect()
    }

    /// Level from each point to the next, and from the last one on.
    fn stairs(&self, path: &[Point]) -> Vec<Point> {
        let mut stairs = Vec::with_capacity(2 * path.len());
        for pair in path.windows(2) {
            stairs.extend([pair[0], (pair[1].0, pair[0].1)]);
        }
        if let Some(last) = path.last() {
            stairs.extend([*last, (self.field.plot.right().max(last.0), last.1)]);
        }
        stairs
    }

    /// The last point to be seen, where the label belongs.
    pub(super) fn end(&self) -> Option<Point> {
        let plot = self.field.plot;
        let drawn = self.pieces.iter().flatten().copied();
        let means = self.curve.sampled.iter();
        let dots = means.filter_map(|sample| self.place((sample.x, sample.mean)));
        let dots = dots.filter(|dot| plot.contains(*dot));
        let exact = drawn.chain(self.visible());
        let rightmost = |a: &Point, b: &Point| a.0.total_cmp(&b.0);
        exact.max_by(rightmost).or_else(|| dots.max_by(rightmost))
    }
}
