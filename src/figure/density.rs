//! Posterior densities of shares, in rows from top to bottom: a ridgeline plot.

use plotters::element::{Circle, Polygon};
use plotters::style::Color;

use super::axis::Axis;
use super::backend::Recording;
use super::legend::{Entry, Legend, Mark};
use super::page::{Frame, Page, Place, Rect};
use super::theme::{
    Colour, DOT, Dash, EDGE, GRID, GRID_LINE, LINE, Pen, SOFT, SPINE, Theme, through,
};
use super::trace::Field;
use super::{FigureError, Head, tip};

/// Posterior densities of shares, one row for each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DensityFigure {
    /// Under the horizontal axis.
    pub x_label: String,
    /// The probability of the intervals, such as "95 %".
    pub level: String,
    /// The rows, from top to bottom.
    pub rows: Vec<DensityRow>,
}

/// What is known about one share.
#[derive(Clone, Debug, PartialEq)]
pub struct DensityRow {
    /// Whose share it is, such as "treated: yes".
    pub label: String,
    pub colour: Colour,
    /// Whether the axis reaches as far as this row does. Others are cut off, unless there are no such rows.
    pub sets_axis: bool,
    /// The density of the prior as points (x, density), x ascending in [0, 1]; may be empty. Points are
    /// joined by straight lines, so they should be dense where the density bends.
    pub prior: Vec<(f64, f64)>,
    /// The same of the posterior.
    pub posterior: Vec<(f64, f64)>,
    /// Its interval.
    pub interval: (f64, f64),
    /// Its mean, which is marked on the interval.
    pub mean: f64,
}

/// The greatest height of a row, and the height of one among very many.
const HIGHEST_ROW: f64 = 125.0;
const LEAST_ROW: f64 = 30.0;
/// By how much a row among few is higher, times their number.
const SHARED: f64 = 240.0;
/// From a base line to the interval under it, and from there to the next row.
const TO_INTERVAL: f64 = 5.5;
const TO_NEXT: f64 = 6.0;
/// How far an area is from the colour of its line to white.
const PALE: f64 = 0.7;
/// The outline of priors.
const PRIOR_LINE: Colour = Colour::hex(0xA6_A6A6);
/// The part of the axis that matters is where a density is above this part of its height.
const LEAST_PART: f64 = 0.01;
/// Close to an end where a density is infinite, within this part of its interval, it says nothing
/// about the scale.
const SPIKE: f64 = 0.15;
/// Infinite densities as multiples of the highest one that is shown.
const BEYOND: f64 = 1e3;
/// The height of a row above its base line by that of the highest density.
const AIR: f64 = 1.05;
/// Where a density is below this part of the highest one, its line is not told from the base line.
const FLAT: f64 = 0.004;
/// A label takes at most this part of the page.
const WIDEST_LABEL: f64 = 0.3;

type Point = (f64, f64);

impl DensityFigure {
    pub(super) fn draw(&self, head: &Head, theme: Theme) -> Result<Recording, FigureError> {
        let count = self.rows.len().max(1) as f64;
        let band = (LEAST_ROW + SHARED / count).min(HIGHEST_ROW);
        let height = band * count;
        let mut y = Axis::bare((0.0, height));
        let strip = TO_INTERVAL + TO_NEXT;
        let base = |row: usize| band * (row as f64 + 1.0) - strip;
        let widest = WIDEST_LABEL * theme.page_width();
        y.ticks = (self.rows.iter().enumerate())
            .map(|(i, row)| (height - base(i), theme.tick.shorten(&row.label, widest)))
            .collect();
        let words = [&*head.title, &*head.note, &*self.x_label, ""];
        let mut frame = Frame::new(theme, words, y, height, 2.5 * EDGE);
        let x = Axis::level(self.x_range(), false, frame.plot.width, theme.tick);
        frame.make_room_for(theme, &x);
        let legend = Legend::new(theme, self.entries());
        let bottom = frame.bottom(theme);
        let page = Page::new(theme, bottom + legend.height() + EDGE);
        let mut chart = frame.chart(&page, x.clone())?;
        frame.draw(&page, &mut chart, (true, true), true)?;
        drop(chart);
        let top = self.rows.iter().map(DensityRow::height).fold(0.0, f64::max);
        for (i, row) in self.rows.iter().enumerate() {
            let above = band - strip;
            let plot = Rect { top: frame.plot.top + base(i) - above, height: above, ..frame.plot };
            let y = Axis::bare((0.0, AIR * top));
            let field = Field { plot, x: x.clone(), y, slot: None };
            page.describe(tip::of_density(row, &self.level));
            Ridge { page: &page, field, row }.draw()?;
        }
        page.describe(String::new());
        legend.draw(&page, frame.plot.middle().0, bottom)?;
        Ok(page.finish())
    }

    /// The part of [0, 1] where posteriors or intervals are, with some air.
    fn x_range(&self) -> (f64, f64) {
        let all = !self.rows.iter().any(|row| row.sets_axis);
        let ends = self.rows.iter().filter(|row| all || row.sets_axis).flat_map(DensityRow::ends);
        let (low, high) = super::axis::extent(ends);
        if low > high {
            return (0.0, 1.0);
        }
        let span = (high - low).max(1e-6);
        let (low, high) = (low - 0.05 * span, high + 0.05 * span);
        let low = if low < 0.15 * span { 0.0 } else { low };
        let high = if high > 1.0 - 0.15 * span { 1.0 } else { high };
        (low, high)
    }

    fn entries(&self) -> Vec<Entry> {
        let has = |part: fn(&DensityRow) -> bool| self.rows.iter().any(part);
        // Rows of one colour give it to the legend.
        let first = self.rows.first().map_or(SOFT, |row| row.colour);
        let colour = if self.rows.iter().all(|row| row.colour == first) { first } else { SOFT };
        let mut entries = Vec::new();
        if has(|row| !row.posterior.is_empty()) {
            let mark = Mark::Density { fill: colour.lighten(PALE), pen: pen(colour) };
            entries.push(Entry::new(mark, "posterior that knows the noise"));
        }
        if has(|row| !row.prior.is_empty()) {
            let mark = Mark::Density { fill: GRID, pen: PRIOR };
            entries.push(Entry::new(mark, "prior"));
        }
        if !self.rows.is_empty() {
            let label = format!("{} interval, mean", self.level);
            entries.push(Entry::new(Mark::Interval(pen(colour)), label.trim_start()));
        }
        entries
    }
}

const PRIOR: Pen = Pen { colour: PRIOR_LINE, width: GRID_LINE, dash: Dash::None };

fn pen(colour: Colour) -> Pen {
    Pen { colour, width: LINE, dash: Dash::None }
}

impl DensityRow {
    /// The highest density to be shown.
    fn height(&self) -> f64 {
        height(&self.posterior, self.interval)
    }

    /// The places between which the axis must reach.
    fn ends(&self) -> impl Iterator<Item = f64> {
        let least = LEAST_PART * self.height();
        let high = move |point: &Point| least > 0.0 && point.1 >= least;
        let (low, high_end) = self.interval;
        let is_sound = 0.0 <= low && low <= high_end && high_end <= 1.0;
        let ends = is_sound.then_some([low, high_end]).into_iter().flatten();
        sound(&self.posterior).filter(high).map(|(x, _)| x).chain(ends)
    }
}

/// The points that can be drawn: shares from 0 to 1 and densities from 0 to infinity.
fn sound(curve: &[Point]) -> impl Iterator<Item = Point> {
    curve.iter().copied().filter(|(x, y)| (0.0..=1.0).contains(x) && *y >= 0.0)
}

/// The highest finite density. A density that is infinite at an end is not looked at close to it:
/// where the points begin there would decide the scale.
fn height(curve: &[Point], (low, high): (f64, f64)) -> f64 {
    let width = high - low;
    let infinite: Vec<f64> = sound(curve).filter(|p| p.1 == f64::INFINITY).map(|p| p.0).collect();
    let near = |x: f64| infinite.iter().any(|end| (x - end).abs() < SPIKE * width);
    let highest = |points: &mut dyn Iterator<Item = Point>| {
        points.map(|(_, y)| y).filter(|y| y.is_finite()).fold(0.0, f64::max)
    };
    match highest(&mut sound(curve).filter(|(x, _)| !near(*x))) {
        0.0 => highest(&mut sound(curve)),
        height => height,
    }
}

/// One row on its page.
struct Ridge<'a> {
    page: &'a Page,
    /// The row above its base line.
    field: Field,
    row: &'a DensityRow,
}

impl Ridge<'_> {
    fn draw(&self) -> Result<(), FigureError> {
        let row = self.row;
        let [prior, posterior] = [&row.prior, &row.posterior].map(|curve| self.finite(curve));
        let pale = row.colour.lighten(PALE);
        self.area(&prior, GRID)?;
        self.area(&posterior, pale)?;
        // Where both are, the prior is seen through the posterior.
        self.area(&lower(&prior, &posterior), through(pale, GRID))?;
        self.lines(&prior, PRIOR)?;
        self.lines(&posterior, pen(row.colour))?;
        let base = self.field.plot.bottom();
        self.interval(base + TO_INTERVAL)?;
        let Rect { left, .. } = self.field.plot;
        self.page.line(&[(left, base), (self.field.plot.right(), base)], SOFT, 0.6 * SPINE)
    }

    /// The curve with high numbers for infinite densities.
    fn finite(&self, curve: &[Point]) -> Vec<Point> {
        let beyond = BEYOND * self.field.y.value(1.0);
        sound(curve).map(|(x, y)| (x, y.min(beyond))).collect()
    }

    /// The pieces of a curve that can be seen, on the page.
    fn pieces(&self, curve: &[Point]) -> Vec<Vec<Place>> {
        let on_page = |piece: Vec<Point>| piece.into_iter().filter_map(|p| self.field.at(p));
        self.field.visible(curve).into_iter().map(|piece| on_page(piece).collect()).collect()
    }

    /// The area under a curve. Between two pieces it ends at the top of the row.
    fn area(&self, curve: &[Point], colour: Colour) -> Result<(), FigureError> {
        let Field { x, y, .. } = &self.field;
        // A curve that begins or ends above the row reaches its top there.
        let end = |point: Option<&Point>| {
            let (across, up) = *point.filter(|point| x.shows(point.0))?;
            self.field.at((across, y.clamp(up)))
        };
        let mut outline: Vec<Place> = end(curve.first()).into_iter().collect();
        outline.extend(self.pieces(curve).concat());
        outline.extend(end(curve.last()));
        let (Some(first), Some(last)) = (outline.first(), outline.last()) else { return Ok(()) };
        let base = self.field.plot.bottom();
        let (start, end) = ((first.0, base), (last.0, base));
        outline.extend([end, start]);
        let outline: Vec<(i32, i32)> = outline.into_iter().map(|at| self.page.at(at)).collect();
        Ok(self.page.area.draw(&Polygon::new(outline, colour.filled()))?)
    }

    fn lines(&self, curve: &[Point], pen: Pen) -> Result<(), FigureError> {
        let least = FLAT * self.field.y.value(1.0);
        let first = curve.iter().position(|point| point.1 > least).unwrap_or(curve.len());
        let last = curve.iter().rposition(|point| point.1 > least).map_or(first, |last| last + 1);
        self.pieces(&curve[first..last]).iter().try_for_each(|piece| self.page.stroke(piece, pen))
    }

    /// A bar with ends, and a dot at the mean. Where the bar leaves the plot it has no end.
    fn interval(&self, y: f64) -> Result<(), FigureError> {
        let ((low, high), pen) = (self.row.interval, pen(self.row.colour));
        let x_axis = &self.field.x;
        let across = |x: f64| x_axis.shows(x).then(|| self.field.across(x)).flatten();
        let ends = [low, high].map(|end| self.field.across(x_axis.clamp(end)));
        let [Some(left), Some(right)] = ends else { return Ok(()) };
        self.page.stroke(&[(left, y), (right, y)], pen)?;
        for x in [low, high].into_iter().filter_map(across) {
            self.page.interval_end((x, y), pen)?;
        }
        let theme = self.page.theme;
        if let Some(mean) = across(self.row.mean) {
            let (at, radius) = (self.page.at((mean, y)), theme.units(DOT) as u32);
            self.page.area.draw(&Circle::new(at, radius, pen.colour.filled()))?;
        }
        Ok(())
    }
}

/// The lower one of two curves, where both are.
fn lower(a: &[Point], b: &[Point]) -> Vec<Point> {
    let mut places: Vec<f64> = a.iter().chain(b).map(|(x, _)| *x).collect();
    places.sort_by(f64::total_cmp);
    places.dedup();
    let both = |x: f64| Some((x, at(a, x)?.min(at(b, x)?)));
    places.into_iter().filter_map(both).collect()
}

/// The curve's height at x, between its points by a straight line.
fn at(curve: &[Point], x: f64) -> Option<f64> {
    let after = curve.partition_point(|point| point.0 < x);
    let (x1, y1) = *curve.get(after)?;
    if x1 == x {
        return Some(y1);
    }
    let (x0, y0) = *curve.get(after.checked_sub(1)?)?;
    Some(y0 + (y1 - y0) * (x - x0) / (x1 - x0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Shape;
    use crate::{BLUE, Colour, VERMILION, Width};
    use libm::{exp as exp_accurate, lgamma, log as ln, log1p};

    /// The density of Beta(a, b), infinite at ends where it is.
    fn beta(a: f64, b: f64) -> Vec<Point> {
        let constant = lgamma(a + b) - lgamma(a) - lgamma(b);
        let term = |power: f64, log: f64| if power == 0.0 { 0.0 } else { power * log };
        let density =
            |x: f64| exp_accurate(constant + term(a - 1.0, ln(x)) + term(b - 1.0, log1p(-x)));
        (0..=400).map(|i| f64::from(i) / 400.0).map(|x| (x, density(x))).collect()
    }

    /// A posterior under a prior with both parameters `alpha`; noise makes it `wider` times as wide.
    fn row(label: &str, colour: Colour, alpha: f64, counts: (f64, f64), wider: f64) -> DensityRow {
        let (a, b) = (alpha + counts.0, alpha + counts.1);
        let mean = a / (a + b);
        let reach = 1.96 * wider * (mean * (1.0 - mean) / (a + b + 1.0)).sqrt();
        DensityRow {
            label: label.to_owned(),
            colour,
            sets_axis: true,
            prior: beta(alpha, alpha),
            posterior: beta(a / (wider * wider), b / (wider * wider)),
            interval: ((mean - reach).max(0.0), (mean + reach).min(1.0)),
            mean,
        }
    }

    fn figure(rows: Vec<DensityRow>) -> DensityFigure {
        DensityFigure { x_label: "share of the records".to_owned(), level: "95 %".to_owned(), rows }
    }

    #[test]
    fn the_legend_names_what_is_shown() {
        let figure = figure(vec![row("control", BLUE, 1.0, (14.0, 36.0), 1.3)]);
        let drawing = figure.draw(&Head::default(), Theme::new(Width::Text)).expect("a drawing");
        for what in ["posterior that knows the noise", "prior", "95 % interval, mean"] {
            let says = |shape: &Shape| matches!(shape, Shape::Text(text) if text.content == what);
            assert!(drawing.shapes.iter().any(says), "{what}");
        }
    }

    #[test]
    fn the_axis_shows_what_matters_and_no_impossible_share() {
        let range =
            |counts: (f64, f64)| figure(vec![row("", VERMILION, 1.0, counts, 1.0)]).x_range();
        let (low, high) = range((500.0, 500.0));
        assert!(low > 0.4 && low < 0.47 && high < 0.6 && high > 0.53, "{low} {high}");
        assert_eq!(range((1.0, 99.0)).0, 0.0);
        assert_eq!(range((99.0, 1.0)).1, 1.0);
        assert_eq!(figure(Vec::new()).x_range(), (0.0, 1.0));
        // A row that hardly differs from its prior does not stretch it.
        let known = row("", VERMILION, 1.0, (500.0, 500.0), 1.0);
        let empty = DensityRow { sets_axis: false, ..row("", BLUE, 1.0, (0.0, 0.0), 1.0) };
        assert_eq!(figure(vec![empty.clone(), known]).x_range(), (low, high));
        assert_eq!(figure(vec![empty]).x_range(), (0.0, 1.0));
    }

    #[test]
    fn an_infinite_density_does_not_decide_the_scale() {
        let finite = beta(5.0, 5.0);
        assert_eq!(height(&finite, (0.0, 1.0)), at(&finite, 0.5).expect("a point"));
        let infinite = beta(0.3, 20.3);
        assert_eq!(infinite[0].1, f64::INFINITY);
        let interval = (0.0, 0.1);
        let first = at(&infinite, 0.015).expect("a point");
        assert_eq!(height(&infinite, interval), first, "no nearer than 0.015");
        assert_eq!(height(&[(0.0, f64::INFINITY)], (0.0, 1.0)), 0.0);
    }

    #[test]
    fn two_curves_have_a_lower_one() {
        let (rise, fall) = ([(0.0, 0.0), (1.0, 2.0)], [(0.0, 2.0), (0.5, 1.0), (0.8, 0.4)]);
        assert_eq!(lower(&rise, &fall), [(0.0, 0.0), (0.5, 1.0), (0.8, 0.4)]);
        assert!(lower(&rise, &[]).is_empty());
    }
}
